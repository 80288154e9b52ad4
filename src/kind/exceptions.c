/* SPDX-License-Identifier: MIT */
#include "kind/exceptions.h"

#include "core/diag.h"
#include "hash/native_hash.h"

/* Where the hash is, or would be. */
static size_t place_of(const umbeli_exceptions *x, uint64_t hash) {
    size_t low = 0, n = x->count;
    while (n > 0) {
        size_t half = n / 2;
        if (x->hashes[low + half] < hash) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
}

static bool excepted(const umbel_filter *f, uint64_t hash) {
    const umbeli_exceptions *x = f->exceptions;
    size_t at = place_of(x, hash);
    return at < x->count && x->hashes[at] == hash;
}

static bool excepted_key(const umbel_filter *f, const void *key, size_t len) {
    return f->exceptions->count && excepted(f, umbeli_native_hash(&f->shape, key, len));
}

/* ---- lookups: the exceptions after a hit -------------------------------------------------- */

static bool contains(const umbel_filter *f, const void *key, size_t len) {
    return f->exceptions->plain->contains(f, key, len) && !excepted_key(f, key, len);
}

static void contains_many(const umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *hit) {
    f->exceptions->plain->contains_many(f, keys, n, hit);
    for (size_t i = 0; i < n; i++) {
        if (hit[i]) hit[i] = !excepted_key(f, keys[i].data, keys[i].len);
    }
}

static bool contains_hash(const umbel_filter *f, uint64_t hash) {
    return f->exceptions->plain->contains_hash(f, hash) && !excepted(f, hash);
}

static void contains_hashes(const umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *hit) {
    f->exceptions->plain->contains_hashes(f, hashes, n, hit);
    for (size_t i = 0; i < n; i++) {
        if (hit[i]) hit[i] = !excepted(f, hashes[i]);
    }
}

static uint32_t count(const umbel_filter *f, const void *key, size_t len) {
    return excepted_key(f, key, len) ? 0 : f->exceptions->plain->count(f, key, len);
}

/* ---- adds: a member is never hidden ------------------------------------------------------- */

/* Drops the exception with this hash; returns whether there was one. */
static bool drop(umbel_filter *f, uint64_t hash) {
    umbeli_exceptions *x = f->exceptions;
    size_t at = place_of(x, hash);
    if (at == x->count || x->hashes[at] != hash) return false;
    memmove(x->hashes + at, x->hashes + at + 1, (--x->count - at) * sizeof x->hashes[0]);
    return true;
}

/* Keys that changed a bit may let good keys be found that were not found before. */
static void note_change(umbel_filter *f, uint64_t added_before) {
    if (umbeli_keys_added(f) != added_before) f->exceptions->outdated = true;
}

void umbeli_admit_keys(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new,
                       uint64_t added_before) {
    if (!f->exceptions) return;
    note_change(f, added_before);
    for (size_t i = 0; i < n && f->exceptions->count; i++) {
        bool hidden = drop(f, umbeli_native_hash(&f->shape, keys[i].data, keys[i].len));
        if (hidden && was_new) was_new[i] = 1;
    }
}

static umbel_err add(umbel_filter *f, const void *key, size_t len, bool *was_new) {
    uint64_t before = umbeli_keys_added(f);
    bool is_new = false;
    umbel_err e = f->exceptions->plain->add(f, key, len, &is_new);
    if (e) return e;
    uint8_t admitted = is_new;
    umbeli_admit_keys(f, &(umbel_key){key, len}, 1, &admitted, before);
    if (was_new) *was_new = admitted;
    return UMBEL_OK;
}

static umbel_err add_many(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new,
                          size_t *done) {
    uint64_t before = umbeli_keys_added(f);
    umbel_err e = f->exceptions->plain->add_many(f, keys, n, was_new, done);
    umbeli_admit_keys(f, keys, *done, was_new, before);
    return e;
}

static umbel_err add_hashes(umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *was_new,
                            size_t *done) {
    uint64_t before = umbeli_keys_added(f);
    umbel_err e = f->exceptions->plain->add_hashes(f, hashes, n, was_new, done);
    note_change(f, before);
    for (size_t i = 0; i < *done; i++) {
        if (drop(f, hashes[i]) && was_new) was_new[i] = 1;
    }
    return e;
}

/* Removing what was never added could make members vanish. */
static umbel_err remove_key(umbel_filter *f, const void *key, size_t len) {
    return excepted_key(f, key, len) ? UMBEL_EABSENT : f->exceptions->plain->remove(f, key, len);
}

/* ---- the operations ----------------------------------------------------------------------- */

static umbeli_ops guarded(const umbeli_ops *plain) {
    umbeli_ops ops = *plain;
    ops.contains = contains;
    ops.contains_many = contains_many;
    if (plain->contains_hash) ops.contains_hash = contains_hash;
    if (plain->contains_hashes) ops.contains_hashes = contains_hashes;
    if (plain->count) ops.count = count;
    if (plain->add) ops.add = add;
    if (plain->add_many) ops.add_many = add_many;
    if (plain->add_hashes) ops.add_hashes = add_hashes;
    if (plain->remove) ops.remove = remove_key;
    return ops;
}

umbel_err umbeli_except(umbel_filter *f, const uint64_t *hashes, size_t n, bool outdated,
                        umbel_diag *diag) {
    if (n > UMBELI_EXCEPTIONS_MAX) {
        return umbeli_fail(diag, UMBEL_EFULL, "exceptions: more than 64000; promise a lower rate");
    }
    if (n && f->shape.format != UMBEL_FMT_NATIVE) {
        return umbeli_fail(diag, UMBEL_ENOTSUP, "exceptions: only native filters have them");
    }
    if (n && f->concurrent) {
        return umbeli_fail(diag, UMBEL_ENOTSUP,
                           "concurrent: a filter with exceptions takes one writer at a time");
    }
    umbeli_exceptions *x = NULL;
    if (n) {
        x = umbeli_new(&f->settings, sizeof *x + n * sizeof x->hashes[0]);
        if (!x) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for exceptions");
    }
    umbeli_filter_drop_exceptions(f);
    if (!n) return UMBEL_OK;
    x->plain = f->ops;
    x->ops = guarded(f->ops);
    x->outdated = outdated;
    x->count = (uint32_t)n;
    memcpy(x->hashes, hashes, n * sizeof x->hashes[0]);
    f->exceptions = x;
    umbeli_set_ops(f, &x->ops);
    return UMBEL_OK;
}

bool umbeli_same_exceptions(const umbel_filter *a, const umbel_filter *b) {
    const umbeli_exceptions *x = a->exceptions, *y = b->exceptions;
    uint32_t n = x ? x->count : 0;
    if (n != (y ? y->count : 0)) return false;
    return n == 0 || memcmp(x->hashes, y->hashes, n * sizeof x->hashes[0]) == 0;
}
