/* SPDX-License-Identifier: MIT
 *
 * exit_hook.c - the last thing to do before an error or a signal exits the program
 */
#define _POSIX_C_SOURCE 200809L
#include "base/error.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

typedef void hook_function(void *ctx);

static struct {
    _Atomic(hook_function *) run;
    void *ctx;
    void (*_Atomic last)(void);
    void (*_Atomic ended)(void);
    void (*pipe)(int);
    sigset_t signals;
    bool watching;
} early_exit;

static void run_first(void) {
    hook_function *run = early_exit.run;
    if (run) run(early_exit.ctx);
}

void cli_run_exit_hook(void) {
    void (*last)(void) = early_exit.last;
    run_first();
    if (last) last();
}

static void *await_signal(void *ctx) {
    int number = 0;
    if (sigwait(&early_exit.signals, &number) != 0) return ctx;
    pthread_sigmask(SIG_UNBLOCK, &early_exit.signals, NULL);
    run_first();
    void (*ended)(void) = early_exit.ended;
    if (ended) ended();
    raise(number); /* so that the parent sees which signal it was */
    return ctx;
}

/* A waiting thread, not a signal handler, which could neither take a lock nor save a file. */
static void watch_signals(void) {
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    if (early_exit.watching) return;
    early_exit.watching = true;
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

void cli_on_early_exit(void (*hook)(void *ctx), void *ctx) {
    early_exit.ctx = ctx;
    early_exit.run = hook;
    watch_signals();
}

void cli_on_exit(void (*hook)(void)) {
    early_exit.last = hook;
    atexit(hook);
}

void cli_on_signal(void (*hook)(void)) {
    early_exit.ended = hook;
    watch_signals();
    early_exit.pipe = signal(SIGPIPE, SIG_IGN);
}

void cli_exit_without_reader(void) {
    cli_run_exit_hook();
    if (early_exit.ended && early_exit.pipe == SIG_DFL) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    _exit(CLI_ERROR);
}
