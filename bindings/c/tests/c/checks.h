/* What the C programs of the tests share. */
#include "hdfs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what)                                                                          \
    do {                                                                                     \
        if (!(what)) {                                                                       \
            int number = errno;                                                              \
            char *cause = hdfsGetLastExceptionRootCause();                                   \
            fprintf(stderr, "%s:%d: %s (errno %d: %s)\n", __FILE__, __LINE__, #what, number, \
                    cause ? cause : "no cause");                                             \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)
#define FAILS(what, error) CHECK((errno = 0, (what)) && errno == (error))
/* Fails with some errno. */
#define REFUSES(what) CHECK((errno = 0, (what)) && errno != 0)

static inline char byte_at(int64_t offset) { return (char)(offset * 7 + offset / 251); }

static inline void make(hdfsFS fs, const char *path, int64_t size) {
    hdfsFile file = hdfsOpenFile(fs, path, O_WRONLY | O_CREAT, 0, 0, 0);
    CHECK(file);
    CHECK(hdfsFileIsOpenForWrite(file) == 1 && hdfsFileIsOpenForRead(file) == 0);
    char *data = malloc(size);
    for (int64_t i = 0; i < size; i++)
        data[i] = byte_at(i);
    CHECK(hdfsWrite(fs, file, data, (tSize)size) == size);
    CHECK(hdfsTell(fs, file) == size);
    CHECK(hdfsFlush(fs, file) == 0);
    CHECK(hdfsCloseFile(fs, file) == 0);
    free(data);
}

static inline void check_bytes(const char *data, int64_t offset, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (data[i] != byte_at(offset + i)) {
            fprintf(stderr, "byte %lld is another one\n", (long long)(offset + i));
            exit(1);
        }
}
