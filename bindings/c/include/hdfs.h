/* Hadoop's C interface; libhdfs.so of zerohop has it without a JVM.
 * Made of bindings/c/src by: cargo run -p zerohop-libhdfs --example header */

#ifndef LIBHDFS_HDFS_H
#define LIBHDFS_HDFS_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stddef.h>
#include <time.h>
#define ELASTIC_BYTE_BUFFER_POOL_CLASS "org/apache/hadoop/io/ElasticByteBufferPool"

/* errno of what has no better one. */
#ifndef EINTERNAL
#define EINTERNAL 255
#endif

/*
 What a path is.
 */
typedef enum tObjectKind {
    /*
     A file.
     */
    kObjectKindFile = 70,
    /*
     A directory.
     */
    kObjectKindDirectory = 68,
} tObjectKind;

/*
 Units of time (`java.util.concurrent.TimeUnit`).
 */
typedef enum javaConcurrentTimeUnit {
    jNanoseconds,
    jMicroseconds,
    jMilliseconds,
    jSeconds,
    jMinutes,
    jHours,
    jDays,
} javaConcurrentTimeUnit;

/*
 What a buffer's pointer points to; never looked into.
 */
typedef struct hadoopRzBuffer hadoopRzBuffer;

/*
 What the options' pointer points to; never looked into.
 */
typedef struct hadoopRzOptions hadoopRzOptions;

/*
 What a builder's pointer points to; never looked into.
 */
typedef struct hdfsBuilder hdfsBuilder;

/*
 What a file's handle points to; never looked into.
 */
typedef struct hdfsFile_internal hdfsFile_internal;

/*
 What an open-file builder's pointer points to; never looked into.
 */
typedef struct hdfsOpenFileBuilder hdfsOpenFileBuilder;

/*
 What a future's pointer points to; never looked into.
 */
typedef struct hdfsOpenFileFuture hdfsOpenFileFuture;

/*
 What a stream builder's pointer points to; never looked into.
 */
typedef struct hdfsStreamBuilder hdfsStreamBuilder;

/*
 What a file system's handle points to; never looked into.
 */
typedef struct hdfs_internal hdfs_internal;

/*
 An open file's handle.
 */
typedef struct hdfsFile_internal *hdfsFile;

/*
 A port.
 */
typedef uint16_t tPort;

/*
 A file system's handle.
 */
typedef struct hdfs_internal *hdfsFS;

/*
 Seconds since 1970.
 */
typedef time_t tTime;

/*
 An offset in a file, in bytes.
 */
typedef int64_t tOffset;

/*
 What is known of a file or directory.
 */
typedef struct hdfsFileInfo {
    /*
     A file or a directory.
     */
    enum tObjectKind mKind;
    /*
     The path as a URI.
     */
    char *mName;
    /*
     When it was modified, in seconds since 1970.
     */
    tTime mLastMod;
    /*
     Bytes.
     */
    tOffset mSize;
    /*
     Replicas each block should have.
     */
    short mReplication;
    /*
     Size at which a block is full.
     */
    tOffset mBlockSize;
    /*
     The owner.
     */
    char *mOwner;
    /*
     The group.
     */
    char *mGroup;
    /*
     The nine permission bits and the sticky bit.
     */
    short mPermissions;
    /*
     When it was read, in seconds since 1970.
     */
    tTime mLastAccess;
} hdfsFileInfo;

/*
 Bytes of one read or write.
 */
typedef int32_t tSize;

/*
 Where a block is, as libhdfs3 has it.
 */
typedef struct BlockLocation {
    /*
     Every replica is corrupt.
     */
    int corrupt;
    /*
     Its replicas.
     */
    int numOfNodes;
    /*
     Host names of their DataNodes.
     */
    char **hosts;
    /*
     Addresses of their DataNodes, `ip:port`.
     */
    char **names;
    /*
     Racks and addresses of their DataNodes.
     */
    char **topologyPaths;
    /*
     Its bytes.
     */
    tOffset length;
    /*
     Where in the file it begins.
     */
    tOffset offset;
} BlockLocation;

/*
 What was read of a file.
 */
typedef struct hdfsReadStatistics {
    /*
     All bytes.
     */
    uint64_t totalBytesRead;
    /*
     Bytes of replicas of this machine.
     */
    uint64_t totalLocalBytesRead;
    /*
     Bytes that came from the files of replicas.
     */
    uint64_t totalShortCircuitBytesRead;
    /*
     Bytes that were not copied.
     */
    uint64_t totalZeroCopyBytesRead;
} hdfsReadStatistics;

/*
 Reads that were sent to a second DataNode.
 */
typedef struct hdfsHedgedReadMetrics {
    /*
     How many there were.
     */
    uint64_t hedgedReadOps;
    /*
     How many the second one answered first.
     */
    uint64_t hedgedReadOpsWin;
    /*
     How many were read without a thread of their own.
     */
    uint64_t hedgedReadOpsInCurThread;
} hdfsHedgedReadMetrics;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Options for hadoopReadZero(), to be freed with hadoopRzOptionsFree().
 */
struct hadoopRzOptions *hadoopRzOptionsAlloc(void);

/*
 Whether checksums may be skipped, which changes nothing: bytes are verified where they lie, at memory speed. 0, or -1
 with errno.
 */
int hadoopRzOptionsSetSkipChecksum(struct hadoopRzOptions *opts,
                                   int _skip);

/*
 Names a pool of buffers, so that bytes that are not mapped are copied; NULL refuses to copy. 0, or -1 with errno.

 # Safety
 `className` is NULL or a C string.
 */
int hadoopRzOptionsSetByteBufferPool(struct hadoopRzOptions *opts,
                                     const char *className);

/*
 Frees options.
 */
void hadoopRzOptionsFree(struct hadoopRzOptions *opts);

/*
 Reads on without a copy: a buffer of at most `maxLength` bytes, to be freed with hadoopRzBufferFree(). NULL on an error;
 EPROTONOSUPPORT where the bytes are not mapped and no pool was named.
 */
struct hadoopRzBuffer *hadoopReadZero(hdfsFile file,
                                      struct hadoopRzOptions *opts,
                                      int32_t maxLength);

/*
 Bytes of a buffer; -1 with errno on an error.
 */
int32_t hadoopRzBufferLength(const struct hadoopRzBuffer *buffer);

/*
 Returns the bytes of a buffer, which may be read until it is freed; NULL at the end of the file. If the disk fails under bytes
 that are not copied, or another process cuts their block file, a read of them raises SIGBUS, as with Apache Hadoop's library.
 */
const void *hadoopRzBufferGet(const struct hadoopRzBuffer *buffer);

/*
 Frees a buffer. It may outlive the file.
 */
void hadoopRzBufferFree(hdfsFile _file, struct hadoopRzBuffer *buffer);

/*
 A builder; hdfsBuilderConnect() frees it.
 */
struct hdfsBuilder *hdfsNewBuilder(void);

/*
 Asks for a client of its own, which is not shared with others.
 */
void hdfsBuilderSetForceNewInstance(struct hdfsBuilder *bld);

/*
 Names the NameNode: a host, `host:port`, a name service, or a URI; `default` is fs.defaultFS, NULL this machine's own
 file system.

 # Safety
 `nn` is NULL or a C string. It is copied.
 */
void hdfsBuilderSetNameNode(struct hdfsBuilder *bld,
                            const char *nn);

/*
 Sets the NameNode's port; 0 is the default one. `default` ignores it: the configuration names the port.
 */
void hdfsBuilderSetNameNodePort(struct hdfsBuilder *bld,
                                tPort port);

/*
 Names the user; NULL is the process's, or HADOOP_USER_NAME.

 # Safety
 `userName` is NULL or a C string. It is copied.
 */
void hdfsBuilderSetUserName(struct hdfsBuilder *bld, const char *userName);

/*
 Names the Kerberos ticket cache (`hadoop.security.kerberos.ticket.cache.path`).

 # Safety
 `kerbTicketCachePath` is NULL or a C string. It is copied.
 */
void hdfsBuilderSetKerbTicketCachePath(struct hdfsBuilder *bld, const char *kerbTicketCachePath);

/*
 Sets a key of the configuration; NULL sets nothing. 0, or the number of the error.

 # Safety
 `key` and `val` are NULL or C strings. They are copied.
 */
int hdfsBuilderConfSetStr(struct hdfsBuilder *bld, const char *key, const char *val);

/*
 Frees a builder that was not connected.
 */
void hdfsFreeBuilder(struct hdfsBuilder *bld);

/*
 Connects as a builder says, and frees it. NULL on an error, and where a name that was set is none: EINVAL.
 */
hdfsFS hdfsBuilderConnect(struct hdfsBuilder *bld);

/*
 Connects as a user; see hdfsBuilderSetNameNode() and hdfsBuilderSetUserName(). NULL on an error.

 # Safety
 `nn` and `user` are NULL or C strings.
 */
hdfsFS hdfsConnectAsUser(const char *nn, tPort port, const char *user);

/*
 Connects as the user of the process. NULL on an error.

 # Safety
 `nn` is NULL or a C string.
 */
hdfsFS hdfsConnect(const char *nn, tPort port);

/*
 hdfsConnectAsUser() with a client of its own.

 # Safety
 `nn` and `user` are NULL or C strings.
 */
hdfsFS hdfsConnectAsUserNewInstance(const char *nn, tPort port, const char *user);

/*
 hdfsConnect() with a client of its own.

 # Safety
 `nn` is NULL or a C string.
 */
hdfsFS hdfsConnectNewInstance(const char *nn, tPort port);

/*
 Closes a file system's handle, and completes the files that were opened with it for writing, whose own handles are
 closed by hdfsCloseFile() afterwards. Files that are read stay open. 0, or -1 with errno, after which the handle is
 closed, too.
 */
int hdfsDisconnect(hdfsFS fs);

/*
 Looks a key up: `*val` is a copy to be freed with hdfsConfStrFree(), or NULL where the key has no value. 0, or the
 number of the error.

 # Safety
 `key` is NULL or a C string, `val` NULL or the place of a pointer.
 */
int hdfsConfGetStr(const char *key,
                   char **val);

/*
 Looks a whole number up: `*val` is left as it is where the key has no value. 0, or the number of the error.

 # Safety
 `key` is NULL or a C string, `val` NULL or the place of an int32_t.
 */
int hdfsConfGetInt(const char *key,
                   int32_t *val);

/*
 Frees what hdfsConfGetStr() gave.

 # Safety
 NULL, or what hdfsConfGetStr() gave and was not freed yet.
 */
void hdfsConfStrFree(char *val);

/*
 Copies a file or directory; an existing file is replaced when its copy is complete, into a directory that is there it is copied under its name.
 0, or -1 with errno.

 # Safety
 `src` and `dst` are NULL or C strings.
 */
int hdfsCopy(hdfsFS srcFS,
             const char *src,
             hdfsFS dstFS,
             const char *dst);

/*
 hdfsCopy(), and deletes what was copied. 0, or -1 with errno.

 # Safety
 `src` and `dst` are NULL or C strings.
 */
int hdfsMove(hdfsFS srcFS, const char *src, hdfsFS dstFS, const char *dst);

/*
 The class and message of what made this thread's last call fail; NULL if none has. It is valid until the next
 failure of this thread, and must not be freed.
 */
char *hdfsGetLastExceptionRootCause(void);

/*
 The same with the stack trace that a server sent.
 */
char *hdfsGetLastExceptionStackTrace(void);

/*
 The name that libhdfs3 has for hdfsGetLastExceptionRootCause().
 */
const char *hdfsGetLastError(void);

/*
 Whether a file is open for reading: 1 or 0.
 */
int hdfsFileIsOpenForRead(hdfsFile file);

/*
 Whether a file is open for writing: 1 or 0.
 */
int hdfsFileIsOpenForWrite(hdfsFile file);

/*
 Whether reads go to the caller's buffer directly, as they always do: 1, or 0 after hdfsFileDisableDirectRead() and for what
 is no file being read. This and the three that follow are of Apache's hdfs_test.h.
 */
int hdfsFileUsesDirectRead(hdfsFile file);

/*
 Has hdfsFileUsesDirectRead() say 0, and changes nothing else.
 */
void hdfsFileDisableDirectRead(hdfsFile file);

/*
 hdfsFileUsesDirectRead() for hdfsPread().
 */
int hdfsFileUsesDirectPread(hdfsFile file);

/*
 hdfsFileDisableDirectRead() for hdfsPread().
 */
void hdfsFileDisableDirectPread(hdfsFile file);

/*
 Closes a file, and its handle too where that fails. 0, or -1 with errno.
 */
int hdfsCloseFile(hdfsFS _fs, hdfsFile file);

/*
 What a directory holds, or the file itself; to be freed with hdfsFreeFileInfo(). NULL for an empty directory, with
 errno 0, and on an error.

 # Safety
 `path` is NULL or a C string, `numEntries` NULL or the place of an int.
 */
struct hdfsFileInfo *hdfsListDirectory(hdfsFS fs,
                                       const char *path,
                                       int *numEntries);

/*
 What is known of a path; to be freed with hdfsFreeFileInfo(). NULL on an error.

 # Safety
 `path` is NULL or a C string.
 */
struct hdfsFileInfo *hdfsGetPathInfo(hdfsFS fs, const char *path);

/*
 Frees what hdfsListDirectory() and hdfsGetPathInfo() gave.

 # Safety
 NULL, or what one of these gave, with the number of its entries, and not freed yet.
 */
void hdfsFreeFileInfo(struct hdfsFileInfo *hdfsFileInfo, int numEntries);

/*
 Whether a file is encrypted: 1 or 0; -1 on an error.

 # Safety
 NULL, or what hdfsListDirectory() or hdfsGetPathInfo() gave, or an entry of it.
 */
int hdfsFileIsEncrypted(struct hdfsFileInfo *hdfsFileInfo);

/*
 Reads on: the bytes read, fewer only at the file's end; 0 there, -1 with errno.

 # Safety
 `buffer` has room for `length` bytes.
 */
tSize hdfsRead(hdfsFS _fs, hdfsFile file, void *buffer, tSize length);

/*
 Reads at an offset, and leaves the position as it is. See hdfsRead().

 # Safety
 `buffer` has room for `length` bytes.
 */
tSize hdfsPread(hdfsFS _fs, hdfsFile file, tOffset position, void *buffer, tSize length);

/*
 Reads exactly so many bytes at an offset. 0, or -1 with errno.

 # Safety
 `buffer` has room for `length` bytes.
 */
int hdfsPreadFully(hdfsFS _fs, hdfsFile file, tOffset position, void *buffer, tSize length);

/*
 Sets the position of a file being read. 0, or -1 with errno.
 */
int hdfsSeek(hdfsFS _fs, hdfsFile file, tOffset desiredPos);

/*
 The position in a file: -1 with errno on an error.
 */
tOffset hdfsTell(hdfsFS _fs, hdfsFile file);

/*
 Bytes between the position and the end: -1 with errno on an error.
 */
int hdfsAvailable(hdfsFS _fs, hdfsFile file);

/*
 Lets connections and open replicas go until the next read. 0, or the number of the error, ENOTSUP for a file that has none.
 */
int hdfsUnbufferFile(hdfsFile file);

/*
 The host names of each block of a range: an array with NULL at its end of arrays with NULL at their ends, to be freed
 with hdfsFreeHosts(). NULL on an error.

 # Safety
 `path` is NULL or a C string.
 */
char ***hdfsGetHosts(hdfsFS fs,
                     const char *path,
                     tOffset start,
                     tOffset length);

/*
 Frees what hdfsGetHosts() gave.

 # Safety
 NULL, or what hdfsGetHosts() gave and was not freed yet.
 */
void hdfsFreeHosts(char ***blockHosts);

/*
 Where the blocks of a range are, as libhdfs3 says it; to be freed with hdfsFreeFileBlockLocations(). NULL on an error.

 # Safety
 `path` is NULL or a C string, `numOfBlock` NULL or the place of an int.
 */
struct BlockLocation *hdfsGetFileBlockLocations(hdfsFS fs,
                                                const char *path,
                                                tOffset start,
                                                tOffset length,
                                                int *numOfBlock);

/*
 Frees what hdfsGetFileBlockLocations() gave.

 # Safety
 NULL, or what hdfsGetFileBlockLocations() gave, with the number of its entries, and not freed yet.
 */
void hdfsFreeFileBlockLocations(struct BlockLocation *locations, int numOfBlock);

/*
 Opens a file: O_RDONLY, O_WRONLY (made, or replaced), O_WRONLY|O_APPEND; O_CREAT with O_APPEND makes a missing file, and
 with O_EXCL refuses one that is there. A buffer's size is ignored; 0 for replication and block size is the
 configuration's. NULL on an error.

 # Safety
 `path` is NULL or a C string.
 */
hdfsFile hdfsOpenFile(hdfsFS fs,
                      const char *path,
                      int flags,
                      int _bufferSize,
                      short replication,
                      tSize blocksize);

/*
 A builder for a file, with flags as of hdfsOpenFile(); hdfsStreamBuilderBuild() frees it.

 # Safety
 `path` is NULL or a C string. It is copied.
 */
struct hdfsStreamBuilder *hdfsStreamBuilderAlloc(hdfsFS fs, const char *path, int flags);

/*
 Frees a builder that was not built.
 */
void hdfsStreamBuilderFree(struct hdfsStreamBuilder *bld);

/*
 Does nothing: there is no buffer to be sized. 0, or -1 with errno.
 */
int hdfsStreamBuilderSetBufferSize(struct hdfsStreamBuilder *bld, int32_t bufferSize);

/*
 Sets the replicas of each block. 0, or -1 with errno.
 */
int hdfsStreamBuilderSetReplication(struct hdfsStreamBuilder *bld, int16_t replication);

/*
 Sets the size at which a block is full. 0, or -1 with errno.
 */
int hdfsStreamBuilderSetDefaultBlockSize(struct hdfsStreamBuilder *bld, int64_t defaultBlockSize);

/*
 Opens the file, and frees the builder. NULL on an error.
 */
hdfsFile hdfsStreamBuilderBuild(struct hdfsStreamBuilder *bld);

/*
 A builder for a file to be read; hdfsOpenFileBuilderBuild() frees it.

 # Safety
 `path` is NULL or a C string. It is copied.
 */
struct hdfsOpenFileBuilder *hdfsOpenFileBuilderAlloc(hdfsFS fs, const char *path);

/*
 Sets an option that the file system must know. It knows none but the standard ones of `fs.option.openfile.`, which
 are hints. The builder; NULL on an error.

 # Safety
 `key` and `value` are NULL or C strings.
 */
struct hdfsOpenFileBuilder *hdfsOpenFileBuilderMust(struct hdfsOpenFileBuilder *builder,
                                                    const char *key,
                                                    const char *_value);

/*
 Sets an option that the file system may ignore, and ignores it. The builder; NULL on an error.

 # Safety
 `key` and `value` are NULL or C strings.
 */
struct hdfsOpenFileBuilder *hdfsOpenFileBuilderOpt(struct hdfsOpenFileBuilder *builder,
                                                   const char *key,
                                                   const char *_value);

/*
 Opens the file, which takes one call to the NameNode, and frees the builder. NULL on an error; that there is no such
 file is told when the file is asked for.
 */
struct hdfsOpenFileFuture *hdfsOpenFileBuilderBuild(struct hdfsOpenFileBuilder *builder);

/*
 Frees a builder that was not built.
 */
void hdfsOpenFileBuilderFree(struct hdfsOpenFileBuilder *builder);

/*
 The file. NULL on an error. It can be asked for once.
 */
hdfsFile hdfsOpenFileFutureGet(struct hdfsOpenFileFuture *future);

/*
 The same: the file is open when there is a future.
 */
hdfsFile hdfsOpenFileFutureGetWithTimeout(struct hdfsOpenFileFuture *future,
                                          int64_t _timeout,
                                          enum javaConcurrentTimeUnit _timeUnit);

/*
 -1: a file that is open cannot be cancelled. errno says whether there is such a future.
 */
int hdfsOpenFileFutureCancel(struct hdfsOpenFileFuture *future, int _mayInterruptIfRunning);

/*
 Frees a future, and closes a file that nobody took.
 */
void hdfsOpenFileFutureFree(struct hdfsOpenFileFuture *future);

/*
 Writes all of a buffer: its length, or -1 with errno.

 # Safety
 `buffer` holds `length` bytes.
 */
tSize hdfsWrite(hdfsFS _fs, hdfsFile file, const void *buffer, tSize length);

/*
 Does nothing: Java's streams have a buffer that this empties; see hdfsHFlush(). 0, or -1 with errno.
 */
int hdfsFlush(hdfsFS _fs,
              hdfsFile file);

/*
 Whoever opens the file from now on sees what was written: every DataNode of the pipeline has it. 0, or -1 with errno.
 */
int hdfsHFlush(hdfsFS _fs,
               hdfsFile file);

/*
 The same, and it is on the DataNodes' disks. 0, or -1 with errno.
 */
int hdfsHSync(hdfsFS _fs, hdfsFile file);

/*
 The name that libhdfs3 has for hdfsHSync().
 */
int hdfsSync(hdfsFS fs, hdfsFile file);

/*
 Whether there is such a path: 0, or -1 with errno, ENOENT if there is none.

 # Safety
 `path` is NULL or a C string.
 */
int hdfsExists(hdfsFS fs, const char *path);

/*
 Deletes a path, and what is below it if `recursive` is not 0. 0, or -1 with errno.

 # Safety
 `path` is NULL or a C string.
 */
int hdfsDelete(hdfsFS fs, const char *path, int recursive);

/*
 Renames a path. 0, or -1 with errno.

 # Safety
 `oldPath` and `newPath` are NULL or C strings.
 */
int hdfsRename(hdfsFS fs, const char *oldPath, const char *newPath);

/*
 Makes a directory and those above it that are missing. 0, or -1 with errno.

 # Safety
 `path` is NULL or a C string.
 */
int hdfsCreateDirectory(hdfsFS fs, const char *path);

/*
 Sets how many replicas each block of a file should have. 0, or -1 with errno: ENOENT for a directory, too.

 # Safety
 `path` is NULL or a C string.
 */
int hdfsSetReplication(hdfsFS fs,
                       const char *path,
                       int16_t replication);

/*
 Cuts a file off: 1 if it can be written at once, 0 if the cluster is still at it; -1 with errno.

 # Safety
 `path` is NULL or a C string.
 */
int hdfsTruncateFile(hdfsFS fs, const char *path, tOffset newlength);

/*
 Sets owner and group; NULL leaves one as it is. 0, or -1 with errno.

 # Safety
 `path`, `owner` and `group` are NULL or C strings.
 */
int hdfsChown(hdfsFS fs, const char *path, const char *owner, const char *group);

/*
 Sets the permission bits. 0, or -1 with errno.

 # Safety
 `path` is NULL or a C string.
 */
int hdfsChmod(hdfsFS fs, const char *path, short mode);

/*
 Sets the times of a file, in seconds since 1970; -1 leaves one as it is. 0, or -1 with errno.

 # Safety
 `path` is NULL or a C string.
 */
int hdfsUtime(hdfsFS fs, const char *path, tTime mtime, tTime atime);

/*
 Writes the working directory's URI into a buffer: the buffer, or NULL with errno, ENAMETOOLONG if it is too small.

 # Safety
 `buffer` has room for `bufferSize` bytes.
 */
char *hdfsGetWorkingDirectory(hdfsFS fs,
                              char *buffer,
                              size_t bufferSize);

/*
 Sets the working directory of a file system's handle. 0, or -1 with errno.

 # Safety
 `path` is NULL or a C string.
 */
int hdfsSetWorkingDirectory(hdfsFS fs, const char *path);

/*
 The block size of a new file; -1 with errno on an error.
 */
tOffset hdfsGetDefaultBlockSize(hdfsFS fs);

/*
 The block size of a new file at a path; -1 with errno on an error.

 # Safety
 `path` is NULL or a C string.
 */
tOffset hdfsGetDefaultBlockSizeAtPath(hdfsFS fs, const char *path);

/*
 Bytes that the cluster's disks have for blocks; -1 with errno on an error.
 */
tOffset hdfsGetCapacity(hdfsFS fs);

/*
 Bytes of all replicas; -1 with errno on an error.
 */
tOffset hdfsGetUsed(hdfsFS fs);

/*
 What was read of a file, to be freed with hdfsFileFreeReadStatistics(). 0, or -1 with errno.

 # Safety
 `stats` is NULL or the place of a pointer.
 */
int hdfsFileGetReadStatistics(hdfsFile file, struct hdfsReadStatistics **stats);

/*
 Bytes that came from other machines.

 # Safety
 NULL, or what hdfsFileGetReadStatistics() gave.
 */
int64_t hdfsReadStatisticsGetRemoteBytesRead(const struct hdfsReadStatistics *stats);

/*
 Counts what is read of a file from 0 again. 0, or the number of the error.
 */
int hdfsFileClearReadStatistics(hdfsFile file);

/*
 Frees what hdfsFileGetReadStatistics() gave.

 # Safety
 NULL, or what hdfsFileGetReadStatistics() gave and was not freed yet.
 */
void hdfsFileFreeReadStatistics(struct hdfsReadStatistics *stats);

/*
 The hedged reads of this file system's client, to be freed with hdfsFreeHedgedReadMetrics(): all counts are 0 where
 dfs.client.hedged.read.threadpool.size is. 0, or -1 with errno.

 # Safety
 `metrics` is NULL or the place of a pointer.
 */
int hdfsGetHedgedReadMetrics(hdfsFS fs,
                             struct hdfsHedgedReadMetrics **metrics);

/*
 Frees what hdfsGetHedgedReadMetrics() gave.

 # Safety
 NULL, or what hdfsGetHedgedReadMetrics() gave and was not freed yet.
 */
void hdfsFreeHedgedReadMetrics(struct hdfsHedgedReadMetrics *metrics);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LIBHDFS_HDFS_H */
