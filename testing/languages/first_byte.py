"""Seconds until pyarrow's HadoopFileSystem has the first byte of /languages, by the libhdfs.so in ARROW_LIBHDFS_DIR, as a line of JSON."""
import json
import os
import time
from urllib.parse import urlsplit

from pyarrow import fs

name_node = urlsplit(os.environ["NAME_NODE"])
start = time.perf_counter()
hdfs = fs.HadoopFileSystem(name_node.hostname, name_node.port)
with hdfs.open_input_file("/languages") as file:
    assert len(file.read(1)) == 1
print(json.dumps({"seconds": time.perf_counter() - start}))
