/* What Apache's own test programs of libhdfs check and operations.c does not. HADOOP_CONF_DIR names the cluster, and the process's
 * user is its superuser; the argument says whether reads are to be `local` ones or `remote`. */
#include "checks.h"
#include <limits.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 100000, ENTRIES = 10000, MAKERS = 50, READERS = 8, ROUNDS = 125, CHILDREN = 60 };
#define ROOT "/conformance"
#define SECOND_USER "alice"

static char *uri, host[256];
static tPort port;
static int is_local;

static struct hdfsBuilder *builder_for(const char *name_node) {
    struct hdfsBuilder *builder = hdfsNewBuilder();
    CHECK(builder);
    hdfsBuilderSetNameNode(builder, name_node);
    hdfsBuilderSetForceNewInstance(builder);
    if (!is_local)
        CHECK(hdfsBuilderConfSetStr(builder, "dfs.client.read.shortcircuit", "false") == 0);
    return builder;
}

static hdfsFS connected(void) {
    hdfsFS fs = hdfsBuilderConnect(builder_for(uri));
    CHECK(fs);
    return fs;
}

static void owner_is(hdfsFS fs, const char *path, const char *owner) {
    hdfsFileInfo *info = hdfsGetPathInfo(fs, path);
    CHECK(info && strcmp(info->mOwner, owner) == 0);
    hdfsFreeFileInfo(info, 1);
}

/* Makes a file as the user of a connection, and closes the connection. */
static void makes_as(hdfsFS fs, const char *path, const char *owner) {
    CHECK(fs);
    make(fs, path, 10);
    owner_is(fs, path, owner);
    CHECK(hdfsDisconnect(fs) == 0);
}

static void connections(hdfsFS fs) {
    CHECK(hdfsCreateDirectory(fs, ROOT "/open") == 0 && hdfsChmod(fs, ROOT "/open", 0777) == 0);
    make(fs, ROOT "/own", 10);
    hdfsFileInfo *own = hdfsGetPathInfo(fs, ROOT "/own");
    CHECK(own);
    makes_as(hdfsConnectAsUser(host, port, SECOND_USER), ROOT "/open/1", SECOND_USER);
    makes_as(hdfsConnectAsUserNewInstance(host, port, SECOND_USER), ROOT "/open/2", SECOND_USER);
    makes_as(hdfsConnectAsUserNewInstance("default", 0, SECOND_USER), ROOT "/open/3", SECOND_USER);
    makes_as(hdfsConnectNewInstance(host, port), ROOT "/open/4", own->mOwner);
    makes_as(hdfsConnect(host, port), ROOT "/open/5", own->mOwner);
    hdfsFreeFileInfo(own, 1);

    struct hdfsBuilder *builder = builder_for(host);
    hdfsBuilderSetNameNodePort(builder, port);
    hdfsBuilderSetUserName(builder, SECOND_USER);
    hdfsBuilderSetKerbTicketCachePath(builder, "/tmp/no-such-cache");
    makes_as(hdfsBuilderConnect(builder), ROOT "/open/6", SECOND_USER);
    builder = builder_for(uri);
    hdfsBuilderSetNameNodePort(builder, port);
    FAILS(hdfsBuilderConnect(builder) == NULL, EINVAL);
    builder = builder_for("\xff");
    FAILS(hdfsBuilderConnect(builder) == NULL, EINVAL);
    hdfsFreeBuilder(builder_for(uri));
    hdfsFreeBuilder(NULL);
}

static void permissions(hdfsFS fs) {
    hdfsFS second = hdfsConnectAsUserNewInstance(host, port, SECOND_USER);
    CHECK(second && hdfsCreateDirectory(fs, ROOT "/closed") == 0);
    make(fs, ROOT "/closed/f", 10);
    CHECK(hdfsChmod(fs, ROOT "/closed", 0) == 0);
    FAILS(hdfsGetPathInfo(second, ROOT "/closed/f") == NULL, EACCES);
    FAILS(hdfsOpenFile(second, ROOT "/closed/f", O_RDONLY, 0, 0, 0) == NULL, EACCES);
    FAILS(hdfsOpenFile(second, ROOT "/closed/g", O_WRONLY, 0, 0, 0) == NULL, EACCES);
    int count;
    FAILS(hdfsListDirectory(second, ROOT "/closed", &count) == NULL, EACCES);
    FAILS(hdfsChown(second, ROOT "/closed", SECOND_USER, NULL) == -1, EACCES);
    FAILS(hdfsChmod(second, ROOT "/closed", 0777) == -1, EACCES);
    CHECK(strstr(hdfsGetLastError(), "AccessControlException"));
    CHECK(hdfsChown(fs, ROOT "/closed", SECOND_USER, SECOND_USER) == 0);
    owner_is(fs, ROOT "/closed", SECOND_USER);
    CHECK(hdfsChmod(second, ROOT "/closed", 0700) == 0);
    CHECK(hdfsExists(second, ROOT "/closed/f") == 0);
    CHECK(hdfsDisconnect(second) == 0);
}

static void opens(hdfsFS fs) {
    FAILS(hdfsOpenFile(fs, ROOT "/none", O_RDONLY, 0, 0, 0) == NULL, ENOENT);
    CHECK(strstr(hdfsGetLastExceptionRootCause(), "File does not exist"));
    CHECK(strstr(hdfsGetLastExceptionStackTrace(), "java.io.FileNotFoundException"));
    FAILS(hdfsOpenFile(fs, ROOT "/none", 3, 0, 0, 0) == NULL, EINVAL);
    hdfsOpenFileBuilderFree(hdfsOpenFileBuilderAlloc(fs, ROOT "/own"));
    hdfsOpenFileBuilderFree(NULL);
    struct hdfsOpenFileFuture *future = hdfsOpenFileBuilderBuild(hdfsOpenFileBuilderAlloc(fs, ROOT "/own"));
    CHECK(future);
    CHECK(hdfsOpenFileFutureCancel(future, 1) != 0);
    hdfsFile file = hdfsOpenFileFutureGet(future);
    CHECK(file && hdfsOpenFileFutureCancel(future, 1) != 0);
    hdfsOpenFileFutureFree(future);
    CHECK(hdfsCloseFile(fs, file) == 0);

    file = hdfsOpenFile(fs, ROOT "/log", O_WRONLY, 0, 0, 0);
    CHECK(file && hdfsWrite(fs, file, "Hello,", 6) == 6 && hdfsCloseFile(fs, file) == 0);
    file = hdfsOpenFile(fs, ROOT "/log", O_WRONLY | O_APPEND, 0, 0, 0);
    CHECK(file && hdfsWrite(fs, file, " world", 6) == 6 && hdfsCloseFile(fs, file) == 0);
    char text[20] = "";
    file = hdfsOpenFile(fs, ROOT "/log", O_RDONLY, 0, 0, 0);
    CHECK(file && hdfsPreadFully(fs, file, 0, text, 12) == 0 && strcmp(text, "Hello, world") == 0);
    CHECK(hdfsRead(fs, file, text, 5) > 0);
    tOffset position = hdfsTell(fs, file);
    CHECK(hdfsPread(fs, file, 1, text, 5) == 5 && hdfsTell(fs, file) == position);
    CHECK(hdfsFileUsesDirectRead(file) == 1 && hdfsFileUsesDirectPread(file) == 1);
    hdfsFileDisableDirectRead(file);
    CHECK(hdfsFileUsesDirectRead(file) == 0 && hdfsFileUsesDirectPread(file) == 1);
    hdfsFileDisableDirectPread(file);
    CHECK(hdfsFileUsesDirectPread(file) == 0);
    CHECK(hdfsSeek(fs, file, 0) == 0 && hdfsRead(fs, file, text, 5) == 5 && strncmp(text, "Hello", 5) == 0);
    CHECK(hdfsCloseFile(fs, file) == 0);
}

static void holds(hdfsFS fs, const char *path, int64_t size) {
    char *data = malloc(size + 1);
    hdfsFile file = hdfsOpenFile(fs, path, O_RDONLY, 0, 0, 0);
    CHECK(file && data);
    int64_t done = 0;
    for (tSize count; (count = hdfsRead(fs, file, data + done, (tSize)(size + 1 - done))) != 0; done += count)
        CHECK(count > 0);
    CHECK(done == size);
    check_bytes(data, 0, size);
    CHECK(hdfsCloseFile(fs, file) == 0);
    free(data);
}

/* A tree with a file is copied and moved from each file system to each. */
static void copies(hdfsFS fs) {
    char local_root[] = "/tmp/zerohop-c-XXXXXX", from[300], to[300], file[400];
    hdfsFS local = hdfsConnectNewInstance(NULL, 0);
    CHECK(local && mkdtemp(local_root));
    CHECK(hdfsCreateDirectory(fs, ROOT "/copies") == 0);
    struct { hdfsFS fs; const char *root; } sides[] = {{fs, ROOT "/copies"}, {local, local_root}};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            snprintf(from, sizeof from, "%s/from%d%d", sides[i].root, i, k);
            snprintf(to, sizeof to, "%s/to%d%d", sides[k].root, i, k);
            snprintf(file, sizeof file, "%s/below/f", from);
            make(sides[i].fs, file, SIZE);
            CHECK(hdfsCopy(sides[i].fs, from, sides[k].fs, to) == 0);
            snprintf(file, sizeof file, "%s/below/f", to);
            holds(sides[k].fs, file, SIZE);
            /* Into the directory that is there now, under its name. */
            CHECK(hdfsMove(sides[i].fs, from, sides[k].fs, to) == 0);
            CHECK(hdfsExists(sides[i].fs, from) == -1);
            snprintf(file, sizeof file, "%s/from%d%d/below/f", to, i, k);
            holds(sides[k].fs, file, SIZE);
        }

    /* One cluster under two names: what has a copy in itself would grow for ever, and a move would delete both. */
    char other[300];
    snprintf(other, sizeof other, "hdfs://localhost:%d", port);
    hdfsFS alias = strcmp(host, "localhost") == 0 ? NULL : hdfsBuilderConnect(builder_for(other));
    if (alias) {
        FAILS(hdfsCopy(fs, ROOT "/copies", alias, ROOT "/copies/to00/again") == -1, EINVAL);
        FAILS(hdfsMove(fs, ROOT "/copies", alias, ROOT "/copies/to00/again") == -1, EINVAL);
        FAILS(hdfsMove(fs, ROOT "/own", alias, ROOT "/own") == -1, EINVAL);
        CHECK(hdfsExists(fs, ROOT "/own") == 0 && hdfsDisconnect(alias) == 0);
    }
    CHECK(hdfsDelete(local, local_root, 1) == 0 && hdfsDisconnect(local) == 0);
}

static void zero_copy(hdfsFS fs) {
    make(fs, ROOT "/f", SIZE);
    hdfsFile file = hdfsOpenFile(fs, ROOT "/f", O_RDONLY, 0, 0, 0);
    struct hadoopRzOptions *options = hadoopRzOptionsAlloc();
    CHECK(file && options);
    CHECK(hadoopRzOptionsSetByteBufferPool(options, ELASTIC_BYTE_BUFFER_POOL_CLASS) == 0);
    struct hadoopRzBuffer *buffer = hadoopReadZero(file, options, 0);
    CHECK(buffer && hadoopRzBufferLength(buffer) == 0 && hadoopRzBufferGet(buffer));
    hadoopRzBufferFree(file, buffer);
    buffer = hadoopReadZero(file, options, INT32_MAX);
    CHECK(buffer);
    int32_t count = hadoopRzBufferLength(buffer);
    CHECK(count > 0 && count <= SIZE);
    check_bytes(hadoopRzBufferGet(buffer), 0, count);
    struct hdfsReadStatistics *stats;
    CHECK(hdfsFileGetReadStatistics(file, &stats) == 0);
    CHECK(stats->totalBytesRead >= (uint64_t)count);
    CHECK(stats->totalZeroCopyBytesRead == (is_local ? (uint64_t)count : 0));
    hdfsFileFreeReadStatistics(stats);
    hadoopRzBufferFree(file, buffer);
    FAILS(hadoopReadZero(file, options, -1) == NULL, EINVAL);
    hadoopRzOptionsFree(options);
    CHECK(hdfsCloseFile(fs, file) == 0);
}

static hdfsFS shared_fs;

static void *makes_entries(void *number) {
    char path[64];
    for (long i = (long)number; i < ENTRIES; i += MAKERS) {
        snprintf(path, sizeof path, ROOT "/many/%05ld", i);
        hdfsFile file = hdfsOpenFile(shared_fs, path, O_WRONLY, 0, 0, 0);
        CHECK(file && hdfsCloseFile(shared_fs, file) == 0);
    }
    return NULL;
}

static void *reads_again_and_again(void *number) {
    char data[1000];
    for (long i = 0; i < ROUNDS; i++) {
        hdfsFile file = hdfsOpenFile(shared_fs, ROOT "/f", O_RDONLY, 0, 0, 0);
        int64_t offset = ((long)number * 7919 + i * 104729) % (SIZE - (int64_t)sizeof data);
        CHECK(file && hdfsSeek(shared_fs, file, offset) == 0);
        tSize done = 0;
        for (tSize count; done < (tSize)sizeof data; done += count) {
            count = hdfsRead(shared_fs, file, data + done, (tSize)sizeof data - done);
            CHECK(count > 0);
        }
        check_bytes(data, offset, sizeof data);
        CHECK(hdfsCloseFile(shared_fs, file) == 0);
    }
    return NULL;
}

static void in_threads(void *(*work)(void *), long count) {
    pthread_t all[MAKERS];
    for (long i = 0; i < count; i++)
        CHECK(pthread_create(&all[i], NULL, work, (void *)i) == 0);
    for (long i = 0; i < count; i++)
        CHECK(pthread_join(all[i], NULL) == 0);
}

static void many(hdfsFS fs) {
    shared_fs = fs;
    CHECK(hdfsCreateDirectory(fs, ROOT "/many") == 0);
    in_threads(makes_entries, MAKERS);
    int count = 0;
    hdfsFileInfo *all = hdfsListDirectory(fs, ROOT "/many", &count);
    CHECK(all && count == ENTRIES);
    char name[400];
    for (int i = 0; i < ENTRIES; i++) {
        snprintf(name, sizeof name, "%s" ROOT "/many/%05d", uri, i);
        CHECK(strcmp(all[i].mName, name) == 0 && all[i].mSize == 0 && all[i].mKind == kObjectKindFile);
    }
    hdfsFreeFileInfo(all, count);
    in_threads(reads_again_and_again, READERS);
}

static volatile int is_over;

/* Connects, reads and disconnects for as long as children are made. */
static void *connects(void *unused) {
    (void)unused;
    char data[100];
    while (!is_over) {
        hdfsFS fs = connected(), other = hdfsConnect(host, port);
        hdfsFile file = hdfsOpenFile(fs, ROOT "/f", O_RDONLY, 0, 0, 0);
        CHECK(other && file && hdfsPreadFully(fs, file, 0, data, sizeof data) == 0);
        CHECK(hdfsCloseFile(fs, file) == 0 && hdfsDisconnect(fs) == 0 && hdfsDisconnect(other) == 0);
    }
    return NULL;
}

static void ended_well(pid_t child) {
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* Children of a process whose other threads are in the middle of everything connect and read; one that waits for a lock of its
 * parent is ended by the alarm. */
static void children(const char *program) {
    pthread_t all[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&all[i], NULL, connects, NULL) == 0);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            hdfsFS fs = connected(), other = hdfsConnect(host, port);
            CHECK(other);
            holds(fs, ROOT "/f", SIZE);
            _exit(0);
        }
        ended_well(child);
    }
    is_over = 1;
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(all[i], NULL) == 0);
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, is_local ? "local" : "remote", "child", NULL);
        _exit(127);
    }
    ended_well(child);
}

static void absurd_sizes(hdfsFS fs) {
    char *data = malloc(INT32_MAX);
    hdfsFile file = hdfsOpenFile(fs, ROOT "/f", O_RDONLY, INT_MAX, 0, 0);
    CHECK(data && file);
    CHECK(hdfsPread(fs, file, 0, data, INT32_MAX) == SIZE);
    check_bytes(data, 0, SIZE);
    CHECK(hdfsRead(fs, file, data, INT32_MAX) == SIZE);
    CHECK(hdfsPread(fs, file, INT64_MAX, data, INT32_MAX) == 0);
    REFUSES(hdfsPreadFully(fs, file, INT64_MAX, data, INT32_MAX) == -1);
    FAILS(hdfsPread(fs, file, INT64_MIN, data, 1) == -1, EINVAL);
    FAILS(hdfsRead(fs, file, data, INT32_MIN) == -1, EINVAL);
    FAILS(hdfsSeek(fs, file, INT64_MAX) == -1, EINVAL);
    FAILS(hdfsSeek(fs, file, INT64_MIN) == -1, EINVAL);
    CHECK(hdfsCloseFile(fs, file) == 0);
    free(data);
    REFUSES(hdfsTruncateFile(fs, ROOT "/f", INT64_MAX) == -1);
    REFUSES(hdfsTruncateFile(fs, ROOT "/f", -1) == -1);
    REFUSES(hdfsSetReplication(fs, ROOT "/f", INT16_MAX) == -1);
    REFUSES(hdfsSetReplication(fs, ROOT "/f", -1) == -1);
    REFUSES(hdfsOpenFile(fs, ROOT "/g", O_WRONLY, 0, INT16_MIN, 0) == NULL);
    REFUSES(hdfsOpenFile(fs, ROOT "/g", O_WRONLY, 0, 0, INT32_MIN) == NULL);
    REFUSES(hdfsOpenFile(fs, ROOT "/g", O_WRONLY, 0, 0, 1) == NULL);
    struct hdfsStreamBuilder *stream = hdfsStreamBuilderAlloc(fs, ROOT "/g", O_WRONLY);
    CHECK(stream && hdfsStreamBuilderSetDefaultBlockSize(stream, INT64_MAX) == 0);
    FAILS(hdfsStreamBuilderBuild(stream) == NULL, EINVAL);
    stream = hdfsStreamBuilderAlloc(fs, ROOT "/g", O_WRONLY);
    CHECK(stream && hdfsStreamBuilderSetDefaultBlockSize(stream, 1LL << 47) == 0);
    REFUSES(hdfsStreamBuilderSetDefaultBlockSize(stream, INT64_MIN) == -1);
    REFUSES(hdfsStreamBuilderSetBufferSize(stream, INT32_MIN) == -1);
    file = hdfsStreamBuilderBuild(stream);
    CHECK(file);
    errno = 0;
    /* No DataNode has room for such a block. */
    int has_failed = hdfsWrite(fs, file, "text", 4) != 4;
    has_failed |= hdfsCloseFile(fs, file) != 0;
    CHECK(has_failed && errno != 0);
    char ***hosts = hdfsGetHosts(fs, ROOT "/f", INT64_MAX - 1, 1);
    CHECK(hosts && !hosts[0]);
    hdfsFreeHosts(hosts);
    REFUSES(hdfsGetHosts(fs, ROOT "/f", INT64_MIN, INT64_MIN) == NULL);
    struct hdfsOpenFileFuture *future = hdfsOpenFileBuilderBuild(hdfsOpenFileBuilderAlloc(fs, ROOT "/f"));
    file = hdfsOpenFileFutureGetWithTimeout(future, INT64_MAX, jDays);
    CHECK(file && hdfsCloseFile(fs, file) == 0);
    hdfsOpenFileFutureFree(future);
}

/* Each function says that NULL is no handle; those that free it do nothing. */
static void null_handles(hdfsFS fs) {
    char text[10];
    int count;
    struct hdfsReadStatistics *stats;
    struct hdfsHedgedReadMetrics *metrics;
    hdfsFile file = hdfsOpenFile(fs, ROOT "/f", O_RDONLY, 0, 0, 0);
    CHECK(file);
    CHECK(hdfsFileIsOpenForRead(NULL) == 0 && hdfsFileIsOpenForWrite(NULL) == 0);
    CHECK(hdfsFileUsesDirectRead(NULL) == 0 && hdfsFileUsesDirectPread(NULL) == 0);
    hdfsFileDisableDirectRead(NULL), hdfsFileDisableDirectPread(NULL);
    REFUSES(hdfsFileGetReadStatistics(NULL, &stats) != 0);
    REFUSES(hdfsFileGetReadStatistics(file, NULL) != 0);
    REFUSES(hdfsFileClearReadStatistics(NULL) != 0);
    hdfsFileFreeReadStatistics(NULL);
    CHECK(hdfsReadStatisticsGetRemoteBytesRead(NULL) <= 0);
    REFUSES(hdfsGetHedgedReadMetrics(NULL, &metrics) != 0);
    REFUSES(hdfsGetHedgedReadMetrics(fs, NULL) != 0);
    hdfsFreeHedgedReadMetrics(NULL);
    REFUSES(hdfsBuilderConnect(NULL) == NULL);
    hdfsBuilderSetForceNewInstance(NULL), hdfsBuilderSetNameNode(NULL, uri), hdfsBuilderSetNameNodePort(NULL, 1);
    hdfsBuilderSetUserName(NULL, "a"), hdfsBuilderSetKerbTicketCachePath(NULL, "/a");
    REFUSES(hdfsBuilderConfSetStr(NULL, "a", "b") != 0);
    REFUSES(hdfsConfGetStr(NULL, &uri) != 0 || hdfsConfGetStr("a", NULL) != 0);
    REFUSES(hdfsConfGetInt("a", NULL) != 0);
    hdfsConfStrFree(NULL);
    FAILS(hdfsDisconnect(NULL) == -1, EBADF);
    FAILS(hdfsOpenFile(NULL, "/f", O_RDONLY, 0, 0, 0) == NULL, EBADF);
    REFUSES(hdfsOpenFile(fs, NULL, O_RDONLY, 0, 0, 0) == NULL);
    FAILS(hdfsStreamBuilderAlloc(NULL, "/f", O_RDONLY) == NULL, EBADF);
    FAILS(hdfsStreamBuilderBuild(NULL) == NULL, EBADF);
    FAILS(hdfsStreamBuilderSetBufferSize(NULL, 1) == -1, EBADF);
    FAILS(hdfsStreamBuilderSetReplication(NULL, 1) == -1, EBADF);
    FAILS(hdfsStreamBuilderSetDefaultBlockSize(NULL, 1) == -1, EBADF);
    hdfsStreamBuilderFree(NULL);
    FAILS(hdfsOpenFileBuilderAlloc(NULL, "/f") == NULL, EBADF);
    FAILS(hdfsOpenFileBuilderMust(NULL, "a", "b") == NULL, EBADF);
    FAILS(hdfsOpenFileBuilderOpt(NULL, "a", "b") == NULL, EBADF);
    FAILS(hdfsOpenFileBuilderBuild(NULL) == NULL, EBADF);
    FAILS(hdfsOpenFileFutureGet(NULL) == NULL, EBADF);
    FAILS(hdfsOpenFileFutureGetWithTimeout(NULL, 1, jSeconds) == NULL, EBADF);
    FAILS(hdfsOpenFileFutureCancel(NULL, 1) == -1, EBADF);
    hdfsOpenFileFutureFree(NULL);
    FAILS(hdfsTruncateFile(NULL, "/f", 0) == -1, EBADF);
    REFUSES(hdfsUnbufferFile(NULL) != 0);
    FAILS(hdfsCloseFile(fs, NULL) == -1, EBADF);
    FAILS(hdfsExists(NULL, "/f") == -1, EBADF);
    FAILS(hdfsSeek(fs, NULL, 0) == -1, EBADF);
    FAILS(hdfsTell(fs, NULL) == -1, EBADF);
    FAILS(hdfsRead(fs, NULL, text, 1) == -1, EBADF);
    FAILS(hdfsPread(fs, NULL, 0, text, 1) == -1, EBADF);
    FAILS(hdfsPreadFully(fs, NULL, 0, text, 1) == -1, EBADF);
    FAILS(hdfsWrite(fs, NULL, text, 1) == -1, EBADF);
    FAILS(hdfsFlush(fs, NULL) == -1, EBADF);
    FAILS(hdfsHFlush(fs, NULL) == -1, EBADF);
    FAILS(hdfsHSync(fs, NULL) == -1, EBADF);
    FAILS(hdfsSync(fs, NULL) == -1, EBADF);
    FAILS(hdfsAvailable(fs, NULL) == -1, EBADF);
    FAILS(hdfsCopy(NULL, "/f", fs, "/g") == -1, EBADF);
    FAILS(hdfsMove(fs, "/f", NULL, "/g") == -1, EBADF);
    REFUSES(hdfsCopy(fs, NULL, fs, "/g") == -1);
    FAILS(hdfsDelete(NULL, "/f", 0) == -1, EBADF);
    FAILS(hdfsRename(NULL, "/f", "/g") == -1, EBADF);
    REFUSES(hdfsRename(fs, NULL, NULL) == -1);
    FAILS(hdfsGetWorkingDirectory(NULL, text, sizeof text) == NULL, EBADF);
    REFUSES(hdfsGetWorkingDirectory(fs, NULL, 10) == NULL);
    FAILS(hdfsSetWorkingDirectory(NULL, "/") == -1, EBADF);
    FAILS(hdfsCreateDirectory(NULL, "/f") == -1, EBADF);
    FAILS(hdfsSetReplication(NULL, "/f", 1) == -1, EBADF);
    FAILS(hdfsListDirectory(NULL, "/f", &count) == NULL, EBADF);
    REFUSES(hdfsListDirectory(fs, ROOT, NULL) == NULL);
    FAILS(hdfsGetPathInfo(NULL, "/f") == NULL, EBADF);
    hdfsFreeFileInfo(NULL, 0);
    REFUSES(hdfsFileIsEncrypted(NULL) == -1);
    FAILS(hdfsGetHosts(NULL, "/f", 0, 1) == NULL, EBADF);
    hdfsFreeHosts(NULL);
    FAILS(hdfsGetFileBlockLocations(NULL, "/f", 0, 1, &count) == NULL, EBADF);
    hdfsFreeFileBlockLocations(NULL, 0);
    FAILS(hdfsGetDefaultBlockSize(NULL) == -1, EBADF);
    FAILS(hdfsGetDefaultBlockSizeAtPath(NULL, "/f") == -1, EBADF);
    FAILS(hdfsGetCapacity(NULL) == -1, EBADF);
    FAILS(hdfsGetUsed(NULL) == -1, EBADF);
    FAILS(hdfsChown(NULL, "/f", "a", "b") == -1, EBADF);
    FAILS(hdfsChmod(NULL, "/f", 0) == -1, EBADF);
    FAILS(hdfsUtime(NULL, "/f", 0, 0) == -1, EBADF);
    FAILS(hadoopRzOptionsSetSkipChecksum(NULL, 1) == -1, EBADF);
    FAILS(hadoopRzOptionsSetByteBufferPool(NULL, NULL) == -1, EBADF);
    hadoopRzOptionsFree(NULL);
    FAILS(hadoopReadZero(file, NULL, 1) == NULL, EBADF);
    FAILS(hadoopReadZero(NULL, NULL, 1) == NULL, EBADF);
    FAILS(hadoopRzBufferLength(NULL) == -1, EBADF);
    FAILS(hadoopRzBufferGet(NULL) == NULL, EBADF);
    hadoopRzBufferFree(file, NULL);
    CHECK(hdfsCloseFile(fs, file) == 0);
}

int main(int argc, char **argv) {
    is_local = argc > 1 && strcmp(argv[1], "local") == 0;
    CHECK(hdfsConfGetStr("fs.defaultFS", &uri) == 0 && uri);
    int number;
    CHECK(sscanf(uri, "hdfs://%255[^:]:%d", host, &number) == 2);
    port = (tPort)number;
    hdfsFS fs = connected();
    if (argc > 2) {
        holds(fs, ROOT "/f", SIZE);
        return hdfsDisconnect(fs) != 0;
    }
    hdfsDelete(fs, ROOT, 1);
    connections(fs);
    permissions(fs);
    opens(fs);
    copies(fs);
    zero_copy(fs);
    many(fs);
    children(argv[0]);
    absurd_sizes(fs);
    null_handles(fs);
    CHECK(hdfsDelete(fs, ROOT, 1) == 0 && hdfsDisconnect(fs) == 0);
    hdfsConfStrFree(uri);
    puts("all well");
    return 0;
}
