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
 * fill unevenly: `room` is what the fullest has left, and the layer takes that many keys unseen.
 */
#include <math.h>
#include <string.h>

#include "kind/chain/chain.h"

enum {
    CHUNK = 1024, /* bytes, about: cheap to move, and large enough that chunks fill evenly */
    HEAD = 16,
};

typedef struct form {
    uint64_t chunks, stride; /* in bytes */
    uint64_t range;          /* values per chunk, at most */
    uint32_t bits, low;      /* of a hash, and of its lower part */
    uint32_t slots, uppers;  /* per chunk: hashes, and values of the upper part */
} form;

/* As many slots as fit.  Fewer lower bits mean more bits for the upper part. */
static form form_of(uint64_t bytes, uint32_t bits) {
    form f = {.bits = bits, .chunks = bytes <= 2 * CHUNK ? 1 : bytes / CHUNK};
    f.stride = bytes / f.chunks;
    f.range = ((UINT64_C(1) << bits) - 1) / f.chunks + 1;
    uint64_t room = 8 * f.stride > HEAD ? 8 * f.stride - HEAD : 0;
    for (uint32_t low = 0; low < bits; low++) {
        uint64_t uppers = ((f.range - 1) >> low) + 1;
        uint64_t slots = uppers < room ? (room - uppers) / (low + 1) : 0;
        if (slots > UINT16_MAX) slots = UINT16_MAX;
        if (slots + 1 < f.slots) break; /* it only gets worse */
        if (slots <= f.slots) continue;
        f.low = low;
        f.slots = (uint32_t)slots;
        f.uppers = (uint32_t)uppers;
    }
    return f;
}

static form form_in(const umbeli_layer *l) {
    return (form){
        .bits = l->hashes,
        .low = l->packed.low,
        .chunks = l->packed.chunks,
        .stride = l->bytes / l->packed.chunks,
        .range = ((UINT64_C(1) << l->hashes) - 1) / l->packed.chunks + 1,
        .slots = l->packed.slots,
        .uppers = l->packed.uppers,
    };
}

/* ---- Bits of a chunk ---- */

/* The eight bytes that have the bits from this one on, at most 57, without leaving the chunk. */
static uint64_t word_of(const form *f, uint64_t at) {
    uint64_t byte = at / 8, last = f->stride - 8;
    return byte < last ? byte : last;
}

static uint64_t get(const form *f, const uint8_t *chunk, uint64_t at, uint32_t n) {
    if (n == 0) return 0; /* hashes without lower bits end where the chunk does */
    uint64_t byte = word_of(f, at);
    return umbeli_load_le64(chunk + byte) >> (at - 8 * byte) & ((UINT64_C(1) << n) - 1);
}

static void put(const form *f, uint8_t *chunk, uint64_t at, uint32_t n, uint64_t value) {
    if (n == 0) return;
    uint64_t byte = word_of(f, at), shift = at - 8 * byte;
    uint64_t mask = ((UINT64_C(1) << n) - 1) << shift, word = umbeli_load_le64(chunk + byte);
    umbeli_store_le64(chunk + byte, (word & ~mask) | (value << shift & mask));
}

static uint64_t move_some(const form *f, uint8_t *chunk, uint64_t from, uint64_t to, uint32_t n,
                          uint64_t most) {
    uint64_t some = to - from < most ? to - from : most;
    put(f, chunk, to - some + n, (uint32_t)some, get(f, chunk, to - some, (uint32_t)some));
    return to - some;
}

/* Moves the bits [from, to) up by n: whole words, once their new end is that of a word. */
static void move_up(const form *f, uint8_t *chunk, uint64_t from, uint64_t to, uint32_t n) {
    enum { MOST = 56, WORD = 64 };
    if (n == 0) return;
    while (to > from && (to + n) % WORD) {
        uint64_t over = (to + n) % WORD;
        to = move_some(f, chunk, from, to, n, over < MOST ? over : MOST);
    }
    for (; to >= from + WORD; to -= WORD) {
        uint8_t *word = chunk + (to + n) / 8 - 8;
        uint64_t below = umbeli_load_le64(word - 8) >> (WORD - n);
        umbeli_store_le64(word, umbeli_load_le64(word) << n | below);
    }
    while (to > from) to = move_some(f, chunk, from, to, n, MOST);
}

static uint32_t count_of(const uint8_t *chunk) {
    return chunk[0] | (uint32_t)chunk[1] << 8;
}

static void count_one(umbeli_layer *l, const form *f, uint8_t *chunk) {
    uint32_t count = count_of(chunk) + 1;
    chunk[0] = (uint8_t)count;
    chunk[1] = (uint8_t)(count >> 8);
    if (f->slots - count < l->packed.room) l->packed.room = f->slots - count;
}

static uint64_t lower_at(const form *f, uint32_t i) {
    return HEAD + f->slots + f->uppers + (uint64_t)i * f->low;
}

/* The bit after the n-th zero of the upper parts; the ones before it are the index. */
static uint32_t after_zeros(const form *f, const uint8_t *chunk, uint32_t n) {
    uint32_t at = 0;
    for (;; at += 48) {
        uint64_t word = get(f, chunk, HEAD + at, 48);
        uint32_t zeros = 48 - (uint32_t)__builtin_popcountll(word);
        if (zeros < n) {
            n -= zeros;
            continue;
        }
        for (word = ~word; n > 1; n--) word &= word - 1;
        return n ? at + (uint32_t)__builtin_ctzll(word) + 1 : at;
    }
}

/* ---- Where a hash is ---- */

typedef struct place {
    uint8_t *chunk;
    uint64_t low;
    uint32_t bit, index; /* of its one among the upper parts, and of its lower part */
} place;

/* The first value of a chunk. */
static uint64_t first_of(const form *f, uint64_t chunk) {
    return ((chunk << f->bits) + f->chunks - 1) / f->chunks;
}

static uint64_t chunk_of(const form *f, uint64_t kept) {
    return umbeli_mul_high(kept << (64 - f->bits), f->chunks);
}

/* Whether it is there; *p is where it belongs. */
static bool find(const umbeli_layer *l, const form *f, uint64_t kept, place *p) {
    uint64_t chunk = chunk_of(f, kept), value = kept - first_of(f, chunk);
    uint32_t upper = (uint32_t)(value >> f->low);
    p->chunk = l->bits + chunk * f->stride;
    p->low = value & ((UINT64_C(1) << f->low) - 1);
    p->bit = after_zeros(f, p->chunk, upper);
    p->index = p->bit - upper;
    for (; umbeli_bit_test(p->chunk, HEAD + p->bit); p->bit++, p->index++) {
        uint64_t here = get(f, p->chunk, lower_at(f, p->index), f->low);
        if (here >= p->low) return here == p->low;
    }
    return false;
}

static void insert(umbeli_layer *l, const form *f, const place *p) {
    uint32_t count = count_of(p->chunk);
    move_up(f, p->chunk, HEAD + p->bit, HEAD + f->uppers + count, 1);
    (void)umbeli_bit_set(p->chunk, HEAD + p->bit);
    move_up(f, p->chunk, lower_at(f, p->index), lower_at(f, count), f->low);
    put(f, p->chunk, lower_at(f, p->index), f->low, p->low);
    count_one(l, f, p->chunk);
}

static uint64_t kept_of(const form *f, uint64_t hash) {
    return hash >> (64 - f->bits);
}

static void contains(const umbeli_layer *l, umbeli_hashes h, size_t n, uint8_t *found) {
    form f = form_in(l);
    place p;
    for (size_t i = 0; i < n && n > 1 && l->bytes > UMBELI_PLAIN_BELOW; i++) {
        const uint8_t *chunk = l->bits + chunk_of(&f, kept_of(&f, h.narrow[i])) * f.stride;
        __builtin_prefetch(chunk);
        __builtin_prefetch(chunk + 64);
        __builtin_prefetch(chunk + 128);
    }
    for (size_t i = 0; i < n; i++) found[i] = find(l, &f, kept_of(&f, h.narrow[i]), &p);
}

static uint64_t add(umbeli_layer *l, umbeli_hashes h, size_t n, uint8_t *was_new) {
    form f = form_in(l);
    uint64_t added = 0;
    place p;
    for (size_t i = 0; i < n; i++) {
        was_new[i] = !find(l, &f, kept_of(&f, h.narrow[i]), &p);
        if (was_new[i]) insert(l, &f, &p);
        added += was_new[i];
    }
    return added;
}

/* ---- All hashes, in order ---- */

typedef struct walk {
    const umbeli_layer *layer;
    form form;
    uint64_t chunk, first;
    uint32_t bit, index, count;
} walk;

static void enter(walk *w, uint64_t chunk) {
    w->chunk = chunk;
    w->bit = w->index = 0;
    if (chunk == w->form.chunks) return;
    w->first = first_of(&w->form, chunk);
    w->count = count_of(w->layer->bits + chunk * w->form.stride);
}

static bool next(walk *w, uint64_t *kept) {
    while (w->chunk < w->form.chunks && w->index == w->count) enter(w, w->chunk + 1);
    if (w->chunk == w->form.chunks) return false;
    const uint8_t *chunk = w->layer->bits + w->chunk * w->form.stride;
    while (!umbeli_bit_test(chunk, HEAD + w->bit)) w->bit++;
    uint64_t upper = w->bit++ - w->index;
    uint64_t low = get(&w->form, chunk, lower_at(&w->form, w->index), w->form.low);
    *kept = w->first + (upper << w->form.low | low);
    w->index++;
    return true;
}

/* Appends a hash that is larger than all before; false: its chunk is full. */
static bool append(umbeli_layer *l, const form *f, uint64_t kept) {
    uint64_t chunk = chunk_of(f, kept), value = kept - first_of(f, chunk);
    uint8_t *to = l->bits + chunk * f->stride;
    uint32_t count = count_of(to);
    if (count == f->slots) return false;
    (void)umbeli_bit_set(to, HEAD + (value >> f->low) + count);
    put(f, to, lower_at(f, count), f->low, value & ((UINT64_C(1) << f->low) - 1));
    count_one(l, f, to);
    return true;
}

bool umbeli_packed_refill(umbeli_layer *fresh, const umbeli_layer *a, const umbeli_layer *b) {
    form f = form_in(fresh);
    walk x = {.layer = a, .form = form_in(a)}, y = {.layer = b};
    uint64_t p = 0, q = 0;
    enter(&x, 0);
    if (b) {
        y.form = form_in(b);
        enter(&y, 0);
    }
    bool more = next(&x, &p), others = b && next(&y, &q);
    while (more || others) {
        bool mine = more && (!others || p <= q), both = mine && others && p == q;
        if (!append(fresh, &f, mine ? p : q)) return false;
        fresh->keys++;
        if (!mine || both) others = next(&y, &q);
        if (mine) more = next(&x, &p);
    }
    return true;
}

/* ---- The layer ---- */

static void prepare(umbeli_layer *l) {
    form f = form_of(l->bytes, l->hashes);
    l->packed.chunks = f.chunks;
    l->packed.low = f.low;
    l->packed.slots = f.slots;
    l->packed.uppers = f.uppers;
    l->packed.room = f.slots;
}

/* Also what the fullest chunk has left. */
static void recount(umbeli_layer *l) {
    form f = form_in(l);
    l->keys = 0;
    l->packed.room = f.slots;
    for (uint64_t i = 0; i < f.chunks; i++) {
        uint32_t count = count_of(l->bits + i * f.stride), room = f.slots - count;
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

static bool chunk_is_right(const form *f, uint64_t i, const uint8_t *chunk) {
    uint32_t count = count_of(chunk), found = 0;
    uint64_t end = i + 1 < f->chunks ? first_of(f, i + 1) : UINT64_C(1) << f->bits;
    uint64_t values = end - first_of(f, i), before = 0;
    if (count > f->slots) return false;
    for (uint32_t bit = 0; bit < f->slots + f->uppers; bit++) {
        if (!umbeli_bit_test(chunk, HEAD + bit)) continue;
        if (found == count) return false;
        uint64_t low = get(f, chunk, lower_at(f, found), f->low);
        uint64_t value = (uint64_t)(bit - found) << f->low | low;
        if (value >= values || (found && value <= before)) return false;
        before = value;
        found++;
    }
    return found == count && are_zero(chunk, lower_at(f, count), 8 * f->stride);
}

/* In order, each in its chunk, and nothing else. */
static bool check(const umbeli_layer *l, const uint8_t *bytes) {
    form f = form_in(l);
    bool right = are_zero(bytes, 8 * f.chunks * f.stride, 8 * l->bytes);
    for (uint64_t i = 0; i < f.chunks && right; i++) {
        right = chunk_is_right(&f, i, bytes + i * f.stride);
    }
    return right;
}

static uint64_t bit(const umbeli_layer *l, umbeli_hashes h, uint32_t i) {
    form f = form_in(l);
    (void)i;
    return 8 * f.stride * chunk_of(&f, kept_of(&f, *h.narrow));
}

static double estimate(const umbeli_layer *l, uint64_t bits_set) {
    (void)bits_set;
    return (double)l->keys;
}

static double live_rate(const umbeli_layer *l, uint64_t bits_set) {
    (void)bits_set;
    return ldexp((double)l->keys, -(int)l->hashes);
}

const umbeli_probes umbeli_probes_packed = {
    .name = "packed",
    .kind = UMBEL_KIND_AUTO, /* it exists in chains only */
    .exact = true,
    .prepare = prepare,
    .contains = contains,
    .add = add,
    .bit = bit,
    .estimate = estimate,
    .live_rate = live_rate,
    .recount = recount,
    .check = check,
};

uint64_t umbeli_packed_capacity(uint64_t bytes, uint32_t bits) {
    form f = form_of(bytes, bits);
    double spread = f.chunks > 1 ? 4 * sqrt(f.slots) : 0; /* of the fullest of many */
    return f.slots > spread ? f.chunks * (uint64_t)(f.slots - spread) : 0;
}
