"""The annotations, by mypy: they are right, and the stubs say what the extension module has."""

import pathlib
import subprocess
import sys

import zerohop

PACKAGE = pathlib.Path(zerohop.__file__).parent


def run(*arguments):
    done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, cwd=PACKAGE.parent)
    assert done.returncode == 0, done.stdout + done.stderr


def test_annotations(tmp_path):
    uses = tmp_path / "uses.py"
    uses.write_text(
        """
from typing import assert_type
import zerohop, zerohop.aio

fs = zerohop.connect()
with fs.open("/f") as file:
    assert_type(file, zerohop.BufferedReader)
    assert_type(file.read(1), bytes)
    assert_type(file.read_at(0, 1), memoryview)
with fs.open("/f", buffering=0) as raw:
    assert_type(raw, zerohop.Reader)
with fs.open("/f", "wb", replication=2) as writer:
    assert_type(writer, zerohop.Writer)
assert_type(fs.status("/f").size, int)

async def main() -> None:
    aio = zerohop.aio.connect()
    async with await aio.open("/f") as file:
        assert_type(await file.read(), memoryview)
    async with await aio.open("/f", "wb") as writer:
        await writer.write(b"")
"""
    )
    cache = ("--cache-dir", str(tmp_path / "cache"))
    run("mypy", "--strict", "--ignore-missing-imports", "--allow-subclassing-any", *cache, "-p", "zerohop")
    run("mypy", "--strict", *cache, str(uses))


def test_stubs():
    run("mypy.stubtest", "zerohop._zerohop", "--ignore-missing-stub")
