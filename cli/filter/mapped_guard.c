/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "filter/mapped_guard.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* Where a thread continues if the mapping that it reads is gone.  The signal arrives in the thread
 * that caused it, in the middle of plain lookups: there is nothing to unwind. */
static _Thread_local sigjmp_buf *volatile way_out;

static void on_bus_error(int number) {
    static const char text[] = "umbel: a filter file shrank while it was read"
                               " (replace filters, do not overwrite them)\n";
    (void)number;
    if (way_out) siglongjmp(*way_out, 1);
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(CLI_ERROR);
    _exit(CLI_ERROR);
}

void cli_guard_mappings(void) {
    static bool done;
    if (done) return;
    done = true;
    struct sigaction action = {.sa_handler = on_bus_error};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

bool cli_guarded(void (*work)(void *ctx), void *ctx) {
    sigjmp_buf before;
    if (sigsetjmp(before, 1)) {
        way_out = NULL;
        return false;
    }
    way_out = &before;
    work(ctx);
    way_out = NULL;
    return true;
}

enum { WATCHED_MAX = 65 };

static struct {
    const char *path;
    int fd; /* of the same file, whatever has its name later */
    struct stat then;
} watched[WATCHED_MAX];
static size_t watched_count;

void cli_mapping_watch(const char *path, int fd) {
    size_t i = 0; /* the entry with this name, or a new one */
    while (i < watched_count && watched[i].path != path) i++;
    int copy = fd < 0 || i == WATCHED_MAX ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) return;
    if (i < watched_count) close(watched[i].fd);
    watched[i].path = path;
    watched[i].fd = copy;
    if (fstat(copy, &watched[i].then) == 0 && i == watched_count) watched_count++;
}

void cli_mappings_unchanged(const char *so) {
    for (size_t i = 0; i < watched_count; i++) {
        const struct stat *then = &watched[i].then;
        struct stat now;
        if (fstat(watched[i].fd, &now) != 0) continue;
        if (now.st_size != then->st_size || now.st_mtim.tv_sec != then->st_mtim.tv_sec ||
            now.st_mtim.tv_nsec != then->st_mtim.tv_nsec) {
            cli_die(watched[i].path, "replace filters, do not overwrite them",
                    "changed while it was read: %s", so);
        }
    }
}
