#!/usr/bin/env bash
# All tests: tools, the programs, unit tests, interop tests. Ends with one plain line,
# "N passed, N failed", and with the exit code that belongs to it. A part that does not build, or
# that runs out of time, counts as one failed test. Leaves no process behind, whatever happens.
set -u
cd "$(dirname "$0")/.."

logs=${CARGO_TARGET_DIR:-target}/test-logs
mkdir -p "$logs"
passed=0
failed=0
part_pid=
# Every process of this run carries this in its environment, so that none is overlooked.
export ZEROHOP_TEST_RUN="$$-$(date +%s)"
# Tests of daemons wait more than they compute: one more at a time than there are cores.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$(($(nproc) + 1))}
export RUST_BACKTRACE=0

# Processes of this run other than this script and its direct children (its own pipes).
left_over() {
  local env pid stat
  for env in /proc/[0-9]*/environ; do
    pid=${env#/proc/}
    pid=${pid%/environ}
    [ "$pid" != $$ ] && [ "$pid" != "$BASHPID" ] || continue
    stat=$(cat "/proc/$pid/stat" 2>/dev/null) || continue
    stat=${stat##*) }
    [ "$(echo "$stat" | cut -d' ' -f2)" != $$ ] || continue
    tr '\0' '\n' <"$env" 2>/dev/null | grep -qx "ZEROHOP_TEST_RUN=$ZEROHOP_TEST_RUN" && echo "$pid"
  done
}

# Ends what is left by process id, and says what it was.
sweep() {
  local pid
  for pid in $(left_over 2>/dev/null); do
    echo "still running: $pid $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | cut -c1-150)"
    kill -KILL "$pid" 2>/dev/null
  done
}

# The part that runs, with its whole process group; then what has left the group.
stop_all() {
  [ -z "$part_pid" ] || kill -KILL -- "-$part_pid" 2>/dev/null
  sweep >/dev/null
}
trap stop_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# part NAME SECONDS COMMAND...: runs it within its time, shows its failures, adds its counts.
part() {
  local name=$1 limit=$2 log="$logs/$1.log" started=$SECONDS
  shift 2
  setsid timeout --kill-after=10 "$limit" "$@" >"$log" 2>&1 </dev/null &
  part_pid=$!
  wait "$part_pid"
  local code=$?
  part_pid=
  local good bad
  good=$(sum 'passed' "$log")
  bad=$(sum 'failed' "$log")
  if [ "$code" != 0 ] && [ "$bad" = 0 ]; then
    bad=1
    [ "$code" != 124 ] || echo "$name: stopped after $limit s"
    tail -n 40 "$log"
  elif [ "$bad" != 0 ]; then
    sed -n '/^failures:$/,/^test result:/p' "$log" | head -n 400
  fi
  passed=$((passed + good))
  failed=$((failed + bad))
  echo "$name: $good passed, $bad failed ($((SECONDS - started)) s; $log)"
  return "$code"
}

sum() {
  sed -n "s/^test result:.* \([0-9]*\) $1;.*/\1/p" "$2" | awk '{n += $1} END {print n + 0}'
}

echo "== tools"
testing/ensure-tools.sh || { echo "tools: the interop tests cannot run without them"; failed=$((failed + 1)); }
echo "== tests (logs in $logs)"
# One profile and one set of packages for all, so that nothing is compiled twice: which packages are built decides on features, too.
# The tests start programs: zerohop, failing-disk, libhdfs.so, the Python package.
part build 3600 cargo build --workspace
part python-package 60 bindings/python/build.sh
# Gigabytes of build results on their way to the disk would hold up every fsync of the tests.
part tests-build 3600 cargo test -q --workspace --no-run && sync
part tests 4800 cargo test --workspace --no-fail-fast

remains=$(sweep)
if [ -n "$remains" ]; then
  echo "$remains"
  failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
