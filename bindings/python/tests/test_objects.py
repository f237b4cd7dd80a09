"""What is known of paths, as Python's values."""

import copy
import pickle

import pytest

import zerohop


def known(fs, directory):
    with fs.open(f"{directory}/f", "wb", block_size=1 << 20) as file:
        file.write(b"1" * ((1 << 20) + 5))
    found = [fs.status(directory), fs.status(f"{directory}/f"), fs.content_summary(directory)]
    return found + fs.block_locations(f"{directory}/f")


def fields(one):
    names = [name for name in dir(one) if not name.startswith("_")]
    return {name: getattr(one, name) for name in names if not callable(getattr(one, name))}


def test_they_are_pickled_copied_compared_and_hashed(fs, directory):
    """They could not be sent to another process, nor be keys, and equal ones were different."""
    mine, again = known(fs, directory), None
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(mine, protocol))
        assert again == mine and [fields(one) for one in again] == [fields(one) for one in mine]
    assert [type(one) for one in again] == [
        zerohop.FileStatus,
        zerohop.FileStatus,
        zerohop.ContentSummary,
        zerohop.BlockLocation,
        zerohop.BlockLocation,
    ]
    assert copy.deepcopy(mine) == mine and [copy.copy(one) for one in mine] == mine
    assert len(set(mine + again)) == len(mine) == 5
    assert {one: place for place, one in enumerate(mine)}[again[3]] == 3
    assert mine[3] != mine[4] and mine[0] != mine[1] and mine[2] != 7
    assert fs.content_summary(f"{directory}/f") != mine[2]


def test_kinds_that_are_none():
    with pytest.raises(ValueError):
        zerohop.FileStatus("/f", "socket", 0, "", "", 0, 0, 0, 0, 0, 0, None, None)
