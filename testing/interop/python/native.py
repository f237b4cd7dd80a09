"""Drives hdfs-native, a client of neither project: one command a line, one answer a line.

create PATH REPLICATION BLOCK_SIZE | append PATH | write LOCAL_FILE OFFSET LENGTH | close |
read PATH (answers length and CRC-32)
"""

import sys
import zlib

import hdfs_native


def serve(uri):
    client = hdfs_native.Client(uri)
    writer = None
    for line in sys.stdin:
        verb, *args = line.split()
        answer = ""
        try:
            if verb == "create":
                path, replication, block_size = args
                options = hdfs_native.WriteOptions(
                    replication=int(replication), block_size=int(block_size), overwrite=True
                )
                writer = client.create(path, options)
            elif verb == "append":
                writer = client.append(args[0])
            elif verb == "write":
                path, offset, length = args[0], int(args[1]), int(args[2])
                with open(path, "rb") as source:
                    source.seek(offset)
                    writer.write(source.read(length))
            elif verb == "close":
                writer.close()
            elif verb == "read":
                data = client.read(args[0]).read()
                answer = f" {len(data)} {zlib.crc32(data):08x}"
            else:
                raise ValueError(f"unknown command {verb}")
        except Exception as error:
            print("failed", " ".join(str(error).split()), flush=True)
        else:
            print("ok" + answer, flush=True)


serve(sys.argv[1])
