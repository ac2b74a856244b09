#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The way out of "unusable for ever": counters at their cap are reset, and nothing else is.
. "$(dirname "$0")/../lib/scenario.sh"
lab lfts default || fail "lfts default"
lab config 'services=stor[01-08]'
lab exec fabric-check map build > /dev/null || fail "map build"
traffic="lab traffic 'stor[01-08]' 'node[01-12]' 0.1 2"
lab sim 'PerformanceSet "SwitchA"[13] PortCounters.LinkDownedCounter=255'
lab sim 'PerformanceSet "SwitchA"[13] PortCounters.SymbolErrorCounter=7'
job=$(submit -N12 --fabric-check --wrap "$traffic")
wait_job "$job" > /dev/null
expect_field "$(line_of "$job")" fabric unusable

a=$(lid SwitchA)
expect_exit 1 lab exec fabric-check reset --pegged --json > "$FABRIC_CHECK_LAB/pegged.json"
expect_equal "$(json "$FABRIC_CHECK_LAB/pegged.json" '[[p["where"], p["counter"], p["value"], p["reset"]] for p in d["pegged"]]')" \
    '[["SwitchA:13", "LinkDownedCounter", 255, false]]' "the dry run"
expect_equal "$(counter "$a" 13 LinkDownedCounter)" 255 "a dry run changes nothing"
expect_exit 2 lab exec fabric-check reset --apply --reason x 2> /dev/null
expect_exit 0 lab exec fabric-check reset --pegged --apply --reason 'cable HW-12 replaced' > /dev/null
expect_equal "$(counter "$a" 13 LinkDownedCounter)" 0 "LinkDownedCounter"
expect_equal "$(counter "$a" 13 SymbolErrorCounter)" 7 "SymbolErrorCounter is left alone"
expect_match "$(lab logs fabric-check)" 'reset --pegged: SwitchA:13 LinkDownedCounter: value was 255: reset; by [^:]*: cable HW-12 replaced' "the log"
expect_exit 0 lab exec fabric-check reset --pegged > /dev/null

job=$(submit -N12 --fabric-check --wrap "$traffic")
wait_job "$job" > /dev/null
expect_field "$(line_of "$job")" fabric clean
pass "pegged counters are reset, and nothing else"
