/* SPDX-License-Identifier: MIT
 *
 * api_update.c - files that are replaced: one lock, one order
 *
 * Whoever replaces PATH holds a lock (flock) on PATH.umbel-lock; PATH itself cannot carry it, since
 * each save replaces that.  Under the lock the new file is PATH.umbel-tmp, so there is never more
 * than one, and the file that a killed writer left is removed by the next.  It is written, gets the
 * attributes of the old file (file_attributes.h), is synced, renamed, and its directory is synced.
 *
 * Whoever can open a file can lock it forever, so a lock file is honoured only if all who can open
 * it may write PATH as well: it belongs to us or to the owner of PATH (or to a member of its group,
 * if that may write), and nobody else can open it.  So strangers who may create files in the
 * directory cannot keep anybody waiting, but they can take the name; then nothing is locked, which
 * is reported.  Access control lists are not read: writers named only in a list do not take turns,
 * and are told so.  What is written without the lock is PATH.umbel-tmp-PID-N, and stays if its
 * writer is killed.  Where PATH is too long for a suffix, a hash takes its place: .HASH.umbel-lock.
 */
#define _DEFAULT_SOURCE /* flock, fsync, fchmod, fchown, lstat, readlink */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/file_attributes.h"
#include "api/file_stream.h"
#include "core/diag.h"
#include "core/platform.h"
#include "hash/xxh.h"
#include "kind/checked_pieces.h"

#if UMBELI_HAVE_FLOCK
#include <sys/file.h>
#endif

enum { SUFFIX_ROOM = 64, TRIES = 1000, MAX_LINKS = 40 /* as in the Linux kernel */ };

struct umbel_update {
    char *path;  /* the file at the end of all links */
    char *name;  /* of a file beside it, with room for a suffix ... */
    size_t base; /* ... its name within its directory begins here ... */
    size_t stem; /* ... and its suffix here */
    int lock;    /* -1: nothing is locked */
};

static const char LOCK[] = ".umbel-lock", TEMPORARY[] = ".umbel-tmp";

static char *name_with(umbel_update *u, const char *suffix) {
    strcpy(u->name + u->stem, suffix);
    return u->name;
}

/* A stem that is too long for a suffix becomes a short one, of the same length for all. */
static void shorten(umbel_update *u) {
    uint64_t sum = umbeli_xxh3_64(u->name + u->base, u->stem - u->base, 0);
    u->stem = u->base + (size_t)snprintf(u->name + u->base, SUFFIX_ROOM, ".%016" PRIx64, sum);
}

/* ---- the file at the end of a chain of symbolic links, even if it does not exist yet ---- */

/* *next stays NULL when path is not a link or does not exist. */
static umbel_err link_target(const char *path, char **next, umbel_diag *diag) {
    char target[4096];
    ssize_t len = readlink(path, target, sizeof target);
    if (len < 0 && (errno == EINVAL || errno == ENOENT)) return UMBEL_OK;
    if (len < 0) return umbeli_fail_sys(diag, errno, "cannot follow the symbolic link");
    if ((size_t)len == sizeof target) {
        return umbeli_fail_sys(diag, ENAMETOOLONG, "cannot follow the symbolic link");
    }
    const char *slash = target[0] == '/' ? NULL : strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    char *name = malloc(folder + (size_t)len + 1);
    if (!name) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the file's name");
    memcpy(name, path, folder);
    memcpy(name + folder, target, (size_t)len);
    name[folder + (size_t)len] = 0;
    *next = name;
    return UMBEL_OK;
}

static umbel_err follow_links(const char *path, char **real, umbel_diag *diag) {
    *real = strdup(path);
    if (!*real) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the file's name");
    for (unsigned n = 0; n < MAX_LINKS; n++) {
        char *next = NULL;
        umbel_err e = link_target(*real, &next, diag);
        if (e || !next) return e;
        free(*real);
        *real = next;
    }
    return umbeli_fail_sys(diag, ELOOP, "cannot follow the symbolic link");
}

/* ---- the lock ---- */

#if UMBELI_HAVE_FLOCK

/* Who may write the file that is to be locked. */
typedef struct writers {
    mode_t bits; /* the write bits of group and others */
    uid_t uid;
    gid_t gid;
} writers;

static writers writers_of(const char *path, const struct stat *st) {
    if (!st) return (writers){0, geteuid(), getegid()};
    /* Where there is a list, the group's bits are its mask and say nothing about the group. */
    mode_t bits = umbeli_attributes_listed(path) ? 0 : st->st_mode & 022;
    return (writers){bits, st->st_uid, st->st_gid};
}

static bool honoured(const struct stat *st, const writers *w) {
    if (!S_ISREG(st->st_mode) || st->st_nlink != 1) return false;
    bool group = (w->bits & 020) && st->st_gid == w->gid, others = (w->bits & 002) != 0;
    if (((st->st_mode & 070) && !group) || ((st->st_mode & 007) && !others)) return false;
    return st->st_uid == geteuid() || st->st_uid == w->uid || others ||
           (group && (st->st_mode & 060) == 060);
}

/* Lets everyone who may write the target use a new lock file. */
static void share(int fd, const writers *w) {
#if UMBELI_HAVE_FILE_MODES
    bool given = fchown(fd, geteuid() ? (uid_t)-1 : w->uid, w->gid) == 0;
    umbeli_attributes_unlist(fd); /* it may have a list from its directory */
    mode_t group = given && (w->bits & 020) ? 060 : 0;
    (void)fchmod(fd, 0600 | group | (w->bits & 002 ? 006 : 0));
#else
    (void)fd, (void)w;
#endif
}

static void pause_for(long milliseconds) {
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

static bool leads_to(const char *name, int fd) {
    struct stat named, opened;
    return lstat(name, &named) == 0 && fstat(fd, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

/* Removes a lock file that nobody holds, left from when others could write the target. */
static void remove_stale(const char *name, int fd, const struct stat *st) {
    if (S_ISREG(st->st_mode) && st->st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        leads_to(name, fd)) {
        unlink(name);
    }
}

/* Opens or makes the lock file.  -1 with EPERM: it is not one to wait for. */
static int open_lock(umbel_update *u, const writers *w) {
    const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const int tries = w->bits ? 200 : 10; /* its maker may just be opening it to others */
    for (int n = 0; n < tries; n++) {
        struct stat st = {0};
        const char *name = name_with(u, LOCK);
        int fd = open(name, flags);
        if (fd < 0 && errno == ENOENT) {
            fd = open(name, flags | O_CREAT | O_EXCL, 0600);
            if (fd >= 0) share(fd, w);
            if (fd < 0 && errno == EEXIST) continue;
        }
        if (fd < 0 && errno == EACCES && n + 1 < tries && w->bits) {
            pause_for(10);
            continue;
        }
        if (fd < 0) return -1;
        if (fstat(fd, &st) == 0 && honoured(&st, w)) return fd;
        remove_stale(name, fd, &st);
        close(fd);
        pause_for(10);
    }
    errno = EPERM;
    return -1;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* False, with errno EWOULDBLOCK: the time is up. */
static bool lock_until(int fd, double end) {
    for (;;) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK || now() >= end) return false;
        pause_for(20);
    }
}

static umbel_err unlocked(umbel_diag *diag) {
    if (diag) {
        *diag = (umbel_diag){.what = "cannot be locked: nobody else must change it now"};
    }
    return UMBEL_OK;
}

/* The name is taken by something that is not for us to lock, or there can be no file at all. */
static umbel_err no_lock_file(umbel_update *u, int sys, umbel_diag *diag) {
    struct stat st;
    bool full = sys == EMFILE || sys == ENFILE || sys == ENOMEM;
    if (!full && lstat(name_with(u, LOCK), &st) == 0) return unlocked(diag);
    return umbeli_fail_sys(diag, sys, "cannot create a lock file next to it");
}

static umbel_err take_lock(umbel_update *u, const writers *w, double end, umbel_diag *diag) {
    for (;;) {
        int fd = open_lock(u, w);
        if (fd < 0 && errno == ENAMETOOLONG && u->stem > u->base + SUFFIX_ROOM) {
            shorten(u);
            continue;
        }
        if (fd < 0) return no_lock_file(u, errno, diag);
        bool locked = lock_until(fd, end);
        int sys = errno;
        if (locked && leads_to(name_with(u, LOCK), fd)) {
            u->lock = fd;
            return UMBEL_OK;
        }
        if (!locked && sys != EWOULDBLOCK) unlink(name_with(u, LOCK));
        close(fd);
        if (!locked && sys == EWOULDBLOCK) {
            return umbeli_fail_sys(diag, sys, "another program is changing it");
        }
        if (!locked) return unlocked(diag); /* the file system has no locks */
    }
}

static umbel_err lock_file(umbel_update *u, const struct stat *st, double seconds,
                           umbel_diag *diag) {
    writers w = writers_of(u->path, st);
    return take_lock(u, &w, seconds < 0 ? HUGE_VAL : now() + seconds, diag);
}

#else

static umbel_err lock_file(umbel_update *u, const struct stat *st, double seconds,
                           umbel_diag *diag) {
    (void)u, (void)st, (void)seconds, (void)diag;
    return UMBEL_OK;
}

#endif

/* *exists: a regular file is to be replaced.  *special: it is a pipe, a terminal or a device, which
 * cannot be replaced and is written to. */
static umbel_err look_at(const char *path, struct stat *st, bool *exists, bool *special,
                         umbel_diag *diag) {
    bool there = stat(path, st) == 0;
    if (!there && errno != ENOENT) return umbeli_fail_sys(diag, errno, "cannot stat the file");
    if (there && S_ISDIR(st->st_mode)) {
        return umbeli_fail_sys(diag, EISDIR, "cannot write the file");
    }
    *exists = there;
    *special = there && !S_ISREG(st->st_mode);
    return UMBEL_OK;
}

static umbel_err begin(const char *path, double seconds, umbel_update *u, umbel_diag *diag) {
    struct stat st = {0};
    bool exists, special;
    umbel_err e = look_at(path, &st, &exists, &special, diag);
    if (!e) e = follow_links(path, &u->path, diag);
    if (e) return e;
    size_t len = strlen(u->path);
    const char *slash = strrchr(u->path, '/');
    u->base = slash ? (size_t)(slash - u->path) + 1 : 0;
    u->stem = len;
    u->name = malloc(len + 2 * SUFFIX_ROOM);
    if (!u->name) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the file's name");
    memcpy(u->name, u->path, len);
    return special ? UMBEL_OK : lock_file(u, exists ? &st : NULL, seconds, diag);
}

umbel_err umbel_update_begin(const char *path, double wait_seconds, umbel_update **out,
                             umbel_diag *diag) {
    int saved = errno;
    if (diag) *diag = (umbel_diag){0};
    umbel_update *u = calloc(1, sizeof *u);
    if (!u) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for an update");
    u->lock = -1;
    umbel_err e = begin(path, wait_seconds, u, diag);
    if (e) {
        umbel_update_end(u);
    } else {
        *out = u;
    }
    errno = saved;
    return e;
}

/* The file is removed while it is locked: whoever has waited for it finds that it is gone. */
void umbel_update_end(umbel_update *u) {
    if (!u) return;
    int saved = errno;
    if (u->lock >= 0) {
        unlink(name_with(u, LOCK));
        close(u->lock);
    }
    free(u->name);
    free(u->path);
    free(u);
    errno = saved;
}

/* ---- the new file ---- */

typedef struct temporary {
    int fd;
    umbeli_attributes attributes; /* that it gets at the end */
} temporary;

/* An existing file is never written to, so a link planted under the name is harmless. */
static int create_alone(umbel_update *u, mode_t mode) {
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
#if UMBELI_HAVE_PROCESS_IDS
    long process = (long)getpid();
#else
    long process = 0;
#endif
    int fd = -1;
    struct stat left;
    bool leftover = lstat(name_with(u, TEMPORARY), &left) == 0;
    if (u->lock >= 0 &&
        (leftover ? S_ISREG(left.st_mode) && unlink(u->name) == 0 : errno == ENOENT)) {
        fd = open(u->name, flags, mode);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    for (unsigned n = 0; fd < 0 && n < TRIES; n++) {
        snprintf(u->name + u->stem, SUFFIX_ROOM, "%s-%ld-%u", TEMPORARY, process, n);
        fd = open(u->name, flags, mode);
        if (fd < 0 && errno != EEXIST) return -1;
    }
    return fd;
}

/* Nobody else may open it before it is complete: they could read what the old file kept from them.
 * Which mode umask and the directory's defaults give can only be read from a file that was just
 * created. */
static void keep_private(temporary *t, const struct stat *replaced) {
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

static umbel_err create(umbel_update *u, const struct stat *replaced, temporary *t,
                        umbel_diag *diag) {
    mode_t mode = replaced ? 0600 : 0666;
    t->fd = create_alone(u, mode);
    if (t->fd < 0 && errno == ENAMETOOLONG && u->stem > u->base + SUFFIX_ROOM) {
        shorten(u);
        t->fd = create_alone(u, mode);
    }
    if (t->fd < 0) {
        return umbeli_fail_sys(diag, errno, "cannot create a temporary file next to it");
    }
    keep_private(t, replaced);
    return UMBEL_OK;
}

/* Syncs the directory, so that the rename itself survives a power cut. */
static umbel_err sync_directory(umbel_update *u, umbel_diag *diag) {
    if (!UMBELI_HAVE_DIRECTORY_SYNC) return UMBEL_OK;
    char next = u->name[u->base + 1], first = u->name[u->base];
    memcpy(u->name + u->base, ".", 2);
    int fd = open(u->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    u->name[u->base] = first;
    u->name[u->base + 1] = next;
    umbel_err e = UMBEL_OK;
    if (fd < 0 || (fsync(fd) && errno != EINVAL)) {
        umbeli_fail_sys(diag, errno, "the new file is in place but may not survive a power cut");
        e = UMBEL_EUNSYNCED;
    }
    if (fd >= 0) close(fd);
    return e;
}

/* What a file is to hold: a filter, or bytes. */
typedef struct content {
    const umbel_filter *filter;
    const umbeli_codec *codec;
    const void *bytes; /* unless there is a codec */
    size_t len;
} content;

static umbel_err put(const content *c, int fd, bool sparse, umbel_diag *diag) {
    if (c->codec) return umbeli_file_stream(c->filter, c->codec, fd, sparse, diag);
    return umbeli_file_put(c->bytes, c->len, fd, diag);
}

/* A new file gets the attributes of `like`, if there is one, but no access control list. */
static umbel_err replace(umbel_update *u, const content *c, const struct stat *replaced,
                         const struct stat *like, umbel_diag *diag) {
    temporary t;
    umbel_err e = create(u, replaced ? replaced : like, &t, diag);
    if (e) return e;
    t.attributes.replaces = replaced != NULL;
    e = put(c, t.fd, true, diag);
    if (!e) {
        umbeli_attributes_give(t.fd, &t.attributes, u->path, diag);
        if (fsync(t.fd)) e = umbeli_fail_sys(diag, errno, "cannot sync it to disk");
    }
    close(t.fd); /* Windows does not rename an open file */
    if (!e && rename(u->name, u->path)) {
        e = umbeli_fail_sys(diag, errno, "cannot rename it into place");
    }
    if (!e) return sync_directory(u, diag);
    unlink(u->name);
    return e;
}

static umbel_err write_special(const content *c, const char *path, umbel_diag *diag) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return umbeli_fail_sys(diag, errno, "cannot open it for writing");
    umbel_err e = put(c, fd, false, diag);
    close(fd);
    return e;
}

static umbel_err savable(const umbel_filter *f, umbel_format format, const umbeli_codec **codec,
                         umbel_diag *diag) {
    umbel_err e = umbeli_codec_writing(f, format, codec, diag);
    if (e) return e;
    return (*codec)->id == UMBEL_FMT_NATIVE ? umbeli_check_touched(f, diag)
                                            : umbeli_check_now(f, diag);
}

static umbel_err save(umbel_update *u, const content *c, const struct stat *like,
                      umbel_diag *diag) {
    struct stat st = {0};
    bool exists, special;
    umbel_err e = look_at(u->path, &st, &exists, &special, diag);
    if (e) return e;
    if (diag) *diag = (umbel_diag){0};
    return special ? write_special(c, u->path, diag)
                   : replace(u, c, exists ? &st : NULL, like, diag);
}

umbel_err umbel_update_save(umbel_update *u, const umbel_filter *filter, umbel_format format,
                            umbel_diag *diag) {
    content c = {.filter = filter};
    int saved = errno;
    umbel_err e = savable(filter, format, &c.codec, diag);
    if (!e) e = save(u, &c, NULL, diag);
    errno = saved;
    return e;
}

umbel_err umbel_update_bytes(umbel_update *u, const void *bytes, size_t len, const char *like,
                             umbel_diag *diag) {
    const content c = {.bytes = bytes, .len = len};
    struct stat st;
    int saved = errno;
    bool found = like && stat(like, &st) == 0;
    /* Where there is a list, the group's bits are its mask. */
    if (found && umbeli_attributes_listed(like)) st.st_mode &= ~(mode_t)077;
    umbel_err e = save(u, &c, found ? &st : NULL, diag);
    errno = saved;
    return e;
}

umbel_err umbel_file_save(const umbel_filter *filter, umbel_format format, const char *path,
                          umbel_diag *diag) {
    umbel_update *u = NULL;
    const umbeli_codec *codec = NULL;
    umbel_diag begun = {0};
    umbel_err e = savable(filter, format, &codec, diag);
    if (e) return e; /* before a lock is waited for, or created */
    e = umbel_update_begin(path, -1, &u, &begun);
    if (e) {
        if (diag) *diag = begun;
        return e;
    }
    e = umbel_update_save(u, filter, format, diag);
    umbel_update_end(u);
    if (!e && diag && !diag->what) *diag = begun;
    return e;
}
