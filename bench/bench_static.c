/* SPDX-License-Identifier: MIT
 *
 * bench_static.c - umbel-bench-static: building and querying static filters
 *
 *   umbel-bench-static [--json] [--quick] [--reps N]
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { MAX_REPS = 25, AT_ONCE = 1024 };

/* Lookups: in slices well below a time slice of the system. */
enum { ASKED = 1024 * 1024, SLICE = 64 * 1024, SLICES = ASKED / SLICE };

#define EIGHT_BITS (1.0 / 256)

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

static umbel_filter *build(const uint64_t *numbers, size_t n, double fpr, uint32_t hashes,
                           uint32_t threads, counted *memory) {
    umbel_alloc alloc = {take, give_back, memory};
    umbel_opts opts = {.threads = threads, .alloc = memory ? &alloc : NULL};
    umbel_params params = {.kind = UMBEL_KIND_STATIC, .fpr = fpr, .hashes = hashes};
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

/* ---- building ---- */

enum { PLAIN, THREE, FOUR, TWO_THREADS, BUILDS };
static const char *const built[BUILDS] = {"in one piece, 3 slots", "umbel, 3 slots",
                                          "umbel, 4 slots", "umbel, 2 threads"};

/* One thread by its CPU time, two by the clock. */
static double time_build(int which, const uint64_t *numbers, size_t n) {
    double (*clock)(void) = which == TWO_THREADS ? now_ns : cpu_ns, start = clock();
    if (which == PLAIN) {
        plain_fuse *plain = plain_fuse_new(numbers, n);
        if (!plain) exit(2);
        plain_fuse_free(plain);
    } else {
        uint32_t hashes = which == THREE ? 3 : 4, threads = which == TWO_THREADS ? 2 : 1;
        umbel_free(build(numbers, n, EIGHT_BITS, hashes, threads, NULL));
    }
    return (clock() - start) / (double)n;
}

/* While filters are built, freed memory is kept: no candidate pays for another's pages, or because
 * it came first.  Those that are queried are on fresh pages, which may be huge ones. */
static void keep_memory(bool keep) {
#ifdef __GLIBC__
    enum { SMALL = 1 << 17, ALL = 1 << 30 };
    mallopt(M_MMAP_THRESHOLD, keep ? ALL : SMALL);
    mallopt(M_TRIM_THRESHOLD, keep ? ALL : SMALL);
#else
    (void)keep;
#endif
}

static void builds(const uint64_t *numbers, size_t n, size_t reps) {
    static double times[BUILDS][MAX_REPS];
    double middle[BUILDS];
    for (size_t r = 0; r < reps; r++) {
        for (int i = 0; i < BUILDS; i++) times[i][r] = time_build(i, numbers, n);
    }
    for (int i = 0; i < BUILDS; i++) {
        middle[i] = median(times[i], reps);
        report_times("static, build", built[i], n, middle[i], times[i][0]);
    }
    if (n == 1000000) {
        report_bar("static build: time of one piece's, 1 M keys", middle[FOUR] / middle[PLAIN],
                   "<=", 1);
    }
    if (n >= 100000000) {
        report_bar("static build: time of one piece's, 100 M keys", middle[FOUR] / middle[PLAIN],
                   "<=", 0.65);
    }
}

/* ---- looking up ---- */

/* What is asked, and for what. */
typedef struct subject {
    const umbel_filter *f;
    const plain_fuse *plain;
    const uint64_t *numbers;
    const umbel_key *keys;
    uint8_t *hit;
} subject;

static volatile size_t sink;

static void plain_by_hash(const subject *s, size_t from, size_t n) {
    sink = plain_fuse_count(s->plain, s->numbers + from, n);
}

static void plain_by_key(const subject *s, size_t from, size_t n) {
    sink = plain_fuse_count_keys(s->plain, s->keys + from, n);
}

/* From copies in registers, as the plain filter is queried: the compiler cannot know that a call
 * leaves *s alone. */
static void by_hash(const subject *s, size_t from, size_t n) {
    const umbel_filter *f = s->f;
    const uint64_t *numbers = s->numbers + from;
    size_t found = 0;
    for (size_t i = 0; i < n; i++) found += umbel_contains_hash(f, numbers[i]);
    sink = found;
}

static void by_key(const subject *s, size_t from, size_t n) {
    const umbel_filter *f = s->f;
    const umbel_key *keys = s->keys + from;
    size_t found = 0;
    for (size_t i = 0; i < n; i++) found += umbel_contains(f, keys[i].data, keys[i].len);
    sink = found;
}

static void in_batches(const subject *s, size_t from, size_t n) {
    umbel_contains_hashes(s->f, s->numbers + from, n, s->hit + from);
}

enum { EIGHT, TRIPLE, PERCENT, FILTERS };
enum { PLAIN_HASH, HASH, HASH_THREE, HASH_PERCENT, BATCH, PLAIN_KEY, KEY, WAYS };
static const struct {
    const char *name;
    int filter;
    void (*run)(const subject *s, size_t from, size_t n);
} ways[WAYS] = {
    [PLAIN_HASH] = {"in one piece, one by one", EIGHT, plain_by_hash},
    [HASH] = {"contains_hash", EIGHT, by_hash},
    [HASH_THREE] = {"contains_hash, 3 slots", TRIPLE, by_hash},
    [HASH_PERCENT] = {"contains_hash, 1%", PERCENT, by_hash},
    [BATCH] = {"contains_hashes", EIGHT, in_batches},
    [PLAIN_KEY] = {"in one piece, by key", EIGHT, plain_by_key},
    [KEY] = {"contains", EIGHT, by_key},
};

static void lookups(const uint64_t *in, size_t n, size_t reps) {
    static double times[WAYS][MAX_REPS * SLICES];
    double middle[WAYS];
    char *text;
    uint64_t *out = keys_new(ASKED, 2);
    umbel_key *keys = keys_of(out, ASKED, sizeof *out, &text);
    umbel_filter *filters[FILTERS] = {build(in, n, EIGHT_BITS, 4, 1, NULL),
                                      build(in, n, EIGHT_BITS, 3, 1, NULL),
                                      build(in, n, 0.01, 0, 1, NULL)};
    subject s = {NULL, plain_fuse_new(in, n), out, keys, malloc(ASKED)};
    if (!s.plain || !s.hit) exit(2);
    for (size_t r = 0; r < reps; r++) {
        for (int i = 0; i < WAYS; i++) {
            s.f = filters[ways[i].filter];
            ways[i].run(&s, 0, ASKED); /* not timed: the caches are as each leaves them itself */
            for (size_t j = 0; j < SLICES; j++) {
                double start = cpu_ns();
                ways[i].run(&s, j * SLICE, SLICE);
                times[i][r * SLICES + j] = (cpu_ns() - start) / SLICE;
            }
        }
    }
    for (int i = 0; i < WAYS; i++) {
        middle[i] = median(times[i], reps * SLICES);
        report_times("static, lookup, absent", ways[i].name, n, middle[i], times[i][0]);
    }
    report_bar("static, one by one: time of one piece's", middle[HASH] / middle[PLAIN_HASH],
               "<=", 1.5);
    report_bar("static, one by one, by key: time of one piece's", middle[KEY] / middle[PLAIN_KEY],
               "<=", 1.5);
    report_bar("static batches: time of one piece's, one by one",
               middle[BATCH] / middle[PLAIN_HASH], "<=", 1);
    if (n >= 100000000) {
        report_bar("static batches: times single lookups, 100 M keys", middle[HASH] / middle[BATCH],
                   ">=", 1.5);
    }
    for (int i = 0; i < FILTERS; i++) umbel_free(filters[i]);
    plain_fuse_free((plain_fuse *)(uintptr_t)s.plain);
    free(s.hit);
    free(keys);
    free(text);
    free(out);
}

static void space(const uint64_t *in, size_t n) {
    counted memory = {0, 0};
    umbel_filter *f = build(in, n, EIGHT_BITS, 4, 1, &memory);
    umbel_info info;
    umbel_describe(f, &info);
    report_bar("static, bits per key for 8 bits of fingerprint", (double)info.bits / (double)n,
               "<=", 8 * 1.13);
    if (n >= 100000000) {
        double used = (double)(memory.max - info.bytes) / (double)n;
        report_bar("static build: bytes per key besides the filter", used, "<=", 16);
    }
    umbel_free(f);
}

static void row(size_t n, size_t reps) {
    uint64_t *in = keys_new(n, 1);
    keep_memory(true);
    builds(in, n, reps);
    keep_memory(false);
    lookups(in, n, reps);
    space(in, n);
    free(in);
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
