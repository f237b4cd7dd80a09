#!/usr/bin/env bash
# The fault campaign: from SEED on, for MINUTES. Half of the time goes to crashes of a simulated
# NameNode at every point of its writes, to a simulated block manager with its DataNodes, and to histories
# of writers to JournalNodes whose calls fail; the other half to schedules of faults on real processes. Says what was tried; fails at the first broken promise
# and names its seed, with which the same schedule comes first again. docs/reliability.md lists the
# promises.
set -u
cd "$(dirname "$0")/.."

minutes=${MINUTES:-10}
seed=${SEED:-$(($(date +%s) % 1000000 + 1))}
# A schedule on real processes: seconds of faults, and how many follow each other in a cluster.
seconds_each=${SECONDS_EACH:-4}
batch=${BATCH:-8}
logs=${CARGO_TARGET_DIR:-target}/fault-logs
mkdir -p "$logs"
echo "faults: seed $seed, $minutes minutes"

echo "== build"
testing/ensure-tools.sh || exit 1
# program ARGUMENTS...: builds a test program and names it.
program() {
  cargo test --profile fast "$@" --no-run 2>"$logs/build.log" || { cat "$logs/build.log" >&2; return 1; }
  sed -n 's/^ *Executable .*(\(.*\))$/\1/p' "$logs/build.log"
}
cargo build -q --profile fast -p zerohop-cli -p zerohop-simulation || exit 1
campaign=$(program -p zerohop-interop --test campaign) || exit 1
namespace=$(program -p zerohop-namespace --lib) || exit 1
journal_nodes=$(program -p zerohop-journalnode --test quorum) || exit 1

echo "== a minute of profiles under the heaviest load"
profiles=$(program -p zerohop-profile --test live) || exit 1
ZEROHOP_PROFILE_SECONDS=60 timeout 300 "$profiles" the_heaviest_load >"$logs/profiles.log" 2>&1
if [ $? != 0 ]; then
  tail -n 60 "$logs/profiles.log"
  exit 1
fi

echo "== crash histories"
half=$(awk "BEGIN { print $minutes * 0.4 }")
"${CARGO_TARGET_DIR:-target}/fast/zerohop-simulation" --seed "$seed" --minutes "$half" || exit 1

echo "== simulated schedules of the block manager"
simulated=$(awk "BEGIN { n = int($minutes * 200); print (n < 200 ? 200 : n) }")
ZEROHOP_SCHEDULES="$seed..$((seed + simulated))" "$namespace" \
  every_block_keeps_and_gets_its_replicas >"$logs/simulated.log" 2>&1
if [ $? != 0 ]; then
  tail -n 60 "$logs/simulated.log"
  exit 1
fi
echo "seeds $seed to $((seed + simulated - 1)): $simulated schedules with one NameNode and with a pair; no broken promise"

echo "== histories of writers to JournalNodes"
histories=$(awk "BEGIN { n = int($minutes * 100); print (n < 200 ? 200 : n) }")
if ! ZEROHOP_HISTORIES="$seed..$((seed + histories))" "$journal_nodes" histories >"$logs/histories.log" 2>&1; then
  grep -v WARN "$logs/histories.log" | tail -n 60
  exit 1
fi
echo "each call of a history failed once; seeds $seed to $((seed + histories - 1)): $histories histories; no broken promise"

echo "== schedules of faults on real processes"
# In a mount namespace of its own volumes can be full and read-only; without that they are not.
wrap=()
if unshare --mount --propagation private true 2>/dev/null; then
  wrap=(unshare --mount --propagation private env ZEROHOP_CAMPAIGN_MOUNTS=1)
else
  echo "no mount namespace here: volumes are neither full nor read-only"
fi

# run TEST SEED COUNT SECONDS: schedules in one cluster.
run() {
  local log="$logs/schedules-$2.log"
  ZEROHOP_CAMPAIGN_SEED=$2 ZEROHOP_CAMPAIGN_SCHEDULES=$3 ZEROHOP_CAMPAIGN_SECONDS=$4 \
    ${wrap[@]+"${wrap[@]}"} "$campaign" --nocapture --exact "$1" >"$log" 2>&1 </dev/null
  local code=$?
  if [ $code != 0 ]; then
    tail -n 80 "$log"
    echo "a broken promise, or a machine that was too slow; SEED=$(sed -n 's/^seed \([0-9]*\) begins$/\1/p' "$log" | tail -n 1) repeats it; logs: $log and ${CARGO_TARGET_DIR:-target}/interop/run"
    exit 1
  fi
  grep '^seeds ' "$log"
}

# A row of the matrix of pairs by the seed: the script runs while the active NameNode changes five times.
pairs=$(program -p zerohop-interop --test journal_nodes) || exit 1
rows=(apaches_namenodes_fail_over_on_our_journal_nodes apaches_namenodes_fail_over_on_journal_nodes_of_both_kinds
  our_namenodes_fail_over_on_apaches_journal_nodes our_namenodes_fail_over_on_our_journal_nodes
  our_namenodes_fail_over_on_journal_nodes_of_both_kinds
  apaches_standby_of_our_namenode_takes_over_and_gives_back our_standby_of_apaches_namenode_takes_over_and_gives_back)
row=${rows[$((seed % ${#rows[@]}))]}
if ! ZEROHOP_FAILOVER_SCRIPT=1 timeout 900 "$pairs" --nocapture --exact "$row" >"$logs/pairs.log" 2>&1 </dev/null; then
  grep -v INFO "$logs/pairs.log" | tail -n 60
  exit 1
fi
echo "$row: the script passes over five failovers"

end=$(($(date +%s) + $(awk "BEGIN { print int($minutes * 30) }")))
schedules=0
batches=0
while [ "$schedules" = 0 ] || [ "$(date +%s)" -lt "$end" ]; do
  if [ $((batches % 5)) = 2 ]; then
    # A pair of NameNodes: three faults a schedule, all kinds in six.
    run on_pair::what_was_acknowledged_outlives_random_faults_of_a_pair $((seed + schedules)) 6 0
    schedules=$((schedules + 6))
  elif [ $((batches % 5)) = 4 ]; then
    # With Apache's DataNodes.
    run what_was_acknowledged_outlives_random_kills_with_apache_s_datanodes $((seed + schedules)) 1 20
    schedules=$((schedules + 1))
  else
    run what_was_acknowledged_outlives_random_faults $((seed + schedules)) "$batch" "$seconds_each"
    schedules=$((schedules + batch))
  fi
  batches=$((batches + 1))
done
echo "faults: seeds $seed to $((seed + schedules - 1)): $schedules schedules on real processes, $simulated simulated ones, $histories histories of writers, and the crash points above; no broken promise"
