/* SPDX-License-Identifier: MIT
 *
 * leveldb_hash.h - the 32-bit hash of LevelDB's filters, seeded as they seed it
 *
 * Murmur-like: four bytes a step and nothing after the last full step, so the upper bytes of a key
 * of 4n bytes hardly reach the lower bits.  Bytes are unsigned here as in LevelDB; RocksDB's copy
 * extends the sign of the tail and differs on bytes from 0x80.
 */
#ifndef UMBELI_LEVELDB_HASH_H
#define UMBELI_LEVELDB_HASH_H

#include <stddef.h>
#include <stdint.h>

uint32_t umbeli_leveldb_hash(const void *key, size_t len);

#endif
