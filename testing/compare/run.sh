#!/usr/bin/env bash
# Ours and Apache Hadoop in the same run; `testing/compare/run.sh --help` lists the options.
# ZEROHOP_BIN names another binary of ours than the release build, COMPARE_STAR another zerohop-star.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
star=$(realpath -m "${CARGO_TARGET_DIR:-datafusion/target}")
profile=${COMPARE_PROFILE:-release}
# Cargo's directory for the profile dev.
directory=$profile
[ "$profile" != dev ] || directory=debug
testing/ensure-tools.sh
cargo build -q --profile "$profile" -p zerohop-compare
compare=$target/$directory/zerohop-compare
if "$compare" --sections "$@" | grep -qx star; then
  testing/compare/ensure-spark.sh
  if [ -z "${COMPARE_STAR:-}" ]; then
    (cd datafusion && cargo build -q --release -p zerohop-star)
    export COMPARE_STAR=$star/release/zerohop-star
  fi
fi
export ZEROHOP_BIN=${ZEROHOP_BIN:-$target/$directory/zerohop}
COMPARE_DIRECTORY=$(mktemp -d "$target/interop/compare.XXXXXX")
# Domain sockets need a directory that nobody else can change, up to the root.
base=/run
[ "$(id -u)" = 0 ] || base=${XDG_RUNTIME_DIR:-$HOME}
COMPARE_SOCKETS=$(mktemp -d "$base/zerohop-compare-XXXXXX")
export COMPARE_DIRECTORY COMPARE_SOCKETS
trap 'rm -rf "$COMPARE_DIRECTORY" "$COMPARE_SOCKETS"' EXIT
"$compare" "$@"
