/* SPDX-License-Identifier: MIT
 *
 * wasm_libc.c - what the C library does differently, or in more code, than suits a page
 *
 * sbrk: the C library's grows the memory by just what malloc asks for, often 64 KiB, and
 * JavaScript engines collect garbage each time that a memory grows.  Here it grows by a quarter of
 * its size, so a filter of any size takes at most a few dozen steps.
 *
 * The rest is here because the C library's version is large: snprintf would bring floating point
 * and streams along, 12 KB for text and whole numbers.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 65536, LEAST_STEP = 64 /* pages */, MOST_STEP = 4096 };

static uintptr_t used; /* bytes that sbrk has given out, as the next address */

static uintptr_t size_in_pages(void) {
    return __builtin_wasm_memory_size(0);
}

void *sbrk(intptr_t more) {
    uintptr_t pages = size_in_pages();
    if (!used) used = pages * PAGE; /* malloc has what lies below from the start */
    uintptr_t before = used;
    if (more < 0 || (uintptr_t)more > UINTPTR_MAX - before) {
        errno = ENOMEM;
        return (void *)-1;
    }
    uintptr_t end = before + (uintptr_t)more, have = pages * PAGE;
    if (end > have) {
        uintptr_t need = (end - have + PAGE - 1) / PAGE, step = pages / 4;
        if (step < LEAST_STEP) step = LEAST_STEP;
        if (step > MOST_STEP) step = MOST_STEP;
        if (step < need) step = need;
        if (__builtin_wasm_memory_grow(0, step) == SIZE_MAX &&
            (step == need || __builtin_wasm_memory_grow(0, need) == SIZE_MAX)) {
            errno = ENOMEM;
            return (void *)-1;
        }
    }
    used = end;
    return (void *)before;
}

/* Writes the digits of a number before `end`; where they start. */
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
