/* SPDX-License-Identifier: MIT
 *
 * bench.c - umbel-bench: lookups, adds, bulk work, threads and rates
 *
 *   umbel-bench [--json] [--quick] [--turns N]
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umbel_foreign.h"

enum {
    MAX_TURNS = 25,
    MAX_SAMPLES = 8192,
    ASKED = 1024 * 1024,
    SLICE = 64 * 1024, /* keys per call: well below a time slice of the system */
};

static size_t turns = 9;

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
    const uint8_t *lines; /* of the floor, or the bits of a filter */
    uint64_t nlines;
    const uint64_t *numbers;
    const umbel_key *keys;
    size_t n;
    uint8_t *answers;
} subject;

/* Does it with keys `from` to from + n. */
typedef void (*way)(const subject *s, size_t from, size_t n);

static volatile uint64_t sink;

static void floor_hash(const subject *s, size_t from, size_t n) {
    sink = floor_by_hash(s->lines, s->nlines, s->numbers + from, n);
}

static void floor_four(const subject *s, size_t from, size_t n) {
    sink = floor_by_four(s->lines, s->nlines, s->numbers + from, n);
}

static void floor_key(const subject *s, size_t from, size_t n) {
    sink = floor_by_key(s->lines, s->nlines, s->keys + from, n);
}

static void inlined(const subject *s, size_t from, size_t n) {
    sink = inlined_count(s->lines, s->nlines, s->numbers + from, n);
}

static void by_many(const subject *s, size_t from, size_t n) {
    umbel_contains_many(s->f, s->keys + from, n, s->answers + from);
}

static void by_one(const subject *s, size_t from, size_t n) {
    uint64_t found = 0;
    for (const umbel_key *k = s->keys + from; k < s->keys + from + n; k++) {
        found += umbel_contains(s->f, k->data, k->len);
    }
    sink = found;
}

static void by_one_hash(const subject *s, size_t from, size_t n) {
    uint64_t found = 0;
    for (size_t i = from; i < from + n; i++) found += umbel_contains_hash(s->f, s->numbers[i]);
    sink = found;
}

static void by_peer(const subject *s, size_t from, size_t n) {
    sink = s->peer->count(s->theirs, s->numbers + from, n);
}

static void by_hashes(const subject *s, size_t from, size_t n) {
    umbel_contains_hashes(s->f, s->numbers + from, n, s->answers + from);
}

static void add_hashes(const subject *s, size_t from, size_t n) {
    must(umbel_add_hashes(s->target, s->numbers + from, n, NULL, NULL, NULL), "add");
}

static void add_keys(const subject *s, size_t from, size_t n) {
    must(umbel_add_many(s->target, s->keys + from, n, NULL, NULL, NULL), "add");
}

static void add_peer(const subject *s, size_t from, size_t n) {
    if (s->peer->add) {
        s->peer->add(s->theirs, s->numbers + from, n);
    } else {
        s->peer->end(s->peer->build(s->numbers + from, n, 10));
    }
}

typedef struct candidate {
    const char *who;
    way run;
    subject s;
    size_t slice; /* keys per call, each timed */
    double ns, least;
} candidate;

/* Every turn begins with the caches as the candidate itself leaves them: adds clear their filter,
 * lookups ask a million keys that are not timed.  What fits the last-level cache would otherwise
 * depend on who came before. */
static void prepare(const candidate *c) {
    const subject *s = &c->s;
    if (s->target) {
        must(umbel_clear(s->target, NULL), "clear");
    } else if (c->run != add_peer) {
        c->run(s, 0, s->n < ASKED ? s->n : ASKED);
    } else if (s->theirs) {
        s->peer->clear(s->theirs);
    }
}

/* All candidates in turn, `turns` times over; `clock` tells the time. */
static void race(const char *what, size_t keys, candidate *c, size_t n, double (*clock)(void)) {
    double *times = malloc(n * MAX_SAMPLES * sizeof *times);
    size_t *taken = calloc(n, sizeof *taken);
    if (!times || !taken) must(UMBEL_ENOMEM, "times");
    for (size_t turn = 0; turn < turns; turn++) {
        for (size_t i = 0; i < n; i++) {
            const subject *s = &c[i].s;
            prepare(&c[i]);
            for (size_t from = 0; from < s->n; from += c[i].slice) {
                size_t some = s->n - from < c[i].slice ? s->n - from : c[i].slice;
                double start = clock();
                c[i].run(s, from, some);
                double ns = (clock() - start) / (double)some;
                if (taken[i] < MAX_SAMPLES) times[i * MAX_SAMPLES + taken[i]++] = ns;
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        c[i].ns = median(times + i * MAX_SAMPLES, taken[i]);
        c[i].least = times[i * MAX_SAMPLES]; /* they are sorted now */
        report_times(what, c[i].who, keys, c[i].ns, c[i].least);
    }
    free(times);
    free(taken);
}

static const char *label(const char *what, size_t n) {
    static char labels[128][96];
    static size_t used;
    char *text = labels[used++ % 128];
    const char *unit = n >= 1000000 ? "M" : "K";
    snprintf(text, 96, "%s, %zu %s keys", what, n / (n >= 1000000 ? 1000000 : 1000), unit);
    return text;
}

/* ---- the rows ---- */

enum {
    FLOOR_HASH,
    HASHES,
    FLOOR_FOUR,
    ONE_HASH,
    INLINED,
    FLOOR_KEY,
    KEYS,
    ONE_KEY,
    CLASSIC,
    AS_LEVELDB,
    LEVELDB,
    LIBBLOOM,
#ifdef BENCH_BOOST
    BOOST_BLOCKED,
    BOOST_CLASSIC,
#endif
    CANDIDATES
};

typedef struct lookup_bars {
    size_t n;
    double of_floor, times_leveldb, times_libbloom, once_times_leveldb, own_format;
} lookup_bars;

typedef struct lookup_names {
    const char *what, *hashes, *keys, *four, *once, *boost_blocked, *boost_classic;
} lookup_names;

static const lookup_names names[2] = {
    {"lookup, absent", "absent, by hash: fraction of the floor",
     "absent, by key: fraction of the floor", "absent, by hash: fraction of the least floor",
     "absent, one by hash: time of an inlined one", "absent, by key: time of Boost's blocked",
     "absent, classic by key: time of Boost's"},
    {"lookup, half present", "half present, by hash: fraction of the floor",
     "half present, by key: fraction of the floor",
     "half present, by hash: fraction of the least floor",
     "half present, one by hash: time of an inlined one",
     "half present, by key: time of Boost's blocked",
     "half present, classic by key: time of Boost's"},
};

/* The bars are for 64-bit keys that already are hashes, as the peers' figures are; by key they are
 * compared with the floor that hashes too.  The least floor has no bar: the test of the bits
 * cannot be free while everything is in the cache. */
static void lookup_verdict(const lookup_bars *want, const lookup_names *name, const candidate *c) {
    size_t n = want->n;
    report_bar(label(name->hashes, n), c[FLOOR_HASH].ns / c[HASHES].ns, ">=", want->of_floor);
    report_bar(label(name->keys, n), c[FLOOR_KEY].ns / c[KEYS].ns, ">=", want->of_floor);
    report_bar(label(name->four, n), c[FLOOR_FOUR].ns / c[HASHES].ns, ">=", 0);
    report_bar(label(name->once, n), c[ONE_HASH].ns / c[INLINED].ns, "<=", 1.5);
#ifdef BENCH_BOOST
    report_bar(label(name->boost_blocked, n), c[KEYS].ns / c[BOOST_BLOCKED].ns, "<=", 1);
    report_bar(label(name->boost_classic, n), c[CLASSIC].ns / c[BOOST_CLASSIC].ns, "<=", 1.1);
#endif
    if (name != &names[0]) return;
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

/* Every other number is one of `in`, at random. */
static void make_half_present(uint64_t *asked, const uint64_t *in, size_t n) {
    uint64_t *random = keys_new(ASKED, 3);
    for (size_t i = 0; i < ASKED; i++) {
        if (random[i] & 1) asked[i] = in[(random[i] >> 1) % n];
    }
    free(random);
}

static void lookups(const lookup_bars *want) {
    size_t n = want->n;
    uint64_t *in = keys_new(n, 1), *asked = keys_new(ASKED, 2);
    umbel_key *keys = as_keys(in, n);
    umbel_filter *blocked = filter_of(UMBEL_KIND_BLOCKED, n, 10, 1);
    /* The same keys as hashes, for the rows by hash. */
    umbel_filter *hashed = filter_of(UMBEL_KIND_BLOCKED, n, 10, 1);
    umbel_filter *classic = filter_of(UMBEL_KIND_CLASSIC, n, 10, 1);
    umbel_filter *as_leveldb = NULL;
    umbel_foreign like = {.format = UMBEL_FMT_LEVELDB, .capacity = n, .bits_per_key = 10};
    must(umbel_create_foreign(&like, NULL, &as_leveldb, NULL), "create");
    must(umbel_add_many(blocked, keys, n, NULL, NULL, NULL), "add");
    must(umbel_add_hashes(hashed, in, n, NULL, NULL, NULL), "add");
    must(umbel_add_many(classic, keys, n, NULL, NULL, NULL), "add");
    must(umbel_add_many(as_leveldb, keys, n, NULL, NULL, NULL), "add");
    free(keys);
    void *leveldb = peer_leveldb.build(in, n, 10), *libbloom = peer_libbloom.build(in, n, 10);
    umbel_info info;
    umbel_describe(hashed, &info);
    uint8_t *lines = lines_new(info.bytes), *answers = malloc(ASKED);
    if (!answers) must(UMBEL_ENOMEM, "lookups");

    subject s = {.f = blocked,
                 .numbers = asked,
                 .keys = as_keys(asked, ASKED),
                 .n = ASKED,
                 .answers = answers,
                 .lines = lines,
                 .nlines = info.bytes / 32};
    candidate c[CANDIDATES] = {
        [FLOOR_HASH] = {.who = "floor, hash to line", .run = floor_hash},
        [FLOOR_FOUR] = {.who = "least floor, four at once", .run = floor_four},
        [HASHES] = {.who = "umbel contains_hashes", .run = by_hashes},
        [INLINED] = {.who = "inlined, AVX2 only", .run = inlined},
        [ONE_HASH] = {.who = "umbel contains_hash", .run = by_one_hash},
        [FLOOR_KEY] = {.who = "floor, key to line", .run = floor_key},
        [KEYS] = {.who = "umbel contains_many", .run = by_many},
        [ONE_KEY] = {.who = "umbel contains", .run = by_one},
        [CLASSIC] = {.who = "umbel classic, many", .run = by_many},
        [AS_LEVELDB] = {.who = "umbel leveldb, many", .run = by_many},
        [LEVELDB] = {.who = "LevelDB KeyMayMatch", .run = by_peer},
        [LIBBLOOM] = {.who = "libbloom bloom_check", .run = by_peer},
#ifdef BENCH_BOOST
        [BOOST_BLOCKED] = {.who = "Boost fast_multiblock32", .run = by_peer},
        [BOOST_CLASSIC] = {.who = "Boost filter<7>", .run = by_peer},
#endif
    };
    for (size_t i = 0; i < CANDIDATES; i++) c[i].s = s, c[i].slice = SLICE;
    c[HASHES].s.f = c[ONE_HASH].s.f = hashed;
    c[CLASSIC].s.f = classic;
    c[AS_LEVELDB].s.f = as_leveldb;
    c[LEVELDB].s.peer = &peer_leveldb, c[LEVELDB].s.theirs = leveldb;
    c[LIBBLOOM].s.peer = &peer_libbloom, c[LIBBLOOM].s.theirs = libbloom;
#ifdef BENCH_BOOST
    c[BOOST_BLOCKED].s.peer = &peer_boost_blocked;
    c[BOOST_BLOCKED].s.theirs = peer_boost_blocked.build(in, n, 10);
    c[BOOST_CLASSIC].s.peer = &peer_boost_classic;
    c[BOOST_CLASSIC].s.theirs = peer_boost_classic.build(in, n, 10);
#endif
    for (size_t present = 0; present < 2; present++) {
        if (present) make_half_present(asked, in, n);
        race(names[present].what, n, c, CANDIDATES, cpu_ns);
        lookup_verdict(want, &names[present], c);
    }

    peer_leveldb.end(leveldb);
    peer_libbloom.end(libbloom);
#ifdef BENCH_BOOST
    peer_boost_blocked.end(c[BOOST_BLOCKED].s.theirs);
    peer_boost_classic.end(c[BOOST_CLASSIC].s.theirs);
#endif
    umbel_free(blocked);
    umbel_free(hashed);
    umbel_free(classic);
    umbel_free(as_leveldb);
    free((void *)(uintptr_t)s.keys);
    free(lines);
    free(answers);
    free(asked);
    free(in);
}

static void adds(size_t n, double times_leveldb) {
    uint64_t *in = keys_new(n, 1);
    umbel_key *keys = as_keys(in, n);
    subject s = {.numbers = in, .keys = keys, .n = n};
    candidate c[] = {
        {.who = "umbel add_hashes", .run = add_hashes, .s = s, .slice = SLICE},
        {.who = "umbel add_many", .run = add_keys, .s = s, .slice = SLICE},
        {.who = "umbel classic, add_many", .run = add_keys, .s = s, .slice = SLICE},
        {.who = "LevelDB CreateFilter", .run = add_peer, .s = s, .slice = n},
        {.who = "libbloom bloom_add", .run = add_peer, .s = s, .slice = n},
#ifdef BENCH_BOOST
        {.who = "Boost fast_multiblock32", .run = add_peer, .s = s, .slice = SLICE},
        {.who = "Boost filter<7>", .run = add_peer, .s = s, .slice = SLICE},
#endif
    };
    c[0].s.target = c[1].s.target = filter_of(UMBEL_KIND_BLOCKED, n, 10, 1);
    c[2].s.target = filter_of(UMBEL_KIND_CLASSIC, n, 10, 1);
    c[3].s.peer = &peer_leveldb;
    c[4].s.peer = &peer_libbloom;
#ifdef BENCH_BOOST
    c[5].s.peer = &peer_boost_blocked, c[5].s.theirs = peer_boost_blocked.build(in, n, 10);
    c[6].s.peer = &peer_boost_classic, c[6].s.theirs = peer_boost_classic.build(in, n, 10);
#endif
    race("add", n, c, sizeof c / sizeof c[0], cpu_ns);
    report_bar(label("add_hashes: times LevelDB CreateFilter", n), c[3].ns / c[0].ns,
               ">=", times_leveldb);
    report_bar(label("add_many: times LevelDB CreateFilter", n), c[3].ns / c[1].ns,
               ">=", times_leveldb);
#ifdef BENCH_BOOST
    report_bar(label("add_many: time of Boost's blocked", n), c[1].ns / c[5].ns, "<=", 1);
    report_bar(label("classic add_many: time of Boost's", n), c[2].ns / c[6].ns, "<=", 1.1);
    peer_boost_blocked.end(c[5].s.theirs);
    peer_boost_classic.end(c[6].s.theirs);
#endif
    umbel_free(c[0].s.target);
    umbel_free(c[2].s.target);
    free(keys);
    free(in);
}

/* One call with all keys beside calls of SLICE, and two threads beside one, by the clock on the
 * wall: the bars are for the least times, which other programs disturb least. */
static void bulk(size_t n, double bulk_add, double bulk_check, double two_threads) {
    enum { ADD_RING, ADD, ADD_TWO, CHECK_RING, CHECK, CHECK_TWO };
    uint64_t *in = keys_new(n, 1);
    uint8_t *answers = malloc(n);
    if (!answers) must(UMBEL_ENOMEM, "answers");
    memset(answers, 0, n);
    /* One filter per row, so that none finds the one before it in the cache. */
    umbel_filter *filters[] = {filter_of(UMBEL_KIND_BLOCKED, n, 10, 1),
                               filter_of(UMBEL_KIND_BLOCKED, n, 10, 1),
                               filter_of(UMBEL_KIND_BLOCKED, n, 10, 2)};
    subject s = {.numbers = in, .n = n, .answers = answers};
    candidate c[] = {
        [ADD_RING] = {.who = "add, calls of 64 K", .run = add_hashes, .slice = SLICE},
        [ADD] = {.who = "add, one call", .run = add_hashes, .slice = n},
        [ADD_TWO] = {.who = "add, one call, 2 threads", .run = add_hashes, .slice = n},
        [CHECK_RING] = {.who = "check, calls of 64 K", .run = by_hashes, .slice = SLICE},
        [CHECK] = {.who = "check, one call", .run = by_hashes, .slice = n},
        [CHECK_TWO] = {.who = "check, one call, 2 threads", .run = by_hashes, .slice = n},
    };
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        c[i].s = s;
        if (i < CHECK_RING) {
            c[i].s.target = filters[i];
        } else {
            c[i].s.f = filters[i - CHECK_RING];
        }
    }
    race("bulk, by hash", n, c, sizeof c / sizeof c[0], now_ns);
    /* Slices of the ring are many, so its median is compared; whole calls are few. */
    report_bar(label("one call, add: time of the ring's", n), c[ADD].least / c[ADD_RING].ns,
               "<=", bulk_add);
    report_bar(label("one call, check: time of the ring's", n), c[CHECK].least / c[CHECK_RING].ns,
               "<=", bulk_check);
    report_bar(label("2 threads, add: times one", n), c[ADD].least / c[ADD_TWO].least,
               ">=", two_threads);
    report_bar(label("2 threads, check: times one", n), c[CHECK].least / c[CHECK_TWO].least,
               ">=", two_threads);
    for (size_t i = 0; i < 3; i++) umbel_free(filters[i]);
    free(answers);
    free(in);
}

static void rate(umbel_kind kind, size_t n, double bits_per_key, double bar) {
    enum { TRIED = 10000000 };
    uint64_t *in = keys_new(n, 1), *out = keys_new(TRIED, 2);
    umbel_key *keys = as_keys(in, n);
    umbel_filter *f = filter_of(kind, n, bits_per_key, 1);
    must(umbel_add_many(f, keys, n, NULL, NULL, NULL), "add");
    free(keys);
    keys = as_keys(out, TRIED);
    uint8_t *answers = malloc(TRIED);
    if (!answers) must(UMBEL_ENOMEM, "answers");
    umbel_contains_many(f, keys, TRIED, answers);
    size_t found = 0;
    for (size_t i = 0; i < TRIED; i++) found += answers[i];
    static char who[16][64];
    static size_t used;
    char *text = who[used++ % 16];
    snprintf(text, 64, "%s, %g bits per key", umbel_kind_name(kind), bits_per_key);
    double percent = 100.0 * (double)found / TRIED;
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
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            quick = true;
        } else if (strcmp(argv[i], "--turns") == 0 && i + 1 < argc) {
            turns = strtoul(argv[++i], NULL, 10);
        } else {
            fprintf(stderr, "usage: umbel-bench [--json] [--quick] [--turns N]\n");
            return 2;
        }
    }
    if (turns < 1 || turns > MAX_TURNS) turns = 9;
    static const lookup_bars rows[] = {
        {.n = 10000, .of_floor = 0.9},
        {.n = 100000, .of_floor = 0.9, .once_times_leveldb = 8},
        {.n = 1000000, .of_floor = 0.9, .times_leveldb = 10},
        {.n = 10000000, .of_floor = 0.85, .own_format = 3},
        {.n = 100000000, .of_floor = 0.95, .times_leveldb = 10, .times_libbloom = 15},
    };
    size_t nrows = sizeof rows / sizeof rows[0];
    for (size_t i = 0; i < (quick ? nrows - 1 : nrows); i++) lookups(&rows[i]);
    adds(1000000, 8);
    adds(10000000, 10);
    bulk(1000000, 1, 1, 1);
    bulk(10000000, 1, 1, 1);
    if (!quick) bulk(100000000, 0.75, 0.9, 1.6);
    static const size_t sizes[] = {1000000, 10000000, 100000000};
    for (size_t i = 0; i < (quick ? 2u : 3u); i++) {
        rate(UMBEL_KIND_BLOCKED, sizes[i], 10, 1.30);
        rate(UMBEL_KIND_BLOCKED, sizes[i], 12, 0.56);
        rate(UMBEL_KIND_CLASSIC, sizes[i], 10, 0.85);
    }
    report_print(json);
    return 0;
}
