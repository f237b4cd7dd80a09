#!/usr/bin/env bash
# fio, a C program that others have written for libhdfs: the source package of Debian, built with our header and library in the place
# of Apache's, writes and reads on a cluster of ours. It goes into target/interop/fio, with a package list of its own: the
# machine's sources stay as they are.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
root=$PWD out=$target/interop/fio zerohop=$target/debug/zerohop
# The packages and the profile of `make test`, so that nothing is compiled twice.
cargo build --workspace

if [ ! -x "$out/fio" ]; then
  rm -rf "$out"
  mkdir -p "$out/apt/lists/partial" "$out/source"
  release=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $release main" >"$out/apt/sources.list"
  apt=(apt-get -qq -o "Dir::Etc::sourcelist=$out/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::Lists=$out/apt/lists" -o Dir::Cache::srcpkgcache= -o Dir::Cache::pkgcache= -o APT::Sandbox::User=)
  "${apt[@]}" update
  (cd "$out/source" && "${apt[@]}" source --download-only fio && tar xf fio_*.orig.tar.[gx]z)
  cd "$out"/source/fio-*/
  # It asks for a JDK, of which nothing is used: jni.h is not included, and our library loads no JVM.
  JAVA_HOME=$out FIO_LIBHDFS_INCLUDE=$root/bindings/c/include FIO_LIBHDFS_LIB=$target/debug \
    ./configure --enable-libhdfs --disable-native --disable-numa --disable-rdma --disable-http --disable-gfapi --disable-rbd \
    --disable-rados >configure.log
  grep -q 'HDFS engine *yes' configure.log
  make -s -j"$(nproc)" fio "HDFSLIB=-Wl,-rpath,$target/debug -L$target/debug -lhdfs"
  cp fio "$out/fio"
  cd "$root"
fi

cat >"$out/run.sh" <<'RUN'
set -euo pipefail
out=$1 zerohop=$2
uri=$ZEROHOP_URI
address=${uri#hdfs://}
"$zerohop" fs -mkdir -p /fio
# Two processes that fio forks, and then threads of one; each writes its chunks (a file of 1 MiB each) and reads them.
for way in thread=0 thread=1; do
  job="--ioengine=libhdfs --namenode=${address%:*} --port=${address#*:} --hdfsdirectory=/fio --$way --numjobs=2 --size=16m --chunk_size=1m"
  "$out/fio" $job --name=written --rw=write --bs=256k --output-format=json --output="$out/written.json"
  "$out/fio" $job --name=written --rw=read --bs=256k --output-format=json --output="$out/read.json"
  "$out/fio" $job --name=written --rw=randread --bs=4k --hdfs_use_direct=1 --output-format=json --output="$out/random.json"
  python3 - "$out" <<'PYTHON'
import json, pathlib, sys
for name, way, size in (("written", "write", 16 << 20), ("read", "read", 16 << 20), ("random", "read", 16 << 20)):
    text = pathlib.Path(sys.argv[1], f"{name}.json").read_text()
    jobs = json.loads(text[text.index("{"):])["jobs"]
    assert len(jobs) == 2, jobs
    for job in jobs:
        assert job["error"] == 0 and job[way]["io_bytes"] == size, (name, job["error"], job[way]["io_bytes"])
    print(name, "by two", "all well")
PYTHON
  [ "$("$zerohop" fs -count /fio | awk '{ print $2, $3 }')" = "32 33554432" ]
  "$zerohop" fs -rm -r -skipTrash '/fio/*' >/dev/null
done
RUN
"$zerohop" up --port=0 --http-port=0 --rest-port=0 --datanodes 3 --exec "bash '$out/run.sh' '$out' '$zerohop'"
