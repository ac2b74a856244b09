# SPDX-License-Identifier: GPL-2.0-or-later
"""What ibsim lacks: traffic. Flows go where the forwarding tables in the switches
send them, share the links max-min, and move the counters of both ends of every link
they cross, in real time. All traffic commands running at once share the same links.

Data counters grow by payload / 4; a packet is 4 KiB of payload. A held flow makes
PortXmitWait at the transmitting port of the link that holds it, and less of it at the
ports before that."""

import argparse
import json
import os
import signal
import sys
import time
import uuid

from flows import GIB, NO_LIMIT, FlowError, ceiling, expand, share
from ibsim import U32, U64, Client, Console, IbsimError, observer, parse_dump, set_commands

LAB = os.environ["FABRIC_CHECK_LAB"]
REGISTRY = f"{LAB}/traffic"
PACKET = 4096
WAIT_TICKS = 20_000_000  # ticks a second at a port that could send nothing at all
UPSTREAM = 0.4           # of a held flow's wait, what each port before the tight link sees


def parse_args(argv):
    p = argparse.ArgumentParser(prog="lab traffic", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("flow", nargs="+", help="SRC DST GIB_S SECONDS, again and again; SRC and DST are hosts or "
                   "hostlists (all pairs), GIB_S the rate of each flow, or max")
    p.add_argument("--rate-per-dst", type=float, metavar="R", help="what one destination takes in all, GiB/s")
    p.add_argument("--duration", type=float, metavar="S", help="instead of SECONDS in each flow: flows are then SRC DST GIB_S")
    p.add_argument("--now", action="store_true", help="move the counters at once, without waiting")
    p.add_argument("--json", action="store_true")
    p.add_argument("--dry-run", action="store_true", help="only say what would flow")
    a = p.parse_args(argv)
    size = 3 if a.duration is not None else 4
    if len(a.flow) % size:
        p.error("flows are SRC DST GIB_S" + (" (with --duration)" if size == 3 else " SECONDS"))
    flows = []
    for i in range(0, len(a.flow), size):
        src, dst, rate = a.flow[i:i + 3]
        try:
            demand = NO_LIMIT if rate == "max" else float(rate)
            seconds = a.duration if size == 3 else float(a.flow[i + 3])
        except ValueError:
            p.error(f"not a number in: {' '.join(a.flow[i:i + size])}")
        for s in expand(src):
            for d in expand(dst):
                if s != d:
                    cap = (f"cap-{os.getpid()}-{d}", a.rate_per_dst) if a.rate_per_dst else None
                    flows.append({"src": s, "dst": d, "demand": demand, "seconds": seconds, "cap": cap})
    if not flows:
        p.error("no flow")
    return a, flows


class Registry:
    """Flows of all traffic commands now running, so that they share links."""

    def __init__(self, flows):
        self.path = f"{REGISTRY}/{uuid.uuid4()}"
        self.flows = flows

    def publish(self, elapsed):
        live = [f for f in self.flows if f["seconds"] > elapsed]
        with open(self.path + ".new", "w") as f:
            json.dump({"pid": os.getpid(), "flows": [dict(x, demand=min(x["demand"], 1e9)) for x in live]}, f)
        os.replace(self.path + ".new", self.path)

    def others(self):
        found = []
        for name in os.listdir(REGISTRY):
            path = f"{REGISTRY}/{name}"
            if path == self.path or name.endswith(".new"):
                continue
            try:
                with open(path) as f:
                    entry = json.load(f)
            except (OSError, ValueError):
                continue
            if os.path.exists(f"/proc/{entry['pid']}"):
                found += entry["flows"]
            else:
                os.remove(path)
        return found

    def remove(self):
        for path in (self.path, self.path + ".new"):
            if os.path.exists(path):
                os.remove(path)


class Engine:
    def __init__(self):
        self.console = Console(LAB)
        self.net = {}
        self.totals = {}   # (node, port): [sent, received, wait], exact, of all intervals
        self.applied = {}  # the same, as whole units already in the counters

    def read_net(self):
        self.net = parse_dump(self.console.run(["Dump"]))

    def account(self, shares, seconds):
        """Adds an interval to the totals."""
        load, held = {}, {}
        for s in shares:
            sent = s["rate"] * GIB * seconds
            for node, number in s["path"]:
                load[node, number] = load.get((node, number), 0) + s["rate"]
                self.totals.setdefault((node, number), [0, 0, 0])[0] += sent
                self.totals.setdefault(self.net[node].ports[number].peer, [0, 0, 0])[1] += sent
            if s["hold"] is not None:
                for i, port in enumerate(s["path"][:s["hold"] + 1]):
                    part = 1.0 if i == s["hold"] else UPSTREAM
                    held[port] = held.get(port, 0) + part * (s["want"] - s["rate"])
        for port, lack in held.items():
            if lack > 1e-6:
                self.totals[port][2] += WAIT_TICKS * seconds * lack / (lack + load[port])

    def apply(self):
        """Brings the counters up to the totals: reads what they hold, then adds."""
        steps = {}
        for port, totals in self.totals.items():
            before = self.applied.get(port, (0, 0, 0, 0, 0))
            sent, received, wait = (round(t) for t in totals)
            now = (sent // 4, received // 4, -(-sent // PACKET), -(-received // PACKET), wait)
            step = tuple(a - b for a, b in zip(now, before))
            if any(step):
                steps[port] = step
                self.applied[port] = now
        self.console.lock()
        try:
            self.write_fabric(steps)
            for (node, _), step in steps.items():
                write_sysfs(node, step)
        finally:
            self.console.unlock()

    def write_fabric(self, steps):
        at = {(self.net[node].lid(), number): (node, number) for node, number in steps}
        client = Client(observer(self.net))
        try:
            old = client.get_counters(list(at))
        finally:
            client.close()
        commands = []
        for key, (node, number) in at.items():
            if key not in old:
                print(f"lab: traffic: {node}[{number}] does not answer; its counters stay", file=sys.stderr)
                continue
            v = old[key]
            sent, received, out, into, wait = steps[node, number]
            commands += set_commands(node, number, {
                "PortXmitData64": (v["PortXmitData64"] + sent) & U64,
                "PortRcvData64": (v["PortRcvData64"] + received) & U64,
                "PortXmitPkts64": (v["PortXmitPkts64"] + out) & U64,
                "PortRcvPkts64": (v["PortRcvPkts64"] + into) & U64,
                "PortUnicastXmitPkts": (v["PortUnicastXmitPkts"] + out) & U64,
                "PortUnicastRcvPkts": (v["PortUnicastRcvPkts"] + into) & U64,
                "PortXmitData": min(v["PortXmitData"] + sent, U32),
                "PortRcvData": min(v["PortRcvData"] + received, U32),
                "PortXmitPkts": min(v["PortXmitPkts"] + out, U32),
                "PortRcvPkts": min(v["PortRcvPkts"] + into, U32),
                "PortXmitWait": min(v["PortXmitWait"] + wait, U32)})
        self.console.run(commands)


def write_sysfs(node, step):
    directory = f"{LAB}/nodes/{node}/sys/class/infiniband/mlx5_0/ports/1/counters"
    if not os.path.isdir(directory):
        return
    sent, received, out, into, wait = step
    for name, plus, cap in (("port_xmit_data", sent, U64), ("port_rcv_data", received, U64),
                            ("port_xmit_packets", out, U64), ("port_rcv_packets", into, U64),
                            ("unicast_xmit_packets", out, U64), ("unicast_rcv_packets", into, U64),
                            ("port_xmit_wait", wait, U32)):
        path = f"{directory}/{name}"
        try:
            with open(path) as f:
                value = int(f.read())
        except (OSError, ValueError):
            continue  # removed, or made unreadable, by a test: stays so
        with open(f"{LAB}/nodes/{node}/.traffic", "w") as f:
            f.write(f"{min(value + plus, cap)}\n")
        os.replace(f"{LAB}/nodes/{node}/.traffic", path)


def run(engine, flows, args):
    """Runs the flows to their end; returns how long it took."""
    registry = Registry(flows)
    end = max(f["seconds"] for f in flows)
    edges = {f["seconds"] for f in flows}
    start, elapsed = time.monotonic(), 0.0
    stop = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.append(1))
    try:
        while elapsed < end and not stop:
            engine.console.lock()
            engine.read_net()
            engine.console.unlock()
            registry.publish(elapsed)
            live = [f for f in flows if f["seconds"] > elapsed]
            shares = share(engine.net, live + ([] if args.now else registry.others()))[:len(live)]
            following = min([e for e in edges if e > elapsed])
            if not args.now:
                following = min(following, float(int(elapsed) + 1))
                while not stop and (rest := start + following - time.monotonic()) > 0:
                    time.sleep(min(rest, 0.1))
                if stop:
                    following = min(following, time.monotonic() - start)
            engine.account(shares, following - elapsed)
            engine.apply()
            elapsed = following
    finally:
        registry.remove()
    return elapsed


def summary(engine, elapsed):
    links = []
    for (node, number), (sent, _, wait) in sorted(engine.totals.items()):
        if sent:
            port = engine.net[node].ports[number]
            links.append({"from": node, "port": number, "to": port.peer[0], "to_port": port.peer[1],
                          "bytes": round(sent), "gib_s": round(sent / GIB / elapsed, 3),
                          "share": round(sent / GIB / elapsed / ceiling(port), 3), "xmit_wait": round(wait)})
    return {"seconds": elapsed, "links": links}


def link_downed(node):
    """One more LinkDowned at the host's port and the switch port facing it, as after a reboot."""
    engine = Engine()
    engine.console.lock()
    engine.read_net()
    if node not in engine.net:
        return
    port = engine.net[node].ports[min(engine.net[node].ports)]
    ends = [(node, port.num)] + ([port.peer] if port.peer else [])
    at = {(engine.net[n].lid(), p): (n, p) for n, p in ends}
    client = Client(observer(engine.net))
    old = client.get_counters(list(at))
    client.close()
    commands = []
    for key, (n, p) in at.items():
        if key in old:
            commands += set_commands(n, p, {"LinkDownedCounter": min(old[key]["LinkDownedCounter"] + 1, 255)})
    engine.console.run(commands)


def main(argv):
    if argv[:1] == ["--link-downed"]:
        return link_downed(argv[1])
    args, flows = parse_args(argv)
    engine = Engine()
    if args.dry_run:
        engine.console.lock()
        engine.read_net()
        engine.console.unlock()
        elapsed = max(f["seconds"] for f in flows)
        for f, s in zip(flows, share(engine.net, flows)):
            engine.account([s], f["seconds"])
    else:
        elapsed = run(engine, flows, args)
    result = summary(engine, elapsed) if elapsed > 0 else {"seconds": 0, "links": []}
    if args.json:
        print(json.dumps(result, indent=1))
    else:
        for link in result["links"]:
            print("{from}:{port}->{to}:{to_port} {gib_s:.2f} GiB/s {bytes} bytes, wait {xmit_wait}".format(**link))
    return None


try:
    main(sys.argv[1:])
except (FlowError, IbsimError, OSError) as e:
    sys.exit(f"lab: traffic: {e}")
