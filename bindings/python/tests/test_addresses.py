"""The names of one file system."""

import pickle

import pytest

import zerohop


def test_a_file_system_knows_its_names(fs, directory):
    path = f"{directory}/file"
    fs.write_bytes(path, b"text")
    address = fs.uri.removeprefix("hdfs://")
    for name in (
        f"hdfs://{address}{path}",
        f"hdfs://alice@{address}{path}",
        f"HDFS://{address.upper()}/{path}",
        f"hdfs:{path}",
        f"hdfs://{path}",
    ):
        assert fs.read_bytes(name) == b"text", name
    assert [status.path for status in fs.list_dir(f"hdfs://alice@{address}{directory}")] == [path]
    assert fs.status(f"hdfs://{address}").is_dir()
    for other in (f"hdfs://{address}0{path}", f"hdfs://not-{address}{path}", f"file:{path}"):
        with pytest.raises(ValueError):
            fs.status(other)


def test_a_user_in_a_uri_is_ignored(fs, directory):
    address = fs.uri.removeprefix("hdfs://")
    alice = zerohop.connect(f"hdfs://alice@{address}")
    assert (alice.uri, alice.user) == (fs.uri, fs.user)
    alice.write_bytes(f"{directory}/file", b"text")
    assert pickle.loads(pickle.dumps(alice)).read_bytes(f"{directory}/file") == b"text"
    assert zerohop.connect("hdfs:///").read_bytes(f"{directory}/file") == b"text"
