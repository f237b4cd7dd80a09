#!/usr/bin/env bash
# Fetches Apache Spark's jars through Maven (into ~/.m2) for the part `star` of the comparison, which alone needs them.
# Leaves target/interop/spark-classpath.txt. Quick when all is there. testing/ensure-tools.sh comes first.
set -euo pipefail
cd "$(dirname "$0")/../.."
out="$(realpath -m "${CARGO_TARGET_DIR:-target}")/interop"
pom=testing/compare/spark-pom.xml
list=$out/spark-classpath.txt
mkdir -p "$out"

class_path_is_good() {
  [ -s "$list" ] && [ ! "$pom" -nt "$list" ] || return 1
  local jar
  while IFS= read -r -d: jar; do [ -s "$jar" ] || return 1; done <"$list"
}

if ! class_path_is_good; then
  echo "ensure-spark: collecting the jars of Apache Spark with Maven (kept in ~/.m2)"
  # A server that hangs or refuses for a moment is asked again: what came is kept.
  for try in 1 2 3; do
    if timeout 900 mvn -q -B -ntp -f "$pom" dependency:build-classpath -DincludeScope=runtime \
      -Dmdep.outputFile="$list.tmp" >"$out/maven.log" 2>&1; then
      break
    fi
    echo "ensure-spark: Maven failed (try $try of 3)"
    [ "$try" != 3 ] || { tail -15 "$out/maven.log"; exit 1; }
    sleep 10
  done
  mv "$list.tmp" "$list"
fi
