#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Many array tasks that end at once, and a finisher that is killed in the middle of them.
. "$(dirname "$0")/../lib/scenario.sh"
tasks=60
finisher=${FABRIC_CHECK_BUILD:-$lab_tests/../../build}/bin/fabric-check-finisher
tickets() { find "$FABRIC_CHECK_LAB/state/tickets" -name '[0-9]*.json' 2> /dev/null | wc -l; }
lines() { lab exec sacct -X -n -P -j "$1" -o SystemComment; }

# The switches are not read: that many scouts at once are more clients than ibsim has, and one killed for it never gives its
# place back.
for node in "$FABRIC_CHECK_LAB"/nodes/node*; do touch "$node/no-umad"; done

# --- nothing finishes them until all have ended
exec 8> "$FABRIC_CHECK_LAB/state/finisher.lock"
flock 8 || fail "the finisher's lock"
job=$(submit -N1 -n1 "--array=1-$tasks" --wrap 'sleep 1')
deadline=$((SECONDS + 60))
until [ "$(tickets)" -ge $tasks ]; do
    [ "$SECONDS" -lt "$deadline" ] || fail "$(tickets) tickets of $tasks tasks"
    sleep 0.2
done
wait_job "$job" > /dev/null
exec 8>&-

# --- killed in the middle, several times
for after in 0.05 0.1 0.2; do
    lab exec timeout -s KILL "$after" "$finisher" 8>&- > /dev/null 2>&1
done
lab exec "$finisher" || fail "the finisher: exit code $?"
expect_equal "$(tickets)" 0 "tickets left"
expect_equal "$(lines "$job" | grep -c '^fabric=[a-z-]* .*cover=1/1')" $tasks "lines"
expect_equal "$(lines "$job" | grep -c 'fabric=.*fabric=')" 0 "records with two lines"
expect_equal "$(lab exec sacct -X -n -P -j "$job" -o NodeList,SystemComment | awk -F'|' '$2 !~ " nodes=" $1 "$"' | wc -l)" 0 "lines of other nodes"
expect_equal "$(find "$FABRIC_CHECK_LAB/spool/reports" -name "${job}_*.json" | wc -l)" $tasks "reports by the array's name"
pass "every task has its line, once, whenever the finisher was killed"
rm "$FABRIC_CHECK_LAB"/nodes/node*/no-umad
