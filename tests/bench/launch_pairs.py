#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Launches jobs on clusters in turn and prints the ratios of their medians; see launch."""
import argparse
import os
import statistics
import subprocess
import time


def environment(lab):
    return dict(os.environ, SLURM_CONF=f"{lab}/slurm.conf")


def settle(lab, limit=20.0):
    """Until all nodes are idle again, epilogs done, and our finisher has left."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        states = subprocess.run(["sinfo", "-h", "-p", "lab", "-o", "%T"], env=environment(lab), capture_output=True,
                                text=True, check=True).stdout.split()
        if states == ["idle"] and not (os.path.isdir(f"{lab}/state/tickets") and os.listdir(f"{lab}/state/tickets")):
            return
        time.sleep(0.05)
    raise SystemExit(f"{lab}: not idle after {limit} s")


def launch(lab):
    begin = time.perf_counter()
    subprocess.run(["srun", "-N12", "true"], env=environment(lab), check=True)
    return time.perf_counter() - begin


def children_cpu(lab):
    """Seconds of processor of all that each node's slurmd has started and waited for: its hooks, above all."""
    ticks = os.sysconf("SC_CLK_TCK")
    nodes = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            at = os.readlink(f"/proc/{pid}/cwd")
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                name, rest = file.read().rsplit(")", 1)
        except OSError:  # it ended meanwhile
            continue
        if name.endswith("(slurmd") and os.path.dirname(at) == f"{lab}/slurmd":
            fields = rest.split()
            nodes[os.path.basename(at)] = (int(fields[13]) + int(fields[14])) / ticks
    return nodes


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--mode", required=True)
    options.add_argument("--pairs", type=int, default=50)
    options.add_argument("--with", dest="hooked", required=True)
    options.add_argument("--without", required=True)
    options.add_argument("--empty", required=True)
    options = options.parse_args()
    labs = {"with": options.hooked, "without": options.without, "empty": options.empty}
    times = {name: [] for name in labs}
    for name, lab in labs.items():
        launch(lab)
        settle(lab)
    cpu_before = {name: children_cpu(lab) for name, lab in labs.items()}
    for i in range(options.pairs):
        order = list(labs) if i % 2 == 0 else list(reversed(labs))
        for name in order:
            times[name].append(launch(labs[name]))
            settle(labs[name])
    cpu = {name: {node: (after - cpu_before[name][node]) * 1e3 / options.pairs for node, after in children_cpu(lab).items()}
           for name, lab in labs.items()}
    medians = {name: statistics.median(all) * 1e3 for name, all in times.items()}
    print(f"srun -N12 true, scout = {options.mode}, {options.pairs} launches of each: "
          f"{medians['with']:.1f} ms with, {medians['empty']:.1f} ms with hooks that do nothing, "
          f"{medians['without']:.1f} ms without", flush=True)
    for other in ("without", "empty"):
        ratios = [a / b for a, b in zip(times["with"], times[other])]
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(f"  with / {other}: ratio of medians {medians['with'] / medians[other]:.3f}, median of ratios "
              f"{middle:.3f} (quartiles {low:.3f} to {high:.3f})", flush=True)
    more = sorted((of - cpu["empty"][node] for node, of in cpu["with"].items()), reverse=True)
    print(f"  prolog and epilog of one node and job take {statistics.median(more):.1f} ms of the processor more than hooks that do "
          f"nothing (median of {len(more)} nodes), with a scout's {', '.join(f'{of:.1f}' for of in more[:2])} ms (the most)",
          flush=True)


if __name__ == "__main__":
    main()
