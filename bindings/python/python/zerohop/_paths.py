"""Paths as callers give them."""

from __future__ import annotations

import os
from typing import Union

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def absolute(path: Path, uri: str, home: str) -> str:
    """The absolute path without scheme and host; a relative one starts in the home directory.

    Names in HDFS are text: bytes, and what stands for undecodable bytes in ``str``, must be UTF-8.
    """
    given = os.fspath(path)
    name = given.decode("utf-8") if isinstance(given, bytes) else given
    if "\0" in name:
        raise ValueError("embedded null character in the path")
    name.encode("utf-8")
    if name.startswith("hdfs://"):
        if name != uri and not name.startswith(uri + "/"):
            raise ValueError(f"{name} is not on {uri}")
        name = name[len(uri) :] or "/"
    if not name.startswith("/"):
        name = f"{home}/{name}" if name else home
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return "/" + "/".join(parts)
