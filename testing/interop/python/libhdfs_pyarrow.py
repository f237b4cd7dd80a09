"""pyarrow's HadoopFileSystem on our libhdfs.so; there is no JVM in this process."""

import sys

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

host, port = sys.argv[1].removeprefix("hdfs://").rsplit(":", 1)
hdfs = fs.HadoopFileSystem(host, int(port))
hdfs.create_dir("/arrow/a")
table = pa.table({"number": range(200_000), "text": [str(number) for number in range(200_000)]})
pq.write_table(table, "/arrow/a/t.parquet", filesystem=hdfs)
assert pq.read_table("/arrow/a/t.parquet", filesystem=hdfs).equals(table)
assert pq.read_table("/arrow/a/t.parquet", columns=["number"], filesystem=hdfs).num_columns == 1

with hdfs.open_output_stream("/arrow/log") as file:
    file.write(b"one line\n")
with hdfs.open_append_stream("/arrow/log") as file:
    file.write(b"another\n")
with hdfs.open_input_file("/arrow/log") as file:
    assert file.size() == 17
    assert file.read_at(4, 4) == b"line"
    assert file.read() == b"one line\nanother\n"
hdfs.move("/arrow/log", "/arrow/moved")
found = hdfs.get_file_info(fs.FileSelector("/arrow", recursive=True))
assert sorted(info.path for info in found) == ["/arrow/a", "/arrow/a/t.parquet", "/arrow/moved"], found
assert hdfs.get_file_info("/arrow/log").type == fs.FileType.NotFound
try:
    hdfs.open_input_file("/arrow/log")
    raise SystemExit("a file that is not there was opened")
except FileNotFoundError as error:
    assert "/arrow/log" in str(error)
hdfs.delete_dir("/arrow")
loaded = open("/proc/self/maps").read()
assert "libhdfs.so" in loaded and "jdk" not in loaded, loaded
print("all well")
