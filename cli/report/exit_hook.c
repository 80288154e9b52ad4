/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "report/error.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static struct {
    void (*last)(void *ctx);
    void *ctx;
    sigset_t awaited;
} farewell;

void cli_farewell_now(void) {
    if (farewell.last) farewell.last(farewell.ctx);
}

static void *await_signal(void *ctx) {
    int number = 0;
    if (sigwait(&farewell.awaited, &number) != 0) return ctx;
    pthread_sigmask(SIG_UNBLOCK, &farewell.awaited, NULL);
    cli_farewell_now();
    raise(number); /* whoever started us sees what it was */
    return ctx;
}

/* A thread that waits, not a handler: a handler could neither wait for a lock nor save a file. */
void cli_farewell(void (*last)(void *ctx), void *ctx) {
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    farewell.last = last;
    farewell.ctx = ctx;
    sigemptyset(&farewell.awaited);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now;
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL) {
            sigaddset(&farewell.awaited, numbers[i]);
        }
    }
    pthread_t thread;
    pthread_sigmask(SIG_BLOCK, &farewell.awaited, NULL);
    if (pthread_create(&thread, NULL, await_signal, NULL) != 0) {
        pthread_sigmask(SIG_UNBLOCK, &farewell.awaited, NULL);
    } else {
        pthread_detach(thread);
    }
}
