/* SPDX-License-Identifier: MIT
 *
 * dedupe.c - prints each line of standard input the first time it appears
 *
 *   cc dedupe.c $(pkg-config --cflags --libs umbel) -o dedupe
 *   printf 'ada\nbob\nada\n' | ./dedupe
 *
 * Lines are remembered in a filter of fixed size instead of a table of all of them: one new line in a
 * thousand is taken for an old one, and never the other way round.
 */
#include <stdio.h>
#include <string.h>

#include <umbel.h>

int main(void) {
    umbel_filter *seen = umbel_new(1000000, 0.001);
    if (!seen) {
        fputs("dedupe: out of memory\n", stderr);
        return 1;
    }
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        bool was_new = false;
        umbel_diag diag;
        umbel_err e = umbel_add(seen, line, strcspn(line, "\n"), &was_new, &diag);
        if (e) {
            char why[200];
            fprintf(stderr, "dedupe: %s\n", umbel_explain(e, &diag, why, sizeof why));
            umbel_free(seen);
            return 1;
        }
        if (was_new) fputs(line, stdout);
    }
    umbel_measurement now;
    umbel_measure(seen, &now);
    fprintf(stderr, "about %.0f lines, rate now %.4f%%\n", now.keys, 100 * now.rate);
    umbel_free(seen);
    return 0;
}
