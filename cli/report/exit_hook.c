/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "report/error.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static struct {
    void (*run)(void *ctx);
    void *ctx;
    sigset_t signals;
} hook;

void cli_run_exit_hook(void) {
    if (hook.run) hook.run(hook.ctx);
}

static void *await_signal(void *ctx) {
    int number = 0;
    if (sigwait(&hook.signals, &number) != 0) return ctx;
    pthread_sigmask(SIG_UNBLOCK, &hook.signals, NULL);
    cli_run_exit_hook();
    raise(number); /* whoever started us sees what it was */
    return ctx;
}

/* A thread that waits, not a handler: a handler could neither wait for a lock nor save a file. */
void cli_on_early_exit(void (*run)(void *ctx), void *ctx) {
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    hook.run = run;
    hook.ctx = ctx;
    sigemptyset(&hook.signals);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now;
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL) {
            sigaddset(&hook.signals, numbers[i]);
        }
    }
    pthread_t thread;
    pthread_sigmask(SIG_BLOCK, &hook.signals, NULL);
    if (pthread_create(&thread, NULL, await_signal, NULL) != 0) {
        pthread_sigmask(SIG_UNBLOCK, &hook.signals, NULL);
    } else {
        pthread_detach(thread);
    }
}
