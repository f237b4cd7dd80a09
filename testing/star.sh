#!/usr/bin/env bash
# The crate zerohop-datafusion and the experiment of `zerohop bench star`: DataFusion is a workspace of its own, which
# `make test` does without. Words are passed on: SCALE=10 make star, or testing/star.sh --runs 5.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
star=$(realpath -m "${CARGO_TARGET_DIR:-datafusion/target}")
cargo build --release -p zerohop-cli
export ZEROHOP=$target/release/zerohop
cd datafusion
cargo fmt --check -p zerohop-datafusion -p zerohop-star
cargo test -q --release --workspace
cargo build -q --release -p zerohop-star
cd ..
PATH=$star/release:$PATH "$ZEROHOP" bench star --scale "${SCALE:-4}" --busy "$@"
