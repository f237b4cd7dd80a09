"""fsspec's webhdfs file system does what its users do: rest_fsspec.py HOST PORT DIRECTORY LOCAL_DIRECTORY."""

import io
import os
import sys

import fsspec

host, port, root, local = sys.argv[1:5]
fs = fsspec.filesystem("webhdfs", host=host, port=int(port), user="root", use_listings_cache=False)
data = bytes(i * 31 % 251 for i in range(3_000_000))
os.makedirs(local, exist_ok=True)


def refused(kind, call, *args, **options):
    try:
        call(*args, **options)
    except kind as error:
        return error
    raise AssertionError(f"{args} was not refused")


fs.makedirs(f"{root}/d", exist_ok=True)
refused(Exception, fs.makedirs, f"{root}/d", exist_ok=False)

# A file larger than the buffer is made of several appends.
with fs.open(f"{root}/d/big", "wb", block_size=1 << 20) as file:
    for at in range(0, len(data), 99_999):
        file.write(data[at : at + 99_999])
assert fs.info(f"{root}/d/big")["size"] == len(data)
assert fs.cat_file(f"{root}/d/big") == data
# Its own mode "a" forgets where to send to; only its writes are appends.
fs.session.post(
    fs._call("APPEND", "POST", f"{root}/d/big", redirect=False).headers["Location"],
    data=b"the end",
    headers={"content-type": "application/octet-stream"},
).raise_for_status()
assert fs.cat_file(f"{root}/d/big", start=len(data)) == b"the end"

# Seeks in a file, by a buffer that is smaller than it.
with fs.open(f"{root}/d/big", "rb", block_size=100_000) as file:
    assert file.size == len(data) + 7
    file.seek(2_000_000)
    assert file.read(10) == data[2_000_000:2_000_010]
    file.seek(-7, io.SEEK_END)
    assert file.read() == b"the end"
    file.seek(5)
    assert file.read(200_000) == data[5:200_005] and file.tell() == 200_005
with fs.open(f"{root}/d/text", "wt", encoding="utf-8") as file:
    file.write("eins\nzwei é\n")
with fs.open(f"{root}/d/text", "rt", encoding="utf-8") as file:
    assert file.readlines() == ["eins\n", "zwei é\n"]
assert fs.head(f"{root}/d/text", 4) == b"eins" and fs.tail(f"{root}/d/text", 3) == "é\n".encode()
assert fs.cat_ranges([f"{root}/d/big"] * 2, [0, 1_000_000], [10, 1_000_010]) == [data[:10], data[1_000_000:1_000_010]]

# Names, lists, walks and globs.
strange = f"{root}/d/a b+c%20é"
with fs.open(strange, "wb") as file:
    file.write(b"strange")
assert fs.cat_file(strange) == b"strange"
assert sorted(fs.ls(f"{root}/d")) == sorted([strange, f"{root}/d/big", f"{root}/d/text"]), fs.ls(f"{root}/d")
assert fs.glob(f"{root}/d/*x*") == [f"{root}/d/text"]
assert fs.find(root) == sorted([strange, f"{root}/d/big", f"{root}/d/text"])
assert [(path, sorted(dirs), len(names)) for path, dirs, names in fs.walk(root)] == [(root, ["d"], 0), (f"{root}/d", [], 3)]
assert fs.isdir(f"{root}/d") and fs.isfile(f"{root}/d/text") and not fs.exists(f"{root}/none")
assert fs.du(root) == len(data) + 7 + 13 + 7, fs.du(root)
refused(FileNotFoundError, fs.info, f"{root}/none")
refused(FileNotFoundError, fs.cat_file, f"{root}/none")

# To and from this machine, and within the cluster.
fs.get(f"{root}/d/big", os.path.join(local, "fsspec"))
with open(os.path.join(local, "fsspec"), "rb") as file:
    assert file.read() == data + b"the end"
fs.put(os.path.join(local, "fsspec"), f"{root}/put")
fs.cp_file(f"{root}/put", f"{root}/copy")
assert fs.cat_file(f"{root}/copy") == data + b"the end"
with fs.transaction:
    with fs.open(f"{root}/whole", "wb") as file:
        file.write(b"all at once")
    assert not fs.exists(f"{root}/whole")
assert fs.cat_file(f"{root}/whole") == b"all at once"

# What a file is.
fs.chmod(f"{root}/put", 640)
fs.chown(f"{root}/put", "alice", "staff")
fs.set_replication(f"{root}/put", 2)
info = fs.info(f"{root}/put")
assert (info["permission"], info["owner"], info["group"], info["replication"]) == ("640", "alice", "staff", 2), info
assert fs.ukey(f"{root}/put")["algorithm"].startswith("MD5-of-")
assert fs.content_summary(root)["fileCount"] == 6, fs.content_summary(root)
assert fs.home_directory() == "/user/root"

fs.mv(f"{root}/put", f"{root}/d/moved")
assert fs.exists(f"{root}/d/moved") and not fs.exists(f"{root}/put")
fs.rm(f"{root}/d/moved")
refused(RuntimeError, fs.rm, f"{root}/d")
fs.rm(root, recursive=True)
assert not fs.exists(root)
print("done")
