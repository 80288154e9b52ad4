/* SPDX-License-Identifier: MIT
 *
 * umbel_text.h - counts, sizes, rates, durations and clocks as people write and read them
 *
 *   uint64_t keys;
 *   umbel_parse_count("2 billion", &keys, NULL);
 *
 * Every program reads them in the same way, whatever the locale: the comma separates thousands, and
 * where it does not (0,5%) the text is refused, not guessed at.
 *
 * A companion of umbel.h, with a version of its own (docs/abi.md).
 */
#ifndef UMBEL_TEXT_H
#define UMBEL_TEXT_H

#include "umbel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define UMBEL_TEXT_VERSION 1

/* ---- Quantities --------------------------------------------------------------------------- */

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

/* Reads umbel_opts.secret from the contents of a file: 16 bytes, which must not all be text (a
 * password is not a secret), or 32 hexadecimal digits, with or without a line ending. */
UMBEL_API umbel_err umbel_parse_secret(const void *bytes, size_t len, uint8_t *secret,
                                       umbel_diag *diag);

#define UMBEL_DURATION_MAX UINT64_C(1000000000000)
#define UMBEL_QUANTITY 40 /* bytes: enough for any of these texts */

/* Each writes into `out`, which has UMBEL_QUANTITY bytes, and returns it. */
UMBEL_API char *umbel_count_text(uint64_t count, char *out);      /* 2,000,000,000                */
UMBEL_API char *umbel_short_count(double count, char *out);       /* 2.50 G                       */
UMBEL_API char *umbel_size_text(uint64_t bytes, char *out);       /* 2.23 GiB                     */
UMBEL_API char *umbel_rate_text(double rate, char *out);          /* 23.4%, 1 in 1,000,000        */
UMBEL_API char *umbel_duration_text(uint64_t seconds, char *out); /* 90m: one number, exact       */

/* ---- Clocks of windows -------------------------------------------------------------------- */

/* A window that forgets by the clock: a manual one (umbel_params.window.manual) whose metadata say
 * when to advance it.  `umbel uniq --window 24h/1h` and BF.RESERVE's WINDOW write the same
 * metadata.  Nothing here reads the clock: the caller passes the time, in seconds since 1970. */
typedef struct umbel_clock {
    uint64_t step;        /* seconds that a generation lasts; 0: it does not follow the clock     */
    uint64_t generations; /* steps that are remembered completely                                 */
    uint64_t advanced;    /* when the newest generation began                                     */
    uint64_t reserved[5];
} umbel_clock;

/* The clock of a window.  umbel_get_clock gives all zeros for other filters; UMBEL_EINVAL, with
 * step 0: the metadata are wrong. */
UMBEL_API umbel_err umbel_get_clock(const umbel_filter *filter, umbel_clock *out, umbel_diag *diag);
UMBEL_API umbel_err umbel_set_clock(umbel_filter *filter, const umbel_clock *clock,
                                    umbel_diag *diag);

/* How often to call umbel_advance now: once for each step that has ended, at most generations + 1
 * times, which forgets everything.  Moves clock->advanced accordingly.  If the time was set back,
 * nothing is forgotten: if by at most one step, the window waits; if by more, the step begins
 * again. */
UMBEL_API uint64_t umbel_clock_steps(umbel_clock *clock, uint64_t now);

/* Duration and step as text, such as 7d/1d; `out` has UMBEL_QUANTITY bytes. */
UMBEL_API char *umbel_clock_text(const umbel_clock *clock, char *out);

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_TEXT_H */
