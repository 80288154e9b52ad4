/* SPDX-License-Identifier: MIT
 *
 * test_cli_progress.c - the progress line of a command, on a separate terminal
 */
#define _XOPEN_SOURCE 600
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/progress.h"
#include "cases.h"

static int terminal = -1, ours, theirs; /* its other end; standard error, and that of the test */

static int open_terminal(void **state) {
    (void)state;
    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0) return 0; /* each case skips */
    if (grantpt(terminal) || unlockpt(terminal)) return -1;
    ours = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    theirs = dup(STDERR_FILENO);
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* as in the command: a line arrives in one piece */
    return ours < 0 || theirs < 0 ? -1 : fcntl(terminal, F_SETFL, O_NONBLOCK);
}

/* The terminal is standard error while the command writes, not while cmocka does. */
static void aim(int fd) {
    fflush(stderr);
    assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
}

static void begin(const char *doing, uint64_t total, const umbel_filter *f, uint64_t capacity) {
    if (terminal < 0) skip();
    aim(ours);
    cli_progress_begin(doing, total, f, capacity);
    aim(theirs);
}

/* What it draws. */
static const char *drawn(void (*how)(uint64_t), uint64_t number) {
    static char text[1024];
    aim(ours);
    if (how) {
        how(number);
    } else {
        cli_progress_hide();
    }
    aim(theirs);
    ssize_t n = read(terminal, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

/* A bar is drawn after half a second, and then five times a second at most. */
static void wait_for_bar(long milliseconds) {
    struct timespec t = {0, milliseconds * 1000000};
    nanosleep(&t, NULL);
}

/* "N% done" and what follows it. */
static int percent_of(const char *line, const char **rest) {
    const char *done = strstr(line, "% done, ");
    if (!done) fail_msg("'%s' does not say how much is done", line);
    const char *number = done;
    while (number > line && number[-1] != ' ') number--;
    *rest = done + strlen("% done, ");
    return atoi(number);
}

/* Seconds, after "N% done, ". */
static unsigned left(const char *rest) {
    unsigned minutes, seconds;
    char colon, word[8];
    if (sscanf(rest, "%u%c%2u %4s", &minutes, &colon, &seconds, word) != 4 || colon != ':' ||
        seconds > 59 || strchr(rest, '-') || strcmp(word, "left") != 0) {
        fail_msg("'%s' is not a time", rest);
    }
    return 60 * minutes + seconds;
}

/* Files grow while they are read, and some report size 0 without being empty. */
static void stays_within_a_hundred(void **state) {
    (void)state;
    static const struct {
        uint64_t done;
        int percent;
    } cases[] = {{1, 0}, {500, 50}, {1000, 100}, {1001, 100}, {123456789, 100}};
    struct timespec began, now;
    clock_gettime(CLOCK_MONOTONIC, &began);
    begin("testing", 1000, NULL, 0);
    const char *at_once = drawn(cli_progress, 1);
    clock_gettime(CLOCK_MONOTONIC, &now);
    double took =
        (double)(now.tv_sec - began.tv_sec) + 1e-9 * (double)(now.tv_nsec - began.tv_nsec);
    if (took < 0.5) assert_string_equal(at_once, ""); /* instant work needs no bar */
    wait_for_bar(550);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *rest;
        cli_progress_bytes(cases[i].done);
        const char *line = drawn(cli_progress, 12345);
        assert_ptr_equal(strstr(line, "\rtesting: 12.3 k lines, "), line);
        assert_int_equal(percent_of(line, &rest), cases[i].percent);
        unsigned seconds = left(rest);
        if (cases[i].percent == 100) assert_int_equal(seconds, 0);
        if (cases[i].done == 1) assert_true(seconds > 500); /* 999 times what it took so far */
        wait_for_bar(220);
    }
    assert_string_equal(drawn(NULL, 0), "\r\033[K");
    assert_string_equal(drawn(NULL, 0), "");
}

/* Some part of a second less than a minute is left: 0:59 or 1:00, never 0:60. */
static void a_minute_has_sixty_seconds(void **state) {
    (void)state;
    const uint64_t total = UINT64_C(1) << 50;
    begin("testing", total, NULL, 0);
    double begun = cli_clock();
    wait_for_bar(550);
    for (int i = 0; i < 4; i++) {
        const char *rest;
        double seconds = cli_clock() - begun;
        cli_progress_bytes((uint64_t)((double)total * seconds / (seconds + 59.7)));
        percent_of(drawn(cli_progress, 1), &rest);
        assert_true(left(rest) > 0);
        wait_for_bar(220);
    }
    (void)drawn(NULL, 0);
}

static void without_a_total_nothing_is_promised(void **state) {
    (void)state;
    umbel_filter *f = NULL;
    assert_ok(umbel_create(&(umbel_params){.capacity = 8, .fpr = 1e-9}, NULL, &f, NULL));
    for (int i = 0; i < 2; i++) assert_ok(umbel_add(f, &i, sizeof i, NULL, NULL));
    begin("filling", 0, f, 8);
    cli_progress_bytes(77);
    wait_for_bar(550);
    const char *line = drawn(cli_progress, 2);
    assert_non_null(strstr(line, ", 25% of the plan\033[K"));
    assert_null(strstr(line, "done"));
    (void)drawn(NULL, 0);
    umbel_free(f);
}

static void tells_what_was_sent(void **state) {
    (void)state;
    const char *rest;
    begin("server", 3 << 20, NULL, 0);
    wait_for_bar(550);
    const char *line = drawn(cli_progress_sent, 1 << 20);
    assert_ptr_equal(strstr(line, "\rserver: 1 MiB of 3 MiB, "), line);
    assert_int_equal(percent_of(line, &rest), 33);
    (void)drawn(NULL, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stays_within_a_hundred),
        cmocka_unit_test(a_minute_has_sixty_seconds),
        cmocka_unit_test(without_a_total_nothing_is_promised),
        cmocka_unit_test(tells_what_was_sent),
    };
    return cmocka_run_group_tests(tests, open_terminal, NULL);
}
