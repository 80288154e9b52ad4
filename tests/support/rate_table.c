/* SPDX-License-Identifier: MIT */
#include "rate_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "every_format.h"
#include "foreign.h"

enum { CHANCE = 2000000, QUESTIONS = 4 * CHANCE, BATCH = 4096, KEY = 16, LIMIT = 4 };
enum { MANY_FILTERS = 1000 };

static uint64_t state;

static uint64_t draw(void) {
    return foreign_random(&state);
}

static uint8_t bytes[BATCH][KEY];
static umbel_key keys[BATCH];
static uint8_t hit[BATCH];

/* What those systems make filters of: corekv and Badger take words of 32 bits. */
static size_t key_length(const format_form *form) {
    umbel_format format = form->made.format;
    if (form->about.key_len) return form->about.key_len;
    return format == UMBEL_FMT_COREKV || format == UMBEL_FMT_BADGER ? sizeof(uint32_t) : KEY;
}

static void draw_keys(const format_form *form, size_t n) {
    const size_t len = key_length(form);
    for (size_t i = 0; i < n; i++) {
        uint64_t words[2] = {draw(), draw()};
        memcpy(bytes[i], words, KEY);
        keys[i] = (umbel_key){bytes[i], len};
    }
}

static void fill(const format_form *form, umbel_filter *f, uint64_t n) {
    for (uint64_t done = 0, some; done < n; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        draw_keys(form, (size_t)some);
        assert_int_equal(umbel_add_many(f, keys, (size_t)some, NULL, NULL, NULL), UMBEL_OK);
    }
}

static double share_found(const format_form *form, const umbel_filter *f, uint64_t questions) {
    uint64_t hits = 0;
    for (uint64_t done = 0, some; done < questions; done += some) {
        some = questions - done < BATCH ? questions - done : BATCH;
        draw_keys(form, (size_t)some);
        umbel_contains_many(f, keys, (size_t)some, hit);
        for (size_t i = 0; i < some; i++) hits += hit[i];
    }
    return (double)hits / (double)questions;
}

/* Within 5%, or within what chance explains among two million lookups of absent keys.  The limit is
 * four standard deviations because the whole table makes 1,300 such comparisons: with three, some
 * would be beyond it by chance in every table, with four in one of ten, had the seeds not been
 * fixed.  What was found comes from four times as many lookups, so it adds little error. */
static int differs(double said, double found) {
    double apart = fabs(said - found), limit = LIMIT * sqrt(fmax(said, found) / CHANCE);
    return apart > 0.05 * found && apart > limit + 1.0 / CHANCE;
}

/* Small filters differ from each other, and the plan is the mean of them all.  So many have a mean
 * that is known to 1% or, where few of them make up the rate, to what the limit above allows. */
static uint64_t filters_for(uint64_t n) {
    return n < 10 ? 20000 : n < 100 ? 5000 : n < 1000 ? MANY_FILTERS : n < 100000 ? 400 : 1;
}

/* The keys in it, as a stranger sees it who has the bytes alone. */
static int keys_wrong(const format_form *form, const umbel_filter *f) {
    if (form->made.capacity < 100) return 0; /* of few, single ones decide whose probes coincide */
    size_t len = (size_t)umbel_encoded_size(f, form->made.format);
    uint8_t *file = malloc(len);
    umbel_filter *read = NULL;
    umbel_measurement now;
    assert_non_null(file);
    assert_int_equal(umbel_encode(f, form->made.format, file, len, NULL), UMBEL_OK);
    assert_int_equal(umbel_decode(file, len, UMBEL_LOAD, &form->made, NULL, &read, NULL), UMBEL_OK);
    umbel_measure(read, &now);
    umbel_free(read);
    free(file);
    if (isinf(now.keys) ||
        fabs(now.keys - (double)form->made.capacity) <= LIMIT * now.keys_error + 1) {
        return 0;
    }
    print_message("# %s: %llu keys, said %.1f give or take %.1f WRONG\n", form->name,
                  (unsigned long long)form->made.capacity, now.keys, now.keys_error);
    return 1;
}

int rate_row_wrong(const format_form *form) {
    const uint64_t n = form->made.capacity;
    const double fpr = form->fpr;
    umbel_plan plan = {0};
    umbel_filter *f = NULL;
    state = n ^ (uint64_t)(1 / fpr) << 32 ^ form->made.format;
    assert_int_equal(umbel_plan_foreign(&form->made, &plan, NULL), UMBEL_OK);
    assert_int_equal(umbel_create_foreign(&form->made, NULL, &f, NULL), UMBEL_OK);
    const uint64_t filters = filters_for(n);
    double live = 0, found = 0, squares = 0, found_beside = 0, measured = 0;
    for (uint64_t i = 0; i < filters; i++) {
        umbel_measurement now;
        assert_int_equal(umbel_clear(f, NULL), UMBEL_OK);
        fill(form, f, n);
        double share = share_found(form, f, QUESTIONS / filters);
        found += share / (double)filters;
        squares += share * share / (double)filters;
        if (i % 5 && filters > MANY_FILTERS) continue; /* measuring takes longest */
        umbel_measure(f, &now);
        live += now.rate;
        found_beside += share;
        measured++;
    }
    live /= measured;
    double scatter = sqrt(fmax(squares - found * found, 0) / (double)filters);
    int wrong = differs(live, found_beside / measured) || differs(plan.rate, found);
    print_message("# %s | %llu | %g | %llu | %u | %.3g | %.3g | %.3g | %.1f%%%s\n", form->name,
                  (unsigned long long)n, fpr, (unsigned long long)plan.bits, plan.hashes, plan.rate,
                  live, found, found > 0 ? 100 * scatter / found : 0, wrong ? " WRONG" : "");
    wrong += keys_wrong(form, f);
    umbel_free(f);
    return wrong;
}
