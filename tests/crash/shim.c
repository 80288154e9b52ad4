/* SPDX-License-Identifier: MIT
 *
 * shim.c - for LD_PRELOAD: one call of the program under test fails, falls short, or is its last;
 *          or all that changes files is recorded
 *
 * UMBEL_FAULT is GROUP:N:WHAT.  WHAT determines the outcome of the N-th call of the group (from 1):
 * a number is the errno that it fails with, `short` halves what it may write or read, `kill` is
 * SIGKILL just before it, `after` just after it.  With N 0 nothing happens.  UMBEL_FAULT_LOG names
 * a file that gets a line when it happens and, with N 0, one for each call of any group.  Calls on
 * standard error are not affected.
 *
 * UMBEL_RECORD names a file that gets what the program does to files and directories, in order, for
 * power.py: `WHAT INODE NUMBER BYTES` in a line, then as many bytes (what was written, or a path).
 * UMBEL_HOURS makes the clock jump an hour each time that it is read.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* glibc's own, so that looking up the others needs no memory. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);

enum what { PASS, FAIL, SHORT, KILL_BEFORE, KILL_AFTER };

static const char *group, *log_name, *record_name;
static bool hours;
static unsigned long wanted;
static enum what ending;
static int error_number;
static atomic_ulong calls;

/* Bypasses the functions below. */
static void note(const char *name) {
    if (!log_name) return;
    long fd = syscall(SYS_openat, AT_FDCWD, log_name, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0) return;
    char line[32];
    size_t len = strlen(name);
    memcpy(line, name, len);
    line[len] = '\n';
    syscall(SYS_write, fd, line, len + 1);
    syscall(SYS_close, fd);
}

__attribute__((constructor)) static void read_order(void) {
    static char text[64];
    const char *order = getenv("UMBEL_FAULT");
    log_name = getenv("UMBEL_FAULT_LOG");
    record_name = getenv("UMBEL_RECORD");
    hours = getenv("UMBEL_HOURS") != NULL;
    if (!order || strlen(order) >= sizeof text) return;
    strcpy(text, order);
    char *number = strchr(text, ':'), *what = number ? strchr(number + 1, ':') : NULL;
    if (!what) return;
    *number++ = *what++ = '\0';
    wanted = strtoul(number, NULL, 10);
    error_number = atoi(what);
    ending = error_number             ? FAIL
             : !strcmp(what, "short") ? SHORT
             : !strcmp(what, "kill")  ? KILL_BEFORE
                                      : KILL_AFTER;
    group = text;
}

/* What should happen to this call; sets errno if it should fail. */
static enum what judge(const char *name) {
    int before = errno;
    enum what now = PASS;
    if (group && wanted == 0) {
        note(name);
    } else if (group && !strcmp(group, name) && atomic_fetch_add(&calls, 1) + 1 == wanted) {
        now = ending;
        note(name);
        if (now == KILL_BEFORE) syscall(SYS_kill, getpid(), SIGKILL);
    }
    errno = now == FAIL ? error_number : before;
    return now;
}

static void done(enum what now) {
    if (now == KILL_AFTER) syscall(SYS_kill, getpid(), SIGKILL);
}

/* ---- The record ---------------------------------------------------------------------------- */

/* Held while something is done and recorded, so that the record has the order of the deeds. */
static pthread_mutex_t recording = PTHREAD_MUTEX_INITIALIZER;

static void begin(void) {
    if (record_name) pthread_mutex_lock(&recording);
}

static void end(void) {
    if (record_name) pthread_mutex_unlock(&recording);
}

/* Leaves errno alone. */
static void record(const char *what, unsigned long inode, long number, const void *bytes,
                   size_t len) {
    if (!record_name) return;
    int sys = errno;
    long fd = syscall(SYS_openat, AT_FDCWD, record_name, O_WRONLY | O_CREAT | O_APPEND, 0600);
    char line[96];
    int head = snprintf(line, sizeof line, "%s %lu %ld %zu\n", what, inode, number, len);
    struct iovec parts[] = {{line, (size_t)head}, {(void *)(uintptr_t)bytes, len}};
    if (syscall(SYS_writev, fd, parts, 2) != (long)len + head) abort();
    syscall(SYS_close, fd);
    errno = sys;
}

static bool status_of(int fd, struct stat *st) {
    return syscall(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH) == 0;
}

static void record_fd(const char *what, int fd, long number) {
    struct stat st;
    if (record_name && status_of(fd, &st)) record(what, st.st_ino, number, NULL, 0);
}

static void record_path(const char *what, const char *path) {
    record(what, 0, 0, path, strlen(path));
}

/* `at`: where the bytes begin, -1: they end where the descriptor is now. */
static void record_write(int fd, const void *bytes, ssize_t n, long at) {
    struct stat st;
    if (!record_name || n <= 0 || !status_of(fd, &st)) return;
    if (at < 0) at = syscall(SYS_lseek, fd, 0, SEEK_CUR) - n;
    if (S_ISREG(st.st_mode)) record("write", st.st_ino, at, bytes, (size_t)n);
    if (S_ISFIFO(st.st_mode)) record("send", st.st_ino, 0, bytes, (size_t)n);
}

static bool exists(const char *path) {
    struct stat st;
    return syscall(SYS_newfstatat, AT_FDCWD, path, &st, 0) == 0;
}

/* `before`: there was such a file. */
static void record_open(int fd, const char *path, int flags, bool before) {
    struct stat st;
    if (!record_name || fd < 0 || !status_of(fd, &st) || !S_ISREG(st.st_mode)) return;
    bool nameless = (flags & __O_TMPFILE) == __O_TMPFILE;
    if (!before && !nameless) record("create", st.st_ino, 0, path, strlen(path));
    if (before && (flags & O_TRUNC)) record("size", st.st_ino, 0, NULL, 0);
}

int clock_gettime(clockid_t clock, struct timespec *t) {
    static atomic_long readings;
    int result = (int)syscall(SYS_clock_gettime, clock, t);
    if (hours && clock == CLOCK_REALTIME) t->tv_sec += 3600 * ++readings;
    return result;
}

/* ---- The functions ------------------------------------------------------------------------- */

#define REAL(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

/* A function that returns an int, under the name of its group, and how its success is recorded. */
#define FAULTY(name, function, parameters, arguments, recorded) \
    int function parameters {                                   \
        enum what now = judge(name);                            \
        if (now == FAIL) return -1;                             \
        begin();                                                \
        int result = REAL(function) arguments;                  \
        if (result == 0) recorded;                              \
        end();                                                  \
        done(now);                                              \
        return result;                                          \
    }
#define NOTHING (void)0

FAULTY("fsync", fsync, (int fd), (fd), record_fd("sync", fd, 0))
FAULTY("fsync", fdatasync, (int fd), (fd), record_fd("sync", fd, 0))
FAULTY("rename", rename, (const char *from, const char *to), (from, to),
       (record_path("from", from), record_path("to", to)))
FAULTY("unlink", unlink, (const char *path), (path), record_path("unlink", path))
FAULTY("flock", flock, (int fd, int how), (fd, how), NOTHING)
FAULTY("chmod", fchmod, (int fd, mode_t mode), (fd, mode), NOTHING)
FAULTY("truncate", ftruncate, (int fd, off_t len), (fd, len), record_fd("size", fd, len))
FAULTY("stat", stat, (const char *path, struct stat *st), (path, st), NOTHING)
FAULTY("stat", lstat, (const char *path, struct stat *st), (path, st), NOTHING)
FAULTY("stat", fstat, (int fd, struct stat *st), (fd, st), NOTHING)

/* The same functions under the names used by large-file programs. */
FAULTY("truncate", ftruncate64, (int fd, off64_t len), (fd, len), record_fd("size", fd, len))
FAULTY("stat", stat64, (const char *path, struct stat64 *st), (path, st), NOTHING)
FAULTY("stat", lstat64, (const char *path, struct stat64 *st), (path, st), NOTHING)
FAULTY("stat", fstat64, (int fd, struct stat64 *st), (fd, st), NOTHING)

/* The descriptor is closed in either case, as on Linux. */
int close(int fd) {
    enum what now = judge("close");
    int sys = errno, result = REAL(close)(fd);
    if (now == FAIL) {
        errno = sys;
        return -1;
    }
    done(now);
    return result;
}

#define OPEN(function)                                                                      \
    int function(const char *path, int flags, ...) {                                        \
        va_list args;                                                                       \
        va_start(args, flags);                                                              \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? (mode_t)va_arg(args, unsigned) : 0; \
        va_end(args);                                                                       \
        enum what now = judge("open");                                                      \
        if (now == FAIL) return -1;                                                         \
        begin();                                                                            \
        bool before = record_name && exists(path);                                          \
        int fd = REAL(function)(path, flags, mode);                                         \
        record_open(fd, path, flags, before);                                               \
        end();                                                                              \
        done(now);                                                                          \
        return fd;                                                                          \
    }
OPEN(open)
OPEN(open64)

#define TRANSFER(name, function, parameters, arguments, before, after) \
    ssize_t function parameters {                                      \
        enum what now = fd == STDERR_FILENO ? PASS : judge(name);      \
        if (now == FAIL) return -1;                                    \
        if (now == SHORT && len > 1) len /= 2;                         \
        before;                                                        \
        ssize_t n = REAL(function) arguments;                          \
        after;                                                         \
        done(now);                                                     \
        return n;                                                      \
    }
#define READ(function, parameters, arguments) \
    TRANSFER("read", function, parameters, arguments, NOTHING, NOTHING)
#define WRITE(function, parameters, arguments, at)              \
    TRANSFER("write", function, parameters, arguments, begin(), \
             (record_write(fd, bytes, n, at), end()))

WRITE(write, (int fd, const void *bytes, size_t len), (fd, bytes, len), -1)
WRITE(pwrite, (int fd, const void *bytes, size_t len, off_t at), (fd, bytes, len, at), at)
WRITE(pwrite64, (int fd, const void *bytes, size_t len, off64_t at), (fd, bytes, len, at), at)
READ(read, (int fd, void *bytes, size_t len), (fd, bytes, len))
READ(pread, (int fd, void *bytes, size_t len, off_t at), (fd, bytes, len, at))
READ(pread64, (int fd, void *bytes, size_t len, off64_t at), (fd, bytes, len, at))

#define MMAP(function, offset_type)                                                             \
    void *function(void *at, size_t len, int protection, int flags, int fd, offset_type from) { \
        enum what now = judge("mmap");                                                          \
        if (now == FAIL) return MAP_FAILED;                                                     \
        void *map = REAL(function)(at, len, protection, flags, fd, from);                       \
        done(now);                                                                              \
        return map;                                                                             \
    }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *ctx) {
    enum what now = judge("thread");
    return now == FAIL ? error_number : REAL(pthread_create)(thread, attributes, run, ctx);
}

void *malloc(size_t size) {
    return judge("malloc") == FAIL ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
    return judge("malloc") == FAIL ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size) {
    return judge("malloc") == FAIL ? NULL : __libc_realloc(old, size);
}

int posix_memalign(void **out, size_t align, size_t size) {
    void *memory = judge("malloc") == FAIL ? NULL : __libc_memalign(align, size);
    if (memory) *out = memory;
    return memory ? 0 : ENOMEM;
}
