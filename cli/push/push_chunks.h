/* SPDX-License-Identifier: MIT
 *
 * push_chunks.h - a filter's bytes as BF.LOADCHUNK takes them: a head, then pieces of the bits
 */
#ifndef CLI_PUSH_CHUNKS_H
#define CLI_PUSH_CHUNKS_H

#include "options/options.h"
#include "umbel.h"

typedef struct cli_push_chunks {
    umbel_key header;
    const uint8_t *bits;
    uint64_t bits_len, keys;
    const uint8_t *links; /* redisbloom: their descriptions; no piece lies in two of them */
    uint32_t nlinks;
    char id[40]; /* tells this filter from any other */

    uint8_t *space; /* what must be freed, or NULL */
} cli_push_chunks;

/* The chunks of the bytes of a native or redisbloom file, which must outlive it; they are checked
 * wholly.  Ends the program with words about `name` for anything else.  A filter with a secret key
 * needs it: 16 bytes, else NULL. */
cli_push_chunks cli_push_chunks_of(const uint8_t *bytes, size_t len, const char *name,
                                   const uint8_t *secret);
void cli_push_chunks_free(cli_push_chunks *p);

/* How long the piece is that begins at this offset of the bits. */
size_t cli_push_chunk_len(const cli_push_chunks *p, uint64_t offset);

#endif
