/* SPDX-License-Identifier: MIT
 *
 * wasm_memory.c - sbrk in large steps
 *
 * The C library's own grows the memory by just what malloc asks for, often 64 KiB, and JavaScript
 * engines collect garbage each time that a memory grows.  Here it grows by a quarter of what there
 * is, so a filter of any size comes to a few dozen steps.
 */
#include <errno.h>
#include <stdint.h>
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
