#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The sampler: a full interval that the average hides, a reset in mid-job, jobs that share a pass, one sampler at a time.
. "$(dirname "$0")/../lib/scenario.sh"
report() { json "$FABRIC_CHECK_LAB/spool/reports/$1.0.json" "$2"; }
samples=$FABRIC_CHECK_LAB/spool/samples
sampler_log=$FABRIC_CHECK_LAB/sampler.log
sampler=""
# start_sampler: in the background; its process id in $sampler.
start_sampler() {
    SIM_HOST=stor03 "$lab_tests/lab" fabric --host stor03 env FABRIC_CHECK_CONFIG="$FABRIC_CHECK_LAB/fabric-check.toml" \
        "$FABRIC_CHECK_BUILD/bin/fabric-check" sample --json > "$sampler_log" 2> "$sampler_log.err" &
    starter=$!
    local deadline=$((SECONDS + 20))
    until grep -q '"interval_ns":[1-9]' "$sampler_log"; do
        [ "$SECONDS" -lt "$deadline" ] || fail "the sampler keeps nothing: $(cat "$sampler_log" "$sampler_log.err")"
        sleep 0.2
    done
    sampler=$(cut -d' ' -f3 "$samples/sampler.lease")
}
end_sampler() { [ -z "$sampler" ] || kill "$sampler" 2> /dev/null; wait "$starter" 2> /dev/null; sampler=""; }
trap end_sampler EXIT
export FABRIC_CHECK_BUILD=${FABRIC_CHECK_BUILD:-$(cd "$lab_tests/../.." && pwd)/build}

lab config sample.interval_s=1 'services=stor[01-08]' || fail "config"
lab lfts "$lab_tests/fabric/collapsed.lfts" || fail "lfts"
lab exec fabric-check map build > /dev/null || fail "map build"
start_sampler
pass "the sampler runs, and keeps intervals"

# --- one at a time
said=$(expect_exit 4 lab exec fabric-check sample 2>&1)
expect_match "$said" "another sampler runs on .* \(process $sampler\) since"
said=$(expect_exit 0 lab exec fabric-check sample --once 2>&1)
expect_match "$said" 'another sampler runs on .*; it does this'
pass "a second sampler says who runs"

# --- a few seconds of full cables in half a minute of idleness
job=$(submit -N12 --fabric-check --wrap 'sleep 24')
wait_running "$job"
sleep 6
lab traffic 'stor[01-08]' 'node[01-12]' max 5 > /dev/null || fail "traffic"
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric routing-imbalance
expect_field "$line" hot 'SwitchB:25/*'
expect_match "$(report "$job" 'd["hot"][0]["interval"]')" '^[0-9:]{8}-[0-9:]{8}$' "when it was full"
expect_match "$(report "$job" 'd["hot"][0]["hot_seconds"] >= 2')" true "how long"
expect_match "$(report "$job" 'd["notes"]')" 'rates are judged by [0-9]+ intervals of the sampler'
expect_match "$(lab exec fabric-check report "$job")" 'fullest [0-9:]{8}-[0-9:]{8} UTC'
pass "an interval that the average hides is found"

# --- somebody resets an inter-switch link's counters in mid-job
lab lfts default || fail "lfts default"
lab exec fabric-check map build > /dev/null || fail "map build"
lab sim 'PerformanceSet "SwitchA"[13] PortCounters.SymbolErrorCounter=500' > /dev/null || fail "sim"
lab config thresholds.lost_share=0.4
sleep 2
job=$(submit -N12 --fabric-check --wrap 'sleep 16')
wait_running "$job"
lab traffic 'stor[01-08]' 'node[01-12]' 0.05 3 > /dev/null || fail "traffic"
sleep 2
lab sim 'PerformanceSet "SwitchA"[13] PortCounters.SymbolErrorCounter=0' > /dev/null || fail "sim"
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric clean
expect_match "$(report "$job" '[u["reason"] for u in d["unread"]]')" 'reset between .* UTC; \+0 in the rest'
lab config thresholds.lost_share=
pass "a reset on a link between switches costs its interval"

# --- an error on a link has its time
job=$(submit -N12 --fabric-check --wrap 'sleep 12')
wait_running "$job"
lab traffic 'stor[01-08]' 'node[01-12]' 0.05 3 > /dev/null || fail "traffic"
lab sim 'PerformanceSet "SwitchA"[13] PortCounters.SymbolErrorCounter=7' > /dev/null || fail "sim"
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric physical
expect_match "$(report "$job" 'd["because"][0]["note"]')" 'between [0-9:]{8} and [0-9:]{8} UTC \(\+7\)'
lab sim 'PerformanceSet "SwitchA"[13] PortCounters.SymbolErrorCounter=0' > /dev/null || fail "sim"
pass "an error on a link between switches has its interval"

# --- nodes that may send no MADs: the sampler's readings are all there is
for node in "$FABRIC_CHECK_LAB"/nodes/*; do touch "$node/no-umad"; done
job=$(submit -N12 --fabric-check --wrap 'sleep 12')
wait_running "$job"
sleep 2
lab traffic 'stor[01-08]' 'node[01-12]' 0.05 3 > /dev/null || fail "traffic"
lab sim 'PerformanceSet "SwitchA"[13] PortCounters.SymbolErrorCounter=9' > /dev/null || fail "sim"
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric physical
expect_field "$line" why 'SymbolErrorCounter+9'
expect_match "$(report "$job" 'd["notes"]')" 'no scout read them: the sampler.s readings of .* stand in'
lab sim 'PerformanceSet "SwitchA"[13] PortCounters.SymbolErrorCounter=0' > /dev/null || fail "sim"
rm -f "$FABRIC_CHECK_LAB"/nodes/*/no-umad
pass "without a scout the sampler's readings stand in at both ends"

# --- killed, and started again: at once, and what was kept is kept
kept=$(cat "$samples"/ring.* | wc -c)
kill -9 "$sampler"
wait "$starter" 2> /dev/null
start_sampler
[ "$(cat "$samples"/ring.* | wc -c)" -gt "$kept" ] || fail "the ring did not go on"
expect_equal "$(find "$samples" -name 'ring.*' | wc -l)" 1 "files of this hour"
started=$SECONDS
kill "$sampler"
wait "$starter" || fail "the sampler ended with $?: $(cat "$sampler_log.err")"
[ $((SECONDS - started)) -le 2 ] || fail "the sampler did not end when told"
[ ! -e "$samples/sampler.lease" ] || fail "its lease is left"
sampler=""
pass "killed and started again, it goes on; told to end, it ends"

# --- a pass a process, as the timer has it; a ceiling of management packets holds for all of them together
once() { SIM_HOST=stor03 "$lab_tests/lab" fabric --host stor03 env FABRIC_CHECK_CONFIG="$FABRIC_CHECK_LAB/fabric-check.toml" \
    "$FABRIC_CHECK_BUILD/bin/fabric-check" sample --once --json; }
once > /dev/null || fail "one pass"
expect_match "$(json <(once) 'd["interval_ns"] > 0')" true "an interval since the last process"
expect_equal "$(find "$samples" -name 'ring.*' | wc -l)" 1 "files of this hour, of five processes"
lab config mad.max_per_second=200 || fail "config"
took=$(json <(once) 'd["took_ns"] // 1000000')
[ "$took" -ge 800 ] || fail "some 200 packets in $took ms, with a ceiling of 200 a second"
expect_match "$(cat "$samples/mads")" '^[0-9]{19}$' "when the next may leave"
lab config mad.max_per_second=
pass "a pass a process goes on with the ring; the ceiling is kept in the spool ($took ms)"

# --- without a sampler: twelve jobs that start together read the links once
sleep 3 # its last pass is nobody's any more
rm -f "$samples"/newest.fcp
: > "$FABRIC_CHECK_LAB/log/fabric-check.log"
jobs=$(submit --array=1-12 -N1 --exclusive --fabric-check --wrap 'sleep 3')
wait_job "$jobs" > /dev/null
starts=$(grep -c 'scout: .* MADs sent' "$FABRIC_CHECK_LAB/log/fabric-check.log")
shared=$(grep -c 'scout: .* [1-9][0-9]* ports as others read them' "$FABRIC_CHECK_LAB/log/fabric-check.log")
[ "$shared" -ge 6 ] || fail "only $shared of $starts scouts used another's readings"
for claim in "$samples"/claim.*; do [ ! -e "$claim" ] || fail "a claim is left: $claim"; done
pass "jobs that start together share a pass ($shared of $starts passes used others' readings)"

# --- and with share_ms = 0 none does
lab config sample.share_ms=0
: > "$FABRIC_CHECK_LAB/log/fabric-check.log"
jobs=$(submit --array=1-4 -N1 --exclusive --fabric-check --wrap 'sleep 1')
wait_job "$jobs" > /dev/null
[ "$(grep -c 'scout: .* MADs sent, 0 ports as others' "$FABRIC_CHECK_LAB/log/fabric-check.log")" -ge 4 ] || fail "scouts said nothing"
grep -q 'scout: .* [1-9][0-9]* ports as others' "$FABRIC_CHECK_LAB/log/fabric-check.log" && fail "share_ms = 0 did not turn it off"
lab config sample.share_ms= sample.interval_s= services=
pass "share_ms = 0: everybody reads for himself"
