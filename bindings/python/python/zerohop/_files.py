"""Files as Python knows them."""

from __future__ import annotations

import atexit
import io
import os
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import _zerohop

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

# Bytes that a BufferedReader asks for at once.
BUFFER_LEN = 128 << 10


class Reader(io.RawIOBase):
    """A file that is read, without a buffer of its own.

    Positional reads (``read_at``, ``read_ranges``) do not move the position and may be made by several threads at once. A read
    gives all that it was asked for, as far as the file goes, or raises and leaves the position as it was.
    """

    mode = "rb"

    def __init__(self, native: _zerohop.Reader, name: str) -> None:
        super().__init__()
        self._native = native
        self._pos = 0
        self.name = name

    @property
    def size(self) -> int:
        """Readable bytes, as of the last time the NameNode was asked."""
        return self._native.size

    def readable(self) -> bool:
        self._check_open()
        return True

    def seekable(self) -> bool:
        self._check_open()
        return True

    def tell(self) -> int:
        self._check_open()
        return self._pos

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        size = self._native.size
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._pos, os.SEEK_END: size}.get(whence)
        if base is None:
            raise ValueError(f"invalid whence ({whence}, should be 0, 1 or 2)")
        if base + offset < 0:
            raise ValueError(f"negative seek position {base + offset}")
        self._pos = base + offset
        return self._pos

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fills ``buffer``; fewer bytes only at the end of the file."""
        read = self._native.readinto(self._pos, buffer)
        self._pos += read
        return read

    def read(self, size: int | None = -1, /) -> bytes:
        """``size`` bytes, fewer only at the end of the file; without a size all that follow."""
        if size is None or size < 0:
            return self.readall()
        data = self._native.read(self._pos, size)
        self._pos += len(data)
        return data

    def readall(self) -> bytes:
        data = self._native.read(self._pos, max(0, self._native.size - self._pos))
        self._pos += len(data)
        return data

    def read_at(self, offset: int, size: int) -> memoryview:
        """``size`` bytes at ``offset``, independent of the position; fewer only at the end of the file.

        Where the file was opened with ``mapped=True`` and a replica is on this machine, the bytes are those in the map of the
        replica's file: nothing is copied, and the memoryview keeps the map.
        """
        return self._native.read_at(offset, size).wait()

    def read_ranges(self, ranges: Iterable[tuple[int, int]]) -> list[memoryview]:
        """The bytes of several ranges (offset and size), in any order; neighbours are read together."""
        return self._native.read_ranges(list(ranges)).wait()

    def refresh(self) -> int:
        """Asks how long the file is now: another client may be writing it."""
        return self._native.refresh().wait()

    def unbuffer(self) -> None:
        """Lets the connection and replicas of this machine go until the next read."""
        self._native.unbuffer().wait()

    def statistics(self) -> dict[str, int]:
        """Bytes read: ``total``, ``local``, ``zero_copy``, ``checked``, and by each way they went."""
        return self._native.statistics().wait()

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._native.close()

    def _check_open(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file.")


class BufferedReader(io.BufferedReader):
    """A ``Reader`` with a buffer, which short reads and lines need; ``raw`` is the Reader."""

    raw: Reader

    @property
    def size(self) -> int:
        """As ``Reader.size``."""
        return self.raw.size

    def read_at(self, offset: int, size: int) -> memoryview:
        """As ``Reader.read_at``."""
        return self.raw.read_at(offset, size)

    def read_ranges(self, ranges: Iterable[tuple[int, int]]) -> list[memoryview]:
        """As ``Reader.read_ranges``."""
        return self.raw.read_ranges(ranges)

    def statistics(self) -> dict[str, int]:
        """As ``Reader.statistics``."""
        return self.raw.statistics()


class Writer(io.RawIOBase):
    """A file that is written. It has a buffer of its own: bytes leave in packets.

    ``write`` takes all of its bytes. A write that a signal interrupts is done all the same, once; ``tell`` counts it.
    """

    mode = "wb"

    def __init__(self, native: _zerohop.Writer, name: str) -> None:
        super().__init__()
        self._native = native
        self._is_flushed = True
        self._has_failed = False
        self.name = name
        _open_writers.add(self)

    def writable(self) -> bool:
        if self.closed:
            raise ValueError("I/O operation on closed file.")
        return True

    def tell(self) -> int:
        return self._native.pos

    def write(self, data: ReadableBuffer, /) -> int:
        operation = self._native.write(data)
        self._is_flushed = False
        return operation.wait()

    def flush(self) -> None:
        """As ``hflush``, where something was written since."""
        if not self._is_flushed:
            self.hflush()

    def hflush(self) -> None:
        """Makes all that was written visible to new readers; every DataNode of the pipeline has it in memory."""
        self._native.hflush().wait()
        self._is_flushed = True

    def hsync(self, *, update_length: bool = False, end_block: bool = False) -> None:
        """The same, and it is on the DataNodes' disks. ``update_length`` has the NameNode learn the length."""
        self._native.hsync(update_length, end_block).wait()
        self._is_flushed = True

    def close(self) -> None:
        """Sends the rest and completes the file. A second call does nothing, and fails where the first one did.

        Where a signal ends the wait, the file is still open: the next call waits for the same.
        """
        if self.closed and not self._has_failed:
            return
        self._is_flushed = True
        closing = self._native.close()
        try:
            if closing is not None:
                closing.wait()
        except Exception:
            self._has_failed = True
            self._end()
            raise
        self._end()

    def _end(self) -> None:
        _open_writers.discard(self)
        super().close()


_open_writers: weakref.WeakSet[Writer] = weakref.WeakSet()


def _end() -> None:
    """The interpreter ends: files that were left open are completed, as Python's own are."""
    for writer in list(_open_writers):
        try:
            writer.close()
        except OSError:
            pass
    _zerohop.end_waits()


atexit.register(_end)
os.register_at_fork(after_in_child=_zerohop.after_fork)


def text(file: Any, encoding: str | None, errors: str | None, newline: str | None) -> io.TextIOWrapper:
    """A file as text, UTF-8 unless it is said otherwise."""
    return io.TextIOWrapper(file, encoding or "utf-8", errors, newline)
