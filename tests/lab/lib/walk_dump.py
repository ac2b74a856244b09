# SPDX-License-Identifier: GPL-2.0-or-later
"""The link loads of everybody to everybody by a walk of its own, from ibnetdiscover's output and opensm-lfts.dump, and the
same from `routes --all-hosts --json`: prints how many links carry something and what the busiest carries, and ends with 1
where the two differ. Packets of all hosts of a switch walk together.
Usage: walk_dump.py TOPOLOGY DUMP ROUTES_JSON"""

import json
import re
import sys
from collections import Counter

topology, dump, routes = sys.argv[1:]
links, hosts, here, is_switch = {}, {}, None, False
for line in open(topology):
    if m := re.match(r'(Switch|Ca)\s+\d+\s+"([^"]+)"', line):
        here, is_switch = m[2], m[1] == "Switch"
    elif m := re.match(r'\[(\d+)\](?:\(\w+\))?\s+"([^"]+)"\[(\d+)\]', line):
        links[here, int(m[1])] = m[2], int(m[3])
        if not is_switch:
            hosts[int(re.search(r"lid (\d+) lmc", line)[1])] = here, int(m[1])
tables, here = {}, None
for line in open(dump):
    if m := re.match(r"Unicast lids .* guid 0x(\w+)", line):
        here = tables.setdefault(f"S-{m[1]}", {})
    elif m := re.match(r"0x(\w+) (\d+)", line):
        here[int(m[1], 16)] = int(m[2])

at = {lid: links[port] for lid, port in hosts.items()}
senders = Counter(switch for switch, _ in at.values())
loads = Counter()
for lid, (last, _) in at.items():
    for switch, flows in senders.items():
        while switch != last:
            port = tables[switch][lid]
            loads[switch, port] += flows
            switch = links[switch, port][0]

told = Counter()
for group in json.load(open(routes))["groups"]:
    for port in group["ports"]:
        if port["flows"]:
            told[f"S-{int(group['switch_guid'], 16):016x}", port["port"]] += port["flows"]
walked = {(f"S-{int(switch[2:], 16):016x}", port): flows for (switch, port), flows in loads.items()}
print(len(walked), max(walked.values()))
sys.exit(walked != told)
