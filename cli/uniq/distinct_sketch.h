/* SPDX-License-Identifier: MIT
 *
 * distinct_sketch.h - how many different keys went by, to 1% in 16 KiB: a HyperLogLog
 */
#ifndef CLI_DISTINCT_SKETCH_H
#define CLI_DISTINCT_SKETCH_H

#include <stddef.h>
#include <stdint.h>

#include "umbel.h"

enum { CLI_SKETCH_BITS = 14 };

typedef struct cli_sketch {
    uint8_t longest[1 << CLI_SKETCH_BITS]; /* run of zeros, plus 1, among hashes that begin so */
} cli_sketch;

void cli_sketch_add(cli_sketch *sketch, const uint64_t *hashes, size_t n);

/* An estimate; its standard error is this share of it. */
#define CLI_SKETCH_ERROR 0.0082
double cli_sketch_count(const cli_sketch *sketch);

/* Stores a sketch of a filter's keys in its metadata, and loads it unless keys were added to the
 * filter since. */
umbel_err cli_sketch_store(const cli_sketch *sketch, umbel_filter *f, umbel_diag *diag);
bool cli_sketch_load(cli_sketch *sketch, const umbel_filter *f);

#endif
