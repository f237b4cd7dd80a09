"""pandas, Polars, Dask and DuckDB find hdfs:// by fsspec."""

import dask.dataframe
import duckdb
import fsspec
import pandas as pd
import polars as pl
import pytest


@pytest.fixture
def frame():
    return pd.DataFrame({"n": range(10_000), "name": [f"name {number % 7}" for number in range(10_000)]})


def test_pandas(fs, directory, frame):
    url = f"{fs.uri}{directory}/t"
    # Without storage_options pandas asks pyarrow's client for Parquet files, which wants a JVM, and not fsspec.
    frame.to_parquet(f"{url}.parquet", storage_options={})
    assert pd.read_parquet(f"{url}.parquet", storage_options={}).equals(frame)
    assert pd.read_parquet(f"{directory}/t.parquet", filesystem=fsspec.filesystem("hdfs")).equals(frame)
    found = pd.read_parquet(f"{url}.parquet", columns=["n"], storage_options={})
    assert found["n"].sum() == frame["n"].sum()
    frame.to_csv(f"{url}.csv.gz", index=False)
    assert pd.read_csv(f"{url}.csv.gz").equals(frame)
    with pytest.raises(FileNotFoundError):
        pd.read_parquet(f"{url}-no.parquet", storage_options={})
    frame.head().to_json(f"{url}.json")
    assert len(pd.read_json(f"{url}.json")) == 5


def test_polars(fs, directory, frame):
    hdfs, table = fsspec.filesystem("hdfs"), pl.from_pandas(frame)
    with hdfs.open(f"{directory}/t.parquet", "wb") as file:
        table.write_parquet(file)
    with hdfs.open(f"{directory}/t.parquet") as file:
        assert pl.read_parquet(file).equals(table)
    with hdfs.open(f"{directory}/t.parquet") as file:
        counted = pl.scan_parquet(file).filter(pl.col("name") == "name 3").select(pl.len()).collect()
        assert counted.item() == (frame["name"] == "name 3").sum()
    hdfs.pipe(f"{directory}/t.csv", table.write_csv().encode())
    with hdfs.open(f"{directory}/t.csv") as file:
        assert pl.read_csv(file).equals(table)


def test_dask(fs, directory, frame):
    url = f"{fs.uri}{directory}/set"
    parts = dask.dataframe.from_pandas(frame, npartitions=4)
    with dask.config.set(scheduler="threads"):
        parts.to_parquet(url, overwrite=True)
        found = dask.dataframe.read_parquet(url)
        assert found.npartitions == 4 and found["n"].sum().compute() == frame["n"].sum()
        parts.to_csv(f"{url}/part-*.csv", index=False)
        assert len(dask.dataframe.read_csv(f"{url}/part-*.csv", blocksize=20_000)) == len(frame)
    with dask.config.set(scheduler="processes", num_workers=2):
        assert found["n"].max().compute() == frame["n"].max()


def test_duckdb(fs, directory, frame):
    url = f"{fs.uri}{directory}"
    database = duckdb.connect()
    database.register_filesystem(fsspec.filesystem("hdfs"))
    database.register("frame", frame)
    database.execute(f"copy frame to '{url}/t.parquet' (format parquet)")
    assert database.execute(f"select sum(n) from '{url}/t.parquet'").fetchone()[0] == frame["n"].sum()
    frame.to_csv(f"{url}/one.csv", index=False)
    frame.to_csv(f"{url}/two.csv", index=False)
    found = database.execute(f"select name, count(*) from read_csv('{url}/*.csv') group by name order by name").fetchall()
    assert [count for _, count in found] == [2 * count for count in frame.groupby("name").size()]
    with pytest.raises(duckdb.Error):
        database.execute(f"select * from '{url}/no.parquet'")
