"""Paths as callers give them."""

from __future__ import annotations

import os
import re
from typing import Callable, Union

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

# A scheme before a path. Paths without one need no call of the client.
_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*:/")


def absolute(path: Path, path_of: Callable[[str], str], home: str) -> str:
    """The absolute path without scheme and host; a relative one starts in the home directory.

    Names in HDFS are text: bytes, and what stands for undecodable bytes in ``str``, must be UTF-8.
    """
    given = os.fspath(path)
    name = given.decode("utf-8") if isinstance(given, bytes) else given
    if "\0" in name:
        raise ValueError("embedded null character in the path")
    name.encode("utf-8")
    if _SCHEME.match(name):
        name = path_of(name)
    if not name.startswith("/"):
        name = f"{home}/{name}" if name else home
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return "/" + "/".join(parts)
