"""HDFS for fsspec: ``fsspec.filesystem("hdfs")`` and ``hdfs://`` paths of pandas, Dask, DuckDB and others."""

from __future__ import annotations

import datetime
import errno
import hashlib
import os
import posixpath
import secrets
from typing import Any

from fsspec.spec import AbstractFileSystem
from fsspec.utils import infer_storage_options, stringify_path, tokenize

from . import _zerohop
from ._files import BUFFER_LEN, BufferedReader, Reader, Writer
from ._filesystem import FileSystem, Verify
from ._zerohop import FileStatus

# Bytes that a copy within HDFS takes at a time.
COPY_LEN = 4 << 20


class HdfsReader(BufferedReader):
    """A file that is read, with what users of fsspec's files ask for."""

    def __init__(self, fs: HdfsFileSystem, raw: Reader, buffer_size: int) -> None:
        super().__init__(raw, buffer_size)
        self.fs = fs
        self.path = raw.name
        self.blocksize = buffer_size

    @property
    def details(self) -> dict[str, Any]:
        """What is known of the file."""
        return self.fs.info(self.path)


class HdfsWriter(Writer):
    """A file that is written; in a transaction under another name until it is committed."""

    def __init__(self, fs: HdfsFileSystem, native: _zerohop.Writer, name: str, path: str) -> None:
        super().__init__(native, name)
        self.fs = fs
        self.path = path
        self.autocommit = name == path

    def commit(self) -> None:
        """Completes the file and gives it its name, in the place of one that has it."""
        self.close()
        self.fs.client.rename(self.name, self.path, overwrite=True)

    def discard(self) -> None:
        """Deletes the file."""
        self.close()
        self.fs.client.remove(self.name)


class HdfsFileSystem(AbstractFileSystem):
    """An HDFS file system.

    ``host`` is a host, a name service, or "default" for fs.defaultFS; ``extra_conf`` are keys of Hadoop's configuration;
    ``replication`` is that of new files. ``verify`` and ``mapped`` are options of ``zerohop.FileSystem.open``.
    """

    protocol = ("hdfs",)
    root_marker = "/"
    cachable = True

    def __init__(
        self,
        host: str = "default",
        port: int = 0,
        user: str | None = None,
        kerb_ticket: str | None = None,
        replication: int | None = None,
        extra_conf: dict[str, str] | None = None,
        config_dir: str | None = None,
        verify: Verify = "full",
        **kwargs: Any,
    ) -> None:
        if kerb_ticket is not None:
            raise ValueError("kerb_ticket: Kerberos is not supported")
        super().__init__(**kwargs)
        uri = None if host in ("default", "") else f"hdfs://{host}" + (f":{port}" if port else "")
        self.client = FileSystem(uri, user=user, config_dir=config_dir, settings=extra_conf)
        self.replication = replication
        self.verify: Verify = verify

    @property
    def fsid(self) -> str:
        return f"hdfs_{tokenize(self.client.uri)}"

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        path = stringify_path(path)
        if path.startswith("hdfs://"):
            rest = path[len("hdfs://") :]
            host, slash, below = rest.partition("/")
            path = slash + below
        elif path.startswith("hdfs::"):
            path = path[len("hdfs::") :]
        return path.rstrip("/") or cls.root_marker

    @staticmethod
    def _get_kwargs_from_urls(path: str) -> dict[str, Any]:
        found = infer_storage_options(path)
        named = {"host": found.get("host"), "port": found.get("port"), "user": found.get("username")}
        return {key: value for key, value in named.items() if value}

    def unstrip_protocol(self, name: str) -> str:
        return self.client.uri + self.client._path(self._strip_protocol(name))

    # Names and what is known of them.

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        return _info(self.client.status(self._strip_protocol(path)))

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        found = self.client.list_dir(self._strip_protocol(path))
        return [_info(status) if detail else status.path for status in found]

    def exists(self, path: str, **kwargs: Any) -> bool:
        return self.client.exists(self._strip_protocol(path))

    def isdir(self, path: str) -> bool:
        return self.client.is_dir(self._strip_protocol(path))

    def isfile(self, path: str) -> bool:
        return self.client.is_file(self._strip_protocol(path))

    def modified(self, path: str) -> datetime.datetime:
        """When the file was last written."""
        seconds = self.client.status(self._strip_protocol(path)).modified
        return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)

    def created(self, path: str) -> datetime.datetime:
        raise NotImplementedError("HDFS keeps no time of creation; modified() is when a file was last written")

    def ukey(self, path: str) -> str:
        """Changes when the file does, or another one has its name."""
        status = self.client.status(self._strip_protocol(path))
        return hashlib.sha256(repr((status.file_id, status.size, status.modified)).encode()).hexdigest()

    def checksum(self, path: str) -> int:
        """Hadoop's checksum of the file: the same for the same bytes in blocks of the same size."""
        path = self._strip_protocol(path)
        if self.isdir(path):
            return int(self.ukey(path), 16)
        found = self.client.checksum(path)
        return int.from_bytes(found[1], "big") if found else int(self.ukey(path), 16)

    # Directories and names that change.

    def mkdir(self, path: str, create_parents: bool = True, **kwargs: Any) -> None:
        self.client.mkdir(self._strip_protocol(path), parents=create_parents)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        self.client.mkdir(self._strip_protocol(path), parents=True, exist_ok=exist_ok)

    def rmdir(self, path: str) -> None:
        path = self._strip_protocol(path)
        if not self.client.status(path).is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        self.client.remove(path)

    def rm_file(self, path: str) -> None:
        path = self._strip_protocol(path)
        if self.client.status(path).is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        self.client.remove(path)

    _rm = rm_file

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        if maxdepth is not None:
            super().rm(path, recursive=recursive, maxdepth=maxdepth)
            return
        for one in self.expand_path(path):
            if recursive:
                self.client.remove(one, recursive=True)
            else:
                self.rm_file(one)

    def mv(self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any) -> None:
        """Renames, which copies nothing; into ``path2`` where that is a directory, in its place where it is a file."""
        if not isinstance(path1, str) or not isinstance(path2, str) or "*" in path1:
            super().mv(path1, path2, recursive=recursive, maxdepth=maxdepth, **kwargs)
            return
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        if source == target:
            return
        if path2.endswith("/") or self.isdir(target):
            target = posixpath.join(target, posixpath.basename(source))
        try:
            self.client.rename(source, target, overwrite=True)
        except FileNotFoundError:
            # The directory above may be missing; a source that is missing is reported again.
            self.client.status(source)
            self.makedirs(self._parent(target), exist_ok=True)
            self.client.rename(source, target, overwrite=True)

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        if self.isdir(source):
            self.makedirs(target, exist_ok=True)
            return
        with self.client.open(source, "rb", buffering=0) as old, self._writer(target, target, "w", None) as new:
            piece = bytearray(min(COPY_LEN, max(1, old.size)))
            while count := old.readinto(piece):
                new.write(memoryview(piece)[:count])

    def touch(self, path: str, truncate: bool = True, **kwargs: Any) -> None:
        path = self._strip_protocol(path)
        if truncate or not self.client.exists(path):
            self.client.write_bytes(path, b"")
        else:
            now = datetime.datetime.now(datetime.timezone.utc).timestamp()
            self.client.utime(path, modified=now)

    # Bytes.

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_options: dict[str, Any] | None = None,
        mapped: bool = False,
        **kwargs: Any,
    ) -> Any:
        """``block_size`` is that of the reader's buffer; of a file that is written, that of its blocks."""
        path = self._strip_protocol(path)
        if mode == "rb":
            raw = self.client.open(path, "rb", buffering=0, verify=self.verify, mapped=mapped)
            return HdfsReader(self, raw, block_size or BUFFER_LEN)
        if autocommit or mode == "ab":
            return self._writer(path, path, mode[0], block_size)
        if mode == "xb" and self.client.exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        parent, name = posixpath.split(path)
        hidden = posixpath.join(parent, f".{name}.{secrets.token_hex(8)}._COPYING_")
        return self._writer(hidden, path, "x", block_size)

    def _writer(self, name: str, path: str, letter: str, block_size: int | None) -> HdfsWriter:
        native = self.client._writer(letter, name, True, self.replication, block_size, 0o666, None)
        return HdfsWriter(self, native, name, path)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        path = self._strip_protocol(path)
        with self.client.open(path, "rb", buffering=0, verify=self.verify) as file:
            first, last, _ = slice(start, end).indices(file.size)
            file.seek(first)
            return file.read(max(0, last - first))

    def cat_ranges(
        self,
        paths: list[str],
        starts: Any,
        ends: Any,
        max_gap: int | None = None,
        on_error: str = "return",
        **kwargs: Any,
    ) -> list[Any]:
        """The ranges of each file are read together: neighbours in one request, DataNodes at the same time."""
        if not isinstance(paths, list):
            raise TypeError("paths is a list")
        starts = starts if isinstance(starts, list) else [starts] * len(paths)
        ends = ends if isinstance(ends, list) else [ends] * len(paths)
        if len(starts) != len(paths) or len(ends) != len(paths):
            raise ValueError("paths, starts and ends are of different lengths")
        places: dict[str, list[int]] = {}
        for place, path in enumerate(paths):
            places.setdefault(self._strip_protocol(path), []).append(place)
        out: list[Any] = [None] * len(paths)
        for path, wanted in places.items():
            try:
                with self.client.open(path, "rb", buffering=0, verify=self.verify) as file:
                    slices = [slice(starts[place], ends[place]).indices(file.size) for place in wanted]
                    ranges = [(first, max(0, last - first)) for first, last, _ in slices]
                    for place, data in zip(wanted, file.read_ranges(ranges)):
                        out[place] = bytes(data)
            except OSError as error:
                if on_error != "return":
                    raise
                for place in wanted:
                    out[place] = error
        return out

    def pipe_file(self, path: str, value: Any, mode: str = "overwrite", **kwargs: Any) -> None:
        with self.open(path, "xb" if mode == "create" else "wb", **kwargs) as file:
            file.write(value)


def _info(status: FileStatus) -> dict[str, Any]:
    return {
        "name": status.path,
        "size": status.size,
        "type": "other" if status.kind == "symlink" else status.kind,
        "mtime": status.modified,
        "atime": status.accessed,
        "owner": status.owner,
        "group": status.group,
        "mode": status.permission,
        "replication": status.replication,
        "block_size": status.block_size,
        "ino": status.file_id,
    }
