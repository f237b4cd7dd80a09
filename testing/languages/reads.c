/* What libhdfs.so reads of /languages in one process, as a line of JSON; see crates/bench/examples/one_reader.rs. */
#include <hdfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LEN (1LL << 30)
#define BUFFER (1 << 20)
#define RANDOM_CALLS 200000

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, hdfsGetLastExceptionRootCause());
    exit(1);
}

static void sequential(hdfsFS fs, hdfsFile file, char *buffer) {
    int64_t done = 0;
    if (hdfsSeek(fs, file, 0)) fail("hdfsSeek");
    while (done < LEN) {
        tSize got = hdfsRead(fs, file, buffer, BUFFER);
        if (got <= 0) fail("hdfsRead");
        done += got;
    }
}

int main(void) {
    hdfsFS fs = hdfsConnect("default", 0);
    hdfsFile file = fs ? hdfsOpenFile(fs, "/languages", O_RDONLY, 0, 0, 0) : NULL;
    char *buffer = malloc(BUFFER);
    if (!file || !buffer) fail("hdfsOpenFile");
    sequential(fs, file, buffer);
    double start = now();
    sequential(fs, file, buffer);
    double rate = LEN / (now() - start) / 1e6;
    unsigned long long x = 88172645463325252ULL;
    start = now();
    for (int i = 0; i < RANDOM_CALLS; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        if (hdfsPread(fs, file, (tOffset)(x % (LEN - 4096)), buffer, 4096) != 4096) fail("hdfsPread");
    }
    printf("{\"sequential\": %f, \"random\": %f}\n", rate, RANDOM_CALLS / (now() - start) / 1e3);
    free(buffer);
    return hdfsCloseFile(fs, file) || hdfsDisconnect(fs);
}
