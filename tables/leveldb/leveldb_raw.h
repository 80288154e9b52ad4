/* SPDX-License-Identifier: MIT
 *
 * leveldb_raw.h - LevelDB's filter from hashes, without a handle: for writers of many small filters
 */
#ifndef UMBELI_LEVELDB_RAW_H
#define UMBELI_LEVELDB_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of a filter of n keys, including the byte with the number of probes; 0: too long. */
size_t umbeli_leveldb_fill_len(uint64_t n, uint32_t bits_per_key);

/* Fills `filter`, which has that length and is all zero. */
void umbeli_leveldb_fill(uint8_t *filter, size_t len, uint32_t bits_per_key, const uint32_t *hashes,
                         size_t n);

/* Queries a filter as LevelDB does: a reserved encoding matches everything, a filter without bits
 * nothing. */
bool umbeli_leveldb_fill_has(const uint8_t *filter, size_t len, uint32_t hash);

#endif
