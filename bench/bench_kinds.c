/* SPDX-License-Identifier: MIT
 *
 * bench_kinds.c - umbel-bench-kinds: kinds of filters for the same keys and rate, in turns
 *
 *   umbel-bench-kinds [KEYS [FPR [TURNS]]]
 *
 * Times are CPU time in ns per key, so that a busy machine disturbs them little: for filling a
 * filter the least of all turns, for lookups the sum of the least of each piece; the kinds take
 * turns piece by piece.  Keys are 64-bit numbers in batches.  The scalable filter has grown from
 * 1,000 keys.  Exact filters, which have no rate to ask for, are left out.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum { PIECE = 10000, PIECES = 100, ASKED = PIECE * PIECES, ROUNDS = 10 };
enum { AT_ONCE = 16 * 1024, MAX_KINDS = 16 };

typedef struct times {
    double filling, bits;
    double piece[2][PIECES]; /* absent, present keys */
} times;

static umbel_kind kinds[MAX_KINDS];
static int nkinds;

static void must(umbel_err e) {
    if (!e) return;
    fprintf(stderr, "umbel-bench-kinds: %s\n", umbel_err_name(e));
    exit(2);
}

static umbel_filter *build(const umbel_params *params, const umbel_key *keys, size_t n) {
    umbel_builder *b = NULL;
    umbel_filter *f = NULL;
    must(umbel_builder_new(params, NULL, &b, NULL));
    must(umbel_builder_add(b, keys, n, NULL));
    must(umbel_builder_finish(b, &f, NULL));
    umbel_builder_free(b);
    return f;
}

static umbel_filter *fill(umbel_kind kind, const umbel_key *keys, size_t n, double fpr) {
    umbel_params params = {.kind = kind, .fpr = fpr};
    umbel_traits traits;
    umbel_filter *f = NULL;
    umbel_kind_traits(kind, &traits);
    if (traits.built_once) return build(&params, keys, n);
    params.capacity = traits.grows ? 1000 : n;
    must(umbel_create(&params, NULL, &f, NULL));
    for (size_t i = 0; i < n; i += AT_ONCE) {
        must(umbel_add_many(f, keys + i, n - i < AT_ONCE ? n - i : AT_ONCE, NULL, NULL, NULL));
    }
    return f;
}

static void ask(umbel_filter *const *filters, const umbel_key *keys, int which, times *t) {
    static uint8_t hit[PIECE];
    for (int i = 0; i < ROUNDS * PIECES; i++) {
        for (int k = 0; k < nkinds; k++) {
            double start = cpu_ns();
            umbel_contains_many(filters[k], keys + (size_t)(i % PIECES) * PIECE, PIECE, hit);
            double *least = &t[k].piece[which][i % PIECES];
            *least = fmin(*least, cpu_ns() - start);
        }
    }
}

/* `in`: the keys and `sample`, some of them; `out`: other keys. */
static void one_turn(const umbel_key *in, size_t n, const umbel_key *sample, const umbel_key *out,
                     double fpr, times *t) {
    umbel_filter *filters[MAX_KINDS];
    for (int k = 0; k < nkinds; k++) {
        double start = cpu_ns();
        filters[k] = fill(kinds[k], in, n, fpr);
        t[k].filling = fmin(t[k].filling, (cpu_ns() - start) / (double)n);
        umbel_info info;
        umbel_describe(filters[k], &info);
        t[k].bits = 8 * (double)info.bytes / (double)n;
    }
    ask(filters, out, 0, t);
    ask(filters, sample, 1, t);
    for (int k = 0; k < nkinds; k++) umbel_free(filters[k]);
}

static double looked_up(const times *t, int which) {
    double sum = 0;
    for (int i = 0; i < PIECES; i++) sum += t->piece[which][i];
    return sum / ASKED;
}

int main(int argc, char **argv) {
    size_t n = argc > 1 ? (size_t)strtod(argv[1], NULL) : 10000000;
    double fpr = argc > 2 ? strtod(argv[2], NULL) : 0.01;
    int turns = argc > 3 ? atoi(argv[3]) : 3;
    if (n == 0 || !(fpr > 0 && fpr < 1)) return 2;
    for (umbel_kind kind = UMBEL_KIND_AUTO + 1; umbel_kind_name(kind); kind++) {
        if (kind != UMBEL_KIND_EXACT && nkinds < MAX_KINDS) kinds[nkinds++] = kind;
    }
    uint64_t *numbers = keys_new(n, 1), *absent = keys_new(ASKED, 2), *members = keys_new(ASKED, 3);
    for (size_t i = 0; i < ASKED; i++) { /* not in the order in which they were added */
        members[i] = numbers[i * 7919 % n];
    }
    char *text;
    umbel_key *in = keys_of(numbers, n, sizeof *numbers, &text);
    umbel_key *out = keys_of(absent, ASKED, sizeof *absent, &text);
    umbel_key *sample = keys_of(members, ASKED, sizeof *members, &text);
    static times t[MAX_KINDS];
    for (int k = 0; k < nkinds; k++) {
        t[k].filling = INFINITY;
        for (int i = 0; i < PIECES; i++) t[k].piece[0][i] = t[k].piece[1][i] = INFINITY;
    }
    for (int turn = 0; turn < turns; turn++) one_turn(in, n, sample, out, fpr, t);
    printf("%zu keys, rate %g; ns per key\n\n", n, fpr);
    printf("%-9s %12s %11s %12s %13s\n", "kind", "bits per key", "add, build", "absent keys",
           "present keys");
    for (int k = 0; k < nkinds; k++) {
        printf("%-9s %12.2f %11.1f %12.2f %13.2f\n", umbel_kind_name(kinds[k]), t[k].bits,
               t[k].filling, looked_up(&t[k], 0), looked_up(&t[k], 1));
    }
    free(sample);
    free(out);
    free(in);
    free(members);
    free(absent);
    free(numbers);
    return 0;
}
