/* SPDX-License-Identifier: MIT
 *
 * bench_tight.c - umbel-bench-tight: tight filters beside static ones, in turns
 *
 *   umbel-bench-tight [KEYS [FPR [TURNS]]]
 *
 * Times are the least of all turns, in ns per key; hashes are made before look-ups are timed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum { ASKED = 1000000, AT_ONCE = 1024, KINDS = 2 };

static const umbel_kind kinds[KINDS] = {UMBEL_KIND_STATIC, UMBEL_KIND_TIGHT};

typedef struct times {
    double build, absent, present, bits;
} times;

static umbel_filter *build(umbel_kind kind, const uint64_t *numbers, size_t n, double fpr) {
    umbel_params params = {.kind = kind, .fpr = fpr};
    umbel_builder *b = NULL;
    umbel_filter *f = NULL;
    umbel_key keys[AT_ONCE];
    umbel_err e = umbel_builder_new(&params, NULL, &b, NULL);
    for (size_t i = 0; i < n && !e; i += AT_ONCE) {
        size_t some = n - i < AT_ONCE ? n - i : AT_ONCE;
        for (size_t j = 0; j < some; j++) keys[j] = (umbel_key){&numbers[i + j], 8};
        e = umbel_builder_add(b, keys, some, NULL);
    }
    if (!e) e = umbel_builder_finish(b, &f, NULL);
    umbel_builder_free(b);
    if (!e) return f;
    fprintf(stderr, "umbel-bench-tight: %s\n", umbel_strerror(e));
    exit(2);
}

/* ns per key; every n-th number, so that neighbours in the list are not neighbours in time. */
static double ask(const umbel_filter *f, const uint64_t *numbers, size_t n) {
    static uint64_t hashes[ASKED];
    static uint8_t hit[ASKED];
    for (size_t i = 0; i < ASKED; i++) {
        hashes[i] = umbel_hash(f, &numbers[i * 7919 % n], sizeof *numbers);
    }
    double start = now_ns();
    umbel_contains_hashes(f, hashes, ASKED, hit);
    return (now_ns() - start) / ASKED;
}

static void one_turn(umbel_kind kind, const uint64_t *in, size_t n, const uint64_t *out, double fpr,
                     times *t) {
    double start = now_ns();
    umbel_filter *f = build(kind, in, n, fpr);
    t->build = fmin(t->build, (now_ns() - start) / (double)n);
    umbel_info info;
    umbel_describe(f, &info);
    t->bits = 8 * (double)info.bytes / (double)n;
    for (int i = 0; i < 3; i++) {
        t->absent = fmin(t->absent, ask(f, out, ASKED));
        t->present = fmin(t->present, ask(f, in, n));
    }
    umbel_free(f);
}

int main(int argc, char **argv) {
    size_t n = argc > 1 ? (size_t)strtod(argv[1], NULL) : 10000000;
    double fpr = argc > 2 ? strtod(argv[2], NULL) : 0.01;
    int turns = argc > 3 ? atoi(argv[3]) : 3;
    if (n == 0 || !(fpr > 0 && fpr < 1)) return 2;
    uint64_t *in = keys_new(n, 1), *out = keys_new(ASKED, 2);
    times t[KINDS];
    for (int k = 0; k < KINDS; k++) t[k] = (times){INFINITY, INFINITY, INFINITY, 0};
    for (int turn = 0; turn < turns; turn++) {
        for (int k = 0; k < KINDS; k++) one_turn(kinds[k], in, n, out, fpr, &t[k]);
    }
    printf("%zu keys, rate %g, ns per key: static, tight, ratio\n", n, fpr);
    printf("  bits per key  %8.3f %8.3f %6.3f\n", t[0].bits, t[1].bits, t[1].bits / t[0].bits);
    printf("  build         %8.1f %8.1f %6.2f\n", t[0].build, t[1].build, t[1].build / t[0].build);
    printf("  absent keys   %8.1f %8.1f %6.2f\n", t[0].absent, t[1].absent,
           t[1].absent / t[0].absent);
    printf("  present keys  %8.1f %8.1f %6.2f\n", t[0].present, t[1].present,
           t[1].present / t[0].present);
    free(in);
    free(out);
    return 0;
}
