#!/usr/bin/env python3
"""Copies a log that grows into HDFS, through the gateway, line by line and for as long as it runs.

    collector.py SOURCE http://gateway:14000 DIRECTORY

DIRECTORY gets files of whole lines, each named by the offset in SOURCE at which it begins, so that what is in HDFS tells where to
go on after a restart. A file is full at ROLL_BYTES (128 MiB) or after ROLL_SECONDS (3600). Prints the offset up to which lines
are acknowledged: they are on DataNodes, and readers see them.

An append names the offset at which it belongs. One that was not answered is sent again: what the file holds already is not
appended twice, whichever of gateway, NameNode and DataNodes was restarted in between.
"""
import getpass
import http.client
import json
import os
import sys
import time
from urllib.parse import quote, urlencode, urlsplit

BATCH = 64 << 10
ROLL_BYTES = int(os.environ.get("ROLL_BYTES", 128 << 20))
ROLL_SECONDS = float(os.environ.get("ROLL_SECONDS", 3600))
USER = os.environ.get("HADOOP_USER_NAME") or getpass.getuser()


class Gateway:
    """One connection, made again when it is lost."""

    def __init__(self, url, directory):
        self.host, self.directory = urlsplit(url).netloc, directory.rstrip("/")
        self.connection = None

    def ask(self, method, name, body=None, **query):
        """The answer's status and body; waits for a gateway that is not there."""
        target = f"/webhdfs/v1{quote(self.directory)}/{name}?{urlencode({**query, 'user.name': USER})}"
        headers = {"Content-Type": "application/octet-stream"} if body is not None else {}
        while True:
            try:
                self.connection = self.connection or http.client.HTTPConnection(self.host, timeout=60)
                self.connection.request(method, target, body, headers)
                answer = self.connection.getresponse()
                return answer.status, answer.read()
            except (OSError, http.client.HTTPException) as error:
                print(f"{method} {target}: {error!r}; again", file=sys.stderr)
                self.connection = None
                time.sleep(0.2)

    def insist(self, method, name, expected, **query):
        """The status and body of an answer with one of the expected statuses; the cluster may need a while for it."""
        while True:
            status, body = self.ask(method, name, **query)
            if status in expected:
                return status, body
            print(f"{method} {name}: {status} {body[:300]!r}; again", file=sys.stderr)
            time.sleep(0.2)

    def last_file(self):
        """Where in the source the last file begins, and how long it is."""
        status, body = self.insist("GET", "", (200, 404), op="LISTSTATUS")
        entries = json.loads(body)["FileStatuses"]["FileStatus"] if status == 200 else []
        names = [entry["pathSuffix"] for entry in entries if entry["pathSuffix"].isdigit()]
        if not names:
            return 0, 0
        return int(max(names)), self.length(max(names))

    def length(self, name):
        """A file's length. If the gateway has the file open, it closes it first."""
        _, body = self.insist("GET", name, (200,), op="GETFILESTATUS")
        return json.loads(body)["FileStatus"]["length"]

    def finish(self, start, length):
        """Closes a full file, which a gateway that was killed may have left open: an append of nothing takes it over. False as of
        an append."""
        while self.length(f"{start:020}") != length:
            if not self.append(start, length, b""):
                return False
            time.sleep(0.1)
        return True

    def append(self, start, offset, data):
        """False if the file is not as long as it was taken to be."""
        query = {"op": "APPEND", "createflag": "CREATE", "data": "true", "offset": offset}
        status, body = self.insist("POST", f"{start:020}", (200, 412), body=data, **query)
        if status == 412:
            print(f"{start:020} at {offset}: {body[:300]!r}", file=sys.stderr)
        return status == 200


def whole_lines(source, position):
    """The next lines of the source, none if there is no whole one yet."""
    source.seek(position)
    data = source.read(BATCH)
    end = data.rfind(b"\n") + 1
    # A line longer than that is sent in pieces.
    return data if end == 0 and len(data) == BATCH else data[:end]


def main():
    path, url, directory = sys.argv[1:]
    gateway = Gateway(url, directory)
    start, length = gateway.last_file()
    began = time.monotonic()
    with open(path, "rb") as source:
        while True:
            data = whole_lines(source, start + length)
            if not data:
                time.sleep(0.1)
                continue
            if length >= ROLL_BYTES or (length and time.monotonic() - began >= ROLL_SECONDS):
                if not gateway.finish(start, length):
                    start, length = gateway.last_file()
                    continue
                start, length, began = start + length, 0, time.monotonic()
            if gateway.append(start, length, data):
                length += len(data)
                print("acknowledged", start + length, flush=True)
            else:
                start, length = gateway.last_file()


if __name__ == "__main__":
    main()
