/* SPDX-License-Identifier: MIT
 *
 * test_static_shards.c - static filters of several shards: where they start, their bytes, and keys
 * that are spread unevenly
 */
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "hash/xxh.h"
#include "hashing.h"
#include "kind/static/static.h"
#include "kind_check.h"

enum { SHARD_KEYS = 512 * 1024 };

static void keys_decide_the_number_of_shards(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 12; bits++) {
        uint64_t end = (uint64_t)SHARD_KEYS << bits;
        umbeli_static_layout last, next;
        assert_true(umbeli_static_divide(end - 1, 0, 0, &last));
        assert_true(umbeli_static_divide(end, 0, 0, &next));
        assert_int_equal(last.shard_bits, bits);
        assert_int_equal(next.shard_bits, bits + 1);
    }
    umbeli_static_layout l;
    uint64_t max = (uint64_t)SHARD_KEYS << UMBELI_STATIC_MAX_SHARD_BITS;
    assert_true(umbeli_static_divide(max - 1, 0, 0, &l));
    assert_false(umbeli_static_divide(max, 0, 0, &l));
}

/* The mean, plus six standard deviations, plus one. */
static void room_of_a_shard(void **state) {
    (void)state;
    assert_int_equal(umbeli_static_room(SHARD_KEYS - 1, 0), SHARD_KEYS - 1);
    assert_int_equal(umbeli_static_room(2 * 10000, 1), 10000 + 6 * 100 + 1);
    assert_int_equal(umbeli_static_room(SHARD_KEYS, 1), 262144 + 6 * 512 + 1);
    assert_int_equal(umbeli_static_room(2 * SHARD_KEYS, 2), 262144 + 6 * 512 + 1);
    assert_int_equal(umbeli_static_room(600000, 1), 303287);
    assert_int_equal(umbeli_static_room(UINT64_C(1) << 40, 21), 524288 + 4344 + 1);
}

/* Only a shard that is fuller than the plan's room makes all tables larger. */
static void the_fullest_shard_decides(void **state) {
    (void)state;
    umbeli_static_layout plan, l;
    uint64_t room = umbeli_static_room(SHARD_KEYS, 1);
    for (uint32_t arity = 3; arity <= 4; arity++) {
        assert_true(umbeli_static_divide(SHARD_KEYS, arity, 0, &plan));
        assert_true(umbeli_static_divide(SHARD_KEYS, arity, room, &l));
        assert_memory_equal(&l, &plan, sizeof l);
        uint64_t slots = umbeli_static_slots(&plan), fullest = room;
        while (umbeli_static_slots(&l) == slots) {
            assert_true(umbeli_static_divide(SHARD_KEYS, arity, ++fullest, &l));
            assert_true(fullest < 2 * room);
        }
        assert_true(fullest > room && fullest <= room + (UINT64_C(1) << l.segment_bits));
        assert_true(umbeli_static_divide(SHARD_KEYS, arity, 2 * room, &l));
        assert_true((double)umbeli_static_slots(&l) > 2.1 * (double)room);
    }
}

/* ---- Built ---- */

/* Numbers from 0 on as 8 bytes, as many for each of four shards as requested. */
typedef struct spread {
    umbel_filter *hasher; /* NULL: every number */
    uint64_t left[4], next;
} spread;

static bool wanted(spread *s, const uint8_t *key) {
    uint64_t *left = &s->left[s->hasher ? one_hash(s->hasher, key, 8) >> 62 : 0];
    if (*left) return (*left)--;
    return false;
}

static umbel_err build(const umbel_params *params, spread s, umbel_filter **out, umbel_diag *diag) {
    umbel_builder *builder = NULL;
    umbel_err e = umbel_builder_new(params, NULL, &builder, diag);
    while (!e && (s.left[0] | s.left[1] | s.left[2] | s.left[3])) {
        uint8_t bytes[8];
        umbeli_store_le64(bytes, s.next++);
        if (wanted(&s, bytes)) e = umbel_builder_add(builder, &(umbel_key){bytes, 8}, 1, diag);
    }
    if (!e) e = umbel_builder_finish(builder, out, diag);
    umbel_builder_free(builder);
    return e;
}

/* The size follows from the layout, the bytes from the keys; neither may ever change. */
static void bytes_of_two_shards(void **state) {
    (void)state;
    enum { KEYS = 600000 };
    const struct {
        uint32_t hashes;
        size_t len;
        uint64_t digest;
    } cases[] = {{3, 620568, UINT64_C(0x7b4675baf5484ff8)},
                 {4, 584728, UINT64_C(0x01e3a1dd3c7d754e)}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        umbel_params params = {.kind = UMBEL_KIND_STATIC, .fpr = 0.01, .hashes = cases[i].hashes};
        umbel_filter *f = NULL;
        spread all = {.left = {KEYS}};
        assert_int_equal(build(&params, all, &f, NULL), UMBEL_OK);
        size_t len = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE);
        uint8_t *bytes = malloc(len);
        assert_non_null(bytes);
        assert_int_equal(umbel_encode(f, UMBEL_FMT_NATIVE, bytes, len, NULL), UMBEL_OK);
        uint64_t digest = umbeli_xxh3_64(bytes, len, 0);
        if (len != cases[i].len || digest != cases[i].digest) {
            fail_msg("%u hashes: %zu bytes, digest %016llx", cases[i].hashes, len,
                     (unsigned long long)digest);
        }
        for (uint64_t key = 0; key < KEYS; key += 7) {
            uint8_t text[8];
            umbeli_store_le64(text, key);
            assert_true(umbel_contains(f, text, 8));
        }
        umbel_free(f);
        free(bytes);
    }
}

/* Hashes so uneven that one of four shards has twice its room, or one key more than that. */
static void uneven_shards(void **state) {
    (void)state;
    const uint64_t n = 2 * SHARD_KEYS, max = 2 * umbeli_static_room(n, 2);
    const umbel_params params = {.kind = UMBEL_KIND_STATIC, .fpr = 0.3};
    umbel_filter *hasher = check_create((umbel_params){.kind = UMBEL_KIND_BLOCKED, .bytes = 32});
    for (uint64_t more = 0; more <= 1; more++) {
        umbel_filter *f = NULL;
        umbel_diag diag = {.what = ""};
        uint64_t others = n - max - more;
        spread s = {.hasher = hasher,
                    .left = {others / 3, others / 3, max + more, others - others / 3 * 2}};
        umbel_err e = build(&params, s, &f, &diag);
        if (more) {
            assert_int_equal(e, UMBEL_EINVAL);
            assert_non_null(strstr(diag.what, "uneven"));
            assert_null(f);
            break;
        }
        assert_int_equal(e, UMBEL_OK);
        assert_int_equal(keys_added(f), n);
        umbel_free(f);
    }
    umbel_free(hasher);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_decide_the_number_of_shards),
        cmocka_unit_test(room_of_a_shard),
        cmocka_unit_test(the_fullest_shard_decides),
        cmocka_unit_test(bytes_of_two_shards),
        cmocka_unit_test(uneven_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
