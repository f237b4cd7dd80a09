"""The file system for asyncio.

Calls are tasks of the client itself, not threads of Python's; the event loop is woken when one is done. A call that is
cancelled is given up: what it asked for may have been done or not. A file that it opened for writing is closed::

    import asyncio
    import zerohop.aio

    async def main():
        fs = zerohop.aio.connect("hdfs://nn.example.com:8020")
        async with await fs.open("/table/part-0") as file:
            head, tail = await asyncio.gather(file.read_at(0, 4), file.read_at(file.size - 8, 8))

    asyncio.run(main())
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import warnings
import weakref
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from . import _zerohop
from ._filesystem import Client, Verify, parse_mode
from ._paths import Path
from ._staged import beside
from ._zerohop import BlockLocation, ContentSummary, FileStatus

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

T = TypeVar("T")

# Bytes of each piece of `async for`.
PIECE_LEN = 1 << 20


class _Outcomes:
    """The operations of one event loop. The loop holds it, and it does not hold the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._native = _zerohop.Completions()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._last = 0
        loop.add_reader(self._native.fileno(), self._drain)

    async def run(self, loop: asyncio.AbstractEventLoop, operation: _zerohop.Operation[T]) -> T:
        self._last += 1
        number = self._last
        future: asyncio.Future[T] = loop.create_future()
        self._waiting[number] = future
        task = operation.start(self._native, number)
        try:
            return await future
        except asyncio.CancelledError:
            task.cancel()
            if future.done() and not future.cancelled() and future.exception() is None:
                self._close_untaken(future.result())
            raise
        finally:
            del self._waiting[number]

    def _close_untaken(self, value: Any) -> None:
        """A file that was opened for a call that is cancelled is closed, so that no lease is left."""
        if isinstance(value, _zerohop.Writer):
            closing = value.close()
            if closing is not None:
                closing.start(self._native, 0)

    def _drain(self) -> None:
        for number, value, error in self._native.drain():
            future = self._waiting.get(number)
            if future is None or future.done():
                self._close_untaken(value)
                continue
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)


_loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Outcomes] = weakref.WeakKeyDictionary()


async def _run(operation: _zerohop.Operation[T]) -> T:
    loop = asyncio.get_running_loop()
    outcomes = _loops.get(loop)
    if outcomes is None:
        outcomes = _loops[loop] = _Outcomes(loop)
    return await outcomes.run(loop, operation)


class Reader:
    """A file that is read. Positional reads may be awaited at the same time."""

    def __init__(self, native: _zerohop.Reader, name: str) -> None:
        self._native = native
        self._pos = 0
        self.name = name

    @property
    def size(self) -> int:
        """Readable bytes, as of the last time the NameNode was asked."""
        return self._native.size

    def tell(self) -> int:
        """Offset of the next sequential read."""
        return self._pos

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Sets the offset of the next sequential read, as Python's files do."""
        pos = {os.SEEK_SET: 0, os.SEEK_CUR: self._pos, os.SEEK_END: self._native.size}[whence] + offset
        if pos < 0:
            raise ValueError(f"negative seek position {pos}")
        self._pos = pos
        return pos

    async def read(self, size: int = -1) -> memoryview:
        """``size`` bytes, fewer only at the end of the file; without a size all that follow."""
        size = max(0, self._native.size - self._pos) if size < 0 else size
        data = await _run(self._native.read_on(self._pos, size))
        self._pos += len(data)
        return data

    async def read_at(self, offset: int, size: int) -> memoryview:
        """``size`` bytes at ``offset``, independent of the position; fewer only at the end of the file."""
        return await _run(self._native.read_at(offset, size))

    async def read_ranges(self, ranges: Iterable[tuple[int, int]]) -> list[memoryview]:
        """The bytes of several ranges (offset and size), in any order; neighbours are read together."""
        return await _run(self._native.read_ranges(list(ranges)))

    async def refresh(self) -> int:
        """Asks how long the file is now: another client may be writing it."""
        return await _run(self._native.refresh())

    async def statistics(self) -> dict[str, int]:
        """Bytes read: ``total``, ``local``, ``zero_copy``, ``checked``, and by each way they went."""
        return await _run(self._native.statistics())

    async def close(self) -> None:
        """Closes it."""
        self._native.close()

    async def __aenter__(self) -> Reader:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    def __aiter__(self) -> Reader:
        return self

    async def __anext__(self) -> memoryview:
        piece = await self.read(PIECE_LEN)
        if not piece:
            raise StopAsyncIteration
        return piece


class Writer:
    """A file that is written. It must be closed: left open, its last bytes may be missing until its lease runs out."""

    def __init__(self, native: _zerohop.Writer, name: str) -> None:
        self._native = native
        self._is_closed = False
        self.name = name

    def tell(self) -> int:
        """Bytes of the file with those written so far."""
        return self._native.pos

    async def write(self, data: ReadableBuffer) -> int:
        """Writes all of ``data``; where this is cancelled, once or not at all: ``tell`` says so after the next call."""
        return await _run(self._native.write(data))

    async def hflush(self) -> None:
        """Makes all that was written visible to new readers."""
        await _run(self._native.hflush())

    async def hsync(self, *, update_length: bool = False, end_block: bool = False) -> None:
        """The same, and it is on the DataNodes' disks."""
        await _run(self._native.hsync(update_length, end_block))

    async def close(self) -> None:
        """Sends the rest and completes the file, also where this is cancelled; a second call waits for that."""
        closing = self._native.close()
        try:
            if closing is not None:
                await _run(closing)
        except Exception:
            self._is_closed = True
            raise
        self._is_closed = True

    async def __aenter__(self) -> Writer:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    def __del__(self) -> None:
        if not getattr(self, "_is_closed", True):
            warnings.warn(f"{self.name} was not closed and may be incomplete", ResourceWarning, source=self)


class FileSystem(Client):
    """An HDFS file system, for asyncio: the names of ``zerohop.FileSystem`` with ``await``."""

    @overload
    async def open(
        self, path: Path, mode: Literal["rb"] = ..., *, verify: Verify = ..., mapped: bool = ...
    ) -> Reader: ...

    @overload
    async def open(
        self,
        path: Path,
        mode: Literal["wb", "xb", "ab"],
        *,
        replication: int | None = ...,
        block_size: int | None = ...,
        permission: int = ...,
        storage_policy: str | None = ...,
        create_parents: bool = ...,
    ) -> Writer: ...

    async def open(
        self,
        path: Path,
        mode: str = "rb",
        *,
        verify: Verify = "full",
        mapped: bool = False,
        replication: int | None = None,
        block_size: int | None = None,
        permission: int = 0o666,
        storage_policy: str | None = None,
        create_parents: bool = True,
    ) -> Reader | Writer:
        """Opens a file of bytes: "rb", "wb", "xb" or "ab"; options as of ``zerohop.FileSystem.open``."""
        letter, is_text = parse_mode(mode)
        if is_text:
            raise ValueError(f"files of asyncio are files of bytes: {mode + 'b'!r}")
        name = self._path(path)
        if letter == "r":
            return Reader(await _run(self._native.open(name, verify, mapped)), name)
        if letter == "a":
            try:
                return Writer(await _run(self._native.append(name, False)), name)
            except FileNotFoundError:
                pass
        creating = self._native.create(
            name, letter == "w", create_parents, replication, block_size, permission, storage_policy
        )
        return Writer(await _run(creating), name)

    async def read_bytes(self, path: Path) -> bytes:
        """All bytes of a file."""
        async with await self.open(path) as file:
            return bytes(await file.read())

    async def write_bytes(self, path: Path, data: bytes | bytearray | memoryview) -> int:
        """Makes a file of these bytes; one that is there is replaced when all of them are written."""
        name = self._path(path)
        hidden = beside(name)
        file = None
        try:
            file = await self.open(hidden, "xb")
            count = await file.write(data)
            await file.close()
            await self._take_name(hidden, name)
        except BaseException:
            with contextlib.suppress(OSError):
                await self.remove(hidden)
            if file is not None:
                with contextlib.suppress(OSError):
                    await file.close()
            raise
        return count

    async def _take_name(self, hidden: str, name: str) -> None:
        try:
            await self.rename(hidden, name, overwrite=True)
        except OSError as error:
            if (await self.status(name)).is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name) from error
            raise

    async def status(self, path: Path) -> FileStatus:
        """What is known of a path."""
        return await _run(self._native.status(self._path(path)))

    async def exists(self, path: Path) -> bool:
        """Whether a path exists."""
        try:
            await self.status(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    async def list_dir(self, path: Path) -> list[FileStatus]:
        """What a directory holds, in order of name; a file lists itself."""
        return await _run(self._native.list_dir(self._path(path)))

    def entries(self, path: Path) -> AsyncIterator[FileStatus]:
        """The same, fetched page by page as the iterator advances."""
        return _batches(self._native.entries(self._path(path)))

    def walk(self, path: Path) -> AsyncIterator[FileStatus]:
        """All files and directories below a path, each directory before what it holds."""
        return _batches(self._native.walk(self._path(path)))

    async def mkdir(
        self, path: Path, permission: int = 0o777, *, parents: bool = False, exist_ok: bool = False
    ) -> None:
        """Makes a directory, with ``parents`` the missing ones above it, too."""
        name = self._path(path)
        if not exist_ok and await self.exists(name):
            raise FileExistsError(17, "File exists", name)
        await _run(self._native.mkdirs(name, permission, parents))

    async def remove(self, path: Path, *, recursive: bool = False) -> None:
        """Deletes a file or an empty directory; with ``recursive`` any directory."""
        name = self._path(path)
        if not await _run(self._native.delete(name, recursive)):
            raise FileNotFoundError(2, "No such file or directory", name)

    async def rename(self, path: Path, to: Path, *, overwrite: bool = False) -> None:
        """Renames to exactly ``to``; with ``overwrite`` a file or an empty directory there is replaced."""
        await _run(self._native.rename(self._path(path), self._path(to), overwrite))

    async def checksum(self, path: Path) -> tuple[str, bytes] | None:
        """A file's checksum as Hadoop has it: the name of the algorithm, and the value."""
        return await _run(self._native.checksum(self._path(path)))

    async def content_summary(self, path: Path) -> ContentSummary:
        """Sums below a path, and its quotas."""
        return await _run(self._native.content_summary(self._path(path)))

    async def block_locations(
        self, path: Path, offset: int = 0, size: int = (1 << 63) - 1
    ) -> list[BlockLocation]:
        """Where the blocks of a range of a file are."""
        return await _run(self._native.block_locations(self._path(path), offset, size))


async def _batches(listing: _zerohop.Listing) -> AsyncIterator[FileStatus]:
    while batch := await _run(listing.batch()):
        for entry in batch:
            yield entry


def connect(
    uri: str | None = None,
    *,
    user: str | None = None,
    config_dir: str | os.PathLike[str] | None = None,
    settings: Mapping[str, str] | None = None,
) -> FileSystem:
    """A file system, as ``zerohop.connect`` has it. Nothing is sent yet."""
    return FileSystem(uri, user=user, config_dir=config_dir, settings=settings)
