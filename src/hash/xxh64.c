/* SPDX-License-Identifier: MIT */
#include "hash/xxh64.h"

#define XXH_INLINE_ALL /* a header only: nothing to link */
#include <xxhash.h>

uint64_t umbeli_xxh64(const void *data, size_t len) {
    return XXH64(data, len, 0);
}
