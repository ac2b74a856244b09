# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034
# Writes the small scripts between Slurm, or the caller, and the built programs.

write_hooks() {
    local name
    mkdir -p "$lab_dir/hooks" "$lab_dir/libexec" "$lab_dir/bin" "$lab_dir/sim/slots"
    for ((name = 1; name <= slots; name++)); do
        : > "$lab_dir/sim/slots/$name"
        chmod 666 "$lab_dir/sim/slots/$name" # fabric-check is for ordinary users, too
    done
    for name in prolog epilog; do
        node_hook "$name" > "$lab_dir/hooks/$name"
    done
    for name in prologctld epilogctld; do
        controller_hook "$name" > "$lab_dir/hooks/$name"
    done
    scout_script > "$lab_dir/libexec/fabric-check-scout"
    client_script > "$lab_dir/bin/fabric-check"
    munge_script munge > "$lab_dir/bin/munge"
    munge_script unmunge > "$lab_dir/bin/unmunge"
    for name in srun sbatch salloc; do
        slurm_script $name > "$lab_dir/bin/$name"
    done
    ln -sf "$here/lab" "$lab_dir/bin/lab"
    chmod 755 "$lab_dir"/hooks/* "$lab_dir"/libexec/* "$lab_dir"/bin/*
}

node_hook() {
    cat << EOF
#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
lab=$lab_dir
hook=$build/bin/fabric-check-$1
export FABRIC_CHECK_CONFIG=$lab_dir/fabric-check.toml IBSIM_SOCKNAME=$IBSIM_SOCKNAME
export FABRIC_CHECK_LAB_PROC=$lab_id:hook
EOF
    cat << 'EOF'
cd "$lab/sim/scratch" || exit 0
# A node may have a configuration of its own: one whose munged is away, say. Links are not followed: one may hang.
own=$lab/nodes/$SLURMD_NODENAME/fabric-check.toml
if [ -L "$own" ] || [ -e "$own" ]; then FABRIC_CHECK_CONFIG=$own; fi
[ -x "$hook" ] && exec "$hook" 2>> "$lab/log/hooks.log"
echo "$SLURMD_NODENAME job $SLURM_JOB_ID: no ${hook##*/}" >> "$lab/log/hooks.log"
exit 0
EOF
}

# Only the scout sends MADs: only it gets the preload, and a client of ibsim with it. The lock on the slot lives as long as
# the descriptor that it inherits. What it waits for one is taken off the scout's time. On a host that is no node it is a
# client on stor03.
scout_script() {
    cat << EOF
#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
lab=$lab_dir
scout=$build/bin/fabric-check-scout
umad=$umad2sim
export FABRIC_CHECK_CONFIG=\${FABRIC_CHECK_CONFIG:-$lab_dir/fabric-check.toml} IBSIM_SOCKNAME=$IBSIM_SOCKNAME
export FABRIC_CHECK_LAB_PROC=$lab_id:hook
EOF
    cat << 'EOF'
cd "$lab/sim/scratch" || exit 1
host=stor03
[ ! -d "$lab/nodes/$2/sys" ] || host=$2
if ! [ -e "$lab/nodes/$host/no-umad" ]; then
    take_slot() {
        local slot
        for slot in "$lab"/sim/slots/[1-9]; do
            exec 9> "$slot"
            /usr/bin/flock -n 9 && return
        done
        exec 9>&-
        return 1
    }
    began=${EPOCHREALTIME/./} waited=0 taken=
    until take_slot && taken=1 || [ "$waited" -ge $((${3:-2000} / 2)) ]; do
        /bin/sleep 0.1
        waited=$(((${EPOCHREALTIME/./} - began) / 1000))
    done
    [ $# -lt 3 ] || set -- "$1" "$2" $(($3 - waited))
    [ -z "$taken" ] || LD_PRELOAD=$umad SIM_HOST=$host exec "$scout" "$@" 2>> "$lab/log/hooks.log"
    echo "$host job $SLURM_JOB_ID: no free ibsim client, going on without" >> "$lab/log/hooks.log"
fi
exec "$scout" "$@" 2>> "$lab/log/hooks.log"
EOF
}

controller_hook() {
    cat << EOF
#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
hook=$build/bin/fabric-check-$1
export FABRIC_CHECK_CONFIG=$lab_dir/fabric-check.toml SLURM_CONF=$SLURM_CONF IBSIM_SOCKNAME=$IBSIM_SOCKNAME
export FABRIC_CHECK_LAB_PROC=$lab_id:hook
cd $lab_dir/sim/scratch || exit 0
[ -x "\$hook" ] && exec "\$hook" 2>> $lab_dir/log/hooks.log
echo "job \$SLURM_JOB_ID: no \${hook##*/}" >> $lab_dir/log/hooks.log
exit 0
EOF
}

# fabric-check itself, as a client on a storage server: the preload reaches only this program.
client_script() {
    cat << EOF
#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
export FABRIC_CHECK_LAB=$lab_dir
[ -x $build/bin/fabric-check ] || { echo "lab: $build/bin/fabric-check is not built" >&2; exit 127; }
[ -n "\$FABRIC_CHECK_LAB_NO_UMAD" ] && exec $build/bin/fabric-check "\$@"
exec $here/lab fabric --host "\${SIM_HOST:-stor02}" $build/bin/fabric-check "\$@"
EOF
}
# What fabric-check submits is not to inherit its preload.
slurm_script() {
    cat << EOF
#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
unset LD_PRELOAD SIM_HOST
exec $(command -v "$1") "\$@"
EOF
}
munge_script() {
    cat << EOF
#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
exec $(command -v "$1") -S $munge_socket "\$@"
EOF
}

write_config_base() {
    cat > "$lab_dir/config.base" << EOF
spool = "$lab_dir/spool"
state = "$lab_dir/state"
sysfs_root = "$lab_dir/nodes/%n/sys"
proc_root = "$lab_dir/nodes/%n/proc"
node_state = "$lab_dir/nodes/%n/state"
log_file = "$lab_dir/log/fabric-check.log"
libexec = "$lab_dir/libexec"
# ibsim's switches have no adaptive routing, and leave the question without an answer.
adaptive_routing = "off"
${1:+services = \"$1\"}

[slurm]
conf = "$SLURM_CONF"

[munge]
socket = "$munge_socket"
address_policy = "warn"

# Twelve nodes' hooks, and all else, share this machine's processors: the default is for nodes with their own.
[hooks]
budget_ms = 5000
EOF
}
do_config() {
    need_up
    FABRIC_CHECK_BUILD=$build "$python" "$here/lib/config.py" "$@"
}
