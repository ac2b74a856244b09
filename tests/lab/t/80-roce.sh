#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Nodes with Ethernet cards: judged by their own ports, without switches, map or scout; each
# card of a mixed node by its own profile; a management card is nobody's.
. "$(dirname "$0")/../lib/scenario.sh"
for node in node01 node02 node03; do
    lab node "$node" cards roce || fail "cards roce"
done
lab node node05 cards mixed || fail "cards mixed"
roce="lab traffic node01 node02 0.1 2 node02 node03 0.1 2 node03 node01 0.1 2"
report() { echo "$FABRIC_CHECK_LAB/spool/reports/$1.0.json"; }
: > "$FABRIC_CHECK_LAB/log/hooks.log"

# --- nothing moved but data
job=$(submit -w 'node[01-03]' --fabric-check --wrap "$roce")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric clean
expect_field "$line" scope host
expect_field "$line" cover 3/3
expect_field "$line" ports 3/3
expect_field "$line" unread ''
expect_equal "$(json "$(report "$job")" '[p["profile"] + " " + p["netdev"] for n in d["nodes"] for p in n["ports"]]')" \
    '["roce ens1np0", "roce ens1np0", "roce ens1np0"]' "the ports that count"
text=$(lab exec fabric-check report "$job")
expect_match "$text" 'mlx5_9:1 \(eno1\) does not count' "the report"
expect_no_match "$text" 'no map|umad' "the report"
pass "a RoCE job is clean by its hosts' ports"

# --- dropped for want of buffers, and the pauses that did not help
job=$(submit -w 'node[01-03]' --fabric-check --wrap "$roce
    lab node node02 set mlx5_0/1 rx_discards_phy=+310 rx_prio3_pause=+8000000 rp_cnp_handled=+90000")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric lossless-broken
expect_field "$line" at node02/mlx5_0:1
expect_field "$line" why rx_discards_phy+310
expect_exit 1 lab exec fabric-check report "$job" > /dev/null
pass "discards are lossless-broken"

# --- a slow receiver
job=$(submit -w 'node[01-03]' --fabric-check --wrap "$roce
    lab node node01 set mlx5_0/1 tx_prio3_pause=+900000 tx_prio3_pause_duration=+700000")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric congestion
expect_field "$line" why tx_prio3_pause+900000
text=$(lab exec fabric-check report "$job")
expect_match "$text" 'node01/mlx5_0:1 is a slow receiver' "the report"
expect_match "$text" 'paused[[:space:]]+[0-9.]+[[:space:]]+%' "the report"
pass "tx pause is a slow receiver"

# --- flow control off on one node: not zero, but not known
lab node node03 unset mlx5_0/1 rx_prio3_pause || fail "unset"
job=$(submit -w 'node[01-03]' --fabric-check --wrap "$roce")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric incomplete
expect_match "$(field "$line" unread)" 'node03/mlx5_0:1/rx_prio' "unread"
lab node node03 cards roce || fail "cards"
pass "no flow control is incomplete"

# --- a narrow slot
echo 8 > "$(lab node node02 path)/sys/class/infiniband/mlx5_0/device/current_link_width"
job=$(submit -w 'node[01-03]' --fabric-check --wrap "$roce")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric physical
expect_field "$line" at node02/mlx5_0:1
expect_field "$line" why pcie
lab node node02 cards roce || fail "cards"
pass "a card in a narrow slot is physical"

# --- a mixed node: both cards in use, each by its own rules
job=$(submit -w 'node[04-06]' --fabric-check --wrap "lab traffic node04 node05 0.1 2 node05 node06 0.1 2 node06 node04 0.1 2
    lab node node05 set mlx5_1/1 port_xmit_data=+200000000 rx_discards_phy=+5")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric lossless-broken
expect_field "$line" at node05/mlx5_1:1
expect_field "$line" scope ''
expect_equal "$(json "$(report "$job")" 'sorted(p["profile"] for n in d["nodes"] if n["name"] == "node05" for p in n["ports"])')" \
    '["ib", "roce"]' "profiles of the mixed node"
pass "each card of a mixed node is judged by its own profile"

# --- the Ethernet card excluded
lab config 'ports.exclude=["mlx5_1"]'
job=$(submit -w 'node[04-06]' --fabric-check --wrap "lab traffic node04 node05 0.1 2 node05 node06 0.1 2 node06 node04 0.1 2
    lab node node05 set mlx5_1/1 port_xmit_data=+200000000 rx_discards_phy=+5")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric clean
expect_match "$(lab exec fabric-check report "$job")" 'excluded as mlx5_1' "the report"
pass "an excluded card is nobody's"
