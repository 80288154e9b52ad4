/* SPDX-License-Identifier: MIT
 *
 * fuzz_table_clickhouse.c - the reader of ClickHouse's indexes: byte 0 chooses a definition, byte 1
 * how many of the bytes after them are marks (times 8); the rest is the index.  Checksums are
 * corrected first.
 */
#include <stdlib.h>
#include <string.h>

#include "core/bits.h"
#include "hash/foreign_hash.h"
#include "target.h"

enum { CHECKSUM = 16, HEADER = 9 };

static void seal(uint8_t *bytes, size_t len) {
    for (size_t at = 0; len - at >= CHECKSUM + HEADER;) {
        uint32_t size = umbeli_load_le32(bytes + at + 17);
        if (size < HEADER || size > len - at - CHECKSUM) return;
        umbeli_hash128 sum = umbeli_city128(bytes + at + CHECKSUM, size);
        umbeli_store_le64(bytes + at, sum.low);
        umbeli_store_le64(bytes + at + 8, sum.high);
        at += CHECKSUM + size;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    static const umbel_table_hints definitions[] = {
        {.index = "bloom_filter(0.01)", .type = "UInt64"},
        {.index = "tokenbf_v1(256, 2, 0)"},
        {.index = "bloom_filter", .columns = 2},
        {.index = "ngrambf_v1(4, 512, 3, 7)"},
        {.index = "tokenbf_v1(3, 5, 18446744073709551615)", .columns = 3},
    };
    if (len < 2) return 0;
    umbel_table_hints hints = definitions[bytes[0] % (sizeof definitions / sizeof definitions[0])];
    size_t marks = (size_t)bytes[1] * 8;
    len -= 2;
    if (marks > len) marks = len;
    /* Separate, so that reading beyond either is detected. */
    uint8_t *copy = some_bytes(len - marks), *marks_copy = some_bytes(marks);
    memcpy(marks_copy, bytes + 2, marks);
    memcpy(copy, bytes + 2 + marks, len - marks);
    seal(marks_copy, marks);
    seal(copy, len - marks);
    hints.system = UMBEL_TABLE_CLICKHOUSE;
    hints.marks = marks ? marks_copy : NULL;
    hints.marks_len = marks;
    use_table(copy, len - marks, &hints);
    free(marks_copy);
    free(copy);
    return 0;
}
