# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034
# Sourced by every scenario in tests/lab/t/. A scenario finds the lab up and reset, runs
# its jobs, and stops at the first thing that is not as expected.
set -uo pipefail
lab_tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export FABRIC_CHECK_LAB=${FABRIC_CHECK_LAB:-/tmp/fabric-check-lab}
scenario=$(basename "$0" .sh)

lab() { "$lab_tests/lab" "$@"; }

# fail MESSAGE: ends the scenario.
fail() {
    echo "$scenario: FAIL: $*" >&2
    exit 1
}
pass() { echo "$scenario: ok: $*"; }

# submit SBATCH-ARGUMENTS: prints the job id. Output goes to job-ID.out in the lab's directory.
submit() {
    lab exec sbatch --parsable -o "$FABRIC_CHECK_LAB/job-%j.out" "$@" || fail "sbatch $*"
}
job_output() { cat "$FABRIC_CHECK_LAB/job-$1.out"; }

# wait_job ID [SECONDS]: until the job, and its epilogs, have ended; prints its state.
wait_job() {
    local state=UNKNOWN deadline=$((SECONDS + ${2:-120}))
    while [ "$SECONDS" -lt "$deadline" ]; do
        state=$(lab exec squeue -h -t all -j "$1" -o %T 2> /dev/null | sort -u | paste -sd, -)
        case $state in
            *PENDING* | *RUNNING* | *COMPLETING* | *CONFIGURING* | *REQUEUE* | *SUSPENDED* | "") sleep 0.2 ;;
            *) echo "$state"; return ;;
        esac
    done
    fail "job $1 did not end in ${2:-120} s (${state:-not known to slurmctld})"
}

# wait_running ID [SECONDS]: until the job runs, its prologs done.
wait_running() {
    local deadline=$((SECONDS + ${2:-60}))
    until [ "$(lab exec squeue -h -t all -j "$1" -o %T)" = RUNNING ]; do
        [ "$SECONDS" -lt "$deadline" ] || fail "job $1 does not run"
        sleep 0.1
    done
}

# line_of ID [SECONDS]: the fabric line in the job's record, waiting for it.
line_of() {
    local line="" deadline=$((SECONDS + ${2:-60}))
    while [ "$SECONDS" -lt "$deadline" ]; do
        line=$(lab exec sacct -X -n -P -j "$1" -o SystemComment 2> /dev/null)
        case $line in
            *fabric=*) echo "$line"; return ;;
        esac
        sleep 0.2
    done
    fail "job $1 got no fabric line in ${2:-60} s (SystemComment: '$line')"
}

# field LINE KEY: the value of KEY= in a line, empty where it is not there.
field() {
    local word
    for word in $1; do
        case $word in "$2="*) echo "${word#*=}"; return ;; esac
    done
}

# expect_field LINE KEY VALUE: KEY= must be VALUE, a glob pattern; "" means absent.
expect_field() {
    local got
    got=$(field "$1" "$2")
    # shellcheck disable=SC2053
    [[ $got = $3 ]] || fail "expected $2=$3, got $2=$got in: $1"
}
# expect_match TEXT REGEX [WHAT]
expect_match() { [[ $1 =~ $2 ]] || fail "${3:-text} does not match $2: $1"; }
expect_no_match() { ! [[ $1 =~ $2 ]] || fail "${3:-text} matches $2: $1"; }
expect_equal() { [ "$1" = "$2" ] || fail "${3:-value}: expected $2, got $1"; }
# expect_near GOT WANTED TOLERANCE [WHAT]: numbers, possibly fractions.
expect_near() {
    awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; exit !(d <= t && d >= -t && a != "") }' \
        || fail "${4:-value}: expected $2 +- $3, got $1"
}
# expect_exit CODE CMD…: CMD's output stays visible.
expect_exit() {
    local want=$1 got=0
    shift
    "$@" || got=$?
    [ "$got" -eq "$want" ] || fail "expected exit code $want, got $got: $*"
}
# json FILE EXPRESSION: a Python expression over d, the decoded file ("-" is stdin).
json() {
    /usr/bin/python3 -c 'import json, sys
d = json.load(sys.stdin if sys.argv[1] == "-" else open(sys.argv[1]))
r = eval(sys.argv[2])
print(json.dumps(r) if isinstance(r, (dict, list, bool)) else r)' "$1" "$2"
}

# lid HOST: of a host or switch, from the console.
lid() { lab sim "Dump \"$1\"" | sed -n 's/.* lid \([0-9]*\) lmc.*/\1/p' | head -n 1; }

# counter LID PORT NAME: one counter; data and packets from the 64-bit set.
counter() {
    local extended=""
    case $3 in PortXmitData | PortRcvData | PortXmitPkts | PortRcvPkts | PortUnicast*) extended=-x ;; esac
    lab fabric perfquery $extended "$1" "$2" | sed -n "s/^$3:\.*//p"
}
