#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The lab itself: both ends of a link agree after traffic, so do the nodes' own files, links
# are shared max-min, a node can die and come back, and down leaves nothing behind.
# shellcheck disable=SC1091,SC2154,SC2015
. "$(dirname "$0")/../lib/scenario.sh"

# --- LIDs, GUIDs and routes are the same in every lab
expect_equal "$(lid SwitchB)" 9 "LID of SwitchB"
expect_equal "$(lid node11)" 64 "LID of node11"
sysfs=$(lab node node11 path)/sys/class/infiniband/mlx5_0
expect_equal "$(cat "$sysfs/ports/1/lid")" 0x40 "LID in node11's sysfs"
expect_equal "$(tr -d : < "$sysfs/node_guid")" \
    "$(lab fabric smpquery nodeinfo 64 | sed -n 's/^Guid:\.*0x//p')" "GUID of node11"
expect_match "$(readlink -f "$sysfs/device/driver")" '/mlx5_core$' "driver of node11's card"

# --- traffic in a job: both ends of the ISL and the node's sysfs move by the same amount
lab lfts "$lab_tests/fabric/collapsed.lfts" || fail "lfts"
probe() { counter 9 25 PortXmitData; counter 2 13 PortRcvData; counter 2 3 PortXmitData
          counter 12 1 PortRcvData; lab node node03 get mlx5_0/1 port_rcv_data; }
mapfile -t before < <(probe)
job=$(submit -N12 --wrap 'lab traffic stor01 node03 4 2')
expect_equal "$(wait_job "$job")" COMPLETED "the job"
mapfile -t after < <(probe)
moved=$((4 * 2 * 1024 * 1024 * 1024 / 4))
for i in 0 1 2 3 4; do
    expect_near $((after[i] - before[i])) $moved 20000 "delta $i of traffic of 8 GiB in units of 4 octets"
done
expect_equal $((after[4] - before[4])) $moved "delta in node03's sysfs"
pass "both ends of a link agree"

# --- the collapsed table: 6, 5 and 1 of the twelve on three ISLs
lab traffic --json --now 'stor[01-08]' 'node[01-12]' max 1 > "$FABRIC_CHECK_LAB/t.json" || fail "traffic"
isls=$(json "$FABRIC_CHECK_LAB/t.json" '" ".join("%d:%.1f" % (l["port"], l["gib_s"]) for l in d["links"] if l["from"] == "SwitchB")')
expect_equal "$isls" "25:22.6 26:22.6 27:22.6" "ISLs under full demand"
lab traffic --json --now 'stor[01-08]' 'node[01-12]' max 1 --rate-per-dst 6 > "$FABRIC_CHECK_LAB/t.json" || fail "traffic"
isls=$(json "$FABRIC_CHECK_LAB/t.json" '" ".join("%d:%.1f" % (l["port"], l["gib_s"]) for l in d["links"] if l["from"] == "SwitchB")')
expect_equal "$isls" "25:22.6 26:22.6 27:6.0" "ISLs with 6 GiB/s a node"
hot=$(json "$FABRIC_CHECK_LAB/t.json" '[l["port"] for l in d["links"] if l["from"] == "SwitchB" and l["xmit_wait"] > 0]')
expect_equal "$hot" "[25, 26]" "ISLs with XmitWait"
lab lfts default || fail "lfts default"
lab traffic --json --now 'stor[01-08]' 'node[01-12]' max 1 --rate-per-dst 6 > "$FABRIC_CHECK_LAB/t.json" || fail "traffic"
isls=$(json "$FABRIC_CHECK_LAB/t.json" 'sorted(l["port"] for l in d["links"] if l["from"] == "SwitchB")')
expect_equal "$isls" "[25, 26, 27, 28, 29, 30, 31, 32]" "ISLs in use by default"
pass "links are shared max-min"

# --- two traffic commands at once share a link
lab traffic stor01 node01 max 2 --json > "$FABRIC_CHECK_LAB/t1.json" &
lab traffic stor01 node02 max 2 --json > "$FABRIC_CHECK_LAB/t2.json" || fail "traffic"
wait
total=0
for f in t1 t2; do
    total=$(json "$FABRIC_CHECK_LAB/$f.json" "$total + [l['gib_s'] for l in d['links'] if l['from'] == 'stor01'][0]")
done
expect_near "$total" 22.6 9 "two flows out of stor01"

# --- counters of a node
lab node node02 set mlx5_0/1 packet_seq_err=40 symbol_error=+7 || fail "node set"
expect_equal "$(lab node node02 get mlx5_0/1 packet_seq_err)" 40
lab node node02 set mlx5_0/1 packet_seq_err=+12000
expect_equal "$(lab node node02 get mlx5_0/1 packet_seq_err)" 12040
lab node node02 unset mlx5_0/1 packet_seq_err
expect_exit 2 lab node node02 get mlx5_0/1 packet_seq_err 2> /dev/null
lab node node02 set mlx5_0/1 packet_seq_err=5
[ -e "$(lab node node02 path)/sys/class/infiniband/mlx5_0/ports/1/hw_counters/packet_seq_err" ] || fail "counter put back in the wrong place"

# Processes of a node have its slurmd's working directory.
on_node() { find /proc/[0-9]* -maxdepth 1 -name cwd -lname "$FABRIC_CHECK_LAB/slurmd/$1" 2> /dev/null; }

# --- a node dies with its job, and comes back with another boot id
boot=$(lab node node05 path)/proc/sys/kernel/random/boot_id
old=$(< "$boot")
downs=$(counter 2 5 LinkDownedCounter)
job=$(submit -N2 -w 'node[05-06]' --no-requeue --wrap 'srun sleep 300')
wait_running "$job"
sleep 0.5
lab node node05 kill
expect_equal "$(on_node node05)" "" "processes left on node05"
lab node node05 reboot || fail "reboot"
[ "$(< "$boot")" != "$old" ] || fail "boot id did not change"
expect_equal "$(counter 2 5 LinkDownedCounter)" $((downs + 1)) "LinkDowned at SwitchA[5]"
expect_match "$(wait_job "$job" 60)" 'NODE_FAIL|FAILED' "state of the job whose node rebooted"

# --- faults of the services
lab break spool && {
    touch "$FABRIC_CHECK_LAB/spool/x" 2> /dev/null && fail "the broken spool is writable"
    exec 8< "$FABRIC_CHECK_LAB/spool"
    lab mend spool || fail "mend spool while a process has it open"
    exec 8<&-
    touch "$FABRIC_CHECK_LAB/spool/x" || fail "the mended spool is not writable"
}
for what in munge dbd ctld; do
    lab break $what || fail "break $what"
    lab mend $what || fail "mend $what"
done
expect_equal "$(lab sim 'Nonsense' | head -n 1)" "command 'Nonsense' unknown - skipped"

# --- down ends everything, with a job and traffic still running; up again works
job=$(submit -N3 --wrap 'srun sleep 30077 & lab traffic stor01 node01 1 300')
wait_running "$job"
sleep 2
tasks=$(pgrep -f 'sleep 30077$')
[ -n "$tasks" ] && [ -n "$(on_node node02)" ] || fail "the job has no processes"
lab down || fail "down"
expect_equal "$(on_node '*')" "" "processes left on the nodes"
for pid in $tasks; do
    ! grep -qz "^FABRIC_CHECK_LAB=$FABRIC_CHECK_LAB\$" "/proc/$pid/environ" 2> /dev/null || fail "task $pid left behind"
done
for word in "$FABRIC_CHECK_LAB/slurm.conf" "$FABRIC_CHECK_LAB/net" "$FABRIC_CHECK_LAB/munge.socket" "$FABRIC_CHECK_LAB/db/data"; do
    left=$(pgrep -af -- "$word" | grep -v pgrep)
    expect_equal "$left" "" "daemons left behind"
done
[ -z "$(find "$FABRIC_CHECK_LAB" -name 'sys-*')" ] || fail "sys-PID directories left behind"
! lab exec true 2> /dev/null || fail "exec works in a lab that is down"
lab up || fail "up again"
pass "down leaves nothing"
