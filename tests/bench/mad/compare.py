#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a simulated fabric with our library and with the tools of infiniband-diags, in turn, under the same agents
(shim.c), and prints medians, ratios, and how near we are to the least time possible. The method is in ../README.md.

  compare.py BUILD [--runs N] [--services US,…] [--parts LIST] [--fabric LEAVESxHOSTSxSPINES] [--lock FILE]"""

import argparse
import ctypes
import fcntl
import os
import re
import shutil
import statistics
import sys
import tempfile
import time

from fabric import Fabric

WINDOW = 64          # mad.window's default
ROUND_TRIP_US = 5
JOB = 256            # nodes
DEAD_SHARE = 20      # every 20th host: 5 %
TIMEOUTS = 2 * 0.5   # timeout_ms, and once more
SAMPLE = 48          # ports that one process each reads, for the scaled figure


def overshoot():
    """Median microseconds that a sleep of 100 us lasts longer, at the shim's timer slack."""
    ctypes.CDLL(None).prctl(29, 1000, 0, 0, 0)
    late = []
    for _ in range(500):
        began = time.monotonic_ns()
        time.sleep(0.0001)
        late.append((time.monotonic_ns() - began) / 1000 - 100)
    return statistics.median(late)


class Comparison:
    def __init__(self, arguments, fabric):
        self.args, self.fabric = arguments, fabric
        build = os.path.abspath(arguments.build)
        self.shim = f"{build}/lib/fabric-check-mad-shim.so"
        self.reader = [f"{build}/bin/fabric-check-mad-reader", f"{fabric.dir}/map"]
        self.failed = []

    def check(self, what, right):
        if not right:
            self.failed.append(what)
            print(f"  NOT EQUAL: {what}")

    def timed(self, commands, service, dead=None, output="out"):
        """Seconds of these commands one after the other, their MADs, the busiest agent's, and all that they printed."""
        settings = {"SERVICE_US": service, "RTT_US": ROUND_TRIP_US}
        if dead:
            settings["DEAD"] = dead
        lock = open(self.args.lock, "a") if self.args.lock else None
        if lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
        took, mads, busiest, text = 0.0, 0, 0, []
        for command in commands:
            seconds, numbers, _ = self.fabric.run(command, self.shim, settings, output)
            took += seconds
            mads += numbers[0] if numbers else 0
            busiest = max(busiest, numbers[1] if numbers else 0)
            text.append(self.fabric.read(output))
        if lock:
            lock.close()
        return took, mads, busiest, "\n".join(text)

    def ours(self, what, service, dead=None):
        took, mads, busiest, text = self.timed([self.reader + what], service, dead, "ours")
        words = text.split()
        if len(words) < 2:
            raise RuntimeError(f"mad reader: {self.fabric.read('ours.err')}")
        told = {words[i]: int(words[i + 1]) for i in range(1, len(words) - 1, 2)}
        told["pass"], told["no-sl"] = float(words[0]), "no-sl" in words
        told["wall"], told["mads"], told["busiest"] = took, mads, busiest
        return told

    def start(self):
        fabric = self.fabric
        fabric.start()
        fabric.run(["ibnetdiscover", "--cache", f"{fabric.dir}/discovered"])
        fabric.run(["ibnetdiscover"], output="net.txt")
        self.switches, self.hosts = fabric.lids(fabric.read("net.txt"))
        fabric.console([f'PerformanceSet "{name}"[{port}] PortCounters.SymbolErrorCounter={100 + (n * 61 + port) % 50000}'
                        for n, (name, _, _) in enumerate(self.switches) for port in self.ports_of(name)])
        self.symbols = sum(100 + (n * 61 + port) % 50000
                           for n, (name, _, _) in enumerate(self.switches) for port in self.ports_of(name))
        self.port_count = sum(len(self.ports_of(name)) for name, _, _ in self.switches)
        build = os.path.abspath(self.args.build)
        fabric.run([f"{build}/bin/fabric-check", "map", "build", "-o", f"{fabric.dir}/map"], output="map.txt")
        with open(f"{fabric.dir}/dead", "w") as dead:
            # Neither the host that the programs run on nor the subnet manager's.
            chosen = [lid for name, lid in self.hosts
                      if name not in ("node0001", f"node{len(self.hosts):04}")][::DEAD_SHARE]
            dead.write("\n".join(map(str, chosen)) + "\n")
            self.dead = len(chosen)
            self.a_dead_lid = chosen[0]

    def ports_of(self, name):
        return range(1, (self.fabric.hosts + self.fabric.spines if name.startswith("leaf") else self.fabric.leaves) + 1)

    # --- the peers

    def ibqueryerrors(self):
        return [["ibqueryerrors", "--load-cache", f"{self.fabric.dir}/discovered", "--data", "--switch", "--skip-sl"]]

    def perfquery_loop(self, ports=None):
        """perfquery -l: all ports of a switch, or some of them, classic and extended."""
        if not ports:
            ports = {lid: self.ports_of(name) for name, lid, _ in self.switches}
        return [["perfquery", *extended, "-l", str(lid), ",".join(map(str, sorted(numbers)))]
                for lid, numbers in ports.items() for extended in ([], ["-x"])]

    def perfquery_each(self):
        """A process for each of some ports and attributes, as scripts do."""
        sample = [(lid, port) for name, lid, _ in self.switches for port in self.ports_of(name)]
        sample = sample[::max(1, len(sample) // SAMPLE)]
        return [["perfquery", *extended, str(lid), str(port)] for lid, port in sample for extended in ([], ["-x"])], len(sample)

    @staticmethod
    def symbols_in(tool, text):
        if tool == "ibqueryerrors":
            rows = re.findall(r"GUID 0x\w+ port (\d+):(.*)", text)
            found = [(row[1], re.search(r"\[SymbolErrorCounter == (\d+)\]", row[1])) for row in rows]
            return sum(1 for row, m in found if m and "PortXmitData ==" in row), sum(int(m[1]) for _, m in found if m)
        counts = [int(n) for n in re.findall(r"^SymbolErrorCounter:\.*(\d+)", text, re.M)]
        return len([n for n in counts if n]), sum(counts)

    # --- the parts

    def medians(self, runs):
        return statistics.median(runs), len(runs)

    def row(self, service, tool, runs, mads, base, note=""):
        median, n = self.medians(runs)
        spread = f"{min(runs):.3f}-{max(runs):.3f}"
        print(f"  {service:>5} us  {tool:<26} n={n}  {median:>9.3f} s  ({spread})  {mads:>7} MADs  "
              f"{median / base:>6.1f}x {note}", flush=True)

    def bound(self, service, one, at_zero):
        seconds = max(one["busiest"] * service / 1e6, one["mads"] * service / 1e6 / WINDOW, at_zero)
        print(f"  {service:>5} us  bound {seconds:.4f} s (busiest agent {one['busiest']} MADs, all {one['mads']} / {WINDOW}, "
              f"run at 0: {at_zero:.4f}); our pass {one['pass']:.4f} s = {one['pass'] / seconds:.2f}x", flush=True)

    def repeat(self, service, tools):
        """Runs of every tool, in turn; slow ones less often when they would take too long."""
        results = {name: [] for name in tools}
        for turn in range(self.args.runs):
            for name, measure in tools.items():
                so_far = [r["wall"] for r in results[name]]
                if so_far and sum(so_far) + so_far[-1] > self.args.limit:
                    continue
                results[name].append(measure(service))
        return results

    def peer(self, tool, commands, expected=None):
        def measure(service):
            took, mads, busiest, text = self.timed(commands, service, output=tool)
            if expected:
                ports, symbols = self.symbols_in(tool, text)
                self.check(f"{tool}: {ports} ports, symbol errors {symbols}; expected {expected}", (ports, symbols) == expected)
            return {"wall": took, "mads": mads, "busiest": busiest}
        return measure

    def own(self, what, expected=None):
        def measure(service):
            told = self.ours(what, service)
            if expected:
                self.check(f"ours: {told}; expected {expected}", (told["ports"], told["symbols"]) == expected)
            self.check(f"ours: {told['unread']} ports unread, no SL: {told['no-sl']}", not told["unread"] and not told["no-sl"])
            return told
        return measure

    def report(self, title, services, tools, scale=None):
        print(f"\n{title}", flush=True)
        at_zero = None
        for service in services:
            results = self.repeat(service, tools)
            base = statistics.median(r["wall"] for r in results["ours"])
            for name, runs in results.items():
                factor = (scale or {}).get(name, 1)
                note = f"scaled by {factor:.1f}" if factor != 1 else ""
                self.row(service, name, [r["wall"] * factor for r in runs], int(runs[0]["mads"] * factor), base, note)
            ordered = sorted(results["ours"], key=lambda r: r["pass"])
            one = ordered[len(ordered) // 2]
            if service == 0:
                at_zero = one["pass"]
            if at_zero is not None:
                self.bound(service, one, at_zero)

    def all_ports(self):
        expected = (self.port_count, self.symbols)
        each, sampled = self.perfquery_each()
        tools = {"ours": self.own(["ports"], expected),
                 "ibqueryerrors": self.peer("ibqueryerrors", self.ibqueryerrors(), expected),
                 "perfquery -l": self.peer("perfquery", self.perfquery_loop(), expected),
                 "perfquery a port": self.peer("perfquery-each", each)}
        self.report(f"All ports: {self.port_count} ports of {len(self.switches)} switches, classic and extended counters",
                    self.args.services, tools, {"perfquery a port": self.port_count / sampled})

    def job(self):
        first = self.ours(["job", str(JOB)], 0)
        ports = {}
        for lid, port in re.findall(r"^port (\d+) (\d+)$", self.fabric.read("ours.err"), re.M):
            ports.setdefault(int(lid), []).append(int(port))
        tools = {"ours": self.own(["job", str(JOB)]),
                 "perfquery -l": self.peer("perfquery", self.perfquery_loop(ports)),
                 "ibqueryerrors (all)": self.peer("ibqueryerrors", self.ibqueryerrors())}
        self.report(f"A job of {JOB} nodes: {first['ports']} ports of {len(ports)} switches; ours reads the forwarding tables' "
                    "blocks and PortInfo too", sorted({0, 200} & set(self.args.services)), tools)

    def tables(self):
        expected = self.ours(["lfts"], 0)

        def dump_fts(service):
            took, mads, busiest, text = self.timed([["dump_fts", "-n"]], service, output="dump_fts")
            entries = len(re.findall(r"^0x[0-9a-f]{4,} \d+", text, re.M))
            self.check(f"dump_fts: {entries} entries; ours {expected['entries']}", entries == expected["entries"])
            return {"wall": took, "mads": mads, "busiest": busiest}

        def ibroute(service):
            took, mads, busiest, text = self.timed([["ibroute", "-n", str(lid)] for _, lid, _ in self.switches], service,
                                                   output="ibroute")
            entries = len(re.findall(r"^0x[0-9a-f]{4,} \d+", text, re.M))
            self.check(f"ibroute: {entries} entries; ours {expected['entries']}", entries == expected["entries"])
            return {"wall": took, "mads": mads, "busiest": busiest}

        tools = {"ours": self.own(["lfts"]), "dump_fts -n": dump_fts, "ibroute -n a switch": ibroute,
                 "(ibnetdiscover alone)": self.peer("ibnetdiscover", [["ibnetdiscover"]])}
        self.report(f"Forwarding tables of {len(self.switches)} switches, {expected['entries']} entries; dump_fts also discovers",
                    sorted({0, 200} & set(self.args.services)), tools)

    def dead_hosts(self):
        service = 200
        print(f"\nDead nodes: {self.dead} of {len(self.hosts)} hosts silent, all switch and host ports read, {service} us", flush=True)
        alive, dead = [], []
        for _ in range(self.args.runs):
            alive.append(self.ours(["ports", "hosts"], service))
            dead.append(self.ours(["ports", "hosts"], service, f"{self.fabric.dir}/dead"))
            self.check(f"unread {dead[-1]['unread']}", dead[-1]["unread"] == self.dead and alive[-1]["unread"] == 0)
        before, after = (statistics.median(r["pass"] for r in runs) for runs in (alive, dead))
        print(f"  n={len(dead)}  all alive {before:.3f} s, {self.dead} dead {after:.3f} s: {after - before:.3f} s longer "
              f"({(after - before) / TIMEOUTS:.2f} of 500 ms x 2); {dead[0]['unread']} ports unread, "
              f"{dead[0]['timed_out']} tries timed out")
        took, *_ = self.timed([["perfquery", str(self.a_dead_lid), "1"]], service, f"{self.fabric.dir}/dead", "perfquery")
        print(f"  perfquery of one dead host: {took:.3f} s", flush=True)


def main():
    parts = {"ports": Comparison.all_ports, "job": Comparison.job, "tables": Comparison.tables, "dead": Comparison.dead_hosts}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--services", type=lambda text: [int(n) for n in text.split(",")], default=[0, 50, 200, 1000])
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(parts))
    parser.add_argument("--fabric", type=lambda text: [int(n) for n in text.split("x")], default=[64, 32, 32])
    parser.add_argument("--limit", type=float, default=100,
                        help="seconds for all runs of one tool at one service time; what would take longer is run less often")
    parser.add_argument("--lock", help="held during every timed run")
    arguments = parser.parse_args()
    missing = [name for name in ("ibsim", "opensm", "ibqueryerrors", "perfquery", "dump_fts") if not shutil.which(name)]
    if missing:
        print(f"mad: not run: {', '.join(missing)} not installed", file=sys.stderr)
        return 4
    directory = tempfile.mkdtemp(prefix="fabric-check-mad-")
    fabric = Fabric(directory, *arguments.fabric)
    try:
        comparison = Comparison(arguments, fabric)
        comparison.start()
        print(f"{len(comparison.hosts)} hosts, {len(comparison.switches)} switches; round trip {ROUND_TRIP_US} us; a sleep lasts "
              f"{overshoot():.0f} us longer than asked (median); whole processes are timed, n runs each, in turn")
        for name in arguments.parts:
            parts[name](comparison)
    finally:
        fabric.stop()
        shutil.rmtree(directory, ignore_errors=True)
    return 1 if comparison.failed else 0


if __name__ == "__main__":
    sys.exit(main())
