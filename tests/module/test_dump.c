/* SPDX-License-Identifier: MIT
 *
 * test_dump.c - values as bytes that clients send: SCANDUMP and LOADCHUNK, LOAD, native files,
 *               RedisBloom's own dumps
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "core/bits.h"
#include "golden.h"
#include "hash/xxh.h"
#include "kind/exceptions.h"
#include "storage/dump.h"
#include "umbel.h"
#include "value/value_memory.h"
#include "values.h"

/* ---- SCANDUMP and LOADCHUNK ---- */

static bf_value *reloaded(const bf_value *v, uint64_t max_bytes) {
    size_t len = 0;
    uint8_t *head = bf_dump_head(v, &len);
    bf_value *back = NULL;
    umbel_err e = bf_load_head(head, len, max_bytes, &back, NULL);
    RedisModule_Free(head);
    if (e) return NULL;
    const uint8_t *bytes;
    int64_t next = 1;
    for (bf_dump_chunk(v, next, &next, &bytes, &len); next;
         bf_dump_chunk(v, next, &next, &bytes, &len)) {
        assert_ok(bf_value_load_chunk(back, next, bytes, len, NULL));
    }
    return back;
}

static void values_come_back_in_chunks(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        bf_value *v = some_value(i, 2500), *back = reloaded(v, 0);
        assert_non_null(back);
        assert_same(v, back);
        assert_goes_on_alike(v, back);
        assert_null(reloaded(v, 100));
        bf_value_free(v);
        bf_value_free(back);
    }
}

static void chunks_end_with_their_layer(void **state) {
    (void)state;
    bf_params p = {.error = 0.01, .capacity = 30000000, .expansion = 2};
    bf_value *v = NULL;
    const uint8_t *bytes;
    size_t len;
    int64_t next;
    bf_layer layer;
    assert_ok(bf_value_create(&p, 0, &v, NULL));
    bf_value_layer(v, 0, &layer);
    bf_dump_chunk(v, 1, &next, &bytes, &len);
    assert_int_equal(len, 16 << 20);
    assert_int_equal(next, (16 << 20) + 1);
    bf_dump_chunk(v, 2 * (16 << 20) + 1, &next, &bytes, &len);
    assert_int_equal(len, layer.bytes - 2 * (16 << 20));
    static const int64_t none[] = {0, -1, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < 4; i++) {
        bf_dump_chunk(v, none[i], &next, &bytes, &len);
        assert_int_equal(next, 0);
        assert_int_equal(len, 0);
    }
    bf_value_free(v);

    v = some_value(2, 1000);
    uint32_t layers = 0;
    uint64_t sum = 0;
    for (bf_dump_chunk(v, 1, &next, &bytes, &len); next;
         bf_dump_chunk(v, next, &next, &bytes, &len)) {
        bf_value_layer(v, layers++, &layer);
        assert_int_equal(len, layer.bytes);
        sum += len;
        assert_int_equal(next, sum + 1);
    }
    assert_int_equal(layers, bf_value_layers(v));
    bf_value_free(v);
}

static void chunks_that_do_not_fit_change_nothing(void **state) {
    (void)state;
    static const uint8_t junk[4096] = {1, 2, 3};
    for (int i = 0; i < SHAPES; i++) {
        bf_value *v = some_value(i, 200);
        uint64_t before = fake_digest(type_of(v), v);
        bf_layer layer;
        umbel_diag diag;
        bf_value_layer(v, 0, &layer);
        int64_t end = (int64_t)layer.bytes + 1;
        for (uint32_t l = 1; l < bf_value_layers(v); l++) {
            bf_layer more;
            bf_value_layer(v, l, &more);
            end += (int64_t)more.bytes;
        }
        assert_int_equal(bf_value_load_chunk(v, end + 1, junk, 1, &diag), UMBEL_EINVAL);
        assert_string_equal(diag.what, "invalid offset - no link found");
        static const int64_t none[] = {0, -5, INT64_MIN, INT64_MAX, 3};
        for (size_t n = 0; n < sizeof none / sizeof *none; n++) {
            assert_int_equal(bf_value_load_chunk(v, none[n], junk, 100, &diag), UMBEL_EINVAL);
        }
        assert_int_equal(bf_value_load_chunk(v, end + 50, junk, 100, &diag), UMBEL_EINVAL);
        assert_string_equal(diag.what, "invalid chunk - Too big for current filter");
        assert_int_equal(fake_digest(type_of(v), v), before);
        bf_value_free(v);
    }
}

/* Of 1001 bits the last byte has one: the bits after it may not be set, by any entry point. */
static void bits_behind_the_last_are_refused(void **state) {
    (void)state;
    enum { LAST = 125 };
    size_t len;
    uint8_t *file = golden_native("classic_1001", &len);
    size_t head_len = umbeli_load_le32(file + 12);
    uint8_t *bits = file + umbeli_load_le64(file + 96), whole[1024];
    bf_value *v = NULL, *back = NULL;
    umbel_diag diag = {0};
    assert_int_equal(umbeli_load_le64(file + 104), LAST + 1);
    assert_true(bits[LAST] <= 1 && head_len + LAST + 1 <= sizeof whole);
    assert_ok(bf_load_head(file, head_len, 0, &v, NULL));
    assert_ok(bf_value_load_chunk(v, LAST + 2, bits, LAST + 1, NULL));
    uint64_t before = fake_digest(type_of(v), v);
    for (unsigned bit = 0; bit < 8; bit++) {
        uint8_t stray[2] = {0xff, (uint8_t)(bits[LAST] | 1u << bit)};
        umbel_err e = bit ? UMBEL_EINVAL : UMBEL_OK;
        /* In a chunk of several bytes, and in a separate one. */
        assert_int_equal(bf_value_load_chunk(v, LAST + 2, stray, 2, &diag), e);
        if (e) assert_string_equal(diag.what, "received bad data");
        assert_int_equal(bf_value_load_chunk(v, LAST + 2, stray + 1, 1, &diag), e);
        assert_ok(
            bf_value_load_chunk(v, LAST + 1, stray + 1, 1, NULL)); /* a byte earlier all may be */
        assert_ok(bf_value_load_chunk(v, LAST + 2, bits, LAST + 1, NULL));
        assert_int_equal(fake_digest(type_of(v), v), before);

        memcpy(whole, file, head_len);
        memcpy(whole + head_len, bits, LAST + 1);
        whole[head_len + LAST] = stray[1];
        e = bf_load_whole(whole, head_len + LAST + 1, 0, &back, &diag);
        assert_int_equal(e, bit ? UMBEL_ECORRUPT : UMBEL_OK);
        if (e) assert_string_equal(diag.what, "the bits of a layer are not valid");
        if (!e) bf_value_free(back);
        fake_io io = saved(v);
        assert_int_equal(io.bytes[io.len - 1], bits[LAST]);
        io.bytes[io.len - 1] = stray[1];
        back = loaded(type_of(v), &io);
        assert_int_equal(back != NULL, bit == 0);
        if (back) bf_value_free(back);
        fake_io_free(&io);
    }
    bf_value_free(v);
    free(file);
}

/* ---- LOAD ---- */

static void values_come_back_whole(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        bf_value *v = some_value(i, 500), *back = NULL;
        size_t len = 0;
        uint8_t *bytes = bf_dump_whole(v, &len);
        assert_ok(bf_load_whole(bytes, len, 0, &back, NULL));
        assert_same(v, back);
        bf_value_free(back);
        umbel_diag diag = {0};
        for (size_t cut = 0; cut < len; cut += cut < 400 ? 1 : 97) {
            umbel_err e = bf_load_whole(bytes, cut, 0, &back, &diag);
            assert_true(e == UMBEL_ECORRUPT || e == UMBEL_EVERSION);
            assert_non_null(diag.what);
        }
        bf_value_free(v);
        RedisModule_Free(bytes);
    }
}

/* 900 hashes of 25 bits fit into 2048 bytes; no filter that grew by itself has more than 700 in so
 * few, but a dump may.  It stays what it says. */
static void many_hashes_in_few_bytes_stay_as_they_are(void **state) {
    (void)state;
    enum { KEYS = 800, BYTES = 2048, BITS = 25 };
    /* docs/formats/redis.md: 1 / 10^2, 100 keys, a layer of 256 words, 25 bits, 900 and 800 keys */
    static const uint8_t head[] = {
        'U', 'M', 'B', 'F', 128 | 16 | 4 | 2, 1, 2, 100, 1, 6, 0x80, 2, BITS, 0x84, 7, 0xa0, 6};
    uint8_t whole[sizeof head + 4 + BYTES] = {0};
    umbeli_layer layer = {.probes = &umbeli_probes_packed,
                          .bits = whole + sizeof head + 4,
                          .bytes = BYTES,
                          .nbits = 8 * BYTES,
                          .hashes = BITS};
    layer.probes->prepare(&layer);
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t hash = i << 54 | i << 40;
        uint8_t was_new;
        layer.probes->add(&layer, (umbeli_hashes){.narrow = &hash}, 1, &was_new);
        assert_int_equal(was_new, 1);
    }
    memcpy(whole, head, sizeof head);
    umbeli_store_le32(whole + sizeof head, (uint32_t)umbeli_xxh3_64(head, sizeof head, 0));
    bf_value *v = NULL;
    assert_ok(bf_load_whole(whole, sizeof whole, 0, &v, NULL));
    fake_io io = saved(v);
    bf_value *back = loaded(type_of(v), &io);
    assert_non_null(back);
    for (int i = 0; i < 2; i++) {
        size_t len;
        uint8_t *again = bf_dump_whole(i ? back : v, &len);
        assert_int_equal(len, sizeof whole);
        assert_memory_equal(again, whole, len);
        RedisModule_Free(again);
        assert_int_equal(bf_value_card(i ? back : v), KEYS);
    }
    assert_goes_on_alike(v, back);
    bf_value_free(v);
    bf_value_free(back);
    fake_io_free(&io);
}

static void a_native_files_header_is_a_head(void **state) {
    (void)state;
    size_t len;
    uint8_t *file = golden_native("ada", &len);
    bf_value *v = NULL;
    umbel_key ada = {"ada", 3};
    uint8_t hit, was_new;
    size_t done;
    assert_ok(bf_load_head(file, 136, 0, &v, NULL));
    assert_ok(bf_value_load_chunk(v, 33, file + 4096, 32, NULL));
    bf_value_contains(v, &ada, 1, &hit);
    assert_int_equal(hit, 1);
    assert_int_equal(bf_value_card(v), 1);
    size_t head_len;
    uint8_t *head = bf_dump_head(v, &head_len);
    assert_int_equal(head_len, 136);
    assert_memory_equal(head, file, 136);
    RedisModule_Free(head);
    assert_ok(bf_value_add(v, &(umbel_key){"bob", 3}, 1, 0, &was_new, &done));
    assert_int_equal(done, 1);
    bf_value_free(v);
    free(file);
}

/* As `umbel push` uploads a file: its header and key, then its payload. */
static bf_value *pushed(umbel_params params, const uint8_t *secret) {
    static char text[300][8];
    umbel_key keys[300];
    umbel_filter *f = NULL;
    for (int i = 0; i < 300; i++) {
        int len = snprintf(text[i], sizeof text[0], "key%d", i);
        keys[i] = (umbel_key){text[i], (size_t)len};
    }
    assert_ok(build_from(&params, &(umbel_opts){.secret = secret}, keys, 300, &f, NULL));
    size_t len = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE);
    uint8_t *file = malloc(len), head[1024];
    assert_non_null(file);
    assert_ok(umbel_encode(f, UMBEL_FMT_NATIVE, file, len, NULL));
    size_t head_len = umbeli_load_le32(file + 12), bits = (size_t)umbeli_load_le64(file + 104);
    assert_true(head_len + BF_KEY_BYTES <= sizeof head);
    memcpy(head, file, head_len);
    if (secret) memcpy(head + head_len, secret, BF_KEY_BYTES);
    bf_value *v = NULL;
    if (secret) assert_true(bf_load_head(head, head_len, 0, &v, NULL) != UMBEL_OK);
    assert_ok(bf_load_head(head, head_len + (secret ? BF_KEY_BYTES : 0), 0, &v, NULL));
    assert_ok(
        bf_value_load_chunk(v, (int64_t)bits + 1, file + umbeli_load_le64(file + 96), bits, NULL));
    free(file);
    umbel_free(f);
    return v;
}

static void files_of_every_kind_can_be_uploaded(void **state) {
    (void)state;
    static const uint8_t secret[BF_KEY_BYTES] = "sixteen letters";
    for (int kind = UMBEL_KIND_BLOCKED; umbel_kind_name((umbel_kind)kind); kind++) {
        for (int keyed = 0; keyed < 2; keyed++) {
            umbel_params params = {.kind = (umbel_kind)kind, .capacity = 300, .fpr = 0.01};
            bf_value *v = pushed(params, keyed ? secret : NULL);
            assert_holds(v, 0, 300);
            fake_io io = saved(v);
            bf_value *back = loaded(type_of(v), &io), *chunks = reloaded(v, 0);
            assert_non_null(back);
            assert_same(v, back);
            assert_same(v, chunks);
            fake_defrag ctx = {0};
            assert_int_equal(bf_value_defrag((RedisModuleDefragCtx *)&ctx, &v), 0);
            assert_holds(v, 0, 300);
            uint8_t was_new;
            size_t done;
            umbel_key key = {"more", 4};
            bool room = bf_value_card(v) < 300;
            umbel_err e = bf_value_add(v, &key, 1, 0, &was_new, &done);
            umbel_traits can;
            umbel_kind_traits((umbel_kind)kind, &can);
            assert_int_equal(e, can.built_once                     ? UMBEL_EFROZEN
                                : can.grows || can.forgets || room ? UMBEL_OK
                                                                   : UMBEL_EFULL);
            assert_goes_on_alike(back, chunks);
            bf_value_free(v);
            bf_value_free(back);
            bf_value_free(chunks);
            fake_io_free(&io);
        }
    }
}

/* The header of a layer of a chain as other writers may leave it, with an exception or not. */
static size_t put_layer(uint8_t *to, size_t room, bool first, bool exception) {
    static const char *const properties[][2] = {
        {"bf.layers", "2"}, {"bf.error", "0.01"}, {"bf.capacity", "300"}, {"bf.expansion", "2"}};
    umbel_params params = {.kind = UMBEL_KIND_BLOCKED, .capacity = 300, .fpr = 0.003};
    const uint64_t hash = 7;
    umbel_filter *f = NULL;
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    for (size_t i = 0; first && i < sizeof properties / sizeof *properties; i++) {
        assert_ok(umbel_set_meta(f, properties[i][0], properties[i][1], NULL));
    }
    if (exception) assert_ok(umbeli_except(f, &hash, 1, false, NULL));
    size_t len = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE);
    uint8_t *file = malloc(len);
    assert_non_null(file);
    assert_ok(umbel_encode(f, UMBEL_FMT_NATIVE, file, len, NULL));
    size_t head_len = umbeli_load_le32(file + 12);
    assert_true(head_len <= room);
    memcpy(to, file, head_len);
    free(file);
    umbel_free(f);
    return head_len;
}

/* The filter has one list of them, in the first header; one of a later layer would be lost. */
static void exceptions_are_those_of_the_first_layer(void **state) {
    (void)state;
    for (int of = 0; of < 4; of++) {
        uint8_t head[2048];
        bool mine = of & 1, later = of & 2;
        size_t len = put_layer(head, sizeof head, true, mine);
        len += put_layer(head + len, sizeof head - len, false, later);
        bf_value *v = NULL;
        umbel_diag diag = {0};
        umbel_err e = bf_load_head(head, len, 0, &v, &diag);
        assert_int_equal(e, later ? UMBEL_ECORRUPT : UMBEL_OK);
        if (later) {
            assert_string_equal(sentence(&diag), "exceptions: only the first layer has them");
            continue;
        }
        assert_int_equal(bf_value_layers(v), 2);
        assert_int_equal(bf_value_exceptions(v), mine);
        bf_value_free(v);
    }
}

/* ---- RedisBloom's own bytes ---- */

static void redisblooms_dumps_come_in_and_go_out(void **state) {
    (void)state;
    golden_table t = golden_table_open("redisbloom/filters.tsv");
    while (golden_table_next(&t)) {
        size_t header_len, chunk_len, len = 0;
        uint8_t *header = golden_hex(t.column[6], &header_len);
        uint8_t *chunk = golden_hex(t.column[8], &chunk_len);
        int64_t iterator = strtoll(t.column[7], NULL, 10), next;
        const uint8_t *bytes = NULL;
        bf_value *v = NULL;
        assert_ok(bf_load_head(header, header_len, 0, &v, NULL));
        assert_ok(bf_value_load_chunk(v, iterator, chunk, chunk_len, NULL));
        assert_int_equal(v->layout, BF_REDISBLOOM);
        assert_holds(v, 0, 99);
        uint8_t *head = bf_dump_head(v, &len);
        assert_int_equal(len, header_len);
        assert_memory_equal(head, header, len);
        bf_dump_chunk(v, 1, &next, &bytes, &len);
        assert_int_equal(next, iterator);
        assert_int_equal(len, chunk_len);
        assert_memory_equal(bytes, chunk, len);
        RedisModule_Free(head);
        bf_value_free(v);
        free(header);
        free(chunk);
    }
    assert_int_equal(t.rows, 2);
    golden_table_close(&t);
}

/* What RedisBloom would not make today, but takes: every field of the header comes back. */
static void unusual_links_stay_as_they_are(void **state) {
    (void)state;
    enum { SIZES = 20, LINK = 53, GROWTH = 16, ERROR = 44, PER_ENTRY = 52, ENTRIES = 64, N2 = 72 };
    static const struct {
        bool grows;
        size_t at, len;
        union {
            uint64_t number;
            double real;
        } to;
    } changes[] = {
        {false, 0, 0, {0}},
        {true, 0, 0, {0}},
        {false, GROWTH, 4, {7}},
        {true, GROWTH, 4, {3}},
        {true, GROWTH, 4, {0}},
        {true, GROWTH, 4, {65538}},
        {true, GROWTH, 4, {BF_EXPANSION_AUTO}},
        {true, GROWTH, 4, {UINT32_MAX}},
        {false, GROWTH, 4, {BF_EXPANSION_AUTO}},
        {false, GROWTH, 4, {BF_EXPANSION_FIXED | 7u}},
        {true, ERROR, 8, {.real = 0.004}},
        {true, ERROR, 8, {.real = 0.9}},
        {true, PER_ENTRY, 8, {.real = 11.1}},
        {true, ENTRIES, 8, {99}},
        {true, ENTRIES, 8, {0}},
        {true, N2, 1, {10}},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        bf_params p = {.layout = BF_REDISBLOOM, .error = 0.01, .capacity = 100};
        p.expansion = changes[i].grows ? 2 : 0;
        bf_value *v = NULL, *back = NULL;
        assert_ok(bf_value_create(&p, 0, &v, NULL));
        size_t len = 0;
        uint8_t *head = bf_dump_head(v, &len);
        bf_value_free(v);
        assert_int_equal(len, SIZES + LINK);
        uint8_t to[8];
        umbeli_store_le64(to, changes[i].to.number);
        memcpy(head + changes[i].at, to, changes[i].len);
        assert_ok(bf_load_head(head, len, 0, &v, NULL));
        fake_io io = saved(v);
        back = loaded(type_of(v), &io);
        for (int j = 0; j < 2; j++) {
            size_t again_len = 0;
            uint8_t *again = bf_dump_head(j ? back : v, &again_len);
            assert_int_equal(again_len, len);
            assert_memory_equal(again, head, len);
            RedisModule_Free(again);
        }
        if (changes[i].at != ENTRIES) assert_goes_on_alike(v, back);
        bf_value_free(v);
        bf_value_free(back);
        RedisModule_Free(head);
        fake_io_free(&io);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(values_come_back_in_chunks, quiet),
        cmocka_unit_test_teardown(chunks_end_with_their_layer, quiet),
        cmocka_unit_test_teardown(chunks_that_do_not_fit_change_nothing, quiet),
        cmocka_unit_test_teardown(bits_behind_the_last_are_refused, quiet),
        cmocka_unit_test_teardown(values_come_back_whole, quiet),
        cmocka_unit_test_teardown(many_hashes_in_few_bytes_stay_as_they_are, quiet),
        cmocka_unit_test_teardown(a_native_files_header_is_a_head, quiet),
        cmocka_unit_test_teardown(files_of_every_kind_can_be_uploaded, quiet),
        cmocka_unit_test_teardown(exceptions_are_those_of_the_first_layer, quiet),
        cmocka_unit_test_teardown(redisblooms_dumps_come_in_and_go_out, quiet),
        cmocka_unit_test_teardown(unusual_links_stay_as_they_are, quiet),
    };
    fake_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
