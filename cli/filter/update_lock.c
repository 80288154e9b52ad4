/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* flock, fchmod, fchown, usleep */
#include "filter/update_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#ifdef __linux__
#include <sys/xattr.h>
#else /* other systems store access control lists in other ways */
#define getxattr(file, name, value, size) ((void)(file), errno = ENOTSUP, (ssize_t)-1)
#define fgetxattr getxattr
#define fremovexattr(fd, name) 0
#define fsetxattr(fd, name, value, size, flags) 0
#endif

enum { MAX_LINKS = 40, MAX_NAME = 255, SUFFIX_ROOM = 64, NAMES = 16, PAUSES = 10 };
enum { PAUSE_MICROSECONDS = 10000 };

static _Atomic(char *) held; /* the lock file, while the lock is ours */

/* Runs before the lock itself ends with the process, so that whoever waited for it finds the file
 * gone, and only when nothing more will be saved.  A signal leaves the file to the next command: a
 * save that continued after another command had made a new lock would undo that command's work. */
static void release(void) {
    char *name = atomic_exchange(&held, NULL);
    if (!name) return;
    unlink(name);
    free(name);
}

/* ---- Access control lists ----
 *
 * Linux stores a version, then a tag, permissions and an ID for each entry.  Where there is a list,
 * the group's bits of the mode are its mask and say nothing about the group. */

#define LIST_NAME "system.posix_acl_access"
enum {
    LIST_MAX = 1024,
    LIST_HEAD = 4,
    LIST_ENTRY = 8,
    USER = 2,
    GROUP_OBJ = 4,
    MASK = 16,
    WRITE = 2
};

typedef struct access_list {
    uint8_t at[LIST_MAX];
    size_t len;   /* 0: none */
    bool unknown; /* more than fits */
} access_list;

static access_list list_of(ssize_t len, const uint8_t *bytes) {
    access_list list = {.unknown = len < 0 && errno == ERANGE};
    if (len > 0) memcpy(list.at, bytes, list.len = (size_t)len);
    return list;
}

static access_list list_at(const char *path) {
    uint8_t bytes[LIST_MAX];
    return list_of(getxattr(path, LIST_NAME, bytes, sizeof bytes), bytes);
}

static access_list list_on(int fd) {
    uint8_t bytes[LIST_MAX];
    return list_of(fgetxattr(fd, LIST_NAME, bytes, sizeof bytes), bytes);
}

/* May whoever the entry names write?  The ID matters for users only. */
static bool list_lets(const access_list *list, unsigned tag, uid_t id) {
    bool lets = false, masked = false;
    for (size_t i = LIST_HEAD; i + LIST_ENTRY <= list->len; i += LIST_ENTRY) {
        const uint8_t *e = list->at + i;
        unsigned entry = e[0] | (unsigned)e[1] << 8;
        uint32_t user = e[4] | (uint32_t)e[5] << 8 | (uint32_t)e[6] << 16 | (uint32_t)e[7] << 24;
        if (entry == MASK && !(e[2] & WRITE)) masked = true;
        if (entry == tag && (tag != USER || user == id) && (e[2] & WRITE)) lets = true;
    }
    return lets && !masked;
}

/* ---- Who may lock what ---- */

/* What is to be locked: the file at the end of all links, there or not. */
typedef struct target {
    char *path;
    size_t base;    /* where in it the name within its directory begins */
    mode_t writers; /* the write bits of group and others */
    uid_t uid;
    gid_t gid;
    access_list list;
} target;

static size_t base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* False where no file would be replaced: pipes, devices, directories. */
static bool find_target(const char *path, target *t) {
    struct stat st;
    bool exists = stat(path, &st) == 0;
    if (exists && !S_ISREG(st.st_mode)) return false;
    char *name = cli_strndup(path, strlen(path)), to[4096];
    for (int n = 0; n < MAX_LINKS; n++) {
        ssize_t len = readlink(name, to, sizeof to);
        if (len < 0 || (size_t)len == sizeof to) break;
        size_t folder = to[0] == '/' ? 0 : base_of(name);
        char *next = cli_alloc(folder + (size_t)len + 1);
        memcpy(next, name, folder);
        memcpy(next + folder, to, (size_t)len);
        next[folder + (size_t)len] = 0;
        free(name);
        name = next;
    }
    *t = (target){.path = name, .base = base_of(name), .uid = geteuid(), .gid = getegid()};
    if (exists) {
        t->writers = st.st_mode & 022;
        t->uid = st.st_uid;
        t->gid = st.st_gid;
        t->list = list_at(name);
        if ((t->list.len || t->list.unknown) && !list_lets(&t->list, GROUP_OBJ, 0)) {
            t->writers &= ~(mode_t)020;
        }
    }
    return true;
}

/* A name that is too long for a suffix is replaced by its hash (FNV-1a). */
static char *lock_name(const target *t, unsigned n) {
    char suffix[SUFFIX_ROOM], *name;
    const char *base = t->path + t->base;
    snprintf(suffix, sizeof suffix, n ? ".umbel-lock-%u" : ".umbel-lock", n);
    if (strlen(base) + strlen(suffix) <= MAX_NAME) {
        name = cli_alloc(strlen(t->path) + sizeof suffix);
        sprintf(name, "%s%s", t->path, suffix);
        return name;
    }
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (const char *p = base; *p; p++) sum = (sum ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
    name = cli_alloc(t->base + 2 * sizeof suffix);
    sprintf(name, "%.*s.%016" PRIx64 "%s", (int)t->base, t->path, sum, suffix);
    return name;
}

/* Can only those open it who may write the filter? */
static bool honoured(int fd, const struct stat *st, const target *t) {
    if (!S_ISREG(st->st_mode) || st->st_nlink != 1) return false;
    bool group = (t->writers & 020) && st->st_gid == t->gid, others = (t->writers & 002) != 0;
    access_list list = list_on(fd);
    bool same = list.len && list.len == t->list.len && st->st_gid == t->gid &&
                memcmp(list.at, t->list.at, list.len) == 0;
    if (list.unknown || (list.len && !same)) return false;
    if ((st->st_mode & 070) && !group && !same) return false;
    if ((st->st_mode & 007) && !others) return false;
    return st->st_uid == geteuid() || st->st_uid == t->uid || others ||
           (group && (st->st_mode & 060) == 060) || (same && list_lets(&list, USER, st->st_uid));
}

/* Lets those use a new lock file who may write the filter.  It may have a list already, from its
 * directory. */
static void share(int fd, const target *t) {
    bool given = fchown(fd, geteuid() ? (uid_t)-1 : t->uid, t->gid) == 0;
    (void)fremovexattr(fd, LIST_NAME);
    if (given && t->list.len) {
        (void)fsetxattr(fd, LIST_NAME, t->list.at, t->list.len, 0);
        return;
    }
    mode_t group = given && (t->writers & 020) ? 060 : 0;
    (void)fchmod(fd, 0600 | group | (t->writers & 002 ? 006 : 0));
}

/* Opens or makes the lock file, for all who may write the filter; -1: use another name. */
static int open_lock(const char *name, const target *t) {
    const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct stat st;
    for (int n = 0; n < PAUSES; n++) {
        int fd = open(name, flags);
        if (fd < 0 && errno == ENOENT) {
            fd = open(name, flags | O_CREAT | O_EXCL, 0600);
            if (fd < 0 && errno != EEXIST) cli_die_sys(t->path, errno);
            if (fd < 0) continue;
            share(fd, t);
        } else if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
            cli_die_sys(t->path, errno);
        }
        if (fd >= 0 && fstat(fd, &st) == 0 && honoured(fd, &st, t)) return fd;
        if (fd >= 0) close(fd);
        usleep(PAUSE_MICROSECONDS); /* it may be being created right now */
    }
    return -1;
}

static bool lock(int fd, int how) {
    int failed;
    do failed = flock(fd, how);
    while (failed && errno == EINTR);
    return !failed;
}

static bool leads_to(const char *name, int fd) {
    struct stat named, opened;
    return lstat(name, &named) == 0 && fstat(fd, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

static void say_unlocked(const char *path, const char *why) {
    cli_warn("not_locked", path, "cannot be locked (%s): other commands must not change it now",
             why);
}

/* Says it at once, or after seconds even with -q: a run that waits in silence looks dead. */
static bool wait_for(int fd, const char *path, const cli_settings *s) {
    enum { PER_SECOND = 20, QUIET_SECONDS = 5 };
    uint64_t most = cli_given(s, OPT_LOCK_WAIT) ? s->wait : UINT64_MAX / PER_SECOND;
    for (uint64_t n = 0; n / PER_SECOND < most; n++) {
        if (n == (s->quiet ? PER_SECOND * QUIET_SECONDS : 0)) {
            cli_warn("waiting", path, "another command is changing it: waiting for it to finish");
        }
        usleep(1000000 / PER_SECOND);
        if (lock(fd, LOCK_EX | LOCK_NB)) return true;
        if (errno != EWOULDBLOCK) return false;
    }
    cli_die(path, "--wait SECONDS waits longer", "another command is changing it");
}

/* False: another name is needed. */
static bool lock_by_name(const char *path, char *name, const target *t, const cli_settings *s) {
    for (;;) {
        int fd = open_lock(name, t);
        if (fd < 0) return false;
        bool locked = lock(fd, LOCK_EX | LOCK_NB);
        if (!locked && errno == EWOULDBLOCK) {
            locked = wait_for(fd, path, s);
        }
        if (!locked) {
            say_unlocked(path, strerror(errno));
            unlink(name);
            close(fd);
            return true;
        }
        if (leads_to(name, fd)) { /* the lock ends with the process */
            atomic_store(&held, name);
            cli_on_exit(release);
            return true;
        }
        close(fd); /* its previous holder has removed it */
    }
}

void cli_update_lock(const char *path, const cli_settings *s) {
    target t;
    if (atomic_load(&held) || strcmp(path, "-") == 0 || !find_target(path, &t)) return;
    bool done = false;
    for (unsigned n = 0; !done && n < NAMES; n++) {
        char *name = lock_name(&t, n);
        done = lock_by_name(path, name, &t, s);
        if (atomic_load(&held) != name) free(name);
    }
    if (!done) say_unlocked(path, "the names for a lock file are taken by others");
    free(t.path);
}
