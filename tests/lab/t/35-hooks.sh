#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Where the switches are read from, in all three ways; and hooks that hang in what they read and write: they leave within
# their budget, the job runs, no node is drained.
. "$(dirname "$0")/../lib/scenario.sh"
traffic='lab traffic stor01 node01 1 2'
two=(-N2 -w 'node[01-02]' --fabric-check)
report() { echo "$FABRIC_CHECK_LAB/spool/reports/$1.0.json"; }
no_node_is_drained() {
    expect_equal "$(lab exec sinfo -h -N -t drain,draining,drained -o '%N %E')" "" "drained nodes"
}
log=$FABRIC_CHECK_LAB/log/fabric-check.log
here=$(hostname -s)
lab exec fabric-check map build > /dev/null || fail "map build"

# --- what every job waits for starts without Slurm's libraries, and without any that it does not need
programs=${FABRIC_CHECK_BUILD:-$lab_tests/../../build}/bin
for hook in prolog epilog step prologctld epilogctld; do
    [ -x "$programs/fabric-check-$hook" ] || fail "no fabric-check-$hook"
    needed=$(readelf -d "$programs/fabric-check-$hook" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -v -e '^libc\.so' -e '^libm\.so' -e '^ld-linux')
    expect_equal "$needed" "" "libraries of fabric-check-$hook"
done
pass "the hooks need nothing but the C library"

# --- on the controller
lab config scout=controller > /dev/null || fail "config"
job=$(submit "${two[@]}" --wrap "$traffic")
expect_equal "$(wait_job "$job")" COMPLETED "state"
line=$(line_of "$job" 60) || exit 1
expect_field "$line" fabric clean
expect_field "$line" route ok
expect_match "$(grep "job $job " "$log" | grep 'scout:')" "epilog: job $job $here: scout: [1-9][0-9]* switch ports recorded" "the log"
expect_no_match "$(grep "job $job " "$log" | grep 'scout:')" "node0[12]: scout" "the log"
pass "the controller reads the switches"

# --- on a named host, which is asked
lab config "scout=$here" > /dev/null || fail "config"
"$FABRIC_CHECK_LAB/libexec/fabric-check-scout" --serve &
service=$!
trap 'kill $service 2> /dev/null' EXIT
job=$(submit "${two[@]}" --wrap "$traffic")
expect_equal "$(wait_job "$job")" COMPLETED "state"
line=$(line_of "$job" 60) || exit 1
expect_field "$line" fabric clean
expect_field "$line" route ok
expect_equal "$(ls "$FABRIC_CHECK_LAB/spool/requests")" "" "requests left"
pass "a named host reads the switches for those who ask"

# --- and when nobody serves, the job is told without routes
kill $service
wait $service || true
job=$(submit "${two[@]}" --wrap "$traffic")
expect_equal "$(wait_job "$job")" COMPLETED "state"
line=$(line_of "$job" 60) || exit 1
expect_field "$line" cover 2/2
expect_field "$line" route unknown
lab config --reset > /dev/null || fail "config --reset"
rm -f "$FABRIC_CHECK_LAB"/spool/requests/*
pass "a service that is away costs the routes only"

# --- a spool, a log file, a counter's card that hang: a file system whose server takes requests and never answers
hung=$FABRIC_CHECK_LAB/hung
mkdir -p "$hung"
"$lab_tests/lib/hung_mount.py" "$hung" &
server=$!
trap 'kill $server 2> /dev/null; umount -l "$hung" 2> /dev/null' EXIT
for _ in 1 2 3 4 5 6 7 8 9 10; do
    mountpoint -q "$hung" 2> /dev/null && break
    sleep 0.1
done
for key in spool log_file sysfs_root; do
    for node in node01 node02; do
        sed -e "/^$key = /d" -e 's/^budget_ms = .*/budget_ms = 1000/' "$FABRIC_CHECK_LAB/fabric-check.toml" > "$(lab node $node path)/fabric-check.toml.new"
        {
            echo "$key = \"$hung/it\""
            cat "$(lab node $node path)/fabric-check.toml.new"
        } > "$(lab node $node path)/fabric-check.toml"
    done
    job=$(submit "${two[@]}" --wrap true)
    expect_equal "$(wait_job "$job" 60)" COMPLETED "state with $key hung"
    no_node_is_drained
    pass "$key hangs, the job runs"
done
for node in node01 node02; do
    rm -f "$FABRIC_CHECK_LAB/nodes/$node/fabric-check.toml"
    ln -s "$hung/it" "$FABRIC_CHECK_LAB/nodes/$node/fabric-check.toml"
done
job=$(submit "${two[@]}" --wrap true)
expect_equal "$(wait_job "$job" 60)" COMPLETED "state with the configuration hung"
no_node_is_drained
rm -f "$FABRIC_CHECK_LAB"/nodes/node0[12]/fabric-check.toml*
pass "the configuration hangs, the job runs"
expect_match "$(tail -n 400 "$log")" "not done within [0-9]+ ms" "the log"
