/* SPDX-License-Identifier: MIT
 *
 * tight_layout.c - sizes of bumped ribbon tables
 *
 * A table of a level that may pass keys on gets fewer slots than keys, 96 for 100, so that nearly
 * every slot is used.  How many stay empty, and how that varies, was measured on tables of 1000 to
 * 500 000 keys: 0.16% of the slots and 31 more, with a variance of 170 + 0.036 per slot.  The next
 * level is sized for the keys left over when 2.5 deviations more stay empty.
 *
 * The last level must take all its keys.  A ribbon table of up to a few thousand keys can do that
 * with 2.4% more slots than keys for two seeds out of three; otherwise it tries another seed.
 * Passing keys on costs at least those 31 slots and a last level of its own, so below 4096 keys it
 * does not pay.
 */
#include "plan/tight_layout.h"

#include <math.h>

#include "core/size.h"
#include "plan/static_layout.h"

enum { LAST_KEYS = 4096, LOAD_OF_100 = 96 };

/* The share of places whose keys are passed on, accurate enough to weight the levels' rates. */
static const double bumped = 0.04;

/* Keys that a level for `keys` keys normally passes on at most. */
static uint64_t left_over(const umbeli_tight_level *l, uint64_t keys) {
    double shards = ldexp(1, (int)l->shard_bits);
    double slots = shards * l->blocks * UMBELI_TIGHT_BLOCK;
    double empty = 0.0016 * slots + 31 * shards;
    double spread = sqrt(170 * shards + 0.036 * slots);
    return (uint64_t)((double)keys - slots + empty + 2.5 * spread);
}

bool umbeli_tight_divide(uint64_t keys, umbeli_tight_layout *layout) {
    *layout = (umbeli_tight_layout){0};
    for (; keys > LAST_KEYS; layout->levels++) {
        umbeli_tight_level *l = &layout->level[layout->levels];
        l->shard_bits = umbeli_static_shard_bits(keys);
        uint64_t each = keys >> l->shard_bits;
        if (each >= UMBELI_TIGHT_MAX_BLOCKS || layout->levels == UMBELI_TIGHT_MAX_LEVELS - 1) {
            return false;
        }
        l->narrow = l->blocks = (uint32_t)(each * LOAD_OF_100 / 100 / UMBELI_TIGHT_BLOCK);
        keys = left_over(l, keys);
    }
    if (keys == 0) return true;
    umbeli_tight_level *last = &layout->level[layout->levels++];
    last->narrow = last->blocks = (uint32_t)((2 * keys + 124) / 125);
    return true;
}

/* ---- lengths ------------------------------------------------------------------------------ */

static bool add_marks(const umbeli_tight_layout *l, uint64_t *len) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i + 1 < l->levels; i++) {
        sum += umbeli_tight_marks_len(&l->level[i]) << l->level[i].shard_bits; /* below 2^48 */
    }
    return umbeli_size_add(*len, (sum + 7) / 8 * 8, len);
}

uint64_t umbeli_tight_tables_at(const umbeli_tight_layout *l) {
    uint64_t len = 0;
    add_marks(l, &len);
    return len;
}

uint64_t umbeli_tight_len(const umbeli_tight_layout *l) {
    uint64_t words = 0;
    for (uint32_t i = 0; i < l->levels; i++) { /* each below 2^54 */
        words += umbeli_tight_table_words(&l->level[i], l->width) << l->level[i].shard_bits;
    }
    uint64_t len = 8 * words; /* below 2^60 */
    return add_marks(l, &len) && len < UINT64_C(1) << 60 ? len : 0;
}

/* ---- rates -------------------------------------------------------------------------------- */

/* The share of places with one extra bit. */
static double wide_share(const umbeli_tight_level *l) {
    double all = umbeli_tight_places(l);
    if (l->narrow >= l->blocks) return 0;
    return (all - (double)UMBELI_TIGHT_BLOCK * l->narrow) / all;
}

/* The probability that an absent key shares its hash with one of the keys; 0 where that is
 * negligible against the table's rate. */
static double hash_collisions(uint64_t keys, double rate) {
    double chance = ldexp((double)keys, -64);
    return chance < 1e-6 * rate ? 0 : chance;
}

double umbeli_tight_rate(const umbeli_tight_layout *l, uint64_t keys) {
    if (l->levels == 0) return 0;
    double wide = 0, here = 1; /* share of keys that reach this level */
    for (uint32_t i = 0; i < l->levels; i++) {
        double stay = i + 1 < l->levels ? here * (1 - bumped) : here;
        wide += stay * wide_share(&l->level[i]);
        here *= bumped;
    }
    double table = ldexp(1 - wide / 2, -(int)l->width);
    return fmin(table + hash_collisions(keys, table), 1); /* a file may claim any number of keys */
}

/* Wide places may pass on more keys than narrow ones, or fewer, and a key that is passed on gets a
 * new chance of a wide place.  A bucket passes on 0.04 with a deviation of 0.063. */
double umbeli_tight_promise(const umbeli_tight_layout *l, uint64_t keys) {
    double rate = umbeli_tight_rate(l, keys);
    if (l->levels < 2) return rate;
    double wide = wide_share(&l->level[0]);
    double buckets =
        ldexp(umbeli_tight_places(&l->level[0]), (int)l->level[0].shard_bits) / UMBELI_TIGHT_BUCKET;
    double spread = 0.063 * fmin(sqrt(wide * (1 - wide) / buckets), fmin(wide, 1 - wide));
    return rate + 3 * ldexp(spread / 2, -(int)l->width);
}

/* ---- widths ------------------------------------------------------------------------------- */

void umbeli_tight_set_widths(umbeli_tight_layout *l, uint32_t width, uint32_t wide) {
    uint32_t blocks = l->level[0].blocks;
    l->width = width;
    for (uint32_t i = 0; i < l->levels; i++) {
        uint64_t here = ((uint64_t)wide * l->level[i].blocks + blocks - 1) / blocks;
        l->level[i].narrow = l->level[i].blocks - (uint32_t)here;
    }
}

/* All possible widths, in order. */
static void set_widths(umbeli_tight_layout *l, uint64_t step) {
    uint32_t blocks = l->level[0].blocks;
    umbeli_tight_set_widths(l, (uint32_t)(step / blocks), (uint32_t)(step % blocks));
}

typedef struct target {
    uint64_t keys, bytes; /* bytes 0: fpr is the target */
    double fpr;
} target;

/* Whether the widths are large enough for the rate, or too large for the bytes. */
static bool beyond(umbeli_tight_layout *l, const target *t, uint64_t step) {
    set_widths(l, step);
    if (t->bytes == 0) return umbeli_tight_promise(l, t->keys) <= t->fpr;
    uint64_t len = umbeli_tight_len(l);
    return len == 0 || len > t->bytes;
}

/* The first step that is `beyond`, from 1 to last + 1. */
static uint64_t first_beyond(umbeli_tight_layout *l, const target *t, uint64_t last) {
    uint64_t low = 0, high = last + 1;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        *(beyond(l, t, middle) ? &high : &low) = middle;
    }
    return high;
}

bool umbeli_tight_widths_for_rate(umbeli_tight_layout *l, uint64_t keys, double fpr) {
    if (l->levels == 0) return fpr >= ldexp(1, -UMBELI_TIGHT_MAX_WIDTH);
    uint64_t last = (uint64_t)UMBELI_TIGHT_MAX_WIDTH * l->level[0].blocks;
    uint64_t step = first_beyond(l, &(target){.keys = keys, .fpr = fpr}, last);
    if (step > last) return false;
    set_widths(l, step);
    return true;
}

bool umbeli_tight_widths_for_bytes(umbeli_tight_layout *l, uint64_t bytes) {
    if (l->levels == 0) return true;
    uint64_t last = (uint64_t)UMBELI_TIGHT_MAX_WIDTH * l->level[0].blocks;
    uint64_t step = first_beyond(l, &(target){.bytes = bytes}, last) - 1;
    if (step == 0) return false;
    set_widths(l, step);
    return true;
}
