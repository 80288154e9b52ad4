/* SPDX-License-Identifier: MIT */
#include "format/redisbloom/redisbloom_link.h"

#include <math.h>
#include <string.h>

#include "core/diag.h"
#include "core/size.h"
#include "hash/foreign_hash.h"
#include "kind/classic/classic.h"
#include "plan/plan.h"

enum { SCHEME_REDISBLOOM = 10, HASH_MURMUR2_64A = 8, GROUP = 32 };

/* ---- Keys ---- */

static const uint64_t seed = UINT64_C(0xc6a4a7935bd1e995);

typedef struct hashes {
    uint64_t start, step;
} hashes;

static hashes hash_of(const void *key, size_t len) {
    uint64_t start = umbeli_murmur2_64a(key, len, seed);
    return (hashes){start, umbeli_murmur2_64a(key, len, start)};
}

static uint64_t probe_at(const umbeli_redisbloom_link *link, hashes h, uint32_t i) {
    return umbeli_mod(h.start + i * h.step, link->modulus);
}

static void fetch(const umbel_filter *f, const umbeli_redisbloom_link *link, hashes h) {
    for (uint32_t i = 0; i < link->hashes; i++) {
        __builtin_prefetch(f->data + link->at + (probe_at(link, h, i) >> 3));
    }
}

static bool in_link(const umbel_filter *f, const umbeli_redisbloom_link *link, hashes h) {
    for (uint32_t i = 0; i < link->hashes; i++) {
        if (!umbeli_bit_test(f->data + link->at, probe_at(link, h, i))) return false;
    }
    return true;
}

static bool in_chain(const umbel_filter *f, hashes h) {
    const umbeli_redisbloom *c = umbeli_redisbloom_of(f);
    for (uint32_t l = c->count; l > 0; l--) {
        if (in_link(f, &c->links[l - 1], h)) return true;
    }
    return false;
}

static bool contains(const umbel_filter *f, const void *key, size_t len) {
    return in_chain(f, hash_of(key, len));
}

/* One link after the other, newest first, for a group of keys at a time: the cache misses of a
 * group overlap, and keys that were found are not asked for again. */
static void group_contains(const umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *hit) {
    const umbeli_redisbloom *c = umbeli_redisbloom_of(f);
    hashes h[GROUP];
    for (size_t i = 0; i < n; i++) {
        h[i] = hash_of(keys[i].data, keys[i].len);
        hit[i] = 0;
    }
    for (uint32_t l = c->count; l > 0; l--) {
        const umbeli_redisbloom_link *link = &c->links[l - 1];
        for (size_t i = 0; i < n; i++) {
            if (!hit[i]) fetch(f, link, h[i]);
        }
        for (size_t i = 0; i < n; i++) {
            if (!hit[i]) hit[i] = in_link(f, link, h[i]);
        }
    }
}

static void contains_many(const umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *hit) {
    for (size_t first = 0; first < n; first += GROUP) {
        size_t some = n - first < GROUP ? n - first : GROUP;
        group_contains(f, keys + first, some, hit + first);
    }
}

/* ---- Growing ---- */

umbel_err umbeli_redisbloom_size_link(uint64_t entries, double error, umbeli_redisbloom_link *link,
                                      umbel_diag *diag) {
    /* The constants have as many digits as theirs. */
    double each = fabs(log(error) / 0.480453013918201), bits = (double)entries * each;
    double probes = ceil(0.693147180559945 * each);
    if (!(bits < 0x1p62) || !(probes <= UMBELI_CLASSIC_MAX_HASHES) || entries == 0 || error <= 0) {
        return umbeli_fail(diag, UMBEL_EFULL, "keys, fpr: the next link would be too large");
    }
    uint64_t words = umbeli_ceil_div(bits < 1 ? 1 : (uint64_t)bits, 64);
    *link = (umbeli_redisbloom_link){
        .bytes = words * 8,
        .bits = words * 64,
        .error = error,
        .bits_per_entry = each,
        .hashes = (uint32_t)probes,
        .entries = entries,
    };
    return UMBEL_OK;
}

/* Room for one more link's description. */
static umbel_err grow_links(umbeli_redisbloom *c) {
    if (c->count < c->cap) return UMBEL_OK;
    uint32_t cap = 2 * c->cap;
    umbeli_redisbloom_link *links = umbeli_new(&c->base.memory, cap * sizeof *links);
    if (!links) return UMBEL_ENOMEM;
    memcpy(links, c->links, c->count * sizeof *links);
    umbeli_delete(&c->base.memory, c->links);
    c->links = links;
    c->cap = cap;
    return UMBEL_OK;
}

/* Room for `more` bytes of bits.  Chains that hardly grow would copy all at every link, so there is
 * half as much again in reserve for them, if the limit allows. */
static umbel_err grow_data(umbeli_redisbloom *c, uint64_t more) {
    uint64_t need, room, most = c->base.memory.max_bytes;
    if (!umbeli_size_add(c->base.data_len, more, &need)) return UMBEL_EFULL;
    if (need <= c->data_cap) return UMBEL_OK;
    room = c->growth < 2 ? need + need / 2 : need;
    if (most && room > most && need <= most) room = most;
    umbeli_array array;
    umbel_err e = umbeli_array_new(&c->base.memory, room, &array, NULL);
    if (e) return e;
    memcpy(array.data, c->base.data, (size_t)c->base.data_len);
    umbeli_array_delete(&c->base.memory, &c->base.array);
    c->base.array = array;
    c->base.data = array.data;
    c->data_cap = room;
    return UMBEL_OK;
}

static void place_link(umbeli_redisbloom *c, const umbeli_redisbloom_link *link, uint64_t at) {
    umbeli_redisbloom_link *placed = &c->links[c->count++];
    *placed = *link;
    placed->at = at;
    placed->modulus = umbeli_modulus_of(link->n2 ? UINT64_C(1) << link->n2 : link->bits);
    umbeli_shape *shape = &c->base.shape;
    shape->bits += link->bits;
    shape->hashes = link->hashes;
    if (!umbeli_size_add(shape->capacity, link->entries, &shape->capacity)) {
        shape->capacity = UINT64_MAX;
    }
}

static umbel_err add_link(umbeli_redisbloom *c) {
    const umbeli_redisbloom_link *last = &c->links[c->count - 1];
    umbeli_redisbloom_link next;
    uint64_t entries;
    if (c->options & UMBELI_REDISBLOOM_NO_SCALING) return UMBEL_EFULL;
    /* Powers of two went out of use with old releases: such chains are read, not continued. */
    if (!(c->options & UMBELI_REDISBLOOM_NOROUND)) return UMBEL_ENOTSUP;
    if (!umbeli_size_mul(last->entries, c->growth, &entries)) return UMBEL_EFULL;
    umbel_err e = umbeli_redisbloom_size_link(entries, last->error * 0.5, &next, NULL);
    if (!e) e = grow_links(c);
    if (!e) e = grow_data(c, next.bytes);
    if (e) return e;
    /* What was kept in reserve may hold anything once the bits were moved in front of it. */
    memset(c->base.data + c->base.data_len, 0, (size_t)next.bytes);
    place_link(c, &next, c->base.data_len);
    c->base.data_len += next.bytes;
    return UMBEL_OK;
}

/* ---- Adding ---- */

static umbel_err add_hashes(umbel_filter *f, hashes h, bool *was_new) {
    umbeli_redisbloom *c = (umbeli_redisbloom *)f;
    bool absent = !in_chain(f, h);
    if (absent) {
        const umbeli_redisbloom_link *last = &c->links[c->count - 1];
        umbel_err e = last->size >= last->entries ? add_link(c) : UMBEL_OK;
        if (e) return e;
        umbeli_redisbloom_link *link = &c->links[c->count - 1];
        for (uint32_t i = 0; i < link->hashes; i++) {
            umbeli_bit_set(f->data + link->at, probe_at(link, h, i));
        }
        link->size++;
        umbeli_count_added(f, 1);
    }
    if (was_new) *was_new = absent;
    return UMBEL_OK;
}

static umbel_err add(umbel_filter *f, const void *key, size_t len, bool *was_new) {
    return add_hashes(f, hash_of(key, len), was_new);
}

static umbel_err add_many(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new) {
    const umbeli_redisbloom *c = umbeli_redisbloom_of(f);
    hashes h[GROUP];
    for (size_t first = 0; first < n; first += GROUP) {
        size_t some = n - first < GROUP ? n - first : GROUP;
        for (size_t i = 0; i < some; i++) {
            h[i] = hash_of(keys[first + i].data, keys[first + i].len);
            for (uint32_t l = 0; l < c->count; l++) fetch(f, &c->links[l], h[i]);
        }
        for (size_t i = 0; i < some; i++) {
            bool fresh;
            umbel_err e = add_hashes(f, h[i], &fresh);
            if (e) return e;
            if (was_new) was_new[first + i] = fresh;
        }
    }
    return UMBEL_OK;
}

/* ---- The rest of the kind ---- */

static umbel_err copy(umbel_filter *into, const umbel_filter *from) {
    umbeli_redisbloom *c = (umbeli_redisbloom *)into;
    c->links = umbeli_new(&into->memory, c->count * sizeof *c->links);
    if (!c->links) return UMBEL_ENOMEM;
    memcpy(c->links, umbeli_redisbloom_of(from)->links, c->count * sizeof *c->links);
    c->cap = c->count;
    c->data_cap = into->data_len;
    return UMBEL_OK;
}

static void dispose(umbel_filter *f) {
    umbeli_delete(&f->memory, ((umbeli_redisbloom *)f)->links);
}

static void relocate(umbel_filter *f, const umbeli_mover *mover) {
    umbeli_redisbloom *c = (umbeli_redisbloom *)f;
    c->links = mover->move(mover->ctx, c->links);
}

static void clear(umbel_filter *f) {
    umbeli_redisbloom *c = (umbeli_redisbloom *)f;
    for (uint32_t l = 0; l < c->count; l++) c->links[l].size = 0;
}

/* An absent key passes if any link lets it pass. */
static void measure(const umbel_filter *f, umbel_info *info) {
    const umbeli_redisbloom *c = umbeli_redisbloom_of(f);
    double none = 1;
    info->bits_set = 0;
    info->keys_estimated = 0;
    for (uint32_t l = 0; l < c->count; l++) {
        const umbeli_redisbloom_link *link = &c->links[l];
        uint64_t set = umbeli_bits_count(f->data + link->at, link->bytes);
        double used = (double)link->modulus.divisor, fill = (double)set / used;
        info->bits_set += set;
        none *= 1 - pow(fill < 1 ? fill : 1, link->hashes);
        info->keys_estimated += log1p(-(fill < 1 ? fill : 1)) / (link->hashes * log1p(-1 / used));
    }
    info->fpr_now = 1 - none;
}

const umbeli_ops umbeli_redisbloom_ops = {
    .size = sizeof(umbeli_redisbloom),
    .kernel = "generic",
    .contains = contains,
    .add = add,
    .contains_many = contains_many,
    .add_many = add_many,
    .copy = copy,
    .dispose = dispose,
    .relocate = relocate,
    .clear = clear,
    .measure = measure,
};

double umbeli_redisbloom_rate(const umbeli_redisbloom_link *links, uint32_t count) {
    double none = 1;
    for (uint32_t l = 0; l < count; l++) {
        none *= 1 - umbeli_classic_rate(links[l].bits, links[l].hashes, links[l].entries);
    }
    return 1 - none;
}

umbel_err umbeli_redisbloom_new(const umbeli_redisbloom_link *links, uint32_t count,
                                uint32_t options, uint32_t growth, const uint8_t *borrow,
                                const umbeli_settings *memory, umbel_filter **out,
                                umbel_diag *diag) {
    uint64_t len = 0, keys = 0;
    for (uint32_t l = 0; l < count; l++) {
        len += links[l].bytes;
        keys += links[l].size;
    }
    /* The first link of a scaling chain has half of the error asked for, the second a quarter ... */
    double fpr = links[0].error * (options & UMBELI_REDISBLOOM_NO_SCALING ? 1 : 2);
    umbeli_shape shape = {
        .kind = UMBEL_CLASSIC,
        .format = UMBEL_FMT_REDISBLOOM,
        .scheme = SCHEME_REDISBLOOM,
        .hash = HASH_MURMUR2_64A,
        .fpr = fpr < 1 ? fpr : 0,
    };
    umbel_filter *f = NULL;
    umbel_err e = umbeli_filter_new(&umbeli_redisbloom_ops, "chain/redisbloom", &shape, len, borrow,
                                    memory, &f, diag);
    if (e) return e;
    umbeli_redisbloom *c = (umbeli_redisbloom *)f;
    c->links = umbeli_new(memory, count * sizeof *c->links);
    if (!c->links) {
        umbeli_filter_free(f);
        return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the links");
    }
    c->cap = count;
    c->data_cap = len;
    c->options = options;
    c->growth = growth;
    for (uint32_t l = 0; l < count; l++) {
        uint64_t at = l ? c->links[l - 1].at + c->links[l - 1].bytes : 0;
        place_link(c, &links[l], at);
    }
    umbeli_count_added(f, keys);
    *out = f;
    return UMBEL_OK;
}
