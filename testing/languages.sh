#!/usr/bin/env bash
# C and Python beside the Rust client, beside hdfs-native, beside local files, and beside Apache's libhdfs with its JVM, on a
# cluster of one process with local reads. RUNS=5 processes of each, in turns. Apache's libhdfs.so is compiled from the
# sources that the crate hdfs-sys has of Hadoop 3.3: no registry has a newer one, nor the library itself.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
testing/ensure-tools.sh
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
work=$target/languages
release=$target/release
hdfs_sys=0.3.1
mkdir -p "$work/bin" "$work/jvm" "$work/stand-in/lib/server"

cargo build -q --release -p zerohop-cli -p zerohop-libhdfs -p zerohop-python
cargo build -q --release -p zerohop-bench --example one_reader
bindings/python/build.sh release
cp "$release/examples/one_reader" "$work/bin/"
cc -O2 testing/languages/reads.c -I bindings/c/include -L "$release" -lhdfs -Wl,-rpath,"$release" -o "$work/bin/reads"
cc -shared -o "$work/stand-in/lib/server/libjvm.so" bindings/c/stand-in/libjvm.c

JAVA_HOME=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
export JAVA_HOME
if [ ! -s "$work/jvm/libhdfs.so" ]; then
  # A crate of nothing, so that cargo fetches the sources.
  mkdir -p "$work/sources/src"
  printf '[package]\nname = "sources"\nversion = "0.0.0"\nedition = "2024"\n[dependencies]\nhdfs-sys = "=%s"\n[workspace]\n' $hdfs_sys >"$work/sources/Cargo.toml"
  touch "$work/sources/src/lib.rs"
  sources=$(dirname "$(cargo metadata --format-version 1 --manifest-path "$work/sources/Cargo.toml" |
    python3 -c 'import json, sys
print(*(p["manifest_path"] for p in json.load(sys.stdin)["packages"] if p["name"] == "hdfs-sys"))')")/libhdfs
  cc -O2 -w -fcommon -fPIC -shared -o "$work/jvm/libhdfs.so" \
    -I "$JAVA_HOME/include" -I "$JAVA_HOME/include/linux" -I "$sources" -I "$sources/hdfs_3_3" -I "$sources/hdfs_3_3/include" -I "$sources/hdfs_3_3/os/posix" -I "$sources/hdfs_3_3/os" \
    "$sources"/hdfs_3_3/*.c "$sources"/hdfs_3_3/os/posix/*.c \
    -L "$JAVA_HOME/lib/server" -ljvm -Wl,-rpath,"$JAVA_HOME/lib/server"
fi

export BIN=$work/bin STAND_IN=$work/stand-in OURS=$release JVM=$work/jvm
JARS=$(cat "$target/interop/classpath.txt")
export JARS
data=$(mktemp -d "$target/languages.XXXXXX")
trap 'rm -rf "$data"' EXIT
cd "$data"
PYTHONPATH=$release/python "$release/zerohop" up --port=0 --http-port=0 --rest-port=0 --data "$data/cluster" \
  --exec "NAME_NODE=\$('$release/zerohop' getconf -confKey fs.defaultFS) '$target/interop/python/bin/python' '$here'/testing/languages/measure.py"
