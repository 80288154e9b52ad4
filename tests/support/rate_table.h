/* SPDX-License-Identifier: MIT
 *
 * rate_table.h - planned and live rates of other systems' filters against measured ones
 */
#ifndef RATE_TABLE_H
#define RATE_TABLE_H

#include <stdint.h>

#include "umbel_foreign.h"

typedef struct rate_format {
    const char *name;
    umbel_format format;
    uint32_t variant;
    bool by_size; /* takes bytes and hashes, not a rate: those of the textbook are given */
    bool words;   /* keys are 4 bytes */
} rate_format;

extern const rate_format rate_formats[];
extern const unsigned rate_formats_count;

/* Fills filters of this format for these keys and this rate and looks up absent keys; returns 0 if
 * both the plan and the live rate are within 5% of what was found, or within what chance explains
 * among two million lookups, and if the bytes tell the number of keys.  Prints a line
 * "# name | keys | rate | bits | hashes | plan | live | found | what that is known to". */
int rate_row_wrong(const rate_format *format, uint64_t keys, double fpr);

#endif
