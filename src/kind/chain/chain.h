/* SPDX-License-Identifier: MIT
 *
 * chain.h - several split-block filters one behind the other in one array, asked as one
 *
 * What kinds that are chains of blocked filters (scalable, window) have in common.  All layers
 * take the same 64-bit hash of a key.
 */
#ifndef UMBELI_CHAIN_H
#define UMBELI_CHAIN_H

#include "kind/blocked/blocked.h"

enum { UMBELI_LAYERS_BATCH = 1024 };

typedef struct umbeli_layer {
    uint64_t at;       /* offset of its first block in the data, bytes */
    uint64_t nblocks;  /* 1 to 2^32 - 1 */
    uint64_t capacity; /* keys planned for */
    uint64_t keys;     /* adds that changed it */
} umbeli_layer;

/* In any of n layers? */
bool umbeli_layers_contain(const umbeli_blocked_kernel *kernel, const uint8_t *data,
                           const umbeli_layer *layers, size_t n, uint64_t hash);

/* The same for up to UMBELI_LAYERS_BATCH hashes; the last layer is asked first, and the others only
 * about what was not found yet. */
void umbeli_layers_contain_batch(const umbeli_blocked_kernel *kernel, const uint8_t *data,
                                 const umbeli_layer *layers, size_t n, const uint64_t *hashes,
                                 size_t count, uint8_t *hit);

/* Adds hashes to one layer and counts them there; was_new, not NULL, tells what changed it. */
uint64_t umbeli_layer_add(const umbeli_blocked_kernel *kernel, uint8_t *data, umbeli_layer *layer,
                          const uint64_t *hashes, size_t count, uint8_t *was_new);

/* The chance that one of two filters says yes; without logarithms, for they set errno. */
static inline double umbeli_either(double a, double b) {
    return a + b - a * b;
}

/* The model's rate of a layer that holds so many keys. */
double umbeli_layer_rate(uint64_t nblocks, uint64_t keys);

/* bits_set, keys_estimated, fpr_now and parts of n layers together. */
void umbeli_layers_measure(const uint8_t *data, const umbeli_layer *layers, size_t n,
                           umbel_info *info);

#endif
