"""Errors, and input that is wrong."""

import errno
import socket

import pytest

import zerohop


def test_python_s_own_exceptions(fs, directory):
    with pytest.raises(FileNotFoundError) as raised:
        fs.open(f"{directory}/no")
    assert raised.value.filename == f"{directory}/no" and raised.value.errno == errno.ENOENT
    assert raised.value.java_class == "java.io.FileNotFoundException"
    fs.write_bytes(f"{directory}/f", b"1")
    fs.mkdir(f"{directory}/d")
    for exception, call in (
        (IsADirectoryError, lambda: fs.open(f"{directory}/d")),
        (IsADirectoryError, lambda: fs.open(f"{directory}/d", "wb")),
        (FileExistsError, lambda: fs.open(f"{directory}/f", "xb")),
        (FileExistsError, lambda: fs.mkdir(f"{directory}/d")),
        (NotADirectoryError, lambda: fs.mkdir(f"{directory}/f/below")),
        (NotADirectoryError, lambda: fs.open(f"{directory}/f/below", "wb")),
        (FileNotFoundError, lambda: fs.list_dir(f"{directory}/no")),
        (FileNotFoundError, lambda: list(fs.entries(f"{directory}/no"))),
        (FileNotFoundError, lambda: fs.remove(f"{directory}/no")),
        (FileNotFoundError, lambda: fs.rename(f"{directory}/no", f"{directory}/to")),
    ):
        with pytest.raises(exception):
            call()
    fs.write_bytes(f"{directory}/d/f", b"1")
    with pytest.raises(OSError) as raised:
        fs.remove(f"{directory}/d")
    assert raised.value.errno == errno.ENOTEMPTY


def test_a_name_decides_nothing(fs, directory):
    """A missing file whose name says "is a directory" used to be one."""
    for name in ("it is a directory", "Path is not a file:", "already exists as a directory"):
        path = f"{directory}/{name.replace(':', '')}"
        for call in (fs.open, fs.status, fs.checksum, fs.block_locations, lambda path: fs.truncate(path, 0)):
            with pytest.raises(FileNotFoundError):
                call(path)
        fs.write_bytes(path, b"1")
        with pytest.raises(FileExistsError):
            fs.open(path, "xb")
    fs.mkdir(f"{directory}/d")
    for call in (
        fs.open,
        fs.checksum,
        fs.block_locations,
        lambda path: fs.open(path, "wb"),
        lambda path: fs.open(path, "ab"),
        lambda path: fs.truncate(path, 0),
        lambda path: fs.concat(path, [f"{directory}/it is a directory"]),
    ):
        with pytest.raises(IsADirectoryError):
            call(f"{directory}/d")
    # As Python's own: it exists, whatever it is.
    with pytest.raises(FileExistsError):
        fs.open(f"{directory}/d", "xb")


def test_who_may_not_is_told(fs, directory):
    fs.write_bytes(f"{directory}/f", b"secret")
    fs.chmod(f"{directory}/f", 0o600)
    with pytest.raises(PermissionError) as raised:
        zerohop.connect(user="mallory").open(f"{directory}/f")
    assert raised.value.java_class.endswith("AccessControlException")
    with pytest.raises(PermissionError):
        zerohop.connect(user="mallory").remove(f"{directory}/f")


def test_two_writers(fs, directory):
    with fs.open(f"{directory}/f", "wb") as file:
        file.write(b"1")
        with pytest.raises(OSError) as raised:
            zerohop.connect().open(f"{directory}/f", "ab")
        assert raised.value.errno == errno.EBUSY


def test_no_name_node():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    settings = {"ipc.client.connect.max.retries": "0", "ipc.client.connect.max.retries.on.timeouts": "0"}
    with pytest.raises(ConnectionRefusedError):
        zerohop.connect(f"hdfs://127.0.0.1:{port}", settings=settings).status("/")


def test_a_name_node_that_does_not_answer():
    with socket.create_server(("127.0.0.1", 0)) as server:
        uri = f"hdfs://127.0.0.1:{server.getsockname()[1]}"
        settings = {"ipc.client.rpc-timeout.ms": "300", "dfs.client.retry.max.attempts": "0", "ipc.ping.interval": "300"}
        with pytest.raises(TimeoutError):
            zerohop.connect(uri, settings=settings).status("/")


def test_closed_files(fs, directory):
    fs.write_bytes(f"{directory}/f", b"12345")
    reader = fs.open(f"{directory}/f", buffering=0)
    view = reader.read_at(0, 5)
    reader.close()
    reader.close()
    assert view == b"12345", "bytes that were read stay"
    for call in (
        lambda: reader.read(1),
        lambda: reader.readinto(bytearray(1)),
        lambda: reader.read_at(0, 1),
        lambda: reader.read_ranges([(0, 1)]),
        lambda: reader.seek(0),
        reader.tell,
        reader.refresh,
        reader.readable,
        reader.statistics,
        lambda: reader.__enter__(),
    ):
        with pytest.raises(ValueError):
            call()
    writer = fs.open(f"{directory}/f", "wb")
    writer.close()
    writer.close()
    for call in (lambda: writer.write(b"1"), writer.hflush, writer.hsync, writer.tell, writer.writable):
        with pytest.raises(ValueError):
            call()


def test_absurd_sizes(fs, directory):
    fs.write_bytes(f"{directory}/f", b"12345")
    with fs.open(f"{directory}/f", buffering=0) as file:
        assert file.read((1 << 63) - 1) == b"12345"
        assert file.read_at(0, 1 << 62) == b"12345"
        assert file.read_ranges([(0, 1 << 62), (1, (1 << 64) - 1)]) == [b"12345", b"2345"]
        for call in (
            lambda: file.read(1 << 64),
            lambda: file.read_at(-1, 1),
            lambda: file.read_at(0, -1),
            lambda: file.read_at(1 << 64, 1),
            lambda: file.read_ranges([(0, 1 << 65)]),
        ):
            with pytest.raises(OverflowError):
                call()
        with pytest.raises((TypeError, ValueError)):
            file.read_ranges([(0,)])
        file.seek(1 << 63)
        assert file.read() == b"" and file.read(1) == b""


def test_paths_that_are_none(fs):
    for wrong, exception in (
        (b"/\xff", UnicodeDecodeError),
        ("/\udcff", UnicodeEncodeError),
        ("/a\0b", ValueError),
        (7, TypeError),
        ("hdfs://elsewhere:1/x", ValueError),
        ("/a/../b", OSError),
        ("/a:b", OSError),
    ):
        for call in (fs.status, fs.open, lambda path: fs.open(path, "wb"), fs.remove):
            with pytest.raises(exception):
                call(wrong)
    for mode in ("", "rw", "r+b", "rbt", "q", "rr"):
        with pytest.raises(ValueError):
            fs.open("/x", mode)
    with pytest.raises(ValueError):
        fs.open("/x", verify="sometimes")


def test_configurations_that_are_wrong(tmp_path):
    with pytest.raises(OSError):
        zerohop.connect(config_dir=tmp_path / "no")
    with pytest.raises(OSError):
        zerohop.connect("ftp://nn")
    with pytest.raises(TypeError):
        zerohop.connect(settings={"a": 1})


WARNED = """
import sys, warnings, zerohop
warnings.simplefilter("always")
with warnings.catch_warnings(record=True) as caught:
    for value in "DENY", "SAMEORIGIN":
        zerohop.connect("hdfs://nn", config_dir=sys.argv[1], settings={"dfs.xframe.value": value})
for warning in caught:
    print(warning.message, warning.filename)
"""


def test_keys_without_effect_are_warned_of_once(run_python, tmp_path):
    (tmp_path / "core-site.xml").write_text("<configuration></configuration>")
    said = run_python(WARNED, str(tmp_path)).stdout
    assert said == "the program: dfs.xframe.value has no effect: it is not implemented <string>\n"
