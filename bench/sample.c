/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"

/* splitmix64's output function is a bijection: distinct inputs, distinct keys. */
uint64_t *keys_new(size_t n, uint64_t stream) {
    uint64_t *keys = malloc(n * sizeof *keys);
    if (!keys) {
        fprintf(stderr, "umbel-bench: no memory for %zu keys\n", n);
        exit(2);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t z = (stream << 40 | i) * UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        keys[i] = z ^ z >> 31;
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
