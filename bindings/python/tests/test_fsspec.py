"""fsspec.filesystem("hdfs")."""

import datetime
import pickle
import subprocess
import sys

import fsspec
import pytest
from fsspec.callbacks import Callback

import zerohop.fsspec


@pytest.fixture
def hdfs(fs):
    return fsspec.filesystem("hdfs")


class Counting(Callback):
    def __init__(self):
        super().__init__()
        self.steps = 0

    def relative_update(self, inc=1):
        super().relative_update(inc)
        self.steps += 1


def test_the_protocol_is_ours(hdfs, fs):
    assert type(hdfs) is zerohop.fsspec.HdfsFileSystem
    assert fsspec.get_filesystem_class("hdfs") is zerohop.fsspec.HdfsFileSystem
    found, path = fsspec.url_to_fs(f"{fs.uri}/tests/x")
    assert type(found) is zerohop.fsspec.HdfsFileSystem and path == "/tests/x" and found.client.uri == fs.uri
    assert found.unstrip_protocol("/tests/x") == f"{fs.uri}/tests/x"
    assert fsspec.filesystem("hdfs", user="alice").client.user == "alice"
    assert fsspec.url_to_fs("hdfs://bob@nn.example.com:8020/")[0].client.user == "bob"
    assert fsspec.url_to_fs("hdfs:///x")[0] is hdfs and fsspec.url_to_fs("hdfs:///x")[1] == "/x"
    with pytest.raises(ValueError):
        fsspec.filesystem("hdfs", kerb_ticket="ticket")
    # Also in a process that has not loaded zerohop.
    script = "import fsspec; print(fsspec.get_filesystem_class('hdfs').__module__)"
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "zerohop.fsspec\n"


def test_listing_and_glob(hdfs, directory):
    hdfs.pipe({f"{directory}/{name}": name.encode() for name in ("a1", "a2", "b1")})
    hdfs.makedirs(f"{directory}/d/e")
    hdfs.pipe(f"{directory}/d/e/deep.txt", b"deep")
    assert hdfs.ls(directory, detail=False) == [f"{directory}/{name}" for name in ("a1", "a2", "b1", "d")]
    entry = hdfs.ls(f"{directory}/a1")[0]
    assert (entry["name"], entry["size"], entry["type"]) == (f"{directory}/a1", 2, "file") and entry == hdfs.info(f"{directory}/a1")
    assert hdfs.glob(f"{directory}/a*") == [f"{directory}/a1", f"{directory}/a2"]
    assert hdfs.glob(f"hdfs://{directory}/**/*.txt") == [f"{directory}/d/e/deep.txt"]
    assert hdfs.find(directory) == [f"{directory}/{name}" for name in ("a1", "a2", "b1", "d/e/deep.txt")]
    assert [names for _, _, names in hdfs.walk(f"{directory}/d")] == [[], ["deep.txt"]]
    assert hdfs.du(directory) == 10 and hdfs.isdir(f"{directory}/d") and hdfs.isfile(f"{directory}/a1")
    assert not hdfs.exists(f"{directory}/no") and not hdfs.isdir(f"{directory}/no")
    with pytest.raises(FileNotFoundError):
        hdfs.ls(f"{directory}/no")
    with pytest.raises(FileNotFoundError):
        hdfs.info(f"{directory}/no")


def test_bytes_by_ranges(hdfs, large, content):
    assert hdfs.cat_file(large) == content
    assert hdfs.cat_file(large, 5, 10) == content[5:10] and hdfs.cat_file(large, -5) == content[-5:]
    assert hdfs.cat_file(large, 100, -100) == content[100:-100] and hdfs.cat_file(large, 10, 5) == b""
    other = large + "-other"
    hdfs.pipe_file(other, b"0123456789")
    found = hdfs.cat_ranges([large, other, large, large], [1 << 20, 2, 0, 0], [(1 << 20) + 9, -2, 0, None])
    assert found == [content[1 << 20 : (1 << 20) + 9], b"234567", b"", content]
    found = hdfs.cat_ranges([large, large + "-no"], 0, 3)
    assert found[0] == content[:3] and isinstance(found[1], FileNotFoundError)
    with pytest.raises(FileNotFoundError):
        hdfs.cat_ranges([large, large + "-no"], 0, 3, on_error="raise")
    assert hdfs.cat([large, other]) == {large: content, other: b"0123456789"}
    assert hdfs.head(large, 3) == content[:3] and hdfs.tail(large, 3) == content[-3:]
    with hdfs.open(large) as file:
        assert file.size == len(content) and file.path == large and file.fs is hdfs
        assert file.details["size"] == len(content)
    with pytest.raises(FileExistsError):
        hdfs.pipe_file(other, b"", mode="create")


def test_put_and_get_tell_how_far_they_are(hdfs, directory, content, tmp_path):
    (tmp_path / "here").write_bytes(content * 4)
    for move, arguments in (
        (hdfs.put_file, (str(tmp_path / "here"), f"{directory}/new/there")),
        (hdfs.get_file, (f"{directory}/new/there", str(tmp_path / "back"))),
    ):
        callback = Counting()
        move(*arguments, callback=callback)
        assert (callback.size, callback.value) == (len(content) * 4, len(content) * 4)
        assert callback.steps > 1
    assert (tmp_path / "back").read_bytes() == content * 4
    (tmp_path / "tree/below").mkdir(parents=True)
    (tmp_path / "tree/below/f").write_bytes(b"f")
    hdfs.put(str(tmp_path / "tree"), directory, recursive=True)
    assert hdfs.cat(f"{directory}/tree/below/f") == b"f"
    hdfs.get(f"{directory}/tree", str(tmp_path / "again"), recursive=True)
    assert (tmp_path / "again/below/f").read_bytes() == b"f"


def test_names_move_and_go(hdfs, directory):
    hdfs.pipe(f"{directory}/a", b"a")
    hdfs.mv(f"{directory}/a", f"{directory}/new/b")
    assert hdfs.cat(f"{directory}/new/b") == b"a" and not hdfs.exists(f"{directory}/a")
    hdfs.pipe(f"{directory}/c", b"c")
    hdfs.mv(f"{directory}/c", f"{directory}/new")
    assert hdfs.cat(f"{directory}/new/c") == b"c"
    hdfs.mv(f"{directory}/new/c", f"{directory}/new/b")
    assert hdfs.cat(f"{directory}/new/b") == b"c"
    hdfs.mv(f"{directory}/new", f"{directory}/newer", recursive=True)
    hdfs.copy(f"{directory}/newer/b", f"{directory}/copy")
    assert hdfs.cat(f"{directory}/copy") == b"c" and hdfs.checksum(f"{directory}/copy") == hdfs.checksum(f"{directory}/newer/b")
    with pytest.raises(FileNotFoundError):
        hdfs.mv(f"{directory}/no", f"{directory}/x")
    with pytest.raises(IsADirectoryError):
        hdfs.rm(f"{directory}/newer")
    with pytest.raises(NotADirectoryError):
        hdfs.rmdir(f"{directory}/copy")
    with pytest.raises(FileNotFoundError):
        hdfs.rm(f"{directory}/no")
    hdfs.rm(f"{directory}/newer", recursive=True)
    hdfs.mkdir(f"{directory}/d")
    with pytest.raises(FileExistsError):
        hdfs.mkdir(f"{directory}/d")
    with pytest.raises(FileExistsError):
        hdfs.makedirs(f"{directory}/d")
    hdfs.rmdir(f"{directory}/d")
    hdfs.rm([f"{directory}/copy"])
    assert hdfs.ls(directory) == []


def test_times_and_keys(hdfs, directory):
    path = f"{directory}/f"
    hdfs.touch(path)
    first = hdfs.ukey(path)
    assert abs(hdfs.modified(path) - datetime.datetime.now(datetime.timezone.utc)) < datetime.timedelta(minutes=5)
    assert hdfs.ukey(path) == first
    hdfs.client.utime(path, modified=1e9)
    hdfs.touch(path, truncate=False)
    assert hdfs.modified(path).timestamp() > 1.5e9 and hdfs.ukey(path) != first
    with pytest.raises(NotImplementedError):
        hdfs.created(path)


def test_a_transaction_is_all_or_nothing_to_be_seen(hdfs, directory):
    with hdfs.transaction:
        with hdfs.open(f"{directory}/a", "wb") as file:
            file.write(b"a")
        with hdfs.open(f"{directory}/b.gz", "wt", compression="infer") as file:
            file.write("b")
        assert not hdfs.exists(f"{directory}/a") and not hdfs.exists(f"{directory}/b.gz")
    assert hdfs.cat(f"{directory}/a") == b"a"
    with hdfs.open(f"{directory}/b.gz", "rt", compression="infer") as file:
        assert file.read() == "b"
    with pytest.raises(RuntimeError), hdfs.transaction:
        with hdfs.open(f"{directory}/a", "wb") as file:
            file.write(b"changed")
        raise RuntimeError
    assert hdfs.cat(f"{directory}/a") == b"a"
    assert [one.rsplit("/", 1)[1] for one in hdfs.ls(directory, detail=False)] == ["a", "b.gz"]


def test_urls_text_and_pickles(hdfs, fs, directory):
    url = f"{fs.uri}{directory}/t.csv"
    with fsspec.open(url, "w", newline="") as file:
        file.write("a,b\n1,2\n")
    assert [file.path for file in fsspec.open_files(f"{fs.uri}{directory}/*.csv")] == [f"{directory}/t.csv"]
    again = pickle.loads(pickle.dumps(fsspec.open(url, "r")))
    with again as file:
        assert file.readlines() == ["a,b\n", "1,2\n"]
    assert pickle.loads(pickle.dumps(hdfs)) is hdfs
    mapper = fsspec.get_mapper(f"{fs.uri}{directory}/map")
    mapper["k/1"] = b"v"
    assert dict(mapper) == {"k/1": b"v"}
