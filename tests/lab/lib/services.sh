# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034
# Munge, MariaDB, slurmdbd, slurmctld, slurmd: configuration, start, stop.

munge_socket=$lab_dir/munge.socket

start_munge() {
    [ -s "$lab_dir/munge.key" ] || (umask 077; head -c 128 /dev/urandom > "$lab_dir/munge.key")
    launch munged munged --foreground --force --socket="$munge_socket" --key-file="$lab_dir/munge.key" \
        --pid-file="$lab_dir/run/munged.own" --log-file="$lab_dir/log/munged.own.log" \
        --seed-file="$lab_dir/run/munged.seed" --num-threads=4
    await 10 "munge's socket" munged test -S "$munge_socket"
}

# One template for each pair of programs that made it.
db_template() { echo "$cache/db-$(stat -L -c %Y-%s /usr/sbin/mariadbd /usr/sbin/slurmdbd | paste -sd-)"; }

start_db() {
    local template
    template=$(db_template)
    local options=(--no-defaults --datadir="$lab_dir/db/data" --socket="$lab_dir/db/socket" --skip-networking
        --skip-grant-tables --user=root --pid-file="$lab_dir/db/pid" --tmpdir="$lab_dir/db"
        --innodb-log-file-size=8M --innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=0
        --innodb-doublewrite=0 --skip-log-bin --performance-schema=off --innodb-lock-wait-timeout=900
        --character-set-server=utf8mb4)
    if [ ! -d "$lab_dir/db/data" ]; then
        (umask 077; mkdir -p "$lab_dir/db")
        if [ -d "$template" ]; then
            cp -a "$template" "$lab_dir/db/data"
        else
            say "initialising MariaDB (once; kept in $cache)"
            mariadb-install-db --no-defaults --datadir="$lab_dir/db/data" --user=root --skip-test-db \
                --auth-root-authentication-method=normal --innodb-log-file-size=8M \
                > "$lab_dir/log/db-install.log" 2>&1 || fail_with db-install "mariadb-install-db failed"
        fi
    fi
    launch mariadbd mariadbd "${options[@]}"
}
db_ready() { mariadb --no-defaults --socket="$lab_dir/db/socket" -e "select 1"; }

# Keeps the database, with slurmdbd's tables and the cluster in it, for later labs.
keep_db_template() {
    local template
    template=$(db_template)
    stop slurmdbd
    stop mariadbd TERM 100
    mkdir -p "$cache"
    # Another lab may have been quicker: then that one is as good.
    # shellcheck disable=SC2015
    cp -a "$lab_dir/db/data" "$template.$$" && mv -T "$template.$$" "$template" 2> /dev/null || rm -rf "$template.$$"
    start_db
    await 20 "MariaDB" mariadbd db_ready
    start_dbd
}

start_dbd() {
    MYSQL_UNIX_PORT="$lab_dir/db/socket" launch slurmdbd slurmdbd -D
    await 30 "slurmdbd's port" slurmdbd port_open $((base_port + 1))
}
start_ctld() {
    launch slurmctld slurmctld -D -f "$SLURM_CONF"
}
ctld_ready() { scontrol ping | grep -q 'is UP'; }
port_open() { (exec 3<> "/dev/tcp/$(sed -n "s/^AccountingStorageHost=//p" "$SLURM_CONF")/$1"); }

# start_slurmd NODE [OPTION…]
start_slurmd() {
    local node=$1
    shift
    mkdir -p "$lab_dir/slurmd/$node"
    launch_in=$lab_dir/slurmd/$node launch "slurmd-$node" slurmd -D -N "$node" -f "$SLURM_CONF" "$@"
}

# The loopback address this host's name has. Slurm can bind its daemons to that alone;
# where the name is no loopback name they listen everywhere, behind the private Munge key.
find_address() {
    host=$(hostname -s)
    address=$(getent ahostsv4 "$host" | { read -r a _; echo "$a"; })
    bind=NoInAddrAny,NoCtldInAddrAny
    case $address in
        127.*) ;;
        *) address=127.0.0.1 bind="" ;;
    esac
}

write_slurm_conf() {
    local i host address bind nodes=""
    find_address
    for i in "${!node_names[@]}"; do
        nodes+="NodeName=${node_names[i]} NodeHostname=$host NodeAddr=$address Port=$((base_port + 11 + i))"
        nodes+=" CPUs=8 RealMemory=2000 State=UNKNOWN"$'\n'
    done
    local plugins submit="" prolog=""
    plugins=$(dirname "$(echo /usr/lib/*/slurm-wlm/auth_munge.so)")
    if [ -e "$build/lib/job_submit_fabric_check.so" ]; then
        submit="JobSubmitPlugins=fabric_check"
        plugins+=:$build/lib
    fi
    prolog="PrologFlags=Alloc,DeferBatch
Prolog=$lab_dir/hooks/prolog
Epilog=$lab_dir/hooks/epilog
EpilogSlurmctld=$lab_dir/hooks/epilogctld"
    [ -x "$build/bin/fabric-check-prologctld" ] && prolog+=$'\n'"PrologSlurmctld=$lab_dir/hooks/prologctld"
    # For measurements: the programs themselves, with the default configuration; hooks that do nothing; or no hooks.
    case ${FABRIC_CHECK_LAB_HOOKS:-scripts} in
    programs) prolog=$(sed "s|$lab_dir/hooks/|$build/bin/fabric-check-|" <<< "$prolog") ;;
    empty) prolog=$(sed -e /PrologSlurmctld/d -e "s|$lab_dir/hooks/.*|/bin/true|" <<< "$prolog") ;;
    none) prolog="" ;;
    esac
    cat > "$SLURM_CONF" << EOF
ClusterName=lab
SlurmctldHost=$host($address)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$((base_port))
SlurmdPort=$((base_port + 10))
${bind:+CommunicationParameters=$bind}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=cred_expire=5,socket=$munge_socket
StateSaveLocation=$lab_dir/ctld
SlurmdSpoolDir=$lab_dir/slurmd/%n
SlurmctldPidFile=$lab_dir/run/slurmctld.own
SlurmdPidFile=$lab_dir/run/slurmd-%n.own
SlurmctldDebug=info
SlurmdDebug=info
LogTimeFormat=iso8601_ms
PluginDir=$plugins
PlugStackConfig=$lab_dir/plugstack.conf
$submit
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=5,bf_interval=2,bf_max_job_test=200
$prolog
PrologEpilogTimeout=30
SlurmctldTimeout=30
SlurmdTimeout=${FABRIC_CHECK_LAB_SLURMD_TIMEOUT:-30}
KillWait=2
UnkillableStepTimeout=10
CompleteWait=0
ReturnToService=2
SlurmdParameters=config_overrides
MailProg=/bin/true
JobRequeue=1
MaxArraySize=10001
MaxJobCount=20000
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=$address
AccountingStoragePort=$((base_port + 1))
AccountingStoragePass=$munge_socket
JobCompType=jobcomp/none
TreeWidth=16
$nodes
PartitionName=lab Nodes=node[01-12] Default=YES MaxTime=INFINITE OverSubscribe=NO State=UP
PartitionName=shared Nodes=node[01-12] MaxTime=INFINITE OverSubscribe=FORCE:4 State=UP
EOF
    (umask 077; cat > "$lab_dir/slurmdbd.conf" << EOF
AuthType=auth/munge
AuthInfo=socket=$munge_socket
DbdHost=$host
DbdAddr=$address
DbdPort=$((base_port + 1))
${bind:+CommunicationParameters=NoInAddrAny}
SlurmUser=root
PidFile=$lab_dir/run/slurmdbd.own
DebugLevel=info
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm_acct_db
EOF
    )
    : > "$lab_dir/plugstack.conf"
    if [ -e "$build/lib/fabric_check_spank.so" ] && [ "${FABRIC_CHECK_LAB_HOOKS:-}" != none ] && [ "${FABRIC_CHECK_LAB_HOOKS:-}" != empty ]; then
        echo "optional $build/lib/fabric_check_spank.so config=$lab_dir/fabric-check.toml step_ms=1000" > "$lab_dir/plugstack.conf"
    fi
}

# The accounting side; the cluster is already in a database from the template.
start_accounting() {
    start_db
    await 30 "MariaDB" mariadbd db_ready
    start_dbd
    if [ ! -d "$(db_template)" ]; then
        sacctmgr -i add cluster lab > "$lab_dir/log/sacctmgr.log" 2>&1 || fail_with slurmdbd "sacctmgr add cluster failed"
        sacctmgr -i add account users cluster=lab >> "$lab_dir/log/sacctmgr.log" 2>&1 || true
        sacctmgr -i add user nobody account=users >> "$lab_dir/log/sacctmgr.log" 2>&1 || true
        keep_db_template
    fi
}

nodes_idle() {
    local states
    states=$(sinfo -h -N -p lab -o %T) || return 1
    [ "$(grep -cx idle <<< "$states")" -eq ${#node_names[@]} ]
}

do_break() {
    need_up
    need_root
    case ${1:-} in
        munge) stop munged ;;
        dbd) stop slurmdbd ;;
        ctld) stop slurmctld ;;
        spool)
            mountpoint -q "$lab_dir/spool" && return
            mount --bind "$lab_dir/spool" "$lab_dir/spool" 2> /dev/null \
                || die "break spool: this machine does not permit bind mounts"
            mount -o remount,ro,bind "$lab_dir/spool" 2> /dev/null || {
                umount "$lab_dir/spool"
                die "break spool: this machine does not permit a read-only remount"
            } ;;
        *) usage_error "break munge|dbd|spool|ctld" ;;
    esac
}
# A process that has a file of the spool open keeps the mount busy: it can write again all the
# same, and the mount goes when the last such file is closed.
mend_spool() {
    mountpoint -q "$lab_dir/spool" || return 0
    mount -o remount,rw,bind "$lab_dir/spool" && umount --lazy "$lab_dir/spool"
}
do_mend() {
    need_up
    need_root
    case ${1:-} in
        munge) running munged || start_munge ;;
        dbd) running slurmdbd || start_dbd ;;
        ctld) running slurmctld || { start_ctld; await 20 "slurmctld" slurmctld ctld_ready; } ;;
        spool) mend_spool ;;
        *) usage_error "mend munge|dbd|spool|ctld" ;;
    esac
}
