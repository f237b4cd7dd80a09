"""HDFS for fsspec: ``fsspec.filesystem("hdfs")`` and ``hdfs://`` paths of pandas, Dask, DuckDB and others."""

from __future__ import annotations

import contextlib
import datetime
import errno
import hashlib
import os
import posixpath
import shutil
from collections.abc import Iterator
from glob import has_magic
from typing import Any, BinaryIO

from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.spec import AbstractFileSystem
from fsspec.utils import infer_storage_options, isfilelike, other_paths, stringify_path, tokenize

from . import _zerohop
from ._files import BUFFER_LEN, BufferedReader, Reader, Writer
from ._filesystem import FileSystem, Verify
from ._staged import COPY_LEN, beside, copy, discard, replacing, take_name
from ._zerohop import FileStatus


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
    """A file that is written; in a transaction under another name until it is committed.

    ``appends_at`` is the length of the file that the bytes are appended to by the commit, in an append of a transaction.
    """

    def __init__(
        self,
        fs: HdfsFileSystem,
        native: _zerohop.Writer,
        name: str,
        path: str,
        *,
        replaces: bool = True,
        appends_at: int | None = None,
    ) -> None:
        super().__init__(native, name)
        self.fs = fs
        self.path = path
        self.autocommit = name == path
        self._replaces = replaces
        self._appends_at = appends_at

    def tell(self) -> int:
        return (self._appends_at or 0) + super().tell()

    def commit(self) -> None:
        """Completes the file and gives it its name, in the place of one that has it, or appends it to that one."""
        self.close()
        if self.autocommit:
            return
        client = self.fs.client
        if self._appends_at is None:
            take_name(client, self.name, self.path, overwrite=self._replaces)
        elif not client.status(self.name).size:
            client.remove(self.name)
        elif client.status(self.path).size:
            client.concat(self.path, [self.name])
        else:
            # There is no block to append to.
            client.rename(self.name, self.path, overwrite=True)

    def discard(self) -> None:
        """Deletes what was written. A file that was opened under its own name is completed."""
        if self.autocommit:
            self.close()
        else:
            discard(self.fs.client, self)


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
        self._need_file(path)
        self.client.remove(path)

    _rm = rm_file

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Deletes paths, and what globs match; without ``recursive`` nothing where one of them is a directory."""
        if maxdepth is not None:
            # What lies deeper stays, and its directories with it: that is an error.
            for one in reversed(self.expand_path(path, recursive=recursive, maxdepth=maxdepth)):
                self.client.remove(one)
            return
        found = self.expand_path(path)
        if recursive:
            found = _tops(found)
        else:
            for one in found:
                self._need_file(one)
        for one in found:
            self.client.remove(one, recursive=recursive)

    def mv(self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any) -> None:
        """Renames, which copies nothing; into ``path2`` where that is a directory, in its place where it is a file.

        A directory of a list or a glob moves with all that is below it, and only with ``recursive``.
        """
        name = path1 if isinstance(path1, list) else stringify_path(path1)
        if isinstance(name, list) or "*" in name or has_magic(name) and not self.exists(name):
            self._mv_all(name, path2, recursive, maxdepth)
            return
        source, target = self._strip_protocol(name), self._strip_protocol(path2)
        if source != target and (stringify_path(path2).endswith("/") or self.isdir(target)):
            target = posixpath.join(target, posixpath.basename(source))
        self._rename(source, target)

    def _mv_all(self, path1: Any, path2: Any, recursive: bool, maxdepth: int | None) -> None:
        if maxdepth is not None:
            raise ValueError("maxdepth: a rename moves all that is below a directory")
        is_list = isinstance(path1, list)
        if isinstance(path2, list):
            sources, targets = self._strip_protocol(path1), self._strip_protocol(path2)
            if not is_list or len(sources) != len(targets):
                raise ValueError("the lists of paths are of different lengths")
        else:
            sources = self.expand_path(path1)
            if recursive:
                sources = _tops(sources)
            elif not is_list:
                sources = [one for one in sources if not self.isdir(one)]
                if not sources:
                    return
            into = self._strip_protocol(path2)
            targets = other_paths(sources, into, exists=len(sources) == 1, flatten=is_list)
        if len(set(targets)) < len(targets):
            raise ValueError("two of the paths would get the same name")
        known = set(sources)
        if any(source != target and target in known for source, target in zip(sources, targets)):
            raise ValueError("one of the paths would take the place of another one")
        if not recursive:
            for one in sources:
                self._need_file(one)
        for source, target in zip(sources, targets):
            self._rename(source, target)

    def _rename(self, source: str, target: str) -> None:
        if source == target:
            self.client.status(source)
            return
        try:
            self.client.rename(source, target, overwrite=True)
        except FileNotFoundError:
            # The directory above may be missing; a source that is missing is reported again.
            self.client.status(source)
            self.makedirs(self._parent(target), exist_ok=True)
            self.client.rename(source, target, overwrite=True)

    def _need_file(self, path: str) -> None:
        if self.client.status(path).is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        """Copies; a file that is there is replaced when the copy is complete."""
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        if self.isdir(source):
            self.makedirs(target, exist_ok=True)
            return
        copy(self.client, source, target, self.replication)

    def put_file(self, lpath: Any, rpath: Any, callback: Any = DEFAULT_CALLBACK, mode: str = "overwrite", **kwargs: Any) -> None:
        """Copies a local file; one that is there is replaced when the copy is complete."""
        if os.path.isdir(lpath):
            self.makedirs(rpath, exist_ok=True)
            return
        target = self._strip_protocol(rpath)
        with open(lpath, "rb") as old, self._whole(target, mode) as new:
            callback.set_size(os.fstat(old.fileno()).st_size)
            while piece := old.read(COPY_LEN):
                callback.relative_update(new.write(piece))

    def get_file(
        self, rpath: Any, lpath: Any = None, callback: Any = DEFAULT_CALLBACK, outfile: Any = None, **kwargs: Any
    ) -> None:
        """Copies to a local file; one that is there is replaced when the copy is complete."""
        if outfile is not None or isfilelike(lpath):
            super().get_file(rpath, lpath, callback=callback, outfile=outfile, **kwargs)
        elif self.isdir(rpath):
            os.makedirs(lpath, exist_ok=True)
        else:
            with _local_replacing(os.path.realpath(lpath)) as new:
                super().get_file(rpath, callback=callback, outfile=new, **kwargs)

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
        hdfs_block_size: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """``block_size`` is that of the reader's buffer, ``hdfs_block_size`` that of the blocks of a file that is made."""
        if mode not in ("rb", "wb", "xb", "ab"):
            raise ValueError(f"invalid mode: {mode!r}; files of HDFS are read, made or appended to: \"rb\", \"wb\", \"xb\", \"ab\"")
        path = self._strip_protocol(path)
        if mode == "rb":
            raw = self.client.open(path, "rb", buffering=0, verify=self.verify, mapped=mapped)
            return HdfsReader(self, raw, block_size or BUFFER_LEN)
        if autocommit:
            return HdfsWriter(self, self._create(mode[0], path, hdfs_block_size), path, path)
        hidden = beside(path)
        if mode == "ab":
            with contextlib.suppress(FileNotFoundError):
                return self._append_later(path, hidden)
        elif self.client.is_dir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        elif mode == "xb" and self.client.exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        native = self._create("x", hidden, hdfs_block_size)
        return HdfsWriter(self, native, hidden, path, replaces=mode == "wb")

    def _append_later(self, path: str, hidden: str) -> HdfsWriter:
        """A file whose blocks a transaction appends to ``path``."""
        there = self.client.status(path)
        if there.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        native = self.client._writer("x", hidden, True, there.replication, there.block_size, there.permission, None)
        return HdfsWriter(self, native, hidden, path, appends_at=there.size)

    def _create(self, letter: str, name: str, block_size: int | None) -> _zerohop.Writer:
        return self.client._writer(letter, name, True, self.replication, block_size, 0o666, None)

    def _whole(self, path: str, mode: str) -> contextlib.AbstractContextManager[Writer]:
        """A file that is written at once: it gets its name when it is complete, in a transaction when that ends."""
        is_new = mode == "create"
        if self._intrans:
            return self._deferred(path, "xb" if is_new else "wb")
        if is_new and self.client.exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        return replacing(self.client, path, self.replication, overwrite=not is_new)

    @contextlib.contextmanager
    def _deferred(self, path: str, mode: str) -> Iterator[Writer]:
        """A file of a transaction, which leaves the transaction if it cannot be written."""
        file: HdfsWriter = self.open(path, mode)
        try:
            yield file
            file.close()
        except BaseException:
            with contextlib.suppress(AttributeError, ValueError):
                self.transaction.files.remove(file)
            file.discard()
            raise

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
        """Makes a file of these bytes; one that is there is replaced when all of them are written."""
        with self._whole(self._strip_protocol(path), mode) as file:
            file.write(value)


def _tops(paths: list[str]) -> list[str]:
    """The paths that are not below another one of them."""
    known = set(paths)

    def is_below(path: str) -> bool:
        while path != "/":
            path = posixpath.dirname(path)
            if path in known:
                return True
        return False

    return [path for path in paths if not is_below(path)]


@contextlib.contextmanager
def _local_replacing(path: str) -> Iterator[BinaryIO]:
    """A file of this machine that gets the name ``path`` at the end of the block, or is deleted."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if os.path.exists(path) and not os.path.isfile(path):
        # A device or a pipe.
        with open(path, "wb") as file:
            yield file
        return
    hidden = beside(path)
    try:
        with open(hidden, "xb") as file:
            yield file
        if os.path.exists(path):
            shutil.copymode(path, hidden)
        os.replace(hidden, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(hidden)
        raise


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
