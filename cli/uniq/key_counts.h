/* SPDX-License-Identifier: MIT
 *
 * key_counts.h - how often each key went by: a table of hashes and counts
 *
 * 16 bytes per slot, 1.2 to 2.4 slots per key.  Two keys of n share a 64-bit hash, and so a count,
 * with a probability of n * n / 2^65: 3 in a million at 10 million keys.  A count-min sketch with
 * conservative update would need 38 bytes per key to be wrong about 1 key in 100 only.
 */
#ifndef CLI_KEY_COUNTS_H
#define CLI_KEY_COUNTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct cli_key_count {
    uint64_t hash; /* 0: a free slot */
    uint64_t count;
} cli_key_count;

/* Starts with zeros. */
typedef struct cli_key_counts {
    cli_key_count *slots;
    size_t room, keys; /* room is a power of two, or 0 */
    uint64_t limit;    /* bytes, for --max-memory; 0: none */
} cli_key_counts;

/* Counts n keys by their hashes. */
void cli_key_counts_add(cli_key_counts *t, const uint64_t *hashes, size_t n);

/* The slot of a key that was counted. */
cli_key_count *cli_key_counts_of(const cli_key_counts *t, uint64_t hash);
void cli_key_counts_free(cli_key_counts *t);

#endif
