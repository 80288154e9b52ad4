/* SPDX-License-Identifier: MIT
 *
 * tight_layout.c - sizes of bumped ribbon tables
 *
 * A table of a level that may pass keys on gets fewer slots than keys, so that nearly every slot is
 * used.  How many stay empty, and how that varies, was measured on tables of 1000 to 500 000 keys.
 * The next level is sized for the keys left over when 2.5 deviations more stay empty.
 *
 * The last level must take all its keys.  A ribbon table of up to a few thousand keys can do that
 * with 2.4% more slots than keys for two seeds out of three, with windows of 128 slots with 1% and
 * 12 more; otherwise it tries another seed.  Passing keys on costs the slots that stay empty in any
 * table and a separate last level, so below 4096 keys it does not pay.
 */
#include "plan/tight_layout.h"

#include <math.h>

#include "core/size.h"
#include "plan/static_layout.h"

enum { LAST_KEYS = 4096 };

/* How tables with windows of that many words behave. */
typedef struct behaviour {
    uint32_t load;         /* slots for 100 keys */
    double empty, empties; /* of each slot, and of each table */
    double vary, varies;   /* variances of both */
    double bumped;         /* share of places whose keys are passed on, */
    double spread;         /* and its deviation from bucket to bucket */
} behaviour;

static const behaviour *behaviour_of(uint32_t window) {
    static const behaviour by_window[] = {
        {96, 0.0016, 31, 0.036, 170, 0.04, 0.063},
        {97, 0.0002, 50, 0.006, 450, 0.03, 0.04},
    };
    return &by_window[window - 1];
}

/* Keys that a level for `keys` keys passes on at most, unless more slots stay empty than these
 * deviations allow for. */
static uint64_t left_over(const umbeli_tight_level *l, const behaviour *b, double deviations,
                          uint64_t keys) {
    double shards = ldexp(1, (int)l->shard_bits);
    double slots = shards * l->blocks * UMBELI_TIGHT_BLOCK;
    double empty = b->empty * slots + b->empties * shards;
    double spread = sqrt(b->varies * shards + b->vary * slots);
    return (uint64_t)((double)keys - slots + empty + deviations * spread);
}

/* The levels for `keys` distinct keys with windows of that many words; no widths yet. */
static bool divide_for(uint64_t keys, uint32_t window, double deviations,
                       umbeli_tight_layout *layout) {
    const behaviour *b = behaviour_of(window);
    *layout = (umbeli_tight_layout){0};
    for (; keys > LAST_KEYS; layout->levels++) {
        umbeli_tight_level *l = &layout->level[layout->levels];
        l->shard_bits = umbeli_static_shard_bits(keys);
        uint64_t each = keys >> l->shard_bits;
        if (each >= UMBELI_TIGHT_MAX_BLOCKS || layout->levels == UMBELI_TIGHT_MAX_LEVELS - 1) {
            return false;
        }
        l->blocks = (uint32_t)(each * b->load / 100 / UMBELI_TIGHT_BLOCK);
        keys = left_over(l, b, deviations, keys);
    }
    if (keys == 0) return true;
    uint64_t blocks = window == 2 ? (keys + keys / 100 + 75) / 64 : (2 * keys + 124) / 125;
    layout->level[layout->levels++].blocks = (uint32_t)blocks;
    return true;
}

static bool divide(uint64_t keys, uint32_t window, umbeli_tight_layout *layout) {
    return divide_for(keys, window, 2.5, layout);
}

bool umbeli_tight_too_many(uint64_t keys) {
    umbeli_tight_layout l;
    return !divide(keys, 1, &l);
}

/* ---- lengths ------------------------------------------------------------------------------ */

static bool add_marks(const umbeli_tight_layout *l, uint64_t *len) {
    uint32_t window = umbeli_tight_window(l);
    uint64_t sum = 0;
    for (uint32_t i = 0; i + 1 < l->levels; i++) { /* each below 2^48 */
        sum += umbeli_tight_marks_len(&l->level[i], window) << l->level[i].shard_bits;
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
static double wide_share(const umbeli_tight_level *l, uint32_t window) {
    double all = umbeli_tight_places(l, window), narrow = (double)UMBELI_TIGHT_BLOCK * l->narrow;
    return fmax(all - narrow, 0) / all;
}

/* The rate, from the share of keys that are compared in wide places. */
static double rate_of(const umbeli_tight_layout *l, uint64_t keys, double wide) {
    double table = ldexp(1 - wide / 2, -(int)l->width);
    return fmin(table + umbeli_hash_collisions(keys, table),
                1); /* a file may claim any number of keys */
}

double umbeli_tight_rate(const umbeli_tight_layout *l, uint64_t keys) {
    uint32_t window = umbeli_tight_window(l);
    double bumped = behaviour_of(window)->bumped;
    if (l->levels == 0) return 0;
    double wide = 0, reach = 1; /* share of keys that reach this level */
    for (uint32_t i = 0; i < l->levels; i++) {
        double stay = i + 1 < l->levels ? reach * (1 - bumped) : reach;
        wide += stay * wide_share(&l->level[i], window);
        reach *= bumped;
    }
    return rate_of(l, keys, wide);
}

double umbeli_tight_exact_rate(const umbeli_tight_layout *l, uint64_t keys,
                               const umbeli_tight_passed *passed) {
    uint32_t window = umbeli_tight_window(l), last = l->levels - 1;
    double wide = 0, reach = 1;
    for (uint32_t i = 0; i < last; i++) {
        double places =
            ldexp(umbeli_tight_places(&l->level[i], window), (int)l->level[i].shard_bits);
        wide += reach * (wide_share(&l->level[i], window) - (double)passed[i].wide / places);
        reach *= (double)passed[i].all / places;
    }
    return rate_of(l, keys, wide + reach * wide_share(&l->level[last], window));
}

/* Wide places may pass on more keys than narrow ones, or fewer, and a key that is passed on gets a
 * new chance of a wide place. */
double umbeli_tight_promise(const umbeli_tight_layout *l, uint64_t keys) {
    double rate = umbeli_tight_rate(l, keys);
    if (l->levels < 2) return rate;
    uint32_t window = umbeli_tight_window(l);
    double wide = wide_share(&l->level[0], window);
    double places = ldexp(umbeli_tight_places(&l->level[0], window), (int)l->level[0].shard_bits);
    double buckets = places / umbeli_tight_bucket(window);
    double spread = behaviour_of(window)->spread *
                    fmin(sqrt(wide * (1 - wide) / buckets), fmin(wide, 1 - wide));
    return rate + 2 * ldexp(spread / 2, -(int)l->width);
}

/* ---- widths ------------------------------------------------------------------------------- */

void umbeli_tight_set_widths(umbeli_tight_layout *l, uint32_t width, uint32_t wide) {
    uint32_t blocks = l->level[0].blocks;
    l->width = width;
    for (uint32_t i = 0; i < l->levels; i++) {
        uint64_t more = ((uint64_t)wide * l->level[i].blocks + blocks - 1) / blocks;
        l->level[i].narrow = l->level[i].blocks - (uint32_t)more;
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

/* The first of the steps [low, high) that is `beyond`, or high. */
static uint64_t first_beyond(umbeli_tight_layout *l, const target *t, uint64_t low, uint64_t high) {
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (beyond(l, t, middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Tries widths up to 2 with their window first, then the others with theirs. */
static bool meet(const target *t, umbeli_tight_layout *out) {
    bool fits = false;
    for (uint32_t window = UMBELI_TIGHT_MAX_WINDOW; window > 0; window--) {
        umbeli_tight_layout l;
        if (!divide(t->keys, window, &l)) return false;
        if (l.levels < window) continue;
        uint64_t one = l.level[0].blocks; /* bit more for all slots */
        uint64_t low = window == 1 && l.levels > 1 ? 2 * one + 1 : 1;
        uint64_t high = window == 1 ? UMBELI_TIGHT_MAX_WIDTH * one + 1 : 2 * one + 1;
        uint64_t step = first_beyond(&l, t, low, high);
        if (t->bytes && step > low) {
            set_widths(&l, step - 1);
            *out = l;
            fits = true;
        }
        if (step == high) continue;
        if (t->bytes) return fits;
        set_widths(&l, step);
        *out = l;
        return true;
    }
    return fits;
}

bool umbeli_tight_for_rate(uint64_t keys, double fpr, umbeli_tight_layout *layout) {
    *layout = (umbeli_tight_layout){0};
    if (keys == 0) return fpr >= ldexp(1, -UMBELI_TIGHT_MAX_WIDTH);
    return meet(&(target){.keys = keys, .fpr = fpr}, layout);
}

bool umbeli_tight_for_bytes(uint64_t keys, uint64_t bytes, umbeli_tight_layout *layout) {
    *layout = (umbeli_tight_layout){0};
    return keys == 0 || meet(&(target){.keys = keys, .bytes = bytes}, layout);
}

/* Where keys are few, the room for chance is much of the whole: one deviation fits five times in
 * six, and building once more takes little time. */
bool umbeli_tight_for_width(uint64_t keys, uint32_t width, umbeli_tight_layout *layout) {
    enum { FEW_KEYS = 1 << 17 };
    uint32_t window = keys > LAST_KEYS && width <= 2 ? 2 : 1;
    if (!divide_for(keys, window, keys < FEW_KEYS ? 1 : 2.5, layout)) return false;
    if (layout->levels) umbeli_tight_set_widths(layout, width, 0);
    return true;
}
