#!/usr/bin/env bash
# Format, lints, the tree's own rules. Reads only; all of it runs even if a part fails.
set -u
cd "$(dirname "$0")/.."
failed=()
part() {
  local name=$1
  shift
  echo "check: $name"
  "$@" || failed+=("$name")
}
part format cargo fmt --all -- --check
part lints cargo clippy -q --workspace --all-targets -- -D warnings
part documents env RUSTDOCFLAGS=-Dwarnings cargo doc -q --no-deps --workspace
part fuzz cargo check -q --locked --manifest-path fuzz/Cargo.toml
part packages testing/packages.sh
part units packaging/verify-units.sh
part tidy cargo test -q -p zerohop-tidy
if cargo deny --version >/dev/null 2>&1; then
  part dependencies cargo deny --log-level error check bans licenses sources
else
  echo "check: cargo-deny is not installed (cargo install cargo-deny), so licences of dependencies were not looked at"
fi
[ ${#failed[@]} = 0 ] && echo "check: all good" && exit 0
echo "check: not good: ${failed[*]}"
exit 1
