/* SPDX-License-Identifier: MIT */
#include "uniq/loss.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "umbel_text.h"

/* A new line is printed with probability 1 - rate, so each printed one stands for rate / (1 - rate)
 * others that were lost. */
static double odds_of(double rate) {
    return rate < 1 ? rate / (1 - rate) : INFINITY;
}

/* Keys that may be added before the rate is measured again: few enough to change it little, both in
 * a filter that fills up and in one that is nearly saturated. */
static uint64_t keys_until_next(const umbel_measurement *now) {
    enum { PARTS = 64, OF_THE_REST = 128 };
    uint64_t part = now->bits / PARTS, rest = (now->bits - now->bits_set) / OF_THE_REST;
    uint64_t keys = part < rest ? part : rest;
    return keys ? keys : 1;
}

/* ---- In metadata: the count of adds, bits, set bits, keys and rate. ---- */

static const char meta_name[] = "uniq.measured";

umbel_err cli_loss_store(const cli_loss *l, umbel_filter *f, umbel_diag *diag) {
    char text[160];
    snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %.17g %.17g", l->measured,
             l->now.bits, l->now.bits_set, l->now.keys, l->now.rate);
    return umbel_set_meta(f, meta_name, text, diag);
}

/* Goes on where an earlier run has measured; false: there was none, or it is too long ago. */
static bool go_on(cli_loss *l) {
    const char *text = umbel_get_meta(l->filter, meta_name);
    umbel_measurement m = {0};
    uint64_t adds;
    if (!text || l->info.kind == UMBEL_KIND_WINDOW) return false;
    if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %lg %lg", &adds, &m.bits, &m.bits_set,
               &m.keys, &m.rate) != 5) {
        return false;
    }
    uint64_t since = l->info.keys_added - adds, step = keys_until_next(&m);
    bool like = m.bits == l->info.bits && m.bits_set < m.bits && m.keys >= 0 && isfinite(m.keys) &&
                m.rate >= 0 && m.rate < 1;
    if (!like || adds > l->info.keys_added || since >= step) return false;
    l->now = m;
    l->measured = adds;
    l->since = since;
    l->step = step;
    l->odds = odds_of(m.rate);
    l->wrong = -(double)since * l->odds; /* what earlier runs lost is not lost again */
    return true;
}

void cli_loss_begin(cli_loss *l, const umbel_filter *f, bool fresh, bool watching) {
    *l = (cli_loss){.filter = f, .watching = watching};
    umbel_describe(f, &l->info);
    l->now = (umbel_measurement){.bits = l->info.bits};
    l->step = keys_until_next(&l->now);
    if (watching && !fresh && !go_on(l)) cli_loss_measure(l);
    l->sketching =
        watching && l->info.kind != UMBEL_KIND_WINDOW && (fresh || cli_sketch_load(&l->sketch, f));
    l->seen_before = cli_sketch_count(&l->sketch);
}

/* While few lines are lost, the rates that new lines met tell it well; when many are, the number of
 * distinct keys does. */
double cli_loss_estimate(const cli_loss *l) {
    double all = l->sketching ? cli_sketch_count(&l->sketch) : 0, distinct = all - l->seen_before;
    double lost = distinct - (double)l->new_keys;
    double error = CLI_SKETCH_ERROR * sqrt(all * fmax(distinct, 0));
    bool many = lost > 0.25 * distinct && lost > 10 * error;
    if (!many && l->saturated) return INFINITY;
    /* Lost lines are among those that were not new. */
    return fmin(many ? lost : fmax(0, l->wrong), (double)(l->keys - l->new_keys));
}

double cli_loss_keys(const cli_loss *l) {
    return l->now.keys + (double)l->since * (1 + fmin(l->odds, 1e6));
}

/* The sum of the odds that `keys` new keys met, from the first, which met `before`, to the last.
 * Odds follow a power of the number of keys, `from` at first: about its number of probes. */
static double lost_between(double before, double after, double from, double keys) {
    enum { PROBES = 8 };
    double area = keys * (before + after) / 2, to = from + keys;
    if (keys < 1 || !isfinite(before)) return 0;
    if (keys <= 1 || !isfinite(after)) return keys * before;
    if (before > 0 && before < after && from > 0) {
        area = (after * to - before * from) / (log(after / before) / log(to / from) + 1);
    } else if (!(before > 0) && !(from > 0)) {
        area = after * keys / (PROBES + 1);
    }
    return fmax(0, area - (after - before) / 2); /* the last key is not among those before it */
}

/* Each of the new keys met the rate that the ones before it had left. */
void cli_loss_measure(cli_loss *l) {
    double before = l->odds, keys = (double)l->since, from = l->now.keys;
    umbel_describe(l->filter, &l->info);
    umbel_measure(l->filter, &l->now);
    l->measured = l->info.keys_added;
    l->saturated |= l->now.bits && l->now.bits_set == l->now.bits;
    l->odds = odds_of(l->now.rate);
    l->wrong += lost_between(before, l->odds, from, keys);
    l->since = 0;
    l->step = l->saturated ? UINT64_MAX : keys_until_next(&l->now);
}

void cli_loss_finish(cli_loss *l) {
    enum { FEW = 64 };
    if (!l->now.bits_set || l->since * FEW > l->step || !isfinite(l->odds)) {
        cli_loss_measure(l);
        return;
    }
    l->wrong += (double)l->since * l->odds; /* they hardly changed it */
    l->since = 0;
}

bool cli_loss_count(cli_loss *l, const uint8_t *hits, const uint64_t *hashes, size_t n) {
    uint64_t added = 0;
    for (size_t i = 0; i < n; i++) added += hits[i];
    l->since += added;
    l->new_keys += added;
    l->keys += n;
    if (l->sketching) cli_sketch_add(&l->sketch, hashes, n);
    return l->watching && l->since >= l->step;
}
