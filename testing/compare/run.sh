#!/usr/bin/env bash
# Ours and Apache Hadoop in the same run; `testing/compare/run.sh --help` lists the options.
# ZEROHOP_BIN names another binary of ours than the release build.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
profile=${COMPARE_PROFILE:-release}
testing/ensure-tools.sh
cargo build -q --profile "$profile" -p zerohop-compare
export ZEROHOP_BIN=${ZEROHOP_BIN:-$target/$profile/zerohop}
COMPARE_DIRECTORY=$(mktemp -d "$target/interop/compare.XXXXXX")
# Domain sockets need a directory that nobody else can change, up to the root.
base=/run
[ "$(id -u)" = 0 ] || base=${XDG_RUNTIME_DIR:-$HOME}
COMPARE_SOCKETS=$(mktemp -d "$base/zerohop-compare-XXXXXX")
export COMPARE_DIRECTORY COMPARE_SOCKETS
trap 'rm -rf "$COMPARE_DIRECTORY" "$COMPARE_SOCKETS"' EXIT
"$target/$profile/zerohop-compare" "$@"
