"""DataNodes that freeze or die under a file. ZEROHOP_TEST_DATANODES has their process ids."""

import asyncio
import contextlib
import os
import signal
import threading
import time

import fsspec
import pytest

import zerohop
import zerohop.aio

DATANODES = [int(pid) for pid in os.environ["ZEROHOP_TEST_DATANODES"].split(",")]


@contextlib.contextmanager
def frozen(datanodes):
    for datanode in datanodes:
        os.kill(datanode, signal.SIGSTOP)
    try:
        yield
    finally:
        for datanode in datanodes:
            os.kill(datanode, signal.SIGCONT)


INTERRUPTED = """
import os, signal, sys, threading, time, zerohop
with zerohop.connect().open(sys.argv[1], buffering=0) as file:
    for datanode in sys.argv[2:]:
        os.kill(int(datanode), signal.SIGSTOP)
    try:
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        try:
            file.read()
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - began < 5)
    finally:
        for datanode in sys.argv[2:]:
            os.kill(int(datanode), signal.SIGCONT)
    file.seek(0)
    print(len(file.read()))
"""


def test_ctrl_c_ends_a_read_that_waits_for_datanodes(run_python, large, content):
    said = run_python(INTERRUPTED, large, *map(str, DATANODES)).stdout
    assert said == f"interrupted True\n{len(content)}\n"


def test_a_frozen_datanode_is_a_time_limit_and_then_another_one(large, content):
    fs = zerohop.connect(settings={"dfs.client.socket-timeout": "700"})
    with fs.open(large, buffering=0) as file:
        for one in DATANODES:
            with frozen([one]):
                assert file.read_at(0, len(content)) == content
        with frozen(DATANODES), pytest.raises(OSError):
            impatient = zerohop.connect(settings={
                "dfs.client.socket-timeout": "300",
                "dfs.client.max.block.acquire.failures": "0",
            })
            with impatient.open(large) as other:
                other.read()
        assert file.read_at(0, 100) == content[:100]


IMPATIENT = {"dfs.client.socket-timeout": "300", "dfs.client.max.block.acquire.failures": "0"}


def first_block_alone(fs, directory, content):
    """A file whose second block is on a DataNode that its first is not on, and that DataNode's process id."""

    def reads(offset):
        with contextlib.suppress(OSError), fs.open(path, buffering=0) as file:
            return file.read_at(offset, 10) == content[offset : offset + 10]
        return False

    for number in range(20):
        path = f"{directory}/{number}"
        with fs.open(path, "wb", replication=1, block_size=1 << 20) as file:
            file.write(content)
        for one in DATANODES:
            with frozen([one]):
                if reads(0) and not reads(1 << 20):
                    return path, one
    raise AssertionError("20 files have both blocks on one DataNode")


def test_a_file_that_cannot_be_read_to_its_end_is_no_shorter_file(directory, content):
    """Every read without a size, and with the file's, raises; it used to give what was read before the error."""
    content = content[: (1 << 20) + 5000]
    fs = zerohop.connect(settings=IMPATIENT)
    path, datanode = first_block_alone(fs, directory, content)

    def read(size=-1, **options):
        with fs.open(path, **options) as file:
            return file.read(size)

    def readinto():
        with fs.open(path, buffering=0) as file:
            try:
                return file.readinto(bytearray(len(content)))
            finally:
                assert file.tell() == 0

    async def awaited(size):
        afs = zerohop.aio.connect(settings=IMPATIENT)
        async with await afs.open(path) as file:
            return await file.read(size)

    files = fsspec.filesystem("hdfs", extra_conf=IMPATIENT, skip_instance_cache=True)
    calls = (
        lambda: fs.read_bytes(path),
        read,
        lambda: read(len(content)),
        lambda: read(buffering=0),
        lambda: read(len(content), buffering=0),
        readinto,
        lambda: asyncio.run(awaited(-1)),
        lambda: asyncio.run(awaited(len(content))),
        lambda: files.cat_file(path),
    )
    with frozen([datanode]):
        assert read(1000) == content[:1000] == read(1000, buffering=0)
        for call in calls:
            with pytest.raises(OSError):
                call()
    assert read() == content


def test_a_copy_of_a_file_that_cannot_be_read_to_its_end_keeps_the_old_target(directory, content, tmp_path):
    content = content[: (1 << 20) + 5000]
    path, datanode = first_block_alone(zerohop.connect(settings=IMPATIENT), directory, content)
    files = fsspec.filesystem("hdfs", extra_conf=IMPATIENT, skip_instance_cache=True)
    (tmp_path / "f").write_bytes(b"old")
    with frozen([datanode]), pytest.raises(OSError):
        files.get_file(path, str(tmp_path / "f"))
    assert (tmp_path / "f").read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1
    files.get_file(path, str(tmp_path / "f"))
    assert (tmp_path / "f").read_bytes() == content


def test_a_datanode_dies_under_readers_and_writers(fs, directory, large, content):
    is_killed = threading.Event()
    wrong = []

    def read():
        try:
            with fs.open(large, buffering=0) as file:
                rounds = 0
                while rounds < 3:
                    rounds += is_killed.is_set()
                    file.seek(0)
                    assert file.read() == content
                    assert file.read_ranges([(5, 10), (1 << 21, 10)])[1] == content[1 << 21 : (1 << 21) + 10]
        except BaseException as error:
            wrong.append(error)

    writer = fs.open(f"{directory}/w", "wb", block_size=1 << 20)
    writer.write(content[:1000])
    writer.hflush()
    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    time.sleep(0.2)
    os.kill(DATANODES[0], signal.SIGKILL)
    is_killed.set()
    writer.write(content[1000:])
    writer.close()
    for reader in readers:
        reader.join(60)
    assert not wrong and not any(reader.is_alive() for reader in readers)
    assert fs.read_bytes(f"{directory}/w") == content
