"""pandas.read_parquet from HDFS and from a local file with the same bytes, in turns and warm, as a line of JSON."""
import json
import os
import statistics
import tempfile
import time

import numpy
import pandas
import zerohop

ROWS = 4_000_000
fs = zerohop.connect()
rng = numpy.random.default_rng(1)
columns = {f"c{number}": rng.integers(0, 1 << 40, ROWS) for number in range(8)}
with tempfile.TemporaryDirectory(dir=".") as directory:
    local = os.path.join(directory, "table.parquet")
    pandas.DataFrame(columns | {"name": rng.integers(0, 1000, ROWS).astype(str)}).to_parquet(local)
    with open(local, "rb") as source, fs.open("/table.parquet", "wb") as out:
        while piece := source.read(4 << 20):
            out.write(piece)
    seconds = {"hdfs": [], "local": []}
    for turn in range(8):
        for name, read in (
            ("hdfs", lambda: pandas.read_parquet(f"{fs.uri}/table.parquet", storage_options={})),
            ("local", lambda: pandas.read_parquet(local)),
        ):
            start = time.perf_counter()
            read()
            if turn:  # the first warms up
                seconds[name].append(time.perf_counter() - start)
print(json.dumps({name: statistics.median(all) for name, all in seconds.items()}))
