/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "filter/update_lock.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

/* A signal ends the program while the main thread may be saving: then it waits for the save, and
 * keeps the mutex, so that nothing is saved after the lock was given away.  Waiting for a lock
 * means trying again and again, not sleeping in it: the mutex must not be held for long. */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static umbel_update *held;

static void release(void) {
    pthread_mutex_lock(&changing);
    umbel_update_end(held);
    held = NULL;
    pthread_mutex_unlock(&changing);
}

static void release_for_good(void) {
    pthread_mutex_lock(&changing);
    umbel_update_end(held);
}

static umbel_err try_lock(const char *path, umbel_diag *diag) {
    pthread_mutex_lock(&changing);
    umbel_err e = umbel_update_begin(path, 0, &held, diag);
    pthread_mutex_unlock(&changing);
    return e;
}

static uint64_t milliseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void cli_update_lock(const char *path, const cli_settings *s) {
    enum { QUIET_FOR = 5000, PAUSE = 20000000 };
    const uint64_t start = milliseconds();
    bool warned = false;
    umbel_diag diag = {0};
    if (held || strcmp(path, "-") == 0) return;
    cli_on_exit(release);
    cli_on_signal(release_for_good);
    for (;;) {
        umbel_err e = try_lock(path, &diag);
        if (!e) break;
        if (e != UMBEL_EIO || diag.sys != EWOULDBLOCK) cli_die_err(path, e, &diag, NULL);
        uint64_t waited = milliseconds() - start;
        if (cli_given(s, OPT_LOCK_WAIT) && waited / 1000 >= s->wait) {
            cli_die(path, "--wait SECONDS waits longer", "another command is changing it");
        }
        if (!warned && (!s->quiet || waited >= QUIET_FOR)) {
            cli_warn("waiting", path, "another command is changing it: waiting for it to finish");
            warned = true;
        }
        nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
    }
    if (diag.what) cli_warn("not_locked", path, "%s", diag.what);
}

umbel_err cli_update_save(const umbel_filter *f, umbel_format format, umbel_diag *diag) {
    pthread_mutex_lock(&changing);
    umbel_err e = umbel_update_save(held, f, format, diag);
    pthread_mutex_unlock(&changing);
    return e;
}

umbel_err cli_update_bytes(const void *bytes, size_t len, umbel_diag *diag) {
    pthread_mutex_lock(&changing);
    umbel_err e = umbel_update_bytes(held, bytes, len, NULL, diag);
    pthread_mutex_unlock(&changing);
    return e;
}
