/* SPDX-License-Identifier: MIT
 *
 * platform.h - what the system has beyond C11 and plain POSIX files, and what happens without it
 *
 *   UMBELI_HAVE_...  where               without it
 *   MMAP             core/mapping        files are read into memory instead of mapped
 *   HUGE_PAGES       core/memory         large arrays use pages of the usual size
 *   THREADS          core/parallel, kind/blocked   the parts of a job run one after another
 *   PREFETCH         kind, format        batches take plain loops, layers are queried one by one
 *   ATOMICS          kind/blocked        concurrent filters are like others: nobody shares memory
 *   TMPFILE          kind/static/static_store   a temporary file briefly has a name
 *   MKSTEMP          kind/static/static_store   umbel_opts.tmp needs TMPFILE or is refused
 *   FLOCK            api/api_update      saves to one path are not serialised, and what a killed
 *                                        one left behind is not removed
 *   DIRECTORY_SYNC   api/api_update      after a power cut the old file may be back
 *   FILE_MODES       api/api_update, api/file_attributes   a replaced file gets the permissions of
 *                                        a new one, and its lock is only for its owner
 *   EXTENDED_ATTRIBUTES  api/file_attributes   a replaced file loses its access control list and
 *                                        extended attributes
 *   PROCESS_IDS      api/api_update      names of temporary files hold 0 instead
 *
 * Each is 0 or 1 depending on the system and can be switched off: -DUMBEL_NO_MMAP and so on.  Only
 * the files named here test them.  Bytes and results are the same with and without.
 */
#ifndef UMBELI_PLATFORM_H
#define UMBELI_PLATFORM_H

/* ---- Windows: the names of POSIX that mingw-w64 lacks ---- */

/* Nothing here needs <windows.h>, whose macros would reach into every file that follows.  File
 * names are in the system's code page, as in C's own functions. */
#if defined(_WIN32)
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Every open passes it, and no file here is text. */
#define O_CLOEXEC (_O_NOINHERIT | _O_BINARY)
#define O_NONBLOCK 0
#define O_DIRECTORY 0
#define fsync _commit
#define rename umbeli_replace_file
#define readlink umbeli_no_link
#define pread umbeli_no_transfer
#define pwrite umbeli_no_transfer
#define UMBELI_CHANGED(st) ((struct timespec){(st).st_mtime, 0}) /* st_ctime is its birth */

typedef int uid_t, gid_t;

__declspec(dllimport) int __stdcall MoveFileExA(const char *from, const char *to,
                                                unsigned long flags);

/* rename, which here refuses a name that is taken. */
static inline int umbeli_replace_file(const char *from, const char *to) {
    enum { REPLACE_EXISTING = 1, WRITE_THROUGH = 8 };
    if (MoveFileExA(from, to, REPLACE_EXISTING | WRITE_THROUGH)) return 0;
    errno = EACCES;
    return -1;
}

static inline ssize_t umbeli_no_link(const char *path, char *to, size_t room) {
    (void)path, (void)to, (void)room;
    errno = EINVAL; /* not a link */
    return -1;
}

/* pread and pwrite are for temporary files of static filters; without mkstemp there are none. */
static inline ssize_t umbeli_no_transfer(int fd, void *bytes, size_t len, int64_t at) {
    (void)fd, (void)bytes, (void)len, (void)at;
    errno = ENOSYS;
    return -1;
}
#endif

/* ---- What there is ---- */

#if defined(__wasi__) || defined(_WIN32) /* WASI: one thread, one process, no mapping */
#define UMBELI_POSIX 0
#else
#define UMBELI_POSIX 1
#endif

#if !defined(UMBELI_CHANGED) /* when a file, or what it is called and who may read it, changed */
#define UMBELI_CHANGED(st) ((st).st_ctim)
#endif

#if defined(__linux__)
#define UMBELI_LINUX 1
#else
#define UMBELI_LINUX 0
#endif

#if UMBELI_POSIX && !defined(UMBEL_NO_MMAP)
#define UMBELI_HAVE_MMAP 1
#else
#define UMBELI_HAVE_MMAP 0
#endif

#if UMBELI_LINUX && !defined(UMBEL_NO_HUGE_PAGES) /* MADV_HUGEPAGE */
#define UMBELI_HAVE_HUGE_PAGES 1
#else
#define UMBELI_HAVE_HUGE_PAGES 0
#endif

#if !defined(__wasm__) && !defined(UMBEL_NO_PREFETCH)
#define UMBELI_HAVE_PREFETCH 1
#else
#define UMBELI_HAVE_PREFETCH 0
#endif

#if (!defined(__wasm__) || defined(__wasm_atomics__)) && !defined(UMBEL_NO_ATOMICS)
#define UMBELI_HAVE_ATOMICS 1
#else
#define UMBELI_HAVE_ATOMICS 0
#endif

/* Not for a switch: threads may be the caller's. */
#if !defined(__wasm__) || defined(__wasm_atomics__)
#define UMBELI_PER_THREAD _Thread_local
#else
#define UMBELI_PER_THREAD
#endif

#if (UMBELI_POSIX || defined(_WIN32)) && !defined(UMBEL_NO_THREADS) /* winpthreads */
#define UMBELI_HAVE_THREADS 1
#else
#define UMBELI_HAVE_THREADS 0
#endif

#if UMBELI_LINUX && !defined(UMBEL_NO_TMPFILE) /* O_TMPFILE */
#define UMBELI_HAVE_TMPFILE 1
#else
#define UMBELI_HAVE_TMPFILE 0
#endif

#if UMBELI_POSIX && !defined(UMBEL_NO_MKSTEMP)
#define UMBELI_HAVE_MKSTEMP 1
#else
#define UMBELI_HAVE_MKSTEMP 0
#endif

#if UMBELI_POSIX && !defined(UMBEL_NO_FLOCK)
#define UMBELI_HAVE_FLOCK 1
#else
#define UMBELI_HAVE_FLOCK 0
#endif

#if UMBELI_POSIX && !defined(UMBEL_NO_DIRECTORY_SYNC)
#define UMBELI_HAVE_DIRECTORY_SYNC 1
#else
#define UMBELI_HAVE_DIRECTORY_SYNC 0
#endif

#if UMBELI_POSIX && !defined(UMBEL_NO_FILE_MODES)
#define UMBELI_HAVE_FILE_MODES 1
#else
#define UMBELI_HAVE_FILE_MODES 0
#endif

#if UMBELI_LINUX && UMBELI_HAVE_FILE_MODES && !defined(UMBEL_NO_EXTENDED_ATTRIBUTES)
#define UMBELI_HAVE_EXTENDED_ATTRIBUTES 1
#else
#define UMBELI_HAVE_EXTENDED_ATTRIBUTES 0
#endif

#if (UMBELI_POSIX || defined(_WIN32)) && !defined(UMBEL_NO_PROCESS_IDS)
#define UMBELI_HAVE_PROCESS_IDS 1
#else
#define UMBELI_HAVE_PROCESS_IDS 0
#endif

#endif
