"""HDFS without a JVM.

``connect()`` gives a file system whose files are Python's own kind of files::

    import zerohop

    fs = zerohop.connect("hdfs://nn.example.com:8020")
    with fs.open("/user/alice/greeting", "wb") as file:
        file.write(b"hello")
    with fs.open("/user/alice/greeting") as file:
        print(file.read())

``zerohop.aio`` is the same for asyncio, ``zerohop.fsspec`` makes ``fsspec.filesystem("hdfs")`` this one, and
``zerohop.arrow`` is a file system of pyarrow. Blocks with a replica on this machine are read from the replica's file where
Hadoop's configuration allows short-circuit reads.
"""

from ._filesystem import FileSystem, connect
from ._files import BufferedReader, Reader, Writer
from ._zerohop import BlockLocation, ContentSummary, FileStatus

__all__ = [
    "BlockLocation",
    "BufferedReader",
    "ContentSummary",
    "FileStatus",
    "FileSystem",
    "Reader",
    "Writer",
    "connect",
]
