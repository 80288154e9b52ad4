/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "base/progress.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/safe_text.h"
#include "base/wrap.h"
#include "umbel_text.h"

static struct {
    bool on;
    _Atomic bool drawn;
    const char *activity;
    uint64_t total, capacity;
    _Atomic uint64_t done;
    const umbel_filter *filling;
    double begun, next;
} bar;

double cli_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool cli_colours(int fd) {
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fd) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

void cli_progress_begin(const char *activity, uint64_t total, const umbel_filter *filling,
                        uint64_t capacity) {
    bar.on = isatty(STDERR_FILENO);
    bar.activity = activity;
    bar.total = total;
    bar.filling = filling;
    bar.capacity = capacity;
    bar.done = 0;
    bar.begun = cli_clock();
    bar.next = bar.begun + 0.5; /* short runs need no bar */
}

void cli_progress_bytes(uint64_t done) {
    bar.done = done;
}

/* The part done and the time left.  Files may have grown since they were measured. */
static void append_rest(char *text, size_t room, double seconds) {
    uint64_t done = bar.done;
    if (!bar.total || !done) return;
    double part = done < bar.total ? (double)done / (double)bar.total : 1;
    double left = round(seconds / part - seconds), minutes = floor(left / 60);
    snprintf(text, room, ", %.0f%% done, %.0f:%02.0f left", 100 * part, minutes,
             left - 60 * minutes);
}

/* Cut to one line: more could not be redrawn. */
static void draw(const char *whole) {
    char text[256];
    snprintf(text, sizeof text, "%.*s", cli_width(stderr) - 1, whole);
    fputc('\r', stderr);
    cli_put_safe(text, stderr);
    fputs("\033[K", stderr);
    fflush(stderr);
    bar.drawn = true;
}

/* Whether it is time to draw, and the time since the start. */
static bool is_time_to_draw(double *seconds) {
    double now = bar.on ? cli_clock() : 0;
    if (!bar.on || now < bar.next) return false;
    bar.next = now + 0.2;
    *seconds = now - bar.begun;
    return true;
}

void cli_progress(uint64_t lines) {
    char count[UMBEL_QUANTITY], speed[UMBEL_QUANTITY], text[256];
    double seconds;
    if (!is_time_to_draw(&seconds)) return;
    int n = snprintf(text, sizeof text, "%s: %s lines, %s/s", bar.activity,
                     umbel_short_count((double)lines, count),
                     umbel_short_count((double)lines / seconds, speed));
    size_t at = (size_t)n;
    if (bar.filling && bar.capacity) {
        umbel_measurement in;
        double before = cli_clock();
        umbel_measure(bar.filling, &in);
        if (isfinite(in.keys)) {
            n = snprintf(text + at, sizeof text - at, ", %.0f%% of the plan",
                         100 * in.keys / (double)bar.capacity);
            at += (size_t)n;
        }
        /* Counting the bits of a large filter must not slow down what it shows. */
        bar.next = fmax(bar.next, before + 50 * (cli_clock() - before));
    }
    append_rest(text + at, sizeof text - at, seconds);
    draw(text);
}

void cli_progress_sent(uint64_t bytes) {
    char sent[UMBEL_QUANTITY], all[UMBEL_QUANTITY], text[256];
    double seconds;
    bar.done = bytes;
    if (!is_time_to_draw(&seconds)) return;
    int n = snprintf(text, sizeof text, "%.100s: %s of %s", bar.activity,
                     umbel_size_text(bytes, sent), umbel_size_text(bar.total, all));
    append_rest(text + n, sizeof text - (size_t)n, seconds);
    draw(text);
}

void cli_progress_hide(void) {
    if (!bar.drawn) return;
    bar.drawn = false;
    fputs("\r\033[K", stderr);
}
