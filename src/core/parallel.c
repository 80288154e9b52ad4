/* SPDX-License-Identifier: MIT */
#include "core/parallel.h"

#include "core/platform.h"

#if UMBELI_HAVE_THREADS
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

enum { AT_ONCE = 64 };

typedef struct part {
    void (*work)(void *ctx, uint32_t t);
    void *ctx;
    uint32_t t;
    pthread_t thread;
    bool started;
} part;

static void *run(void *arg) {
    part *p = arg;
    p->work(p->ctx, p->t);
    return NULL;
}

void umbeli_parallel(uint32_t threads, void (*work)(void *ctx, uint32_t t), void *ctx) {
    part parts[AT_ONCE];
    for (uint32_t first = 0; first < threads; first += AT_ONCE) {
        uint32_t n = threads - first < AT_ONCE ? threads - first : AT_ONCE;
        for (uint32_t i = 1; i < n; i++) {
            parts[i] = (part){.work = work, .ctx = ctx, .t = first + i};
            parts[i].started = pthread_create(&parts[i].thread, NULL, run, &parts[i]) == 0;
        }
        work(ctx, first);
        for (uint32_t i = 1; i < n; i++) {
            if (parts[i].started) {
                pthread_join(parts[i].thread, NULL);
            } else {
                work(ctx, parts[i].t);
            }
        }
    }
}

void umbeli_yield(void) {
    (void)sched_yield();
}

#else

void umbeli_yield(void) {}

void umbeli_parallel(uint32_t threads, void (*work)(void *ctx, uint32_t t), void *ctx) {
    for (uint32_t t = 0; t < threads; t++) work(ctx, t);
}

#endif
