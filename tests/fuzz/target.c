/* SPDX-License-Identifier: MIT */
#include "target.h"

#include <stdio.h>
#include <stdlib.h>

void insist(bool true_always, const char *what) {
    if (true_always) return;
    fprintf(stderr, "not so: %s\n", what);
    abort();
}

void *some_bytes(size_t len) {
    void *bytes = malloc(len ? len : 1);
    insist(bytes != NULL, "there is memory for a test");
    return bytes;
}
