# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034
# Paths, messages, and the record of what the lab started.

lab_dir=${FABRIC_CHECK_LAB:-/tmp/fabric-check-lab}
repo=$(cd "$here/../.." && pwd)
build=${FABRIC_CHECK_BUILD:-$repo/build}
base_port=${FABRIC_CHECK_LAB_PORT:-17000}
cache=${FABRIC_CHECK_LAB_CACHE:-${XDG_CACHE_HOME:-/var/tmp}/fabric-check-lab-cache-$(id -u)}
python=/usr/bin/python3
umad2sim=$(echo /usr/lib/*/umad2sim/libumad2sim.so)
node_names=(node01 node02 node03 node04 node05 node06 node07 node08 node09 node10 node11 node12)
slots=6

[ ${#lab_dir} -le 60 ] || { echo "lab: FABRIC_CHECK_LAB is too long for socket names: $lab_dir" >&2; exit 2; }
if [ -r "$lab_dir/ident" ]; then # what `up` chose wins over this shell's environment
    # shellcheck disable=SC1091
    . "$lab_dir/ident"
fi
export FABRIC_CHECK_LAB=$lab_dir FABRIC_CHECK_BUILD=$build
export SLURM_CONF=$lab_dir/slurm.conf
export PYTHONPYCACHEPREFIX=$lab_dir/pyc
export IBSIM_SOCKNAME=fclab-$base_port-${lab_dir//[^A-Za-z0-9]/-}

say() { echo "lab: $*" >&2; }
die() { say "$*"; exit "${status:-4}"; }
usage_error() { status=2 die "$*"; }
now_ms() { local t=$EPOCHREALTIME; echo $((${t/./} / 1000)); }

# start_time PID: when the process started, in clock ticks: with the pid, its identity.
start_time() {
    local stat
    { read -r stat < "/proc/$1/stat"; } 2> /dev/null || return 1
    stat=${stat##*) }
    # shellcheck disable=SC2086
    set -- $stat
    [ "$1" != Z ] && echo "${20}"
}

# launch NAME CMD…: starts a daemon that stays in the foreground, logging to log/NAME.log.
launch() {
    local name=$1 pid
    shift
    (cd "${launch_in:-$lab_dir}" && FABRIC_CHECK_LAB_PROC="$lab_id:$name" exec setsid "$@") \
        < /dev/null >> "$lab_dir/log/$name.log" 2>&1 {lock_fd}>&- &
    pid=$!
    disown "$pid"
    echo "$pid $(start_time "$pid")" > "$lab_dir/run/$name"
}

# pid_of NAME: its pid, if it still is the process that was started.
pid_of() {
    local pid started
    { read -r pid started < "$lab_dir/run/$1"; } 2> /dev/null || return 1
    [ -n "$started" ] && [ "$(start_time "$pid")" = "$started" ] && echo "$pid"
}
running() { pid_of "$1" > /dev/null; }

# stop NAME [SIGNAL] [TENTHS]: ends a recorded process, with SIGKILL after TENTHS of a second.
stop() {
    local name=$1 pid i
    if pid=$(pid_of "$name"); then
        kill -"${2:-TERM}" "$pid" 2> /dev/null || true
        for ((i = 0; i < ${3:-50} * 5; i++)); do
            running "$name" || break
            sleep 0.02
        done
        running "$name" && kill -KILL "$pid" 2> /dev/null
    fi
    rm -f "$lab_dir/run/$name"
}

# fail_with NAME MESSAGE: gives up, with the end of the daemon's log.
fail_with() {
    say "$2; the end of log/$1.log:"
    tail -n 15 "$lab_dir/log/$1.log" >&2 || true
    exit 4
}

# await SECONDS WHAT NAME CMD…: until CMD succeeds; NAME is the daemon whose log tells why not.
await() {
    local limit=$(($1 * 1000 + $(now_ms))) what=$2 name=$3
    shift 3
    until "$@" > /dev/null 2>&1; do
        running "$name" || fail_with "$name" "$name ended before $what"
        [ "$(now_ms)" -lt "$limit" ] || fail_with "$name" "waited in vain for $what"
        sleep 0.05
    done
}

# processes_of PATTERN: pids whose environment says this lab started them.
processes_of() {
    grep -lazE "^FABRIC_CHECK_LAB_PROC=$lab_id:$1\$" /proc/[0-9]*/environ 2> /dev/null | cut -d/ -f3 || true
}

# on_node NODE-PATTERN: slurmd, stepds and hooks of a node, known by their working directory: a
# stepd writes its title over its environment.
on_node() {
    find /proc/[0-9]* -maxdepth 1 -name cwd -lname "$lab_dir/slurmd/$1" 2> /dev/null | cut -d/ -f3
}

# strays: what this lab's jobs, hooks and tools left behind. Programs under `lab exec` are the
# caller's own, unless a job runs them; the caller and its parents are never among them.
strays() {
    local pid mine=" " up=$BASHPID
    while [ "${up:-0}" -gt 1 ]; do
        mine+="$up "
        up=$(ps -o ppid= -p "$up" | tr -d ' ')
    done
    for pid in $(processes_of '.*'); do
        [[ $mine = *" $pid "* ]] && continue
        ! grep -qzxF "FABRIC_CHECK_LAB_PROC=$lab_id:exec" "/proc/$pid/environ" 2> /dev/null \
            || grep -qz '^SLURM_JOB_ID=' "/proc/$pid/environ" 2> /dev/null || continue
        echo "$pid"
    done
    on_node '*'
}

# descendants PID…: these and all below them.
descendants() {
    ps -e -o pid=,ppid= | awk -v roots="$*" '
        { parent[$1] = $2 }
        END { n = split(roots, r, " "); for (i = 1; i <= n; i++) take[r[i]] = 1
              do { grew = 0; for (p in parent) if (!(p in take) && parent[p] in take) { take[p] = 1; grew = 1 } } while (grew)
              for (p in take) if (p in parent) print p }'
}

need_up() {
    [ -n "${lab_id:-}" ] || die "the lab is not up (lab up)"
}
need_root() {
    [ "$(id -u)" -eq 0 ] || die "only root can do this"
}

# node_named NODE: is it one of the Slurm nodes?
node_named() {
    [ -d "$lab_dir/nodes/$1" ] || usage_error "no such node: $1"
}
