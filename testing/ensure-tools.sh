#!/usr/bin/env bash
# Installs what the interop tests need and this machine lacks, and says so: a JDK, Maven, OpenSSH's server,
# Chromium and libfaketime through apt, Apache Hadoop's jars through Maven (into ~/.m2), one native library out of a jar, other people's
# clients of HDFS and of REST from PyPI and npm.
# Leaves target/interop/classpath.txt, target/interop/native/libhadoop.so, target/interop/python and
# target/interop/node. Quick when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."
out="$(realpath -m "${CARGO_TARGET_DIR:-target}")/interop"
pom=testing/interop/pom.xml
mkdir -p "$out/native"

say() { echo "ensure-tools: $*"; }

apt_install() {
  command -v apt-get >/dev/null || { say "needs $*, and there is no apt-get here: install them by hand"; exit 1; }
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  say "installing $* with apt-get"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q "$@" >"$out/apt.log" 2>&1 ||
    { "${as_root[@]}" apt-get update -q >>"$out/apt.log" 2>&1 &&
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q "$@" >>"$out/apt.log" 2>&1; } ||
    { tail -5 "$out/apt.log"; exit 1; }
}

# Every jar that the class path names is there, and the list is not older than the pom.
class_path_is_good() {
  [ -s "$out/classpath.txt" ] && [ ! "$pom" -nt "$out/classpath.txt" ] || return 1
  local jar
  while IFS= read -r -d: jar; do [ -s "$jar" ] || return 1; done <"$out/classpath.txt"
}

# Packages of PyPI. Of hdfs and docopt there are only sources.
python_packages="hdfs-native==0.14.0 hdfs==2.7.3 fsspec==2026.9.0 requests==2.34.2 schemathesis==4.32.5 pyarrow==26.0.1"
# What makes the wheel of our own package (maturin), what tests it, and the libraries that use it.
python_packages+=" maturin==1.16.0 pytest==9.2.0 mypy==2.4.1 pandas==3.1.1 polars==2.1.0 dask==2026.8.0 duckdb==2.0.0"
python_is_good() {
  "$out/python/bin/python" -c "
from importlib.metadata import version
import sys
for wanted in sys.argv[1:]:
    name, number = wanted.split('==')
    if version(name) != number:
        raise SystemExit(1)" $python_packages 2>/dev/null
}

# A client of WebHDFS; what drives Chromium, and what checks that pages are accessible.
node_packages="webhdfs@1.2.0 playwright-core@1.65.1 axe-core@4.14.1"
node_is_good() {
  local wanted
  for wanted in $node_packages; do
    grep -q "\"version\": \"${wanted#*@}\"" "$out/node/node_modules/${wanted%@*}/package.json" 2>/dev/null || return 1
  done
}

missing=()
command -v valgrind >/dev/null || missing+=(valgrind)
command -v javac >/dev/null || missing+=(openjdk-17-jdk-headless)
if ! class_path_is_good || [ ! -s "$out/native/libhadoop.so" ]; then
  command -v mvn >/dev/null || missing+=(maven)
fi
if ! python_is_good; then
  # Debian's python3 cannot make an environment without this package.
  python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
fi
# Other people's programs for compressed files.
for tool in bzip2 gzip lzop zstd; do
  command -v "$tool" >/dev/null || missing+=("$tool")
done
if ! node_is_good; then
  command -v node >/dev/null || missing+=(nodejs)
  command -v npm >/dev/null || missing+=(npm)
fi
command -v chromium >/dev/null || missing+=(chromium)
# Fencing by ssh: a server, and what is run over there.
[ -x /usr/sbin/sshd ] || missing+=(openssh-server)
command -v ssh >/dev/null || missing+=(openssh-client)
command -v fuser >/dev/null || missing+=(psmisc)
# A clock that is stepped.
ls /usr/lib/*/faketime/libfaketime.so.1 >/dev/null 2>&1 || missing+=(libfaketime)
command -v openssl >/dev/null || missing+=(openssl)
command -v curl >/dev/null || missing+=(curl)
command -v nc >/dev/null || missing+=(netcat-openbsd)
[ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"

# A server that hangs or refuses for a moment is asked again: what came is kept.
maven() {
  local try
  for try in 1 2 3; do
    timeout 600 mvn -q -B -ntp -f "$pom" "$@" >"$out/maven.log" 2>&1 && return
    say "Maven failed (try $try of 3)"
    [ "$try" = 3 ] || sleep 10
  done
  tail -15 "$out/maven.log"
  exit 1
}

if ! class_path_is_good; then
  say "collecting the jars of Apache Hadoop 3.4.3 with Maven (kept in ~/.m2)"
  maven dependency:build-classpath -DincludeScope=runtime -Dmdep.outputFile="$out/classpath.tmp"
  # Windows' and macOS' native parts only slow every JVM start down.
  tr ':' '\n' <"$out/classpath.tmp" | grep -vE 'osx|windows|aarch_64|riscv' | sort | paste -sd: >"$out/classpath.txt"
  rm "$out/classpath.tmp"
fi

if [ ! -s "$out/native/libhadoop.so" ]; then
  say "taking libhadoop.so (domain sockets for Java) out of io.trino.hadoop:hadoop-apache"
  maven dependency:copy -Dartifact=io.trino.hadoop:hadoop-apache:3.3.5-3 -DoutputDirectory="$out/tmp"
  (cd "$out/native" && jar xf "$out/tmp/hadoop-apache-3.3.5-3.jar" nativelib/Linux-amd64/libhadoop.so)
  mv "$out/native/nativelib/Linux-amd64/libhadoop.so" "$out/native/libhadoop.so"
  rm -r "$out/native/nativelib" "$out/tmp"
fi

if ! python_is_good; then
  say "installing $python_packages from PyPI into target/interop/python"
  # What is there already stays, if it runs.
  "$out/python/bin/python" -c 'import pip' 2>/dev/null || rm -rf "$out/python"
  { { [ -e "$out/python" ] || python3 -m venv "$out/python"; } &&
    "$out/python/bin/python" -m pip install -q --only-binary :all: --no-binary hdfs,docopt $python_packages; } >"$out/pip.log" 2>&1 ||
    { tail -5 "$out/pip.log"; exit 1; }
fi

if ! node_is_good; then
  say "installing $node_packages from npm into target/interop/node"
  rm -rf "$out/node"
  mkdir -p "$out/node"
  npm install --prefix "$out/node" --no-audit --no-fund --ignore-scripts $node_packages >"$out/npm.log" 2>&1 ||
    { tail -5 "$out/npm.log"; exit 1; }
fi
