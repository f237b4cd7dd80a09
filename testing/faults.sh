#!/usr/bin/env bash
# The fault campaign: from SEED on, for MINUTES. Half of the time goes to crashes of a simulated
# NameNode at every point of its writes, and to a simulated block manager with its DataNodes; the other
# half to schedules of faults on real processes. Says what was tried; fails at the first broken promise
# and names its seed. docs/reliability.md lists the promises.
set -u
cd "$(dirname "$0")/.."

minutes=${MINUTES:-10}
seed=${SEED:-$(($(date +%s) % 1000000 + 1))}
logs=target/fault-logs
mkdir -p "$logs"
echo "faults: seed $seed, $minutes minutes"

echo "== build"
testing/ensure-tools.sh || exit 1
cargo build -q --profile fast -p zerohop-cli -p zerohop-simulation || exit 1
cargo test -q --profile fast -p zerohop-interop --test campaign --no-run || exit 1
cargo test -q --profile fast -p zerohop-namespace --lib --no-run || exit 1

echo "== crash histories"
half=$(awk "BEGIN { print $minutes * 0.45 }")
target/fast/zerohop-simulation --seed "$seed" --minutes "$half" || exit 1

echo "== simulated schedules of the block manager"
courses=$(awk "BEGIN { n = int($minutes * 200); print (n < 200 ? 200 : n) }")
ZEROHOP_COURSES="$seed..$((seed + courses))" cargo test -q --profile fast -p zerohop-namespace --lib \
  every_block_keeps_and_gets_its_replicas_whatever_fails >"$logs/courses.log" 2>&1
if [ $? != 0 ]; then
  tail -n 60 "$logs/courses.log"
  exit 1
fi
echo "seeds $seed to $((seed + courses - 1)): $courses schedules; no broken promise"

echo "== schedules of faults on real processes"
end=$(($(date +%s) + $(awk "BEGIN { print int($minutes * 30) }")))
schedules=0
while [ "$schedules" = 0 ] || [ "$(date +%s)" -lt "$end" ]; do
  this=$((seed + schedules))
  name=what_was_acknowledged_outlives_random_kills
  # One in five with Apache's DataNodes.
  [ $((schedules % 5)) != 4 ] || name=what_was_acknowledged_outlives_random_kills_with_apache_s_datanodes
  echo "schedule $this: $name"
  ZEROHOP_CAMPAIGN_SEED=$this ZEROHOP_CAMPAIGN_SECONDS=${SECONDS_EACH:-30} \
    cargo test -q --profile fast -p zerohop-interop --test campaign -- --nocapture --exact "$name" \
    >"$logs/schedule-$this.log" 2>&1 </dev/null
  if [ $? != 0 ]; then
    tail -n 80 "$logs/schedule-$this.log"
    echo "schedule $this: a broken promise; SEED=$this repeats it; logs in $logs and target/interop/run"
    exit 1
  fi
  grep '^seed ' "$logs/schedule-$this.log"
  schedules=$((schedules + 1))
done
echo "faults: seeds $seed to $((seed + schedules - 1)): $schedules schedules on real processes, $courses simulated ones, and the crash points above; no broken promise"
