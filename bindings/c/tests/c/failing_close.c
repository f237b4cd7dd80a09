/* A library to be preloaded: close(2) of a file whose path contains FAIL_CLOSE reports a full quota, as network file systems and
 * disks with quotas may. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int close(int descriptor) {
    static int (*real)(int);
    if (!real)
        real = (int (*)(int))dlsym(RTLD_NEXT, "close");
    const char *name = getenv("FAIL_CLOSE");
    char link[40], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = name ? readlink(link, path, sizeof path - 1) : -1;
    int closed = real(descriptor);
    if (closed != 0 || length < 0)
        return closed;
    path[length] = 0;
    if (!strstr(path, name))
        return 0;
    errno = EDQUOT;
    return -1;
}
