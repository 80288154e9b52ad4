/* SPDX-License-Identifier: MIT
 *
 * umbel_quantity.h - counts, sizes, rates and durations as people write and read them
 *
 *   uint64_t keys;
 *   umbel_parse_count("2 billion", &keys, NULL);
 *
 * Every program reads them in the same way, whatever the locale: the comma separates thousands, and
 * where it does not (0,5%) the text is refused, not guessed at.
 */
#ifndef UMBEL_QUANTITY_H
#define UMBEL_QUANTITY_H

#include "umbel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each reads one quantity, which must be the whole text.  On UMBEL_EINVAL *out is unchanged, and
 * diag->what is "not a number", "not a size", "not a rate", "not a duration" or, at 2^64 and above,
 * "too large".
 *   counts     1000000  1,000,000  2e9  1.5M  2 billion  20亿   k, M, G, T, P: powers of 1000
 *   sizes      500MiB  11.4 MiB  500M  2e9  1GB   K, M, G, T, P alone and with iB are powers of
 *              1024, with B of 1000; upper or lower case; rounded to whole bytes
 *   rates      1%  0.01  .01  1/1000  1e-6  1 in 1,000   between 0 and 1, exclusive
 *   durations  24h  90m  1.5d   s, m, h, d or w; whole seconds, from 1 to UMBEL_DURATION_MAX */
UMBEL_API umbel_err umbel_parse_count(const char *text, uint64_t *out, umbel_diag *diag);
UMBEL_API umbel_err umbel_parse_size(const char *text, uint64_t *out, umbel_diag *diag);
UMBEL_API umbel_err umbel_parse_rate(const char *text, double *out, umbel_diag *diag);
UMBEL_API umbel_err umbel_parse_duration(const char *text, uint64_t *out, umbel_diag *diag);

#define UMBEL_DURATION_MAX UINT64_C(1000000000000)
#define UMBEL_QUANTITY 40 /* bytes: enough for any of these texts */

/* Each writes into `out`, which has UMBEL_QUANTITY bytes, and returns it. */
UMBEL_API char *umbel_count_text(uint64_t count, char *out);      /* 2,000,000,000                */
UMBEL_API char *umbel_short_count(double count, char *out);       /* 2.50 G                       */
UMBEL_API char *umbel_size_text(uint64_t bytes, char *out);       /* 2.23 GiB                     */
UMBEL_API char *umbel_rate_text(double rate, char *out);          /* 23.4%, 1 in 1,000,000        */
UMBEL_API char *umbel_duration_text(uint64_t seconds, char *out); /* 90m: one number, exact       */

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_QUANTITY_H */
