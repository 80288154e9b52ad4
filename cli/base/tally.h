/* SPDX-License-Identifier: MIT
 *
 * tally.h - counts in sentences, and how much a counted rate may be off
 */
#ifndef CLI_TALLY_H
#define CLI_TALLY_H

#include "umbel_text.h"

/* "1 key", "2,000 keys": into `out`, which has UMBEL_QUANTITY bytes and is returned. */
char *cli_count_noun(uint64_t count, const char *noun, char *out);

/* With decimals below 1000, with thousands separators above. */
char *cli_real_text(double value, int decimals, char *out);

/* For narrow columns: 3.3e-11 instead of `1 in 30,700,000,000`. */
char *cli_narrow_rate(double rate, char *out);

typedef struct cli_interval {
    double low, high;
} cli_interval;

/* Wilson's interval for `hits` of `trials` at `z` standard deviations (1.96: 95%, 2.58: 99%).
 * It stays within 0 and 1 and is accurate near 0, where false-positive rates are. */
cli_interval cli_wilson(uint64_t hits, uint64_t trials, double z);

#endif
