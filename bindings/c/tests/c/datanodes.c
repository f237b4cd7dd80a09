/* DataNodes that are killed under a reader. The arguments are their process ids; every block has a replica on each. */
#include "checks.h"
#include <signal.h>
#include <unistd.h>

enum { SIZE = (4 << 20) + 12345 };
#define PATH "/datanodes"

static hdfsFS connected(void) {
    struct hdfsBuilder *builder = hdfsNewBuilder();
    hdfsBuilderSetNameNode(builder, "default");
    CHECK(hdfsBuilderConfSetStr(builder, "dfs.blocksize", "1048576") == 0);
    /* One that nothing obeys, of which the library warns on standard error. */
    CHECK(hdfsBuilderConfSetStr(builder, "dfs.xframe.value", "DENY") == 0);
    CHECK(hdfsBuilderConfSetStr(builder, "dfs.client.max.block.acquire.failures", "0") == 0);
    hdfsFS fs = hdfsBuilderConnect(builder);
    CHECK(fs);
    return fs;
}

/* Reads on, and says how many bytes came before the end of the file or an error. */
static int64_t reads_on(hdfsFS fs, hdfsFile file, char *data, int64_t *offset) {
    while (1) {
        errno = 0;
        tSize count = hdfsRead(fs, file, data, 100000);
        if (count <= 0)
            return count;
        check_bytes(data, *offset, count);
        *offset += count;
    }
}

int main(int argc, char **argv) {
    hdfsFS fs = connected();
    make(fs, PATH, SIZE);
    char *data = malloc(100000);
    hdfsFile file = hdfsOpenFile(fs, PATH, O_RDONLY, 0, 0, 0);
    int64_t offset = 0;
    CHECK(file && data && argc == 3);
    CHECK(hdfsRead(fs, file, data, 1000) == 1000);
    check_bytes(data, 0, offset = 1000);
    CHECK(kill(atoi(argv[1]), SIGKILL) == 0);
    CHECK(reads_on(fs, file, data, &offset) == 0 && offset == SIZE);
    CHECK(hdfsPreadFully(fs, file, 2000000, data, 50000) == 0);
    check_bytes(data, 2000000, 50000);
    CHECK(hdfsSeek(fs, file, offset = 0) == 0 && hdfsRead(fs, file, data, 1000) == 1000);
    CHECK(hdfsUnbufferFile(file) == 0);
    CHECK(kill(atoi(argv[2]), SIGKILL) == 0);
    offset = 1000;
    CHECK(reads_on(fs, file, data, &offset) == -1 && errno != 0 && offset < SIZE);
    CHECK(hdfsGetLastExceptionRootCause());
    REFUSES(hdfsPread(fs, file, SIZE - 100, data, 100) == -1);
    REFUSES(hdfsPreadFully(fs, file, SIZE - 100, data, 100) == -1);
    CHECK(hdfsCloseFile(fs, file) == 0 && hdfsDisconnect(fs) == 0);
    free(data);
    puts("all well");
    return 0;
}
