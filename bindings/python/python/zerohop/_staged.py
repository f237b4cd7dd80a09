"""Files that take a name when they are complete, so that a failure leaves what had the name before."""

from __future__ import annotations

import contextlib
import errno
import os
import posixpath
import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ._files import Writer

if TYPE_CHECKING:
    from ._filesystem import FileSystem

# Bytes of a copy that are read at a time.
COPY_LEN = 4 << 20
# Bytes of a name that are kept in that of the hidden file: a NameNode takes names of 255 bytes.
NAME_LEN = 200


def beside(path: str) -> str:
    """The name of a hidden file in the same directory."""
    parent, name = posixpath.split(path)
    short = name.encode()[:NAME_LEN].decode(errors="ignore")
    return posixpath.join(parent, f".{short}.{secrets.token_hex(8)}._COPYING_")


@contextlib.contextmanager
def replacing(
    fs: FileSystem, path: str, replication: int | None = None, *, overwrite: bool = True
) -> Iterator[Writer]:
    """A file that gets the name ``path`` at the end of the block, in the place of a file that has it, or is deleted."""
    hidden = beside(path)
    file = Writer(fs._writer("x", hidden, True, replication, None, 0o666, None), hidden)
    try:
        yield file
        file.close()
        take_name(fs, hidden, path, overwrite=overwrite)
    except BaseException:
        discard(fs, file)
        raise


def take_name(fs: FileSystem, hidden: str, path: str, *, overwrite: bool = True) -> None:
    """Renames a complete file; where ``path`` is a directory, IsADirectoryError tells so."""
    try:
        fs.rename(hidden, path, overwrite=overwrite)
    except OSError as error:
        if overwrite and fs.is_dir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path) from error
        raise


def discard(fs: FileSystem, file: Writer) -> None:
    """Deletes a file that is being written. What fails is not reported: the caller raises why the file is given up."""
    with contextlib.suppress(OSError):
        fs.remove(file.name)
    # What it still holds goes nowhere: the file is gone.
    with contextlib.suppress(OSError):
        file.close()


def copy(fs: FileSystem, source: str, target: str, replication: int | None = None) -> None:
    """Copies a file; ``target`` is replaced when the copy is complete. A file is its own copy already."""
    with fs.open(source, "rb", buffering=0) as old:
        if source == target:
            return
        with replacing(fs, target, replication) as new:
            piece = bytearray(min(COPY_LEN, max(1, old.size)))
            while count := old.readinto(piece):
                new.write(memoryview(piece)[:count])
