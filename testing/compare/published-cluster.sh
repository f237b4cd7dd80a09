#!/usr/bin/env bash
# The published cluster on this machine: two NameNodes, one JournalNode and three DataNodes, each in a network namespace of its own
# with 512 MB and one core; TestDFSIO's ten writers and ten readers in a seventh. Needs root (ip netns, cgroups), iproute2, and
# ZEROHOP_BIN or target/release/zerohop. FILES=10, SIZE=1GB, REPLICATION=3: the blocks take FILES x SIZE x REPLICATION below WORK
# (a directory of /tmp). Prints what TestDFSIO prints, and each role's peak memory; ends with 0 if nothing was killed for memory.
set -euo pipefail
cd "$(dirname "$0")/../.."
zerohop=$(realpath "${ZEROHOP_BIN:-${CARGO_TARGET_DIR:-target}/release/zerohop}")
files=${FILES:-10} size=${SIZE:-1GB} replication=${REPLICATION:-3}
work=$(mktemp -d "${WORK:-/tmp}/zerohop-published.XXXXXX")
id=zh$$
net=10.213.7
# Host numbers of the roles.
roles="nn1:1 nn2:2 jn1:3 dn1:4 dn2:5 dn3:6"
declare -A pid cgroup

[ "$(id -u)" = 0 ] || { echo "published-cluster: needs root: network namespaces and cgroups"; exit 1; }

stop() {
  local role
  for role in "${!pid[@]}"; do kill "${pid[$role]}" 2>/dev/null || true; done
  for role in "${!pid[@]}"; do wait "${pid[$role]}" 2>/dev/null || true; done
  for role in nn1 nn2 jn1 dn1 dn2 dn3 client; do ip netns del "$id-$role" 2>/dev/null || true; done
  ip link del "$id" 2>/dev/null || true
  for directory in "${cgroup[@]}"; do rmdir "$directory" 2>/dev/null || true; done
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM

# A namespace NAME with the address of host N.
namespace() {
  ip netns add "$id-$1"
  ip link add "$id$2" type veth peer name eth0 netns "$id-$1"
  ip link set "$id$2" master "$id" up
  ip -n "$id-$1" addr add "$net.$2/24" dev eth0
  ip -n "$id-$1" link set eth0 up
  ip -n "$id-$1" link set lo up
}

# Groups of a role with 512 MB and one core: version 2, or version 1 with its controllers apart.
limit() {
  local of=$1
  if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
    mkdir "/sys/fs/cgroup/$id-$of"
    echo 512M >"/sys/fs/cgroup/$id-$of/memory.max"
    echo "100000 100000" >"/sys/fs/cgroup/$id-$of/cpu.max"
    cgroup[$of]=/sys/fs/cgroup/$id-$of
  else
    mkdir "/sys/fs/cgroup/memory/$id-$of" "/sys/fs/cgroup/cpu/$id-$of"
    echo 512M >"/sys/fs/cgroup/memory/$id-$of/memory.limit_in_bytes"
    echo 100000 >"/sys/fs/cgroup/cpu/$id-$of/cpu.cfs_period_us"
    echo 100000 >"/sys/fs/cgroup/cpu/$id-$of/cpu.cfs_quota_us"
    cgroup[$of]=/sys/fs/cgroup/memory/$id-$of
    cgroup[$of-cpu]=/sys/fs/cgroup/cpu/$id-$of
  fi
}

# run ROLE HOST VERB: a daemon in its namespace and groups.
run() {
  local of=$1 host=$2 verb=$3 groups=${cgroup[$1]}/cgroup.procs
  [ -z "${cgroup[$of-cpu]:-}" ] || groups="$groups ${cgroup[$of-cpu]}/cgroup.procs"
  # shellcheck disable=SC2016
  bash -c 'for group in $1; do echo $$ >"$group"; done; exec ip netns exec "$2" "$3" "$4" --config "$5"' \
    - "$groups" "$id-$of" "$zerohop" "$verb" "$work/conf/$net.$host" >"$work/$of.log" 2>&1 &
  pid[$of]=$!
}

in_client() { ip netns exec "$id-client" "$zerohop" --config "$client" "$@"; }

# until WHAT COMMAND...: waits until a command succeeds.
until_ok() {
  local what=$1 end=$((SECONDS + 120))
  shift
  until "$@" >"$work/last.log" 2>&1; do
    [ "$SECONDS" -lt "$end" ] || { echo "published-cluster: not within 120 s: $what"; tail -n 5 "$work"/*.log; exit 1; }
    sleep 0.2
  done
}

ip link add "$id" type bridge
ip link set "$id" up
for role in $roles client:7; do namespace "${role%:*}" "${role#*:}"; done
for role in $roles; do limit "${role%:*}"; done
"$zerohop" init-ha --namenodes $net.1,$net.2 --journalnodes $net.3 --datanodes $net.4,$net.5,$net.6 \
  --data "$work/data" --output "$work/conf" >/dev/null
for host in 1 2 3 4 5 6; do
  mkdir -p "$work/data/$host"
  sed -i "s|$work/data|$work/data/$host|g" "$work/conf/$net.$host/hdfs-site.xml"
done
client=$work/conf/client
# These addresses have no names.
more="<property><name>dfs.namenode.datanode.registration.ip-hostname-check</name><value>false</value></property>"
more="$more<property><name>dfs.replication</name><value>$replication</value></property>"
sed -i "s|</configuration>|$more</configuration>|" "$work"/conf/*/hdfs-site.xml

run jn1 3 journalnode
until_ok "the JournalNode listens" ip netns exec "$id-client" bash -c "exec 3<>/dev/tcp/$net.3/8485"
ip netns exec "$id-nn1" "$zerohop" namenode -format -nonInteractive --config "$work/conf/$net.1" >"$work/format.log" 2>&1
run nn1 1 namenode
until_ok "nn1 listens" ip netns exec "$id-client" bash -c "exec 3<>/dev/tcp/$net.1/8020"
ip netns exec "$id-nn2" "$zerohop" namenode -bootstrapStandby -nonInteractive --config "$work/conf/$net.2" >"$work/bootstrap.log" 2>&1
run nn2 2 namenode
until_ok "nn2 listens" ip netns exec "$id-client" bash -c "exec 3<>/dev/tcp/$net.2/8020"
until_ok "nn1 is active" in_client haadmin -transitionToActive nn1
for dn in 1 2 3; do run "dn$dn" $((dn + 3)) datanode; done
three_live() { [[ $(in_client dfsadmin -report -live) == *"Live datanodes (3)"* ]]; }
until_ok "three DataNodes are live" three_live

cd "$work"
for test in -write -read; do
  in_client bench dfsio $test -nrFiles "$files" -size "$size" -resFile "$work/results.log"
done
in_client haadmin -failover nn1 nn2
in_client fs -ls / >/dev/null

echo "role: peak resident memory, peak of its group with page cache, MiB"
for role in $roles; do
  of=${role%:*}
  kill -0 "${pid[$of]}" || { echo "$of has ended:"; tail -n 20 "$work/$of.log"; exit 1; }
  resident=$(sed -n 's/^VmHWM:[ \t]*\([0-9]*\) kB/\1/p' "/proc/${pid[$of]}/status")
  peak=$(cat "${cgroup[$of]}/memory.peak" 2>/dev/null || cat "${cgroup[$of]}/memory.max_usage_in_bytes" 2>/dev/null || echo 0)
  echo "$of: $((resident / 1024)), $((peak / 1048576))"
done
