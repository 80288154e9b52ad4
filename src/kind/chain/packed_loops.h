/* SPDX-License-Identifier: MIT
 *
 * packed_loops.h - the parts of a chunk of packed hashes; how a hash is found there, and put in
 *
 * The including file defines first
 *   KERNEL         the name of its umbeli_packed_kernel
 *   KERNEL_TARGET  the function attribute that lets the compiler use instructions that count bits
 * and may define
 *   KERNEL_ZEROS   a faster packed_zeros_of_line
 */
#include <string.h>

#include "core/cpu.h"
#include "kind/chain/chain.h"

#define INLINED KERNEL_TARGET __attribute__((always_inline))

/* Bits of a chunk's count, and of the cache line that has all of a short chunk's unary part. */
enum { HEAD = 16, LINE = 512 };

typedef struct packed {
    uint8_t *data;
    uint64_t chunks, stride; /* in bytes */
    uint64_t inverse;        /* values per chunk, rounded down */
    uint32_t bits, low;      /* of a hash, and of its lower part */
    uint32_t slots, uppers;  /* per chunk: hashes, and values of the upper part */
    bool short_chunks, is_far;
} packed;

INLINED static inline packed packed_in(const umbeli_layer *l, bool short_chunks) {
    return (packed){
        .data = l->bits,
        .chunks = l->packed.chunks,
        .stride = l->packed.stride,
        .inverse = l->packed.inverse,
        .bits = l->hashes,
        .low = l->packed.low,
        .slots = l->packed.slots,
        .uppers = l->packed.uppers,
        .short_chunks = short_chunks,
        .is_far = umbeli_is_far(l->bytes / 8), /* up to 64 MiB it was slower */
    };
}

/* ---- Bits of a chunk ---- */

/* The eight bytes that have the bits from this one on, at most 57, without leaving the chunk. */
INLINED static inline uint64_t packed_byte(const packed *p, uint64_t at) {
    uint64_t byte = at / 8, last = p->stride - 8;
    return byte < last ? byte : last;
}

INLINED static inline uint64_t packed_get(const packed *p, const uint8_t *chunk, uint64_t at,
                                          uint32_t n) {
    if (n == 0) return 0; /* hashes without lower bits end where the chunk does */
    uint64_t byte = packed_byte(p, at);
    return umbeli_load_le64(chunk + byte) >> (at - 8 * byte) & ((UINT64_C(1) << n) - 1);
}

INLINED static inline void packed_put(const packed *p, uint8_t *chunk, uint64_t at, uint32_t n,
                                      uint64_t value) {
    if (n == 0) return;
    uint64_t byte = packed_byte(p, at), shift = at - 8 * byte;
    uint64_t mask = ((UINT64_C(1) << n) - 1) << shift, word = umbeli_load_le64(chunk + byte);
    umbeli_store_le64(chunk + byte, (word & ~mask) | (value << shift & mask));
}

INLINED static inline uint64_t packed_shift(const packed *p, uint8_t *chunk, uint64_t from,
                                            uint64_t to, uint32_t n, uint64_t most) {
    uint64_t step = to - from < most ? to - from : most;
    packed_put(p, chunk, to - step + n, (uint32_t)step,
               packed_get(p, chunk, to - step, (uint32_t)step));
    return to - step;
}

/* Moves the bits [from, to) up by n: whole words, once their new end is that of a word. */
INLINED static inline void packed_move_up(const packed *p, uint8_t *chunk, uint64_t from,
                                          uint64_t to, uint32_t n) {
    enum { MOST = 56, WORD = 64 };
    if (n == 0) return;
    while (to > from && (to + n) % WORD) {
        uint64_t over = (to + n) % WORD;
        to = packed_shift(p, chunk, from, to, n, over < MOST ? over : MOST);
    }
    for (; to >= from + WORD; to -= WORD) {
        uint8_t *word = chunk + (to + n) / 8 - 8;
        uint64_t below = umbeli_load_le64(word - 8) >> (WORD - n);
        umbeli_store_le64(word, umbeli_load_le64(word) << n | below);
    }
    while (to > from) to = packed_shift(p, chunk, from, to, n, MOST);
}

enum { FOUR = 4 };
typedef uint64_t packed_words __attribute__((vector_size(FOUR * sizeof(uint64_t))));

/* Shifts the bits from `from` to the end of a part, whose last n bits are free, and puts `value`
 * into the gap.  Word by word, so only for chunks that are made of words. */
INLINED static inline void packed_push(uint8_t *chunk, uint64_t from, uint64_t end, uint32_t n,
                                       uint64_t value) {
    uint64_t first = from / 64, last = (end - 1) / 64, bit = from % 64;
    uint64_t word = umbeli_load_le64(chunk + 8 * first), after = umbeli_load_le64(chunk + 8 * last);
    uint64_t below = word & ((UINT64_C(1) << bit) - 1), above = word ^ below, k = last;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; k > first + FOUR; k -= FOUR) {
        packed_words here, less;
        memcpy(&here, chunk + 8 * (k - FOUR + 1), sizeof here);
        memcpy(&less, chunk + 8 * (k - FOUR), sizeof less);
        here = here << n | less >> (64 - n);
        memcpy(chunk + 8 * (k - FOUR + 1), &here, sizeof here);
    }
#endif
    for (; k > first + 1; k--) {
        uint64_t carry = umbeli_load_le64(chunk + 8 * k - 8) >> (64 - n);
        umbeli_store_le64(chunk + 8 * k, umbeli_load_le64(chunk + 8 * k) << n | carry);
    }
    if (last > first) {
        uint64_t next = umbeli_load_le64(chunk + 8 * first + 8) << n | above >> (64 - n);
        umbeli_store_le64(chunk + 8 * first + 8, next | value >> 1 >> (63 - bit));
    }
    umbeli_store_le64(chunk + 8 * first, below | value << bit | above << n);
    if (end % 64) { /* what follows the part stays */
        uint64_t mask = (UINT64_C(1) << end % 64) - 1;
        uint64_t moved = umbeli_load_le64(chunk + 8 * last);
        umbeli_store_le64(chunk + 8 * last, (moved & mask) | (after & ~mask));
    }
}

INLINED static inline uint32_t packed_count(const uint8_t *chunk) {
    return chunk[0] | (uint32_t)chunk[1] << 8;
}

INLINED static inline void packed_count_one(umbeli_layer *l, const packed *p, uint8_t *chunk) {
    uint32_t count = packed_count(chunk) + 1;
    chunk[0] = (uint8_t)count;
    chunk[1] = (uint8_t)(count >> 8);
    if (p->slots - count < l->packed.room) l->packed.room = p->slots - count;
}

INLINED static inline uint64_t packed_lower(const packed *p, uint32_t i) {
    return HEAD + p->slots + p->uppers + (uint64_t)i * p->low;
}

/* ---- Counting zeros ----
 *
 * Where the bit after the n-th zero of the upper parts is; the ones before it are the index.  In
 * bytes that are not such a chunk it may be any number. */

/* The lowest bits of a word up to its n-th one, which is there.  No branches: each would be a coin
 * toss. */
INLINED static inline uint32_t packed_nth_one(uint64_t word, uint32_t n) {
    uint32_t at = 0;
    for (uint32_t half = 32; half > 0; half /= 2) {
        uint32_t ones = (uint32_t)__builtin_popcountll(word & ((UINT64_C(1) << half) - 1));
        uint32_t above = UINT32_C(0) - (n > ones);
        n -= ones & above;
        word >>= half & above;
        at += half & above;
    }
    return at + 1;
}

#ifndef KERNEL_ZEROS
#define KERNEL_ZEROS packed_zeros_of_line /* a kernel may have a faster one */
#endif

/* In short chunks all of them are in one line: halves, quarters, words. */
INLINED static inline uint32_t packed_zeros_of_line(const uint8_t *chunk, uint32_t n) {
    uint64_t not_head = ~UINT64_C(0xffff);
    uint32_t word = 0;
    for (uint32_t half = 4; half > 0; half /= 2) {
        uint64_t first = ~umbeli_load_le64(chunk + 8 * word) & not_head;
        uint32_t zeros = (uint32_t)__builtin_popcountll(first);
        for (uint32_t i = 1; i < half; i++) {
            zeros += (uint32_t)__builtin_popcountll(~umbeli_load_le64(chunk + 8 * (word + i)));
        }
        uint32_t above = UINT32_C(0) - (n > zeros);
        n -= zeros & above;
        word += half & above;
        not_head |= UINT64_C(0) - (above & 1);
    }
    uint64_t zeros = ~umbeli_load_le64(chunk + 8 * word) & not_head;
    uint32_t after = 64 * word + packed_nth_one(zeros, n) - HEAD;
    return n ? after : 0;
}

INLINED static inline uint32_t packed_zeros(const packed *p, const uint8_t *chunk, uint32_t n) {
    if (p->short_chunks) return KERNEL_ZEROS(chunk, n);
    if (n == 0) return 0;
    uint64_t not_head = ~UINT64_C(0xffff);
    for (uint32_t at = 0, end = HEAD + p->slots + p->uppers; at < end; at += 64) {
        uint64_t byte = packed_byte(p, at);
        uint64_t word = ~(umbeli_load_le64(chunk + byte) >> (at - 8 * byte)) & not_head;
        uint32_t zeros = (uint32_t)__builtin_popcountll(word);
        if (zeros >= n) return at + packed_nth_one(word, n) - HEAD;
        n -= zeros;
        not_head = ~UINT64_C(0);
    }
    return 0;
}

/* ---- Where a hash is ---- */

typedef struct packed_value {
    uint64_t chunk; /* its number */
    uint64_t value; /* in it */
} packed_value;

/* The hashes whose product with the number of chunks has the same upper half are in one chunk; what
 * is left of the product says where among them, and dividing it is multiplying, give or take 1. */
INLINED static inline packed_value packed_value_of(const packed *p, uint64_t kept) {
    uint64_t top = kept << (64 - p->bits), rest = top * p->chunks;
    uint64_t unit = p->chunks << (64 - p->bits), value = umbeli_mul_high(rest, p->inverse);
    value += rest - value * unit >= unit;
    return (packed_value){umbeli_mul_high(top, p->chunks), value};
}

INLINED static inline uint64_t packed_kept(const packed *p, uint64_t hash) {
    return hash >> (64 - p->bits);
}

typedef struct packed_place {
    uint8_t *chunk;
    uint64_t low;
    uint32_t bit, index; /* of its one among the upper parts, and of its lower part */
} packed_place;

/* Whether it is there; *to is where it belongs. */
INLINED static inline bool packed_find(const packed *p, uint64_t kept, packed_place *to) {
    packed_value v = packed_value_of(p, kept);
    uint32_t upper = (uint32_t)(v.value >> p->low), end = p->slots + p->uppers;
    to->chunk = p->data + v.chunk * p->stride;
    to->low = v.value & ((UINT64_C(1) << p->low) - 1);
    to->bit = packed_zeros(p, to->chunk, upper);
    to->index = to->bit - upper;
    for (; to->bit < end && to->index < p->slots; to->bit++, to->index++) {
        if (!umbeli_bit_test(to->chunk, HEAD + to->bit)) return false;
        uint64_t here = packed_get(p, to->chunk, packed_lower(p, to->index), p->low);
        if (here >= to->low) return here == to->low;
    }
    to->bit = to->index = p->slots - 1; /* it is full, or damaged: in any case not outside */
    return false;
}

INLINED static inline void packed_insert(umbeli_layer *l, const packed *p, const packed_place *to) {
    uint32_t count = packed_count(to->chunk);
    uint64_t at = packed_lower(p, to->index);
    if (p->short_chunks) {
        packed_push(to->chunk, HEAD + to->bit, packed_lower(p, 0), 1, 1);
        packed_push(to->chunk, at, 8 * p->stride, p->low, to->low);
        packed_count_one(l, p, to->chunk);
        return;
    }
    if (p->stride % 8 == 0 && p->low > 0) {
        packed_push(to->chunk, HEAD + to->bit, HEAD + p->uppers + count + 1, 1, 1);
        packed_push(to->chunk, at, packed_lower(p, count) + p->low, p->low, to->low);
        packed_count_one(l, p, to->chunk);
        return;
    }
    packed_move_up(p, to->chunk, HEAD + to->bit, HEAD + p->uppers + count, 1);
    (void)umbeli_bit_set(to->chunk, HEAD + to->bit);
    packed_move_up(p, to->chunk, at, packed_lower(p, count), p->low);
    packed_put(p, to->chunk, at, p->low, to->low);
    packed_count_one(l, p, to->chunk);
}

/* ---- Batches ---- */

/* Stops when there is no room left: packed.done. */
INLINED static inline uint64_t packed_add_all(umbeli_layer *l, bool short_chunks,
                                              const uint64_t *hashes, size_t n, uint8_t *was_new) {
    enum { AHEAD = 16 };
    const packed p = packed_in(l, short_chunks);
    bool fetches = n > 1 && l->bytes > UMBELI_PLAIN_BELOW;
    uint64_t added = 0;
    size_t i = 0;
    packed_place to;
    for (; i < n && (i == 0 || l->packed.room > 0); i++) {
        for (size_t k = i ? i + AHEAD - 1 : 0; fetches && k < i + AHEAD && k < n; k++) {
            uint64_t chunk = packed_value_of(&p, packed_kept(&p, hashes[k])).chunk * p.stride;
            for (uint64_t at = 0; at < 256; at += 64) umbeli_fetch(p.data + chunk + at, p.is_far);
        }
        was_new[i] = !packed_find(&p, packed_kept(&p, hashes[i]), &to);
        if (was_new[i]) packed_insert(l, &p, &to);
        added += was_new[i];
    }
    l->packed.done = (uint32_t)i;
    return added;
}

INLINED static inline void packed_find_all(const umbeli_layer *l, const uint64_t *hashes, size_t n,
                                           uint8_t *found) {
    const packed p = packed_in(l, false);
    packed_place to;
    for (size_t i = 0; i < n && n > 1 && l->bytes > UMBELI_PLAIN_BELOW; i++) {
        packed_value v = packed_value_of(&p, packed_kept(&p, hashes[i]));
        for (uint64_t at = 0; at < 192; at += 64) {
            umbeli_fetch(p.data + v.chunk * p.stride + at, p.is_far);
        }
    }
    for (size_t i = 0; i < n; i++) found[i] = packed_find(&p, packed_kept(&p, hashes[i]), &to);
}

typedef struct packed_query {
    const uint8_t *chunk;
    uint64_t value; /* in it */
} packed_query;

INLINED static inline void packed_ask_line(const packed *p, uint64_t hash, packed_query *q) {
    packed_value v = packed_value_of(p, packed_kept(p, hash));
    q->chunk = p->data + v.chunk * p->stride;
    q->value = v.value;
    umbeli_fetch(q->chunk, p->is_far);
}

/* Hashes that share the upper part of the one asked for; RUN_MAX stands for that many or more:
 * a word may show nothing but ones. */
enum { RUN_MAX = 57 };
typedef struct packed_run {
    const uint8_t *chunk;
    uint64_t low, at;        /* the lower part asked for, and where theirs begin */
    uint32_t length, number; /* of them, and of the question */
} packed_run;

/* From the first one of their upper parts on; fetches the lower parts. */
INLINED static inline void packed_ask_run(const packed *p, const packed_query *q, uint32_t bit,
                                          packed_run *r) {
    enum { LAST = LINE / 8 - 8 }; /* the byte at which the last word of a line begins */
    uint32_t index = bit - (uint32_t)(q->value >> p->low), byte = (bit + HEAD) / 8;
    if (index >= p->slots) index = p->slots - 1; /* damaged, or the last of a full one */
    if (byte > LAST) byte = LAST;
    uint64_t ones = umbeli_load_le64(q->chunk + byte) >> ((bit + HEAD - 8 * byte) & 63);
    r->length = (uint32_t)__builtin_ctzll(~ones | UINT64_C(1) << RUN_MAX);
    if (r->length > p->slots - index) r->length = p->slots - index;
    r->chunk = q->chunk;
    r->low = q->value & ((UINT64_C(1) << p->low) - 1);
    r->at = packed_lower(p, index);
    umbeli_fetch(r->chunk + r->at / 8, p->is_far);
}

/* As packed_get, with more above, from one line if the bits are in one. */
INLINED static inline uint64_t packed_in_line(const packed *p, const uint8_t *chunk, uint64_t at,
                                              uint32_t n) {
    uint64_t byte = packed_byte(p, at), last = (byte | 63) - 7;
    byte = byte > last && at + n <= 8 * last + 64 ? last : byte;
    return umbeli_load_le64(chunk + byte) >> ((at - 8 * byte) & 63);
}

/* As many fields as fit a word are compared together: x - 1 borrows from a field that is 0. */
INLINED static inline bool packed_in_run(const packed *p, const packed_run *r, uint64_t units,
                                         uint32_t fields) {
    bool found = false;
    for (uint32_t done = 0, step; done < r->length; done += step) { /* nearly always once */
        step = r->length - done < fields ? r->length - done : fields;
        uint64_t x = packed_in_line(p, r->chunk, r->at + (uint64_t)done * p->low, step * p->low);
        x = (x ^ r->low * units) | (~UINT64_C(0) << step * p->low);
        found |= ((x - units) & ~x & units << (p->low - 1)) != 0;
    }
    return found;
}

INLINED static inline void packed_answer(const packed *p, const uint64_t *hashes,
                                         const packed_run *runs, size_t n, uint64_t units,
                                         uint32_t fields, uint8_t *found) {
    packed_place place;
    for (size_t i = 0; i < n; i++) {
        uint32_t k = runs[i].number;
        found[k] = runs[i].length < RUN_MAX ? packed_in_run(p, &runs[i], units, fields)
                                            : packed_find(p, packed_kept(p, hashes[k]), &place);
    }
}

/* Three steps, each a group of keys after the one before: by then its lines have come.  Mostly
 * nobody shares the upper part of an absent key, and there is nothing left to do for it. */
INLINED static inline void packed_contains_all(const umbeli_layer *l, const uint64_t *hashes,
                                               size_t n, uint8_t *found) {
    enum { GROUP = 32 };
    const packed p = packed_in(l, true);
    packed_query queries[2][GROUP];
    packed_run runs[2][GROUP];
    size_t count[2] = {0, 0}, turn = 0;
    uint32_t bits[GROUP]; /* after the zeros before a key's upper part */
    uint32_t fields = p.low ? 57 / p.low : 0;
    uint64_t units = 0;
    for (uint32_t i = 0; i < fields; i++) units |= UINT64_C(1) << i * p.low;
    memset(found, 0, n);
    for (size_t i = 0; i < n && i < GROUP; i++) packed_ask_line(&p, hashes[i], &queries[0][i]);
    for (size_t from = 0; from < n; from += GROUP, turn = !turn) {
        size_t group = n - from < GROUP ? n - from : GROUP, to = from + GROUP, held = 0;
        for (size_t i = 0; i < group; i++) {
            const packed_query *q = &queries[turn][i];
            bits[i] = packed_zeros(&p, q->chunk, (uint32_t)(q->value >> p.low));
            if (to + i < n) packed_ask_line(&p, hashes[to + i], &queries[!turn][i]);
        }
        for (size_t i = 0; i < group; i++) {
            runs[turn][held].number = (uint32_t)i;
            held += umbeli_bit_test(queries[turn][i].chunk, HEAD + bits[i]);
        }
        count[turn] = held;
        for (size_t i = 0; i < held; i++) {
            packed_run *run = &runs[turn][i];
            packed_ask_run(&p, &queries[turn][run->number], bits[run->number], run);
            run->number += (uint32_t)from;
        }
        packed_answer(&p, hashes, runs[!turn], count[!turn], units, fields, found);
    }
    packed_answer(&p, hashes, runs[!turn], count[!turn], units, fields, found);
}

/* Spreads the kept bits of a hash over 64 again, for a filter made of them. */
KERNEL_TARGET static void kernel_spread(uint32_t bits, const uint64_t *hashes, size_t n,
                                        uint64_t *out) {
    for (size_t i = 0; i < n; i++) {
        uint64_t x = (hashes[i] >> (64 - bits)) * UINT64_C(0x9e3779b97f4a7c15);
        x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
        out[i] = x ^ x >> 32;
    }
}

KERNEL_TARGET static void kernel_contains(const umbeli_layer *l, const uint64_t *hashes, size_t n,
                                          uint8_t *found) {
    packed_contains_all(l, hashes, n, found);
}

KERNEL_TARGET static uint64_t kernel_add(umbeli_layer *l, const uint64_t *hashes, size_t n,
                                         uint8_t *was_new) {
    return packed_add_all(l, true, hashes, n, was_new);
}

KERNEL_TARGET static void kernel_contains_long(const umbeli_layer *l, const uint64_t *hashes,
                                               size_t n, uint8_t *found) {
    packed_find_all(l, hashes, n, found);
}

KERNEL_TARGET static uint64_t kernel_add_long(umbeli_layer *l, const uint64_t *hashes, size_t n,
                                              uint8_t *was_new) {
    return packed_add_all(l, false, hashes, n, was_new);
}

const umbeli_packed_kernel KERNEL = {
    .contains = kernel_contains,
    .add = kernel_add,
    .contains_long = kernel_contains_long,
    .add_long = kernel_add_long,
    .spread = kernel_spread,
};
