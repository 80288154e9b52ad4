/* SPDX-License-Identifier: MIT
 *
 * bench.c - umbel-bench: lookups, adds, bulk work, threads and rates
 *
 *   umbel-bench [--json] [--quick] [--reps N]
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umbel_foreign.h"

enum { MAX_REPS = 25, SLICE = 256 * 1024 /* below a million: the ring, not the bulk path */ };

static size_t reps = 5;

static void must(umbel_err e, const char *what) {
    if (!e) return;
    fprintf(stderr, "umbel-bench: %s: %s\n", what, umbel_strerror(e));
    exit(2);
}

static umbel_filter *filter_of(umbel_kind kind, size_t n, double bits_per_key, uint32_t threads) {
    umbel_filter *f = NULL;
    umbel_params params = {
        .kind = kind, .capacity = n, .bytes = (uint64_t)((double)n * bits_per_key / 8)};
    must(umbel_create(&params, &(umbel_opts){.threads = threads}, &f, NULL), "create");
    return f;
}

static umbel_key *as_keys(const uint64_t *numbers, size_t n) {
    umbel_key *keys = malloc(n * sizeof *keys);
    if (!keys) must(UMBEL_ENOMEM, "keys");
    for (size_t i = 0; i < n; i++) keys[i] = (umbel_key){&numbers[i], 8};
    return keys;
}

/* ---- one way of doing something, timed per key ---- */

typedef struct subject {
    const umbel_filter *f;
    umbel_filter *target; /* to add to: cleared first */
    const peer *peer;
    void *theirs;
    const uint8_t *lines;
    uint64_t nlines;
    const uint64_t *numbers;
    const umbel_key *keys;
    size_t n;
    uint8_t *answers;
} subject;

typedef void (*way)(const subject *s);

static volatile uint64_t sink;

static void floor_hash(const subject *s) {
    sink = floor_by_hash(s->lines, s->nlines, s->numbers, s->n);
}

static void floor_key(const subject *s) {
    sink = floor_by_key(s->lines, s->nlines, s->keys, s->n);
}

static void by_many(const subject *s) {
    for (size_t i = 0; i < s->n; i += SLICE) {
        size_t n = s->n - i < SLICE ? s->n - i : SLICE;
        umbel_contains_many(s->f, s->keys + i, n, s->answers + i);
    }
}

static void by_one(const subject *s) {
    uint64_t found = 0;
    for (size_t i = 0; i < s->n; i++)
        found += umbel_contains(s->f, s->keys[i].data, s->keys[i].len);
    sink = found;
}

static void by_one_hash(const subject *s) {
    uint64_t found = 0;
    for (size_t i = 0; i < s->n; i++) found += umbel_contains_hash(s->f, s->numbers[i]);
    sink = found;
}

static void by_peer(const subject *s) {
    sink = s->peer->count(s->theirs, s->numbers, s->n);
}

static void by_hash_ring(const subject *s) {
    for (size_t i = 0; i < s->n; i += SLICE) {
        size_t n = s->n - i < SLICE ? s->n - i : SLICE;
        umbel_contains_hashes(s->f, s->numbers + i, n, s->answers + i);
    }
}

static void by_hash_bulk(const subject *s) {
    umbel_contains_hashes(s->f, s->numbers, s->n, s->answers);
}

static void add_ring(const subject *s) {
    for (size_t i = 0; i < s->n; i += SLICE) {
        size_t n = s->n - i < SLICE ? s->n - i : SLICE;
        must(umbel_add_hashes(s->target, s->numbers + i, n, NULL, NULL, NULL), "add");
    }
}

static void add_bulk(const subject *s) {
    must(umbel_add_hashes(s->target, s->numbers, s->n, NULL, NULL, NULL), "add");
}

static void add_keys(const subject *s) {
    for (size_t i = 0; i < s->n; i += SLICE) {
        size_t n = s->n - i < SLICE ? s->n - i : SLICE;
        must(umbel_add_many(s->target, s->keys + i, n, NULL, NULL, NULL), "add");
    }
}

static void add_peer(const subject *s) {
    s->peer->end(s->peer->build(s->numbers, s->n, 10));
}

typedef struct candidate {
    const char *who;
    way run;
    subject s;
    double times[MAX_REPS], ns;
} candidate;

/* All candidates in turn, `reps` times over. */
static void race(const char *what, size_t keys, candidate *c, size_t n) {
    for (size_t r = 0; r < reps; r++) {
        for (size_t i = 0; i < n; i++) {
            if (c[i].s.target) must(umbel_clear(c[i].s.target, NULL), "clear");
            double start = now_ns();
            c[i].run(&c[i].s);
            c[i].times[r] = (now_ns() - start) / (double)c[i].s.n;
        }
    }
    for (size_t i = 0; i < n; i++) {
        c[i].ns = median(c[i].times, reps);
        report_figure(what, c[i].who, keys, c[i].ns, "ns");
    }
}

static const char *label(const char *what, size_t n) {
    static char labels[64][96];
    static size_t used;
    char *text = labels[used++ % 64];
    const char *unit = n >= 1000000 ? "M" : "K";
    snprintf(text, 96, "%s, %zu %s keys", what, n / (n >= 1000000 ? 1000000 : 1000), unit);
    return text;
}

/* ---- the rows ---- */

enum {
    FLOOR_HASH,
    HASHES,
    ONE_HASH,
    FLOOR_KEY,
    KEYS,
    ONE_KEY,
    CLASSIC,
    AS_LEVELDB,
    LEVELDB,
    LIBBLOOM
};

typedef struct lookup_bars {
    size_t n;
    double of_floor, times_leveldb, times_libbloom, once_times_leveldb, own_format;
} lookup_bars;

/* The bars are for 64-bit keys that already are hashes, as the peers' figures are; by key they are
 * compared with the floor that hashes too. */
static void lookup_verdict(const lookup_bars *want, const candidate *c) {
    size_t n = want->n;
    if (want->of_floor > 0) {
        report_bar(label("contains_hashes: share of the floor", n), c[FLOOR_HASH].ns / c[HASHES].ns,
                   ">=", want->of_floor);
        report_bar(label("contains_many: share of the floor", n), c[FLOOR_KEY].ns / c[KEYS].ns,
                   ">=", want->of_floor);
    }
    if (want->times_leveldb > 0) {
        report_bar(label("contains_hashes: times LevelDB", n), c[LEVELDB].ns / c[HASHES].ns,
                   ">=", want->times_leveldb);
    }
    if (want->times_libbloom > 0) {
        report_bar(label("contains_hashes: times libbloom", n), c[LIBBLOOM].ns / c[HASHES].ns,
                   ">=", want->times_libbloom);
    }
    if (want->own_format > 0) {
        report_bar(label("LevelDB's own format: times LevelDB", n),
                   c[LEVELDB].ns / c[AS_LEVELDB].ns, ">=", want->own_format);
    }
    if (want->once_times_leveldb > 0) {
        report_bar(label("contains_hash: times LevelDB", n), c[LEVELDB].ns / c[ONE_HASH].ns,
                   ">=", want->once_times_leveldb);
    }
}

static void lookups(const lookup_bars *want) {
    size_t n = want->n, asked = n < 4000000 ? 4000000 : 10000000;
    uint64_t *in = keys_new(n, 1), *out = keys_new(asked, 2);
    umbel_key *keys = as_keys(in, n);
    umbel_filter *blocked = filter_of(UMBEL_KIND_BLOCKED, n, 10, 1);
    umbel_filter *classic = filter_of(UMBEL_KIND_CLASSIC, n, 10, 1);
    must(umbel_add_many(blocked, keys, n, NULL, NULL, NULL), "add");
    umbel_filter *as_leveldb = NULL;
    umbel_foreign like = {.format = UMBEL_FMT_LEVELDB, .capacity = n, .bits_per_key = 10};
    must(umbel_create_foreign(&like, NULL, &as_leveldb, NULL), "create");
    must(umbel_add_many(classic, keys, n, NULL, NULL, NULL), "add");
    must(umbel_add_many(as_leveldb, keys, n, NULL, NULL, NULL), "add");
    free(keys);
    void *leveldb = peer_leveldb.build(in, n, 10), *libbloom = peer_libbloom.build(in, n, 10);
    free(in);
    umbel_info info;
    umbel_describe(blocked, &info);
    uint8_t *lines = aligned_alloc(2 << 20, (info.bytes + (2 << 20)) & ~(size_t)((2 << 20) - 1));
    uint8_t *answers = malloc(asked);
    if (!lines || !answers) must(UMBEL_ENOMEM, "look-ups");
    memset(lines, 1, info.bytes);

    subject s = {.f = blocked,
                 .numbers = out,
                 .keys = as_keys(out, asked),
                 .n = asked,
                 .answers = answers,
                 .lines = lines,
                 .nlines = info.bytes / 32};
    candidate c[] = {
        [FLOOR_HASH] = {.who = "floor, hash to line", .run = floor_hash, .s = s},
        [HASHES] = {.who = "umbel contains_hashes", .run = by_hash_ring, .s = s},
        [ONE_HASH] = {.who = "umbel contains_hash", .run = by_one_hash, .s = s},
        [FLOOR_KEY] = {.who = "floor, key to line", .run = floor_key, .s = s},
        [KEYS] = {.who = "umbel contains_many", .run = by_many, .s = s},
        [ONE_KEY] = {.who = "umbel contains", .run = by_one, .s = s},
        [CLASSIC] = {.who = "umbel classic, many", .run = by_many, .s = s},
        [AS_LEVELDB] = {.who = "umbel leveldb, many", .run = by_many, .s = s},
        [LEVELDB] = {.who = "LevelDB KeyMayMatch", .run = by_peer, .s = s},
        [LIBBLOOM] = {.who = "libbloom bloom_check", .run = by_peer, .s = s},
    };
    c[CLASSIC].s.f = classic;
    c[AS_LEVELDB].s.f = as_leveldb;
    c[LEVELDB].s.peer = &peer_leveldb, c[LEVELDB].s.theirs = leveldb;
    c[LIBBLOOM].s.peer = &peer_libbloom, c[LIBBLOOM].s.theirs = libbloom;
    race("look-up, absent", n, c, sizeof c / sizeof c[0]);
    lookup_verdict(want, c);

    peer_leveldb.end(leveldb);
    peer_libbloom.end(libbloom);
    umbel_free(blocked);
    umbel_free(classic);
    umbel_free(as_leveldb);
    free((void *)(uintptr_t)s.keys);
    free(lines);
    free(answers);
    free(out);
}

static void adds(size_t n, double times_leveldb) {
    uint64_t *in = keys_new(n, 1);
    umbel_key *keys = as_keys(in, n);
    subject s = {.numbers = in, .keys = keys, .n = n};
    candidate c[] = {
        {.who = "umbel add_hashes", .run = add_ring, .s = s},
        {.who = "umbel add_many", .run = add_keys, .s = s},
        {.who = "LevelDB CreateFilter", .run = add_peer, .s = s},
        {.who = "libbloom bloom_add", .run = add_peer, .s = s},
    };
    c[0].s.target = c[1].s.target = filter_of(UMBEL_KIND_BLOCKED, n, 10, 1);
    c[2].s.peer = &peer_leveldb;
    c[3].s.peer = &peer_libbloom;
    race("add", n, c, sizeof c / sizeof c[0]);
    report_bar(label("add_hashes: times LevelDB CreateFilter", n), c[2].ns / c[0].ns,
               ">=", times_leveldb);
    report_bar(label("add_many: times LevelDB CreateFilter", n), c[2].ns / c[1].ns,
               ">=", times_leveldb);
    umbel_free(c[0].s.target);
    free(keys);
    free(in);
}

static void bulk(size_t n) {
    uint64_t *in = keys_new(n, 1);
    uint8_t *answers = malloc(n);
    if (!answers) must(UMBEL_ENOMEM, "answers");
    memset(answers, 0, n);
    umbel_filter *one = filter_of(UMBEL_KIND_BLOCKED, n, 10, 1),
                 *two = filter_of(UMBEL_KIND_BLOCKED, n, 10, 2);
    subject s = {.numbers = in, .n = n, .answers = answers};
    candidate c[] = {
        {.who = "add, ring", .run = add_ring, .s = s},
        {.who = "add, bulk", .run = add_bulk, .s = s},
        {.who = "add, bulk, 2 threads", .run = add_bulk, .s = s},
        {.who = "check, ring", .run = by_hash_ring, .s = s},
        {.who = "check, bulk", .run = by_hash_bulk, .s = s},
        {.who = "check, bulk, 2 threads", .run = by_hash_bulk, .s = s},
    };
    c[0].s.target = c[1].s.target = one;
    c[2].s.target = two;
    c[3].s.f = c[4].s.f = one;
    c[5].s.f = two;
    race("bulk, by hash", n, c, sizeof c / sizeof c[0]);
    report_bar(label("bulk add: time of the ring's", n), c[1].ns / c[0].ns, "<=", 0.75);
    report_bar(label("bulk check: time of the ring's", n), c[4].ns / c[3].ns, "<=", 0.9);
    report_bar(label("bulk add, 2 threads: times one", n), c[1].ns / c[2].ns, ">=", 1.8);
    report_bar(label("bulk check, 2 threads: times one", n), c[4].ns / c[5].ns, ">=", 1.8);
    umbel_free(one);
    umbel_free(two);
    free(answers);
    free(in);
}

static void rate(umbel_kind kind, size_t n, double bits_per_key, double bar) {
    enum { ASKED = 10000000 };
    uint64_t *in = keys_new(n, 1), *out = keys_new(ASKED, 2);
    umbel_key *keys = as_keys(in, n);
    umbel_filter *f = filter_of(kind, n, bits_per_key, 1);
    must(umbel_add_many(f, keys, n, NULL, NULL, NULL), "add");
    free(keys);
    keys = as_keys(out, ASKED);
    uint8_t *answers = malloc(ASKED);
    if (!answers) must(UMBEL_ENOMEM, "answers");
    umbel_contains_many(f, keys, ASKED, answers);
    size_t found = 0;
    for (size_t i = 0; i < ASKED; i++) found += answers[i];
    static char who[16][64];
    static size_t used;
    char *text = who[used++ % 16];
    snprintf(text, 64, "%s, %g bits per key", umbel_kind_name(kind), bits_per_key);
    double percent = 100.0 * (double)found / ASKED;
    report_figure("false positives", text, n, percent, "%");
    report_bar(label(text, n), percent, "<=", bar);
    umbel_free(f);
    free(answers);
    free(keys);
    free(in);
    free(out);
}

int main(int argc, char **argv) {
    bool json = false, quick = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--reps") == 0 && i + 1 < argc)
            reps = strtoul(argv[++i], NULL, 10);
        else {
            fprintf(stderr, "usage: umbel-bench [--json] [--quick] [--reps N]\n");
            return 2;
        }
    }
    if (reps < 1 || reps > MAX_REPS) reps = 5;
    static const lookup_bars rows[] = {
        {.n = 100000, .once_times_leveldb = 8},
        {.n = 1000000, .of_floor = 0.85, .times_leveldb = 10},
        {.n = 10000000, .of_floor = 0.8, .own_format = 3},
        {.n = 100000000, .of_floor = 0.9, .times_leveldb = 10, .times_libbloom = 15},
    };
    size_t nrows = sizeof rows / sizeof rows[0];
    for (size_t i = 0; i < (quick ? nrows - 1 : nrows); i++) lookups(&rows[i]);
    adds(1000000, 8);
    adds(10000000, 10);
    if (!quick) bulk(100000000);
    static const size_t sizes[] = {1000000, 10000000, 100000000};
    for (size_t i = 0; i < (quick ? 2u : 3u); i++) {
        rate(UMBEL_KIND_BLOCKED, sizes[i], 10, 1.30);
        rate(UMBEL_KIND_BLOCKED, sizes[i], 12, 0.56);
        rate(UMBEL_KIND_CLASSIC, sizes[i], 10, 0.85);
    }
    report_print(json);
    return 0;
}
