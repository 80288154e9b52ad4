/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* madvise */
#include "core/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/diag.h"
#include "core/memory.h"
#include "core/platform.h"

static umbel_err read_all(int fd, uint8_t *bytes, size_t len, umbel_diag *diag) {
    if ((lseek)(fd, 0, SEEK_SET) < 0) { /* not WASI's macro, which is a GNU extension */
        return umbeli_fail_sys(diag, errno, "cannot read the file");
    }
    for (size_t done = 0; done < len;) {
        size_t left = len - done, piece = left < (1u << 30) ? left : 1u << 30;
        ssize_t n = pread(fd, bytes + done, piece, (off_t)done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return umbeli_fail_sys(diag, errno, "cannot read the file");
        if (n == 0) return umbeli_fail_sys(diag, EIO, "the file shrank while it was read");
        done += (size_t)n;
    }
    return UMBEL_OK;
}

#if UMBELI_HAVE_MMAP
#include <sys/mman.h>

static umbel_err get_bytes(int fd, size_t len, bool privately, void **out, umbel_diag *diag) {
    void *bytes = mmap(NULL, len, privately ? PROT_READ | PROT_WRITE : PROT_READ,
                       privately ? MAP_PRIVATE : MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED) return umbeli_fail_sys(diag, errno, "cannot map the file");
    *out = bytes;
    return UMBEL_OK;
}

void umbeli_mapping_sequential(const umbeli_mapping *m) {
    int saved = errno;
    if (m->bytes) (void)madvise(m->bytes, m->len, MADV_SEQUENTIAL);
    errno = saved;
}

void umbeli_mapping_close(void *bytes, size_t len) {
    if (bytes) munmap(bytes, len);
}

#else
#include <stdlib.h>

static umbel_err get_bytes(int fd, size_t len, bool privately, void **out, umbel_diag *diag) {
    (void)privately; /* always */
    void *bytes = malloc(len);
    if (!bytes) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the file");
    umbel_err e = read_all(fd, bytes, len, diag);
    if (e) {
        free(bytes);
        return e;
    }
    *out = bytes;
    return UMBEL_OK;
}

void umbeli_mapping_sequential(const umbeli_mapping *m) {
    (void)m;
}

void umbeli_mapping_close(void *bytes, size_t len) {
    (void)len;
    free(bytes);
}

#endif

static umbel_err length_of(int fd, size_t *len, umbel_diag *diag) {
    struct stat st;
    if (fstat(fd, &st)) return umbeli_fail_sys(diag, errno, "cannot stat the file");
    if (S_ISDIR(st.st_mode)) return umbeli_fail_sys(diag, EISDIR, "not a regular file");
    if (!S_ISREG(st.st_mode)) return umbeli_fail_sys(diag, ENODEV, "not a regular file");
    if ((uint64_t)st.st_size > SIZE_MAX) return umbeli_fail_sys(diag, EFBIG, "cannot map the file");
    *len = (size_t)st.st_size;
    return UMBEL_OK;
}

static umbel_err map(int fd, bool privately, umbeli_mapping *out, umbel_diag *diag) {
    size_t len = 0;
    void *bytes = NULL;
    umbel_err e = length_of(fd, &len, diag);
    if (!e && len) e = get_bytes(fd, len, privately, &bytes, diag);
    if (!e) *out = (umbeli_mapping){bytes, len};
    return e;
}

static umbel_err copy(int fd, const umbeli_settings *settings, umbeli_mapping *out,
                      umbel_diag *diag) {
    size_t len = 0;
    umbel_err e = length_of(fd, &len, diag);
    if (e) return e;
    uint8_t *bytes = umbeli_new(settings, len + 1);
    if (!bytes) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the file");
    e = read_all(fd, bytes, len, diag);
    if (e) {
        umbeli_delete(settings, bytes);
    } else {
        *out = (umbeli_mapping){bytes, len};
    }
    return e;
}

umbel_err umbeli_bytes_of(int fd, const umbeli_settings *settings, umbeli_mapping *out,
                          umbel_diag *diag) {
    int saved = errno;
    umbel_err e = copy(fd, settings, out, diag);
    errno = saved;
    return e;
}

umbel_err umbeli_mapping_of(int fd, bool privately, umbeli_mapping *out, umbel_diag *diag) {
    int saved = errno;
    umbel_err e = map(fd, privately, out, diag);
    errno = saved;
    return e;
}

umbel_err umbeli_open(const char *path, int *fd, umbel_diag *diag) {
    int saved = errno;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not block us */
    umbel_err e = *fd < 0 ? umbeli_fail_sys(diag, errno, "cannot open the file") : UMBEL_OK;
    errno = saved;
    return e;
}

void umbeli_close(int fd) {
    int saved = errno;
    close(fd);
    errno = saved;
}

umbel_err umbeli_mapping_open(const char *path, umbeli_mapping *out, umbel_diag *diag) {
    int fd;
    umbel_err e = umbeli_open(path, &fd, diag);
    if (e) return e;
    e = umbeli_mapping_of(fd, false, out, diag);
    umbeli_close(fd);
    return e;
}
