/* SPDX-License-Identifier: MIT
 *
 * tight_table.c - one ribbon table: which keys stay, and the bits that encode them
 *
 * Each key is an equation: the XOR of the slots that its row selects is its value.  Equations are
 * brought into echelon form as they arrive.  rows[s] is an equation whose first slot is s.  A new
 * one that begins at s is stored there if that is free; otherwise the two are added, which cancels
 * slot s, and the sum moves to its own first slot.  If nothing is left of it, the key depends on
 * others and does not fit.
 *
 * No equation has slots before its first one, so slots are solved from right to left: each is the
 * value of its row plus what the slots after it contribute.
 *
 * Buckets are filled from left to right, and the places of a bucket from right to left, in three
 * classes.  What a bucket has no room for overflows to the right, by less than a window; so
 * when a class does not fit, that class and those to its left are bumped, and their places are the
 * ones that the bucket before has overflowed into.
 *
 * Everything here is compiled for each window, a constant number of words per row.
 */
#include "kind/static/tight.h"

/* The next two split a number in two: what says which key it is, and what it carries. */
static UMBELI_TIGHT_INLINE uint64_t key_of(const umbeli_tight_rung *r, uint64_t inner) {
    return inner & ~r->carried;
}

static UMBELI_TIGHT_INLINE uint64_t carry(const umbeli_tight_rung *r, uint64_t to, uint64_t from) {
    return (to & ~r->carried) | (from & r->carried);
}

/* The key whose number is `inner`. */
typedef struct equation {
    uint64_t row[UMBELI_TIGHT_MAX_WINDOW];
    uint32_t place, print;
} equation;

static UMBELI_TIGHT_INLINE equation equation_of(uint32_t window, const umbeli_tight_rung *r,
                                                uint64_t inner) {
    uint64_t key = key_of(r, inner), mixed = umbeli_tight_mix(key);
    return (equation){
        .row = {umbeli_tight_row(mixed, 0), window == 2 ? umbeli_tight_row(mixed, 1) : 0},
        .place = (uint32_t)umbeli_mul_high(key, r->places),
        .print = r->carried ? (uint32_t)(inner & r->carried) : umbeli_tight_print(mixed),
    };
}

/* Moves a row to its first slot, which is not slot 0; false if there is none. */
static UMBELI_TIGHT_INLINE bool advance(uint32_t window, equation *q) {
    while (q->row[0] == 0) {
        if (window == 1 || q->row[1] == 0) return false;
        q->row[0] = q->row[1] << 1; /* 63 slots, as 64 cannot be shifted by */
        q->row[1] >>= 63;
        q->place += UMBELI_TIGHT_BLOCK - 1;
    }
    unsigned by = (unsigned)__builtin_ctzll(q->row[0]);
    q->row[0] >>= by;
    if (window == 2) {
        q->row[0] |= q->row[1] << (-by % UMBELI_TIGHT_BLOCK);
        q->row[1] >>= by;
    }
    q->place += by;
    return true;
}

/* One step of an equation: it is stored if its first slot is free, else what is there is added and
 * it moves on. */
typedef enum progress { STORED, MOVED, DEPENDENT } progress;

static UMBELI_TIGHT_INLINE progress step(uint32_t window, uint64_t *restrict rows,
                                         uint32_t *restrict prints, equation *q) {
    uint64_t *there = rows + (size_t)window * q->place;
    if (there[0] == 0) {
        for (uint32_t i = 0; i < window; i++) there[i] = q->row[i];
        prints[q->place] = q->print;
        return STORED;
    }
    for (uint32_t i = 0; i < window; i++) q->row[i] ^= there[i];
    q->print ^= prints[q->place];
    return advance(window, q) ? MOVED : DEPENDENT;
}

/* The slot it was stored at, or UINT32_MAX if it depends on the equations already there. */
static UMBELI_TIGHT_INLINE uint32_t insert(uint32_t window, uint64_t *restrict rows,
                                           uint32_t *restrict prints, equation q) {
    progress p = MOVED;
    while (p == MOVED) p = step(window, rows, prints, &q);
    return p == STORED ? q.place : UINT32_MAX;
}

/* The keys [from, to) of one class that are still to be inserted, and the slots of the others. */
typedef struct class_keys {
    const uint64_t *inner;
    size_t from, to, done;
    uint32_t *slots;
} class_keys;

/* A step of one of the equations on their way; one that is stored makes way for the next key. */
static UMBELI_TIGHT_INLINE bool turn(uint32_t window, const umbeli_tight_rung *r,
                                     umbeli_tight_scratch *b, class_keys *k, equation *q) {
    progress p = step(window, b->rows, b->prints, q);
    if (p == STORED) {
        k->slots[k->done++] = q->place;
        *q = equation_of(window, r, k->inner[--k->to]);
    }
    return p != DEPENDENT;
}

static UMBELI_TIGHT_INLINE bool finish(uint32_t window, umbeli_tight_scratch *b, class_keys *k,
                                       equation q) {
    uint32_t slot = insert(window, b->rows, b->prints, q);
    if (slot == UINT32_MAX) return false;
    k->slots[k->done++] = slot;
    return true;
}

/* Inserts all keys of one class; false if one did not fit.
 *
 * Four equations are on their way together: each step waits for the one before, but not for those
 * of the others.  Their order is free: what can be stored, where, and the slots' values follow from
 * the equations alone. */
static UMBELI_TIGHT_INLINE bool insert_keys(uint32_t window, const umbeli_tight_rung *r,
                                            umbeli_tight_scratch *s, class_keys *k) {
    if (k->to - k->from >= 4) {
        equation a = equation_of(window, r, k->inner[--k->to]);
        equation b = equation_of(window, r, k->inner[--k->to]);
        equation c = equation_of(window, r, k->inner[--k->to]);
        equation d = equation_of(window, r, k->inner[--k->to]);
        while (k->to - k->from >= 4) {
            bool fits = turn(window, r, s, k, &a) && turn(window, r, s, k, &b) &&
                        turn(window, r, s, k, &c) && turn(window, r, s, k, &d);
            if (!fits) return false;
        }
        bool fit = finish(window, s, k, a) && finish(window, s, k, b) && finish(window, s, k, c) &&
                   finish(window, s, k, d);
        if (!fit) return false;
    }
    while (k->from < k->to) {
        if (!finish(window, s, k, equation_of(window, r, k->inner[--k->to]))) return false;
    }
    return true;
}

/* Inserts keys [from, to) of one class; if one does not fit, removes them all again. */
static UMBELI_TIGHT_INLINE bool insert_class(uint32_t window, const umbeli_tight_rung *r,
                                             umbeli_tight_scratch *b, const uint64_t *inner,
                                             size_t from, size_t to, uint32_t *slots) {
    /* No more keys can fit than there are places, plus the slots after them in the last window. */
    if (to - from > umbeli_tight_bucket(window) + UMBELI_TIGHT_BLOCK * window) return false;
    class_keys k = {.inner = inner, .from = from, .to = to, .slots = slots};
    if (insert_keys(window, r, b, &k)) return true;
    while (k.done > 0) {
        memset(b->rows + (size_t)window * slots[--k.done], 0, window * sizeof *b->rows);
    }
    return false;
}

/* The first of keys [from, n) whose place is at or after `place`. */
static size_t skip(const umbeli_tight_rung *r, const uint64_t *inner, size_t from, size_t n,
                   uint32_t place) {
    while (from < n && umbeli_mul_high(key_of(r, inner[from]), r->places) < place) from++;
    return from;
}

/* The threshold code of a bucket with keys [from, to): the lowest that lets the other keys in;
 * *stay is the first of those. */
static UMBELI_TIGHT_INLINE uint32_t fill_bucket(uint32_t window, const umbeli_tight_rung *r,
                                                umbeli_tight_scratch *b, const uint64_t *inner,
                                                size_t from, size_t to, uint32_t place,
                                                size_t *stay) {
    uint32_t slots[UMBELI_TIGHT_MAX_BUCKET + UMBELI_TIGHT_BLOCK * UMBELI_TIGHT_MAX_WINDOW];
    size_t low = skip(r, inner, from, to, place + umbeli_tight_threshold(window, 1));
    size_t high = skip(r, inner, low, to, place + umbeli_tight_threshold(window, 2));
    const size_t ends[] = {from, low, high, to};
    for (uint32_t code = 3; code > 0; code--) {
        *stay = ends[code];
        if (!insert_class(window, r, b, inner, ends[code - 1], ends[code], slots)) return code;
    }
    *stay = from;
    return 0;
}

/* Fills bucket after bucket; bumped hashes overwrite keys that are already processed. */
static UMBELI_TIGHT_INLINE size_t fill_buckets(uint32_t window, const umbeli_tight_rung *r,
                                               umbeli_tight_scratch *b, uint64_t *inner, size_t n,
                                               uint8_t *marks) {
    const uint32_t step = umbeli_tight_bucket(window);
    size_t from = 0, bumped = 0;
    for (uint32_t bucket = 0; bucket * step < r->places; bucket++) {
        uint32_t place = bucket * step;
        size_t to = skip(r, inner, from, n, place + step), stay;
        uint32_t code = fill_bucket(window, r, b, inner, from, to, place, &stay);
        marks[bucket / 4] |= (uint8_t)(code << (2 * (bucket % 4)));
        for (; from < stay; from++) {
            inner[bumped++] = carry(r, umbeli_tight_mix(key_of(r, inner[from])), inner[from]);
        }
        from = to;
    }
    return bumped;
}

static UMBELI_TIGHT_INLINE bool fill_all(uint32_t window, const umbeli_tight_rung *r,
                                         umbeli_tight_scratch *b, const uint64_t *inner, size_t n) {
    for (size_t i = 0; i < n; i++) {
        equation q = equation_of(window, r, inner[i]);
        if (insert(window, b->rows, b->prints, q) == UINT32_MAX) return false;
    }
    return true;
}

/* As umbeli_tight_build_table, from keys' numbers to equations. */
static UMBELI_TIGHT_INLINE size_t fill(uint32_t window, const umbeli_tight_rung *r,
                                       umbeli_tight_scratch *b, uint64_t *inner, size_t n,
                                       uint8_t *marks) {
    if (marks) return fill_buckets(window, r, b, inner, n, marks);
    return fill_all(window, r, b, inner, n) ? 0 : SIZE_MAX;
}

size_t umbeli_tight_build_table(const umbeli_tight_rung *r, umbeli_tight_scratch *b,
                                uint64_t *hashes, size_t n, uint8_t *marks, uint8_t *table) {
    size_t words = (size_t)r->window * r->blocks * UMBELI_TIGHT_BLOCK;
    for (size_t i = 0; i < n; i++) {
        uint64_t inner = umbeli_tight_inner(r->shard_bits, r->odd, key_of(r, hashes[i]));
        hashes[i] = carry(r, inner, hashes[i]);
    }
    if (r->odd != 1) n = umbeli_static_sort(hashes, b->scratch, n);
    memset(b->rows, 0, words * sizeof *b->rows);
    size_t bumped =
        r->window == 1 ? fill(1, r, b, hashes, n, marks) : fill(2, r, b, hashes, n, marks);
    if (bumped != SIZE_MAX) b->kernel->solve(r, b, table);
    return bumped;
}

umbeli_tight_passed umbeli_tight_table_passed(const umbeli_tight_rung *r, const uint8_t *marks) {
    const uint32_t size = umbeli_tight_bucket(r->window), border = UMBELI_TIGHT_BLOCK * r->narrow;
    umbeli_tight_passed passed = {0, 0};
    for (uint32_t bucket = 0; bucket * size < r->places; bucket++) {
        uint32_t code = (marks[bucket / 4] >> (2 * (bucket % 4))) & 3, from = bucket * size;
        uint32_t to = from + umbeli_tight_threshold(r->window, code);
        if (to > r->places) to = r->places;
        passed.all += to - from;
        if (to > border) passed.wide += to - (from > border ? from : border);
    }
    return passed;
}
