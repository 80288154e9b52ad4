/* SPDX-License-Identifier: MIT
 *
 * dump_header.h - the head of a value in the blocked layout
 *
 * A filter that the module made has a compact head of a few bytes for each layer.  Any other, such
 * as a file that was uploaded, has the headers of its layers as native files have them, one after
 * the other; properties of the chain as a whole are in the metadata of the first, under names that
 * begin with "bf.".  If the filter is keyed, its secret follows in both cases.
 */
#ifndef BF_DUMP_HEADER_H
#define BF_DUMP_HEADER_H

#include "format/native/native_header.h"
#include "value/value.h"

/* A head that was read and validated; it borrows the bytes it was read from. */
typedef struct bf_head {
    const uint8_t *bytes;
    size_t len; /* of the head; more may follow it */
    bf_params params;
    uint32_t count;
    bool compact, sealed;                  /* sealed: it ends with a checksum */
    umbeli_layer described[BF_LAYERS_MAX]; /* in a compact one; in any other: */
    size_t at[BF_LAYERS_MAX];
    umbeli_native_header layers[BF_LAYERS_MAX];
} bf_head;

/* Whether bytes begin like either kind of head. */
bool bf_head_begins(const uint8_t *bytes, size_t len);

umbel_err bf_head_read(const uint8_t *bytes, size_t len, bf_head *head, umbel_diag *diag);

/* The bytes of the bits of layer i. */
uint64_t bf_head_bytes(const bf_head *head, uint32_t i);

/* Supplies the bits of the layers: called once per layer, in order and before the layer's memory is
 * allocated, for exactly `len` bytes.  *bits stays valid until the next call; NULL leaves the layer
 * empty. */
typedef umbel_err (*bf_bits_source)(void *ctx, uint64_t len, const uint8_t **bits,
                                    umbel_diag *diag);

/* Makes the value that the head describes; its bits may take at most max_bytes (0: no limit). */
umbel_err bf_head_load(const bf_head *head, bf_bits_source source, void *ctx, uint64_t max_bytes,
                       bf_value **out, umbel_diag *diag);

/* The head of a value in the blocked layout; free it with RedisModule_Free.  Sealed: with a
 * checksum, for places that do not have one.  Native headers always have one. */
uint8_t *bf_head_write(const bf_value *v, bool sealed, size_t *len);

#endif
