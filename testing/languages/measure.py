"""Runs the programs of `make languages` in turns, a process each, and prints the medians of each figure beside what it is measured against.

BIN has one_reader and reads; STAND_IN is a JAVA_HOME without a JVM; OURS and JVM have a libhdfs.so each.
"""
import json
import os
import statistics
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
env = os.environ
turns = int(env.get("RUNS", "5"))


def run(*command, **more):
    done = subprocess.run(command, env=env | more, stdout=subprocess.PIPE, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def script(name, *words, **more):
    return run(sys.executable, os.path.join(here, name), *words, **more)


def java(**more):
    return script("first_byte.py", **more)


programs = {
    "rust": lambda: run(env["BIN"] + "/one_reader"),
    "c": lambda: run(env["BIN"] + "/reads"),
    "python": lambda: script("reads.py"),
    "hdfs-native": lambda: script("reads.py", "hdfs-native"),
    "parquet": lambda: script("parquet.py"),
    "first, ours": lambda: java(JAVA_HOME=env["STAND_IN"], ARROW_LIBHDFS_DIR=env["OURS"]),
    "first, JVM": lambda: java(ARROW_LIBHDFS_DIR=env["JVM"], CLASSPATH=f"{env['HADOOP_CONF_DIR']}:{env['JARS']}"),
}
found = {}
for turn in range(turns):
    for name, program in programs.items():
        for figure, value in program().items():
            found.setdefault((name, figure), []).append(value)

rows = [
    ("C, sequential 1 MiB, MB/s", ("c", "sequential"), ("rust", "sequential"), "at least 0.97"),
    ("C, random 4 KiB, thousand a second", ("c", "random"), ("rust", "random"), "at least 0.9"),
    ("Python, read_ranges of 100 x 64 KiB, thousand ranges a second", ("python", "ranges"), ("rust", "ranges"), "at least 0.8"),
    ("Python, sequential 1 MiB, MB/s, beside hdfs-native", ("python", "sequential"), ("hdfs-native", "sequential"), "at least 2"),
    ("Python, random 4 KiB, thousand a second, beside hdfs-native", ("python", "random"), ("hdfs-native", "random"), "at least 5"),
    ("pandas.read_parquet, s, beside a local file", ("parquet", "hdfs"), ("parquet", "local"), "at most 1.1"),
    ("pyarrow, first byte, s: a JVM's libhdfs.so beside ours", ("first, JVM", "seconds"), ("first, ours", "seconds"), "at least 20"),
]
print(f"medians of {turns} processes each, in turns")
print("| what | figure | beside | ratio | range of the ratio in a turn | goal |\n|---|---|---|---|---|---|")
for what, figure, beside, goal in rows:
    ours, theirs = found[figure], found[beside]
    each = [a / b for a, b in zip(ours, theirs)]
    figures = [f"{statistics.median(all):.4g}" for all in (ours, theirs)]
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"| {what} | {figures[0]} | {figures[1]} | {ratio:.2f} | {min(each):.2f} to {max(each):.2f} | {goal} |")
