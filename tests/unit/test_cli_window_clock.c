/* SPDX-License-Identifier: MIT
 *
 * test_cli_window_clock.c - windows by the clock: durations, steps, clock changes, metadata
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "options/options.h"
#include "umbel_text.h"

static const uint64_t start = 1700000000;

static void windows(void **state) {
    (void)state;
    static const struct {
        const char *text, *shown;
        uint64_t step, generations;
    } good[] = {{"24h/1h", "1d/1h", 3600, 24},  {"7d/1d", "7d/1d", 86400, 7},
                {"90m/10m", "90m/10m", 600, 9}, {"100m/30m", "2h/30m", 1800, 4},
                {"1s/1s", "1s/1s", 1, 1},       {"255s/1s", "255s/1s", 1, 255},
                {"7d/1m", "7d/1m", 60, 10080}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        cli_window w = {0};
        char out[UMBEL_QUANTITY];
        assert_true(cli_window_parse(good[i].text, &w));
        assert_int_equal(w.keys, 0);
        assert_int_equal(w.step, good[i].step);
        assert_int_equal(w.generations, good[i].generations);
        umbel_clock c = {.step = w.step, .generations = w.generations};
        assert_string_equal(umbel_clock_text(&c, out), good[i].shown);
    }
    static const char *const bad[] = {
        "",          "24h",    "/",      "24h/",
        "/1h",       "24/1",   "24h/1",  "1h/24h",
        "24h/1h/1m", "24h/0s", "24h 1h", "00000000000000000000000000000000000000000000000024h/1h"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cli_window w = {7, 8, 9};
        assert_false(cli_window_parse(bad[i], &w));
        assert_int_equal(w.keys, 7);
        assert_int_equal(w.step, 8);
        assert_int_equal(w.generations, 9);
    }
}

static void min_steps(void **state) {
    (void)state;
    assert_int_equal(cli_window_min_step(1), 1);
    assert_int_equal(cli_window_min_step(255), 1);
    assert_int_equal(cli_window_min_step(256), 2);
    assert_int_equal(cli_window_min_step(7 * 86400), 40 * 60);
    assert_int_equal(cli_window_min_step(365 * 86400), 2 * 86400);
    for (uint64_t d = 1; d <= UMBEL_DURATION_MAX / 3; d = d * 3 + 1) {
        uint64_t step = cli_window_min_step(d);
        assert_true((d + step - 1) / step <= CLI_GENERATIONS_MAX);
    }
}

static void advances(void **state) {
    (void)state;
    umbel_clock c = {.step = 10, .generations = 3, .advanced = start};
    assert_int_equal(umbel_clock_steps(&c, start), 0);
    assert_int_equal(umbel_clock_steps(&c, start + 9), 0);
    assert_int_equal(c.advanced, start);
    assert_int_equal(umbel_clock_steps(&c, start + 10), 1);
    assert_int_equal(umbel_clock_steps(&c, start + 10), 0);
    assert_int_equal(umbel_clock_steps(&c, start + 39), 2);
    assert_int_equal(c.advanced, start + 30); /* steps do not depend on when the clock is read */
    assert_int_equal(umbel_clock_steps(&c, start + 69), 3);
    assert_int_equal(umbel_clock_steps(&c, start + 105), 4); /* 4 steps: everything is forgotten */
    assert_int_equal(umbel_clock_steps(&c, start + 100000), 4);
    assert_int_equal(c.advanced, start + 100000);
    assert_int_equal(umbel_clock_steps(&c, UINT64_MAX), 4);
    assert_true(c.advanced <= UINT64_MAX && UINT64_MAX - c.advanced < 10);
    assert_int_equal(umbel_clock_steps(&c, 0), 0);
    assert_int_equal(c.advanced, 0);
}

static void set_back(void **state) {
    (void)state;
    umbel_clock c = {.step = 10, .generations = 3, .advanced = start};
    /* By a little: it waits, so no generation gets shorter. */
    assert_int_equal(umbel_clock_steps(&c, start - 10), 0);
    assert_int_equal(c.advanced, start);
    assert_int_equal(umbel_clock_steps(&c, start + 9), 0);
    assert_int_equal(umbel_clock_steps(&c, start + 10), 1);
    /* By years: it does not wait for years. */
    assert_int_equal(umbel_clock_steps(&c, start - 100000000), 0);
    assert_int_equal(umbel_clock_steps(&c, start - 100000000 + 9), 0);
    assert_int_equal(umbel_clock_steps(&c, start - 100000000 + 10), 1);
}

/* A real window with a clock that advances by random amounts: a key is remembered for the duration,
 * and forgotten a step later. */
static void remembers_the_duration(void **state) {
    (void)state;
    unsigned seed = 20240611;
    print_message("seed %u\n", seed);
    srand(seed);
    for (int round = 0; round < 300; round++) {
        umbel_clock c = {.step = 1 + (uint64_t)rand() % 50,
                         .generations = 1 + (uint64_t)rand() % 30,
                         .advanced = start};
        umbel_params params = {.kind = UMBEL_KIND_WINDOW,
                               .capacity = 1000,
                               .fpr = 1e-9,
                               .window.manual = true,
                               .window.generations = (uint32_t)c.generations};
        umbel_filter *f = NULL;
        assert_int_equal(umbel_create(&params, NULL, &f, NULL), UMBEL_OK);
        uint64_t now = start, came = start + (uint64_t)rand() % 200;
        uint64_t duration = c.step * c.generations;
        bool added = false;
        while (now < came + duration + 3 * c.step) {
            for (uint64_t n = umbel_clock_steps(&c, now); n > 0; n--) umbel_advance(f, NULL);
            bool there = umbel_contains(f, "key", 3);
            if (!added) assert_false(there);
            if (added && now <= came + duration) assert_true(there);
            if (added && now >= came + duration + c.step) assert_false(there);
            if (!added && now >= came) {
                umbel_add(f, "key", 3, NULL, NULL);
                came = now;
                added = true;
            }
            now += 1 + (uint64_t)rand() % (round % 2 ? 2 : 2 * c.step);
        }
        assert_true(added);
        umbel_free(f);
    }
}

static void metadata(void **state) {
    (void)state;
    umbel_params params = {.kind = UMBEL_KIND_WINDOW,
                           .capacity = 100,
                           .fpr = 0.01,
                           .window.manual = true,
                           .window.generations = 24};
    umbel_filter *f = NULL;
    assert_int_equal(umbel_create(&params, NULL, &f, NULL), UMBEL_OK);
    umbel_clock c = {.step = 3600, .generations = 24, .advanced = start};
    umbel_clock back = {.step = 1, .generations = 2, .advanced = 3};
    assert_int_equal(umbel_get_clock(f, &back, NULL), UMBEL_OK);
    assert_int_equal(back.step, 0);
    assert_int_equal(umbel_set_clock(f, &c, NULL), UMBEL_OK);
    assert_int_equal(umbel_get_clock(f, &back, NULL), UMBEL_OK);
    assert_int_equal(back.step, 3600);
    assert_int_equal(back.generations, 24);
    assert_int_equal(back.advanced, start);
    static const char *const bad[][2] = {{"0", "5"},
                                         {"", "5"},
                                         {"1h", "5"},
                                         {"1e3", "5"},
                                         {"-1", "5"},
                                         {"3600", NULL},
                                         {"3600", "x"},
                                         {"3600", ""},
                                         {"3600", "-5"},
                                         {"2000000000000", "5"},
                                         {"3600", "99999999999999999999"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        umbel_set_meta(f, "window.step", bad[i][0], NULL);
        umbel_set_meta(f, "window.advanced", bad[i][1], NULL);
        assert_int_equal(umbel_get_clock(f, &back, NULL), UMBEL_EINVAL);
        assert_int_equal(back.step, 0);
    }
    umbel_free(f);
    params = (umbel_params){.kind = UMBEL_KIND_BLOCKED, .capacity = 100, .fpr = 0.01};
    assert_int_equal(umbel_create(&params, NULL, &f, NULL), UMBEL_OK);
    umbel_set_meta(f, "window.step", "of my own", NULL);
    assert_int_equal(umbel_get_clock(f, &back, NULL),
                     UMBEL_OK); /* on other kinds the name means nothing */
    assert_int_equal(back.step, 0);
    umbel_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows),
        cmocka_unit_test(min_steps),
        cmocka_unit_test(advances),
        cmocka_unit_test(set_back),
        cmocka_unit_test(remembers_the_duration),
        cmocka_unit_test(metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
