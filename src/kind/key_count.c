/* SPDX-License-Identifier: MIT */
#include "kind/key_count.h"

#include <math.h>

enum { CONTRADICTION = 2 /* standard errors */ };

double umbeli_estimate_error(double bits, double hashes, double keys) {
    if (!isfinite(keys) || !(hashes > 0)) return keys;
    double each = keys * hashes / bits;
    return sqrt(fmax(bits * (expm1(each) - each), 0)) / hashes;
}

void umbeli_conclude_keys(const umbeli_key_evidence *e, umbel_measurement *now) {
    const double model_error = 0.01, rounding = 0.5;
    double by_adds = e->counted + e->hidden;
    double doubt = sqrt(e->hidden) / fmax(1 - now->rate, 1e-3) + model_error * e->hidden;
    bool has_count = e->counted > 0 || now->bits_set == 0;
    bool fewer = by_adds < e->by_bits - 2 * CONTRADICTION * (e->error + doubt);
    bool believed = has_count && by_adds <= e->by_bits + CONTRADICTION * e->error + rounding &&
                    (doubt <= e->error + rounding || fewer);
    if (!isfinite(e->by_bits)) {
        now->keys = now->keys_error = INFINITY;
    } else {
        now->keys = believed ? by_adds : e->by_bits;
        now->keys_error = believed ? doubt + e->count_error : e->error;
    }
}

/* By Gauss's rule with four points: right to 1 in 5,000 for rates that rise with the eighth power
 * of the keys, to 1 in 100 with the sixteenth. */
static double hidden_among(umbeli_rate_after *rate, const void *ctx, double keys) {
    static const double at[] = {0.0694318442029737, 0.3300094782075719, 0.6699905217924281,
                                0.9305681557970263};
    const double outer = 0.1739274225687269, inner = 0.3260725774312731;
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += (i % 3 ? inner : outer) * rate(ctx, (uint64_t)(keys * at[i] + 0.5));
    }
    return sum * keys;
}

/* Newton's method: one more key is hidden with the rate at that point. */
double umbeli_hidden_from(umbeli_rate_after *rate, const void *ctx, uint64_t counted) {
    enum { ROUNDS = 6, POWER = 16 /* rates rise with at most about this power of the keys */ };
    const double negligible = 0.02, most = 0.99, least = (double)counted, countable = 0x1p63;
    double keys = least;
    if (!rate || counted < 2 || least >= countable) return 0; /* a file that says more lies */
    for (int i = 0; i < ROUNDS; i++) {
        double last = rate(ctx, (uint64_t)keys);
        if (i == 0 && keys * last < negligible) return 0;
        double missing = least + hidden_among(rate, ctx, keys) - keys;
        double step = missing / (1 - fmin(last, most));
        keys = fmin(fmax(keys + step, least), countable);
        /* What the next round would still find missing. */
        if (fabs(step * step * last * POWER / keys) < negligible) break;
    }
    return keys - least;
}

static double rate_after(const void *filter, uint64_t keys) {
    const umbel_filter *f = filter;
    return f->ops->rate_after(f, keys);
}

void umbeli_measure_keys(const umbel_filter *f, umbel_measurement *now) {
    umbeli_key_evidence e = {0};
    uint64_t counted = f->uncounted ? 0 : umbeli_keys_added(f);
    e.by_bits = f->ops->keys_of_bits(f, now->bits_set, &e.error);
    e.counted = (double)counted;
    /* A merge, during which others may add, sums the counts: keys in common are counted twice. */
    e.count_error = f->concurrent ? fmax(f->count_error, e.error) : f->count_error;
    /* Counts far above what the bits can show are not worth a model. */
    if (f->ops->rate_after && e.counted < 2 * e.by_bits + 1) {
        e.hidden = umbeli_hidden_from(rate_after, f, counted);
    }
    umbeli_conclude_keys(&e, now);
}

void umbeli_count_as_if(umbel_filter *f, double keys) {
    double hidden = 0;
    keys = fmin(keys, 0x1p62);
    if (f->ops->rate_after && keys >= 1) hidden = hidden_among(rate_after, f, keys);
    umbeli_set_keys_added(f, (uint64_t)llround(fmax(keys - hidden, 0)));
}

void umbeli_count_together(umbel_filter *f, uint64_t mine, uint64_t theirs) {
    if (!f->ops->rate_after || f->uncounted) return;
    umbeli_count_as_if(f, (double)mine + umbeli_hidden_from(rate_after, f, mine) + (double)theirs +
                              umbeli_hidden_from(rate_after, f, theirs));
    bool sums = f->shape.format != UMBEL_FMT_NATIVE; /* as other systems join filters */
    if (sums || mine == 0 || theirs == 0) return;
    umbel_measurement now = {.bits = f->shape.bits};
    f->ops->measure(f, &now);
    umbeli_measure_keys(f, &now);
    if (!(now.keys < (double)umbeli_keys_added(f))) return;
    umbeli_count_as_if(f, now.keys);
    f->count_error = now.keys_error;
}

void umbeli_count_common(umbel_filter *f, uint64_t mine, uint64_t theirs, uint64_t both) {
    double error[3], a = f->ops->keys_of_bits(f, mine, &error[0]);
    double b = f->ops->keys_of_bits(f, theirs, &error[1]);
    double together = f->ops->keys_of_bits(f, mine + theirs - both, &error[2]);
    double common = a + b - together;
    f->uncounted = !isfinite(common); /* in a saturated one every key of the other is found */
    f->count_error = sqrt(error[0] * error[0] + error[1] * error[1] + error[2] * error[2]);
    if (f->uncounted) {
        umbeli_set_keys_added(f, 0);
    } else {
        umbeli_count_as_if(f, fmin(fmax(common, 0), fmin(a, b)));
    }
}
