#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Records in mid-job: a reset costs an interval, findings say when, a dead node is judged until its last record.
# Steps: the same binary twice in one allocation, told apart.
. "$(dirname "$0")/../lib/scenario.sh"
export FABRIC_CHECK_LAB_NO_UMAD=1
# mids NODE…: fabric-check mid, as each node's timer runs it.
mids() {
    local node
    for node in "$@"; do
        lab exec fabric-check mid --node "$node" -v || fail "fabric-check mid on $node"
    done
}
report() { json "$FABRIC_CHECK_LAB/spool/reports/$1.0.json" "$2"; }

# --- somebody resets a counter in mid-job; an error comes in another interval
job=$(submit -N2 -w 'node[01-02]' --fabric-check --wrap 'lab traffic stor01 "node[01-02]" 1 2; sleep 60')
wait_running "$job"
lab node node01 set mlx5_0/1 symbol_error=+40
sleep 4
said=$(mids node01 node02)
expect_match "$said" "job $job node01: recorded; 1 interval since"
lab node node01 set mlx5_0/1 symbol_error=0
sleep 0.5
mids node01 node02 > /dev/null
before=$(date -u +%H:%M:%S)
lab node node02 set mlx5_0/1 packet_seq_err=+90
mids node01 node02 > /dev/null
expect_equal "$(find "$FABRIC_CHECK_LAB/spool/records" -name "$job.*.mid" | wc -l)" 2 "MID records of two nodes"
expect_equal "$(lab exec fabric-check mid --node node03 --json | json - 'len(d["jobs"])')" 0 "jobs of an idle node"
sleep 5
lab exec scancel "$job"
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric physical # what was counted before the reset
expect_field "$line" why 'SymbolErrorCounter+40*'
expect_field "$line" cover 2/2
expect_match "$(report "$job" '[f["note"] for f in d["because"]]')" 'reset between .* UTC; \+40 in the rest'
retries=$(report "$job" '[f for f in d["live"] if f["counter"] == "packet_seq_err"][0]')
expect_match "$retries" '"delta": 90'
expect_match "$retries" 'between [0-9:]{8} and [0-9:]{8} UTC \(\+90\)'
expect_equal "$(json - 'len(d["intervals"])' <<< "$retries")" 1 "intervals with retries"
expect_equal "$(find "$FABRIC_CHECK_LAB/spool/records" -name "$job.*" | wc -l)" 0 "records left"
expect_equal "$(find "$FABRIC_CHECK_LAB"/nodes/*/state -name "$job.*" | wc -l)" 0 "node-local state left"
pass "a reset costs its interval, and findings say when (after $before)"

# --- the same reset where nothing else moved: judged by the rest
lab node node01 set mlx5_0/1 symbol_error=40
lab config thresholds.lost_share=0.5
job=$(submit -N2 -w 'node[01-02]' --fabric-check --wrap 'lab traffic stor01 "node[01-02]" 1 2; sleep 6')
wait_running "$job"
sleep 3
mids node01 node02 > /dev/null
lab node node01 set mlx5_0/1 symbol_error=0
mids node01 node02 > /dev/null
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric clean
expect_match "$(report "$job" '[u["reason"] for u in d["unread"]]')" 'reset between .* UTC; \+0 in the rest'
lab config thresholds.lost_share=
pass "a counter that was reset for a moment is judged by the rest"

# --- two at once, and without a spool
job=$(submit -N1 -w node01 --fabric-check --wrap 'sleep 60')
wait_running "$job"
exec {hold}> "$(lab node node01 path)/state/mid.lock"
flock "$hold"
expect_match "$(expect_exit 0 lab exec fabric-check mid --node node01 -v)" 'another fabric-check mid is at it'
exec {hold}>&-
lab config munge.socket=/nonexistent
expect_exit 4 lab exec fabric-check mid --node node01
lab config munge.socket=
echo 'node_state = "relative"' > "$FABRIC_CHECK_LAB/wrong.toml"
expect_exit 2 lab exec fabric-check --config "$FABRIC_CHECK_LAB/wrong.toml" mid
rm "$FABRIC_CHECK_LAB/wrong.toml"
expect_exit 0 lab exec fabric-check mid --node node01
lab exec scancel "$job"
wait_job "$job" > /dev/null
pass "exit codes, and one at a time"

# --- a node dies: its last record in mid-job is what is known of it
job=$(submit -N2 -w 'node[01-02]' --no-requeue --fabric-check --wrap 'lab traffic stor01 "node[01-02]" 1 2; sleep 120')
wait_running "$job"
sleep 4
lab node node02 set mlx5_0/1 packet_seq_err=+7
mids node01 node02 > /dev/null
lab node node02 kill
lab exec scontrol update nodename=node02 state=down reason=dead
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric incomplete
expect_field "$line" cover 1/2
expect_match "$(report "$job" '[f["note"] for f in d["live"] if f["counter"] == "packet_seq_err"]')" 'known until [0-9:]{8} UTC'
expect_match "$(report "$job" 'd["notes"]')" 'node02 left no END record: it is judged until its last record in mid-job'
lab node node02 start
lab exec scontrol update nodename=node02 state=resume 2> /dev/null
pass "a node that died is judged until its last record"

# --- two steps of one allocation, retries during the second only
job=$(submit -N2 -w 'node[01-02]' --fabric-check=step --wrap 'srun -N2 sleep 8; sleep 1; srun -N2 sleep 8; srun -N1 true')
# step N: until it runs
running_step() {
    local deadline=$((SECONDS + 60))
    until [ "$(lab exec squeue -h -s -j "$job" -o %i | grep -cx "$job.$1")" = 1 ]; do
        [ "$SECONDS" -lt "$deadline" ] || fail "step $1 does not run"
        sleep 0.1
    done
    sleep 1 # its first reading
}
running_step 0
lab traffic stor01 'node[01-02]' 1 1 || fail "traffic"
running_step 1
lab node node01 set mlx5_0/1 packet_seq_err=+90
lab traffic stor01 'node[01-02]' 1 1 || fail "traffic"
expect_equal "$(wait_job "$job")" COMPLETED "state"
line=$(line_of "$job") || exit 1
expect_field "$line" fabric transport-retry
expect_equal "$(report "$job" '[s["id"].split(".")[1] + " " + s["name"] + " " + s["nodes"] + " " + s["verdict"] for s in d["steps"]]')" \
    '["0 sleep node[01-02] clean", "1 sleep node[01-02] transport-retry", "2 true node01 no-traffic"]' "steps"
expect_equal "$(report "$job" '[(b["where"], b["counter"], b["delta"]) for b in d["steps"][1]["because"]]')" \
    '[["node01/mlx5_0:1", "packet_seq_err", 90]]' "what step 1 rests on"
said=$(lab exec fabric-check report "$job")
expect_match "$said" "$job.0 +sleep .* clean"
expect_match "$said" "$job.1 +sleep .* transport-retry"
expect_equal "$(find "$FABRIC_CHECK_LAB"/nodes/*/state -name "$job.*" | wc -l)" 0 "node-local state left"
pass "two steps of one allocation are told apart"

# --- no more than the site permits; steps of a job that did not ask are not recorded
lab config step_records=1
job=$(submit -N1 -w node01 --fabric-check=step,report --wrap 'srun true; srun true')
wait_job "$job" > /dev/null
line_of "$job" > /dev/null
expect_equal "$(report "$job" 'len(d["steps"])')" 1 "steps recorded"
expect_match "$(report "$job" 'd["notes"]')" 'node01 ran more steps than are recorded of a job \(step_records = 1\)'
lab config step_records=
job=$(submit -N1 -w node01 --fabric-check --wrap 'srun true')
wait_job "$job" > /dev/null
line_of "$job" > /dev/null
expect_equal "$(report "$job" 'len(d["steps"])')" 0 "steps of a job that did not ask"
said=$(lab exec sbatch --fabric-check=off,step --wrap true 2>&1) && fail "off,step was accepted: $said"
expect_match "$said" 'unknown mode "off,step" .*report,step' "the refusal"
pass "steps are recorded where they are asked for, and not too many"
