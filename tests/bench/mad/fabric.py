# SPDX-License-Identifier: GPL-2.0-or-later
"""A simulated fabric for compare.py: ibsim with a fat tree, opensm routing it, everything in one directory of its own."""

import os
import re
import signal
import subprocess
import sys
import threading
import time

here = os.path.dirname(os.path.abspath(__file__))
umad2sim = "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so"
host = "node0001"  # where the programs run


class Fabric:
    def __init__(self, directory, leaves, hosts, spines):
        self.dir, self.leaves, self.hosts, self.spines = directory, leaves, hosts, spines
        self.started = []
        for name in ("scratch", "cache", "tmp"):
            os.makedirs(f"{directory}/{name}")
        self.env = dict(os.environ, IBSIM_SOCKNAME=f"mad-bench-{os.getpid()}", OSM_CACHE_DIR=f"{directory}/cache",
                        OSM_TMP_DIR=f"{directory}/tmp")
        self.env.pop("LD_PRELOAD", None)

    def start(self):
        with open(f"{self.dir}/net", "w") as net:
            subprocess.run([sys.executable, f"{here}/../../lab/lib/fat_tree.py", str(self.leaves), str(self.hosts),
                            str(self.spines)], stdout=net, check=True)
        os.mkfifo(f"{self.dir}/console")
        # Open for reading too: at the end of its input ibsim would spin.
        console = os.open(f"{self.dir}/console", os.O_RDWR)
        with open(f"{self.dir}/sim.out", "w") as out:
            self.started.append(subprocess.Popen(["ibsim", "-s", "-N", "8192", "-S", "2048", "-P", "131072", f"{self.dir}/net"],
                                                 stdin=console, stdout=out, stderr=out, env=self.env))
        os.close(console)
        self.await_text("/proc/net/unix", self.env["IBSIM_SOCKNAME"] + ":out9", 60)
        with open(f"{self.dir}/opensm.conf", "w") as conf:
            conf.write("sweep_interval 0\nlog_flags 0x03\nforce_log_flush TRUE\n")
        log = f"{self.dir}/opensm.log"
        open(log, "w").close()
        with open(f"{self.dir}/opensm.out", "w") as out:
            self.started.append(subprocess.Popen(["opensm", "-F", f"{self.dir}/opensm.conf", "-f", log, "-R", "minhop"],
                                                 cwd=f"{self.dir}/scratch", stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                                 env=dict(self.env, LD_PRELOAD=umad2sim,
                                                          SIM_HOST=f"node{self.leaves * self.hosts:04}")))
        self.await_text(log, "SUBNET UP", 120)

    def await_text(self, path, text, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if any(one.poll() is not None for one in self.started):
                raise RuntimeError(f"ibsim or opensm ended early: see {self.dir}")
            try:
                with open(path, errors="replace") as file:
                    if text in file.read():
                        return
            except FileNotFoundError:
                pass
            time.sleep(0.05)
        raise RuntimeError(f"no {text!r} in {path} within {seconds} s")

    def console(self, commands):
        """Commands from a file: the console's own lines end at 127 characters."""
        with open(f"{self.dir}/batch", "w") as batch:
            batch.write("\n".join(commands) + "\n")
        with open(f"{self.dir}/console", "w") as console:
            console.write(f"!{self.dir}/batch\n#done-{len(commands)}\n")
        self.await_text(f"{self.dir}/sim.out", f"#done-{len(commands)}", 60)

    def run(self, command, shim=None, settings=None, output="out", timeout=600):
        """Seconds of a command as a client of the simulator, and the shim's line: MADs, those of the busiest agent,
        timeouts, most outstanding."""
        env = dict(self.env, SIM_HOST=host, LD_PRELOAD=f"{shim} {umad2sim}" if shim else umad2sim)
        stats = f"{self.dir}/stats"
        if os.path.exists(stats):
            os.unlink(stats)
        for name, value in (settings or {}).items():
            env["MAD_SHIM_" + name] = str(value)
        env["MAD_SHIM_STATS"] = stats
        with open(f"{self.dir}/{output}", "w") as out, open(f"{self.dir}/{output}.err", "w") as err:
            began = time.monotonic()
            process = subprocess.Popen(command, cwd=f"{self.dir}/scratch", env=env, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=err)
            # Not wait(timeout): it looks every 50 ms.
            watchdog = threading.Timer(timeout, process.kill)
            watchdog.start()
            status = process.wait()
            took = time.monotonic() - began
            watchdog.cancel()
        numbers = None
        if os.path.exists(stats):
            with open(stats) as file:
                numbers = tuple(map(int, file.read().split()))
        return took, numbers, status

    def read(self, output="out"):
        with open(f"{self.dir}/{output}", errors="replace") as file:
            return file.read()

    def lids(self, text):
        """Switches' (name, LID, node GUID) and hosts' (name, LID) of what ibnetdiscover printed."""
        switches = [(m[2], int(m[3]), m[1]) for m in
                    re.finditer(r'^Switch\s+\d+ "S-([0-9a-f]+)"\s+# "([^"]+)".* lid (\d+) ', text, re.M)]
        hosts = [(m[1], int(m[2])) for m in
                 re.finditer(r'^Ca\s+\d+ "H-[0-9a-f]+"\s+# "([^"]+)"\n\[1\]\([0-9a-f]+\).*# lid (\d+) ', text, re.M)]
        return switches, hosts

    def stop(self):
        for one in reversed(self.started):
            one.send_signal(signal.SIGTERM)
            try:
                one.wait(10)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()
