/* SPDX-License-Identifier: MIT
 *
 * codec_check.h - what the tests of every format do with its codec
 *
 * Filters are used through their own operations, so that a format can be tested below the public
 * functions.  `like` NULL: the format needs no parameters to decode.
 */
#ifndef CODEC_CHECK_H
#define CODEC_CHECK_H

#include "format/codec.h"
#include "umbel_foreign.h"

umbel_filter *codec_create(const umbeli_codec *codec, const umbel_foreign *params);

/* The same, expected to be refused with this error and a diagnostic that contains `what`. */
void codec_create_fails(const umbeli_codec *codec, const umbel_foreign *params, umbel_err err,
                        const char *what);

/* Decodes a copy of exactly len bytes, so that a sanitizer sees each byte read too many. */
umbel_err codec_try(const umbeli_codec *codec, const umbel_foreign *like, const uint8_t *bytes,
                    size_t len, umbel_filter **out, umbel_diag *diag);
umbel_filter *codec_decode(const umbeli_codec *codec, const umbel_foreign *like,
                           const uint8_t *bytes, size_t len);
void codec_decode_fails(const umbeli_codec *codec, const umbel_foreign *like, const uint8_t *bytes,
                        size_t len, umbel_err err, uint64_t offset, const char *what);

/* What umbel_encode would write; free it. */
uint8_t *codec_encode(const umbeli_codec *codec, const umbel_filter *f, size_t *len);

/* encode(f) is these bytes; decode of them equals f and is encoded to them again; verify agrees. */
void codec_is(const umbeli_codec *codec, const umbel_foreign *like, const umbel_filter *f,
              const uint8_t *bytes, size_t len);

/* Every prefix of these bytes is refused, and so are they with one byte behind them. */
void codec_needs_every_byte(const umbeli_codec *codec, const umbel_foreign *like,
                            const uint8_t *bytes, size_t len);

void filter_add(umbel_filter *f, const void *key, size_t len);
bool filter_contains(const umbel_filter *f, const void *key, size_t len);

#endif
