#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# 2,048 hosts routed by three engines, on an ibsim of this scenario's own: the map read live and the map imported from files
# say the same, and the link loads are those of a walk of every pair.
. "$(dirname "$0")/../lib/scenario.sh"
work=$FABRIC_CHECK_LAB/engines
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit
python3 "$lab_tests/lib/fat_tree.py" 64 32 32 > net
export IBSIM_SOCKNAME=engines-$$
mkfifo console
exec 7<> console
ibsim -s -N 8192 -S 2048 -P 131072 net < console > sim.out 2>&1 &
sim=$!
trap 'kill $sim; wait $sim 2> /dev/null' EXIT
for ((i = 0; i < 200; i++)); do
    grep -qF "@$IBSIM_SOCKNAME:out9" /proc/net/unix && break
    sleep 0.1
done
preload=$(find /usr/lib -name libumad2sim.so -print -quit)
: > config
fc() { "${FABRIC_CHECK_BUILD:-$lab_tests/../../build}/bin/fabric-check" --config "$work/config" "$@"; }
sim_run() { LD_PRELOAD=$preload SIM_HOST=node0001 "$@"; }

for engine in minhop updn ftree; do
    rm -rf cache && mkdir cache
    OSM_CACHE_DIR=$work/cache OSM_TMP_DIR=$work/cache sim_run timeout 120 opensm -o -R "$engine" -D 0x43 -f "$work/cache/log" > opensm.out 2>&1 \
        || fail "opensm -R $engine: $(tail -n 3 opensm.out)"
    grep -q "$engine tables configured" cache/log || fail "$engine was not what routed"
    dump=$work/cache/opensm-lfts.dump
    sim_run ibnetdiscover > topology 2> /dev/null || fail "ibnetdiscover"
    sim_run fc map build -o live.fcm --json > live.map || fail "map build"
    fc map import topology "$dump" -o files.fcm --json > files.map || fail "map import"
    counts='[d["switches"], d["leaves"], d["hosts"], d["links"], [p for p in d["problems"] if p["where"] != "subnet manager"]]'
    expect_equal "$(json live.map "$counts")" '[96, 64, 2048, {"hosts": 2048, "others": 0, "switches": 2048}, []]' "$engine: the live map"
    expect_equal "$(json files.map "$counts")" "$(json live.map "$counts")" "$engine: the imported map"
    # What an engine does is not judged here.
    fc routes --map live.fcm --all-hosts --versus-lfts "$dump" --json > live.json || [ $? -eq 1 ] || fail "routes"
    fc routes --map files.fcm --all-hosts --json > files.json || [ $? -eq 1 ] || fail "routes"
    expect_equal "$(json live.json 'd["versus"][0]["differing_entries"]')" 0 "$engine: entries that differ"
    expect_equal "$(json live.json 'd["unreachable"]')" '[]' "$engine: unreachable"
    what='[sorted(d["groups"], key=lambda g: (g["switch_guid"], str(g["ports"]))), d["imbalance"], d["worst"], d["shapes"], d["effective_bisection"]]'
    expect_equal "$(json live.json "$what" | md5sum)" "$(json files.json "$what" | md5sum)" "$engine: routes by both maps"
    walked=$(python3 "$lab_tests/lib/walk_dump.py" topology "$dump" live.json) || fail "$engine: link loads differ from a walk of every pair: $walked"
    pass "$engine: $walked (links that carry, flows on the busiest), imbalance $(json live.json 'd["imbalance"]'), effective bisection $(json live.json 'd["effective_bisection"]["mean"]')"
done
