/* SPDX-License-Identifier: MIT
 *
 * parquet.h - the parts of a Parquet Bloom filter, for readers of whole Parquet files
 */
#ifndef UMBELI_PARQUET_H
#define UMBELI_PARQUET_H

#include "umbel.h"

/* Reads a BloomFilterHeader: its own length, and the bytes of bits that follow.  Those need not be
 * in `bytes` yet: files before format 2.10 do not say how long a filter is. */
umbel_err umbeli_parquet_header(const uint8_t *bytes, size_t len, size_t *header_len,
                                uint32_t *num_bytes, umbel_diag *diag);

#endif
