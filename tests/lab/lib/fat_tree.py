# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a net for ibsim: a fat tree of two levels, LEAVES leaves with HOSTS hosts each and one link to each of SPINES spines.
Usage: fat_tree.py LEAVES HOSTS SPINES"""

import sys

leaves, hosts, spines = map(int, sys.argv[1:])
out = []
for s in range(spines):
    out.append(f'Switch {leaves} "spine{s + 1:02}"')
    out += [f'[{leaf + 1}] "leaf{leaf + 1:02}"[{hosts + s + 1}]' for leaf in range(leaves)]
    out.append("")
for leaf in range(leaves):
    out.append(f'Switch {hosts + spines} "leaf{leaf + 1:02}"')
    out += [f'[{h + 1}] "node{leaf * hosts + h + 1:04}"[1]' for h in range(hosts)]
    out += [f'[{hosts + s + 1}] "spine{s + 1:02}"[{leaf + 1}]' for s in range(spines)]
    out.append("")
for host in range(leaves * hosts):
    out.append(f'Hca 1 "node{host + 1:04}"')
    out.append(f'[1] "leaf{host // hosts + 1:02}"[{host % hosts + 1}]')
    out.append("")
print("\n".join(out))
