/* SPDX-License-Identifier: MIT
 *
 * bench_static.c - umbel-bench-static: building and querying static filters
 *
 *   umbel-bench-static [--json] [--quick] [--reps N]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { MAX_REPS = 25, ASKED = 4000000, AT_ONCE = 1024 };

/* Memory that is counted. */
typedef struct counted {
    size_t now, max;
} counted;

static void *take(void *ctx, size_t size) {
    counted *c = ctx;
    size_t *p = malloc(size + 64);
    if (!p) return NULL;
    *p = size;
    c->now += size;
    if (c->now > c->max) c->max = c->now;
    return (char *)p + 64;
}

static void give_back(void *ctx, void *ptr) {
    counted *c = ctx;
    size_t *p = (size_t *)(void *)((char *)ptr - 64);
    c->now -= *p;
    free(p);
}

static umbel_filter *build(const uint64_t *numbers, size_t n, uint32_t hashes, uint32_t threads,
                           counted *memory) {
    umbel_alloc alloc = {take, give_back, memory};
    umbel_opts opts = {.threads = threads, .alloc = memory ? &alloc : NULL};
    umbel_params params = {.kind = UMBEL_KIND_STATIC, .fpr = 1.0 / 256, .hashes = hashes};
    umbel_filter *f = NULL;
    umbel_diag diag = {.what = ""};
    umbel_builder *builder = NULL;
    umbel_err e = umbel_builder_new(&params, &opts, &builder, &diag);
    for (size_t done = 0; done < n && !e;) {
        umbel_key keys[AT_ONCE];
        size_t chunk = n - done < AT_ONCE ? n - done : AT_ONCE;
        for (size_t i = 0; i < chunk; i++) keys[i] = (umbel_key){&numbers[done + i], 8};
        e = umbel_builder_add(builder, keys, chunk, &diag);
        done += chunk;
    }
    if (!e) e = umbel_builder_finish(builder, &f, &diag);
    umbel_builder_free(builder);
    if (!e) return f;
    char why[200];
    fprintf(stderr, "umbel-bench-static: %s\n", umbel_explain(e, &diag, why, sizeof why));
    exit(2);
}

/* Times of one row, per key. */
typedef struct times {
    double plain[MAX_REPS], three[MAX_REPS], four[MAX_REPS], two_threads[MAX_REPS];
    double single[MAX_REPS], batch[MAX_REPS], plain_single[MAX_REPS];
} times;

static double timed_build(const uint64_t *numbers, size_t n, uint32_t hashes, uint32_t threads) {
    double start = now_ns();
    umbel_free(build(numbers, n, hashes, threads, NULL));
    return (now_ns() - start) / (double)n;
}

static volatile size_t sink;

static void one_turn(const uint64_t *in, size_t n, const umbel_filter *f, const uint64_t *out,
                     uint8_t *hit, size_t r, times *t) {
    double start = now_ns();
    plain_fuse *plain = plain_fuse_new(in, n);
    if (!plain) exit(2);
    t->plain[r] = (now_ns() - start) / (double)n;
    t->three[r] = timed_build(in, n, 3, 1);
    t->four[r] = timed_build(in, n, 4, 1);
    t->two_threads[r] = timed_build(in, n, 4, 2);
    start = now_ns();
    for (size_t i = 0; i < ASKED; i++) hit[i] = umbel_contains_hash(f, out[i]);
    t->single[r] = (now_ns() - start) / ASKED;
    start = now_ns();
    umbel_contains_hashes(f, out, ASKED, hit);
    t->batch[r] = (now_ns() - start) / ASKED;
    start = now_ns();
    sink = plain_fuse_count(plain, out, ASKED);
    t->plain_single[r] = (now_ns() - start) / ASKED;
    plain_fuse_free(plain);
}

static void row(size_t n, size_t reps) {
    uint64_t *in = keys_new(n, 1), *out = keys_new(ASKED, 2);
    uint8_t *hit = malloc(ASKED);
    static times t;
    counted memory = {0, 0};
    umbel_filter *f = build(in, n, 4, 1, &memory);
    umbel_info info;
    umbel_describe(f, &info);
    if (!hit) exit(2);
    for (size_t r = 0; r < reps; r++) one_turn(in, n, f, out, hit, r, &t);
    double plain = median(t.plain, reps), four = median(t.four, reps);
    double single = median(t.single, reps), batch = median(t.batch, reps);
    double bits = (double)info.bits / (double)n;
    report_figure("static, build", "in one piece, 3 slots", n, plain, "ns");
    report_figure("static, build", "umbel, 3 slots", n, median(t.three, reps), "ns");
    report_figure("static, build", "umbel, 4 slots", n, four, "ns");
    report_figure("static, build", "umbel, 2 threads", n, median(t.two_threads, reps), "ns");
    report_figure("static, lookup, absent", "contains_hash", n, single, "ns");
    report_figure("static, lookup, absent", "contains_hashes", n, batch, "ns");
    double theirs = median(t.plain_single, reps);
    report_figure("static, lookup, absent", "in one piece, one by one", n, theirs, "ns");
    report_bar("static batches: time of plain single lookups", batch / theirs, "<=", 1);
    report_bar("static, bits per key for 8 bits of fingerprint", bits, "<=", 8 * 1.13);
    if (n >= 100000000) {
        double used = (double)(memory.max - info.bytes) / (double)n;
        report_bar("static build: time of one piece's, 100 M keys", four / plain, "<=", 0.65);
        report_bar("static build: bytes per key besides the filter", used, "<=", 16);
        report_bar("static batches: times single lookups, 100 M keys", single / batch, ">=", 1.5);
    }
    umbel_free(f);
    free(in);
    free(out);
    free(hit);
}

int main(int argc, char **argv) {
    bool json = false, quick = false;
    size_t reps = 3;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--reps") == 0 && i + 1 < argc)
            reps = strtoul(argv[++i], NULL, 10);
        else {
            fprintf(stderr, "usage: umbel-bench-static [--json] [--quick] [--reps N]\n");
            return 2;
        }
    }
    if (reps < 1 || reps > MAX_REPS) reps = 3;
    row(100000, reps);
    row(1000000, reps);
    row(10000000, reps);
    if (!quick) row(100000000, reps);
    report_print(json);
    return 0;
}
