/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memrchr */
#include "counted_steps.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

enum { BYTES_A_STEP = 16 };

/* Each thread adds its steps in lots, because an atomic instruction for every basic block takes
 * most of the time.  What is left of a lot is far below what is compared. */
enum { LOT = 1024 };
static _Atomic uint64_t steps;
static _Thread_local uint64_t mine;

static void count_steps(uint64_t more) {
    mine += more;
    if (mine >= LOT) {
        atomic_fetch_add_explicit(&steps, mine, memory_order_relaxed);
        mine = 0;
    }
}

/* Called by every basic block of the libraries. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {
    count_steps(1);
}

static void count(size_t len) {
    count_steps(1 + len / BYTES_A_STEP);
}

/* The C library's work on their behalf, by --wrap. */
#define WRAPPED(type, function, parameters, arguments, len) \
    type __real_##function parameters;                      \
    type __wrap_##function parameters;                      \
    type __wrap_##function parameters {                     \
        count(len);                                         \
        return __real_##function arguments;                 \
    }
WRAPPED(void *, memcpy, (void *to, const void *from, size_t n), (to, from, n), n)
WRAPPED(void *, memmove, (void *to, const void *from, size_t n), (to, from, n), n)
WRAPPED(void *, memset, (void *to, int c, size_t n), (to, c, n), n)
WRAPPED(int, memcmp, (const void *a, const void *b, size_t n), (a, b, n), n)

/* These stop when they find something. */
#define SEARCH(type, function, parameters, arguments, len) \
    type __real_##function parameters;                     \
    type __wrap_##function parameters;                     \
    type __wrap_##function parameters {                    \
        type found = __real_##function arguments;          \
        count(len);                                        \
        return found;                                      \
    }
SEARCH(void *, memchr, (const void *s, int c, size_t n), (s, c, n),
       found ? (size_t)((char *)found - (const char *)s) : n)
SEARCH(void *, memrchr, (const void *s, int c, size_t n), (s, c, n),
       found ? n - (size_t)((char *)found - (const char *)s) : n)
SEARCH(size_t, strlen, (const char *s), (s), found)
SEARCH(char *, strchr, (const char *s, int c), (s, c), found ? (size_t)(found - s) : 0)

uint64_t steps_taken(void) {
    return atomic_load(&steps);
}
