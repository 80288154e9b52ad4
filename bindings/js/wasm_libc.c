/* SPDX-License-Identifier: MIT
 *
 * wasm_libc.c - what the C library does differently, or in more code, than suits a page
 *
 * The C library's versions are large: snprintf would bring floating point and streams along, 12 KB for text
 * and whole numbers.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is linked of the C library calls these; compiled code has the instructions already. */
void *memcpy(void *restrict to, const void *restrict from, size_t len) {
    return __builtin_memcpy(to, from, len);
}

void *memmove(void *to, const void *from, size_t len) {
    return __builtin_memmove(to, from, len);
}

void *memset(void *to, int byte, size_t len) {
    return __builtin_memset(to, byte, len);
}

/* Of short texts. */
char *strstr(const char *text, const char *part) {
    size_t len = strlen(part);
    for (; strncmp(text, part, len) != 0; text++) {
        if (!*text) return NULL;
    }
    return (char *)text;
}

/* Of decimal digits alone: with no white space, sign or other base. */
unsigned long long strtoull(const char *restrict text, char **restrict end, int base) {
    unsigned long long n = 0;
    bool over = base != 10;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (unsigned)(*text - '0'), &n))
            over = true;
    }
    *end = (char *)text;
    return over ? ULLONG_MAX : n;
}

/* engine.js has it: the host's parser rounds as the C library's does, which takes 6 KB. */
double js_strtod(const char *text, size_t *used)
    __attribute__((import_module("js"), import_name("strtod")));

/* Of decimal numbers, inf and nan. */
double strtod(const char *restrict text, char **restrict end) {
    size_t used = 0;
    double number = js_strtod(text, &used);
    if (end) *end = (char *)text + used;
    return number;
}

/* Lets the item at `i` sink below those after it in a heap of `count` items. */
static void sink(unsigned char *items, size_t i, size_t count, size_t size,
                 int (*order)(const void *, const void *)) {
    for (size_t below; (below = 2 * i + 1) < count; i = below) {
        unsigned char *up = items + size * i, *down = items + size * below;
        if (below + 1 < count && order(down, down + size) < 0) below++, down += size;
        if (order(up, down) >= 0) return;
        for (size_t b = 0; b < size; b++) {
            unsigned char byte = up[b];
            up[b] = down[b];
            down[b] = byte;
        }
    }
}

/* A heap whose greatest item moves behind it, again and again. */
void qsort(void *base, size_t count, size_t size, int (*order)(const void *, const void *)) {
    unsigned char *items = base;
    for (size_t i = count / 2; i--;) sink(items, i, count, size, order);
    while (count > 1) {
        unsigned char *last = items + size * --count;
        for (size_t b = 0; b < size; b++) {
            unsigned char byte = items[b];
            items[b] = last[b];
            last[b] = byte;
        }
        sink(items, 0, count, size, order);
    }
}

/* Without a table of 2 KB: the whole part is exact, and beside it a rounding of the rest is small. */
double log2(double x) {
    int power = 0;
    double part = frexp(x, &power);
    if (part < 0x1.6a09e667f3bcdp-1) { /* the square root of a half */
        part *= 2;
        power--;
    }
    return power + log(part) / 0x1.62e42fefa39efp-1; /* log(2) */
}

/* Writes the digits of a number before `end`; returns where they start. */
static const char *digits(uint64_t n, char *end) {
    *--end = '\0';
    do {
        *--end = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    return end;
}

/* The text of one conversion; *form moves past it. */
static const char *conversion(const char **form, va_list *args, char *end) {
    switch (*(*form)++) {
    case 's': return va_arg(*args, const char *);
    case 'u': return digits(va_arg(*args, unsigned), end);
    case 'l': /* "llu" */ *form += 2; return digits(va_arg(*args, unsigned long long), end);
    default: __builtin_trap(); /* no linked code uses others */
    }
}

int snprintf(char *restrict to, size_t cap, const char *restrict form, ...) {
    va_list args;
    const char *at = form;
    char number[24];
    size_t len = 0;
    va_start(args, form);
    while (*at) {
        char plain[2] = {*at++, '\0'};
        const char *text = plain;
        if (plain[0] == '%') text = conversion(&at, &args, number + sizeof number);
        for (; *text; text++, len++) {
            if (len + 1 < cap) to[len] = *text;
        }
    }
    va_end(args);
    if (cap) to[len < cap ? len : cap - 1] = '\0';
    return (int)len;
}

/* There are no files, so there is nothing to close or to read. */
static int no_file(void) {
    errno = EBADF;
    return -1;
}

int close(int fd) {
    (void)fd;
    return no_file();
}

ssize_t pread(int fd, void *to, size_t len, off_t from) {
    (void)fd, (void)to, (void)len, (void)from;
    return no_file();
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t to) {
    (void)fd, (void)bytes, (void)len, (void)to;
    return no_file();
}

char *strerror(int number) {
    (void)number;
    static char text[] = "the system's error";
    return text;
}
