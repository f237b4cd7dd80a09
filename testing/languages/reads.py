"""What the package zerohop, or hdfs-native (with that word), reads of /languages in one process, as a line of JSON."""
import json
import random
import sys
import time

import zerohop

LEN = 1 << 30
BUFFER = 1 << 20
rng = random.Random(1)


def places(count, length):
    return [rng.randrange(LEN - length) for _ in range(count)]


def rate(amount, work):
    start = time.perf_counter()
    work()
    return amount / (time.perf_counter() - start)


def ours(fs):
    buffer = bytearray(BUFFER)
    file = fs.open("/languages", buffering=0)

    def sequential():
        file.seek(0)
        while file.readinto(buffer):
            pass

    def at_random(at=places(50_000, 4096)):
        for place in at:
            file.read_at(place, 4096)

    def ranges(calls=[[(place, 65_536) for place in places(100, 65_536)] for _ in range(300)]):
        for call in calls:
            file.read_ranges(call)

    sequential()
    return {
        "sequential": rate(LEN / 1e6, sequential),
        "random": rate(50, at_random),
        "ranges": rate(30, ranges),
    }


def native(uri):
    import hdfs_native

    file = hdfs_native.Client(uri).read("/languages")

    def sequential():
        file.seek(0)
        done = 0
        while done < LEN:
            done += len(file.read(BUFFER))

    def at_random(at=places(2_000, 4096)):
        for place in at:
            file.read_range(place, 4096)

    sequential()
    return {"sequential": rate(LEN / 1e6, sequential), "random": rate(2, at_random)}


fs = zerohop.connect()
print(json.dumps(native(fs.uri) if "hdfs-native" in sys.argv else ours(fs)))
