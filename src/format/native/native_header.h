/* SPDX-License-Identifier: MIT
 *
 * native_header.h - the first part of a native file: everything about a filter except its bits
 *
 * A header is also useful without a payload after it: where the bits arrive separately, as in
 * Redis, the filter is made from the header and its payload filled in later.  Only native_header.c
 * knows the offsets of the fields.
 */
#ifndef UMBELI_NATIVE_HEADER_H
#define UMBELI_NATIVE_HEADER_H

#include "core/bytes.h"
#include "core/filter.h"
#include "format/native/native_recipe.h"

/* ---- Reading ---- */

typedef struct umbeli_native_header {
    umbeli_shape shape; /* without the secret */
    uint64_t fingerprint;
    uint64_t keys_added;
    umbeli_key_rule key_rule; /* as in files before 0.3 ... */
    bool recipe_only;         /* ... which cannot follow this one */
    uint32_t len, kind_params_len, meta_len, count_error, exceptions;
    bool outdated; /* of the exceptions */
    uint64_t payload_at, payload_len, checksum;
} umbeli_native_header;

/* Whether bytes begin like a native file. */
bool umbeli_native_begins(const uint8_t *bytes, size_t len);

/* Reads the header at the start of the bytes and checks everything in it that does not depend on
 * what follows. */
umbel_err umbeli_native_read(const uint8_t *bytes, size_t len, umbeli_native_header *h,
                             umbel_diag *diag);

/* Compares the lengths with that of the whole file, which ends with a trailer of this many bytes,
 * and checks the padding between header and payload. */
umbel_err umbeli_native_check_file(const uint8_t *bytes, size_t len, uint64_t trailer_len,
                                   const umbeli_native_header *h, umbel_diag *diag);

/* Copies the secret given for decoding into the shape.  UMBEL_ESECRET unless it is the one that the
 * filter was made with. */
umbel_err umbeli_native_use_secret(umbeli_native_header *h, const umbeli_settings *settings,
                                   umbel_diag *diag);

/* The metadata of the header at bytes, entry by entry: begin, then next until it returns false, at
 * the end or, with `failed` set, at a truncated entry.  The texts do not end in NUL, and nothing
 * about them is checked. */
typedef struct umbeli_native_meta {
    umbeli_reader r;
    uint64_t base; /* of the metadata in the header */
    uint64_t at;   /* of this entry, from the start of the header */
    const char *name, *value;
    uint16_t name_len;
    uint32_t value_len;
    bool failed;
} umbeli_native_meta;
umbeli_native_meta umbeli_native_meta_begin(const uint8_t *bytes, const umbeli_native_header *h);
bool umbeli_native_meta_next(umbeli_native_meta *m);

/* Gives a filter the recipe, the metadata and the exceptions of the header at bytes. */
umbel_err umbeli_native_read_meta(umbel_filter *f, const uint8_t *bytes,
                                  const umbeli_native_header *h, umbel_diag *diag);

/* The filter that the header at bytes describes: with all bits 0, or borrowing `borrow`. */
umbel_err umbeli_native_make(const uint8_t *bytes, const umbeli_native_header *h,
                             const uint8_t *borrow, const umbeli_settings *settings,
                             umbel_filter **out, umbel_diag *diag);

/* ---- Writing ---- */

/* What a header is written from: a filter, or a layer that becomes a separate filter. */
typedef struct umbeli_native_source {
    umbeli_shape shape;
    uint64_t keys_added, payload_len;
    uint32_t count_error;
    const umbel_filter *params;          /* the filter whose kind parameters to write; NULL: none */
    const umbeli_exceptions *exceptions; /* NULL: none */
    const umbeli_meta_entry *extra, *meta; /* metadata, in this order */
    size_t extra_count, meta_count;
} umbeli_native_source;

umbeli_native_source umbeli_native_source_of(const umbel_filter *f);

/* The header of layer i of a chain as a separate filter, blocked or classic.  Metadata, recipe
 * included, and exceptions go with the first layer. */
umbeli_native_source umbeli_native_source_of_layer(const umbel_filter *chain, uint32_t i);

/* The length of the header, and the offset of the payload in a file. */
uint64_t umbeli_native_header_len(const umbeli_native_source *from);
uint64_t umbeli_native_payload_at(uint64_t header_len);

/* umbeli_codec.bits_at. */
uint64_t umbeli_native_bits_at(const umbel_filter *f, const uint8_t *bytes, uint64_t len);

/* Writes the header; returns its checksum. */
uint64_t umbeli_native_put_header(const umbeli_native_source *from, umbeli_writer *w);

#endif
