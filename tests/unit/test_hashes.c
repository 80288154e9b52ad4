/* SPDX-License-Identifier: MIT
 *
 * test_hashes.c - every unkeyed hash, against the systems that it comes from
 */
#include "cases.h"

#include <stdlib.h>
#include <string.h>

#include "core/bits.h"
#include "golden.h"
#include "hash/foreign_hash.h"
#include "hash/xxh.h"

/* ---- FNV-1, against the vectors of its authors (Noll, draft-eastlake-fnv) ---- */

static void fnv1_is_not_fnv1a(void **state) {
    (void)state;
    assert_int_equal(umbeli_fnv1_64(NULL, 0), 0xcbf29ce484222325);
    assert_int_equal(umbeli_fnv1_64("a", 1), 0xaf63bd4c8601b7be);
    assert_int_equal(umbeli_fnv1_64("b", 1), 0xaf63bd4c8601b7bd);
    assert_int_equal(umbeli_fnv1_64("foobar", 6), 0x340d8765a4dda9c2);
}

/* ---- CRC-32, against its check value and Go's hash/crc32 ---- */

static void crc32_check_value(void **state) {
    (void)state;
    assert_int_equal(umbeli_crc32("123456789", 9), 0xcbf43926);
    assert_int_equal(umbeli_crc32(NULL, 0), 0);
}

static void crc32_is_gos(void **state) {
    (void)state;
    golden_table t = golden_table_open("gocrc32/hash_int64.tsv");
    while (golden_table_next(&t)) {
        uint32_t got = umbeli_crc32(t.column[1], strlen(t.column[1]));
        assert_int_equal(got, strtoull(t.column[2], NULL, 10));
    }
    assert_true(t.rows > 5);
    golden_table_close(&t);
}

/* ---- LevelDB's hash, against LevelDB 1.23 and the Go port of corekv ---- */

static void compare_leveldb(const char *path, int base, size_t rows) {
    golden_table t = golden_table_open(path);
    while (golden_table_next(&t)) {
        size_t len;
        uint8_t *key = golden_hex(t.column[0], &len);
        assert_int_equal(umbeli_leveldb_hash(key, len), strtoul(t.column[1], NULL, base));
        free(key);
    }
    assert_int_equal(t.rows, rows);
    golden_table_close(&t);
}

static void hash_is_leveldbs(void **state) {
    (void)state;
    compare_leveldb("leveldb/bloomhash.tsv", 16, 18);
}

static void hash_is_corekvs(void **state) {
    (void)state;
    compare_leveldb("corekv/hash.tsv", 10, 9);
}

static void leveldb_of_no_bytes(void **state) {
    (void)state;
    assert_int_equal(umbeli_leveldb_hash(NULL, 0), 0xbc9f1d34);
}

/* ---- MurmurHash64A in the two steps of RedisBloom: the second seeded by the first ---- */

static void murmur2_is_redisblooms(void **state) {
    (void)state;
    golden_table t = golden_table_open("redisbloom/hash.tsv");
    while (golden_table_next(&t)) {
        size_t len = strlen(t.column[0]);
        uint64_t a = umbeli_murmur2_64a(t.column[0], len, 0xc6a4a7935bd1e995);
        assert_int_equal(a, strtoull(t.column[1], NULL, 10));
        assert_int_equal(umbeli_murmur2_64a(t.column[0], len, a), strtoull(t.column[2], NULL, 10));
    }
    assert_int_equal(t.rows, 6);
    golden_table_close(&t);
}

static void murmur2_of_no_bytes(void **state) {
    (void)state;
    assert_int_equal(umbeli_murmur2_64a(NULL, 0, 0), 0);
}

/* ---- MurmurHash3_x64_128, against Guava's Hashing.murmur3_128() ---- */

static void murmur3_is_guavas(void **state) {
    (void)state;
    golden_table t = golden_table_open("guava/murmur3_128.tsv");
    while (golden_table_next(&t)) {
        size_t len, want_len;
        uint8_t *bytes = golden_hex(t.column[0], &len);
        uint8_t *want = golden_hex(t.column[1], &want_len);
        uint8_t got[16];
        umbeli_hash128 h = umbeli_murmur3_128(bytes, len, 0);
        umbeli_store_le64(got, h.low);
        umbeli_store_le64(got + 8, h.high);
        assert_int_equal(want_len, 16);
        assert_memory_equal(got, want, 16);
        free(bytes);
        free(want);
    }
    assert_int_equal(t.rows, 41);
    golden_table_close(&t);
}

static void murmur3_of_no_bytes(void **state) {
    (void)state;
    umbeli_hash128 h = umbeli_murmur3_128(NULL, 0, 0);
    assert_int_equal(h.low, 0);
    assert_int_equal(h.high, 0);
}

/* ---- CityHash 1.0.2, against ClickHouse's own answers ---- */

static void city64_is_clickhouses(void **state) {
    (void)state;
    golden_table t = golden_table_open("clickhouse/cityhash64.tsv");
    while (golden_table_next(&t)) {
        size_t len;
        uint8_t *bytes = golden_hex(t.column[1], &len);
        assert_int_equal(len, strtoull(t.column[0], NULL, 10));
        assert_int_equal(umbeli_city64(bytes, len), strtoull(t.column[2], NULL, 10));
        free(bytes);
    }
    assert_int_equal(t.rows, 135);
    golden_table_close(&t);
}

static void seeded_city64(void **state) {
    (void)state;
    golden_table t = golden_table_open("clickhouse/cityhash64_withseed.tsv");
    while (golden_table_next(&t)) {
        uint64_t seed = strtoull(t.column[3], NULL, 10);
        uint64_t h = umbeli_city64(t.column[0], strlen(t.column[0]));
        assert_int_equal(umbeli_city64_reseed(h, seed), strtoull(t.column[4], NULL, 10));
        assert_int_equal(umbeli_city64_reseed(h, 845897321u * seed + 217728422u),
                         strtoull(t.column[5], NULL, 10));
    }
    assert_int_equal(t.rows, 30);
    golden_table_close(&t);
}

static void city128_is_the_block_checksum(void **state) {
    (void)state;
    golden_table t = golden_table_open("clickhouse/city128_blocks.tsv");
    while (golden_table_next(&t)) {
        size_t len;
        uint8_t *bytes = golden_hex(t.column[0], &len);
        umbeli_hash128 h = umbeli_city128(bytes, len);
        assert_int_equal(h.low, strtoull(t.column[1], NULL, 10));
        assert_int_equal(h.high, strtoull(t.column[2], NULL, 10));
        free(bytes);
    }
    assert_int_equal(t.rows, 20);
    golden_table_close(&t);
}

static void fmix64_is_the_integer_hash(void **state) {
    (void)state;
    golden_table t = golden_table_open("clickhouse/inthash64.tsv");
    while (golden_table_next(&t)) {
        assert_int_equal(umbeli_fmix64(strtoull(t.column[0], NULL, 10)),
                         strtoull(t.column[1], NULL, 10));
    }
    assert_int_equal(t.rows, 9);
    golden_table_close(&t);
}

/* ---- XXH64, against published values and those of a Parquet writer ---- */

static void xxh64_with_seed_0(void **state) {
    (void)state;
    golden_table t = golden_table_open("parquet/xxh64.tsv");
    while (golden_table_next(&t)) {
        size_t len;
        uint8_t *bytes = golden_hex(t.column[0], &len);
        uint64_t want = strtoull(t.column[1], NULL, 16), hash;
        assert_int_equal(umbeli_xxh64(bytes, len, 0), want);
        umbeli_hasher_xxh64.many(&(umbeli_shape){0}, &(umbel_key){bytes, len}, 1, &hash);
        assert_int_equal(hash, want);
        free(bytes);
    }
    assert_int_equal(t.rows, 70);
    golden_table_close(&t);
}

/* ---- XXH3: pieces equal one call, whatever the memory held before ---- */

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

/* ---- XXH3 in batches: runs of numbers take another path than keys of other lengths ---- */

static void batches_equal_single_hashes(void **state) {
    (void)state;
    enum { KEYS = 200 };
    umbel_key keys[KEYS];
    uint64_t got[KEYS];
    umbeli_hash128 wide[KEYS];
    for (unsigned others = 0; others < 40; others++) { /* one key in this many has another length */
        umbeli_shape shape = {.hash = UMBEL_HASH_XXH3,
                              .seed = others * UINT64_C(0x9e3779b97f4a7c15)};
        for (size_t i = 0; i < KEYS; i++) {
            bool number = others == 0 || (i * 7 + i / 50) % others != 0;
            keys[i] = (umbel_key){text + i * 23, number ? 8 : i % 41};
        }
        for (size_t n = 0; n <= KEYS; n += n < 20 ? 1 : 60) {
            umbeli_native_hashes(&shape, keys, n, got);
            umbeli_native_hashes128(&shape, keys, n, wide);
            for (size_t i = 0; i < n; i++) {
                assert_true(got[i] == umbeli_xxh3_64(keys[i].data, keys[i].len, shape.seed));
                umbeli_hash128 h = umbeli_xxh3_128(keys[i].data, keys[i].len, shape.seed);
                assert_true(wide[i].low == h.low && wide[i].high == h.high);
            }
        }
    }
}

int main(void) {
    for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)(i * 131 >> 3);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fnv1_is_not_fnv1a),
        cmocka_unit_test(crc32_check_value),
        cmocka_unit_test(crc32_is_gos),
        cmocka_unit_test(hash_is_leveldbs),
        cmocka_unit_test(hash_is_corekvs),
        cmocka_unit_test(leveldb_of_no_bytes),
        cmocka_unit_test(murmur2_is_redisblooms),
        cmocka_unit_test(murmur2_of_no_bytes),
        cmocka_unit_test(murmur3_is_guavas),
        cmocka_unit_test(murmur3_of_no_bytes),
        cmocka_unit_test(city64_is_clickhouses),
        cmocka_unit_test(seeded_city64),
        cmocka_unit_test(city128_is_the_block_checksum),
        cmocka_unit_test(fmix64_is_the_integer_hash),
        cmocka_unit_test(xxh64_with_seed_0),
        cmocka_unit_test(pieces_make_the_whole),
        cmocka_unit_test(stale_memory_does_not_matter),
        cmocka_unit_test(batches_equal_single_hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
