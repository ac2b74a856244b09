# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034
# What can be done to one node: its counters, and its death and return.

# counter_file DEVICE/PORT COUNTER [new]: its file; with "new", also where one was that is removed.
counter_file() {
    local at=$lab_dir/nodes/$node/sys/class/infiniband/${1%/*}/ports/${1##*/} place
    [[ $1 = */* && $1 != *..* && -d $at ]] || usage_error "node $node has no port $1; valid: $(ports_of_node)"
    if [[ $2 = */* || $2 = .* || -z $2 ]]; then
        usage_error "'$2' is no counter"
    elif [ -e "$at/counters/$2" ]; then
        echo "$at/counters/$2"
    elif [ -e "$at/hw_counters/$2" ]; then
        echo "$at/hw_counters/$2"
    elif [[ $2 =~ ^[a-z0-9_]+$ ]] && grep -qs "^ *$2: " "${at%/ports/*}"/device/net/*/ethtool_stats; then
        echo "$(echo "${at%/ports/*}"/device/net/*/ethtool_stats)#$2"
    else
        place=$("$python" "$here/lib/nodes.py" --place "$2") || exit 2
        [ "${3:-}" = new ] || usage_error "node $node: $1 has no counter $2 now: it was removed"
        echo "$at/$place"
    fi
}
ports_of_node() {
    local port device
    for port in "$lab_dir/nodes/$node"/sys/class/infiniband/*/ports/*; do
        device=${port%/ports/*}
        [ ! -d "$port" ] || echo "${device##*/}/${port##*/}"
    done | paste -sd ' '
}

# A file that holds one counter, or a line of the many in ethtool_stats: FILE#COUNTER.
counter_get() {
    case $1 in
        *'#'*) sed -n "s/^ *${1##*#}: //p" "${1%#*}" ;;
        *) cat "$1" ;;
    esac
}
# counter_put FILE VALUE; an empty value removes the counter.
counter_put() {
    [[ -n $2 || $1 = *'#'* ]] || { rm -f "$1"; return; }
    case $1 in
        *'#'*) if [ -n "$2" ]; then sed "s/^\( *${1##*#}:\) .*/\1 $2/" "${1%#*}"
            else sed "/^ *${1##*#}: /d" "${1%#*}"; fi ;;
        *) echo "$2" ;;
    esac > "$lab_dir/nodes/$node/.new" && mv "$lab_dir/nodes/$node/.new" "${1%#*}"
}

# node_set DEVICE/PORT COUNTER=VALUE…: all of them, or, when one is refused, none.
node_set() {
    local port=$1 pair key value file files=()
    shift
    for pair in "$@"; do
        [[ $pair = *=* ]] || usage_error "not COUNTER=VALUE: $pair"
        key=${pair%%=*} value=${pair#*=}
        file=$(counter_file "$port" "$key" new) || exit
        [[ $value =~ ^\+?[0-9]*$ && $value != + ]] \
            || usage_error "$key: '$value' is no number; valid: 12, +12 to add, or nothing to remove the file"
        [[ $value != +* || -e ${file%#*} ]] || usage_error "$key was removed, nothing to add to; give it a value"
        files+=("$file")
    done
    for pair in "$@"; do
        value=${pair#*=} file=${files[0]}
        files=("${files[@]:1}")
        (
            exec 8>> "$lab_dir/sim/lock"
            flock 8
            [[ $value = +* ]] && value=$((10#$(counter_get "$file") + 10#${value#+}))
            counter_put "$file" "$value"
        )
    done
}

# Everything that runs on the node: slurmd, its stepds, hooks and tasks.
node_kill() {
    local pid pids
    need_root
    pid=$(pid_of "slurmd-$node") || pid=""
    pids="$(processes_of "slurmd-$node") $(on_node "$node")"
    # First stop them all, so that none reports the death of another.
    # shellcheck disable=SC2086
    pids=$(descendants $pid $pids)
    # shellcheck disable=SC2086,SC2046
    [ -z "$pids" ] || { kill -STOP $pids; kill -KILL $(descendants $pids); } 2> /dev/null || true
    rm -f "$lab_dir/run/slurmd-$node"
}
node_start() {
    need_root
    running "slurmd-$node" && return
    start_slurmd "$node" "$@"
    await 10 "$node" "slurmd-$node" port_open "$(sed -n "s/^NodeName=$node .* Port=\([0-9]*\) .*/\1/p" "$SLURM_CONF")"
}
# A real reboot takes longer than SlurmdTimeout: slurmctld is told at once what it would find out.
node_reboot() {
    local alive=0 file=$lab_dir/nodes/$node/proc/sys/kernel/random/boot_id
    running "slurmd-$node" && alive=1
    node_kill
    scontrol update "nodename=$node" state=down reason="lab: reboots" 2> /dev/null
    cat /proc/sys/kernel/random/uuid > "$file.new" && mv "$file.new" "$file"
    if [ "$alive" = 1 ]; then # a dead one's link is down already
        [ ! -d "$lab_dir/nodes/$node/sys/class/infiniband" ] || node_set mlx5_0/1 link_downed=+1
        "$python" "$here/lib/traffic.py" --link-downed "$node"
    fi
    node_start -b
}

do_node() {
    need_up
    local node=${1:-} what=${2:-}
    [ $# -ge 2 ] || usage_error "node NODE set|unset|get|cards|kill|start|reboot|path …"
    node_named "$node"
    shift 2
    case $what in
        set) [ $# -ge 2 ] || usage_error "node NODE set DEVICE/PORT COUNTER=VALUE…"; node_set "$@" ;;
        unset) [[ $# -eq 2 && $2 != *=* ]] || usage_error "node NODE unset DEVICE/PORT COUNTER"; node_set "$1" "$2=" ;;
        get) [ $# -eq 2 ] || usage_error "node NODE get DEVICE/PORT COUNTER"
            local file
            file=$(counter_file "$1" "$2") || exit
            counter_get "$file" ;;
        cards) [ $# -eq 1 ] || usage_error "node NODE cards ib|roce|mixed"
            "$python" "$here/lib/nodes.py" --cards "$1" "$node" || exit 2 ;;
        kill) node_kill; "$python" "$here/lib/traffic.py" --link-downed "$node" ;; # a dead host's link goes down
        start | reboot) "node_$what" ;;
        path) echo "$lab_dir/nodes/$node" ;;
        *) usage_error "node NODE: unknown command $what; valid: set, unset, get, cards, kill, start, reboot, path" ;;
    esac
}
