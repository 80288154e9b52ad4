/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* flock, fsync, fchmod, fchown, lstat */
#include "api/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/diag.h"
#include "core/platform.h"
#include "hash/xxh.h"

#if UMBELI_HAVE_FLOCK
#include <sys/file.h>
#endif

enum { SUFFIX_ROOM = 64, TRIES = 1000 };

static int open_alone(char *name, size_t end, mode_t mode) {
#if UMBELI_HAVE_PROCESS_IDS
    long process = (long)getpid();
#else
    long process = 0;
#endif
    for (unsigned n = 0; n < TRIES; n++) {
        snprintf(name + end, SUFFIX_ROOM, ".umbel-tmp-%ld-%u", process, n);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
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
    struct stat named, opened;
    return lstat(name, &named) == 0 && fstat(fd, &opened) == 0 && S_ISREG(named.st_mode) &&
           named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

/* Creates and locks a new file under the name; -1 with EEXIST when someone else has the name. */
static int create_locked(const char *name, mode_t mode) {
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
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

/* Anyone who can open a file can hold its lock forever, so we wait only for files that nobody else
 * except root can open. */
static bool is_private(const struct stat *st) {
    return (st->st_mode & 077) == 0 && st->st_nlink == 1;
}

/* Waits until nobody writes under the name and removes what is left there.  The name cannot come to
 * mean another file between the check and the removal: only the holder of the lock moves the file.
 * False: the file is not ours to wait for. */
static bool clear(const char *name) {
    int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return errno == ENOENT;
    struct stat st;
    bool ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
    bool locked = ours && (lock(fd, LOCK_EX | LOCK_NB) || (is_private(&st) && lock(fd, LOCK_EX)));
    bool free = locked && (!leads_to(name, fd) || unlink(name) == 0);
    close(fd);
    return free;
}

static int open_in_turn(char *name, size_t end, mode_t mode) {
    snprintf(name + end, SUFFIX_ROOM, ".umbel-tmp");
    for (unsigned n = 0; n < TRIES; n++) {
        int fd = create_locked(name, mode);
        if (fd >= 0) return fd;
        if (errno != EEXIST || !clear(name)) break;
    }
    return open_alone(name, end, mode);
}

#else

static int open_in_turn(char *name, size_t end, mode_t mode) {
    return open_alone(name, end, mode);
}

#endif

/* The name's stem where it is too long to have a suffix: short, and of the same length for all. */
static size_t shorten(char *name, size_t base, size_t len) {
    uint64_t sum = umbeli_xxh3_64(name + base, len - base, 0);
    return base + (size_t)snprintf(name + base, SUFFIX_ROOM, ".%016" PRIx64, sum);
}

/* Nobody else may open it before it is complete: they could read what the old file kept from them,
 * or lock it.  Which mode umask and the directory's defaults give can only be read from a file that
 * was just created. */
static void keep_private(umbeli_temporary *t, const struct stat *replaced) {
    umbeli_attributes *a = &t->attributes;
    a->mode = -1;
#if UMBELI_HAVE_FILE_MODES
    struct stat st;
    if (!replaced && (fstat(t->fd, &st) || fchmod(t->fd, 0600))) return;
    a->replaces = replaced != NULL;
    if (!replaced) replaced = &st;
    a->mode = (long)(replaced->st_mode & 0777); /* no setuid, setgid or sticky bit, ever */
    a->uid = replaced->st_uid;
    a->gid = replaced->st_gid;
#else
    (void)replaced;
#endif
}

umbel_err umbeli_temporary_open(const char *path, const struct stat *replaced,
                                umbeli_temporary *out, umbel_diag *diag) {
    size_t len = strlen(path);
    const char *slash = strrchr(path, '/');
    size_t base = slash ? (size_t)(slash - path) + 1 : 0;
    char *name = malloc(len + 2 * SUFFIX_ROOM);
    if (!name) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the temporary file's name");
    memcpy(name, path, len);
    mode_t mode = replaced ? 0600 : 0666;
    int fd = open_in_turn(name, len, mode);
    if (fd < 0 && errno == ENAMETOOLONG) fd = open_in_turn(name, shorten(name, base, len), mode);
    if (fd < 0) {
        umbeli_fail_sys(diag, errno, "cannot create a temporary file next to it");
        free(name);
        return UMBEL_EIO;
    }
    *out = (umbeli_temporary){.fd = fd, .name = name, .base = base};
    keep_private(out, replaced);
    return UMBEL_OK;
}

/* Closing releases the lock, so it comes last; fsync has already reported any error. */
static void forget(umbeli_temporary *t) {
    if (t->fd >= 0) close(t->fd);
    free(t->name);
}

/* Where there are no locks it comes before the file is moved or removed: Windows does neither with
 * an open file. */
static void close_unlocked(umbeli_temporary *t) {
    if (UMBELI_HAVE_FLOCK || t->fd < 0) return;
    close(t->fd);
    t->fd = -1;
}

void umbeli_temporary_drop(umbeli_temporary *t) {
    close_unlocked(t);
    unlink(t->name);
    forget(t);
}

/* Syncs the directory, so that the rename itself survives a power cut. */
static umbel_err sync_directory(umbeli_temporary *t, umbel_diag *diag) {
    if (!UMBELI_HAVE_DIRECTORY_SYNC) return UMBEL_OK;
    memcpy(t->name + t->base, ".", 2);
    int fd = open(t->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    umbel_err e = UMBEL_OK;
    if (fd < 0 || (fsync(fd) && errno != EINVAL)) {
        umbeli_fail_sys(diag, errno, "the new file is in place but may not survive a power cut");
        e = UMBEL_EUNSYNCED;
    }
    if (fd >= 0) close(fd);
    return e;
}

umbel_err umbeli_temporary_place(umbeli_temporary *t, const char *path, umbel_diag *diag) {
    umbel_err e = UMBEL_OK;
    umbeli_attributes_give(t->fd, &t->attributes, path, diag);
    if (fsync(t->fd)) e = umbeli_fail_sys(diag, errno, "cannot sync the filter to disk");
    close_unlocked(t);
    if (!e && rename(t->name, path)) {
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
