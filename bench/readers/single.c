/* SPDX-License-Identifier: MIT
 *
 * single.c ROUNDS FILTER - a million single calls of the library per round, to which the readers are compared
 */
#include <stdio.h>
#include <stdlib.h>

#include "umbel.h"

enum { KEYS = 1 << 20 };

typedef struct text {
    char bytes[16];
    size_t len;
} text;

int main(int count, char **arguments) {
    umbel_filter *f = NULL;
    text *keys = malloc(KEYS * sizeof *keys);
    if (count != 3 || !keys || umbel_file_open(arguments[2], UMBEL_LOAD, NULL, NULL, &f, NULL))
        return 2;
    for (int i = 0; i < KEYS; i++) {
        keys[i].len = (size_t)snprintf(keys[i].bytes, sizeof keys[i].bytes, "key%d", 2 * i);
    }
    long found = 0;
    for (int round = 0; round < atoi(arguments[1]); round++) {
        for (int i = 0; i < KEYS; i++) found += umbel_contains(f, keys[i].bytes, keys[i].len);
    }
    printf("%ld\n", found);
    umbel_free(f);
    free(keys);
    return 0;
}
