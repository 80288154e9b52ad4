/* SPDX-License-Identifier: MIT
 *
 * settings.h - the caller's umbel_opts, checked and copied: allocator, limits, threads, and the
 *              16-byte secret of keyed filters, which no file holds
 */
#ifndef UMBELI_SETTINGS_H
#define UMBELI_SETTINGS_H

#include "core/bits.h"
#include "umbel.h"

/* Every public struct ends in words that must be zero until a later version defines them. */
static inline bool umbeli_reserved_zero(const uint64_t *reserved, size_t bytes) {
    uint64_t any = 0;
    for (size_t i = 0; i < bytes / sizeof *reserved; i++) any |= reserved[i];
    return any == 0;
}

enum { UMBELI_SECRET_BYTES = 16 };

typedef struct umbeli_secret {
    uint64_t word[2];
} umbeli_secret;

static inline umbeli_secret umbeli_secret_from(const uint8_t *bytes) {
    return (umbeli_secret){{umbeli_load_le64(bytes), umbeli_load_le64(bytes + 8)}};
}

static inline bool umbeli_same_secret(umbeli_secret a, umbeli_secret b) {
    return a.word[0] == b.word[0] && a.word[1] == b.word[1];
}

/* A checked copy of the caller's umbel_opts. */
typedef struct umbeli_settings {
    umbel_alloc hook; /* hook.alloc NULL: the C library's */
    bool hook_zeroes; /* hook.alloc returns zeroed memory; never true for a caller's hook */
    bool plain;       /* arrays are as long as their bits, and where the allocator puts them */
    uint64_t max_bytes;
    uint32_t threads; /* at least 1 */
    bool concurrent;  /* filters that own their bits allow any number of writers */
    bool unchecked;   /* views are not checked */
    bool keyed;       /* filters are made with this secret, and files must have been */
    umbeli_secret secret;
} umbeli_settings;

/* opts may be NULL.  UMBEL_EINVAL for an incomplete allocator or nonzero reserved fields. */
umbel_err umbeli_settings_from(const umbel_opts *opts, umbeli_settings *out, umbel_diag *diag);

#endif
