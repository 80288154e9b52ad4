/* SPDX-License-Identifier: MIT
 *
 * delta_chain.c - many deltas, one lookup
 *
 * The newest delta that knows a key decides about it, and the base where none does.  Asked one
 * after the other, thirty deltas would cost thirty times as much as one.  But their cells can be
 * listed, so there are two tables for all of them: of the cells of keys that came, and of those
 * that left.
 *
 * A table has a bucket for about every cell: an equal part of the range of a hash, with all cells
 * that overlap it, the newest deltas' first.  A bit for each eighth of a bucket says whether there
 * is a cell at all; these bits stay in the cache, and where cells are few they are all that a
 * lookup reads.  Sets whose cells are much larger than a bucket would fill many of them, so they
 * are left as they are and searched one by one: they are those of lists that have grown to many
 * times their size since.
 *
 * The base's answer comes first.  A key that is not in the base can only be in the list because it
 * came, so of a stranger only the first table is asked.
 */
#include "format/delta/delta_chain.h"

#include "core/cpu.h"
#include "core/diag.h"
#include "format/delta/delta_parts.h"

enum {
    SET_BITS = 16, /* of an entry: the delta it belongs to; the others are those of its cell */
    MIN_BITS = 6,  /* of a bucket's number */
    MAX_CELLS = 1 << 28,
    EIGHTHS = 3, /* log2 of the parts of a bucket that have a bit */
    WIDE = 4,    /* buckets that a cell may fill */
    NONE = 0,    /* instead of a delta's number */
    GROUP = 32,  /* keys whose buckets are fetched together */
};

typedef struct wide_set {
    uint32_t number;
    uint64_t universe, count, *cells; /* ascending */
} wide_set;

typedef struct table {
    uint64_t universe[UMBELI_DELTA_MAX + 1]; /* of each delta's set, by number */
    uint32_t bits;                           /* of a bucket's number */
    uint8_t *any;                            /* a bit for each eighth of a bucket */
    uint32_t *starts;                        /* [buckets + 1] in entries */
    uint64_t *entries;
    wide_set *wide;
    uint32_t wides;
} table;

struct umbeli_delta_chain {
    umbeli_settings settings;
    umbeli_delta_sums sums;
    table came, left;
    umbel_filter *decider[UMBELI_DELTA_MAX + 1]; /* by number */
};

/* ---- making a table ----------------------------------------------------------------------- */

/* The parts that a cell overlaps, if the range is divided into `parts`; perhaps one more on either
 * side, since doubles are rounded. */
typedef struct span {
    uint64_t first, last;
} span;

static span parts_of(uint64_t cell, uint64_t universe, uint64_t parts) {
    double part = (double)parts / (double)universe, slack = (double)parts * 0x1p-48;
    double first = (double)cell * part - slack, last = (double)(cell + 1) * part + slack;
    span s = {first > 0 ? (uint64_t)first : 0, (uint64_t)last};
    if (s.last >= parts) s.last = parts - 1;
    return s;
}

static uint64_t buckets_of(const table *t) {
    return UINT64_C(1) << t->bits;
}

static bool is_wide(const table *t, const umbeli_cells *set) {
    return set->count && set->universe < buckets_of(t) / WIDE;
}

/* Which of a delta's sets goes into a table. */
typedef const umbeli_cells *choose(const umbeli_delta *d);

static const umbeli_cells *in_of(const umbeli_delta *d) {
    return &d->in;
}

static const umbeli_cells *out_of(const umbeli_delta *d) {
    return &d->out;
}

static void count_cells(table *t, const umbeli_cells *set) {
    umbeli_cells_reader r = umbeli_cells_begin(set);
    uint64_t cell;
    for (uint64_t i = 0; i < set->count && umbeli_cells_next(&r, &cell); i++) {
        span s = parts_of(cell, set->universe, buckets_of(t));
        for (uint64_t b = s.first; b <= s.last; b++) t->starts[b]++;
        s = parts_of(cell, set->universe, buckets_of(t) << EIGHTHS);
        for (uint64_t b = s.first; b <= s.last; b++) umbeli_bit_set(t->any, b);
    }
}

/* Oldest first, from the end of each bucket. */
static void put_cells(table *t, const umbeli_cells *set, uint32_t number) {
    umbeli_cells_reader r = umbeli_cells_begin(set);
    uint64_t cell;
    for (uint64_t i = 0; i < set->count && umbeli_cells_next(&r, &cell); i++) {
        span s = parts_of(cell, set->universe, buckets_of(t));
        for (uint64_t b = s.first; b <= s.last; b++) {
            t->entries[--t->starts[b]] = cell << SET_BITS | number;
        }
    }
}

static bool list_cells(table *t, const umbeli_cells *set, uint32_t number,
                       const umbeli_settings *settings) {
    wide_set *w = &t->wide[t->wides++];
    umbeli_cells_reader r = umbeli_cells_begin(set);
    *w = (wide_set){number, set->universe, set->count,
                    umbeli_new(settings, (size_t)set->count * sizeof *w->cells)};
    if (!w->cells) return false;
    for (uint64_t i = 0; i < set->count && umbeli_cells_next(&r, &w->cells[i]); i++) continue;
    return true;
}

/* As many buckets as cells; false: too many. */
static bool choose_bits(table *t, const umbeli_delta *deltas, uint32_t n, choose *set_of) {
    uint64_t cells = 0;
    for (uint32_t i = 0; i < n; i++) {
        cells += set_of(&deltas[i])->count;
        if (cells > MAX_CELLS) return false;
    }
    for (t->bits = MIN_BITS; buckets_of(t) < cells;) t->bits++;
    return true;
}

static bool allocate(table *t, uint32_t n, const umbeli_settings *settings) {
    size_t buckets = (size_t)buckets_of(t);
    t->any = umbeli_new(settings, buckets);
    t->starts = umbeli_new(settings, (buckets + 1) * sizeof *t->starts);
    t->wide = umbeli_new(settings, (n + (size_t)1) * sizeof *t->wide);
    return t->any && t->starts && t->wide;
}

/* Counting leaves each bucket's end in `starts`, and putting moves it to the start. */
static bool fill(table *t, const umbeli_delta *deltas, uint32_t n, choose *set_of,
                 const umbeli_settings *settings) {
    size_t buckets = (size_t)buckets_of(t);
    bool enough = true;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_wide(t, set_of(&deltas[i]))) count_cells(t, set_of(&deltas[i]));
    }
    for (size_t b = 1; b <= buckets; b++) t->starts[b] += t->starts[b - 1];
    t->entries = umbeli_new(settings, (t->starts[buckets] + (size_t)1) * sizeof *t->entries);
    if (!t->entries) return false;
    for (uint32_t i = 0; i < n && enough; i++) {
        const umbeli_cells *set = set_of(&deltas[i]);
        uint32_t number = deltas[i].number;
        t->universe[number] = set->universe;
        if (is_wide(t, set)) {
            enough = list_cells(t, set, number, settings);
        } else {
            put_cells(t, set, number);
        }
    }
    return enough;
}

static umbel_err make_table(table *t, const umbeli_delta *deltas, uint32_t n, choose *set_of,
                            const umbeli_settings *settings, umbel_diag *diag) {
    if (!choose_bits(t, deltas, n, set_of)) {
        return umbeli_fail(diag, UMBEL_ELIMIT, "deltas: too many keys have changed since the base");
    }
    bool made = allocate(t, n, settings) && fill(t, deltas, n, set_of, settings);
    return made ? UMBEL_OK : umbeli_fail(diag, UMBEL_ENOMEM, "no memory for deltas");
}

static void free_table(table *t, const umbeli_settings *settings) {
    for (uint32_t i = 0; t->wide && i < t->wides; i++) umbeli_delete(settings, t->wide[i].cells);
    umbeli_delete(settings, t->wide);
    umbeli_delete(settings, t->entries);
    umbeli_delete(settings, t->starts);
    umbeli_delete(settings, t->any);
}

/* ---- making a chain ----------------------------------------------------------------------- */

umbel_err umbeli_delta_follows(const umbeli_delta *d, const umbeli_delta_base *base,
                               const umbeli_delta_sums *sums, umbel_diag *diag) {
    const umbeli_delta *last = &sums->last;
    if (d->base.header != base->header || d->base.trailer != base->trailer) {
        return umbeli_fail(diag, UMBEL_EMISMATCH, "base: it is for another base");
    }
    if (d->number > last->number + 1) {
        return umbeli_fail(diag, UMBEL_EMISMATCH, "number: a delta before it is missing");
    }
    if (d->number <= last->number) {
        return umbeli_fail(diag, UMBEL_EMISMATCH, "number: a delta with this number is there");
    }
    if (d->before != (last->number ? last->sum : base->trailer)) {
        return umbeli_fail(diag, UMBEL_EMISMATCH, "before: it follows another delta");
    }
    return UMBEL_OK;
}

void umbeli_delta_count(umbeli_delta_sums *sums, const umbeli_delta *d) {
    sums->last = *d;
    sums->added += d->added;
    sums->removed += d->removed;
    sums->guarded += d->guarded;
    sums->bytes += d->len;
    if (d->added) sums->fpr += d->fpr;
}

/* Reads all deltas; *n is their number. */
static umbel_err read_all(const uint8_t *bytes, size_t len, const umbeli_delta_base *base,
                          umbeli_delta_chain *c, umbeli_delta *deltas, uint32_t *n,
                          umbel_diag *diag) {
    umbel_err e = UMBEL_OK;
    umbeli_delta_part part;
    for (size_t at = 0; at < len && !e; at += part.len) {
        umbeli_delta d;
        e = umbeli_delta_part_read(bytes + at, len - at, &part, diag);
        if (!e) e = umbeli_delta_read(part.delta.data, part.delta.len, &d, diag);
        if (e) umbeli_diag_shift(diag, at);
        if (!e) e = umbeli_delta_follows(&d, base, &c->sums, diag);
        if (!e) e = umbeli_delta_decider(&d, &c->settings, &c->decider[d.number], diag);
        if (e) break;
        umbeli_delta_count(&c->sums, &d);
        deltas[(*n)++] = d;
    }
    return e;
}

static umbel_err make(const uint8_t *bytes, size_t len, const umbeli_delta_base *base,
                      umbeli_delta_chain *c, umbel_diag *diag) {
    uint32_t n = 0;
    umbeli_delta *deltas = umbeli_new(&c->settings, UMBELI_DELTA_MAX * sizeof *deltas);
    if (!deltas) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for deltas");
    umbel_err e = read_all(bytes, len, base, c, deltas, &n, diag);
    if (!e) e = make_table(&c->came, deltas, n, in_of, &c->settings, diag);
    if (!e) e = make_table(&c->left, deltas, n, out_of, &c->settings, diag);
    umbeli_delete(&c->settings, deltas);
    return e;
}

umbel_err umbeli_delta_chain_new(const uint8_t *bytes, size_t len, const umbeli_delta_base *base,
                                 const umbeli_settings *settings, umbeli_delta_chain **out,
                                 umbel_diag *diag) {
    umbeli_delta_chain *c = umbeli_new(settings, sizeof *c);
    if (!c) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for deltas");
    c->settings = *settings;
    umbel_err e = make(bytes, len, base, c, diag);
    if (e) {
        umbeli_delta_chain_free(c);
    } else {
        *out = c;
    }
    return e;
}

void umbeli_delta_chain_free(umbeli_delta_chain *c) {
    if (!c) return;
    umbeli_settings settings = c->settings;
    for (uint32_t i = 0; i <= UMBELI_DELTA_MAX; i++) umbel_free(c->decider[i]);
    free_table(&c->came, &settings);
    free_table(&c->left, &settings);
    umbeli_delete(&settings, c);
}

const umbeli_delta_sums *umbeli_delta_chain_sums(const umbeli_delta_chain *c) {
    return &c->sums;
}

/* ---- lookups ------------------------------------------------------------------------------ */

static bool may_have(const table *t, uint64_t hash) {
    return umbeli_bit_test(t->any, hash >> (64 - t->bits - EIGHTHS));
}

/* The next delta whose cells in this bucket have the hash, from the newest to the oldest. */
static uint32_t next_in_bucket(const table *t, uint64_t hash, uint32_t *at, uint32_t end) {
    while (*at < end) {
        uint64_t entry = t->entries[(*at)++];
        uint32_t number = entry & ((1u << SET_BITS) - 1);
        if ((umbeli_cell_of(t->universe[number], hash) ^ entry >> SET_BITS) << SET_BITS == 0) {
            return number;
        }
    }
    return NONE;
}

static bool wide_has(const wide_set *w, uint64_t hash) {
    uint64_t cell = umbeli_cell_of(w->universe, hash), from = 0, to = w->count;
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        if (w->cells[middle] < cell) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from < w->count && w->cells[from] == cell;
}

/* The newest delta in which the key came. */
static uint32_t last_came(const umbeli_delta_chain *c, uint64_t hash) {
    const table *t = &c->came;
    uint32_t newest = NONE;
    if (may_have(t, hash)) {
        uint64_t bucket = hash >> (64 - t->bits);
        uint32_t at = t->starts[bucket];
        newest = next_in_bucket(t, hash, &at, t->starts[bucket + 1]);
    }
    for (uint32_t i = 0; i < t->wides; i++) {
        if (t->wide[i].number > newest && wide_has(&t->wide[i], hash)) newest = t->wide[i].number;
    }
    return newest;
}

static bool decides(const umbeli_delta_chain *c, uint32_t number, uint64_t hash) {
    uint64_t key;
    umbeli_delta_decider_hashes(&hash, 1, &key);
    return umbel_contains_hash(c->decider[number], key);
}

/* Whether the key left in this delta or in a newer one. */
static bool left_since(const umbeli_delta_chain *c, uint64_t hash, uint32_t since) {
    const table *t = &c->left;
    if (may_have(t, hash)) {
        uint64_t bucket = hash >> (64 - t->bits);
        uint32_t at = t->starts[bucket], end = t->starts[bucket + 1], number;
        while ((number = next_in_bucket(t, hash, &at, end)) != NONE && number >= since) {
            if (decides(c, number, hash)) return true;
        }
    }
    for (uint32_t i = 0; i < t->wides; i++) {
        const wide_set *w = &t->wide[i];
        if (w->number >= since && wide_has(w, hash) && decides(c, w->number, hash)) return true;
    }
    return false;
}

static bool answer(const umbeli_delta_chain *c, uint64_t hash, bool in_base) {
    uint32_t came = last_came(c, hash);
    return (came || in_base) && !left_since(c, hash, came);
}

static void fetch_bucket(const table *t, uint64_t hash) {
    umbeli_fetch(&t->starts[hash >> (64 - t->bits)], false);
}

static void fetch_entries(const table *t, uint64_t hash) {
    umbeli_fetch(&t->entries[t->starts[hash >> (64 - t->bits)]], false);
}

/* Of a group of keys, those whose buckets matter are fetched before they are read. */
static void ask_group(const umbeli_delta_chain *c, const uint64_t *hashes, size_t n, uint8_t *hit) {
    uint8_t came[GROUP];
    for (size_t i = 0; i < n; i++) {
        came[i] = may_have(&c->came, hashes[i]);
        if (came[i]) fetch_bucket(&c->came, hashes[i]);
        if (hit[i]) fetch_bucket(&c->left, hashes[i]);
    }
    for (size_t i = 0; i < n; i++) {
        if (came[i]) fetch_entries(&c->came, hashes[i]);
        if (hit[i]) fetch_entries(&c->left, hashes[i]);
    }
    for (size_t i = 0; i < n; i++) hit[i] = answer(c, hashes[i], hit[i]);
}

void umbeli_delta_chain_ask(const umbeli_delta_chain *c, const uint64_t *hashes, size_t n,
                            uint8_t *hit) {
    if (n == 1) {
        *hit = answer(c, *hashes, *hit);
        return;
    }
    for (size_t from = 0; from < n; from += GROUP) {
        ask_group(c, hashes + from, n - from < GROUP ? n - from : GROUP, hit + from);
    }
}
