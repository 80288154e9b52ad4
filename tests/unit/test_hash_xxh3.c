/* SPDX-License-Identifier: MIT
 *
 * test_hash_xxh3.c - XXH3 in pieces equals XXH3 in one call, whatever the memory held before
 */
#include "cases.h"

#include <string.h>

#include "hash/xxh.h"

static uint8_t text[5000];

static uint64_t in_pieces(umbeli_xxh3_stream *stream, uint64_t seed, size_t piece) {
    umbeli_xxh3_begin(stream, seed);
    for (size_t at = 0; at < sizeof text; at += piece) {
        size_t len = sizeof text - at < piece ? sizeof text - at : piece;
        assert_true(umbeli_xxh3_sink(stream, text + at, len));
    }
    return umbeli_xxh3_end(stream);
}

static void pieces_make_the_whole(void **state) {
    (void)state;
    static const uint64_t seeds[] = {0, 1, UINT64_C(0x9e3779b97f4a7c15)};
    static const size_t pieces[] = {1, 7, 256, 257, 1024, sizeof text};
    umbeli_xxh3_stream stream;
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++) {
        uint64_t whole = umbeli_xxh3_64(text, sizeof text, seeds[s]);
        for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
            assert_true(in_pieces(&stream, seeds[s], pieces[p]) == whole);
        }
    }
}

/* The stack may hold an earlier stream, partly overwritten. */
static void stale_memory_does_not_matter(void **state) {
    (void)state;
    const uint64_t seed = UINT64_C(0x0123456789abcdef);
    uint64_t whole = umbeli_xxh3_64(text, sizeof text, seed);
    umbeli_xxh3_stream stream;
    for (size_t at = 0; at + 32 <= sizeof stream; at += 32) {
        assert_true(in_pieces(&stream, seed, 512) == whole);
        memset((uint8_t *)&stream + at, 0xa5, 32);
        assert_true(in_pieces(&stream, seed, 512) == whole);
    }
}

int main(void) {
    for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)(i * 131 >> 3);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_make_the_whole),
        cmocka_unit_test(stale_memory_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
