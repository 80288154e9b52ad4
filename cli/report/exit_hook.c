/* SPDX-License-Identifier: MIT
 *
 * exit_hook.c - the last thing to do before an error or a signal exits the program
 */
#define _POSIX_C_SOURCE 200809L
#include "report/error.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static struct {
    void (*run)(void *ctx);
    void *ctx;
    sigset_t signals;
} early_exit;

void cli_run_exit_hook(void) {
    if (early_exit.run) early_exit.run(early_exit.ctx);
}

static void *await_signal(void *ctx) {
    int number = 0;
    if (sigwait(&early_exit.signals, &number) != 0) return ctx;
    pthread_sigmask(SIG_UNBLOCK, &early_exit.signals, NULL);
    cli_run_exit_hook();
    raise(number); /* so that the parent sees which signal it was */
    return ctx;
}

/* A waiting thread, not a signal handler, which could neither take a lock nor save a file. */
void cli_on_early_exit(void (*hook)(void *ctx), void *ctx) {
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    early_exit.run = hook;
    early_exit.ctx = ctx;
    sigemptyset(&early_exit.signals);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now;
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL) {
            sigaddset(&early_exit.signals, numbers[i]);
        }
    }
    pthread_t thread;
    pthread_sigmask(SIG_BLOCK, &early_exit.signals, NULL);
    if (pthread_create(&thread, NULL, await_signal, NULL) != 0) {
        pthread_sigmask(SIG_UNBLOCK, &early_exit.signals, NULL);
    } else {
        pthread_detach(thread);
    }
}
