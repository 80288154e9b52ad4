/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* madvise */
#include "core/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/diag.h"
#include "core/platform.h"

#if UMBELI_HAVE_HUGE_PAGES
#include <sys/mman.h>
#endif

enum { LINE = 64, HUGE_PAGE = 2 * 1024 * 1024, HUGE_FROM = 2 * HUGE_PAGE };

void *umbeli_new(const umbeli_settings *m, size_t size) {
    if (!m->hook.alloc) {
        volatile int saved = errno; /* clang assumes that calloc never sets it */
        /* A large calloc takes fresh pages from the system without touching them. */
        void *zeroed = calloc(1, size);
        errno = saved;
        return zeroed;
    }
    void *p = m->hook.alloc(m->hook.ctx, size);
    if (p && !m->hook_zeroes) memset(p, 0, size);
    return p;
}

static void *unzeroed(const umbeli_settings *m, size_t size) {
    if (m->hook.alloc) return m->hook.alloc(m->hook.ctx, size);
    volatile int saved = errno; /* as above */
    void *p = malloc(size);
    errno = saved;
    return p;
}

void umbeli_delete(const umbeli_settings *m, void *ptr) {
    if (!ptr) return;
    if (m->hook.free) {
        m->hook.free(m->hook.ctx, ptr);
    } else {
        free(ptr);
    }
}

static size_t alignment(const umbeli_settings *m, uint64_t len) {
    bool huge = UMBELI_HAVE_HUGE_PAGES && !m->hook.alloc && len >= HUGE_FROM;
    return huge ? HUGE_PAGE : LINE;
}

static uint8_t *aligned(void *raw, size_t align) {
    return (uint8_t *)(((uintptr_t)raw + align - 1) & ~(uintptr_t)(align - 1));
}

/* A hint: if the system refuses, lookups are only slower. */
static void ask_for_huge_pages(uint8_t *data, uint64_t len) {
#if UMBELI_HAVE_HUGE_PAGES
    int saved = errno;
    (void)madvise(data, (size_t)len & ~(size_t)(HUGE_PAGE - 1), MADV_HUGEPAGE);
    errno = saved;
#else
    (void)data;
    (void)len;
#endif
}

static bool allocate(const umbeli_settings *m, uint64_t len, umbeli_array *out,
                     void *(*get)(const umbeli_settings *m, size_t size)) {
    size_t align = m->plain ? 1 : alignment(m, len), more = m->plain ? 0 : align + LINE;
    void *raw = NULL;
    if (len <= SIZE_MAX - more) raw = get(m, (size_t)len + more);
    if (!raw) return false;
    *out = (umbeli_array){.data = aligned(raw, align), .raw = raw, .plain = m->plain};
    if (align == HUGE_PAGE) ask_for_huge_pages(out->data, len);
    return true;
}

umbel_err umbeli_array_new(const umbeli_settings *m, uint64_t len, umbeli_array *out,
                           umbel_diag *diag) {
    if (m->max_bytes && len > m->max_bytes) {
        return umbeli_fail_limit(diag, len);
    }
    if (!allocate(m, len, out, umbeli_new)) {
        return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the bits");
    }
    return UMBEL_OK;
}

bool umbeli_scratch_new(const umbeli_settings *m, uint64_t len, umbeli_array *out) {
    return allocate(m, len, out, unzeroed);
}

bool umbeli_array_move(const umbeli_settings *m, umbeli_array *array, uint64_t len,
                       const umbeli_mover *mover) {
    size_t before = (size_t)(array->data - (uint8_t *)array->raw);
    void *raw = mover->move(mover->ctx, array->raw);
    if (raw == array->raw) return false;
    array->raw = raw;
    array->data = array->plain ? raw : aligned(array->raw, alignment(m, len));
    const uint8_t *bytes = (const uint8_t *)array->raw + before;
    if (bytes != array->data) memmove(array->data, bytes, (size_t)len);
    return true;
}

void umbeli_array_delete(const umbeli_settings *m, umbeli_array *array) {
    umbeli_delete(m, array->raw);
    *array = (umbeli_array){0};
}
