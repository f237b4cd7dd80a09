#!/usr/bin/env bash
# Whether the crates for Rust programs could go to a registry, and to users as they are: each is packed and built from its package,
# the public interface of `zerohop` breaks nothing against the commit in testing/semver-baseline, and the client compiles for
# macOS, where there are no local reads. Uploads nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
semver_checks=0.49.0

# Crates without `publish = false`.
mapfile -t crates < <(cargo metadata --format-version 1 --no-deps |
  python3 -c 'import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] is None:
        print(package["name"])')
echo "packages: ${crates[*]}"
selected=()
for crate in "${crates[@]}"; do selected+=(-p "$crate"); done
status=0
said=$(cargo publish --quiet --dry-run --allow-dirty "${selected[@]}" 2>&1) || status=$?
grep -v '^warning: aborting upload due to dry run' <<<"$said" || true
[ "$status" = 0 ] || exit "$status"

echo "packages: the client without local reads, and for macOS"
cargo check --quiet -p zerohop --no-default-features
rustup target add x86_64-apple-darwin >/dev/null 2>&1 || { echo "packages: not checked for macOS: rustup has no target x86_64-apple-darwin here"; }
if rustc --print target-libdir --target x86_64-apple-darwin | xargs test -d; then
  RUSTFLAGS=-Dwarnings cargo check --quiet -p zerohop --no-default-features --features blocking,object-store --target x86_64-apple-darwin
fi

if ! cargo semver-checks --version 2>/dev/null | grep -q " $semver_checks\$"; then
  # Without optimization: it is compiled for longer than it runs.
  echo "packages: installing cargo-semver-checks $semver_checks with cargo install, which takes minutes"
  cargo install --quiet --locked --debug cargo-semver-checks@$semver_checks
fi
baseline=$(grep -v '^#' testing/semver-baseline)
if git cat-file -e "$baseline^{commit}" 2>/dev/null; then
  cargo semver-checks --package zerohop --all-features --baseline-rev "$baseline"
else
  echo "packages: the interface was not compared: commit $baseline is not in this clone"
fi
