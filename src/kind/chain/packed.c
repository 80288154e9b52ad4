/* SPDX-License-Identifier: MIT
 *
 * packed.c - a layer that keeps the hashes themselves, in about log2(1 / rate) + 2 bits each
 *
 * A filter cannot say which keys it holds, so a chain of filters that starts small collects small
 * layers.  Hashes can be moved: this layer is a sorted set of them, replaced by a larger one when
 * it is full.  It keeps `hashes` bits of each hash, so an absent key is found with a chance of
 * keys / 2^hashes; that is the layer's rate, and says when it has to stop growing.
 *
 * Layout.  The hashes are divided by their value among chunks of equal size.  A chunk is a count
 * (16 bits), and then its hashes, less the first that could be in it, by the code of Elias and
 * Fano: the upper part of each in unary (for each possible value as many ones as there are, and a
 * zero), the lower `low` bits of each in order.  A key is looked up by counting zeros, and added
 * by moving the rest of the chunk.
 *
 * Everything about the layout follows from the bytes of the layer and the bits of a hash.  Chunks
 * fill unevenly: `room` is what the fullest has left, and the layer takes that many keys without
 * looking.
 */
#define KERNEL umbeli_packed_generic
#define KERNEL_TARGET
#include "kind/chain/packed_loops.h"

#include <math.h>
#include <string.h>

#include "core/cpu.h"

enum {
    CHUNK = 2048,      /* bytes, about: cheap to move, and large enough that chunks fill evenly */
    SHORT_CHUNK = 256, /* for lookups: the unary part in one line, the lower parts in three */
};

/* As many slots as fit.  Fewer lower bits mean more bits for the upper part. */
static void fit(umbeli_layer *l) {
    uint64_t chunk = l->short_chunks ? SHORT_CHUNK : CHUNK;
    uint64_t chunks = l->bytes <= 2 * chunk ? 1 : l->bytes / chunk;
    uint64_t stride = l->bytes / chunks, room = 8 * stride > HEAD ? 8 * stride - HEAD : 0;
    uint64_t range = ((UINT64_C(1) << l->hashes) - 1) / chunks + 1;
    l->packed.chunks = chunks;
    l->packed.stride = (uint32_t)stride;
    l->packed.inverse = (UINT64_C(1) << l->hashes) / chunks;
    l->packed.slots = 0;
    uint32_t least = 0; /* with fewer lower bits the upper parts alone would not fit */
    while (range >> least > room + 1) least++;
    for (uint32_t low = least; low < l->hashes; low++) {
        uint64_t uppers = ((range - 1) >> low) + 1;
        uint64_t slots = uppers < room ? (room - uppers) / (low + 1) : 0;
        uint64_t max = l->short_chunks ? LINE - HEAD : UINT16_MAX;
        if (l->short_chunks) max = uppers < max && low > 0 ? max - uppers : 0;
        if (slots > max) slots = max;
        if (slots + 1 < l->packed.slots) break; /* it only gets worse */
        if (slots <= l->packed.slots) continue;
        l->packed.low = low;
        l->packed.slots = (uint32_t)slots;
        l->packed.uppers = (uint32_t)uppers;
    }
}

static packed form_in(const umbeli_layer *l) {
    return packed_in(l, l->short_chunks);
}

/* The first value of a chunk, rounded up. */
static uint64_t first_of(const packed *f, uint64_t chunk) {
    uint64_t all = UINT64_C(1) << f->bits, rest = all % f->chunks * chunk;
    return all / f->chunks * chunk + (rest + f->chunks - 1) / f->chunks;
}

/* ---- Keys ---- */

static const umbeli_packed_kernel *kernel_of_this(void) {
#if UMBELI_X86
    uint32_t cpu = umbeli_cpu();
    if (cpu & UMBELI_CPU_AVX512) return &umbeli_packed_avx512;
    if (cpu & UMBELI_CPU_AVX2) return &umbeli_packed_avx2;
#endif
    return &umbeli_packed_generic;
}

static void contains(const umbeli_layer *l, umbeli_hashes h, size_t n, uint8_t *found) {
    const umbeli_packed_kernel *kernel = kernel_of_this();
    (l->short_chunks ? kernel->contains : kernel->contains_long)(l, h.narrow, n, found);
}

static uint64_t add(umbeli_layer *l, umbeli_hashes h, size_t n, uint8_t *was_new) {
    const umbeli_packed_kernel *kernel = kernel_of_this();
    return (l->short_chunks ? kernel->add : kernel->add_long)(l, h.narrow, n, was_new);
}

/* ---- All hashes, in order ---- */

typedef struct walk {
    const umbeli_layer *layer;
    packed form;
    uint64_t chunk, first;
    uint32_t bit, index, count;
} walk;

static void enter(walk *w, uint64_t chunk) {
    w->chunk = chunk;
    w->bit = w->index = 0;
    if (chunk == w->form.chunks) return;
    w->first = first_of(&w->form, chunk);
    w->count = packed_count(w->layer->bits + chunk * w->form.stride);
}

static bool next(walk *w, uint64_t *kept) {
    while (w->chunk < w->form.chunks && w->index == w->count) enter(w, w->chunk + 1);
    if (w->chunk == w->form.chunks) return false;
    const uint8_t *chunk = w->layer->bits + w->chunk * w->form.stride;
    for (uint64_t ones; (ones = packed_get(&w->form, chunk, HEAD + w->bit, 48)) == 0;) {
        w->bit += 48;
        if (w->bit > w->form.slots + w->form.uppers) return false; /* damaged */
    }
    w->bit += (uint32_t)__builtin_ctzll(packed_get(&w->form, chunk, HEAD + w->bit, 48));
    uint64_t upper = w->bit++ - w->index;
    uint64_t low = packed_get(&w->form, chunk, packed_lower(&w->form, w->index), w->form.low);
    *kept = w->first + (upper << w->form.low | low);
    w->index++;
    return true;
}

/* Writes hashes in order.  Lower parts are collected in a word: a load of what was just stored by
 * other bytes would have to wait. */
typedef struct fill {
    umbeli_layer *layer;
    packed form;
    uint8_t *chunk;
    uint64_t first, end; /* the values of the chunk */
    uint64_t word, at;   /* the bits collected, and where the first of them belongs */
    uint32_t count, held;
} fill;

static void put_held(fill *t) {
    if (t->held == 0) return;
    packed_put(&t->form, t->chunk, t->at, t->held, t->word);
    t->at += t->held;
    t->word = t->held = 0;
}

static void finish(fill *t) {
    if (!t->chunk) return;
    put_held(t);
    t->chunk[0] = (uint8_t)t->count;
    t->chunk[1] = (uint8_t)(t->count >> 8);
    if (t->form.slots - t->count < t->layer->packed.room) {
        t->layer->packed.room = t->form.slots - t->count;
    }
}

/* Appends a hash that is larger than all before; false: its chunk is full. */
static bool append(fill *t, uint64_t kept) {
    enum { HELD_MAX = 56 };
    const packed *f = &t->form;
    if (!t->chunk || kept >= t->end) {
        uint64_t i = packed_value_of(f, kept).chunk;
        finish(t);
        t->chunk = t->layer->bits + i * f->stride;
        t->first = first_of(f, i);
        t->end = i + 1 < f->chunks ? first_of(f, i + 1) : UINT64_MAX;
        t->at = packed_lower(f, 0);
        t->count = 0;
    }
    if (t->count == f->slots) return false;
    uint64_t value = kept - t->first, low = value & ((UINT64_C(1) << f->low) - 1);
    (void)umbeli_bit_set(t->chunk, HEAD + (value >> f->low) + t->count++);
    if (t->held + f->low > HELD_MAX) put_held(t);
    t->word |= low << t->held;
    t->held += f->low;
    return true;
}

bool umbeli_packed_refill(umbeli_layer *fresh, const umbeli_layer *a, const umbeli_layer *b) {
    fill to = {.layer = fresh, .form = form_in(fresh)};
    walk x = {.layer = a, .form = form_in(a)}, y = {.layer = b};
    uint64_t p = 0, q = 0;
    enter(&x, 0);
    if (b) {
        y.form = form_in(b);
        enter(&y, 0);
    }
    bool more = next(&x, &p), others = b && next(&y, &q), fits = true;
    while ((more || others) && fits) {
        bool mine = more && (!others || p <= q), both = mine && others && p == q;
        fits = append(&to, mine ? p : q);
        fresh->keys += fits;
        if (!mine || both) others = next(&y, &q);
        if (mine) more = next(&x, &p);
    }
    finish(&to);
    return fits;
}

/* ---- The layer ---- */

static void prepare(umbeli_layer *l) {
    fit(l);
    l->packed.room = l->packed.slots;
}

/* Also finds what the fullest chunk has left. */
static void recount(umbeli_layer *l) {
    packed f = form_in(l);
    l->keys = 0;
    l->packed.room = f.slots;
    for (uint64_t i = 0; i < f.chunks; i++) {
        uint32_t count = packed_count(l->bits + i * f.stride), room = f.slots - count;
        l->keys += count;
        if (room < l->packed.room) l->packed.room = room;
    }
}

static bool are_zero(const uint8_t *bytes, uint64_t from, uint64_t to) {
    for (; from < to && from % 8; from++) {
        if (umbeli_bit_test(bytes, from)) return false;
    }
    for (; from + 8 <= to; from += 8) {
        if (bytes[from / 8]) return false;
    }
    for (; from < to; from++) {
        if (umbeli_bit_test(bytes, from)) return false;
    }
    return true;
}

static bool chunk_is_right(const packed *f, uint64_t i, const uint8_t *chunk) {
    uint32_t count = packed_count(chunk), found = 0;
    uint64_t end = i + 1 < f->chunks ? first_of(f, i + 1) : UINT64_C(1) << f->bits;
    uint64_t values = end - first_of(f, i), before = 0;
    if (count > f->slots) return false;
    for (uint32_t bit = 0, last = f->slots + f->uppers; bit < last; bit++) {
        uint32_t step = last - bit < 48 ? last - bit : 48;
        uint64_t ones = packed_get(f, chunk, HEAD + bit, step);
        bit += ones ? (uint32_t)__builtin_ctzll(ones) : step - 1;
        if (!ones) continue;
        if (found == count) return false;
        uint64_t low = packed_get(f, chunk, packed_lower(f, found), f->low);
        uint64_t value = (uint64_t)(bit - found) << f->low | low;
        if (value >= values || (found && value <= before)) return false;
        before = value;
        found++;
    }
    return found == count && are_zero(chunk, packed_lower(f, count), 8 * f->stride);
}

/* Whether the hashes are in order, each in its chunk, and there is nothing else. */
static bool check(const umbeli_layer *l, const uint8_t *bytes) {
    packed f = form_in(l);
    bool right = are_zero(bytes, 8 * f.chunks * f.stride, 8 * l->bytes);
    for (uint64_t i = 0; i < f.chunks && right; i++) {
        right = chunk_is_right(&f, i, bytes + i * f.stride);
    }
    return right;
}

static uint64_t bit(const umbeli_layer *l, umbeli_hashes h, uint32_t i) {
    packed f = form_in(l);
    (void)i;
    return 8 * f.stride * packed_value_of(&f, packed_kept(&f, *h.narrow)).chunk;
}

double umbeli_packed_rate(uint64_t keys, uint32_t bits) {
    return ldexp((double)keys, -(int)bits);
}

double umbeli_packed_keys(double hashes, uint32_t bits) {
    double possible = ldexp(1, (int)bits);
    return hashes < possible ? -possible * log1p(-hashes / possible) : INFINITY;
}

static double estimate(const umbeli_layer *l, uint64_t bits_set) {
    (void)bits_set;
    return umbeli_packed_keys((double)l->keys, l->hashes);
}

static double rate_after(const umbeli_layer *l, uint64_t keys) {
    return -expm1(-umbeli_packed_rate(keys, l->hashes));
}

static double live_rate(const umbeli_layer *l, uint64_t bits_set) {
    (void)bits_set;
    return umbeli_packed_rate(l->keys, l->hashes);
}

const umbeli_probes umbeli_probes_packed = {
    .name = "packed",
    .kind = UMBEL_KIND_AUTO, /* it exists in chains only */
    .plain = true,
    .prepare = prepare,
    .contains = contains,
    .add = add,
    .bit = bit,
    .rate_after = rate_after,
    .estimate = estimate,
    .live_rate = live_rate,
    .recount = recount,
    .check = check,
};

uint64_t umbeli_packed_capacity(uint64_t bytes, uint32_t bits) {
    umbeli_layer l = {.probes = &umbeli_probes_packed, .bytes = bytes, .hashes = bits};
    fit(&l);
    /* Of the fullest of few, or of many. */
    double slots = l.packed.slots, spread = (l.packed.chunks < 16 ? 2.5 : 4) * sqrt(slots);
    if (l.packed.chunks == 1) spread = 0;
    return slots > spread ? l.packed.chunks * (uint64_t)(slots - spread) : 0;
}

/* ---- In files ----
 *
 * The differences between hashes and their successors, less 1, by Rice's code: the lower bits as
 * they are, after as many ones as the rest says and a zero.  Half a bit per hash less than a layer
 * takes in which hashes can be found. */

/* One less than the mean difference has. */
static uint32_t rice_bits(uint64_t keys, uint32_t bits) {
    uint32_t low = 0;
    while (low + 1 < bits && keys << (low + 1) <= UINT64_C(1) << bits) low++;
    return low;
}

size_t umbeli_packed_write(const umbeli_layer *l, uint8_t *out) {
    walk w = {.layer = l, .form = form_in(l)};
    uint32_t low = rice_bits(l->keys, l->hashes);
    uint64_t at = 0, kept, after = 0;
    enter(&w, 0);
    while (next(&w, &kept)) {
        uint64_t gap = kept - after;
        after = kept + 1;
        for (uint64_t ones = gap >> low; ones > 0; ones--) (void)umbeli_bit_set(out, at++);
        at++;
        for (uint32_t i = 0; i < low; i++, at++) {
            if (gap >> i & 1) (void)umbeli_bit_set(out, at);
        }
    }
    return (size_t)((at + 7) / 8);
}

bool umbeli_packed_read(umbeli_layer *l, uint64_t keys, const uint8_t *bytes, size_t len) {
    fill to = {.layer = l, .form = form_in(l)};
    uint32_t low = rice_bits(keys, l->hashes);
    uint64_t at = 0, end = 8 * (uint64_t)len, kept = 0, values = UINT64_C(1) << l->hashes;
    for (; l->keys < keys; l->keys++) {
        uint64_t gap = 0;
        for (; at < end && umbeli_bit_test(bytes, at); at++) gap += UINT64_C(1) << low;
        if (++at + low > end || gap >= values) return false;
        for (uint32_t i = 0; i < low; i++, at++) {
            gap |= (uint64_t)umbeli_bit_test(bytes, at) << i;
        }
        kept += gap + (l->keys > 0);
        if (kept >= values || !append(&to, kept)) return false;
    }
    finish(&to);
    return (at + 7) / 8 == len && are_zero(bytes, at, end);
}

/* ---- A filter of them ---- */

void umbeli_packed_filter(umbeli_layer *filter, const umbeli_layer *from) {
    enum { SOME = 1024 };
    walk w = {.layer = from, .form = form_in(from)};
    uint64_t hashes[SOME], kept;
    uint8_t was_new[SOME];
    size_t n = 0;
    enter(&w, 0);
    for (bool more = true; more;) {
        more = next(&w, &kept);
        if (more) hashes[n++] = kept << (64 - w.form.bits);
        if (n < SOME && more) continue;
        (void)filter->probes->add(filter, (umbeli_hashes){.narrow = hashes}, n, was_new);
        n = 0;
    }
}

void umbeli_packed_spread(uint32_t bits, const uint64_t *hashes, size_t n, uint64_t *out) {
    kernel_of_this()->spread(bits, hashes, n, out);
}
