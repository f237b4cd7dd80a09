"""Signals, fork(), threads, and the interpreter's end."""

import fcntl
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import zerohop


def in_child(work):
    """What `work` gives in a child made by fork(); within half a minute."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = repr(work())
        except BaseException as error:
            said = f"{type(error).__name__} {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    killer = threading.Timer(30, os.kill, (child, signal.SIGKILL))
    killer.start()
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    killer.cancel()
    return said


def test_a_forked_child_has_a_client_of_its_own(fs, large, content):
    open_file = fs.open(large, buffering=0)
    assert open_file.read(10) == content[:10]
    assert in_child(lambda: fs.read_bytes(large) == content) == "True"
    assert in_child(lambda: fs.write_bytes(large + "-child", b"from the child")) == "14"
    assert fs.read_bytes(large + "-child") == b"from the child"
    assert in_child(lambda: open_file.read(10)).startswith("OSError [Errno 9] the open file belongs to")
    assert in_child(lambda: open_file.close()) == "None"
    assert in_child(lambda: in_child(lambda: fs.status(large).size)) == repr(str(len(content)))
    assert open_file.read(10) == content[10:20], "the parent's file is as it was"


def test_a_forked_child_leaves_its_parent_s_writer_alone(fs, directory):
    writer = fs.open(f"{directory}/f", "wb")
    writer.write(b"before ")
    assert in_child(lambda: writer.write(b"child")).startswith("OSError [Errno 9]")
    assert in_child(writer.close) == "None"
    writer.write(b"after")
    writer.close()
    assert fs.read_bytes(f"{directory}/f") == b"before after"


ANCHORS = """
import os, sys, zerohop

ANCHORABLE = 1 << 62

def words():
    with open("/proc/self/maps") as maps:
        lines = [line for line in maps if "HadoopShortCircuitShm" in line]
    for line in lines:
        start, end = (int(one, 16) for one in line.split()[0].split("-"))
        yield from range(start, end, 64)

def anchors():
    words_of = open("/proc/self/mem", "rb", buffering=0)
    return sum(int.from_bytes(os.pread(words_of.fileno(), 8, at), "little") & 0x7FFF_FFFF for at in words())

def make_anchorable():
    with open("/proc/self/mem", "r+b", buffering=0) as memory:
        for at in words():
            word = int.from_bytes(os.pread(memory.fileno(), 8, at), "little")
            os.pwrite(memory.fileno(), (word | ANCHORABLE).to_bytes(8, "little"), at)

with zerohop.connect().open(sys.argv[1], buffering=0, mapped=True) as file:
    file.read(1)
    make_anchorable()
    view = file.read_at(100, 1000)
    first, before = bytes(view[:3]), anchors()
    child = os.fork()
    if child == 0:
        is_same = view[:3] == first
        del view
        os._exit(0 if is_same else 1)
    status = os.waitpid(child, 0)[1]
    after = anchors()
    del view
    print(status, before, after, anchors())
"""


def test_a_forked_child_lets_its_parent_s_bytes_alone(run_python, large):
    """A child that dropped a memoryview took away the anchor by which its parent's bytes stay in memory."""
    assert run_python(ANCHORS, large).stdout == "0 1 1 0\n"


def test_a_forked_child_leaves_its_parent_s_event_loop_alone(fs):
    """A child used to read the counter that wakes its parent's event loop, and could wait for a lock of its parent's."""
    completions = zerohop._zerohop.Completions()
    fs.status("/")
    task = fs._native.status("/").start(completions, 7)
    assert select.select([completions.fileno()], [], [], 30)[0]

    def use_it():
        task.cancel()
        drained = completions.drain()
        with pytest.raises(OSError, match="the event loop belongs to"):
            fs._native.status("/").start(completions, 8)
        return drained

    assert in_child(use_it) == "[]"
    assert select.select([completions.fileno()], [], [], 0)[0], "the parent is still woken"
    [(number, status, error)] = completions.drain()
    assert number == 7 and status.path == "/" and error is None


def test_forks_while_threads_read(fs, large, content):
    is_over = threading.Event()

    def read():
        with fs.open(large, buffering=0) as file:
            while not is_over.is_set():
                assert file.read_at(0, len(content)) == content

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(4)]
        try:
            for _ in range(10):
                assert in_child(lambda: fs.read_bytes(large) == content) == "True"
        finally:
            is_over.set()
        for reader in readers:
            reader.result()


def test_threads_share_a_file(fs, large, content):
    with fs.open(large, buffering=0) as file, ThreadPoolExecutor(16) as pool:
        def check(at):
            return file.read_at(at, 50_000) == content[at : at + 50_000]

        assert all(pool.map(check, range(0, len(content), 10_007)))


def test_other_threads_run_while_one_waits(fs):
    """The interpreter's lock is not held by a call that waits."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        uri = f"hdfs://127.0.0.1:{server.getsockname()[1]}"
        settings = {"ipc.client.rpc-timeout.ms": "1500", "dfs.client.retry.max.attempts": "0"}
        silent = zerohop.connect(uri, settings=settings)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(silent.status, "/")
            turns = 0
            while not waiting.done():
                turns += 1
                time.sleep(0.001)
            assert isinstance(waiting.exception(), OSError)
        assert turns > 100


INTERRUPTED = """
import os, signal, sys, threading, time, zerohop
silent = zerohop.connect(sys.argv[1])
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
began = time.monotonic()
try:
    silent.status("/")
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - began < 5)
"""


def test_ctrl_c_ends_a_call_that_waits(run_python):
    with socket.create_server(("127.0.0.1", 0)) as server:
        said = run_python(INTERRUPTED, f"hdfs://127.0.0.1:{server.getsockname()[1]}").stdout
    assert said == "interrupted True\n"


READS = """
import os, signal, sys, threading, zerohop
with zerohop.connect().open(sys.argv[1], buffering=0) as file:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    buffer = bytearray(file.size)
    try:
        while True:
            file.seek(0)
            file.readinto(buffer)
    except KeyboardInterrupt:
        file.seek(0)
        print("goes on", file.read(5))
"""


def test_ctrl_c_in_a_read_leaves_the_file_usable(run_python, large, content):
    assert run_python(READS, large).stdout == f"goes on {content[:5]!r}\n"


WRITES = """
import os, signal, sys, threading, zerohop
fs = zerohop.connect()
writer = fs.open(sys.argv[1], "wb")
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
line = b"0123456789abcde\\n" * 5000
try:
    while True:
        writer.write(line)
except KeyboardInterrupt:
    pass
told = writer.tell()
writer.close()
data = fs.read_bytes(sys.argv[1])
print(len(data) == told, data == line * (told // len(line)))
"""


def test_ctrl_c_in_a_write_writes_nothing_twice(run_python, directory):
    assert run_python(WRITES, f"{directory}/f").stdout == "True True\n"


ENDS = """
import sys, threading, zerohop
fs = zerohop.connect()
reader = fs.open(sys.argv[1])
reader.read(1)
writer = fs.open(sys.argv[2], "wb")
writer.write(b"not closed")

def read():
    while True:
        with fs.open(sys.argv[1], buffering=0) as file:
            file.read()

for _ in range(4):
    threading.Thread(target=read, daemon=True).start()
view = reader.read_at(0, 10)
"""


def test_the_interpreter_ends_with_open_files(run_python, fs, large, directory):
    for number in range(5):
        done = run_python(ENDS, large, f"{directory}/{number}")
        assert done.stderr == ""
        assert fs.read_bytes(f"{directory}/{number}") == b"not closed"


def test_the_interpreter_ends_while_a_thread_waits(run_python):
    with socket.create_server(("127.0.0.1", 0)) as server:
        script = """
import sys, threading, time, zerohop
silent = zerohop.connect(sys.argv[1])
threading.Thread(target=silent.status, args=("/",), daemon=True).start()
time.sleep(0.3)
"""
        assert run_python(script, f"hdfs://127.0.0.1:{server.getsockname()[1]}").stderr == ""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_multiprocessing(run_python, tmp_path, large, content, method):
    script = tmp_path / "script.py"
    script.write_text(
        """
import multiprocessing, sys, zerohop
fs = zerohop.connect()

def count(part):
    fs, path, offset = part
    with fs.open(path, buffering=0) as file:
        return len(file.read_at(offset, 1 << 20))

if __name__ == "__main__":
    fs.status("/")
    with multiprocessing.get_context(sys.argv[1]).Pool(3) as pool:
        print(sum(pool.map(count, [(fs, sys.argv[2], at << 20) for at in range(4)])))
"""
    )
    command = [sys.executable, str(script), method, large]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout == f"{len(content)}\n", done.stderr


def test_only_python_is_needed(fs, large, content):
    """No JVM, no libhdfs, no other package, no variable but the configuration's."""
    where = os.path.dirname(os.path.dirname(zerohop.__file__))
    script = "import sys; sys.path.insert(0, sys.argv[1]); import zerohop; print(len(zerohop.connect(config_dir=sys.argv[3]).read_bytes(sys.argv[2])))"
    command = [sys.executable, "-I", "-S", "-c", script, where, large, os.environ["HADOOP_CONF_DIR"]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={})
    assert done.stdout == f"{len(content)}\n", done.stderr


def test_connect_finds_the_running_cluster(fs, run_python, tmp_path, monkeypatch):
    """``zerohop fs`` found the cluster of ``zerohop up`` and ``connect()`` did not: no file system was configured."""

    def announce(number, conf):
        """What ``zerohop up`` leaves in its runtime directory: a locked file with the path of its configuration."""
        file = open(tmp_path / str(number), "w")
        file.write(conf)
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        return file

    tmp_path.chmod(0o700)
    conf = os.environ["HADOOP_CONF_DIR"]
    monkeypatch.delenv("HADOOP_CONF_DIR")
    monkeypatch.setenv("ZEROHOP_RUNTIME_DIR", str(tmp_path))
    script = "import zerohop; fs = zerohop.connect(); print(fs.uri, fs.exists('/'))"
    with announce(1, conf):
        assert run_python(script).stdout == f"{fs.uri} True\n"
        with announce(2, str(tmp_path)):
            said = run_python(script, code=1).stderr
            assert "2 clusters" in said and f"HADOOP_CONF_DIR={conf}" in said


CUT = """
import os, sys, zerohop

def files():
    with open("/proc/self/maps") as maps:
        return {line.split()[-1] for line in maps if "/blk_" in line and not line.endswith(".meta\\n")}

fs = zerohop.connect()
with fs.open(sys.argv[1], buffering=0, mapped=True) as file:
    file.read(1)
    view = file.read_at(0, 1 << 20)
    [path] = files()
    os.truncate(path, 0)
    # This file's own reads go on: from another replica.
    print(len(file.read_at(10, 5)), len(fs.read_bytes(sys.argv[1])), flush=True)
    print(view[1 << 19])
"""


def test_mapped_bytes_that_are_cut_are_no_zeros(run_python, fs, directory):
    """Bytes whose block file was cut under them used to become zeros, of which no caller could know."""
    fs.write_bytes(f"{directory}/f", b"1" * (1 << 20))
    done = run_python(CUT, f"{directory}/f", code=-signal.SIGBUS)
    assert done.stdout == f"5 {1 << 20}\n"
