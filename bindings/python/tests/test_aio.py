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


# Calls of every coroutine, each on files `f` and `g` and a directory `d` of its own. Those that change something may find it done.
CALLS = {
    "FileSystem.open": lambda fs, at: opened(fs, f"{at}/new"),
    "FileSystem.read_bytes": lambda fs, at: fs.read_bytes(f"{at}/f"),
    "FileSystem.write_bytes": lambda fs, at: fs.write_bytes(f"{at}/new", b"12"),
    "FileSystem.status": lambda fs, at: fs.status(f"{at}/f"),
    "FileSystem.exists": lambda fs, at: fs.exists(f"{at}/f"),
    "FileSystem.list_dir": lambda fs, at: fs.list_dir(at),
    "FileSystem.mkdir": lambda fs, at: fs.mkdir(f"{at}/e", exist_ok=True),
    "FileSystem.remove": lambda fs, at: fs.remove(f"{at}/f"),
    "FileSystem.rename": lambda fs, at: fs.rename(f"{at}/f", f"{at}/h"),
    "FileSystem.checksum": lambda fs, at: fs.checksum(f"{at}/f"),
    "FileSystem.content_summary": lambda fs, at: fs.content_summary(at),
    "FileSystem.block_locations": lambda fs, at: fs.block_locations(f"{at}/f"),
    "Reader.read": lambda file: file.read(),
    "Reader.read_at": lambda file: file.read_at(0, 5),
    "Reader.read_ranges": lambda file: file.read_ranges([(0, 1), (2, 1)]),
    "Reader.refresh": lambda file: file.refresh(),
    "Reader.statistics": lambda file: file.statistics(),
    "Reader.close": lambda file: file.close(),
    "Writer.write": lambda file: file.write(b"12"),
    "Writer.hflush": lambda file: file.hflush(),
    "Writer.hsync": lambda file: file.hsync(),
    "Writer.close": lambda file: file.close(),
}
MAY_BE_DONE = {"FileSystem.remove": FileNotFoundError, "FileSystem.rename": FileNotFoundError}


async def opened(fs, path):
    await (await fs.open(path, "wb")).close()


async def give_up(call, steps):
    task = asyncio.ensure_future(call)
    for _ in range(steps):
        await asyncio.sleep(0.001 if steps > 1 else 0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def no_lease(path):
    """Another client can append: none has the file open."""
    other = zerohop.aio.connect()
    for _ in range(300):
        try:
            await (await other.open(path, "ab")).close()
            return
        except FileNotFoundError:
            raise
        except OSError:
            await asyncio.sleep(0.1)
    await (await other.open(path, "ab")).close()


async def give_up_and_call_again(aio, at, name, steps):
    kind, call = name.split(".")[0], CALLS[name]
    await aio.mkdir(f"{at}/d", parents=True)
    for one in "fg":
        await aio.write_bytes(f"{at}/{one}", b"12345")
    if kind == "FileSystem":
        await give_up(call(aio, at), steps)
        try:
            await call(aio, at)
        except MAY_BE_DONE.get(name, ()):
            pass
    elif kind == "Reader":
        async with await aio.open(f"{at}/f") as file:
            await give_up(call(file), steps)
            if name == "Reader.close":
                return
            rest = 5 - file.tell()
            assert len(await file.read()) == rest and await file.read_at(0, 5) == b"12345"
            file.seek(0)
            await call(file)
    else:
        file = await aio.open(f"{at}/new", "wb")
        await file.write(b"12")
        await give_up(call(file), steps)
        if name != "Writer.close":
            await call(file)
        await file.close()
        await file.close()
        text = await aio.read_bytes(f"{at}/new")
        assert text in (b"12", b"1212", b"121212")
    for one in await aio.list_dir(at):
        if one.is_file():
            await no_lease(one.path)


def test_every_coroutine_is_given_up_and_called_again(directory):
    import inspect

    kinds = (zerohop.aio.FileSystem, zerohop.aio.Reader, zerohop.aio.Writer)
    coroutines = {
        f"{kind.__name__}.{name}"
        for kind in kinds
        for name, member in vars(kind).items()
        if inspect.iscoroutinefunction(member) and not name.startswith("_")
    }
    assert coroutines == set(CALLS), "every coroutine has a call here"

    async def main():
        aio = zerohop.aio.connect()
        # Another file keeps the leases of this client.
        kept = await aio.open(f"{directory}/kept", "wb")
        for number, name in enumerate(CALLS):
            for steps in (0, 1, 3):
                await give_up_and_call_again(aio, f"{directory}/{number}-{steps}", name, steps)
        await kept.close()

    asyncio.run(main())


def test_an_open_that_is_cancelled_leaves_no_lease(directory):
    """The client's other files would keep it for good."""

    async def main():
        aio = zerohop.aio.connect()
        kept = await aio.open(f"{directory}/kept", "wb")
        await aio.write_bytes(f"{directory}/a", b"1")
        for number in range(20):
            for mode, name in (("wb", f"w{number}"), ("ab", "a")):
                task = asyncio.ensure_future(aio.open(f"{directory}/{name}", mode))
                if number < 10:
                    await asyncio.sleep(number * 0.0005)
                else:
                    # The file is open, and the loop has not taken it yet.
                    await asyncio.sleep(0)
                    time.sleep(0.01)
                task.cancel()
                for file in await asyncio.gather(task, return_exceptions=True):
                    if isinstance(file, zerohop.aio.Writer):
                        await file.close()
        for one in await aio.list_dir(directory):
            if one.name != "kept":
                await no_lease(one.path)
        await kept.close()

    asyncio.run(main())


def test_a_close_after_a_cancelled_one_waits_for_its_end(fs, directory):
    """It said that the file was complete, which it never became."""

    async def main():
        aio = zerohop.aio.connect()
        for steps in range(10):
            path = f"{directory}/{steps}"
            file = await aio.open(path, "wb")
            await file.write(b"x" * 100_000)
            closing = asyncio.ensure_future(file.close())
            for _ in range(steps):
                await asyncio.sleep(0)
            closing.cancel()
            await asyncio.gather(closing, return_exceptions=True)
            await file.close()
            assert fs.status(path).size == 100_000
            await no_lease(path)

    asyncio.run(main())


def test_a_close_after_one_that_failed_fails_as_well(fs, directory):
    async def main():
        file = await zerohop.aio.connect().open(f"{directory}/f", "wb")
        await file.write(b"x")
        fs.remove(f"{directory}/f")
        for _ in range(2):
            with pytest.raises(OSError):
                await file.close()

    asyncio.run(main())
    file = fs.open(f"{directory}/g", "wb", buffering=0)
    file.write(b"x")
    fs.remove(f"{directory}/g")
    for _ in range(2):
        with pytest.raises(OSError):
            file.close()
        assert file.closed
