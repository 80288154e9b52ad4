/* SPDX-License-Identifier: MIT
 *
 * umbel_experimental.h - what may change or go in any version
 *
 * docs/abi.md promises nothing about this header.  The rules of umbel.h hold here as well.
 */
#ifndef UMBEL_EXPERIMENTAL_H
#define UMBEL_EXPERIMENTAL_H

#include "umbel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which bits a lookup of this key reads, in the order of the probes: writes up to cap of them to
 * bits and returns how many there are; a bit may occur twice.  Bit i is bit i mod 8 of byte i / 8
 * of the array as a native file holds it.  Counters and the slots of static filters are given by
 * their first bit, those of tight ones by all bits of a parity.  A chain gives the bits of every
 * layer; packed hashes give the first bit of the chunk in which the key's hash would be. */
UMBEL_API size_t umbel_probes(const umbel_filter *filter, const void *key, size_t len,
                              uint64_t *bits, size_t cap);

/* What the filter's own system prints for it, as NUL-terminated text: gocrc32's String().
 * UMBEL_ESPACE when cap is too small (128 bytes always suffice); UMBEL_ENOTSUP for other
 * formats. */
UMBEL_API umbel_err umbel_text(const umbel_filter *filter, char *text, size_t cap,
                               umbel_diag *diag);

/* Splits text as ClickHouse's indexes do before hashing: into words (ngram 0, tokenbf_v1) or every
 * window of `ngram` code points (ngrambf_v1).  Start with *pos 0; each call gives the next token, a
 * part of the text, or returns false after the last. */
UMBEL_API bool umbel_clickhouse_token(const void *text, size_t len, uint32_t ngram, size_t *pos,
                                      umbel_key *token);

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_EXPERIMENTAL_H */
