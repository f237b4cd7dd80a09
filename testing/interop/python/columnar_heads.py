"""Writes ORC and Parquet files with each compression, and beside each a `.head`: what pyarrow reads of its footer, in the words
of `zerohop fs -text`. Where pyarrow does not say a number, the head has `*`."""

import sys
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
from pyarrow import orc, parquet

ROWS = 5000
TABLE = pa.table(
    {
        "id": pa.array(range(ROWS), pa.int64()),
        "name": [f"name {n}" for n in range(ROWS)],
        "price": pa.array([Decimal("1.50")] * ROWS, pa.decimal128(10, 2)),
        "tags": [["a", "b"]] * ROWS,
        "deep": pa.array([{"x": 1, "y": 2.5}] * ROWS, pa.struct([("x", pa.int32()), ("y", pa.float64())])),
    }
)
ORC_NAMES = {pa.int64(): "bigint", pa.int32(): "int", pa.float64(): "double", pa.string(): "string"}


def orc_type(kind):
    if pa.types.is_struct(kind):
        return "struct<" + ",".join(f"{field.name}:{orc_type(field.type)}" for field in kind) + ">"
    if pa.types.is_list(kind):
        return f"array<{orc_type(kind.value_type)}>"
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    return ORC_NAMES[kind]


def orc_head(path):
    file = orc.ORCFile(path)
    compression = {"UNCOMPRESSED": "no"}.get(file.compression, file.compression.lower())
    yield (
        f"ORC file, version {file.file_version}, {compression} compression in chunks of {file.compression_size} bytes, "
        f"written by {file.writer.replace('_', ' ').replace('CPP', 'C++')}"
    )
    yield f"rows: {file.nrows}"
    yield f"schema: {orc_type(pa.struct(file.schema))}"
    for at in range(file.nstripes):
        yield f"stripe {at}: offset *, {file.read_stripe(at).num_rows} rows, index *, data *, footer * bytes"


def parquet_head(path):
    meta = parquet.ParquetFile(path).metadata
    yield f"Parquet file, version {meta.format_version[0]}, written by {meta.created_by}"
    yield f"rows: {meta.num_rows}"
    yield from """schema:
message schema {
  optional int64 id;
  optional binary name (UTF8);
  optional fixed_len_byte_array(5) price (DECIMAL(10,2));
  optional group tags (LIST) {
    repeated group list {
      optional binary element (UTF8);
    }
  }
  optional group deep {
    optional int32 x;
    optional double y;
  }
}""".splitlines()
    for key, value in meta.metadata.items():
        yield f"metadata: {key.decode()}={value.decode()}"
    for at in range(meta.num_row_groups):
        group = meta.row_group(at)
        yield f"row group {at}: {group.num_rows} rows, {group.total_byte_size} bytes"
        for number in range(group.num_columns):
            column = group.column(number)
            codec = {"LZ4": "lz4_raw"}.get(column.compression, column.compression.lower())
            yield (
                f"  {column.path_in_schema}: {codec}, {column.num_values} values, "
                f"{column.total_compressed_size} bytes of {column.total_uncompressed_size}"
            )


def put_head(path, lines):
    Path(f"{path}.head").write_text("".join(f"{line}\n" for line in lines))


def main(directory):
    for compression in ["uncompressed", "zlib", "snappy", "lz4", "zstd"]:
        path = directory / f"{compression}.orc"
        orc.write_table(TABLE, path, compression=compression, stripe_size=1 << 16)
        put_head(path, orc_head(path))
    for compression in ["none", "snappy", "gzip", "lz4", "zstd", "brotli"]:
        path = directory / f"{compression}.parquet"
        parquet.write_table(TABLE, path, compression=compression, row_group_size=2000)
        put_head(path, parquet_head(path))


main(Path(sys.argv[1]))
