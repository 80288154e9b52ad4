/* SPDX-License-Identifier: MIT
 *
 * crc32c.c - four bits at a time: a table small enough to write out and check by eye; processors
 * with an instruction for it use that
 */
#include "tables/crc32c.h"

#include "core/bits.h"
#include "core/cpu.h"

/* Entry i is i after four steps of the polynomial 82f63b78. */
static const uint32_t steps[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

#if UMBELI_X86 && defined(__x86_64__)
/* Eight bytes at a time: filters of RocksDB's files are tens of MB. */
__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(const uint8_t *p, size_t len) {
    const uint8_t *end = p + len;
    uint64_t crc = UINT32_MAX;
    for (; end - p >= 8; p += 8) crc = __builtin_ia32_crc32di(crc, umbeli_load_le64(p));
    for (; p < end; p++) crc = __builtin_ia32_crc32qi((uint32_t)crc, *p);
    return ~(uint32_t)crc;
}
#endif

uint32_t umbeli_crc32c(const void *bytes, size_t len) {
    const uint8_t *p = bytes;
    uint32_t crc = UINT32_MAX;
#if UMBELI_X86 && defined(__x86_64__)
    if (umbeli_cpu() & UMBELI_CPU_AVX2) return crc32c_sse42(p, len);
#endif
    for (size_t i = 0; i < len; i++) {
        crc ^= p[i];
        crc = (crc >> 4) ^ steps[crc & 15];
        crc = (crc >> 4) ^ steps[crc & 15];
    }
    return ~crc;
}

uint32_t umbeli_crc32c_mask(uint32_t crc) {
    return umbeli_rotl32(crc, 17) + 0xa282ead8u;
}
