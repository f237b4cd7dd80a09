/* Writes local files whose close(2) fails: the argument is a directory with a file `source` and a file `full`. */
#include "checks.h"

int main(int argc, char **argv) {
    CHECK(argc == 2);
    char source[500], full[500], made[500];
    snprintf(source, sizeof source, "%s/source", argv[1]);
    snprintf(full, sizeof full, "%s/full", argv[1]);
    snprintf(made, sizeof made, "%s/full-made", argv[1]);
    hdfsFS fs = hdfsConnect(NULL, 0);
    CHECK(fs);
    hdfsFile file = hdfsOpenFile(fs, made, O_WRONLY, 0, 0, 0);
    CHECK(file && hdfsWrite(fs, file, "text", 4) == 4);
    FAILS(hdfsCloseFile(fs, file) == -1, EDQUOT);
    FAILS(hdfsCopy(fs, source, fs, full) == -1, EDQUOT);
    hdfsFileInfo *info = hdfsGetPathInfo(fs, full);
    CHECK(info && info->mSize == 3);
    hdfsFreeFileInfo(info, 1);
    FAILS(hdfsMove(fs, source, fs, full) == -1, EDQUOT);
    CHECK(hdfsExists(fs, source) == 0);
    file = hdfsOpenFile(fs, made, O_WRONLY, 0, 0, 0);
    CHECK(file);
    FAILS(hdfsDisconnect(fs) == -1, EDQUOT);
    FAILS(hdfsCloseFile(fs, file) == -1, EDQUOT);
    puts("all well");
    return 0;
}
