/* SPDX-License-Identifier: MIT
 *
 * suggest.h - what a mistyped word was probably meant to be
 */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stddef.h>

/* The best candidate so far; start with {word, NULL, 0}. */
typedef struct cli_suggestion {
    const char *word;
    const char *best; /* NULL: nothing is close enough */
    size_t distance;
} cli_suggestion;

/* Considers one more candidate.  Close is: few letters inserted, left out, replaced or swapped
 * with their neighbours, or the beginning of the candidate. */
void cli_suggest(cli_suggestion *s, const char *candidate);

#endif
