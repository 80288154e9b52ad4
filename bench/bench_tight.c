/* SPDX-License-Identifier: MIT
 *
 * bench_tight.c - umbel-bench-tight: tight filters compared with static ones, in turns
 *
 *   umbel-bench-tight [KEYS [FPR [TURNS]]]
 *
 * Times are CPU time in ns per key, so that a busy machine disturbs them little: for a build the
 * least of all turns, for lookups the sum of the least of each piece; both filters take turns piece
 * by piece.  Hashes are made before lookups are timed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum { PIECE = 10000, PIECES = 100, ASKED = PIECE * PIECES, ROUNDS = 10 };
enum { AT_ONCE = 1024, KINDS = 2 };

static const umbel_kind kinds[KINDS] = {UMBEL_KIND_STATIC, UMBEL_KIND_TIGHT};

typedef struct times {
    double build, bits;
    double piece[2][PIECES]; /* absent, present keys */
} times;

static umbel_filter *build(umbel_kind kind, const uint64_t *numbers, size_t n, double fpr) {
    umbel_params params = {.kind = kind, .fpr = fpr};
    umbel_builder *b = NULL;
    umbel_filter *f = NULL;
    umbel_key keys[AT_ONCE];
    umbel_err e = umbel_builder_new(&params, NULL, &b, NULL);
    for (size_t i = 0; i < n && !e; i += AT_ONCE) {
        size_t chunk = n - i < AT_ONCE ? n - i : AT_ONCE;
        for (size_t j = 0; j < chunk; j++) keys[j] = (umbel_key){&numbers[i + j], 8};
        e = umbel_builder_add(b, keys, chunk, NULL);
    }
    if (!e) e = umbel_builder_finish(b, &f, NULL);
    umbel_builder_free(b);
    if (!e) return f;
    fprintf(stderr, "umbel-bench-tight: %s\n", umbel_strerror(e));
    exit(2);
}

/* Every 7919th number, so that neighbours in the list are not neighbours in time. */
static void ask(umbel_filter *const *filters, const uint64_t *numbers, size_t n, int which,
                times *t) {
    static uint64_t hashes[ASKED];
    static uint8_t hit[PIECE];
    for (size_t i = 0; i < ASKED; i++) { /* the kinds share seed and hash */
        hashes[i] = umbel_hash(filters[0], &numbers[i * 7919 % n], sizeof *numbers);
    }
    for (int i = 0; i < ROUNDS * PIECES; i++) {
        for (int k = 0; k < KINDS; k++) {
            double start = cpu_ns();
            umbel_contains_hashes(filters[k], hashes + (size_t)(i % PIECES) * PIECE, PIECE, hit);
            double *least = &t[k].piece[which][i % PIECES];
            *least = fmin(*least, cpu_ns() - start);
        }
    }
}

static void one_turn(const uint64_t *in, size_t n, const uint64_t *out, double fpr, times *t) {
    umbel_filter *filters[KINDS];
    for (int k = 0; k < KINDS; k++) {
        double start = cpu_ns();
        filters[k] = build(kinds[k], in, n, fpr);
        t[k].build = fmin(t[k].build, (cpu_ns() - start) / (double)n);
        umbel_info info;
        umbel_describe(filters[k], &info);
        t[k].bits = 8 * (double)info.bytes / (double)n;
    }
    ask(filters, out, ASKED, 0, t);
    ask(filters, in, n, 1, t);
    for (int k = 0; k < KINDS; k++) umbel_free(filters[k]);
}

static double looked_up(const times *t, int which) {
    double sum = 0;
    for (int i = 0; i < PIECES; i++) sum += t->piece[which][i];
    return sum / ASKED;
}

static void print(const char *what, double of_static, double of_tight) {
    printf("  %-13s %8.3f %8.3f %6.2f\n", what, of_static, of_tight, of_tight / of_static);
}

int main(int argc, char **argv) {
    size_t n = argc > 1 ? (size_t)strtod(argv[1], NULL) : 10000000;
    double fpr = argc > 2 ? strtod(argv[2], NULL) : 0.01;
    int turns = argc > 3 ? atoi(argv[3]) : 3;
    if (n == 0 || !(fpr > 0 && fpr < 1)) return 2;
    uint64_t *in = keys_new(n, 1), *out = keys_new(ASKED, 2);
    static times t[KINDS];
    for (int k = 0; k < KINDS; k++) {
        t[k].build = INFINITY;
        for (int i = 0; i < PIECES; i++) t[k].piece[0][i] = t[k].piece[1][i] = INFINITY;
    }
    for (int turn = 0; turn < turns; turn++) one_turn(in, n, out, fpr, t);
    printf("%zu keys, rate %g, ns per key: static, tight, ratio\n", n, fpr);
    print("bits per key", t[0].bits, t[1].bits);
    print("build", t[0].build, t[1].build);
    print("absent keys", looked_up(&t[0], 0), looked_up(&t[1], 0));
    print("present keys", looked_up(&t[0], 1), looked_up(&t[1], 1));
    free(in);
    free(out);
    return 0;
}
