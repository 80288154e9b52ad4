/* SPDX-License-Identifier: MIT
 *
 * bench_life.c - making and measuring filters, adding to one that other threads may add to, growing
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum { ROUNDS = 101, SLICE = 64 * 1024, SHARING_TURNS = 7 };

static void must(umbel_err e, const char *what) {
    if (!e) return;
    fprintf(stderr, "umbel-bench: %s: %s\n", what, umbel_err_name(e));
    exit(2);
}

static umbel_filter *made(umbel_kind kind, size_t n) {
    umbel_filter *f = NULL;
    umbel_params params = {.kind = kind, .capacity = n, .fpr = 0.01};
    must(umbel_create(&params, NULL, &f, NULL), "create");
    return f;
}

/* Making and freeing, or measuring a full filter: the median of many times, in microseconds. */
static double creating(umbel_kind kind, size_t n) {
    double us[ROUNDS];
    for (size_t i = 0; i < ROUNDS; i++) {
        double start = cpu_ns();
        umbel_free(made(kind, n));
        us[i] = (cpu_ns() - start) / 1000;
    }
    return median(us, ROUNDS);
}

static double measuring(umbel_kind kind, size_t n) {
    double us[ROUNDS];
    umbel_filter *f = made(kind, n);
    for (uint64_t i = 0; i < n; i++) must(umbel_add(f, &i, sizeof i, NULL, NULL), "add");
    for (size_t i = 0; i < ROUNDS; i++) {
        umbel_measurement now;
        double start = cpu_ns();
        umbel_measure(f, &now);
        us[i] = (cpu_ns() - start) / 1000;
    }
    umbel_free(f);
    return median(us, ROUNDS);
}

/* Filters for up to a million keys at 1%. */
void bench_creation(void) {
    static const umbel_kind kinds[] = {UMBEL_KIND_AUTO,    UMBEL_KIND_BLOCKED,  UMBEL_KIND_LINE,
                                       UMBEL_KIND_CLASSIC, UMBEL_KIND_COUNTING, UMBEL_KIND_SCALABLE,
                                       UMBEL_KIND_WINDOW};
    for (size_t i = 0; i < 2 * sizeof kinds / sizeof *kinds; i++) {
        umbel_kind kind = kinds[i % (sizeof kinds / sizeof *kinds)];
        bool create = i < sizeof kinds / sizeof *kinds;
        const char *name = kind == UMBEL_KIND_AUTO ? "umbel_new" : umbel_kind_name(kind);
        for (size_t n = 100; n <= 1000000; n *= 100) {
            double us = create ? creating(kind, n) : measuring(kind, n);
            report_figure(create ? "create and free" : "measure", name, n, us, "us");
            if (kind != UMBEL_KIND_AUTO || n == 10000 || (!create && n > 100)) continue;
            report_bar(!create    ? "umbel_measure of 100 keys, us"
                       : n == 100 ? "umbel_new(100, 1%), us"
                                  : "umbel_new(1 M, 1%), us",
                       us, "<=",
                       !create    ? 2
                       : n == 100 ? 10
                                  : 30);
        }
    }
}

/* All of n hashes in slices, or one at a time; the median over the slices, in ns. */
static double added(umbel_filter *f, const uint64_t *hashes, size_t n, bool singly) {
    double *times = malloc((n / SLICE + 1) * sizeof *times);
    size_t taken = 0;
    if (!times) must(UMBEL_ENOMEM, "times");
    for (size_t from = 0; from < n; from += SLICE) {
        size_t now = n - from < SLICE ? n - from : SLICE;
        double start = cpu_ns();
        if (singly) {
            for (size_t i = from; i < from + now; i++) {
                must(umbel_add(f, &hashes[i], sizeof *hashes, NULL, NULL), "add");
            }
        } else {
            must(umbel_add_hashes(f, hashes + from, now, NULL, NULL, NULL), "add");
        }
        times[taken++] = (cpu_ns() - start) / (double)now;
    }
    double middle = median(times, taken);
    free(times);
    return middle;
}

/* Whoever adds, and to what; in turns, since only ratios within a run mean anything. */
typedef struct adder {
    const char *who;
    bool concurrent, singly;
    uint32_t threads;   /* 0: one, timed by its CPU clock; else by the wall clock */
    umbel_filter *f[2]; /* of each thread */
    double ns[SHARING_TURNS];
} adder;

typedef struct share {
    umbel_filter *f;
    const uint64_t *hashes;
    size_t n;
} share;

static void *add_share(void *arg) {
    const share *s = arg;
    for (size_t i = 0; i < s->n; i += SLICE) {
        size_t now = s->n - i < SLICE ? s->n - i : SLICE;
        must(umbel_add_hashes(s->f, s->hashes + i, now, NULL, NULL, NULL), "add");
    }
    return NULL;
}

/* All of n hashes, divided among the threads. */
static double added_together(const adder *a, const uint64_t *hashes, size_t n) {
    share shares[2] = {{a->f[0], hashes, n / a->threads}, {a->f[1], hashes + n / 2, n / 2}};
    pthread_t second;
    double start = now_ns();
    if (a->threads == 2 && pthread_create(&second, NULL, add_share, &shares[1])) exit(2);
    add_share(&shares[0]);
    if (a->threads == 2) pthread_join(second, NULL);
    return (now_ns() - start) / (double)n;
}

static umbel_filter *shared_filter(size_t n, bool concurrent) {
    umbel_filter *f = NULL;
    umbel_params params = {
        .kind = UMBEL_KIND_BLOCKED, .bytes = n * 10 / 8, .concurrent = concurrent};
    must(umbel_create(&params, NULL, &f, NULL), "create");
    return f;
}

/* What it costs that others may add at the same time, and what they gain. */
void bench_concurrent(size_t n) {
    enum { PLAIN, SHARED, PLAIN_CLOCK = 4, SHARED_CLOCK };
    uint64_t *hashes = keys_new(n, 1);
    adder adders[] = {{.who = "plain, in batches"},
                      {.who = "concurrent, in batches", .concurrent = true},
                      {.who = "plain, one key at a time", .singly = true},
                      {.who = "concurrent, one key at a time", .concurrent = true, .singly = true},
                      {.who = "plain, by the clock", .threads = 1},
                      {.who = "concurrent, two threads", .concurrent = true, .threads = 2},
                      {.who = "two plain filters, a thread each", .threads = 2}};
    size_t count = sizeof adders / sizeof *adders;
    for (size_t i = 0; i < count; i++) {
        adder *a = &adders[i];
        a->f[0] = shared_filter(n, a->concurrent);
        a->f[1] = a->concurrent || a->threads < 2 ? a->f[0] : shared_filter(n, false);
    }
    for (size_t turn = 0; turn < SHARING_TURNS; turn++) {
        for (size_t i = 0; i < count; i++) {
            adder *a = &adders[i];
            for (size_t k = 0; k < 2; k++) must(umbel_clear(a->f[k], NULL), "clear");
            a->ns[turn] =
                a->threads ? added_together(a, hashes, n) : added(a->f[0], hashes, n, a->singly);
        }
    }
    for (size_t i = 0; i < count; i++) {
        adder *a = &adders[i];
        a->ns[0] = median(a->ns, SHARING_TURNS);
        report_figure("concurrent add", a->who, n, a->ns[0], "ns");
        if (a->f[1] != a->f[0]) umbel_free(a->f[1]);
        umbel_free(a->f[0]);
    }
    report_bar("concurrent adds in batches: times a plain filter's",
               adders[SHARED].ns[0] / adders[PLAIN].ns[0], "<=", 2);
    if (n >= 10000000) {
        report_bar("two threads on one filter: times one on a plain one",
                   adders[PLAIN_CLOCK].ns[0] / adders[SHARED_CLOCK].ns[0], ">=", 1);
    }
    free(hashes);
}

/* Adds keys [have, want); returns the ns per key, and raises *most to the most bits per key that there
 * were after any call above 10,000 keys. */
static double grow(umbel_filter *f, const uint64_t *in, size_t have, size_t want, double *most) {
    double ns = 0;
    for (size_t i = have, now; i < want; i += now) {
        size_t slice = i < 1000000 ? 1024 : SLICE;
        now = want - i < slice ? want - i : slice;
        double start = cpu_ns();
        must(umbel_add_hashes(f, in + i, now, NULL, NULL, NULL), "add");
        ns += cpu_ns() - start;
        umbel_info info;
        umbel_describe(f, &info);
        double bits = (double)info.bytes * 8 / (double)(i + now);
        if (i + now > 10000 && bits > *most) *most = bits;
    }
    return ns / (double)(want - have);
}

/* A scalable filter from 1,000 keys on, as it grows, in turns with a blocked one of the size. */
void bench_growth(size_t n) {
    enum { ASKED = 256 * 1024, PIECE = 16384 };
    uint64_t *in = keys_new(n, 1), *absent = keys_new(2 * ASKED, 2);
    uint8_t *hit = malloc(ASKED);
    umbel_filter *f = made(UMBEL_KIND_SCALABLE, 1000);
    double most = 0;
    if (!hit) must(UMBEL_ENOMEM, "answers");
    for (size_t have = 0, want = 100000; want <= n; have = want, want *= 10) {
        double times[2][ASKED / PIECE], add = grow(f, in, have, want, &most);
        umbel_filter *both[2] = {f, made(UMBEL_KIND_BLOCKED, want)};
        must(umbel_add_hashes(both[1], in, want, NULL, NULL, NULL), "add");
        for (size_t i = 0; i < 2 * ASKED; i += PIECE) {
            size_t which = i / PIECE % 2;
            double start = cpu_ns();
            umbel_contains_hashes(both[which], absent + i, PIECE, hit);
            times[which][i / PIECE / 2] = (cpu_ns() - start) / PIECE;
        }
        umbel_info info;
        umbel_describe(f, &info);
        double ns = median(times[0], ASKED / PIECE), blocked = median(times[1], ASKED / PIECE);
        report_figure("grown from 1,000", "add_hashes", want, add, "ns");
        report_figure("grown from 1,000", "contains_hashes, absent", want, ns, "ns");
        report_figure("grown from 1,000", "the same, times a blocked filter's", want, ns / blocked,
                      "times");
        report_figure("grown from 1,000", "bits per key", want,
                      (double)info.bytes * 8 / (double)want, "bits");
        report_figure("grown from 1,000", "most bits per key so far", want, most, "bits");
        report_figure("grown from 1,000", "layers", want, info.layers, "layers");
        umbel_free(both[1]);
    }
    umbel_free(f);
    free(hit);
    free(in);
    free(absent);
}
