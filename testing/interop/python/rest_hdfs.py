"""The Python package hdfs (WebHDFS) does what its users do: rest_hdfs.py URL DIRECTORY LOCAL_DIRECTORY.

What comes back must be what was sent; anything else is an AssertionError.
"""

import json
import os
import sys

from hdfs import InsecureClient
from hdfs.util import HdfsError

url, root, local = sys.argv[1:4]
client = InsecureClient(url, user="root", root=root, timeout=60)
data = bytes(i * 31 % 251 for i in range(3_000_000))
os.makedirs(os.path.join(local, "up", "sub"), exist_ok=True)
files = {"up/big": data, "up/empty": b"", "up/a b+c%20é": b"strange", "up/sub/deep": data[:70_000]}
for name, content in files.items():
    with open(os.path.join(local, name), "wb") as file:
        file.write(content)


def read(path, **options):
    with client.read(path, **options) as reader:
        return reader.read()


def refused(call, *args, **options):
    try:
        call(*args, **options)
    except HdfsError as error:
        return error
    raise AssertionError(f"{args} was not refused")


# Upload of a tree by two threads, and of one file, with progress.
seen = {}


def progress(path, count):
    seen.setdefault(path, []).append(count)


client.makedirs(".", permission="755")
assert client.upload("tree", os.path.join(local, "up"), n_threads=2, chunk_size=65536, progress=progress)
for path, counts in seen.items():
    assert counts[-1] == -1 and counts[:-1] == sorted(counts[:-1]), (path, counts)
assert len(seen) == 4 and max(max(counts) for counts in seen.values()) == len(data), seen.keys()
for name, content in files.items():
    assert read("tree" + name[2:]) == content, name
client.upload("one", os.path.join(local, "up/big"), chunk_size=1 << 20)
error = refused(client.upload, "one", os.path.join(local, "up/big"))
assert "already exists" in str(error) or "File exists" in str(error), error
client.upload("one", os.path.join(local, "up/sub/deep"), overwrite=True)
assert read("one") == data[:70_000]

# Download with progress, of a file and of a tree.
counts = []
client.download("tree/big", os.path.join(local, "big"), chunk_size=1 << 16, progress=lambda _, count: counts.append(count))
with open(os.path.join(local, "big"), "rb") as file:
    assert file.read() == data
assert counts[-2:] == [len(data), -1] and len(counts) > 10, counts[-3:]
client.download("tree", os.path.join(local, "down"), n_threads=2)
for name, content in files.items():
    with open(os.path.join(local, "down" + name[2:]), "rb") as file:
        assert file.read() == content, name

# Reads: with an offset, a length, in pieces, as lines.
assert read("tree/big", offset=1_234_567, length=89_000) == data[1_234_567 : 1_234_567 + 89_000]
assert read("tree/big", offset=len(data) - 5) == data[-5:]
with client.read("tree/big", chunk_size=100_000) as pieces:
    pieces = list(pieces)
assert b"".join(pieces) == data and len(pieces) >= 30
client.write("lines", data="eins\nzwei é\n", encoding="utf-8")
with client.read("lines", encoding="utf-8", delimiter="\n") as lines:
    assert list(lines) == ["eins", "zwei é", ""]

# Appends, a stream of pieces, and a file object.
client.write("lines", data="drei\n", append=True, encoding="utf-8")
client.write("lines", data=(piece for piece in [b"vier", b"\n"]), append=True)
assert read("lines").decode() == "eins\nzwei é\ndrei\nvier\n"
refused(client.write, "none", data="x", append=True)
with client.write("records", encoding="utf-8", overwrite=True, permission="600", replication=1, blocksize=1 << 20) as writer:
    json.dump({"a": [1, 2, 3]}, writer)
assert json.loads(read("records")) == {"a": [1, 2, 3]}
status = client.status("records")
assert (status["permission"], status["replication"], status["blockSize"]) == ("600", 1, 1 << 20), status

# Lists and walks.
assert sorted(client.list("tree")) == ["a b+c%20é", "big", "empty", "sub"]
assert dict(client.list("tree", status=True))["big"]["length"] == len(data)
walked = [(path[len(client.resolve(".")) :], sorted(dirs), sorted(names)) for path, dirs, names in client.walk("tree")]
assert walked == [("/tree", ["sub"], ["a b+c%20é", "big", "empty"]), ("/tree/sub", [], ["deep"])], walked
assert "not a directory" in str(refused(client.list, "lines"))
assert client.status("none", strict=False) is None
assert client.content("tree")["fileCount"] == 4
refused(client.parts, "tree")

# What a file is.
assert client.checksum("tree/big")["algorithm"].startswith("MD5-of-"), client.checksum("tree/big")
client.set_permission("lines", "640")
client.set_owner("lines", owner="alice", group="staff")
client.set_times("lines", modification_time=1_000_000_000_000, access_time=1_100_000_000_000)
client.set_replication("lines", 2)
status = client.status("lines")
assert (status["permission"], status["owner"], status["group"]) == ("640", "alice", "staff"), status
assert (status["modificationTime"], status["accessTime"]) == (1_000_000_000_000, 1_100_000_000_000), status
assert status["replication"] == 2, status
client.set_acl("lines", "user:bob:rw-", clear=False)
assert "user:bob:rw-" in client.acl_status("lines")["entries"]
client.remove_acl("lines")

# Renames and deletes.
client.rename("lines", "tree/sub/renamed")
client.rename("tree/sub/renamed", "tree")
assert "renamed" in client.list("tree")
refused(client.rename, "none", "other")
refused(client.delete, "tree")
assert client.delete("none") is False
assert client.delete("tree", recursive=True, skip_trash=False)
assert client.status("tree", strict=False) is None
assert client.delete(".", recursive=True)
print("done")
