#!/usr/bin/env bash
# OpenTelemetry: builds zerohop with the feature `opentelemetry`, whose libraries no other task compiles, into
# target/tracing, and runs what tests it: a put and a get on three DataNodes, whose spans a collector in the test puts together.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}/tracing
features=(-p zerohop-cli --features opentelemetry --target-dir "$target")
cargo clippy -q "${features[@]}" --all-targets -- -D warnings
cargo test "${features[@]}" --test tracing
cargo test -q "${features[@]}" --bin zerohop spans
