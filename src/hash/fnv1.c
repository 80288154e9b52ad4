/* SPDX-License-Identifier: MIT */
#include "hash/fnv1.h"

uint64_t umbeli_fnv1_64(const void *key, size_t len) {
    const uint8_t *p = key;
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < len; i++) h = h * 0x100000001b3 ^ p[i];
    return h;
}
