#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Errors decide by their layer, on the link where they stand; what cannot be read is refused.
. "$(dirname "$0")/../lib/scenario.sh"
lab config 'services=stor[01-08]'
lab lfts "$lab_tests/fabric/collapsed.lfts" || fail "lfts"
quiet="lab traffic 'stor[01-08]' 'node[01-12]' 0.1 2"
report() { echo "$FABRIC_CHECK_LAB/spool/reports/$1.0.json"; }

# --- a bad optic: errors at SwitchA's end of the cable, retries at a node behind it
errors=$(counter 2 14 SymbolErrorCounter)
job=$(submit -N12 --fabric-check --wrap "$quiet
    lab sim 'PerformanceSet \"SwitchA\"[14] PortCounters.SymbolErrorCounter=$((errors + 90))'
    lab node node07 set mlx5_0/1 packet_seq_err=+12000")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric physical
expect_field "$line" at 'SwitchA:14<->SwitchB:26'
expect_match "$(field "$line" why)" '^SymbolErrorCounter\+90'
expect_field "$line" hw fail
expect_equal "$(json "$(report "$job")" '[(f["where"], f["delta"]) for f in d["live"] if f["counter"] == "packet_seq_err"]')" \
    '[["node07/mlx5_0:1", 12000]]' "retries among the live"
text=$(lab exec fabric-check report "$job")
expect_match "$text" 'SwitchA:14<->SwitchB:26' "the report"
expect_match "$text" 'packet_seq_err' "the report"
pass "a bad optic is physical, named at both ends"

# --- errors at a storage server's port
errors=$(counter 9 5 PortRcvErrors)
job=$(submit -N2 --fabric-check --wrap "$quiet
    lab sim 'PerformanceSet \"SwitchB\"[5] PortCounters.PortRcvErrors=$((errors + 7))'")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric physical
expect_field "$line" at 'SwitchB:5<->stor05/mlx5_0:1'
pass "a bad cable at a storage server is found"

# --- packets dropped towards a storage server, and its switch tells why
discards=$(counter 9 5 PortXmitDiscards)
job=$(submit -N2 --fabric-check --wrap "$quiet
    lab sim 'PerformanceSet \"SwitchB\"[5] PortCounters.PortXmitDiscards=$((discards + 500))' \
        'PerformanceSet \"SwitchB\"[5] PortXmitDiscardDetails.PortSwHOQLifetimeLimitDiscards=500'")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric lossless-broken
expect_field "$line" at 'SwitchB:5<->stor05/mlx5_0:1'
expect_match "$(lab exec fabric-check report "$job")" "head of a queue past the switch's +HOQ" "the advice"
pass "discards are advised on by what the switch tells of them"

# --- a recovery counter at its cap on both sides hides what it counts; the discards are still listed
lab node node04 set mlx5_0/1 link_downed=255
job=$(submit -N12 --fabric-check --wrap "$quiet
    lab node node04 set mlx5_0/1 port_xmit_discards=+500")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric unusable
expect_match "$(field "$line" unread)" 'node04/mlx5_0:1/LinkDownedCounter:saturated'
expect_field "$line" rest lossless-broken
expect_equal "$(json "$(report "$job")" '[f["delta"] for f in d["live"] if f["counter"] == "PortXmitDiscards"]')" '[500]' "discards among the live"
expect_exit 3 lab exec fabric-check report "$job" > /dev/null
lab node node04 set mlx5_0/1 link_downed=0
pass "a saturated counter is unusable"

# --- somebody resets a counter in mid-job
lab node node02 set mlx5_0/1 symbol_error=50
job=$(submit -N12 --fabric-check --wrap "$quiet
    lab node node02 set mlx5_0/1 symbol_error=3")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric unusable
expect_match "$(field "$line" unread)" 'node02/mlx5_0:1/SymbolErrorCounter:reset'
expect_field "$line" rest clean
pass "a counter that went down is unusable"

# --- a counter that is missing on one node
lab node node09 unset mlx5_0/1 local_ack_timeout_err
job=$(submit -N12 --fabric-check --wrap "$quiet")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric incomplete
expect_match "$(field "$line" unread)" 'node09/mlx5_0:1/local_ack_timeout_err'
expect_field "$line" rest clean
lab node node09 set mlx5_0/1 local_ack_timeout_err=0
pass "a missing counter is incomplete, and named"
