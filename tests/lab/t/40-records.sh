#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each record of the accounting carries its own line and no other's, whatever else is there.
. "$(dirname "$0")/../lib/scenario.sh"
lines() { lab exec sacct -X -n -P -D -j "$1" -o "${2:-JobID,SystemComment}"; }
# await_lines JOB COUNT [SECONDS]
await_lines() {
    local deadline=$((SECONDS + ${3:-60}))
    until [ "$(lines "$1" | grep -c 'fabric=')" = "$2" ]; do
        [ "$SECONDS" -lt "$deadline" ] || fail "not $2 lines: $(lines "$1")"
        sleep 0.3
    done
}

# --- a requeued job: two records, two lines
first=$FABRIC_CHECK_LAB/first
job=$(submit -N2 -w 'node[01-02]' --fabric-check --requeue --wrap "if [ \${SLURM_RESTART_COUNT:-0} = 0 ]; then
        lab traffic stor01 node01 1 2; touch $first; sleep 60
    else sleep 0.5; fi")
until [ -e "$first" ]; do sleep 0.1; done
rm "$first"
lab exec scontrol requeue "$job" || fail "requeue"
sleep 3
expect_equal "$(wait_job "$job" 180)" COMPLETED "state"
await_lines "$job" 2
one=$(lines "$job" SystemComment | sed -n 1p)
two=$(lines "$job" SystemComment | sed -n 2p)
expect_field "$one" fabric clean
expect_field "$one" restart ''
expect_field "$two" fabric no-traffic
expect_field "$two" restart 1
expect_exit 0 lab exec fabric-check report "$job" --restart 0 > /dev/null
expect_match "$(lab exec fabric-check report "$job")" "The run before: fabric-check report $job --restart 0" "the report"
expect_exit 3 lab exec fabric-check report "$job" > /dev/null
pass "each instance of a requeued job has its line"

# --- an array of 20: retries in task 7's time only
job=$(submit -a 1-20 -N1 --exclusive --fabric-check --wrap 'lab traffic stor01 $SLURMD_NODENAME 0.5 1
    [ $SLURM_ARRAY_TASK_ID != 7 ] || lab node $SLURMD_NODENAME set mlx5_0/1 rnr_nak_retry_err=+77')
wait_job "$job" 180 > /dev/null
await_lines "$job" 20 90
while IFS='|' read -r id nodes line; do
    expect_field "$line" nodes "$nodes"
    case $id in
        *_7)
            expect_field "$line" fabric transport-retry
            expect_field "$line" why 'rnr_nak_retry_err+77'
            ;;
        *) expect_field "$line" fabric clean ;;
    esac
done < <(lines "$job" JobID,NodeList,SystemComment)
expect_exit 1 lab exec fabric-check report "${job}_7" > /dev/null
expect_exit 0 lab exec fabric-check report "${job}_8" > /dev/null
pass "each task of an array has its line"

# --- a heterogeneous job
job=$(submit -N2 -w 'node[01-02]' --fabric-check --wrap "lab traffic stor01 'node[01-04]' 0.5 1" : -N2 -w 'node[03-04]')
wait_job "$job" 90 > /dev/null
await_lines "$job" 2
expect_match "$(lines "$job")" "$job\+0\|fabric=[^|]* nodes=node\[01-02\]"
expect_match "$(lines "$job")" "$job\+1\|fabric=[^|]* nodes=node\[03-04\]"
expect_exit 0 lab exec fabric-check report "$job+1" > /dev/null
expect_equal "$(json "$FABRIC_CHECK_LAB/spool/reports/$job.0.json" '[d["job"]["partition"], d["job"]["name"], d["job"]["het_job_offset"]]')" \
    '["lab", "wrap", 0]' "what a late message of the start tells"
pass "each component of a heterogeneous job has its line"

# --- what others wrote is kept: by a job's own admin comment, and by an operator after the end
job=$(submit -N1 --fabric-check --wrap 'lab traffic stor01 $SLURMD_NODENAME 1 3')
wait_running "$job"
lab exec scontrol update jobid="$job" admincomment='JS1:H4sIAAAA fabric=cotton' || fail "admincomment"
wait_job "$job" > /dev/null
line_of "$job" > /dev/null
expect_equal "$(lines "$job" AdminComment)" 'JS1:H4sIAAAA fabric=cotton' "AdminComment"
lab config finisher.field=AdminComment
job=$(submit -N1 --fabric-check --wrap 'lab traffic stor01 $SLURMD_NODENAME 1 3')
wait_running "$job"
lab exec scontrol update jobid="$job" admincomment='JS1:H4sIAAAA fabric=cotton' || fail "admincomment"
wait_job "$job" > /dev/null
deadline=$((SECONDS + 40))
until [[ $(lines "$job" AdminComment) = 'JS1:H4sIAAAA fabric=cotton ; fabric=clean '* ]]; do
    [ "$SECONDS" -lt "$deadline" ] || fail "AdminComment: $(lines "$job" AdminComment)"
    sleep 0.3
done
lab config finisher.field=
# The finisher has to wait for its lock meanwhile.
exec {hold}> "$FABRIC_CHECK_LAB/state/finisher.lock"
flock "$hold"
job=$(submit -N1 --fabric-check --wrap 'lab traffic stor01 $SLURMD_NODENAME 1 2')
wait_job "$job" > /dev/null
deadline=$((SECONDS + 30))
until [[ $(lines "$job" State) = COMPLETED ]]; do
    [ "$SECONDS" -lt "$deadline" ] || fail "job $job is $(lines "$job" State) in the accounting"
    sleep 0.2
done
lab exec sacctmgr -i modify job where jobid="$job" set systemcomment='staged out' > /dev/null || fail "sacctmgr"
exec {hold}>&-
lab exec fabric-check-finisher || fail "fabric-check-finisher"
expect_match "$(lines "$job" SystemComment)" '^staged out ; fabric=clean [^;]*$' "SystemComment"
pass "an existing comment is kept"

# --- where Slurm hides jobs, a report is its owner's alone
expect_match "$(getfacl -cEp "$FABRIC_CHECK_LAB/spool/reports/$job.0.json")" 'other::r--' "a report for everybody"
cp "$FABRIC_CHECK_LAB/slurm.conf" "$FABRIC_CHECK_LAB/slurm.conf.before"
echo PrivateData=jobs >> "$FABRIC_CHECK_LAB/slurm.conf"
lab exec scontrol reconfigure || fail "scontrol reconfigure"
job=$(submit -N1 --fabric-check --uid 65534 --chdir /tmp -o /dev/null --wrap true)
wait_job "$job" > /dev/null
line_of "$job" > /dev/null
acl=$(getfacl -cEpn "$FABRIC_CHECK_LAB/spool/reports/$job.0.json")
expect_match "$acl" 'user:65534:r--.*other::---' "a private report"
mv "$FABRIC_CHECK_LAB/slurm.conf.before" "$FABRIC_CHECK_LAB/slurm.conf"
lab exec scontrol reconfigure || fail "scontrol reconfigure"
pass "reports are private where jobs are"

# --- off means off; a wrong value is refused with the valid ones
job=$(submit -N1 --fabric-check=off --wrap true)
wait_job "$job" > /dev/null
for command in 'sbatch --wrap true' 'srun -N1 true' 'salloc -N1 true'; do
    read -r program arguments <<< "$command"
    # shellcheck disable=SC2086
    said=$(lab exec "$program" --fabric-check=yes $arguments 2>&1) && fail "$program --fabric-check=yes was accepted: $said"
    expect_match "$said" 'yes.*report.*off' "the refusal"
done
default=$(submit -N1 --wrap true)
wait_job "$default" > /dev/null
expect_field "$(line_of "$default")" fabric no-traffic
expect_equal "$(lines "$job" SystemComment)" '' "line of a job with --fabric-check=off"
lab config default_mode=off
job=$(submit -N1 --wrap true)
wait_job "$job" > /dev/null
other=$(submit -N1 --fabric-check --wrap true)
wait_job "$other" > /dev/null
line_of "$other" > /dev/null
expect_equal "$(lines "$job" SystemComment)" '' "line of a job where the site's default is off"
pass "modes and the site's default"
