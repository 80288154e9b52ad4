/* SPDX-License-Identifier: MIT */
#include "rate_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "foreign.h"

enum { CHANCE = 2000000, QUESTIONS = 4 * CHANCE, BATCH = 4096, KEY = 16, LIMIT = 4 };
enum { MANY_FILTERS = 1000 };

const rate_format rate_formats[] = {
    {"leveldb", UMBEL_FMT_LEVELDB, 0, false, false},
    {"corekv", UMBEL_FMT_COREKV, 0, false, true},
    {"badger", UMBEL_FMT_BADGER, 0, false, true},
    {"gocrc32", UMBEL_FMT_GOCRC32, 0, false, false},
    {"gocrc32, int32", UMBEL_FMT_GOCRC32, UMBEL_VARIANT_INT32, false, false},
    {"guava", UMBEL_FMT_GUAVA, 0, false, false},
    {"guava, mitz32", UMBEL_FMT_GUAVA, UMBEL_VARIANT_MITZ32, false, false},
    {"parquet", UMBEL_FMT_PARQUET, 0, false, false},
    {"redisbloom", UMBEL_FMT_REDISBLOOM, 0, false, false},
    {"dcso", UMBEL_FMT_DCSO, 0, false, false},
    {"rocksdb", UMBEL_FMT_ROCKSDB, 0, false, false},
    {"spark", UMBEL_FMT_SPARK, 0, false, false},
    {"spark, v1", UMBEL_FMT_SPARK, UMBEL_VARIANT_SPARK_V1, false, false},
    {"clickhouse index", UMBEL_FMT_CLICKHOUSE, UMBEL_VARIANT_CLICKHOUSE_INDEX, false, false},
    {"clickhouse", UMBEL_FMT_CLICKHOUSE, 0, true, false},
};
const unsigned rate_formats_count = sizeof rate_formats / sizeof *rate_formats;

static uint64_t state;

static uint64_t draw(void) {
    return foreign_random(&state);
}

static uint8_t bytes[BATCH][KEY];
static umbel_key keys[BATCH];
static uint8_t hit[BATCH];

static void draw_keys(const rate_format *format, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t words[2] = {draw(), draw()};
        memcpy(bytes[i], words, KEY);
        keys[i] = (umbel_key){bytes[i], format->words ? 4 : KEY};
    }
}

static void fill(const rate_format *format, umbel_filter *f, uint64_t n) {
    for (uint64_t done = 0, some; done < n; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        draw_keys(format, (size_t)some);
        assert_int_equal(umbel_add_many(f, keys, (size_t)some, NULL, NULL, NULL), UMBEL_OK);
    }
}

static double share_found(const rate_format *format, const umbel_filter *f, uint64_t questions) {
    uint64_t hits = 0;
    for (uint64_t done = 0, some; done < questions; done += some) {
        some = questions - done < BATCH ? questions - done : BATCH;
        draw_keys(format, (size_t)some);
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
static int keys_wrong(const rate_format *format, const umbel_foreign *like, const umbel_filter *f) {
    if (like->capacity < 100) return 0; /* of few, single ones decide whose probes coincide */
    size_t len = (size_t)umbel_encoded_size(f, like->format);
    uint8_t *file = malloc(len);
    umbel_filter *read = NULL;
    umbel_measurement now;
    assert_non_null(file);
    assert_int_equal(umbel_encode(f, like->format, file, len, NULL), UMBEL_OK);
    assert_int_equal(umbel_decode(file, len, like, NULL, &read, NULL), UMBEL_OK);
    umbel_measure(read, &now);
    umbel_free(read);
    free(file);
    if (isinf(now.keys) || fabs(now.keys - (double)like->capacity) <= LIMIT * now.keys_error + 1) {
        return 0;
    }
    print_message("# %s: %llu keys, said %.1f give or take %.1f WRONG\n", format->name,
                  (unsigned long long)like->capacity, now.keys, now.keys_error);
    return 1;
}

int rate_row_wrong(const rate_format *format, uint64_t n, double fpr) {
    umbel_foreign like = {
        .format = format->format, .variant = format->variant, .capacity = n, .fpr = fpr};
    umbel_plan plan = {0};
    umbel_filter *f = NULL;
    if (format->by_size) {
        like.fpr = 0;
        like.bytes = (uint64_t)ceil(-log(fpr) / 0.480453 * (double)n / 8);
        like.hashes = (uint32_t)fmax(1, round(-log2(fpr)));
    }
    state = n ^ (uint64_t)(1 / fpr) << 32 ^ format->format;
    if (umbel_plan_foreign(&like, &plan, NULL)) return 0; /* it says that it cannot */
    assert_int_equal(umbel_create_foreign(&like, NULL, &f, NULL), UMBEL_OK);
    const uint64_t filters = filters_for(n);
    double live = 0, found = 0, squares = 0, found_beside = 0, measured = 0;
    for (uint64_t i = 0; i < filters; i++) {
        umbel_measurement now;
        assert_int_equal(umbel_clear(f, NULL), UMBEL_OK);
        fill(format, f, n);
        double share = share_found(format, f, QUESTIONS / filters);
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
    print_message("# %s | %llu | %g | %llu | %u | %.3g | %.3g | %.3g | %.1f%%%s\n", format->name,
                  (unsigned long long)n, fpr, (unsigned long long)plan.bits, plan.hashes, plan.rate,
                  live, found, found > 0 ? 100 * scatter / found : 0, wrong ? " WRONG" : "");
    wrong += keys_wrong(format, &like, f);
    umbel_free(f);
    return wrong;
}
