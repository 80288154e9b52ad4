/* SPDX-License-Identifier: MIT
 *
 * consumer.c - a program as a user would write it: one header, a few calls
 */
#include <umbel.h>

#include <stdio.h>
#include <string.h>

int main(void) {
    if (strcmp(umbel_version(), UMBEL_VERSION) != 0) {
        fprintf(stderr, "header %s, library %s\n", UMBEL_VERSION, umbel_version());
        return 1;
    }
    umbel_filter *seen = NULL;
    umbel_params params = {.capacity = 1000, .fpr = 0.01};
    umbel_diag diag = {0};
    umbel_err err = umbel_create(&params, NULL, &seen, &diag);
    if (!err) err = umbel_add(seen, "ada", 3, NULL, &diag);
    if (err) {
        char why[200];
        fprintf(stderr, "%s\n", umbel_explain(err, &diag, why, sizeof why));
        return 1;
    }
    bool found = umbel_contains(seen, "ada", 3);
    bool lied = umbel_contains(seen, "bob", 3);
    umbel_free(seen);
    printf("umbel %s: ada %s, bob %s\n", umbel_version(), found ? "in" : "out",
           lied ? "in" : "out");
    return found && !lied ? 0 : 1;
}
