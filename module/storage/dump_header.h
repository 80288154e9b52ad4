/* SPDX-License-Identifier: MIT
 *
 * dump_header.h - the head of a blocked value: the headers of its layers, as native files have them,
 *               one after the other, and the secret key if they are keyed
 *
 * What the chain has beyond its layers stands in the metadata of the first header, under names that
 * begin with "bf."; a filter that was not made by the module has none of it.
 */
#ifndef BF_DUMP_HEADER_H
#define BF_DUMP_HEADER_H

#include "format/native/native_header.h"
#include "value/value.h"

/* A head that was read and found right; it lies on the bytes that it was read from. */
typedef struct bf_head {
    const uint8_t *bytes;
    size_t len; /* of the head: more may lie behind it */
    bf_params params;
    uint32_t count;
    size_t at[BF_LAYERS_MAX];
    umbeli_native_header layers[BF_LAYERS_MAX];
} bf_head;

umbel_err bf_head_read(const uint8_t *bytes, size_t len, bf_head *head, umbel_diag *diag);

/* Layer i with its counts and all bits 0, at most max_bytes of them (0: no limit). */
umbel_err bf_head_layer(const bf_head *head, uint32_t i, uint64_t max_bytes, umbel_filter **out,
                        umbel_diag *diag);

/* The value of all layers, which it then owns; NULL: no memory, they are still the caller's. */
bf_value *bf_head_value(const bf_head *head, umbel_filter *const *layers);

/* The head of a blocked value; to be freed with RedisModule_Free. */
uint8_t *bf_head_write(const bf_value *v, size_t *len);

/* Bits behind the last one of a layer must be 0. */
bool bf_bits_end_clean(const umbel_filter *f);

#endif
