"""The cluster is the one that HADOOP_CONF_DIR names; each test has a directory of its own."""

import os
import random
import subprocess
import sys

import pytest

import zerohop


@pytest.fixture(scope="session")
def fs():
    return zerohop.connect()


@pytest.fixture
def directory(fs, request):
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
    path = f"/tests/{name}"
    fs.mkdir(path, parents=True)
    yield path
    fs.remove(path, recursive=True)


@pytest.fixture
def content():
    """Bytes of three blocks of 1 MiB and a bit."""
    return random.Random(7).randbytes((3 << 20) + 12345)


@pytest.fixture
def large(fs, directory, content):
    """A file of these bytes in blocks of 1 MiB."""
    path = f"{directory}/large"
    with fs.open(path, "wb", block_size=1 << 20) as file:
        file.write(content)
    return path


@pytest.fixture
def run_python():
    """Runs a script in an interpreter of its own, within a minute; gives what it said."""

    def run(script, *arguments, code=0, **options):
        command = [sys.executable, "-X", "dev", "-W", "ignore::ResourceWarning", "-c", script, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=os.environ, **options)
        assert done.returncode == code, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run
