/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* flock, fsync, fchmod, lstat */
#include "api/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/diag.h"
#include "core/platform.h"

#if UMBELI_HAVE_FLOCK
#include <sys/file.h>
#endif

enum { SUFFIX_ROOM = 64, TRIES = 1000 };

static int open_alone(char *name, size_t end) {
#if UMBELI_HAVE_PROCESS_IDS
    long process = (long)getpid();
#else
    long process = 0;
#endif
    for (unsigned n = 0; n < TRIES; n++) {
        snprintf(name + end, SUFFIX_ROOM, ".umbel-tmp-%ld-%u", process, n);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

#if UMBELI_HAVE_FLOCK
static bool lock(int fd, int how) {
    int failed;
    do failed = flock(fd, how);
    while (failed && errno == EINTR);
    return !failed;
}

static bool leads_to(const char *name, int fd) {
    struct stat there, here;
    return lstat(name, &there) == 0 && fstat(fd, &here) == 0 && S_ISREG(there.st_mode) &&
           there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

/* Creates a file under the name and locks it; -1 with EEXIST when another process owns the name. */
static int create_locked(const char *name) {
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return -1;
    bool locked = lock(fd, LOCK_EX | LOCK_NB);
    int sys = locked || errno == EWOULDBLOCK ? EEXIST : errno;
    if (locked && leads_to(name, fd)) return fd;
    /* EEXIST: before it was locked, another process took it for a leftover and removed it. */
    if (sys != EEXIST) unlink(name);
    close(fd);
    errno = sys;
    return -1;
}

/* Waits for the current writer, if any, and removes what is left under the name.  Between check and
 * removal the name cannot change: only the holder of the lock moves the file. */
static bool clear(const char *name) {
    int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return errno == ENOENT;
    struct stat st;
    bool ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && lock(fd, LOCK_EX);
    bool free = ours && (!leads_to(name, fd) || unlink(name) == 0);
    close(fd);
    return free;
}

static int open_in_turn(char *name, size_t end) {
    snprintf(name + end, SUFFIX_ROOM, ".umbel-tmp");
    for (unsigned n = 0; n < TRIES; n++) {
        int fd = create_locked(name);
        if (fd >= 0) return fd;
        if (errno != EEXIST || !clear(name)) break;
    }
    return open_alone(name, end);
}

#else

static int open_in_turn(char *name, size_t end) {
    return open_alone(name, end);
}

#endif

static void set_mode(int fd, long mode) {
#if UMBELI_HAVE_FILE_MODES
    if (mode >= 0) (void)fchmod(fd, (mode_t)mode);
#else
    (void)fd;
    (void)mode;
#endif
}

umbel_err umbeli_temporary_open(const char *path, long mode, umbeli_temporary *out,
                                umbel_diag *diag) {
    size_t len = strlen(path);
    const char *slash = strrchr(path, '/');
    char *name = malloc(len + SUFFIX_ROOM);
    if (!name) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the temporary file's name");
    memcpy(name, path, len);
    int fd = open_in_turn(name, len);
    if (fd < 0) {
        umbeli_fail_sys(diag, errno, "cannot create a temporary file beside it");
        free(name);
        return UMBEL_EIO;
    }
    set_mode(fd, mode);
    *out = (umbeli_temporary){fd, name, slash ? (size_t)(slash - path) + 1 : 0};
    return UMBEL_OK;
}

/* Closing releases the lock, so it comes last; fsync has already reported any error. */
static void forget(umbeli_temporary *t) {
    close(t->fd);
    free(t->name);
}

void umbeli_temporary_drop(umbeli_temporary *t) {
    unlink(t->name);
    forget(t);
}

/* So that the rename itself survives a power cut. */
static umbel_err sync_directory(umbeli_temporary *t, umbel_diag *diag) {
    if (!UMBELI_HAVE_DIRECTORY_SYNC) return UMBEL_OK;
    memcpy(t->name + t->base, ".", 2);
    int fd = open(t->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return umbeli_fail_sys(diag, errno, "cannot open the directory");
    umbel_err e = UMBEL_OK;
    if (fsync(fd) && errno != EINVAL) e = umbeli_fail_sys(diag, errno, "cannot sync the directory");
    close(fd);
    return e;
}

umbel_err umbeli_temporary_place(umbeli_temporary *t, const char *path, umbel_diag *diag) {
    umbel_err e = UMBEL_OK;
    if (fsync(t->fd)) {
        e = umbeli_fail_sys(diag, errno, "cannot sync the filter to disk");
    } else if (rename(t->name, path)) {
        e = umbeli_fail_sys(diag, errno, "cannot rename it into place");
    }
    if (e) {
        umbeli_temporary_drop(t);
        return e;
    }
    e = sync_directory(t, diag);
    forget(t);
    return e;
}
