/* SPDX-License-Identifier: MIT
 *
 * bench.c - umbel-bench: lookups, adds, bulk work, threads and rates
 *
 *   umbel-bench [--json] [--quick] [--growth] [--concurrent] [--turns N]
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
    fprintf(stderr, "umbel-bench: %s: %s\n", what, umbel_err_name(e));
    exit(2);
}

static umbel_filter *filter_of(umbel_kind kind, size_t n, double bits_per_key, uint32_t threads) {
    umbel_filter *f = NULL;
    umbel_params params = {
        .kind = kind, .capacity = n, .bytes = (uint64_t)((double)n * bits_per_key / 8)};
    must(umbel_create(&params, &(umbel_opts){.threads = threads}, &f, NULL), "create");
    return f;
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

/* In calls of only a few keys. */
static void by_few(const subject *s, size_t from, size_t n, size_t few) {
    for (size_t i = from; i < from + n; i += few) {
        size_t now = from + n - i < few ? from + n - i : few;
        umbel_contains_many(s->f, s->keys + i, now, s->answers + i);
    }
}

static void by_16(const subject *s, size_t from, size_t n) {
    by_few(s, from, n, 16);
}

static void by_100(const subject *s, size_t from, size_t n) {
    by_few(s, from, n, 100);
}

static void by_16_hashes(const subject *s, size_t from, size_t n) {
    for (size_t i = from; i + 16 <= from + n; i += 16) {
        umbel_contains_hashes(s->f, s->numbers + i, 16, s->answers + i);
    }
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
    sink = s->peer->count(s->theirs, s->keys + from, n);
}

#ifdef BENCH_BOOST
static void by_peer_singly(const subject *s, size_t from, size_t n) {
    sink = s->peer->count_singly(s->theirs, s->keys + from, n);
}
#endif

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
        s->peer->add(s->theirs, s->keys + from, n);
    } else {
        s->peer->end(s->peer->build(s->keys + from, n, 10));
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
                size_t now = s->n - from < c[i].slice ? s->n - from : c[i].slice;
                double start = clock();
                c[i].run(s, from, now);
                double ns = (clock() - start) / (double)now;
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

/* ---- the rows ---- */

/* By hash, then by key; LAST_HASHED is the first of those that hash. */
enum {
    FLOOR_HASH,
    FLOOR_FOUR,
    HASHES,
    HASHES_16,
    ONE_HASH,
    INLINED,
    BY_KEY,
    FLOOR_KEY = BY_KEY,
    KEYS,
    KEYS_100,
    KEYS_16,
    ONE_KEY,
    CLASSIC,
    ONE_CLASSIC,
    AS_LEVELDB,
    LEVELDB,
    LIBBLOOM,
#ifdef BENCH_BOOST
    BOOST_BLOCKED,
    BOOST_ONE,
    BOOST_CLASSIC,
    BOOST_CLASSIC_ONE,
#endif
    CANDIDATES
};

/* The targets of a table; 0: none. */
typedef struct lookup_bars {
    size_t n, len; /* keys in the filter, bytes of each */
    double of_floor, times_leveldb, times_libbloom, own_format;
} lookup_bars;

/* "what, 1 M keys of 55 bytes" */
static const char *row(const char *what, const lookup_bars *want) {
    static char texts[256][112];
    static size_t used;
    char *text = texts[used++ % 256];
    bool millions = want->n >= 1000000;
    snprintf(text, sizeof texts[0], "%s, %zu %s keys of %zu bytes", what,
             want->n / (millions ? 1000000 : 1000), millions ? "M" : "K", want->len);
    return text;
}

/* Peers are compared by key, because they hash it themselves. */
static void lookup_verdict(const lookup_bars *want, bool present, const candidate *c) {
    const char *which = present ? "half present" : "absent";
    static char texts[256][64];
    static size_t used;
#define BAR(what, seen, relation, bar)                                    \
    do {                                                                  \
        char *text = texts[used++ % 256];                                 \
        snprintf(text, sizeof texts[0], "%s, " what, which);              \
        if ((bar) >= 0) report_bar(row(text, want), seen, relation, bar); \
    } while (0)
    if (want->len == 8) {
        BAR("by hash: fraction of the floor", c[FLOOR_HASH].ns / c[HASHES].ns,
            ">=", want->of_floor);
        BAR("by hash: fraction of the least floor", c[FLOOR_FOUR].ns / c[HASHES].ns, ">=", 0);
        BAR("16 hashes per call: time of single calls", c[HASHES_16].ns / c[ONE_HASH].ns, "<=", 1);
    }
    BAR("by key: fraction of the floor", c[FLOOR_KEY].ns / c[KEYS].ns, ">=", want->of_floor);
    BAR("16 keys per call: time of single calls", c[KEYS_16].ns / c[ONE_KEY].ns, "<=", 1);
    BAR("classic, one by one: time of LevelDB's", c[ONE_CLASSIC].ns / c[LEVELDB].ns, "<=", 1);
#ifdef BENCH_BOOST
    BAR("by key: time of Boost's", c[KEYS].ns / c[BOOST_BLOCKED].ns,
        "<=", want->len > 8 ? 0.95 : 1);
    BAR("one by one: time of Boost's", c[ONE_KEY].ns / c[BOOST_ONE].ns, "<=", 1.2);
    BAR("classic: time of Boost's", c[CLASSIC].ns / c[BOOST_CLASSIC].ns, "<=", 1.1);
    BAR("classic, one by one: time of Boost's", c[ONE_CLASSIC].ns / c[BOOST_CLASSIC_ONE].ns,
        "<=", 1.2);
#endif
    if (present) return;
    BAR("by key: times LevelDB", c[LEVELDB].ns / c[KEYS].ns, ">=", want->times_leveldb);
    BAR("by key: times libbloom", c[LIBBLOOM].ns / c[KEYS].ns, ">=", want->times_libbloom);
    if (want->own_format > 0) {
        BAR("LevelDB's own format: times LevelDB", c[LEVELDB].ns / c[AS_LEVELDB].ns,
            ">=", want->own_format);
    }
#undef BAR
}

/* Every other number is one of `in`, at random. */
static void make_half_present(uint64_t *asked, const uint64_t *in, size_t n) {
    uint64_t *random = keys_new(ASKED, 3);
    for (size_t i = 0; i < ASKED; i++) {
        if (random[i] & 1) asked[i] = in[(random[i] >> 1) % n];
    }
    free(random);
}

/* Filters of one number of keys, by whoever makes them. */
typedef struct rivals {
    umbel_filter *blocked, *hashed, *classic, *as_leveldb;
    void *leveldb, *libbloom;
#ifdef BENCH_BOOST
    void *boost_blocked, *boost_classic;
#endif
} rivals;

static rivals rivals_new(const uint64_t *in, const umbel_key *keys, size_t n) {
    rivals r = {.blocked = filter_of(UMBEL_KIND_BLOCKED, n, 10, 1),
                .hashed = filter_of(UMBEL_KIND_BLOCKED, n, 10, 1),
                .classic = filter_of(UMBEL_KIND_CLASSIC, n, 10, 1)};
    umbel_foreign like = {.format = UMBEL_FMT_LEVELDB, .capacity = n, .bits_per_key = 10};
    must(umbel_create_foreign(&like, NULL, &r.as_leveldb, NULL), "create");
    must(umbel_add_many(r.blocked, keys, n, NULL, NULL, NULL), "add");
    must(umbel_add_hashes(r.hashed, in, n, NULL, NULL, NULL), "add");
    must(umbel_add_many(r.classic, keys, n, NULL, NULL, NULL), "add");
    must(umbel_add_many(r.as_leveldb, keys, n, NULL, NULL, NULL), "add");
    r.leveldb = peer_leveldb.build(keys, n, 10);
    r.libbloom = peer_libbloom.build(keys, n, 10);
#ifdef BENCH_BOOST
    r.boost_blocked = peer_boost_blocked.build(keys, n, 10);
    r.boost_classic = peer_boost_classic.build(keys, n, 10);
#endif
    return r;
}

static void rivals_free(rivals *r) {
    umbel_free(r->blocked);
    umbel_free(r->hashed);
    umbel_free(r->classic);
    umbel_free(r->as_leveldb);
    peer_leveldb.end(r->leveldb);
    peer_libbloom.end(r->libbloom);
#ifdef BENCH_BOOST
    peer_boost_blocked.end(r->boost_blocked);
    peer_boost_classic.end(r->boost_classic);
#endif
}

static void line_up(candidate c[CANDIDATES], const rivals *r, const subject *s) {
    const candidate all[CANDIDATES] = {
        [FLOOR_HASH] = {.who = "floor, hash to line", .run = floor_hash},
        [FLOOR_FOUR] = {.who = "least floor, four at a time", .run = floor_four},
        [HASHES] = {.who = "umbel contains_hashes", .run = by_hashes},
        [HASHES_16] = {.who = "umbel contains_hashes, 16", .run = by_16_hashes},
        [ONE_HASH] = {.who = "umbel contains_hash", .run = by_one_hash},
        [INLINED] = {.who = "inlined, AVX2 only", .run = inlined},
        [FLOOR_KEY] = {.who = "floor, key to line", .run = floor_key},
        [KEYS] = {.who = "umbel contains_many", .run = by_many},
        [KEYS_100] = {.who = "umbel contains_many, 100", .run = by_100},
        [KEYS_16] = {.who = "umbel contains_many, 16", .run = by_16},
        [ONE_KEY] = {.who = "umbel contains", .run = by_one},
        [CLASSIC] = {.who = "umbel classic, many", .run = by_many},
        [ONE_CLASSIC] = {.who = "umbel classic, contains", .run = by_one},
        [AS_LEVELDB] = {.who = "umbel leveldb, many", .run = by_many},
        [LEVELDB] = {.who = "LevelDB KeyMayMatch", .run = by_peer},
        [LIBBLOOM] = {.who = "libbloom bloom_check", .run = by_peer},
#ifdef BENCH_BOOST
        [BOOST_BLOCKED] = {.who = "Boost fast_multiblock32", .run = by_peer},
        [BOOST_ONE] = {.who = "Boost fast_multiblock32, one", .run = by_peer_singly},
        [BOOST_CLASSIC] = {.who = "Boost filter<7>", .run = by_peer},
        [BOOST_CLASSIC_ONE] = {.who = "Boost filter<7>, one", .run = by_peer_singly},
#endif
    };
    for (size_t i = 0; i < CANDIDATES; i++) {
        c[i] = all[i];
        c[i].s = *s;
        c[i].slice = SLICE;
        c[i].s.f = i < BY_KEY ? r->hashed : r->blocked;
    }
    c[CLASSIC].s.f = c[ONE_CLASSIC].s.f = r->classic;
    c[AS_LEVELDB].s.f = r->as_leveldb;
    c[LEVELDB].s.peer = &peer_leveldb, c[LEVELDB].s.theirs = r->leveldb;
    c[LIBBLOOM].s.peer = &peer_libbloom, c[LIBBLOOM].s.theirs = r->libbloom;
#ifdef BENCH_BOOST
    for (size_t i = BOOST_BLOCKED; i <= BOOST_ONE; i++) {
        c[i].s.peer = &peer_boost_blocked, c[i].s.theirs = r->boost_blocked;
    }
    for (size_t i = BOOST_CLASSIC; i <= BOOST_CLASSIC_ONE; i++) {
        c[i].s.peer = &peer_boost_classic, c[i].s.theirs = r->boost_classic;
    }
#endif
}

static void lookups(const lookup_bars *want) {
    size_t n = want->n, first = want->len == 8 ? 0 : BY_KEY;
    uint64_t *in = keys_new(n, 1), *asked = keys_new(ASKED, 2);
    char *text;
    umbel_key *keys = keys_of(in, n, want->len, &text);
    rivals r = rivals_new(in, keys, n);
    free(keys);
    free(text);
    umbel_info info;
    umbel_describe(r.hashed, &info);
    uint8_t *lines = lines_new(info.bytes), *answers = malloc(ASKED);
    if (!answers) must(UMBEL_ENOMEM, "lookups");
    for (size_t present = 0; present < 2; present++) {
        static char what[64][64];
        static size_t used;
        char *title = what[used++ % 64];
        snprintf(title, sizeof what[0], "lookup, %zu bytes, %s", want->len,
                 present ? "half present" : "absent");
        if (present) make_half_present(asked, in, n);
        keys = keys_of(asked, ASKED, want->len, &text);
        subject s = {.numbers = asked,
                     .keys = keys,
                     .n = ASKED,
                     .answers = answers,
                     .lines = lines,
                     .nlines = info.bytes / 32};
        candidate c[CANDIDATES];
        line_up(c, &r, &s);
        race(title, n, c + first, CANDIDATES - first, cpu_ns);
        lookup_verdict(want, present, c);
        free(keys);
        free(text);
    }
    rivals_free(&r);
    free(lines);
    free(answers);
    free(asked);
    free(in);
}

static void adds(const lookup_bars *want) {
    enum {
        BY_HASH,
        BLOCKED,
        OWN_CLASSIC,
        THEIR_LEVELDB,
        THEIR_LIBBLOOM,
        THEIR_BLOCKED,
        THEIR_CLASSIC
    };
    size_t n = want->n;
    uint64_t *in = keys_new(n, 1);
    char *text;
    umbel_key *keys = keys_of(in, n, want->len, &text);
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
    size_t first = want->len == 8 ? BY_HASH : BLOCKED;
    c[BY_HASH].s.target = c[BLOCKED].s.target = filter_of(UMBEL_KIND_BLOCKED, n, 10, 1);
    c[OWN_CLASSIC].s.target = filter_of(UMBEL_KIND_CLASSIC, n, 10, 1);
    c[THEIR_LEVELDB].s.peer = &peer_leveldb;
    c[THEIR_LIBBLOOM].s.peer = &peer_libbloom;
#ifdef BENCH_BOOST
    c[THEIR_BLOCKED].s.peer = &peer_boost_blocked;
    c[THEIR_BLOCKED].s.theirs = peer_boost_blocked.build(keys, n, 10);
    c[THEIR_CLASSIC].s.peer = &peer_boost_classic;
    c[THEIR_CLASSIC].s.theirs = peer_boost_classic.build(keys, n, 10);
#endif
    race(want->len == 8 ? "add, 8 bytes" : "add, URLs", n, c + first,
         sizeof c / sizeof c[0] - first, cpu_ns);
    report_bar(row("add_many: times LevelDB CreateFilter", want),
               c[THEIR_LEVELDB].ns / c[BLOCKED].ns, ">=", want->times_leveldb);
#ifdef BENCH_BOOST
    report_bar(row("add_many: time of Boost's blocked", want), c[BLOCKED].ns / c[THEIR_BLOCKED].ns,
               "<=", want->len > 8 ? 0.95 : 1);
    report_bar(row("classic add_many: time of Boost's", want),
               c[OWN_CLASSIC].ns / c[THEIR_CLASSIC].ns, "<=", 1.1);
    peer_boost_blocked.end(c[THEIR_BLOCKED].s.theirs);
    peer_boost_classic.end(c[THEIR_CLASSIC].s.theirs);
#endif
    umbel_free(c[BLOCKED].s.target);
    umbel_free(c[OWN_CLASSIC].s.target);
    free(keys);
    free(text);
    free(in);
}

/* Two threads compared with one, all keys in one call, by wall-clock time. */
static void threads(size_t n, double two_threads) {
    enum { ADD, ADD_TWO, CHECK, CHECK_TWO };
    uint64_t *in = keys_new(n, 1);
    uint8_t *answers = malloc(n);
    if (!answers) must(UMBEL_ENOMEM, "answers");
    memset(answers, 0, n);
    /* One filter per row, so that none finds the one before it in the cache. */
    umbel_filter *filters[] = {filter_of(UMBEL_KIND_BLOCKED, n, 10, 1),
                               filter_of(UMBEL_KIND_BLOCKED, n, 10, 2)};
    subject s = {.numbers = in, .n = n, .answers = answers};
    candidate c[] = {
        [ADD] = {.who = "add", .run = add_hashes, .slice = n},
        [ADD_TWO] = {.who = "add, 2 threads", .run = add_hashes, .slice = n},
        [CHECK] = {.who = "check", .run = by_hashes, .slice = n},
        [CHECK_TWO] = {.who = "check, 2 threads", .run = by_hashes, .slice = n},
    };
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        c[i].s = s;
        if (i < CHECK) {
            c[i].s.target = filters[i % 2];
        } else {
            c[i].s.f = filters[i % 2];
        }
    }
    race("one call, by hash", n, c, sizeof c / sizeof c[0], now_ns);
    const lookup_bars what = {.n = n, .len = 8};
    report_bar(row("2 threads, add: times one", &what), c[ADD].ns / c[ADD_TWO].ns,
               ">=", two_threads);
    report_bar(row("2 threads, check: times one", &what), c[CHECK].ns / c[CHECK_TWO].ns,
               ">=", two_threads);
    for (size_t i = 0; i < 2; i++) umbel_free(filters[i]);
    free(answers);
    free(in);
}

static void rate(umbel_kind kind, size_t n, double bits_per_key, double bar) {
    enum { TRIED = 10000000 };
    uint64_t *in = keys_new(n, 1), *out = keys_new(TRIED, 2);
    char *none;
    umbel_key *keys = keys_of(in, n, 8, &none);
    umbel_filter *f = filter_of(kind, n, bits_per_key, 1);
    must(umbel_add_many(f, keys, n, NULL, NULL, NULL), "add");
    free(keys);
    keys = keys_of(out, TRIED, 8, &none);
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
    report_bar(row(text, &(lookup_bars){.n = n, .len = 8}), percent, "<=", bar);
    umbel_free(f);
    free(answers);
    free(keys);
    free(in);
    free(out);
}

int main(int argc, char **argv) {
    bool json = false, quick = false, growth = false, concurrent = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            quick = true;
        } else if (strcmp(argv[i], "--growth") == 0) {
            growth = true;
        } else if (strcmp(argv[i], "--concurrent") == 0) {
            concurrent = true;
        } else if (strcmp(argv[i], "--turns") == 0 && i + 1 < argc) {
            turns = strtoul(argv[++i], NULL, 10);
        } else {
            fprintf(stderr, "usage: umbel-bench [--json] [--quick] [--growth] [--concurrent] "
                            "[--turns N]\n");
            return 2;
        }
    }
    if (turns < 1 || turns > MAX_TURNS) turns = 9;
    static const lookup_bars tables[] = {
        {.n = 10000, .len = 8, .of_floor = 0.9},
        {.n = 100000, .len = 8, .of_floor = 0.9},
        {.n = 1000000, .len = 8, .of_floor = 0.9, .times_leveldb = 8},
        {.n = 10000000, .len = 8, .of_floor = 0.85, .own_format = 3},
        {.n = 100000, .len = 55, .of_floor = 0.85},
        {.n = 1000000, .len = 20, .of_floor = 0.85},
        {.n = 1000000, .len = 55, .of_floor = 0.85},
        {.n = 1000000, .len = 120, .of_floor = 0.85},
        {.n = 10000000, .len = 55, .of_floor = 0.85},
        {.n = 100000000, .len = 8, .of_floor = 0.95, .times_leveldb = 8, .times_libbloom = 12},
    };
    size_t ntables = sizeof tables / sizeof tables[0];
    if (growth) {
        bench_growth(quick ? 10000000 : 100000000);
        report_print(json);
        return 0;
    }
    if (concurrent) {
        bench_concurrent(1000000);
        bench_concurrent(10000000);
        if (!quick) bench_concurrent(100000000);
        report_print(json);
        return 0;
    }
    bench_creation();
    for (size_t i = 0; i < (quick ? ntables - 1 : ntables); i++) lookups(&tables[i]);
    for (size_t i = 0; i < ntables; i++) {
        bool common = tables[i].len == 8 || tables[i].len == 55;
        if (common && (tables[i].n == 1000000 || tables[i].n == 10000000)) adds(&tables[i]);
    }
    bench_concurrent(1000000);
    bench_concurrent(10000000);
    bench_growth(quick ? 1000000 : 100000000);
    threads(1000000, 1);
    threads(10000000, 1);
    if (!quick) threads(100000000, 1.6);
    static const size_t sizes[] = {1000000, 10000000, 100000000};
    for (size_t i = 0; i < (quick ? 2u : 3u); i++) {
        rate(UMBEL_KIND_BLOCKED, sizes[i], 10, 1.30);
        rate(UMBEL_KIND_BLOCKED, sizes[i], 12, 0.56);
        rate(UMBEL_KIND_CLASSIC, sizes[i], 10, 0.85);
    }
    report_print(json);
    return 0;
}
