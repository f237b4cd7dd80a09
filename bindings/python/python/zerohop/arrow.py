"""HDFS for pyarrow: ``zerohop.arrow.file_system(zerohop.connect())`` is a ``pyarrow.fs.FileSystem``."""

from __future__ import annotations

import errno
import os
from typing import Any

import pyarrow
from pyarrow import fs as arrow

from ._filesystem import FileSystem
from ._staged import copy
from ._zerohop import FileStatus


def file_system(client: FileSystem) -> arrow.PyFileSystem:
    """A client as Arrow's file system."""
    return arrow.PyFileSystem(HdfsHandler(client))


class HdfsHandler(arrow.FileSystemHandler):
    """Arrow's file system on a client: what ``pyarrow.fs.PyFileSystem`` takes."""

    def __init__(self, client: FileSystem) -> None:
        self.client = client

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HdfsHandler):
            return NotImplemented
        mine, theirs = self.client, other.client
        return (mine.uri, mine.user) == (theirs.uri, theirs.user)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.client.uri, self.client.user))

    def get_type_name(self) -> str:
        return "hdfs"

    def normalize_path(self, path: str) -> str:
        return self.client._path(path)

    def get_file_info(self, paths: list[str]) -> list[Any]:
        return [self._info(path) for path in paths]

    def _info(self, path: str) -> Any:
        try:
            return _info(self.client.status(path), path)
        except (FileNotFoundError, NotADirectoryError):
            return arrow.FileInfo(path, arrow.FileType.NotFound)

    def get_file_info_selector(self, selector: Any) -> list[Any]:
        base = selector.base_dir
        try:
            if not self.client.status(base).is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), base)
        except FileNotFoundError:
            if selector.allow_not_found:
                return []
            raise
        found = self.client.walk(base) if selector.recursive else self.client.entries(base)
        return [_info(status, status.path) for status in found]

    def create_dir(self, path: str, recursive: bool) -> None:
        self.client.mkdir(path, parents=recursive, exist_ok=True)

    def delete_dir(self, path: str) -> None:
        self._need_directory(path)
        self.client.remove(path, recursive=True)

    def delete_dir_contents(self, path: str, missing_dir_ok: bool = False) -> None:
        if self.client._path(path) == "/":
            raise ValueError("delete_dir_contents called on the root")
        try:
            self._need_directory(path)
        except FileNotFoundError:
            if missing_dir_ok:
                return
            raise
        self._empty(path)

    def delete_root_dir_contents(self) -> None:
        self._empty("/")

    def _empty(self, path: str) -> None:
        for status in self.client.list_dir(path):
            self.client.remove(status.path, recursive=True)

    def _need_directory(self, path: str) -> None:
        if not self.client.status(path).is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)

    def delete_file(self, path: str) -> None:
        if self.client.status(path).is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        self.client.remove(path)

    def move(self, src: str, dest: str) -> None:
        source, target = self.client._path(src), self.client._path(dest)
        if source == target:
            self.client.status(source)
            return
        self.client.rename(source, target, overwrite=True)

    def copy_file(self, src: str, dest: str) -> None:
        copy(self.client, self.client._path(src), self.client._path(dest))

    def open_input_stream(self, path: str) -> Any:
        return pyarrow.PythonFile(self.client.open(path, "rb", buffering=0), mode="r")

    def open_input_file(self, path: str) -> Any:
        return pyarrow.PythonFile(self.client.open(path, "rb", buffering=0), mode="r")

    def open_output_stream(self, path: str, metadata: Any) -> Any:
        return pyarrow.PythonFile(self.client.open(path, "wb"), mode="w")

    def open_append_stream(self, path: str, metadata: Any) -> Any:
        return pyarrow.PythonFile(self.client.open(path, "ab"), mode="w")


def _info(status: FileStatus, path: str) -> Any:
    if status.is_dir():
        return arrow.FileInfo(path, arrow.FileType.Directory, mtime=status.modified)
    kind = arrow.FileType.File if status.is_file() else arrow.FileType.Unknown
    return arrow.FileInfo(path, kind, size=status.size, mtime=status.modified)
