/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* madvise */
#include "core/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/diag.h"

static umbel_err map(int fd, umbeli_mapping *out, umbel_diag *diag) {
    struct stat st;
    if (fstat(fd, &st)) return umbeli_fail_sys(diag, errno, "cannot look at the file");
    if (S_ISDIR(st.st_mode)) return umbeli_fail_sys(diag, EISDIR, "not a regular file");
    if (!S_ISREG(st.st_mode)) return umbeli_fail_sys(diag, ENODEV, "not a regular file");
    if ((uint64_t)st.st_size > SIZE_MAX) return umbeli_fail_sys(diag, EFBIG, "cannot map the file");
    size_t len = (size_t)st.st_size;
    void *bytes = len ? mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0) : NULL;
    if (bytes == MAP_FAILED) return umbeli_fail_sys(diag, errno, "cannot map the file");
    *out = (umbeli_mapping){bytes, len};
    return UMBEL_OK;
}

umbel_err umbeli_mapping_open(const char *path, umbeli_mapping *out, umbel_diag *diag) {
    int saved = errno;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not block us */
    umbel_err e =
        fd < 0 ? umbeli_fail_sys(diag, errno, "cannot open the file") : map(fd, out, diag);
    if (fd >= 0) close(fd);
    errno = saved;
    return e;
}

void umbeli_mapping_sequential(const umbeli_mapping *m) {
    int saved = errno;
    if (m->bytes) (void)madvise(m->bytes, m->len, MADV_SEQUENTIAL);
    errno = saved;
}

void umbeli_mapping_close(void *bytes, size_t len) {
    if (bytes) munmap(bytes, len);
}
