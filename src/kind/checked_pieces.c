/* SPDX-License-Identifier: MIT */
#include "kind/checked_pieces.h"

#include <string.h>

#include "core/bits.h"
#include "core/diag.h"
#include "core/size.h"
#include "hash/xxh.h"

enum { UNREAD = 0, GOOD = 1, DAMAGED = 2 };

/* Threads may check a piece at the same time; they agree, and the first one counts it. */
typedef struct umbeli_pieces {
    umbeli_ops ops;          /* those below */
    const umbeli_ops *plain; /* those without checks */
    umbeli_summed summed;
    uint64_t count;
    _Atomic uint64_t left;  /* unread pieces */
    _Atomic uint64_t found; /* 0: no damage, otherwise 1 + the number of a damaged piece */
    _Atomic uint8_t state[];
} umbeli_pieces;

uint64_t umbeli_pieces_of(uint64_t payload_len) {
    return umbeli_ceil_div(payload_len, UMBELI_PIECE);
}

static bool is_good(const umbeli_summed *s, uint64_t i) {
    uint64_t from = i * UMBELI_PIECE, left = s->len - from;
    size_t n = left < UMBELI_PIECE ? (size_t)left : UMBELI_PIECE;
    return umbeli_xxh3_64(s->payload + from, n, i) == umbeli_load_le64(s->sums + 8 * i);
}

static umbel_err damaged(const umbeli_summed *s, uint64_t i, umbel_diag *diag) {
    return umbeli_bad(diag, s->offset + i * UMBELI_PIECE, "payload checksum: the bits are damaged");
}

umbel_err umbeli_piece_check(const umbeli_summed *s, uint64_t i, umbel_diag *diag) {
    return is_good(s, i) ? UMBEL_OK : damaged(s, i, diag);
}

/* ---- pieces ------------------------------------------------------------------------------- */

/* The filter's memory is always writable, even for callers that promise not to change it. */
static void end_checks(const umbel_filter *f) {
    umbeli_set_ops((umbel_filter *)(uintptr_t)f, f->pieces->plain);
}

/* Damage is known before its piece is, so that whoever gets an answer from it can ask. */
static bool read_piece(const umbel_filter *f, uint64_t i) {
    umbeli_pieces *p = f->pieces;
    uint8_t now = is_good(&p->summed, i) ? GOOD : DAMAGED, before = UNREAD;
    uint64_t none = 0;
    if (now == DAMAGED) atomic_compare_exchange_strong(&p->found, &none, i + 1);
    if (atomic_compare_exchange_strong(&p->state[i], &before, now) &&
        atomic_fetch_sub(&p->left, 1) == 1 && !atomic_load(&p->found)) {
        end_checks(f);
    }
    return now == GOOD;
}

static bool is_sound(const umbel_filter *f, uint64_t i) {
    uint8_t state = atomic_load_explicit(&f->pieces->state[i], memory_order_acquire);
    return state == UNREAD ? read_piece(f, i) : state == GOOD;
}

/* Bytes [from, end) of the payload. */
static bool range_is_sound(const umbel_filter *f, uint64_t from, uint64_t end) {
    const uint64_t len = f->pieces->summed.len;
    bool sound = true;
    if (end > len) end = len;
    for (uint64_t i = from / UMBELI_PIECE; i * UMBELI_PIECE < end; i++) sound &= is_sound(f, i);
    return sound;
}

/* What a lookup of this key or hash reads. */
static bool key_is_sound(const umbel_filter *f, umbel_key key, uint64_t hash) {
    enum { SLOT = 8, PROBES = 1024 };
    const umbeli_ops *plain = f->pieces->plain;
    uint64_t bits[PROBES], reach = plain->reach ? plain->reach : SLOT;
    if (plain->always_read && !range_is_sound(f, 0, plain->always_read(f))) return false;
    size_t n = plain->probes(f, key, hash, bits, PROBES);
    if (n > PROBES) return umbeli_check_now(f, NULL) == UMBEL_OK;
    bool sound = true;
    for (size_t i = 0; i < n; i++) {
        sound &= range_is_sound(f, bits[i] / 8, bits[i] / 8 + reach);
    }
    return sound;
}

/* Whether the kind's own operations can answer a batch of n keys. */
static bool all_is_sound(const umbel_filter *f, size_t n) {
    return n >= atomic_load(&f->pieces->left) && umbeli_check_now(f, NULL) == UMBEL_OK;
}

/* ---- lookups ------------------------------------------------------------------------------ */

static uint64_t hash_of(const umbel_filter *f, const void *key, size_t len) {
    const umbeli_ops *plain = f->pieces->plain;
    uint64_t hash = 0;
    if (plain->hash_many) plain->hash_many(f, &(umbel_key){key, len}, 1, &hash);
    return hash;
}

static bool contains(const umbel_filter *f, const void *key, size_t len) {
    return !key_is_sound(f, (umbel_key){key, len}, hash_of(f, key, len)) ||
           f->pieces->plain->contains(f, key, len);
}

static void contains_many(const umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *hit) {
    if (all_is_sound(f, n)) {
        f->pieces->plain->contains_many(f, keys, n, hit);
        return;
    }
    for (size_t i = 0; i < n; i++) hit[i] = contains(f, keys[i].data, keys[i].len);
}

static bool contains_hash(const umbel_filter *f, uint64_t hash) {
    return !key_is_sound(f, (umbel_key){0}, hash) || f->pieces->plain->contains_hash(f, hash);
}

static void contains_hashes(const umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *hit) {
    if (all_is_sound(f, n)) {
        f->pieces->plain->contains_hashes(f, hashes, n, hit);
        return;
    }
    for (size_t i = 0; i < n; i++) hit[i] = contains_hash(f, hashes[i]);
}

/* An upper bound is all that a count promises. */
static uint32_t count(const umbel_filter *f, const void *key, size_t len) {
    enum { COUNTER_MAX = 15 };
    if (!key_is_sound(f, (umbel_key){key, len}, hash_of(f, key, len))) return COUNTER_MAX;
    return f->pieces->plain->count(f, key, len);
}

/* ---- adds: before a piece is changed ------------------------------------------------------ */

static bool keys_are_sound(const umbel_filter *f, const umbel_key *keys, const uint64_t *hashes,
                           size_t n) {
    bool sound = n < atomic_load(&f->pieces->left) || all_is_sound(f, n);
    for (size_t i = 0; i < n && sound && atomic_load(&f->pieces->left); i++) {
        sound = hashes ? key_is_sound(f, (umbel_key){0}, hashes[i])
                       : key_is_sound(f, keys[i], hash_of(f, keys[i].data, keys[i].len));
    }
    return sound;
}

static umbel_err add(umbel_filter *f, const void *key, size_t len, bool *was_new) {
    if (!keys_are_sound(f, &(umbel_key){key, len}, NULL, 1)) return UMBEL_ECORRUPT;
    return f->pieces->plain->add(f, key, len, was_new);
}

static umbel_err add_many(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new,
                          size_t *done) {
    *done = 0;
    if (!keys_are_sound(f, keys, NULL, n)) return UMBEL_ECORRUPT;
    return f->pieces->plain->add_many(f, keys, n, was_new, done);
}

static umbel_err add_hashes(umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *was_new,
                            size_t *done) {
    *done = 0;
    if (!keys_are_sound(f, NULL, hashes, n)) return UMBEL_ECORRUPT;
    return f->pieces->plain->add_hashes(f, hashes, n, was_new, done);
}

static umbel_err remove_key(umbel_filter *f, const void *key, size_t len) {
    if (!keys_are_sound(f, &(umbel_key){key, len}, NULL, 1)) return UMBEL_ECORRUPT;
    return f->pieces->plain->remove(f, key, len);
}

/* ---- checking ----------------------------------------------------------------------------- */

static umbel_err begin(umbel_filter *f, const umbeli_summed *s, umbel_diag *diag) {
    uint64_t n = umbeli_pieces_of(s->len);
    umbeli_pieces *p = umbeli_new(&f->settings, sizeof *p + (size_t)n);
    if (!p) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a filter");
    p->plain = f->ops;
    p->ops = *p->plain;
    p->summed = *s;
    p->count = n;
    atomic_init(&p->left, n);
    p->ops.contains = contains;
    p->ops.contains_many = contains_many;
    if (p->plain->contains_hash) p->ops.contains_hash = contains_hash;
    if (p->plain->contains_hashes) p->ops.contains_hashes = contains_hashes;
    if (p->plain->count) p->ops.count = count;
    if (p->plain->add) p->ops.add = add;
    if (p->plain->add_many) p->ops.add_many = add_many;
    if (p->plain->add_hashes) p->ops.add_hashes = add_hashes;
    if (p->plain->remove) p->ops.remove = remove_key;
    f->pieces = p;
    return UMBEL_OK;
}

umbel_err umbeli_check_later(umbel_filter *f, const umbeli_summed *s, umbel_diag *diag) {
    umbel_err e = begin(f, s, diag);
    if (!e) umbeli_set_ops(f, &f->pieces->ops);
    return e;
}

static bool is_zeros_by_sum(const umbeli_summed *s, uint64_t i) {
    static const uint8_t zeros[4096];
    umbeli_xxh3_stream sum;
    uint64_t left = s->len - i * UMBELI_PIECE;
    umbeli_xxh3_begin(&sum, i);
    for (uint64_t n = left < UMBELI_PIECE ? left : UMBELI_PIECE, some; n > 0; n -= some) {
        some = n < sizeof zeros ? n : sizeof zeros;
        umbeli_xxh3_sink(&sum, zeros, (size_t)some);
    }
    return umbeli_xxh3_end(&sum) == umbeli_load_le64(s->sums + 8 * i);
}

umbel_err umbeli_check_but_zeros(umbel_filter *f, const umbeli_summed *s, umbel_diag *diag) {
    umbel_err e = begin(f, s, diag);
    umbeli_pieces *p = f->pieces;
    for (uint64_t i = 0; !e && i < p->count; i++) {
        if (is_zeros_by_sum(s, i)) continue;
        e = umbeli_piece_check(s, i, diag);
        atomic_init(&p->state[i], GOOD);
        atomic_fetch_sub(&p->left, 1);
    }
    if (!e && atomic_load(&p->left)) umbeli_set_ops(f, &p->ops);
    return e;
}

bool umbeli_untouched_zeros(const umbel_filter *f, uint64_t from, uint64_t end, uint64_t *sum) {
    const umbeli_pieces *p = f->pieces;
    uint64_t i = from / UMBELI_PIECE;
    bool same = p && i < p->count && (end == p->summed.len || end == from + UMBELI_PIECE) &&
                end <= p->summed.len;
    if (!same || atomic_load(&p->state[i]) != UNREAD) return false;
    *sum = umbeli_load_le64(p->summed.sums + 8 * i);
    return true;
}

umbel_err umbeli_check_touched(const umbel_filter *f, umbel_diag *diag) {
    const umbeli_pieces *p = f->pieces;
    if (!p || f->frozen) return umbeli_check_now(f, diag);
    if (p->summed.len != umbeli_filter_bytes(f)) (void)is_sound(f, p->count - 1);
    return umbeli_damage(f, diag);
}

umbel_err umbeli_check_now(const umbel_filter *f, umbel_diag *diag) {
    const umbeli_pieces *p = f->pieces;
    for (uint64_t i = 0; p && i < p->count && atomic_load(&p->left); i++) (void)is_sound(f, i);
    return umbeli_damage(f, diag);
}

umbel_err umbeli_damage(const umbel_filter *f, umbel_diag *diag) {
    const umbeli_pieces *p = f->pieces;
    uint64_t found = p ? atomic_load(&p->found) : 0;
    return found ? damaged(&p->summed, found - 1, diag) : UMBEL_OK;
}

uint64_t umbeli_pieces_checked(const umbel_filter *f) {
    const umbeli_pieces *p = f->pieces;
    return p ? p->count - atomic_load(&p->left) : umbeli_pieces_of(umbeli_filter_bytes(f));
}
