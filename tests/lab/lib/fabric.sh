# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034
# ibsim, opensm, client slots, InfiniBand tools.

# ibsim takes ten clients. One is opensm's; "slots" of them are handed out here, by
# locks on files, to hooks, fabric tools and fabric-check; the rest is for what these
# start in the background and for the lab's own counter reads.
sm_host=stor08

start_ibsim() {
    local net=$1
    mkdir -p "$lab_dir/sim/scratch"
    chmod 1777 "$lab_dir/sim/scratch"
    mkfifo "$lab_dir/sim/console"
    : > "$lab_dir/sim/out"
    # The daemon holds its fifo open for reading and writing: at EOF ibsim would spin.
    # shellcheck disable=SC2016
    launch ibsim bash -c 'exec ibsim -s -N 8192 -S 2048 -P 131072 "$1" 0<> "$2" >> "$3"' \
        ibsim "$net" "$lab_dir/sim/console" "$lab_dir/sim/out"
    await 20 "ibsim" ibsim grep -qF "@$IBSIM_SOCKNAME:out9" /proc/net/unix
}

# HCAs of the net in use: the first, and whether NAME is one.
first_host() { sed -nE 's/^(Hca|Ca)[[:space:]]+[0-9]+[[:space:]]+"([^"]+)".*/\2/p' "$lab_dir/net" | head -n 1; }
has_host() { grep -Eq "^(Hca|Ca)[[:space:]].*\"$1\"" "$lab_dir/net"; }

# start_opensm [LFTS]: routes, with the table of LFTS where given.
start_opensm() {
    local routing=(-R "${FABRIC_CHECK_LAB_ROUTING:-minhop}")
    [ -n "${1:-}" ] && routing=(-R file -U "$1")
    : > "$lab_dir/log/opensm.own.log"
    echo "${1:-default}" > "$lab_dir/sim/lfts"
    mkdir -p "$lab_dir/sim/cache" "$lab_dir/sim/tmp"
    cat > "$lab_dir/sim/opensm.conf" << EOF
honor_guid2lid_file TRUE
sweep_interval 10
log_flags 0x43
force_log_flush TRUE
EOF
    has_host "$sm_host" || sm_host=$(first_host)
    # A relative ./sys-PID is made and removed in the working directory.
    # shellcheck disable=SC2016
    OSM_CACHE_DIR="$lab_dir/sim/cache" OSM_TMP_DIR="$lab_dir/sim/tmp" SIM_HOST=$sm_host \
        launch opensm bash -c 'cd "$1" && shift && LD_PRELOAD=$1 exec opensm "${@:2}"' opensm "$lab_dir/sim/scratch" \
        "$umad2sim" -F "$lab_dir/sim/opensm.conf" -f "$lab_dir/log/opensm.own.log" "${routing[@]}"
}
subnet_up() { grep -q 'SUBNET UP' "$lab_dir/log/opensm.own.log"; }
await_opensm() { await 60 "SUBNET UP" opensm subnet_up; }

# Re-routes a running fabric; "default" goes back to the routing engine.
do_lfts() {
    need_up
    [ $# -eq 1 ] || usage_error "lfts FILE|default"
    local file=""
    if [ "$1" != default ]; then
        file=$(readlink -e "$1") || usage_error "no such file: $1"
    fi
    stop opensm
    start_opensm "$file"
    await_opensm
}

# take_slot SECONDS: holds one of the slots on $slot_fd until the process, or what it execs, ends.
take_slot() {
    local i deadline=$((SECONDS + $1))
    while :; do
        for ((i = 1; i <= slots; i++)); do
            exec {slot_fd}>> "$lab_dir/sim/slots/$i"
            flock -n "$slot_fd" && return
            exec {slot_fd}>&-
        done
        [ "$SECONDS" -lt "$deadline" ] || return 1
        sleep 0.03
    done
}

# run_on HOST CMD…: CMD as an ibsim client on HOST. In this directory, so that output files land
# where they are expected, unless it is not writable.
run_on() {
    local host=$1 pid rc=0
    shift
    command -v "$1" > /dev/null || usage_error "no such command: $1"
    take_slot 60 || die "no free ibsim client in 60 s"
    [ -w . ] || cd "$lab_dir/sim/scratch" || exit
    LD_PRELOAD=$umad2sim SIM_HOST=$host FABRIC_CHECK_LAB_PROC=$lab_id:fabric "$@" <&0 &
    pid=$!
    trap 'kill -TERM $pid 2> /dev/null' TERM INT
    wait "$pid" || rc=$?
    rm -rf "./sys-$pid"
    return $rc
}
do_fabric() {
    need_up
    local host=stor01
    [ "${1:-}" = --host ] && { host=${2:?}; shift 2; }
    [ $# -gt 0 ] || usage_error "fabric [--host NAME] CMD…"
    has_host "$host" || host=$(first_host)
    run_on "$host" "$@"
}

do_sim() {
    need_up
    [ $# -gt 0 ] || usage_error "sim 'CONSOLE COMMAND'"
    "$python" "$here/lib/sim.py" "$@"
}
