# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths by the installed forwarding tables, and max-min shares of the links on them."""

import re

GIB = 1 << 30
CEILING_HDR_4X = 22.6  # GiB/s of payload over 4X HDR (200 Gb/s net); other rates in proportion
NO_LIMIT = float("inf")


class FlowError(Exception):
    pass


def ceiling(port):
    """Payload ceiling of a link in GiB/s."""
    return CEILING_HDR_4X * port.gbps() / 200


def expand(text):
    """Names of a hostlist such as stor[01-08],node03."""
    names = []
    for part in re.findall(r"[^,\[]+(?:\[[^\]]*\])?[^,\[]*", text):
        m = re.match(r"(.*)\[([^\]]*)\](.*)$", part)
        if not m:
            names.append(part)
            continue
        for piece in m[2].split(","):
            low, _, high = piece.partition("-")
            for n in range(int(low), int(high or low) + 1):
                names.append(f"{m[1]}{n:0{len(low)}d}{m[3]}")
    return names


def walk(net, src, dst):
    """Directed links, as (node, transmitting port) pairs, a packet takes from host to host."""
    for name in (src, dst):
        if name not in net:
            raise FlowError(f"no such host in the fabric: {name}")
    if src == dst:
        raise FlowError(f"a flow from {src} to itself uses no link")
    lid = net[dst].lid()
    node, number = src, min(net[src].ports)
    path = []
    while True:
        port = net[node].ports[number]
        if port.peer is None or not port.active:
            raise FlowError(f"{src} to {dst}: the link at {node}[{number}] is down")
        path.append((node, number))
        node = port.peer[0]
        if node == dst:
            return path
        if not net[node].is_switch():
            raise FlowError(f"{src} to {dst}: led to {node}")
        number = net[node].lft.get(lid)
        if number is None:
            raise FlowError(f"{src} to {dst}: {node} has no route to LID {lid}")
        if len(path) > 64:
            raise FlowError(f"{src} to {dst}: the route goes in circles")


def fill(flows, capacity):
    """Progressive filling. flows: [(demand, resources)], capacity: {resource: rate}.
    Returns (rates, binding): binding is the resource that held a flow back, or None
    where it got its demand."""
    rates, binding = [0.0] * len(flows), [None] * len(flows)
    left = dict(capacity)
    users = {}
    for i, (_, resources) in enumerate(flows):
        for r in resources:
            users.setdefault(r, set()).add(i)
    active = set(range(len(flows)))
    while active:
        step = min(flows[i][0] - rates[i] for i in active)
        for r, who in users.items():
            if who:
                step = min(step, left[r] / len(who))
        step = max(step, 0.0)
        if step == NO_LIMIT:
            raise FlowError("a flow without any limit")
        for i in active:
            rates[i] += step
        for r, who in users.items():
            left[r] -= step * len(who)
        done = {i for i in active if flows[i][0] - rates[i] <= 1e-9 * max(1.0, rates[i])}
        for r, who in users.items():
            if who and left[r] <= 1e-9 * capacity[r]:
                for i in who - done:
                    binding[i] = binding[i] or r
                done |= who
        for r in users:
            users[r] = users[r] - done
        active -= done
    return rates, binding


def share(net, flows):
    """flows: [{src, dst, demand, cap: (name, rate) or None}]. Returns one dict a flow: path,
    rate, want (what it would get with its own host's link and nothing else in the
    way) and hold (index in path of the link that holds it back, or None)."""
    capacity, asked = {}, []
    sources = {}
    for f in flows:
        path = walk(net, f["src"], f["dst"])
        for node, number in path:
            capacity[node, number] = ceiling(net[node].ports[number])
        resources = list(path)
        if f.get("cap"):
            capacity[f["cap"][0]] = f["cap"][1]
            resources.append(f["cap"][0])
        asked.append((f["demand"], resources, path))
        sources.setdefault(f["src"], []).append(len(asked) - 1)
    rates, binding = fill([(d, r) for d, r, _ in asked], capacity)
    wants = fill([(d, [p[0]] + [r for r in res if r not in p]) for d, res, p in asked], capacity)[0]
    return [{"path": p, "rate": rates[i], "want": max(wants[i], rates[i]),
             "hold": p.index(binding[i]) if binding[i] in p else None}
            for i, (_, _, p) in enumerate(asked)]
