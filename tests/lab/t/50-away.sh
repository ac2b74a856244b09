#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Services away, the spool read-only, no umad, forged records: jobs run, no node is drained, and
# the reason shows.
. "$(dirname "$0")/../lib/scenario.sh"
traffic='lab traffic stor01 node01 1 2'
two=(-N2 -w 'node[01-02]' --fabric-check)
report() { echo "$FABRIC_CHECK_LAB/spool/reports/$1.0.json"; }
no_node_is_drained() {
    expect_equal "$(lab exec sinfo -h -N -t drain,draining,drained -o '%N %E')" "" "drained nodes"
}

# --- slurmdbd away at the job's end
job=$(submit "${two[@]}" --wrap "$traffic; lab break dbd")
wait_job "$job" > /dev/null
sleep 6
lab mend dbd || fail "mend dbd"
expect_field "$(line_of "$job" 60)" fabric clean
pass "the line is there after slurmdbd is back"

# --- the nodes' munged away: what Slurm itself needs is there, or no job would run
for node in node01 node02; do
    sed 's|^socket = .*|socket = "/nonexistent"|' "$FABRIC_CHECK_LAB/fabric-check.toml" > "$(lab node $node path)/fabric-check.toml"
done
job=$(submit "${two[@]}" --wrap "$traffic")
expect_equal "$(wait_job "$job")" COMPLETED "state"
line=$(line_of "$job" 90) || exit 1
expect_field "$line" fabric incomplete
expect_field "$line" cover 0/2
expect_field "$line" rest ""
expect_match "$(json "$(report "$job")" '[u["reason"] for u in d["unread"]]')" 'munge' "the reason"
no_node_is_drained
rm "$FABRIC_CHECK_LAB"/nodes/node0[12]/fabric-check.toml
pass "the nodes' munged away is incomplete, and told"

# --- munged away altogether at the job's end
job=$(submit "${two[@]}" --wrap "$traffic
    (sleep 1; $lab_tests/lab break munge; sleep 6; $lab_tests/lab mend munge) > /dev/null 2>&1 &
    sleep 1.6")
sleep 14
wait_job "$job" 120 > /dev/null
expect_match "$(line_of "$job" 90)" '^fabric=(clean|incomplete) '
no_node_is_drained
pass "munged away"

# --- the spool read-only for the whole job
lab break spool || fail "break spool"
job=$(submit "${two[@]}" --wrap "$traffic")
expect_equal "$(wait_job "$job")" COMPLETED "state"
line=$(line_of "$job" 90) || exit 1
expect_field "$line" fabric incomplete
expect_field "$line" cover 0/2
expect_match "$(field "$line" unread)" 'spool|START'
no_node_is_drained
lab mend spool || fail "mend spool"
pass "a read-only spool is incomplete, and told"

# --- no umad on the scouts
touch "$FABRIC_CHECK_LAB"/nodes/node0{1,2}/no-umad
job=$(submit "${two[@]}" --wrap "$traffic")
expect_equal "$(wait_job "$job")" COMPLETED "state"
line=$(line_of "$job") || exit 1
expect_field "$line" fabric incomplete
expect_field "$line" rest clean
expect_match "$line" 'unread=[^ ]*umad'
no_node_is_drained
# ... on one of them: the other one's reading serves
rm "$FABRIC_CHECK_LAB"/nodes/node02/no-umad
job=$(submit "${two[@]}" --wrap "$traffic")
wait_job "$job" > /dev/null
expect_field "$(line_of "$job")" fabric clean
rm "$FABRIC_CHECK_LAB"/nodes/node01/no-umad
pass "no umad is incomplete; one scout of two suffices"

# --- records that a user forged, or that come from another node
spool=$FABRIC_CHECK_LAB/spool/records
cat > "$FABRIC_CHECK_LAB/forge" << 'END'
#!/bin/sh
# forge RECORDS JOB: one record made by a normal user, one copied from node01 to node02
now=$(date +%s%N)
setpriv --reuid=65534 --regid=65534 --clear-groups sh -c \
    'printf %s "{\"schema\":\"fabric-check/record/1\"}" | munge -u 0 > "$1"' - "$1/$2.node01.$now.end"
cp "$1/$2".node01.*.start "$1/$2.node02.$now.start"
END
chmod 755 "$FABRIC_CHECK_LAB/forge"
job=$(submit "${two[@]}" --wrap "$traffic; $FABRIC_CHECK_LAB/forge $spool \$SLURM_JOB_ID")
wait_job "$job" > /dev/null
expect_field "$(line_of "$job")" fabric clean
problems=$(json "$(report "$job")" '" ".join(d["notes"])')
expect_match "$problems" '65534' "the forged record's uid in the report"
expect_match "$problems" "node02\.[0-9]*\.start" "the copied record in the report"
pass "forged and copied records are refused and reported"

# --- hostile names and content in the spool stop nobody
mkfifo "$spool/1.node01.5.start"
ln -s /etc/passwd "$spool/2.node01.5.start"
head -c 100000 /dev/urandom > "$spool/999999999999.x.y"
job=$(submit "${two[@]}" --wrap "mkfifo $spool/\$SLURM_JOB_ID.node01.7.end; ln -s /etc/shadow $spool/\$SLURM_JOB_ID.node02.7.start; $traffic")
wait_job "$job" > /dev/null
expect_field "$(line_of "$job")" fabric clean
rm -f "$spool"/[12].node01.5.start "$spool/999999999999.x.y" "$spool/$job".*
pass "hostile names in the spool"

# --- no map yet: this job's switch side is incomplete, the next one's is not
rm -f "$FABRIC_CHECK_LAB/spool/map/map.fcm"
# one node: a second scout, a moment later, may already have it
job=$(submit -N1 -w node01 --fabric-check --wrap "$traffic")
wait_job "$job" > /dev/null
line=$(line_of "$job") || exit 1
expect_field "$line" fabric incomplete
expect_field "$line" rest clean
expect_match "$(json "$(report "$job")" '" ".join(d["notes"])')" 'no map yet' "the report"
deadline=$((SECONDS + 30))
until [ -s "$FABRIC_CHECK_LAB/spool/map/map.fcm" ]; do
    [ "$SECONDS" -lt "$deadline" ] || fail "no scout built a map"
    sleep 0.2
done
job=$(submit "${two[@]}" --wrap "$traffic")
wait_job "$job" > /dev/null
expect_field "$(line_of "$job")" fabric clean
pass "the first scout without a map starts one build"
