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
    umbel_params params = {.keys = 1000, .fpr = 0.01};
    umbel_err err = umbel_create(&params, NULL, &seen, NULL);
    if (!err) err = umbel_add(seen, "ada", 3, NULL);
    if (err) {
        fprintf(stderr, "%s\n", umbel_strerror(err));
        return 1;
    }
    bool found = umbel_contains(seen, "ada", 3);
    bool lied = umbel_contains(seen, "bob", 3);
    umbel_free(seen);
    printf("umbel %s: ada %s, bob %s\n", umbel_version(), found ? "in" : "out",
           lied ? "in" : "out");
    return found && !lied ? 0 : 1;
}
