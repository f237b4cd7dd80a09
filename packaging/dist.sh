#!/usr/bin/env bash
# Fills target/dist with what is given away: a static `zerohop`, an archive of it with completions, manual pages and systemd
# units, its debug file (the names and lines that flame graphs show), libhdfs with its header and pkg-config file, the Python wheel if there is one, and SHA256SUMS; for x86-64 and aarch64.
# Then tries what is for this machine's architecture in a bare Debian root.
#
#   ARCHS=x86_64             only these architectures (x86_64 aarch64)
#   PARTS="binary libhdfs"   only these parts (binary libhdfs wheel)
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
dist=$target/dist
work=$target/dist-work
tools=$target/dist-tools
# shellcheck source=packaging/versions.sh
. packaging/versions.sh
archs=${ARCHS:-x86_64 aarch64}
parts=${PARTS:-binary libhdfs wheel}
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
here=$(uname -m)
# Hardly above what it has: what grows is seen.
size_max=21000000

say() { echo "dist: $*"; }
wants() { case " $parts " in *" $1 "*) return 0 ;; *) return 1 ;; esac }

# Zig is the C compiler and the linker: it knows every target, and old versions of glibc.
ensure_zig() {
  if ! "$tools/bin/python" -c "
from importlib.metadata import version
import sys
for wanted in sys.argv[1:]:
    name, number = wanted.split('==')
    if version(name) != number:
        raise SystemExit(1)" $dist_python_packages 2>/dev/null; then
    say "installing $dist_python_packages from PyPI into target/dist-tools"
    python3 -m venv --clear "$tools"
    "$tools/bin/pip" install -q --only-binary :all: $dist_python_packages
  fi
  export PATH="$tools/bin:$PATH"
}

# build PROFILE STRIP TARGET ARGUMENTS...: a build without symbols (STRIP is symbols) or with them (none).
build() {
  local profile=$1 strip=$2 triple=$3
  shift 3
  rustup -q target add "${triple%%.*}"
  say "building $* for $triple"
  env "CARGO_PROFILE_${profile^^}_STRIP=$strip" cargo zigbuild --profile "$profile" --target "$triple" "$@"
}

# split BUILT PROGRAM DEBUG: PROGRAM is BUILT without names and lines, which DEBUG has. PROGRAM says what DEBUG is called.
split() {
  # The compiler's own, which knows every architecture; its library is the compiler's, too.
  local sysroot objcopy
  sysroot=$(rustc --print sysroot)
  objcopy=$(echo "$sysroot"/lib/rustlib/*/bin/rust-objcopy)
  LD_LIBRARY_PATH=$sysroot/lib "$objcopy" --only-keep-debug "$1" "$3"
  LD_LIBRARY_PATH=$sysroot/lib "$objcopy" --strip-all --add-gnu-debuglink="$3" "$1" "$2"
  chmod 644 "$3"
}

# The binary that can run here: it prints the completions and manual pages of all archives.
native=

binary() {
  local arch=$1 triple=$1-unknown-linux-musl name=zerohop-$version-$1-linux
  build static none "$triple" -p zerohop-cli
  local built=$work/zerohop-$arch
  split "$target/$triple/static/zerohop" "$built" "$dist/$name.debug"
  local size
  size=$(stat -c %s "$built")
  say "zerohop for $arch: $size bytes"
  [ "$size" -lt "$size_max" ] || { say "zerohop for $arch is larger than $size_max bytes"; exit 1; }
  if readelf -d "$built" 2>/dev/null | grep -q NEEDED; then
    say "zerohop for $arch is not static"
    exit 1
  fi
  [ "$arch" != "$here" ] || native=$built
  [ -n "$native" ] || { say "build $here before $arch: its binary prints the manual pages"; exit 1; }
  local root=$work/$name
  rm -rf "$root"
  install -D "$built" "$root/bin/zerohop"
  mkdir -p "$root/share/bash-completion/completions" "$root/share/zsh/site-functions" "$root/share/fish/vendor_completions.d"
  "$native" completions bash >"$root/share/bash-completion/completions/zerohop"
  "$native" completions zsh >"$root/share/zsh/site-functions/_zerohop"
  "$native" completions fish >"$root/share/fish/vendor_completions.d/zerohop.fish"
  "$native" man --directory "$root/share/man/man1"
  install -D -m 644 -t "$root/lib/systemd/system" packaging/systemd/*.service
  install -D -m 644 -t "$root/share/doc/zerohop" LICENSE README.md CHANGELOG.md
  pack "$name"
  install -D "$built" "$dist/zerohop-$arch-linux"
}

libhdfs() {
  local arch=$1 triple=$1-unknown-linux-gnu name=libhdfs-zerohop-$version-$1-linux
  build release symbols "$triple.$oldest_glibc" -p zerohop-libhdfs
  local root=$work/$name
  rm -rf "$root"
  install -D -m 755 "$target/$triple/release/libhdfs.so" "$root/lib/libhdfs.so"
  install -D -m 644 "$target/$triple/release/libhdfs.a" "$root/lib/libhdfs.a"
  install -D -m 644 bindings/c/include/hdfs.h "$root/include/hdfs.h"
  mkdir -p "$root/lib/pkgconfig"
  sed "s/@VERSION@/$version/; s/@PRIVATE_LIBS@/-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc/" packaging/libhdfs.pc.in >"$root/lib/pkgconfig/libhdfs.pc"
  install -D -m 644 -t "$root/share/doc/libhdfs-zerohop" LICENSE docs/languages.md
  install -D -m 644 -t "$root/share/doc/libhdfs-zerohop/examples" examples/log-collector/collector.c bindings/c/stand-in/libjvm.c
  pack "$name"
}

wheel() {
  [ -f bindings/python/pyproject.toml ] || { say "no wheel: there is no bindings/python"; return 0; }
  local triple=$1-unknown-linux-gnu
  rustup target add "$triple"
  CARGO_PROFILE_RELEASE_STRIP=symbols maturin build --release --zig --target "$triple" \
    --compatibility "manylinux_${oldest_glibc/./_}" -m bindings/python/Cargo.toml -o "$dist"
}

# The same files make the same archive.
pack() {
  tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -cf - "$1" |
    gzip -9n >"$dist/$1.tar.gz"
}

ensure_zig
rm -rf "$dist"
mkdir -p "$dist" "$work"
for arch in $archs; do
  ! wants binary || binary "$arch"
  ! wants libhdfs || libhdfs "$arch"
  ! wants wheel || wheel "$arch"
done
(cd "$dist" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
packaging/verify-units.sh "$native"
packaging/try-dist.sh "$dist" "$version"
say "target/dist:"
ls -l "$dist"
