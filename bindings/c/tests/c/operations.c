/* What a C program does with libhdfs, each answer checked. HADOOP_CONF_DIR names the cluster; the argument says whether reads
 * are to be `local` ones or `remote`; `slow` as a second one has fewer threads and no child, for valgrind. */
#include "checks.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 3 << 20, THREADS = 1000, FEW_THREADS = 32 };

static char *uri;
static int is_local, is_slow;

static hdfsFS connected(void) {
    struct hdfsBuilder *builder = hdfsNewBuilder();
    CHECK(builder);
    hdfsBuilderSetNameNode(builder, uri);
    hdfsBuilderSetForceNewInstance(builder);
    CHECK(hdfsBuilderConfSetStr(builder, "dfs.blocksize", "1048576") == 0);
    if (!is_local)
        CHECK(hdfsBuilderConfSetStr(builder, "dfs.client.read.shortcircuit", "false") == 0);
    hdfsFS fs = hdfsBuilderConnect(builder);
    CHECK(fs);
    return fs;
}

static void files(hdfsFS fs) {
    CHECK(hdfsCreateDirectory(fs, "/c/d") == 0);
    CHECK(hdfsExists(fs, "/c/d") == 0);
    FAILS(hdfsExists(fs, "/c/none") == -1, ENOENT);
    FAILS(hdfsOpenFile(fs, "/c/none", O_RDONLY, 0, 0, 0) == NULL, ENOENT);
    CHECK(strstr(hdfsGetLastExceptionRootCause(), "FileNotFoundException"));
    CHECK(strstr(hdfsGetLastExceptionStackTrace(), "/c/none"));
    FAILS(hdfsOpenFile(fs, "/c/f", O_RDWR, 0, 0, 0) == NULL, ENOTSUP);

    make(fs, "/c/f", SIZE);
    FAILS(hdfsOpenFile(fs, "/c/f", O_WRONLY | O_CREAT | O_EXCL, 0, 0, 0) == NULL, EEXIST);
    hdfsFile file = hdfsOpenFile(fs, "/c/f", O_RDONLY, 0, 0, 0);
    CHECK(file && hdfsFileIsOpenForRead(file) == 1);
    CHECK(hdfsAvailable(fs, file) == SIZE);
    char *data = malloc(SIZE);
    int64_t done = 0;
    while (done < SIZE) {
        tSize count = hdfsRead(fs, file, data + done, SIZE - (tSize)done);
        CHECK(count > 0);
        done += count;
    }
    check_bytes(data, 0, SIZE);
    CHECK(hdfsRead(fs, file, data, 1) == 0);
    CHECK(hdfsSeek(fs, file, 1048570) == 0 && hdfsTell(fs, file) == 1048570);
    FAILS(hdfsSeek(fs, file, SIZE + 1) == -1, EINVAL);
    FAILS(hdfsSeek(fs, file, -1) == -1, EINVAL);
    CHECK(hdfsRead(fs, file, data, 12) > 0);
    check_bytes(data, 1048570, 1);
    CHECK(hdfsPread(fs, file, 2000000, data, 100) == 100);
    check_bytes(data, 2000000, 100);
    CHECK(hdfsPread(fs, file, SIZE, data, 100) == 0);
    CHECK(hdfsPreadFully(fs, file, 500000, data, 1000000) == 0);
    check_bytes(data, 500000, 1000000);
    FAILS(hdfsPreadFully(fs, file, SIZE - 5, data, 10) == -1, EINTERNAL);
    FAILS(hdfsWrite(fs, file, data, 1) == -1, EINVAL);
    FAILS(hdfsHFlush(fs, file) == -1, EBADF);
    FAILS(hdfsRead(fs, file, NULL, 1) == -1, EINVAL);
    FAILS(hdfsRead(fs, file, data, -1) == -1, EINVAL);
    CHECK(hdfsRead(fs, file, NULL, 0) == 0);

    struct hdfsReadStatistics *stats;
    CHECK(hdfsFileGetReadStatistics(file, &stats) == 0);
    CHECK(stats->totalBytesRead >= SIZE + 1000100);
    CHECK(hdfsReadStatisticsGetRemoteBytesRead(stats) == (int64_t)(stats->totalBytesRead - stats->totalLocalBytesRead));
    if (is_local)
        CHECK(stats->totalShortCircuitBytesRead == stats->totalBytesRead);
    hdfsFileFreeReadStatistics(stats);
    CHECK(hdfsFileClearReadStatistics(file) == 0);
    CHECK(hdfsFileGetReadStatistics(file, &stats) == 0 && stats->totalBytesRead == 0);
    hdfsFileFreeReadStatistics(stats);
    CHECK(hdfsUnbufferFile(file) == 0);
    CHECK(hdfsPread(fs, file, 7, data, 10) == 10);
    check_bytes(data, 7, 10);
    CHECK(hdfsCloseFile(fs, file) == 0);
    FAILS(hdfsCloseFile(fs, file) == -1, EBADF);
    FAILS(hdfsRead(fs, file, data, 1) == -1, EBADF);
    FAILS(hdfsRead(fs, NULL, data, 1) == -1, EBADF);
    CHECK(hdfsFileIsOpenForRead(file) == 0);

    /* Appends: O_CREAT makes what is missing. */
    for (int round = 0; round < 2; round++) {
        file = hdfsOpenFile(fs, "/c/log", O_WRONLY | O_APPEND | O_CREAT, 0, 0, 0);
        CHECK(file);
        CHECK(hdfsWrite(fs, file, "line\n", 5) == 5);
        CHECK(hdfsHFlush(fs, file) == 0 && hdfsHSync(fs, file) == 0 && hdfsSync(fs, file) == 0);
        CHECK(hdfsCloseFile(fs, file) == 0);
    }
    FAILS(hdfsOpenFile(fs, "/c/none", O_WRONLY | O_APPEND, 0, 0, 0) == NULL, ENOENT);
    hdfsFileInfo *info = hdfsGetPathInfo(fs, "/c/log");
    CHECK(info && info->mSize == 10);
    hdfsFreeFileInfo(info, 1);
    CHECK(hdfsTruncateFile(fs, "/c/log", 10) == 1);

    struct hdfsStreamBuilder *stream = hdfsStreamBuilderAlloc(fs, "/c/s", O_WRONLY);
    CHECK(stream && hdfsStreamBuilderSetReplication(stream, 1) == 0);
    CHECK(hdfsStreamBuilderSetDefaultBlockSize(stream, 2 << 20) == 0);
    CHECK(hdfsStreamBuilderSetBufferSize(stream, 4096) == 0);
    file = hdfsStreamBuilderBuild(stream);
    CHECK(file && hdfsCloseFile(fs, file) == 0);
    FAILS(hdfsStreamBuilderBuild(stream) == NULL, EBADF);
    info = hdfsGetPathInfo(fs, "/c/s");
    CHECK(info && info->mBlockSize == 2 << 20 && info->mReplication == 1);
    hdfsFreeFileInfo(info, 1);
    stream = hdfsStreamBuilderAlloc(fs, "/c/s", O_RDONLY);
    FAILS(hdfsStreamBuilderSetReplication(stream, 1) == -1, EINVAL);
    hdfsStreamBuilderFree(stream);

    struct hdfsOpenFileBuilder *opening = hdfsOpenFileBuilderAlloc(fs, "/c/f");
    CHECK(hdfsOpenFileBuilderOpt(opening, "fs.any", "1") == opening);
    CHECK(hdfsOpenFileBuilderMust(opening, "fs.option.openfile.read.policy", "random") == opening);
    FAILS(hdfsOpenFileBuilderMust(opening, "fs.none", "1") == NULL, EINVAL);
    struct hdfsOpenFileFuture *future = hdfsOpenFileBuilderBuild(opening);
    CHECK(future);
    file = hdfsOpenFileFutureGetWithTimeout(future, 10, jSeconds);
    CHECK(file && hdfsAvailable(fs, file) == SIZE);
    FAILS(hdfsOpenFileFutureGet(future) == NULL, EINVAL);
    hdfsOpenFileFutureFree(future);
    CHECK(hdfsCloseFile(fs, file) == 0);
    future = hdfsOpenFileBuilderBuild(hdfsOpenFileBuilderAlloc(fs, "/c/none"));
    CHECK(future);
    FAILS(hdfsOpenFileFutureGet(future) == NULL, ENOENT);
    hdfsOpenFileFutureFree(future);
    free(data);
}

static void paths(hdfsFS fs) {
    int count = -1;
    errno = 1;
    CHECK(hdfsListDirectory(fs, "/c/d", &count) == NULL && errno == 0 && count == 0);
    FAILS(hdfsListDirectory(fs, "/c/none", &count) == NULL, ENOENT);
    hdfsFileInfo *all = hdfsListDirectory(fs, "/c", &count);
    CHECK(all && count == 4);
    char name[4096];
    snprintf(name, sizeof name, "%s/c/f", uri);
    CHECK(strcmp(all[1].mName, name) == 0);
    CHECK(all[0].mKind == kObjectKindDirectory && all[1].mKind == kObjectKindFile);
    CHECK(all[1].mSize == SIZE && all[1].mBlockSize == 1048576 && all[1].mLastMod > 1600000000);
    CHECK(hdfsFileIsEncrypted(all + 1) == 0);
    hdfsFreeFileInfo(all, count);

    CHECK(hdfsChmod(fs, "/c/f", 0640) == 0 && hdfsChown(fs, "/c/f", "alice", NULL) == 0);
    CHECK(hdfsChown(fs, "/c/f", NULL, NULL) == 0);
    CHECK(hdfsUtime(fs, "/c/f", 1000000000, -1) == 0);
    CHECK(hdfsSetReplication(fs, "/c/f", 2) == 0);
    hdfsFileInfo *info = hdfsGetPathInfo(fs, name);
    CHECK(info && info->mPermissions == 0640 && strcmp(info->mOwner, "alice") == 0);
    CHECK(info->mLastMod == 1000000000 && info->mReplication == 2);
    hdfsFreeFileInfo(info, 1);
    FAILS(hdfsGetPathInfo(fs, "hdfs://elsewhere:1/x") == NULL, EINVAL);

    char ***hosts = hdfsGetHosts(fs, "/c/f", 0, SIZE);
    CHECK(hosts && hosts[0] && hosts[0][0] && hosts[1] && hosts[2] && !hosts[3]);
    hdfsFreeHosts(hosts);
    int blocks = 0;
    struct BlockLocation *where = hdfsGetFileBlockLocations(fs, "/c/f", 1048576, 1, &blocks);
    CHECK(where && blocks == 1 && where->offset == 1048576 && where->length == 1048576 && where->numOfNodes >= 1);
    CHECK(strchr(where->names[0], ':') && where->hosts[0] && where->topologyPaths[0][0] == '/' && !where->corrupt);
    hdfsFreeFileBlockLocations(where, blocks);

    CHECK(hdfsRename(fs, "/c/f", "/c/g") == 0);
    FAILS(hdfsRename(fs, "/c/f", "/c/h") == -1, EIO);
    FAILS(hdfsDelete(fs, "/c/none", 0) == -1, EIO);
    CHECK(hdfsDelete(fs, "/c", 0) == -1 && errno != 0);
    CHECK(hdfsCopy(fs, "/c/g", fs, "/c/copy") == 0 && hdfsMove(fs, "/c/copy", fs, "/c/d") == 0);
    CHECK(hdfsExists(fs, "/c/d/copy") == 0 && hdfsExists(fs, "/c/copy") == -1);
    hdfsFS local = hdfsConnect(NULL, 0);
    char place[] = "/tmp/zerohop-c-XXXXXX";
    CHECK(local && mkdtemp(place));
    CHECK(hdfsCopy(fs, "/c/g", local, place) == 0);
    snprintf(name, sizeof name, "%s/g", place);
    info = hdfsGetPathInfo(local, name);
    CHECK(info && info->mSize == SIZE);
    hdfsFreeFileInfo(info, 1);
    CHECK(hdfsDelete(local, place, 1) == 0 && hdfsDisconnect(local) == 0);

    CHECK(hdfsSetWorkingDirectory(fs, "/c/d") == 0);
    char small[4];
    FAILS(hdfsGetWorkingDirectory(fs, small, sizeof small) == NULL, ENAMETOOLONG);
    CHECK(hdfsGetWorkingDirectory(fs, name, sizeof name) == name && strstr(name, "/c/d"));
    CHECK(hdfsExists(fs, "copy") == 0 && hdfsExists(fs, "../g") == 0);
    FAILS(hdfsExists(fs, "\xff") == -1, EINVAL);
    FAILS(hdfsExists(fs, NULL) == -1, EINVAL);

    CHECK(hdfsGetDefaultBlockSize(fs) == 1048576 && hdfsGetDefaultBlockSizeAtPath(fs, "/c") == 1048576);
    CHECK(hdfsGetCapacity(fs) > 0 && hdfsGetUsed(fs) >= 0);
    struct hdfsHedgedReadMetrics *metrics;
    CHECK(hdfsGetHedgedReadMetrics(fs, &metrics) == 0 && metrics->hedgedReadOps == 0);
    hdfsFreeHedgedReadMetrics(metrics);
}

/* Each block is asked of a second DataNode at once, where there is one. */
static void hedged(hdfsFS fs) {
    struct hdfsBuilder *builder = hdfsNewBuilder();
    CHECK(builder);
    hdfsBuilderSetNameNode(builder, uri);
    hdfsBuilderSetForceNewInstance(builder);
    CHECK(hdfsBuilderConfSetStr(builder, "dfs.client.read.shortcircuit", "false") == 0);
    CHECK(hdfsBuilderConfSetStr(builder, "dfs.client.hedged.read.threadpool.size", "4") == 0);
    CHECK(hdfsBuilderConfSetStr(builder, "dfs.client.hedged.read.threshold.millis", "0") == 0);
    hdfsFS hedging = hdfsBuilderConnect(builder);
    CHECK(hedging);
    char ***hosts = hdfsGetHosts(fs, "/c/g", 0, 1);
    CHECK(hosts && hosts[0] && hosts[0][0]);
    int has_others = hosts[0][1] != NULL;
    hdfsFreeHosts(hosts);
    char *data = malloc(SIZE);
    uint64_t ops = 0;
    for (int i = 0; ops == 0 && i < (has_others ? 1000 : 3); i++) {
        hdfsFile file = hdfsOpenFile(hedging, "/c/g", O_RDONLY, 0, 0, 0);
        CHECK(file && hdfsPread(hedging, file, 0, data, SIZE) == SIZE);
        check_bytes(data, 0, SIZE);
        CHECK(hdfsCloseFile(hedging, file) == 0);
        struct hdfsHedgedReadMetrics *metrics;
        CHECK(hdfsGetHedgedReadMetrics(hedging, &metrics) == 0);
        ops = metrics->hedgedReadOps;
        CHECK(metrics->hedgedReadOpsWin <= ops && metrics->hedgedReadOpsInCurThread == 0);
        hdfsFreeHedgedReadMetrics(metrics);
    }
    CHECK((ops > 0) == has_others);
    if (has_others)
        puts("hedged");
    free(data);
    CHECK(hdfsDisconnect(hedging) == 0);
}

static void zero_copy(hdfsFS fs) {
    hdfsFile file = hdfsOpenFile(fs, "/c/g", O_RDONLY, 0, 0, 0);
    struct hadoopRzOptions *options = hadoopRzOptionsAlloc();
    CHECK(file && options);
    if (is_local) {
        struct hadoopRzBuffer *buffer = hadoopReadZero(file, options, 1000);
        CHECK(buffer && hadoopRzBufferLength(buffer) == 1000);
        check_bytes(hadoopRzBufferGet(buffer), 0, 1000);
        hadoopRzBufferFree(file, buffer);
        CHECK(hadoopRzBufferLength(buffer) == -1);
    } else {
        FAILS(hadoopReadZero(file, options, 1000) == NULL, EPROTONOSUPPORT);
    }
    FAILS(hadoopRzOptionsSetByteBufferPool(options, "no/Such") == -1, EINVAL);
    CHECK(hadoopRzOptionsSetByteBufferPool(options, ELASTIC_BYTE_BUFFER_POOL_CLASS) == 0);
    CHECK(hadoopRzOptionsSetSkipChecksum(options, 1) == 0);
    int64_t offset = hdfsTell(fs, file);
    while (1) {
        struct hadoopRzBuffer *buffer = hadoopReadZero(file, options, 700000);
        CHECK(buffer);
        int32_t count = hadoopRzBufferLength(buffer);
        if (count == 0) {
            CHECK(hadoopRzBufferGet(buffer) == NULL);
            hadoopRzBufferFree(file, buffer);
            break;
        }
        check_bytes(hadoopRzBufferGet(buffer), offset, count);
        offset += count;
        hadoopRzBufferFree(file, buffer);
    }
    CHECK(offset == SIZE);
    hadoopRzOptionsFree(options);
    CHECK(hdfsCloseFile(fs, file) == 0);
}

/* The path of the file that is mapped at an address. */
static void mapped_file(const void *at, char *path) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[5000];
    *path = 0;
    CHECK(maps);
    while (fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start <= (unsigned long)at && (unsigned long)at < end)
            sscanf(line, "%*s %*s %*s %*s %*s %4096s", path);
    }
    fclose(maps);
    CHECK(*path);
}

/* A block file that is cut under a buffer: its bytes became zeros, and no caller could know. */
static void cut_under_a_buffer(hdfsFS fs) {
    make(fs, "/c/cut", 1 << 20);
    hdfsFile file = hdfsOpenFile(fs, "/c/cut", O_RDONLY, 0, 0, 0);
    struct hadoopRzOptions *options = hadoopRzOptionsAlloc();
    struct hadoopRzBuffer *buffer = hadoopReadZero(file, options, 1 << 20);
    CHECK(buffer && hadoopRzBufferLength(buffer) == 1 << 20);
    const char *data = hadoopRzBufferGet(buffer);
    char path[4097];
    mapped_file(data, path);
    CHECK(truncate(path, 0) == 0);
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(((const volatile char *)data)[1 << 19]);
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    hadoopRzBufferFree(file, buffer);
    hadoopRzOptionsFree(options);
    CHECK(hdfsCloseFile(fs, file) == 0);
    CHECK(hdfsDelete(fs, "/c/cut", 0) == 0);
}

static hdfsFS shared_fs;
static hdfsFile shared_file;

static void *thread(void *number) {
    long own = (long)number;
    char path[64], data[8192];
    snprintf(path, sizeof path, "/c/threads/%ld", own);
    make(shared_fs, path, 10000);
    for (int i = 0; i < 50; i++) {
        int64_t offset = (own * 104729 + i * 7919) % (SIZE - (int64_t)sizeof data);
        CHECK(hdfsPread(shared_fs, shared_file, offset, data, sizeof data) == sizeof data);
        check_bytes(data, offset, sizeof data);
    }
    FAILS(hdfsExists(shared_fs, "/c/none") == -1, ENOENT);
    CHECK(strstr(hdfsGetLastExceptionRootCause(), "/c/none"));
    CHECK(hdfsDelete(shared_fs, path, 0) == 0);
    return NULL;
}

static void threads(hdfsFS fs) {
    pthread_t all[THREADS];
    shared_fs = fs;
    shared_file = hdfsOpenFile(fs, "/c/g", O_RDONLY, 0, 0, 0);
    CHECK(shared_file);
    int count = is_slow ? FEW_THREADS : THREADS;
    for (long i = 0; i < count; i++)
        CHECK(pthread_create(&all[i], NULL, thread, (void *)i) == 0);
    for (int i = 0; i < count; i++)
        CHECK(pthread_join(all[i], NULL) == 0);
    CHECK(hdfsCloseFile(fs, shared_file) == 0);
}

static void after_fork(hdfsFS fs) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        FAILS(hdfsExists(fs, "/c") == -1, EBADF);
        hdfsFS own = connected();
        CHECK(hdfsExists(own, "/c") == 0);
        hdfsFile file = hdfsOpenFile(own, "/c/g", O_RDONLY, 0, 0, 0);
        char data[100];
        CHECK(file && hdfsRead(own, file, data, 100) > 0);
        check_bytes(data, 0, 100);
        CHECK(hdfsCloseFile(own, file) == 0 && hdfsDisconnect(own) == 0);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(hdfsExists(fs, "/c") == 0);
}

int main(int argc, char **argv) {
    is_local = argc > 1 && strcmp(argv[1], "local") == 0;
    is_slow = argc > 2 && strcmp(argv[2], "slow") == 0;
    CHECK(hdfsConfGetStr("fs.defaultFS", &uri) == 0 && uri);
    int32_t number = 7;
    CHECK(hdfsConfGetInt("no.such.key", &number) == 0 && number == 7);
    char *none;
    CHECK(hdfsConfGetStr("no.such.key", &none) == 0 && none == NULL);
    hdfsFS fs = connected();
    hdfsDelete(fs, "/c", 1);
    files(fs);
    paths(fs);
    hedged(fs);
    zero_copy(fs);
    if (is_local && !is_slow)
        cut_under_a_buffer(fs);
    threads(fs);
    if (!is_slow)
        after_fork(fs);
    CHECK(hdfsDelete(fs, "/c", 1) == 0);
    CHECK(hdfsDisconnect(fs) == 0);
    FAILS(hdfsDisconnect(fs) == -1, EBADF);
    FAILS(hdfsExists(fs, "/c") == -1, EBADF);
    hdfsConfStrFree(uri);
    puts("all well");
    return 0;
}
