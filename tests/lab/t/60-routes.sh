#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The collapsed table by hand: live map, map file, and files of other tools say the same.
. "$(dirname "$0")/../lib/scenario.sh"
lab lfts "$lab_tests/fabric/collapsed.lfts" || fail "lfts"
work=$FABRIC_CHECK_LAB/routes
mkdir -p "$work"
ask=(--nodes 'node[01-12]' --from 'stor[01-08]' --rate-per-node 7.62 --payload-ceiling 22.6)

lab exec fabric-check map build -o "$work/map.fcm" > /dev/null || fail "map build"
expect_exit 1 lab exec fabric-check routes --map "$work/map.fcm" "${ask[@]}" --json > "$work/live.json"
expect_equal "$(json "$work/live.json" '[d["worst"]["switch"], d["worst"]["used"], d["worst"]["available"], d["worst"]["imbalance"], d["imbalance"]]')" \
    '["SwitchB", 3, 8, 3.0, 3.0]' "the worst group"
expect_equal "$(json "$work/live.json" '[d["ceiling"]["links"], round(d["ceiling"]["gib_s"], 1), round(d["ceiling"]["predicted_gib_s"], 1)]')" \
    '[3, 67.8, 52.8]' "ceiling and prediction"
group='sorted((p["port"], p["lids"]) for g in d["groups"] if g["switch"] == "SwitchB" for p in g["ports"])'
expect_equal "$(json "$work/live.json" "$group")" \
    '[[25, 6], [26, 5], [27, 1], [28, 0], [29, 0], [30, 0], [31, 0], [32, 0]]' "LIDs per port"

lab fabric ibnetdiscover > "$work/topology" 2> /dev/null || fail "ibnetdiscover"
lab fabric dump_fts > "$work/lfts" 2> /dev/null || fail "dump_fts"
expect_exit 3 lab exec fabric-check routes --topology "$work/topology" --lfts "$work/lfts" "${ask[@]}" --json > "$work/offline.json" 2> "$work/offline.err"
expect_match "$(cat "$work/offline.err")" 'in no forwarding table: LID 64 \(node11\)' "the LID in no table"
# dump_fts leaves out the top LID when it is a multiple of 64: node11, LID 64 on port 25
expect_equal "$(json "$work/offline.json" "$group")" \
    '[[25, 5], [26, 5], [27, 1], [28, 0], [29, 0], [30, 0], [31, 0], [32, 0]]' "LIDs per port in dump_fts's output"
expect_match "$(json "$work/offline.json" 'd["unreachable"]')" '64' "the LID that dump_fts lost"
expect_exit 1 lab exec fabric-check routes --topology "$work/topology" --lfts "$lab_tests/fabric/collapsed.lfts" "${ask[@]}" --json > "$work/dump.json"
expect_equal "$(json "$work/dump.json" "$group")" "$(json "$work/live.json" "$group")" "LIDs per port by opensm's dump"

text=$(lab exec fabric-check routes --map "$work/map.fcm" "${ask[@]}")
expect_match "$text" '52\.8' "the text"
expect_match "$text" 'Imbalance 3\.00, above the bar, 1\.5: SwitchB:25<->SwitchA:13' "the headline"
expect_match "$(lab exec fabric-check routes --map "$work/map.fcm" --all-hosts)" '^Routes of all [0-9]+ hosts' "the title of all hosts"
got=0
said=$(lab exec fabric-check routes --map "$work/map.fcm" --nodes 'node[01-12],node013,SwitchA' 2>&1) || got=$?
expect_equal "$got" 3 "the exit code of names that are not there"
expect_match "$said" 'node013: not in the map \(nearest: node0' "a name that is near"
expect_match "$(lab exec fabric-check routes --map "$work/map.fcm" --nodes node01 --from 'io[1-8]' 2>&1)" 'io\[1-8\]: not in the map' "names of one reason"
expect_match "$said" 'SwitchA: is a switch, not a host' "a switch's name"
expect_exit 2 lab exec fabric-check routes --map "$work/none.fcm" --nodes node01 > /dev/null 2>&1
expect_exit 2 lab exec fabric-check routes --topology "$work/none" --lfts "$work/lfts" --nodes node01 > /dev/null 2>&1
expect_exit 2 lab exec fabric-check routes --map "$work/map.fcm" --lfts "$work/none" --nodes node01 > /dev/null 2>&1

# --- what could be done, and who would have to
lab fabric sminfo > "$work/sminfo" 2> /dev/null || fail "sminfo"
master=$(sed -n 's/.*sm guid \(0x[0-9a-f]*\),.*/\1/p' "$work/sminfo")
lab exec fabric-check map build -o "$work/sm.fcm" --json > "$work/built.json" || fail "map build"
expect_equal "$(json "$work/built.json" "int(d['subnet_manager']['guid'], 16) == int('$master', 16)")" true "who runs the fabric"
expect_equal "$(json "$work/built.json" 'd["subnet_manager"]["state"]')" 'master' "its state"
expect_exit 1 lab exec fabric-check routes --map "$work/map.fcm" "${ask[@]}" --remedies --versus-lfts "$lab_tests/fabric/collapsed.lfts" --json > "$work/remedies.json"
expect_equal "$(json "$work/remedies.json" 'd["remedies"]["ranking"][0]["name"]')" guid_routing_order "what to try first"
then='{o["name"]: o["then"]["imbalance"] for o in d["remedies"]["options"] if "then" in o}'
expect_equal "$(json "$work/remedies.json" "$then")" '{"guid_routing_order": 1.0}' "remedies of the collapsed table"
expect_equal "$(json "$work/remedies.json" '[d["versus"][0]["imbalance"], d["versus"][0]["differing_entries"]]')" '[3.0, 0]' "the same tables from a file"

# --- a cable that the map has and that is out: one link less to spread over
lab lfts default || fail "lfts default"
lab config 'services=stor[01-08]'
lab exec fabric-check map build > /dev/null || fail "map build"
lab sim 'Unlink "SwitchA"[20]'
lab lfts default || fail "lfts default with a link out"
job=$(submit -N12 --fabric-check --wrap "lab traffic 'stor[01-08]' 'node[01-12]' 0.1 2")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric clean
expect_field "$line" isl 'Switch?>Switch?:7/7'
expect_match "$(lab exec fabric-check report "$job")" 'SwitchA:20<->SwitchB:32 is in the map but not up' "the report"
lab sim 'Link "SwitchA"[20] "SwitchB"[32]'
pass "a link that is out does not count as available"

lab lfts default || fail "lfts default"
lab exec fabric-check map build -o "$work/map.fcm" > /dev/null || fail "map build"
expect_exit 0 lab exec fabric-check routes --map "$work/map.fcm" --nodes 'node[01-12]' --from 'stor[01-08]' > /dev/null
pass "routes of the collapsed table"
