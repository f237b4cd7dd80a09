"""The file system for plain threads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, overload

from . import _files, _staged, _zerohop
from ._files import BUFFER_LEN, BufferedReader, Reader, Writer
from ._paths import Path, absolute
from ._zerohop import BlockLocation, ContentSummary, FileStatus

Verify = Literal["full", "once", "none"]


class Client:
    """What the file systems for threads and for asyncio have in common."""

    def __init__(
        self,
        uri: str | None = None,
        *,
        user: str | None = None,
        config_dir: str | os.PathLike[str] | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self._arguments = (uri, user, config_dir, dict(settings or {}))
        self._native = _zerohop.Client(uri, user, config_dir, dict(settings or {}))
        self.uri = self._native.uri
        self.user = self._native.user
        self.home = self._native.home

    def __reduce__(self) -> tuple[Any, ...]:
        uri, user, config_dir, settings = self._arguments
        return (_again, (type(self), uri, user, config_dir, settings))

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{type(self).__name__}({self.uri!r}, user={self.user!r})"

    def _path(self, path: Path) -> str:
        return absolute(path, self._native.path_of, self.home)


def _again(made: type[Client], uri: Any, user: Any, config_dir: Any, settings: Any) -> Client:
    return made(uri, user=user, config_dir=config_dir, settings=settings)


def parse_mode(mode: str) -> tuple[str, bool]:
    """The letter of "rwxa" that a mode has, and whether it is text."""
    letters = [letter for letter in mode if letter in "rwxa"]
    rest = [letter for letter in mode if letter not in "rwxabt"]
    is_text = "t" in mode or "b" not in mode
    if len(letters) != 1 or rest or ("t" in mode and "b" in mode) or len(set(mode)) != len(mode):
        raise ValueError(f"invalid mode: {mode!r}; HDFS has \"r\", \"w\", \"x\" and \"a\", with \"b\" or \"t\"")
    return letters[0], is_text


class FileSystem(Client):
    """An HDFS file system, for plain threads.

    Paths are absolute, or start in the user's home directory. Errors are Python's: FileNotFoundError, PermissionError and
    other OSErrors, whose ``java_class`` is the class of the server's exception or None. Any thread may call; Ctrl-C ends
    a call. A child made by fork() gets connections of its own, and files that were open before raise OSError (EBADF)
    there.
    """

    @overload
    def open(  # type: ignore[overload-overlap]
        self,
        path: Path,
        mode: Literal["rb"] = ...,
        *,
        buffering: Literal[0],
        verify: Verify = ...,
        mapped: bool = ...,
    ) -> Reader: ...

    @overload
    def open(
        self,
        path: Path,
        mode: Literal["rb"] = ...,
        *,
        buffering: int = ...,
        verify: Verify = ...,
        mapped: bool = ...,
    ) -> BufferedReader: ...

    @overload
    def open(
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

    @overload
    def open(
        self,
        path: Path,
        mode: str,
        *,
        buffering: int = ...,
        encoding: str | None = ...,
        errors: str | None = ...,
        newline: str | None = ...,
        verify: Verify = ...,
        mapped: bool = ...,
        replication: int | None = ...,
        block_size: int | None = ...,
        permission: int = ...,
        storage_policy: str | None = ...,
        create_parents: bool = ...,
    ) -> Any: ...

    def open(
        self,
        path: Path,
        mode: str = "rb",
        *,
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        verify: Verify = "full",
        mapped: bool = False,
        replication: int | None = None,
        block_size: int | None = None,
        permission: int = 0o666,
        storage_policy: str | None = None,
        create_parents: bool = True,
    ) -> Any:
        """Opens a file; modes as of Python's ``open``, without "+".

        "rb" gives a BufferedReader, with ``buffering=0`` a Reader; "wb", "xb" and "ab" a Writer; text modes wrap these.

        ``verify="once"`` compares bytes of a replica of this machine with their checksums only the first time,
        ``"none"`` never. ``mapped=True`` has ``read_at`` give bytes of a replica of this machine in its map. It is for
        machines whose DataNode alone writes to its disks: where another process changes a block file, the bytes change
        under the memoryview; where a block file is cut (by a truncation of the file, too) or the disk fails, reading
        them ends the process with SIGBUS. They never become zeros.

        Of a file that is made: its number of replicas, block size and permission bits before the umask, the name of
        a storage policy, and whether missing directories above are made.
        """
        letter, is_text = parse_mode(mode)
        name = self._path(path)
        if letter == "r":
            raw = Reader(self._native.open(name, verify, mapped).wait(), name)
            if buffering == 0 and not is_text:
                return raw
            file: Any = BufferedReader(raw, buffering if buffering > 1 else BUFFER_LEN)
        else:
            file = Writer(self._writer(letter, name, create_parents, replication, block_size, permission, storage_policy), name)
        return _files.text(file, encoding, errors, newline) if is_text else file

    def _writer(
        self,
        letter: str,
        name: str,
        create_parents: bool,
        replication: int | None,
        block_size: int | None,
        permission: int,
        storage_policy: str | None,
    ) -> _zerohop.Writer:
        if letter == "a":
            try:
                return self._native.append(name, False).wait()
            except FileNotFoundError:
                # As Python's own; another client's file is not replaced.
                pass
        return self._native.create(
            name, letter == "w", create_parents, replication, block_size, permission, storage_policy
        ).wait()

    def read_bytes(self, path: Path) -> bytes:
        """All bytes of a file."""
        with self.open(path, "rb", buffering=0) as file:
            return file.readall()

    def write_bytes(self, path: Path, data: bytes | bytearray | memoryview) -> int:
        """Makes a file of these bytes; one that is there is replaced when all of them are written."""
        with _staged.replacing(self, self._path(path)) as file:
            return file.write(data)

    def status(self, path: Path) -> FileStatus:
        """What is known of a path."""
        return self._native.status(self._path(path)).wait()

    def exists(self, path: Path) -> bool:
        """Whether a path exists."""
        try:
            self.status(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def is_file(self, path: Path) -> bool:
        """Whether a path exists and is a file."""
        try:
            return self.status(path).is_file()
        except (FileNotFoundError, NotADirectoryError):
            return False

    def is_dir(self, path: Path) -> bool:
        """Whether a path exists and is a directory."""
        try:
            return self.status(path).is_dir()
        except (FileNotFoundError, NotADirectoryError):
            return False

    def list_dir(self, path: Path) -> list[FileStatus]:
        """What a directory holds, in order of name; a file lists itself."""
        return self._native.list_dir(self._path(path)).wait()

    def entries(self, path: Path) -> Iterator[FileStatus]:
        """The same, fetched page by page as the iterator advances."""
        return _batches(self._native.entries(self._path(path)))

    def walk(self, path: Path) -> Iterator[FileStatus]:
        """All files and directories below a path, each directory before what it holds."""
        return _batches(self._native.walk(self._path(path)))

    def mkdir(self, path: Path, permission: int = 0o777, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Makes a directory, with ``parents`` the missing ones above it, too."""
        name = self._path(path)
        if not exist_ok and self.exists(name):
            raise FileExistsError(17, "File exists", name)
        self._native.mkdirs(name, permission, parents).wait()

    def remove(self, path: Path, *, recursive: bool = False) -> None:
        """Deletes a file or an empty directory; with ``recursive`` any directory."""
        name = self._path(path)
        if not self._native.delete(name, recursive).wait():
            raise FileNotFoundError(2, "No such file or directory", name)

    def rename(self, path: Path, to: Path, *, overwrite: bool = False) -> None:
        """Renames to exactly ``to``; with ``overwrite`` a file or an empty directory there is replaced."""
        self._native.rename(self._path(path), self._path(to), overwrite).wait()

    def truncate(self, path: Path, size: int) -> bool:
        """Cuts a file; False where its last block is being cut and the file is not closed yet."""
        return self._native.truncate(self._path(path), size).wait()

    def concat(self, path: Path, sources: Iterable[Path]) -> None:
        """Moves the blocks of other files to the end of a file."""
        self._native.concat(self._path(path), [self._path(source) for source in sources]).wait()

    def chmod(self, path: Path, permission: int) -> None:
        """Sets permission bits."""
        self._native.set_permission(self._path(path), permission).wait()

    def chown(self, path: Path, owner: str | None = None, group: str | None = None) -> None:
        """Sets owner and group, each where it is given."""
        self._native.set_owner(self._path(path), owner, group).wait()

    def utime(self, path: Path, *, modified: float | None = None, accessed: float | None = None) -> None:
        """Sets times in seconds since 1970, each where it is given."""
        milliseconds = [None if time is None else round(time * 1000) for time in (modified, accessed)]
        self._native.set_times(self._path(path), *milliseconds).wait()

    def set_replication(self, path: Path, replication: int) -> bool:
        """Sets how many replicas each block of a file should have; False for a directory."""
        return self._native.set_replication(self._path(path), replication).wait()

    def checksum(self, path: Path) -> tuple[str, bytes] | None:
        """A file's checksum as Hadoop has it: the name of the algorithm, and the value."""
        return self._native.checksum(self._path(path)).wait()

    def content_summary(self, path: Path) -> ContentSummary:
        """Sums below a path, and its quotas."""
        return self._native.content_summary(self._path(path)).wait()

    def block_locations(self, path: Path, offset: int = 0, size: int = (1 << 63) - 1) -> list[BlockLocation]:
        """Where the blocks of a range of a file are."""
        return self._native.block_locations(self._path(path), offset, size).wait()

    def xattrs(self, path: Path) -> dict[str, bytes]:
        """The extended attributes by their full names (``user.color``)."""
        return self._native.xattrs(self._path(path)).wait()

    def set_xattr(self, path: Path, name: str, value: bytes | None) -> None:
        """Sets an extended attribute, or removes it where ``value`` is None."""
        self._native.set_xattr(self._path(path), name, value).wait()

    def capacity(self) -> tuple[int, int, int]:
        """The capacity of the file system, what is used of it, and what remains, in bytes."""
        return self._native.capacity().wait()


def _batches(listing: _zerohop.Listing) -> Iterator[FileStatus]:
    while batch := listing.batch().wait():
        yield from batch


def connect(
    uri: str | None = None,
    *,
    user: str | None = None,
    config_dir: str | os.PathLike[str] | None = None,
    settings: Mapping[str, str] | None = None,
) -> FileSystem:
    """A file system: ``hdfs://host:port`` or ``hdfs://nameservice``, or else fs.defaultFS. Nothing is sent yet.

    ``config_dir`` is the directory of core-site.xml and hdfs-site.xml, by default that of HADOOP_CONF_DIR, and without
    any of them that of the ``zerohop up`` which you run on this machine; ``settings`` are keys of Hadoop's configuration
    that count more than any file.
    """
    return FileSystem(uri, user=user, config_dir=config_dir, settings=settings)
