"""The lines for Python in docs/languages.md, as they are written there."""

import os
import pathlib
import re

import pytest

import zerohop

DOCUMENT = pathlib.Path(__file__).parents[3] / "docs/languages.md"
SNIPPETS = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_as_written(number, run_python, fs, monkeypatch):
    """The NameNode's address is all that is changed."""
    fs.mkdir("/user/alice", parents=True, exist_ok=True)
    monkeypatch.setitem(os.environ, "HADOOP_USER_NAME", zerohop.connect().user)
    host, port = fs.uri.removeprefix("hdfs://").split(":")
    script = SNIPPETS[number].replace("hdfs://nn.example.com:8020", fs.uri)
    script = script.replace('host="nn.example.com", port=8020', f'host="{host}", port={port}')
    said = run_python(script).stdout
    assert said, "it prints something"


def test_there_is_one():
    assert SNIPPETS
