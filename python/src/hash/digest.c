/* SPDX-License-Identifier: MIT
 *
 * digest.c - SHA-1 (FIPS 180-4) and MD4 (RFC 1320)
 */
#include "hash/digest.h"

#include "core/bits.h"

enum { BLOCK = 64, LENGTH = 8 };

typedef void compress(uint32_t state[5], const uint8_t *block);

/* Whole blocks of the text, then its end: a bit, zeros and the length in bits. */
static void digest_blocks(const uint8_t *bytes, size_t len, bool big_endian, compress *step,
                          uint32_t state[5]) {
    uint8_t last[2 * BLOCK] = {0};
    size_t rest = len % BLOCK, padded = rest + 1 + LENGTH <= BLOCK ? BLOCK : 2 * BLOCK;
    for (size_t at = 0; at + BLOCK <= len; at += BLOCK) step(state, bytes + at);
    if (rest) memcpy(last, bytes + len - rest, rest);
    last[rest] = 0x80;
    uint64_t bits = (uint64_t)len * 8;
    umbeli_store_le64(last + padded - LENGTH, big_endian ? __builtin_bswap64(bits) : bits);
    for (size_t at = 0; at < padded; at += BLOCK) step(state, last + at);
}

static void sha1_block(uint32_t state[5], const uint8_t *block) {
    uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (int i = 0; i < 16; i++) w[i] = __builtin_bswap32(umbeli_load_le32(block + 4 * i));
    for (int i = 16; i < 80; i++) {
        w[i] = umbeli_rotl32(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    for (int i = 0; i < 80; i++) {
        uint32_t f = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999
                     : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1
                     : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
                              : (b ^ c ^ d) + 0xca62c1d6;
        uint32_t next = umbeli_rotl32(a, 5) + f + e + w[i];
        e = d, d = c, c = umbeli_rotl32(b, 30), b = a, a = next;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
}

void umbeli_sha1(const void *bytes, size_t len, uint8_t digest[UMBELI_SHA1_BYTES]) {
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    digest_blocks(bytes, len, true, sha1_block, state);
    for (int i = 0; i < 5; i++) umbeli_store_le32(digest + 4 * i, __builtin_bswap32(state[i]));
}

/* Three rounds of sixteen steps; a round has its function, its order of words, its shifts. */
static void md4_block(uint32_t state[5], const uint8_t *block) {
    static const uint8_t order[3][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                         {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15},
                                         {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15}};
    static const uint8_t shift[3][4] = {{3, 7, 11, 19}, {3, 5, 9, 13}, {3, 9, 11, 15}};
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (int i = 0; i < 48; i++) {
        int round = i / 16;
        uint32_t f = round == 0   ? (b & c) | (~b & d)
                     : round == 1 ? ((b & c) | (b & d) | (c & d)) + 0x5a827999
                                  : (b ^ c ^ d) + 0x6ed9eba1;
        uint32_t x = umbeli_load_le32(block + 4 * order[round][i % 16]);
        uint32_t next = umbeli_rotl32(a + f + x, shift[round][i % 4]);
        a = d, d = c, c = b, b = next;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

void umbeli_md4(const void *bytes, size_t len, uint8_t digest[UMBELI_MD4_BYTES]) {
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0};
    digest_blocks(bytes, len, false, md4_block, state);
    for (int i = 0; i < 4; i++) umbeli_store_le32(digest + 4 * i, state[i]);
}
