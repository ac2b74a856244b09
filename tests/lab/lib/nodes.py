# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the nodes' own sysfs and proc trees: what a mlx5 card shows, with LIDs,
GUIDs and rate as ibsim and opensm hold them.

    nodes.py NAME…                    InfiniBand, as `up` makes them
    nodes.py --cards KIND NAME…       other cards: ib; roce (an Ethernet card mlx5_0, and mlx5_9 for
                                      management, without flow control); mixed (ib, and an Ethernet mlx5_1)
    nodes.py --repair NAME…           what a test removed or exchanged
    nodes.py --place COUNTER          the directory of a counter's file
"""

import difflib
import os
import random
import re
import shutil
import sys
import uuid

from ibsim import Console, parse_dump

COUNTERS = {  # lifetime values at boot: modest, and never all zero
    "VL15_dropped": (0, 3), "excessive_buffer_overrun_errors": (0, 0), "link_downed": (1, 4),
    "link_error_recovery": (0, 2), "local_link_integrity_errors": (0, 0),
    "multicast_rcv_packets": (2000, 90000), "multicast_xmit_packets": (100, 900),
    "port_rcv_constraint_errors": (0, 0), "port_rcv_data": (1 << 33, 1 << 36),
    "port_rcv_errors": (0, 9), "port_rcv_packets": (1 << 22, 1 << 25),
    "port_rcv_remote_physical_errors": (0, 2), "port_rcv_switch_relay_errors": (0, 40),
    "port_xmit_constraint_errors": (0, 0), "port_xmit_data": (1 << 33, 1 << 36),
    "port_xmit_discards": (0, 12), "port_xmit_packets": (1 << 22, 1 << 25),
    "port_xmit_wait": (10000, 900000), "symbol_error": (0, 7),
    "unicast_rcv_packets": (1 << 22, 1 << 25), "unicast_xmit_packets": (1 << 22, 1 << 25),
}
HW_COUNTERS = {
    "duplicate_request": (0, 30), "implied_nak_seq_err": (0, 4), "lifespan": (10, 10),
    "local_ack_timeout_err": (1, 60), "np_cnp_sent": (0, 0), "np_ecn_marked_roce_packets": (0, 0),
    "out_of_buffer": (0, 500), "out_of_sequence": (0, 90), "packet_seq_err": (2, 80),
    "req_cqe_error": (10, 900), "req_cqe_flush_error": (10, 900), "req_remote_access_errors": (0, 0),
    "req_remote_invalid_request": (0, 0), "resp_cqe_error": (10, 900),
    "resp_cqe_flush_error": (10, 900), "resp_local_length_error": (0, 0),
    "resp_remote_access_errors": (0, 2), "rnr_nak_retry_err": (1, 20), "roce_adp_retrans": (0, 0),
    "roce_adp_retrans_to": (0, 0), "roce_slow_restart": (0, 0), "roce_slow_restart_cnps": (0, 0),
    "roce_slow_restart_trans": (0, 0), "rp_cnp_handled": (0, 0), "rp_cnp_ignored": (0, 0),
    "rx_atomic_requests": (0, 5000), "rx_dct_connect": (0, 300), "rx_icrc_encapsulated": (0, 0),
    "rx_read_requests": (5000, 90000), "rx_write_requests": (5000, 900000),
}
# Statistics of a mlx5 network device; no kernel stands behind this tree, so they are a file (lib/sources/netdev.hpp).
ETHTOOL = {
    "rx_bytes_phy": (1 << 34, 1 << 36), "tx_bytes_phy": (1 << 34, 1 << 36), "rx_crc_errors_phy": (0, 2),
    "rx_discards_phy": (0, 900), "tx_pause_storm_error_events": (0, 1), "tx_pause_storm_warning_events": (0, 2),
    "rx_vport_rdma_unicast_bytes": (1 << 33, 1 << 35), "tx_vport_rdma_unicast_bytes": (1 << 33, 1 << 35),
    "rx_vport_rdma_unicast_packets": (1 << 22, 1 << 24), "tx_vport_rdma_unicast_packets": (1 << 22, 1 << 24),
    **{f"{way}_prio{i}_{what}": (0, 90000) for i in range(8) for way in ("rx", "tx") for what in ("bytes", "packets")},
    **{f"rx_prio{i}_{what}": (0, 9) for i in range(8) for what in ("buf_discard", "cong_discard")},
    **{f"rx{i}_{what}": (0, 90000) for i in range(32) for what in ("packets", "bytes", "csum_none", "xdp_drop")},
}
PAUSES = {f"{way}_prio3_pause{what}": (0, 90000) for way in ("rx", "tx") for what in ("", "_duration", "_transition")}
RATE_NAMES = {8: "SDR", 16: "DDR", 32: "QDR", 40: "FDR10", 54.5: "FDR", 100: "EDR", 200: "HDR", 400: "NDR"}


def write(path, text):
    with open(path, "w") as f:
        f.write(text + "\n")


def colons(value, groups):
    text = f"{value:0{groups * 4}x}"
    return ":".join(text[i:i + 4] for i in range(0, len(text), 4))


def ethernet(root, device, pci_name, netdev, pauses, rng):
    """An Ethernet card; nothing uses it by RDMA unless a test says so."""
    sys_dir = f"{root}/sys"
    pci = f"{sys_dir}/devices/pci0000:80/{pci_name}"
    card = f"{pci}/infiniband/{device}"
    at = f"{card}/ports/1"
    for d in (f"{sys_dir}/class/infiniband", f"{sys_dir}/bus/pci/drivers/mlx5_core", f"{at}/counters",
              f"{at}/hw_counters", f"{at}/gids", f"{at}/gid_attrs/ndevs", f"{pci}/net/{netdev}"):
        os.makedirs(d, exist_ok=True)
    os.symlink(f"../../devices/pci0000:80/{pci_name}/infiniband/{device}", f"{sys_dir}/class/infiniband/{device}")
    os.symlink("../../../bus/pci/drivers/mlx5_core", f"{pci}/driver")
    os.symlink(f"../../../{pci_name}", f"{card}/device")
    for key, text in {"current_link_width": "16", "max_link_width": "16", "current_link_speed": "16.0 GT/s PCIe",
                      "max_link_speed": "16.0 GT/s PCIe", f"net/{netdev}/dev_port": "0",
                      "infiniband/" + device + "/hca_type": "MT4125"}.items():
        write(f"{pci}/{key}", text)
    for key, text in {"lid": "0x0", "lid_mask_count": "0", "state": "4: ACTIVE", "phys_state": "5: LinkUp",
                      "rate": "100 Gb/sec (4X EDR)", "link_layer": "Ethernet", "gid_attrs/ndevs/0": netdev,
                      "gids/0": "fe80:0000:0000:0000:0000:00ff:fe00:0001"}.items():
        write(f"{at}/{key}", text)
    for directory, table in (("counters", COUNTERS), ("hw_counters", HW_COUNTERS)):
        for key, (low, high) in table.items():
            write(f"{at}/{directory}/{key}", str(rng.randint(low, high)))
    table = {**ETHTOOL, **(PAUSES if pauses else {})}
    write(f"{pci}/net/{netdev}/ethtool_stats",
          "\n".join(["NIC statistics:"] + [f"     {key}: {rng.randint(low, high)}" for key, (low, high) in table.items()]))


def build(root, name, node, kind="ib"):
    rng = random.Random(name)
    if kind == "roce":
        ethernet(root, "mlx5_0", "0000:81:00.0", "ens1np0", True, rng)
        ethernet(root, "mlx5_9", "0000:82:00.0", "eno1", False, rng)
        os.makedirs(f"{root}/proc/sys/kernel/random")
        write(f"{root}/proc/sys/kernel/random/boot_id", str(uuid.uuid4()))
        return
    number = min(node.ports)
    port = node.ports[number]
    sys_dir = f"{root}/sys"
    pci = f"{sys_dir}/devices/pci0000:3a/0000:3b:00.0"
    card = f"{pci}/infiniband/mlx5_0"
    at = f"{card}/ports/1"
    for d in (f"{sys_dir}/class/infiniband", f"{sys_dir}/bus/pci/drivers/mlx5_core", f"{at}/counters",
              f"{at}/hw_counters", f"{at}/gids", f"{at}/pkeys", f"{root}/proc/sys/kernel/random"):
        os.makedirs(d)
    os.symlink("../../devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0", f"{sys_dir}/class/infiniband/mlx5_0")
    os.symlink("../../../bus/pci/drivers/mlx5_core", f"{pci}/driver")
    os.symlink("../../../0000:3b:00.0", f"{card}/device")
    for key, text in {"current_link_width": "16", "max_link_width": "16", "current_link_speed": "16.0 GT/s PCIe",
                      "max_link_speed": "16.0 GT/s PCIe", "numa_node": "0", "vendor": "0x15b3",
                      "device": "0x101b"}.items():
        write(f"{pci}/{key}", text)
    for key, text in {"node_guid": colons(node.guid, 4), "sys_image_guid": colons(node.guid, 4),
                      "node_desc": f"{name} mlx5_0", "node_type": "1: CA", "fw_ver": "20.35.2000",
                      "hca_type": "MT4123", "hw_rev": "0", "board_id": "MT_0000000223"}.items():
        write(f"{card}/{key}", text)
    rate = port.gbps()
    label = RATE_NAMES.get(rate * 4 / port.width, "")
    for key, text in {"lid": f"0x{port.lid:x}", "lid_mask_count": str(port.lmc), "sm_lid": f"0x{port.smlid:x}",
                      "sm_sl": "0", "state": "4: ACTIVE" if port.active else "1: DOWN",
                      "phys_state": "5: LinkUp" if port.active else "2: Polling",
                      "rate": f"{rate:g} Gb/sec ({port.width}X {label})", "link_layer": "InfiniBand",
                      "cap_mask": "0xa651e848", "pkeys/0": "0xffff",
                      "gids/0": colons(0xFE80000000000000, 4) + ":" + colons(port.guid, 4)}.items():
        write(f"{at}/{key}", text)
    for directory, table in (("counters", COUNTERS), ("hw_counters", HW_COUNTERS)):
        for key, (low, high) in table.items():
            write(f"{at}/{directory}/{key}", str(rng.randint(low, high)))
    write(f"{root}/proc/sys/kernel/random/boot_id", str(uuid.uuid4()))
    if kind == "mixed":
        ethernet(root, "mlx5_1", "0000:81:00.0", "ens1np0", True, rng)


def exchange(root, name, node, kind):
    """Other cards, while the node is switched off."""
    for tree in ("sys", "proc"):
        shutil.rmtree(f"{root}/{tree}")
    build(root, name, node, kind)
    marker = f"{root}/cards"
    if kind == "ib":
        if os.path.exists(marker):
            os.remove(marker)
    else:
        write(marker, kind)


def dumped(lab):
    console = Console(lab)
    console.lock()
    net = parse_dump(console.run(["Dump"]))
    console.unlock()
    return net


def repair(root, name):
    """Puts back counter files that a test removed."""
    rng = random.Random(name)
    at = f"{root}/sys/class/infiniband/mlx5_0/ports/1"
    for directory, table in (("counters", COUNTERS), ("hw_counters", HW_COUNTERS)):
        for key, (low, high) in table.items():
            path = f"{at}/{directory}/{key}"
            if os.path.isdir(os.path.dirname(path)) and not os.path.exists(path):
                write(path, str(rng.randint(low, high)))


def plain(name):
    """symbol_error and SymbolErrorCounter alike."""
    return re.sub(r"counter$", "", re.sub(r"[^a-z0-9]", "", name.lower()))


def place(name):
    """Prints in which directory the counter's file is; the closest name for one that no port has."""
    for directory, table in (("counters", COUNTERS), ("hw_counters", HW_COUNTERS)):
        if name in table:
            print(f"{directory}/{name}")
            return
    known = {plain(key): key for key in [*COUNTERS, *HW_COUNTERS]}
    closest = difflib.get_close_matches(plain(name), known, 1, 0)
    sys.exit(f"lab: no counter {name}; the closest is {known[closest[0]]}")


def main():
    lab, names = os.environ["FABRIC_CHECK_LAB"], sys.argv[1:]
    if names[0] == "--place":
        place(names[1])
        return
    if names[0] == "--repair":
        exchanged = [name for name in names[1:] if os.path.exists(f"{lab}/nodes/{name}/cards")]
        net = dumped(lab) if exchanged else {}
        for name in names[1:]:
            if name in exchanged:
                exchange(f"{lab}/nodes/{name}", name, net[name], "ib")
            else:
                repair(f"{lab}/nodes/{name}", name)
        return
    if names[0] == "--cards":
        if names[1] not in ("ib", "roce", "mixed"):
            sys.exit(f"lab: no kind of cards {names[1]}; valid: ib, roce, mixed")
        net = dumped(lab)
        for name in names[2:]:
            if name not in net:
                sys.exit(f"lab: {name} is not in the net")
            exchange(f"{lab}/nodes/{name}", name, net[name], names[1])
        return
    net = dumped(lab)
    for name in names:
        if name in net:
            build(f"{lab}/nodes/{name}", name, net[name])
        else:  # a net without this host: a node with no InfiniBand card
            os.makedirs(f"{lab}/nodes/{name}/sys/class")
            os.makedirs(f"{lab}/nodes/{name}/proc/sys/kernel/random")
            write(f"{lab}/nodes/{name}/proc/sys/kernel/random/boot_id", str(uuid.uuid4()))


main()
