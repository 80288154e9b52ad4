/* SPDX-License-Identifier: MIT
 *
 * crc32c_sse42.c - eight bytes at a time, by the instruction for it: filters of RocksDB's files are
 * tens of MB
 */
#include "core/bits.h"
#include "core/cpu.h"
#include "tables/crc32c.h"

#if UMBELI_X86 && defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t umbeli_crc32c_sse42(const void *bytes, size_t len) {
    const uint8_t *p = bytes, *end = p + len;
    uint64_t crc = UINT32_MAX;
    for (; end - p >= 8; p += 8) crc = __builtin_ia32_crc32di(crc, umbeli_load_le64(p));
    for (; p < end; p++) crc = __builtin_ia32_crc32qi((uint32_t)crc, *p);
    return ~(uint32_t)crc;
}

#else

typedef int umbeli_no_crc32c_sse42; /* a translation unit is never empty in ISO C */

#endif
