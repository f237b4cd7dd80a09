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
COMPARE_FOLDER=$(mktemp -d "$target/interop/compare.XXXXXX")
export COMPARE_FOLDER
trap 'rm -rf "$COMPARE_FOLDER"' EXIT
"$target/$profile/zerohop-compare" "$@"
