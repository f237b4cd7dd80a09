/* The names of one file system, and what happens to files when it is disconnected. HADOOP_CONF_DIR names the cluster, whose
 * superuser the process's user is, and which has no port 1. */
#include "checks.h"

#define ROOT "/addresses"

static char *uri, host[256], name[512];
static int port;

/* Connects by a name, and makes a file as the user of this process. */
static void connects(const char *name_node, tPort given, const char *path) {
    hdfsFS fs = hdfsConnectNewInstance(name_node, given);
    CHECK(fs);
    make(fs, path, 10);
    hdfsFileInfo *info = hdfsGetPathInfo(fs, path);
    CHECK(info && strcmp(info->mOwner, "alice") != 0);
    hdfsFreeFileInfo(info, 1);
    CHECK(hdfsDisconnect(fs) == 0);
}

static void connections(void) {
    connects("default", 1, ROOT "/1");
    connects("hdfs:///", 0, ROOT "/2");
    connects("hdfs:/", 0, ROOT "/3");
    snprintf(name, sizeof name, "alice@%s", host);
    connects(name, (tPort)port, ROOT "/4");
    snprintf(name, sizeof name, "HDFS://alice@%s:%d/", host, port);
    connects(name, 0, ROOT "/5");
    FAILS(hdfsConnectNewInstance("s3a://bucket", 0) == NULL, EINTERNAL);
}

static void paths(hdfsFS fs) {
    const char *forms[] = {"hdfs://%s:%d" ROOT "/1", "hdfs://alice@%s:%d" ROOT "//1", "HDFS://%s:%d/" ROOT "/./1"};
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, forms[i], host, port);
        CHECK(hdfsExists(fs, name) == 0);
    }
    CHECK(hdfsExists(fs, "hdfs:" ROOT "/1") == 0 && hdfsExists(fs, "hdfs://" ROOT "/1") == 0);
    snprintf(name, sizeof name, "hdfs://%s:%d" ROOT "/1", host, port + 1);
    FAILS(hdfsExists(fs, name) == -1, EINVAL);
    FAILS(hdfsExists(fs, "file:" ROOT "/1") == -1, EINVAL);
    if (strcmp(host, "localhost") == 0 || strcmp(host, "127.0.0.1") == 0)
        for (int i = 0; i < 2; i++) {
            snprintf(name, sizeof name, "hdfs://%s:%d" ROOT "/1", i ? "localhost" : "127.0.0.1", port);
            CHECK(hdfsExists(fs, name) == 0);
        }
}

/* A file that was left open is complete, and anyone may append to it. */
static void disconnect(hdfsFS fs) {
    hdfsFS other = hdfsConnectNewInstance("default", 0);
    hdfsFile file = hdfsOpenFile(other, ROOT "/open", O_WRONLY, 0, 0, 0);
    CHECK(other && file && hdfsWrite(other, file, "left open", 9) == 9);
    hdfsFile closed = hdfsOpenFile(other, ROOT "/closed", O_WRONLY, 0, 0, 0);
    CHECK(closed && hdfsCloseFile(other, closed) == 0);
    CHECK(hdfsDisconnect(other) == 0);
    REFUSES(hdfsWrite(other, file, "more", 4) == -1);
    hdfsFileInfo *info = hdfsGetPathInfo(fs, ROOT "/open");
    CHECK(info && info->mSize == 9);
    hdfsFreeFileInfo(info, 1);
    hdfsFile again = hdfsOpenFile(fs, ROOT "/open", O_WRONLY | O_APPEND, 0, 0, 0);
    CHECK(again && hdfsCloseFile(fs, again) == 0);
    CHECK(hdfsCloseFile(other, file) == 0);
    FAILS(hdfsCloseFile(other, file) == -1, EBADF);
}

/* A copy that fails half-way: the source can be opened and not be read. */
static void copies(hdfsFS fs) {
    hdfsFS local = hdfsConnectNewInstance(NULL, 0);
    CHECK(local && hdfsCreateDirectory(fs, ROOT "/copies") == 0);
    make(fs, ROOT "/copies/old", 10);
    FAILS(hdfsCopy(local, "/proc/self/mem", fs, ROOT "/copies/old") == -1, EIO);
    FAILS(hdfsMove(local, "/proc/self/mem", fs, ROOT "/copies/new") == -1, EIO);
    int count;
    hdfsFileInfo *info = hdfsListDirectory(fs, ROOT "/copies", &count);
    CHECK(info && count == 1 && info->mSize == 10);
    hdfsFreeFileInfo(info, count);
    hdfsFile again = hdfsOpenFile(fs, ROOT "/copies/old", O_WRONLY | O_APPEND, 0, 0, 0);
    CHECK(again && hdfsCloseFile(fs, again) == 0);
    CHECK(hdfsCopy(fs, ROOT "/1", fs, ROOT "/copies/old") == 0);
    CHECK(hdfsDisconnect(local) == 0);
}

static void errors(hdfsFS fs) {
    FAILS(hdfsSetReplication(fs, ROOT, 1) == -1, ENOENT);
    FAILS(hdfsSetReplication(fs, ROOT "/none", 1) == -1, ENOENT);
    FAILS(hdfsSetReplication(fs, ROOT "/1", -1) == -1, EINTERNAL);
    char small[4];
    FAILS(hdfsGetWorkingDirectory(fs, small, sizeof small) == NULL, ENAMETOOLONG);
    hdfsFile file = hdfsOpenFile(fs, ROOT "/1", O_RDONLY, 0, 0, 0);
    CHECK(file);
    FAILS(hdfsCloseFile(fs, (hdfsFile)fs) == -1, EBADF);
    FAILS(hdfsExists((hdfsFS)file, "/") == -1, EBADF);
    CHECK(hdfsCloseFile(fs, file) == 0);
}

int main(void) {
    CHECK(hdfsConfGetStr("fs.defaultFS", &uri) == 0 && uri);
    CHECK(sscanf(uri, "hdfs://%255[^:]:%d", host, &port) == 2);
    hdfsFS fs = hdfsConnect("default", 8020);
    CHECK(fs);
    hdfsDelete(fs, ROOT, 1);
    connections();
    paths(fs);
    disconnect(fs);
    copies(fs);
    errors(fs);
    CHECK(hdfsDelete(fs, ROOT, 1) == 0 && hdfsDisconnect(fs) == 0);
    hdfsConfStrFree(uri);
    puts("all well");
    return 0;
}
