/* SPDX-License-Identifier: MIT
 *
 * crc32.h - CRC-32 (IEEE) of a key of any length
 */
#ifndef UMBELI_CRC32_H
#define UMBELI_CRC32_H

#include <stddef.h>
#include <stdint.h>

uint32_t umbeli_crc32(const void *key, size_t len);

#endif
