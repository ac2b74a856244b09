#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The node hook alone: its whole life, on a node of 16 ports with 40 counters each, whose files lie on tmpfs as sysfs does
in memory, with a real munged; beside a hook as scripts write it, which reads the same files with cat. See README.md."""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PORTS = 16
RUNNER = ""  # launch_run.c, built
PMA = """symbol_error link_error_recovery link_downed port_rcv_errors port_rcv_remote_physical_errors
port_rcv_switch_relay_errors port_xmit_discards port_xmit_constraint_errors port_rcv_constraint_errors
local_link_integrity_errors excessive_buffer_overrun_errors VL15_dropped port_xmit_data port_rcv_data port_xmit_packets
port_rcv_packets port_xmit_wait unicast_xmit_packets unicast_rcv_packets multicast_xmit_packets
multicast_rcv_packets""".split()
HW = """duplicate_request implied_nak_seq_err local_ack_timeout_err np_cnp_sent np_ecn_marked_roce_packets out_of_buffer
out_of_sequence packet_seq_err req_cqe_error req_cqe_flush_error resp_cqe_error resp_cqe_flush_error
resp_local_length_error rnr_nak_retry_err roce_adp_retrans roce_adp_retrans_to roce_slow_restart rx_atomic_requests
rx_read_requests""".split()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def make_node(root):
    write(f"{root}/proc/sys/kernel/random/boot_id", "7c0e2d1a-0000-4000-8000-000000000001\n")
    for card in range(PORTS):
        device = f"{root}/sys/class/infiniband/mlx5_{card}"
        write(f"{device}/hca_type", "MT4123\n")
        for name, text in (("current_link_width", "16"), ("max_link_width", "16"),
                           ("current_link_speed", "16.0 GT/s PCIe"), ("max_link_speed", "16.0 GT/s PCIe")):
            write(f"{device}/device/{name}", text + "\n")
        port = f"{device}/ports/1"
        for name, text in (("link_layer", "InfiniBand"), ("state", "4: ACTIVE"), ("phys_state", "5: LinkUp"),
                           ("rate", "200 Gb/sec (4X HDR)"), ("lid", f"{card + 1:#x}"), ("lid_mask_count", "0"),
                           ("gids/0", f"fe80:0000:0000:0000:0002:c903:0000:{card + 1:04x}")):
            write(f"{port}/{name}", text + "\n")
        for n, name in enumerate(PMA):
            write(f"{port}/counters/{name}", f"{card * 1000000007 + n * 98765}\n")
        for n, name in enumerate(HW):
            write(f"{port}/hw_counters/{name}", f"{card * 10007 + n}\n")
    assert len(PMA) + len(HW) == 40


def start_munged(directory):
    with open(f"{directory}/key", "w") as key:
        key.write("k" * 128)
    os.chmod(f"{directory}/key", 0o400)
    os.chmod(directory, 0o755)
    names = [f"--{option}={directory}/{option}" for option in ("socket", "pid-file", "log-file", "seed-file")]
    child = subprocess.Popen(["munged", "--foreground", "--force", f"--key-file={directory}/key", *names],
                             stderr=subprocess.DEVNULL)
    for _ in range(500):
        if os.path.exists(f"{directory}/socket") or child.poll() is not None:
            break
        time.sleep(0.01)
    if child.poll() is not None:
        sys.exit("munged did not start")
    return child


def run(command, environment):
    """Wall and CPU milliseconds, kilobytes resident at most, and page faults; of the program and those it waited for."""
    done = subprocess.run([RUNNER, *command], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


SHELL_HOOK = """#!/bin/bash
for port in {sys}/class/infiniband/*/ports/*; do
    for counter in $port/counters/* $port/hw_counters/*; do
        echo "${{counter##*/}} $(cat $counter)"
    done
done > {out}
munge --socket={socket} < {out} > {out}.munge
mv {out}.munge {out}.signed
exit 0
"""


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--build", default=os.environ.get("FABRIC_CHECK_BUILD", "build"))
    options.add_argument("--runs", type=int, default=40)
    options.add_argument("--shell-runs", type=int, default=5)
    options = options.parse_args()
    work = tempfile.mkdtemp(prefix="fc-launch.", dir="/dev/shm")
    global RUNNER
    RUNNER = f"{work}/run"
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run(["gcc", "-O2", "-static", "-o", RUNNER, f"{here}/launch_run.c"], check=True)
    munge = tempfile.mkdtemp(prefix="fc-launch-munge.", dir="/tmp")
    munged = start_munged(munge)
    try:
        measure(options, work, f"{munge}/socket")
    finally:
        munged.terminate()
        munged.wait()
        shutil.rmtree(work)
        shutil.rmtree(munge)


def measure(options, work, socket):
    make_node(work)
    os.makedirs(f"{work}/spool")
    write(f"{work}/config.toml", f"""spool = "{work}/spool"
sysfs_root = "{work}/sys"
proc_root = "{work}/proc"
node_state = "{work}/state"
log_file = "{work}/log"
[munge]
socket = "{socket}"
""")
    write(f"{work}/shell-hook", SHELL_HOOK.format(sys=f"{work}/sys", out=f"{work}/out", socket=socket))
    os.chmod(f"{work}/shell-hook", 0o755)
    environment = {"SLURM_JOB_ID": "7", "SLURMD_NODENAME": "node09", "SLURM_JOB_NODELIST": "node[01-12]",
                   "FABRIC_CHECK_CONFIG": f"{work}/config.toml", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    hooks = [("prolog", f"{options.build}/bin/fabric-check-prolog"), ("epilog", f"{options.build}/bin/fabric-check-epilog")]
    results = {name: [] for name, _ in hooks}
    for i in range(options.runs):
        for n, (name, program) in enumerate(hooks):
            environment["SLURM_JOB_ID"] = str(1000 + i)
            results[name].append(run([os.path.abspath(program)], environment))
    shell = [run([f"{work}/shell-hook"], environment) for _ in range(options.shell_runs)]
    records = [name for name in os.listdir(f"{work}/spool/records") if not name.endswith(".payload")]
    if len(records) != 2 * options.runs:
        sys.exit(f"{len(records)} records of {2 * options.runs}: see {work}/log")
    print(f"node hook alone: {PORTS} ports x {len(PMA) + len(HW)} counters on tmpfs, munged; medians of {options.runs} runs "
          f"(shell: {options.shell_runs})")
    print(f"{'':24}{'wall ms':>9}{'CPU ms':>9}{'RSS kB':>9}{'faults':>9}{'min ms':>9}{'p90 ms':>9}")
    for name, runs in [*results.items(), ("shell, cat a counter", shell)]:
        walls = sorted(one[0] for one in runs)
        print(f"{name:24}{statistics.median(walls):9.2f}{statistics.mean(one[1] for one in runs):9.2f}"
              f"{max(one[2] for one in runs):9.0f}{statistics.median(one[3] for one in runs):9.0f}{walls[0]:9.2f}{walls[len(walls) * 9 // 10]:9.2f}")
    hook = statistics.median(one[0] for one in results["prolog"])
    print(f"the shell hook takes {statistics.median(one[0] for one in shell) / hook:.0f} x as long; "
          f"goal 5 ms and 4 MB: {'met' if hook < 5 and max(one[2] for one in results['prolog']) < 4096 else 'missed'}")
    measure_hung(work, environment, hooks[0][1])


def measure_hung(work, environment, program):
    """How long after its budget a hook leaves when what it reads or writes hangs in the kernel, where no kill helps."""
    hung = f"{work}/hung"
    os.mkdir(hung)
    server = subprocess.Popen([f"{os.path.dirname(os.path.abspath(__file__))}/../lab/lib/hung_mount.py", hung])
    try:
        for _ in range(500):
            if f" {hung} fuse" in open("/proc/mounts").read():
                break
            time.sleep(0.01)
        with open(f"{work}/config.toml") as file:
            config = file.read().split("\n")
        late = {}
        for key in ("spool", "sysfs_root", "node_state", "log_file"):
            lines = [f'{key} = "{hung}/it"'] + [line for line in config if not line.startswith(key)]
            write(f"{work}/hung.toml", "\n".join(lines) + "\n[hooks]\nbudget_ms = 300\n")
            environment["FABRIC_CHECK_CONFIG"] = f"{work}/hung.toml"
            late[key] = [run([os.path.abspath(program)], environment)[0] - 300 for _ in range(3)]
        environment["FABRIC_CHECK_CONFIG"] = f"{hung}/it"
        late["configuration"] = [run([os.path.abspath(program)], environment)[0] - 2000 for _ in range(3)]
    finally:
        server.terminate()
        server.wait()
    print("leaves after its budget, with something that hangs in the kernel, goal 100 ms; medians of 3, and the worst:")
    for key, values in late.items():
        print(f"{key:24}{statistics.median(values):9.1f} ms{max(values):9.1f} ms")


if __name__ == "__main__":
    main()
