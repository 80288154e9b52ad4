/* SPDX-License-Identifier: MIT
 *
 * fuzz_decode_native.c - umbel's own files
 *
 * Byte 0 says what is corrected before the bytes are decoded, because no fuzzer guesses a checksum
 * and a page of zeros wastes its time.  With AS_IT_IS the rest is the file.  Otherwise it is the
 * file without zeros and sums: header up to the checksum, then payload.
 */
#include <stdlib.h>
#include <string.h>

#include "core/bits.h"
#include "core/settings.h"
#include "hash/native_hash.h"
#include "hash/xxh.h"
#include "target.h"
#include "umbel_foreign.h"

enum {
    AS_IT_IS = 1,
    OTHER_LENGTHS = 2, /* the lengths in the header stay as they are */
    REPEATED = 4,      /* the payload has the length that the header says, by repetition */
    OTHER_SUMS = 8,    /* wrong checksums */
    KEYED = 16,        /* the fingerprint is that of the secret that is tried */
    TRY_KEY = 32       /* a secret is tried */
};

enum {
    HASH_SIPHASH = 2,
    FIXED = 128,
    SUM = 8,
    PAGE = 4096,
    PIECE = 1 << 20,
    LONGEST = PIECE + PIECE / 4
};

static const uint8_t secret[16] = "sixteen bytes...";
static const uint8_t magic[10] = {'U', 'M', 'B', 'E', 'L', 0x1a, '\r', '\n', 1, 0};

static size_t round_up(size_t n, size_t step) {
    return (n + step - 1) / step * step;
}

typedef struct layout {
    size_t header, payload_at, payload, pieces, file;
} layout;

static layout lay_out(size_t header, size_t payload) {
    layout l = {.header = header, .payload_at = round_up(header, PAGE), .payload = payload};
    l.pieces = (payload + PIECE - 1) / PIECE;
    l.file = l.payload_at + payload + SUM * (l.pieces + 1);
    return l;
}

static void seal(uint8_t *file, const layout *l) {
    uint64_t header_sum = umbeli_xxh3_64(file, l->header - SUM, 0);
    umbeli_store_le64(file + l->header - SUM, header_sum);
    uint8_t *payload = file + l->payload_at, *sums = payload + l->payload;
    for (size_t i = 0; i < l->pieces; i++) {
        size_t from = i * PIECE, n = l->payload - from < PIECE ? l->payload - from : PIECE;
        umbeli_store_le64(sums + SUM * i, umbeli_xxh3_64(payload + from, n, i));
    }
    umbeli_store_le64(sums + SUM * l->pieces, umbeli_xxh3_64(sums, SUM * l->pieces, header_sum));
}

/* The file that these bytes, at least FIXED of them, stand for. */
static uint8_t *expand(unsigned choices, const uint8_t *bytes, size_t len, size_t *file_len) {
    /* What the header says about its parts, as far as it is present. */
    size_t own = umbeli_load_le32(bytes + 116), meta = umbeli_load_le32(bytes + 120);
    if (own > len - FIXED) own = len - FIXED;
    if (meta > len - FIXED - own) meta = len - FIXED - own;
    size_t used = FIXED + own + meta, rest = len - used;
    uint64_t said = umbeli_load_le64(bytes + 104);
    bool repeat = (choices & REPEATED) && rest > 0 && said <= LONGEST;
    layout l = lay_out(round_up(used, 8) + SUM, repeat ? (size_t)said : rest);
    uint8_t *file = some_bytes(l.file);
    memset(file, 0, l.file);
    memcpy(file, bytes, used);
    for (size_t at = 0; at < l.payload; at += rest) {
        size_t left = l.payload - at;
        memcpy(file + l.payload_at + at, bytes + used, left < rest ? left : rest);
    }
    if (!(choices & OTHER_LENGTHS)) {
        memcpy(file, magic, sizeof magic);
        umbeli_store_le32(file + 12, (uint32_t)l.header);
        umbeli_store_le64(file + 96, l.payload_at);
        umbeli_store_le64(file + 104, l.payload);
        umbeli_store_le32(file + 112, PIECE);
        umbeli_store_le32(file + 116, (uint32_t)own);
        umbeli_store_le32(file + 120, (uint32_t)meta);
    }
    if (choices & KEYED) {
        umbeli_store_le32(file + 24, HASH_SIPHASH);
        umbeli_store_le64(file + 40, umbeli_fingerprint(umbeli_secret_from(secret)));
    }
    if (!(choices & OTHER_SUMS)) seal(file, &l);
    *file_len = l.file;
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    umbel_foreign native = {.format = UMBEL_FMT_NATIVE};
    const uint8_t *tried = NULL;
    if (len < 1) return 0;
    unsigned choices = bytes[0];
    if (choices & TRY_KEY) tried = secret;
    size_t file_len = len - 1;
    uint8_t *file;
    if (choices & AS_IT_IS || file_len < FIXED) {
        file = some_bytes(file_len);
        memcpy(file, bytes + 1, file_len);
    } else {
        file = expand(choices, bytes + 1, len - 1, &file_len);
    }
    use_bytes(&native, tried, file, file_len, file_len + 8192);
    free(file);
    return 0;
}
