/* SPDX-License-Identifier: MIT
 *
 * quantity.h - counts, sizes, rates and durations, parsed and formatted for people
 */
#ifndef CLI_QUANTITY_H
#define CLI_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False for anything but one complete quantity; *out is then unchanged.
 *   counts  1000000  1,000,000  2e9  1.5M     k, M, G, T are powers of 1000
 *   sizes   500MiB  11.4 MiB  500M  2e9  1GB  K, M, G, T alone and with iB are powers of 1024, with
 *                                             B of 1000; rounded to whole bytes
 *   rates   1%  0.01  .01  1/1000  1e-6  1 in 1,000  between 0 and 1, exclusive
 *   durations  24h  90m  1.5d       s, m, h, d or w; whole seconds, from 1 to 10^12 */
bool cli_parse_count(const char *text, uint64_t *out);
bool cli_parse_size(const char *text, uint64_t *out);
bool cli_is_too_large(const char *text); /* a number, but of 2^64 or more */
bool cli_parse_rate(const char *text, double *out);
bool cli_parse_duration(const char *text, uint64_t *out);

#define CLI_DURATION_MAX UINT64_C(1000000000000)

enum { CLI_QUANTITY = 40 }; /* bytes that hold any of these */

/* Each writes into `out`, which has CLI_QUANTITY bytes, and returns it. */
char *cli_count_text(uint64_t count, char *out);                   /* 2,000,000,000 */
char *cli_count_noun(uint64_t count, const char *noun, char *out); /* 1 key, 2,000 keys */
char *cli_short_count(double count, char *out);                    /* 2.50 G */
char *cli_size_text(uint64_t bytes, char *out);                    /* 2.23 GiB */
char *cli_rate_text(double rate, char *out);          /* 23.4%, 0.0101%, 1 in 1,000,000 */
char *cli_duration_text(uint64_t seconds, char *out); /* 90m: one number, exact */

typedef struct cli_interval {
    double low, high;
} cli_interval;

/* Wilson's interval for `hits` of `trials` at `z` standard deviations (1.96: 95%, 2.58: 99%).
 * It stays within 0 and 1 and is accurate near 0, where false-positive rates are. */
cli_interval cli_wilson(uint64_t hits, uint64_t trials, double z);

#endif
