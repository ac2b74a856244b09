#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Launches jobs on two clusters in turn and prints the ratio of their medians; see launch."""
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


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--mode", required=True)
    options.add_argument("--pairs", type=int, default=50)
    options.add_argument("--with", dest="hooked", required=True)
    options.add_argument("--without", required=True)
    options = options.parse_args()
    labs = {"with": options.hooked, "without": options.without}
    times = {name: [] for name in labs}
    for name, lab in labs.items():
        launch(lab)
        settle(lab)
    for i in range(options.pairs):
        order = list(labs) if i % 2 == 0 else list(reversed(labs))
        for name in order:
            times[name].append(launch(labs[name]))
            settle(labs[name])
    medians = {name: statistics.median(all) * 1e3 for name, all in times.items()}
    ratio = statistics.median(a / b for a, b in zip(times["with"], times["without"]))
    spread = statistics.quantiles([a / b for a, b in zip(times["with"], times["without"])], n=4)
    print(f"srun -N12 true, scout = {options.mode}: {medians['with']:.1f} ms with, {medians['without']:.1f} ms without, "
          f"{options.pairs} pairs; ratio of medians {medians['with'] / medians['without']:.3f}, median of ratios "
          f"{ratio:.3f} (quartiles {spread[0]:.3f} to {spread[2]:.3f})", flush=True)


if __name__ == "__main__":
    main()
