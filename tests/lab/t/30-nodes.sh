#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Nodes that reboot or die, jobs that are cancelled, routes that change: nobody is convicted
# of what the counters cannot tell.
. "$(dirname "$0")/../lib/scenario.sh"
lab config 'services=stor[01-08]'
lab lfts default || fail "lfts default"
quiet="lab traffic 'stor[01-08]' 'node[01-12]' 0.1 2"
report() { echo "$FABRIC_CHECK_LAB/spool/reports/$1.0.json"; }
# The job says through this file that its counters have moved.
moved=$FABRIC_CHECK_LAB/moved
await_moved() {
    local deadline=$((SECONDS + 60))
    until [ -e "$moved" ]; do
        [ "$SECONDS" -lt "$deadline" ] || fail "the job did not get to its counters"
        sleep 0.1
    done
    rm "$moved"
}

# --- a cancelled job's retries do not lead
job=$(submit -N12 --fabric-check --wrap "$quiet
    lab node node07 set mlx5_0/1 packet_seq_err=+900
    touch $moved
    sleep 60")
await_moved
lab exec scancel "$job"
expect_equal "$(wait_job "$job")" CANCELLED "state"
line=$(line_of "$job") || exit 1
expect_field "$line" fabric clean
expect_match "$(lab exec fabric-check report "$job")" 'teardown\?' "the report"
pass "a cancelled job's retries do not lead"

# --- a node reboots in mid-job: its link went down, which is no fault of the link
job=$(submit -N12 --fabric-check --no-requeue --wrap "$quiet
    touch $moved
    sleep 60")
await_moved
lab node node11 reboot || fail "reboot"
wait_job "$job" 90 > /dev/null
line=$(line_of "$job" 90) || exit 1
expect_field "$line" fabric incomplete
expect_match "$(json "$(report "$job")" '[u for u in d["unread"] if "node11" in u["where"]]')" 'rebooted' "the report"
pass "a reboot in mid-job is incomplete"

# --- a node dies in mid-job
job=$(submit -N12 --fabric-check --no-requeue --wrap "$quiet
    lab node node03 set mlx5_0/1 packet_seq_err=+5
    touch $moved
    sleep 6")
await_moved
lab node node12 kill || fail "kill"
line=$(line_of "$job" 90) || exit 1
expect_field "$line" fabric incomplete
expect_field "$line" cover 11/12
expect_match "$(field "$line" unread)" 'node12'
expect_field "$line" rest transport-retry
expect_match "$(json "$(report "$job")" 'd["cover"]["missing"]')" 'node12' "missing"
expect_equal "$(json "$(report "$job")" '[f["where"] for f in d["live"]]')" '["node03/mlx5_0:1"]' "peers are still judged"
lab node node12 start || fail "start"
pass "a dead node is incomplete, and its peers are judged"

# --- the tables change in mid-job
job=$(submit -N12 --fabric-check --wrap "$quiet
    lab lfts $lab_tests/fabric/collapsed.lfts")
wait_job "$job" 90 > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" route changed
expect_match "$(json "$(report "$job")" 'd["routes_changed"]')" 'SwitchB' "routes_changed"
expect_no_match "$line" 'fabric=routing-imbalance'
lab lfts default || fail "lfts default"
pass "a change of routes in mid-job is told"
