#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Wrong words: each is refused with the right exit code, and says what would have been right. The
# lab's own commands likewise.
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/../lib/scenario.sh"
work=$FABRIC_CHECK_LAB/usage
mkdir -p "$work"

# refuses CODE REGEX CMD…: exits with CODE, saying REGEX on stderr, one line of it, with our name.
refuses() {
    local code=$1 wanted=$2 got=0 said
    shift 2
    said=$("$@" 2>&1 > /dev/null) || got=$?
    [ "$got" -eq "$code" ] || fail "expected exit code $code, got $got: $*: $said"
    expect_match "$said" "$wanted" "what $* says"
    expect_equal "$(wc -l <<< "$said")" 1 "lines of '$said'"
    expect_match "$said" '^(fabric-check|lab): ' "the prefix"
}
fc() { FABRIC_CHECK_LAB_NO_UMAD=1 lab exec fabric-check "$@"; }
umad() { lab exec fabric-check "$@"; }

# --- the command line
refuses 2 "no subcommand 'reprot'; valid: report, snapshot, .*; see fabric-check --help" fc reprot 1
refuses 2 "map: no subcommand 'shwo'; valid: build, import, show; see fabric-check map --help" fc map shwo
refuses 2 "map: a subcommand is missing; valid: build, import, show" fc map
refuses 2 "a subcommand is missing; valid: report" fc
refuses 2 "map show: unknown option --frob; see fabric-check map show --help" fc map show --frob
refuses 2 "report: JOBID is required; see fabric-check report --help" fc report
refuses 2 "report: --restart: 'x' is no such number; valid: 0, 1, 2 and so on; see fabric-check report --help" fc report 1 --restart x
refuses 2 "'2147483648' is no such number" fc report 1 --restart 2147483648
refuses 2 "report: unexpected '2'" fc report 1 2
refuses 2 "is no node name" fc snapshot --node ../x
refuses 2 "is no node name" fc snapshot --node $'a\nb'
expect_match "$(fc help map build)" 'Usage: fabric-check map build ' "help map build"
expect_equal "$(fc help report)" "$(fc report --help)" "help report"
expect_match "$(fc help)" 'Usage: fabric-check .*Exit codes' "help"
refuses 2 "help: fabric-check map has no subcommand 'shwo'; valid: build, import, show" fc help map shwo
pass "words that are none"

# --- inputs, outputs, the environment: 2, 4, 4
refuses 2 "none.fcm: No such file" fc map show --map "$work/none.fcm"
refuses 2 "Is a directory" fc map show --map /tmp
echo nonsense > "$work/bad.fcm"
refuses 2 "bad.fcm: not a fabric map" fc map show --map "$work/bad.fcm"
refuses 2 "none.toml" fc --config "$work/none.toml" map show
refuses 2 "none: No such file" fc snapshot --sysfs-root "$work/none"
refuses 4 "/nonexistent/" fc snapshot --node node01 --sysfs-root "$(lab node node01 path)/sys" -o /nonexistent/x
refuses 4 "/nonexistent/" umad map build -o /nonexistent/x
rm "$FABRIC_CHECK_LAB/spool/map/map.fcm"
refuses 4 "map.fcm: No such file or directory; build a map with: fabric-check map build, or map import" fc map show

# --- map import: what the fabric's own tools print is a map like the one read by MADs
refuses 2 "none: No such file" fc map import "$work/none"
refuses 2 "bad.fcm: not recognised: accepted are ibnetdiscover output" fc map import "$work/bad.fcm"
lab fabric ibnetdiscover > "$work/topology" 2> /dev/null
lab fabric dump_fts 2> /dev/null | gzip > "$work/tables.gz"
refuses 2 "no topology in .*tables.gz: add the output of ibnetdiscover" fc map import "$work/tables.gz"
refuses 2 "topology: is an input" fc map import "$work/topology" -o "$work/topology"
refuses 4 "/nonexistent/" fc map import "$work/topology" -o /nonexistent/x
refuses 2 "map import: -o - would not be standard output" fc map import "$work/topology" -o -
refuses 2 "map build: -o - would not be standard output" umad map build -o -
printf 'Unicast lids [0-1] of switch Lid 1 guid 0x2c5eab0001000000 (%s):\n0x0001 001 # \n' "'elsewhere'" > "$work/foreign"
fc map import "$work/topology" -o "$work/kept.fcm" > /dev/null || fail "map import of a topology alone"
before=$(md5sum < "$work/kept.fcm")
refuses 2 "foreign: not one forwarding table of the fabric in .*topology: these files do not belong together" \
    fc map import "$work/topology" "$work/foreign" -o "$work/kept.fcm"
expect_equal "$(md5sum < "$work/kept.fcm")" "$before" "the map that was there"
refuses 3 "kept.fcm: the map has no forwarding tables, so routes cannot be told" fc --map "$work/kept.fcm" routes --all-hosts
expect_match "$(COLUMNS=60 fc help routes | awk 'length > widest { widest = length } END { print widest }')" '^(5[0-9]|60)$' "the width of help"
sed "s|^spool = .*|spool = \"$work/nowhere\"|" "$FABRIC_CHECK_LAB/fabric-check.toml" > "$work/nowhere.toml"
refuses 4 "nowhere: No such file or directory .the spool: is its file system mounted" \
    fc --config "$work/nowhere.toml" map import "$work/topology"
got=0
said=$(fc --config "$work/nowhere.toml" map import "$work/none" 2>&1) || got=$?
expect_equal "$got" 2 "the exit code of a file and a spool that are not there"
expect_match "$(sed -n 1p <<< "$said")" 'none: No such file or directory$' "the file, before"
expect_match "$(sed -n 2p <<< "$said")" 'nowhere: No such file or directory .the spool' "the spool"
fc map import "$work/tables.gz" - -o "$work/imported.fcm" < "$work/topology" > /dev/null || fail "map import"
umad map build -o "$work/built.fcm" > /dev/null || fail "map build -o"
fc --json --map "$work/imported.fcm" map show > "$work/imported.json"
fc --json --map "$work/built.fcm" map show > "$work/built.json"
expect_match "$(fc map show --hosts --map "$work/imported.fcm")" 'node01 +[^ ]+:1 +LID [0-9]+ +Switch[A-Z]:[0-9]+ +4x' "its hosts"
what='[d["switches"], d["hosts"], d["others"], d["links"]]'
expect_equal "$(json "$work/imported.json" "$what")" "$(json "$work/built.json" "$what")" "the imported map and the built one"
fc map import "$work/topology" "$work/tables.gz" > /dev/null || fail "map import into the spool"
expect_equal "$(fc --json map show | json - "$what")" "$(json "$work/built.json" "$what")" "the map in the spool"
rm "$FABRIC_CHECK_LAB/spool/map/map.fcm"
pass "maps of files"

# --- map build: no spool, no umad, no right to write: nothing is made
sed "s|^spool = .*|spool = \"$work/away\"|" "$FABRIC_CHECK_LAB/fabric-check.toml" > "$work/away.toml"
refuses 4 "away: No such file or directory .the spool: is its file system mounted" umad --config "$work/away.toml" map build
[ ! -e "$work/away" ] || fail "map build made the spool"
mkdir "$work/away"
refuses 4 "umad" fc --config "$work/away.toml" map build
expect_equal "$(ls "$work/away")" "" "what map build without umad left"
chown 65534 "$work/away"
umad --config "$work/away.toml" map build > /dev/null || fail "map build into a new spool"
expect_equal "$(stat -c '%n %u' "$work"/away/map "$work"/away/map/build.lock | sed 's|.*/||' | paste -sd ' ')" \
    "map 65534 build.lock 65534" "owners of what root made in the spool of another"
umad map build > /dev/null || fail "map build"
refuses 4 "build.lock: Permission denied; building the spool's map needs write access" setpriv --reuid 65534 --clear-groups \
    "$lab_tests/lab" exec fabric-check map build
pass "exit codes"

# --- the four programs that Slurm runs
for name in prolog epilog epilogctld finisher; do
    expect_match "$(env -u SLURM_CONF "$FABRIC_CHECK_BUILD/bin/fabric-check-$name" --help)" "usage: fabric-check-$name" "--help"
    expect_match "$(env -u SLURM_CONF "$FABRIC_CHECK_BUILD/bin/fabric-check-$name" --version)" "^fabric-check-$name [0-9.]+\$" "--version"
done

# --- sbatch
refuses_mode() { lab exec sbatch "$@" --wrap true 2>&1 && fail "sbatch $* was taken"; }
expect_match "$(refuses_mode --fabric-check=)" 'unknown mode "" for --fabric-check \(valid: report | step | report,step | off\)' "sbatch --fabric-check="
job=$(submit -N1 --fabric-check --wrap 'srun --fabric-check true') || exit
expect_equal "$(wait_job "$job")" COMPLETED "a job with --fabric-check"
printf '#!/bin/sh\n#SBATCH --fabric-check\nsrun true\n' > "$work/script"
job=$(submit -N1 "$work/script") || exit
expect_equal "$(wait_job "$job")" COMPLETED "a job with #SBATCH --fabric-check"
pass "modes"

# --- reports of an array asked for by its number
job=$(submit -a 1-3 -N1 --fabric-check --wrap true)
wait_job "$job" > /dev/null
for task in 1 2 3; do line_of "${job}_$task" > /dev/null; done
expect_match "$(fc report "$job" 2>&1 > /dev/null)" \
    "job $job is an array; this is the report of ${job}_. alone, the others are: fabric-check report ${job}_., ${job}_." "the hint"
expect_equal "$(fc report "${job}_1" 2>&1 > /dev/null)" "" "a hint for one task"
pass "the other parts of a job are named"

# --- the lab itself
refuses 2 "no counter SymbolErrorCounter; the closest is symbol_error" lab node node01 set mlx5_0/1 SymbolErrorCounter=+5
refuses 2 "no counter packet_seq; the closest is packet_seq_err" lab node node01 get mlx5_0/1 packet_seq
refuses 2 "symbol_error: 'many' is no number" lab node node01 set mlx5_0/1 packet_seq_err=4711 symbol_error=many
[ "$(lab node node01 get mlx5_0/1 packet_seq_err)" != 4711 ] || fail "half of a refused set was done"
refuses 2 "has no port mlx5_9/1; valid: mlx5_0/1" lab node node01 set mlx5_9/1 symbol_error=1
lab node node01 unset mlx5_0/1 symbol_error
refuses 2 "was removed, nothing to add to" lab node node01 set mlx5_0/1 symbol_error=+1
lab node node01 set mlx5_0/1 symbol_error=08 || fail "set"
lab node node01 set mlx5_0/1 symbol_error=+1 || fail "add to 08"
expect_equal "$(lab node node01 get mlx5_0/1 symbol_error)" 9 "08 and 1"
refuses 2 "key 'hooks.budget': not known; valid: budget_ms" lab config hooks.budget=5
refuses 2 "key 'scouts': 17 is out of range" lab config scouts=17
expect_no_match "$(lab config)" 'budget =|scouts = 17' "the configuration"
lab config hooks.budget_ms=3000 || fail "a key that is right"
refuses 2 "unknown command 'ud'" lab ud
for what in "lab --help" "lab node --help" "demo --help" "run-scenarios --help" "../run --help"; do
    # shellcheck disable=SC2086
    text=$("$lab_tests"/$what) || fail "$what: exit code $?"
    expect_match "$text" '(usage: lab|tests/|run-scenarios )' "$what"
done
"$lab_tests/demo" > "$work/demo" 2>&1 && fail "the demo ran in a lab that is up"
expect_match "$(cat "$work/demo")" "^demo: a lab is up in $FABRIC_CHECK_LAB" "the demo"
FABRIC_CHECK_LAB=$work/none "$lab_tests/lab" down 2> "$work/down" || fail "down without a lab: exit code $?"
expect_match "$(cat "$work/down")" "^lab: no lab is up in $work/none" "down"
[ ! -e "$work/none" ] || fail "down made a directory"
pass "the lab refuses what is not there"
