/* SPDX-License-Identifier: MIT
 *
 * shim.c - for LD_PRELOAD: one call of the program under test fails, falls short, or is its last
 *
 * UMBEL_FAULT is GROUP:N:WHAT.  WHAT determines the outcome of the N-th call of the group (from 1):
 * a number is the errno that it fails with, `short` halves what it may write or read, `kill` is
 * SIGKILL just before it, `after` just after it.  With N 0 nothing happens.  UMBEL_FAULT_LOG names
 * a file that gets a line when it happens and, with N 0, one for each call of any group.  Calls on
 * standard error are not affected.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc's own, so that looking up the others needs no memory. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);

enum what { PASS, FAIL, SHORT, KILL_BEFORE, KILL_AFTER };

static const char *group, *log_name;
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

#define REAL(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

/* A function that returns an int, under the name of its group. */
#define FAULTY(name, function, parameters, arguments) \
    int function parameters {                         \
        enum what now = judge(name);                  \
        if (now == FAIL) return -1;                   \
        int result = REAL(function) arguments;        \
        done(now);                                    \
        return result;                                \
    }

FAULTY("fsync", fsync, (int fd), (fd))
FAULTY("rename", rename, (const char *from, const char *to), (from, to))
FAULTY("unlink", unlink, (const char *path), (path))
FAULTY("flock", flock, (int fd, int how), (fd, how))
FAULTY("chmod", fchmod, (int fd, mode_t mode), (fd, mode))
FAULTY("truncate", ftruncate, (int fd, off_t len), (fd, len))
FAULTY("stat", stat, (const char *path, struct stat *st), (path, st))
FAULTY("stat", lstat, (const char *path, struct stat *st), (path, st))
FAULTY("stat", fstat, (int fd, struct stat *st), (fd, st))

/* The same functions under the names used by large-file programs. */
FAULTY("truncate", ftruncate64, (int fd, off64_t len), (fd, len))
FAULTY("stat", stat64, (const char *path, struct stat64 *st), (path, st))
FAULTY("stat", lstat64, (const char *path, struct stat64 *st), (path, st))
FAULTY("stat", fstat64, (int fd, struct stat64 *st), (fd, st))

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
        int fd = REAL(function)(path, flags, mode);                                         \
        done(now);                                                                          \
        return fd;                                                                          \
    }
OPEN(open)
OPEN(open64)

#define TRANSFER(name, function, parameters, arguments)           \
    ssize_t function parameters {                                 \
        enum what now = fd == STDERR_FILENO ? PASS : judge(name); \
        if (now == FAIL) return -1;                               \
        if (now == SHORT && len > 1) len /= 2;                    \
        ssize_t n = REAL(function) arguments;                     \
        done(now);                                                \
        return n;                                                 \
    }

TRANSFER("write", write, (int fd, const void *bytes, size_t len), (fd, bytes, len))
TRANSFER("write", pwrite, (int fd, const void *bytes, size_t len, off_t at), (fd, bytes, len, at))
TRANSFER("read", read, (int fd, void *bytes, size_t len), (fd, bytes, len))
TRANSFER("read", pread, (int fd, void *bytes, size_t len, off_t at), (fd, bytes, len, at))
TRANSFER("write", pwrite64, (int fd, const void *bytes, size_t len, off64_t at),
         (fd, bytes, len, at))
TRANSFER("read", pread64, (int fd, void *bytes, size_t len, off64_t at), (fd, bytes, len, at))

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
