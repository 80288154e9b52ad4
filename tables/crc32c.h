/* SPDX-License-Identifier: MIT
 *
 * crc32c.h - the checksum of LevelDB's blocks, and often of RocksDB's: CRC-32C, masked
 */
#ifndef UMBELI_CRC32C_H
#define UMBELI_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Castagnoli's polynomial, reflected: the usual `crc32c`. */
uint32_t umbeli_crc32c(const void *bytes, size_t len);

/* What LevelDB stores instead: a CRC over data that contains CRCs would be weak. */
uint32_t umbeli_crc32c_mask(uint32_t crc);

#endif
