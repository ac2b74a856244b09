#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A thousand jobs ending in a burst, on the lab's real cluster.

tests/run bench burst [--tasks 1000] [--rounds 5]

An array of tasks of one second runs while nothing finishes them (the finisher's lock is held), so that all their records
are final; then the finisher starts, and the time to the last line is taken. Meanwhile sdiag, sacct and scontrol ping are
timed, as they were before. Then what the finisher says to slurmdbd is said again, by the plain API and by ours.
"""
import argparse
import fcntl
import os
import statistics
import subprocess
import sys
import threading
import time

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
lab_program = os.path.join(root, "tests/lab/lab")
lab_dir = os.environ.setdefault("FABRIC_CHECK_LAB", "/tmp/fabric-check-lab")
build = os.environ.setdefault("FABRIC_CHECK_BUILD", os.path.join(root, "build-release"))
asked = {"sdiag": ["sdiag"], "sacct": ["sacct", "-X", "-n", "-j", "1"], "scontrol ping": ["scontrol", "ping"]}


def lab(*words, **more):
    return subprocess.run([lab_program, *words], check=True, text=True, capture_output=True, **more).stdout


def lab_environment():
    words = lab("exec", "env", "-0").split("\0")
    return dict(word.split("=", 1) for word in words if "=" in word)


class Latencies:
    """Each command in turn, again and again, until told to stop."""

    def __init__(self, environment):
        self.environment = environment
        self.times = {name: [] for name in asked}
        self.stop = threading.Event()

    def once(self):
        for name, command in asked.items():
            began = time.monotonic()
            subprocess.run(command, env=self.environment, check=True, capture_output=True)
            self.times[name].append(time.monotonic() - began)

    def run(self):
        while not self.stop.is_set():
            self.once()

    def text(self):
        return ", ".join(f"{name} {statistics.median(times) * 1000:.1f} ms ({len(times)})"
                         for name, times in self.times.items() if times)


def tickets():
    directory = os.path.join(lab_dir, "state/tickets")
    return [name for name in os.listdir(directory) if name.endswith(".json")] if os.path.isdir(directory) else []


def ends():
    return sum(name.endswith(".end") for name in os.listdir(os.path.join(lab_dir, "spool/records")))


def lines_of(environment, job):
    out = subprocess.run(["sacct", "-X", "-n", "-P", "-j", job, "-o", "JobIDRaw,State,NodeList,SystemComment"], env=environment,
                         check=True, text=True, capture_output=True).stdout
    return [row.split("|", 3) for row in out.splitlines()]


def finish(environment):
    """Seconds until the finisher has emptied the queue, and of the processor."""
    began = time.monotonic()
    with subprocess.Popen([os.path.join(build, "bin/fabric-check-finisher")], env=environment) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"burst: the finisher ended with {child.returncode}")
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5, help="of the rates")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for the tasks")
    parser.add_argument("--plain-jobs", type=int, default=20)
    parser.add_argument("--keep", action="store_true", help="leave the lab up")
    options = parser.parse_args()
    run = os.path.join(lab_dir, "run")
    if os.path.isdir(run) and any(not name.endswith(".seed") for name in os.listdir(run)):
        sys.exit(f"burst: there is a lab in {lab_dir} already: end it with {lab_program} down, or set FABRIC_CHECK_LAB")
    os.makedirs(lab_dir, exist_ok=True)
    lab("up")
    try:
        wrong = measure(options)
    finally:
        if options.keep:
            for node in os.listdir(os.path.join(lab_dir, "nodes")):
                os.unlink(os.path.join(lab_dir, "nodes", node, "no-umad"))
        else:
            lab("down")
    sys.exit(wrong)


def measure(options):
    lab("exec", "fabric-check", "map", "build")
    # ibsim has room for ten clients: the switches stay unread, and every line says so.
    for node in os.listdir(os.path.join(lab_dir, "nodes")):
        open(os.path.join(lab_dir, "nodes", node, "no-umad"), "w").close()
    environment = lab_environment()
    quiet = Latencies(environment)
    for _ in range(20):
        quiet.once()

    with open(os.path.join(lab_dir, "state/finisher.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        began = time.monotonic()
        job = lab("exec", "sbatch", "--parsable", "-N1", "-n1", "-o", "/dev/null", f"--array=1-{options.tasks}%24",
                  "--wrap", "sleep 1").strip()
        while len(tickets()) < options.tasks:
            if time.monotonic() - began > options.timeout:
                sys.exit(f"burst: {len(tickets())} of {options.tasks} tasks ended in {options.timeout} s")
            time.sleep(1)
        while any(state not in ("COMPLETED",) for _, state, *_ in lines_of(environment, job)):
            time.sleep(1)
        print(f"{options.tasks} tasks of one second in {time.monotonic() - began:.0f} s; {len(tickets())} tickets, "
              f"{ends()} END records")
    busy = Latencies(environment)
    watcher = threading.Thread(target=busy.run)
    watcher.start()
    took, processor = finish(environment)
    busy.stop.set()
    watcher.join()
    rows = lines_of(environment, job)
    # No switch is read, so that all verdicts are alike; the node is each task's own.
    right = sum(state == "COMPLETED" and comment.count("fabric=") == 1 and comment.startswith("fabric=incomplete ") and
                {"cover=1/1", f"nodes={node}"} <= set(comment.split()) for _, state, node, comment in rows)
    print(f"finisher: {took:.2f} s from the start of the finisher to the last line, {processor:.2f} s of the processor, with those three asked "
          f"meanwhile; "
          f"{right} of {len(rows)} lines right, {len(tickets())} tickets left")
    print(f"before: {quiet.text()}\nmeanwhile: {busy.text()}")

    stdin = "".join(f"{raw} {job} {task}\n" for task, raw in
                    ((row.split("|")[1].split("_")[1], row.split("|")[0]) for row in subprocess.run(
                        ["sacct", "-X", "-n", "-P", "-j", job, "-o", "JobIDRaw,JobID"], env=environment, check=True,
                        text=True, capture_output=True).stdout.splitlines()))
    plain, ours = [], []
    for _ in range(options.rounds):
        words = subprocess.run([os.path.join(build, "bin/fabric-check-burst-bench"), environment["SLURM_CONF"],
                                str(options.plain_jobs)], env=environment, input=stdin, check=True, text=True,
                               capture_output=True).stdout.split()
        plain.append(float(words[1]))
        ours.append(float(words[3]))
    print(f"lines a second: plain API {statistics.median(plain):.1f}, ours {statistics.median(ours):.1f}; ratio "
          f"{statistics.median(o / p for o, p in zip(ours, plain)):.0f} (medians of {options.rounds})")
    return 0 if right == options.tasks == len(rows) else 1


if __name__ == "__main__":
    main()
