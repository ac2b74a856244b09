# SPDX-License-Identifier: GPL-2.0-or-later
"""Talks to the lab's ibsim: its console (topology, forwarding tables, setting
counters) and, as a client of its own, PerfMgt Gets (reading counters)."""

import fcntl
import os
import re
import socket
import struct
import time

SPEEDS = {"2.5G": 8, "5.0G": 16, "10.0G": 32, "FDR10": 40, "14G": 54.5, "25G": 100,
          "50G": 200, "100G": 400}  # console's name of the speed: 4X data rate in Gb/s

U64 = (1 << 64) - 1
U32 = (1 << 32) - 1


class IbsimError(Exception):
    pass


class Console:
    """The console of a running ibsim. Commands go through its fifo; what it says
    is found between two sentinels in its output file. Hold `lock` around a read
    of counters and the write that follows from it."""

    def __init__(self, lab):
        self.fifo = f"{lab}/sim/console"
        self.output = f"{lab}/sim/out"
        self.batch = f"{lab}/sim/batch"
        self.lock_file = open(f"{lab}/sim/lock", "a")
        self.serial = 0

    def lock(self):
        fcntl.flock(self.lock_file, fcntl.LOCK_EX)

    def unlock(self):
        fcntl.flock(self.lock_file, fcntl.LOCK_UN)

    def run(self, commands, timeout=20):
        """Runs console commands (the lock is held by the caller) and returns what
        the console printed. Goes through a file: fifo lines end at 127 characters."""
        self.serial += 1
        mark = f"done-{os.getpid()}-{self.serial}"
        with open(self.batch, "w") as f:
            f.write("\n".join(commands) + "\n")
        with open(self.output, "r", errors="replace") as out:
            if out.seek(0, os.SEEK_END) > 4 << 20:  # ibsim appends: safe to empty
                os.truncate(self.output, 0)
                out.seek(0)
            start = out.tell()
            try:
                fd = os.open(self.fifo, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as e:
                raise IbsimError(f"ibsim is not there: {e}") from e
            os.write(fd, f"!{self.batch}\n#{mark}\n".encode())
            os.close(fd)
            deadline = time.monotonic() + timeout
            while True:
                out.seek(start)
                text = out.read()
                end = text.find("#" + mark)
                if end >= 0:
                    return text[:end].removesuffix("sim> ")
                if time.monotonic() > deadline:
                    raise IbsimError(f"ibsim's console did not answer in {timeout} s")
                time.sleep(0.002)


class Port:
    __slots__ = ("node", "num", "guid", "lid", "smlid", "lmc", "peer", "width", "speed", "active")

    def __init__(self, node, num, guid):
        self.node, self.num, self.guid = node, num, guid
        self.lid = self.smlid = self.lmc = 0
        self.peer = None      # (node name, port) where linked
        self.width, self.speed, self.active = 4, "2.5G", False

    def gbps(self):
        return SPEEDS.get(self.speed, 8) * self.width / 4


class Node:
    def __init__(self, kind, name, guid):
        self.kind, self.name, self.guid = kind, name, guid
        self.ports, self.lft = {}, {}

    def is_switch(self):
        return self.kind == "Switch"

    def lid(self):
        return self.ports[0].lid if self.is_switch() else self.ports[min(self.ports)].lid


_NODE = re.compile(r'^(Switch|Hca|Ca|Rt|Router) (\d+) "([^"]+)"\s+nodeguid ([0-9a-f]+)')
_PORT = re.compile(r'^([0-9a-f]+)\t\[(\d+)\]\t(?:"([^"]*)"\[(\d+)\])?(.*)$')
_ENTRY = re.compile(r"\[(\d+)\]([0-9A-F]+)")


def parse_dump(text):
    """Nodes by name from the console's Dump: links, LIDs, rates and the forwarding
    tables the switches hold."""
    nodes, node = {}, None
    for line in text.splitlines():
        m = _NODE.match(line)
        if m:
            node = nodes[m[3]] = Node(m[1], m[3], int(m[4], 16))
            continue
        if node is None:
            continue
        if line.startswith("#\tForwarding table"):
            for lid, port in _ENTRY.findall(line.split(":", 1)[1]):
                if port != "FF":
                    node.lft[int(lid)] = int(port, 16)
            continue
        m = _PORT.match(line)
        if not m:
            continue
        port = Port(node.name, int(m[2]), int(m[1], 16))
        node.ports[port.num] = port
        rest = m[5].split("#")[0]
        if m[3] and m[3] != "Sma Port":
            port.peer = (m[3], int(m[4]))
        lid = re.search(r"lid (\d+) lmc (\d+) smlid (\d+)", rest)
        if lid:
            port.lid, port.lmc, port.smlid = map(int, lid.groups())
        rate = re.search(r"(\d+)x\s+(\S+) (\w+)/", rest)
        if rate:
            port.width, port.speed = int(rate[1]), rate[2]
            port.active = rate[3] == "Active"
    return nodes


def observer(net):
    """A host to read counters from: not one of a job's, if there is a choice."""
    hosts = [n for n, node in net.items()
             if not node.is_switch() and any(p.active and p.lid for p in node.ports.values())]
    if not hosts:
        raise IbsimError("no host has an active port")
    return "stor08" if "stor08" in hosts else hosts[-1]


_REQUEST = struct.Struct("=IIIII4xQ256s")
_CTL = struct.Struct("=IIII64s")
_CLIENT = struct.Struct("=III32s")
_MAGIC = 0xDEADBEEF
PORT_COUNTERS, PORT_COUNTERS_EXT = 0x12, 0x1D


class Client:
    """A client of ibsim on `host`: one of the ten it can have, so use it briefly.
    Its socket names are abstract and end with a NUL, as ibsim makes them."""

    def __init__(self, host):
        base = os.environ["IBSIM_SOCKNAME"]
        me = os.getpid()
        self.ctl = self._bound(f"\0{base}:ctl{me}\0")
        self.data = self._bound(f"\0{base}:in{me}\0")
        self.id = 0
        try:
            self.ctl.connect(f"\0{base}:ctl\0")
            reply = self._control(1, _CLIENT.pack(me, 0, 0, host.encode()))
            self.id = _CLIENT.unpack(reply[:_CLIENT.size])[0]
            self.data.connect(f"\0{base}:out{self.id}\0")
        except OSError as e:
            self.ctl.close()
            self.data.close()
            raise IbsimError(f"no connection to ibsim as {host}: {e}") from e

    @staticmethod
    def _bound(name):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        s.bind(name)
        s.settimeout(5)
        return s

    def _control(self, kind, data):
        self.ctl.send(_CTL.pack(_MAGIC, self.id, kind, len(data), data))
        _, _, kind, _, data = _CTL.unpack(self.ctl.recv(_CTL.size))
        if kind == 0:
            raise IbsimError("ibsim refused the connection (unknown host, or no client left)")
        return data

    def close(self):
        try:
            self._control(2, b"")
        finally:
            self.ctl.close()
            self.data.close()

    def get_counters(self, wanted):
        """wanted: (lid, port) pairs. Returns {(lid, port): counters} of those that
        answered; counters as PerformanceSet names them, data in octets/4."""
        todo = [(lid, port, attr) for lid, port in wanted
                for attr in (PORT_COUNTERS, PORT_COUNTERS_EXT)]
        answers, sent = {}, 0
        pending = {}
        while sent < len(todo) or pending:
            while sent < len(todo) and len(pending) < 32:
                lid, port, attr = todo[sent]
                mad = struct.pack(">BBBBHHQHHI", 1, 4, 1, 1, 0, 0, sent + 1, attr, 0, 0)
                mad = mad.ljust(65, b"\0") + bytes([port])
                self.data.send(_REQUEST.pack(socket.htons(lid), 0, socket.htonl(1), socket.htonl(1), 0,
                                             int.from_bytes((256).to_bytes(8, "big"), "little"), mad.ljust(256, b"\0")))
                pending[sent + 1] = todo[sent]
                sent += 1
            _, _, _, _, status, _, mad = _REQUEST.unpack(self.data.recv(_REQUEST.size))
            trid = struct.unpack_from(">Q", mad, 8)[0] & U32
            key = pending.pop(trid, None)
            if key is None or status or struct.unpack_from(">H", mad, 4)[0]:
                continue
            lid, port, attr = key
            answers.setdefault((lid, port), {}).update(
                _classic(mad) if attr == PORT_COUNTERS else _extended(mad))
        return {k: v for k, v in answers.items() if "PortXmitWait" in v and "PortXmitData64" in v}


def _classic(mad):
    data, wait = struct.unpack_from(">4I", mad, 88), struct.unpack_from(">I", mad, 104)[0]
    values = dict(zip(("PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts"), data))
    values["PortXmitWait"] = wait
    values["LinkDownedCounter"] = mad[71]
    return values


def _extended(mad):
    names = ("PortXmitData64", "PortRcvData64", "PortXmitPkts64", "PortRcvPkts64",
             "PortUnicastXmitPkts", "PortUnicastRcvPkts")
    return dict(zip(names, struct.unpack_from(">6Q", mad, 72)))


def set_commands(name, port, values):
    """Console commands that set these counters of one port."""
    where = f'PerformanceSet "{name}"[{port}]'
    lines = []
    for key, value in values.items():
        extended = key.endswith("64") or key.startswith("PortUnicast")
        group = "PortCountersExtended" if extended else "PortCounters"
        lines.append(f"{where} {group}.{key.removesuffix('64')}={value}")
    return lines
