"""The file system for asyncio."""

import asyncio
import socket
import time

import pytest

import zerohop.aio


def test_files(fs, large, content):
    async def main():
        aio = zerohop.aio.connect()
        async with await aio.open(large) as file:
            assert file.size == len(content)
            assert await file.read(10) == content[:10]
            file.seek(-3, 2)
            assert await file.read() == content[-3:]
            parts = await asyncio.gather(*(file.read_at(at << 19, 1 << 19) for at in range(7)))
            assert b"".join(parts) == content
            assert [bytes(one) for one in await file.read_ranges([(7, 3), (1 << 21, 5)])] == [
                content[7:10],
                content[1 << 21 : (1 << 21) + 5],
            ]
            file.seek(0)
            assert b"".join([bytes(piece) async for piece in file]) == content
            assert (await file.statistics())["total"] >= len(content)
        with pytest.raises(ValueError):
            await file.read(1)
        async with await aio.open(large + "-copy", "wb") as copy:
            assert await copy.write(content) == len(content)
            await copy.hflush()
            assert await aio.read_bytes(large + "-copy") == content
            await copy.write(b"more")
            await copy.hsync()
            assert copy.tell() == len(content) + 4
        async with await aio.open(large + "-copy", "ab") as copy:
            await copy.write(b"!")
        assert (await aio.status(large + "-copy")).size == len(content) + 5
        assert await aio.checksum(large) == fs.checksum(large)

    asyncio.run(main())


def test_names(fs, directory):
    async def main():
        aio = zerohop.aio.connect()
        await aio.mkdir(f"{directory}/a/b", parents=True)
        await aio.write_bytes(f"{directory}/a/f", b"1")
        assert [one.name for one in await aio.list_dir(f"{directory}/a")] == ["b", "f"]
        assert [one.name async for one in aio.walk(directory)] == ["a", "b", "f"]
        assert [one.name async for one in aio.entries(directory)] == ["a"]
        await aio.rename(f"{directory}/a/f", f"{directory}/g")
        assert await aio.exists(f"{directory}/g") and not await aio.exists(f"{directory}/a/f")
        await aio.remove(f"{directory}/a", recursive=True)
        for exception, call in (
            (FileNotFoundError, aio.open(f"{directory}/no")),
            (FileNotFoundError, aio.remove(f"{directory}/no")),
            (FileExistsError, aio.mkdir(f"{directory}/g")),
            (FileExistsError, aio.open(f"{directory}/g", "xb")),
            (ValueError, aio.open(f"{directory}/g", "r")),
        ):
            with pytest.raises(exception):
                await call
        assert (await aio.content_summary(directory)).files == 1
        assert (await aio.block_locations(f"{directory}/g"))[0].length == 1

    asyncio.run(main())


def test_a_thousand_reads_at_once(large, content):
    async def main():
        aio = zerohop.aio.connect()
        files = [await aio.open(large) for _ in range(10)]
        reads = [files[n % 10].read_at(n * 3000, 2000) for n in range(1000)]
        found = await asyncio.gather(*reads)
        assert all(one == content[n * 3000 : n * 3000 + 2000] for n, one in enumerate(found))

    for _ in range(2):
        asyncio.run(main())  # A second event loop of the same process.


def test_what_is_cancelled_is_given_up():
    async def main(uri):
        silent = zerohop.aio.connect(uri)
        began = time.monotonic()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(silent.status("/"), 0.2)
        ticks = 0
        waiting = asyncio.ensure_future(silent.status("/"))
        while ticks < 20:
            await asyncio.sleep(0.01)
            ticks += 1
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert time.monotonic() - began < 5

    with socket.create_server(("127.0.0.1", 0)) as server:
        asyncio.run(main(f"hdfs://127.0.0.1:{server.getsockname()[1]}"))


def test_a_cancelled_write_is_written_once_or_not_at_all(fs, directory):
    async def main():
        aio = zerohop.aio.connect()
        file = await aio.open(f"{directory}/f", "wb")
        data = b"x" * (8 << 20)
        writing = asyncio.ensure_future(file.write(data))
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        await file.hflush()
        told = file.tell()
        await file.close()
        return told

    told = asyncio.run(main())
    assert fs.status(f"{directory}/f").size == told and told in (0, 8 << 20)


def test_no_thread_of_python_is_made(large):
    async def main():
        import threading

        aio = zerohop.aio.connect()
        before = threading.active_count()
        async with await aio.open(large) as file:
            await asyncio.gather(*(file.read_at(at, 100) for at in range(100)))
        assert threading.active_count() == before

    asyncio.run(main())


def test_the_interpreter_ends_in_the_middle(run_python, large):
    script = """
import asyncio, sys, zerohop.aio

async def main():
    aio = zerohop.aio.connect()
    file = await aio.open(sys.argv[1])
    for at in range(50):
        asyncio.ensure_future(file.read_at(at, 1 << 20))
    await asyncio.sleep(0)
    sys.exit(3)

asyncio.run(main())
"""
    run_python(script, large, code=3)
