/* SPDX-License-Identifier: MIT
 *
 * chain_merge.c - merges one chain into another
 *
 * Matching layers at the same position are merged by OR.  Keys that both chains have are then
 * counted twice; where the sum exceeds a layer's capacity, the number is estimated from the bits of
 * both.  Everything that can fail happens before the first change.
 *
 * Packed layers are sets of hashes, and get the union of both.  They stop growing at a share of the
 * promised rate, and may exceed that here, as long as all layers together keep the promise.
 */
#include <string.h>

#include "core/diag.h"
#include "core/size.h"
#include "kind/chain/chain.h"

static umbel_err mismatch(umbel_diag *diag, const char *what) {
    return umbeli_fail(diag, UMBEL_EMISMATCH, what);
}

static umbel_err check_alike(const umbeli_chain *a, const umbeli_chain *b, umbel_diag *diag) {
    umbeli_shape mine = a->base.shape, theirs = b->base.shape;
    const umbeli_chain_policy *policy = a->base.ops->policy;
    mine.bits = theirs.bits = 0; /* layers are compared one by one */
    mine.hashes = theirs.hashes = 0;
    const char *what = umbeli_shape_mismatch(&mine, &theirs);
    if (!what && policy != b->base.ops->policy) what = "the layouts differ";
    if (!what && policy->differ) what = policy->differ(a, b, UINT32_MAX);
    for (uint32_t i = 0; i < a->count && i < b->count && !what; i++) {
        const umbeli_layer *x = &a->layers[i], *y = &b->layers[i];
        bool packed = x->probes == &umbeli_probes_packed && y->probes == x->probes;
        if (x->probes != y->probes) {
            what = "the kinds differ";
        } else if (!packed && (x->bytes != y->bytes || x->nbits != y->nbits)) {
            what = "the sizes differ";
        } else if (x->hashes != y->hashes) {
            what = "the numbers of hashes differ";
        } else if (policy->differ) {
            what = policy->differ(a, b, i);
        }
    }
    return what ? mismatch(diag, what) : UMBEL_OK;
}

/* Set bits of a layer, or of the OR of two matching ones. */
static uint64_t count_union(const umbeli_layer *a, const umbeli_layer *b) {
    uint8_t both[4096];
    uint64_t set = 0;
    for (uint64_t at = 0; at < a->nbits; at += 8 * sizeof both) {
        uint64_t left = a->nbits - at, bits = left < 8 * sizeof both ? left : 8 * sizeof both;
        size_t len = (size_t)umbeli_ceil_div(bits, 8);
        memcpy(both, a->bits + at / 8, len);
        if (b) umbeli_bits_or(both, b->bits + at / 8, len);
        set += umbeli_bits_count_first(both, bits);
    }
    return set;
}

/* The number of keys in a merged layer, from two layers or one; UMBEL_EFULL: too many. */
static umbel_err merged_keys(const umbeli_layer *a, const umbeli_layer *b, uint64_t *keys) {
    const double tolerance = 1.05; /* estimates of small filters are off by a few percent */
    if (!umbeli_size_add(a->keys, b ? b->keys : 0, keys)) *keys = UINT64_MAX;
    if (a->capacity == 0 || *keys <= a->capacity) return UMBEL_OK;
    double estimated = a->probes->estimate(a, count_union(a, b));
    if (!(estimated <= tolerance * (double)a->capacity) || estimated < 1) return UMBEL_EFULL;
    *keys = estimated < (double)a->capacity ? (uint64_t)estimated : a->capacity;
    return UMBEL_OK;
}

/* The key counts of all merged layers. */
static umbel_err count_keys(const umbeli_chain *a, const umbeli_chain *b, uint64_t *keys,
                            umbel_diag *diag) {
    uint32_t mine = a->count, theirs = b->count;
    for (uint32_t i = 0; i < mine || i < theirs; i++) {
        const umbeli_layer *x = i < mine ? &a->layers[i] : &b->layers[i];
        const umbeli_layer *y = i < mine && i < theirs ? &b->layers[i] : NULL;
        if (x->probes != &umbeli_probes_packed && merged_keys(x, y, &keys[i])) {
            return umbeli_fail(diag, UMBEL_EFULL, "both together exceed the capacity of a layer");
        }
    }
    return UMBEL_OK;
}

/* Appends copies of the layers that only `from` has; removes them again on failure. */
static umbel_err append_further(umbeli_chain *into, const umbeli_chain *from) {
    umbel_err e = UMBEL_OK;
    uint32_t before = into->count;
    while (!e && into->count < from->count) {
        const umbeli_layer *theirs = &from->layers[into->count];
        e = umbeli_chain_append(into, theirs, 0);
        if (e) break;
        memcpy(into->layers[into->newest].bits, theirs->bits, (size_t)theirs->bytes);
        umbeli_chain_recount(into, &into->layers[into->newest]);
    }
    if (e) umbeli_chain_truncate(into, before);
    return e;
}

static bool breaks_promise(const umbeli_chain *c) {
    double sum = 0;
    for (uint32_t i = 0; i < c->count; i++) sum += c->layers[i].rate;
    return sum > c->base.shape.fpr;
}

umbel_err umbeli_chain_merge(umbeli_chain *into, const umbeli_chain *from, umbel_diag *diag) {
    umbel_err e = check_alike(into, from, diag);
    if (e) return e;
    uint32_t mine = into->count, theirs = from->count, count = mine > theirs ? mine : theirs;
    uint64_t *keys = umbeli_new(&into->base.settings, count * sizeof *keys), sum = 0;
    if (!keys) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory to merge");
    e = count_keys(into, from, keys, diag);
    if (!e && append_further(into, from)) {
        e = umbeli_fail(diag, UMBEL_ENOMEM, "no memory to merge");
    }
    for (uint32_t i = 0; i < count && !e; i++) {
        umbeli_layer *l = &into->layers[i];
        bool both = i < mine && i < theirs, packed = l->probes == &umbeli_probes_packed;
        if (packed && both && umbeli_chain_unite(into, i, &from->layers[i])) {
            e = umbeli_fail(diag, UMBEL_ENOMEM, "no memory to merge");
        }
        if (!packed && both) umbeli_bits_or(l->bits, from->layers[i].bits, l->bytes);
        if (!packed) l->keys = keys[i];
        sum += into->layers[i].keys;
    }
    if (!e) umbeli_set_keys_added(&into->base, sum);
    if (!e && umbeli_chain_has_hashes(into) && breaks_promise(into)) {
        e = umbeli_fail(diag, UMBEL_EFULL, "both together break the promised rate");
    }
    umbeli_delete(&into->base.settings, keys);
    return e;
}
