/* SPDX-License-Identifier: MIT
 *
 * top_keys.h - the most frequent keys of a stream, in fixed memory: Space-Saving
 *
 * There is a fixed number of counters.  A key without one takes over the smallest with its count,
 * which bounds the error of the new count (Metwally, Agrawal, El Abbadi, "Efficient computation of
 * frequent and top-k elements in data streams", 2005).  No count is ever too low, and none too high
 * by more than keys / counters.  Keys are distinguished by 64-bit hashes.
 */
#ifndef CLI_TOP_KEYS_H
#define CLI_TOP_KEYS_H

#include <stddef.h>
#include <stdint.h>

typedef struct cli_top_key {
    uint64_t hash, count;
    uint64_t excess; /* the count may be too high by this */
    uint64_t order;  /* of the key's arrival */
    char *line;      /* the first with this key, since it has the counter */
    size_t len, room;
    uint32_t next; /* with the same bucket, from 1; 0: none */
    uint32_t at;   /* its place in the heap */
} cli_top_key;

typedef struct cli_top_keys {
    cli_top_key *keys;
    uint32_t *heap;    /* the smallest count first */
    uint32_t *buckets; /* by hash: a key, from 1 */
    uint32_t used, room, mask;
    uint64_t arrived;
    uint64_t bytes, limit; /* what all of this takes, with the lines; for --max-memory, 0: none */
} cli_top_keys;

cli_top_keys cli_top_keys_new(uint32_t counters, uint64_t limit);
void cli_top_keys_count(cli_top_keys *t, uint64_t hash, const void *line, size_t len);

/* Sorts the counters, the largest count first: nothing can be counted afterwards. */
void cli_top_keys_sort(cli_top_keys *t);
void cli_top_keys_free(cli_top_keys *t);

#endif
