/* SPDX-License-Identifier: MIT */
#include "format/redisbloom/redisbloom_link.h"

#include <math.h>

#include "core/cpu.h"
#include "core/diag.h"
#include "core/platform.h"
#include "core/size.h"
#include "format/progression.h"
#include "hash/foreign_hash.h"
#include "kind/classic/classic.h"
#include "plan/plan.h"

enum { SCHEME_REDISBLOOM = 10 };

/* ---- Probes: start, start + step, ..., modulo the bits ---- */

enum { GROUP = 64, FIRST_PROBES = 1 };

/* low is the start, high the step. */
static void hash_wide(const umbel_key *keys, size_t n, umbeli_hash128 *hashes) {
    static const uint64_t seed = UINT64_C(0xc6a4a7935bd1e995);
    for (size_t i = 0; i < n; i++) {
        uint64_t start = umbeli_murmur2_64a(keys[i].data, keys[i].len, seed);
        hashes[i].low = start;
        hashes[i].high = umbeli_murmur2_64a(keys[i].data, keys[i].len, start);
    }
}

static inline uint64_t probe_at(const umbeli_layer *link, umbeli_hash128 h, uint32_t i) {
    return umbeli_mod(h.low + i * h.high, link->modulus);
}

static inline void prefetch(const umbeli_layer *link, umbeli_hash128 h, uint32_t from,
                            uint32_t to) {
    bool is_far = umbeli_is_far(link->bytes);
    for (uint32_t i = from; i < to; i++) {
        umbeli_fetch(link->bits + (probe_at(link, h, i) >> 3), is_far);
    }
}

/* The first two together: with half the bits set, a branch on one of them is unpredictable. */
static inline bool test_all(const umbeli_layer *link, umbeli_hash128 h) {
    unsigned passed = umbeli_bit_test(link->bits, probe_at(link, h, 0));
    if (link->hashes > 1) passed &= umbeli_bit_test(link->bits, probe_at(link, h, 1));
    for (uint32_t i = 2; i < link->hashes && passed; i++) {
        passed = umbeli_bit_test(link->bits, probe_at(link, h, i));
    }
    return passed;
}

static inline bool test(const umbeli_layer *link, umbeli_hash128 h, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++) {
        if (!umbeli_bit_test(link->bits, probe_at(link, h, i))) return false;
    }
    return true;
}

/* Fetches and tests a few probes of all keys, then more of those that passed: with half the bits
 * set, each probe halves the absent ones, and a line that is not needed costs as much as one that
 * is. */
static void contains_group(const umbeli_layer *link, const umbeli_hash128 *h, size_t n,
                           uint8_t *found) {
    uint8_t open[GROUP];
    size_t left = n, passed;
    uint32_t k = link->hashes, from = 0, to = k < FIRST_PROBES ? k : FIRST_PROBES;
    for (size_t i = 0; i < n; i++) {
        open[i] = (uint8_t)i;
        found[i] = 0;
    }
    while (left > 0 && from < k) {
        for (size_t i = 0; i < left; i++) prefetch(link, h[open[i]], from, to);
        passed = 0;
        for (size_t i = 0; i < left; i++) {
            bool has = test(link, h[open[i]], from, to);
            open[passed] = open[i];
            passed += has;
        }
        left = passed;
        from = to;
        to = 2 * to < k ? 2 * to : k;
    }
    for (size_t i = 0; i < left; i++) found[open[i]] = 1;
}

static void contains(const umbeli_layer *link, umbeli_hashes h, size_t n, uint8_t *found) {
    if (link->bytes <= UMBELI_PLAIN_BELOW || n == 1) {
        for (size_t i = 0; i < n; i++) found[i] = test_all(link, h.wide[i]);
        return;
    }
    for (size_t from = 0; from < n; from += GROUP) {
        contains_group(link, h.wide + from, n - from < GROUP ? n - from : GROUP, found + from);
    }
}

#if UMBELI_HAVE_PREFETCH

/* The first two probes of n links, the newest first: three of four absent keys do not pass them.
 * Collects in `open` those that passed. */
static uint32_t ask_first(const umbeli_layer *links, uint32_t n, umbeli_hash128 h, uint8_t *open) {
    uint64_t at[GROUP][2];
    uint32_t passed = 0;
    for (uint32_t i = n; i-- > 0;) {
        for (uint32_t p = 0; p < 2; p++) {
            at[i][p] = probe_at(&links[i], h, links[i].hashes > 1 ? p : 0);
            __builtin_prefetch(links[i].bits + (at[i][p] >> 3));
        }
    }
    for (uint32_t i = n; i-- > 0;) {
        const uint8_t *bits = links[i].bits;
        unsigned both = umbeli_bit_test(bits, at[i][0]);
        both &= umbeli_bit_test(bits, at[i][1]);
        open[passed] = (uint8_t)i;
        passed += both;
    }
    return passed;
}

/* One key in many links: the probes that all of them need are fetched before any is tested, then
 * twice as many of those that are left. */
static bool any_contains(const umbeli_layer *links, uint32_t count, umbeli_hashes hash) {
    uint8_t open[GROUP];
    for (uint32_t size = 0; count > 0; count -= size) {
        size = count < GROUP ? count : GROUP;
        const umbeli_layer *group = links + (count - size);
        uint32_t left = ask_first(group, size, *hash.wide, open), passed;
        for (uint32_t from = 2; left > 0; from *= 2, left = passed) {
            for (uint32_t i = 0; i < left; i++) {
                const umbeli_layer *link = &group[open[i]];
                prefetch(link, *hash.wide, from, 2 * from < link->hashes ? 2 * from : link->hashes);
            }
            passed = 0;
            for (uint32_t i = 0; i < left; i++) {
                const umbeli_layer *link = &group[open[i]];
                uint32_t to = 2 * from < link->hashes ? 2 * from : link->hashes;
                bool has = test(link, *hash.wide, from, to);
                if (has && to == link->hashes) return true;
                open[passed] = open[i];
                passed += has;
            }
        }
    }
    return false;
}

#endif

/* Testing first is faster than collecting what each store changed: the first unset bit decides, and
 * the stores wait for nothing.  Uses copies of the fields, because for the compiler each byte store
 * may alias them. */
static bool mark(const umbeli_layer *link, umbeli_hash128 h) {
    uint8_t *bits = link->bits;
    umbeli_modulus modulus = link->modulus;
    uint32_t k = link->hashes;
    if (test(link, h, 0, k)) return false;
    for (uint32_t i = 0; i < k; i++, h.low += h.high) {
        umbeli_bit_set(bits, umbeli_mod(h.low, modulus));
    }
    return true;
}

static uint64_t add(umbeli_layer *link, umbeli_hashes h, size_t n, uint8_t *was_new) {
    uint64_t added = 0;
    bool small = link->bytes <= UMBELI_PLAIN_BELOW || n == 1;
    for (size_t from = 0; from < n; from += GROUP) {
        size_t to = n - from < GROUP ? n : from + GROUP;
        for (size_t i = from; i < to && !small; i++) prefetch(link, h.wide[i], 0, link->hashes);
        for (size_t i = from; i < to; i++) {
            was_new[i] = mark(link, h.wide[i]);
            added += was_new[i];
        }
    }
    return added;
}

/* Sums wrap at 2^64. */
static umbeli_progression progression_of(const umbeli_layer *link) {
    return (umbeli_progression){
        .bits = link->nbits, .hashes = link->hashes, .jump = umbeli_power_modulo(64, link->nbits)};
}

static double estimate(const umbeli_layer *link, uint64_t bits_set) {
    umbeli_progression p = progression_of(link);
    return umbeli_progression_keys(&p, bits_set);
}

static double live_rate(const umbeli_layer *link, uint64_t bits_set) {
    umbeli_progression p = progression_of(link);
    return umbeli_progression_live(&p, link->bits, bits_set, estimate(link, bits_set));
}

static uint64_t bit(const umbeli_layer *link, umbeli_hashes h, uint32_t i) {
    return probe_at(link, *h.wide, i);
}

static double rate_after(const umbeli_layer *link, uint64_t keys) {
    return umbeli_classic_rate(link->nbits, link->hashes, keys);
}

const umbeli_probes umbeli_probes_redisbloom = {
    .kind = UMBEL_KIND_CLASSIC,
    .plain = true,
    .rate_after = rate_after,
    .hash_wide = hash_wide,
    .contains = contains,
#if UMBELI_HAVE_PREFETCH
    .any_contains = any_contains,
#endif
    .add = add,
    .bit = bit,
    .estimate = estimate,
    .live_rate = live_rate,
};

/* ---- Policy ---- */

/* The constants here have RedisBloom's digits. */
static double bits_per_entry(double rate) {
    return fabs(log(rate) / 0.480453013918201);
}

double umbeli_redisbloom_bits_per_entry(const umbeli_layer *link) {
    return link->bits_per_entry != 0 ? link->bits_per_entry : bits_per_entry(link->rate);
}

double umbeli_redisbloom_hashes(double each) {
    return ceil(0.693147180559945 * each);
}

umbel_err umbeli_redisbloom_size_link(uint64_t capacity, double rate, umbeli_layer *link,
                                      umbel_diag *diag) {
    double each = bits_per_entry(rate), bits = (double)capacity * each;
    double hashes = umbeli_redisbloom_hashes(each);
    if (!(bits < 0x1p62) || !(hashes <= UMBELI_REDISBLOOM_HASHES_MAX) || capacity == 0 ||
        rate <= 0) {
        return umbeli_fail(diag, UMBEL_EFULL, "capacity, fpr: the next link would be too large");
    }
    uint64_t words = umbeli_ceil_div(bits < 1 ? 1 : (uint64_t)bits, 64);
    *link = (umbeli_layer){
        .probes = &umbeli_probes_redisbloom,
        .bytes = words * 8,
        .nbits = words * 64,
        .rate = rate,
        .hashes = (uint32_t)hashes,
        .capacity = capacity,
    };
    return UMBEL_OK;
}

static umbel_err next(umbeli_chain *c, uint64_t max_bytes) {
    const umbeli_redisbloom *r = (const umbeli_redisbloom *)c;
    const umbeli_layer *last = &c->layers[c->newest];
    umbeli_layer link;
    uint64_t capacity;
    if (r->options & UMBELI_REDISBLOOM_NO_SCALING) return UMBEL_EFULL;
    /* Only old releases rounded to powers of two: such chains can be read but not extended. */
    if (!(r->options & UMBELI_REDISBLOOM_NOROUND)) return UMBEL_ENOTSUP;
    if (!umbeli_size_mul(last->capacity, r->growth, &capacity)) return UMBEL_EFULL;
    umbel_err e = umbeli_redisbloom_size_link(capacity, last->rate * 0.5, &link, NULL);
    if (!e) e = umbeli_chain_may_append(c, link.bytes, r->growth, max_bytes);
    return e ? e : umbeli_chain_append(c, &link, max_bytes);
}

static bool grows(const umbeli_chain *c) {
    uint32_t options = ((const umbeli_redisbloom *)c)->options;
    return (options & UMBELI_REDISBLOOM_NOROUND) && !(options & UMBELI_REDISBLOOM_NO_SCALING);
}

static const char *differ(const umbeli_chain *a, const umbeli_chain *b, uint32_t i) {
    const umbeli_redisbloom *x = (const umbeli_redisbloom *)a, *y = (const umbeli_redisbloom *)b;
    if (i == UINT32_MAX) {
        bool alike = x->options == y->options && (x->growth == y->growth || !grows(a));
        return alike ? NULL : "the filters grow differently";
    }
    bool alike =
        a->layers[i].capacity == b->layers[i].capacity && a->layers[i].n2 == b->layers[i].n2;
    return alike ? NULL : "the sizes differ";
}

static const umbeli_chain_policy policy = {
    .sums_capacity = true,
    .layered = true,
    .next = next,
    .grows = grows,
    .differ = differ,
};

static const umbeli_ops ops = {
    .size = sizeof(umbeli_redisbloom),
    .policy = &policy,
    .kernel = "generic",
    UMBELI_CHAIN_OPS,
    .clear = umbeli_chain_clear,
    .describe = umbeli_chain_describe,
};

bool umbeli_is_redisbloom(const umbel_filter *f) {
    return f->ops == &ops;
}

double umbeli_redisbloom_rate(const umbeli_layer *links, uint32_t count) {
    double rate = 0;
    for (uint32_t i = 0; i < count; i++) {
        umbeli_progression p = progression_of(&links[i]);
        rate = umbeli_rate_of_union(rate, umbeli_progression_rate(&p, links[i].capacity));
    }
    return rate;
}

/* ---- Making ---- */

/* What follows from a link of a header. */
static void complete(umbeli_layer *link) {
    link->probes = &umbeli_probes_redisbloom;
    if (link->n2) link->nbits = UINT64_C(1) << link->n2;
    link->modulus = umbeli_modulus_of(link->nbits);
}

/* The first `together` links in `data`, the others in separate memory. */
static umbel_err lay_out(umbeli_chain *c, const umbeli_layer *links, uint32_t count,
                         uint32_t together, umbel_diag *diag) {
    umbel_err e = umbeli_chain_lay_out(c, links, together, diag);
    for (uint32_t i = 0; i < count && !e; i++) {
        umbeli_layer link = links[i];
        complete(&link);
        if (i < together) {
            complete(&c->layers[i]);
        } else if (umbeli_chain_append(c, &link, 0)) {
            e = umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the bits");
        }
        umbeli_count_added(&c->base, link.keys);
    }
    return e;
}

static umbeli_shape shape_of(const umbeli_layer *first, uint32_t options) {
    /* The first link of a scaling chain has half of the requested rate, the second a quarter ... */
    double fpr = first->rate * (options & UMBELI_REDISBLOOM_NO_SCALING ? 1 : 2);
    return (umbeli_shape){
        .kind = UMBEL_KIND_SCALABLE,
        .format = UMBEL_FMT_REDISBLOOM,
        .scheme = SCHEME_REDISBLOOM,
        .hash = UMBEL_HASH_MURMUR2_64A,
        .fpr = fpr < 1 ? fpr : 0,
    };
}

static const char layout[] = "chain/redisbloom";

umbel_err umbeli_redisbloom_new(const umbeli_layer *links, uint32_t count, uint32_t options,
                                uint32_t growth, const uint8_t *borrow,
                                const umbeli_settings *settings, umbel_filter **out,
                                umbel_diag *diag) {
    uint32_t together = settings->plain && !borrow ? 1 : count;
    uint64_t len = 0, all = 0;
    for (uint32_t i = 0; i < count; i++) all += links[i].bytes;
    for (uint32_t i = 0; i < together; i++) len += links[i].bytes;
    if (settings->max_bytes && !borrow && all > settings->max_bytes) {
        return umbeli_fail_limit(diag, all);
    }
    umbeli_shape shape = shape_of(links, options);
    umbel_filter *f = NULL;
    umbel_err e = umbeli_filter_new(&ops, layout, &shape, len, borrow, settings, &f, diag);
    if (e) return e;
    ((umbeli_redisbloom *)f)->options = options;
    ((umbeli_redisbloom *)f)->growth = growth;
    e = lay_out((umbeli_chain *)f, links, count, together, diag);
    return umbeli_filter_finish(f, e, out);
}

void umbeli_redisbloom_lend(umbeli_redisbloom *r, umbeli_layer *links, uint32_t count,
                            umbeli_array first, uint32_t options, uint32_t growth,
                            const umbeli_settings *settings) {
    umbeli_shape shape = shape_of(links, options);
    for (uint32_t i = 0; i < count; i++) complete(&links[i]);
    umbeli_chain_lend(&r->chain, &ops, layout, &shape, settings, links, count, first);
    r->options = options;
    r->growth = growth;
}
