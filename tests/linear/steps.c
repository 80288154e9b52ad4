/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memrchr */
#include "steps.h"

#include "cases.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 8, SOME = 20000, BYTES_A_STEP = 16 };

/* Each thread adds its steps in lots, because an atomic instruction for every basic block takes most
 * of the time.  What is left of a lot is far below SOME. */
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

static void text_room(text *t, size_t len) {
    if (t->len + len > t->room) {
        t->room = 2 * (t->len + len);
        t->bytes = realloc(t->bytes, t->room);
        assert_non_null(t->bytes);
    }
}

void text_put(text *t, const void *bytes, size_t len) {
    text_room(t, len);
    if (len) memcpy(t->bytes + t->len, bytes, len);
    t->len += len;
}

void text_byte(text *t, unsigned byte) {
    text_room(t, 1);
    t->bytes[t->len++] = (uint8_t)byte;
}

void text_varint(text *t, uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_byte(t, (unsigned)(value & 0x7f) | 0x80);
    text_byte(t, (unsigned)value);
}

static uint64_t work_at(const parser *p, size_t size, size_t *len) {
    text t = {0};
    p->make(&t, size);
    *len = t.len;
    uint64_t before = steps_taken();
    p->parse(&t);
    uint64_t taken = steps_taken() - before;
    free(t.bytes);
    return taken;
}

void assert_linear(const parser *p) {
    size_t len, larger;
    uint64_t one = work_at(p, p->size, &len), many = work_at(p, p->size * TIMES, &larger);
    print_message("# %-36s %9zu bytes %10llu steps, %10zu bytes %12llu steps\n", p->name, len,
                  (unsigned long long)one, larger, (unsigned long long)many);
    double times = (double)larger / (double)len;
    if ((double)many > 1.5 * times * (double)one + SOME) {
        fail_msg("%s: %.1f times the input, %.1f times the work", p->name, times,
                 (double)many / (double)one);
    }
}

int main(void) {
    int codecs = linear_codecs(), hostile = linear_hostile();
    int tables = linear_tables(), lines = linear_lines();
    return codecs || hostile || tables || lines;
}
