/* SPDX-License-Identifier: MIT
 *
 * leveldb_raw.h - LevelDB's filter from hashes, without a handle: what writers of many small
 * filters need
 */
#ifndef UMBELI_LEVELDB_RAW_H
#define UMBELI_LEVELDB_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of a filter of n keys, the byte with the number of probes included; 0: too long. */
size_t umbeli_leveldb_fill_len(uint64_t n, uint32_t bits_per_key);

/* Fills `filter`, which has that length and is all zero. */
void umbeli_leveldb_fill(uint8_t *filter, size_t len, uint32_t bits_per_key, const uint32_t *hashes,
                         size_t n);

/* Asks a filter as LevelDB does: what is odd matches, what has no bits does not. */
bool umbeli_leveldb_fill_has(const uint8_t *filter, size_t len, uint32_t hash);

#endif
