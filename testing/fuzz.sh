#!/usr/bin/env bash
# Runs every fuzz target, or those that TARGETS names, for MINUTES (of all together, 5 by default) from
# SEED on. Needs nothing but the toolchain and a C++ compiler for libFuzzer: what the compiler is told
# to count coverage with is stable. Says of each target how many inputs it took, in this run and in all
# runs on this corpus; fails if one made it crash.
set -u
cd "$(dirname "$0")/.."

minutes=${MINUTES:-5}
seed=${SEED:-$(($(date +%s) % 1000000 + 1))}
jobs=${JOBS:-$(nproc)}
names=${TARGETS:-$(ls fuzz/fuzz_targets | sed -n 's/\.rs$//p')}
target=$(rustc -vV | sed -n 's/^host: //p')
logs=${CARGO_TARGET_DIR:-target}/fuzz-logs
programs=${CARGO_TARGET_DIR:-fuzz/target}/$target/release
mkdir -p "$logs"

echo "fuzz: seed $seed, $minutes minutes"
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
  -Cllvm-args=-sanitizer-coverage-trace-compares"
# With a target named, build scripts and derive macros are not instrumented.
RUSTFLAGS="--cfg fuzzing $(echo $coverage) -Cdebug-assertions" \
  cargo build -q --release --target "$target" --manifest-path fuzz/Cargo.toml || exit 1

count=$(echo $names | wc -w)
seconds=$(awk "BEGIN { s = $minutes * 60 * $jobs / $count; print (s < 2 ? 2 : int(s)) }")

# one NAME: its inputs are kept, so that the next run goes on from them.
one() {
  local name=$1
  mkdir -p "fuzz/corpus/$name" "fuzz/artifacts/$name"
  # Short inputs reach all there is to reach, and there are more of them.
  "$programs/$name" "fuzz/corpus/$name" -seed="$seed" -max_total_time="$seconds" \
    -artifact_prefix="fuzz/artifacts/$name/" -print_final_stats=1 -timeout=20 -rss_limit_mb=2048 \
    -max_len=1024 -reload=0 >"$logs/$name.log" 2>&1
  echo $? >"$logs/$name.code"
}

running=0
for name in $names; do
  one "$name" &
  running=$((running + 1))
  if [ "$running" -ge "$jobs" ]; then
    wait -n
    running=$((running - 1))
  fi
done
wait

failed=0
total=0
for name in $names; do
  inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$logs/$name.log")
  rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$logs/$name.log")
  covered=$(grep -o 'cov: [0-9]*' "$logs/$name.log" | tail -1)
  inputs=${inputs:-0}
  total=$((total + inputs))
  before=$(cat "fuzz/corpus/$name.inputs" 2>/dev/null || echo 0)
  ever=$((before + inputs))
  echo "$ever" >"fuzz/corpus/$name.inputs"
  hours=$(awk "BEGIN { r = ${rate:-0}; left = 1e8 - $ever;
    print (left <= 0 ? \"10^8 reached\" : r > 0 ? sprintf(\"10^8 in %.1f h\", left / r / 3600) : \"-\") }")
  echo "$name: $inputs inputs, ${rate:-0}/s, $ever in all runs, $hours, ${covered:-cov: ?}"
  if [ "$(cat "$logs/$name.code")" != 0 ]; then
    failed=$((failed + 1))
    echo "$name: failed; see $logs/$name.log and fuzz/artifacts/$name"
    tail -n 20 "$logs/$name.log"
  fi
done
if [ "$failed" != 0 ]; then
  echo "fuzz: seed $seed: $failed of $count targets failed"
  exit 1
fi
echo "fuzz: seed $seed: $total inputs to $count targets, none crashed; no broken promise"
