/* SPDX-License-Identifier: MIT
 *
 * loss.h - how many new lines were mistaken for repeated ones, while they go by
 *
 * Two witnesses: the rate that each new line met, summed up, which is right as long as few are
 * lost; and a sketch of all keys, which is right when many are.
 */
#ifndef CLI_LOSS_H
#define CLI_LOSS_H

#include "uniq/distinct_sketch.h"

typedef struct cli_loss {
    const umbel_filter *filter;
    umbel_info info;       /* at the last measurement ... */
    umbel_measurement now; /* ... and what the bits showed then */
    uint64_t measured;     /* the filter's count of adds then, perhaps in an earlier run */
    bool watching;         /* the rate is measured now and then */
    bool sketching;        /* the sketch saw all keys, and none is forgotten */
    bool saturated;        /* every bit was once set: since then the rate does not show losses */
    cli_sketch sketch;
    double seen_before;      /* by earlier runs */
    uint64_t since, step;    /* new keys since the rate was measured, and how many there may be */
    double odds;             /* rate / (1 - rate), measured then */
    double wrong;            /* new lines mistaken for repeated ones, estimated, up to then */
    uint64_t keys, new_keys; /* that went by, and those of them that were new */
} cli_loss;

/* `fresh`: the filter was made now.  Without `watching` nothing is measured or counted. */
void cli_loss_begin(cli_loss *l, const umbel_filter *f, bool fresh, bool watching);

/* Keys were added; hits marks the new ones.  True if it is time to measure. */
bool cli_loss_count(cli_loss *l, const uint8_t *hits, const uint64_t *hashes, size_t n);

/* Measures the rate, and adds what was lost since the last time. */
void cli_loss_measure(cli_loss *l);

/* Stores what the bits said in the filter's metadata, where the next run finds it: reading all bits
 * would take longer than all else that a run of few lines does. */
umbel_err cli_loss_store(const cli_loss *l, umbel_filter *f, umbel_diag *diag);

/* At the end: measures unless so few keys came since that reading all bits is not worth it. */
void cli_loss_finish(cli_loss *l);

/* New lines mistaken for repeated ones, or infinity where that cannot be known. */
double cli_loss_estimate(const cli_loss *l);

/* Keys in the filter, from the last measurement and what was added since. */
double cli_loss_keys(const cli_loss *l);

#endif
