/* SPDX-License-Identifier: MIT
 *
 * suggest.c - what a mistyped word was probably meant to be
 */
#include "options/suggest.h"

#include <string.h>

enum { LONGEST = 40 };

static size_t min(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Letters inserted, left out, replaced or swapped with their neighbours. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len) {
    size_t rows[3][LONGEST + 1]; /* the last three rows of the table */
    for (size_t j = 0; j <= b_len; j++) rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t other = a[i - 1] != b[j - 1];
            now[j] = min(min(last[j] + 1, now[j - 1] + 1), last[j - 1] + other);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = min(now[j], before[j - 2] + 1);
            }
        }
    }
    return rows[a_len % 3][b_len];
}

void cli_suggest(cli_suggestion *s, const char *candidate) {
    size_t len = strlen(s->word), other = strlen(candidate);
    if (len < 2 || len > LONGEST || other > LONGEST) return;
    size_t d = distance(s->word, len, candidate, other), most = len > 8 ? 3 : len > 4 ? 2 : 1;
    if (len > 2 && strncmp(s->word, candidate, len) == 0) d = min(d, 1);
    if (d > most || d >= len || (s->best && d >= s->distance)) return;
    s->best = candidate;
    s->distance = d;
}
