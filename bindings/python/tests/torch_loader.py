"""PyTorch's DataLoader with workers: `make torch`."""

import fsspec
import numpy
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

ROW = 1000


class Rows(Dataset):
    """Rows of a file of 32-bit numbers, by positional reads; each worker opens the file itself."""

    def __init__(self, hdfs, path):
        self.hdfs, self.path = hdfs, path
        self.count = hdfs.info(path)["size"] // (4 * ROW)
        self.file = None

    def __len__(self):
        return self.count

    def __getitem__(self, at):
        if self.file is None:
            self.file = self.hdfs.open(self.path)
        return torch.frombuffer(bytearray(self.file.read_at(at * 4 * ROW, 4 * ROW)), dtype=torch.int32)


class Shards(IterableDataset):
    """The numbers of many files, the files shared among the workers."""

    def __init__(self, url):
        self.url = url

    def __iter__(self):
        worker = get_worker_info()
        for file in fsspec.open_files(self.url)[worker.id :: worker.num_workers]:
            with file as opened:
                yield torch.from_numpy(numpy.frombuffer(opened.read(), "<i4").copy())


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_rows_and_shards(fs, directory, method):
    numbers = numpy.arange(2_000_000, dtype="<i4")
    hdfs = fsspec.filesystem("hdfs")
    hdfs.pipe(f"{directory}/all", numbers.tobytes())
    rows = Rows(hdfs, f"{directory}/all")
    options = {"num_workers": 3, "multiprocessing_context": method}
    loaded = torch.cat([batch.flatten() for batch in DataLoader(rows, batch_size=16, **options)])
    assert torch.equal(loaded, torch.arange(2_000_000, dtype=torch.int32))
    shuffled = torch.cat([batch.flatten() for batch in DataLoader(rows, batch_size=16, shuffle=True, **options)])
    assert shuffled.sum() == loaded.sum() and not torch.equal(shuffled, loaded)
    for part in range(7):
        hdfs.pipe(f"{directory}/part-{part}", numbers[part::7].tobytes())
    shards = DataLoader(Shards(f"{fs.uri}{directory}/part-*"), batch_size=None, **options)
    assert sum(int(part.sum(dtype=torch.int64)) for part in shards) == numbers.sum(dtype="i8")
