"""What is replaced or deleted is kept until what takes its place is certain."""

import asyncio
import errno
import os

import fsspec
import pytest

import zerohop.aio
import zerohop.arrow

OLD = b"what was there before"


@pytest.fixture
def hdfs(fs):
    return fsspec.filesystem("hdfs")


@pytest.fixture
def old(fs, directory):
    """A file that is to be replaced; nothing else is in its directory."""
    path = f"{directory}/old/f"
    fs.write_bytes(path, OLD)
    return path


def is_kept(fs, path):
    """The file has its bytes, and nothing was left beside it."""
    names = [one.path for one in fs.list_dir(os.path.dirname(path))]
    return fs.read_bytes(path) == OLD and names == [path]


@pytest.fixture
def failing_reads(monkeypatch):
    """Files whose second read fails."""

    def arm():
        count = 0
        readinto = zerohop.Reader.readinto

        def fails(self, buffer):
            nonlocal count
            count += 1
            if count > 1:
                raise OSError(errno.EIO, "the second read fails")
            return readinto(self, buffer)

        monkeypatch.setattr(zerohop.Reader, "readinto", fails)

    return arm


def test_a_copy_that_fails_keeps_the_old_target(fs, hdfs, old, large, failing_reads):
    """Copies used to truncate their target before they had read a byte."""
    failing_reads()
    with pytest.raises(OSError, match="second read"):
        hdfs.cp_file(large, old)
    assert is_kept(fs, old)


def test_a_copy_of_arrow_that_fails_keeps_the_old_target(fs, old, large, failing_reads):
    arrow = zerohop.arrow.file_system(fs)
    failing_reads()
    with pytest.raises(OSError, match="second read"):
        arrow.copy_file(large, old)
    assert is_kept(fs, old)


def test_a_copy_onto_itself_changes_nothing(fs, hdfs, old):
    """A file copied onto itself used to be empty afterwards."""
    hdfs.cp_file(old, old)
    hdfs.copy(f"hdfs://{old}", old)
    hdfs.mv(old, old)
    arrow = zerohop.arrow.file_system(fs)
    arrow.copy_file(old, old)
    arrow.copy_file(old, f"{os.path.dirname(old)}//./f")
    arrow.move(old, old)
    assert is_kept(fs, old)
    # The same file under another name.
    hdfs.cp_file(f"/.reserved/.inodes/{fs.status(old).file_id}", old)
    assert is_kept(fs, old)
    for copy in (hdfs.cp_file, arrow.copy_file, arrow.move):
        with pytest.raises(FileNotFoundError):
            copy(old + "-no", old + "-no")


def test_copies_replace_files_and_no_directories(fs, hdfs, old, directory):
    fs.write_bytes(f"{directory}/new", b"new")
    fs.mkdir(f"{directory}/d")
    arrow = zerohop.arrow.file_system(fs)
    for copy in (hdfs.cp_file, arrow.copy_file, lambda _, to: fs.write_bytes(to, b""), lambda _, to: hdfs.pipe_file(to, b"")):
        with pytest.raises(IsADirectoryError):
            copy(f"{directory}/new", f"{directory}/d")
    assert [one.name for one in fs.list_dir(directory)] == ["d", "new", "old"]
    hdfs.cp_file(f"{directory}/new", old)
    assert fs.read_bytes(old) == b"new"
    arrow.copy_file(f"{directory}/new", f"{directory}/d/copy")
    assert fs.read_bytes(f"{directory}/d/copy") == b"new"
    name = "n" * 250
    hdfs.cp_file(f"{directory}/new", f"{directory}/{name}")
    assert fs.read_bytes(f"{directory}/{name}") == b"new"


def test_bytes_that_cannot_be_written_keep_the_old_file(fs, hdfs, old):
    """write_bytes() and pipe() used to truncate the file first."""

    async def write():
        await zerohop.aio.connect().write_bytes(old, "text")

    for call in (
        lambda: fs.write_bytes(old, "text"),
        lambda: hdfs.pipe_file(old, "text"),
        lambda: hdfs.pipe({old: "text"}),
        lambda: asyncio.run(write()),
    ):
        with pytest.raises(TypeError):
            call()
        assert is_kept(fs, old)


def test_a_put_that_fails_keeps_the_old_file(fs, hdfs, old, content, tmp_path, monkeypatch):
    """put() used to truncate the file first."""
    (tmp_path / "f").write_bytes(content * 3)
    write = zerohop.Writer.write

    def fails(self, data):
        if self.tell() > 0:
            raise OSError(errno.EIO, "the second write fails")
        return write(self, data)

    monkeypatch.setattr(zerohop.Writer, "write", fails)
    for target, mode in ((old, "overwrite"), (old + "-new", "create")):
        with pytest.raises(OSError, match="second write"):
            hdfs.put_file(str(tmp_path / "f"), target, mode=mode)
        assert is_kept(fs, old)
    monkeypatch.undo()
    with pytest.raises(FileExistsError):
        hdfs.put_file(__file__, old, mode="create")
    assert is_kept(fs, old)
    hdfs.put_file(str(tmp_path / "f"), old)
    assert fs.read_bytes(old) == content * 3


def test_a_get_that_fails_keeps_the_old_file(hdfs, large, content, tmp_path, failing_reads):
    (tmp_path / "f").write_bytes(OLD)
    (tmp_path / "f").chmod(0o600)
    (tmp_path / "link").symlink_to(tmp_path / "f")
    hdfs.get_file(large, str(tmp_path / "link"))
    assert (tmp_path / "f").read_bytes() == content and (tmp_path / "link").is_symlink()
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o600
    failing_reads()
    for name in ("f", "link", "new/g"):
        with pytest.raises(OSError, match="second read"):
            hdfs.get_file(large, str(tmp_path / name))
    assert (tmp_path / "f").read_bytes() == content
    assert sorted(one.name for one in tmp_path.iterdir()) == ["f", "link", "new"] and not list((tmp_path / "new").iterdir())


def test_an_append_in_a_transaction(fs, hdfs, old):
    """A transaction with an append used to delete the file, also when it succeeded."""
    with hdfs.transaction:
        with hdfs.open(old, "ab") as file:
            assert file.tell() == len(OLD)
            file.write(b", and more")
            assert file.tell() == len(OLD) + 10
        assert fs.read_bytes(old) == OLD
    assert fs.read_bytes(old) == OLD + b", and more"
    assert [one.path for one in fs.list_dir(os.path.dirname(old))] == [old]


def test_an_append_in_a_transaction_that_fails(fs, hdfs, old):
    with pytest.raises(RuntimeError), hdfs.transaction:
        with hdfs.open(old, "ab") as file:
            file.write(b", and more")
        raise RuntimeError
    assert is_kept(fs, old)


def test_appends_of_nothing_and_to_nothing_in_a_transaction(fs, hdfs, old, directory):
    fs.write_bytes(f"{directory}/old/empty", b"")
    with hdfs.transaction:
        hdfs.open(old, "ab").close()
        for name in ("empty", "missing"):
            with hdfs.open(f"{directory}/old/{name}", "ab") as file:
                file.write(b"first")
    found = {one.name: fs.read_bytes(one.path) for one in fs.list_dir(f"{directory}/old")}
    assert found == {"f": OLD, "empty": b"first", "missing": b"first"}
    with pytest.raises(IsADirectoryError), hdfs.transaction:
        hdfs.open(directory, "ab")


def test_a_file_that_a_transaction_makes_replaces_none(fs, hdfs, old):
    """A file that came between "xb" and the end of the transaction used to be replaced."""
    with pytest.raises(FileExistsError), hdfs.transaction:
        with hdfs.open(old, "xb"):
            pass
    fs.remove(old)
    with pytest.raises(FileExistsError), hdfs.transaction:
        with hdfs.open(old, "xb") as file:
            file.write(b"mine")
        fs.write_bytes(old, OLD)
    assert is_kept(fs, old)


def test_a_transaction_that_cannot_be_committed_leaves_nothing(fs, hdfs, old, directory):
    with pytest.raises(FileExistsError), hdfs.transaction:
        for name in ("f", "g"):
            with hdfs.open(f"{directory}/old/{name}", "xb" if name == "g" else "wb") as file:
                file.write(OLD)
        fs.write_bytes(f"{directory}/old/g", b"theirs")
    assert [one.name for one in fs.list_dir(f"{directory}/old")] == ["f", "g"]
    assert fs.read_bytes(f"{directory}/old/g") == b"theirs"


def test_a_file_of_a_transaction_that_cannot_be_closed_is_discarded(fs, hdfs, old, monkeypatch):
    """What discard() could not close used to stay under its hidden name."""

    def fails(self):
        raise OSError(errno.EIO, "not closed")

    with pytest.raises(RuntimeError), hdfs.transaction:
        file = hdfs.open(old, "wb")
        file.write(b"new")
        monkeypatch.setattr(zerohop.Writer, "close", fails)
        raise RuntimeError
    monkeypatch.undo()
    assert is_kept(fs, old)
    with pytest.raises(FileNotFoundError):
        file.close()
    assert is_kept(fs, old)


def test_what_a_transaction_cannot_write_is_no_part_of_it(fs, hdfs, old, directory):
    with hdfs.transaction:
        hdfs.pipe_file(f"{directory}/old/g", b"written")
        with pytest.raises(TypeError):
            hdfs.pipe_file(old, "text")
    assert [one.name for one in fs.list_dir(f"{directory}/old")] == ["f", "g"]
    assert fs.read_bytes(old) == OLD


def test_lists_and_globs_are_deleted(fs, hdfs, directory):
    """A directory used to be deleted before what is in it, which was missing then."""

    def make():
        for name in ("a", "d/b", "d/e/c", "d-x"):
            fs.write_bytes(f"{directory}/t/{name}", b"1")
        return f"{directory}/t"

    top = make()
    hdfs.rm([f"{top}/d", f"{top}/d/e/c", f"{top}/a"], recursive=True)
    assert [one.name for one in fs.list_dir(top)] == ["d-x"]
    make()
    hdfs.rm(f"{top}/**", recursive=True)
    assert not fs.exists(top) or not fs.list_dir(top)
    make()
    # Nothing is deleted where something cannot be.
    for wrong, exception in ((f"{top}/*", IsADirectoryError), ([f"{top}/a", f"{top}/no"], FileNotFoundError)):
        with pytest.raises(exception):
            hdfs.rm(wrong)
    assert [one.name for one in fs.list_dir(top)] == ["a", "d", "d-x"]
    hdfs.rm([f"{top}/a", f"{top}/d/b"])
    assert [one.name for one in fs.list_dir(top)] == ["d", "d-x"]
    hdfs.rm(f"{top}/d/e", recursive=True, maxdepth=1)
    assert fs.list_dir(f"{top}/d") == []
    make()
    with pytest.raises(OSError) as raised:
        hdfs.rm(f"{top}/d", recursive=True, maxdepth=1)
    assert raised.value.errno == errno.ENOTEMPTY and fs.exists(f"{top}/d/e/c")


def test_lists_and_globs_move_by_renames(fs, hdfs, directory):
    """mv() of several paths used to copy them, and then to delete what the copy had left out."""
    for name in ("a1", "a2", "d/deep/b", "e/b", "[1]"):
        fs.write_bytes(f"{directory}/{name}", name.encode())
    ids = {name: fs.status(f"{directory}/{name}").file_id for name in ("a1", "a2", "d", "[1]")}
    fs.mkdir(f"{directory}/to")
    hdfs.mv(f"{directory}/a*", f"{directory}/to")
    hdfs.mv([f"{directory}/d"], f"{directory}/to", recursive=True)
    hdfs.mv(f"{directory}/[1]", f"{directory}/to/")
    assert {name: fs.status(f"{directory}/to/{name}").file_id for name in ids} == ids
    assert fs.read_bytes(f"{directory}/to/d/deep/b") == b"d/deep/b"
    hdfs.mv([f"{directory}/to/a1", f"{directory}/to/a2"], [f"{directory}/1", f"{directory}/2"])
    assert fs.status(f"{directory}/1").file_id == ids["a1"]
    for wrong, options, exception in (
        ([f"{directory}/1", f"{directory}/to"], {}, IsADirectoryError),
        ([f"{directory}/1", f"{directory}/no"], {}, FileNotFoundError),
        ([f"{directory}/to/d/deep/b", f"{directory}/e/b"], {}, ValueError),
        (f"{directory}/*", {"recursive": True, "maxdepth": 1}, ValueError),
    ):
        with pytest.raises(exception):
            hdfs.mv(wrong, f"{directory}/new", **options)
    with pytest.raises(ValueError):
        hdfs.mv([f"{directory}/1", f"{directory}/2"], [f"{directory}/2", f"{directory}/3"])
    assert fs.status(f"{directory}/2").file_id == ids["a2"]
    assert [one.name for one in fs.list_dir(directory)] == ["1", "2", "e", "to"]


def test_modes_that_hdfs_has_not_touch_nothing(fs, hdfs, old):
    """"r+b" used to truncate the file, or to make it."""
    for mode in ("r+b", "w+b", "rb+", "a+b", "x+b", "b", "r+", "w+"):
        for path in (old, old + "-new"):
            with pytest.raises(ValueError):
                hdfs.open(path, mode)
            with pytest.raises(ValueError), hdfs.transaction:
                hdfs.open(path, mode)
    assert is_kept(fs, old)


def test_block_size_is_the_size_of_a_buffer(fs, hdfs, old, directory):
    """It used to be that of the blocks of a new file."""
    path = f"{directory}/f"
    with hdfs.open(path, "wb", block_size=1 << 20) as file:
        file.write(b"1")
    assert fs.status(path).block_size == fs.status(old).block_size
    with hdfs.open(path, "rb", block_size=1 << 16) as file:
        assert file.blocksize == 1 << 16
    with hdfs.open(path, "wb", hdfs_block_size=2 << 20) as file:
        file.write(b"1")
    assert fs.status(path).block_size == 2 << 20
