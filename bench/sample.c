/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

/* umbel_mix is a bijection: distinct inputs, distinct keys. */
uint64_t *keys_new(size_t n, uint64_t stream) {
    uint64_t *keys = malloc(n * sizeof *keys);
    if (!keys) {
        fprintf(stderr, "umbel-bench: no memory for %zu keys\n", n);
        exit(2);
    }
    for (size_t i = 0; i < n; i++) keys[i] = umbel_mix(stream << 40 | i);
    return keys;
}

umbel_key *keys_of(const uint64_t *numbers, size_t n, size_t len, char **text) {
    static const char site[] = "http",
                      path[] = "/articles/2026/11/page.html?session=&from=rss&utm_source=x"
                               "&utm_medium=feed&utm_campaign=none&lang=en&theme=dark";
    umbel_key *keys = malloc(n * sizeof *keys);
    *text = len > sizeof *numbers ? malloc(n * len + 1) : NULL;
    if (!keys || (len > sizeof *numbers && !*text)) {
        fprintf(stderr, "umbel-bench: no memory for %zu keys\n", n);
        exit(2);
    }
    for (size_t i = 0; i < n; i++) {
        char *at = *text ? *text + i * len : NULL;
        keys[i] = (umbel_key){at ? (const void *)at : (const void *)&numbers[i], len};
        if (!at) continue;
        memcpy(at, site, 4);
        for (int digit = 0; digit < 16; digit++) {
            at[4 + digit] = "0123456789abcdef"[numbers[i] >> 4 * digit & 15];
        }
        memcpy(at + 20, path, len - 20);
    }
    return keys;
}

double now_ns(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *values, size_t n) {
    qsort(values, n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}
