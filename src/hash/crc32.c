/* SPDX-License-Identifier: MIT */
#include "hash/crc32.h"

#include <zlib.h>

uint32_t umbeli_crc32(const void *key, size_t len) {
    /* zlib takes a null pointer for a request of the initial value, which is the answer here. */
    return (uint32_t)crc32_z(0, len ? key : NULL, len);
}
