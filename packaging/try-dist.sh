#!/usr/bin/env bash
# try-dist.sh DIST VERSION: tries what is for this machine's architecture in a bare Debian root, where nothing is but Debian's
# essential packages. Says why and ends well if it may not.
set -euo pipefail
dist=$(realpath "$1")
version=$2
arch=$(uname -m)
here=$(cd "$(dirname "$0")/.." && pwd)
say() { echo "dist: $*"; }
[ "$(id -u)" = 0 ] || { say "not tried in a bare Debian root: that needs root (chroot)"; exit 0; }
if ! command -v debootstrap >/dev/null; then
  apt-get install -y -q debootstrap >/dev/null 2>&1 || { say "not tried in a bare Debian root: debootstrap cannot be installed"; exit 0; }
fi

# Kept for the next time; unpacked anew for each.
base=${dist%/*}/dist-root
if [ ! -f "$base.tar" ]; then
  # The mirror that this machine's apt uses.
  mirror=$(apt-cache policy base-files | grep -o 'https\?://[^ ]*' | head -n 1)
  say "making a bare Debian root"
  rm -rf "$base"
  debootstrap --variant=minbase bookworm "$base" ${mirror:+"$mirror"} >"$base.log" 2>&1 ||
    { tail -5 "$base.log"; say "not tried in a bare Debian root: debootstrap failed"; rm -rf "$base"; exit 0; }
  tar -C "$base" -cf "$base.tar" .
  rm -rf "$base"
fi
root=$(mktemp -d "$base.XXXX")
unmount() { ! mountpoint -q "$root/proc" || umount "$root/proc"; }
trap 'unmount; rm -rf "$root"' EXIT
tar -C "$root" -xf "$base.tar"
mkdir -p "$root/proc" "$root/try"
mount -t proc proc "$root/proc"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root "$@"; }

(cd "$dist" && sha256sum --quiet -c SHA256SUMS)
archive=$dist/zerohop-$version-$arch-linux.tar.gz
if [ -f "$archive" ]; then
  tar -C "$root/usr/local" --strip-components=1 -xzf "$archive"
  [ "$(inside zerohop version | grep -c "$version")" -ge 1 ]
  inside bash -c 'echo hello >/try/hello
    zerohop up --port 0 --http-port 0 --rest-port 0 --data /try/data --exec "zerohop fs -put /try/hello /hello && zerohop fs -cat /hello" |
      grep -qx hello'
  inside bash -c '. /usr/local/share/bash-completion/completions/zerohop'
  [ -s "$root/usr/local/share/man/man1/zerohop-fs.1" ]
  say "the static binary works in a bare Debian root"
fi

archive=$dist/libhdfs-zerohop-$version-$arch-linux.tar.gz
if [ -f "$archive" ]; then
  tar -C "$root/usr/local" --strip-components=1 -xzf "$archive"
  # A bare root has no compiler: compiled here as pkg-config says, run there.
  export PKG_CONFIG_PATH=$root/usr/local/lib/pkgconfig
  flags=$(pkg-config --cflags --libs libhdfs 2>/dev/null || echo "-I$root/usr/local/include -L$root/usr/local/lib -lhdfs")
  # shellcheck disable=SC2086
  cc "$here/examples/log-collector/collector.c" $flags -o "$root/try/collector"
  # shellcheck disable=SC2086
  cc "$here/bindings/c/tests/c/operations.c" $flags -lpthread -o "$root/try/operations"
  inside ldconfig
  if [ -x "$root/usr/local/bin/zerohop" ]; then
    inside zerohop up --datanodes 3 --port 0 --http-port 0 --rest-port 0 --data /try/c --exec '/try/operations local && /try/operations remote'
    say "libhdfs.so works in a bare Debian root"
  else
    say "libhdfs.so was not tried: the static binary, which makes its cluster, is not there"
  fi
fi

wheel=$(ls "$dist"/*"$arch".whl 2>/dev/null | head -n 1 || true)
if [ -n "$wheel" ]; then
  # Only Python: no pip in the root, a wheel is an archive.
  chroot "$root" apt-get install -y -q --no-install-recommends python3-minimal >/dev/null 2>&1 ||
    { say "the wheel was not tried: python3 cannot be installed in the root"; exit 0; }
  python3 -m zipfile -e "$wheel" "$root/try/wheel"
  inside PYTHONPATH=/try/wheel python3 -c 'import zerohop; print(zerohop)'
  say "the wheel works in a bare Debian root"
fi
