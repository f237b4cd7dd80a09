"""fsspec's own tests of a file system."""

import posixpath

import fsspec
import fsspec.tests.abstract as abstract
import pytest


class HdfsFixtures(abstract.AbstractFixtures):
    @pytest.fixture
    def fs(self):
        return fsspec.filesystem("hdfs")

    @pytest.fixture
    def fs_join(self):
        return posixpath.join

    @pytest.fixture
    def fs_path(self, fs, tmp_path):
        path = f"/suite{tmp_path}"
        fs.makedirs(path)
        yield path
        fs.rm(path, recursive=True)


class TestCopy(abstract.AbstractCopyTests, HdfsFixtures):
    pass


class TestGet(abstract.AbstractGetTests, HdfsFixtures):
    pass


class TestPut(abstract.AbstractPutTests, HdfsFixtures):
    pass


class TestPipe(abstract.AbstractPipeTests, HdfsFixtures):
    pass


class TestOpen(abstract.AbstractOpenTests, HdfsFixtures):
    pass
