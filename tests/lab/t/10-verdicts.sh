#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What moved decides: even traffic is clean, none is no-traffic, full links are congestion, a
# collapsed table is routing-imbalance, and other jobs' traffic elsewhere is none of ours.
. "$(dirname "$0")/../lib/scenario.sh"
lab config 'services=stor[01-08]'

# --- even traffic, nothing else
job=$(submit -N12 --fabric-check --wrap "lab traffic 'stor[01-08]' 'node[01-12]' 0.1 2 'node[01-12]' 'stor[01-08]' 0.05 2")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric clean
expect_field "$line" cover 12/12
expect_field "$line" route ok
expect_field "$line" nodes 'node\[01-12\]'
expect_field "$line" unread ''
expect_match "$(field "$line" moved)" '^(9|10)\.[0-9]GB$' "bytes sent: 96 flows of 0.1 GiB"
expect_exit 0 lab exec fabric-check report "$job" > /dev/null
pass "even traffic is clean"

# --- a few KB of management
job=$(submit -N12 --fabric-check --wrap 'sleep 0.2')
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric no-traffic
expect_field "$line" cover 12/12
expect_exit 3 lab exec fabric-check report "$job" > /dev/null
pass "without traffic there is no verdict"

# --- every ISL evenly at 95 %: one client behind each of the eight. The prologs' and epilogs' time counts too.
flows=""
declare -A taken=()
for node in node{01..12}; do
    isl=$(lab traffic --dry-run --json stor01 "$node" 1 1 | json - '[l["port"] for l in d["links"] if l["from"] == "SwitchB"][0]')
    [ -z "${taken[$isl]:-}" ] || continue
    taken[$isl]=$node
    flows+=" stor0${#taken[@]} $node 21.47 26"
done
expect_equal "${#taken[@]}" 8 "ISLs in use"
job=$(submit -N12 --fabric-check --wrap "lab traffic $flows")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric congestion
expect_match "$(field "$line" spread)" '^1\.0' "spread of evenly filled links"
expect_match "$line" ' hot=Switch[AB]:[0-9]+/[89][0-9]%'
expect_exit 1 lab exec fabric-check report "$job" > /dev/null
pass "full links, evenly used, are congestion"

# --- the collapsed table, and no errors
lab lfts "$lab_tests/fabric/collapsed.lfts" || fail "lfts"
job=$(submit -N12 --fabric-check --wrap "lab traffic 'stor[01-08]' 'node[01-12]' 0.1 1")
wait_job "$job" > /dev/null
expect_field "$(line_of "$job")" route changed
report=$FABRIC_CHECK_LAB/spool/reports/$job.0.json
expect_match "$(json "$report" 'd["routes_changed"][0]')" 'since the map was built, SwitchB: LID ' "what changed"
expect_equal "$(json "$report" '[d["routes"]["imbalance"], "routes_start" in d]')" '[3.0, false]' "the routes that the job had"
expect_match "$(json "$report" 'd["routes_map"]["imbalance"]')" '^1\.0' "those of the map"
pass "routes that the map has otherwise are changed"
lab exec fabric-check map build > /dev/null || fail "map build"
job=$(submit -N12 --fabric-check --wrap "lab traffic --rate-per-dst 7.62 'stor[01-08]' 'node[01-12]' max 20")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric routing-imbalance
expect_field "$line" route imbalanced
expect_field "$line" isl 'SwitchB>SwitchA:3/8'
expect_field "$line" imbalance 3.0
expect_field "$line" spread 3.4
expect_match "$(field "$line" hot)" '^SwitchB:2[56]/[89][0-9]%$' "the busiest cable"
expect_match "$(field "$line" own)" '^(100|9[0-9])%$' "own share"
expect_equal "$(json "$FABRIC_CHECK_LAB/spool/reports/$job.0.json" 'sorted(h["where"] for h in d["hot"])')" \
    '["SwitchA:13<->SwitchB:25", "SwitchA:14<->SwitchB:26"]' "hot cables"
pass "a collapsed table is routing-imbalance"

# --- the same where nobody can tell whether the switches route adaptively
lab config adaptive_routing=auto
lab exec fabric-check map build > /dev/null || fail "map build"
job=$(submit -N12 --fabric-check --wrap 'sleep 0.2')
wait_job "$job" > /dev/null
expect_field "$(line_of "$job")" ar unknown
lab config adaptive_routing=
lab exec fabric-check map build > /dev/null || fail "map build"
pass "unknown adaptive routing is labelled"

# --- another job's traffic on an ISL that ours does not use: node08 is alone on port 27
other=$(submit -N1 -w node03 --wrap "lab traffic --rate-per-dst 22 'stor[01-08]' node03 max 9")
job=$(submit -N1 -w node08 --fabric-check --wrap 'lab traffic stor02 node08 1 7')
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric clean
expect_field "$line" hot ''
wait_job "$other" > /dev/null
pass "traffic on a link that the job does not use is not its own"
