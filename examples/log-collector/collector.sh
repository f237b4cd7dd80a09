#!/bin/sh
# Copies a log that grows into HDFS with curl, through the gateway, line by line and for as long as it runs:
#
#     collector.sh SOURCE http://gateway:14000 DIRECTORY
#
# DIRECTORY gets files of whole lines, each named by the offset in SOURCE at which it begins, so that what is in HDFS tells where
# to go on after a restart. A file is full at ROLL_BYTES (128 MiB) or after ROLL_SECONDS (3600). Prints the offset up to which
# lines are acknowledged. An append names the offset at which it belongs, so it may be sent again until it is answered.
set -u
source=$1
url=$2/webhdfs/v1${3%/}
user=user.name=${HADOOP_USER_NAME:-$(id -un)}
roll_bytes=${ROLL_BYTES:-134217728}
roll_seconds=${ROLL_SECONDS:-3600}
batch=65536
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM

# insist 'STATUS STATUS' CURL-ARGUMENTS...: asks until the answer has one of these statuses, which is then in $status; the body
# is in $work/answer.
insist() {
  expected=$1
  shift
  while true; do
    status=$(curl -sS --max-time 60 -o "$work/answer" -w '%{http_code}' "$@")
    case " $expected " in *" $status "*) return ;; esac
    echo "$status $(head -c 300 "$work/answer" 2>/dev/null); again" >&2
    sleep 0.2
  done
}

# Prints a file's length. If the gateway has the file open, it closes it first.
length_of() {
  insist 200 "$url/$1?op=GETFILESTATUS&$user"
  grep -o '"length":[0-9]*' "$work/answer" | tr -cd '0-9'
}

# append FILE OFFSET: appends what is in $work/lines; $status is 412 if the file is not as long as it was taken to be.
append() {
  insist '200 412' --data-binary "@$work/lines" -H 'Content-Type: application/octet-stream' \
    "$url/$1?op=APPEND&createflag=CREATE&data=true&offset=$2&$user"
}

# Closes a full file, which a gateway that was killed may have left open: an append of nothing takes it over. Fails as an append.
finish() {
  name=$(printf %020d "$start")
  : >"$work/lines"
  while [ "$(length_of "$name")" != "$length" ]; do
    append "$name" "$length"
    [ "$status" = 200 ] || return 1
    sleep 0.1
  done
}

# Sets $start, where in the source the last file begins, and $length, how long it is.
last_file() {
  start=0
  length=0
  insist '200 404' "$url?op=LISTSTATUS&$user"
  [ "$status" = 200 ] || return
  name=$(grep -o '"pathSuffix":"[0-9]*"' "$work/answer" | tr -cd '0-9\n' | sort | tail -n 1)
  [ -n "$name" ] || return
  length=$(length_of "$name")
  start=$(echo "$name" | sed 's/^0*\(.\)/\1/')
}

# Leaves the next whole lines of the source in $work/lines. A line longer than a batch is sent in pieces.
whole_lines() {
  tail -c "+$((start + length + 1))" "$source" | head -c "$batch" >"$work/read"
  lines=$(wc -l <"$work/read")
  if [ "$lines" = 0 ] && [ "$(wc -c <"$work/read")" = "$batch" ]; then
    mv "$work/read" "$work/lines"
  else
    head -n "$lines" "$work/read" >"$work/lines"
  fi
}

last_file
began=$(date +%s)
while true; do
  whole_lines
  if [ ! -s "$work/lines" ]; then
    sleep 0.2
    continue
  fi
  age=$(($(date +%s) - began))
  if [ "$length" -ge "$roll_bytes" ] || { [ "$length" -gt 0 ] && [ "$age" -ge "$roll_seconds" ]; }; then
    finish || { last_file; continue; }
    start=$((start + length))
    length=0
    began=$(date +%s)
    continue
  fi
  file=$(printf %020d "$start")
  append "$file" "$length"
  if [ "$status" = 200 ]; then
    length=$((length + $(wc -c <"$work/lines")))
    echo "acknowledged $((start + length))"
  else
    echo "$file at $length: $(head -c 300 "$work/answer")" >&2
    last_file
  fi
done
