/*
 * Copies a log that grows into HDFS, line by line and for as long as it runs:
 *
 *     collector SOURCE NAMENODE DIRECTORY
 *
 * NAMENODE is a URI (hdfs://nn.example.com:8020), or `default` for fs.defaultFS of HADOOP_CONF_DIR. DIRECTORY gets files of whole
 * lines, each named by the offset in SOURCE at which it begins, so that what is in HDFS tells where to go on after a restart. A
 * file is full at ROLL_BYTES (128 MiB) or after ROLL_SECONDS (3600). Prints the offset up to which lines are acknowledged: they
 * are on DataNodes, and readers see them.
 *
 *     cc collector.c -lhdfs -o collector
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <hdfs.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH (64 << 10)
#define PATH_MAX_LEN 4096

static const char *directory;
static FILE *source;
static hdfsFS fs;
static int64_t roll_bytes, roll_seconds;

/* The file that is being written, if one is. */
static hdfsFile file;
/* Where in the source it begins, and how long it is. */
static int64_t start, length;
static time_t began;

static int failed(const char *what) {
    const char *cause = hdfsGetLastExceptionRootCause();
    fprintf(stderr, "%s: %s\n", what, cause ? cause : strerror(errno));
    return -1;
}

static const char *path_of(char *path, int64_t offset, const char *ending) {
    snprintf(path, PATH_MAX_LEN, "%s/%020" PRId64 "%s", directory, offset, ending);
    return path;
}

static int64_t setting(const char *name, int64_t otherwise) {
    const char *value = getenv(name);
    return value ? strtoll(value, NULL, 10) : otherwise;
}

/* The next whole lines of the source; 0 bytes if there is no whole line. A line longer than a batch is sent in pieces. */
static size_t whole_lines(int64_t offset, char *data) {
    clearerr(source);
    if (fseeko(source, offset, SEEK_SET) != 0) return 0;
    size_t read = fread(data, 1, BATCH, source), end = read;
    while (end > 0 && data[end - 1] != '\n') end--;
    return end == 0 && read == BATCH ? read : end;
}

/* Puts bytes at a file's end, where readers see them. */
static int put(hdfsFile to, const char *data, size_t count) {
    if (hdfsWrite(fs, to, data, (tSize)count) != (tSize)count) return failed("hdfsWrite");
    return hdfsHFlush(fs, to) == 0 ? 0 : failed("hdfsHFlush");
}

/*
 * Writes the last file anew from the source: its writer is gone, and its lease is not over yet, so how long the file will be is
 * not known. The new one is whole before the old one goes, and `recovered` finishes what was begun here.
 */
static int rewrite(void) {
    char path[PATH_MAX_LEN], other[PATH_MAX_LEN], data[BATCH];
    path_of(path, start, "");
    hdfsFile copy = hdfsOpenFile(fs, path_of(other, start, ".new"), O_WRONLY | O_CREAT, 0, 0, 0);
    if (!copy) return failed(other);
    size_t count;
    for (length = 0; length < roll_bytes + BATCH; length += (int64_t)count) {
        count = whole_lines(start + length, data);
        if (count == 0) break;
        if (put(copy, data, count) != 0) {
            hdfsCloseFile(fs, copy);
            return -1;
        }
    }
    if (hdfsCloseFile(fs, copy) != 0) return failed(other);
    if (hdfsDelete(fs, path, 0) != 0) return failed(path);
    return hdfsRename(fs, other, path) == 0 ? 0 : failed(other);
}

/* Ends a rewrite that was interrupted: its file is whole once the old one is gone. */
static int recovered(int64_t offset) {
    char path[PATH_MAX_LEN], other[PATH_MAX_LEN];
    path_of(path, offset, "");
    path_of(other, offset, ".new");
    if (hdfsExists(fs, path) == 0) return hdfsDelete(fs, other, 0) == 0 ? 0 : failed(other);
    if (errno != ENOENT) return failed(path);
    return hdfsRename(fs, other, path) == 0 ? 0 : failed(other);
}

/* Finds the beginning of the last file; 1 if there is one. */
static int find_start(void) {
    int count = 0, status = 0;
    hdfsFileInfo *entries = hdfsListDirectory(fs, directory, &count);
    if (!entries && errno != 0 && errno != ENOENT) return failed(directory);
    start = length = 0;
    for (int at = 0; at < count && status >= 0; at++) {
        const char *slash = strrchr(entries[at].mName, '/');
        char *ending;
        int64_t offset = strtoll(slash ? slash + 1 : entries[at].mName, &ending, 10);
        status = strcmp(ending, ".new") == 0 && recovered(offset) != 0 ? -1 : 1;
        if (offset > start) start = offset;
    }
    if (entries) hdfsFreeFileInfo(entries, count);
    return status;
}

/* Finds where the last file ends, and opens it. */
static int find(void) {
    int found = find_start();
    if (found <= 0) return found;
    char path[PATH_MAX_LEN];
    file = hdfsOpenFile(fs, path_of(path, start, ""), O_WRONLY | O_APPEND, 0, 0, 0);
    if (!file) return errno == EBUSY ? rewrite() : failed(path);
    length = hdfsTell(fs, file);
    return length < 0 ? failed(path) : 0;
}

/* Copies the next lines, or waits a moment if there are none. */
static int copy_lines(void) {
    char path[PATH_MAX_LEN], data[BATCH];
    size_t count = whole_lines(start + length, data);
    if (count == 0) return nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL), 0;
    if (file && (length >= roll_bytes || time(NULL) - began >= roll_seconds)) {
        hdfsFile full = file;
        file = NULL;
        if (hdfsCloseFile(fs, full) != 0) return failed("hdfsCloseFile");
    }
    if (!file) {
        start += length;
        length = 0;
        began = time(NULL);
        file = hdfsOpenFile(fs, path_of(path, start, ""), O_WRONLY | O_CREAT, 0, 0, 0);
        if (!file) return failed(path);
    }
    if (put(file, data, count) != 0) return -1;
    length += (int64_t)count;
    printf("acknowledged %" PRId64 "\n", start + length);
    return fflush(stdout);
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: %s SOURCE NAMENODE DIRECTORY\n", arguments[0]);
        return 2;
    }
    directory = arguments[3];
    roll_bytes = setting("ROLL_BYTES", 128 << 20);
    roll_seconds = setting("ROLL_SECONDS", 3600);
    source = fopen(arguments[1], "rb");
    if (!source) return perror(arguments[1]), 1;
    fs = hdfsConnect(arguments[2], 0);
    if (!fs) return failed(arguments[2]), 1;
    for (;;) {
        began = time(NULL);
        if (find() == 0) {
            while (copy_lines() == 0) {}
        }
        /* What was not acknowledged is copied again, from where the last file ends. */
        if (file) hdfsCloseFile(fs, file);
        file = NULL;
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    }
}
