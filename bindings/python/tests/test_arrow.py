"""pyarrow's file system on a client."""

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import fs as arrow

import zerohop.arrow


@pytest.fixture
def hdfs(fs):
    return zerohop.arrow.file_system(fs)


def test_files_and_names(hdfs, fs, directory):
    assert hdfs.type_name == "py::hdfs" and hdfs == zerohop.arrow.file_system(zerohop.connect())
    with hdfs.open_output_stream(f"{directory}/f") as file:
        file.write(b"0123456789")
    with hdfs.open_append_stream(f"{directory}/f") as file:
        file.write(b"abc")
    with hdfs.open_input_file(f"{directory}/f") as file:
        assert file.size() == 13 and file.read_at(3, 9) == b"9ab"
        file.seek(0)
        assert file.read() == b"0123456789abc"
    with hdfs.open_input_stream(f"{directory}/f") as file:
        assert file.read(4) == b"0123"
    hdfs.create_dir(f"{directory}/a/b")
    hdfs.copy_file(f"{directory}/f", f"{directory}/a/b/copy")
    hdfs.move(f"{directory}/f", f"{directory}/a/g")
    found = hdfs.get_file_info(arrow.FileSelector(directory, recursive=True))
    assert [(one.path.removeprefix(directory), one.type.name, one.size) for one in found] == [
        ("/a", "Directory", None),
        ("/a/b", "Directory", None),
        ("/a/b/copy", "File", 13),
        ("/a/g", "File", 13),
    ]
    assert hdfs.get_file_info(f"{directory}/f").type == arrow.FileType.NotFound
    assert hdfs.get_file_info(arrow.FileSelector(f"{directory}/no", allow_not_found=True)) == []
    for exception, call in (
        (FileNotFoundError, lambda: hdfs.open_input_file(f"{directory}/f")),
        (FileNotFoundError, lambda: hdfs.get_file_info(arrow.FileSelector(f"{directory}/no"))),
        (NotADirectoryError, lambda: hdfs.get_file_info(arrow.FileSelector(f"{directory}/a/g"))),
        (FileNotFoundError, lambda: hdfs.delete_file(f"{directory}/no")),
        (IsADirectoryError, lambda: hdfs.delete_file(f"{directory}/a")),
        (NotADirectoryError, lambda: hdfs.delete_dir(f"{directory}/a/g")),
        (FileNotFoundError, lambda: hdfs.create_dir(f"{directory}/x/y", recursive=False)),
    ):
        with pytest.raises(exception):
            call()
    hdfs.delete_file(f"{directory}/a/g")
    hdfs.delete_dir_contents(f"{directory}/a")
    hdfs.delete_dir(f"{directory}/a")
    assert hdfs.get_file_info(arrow.FileSelector(directory)) == []


@pytest.mark.parametrize("kind", ["handler", "fsspec"])
def test_parquet_and_datasets(fs, hdfs, directory, kind):
    if kind == "fsspec":
        import fsspec

        hdfs = arrow.PyFileSystem(arrow.FSSpecHandler(fsspec.filesystem("hdfs")))
    table = pa.table({"n": range(200_000), "part": [number % 3 for number in range(200_000)]})
    pq.write_table(table, f"{directory}/t.parquet", filesystem=hdfs)
    assert pq.read_table(f"{directory}/t.parquet", filesystem=hdfs).equals(table)
    ds.write_dataset(table, f"{directory}/set", format="parquet", partitioning=["part"], filesystem=hdfs)
    found = ds.dataset(f"{directory}/set", format="parquet", partitioning=["part"], filesystem=hdfs)
    assert found.count_rows() == 200_000
    assert found.to_table(filter=ds.field("part") == 1, columns=["n"]).num_rows == 66_667
