"""Files as Python knows them."""

import array
import io
import os
import pathlib
import pickle
import zipfile

import pytest

import zerohop


def test_what_is_written_is_read(fs, directory, content):
    with fs.open(f"{directory}/f", "wb") as file:
        assert isinstance(file, io.RawIOBase) and file.writable() and not file.readable()
        assert file.write(content[:1000]) == 1000
        assert file.write(bytearray(content[1000:2000])) == 1000
        assert file.write(memoryview(content)[2000:]) == len(content) - 2000
        assert file.tell() == len(content)
    assert file.closed
    with fs.open(f"{directory}/f") as file:
        assert isinstance(file, io.BufferedReader) and file.readable() and file.seekable()
        assert file.size == len(content)
        assert file.read() == content
        assert file.read() == b""


def test_a_file_may_be_read_from_anywhere(fs, large, content):
    with fs.open(large, buffering=0) as file:
        assert isinstance(file, io.RawIOBase)
        assert file.seek(-5, os.SEEK_END) == len(content) - 5
        assert file.read(100) == content[-5:]
        assert file.seek(1 << 20) == 1 << 20
        assert file.seek(-7, os.SEEK_CUR) == (1 << 20) - 7
        assert file.read(14) == content[(1 << 20) - 7 : (1 << 20) + 7], "across two blocks"
        assert file.seek(len(content) + 100) and file.read(1) == b"" and file.readinto(bytearray(1)) == 0
        with pytest.raises(ValueError):
            file.seek(-1)
        with pytest.raises(ValueError):
            file.seek(0, 9)


def test_bytes_are_read_into_buffers(fs, large, content):
    with fs.open(large, buffering=0) as file:
        whole = bytearray(len(content) + 10)
        assert file.readinto(whole) == len(content)
        assert whole[: len(content)] == content
        file.seek(8)
        numbers = array.array("d", [0.0] * 1000)
        assert file.readinto(numbers) == 8000
        assert numbers.tobytes() == content[8:8008]
        assert file.readinto(memoryview(whole)[5:10]) == 5 and whole[5:10] == content[8008:8013]
        for wrong in (b"bytes", memoryview(whole)[::2]):
            with pytest.raises(BufferError):
                file.readinto(wrong)
        with pytest.raises(TypeError):
            file.readinto("text")


def test_positional_reads_leave_the_position(fs, large, content):
    with fs.open(large) as file:
        assert file.read(3) == content[:3]
        found = file.read_at(1 << 20, 500)
        assert isinstance(found, memoryview) and found.readonly and found == content[1 << 20 : (1 << 20) + 500]
        assert file.read_at(len(content) - 3, 10) == content[-3:]
        assert file.read_at(1 << 62, 10) == b""
        assert file.read(3) == content[3:6]


def test_ranges_are_read_together(fs, large, content):
    ranges = [(2_000_000, 300), (5, 10), (1 << 20, 70_000), (len(content) - 4, 9), (7, 0), (5, 10)]
    with fs.open(large) as file:
        found = file.read_ranges(ranges)
        assert [bytes(one) for one in found] == [content[at : at + size] for at, size in ranges]
        assert file.read_ranges([]) == []


def test_reads_of_a_replica_of_this_machine_are_local(fs, large, content):
    with fs.open(large, buffering=0) as file:
        assert file.read() == content
        counts = file.statistics()
    assert counts["total"] == counts["local"] == len(content), counts
    assert counts["checked"] >= len(content)


def test_mapped_bytes_are_not_copied_and_outlive_their_file(fs, large, content):
    import numpy

    with fs.open(large, buffering=0, mapped=True) as file:
        file.read(1)
        first, again = file.read_at(100, 900_000), file.read_at(100, 900_000)
        counts = file.statistics()
        assert counts["zero_copy"] >= 900_000, counts
        addresses = [numpy.frombuffer(one, "u1").ctypes.data for one in (first, again)]
        del again
        assert addresses[0] == addresses[1], "both are the bytes of the map"
    del file
    fs.remove(large)
    assert first == content[100:900_100], "the map lives as long as the bytes"
    with pytest.raises(TypeError):
        first[0] = 1


def test_lines_text_and_archives(fs, directory):
    with fs.open(f"{directory}/t", "w") as file:
        print("ä line", "and more", sep="\n", file=file)
    with fs.open(f"{directory}/t", "r") as file:
        assert list(file) == ["ä line\n", "and more\n"]
    with fs.open(f"{directory}/t", "rt", encoding="latin-1") as file:
        assert file.readline() == "Ã¤ line\n"
    with fs.open(f"{directory}/z", "wb") as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr("inside", b"hello" * 1000)
    with fs.open(f"{directory}/z") as file, zipfile.ZipFile(file) as archive:
        assert archive.read("inside") == b"hello" * 1000


def test_flushed_bytes_are_seen_and_appended_ones_follow(fs, directory):
    path = f"{directory}/log"
    with fs.open(path, "ab") as file:
        file.write(b"one\n")
        file.flush()
        assert fs.read_bytes(path) == b"one\n"
        file.write(b"two\n")
        file.hflush()
        with fs.open(path, buffering=0) as reader:
            assert reader.read() == b"one\ntwo\n"
            file.write(b"three\n")
            file.hsync(update_length=True)
            assert fs.status(path).size == 14
            assert reader.refresh() == 14 and reader.read() == b"three\n"
    with fs.open(path, "ab") as file:
        assert file.tell() == 14
        file.write(b"four\n")
    assert fs.read_bytes(path) == b"one\ntwo\nthree\nfour\n"


def test_options_of_files_that_are_made(fs, directory):
    with fs.open(f"{directory}/f", "xb", replication=1, block_size=2 << 20, permission=0o600) as file:
        file.write(b"x")
    status = fs.status(f"{directory}/f")
    assert (status.replication, status.block_size, status.permission) == (1, 2 << 20, 0o600)
    assert fs.set_replication(f"{directory}/f", 2) and fs.status(f"{directory}/f").replication == 2
    with pytest.raises(FileNotFoundError):
        fs.open(f"{directory}/no/such", "wb", create_parents=False)


def test_names_are_found(fs, directory, large):
    fs.mkdir(f"{directory}/a/b", parents=True)
    fs.write_bytes(pathlib.PurePosixPath(directory, "a", "é"), b"12345")
    status = fs.status(f"{directory}/a/é".encode())
    assert (status.path, status.name, status.kind, status.size) == (f"{directory}/a/é", "é", "file", 5)
    assert status.is_file() and not status.is_dir() and status == fs.status(fs.uri + status.path)
    # Hadoop's order is that of signed bytes.
    assert [one.name for one in fs.list_dir(f"{directory}/a")] == ["é", "b"]
    assert [one.path for one in fs.entries(f"{directory}/a")] == [f"{directory}/a/é", f"{directory}/a/b"]
    below = [one.path.removeprefix(directory) for one in fs.walk(directory)]
    assert below == ["/a", "/a/é", "/a/b", "/large"]
    assert fs.exists(large) and fs.is_file(large) and not fs.is_dir(large) and fs.is_dir(directory)
    assert not fs.exists(f"{large}/below") and not fs.is_file(f"{directory}/no") and not fs.is_dir(f"{directory}/no")
    assert len(fs.block_locations(large)) == 4 and fs.block_locations(large, 0, 5)[0].hosts
    summary = fs.content_summary(directory)
    assert (summary.files, summary.directories, summary.length) == (2, 3, fs.status(large).size + 5)


def test_names_change(fs, directory, large):
    fs.rename(large, f"{directory}/moved")
    fs.write_bytes(f"{directory}/other", b"other")
    with pytest.raises(FileExistsError):
        fs.rename(f"{directory}/other", f"{directory}/moved")
    fs.rename(f"{directory}/other", f"{directory}/moved", overwrite=True)
    assert fs.read_bytes(f"{directory}/moved") == b"other"
    fs.chmod(f"{directory}/moved", 0o640)
    fs.chown(f"{directory}/moved", "bob", "staff")
    fs.utime(f"{directory}/moved", modified=1e9, accessed=1.5e9)
    status = fs.status(f"{directory}/moved")
    assert (status.permission, status.owner, status.group) == (0o640, "bob", "staff")
    assert (status.modified, status.accessed) == (1e9, 1.5e9)
    fs.set_xattr(f"{directory}/moved", "user.color", b"blue")
    assert fs.xattrs(f"{directory}/moved") == {"user.color": b"blue"}
    fs.set_xattr(f"{directory}/moved", "user.color", None)
    assert fs.xattrs(f"{directory}/moved") == {}
    assert fs.truncate(f"{directory}/moved", 0) in (True, False)
    fs.remove(f"{directory}/moved")
    assert fs.list_dir(directory) == []


def test_checksums_tell_files_apart(fs, directory):
    for name, data in (("a", b"same"), ("b", b"same"), ("c", b"other")):
        fs.write_bytes(f"{directory}/{name}", data)
    sums = [fs.checksum(f"{directory}/{name}") for name in "abc"]
    assert sums[0] == sums[1] != sums[2] and sums[0][0].startswith("MD5-of-")


def test_paths_below_the_home_directory_and_users(fs):
    alice = zerohop.connect(user="alice")
    assert alice.home == "/user/alice" and alice._path("x/./y") == "/user/alice/x/y"
    assert fs.uri.startswith("hdfs://") and "alice" in repr(alice)
    copy = pickle.loads(pickle.dumps(alice))
    assert (copy.user, copy.uri) == ("alice", fs.uri) and copy.exists("/")
    assert fs.capacity()[0] > 0
