/* SPDX-License-Identifier: MIT
 *
 * test_kernels.c - all kernels of the blocked and line kinds give the same bits and answers, on every
 * path
 */
#include "any_filter.h"
#include "cases.h"

#include <stdlib.h>
#include <string.h>

#include "core/cpu.h"
#include "kind/blocked/blocked.h"
#include "random_keys.h"
#include "subjects.h"

/* Blocks as both kinds have them. */
typedef struct block_form {
    umbel_kind kind;
    uint32_t bytes, lanes;
} block_form;

static const block_form forms[] = {{UMBEL_KIND_BLOCKED, 32, 8},
                                   {UMBEL_KIND_LINE, 64, 4},
                                   {UMBEL_KIND_LINE, 64, 8},
                                   {UMBEL_KIND_LINE, 64, 16}};
enum { FORMS = sizeof forms / sizeof *forms };

static umbel_params params_of(const block_form *form, uint64_t blocks) {
    return (umbel_params){.bytes = form->bytes * blocks, .hashes = form->lanes};
}

static bool takes_part(const subject *s, const block_form *form) {
    return s->kind == form->kind && subject_runs(s);
}

static void same_on_all_kernels(const block_form *form, uint64_t blocks) {
    umbel_params params = params_of(form, blocks);
    params.seed = random_word();
    key_set set = random_keys((size_t)random_below(40 * blocks % 30000 + 2), 1);
    key_set asked = random_keys(2000, 2);
    uint8_t *fresh = calloc(2, set.n + 1), *hit = calloc(2, asked.n);
    assert_true(fresh && hit);
    umbel_filter *first = NULL;
    int compared = 0;
    for (size_t s = 0; s < SUBJECTS; s++) {
        if (!takes_part(&subjects[s], form) || subjects[s].key) continue; /* other bits */
        umbel_filter *f = subject_create(&subjects[s], params, NULL);
        assert_ok(umbel_add_many(f, set.keys, set.n, fresh + (first ? set.n : 0), NULL, NULL));
        umbel_contains_many(f, asked.keys, asked.n, hit + (first ? asked.n : 0));
        if (first) {
            assert_memory_equal(fresh, fresh + set.n, set.n);
            assert_memory_equal(hit, hit + asked.n, asked.n);
            assert_same_bytes(first, f);
            umbel_free(f);
            compared++;
        } else {
            first = f;
        }
    }
    assert_true(compared > 0); /* at least the atomic one */
    umbel_free(first);
    free(fresh);
    free(hit);
    free_keys(&set);
    free_keys(&asked);
}

static void test_random_sizes(void **state) {
    (void)state;
    for (int round = 0; round < 40; round++) {
        uint64_t blocks = round == 0 ? 1 : 1 + random_below(round < 32 ? 300 : 20000);
        for (size_t i = 0; i < FORMS; i++) same_on_all_kernels(&forms[i], blocks);
    }
}

/* The position formula, restated from docs/formats/native.md and native-kinds.md. */
static void test_formula(void **state) {
    (void)state;
    static const uint32_t salts[8] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                      0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
    static const uint32_t line_salts[16] = {0xe220a839, 0x6e789e6b, 0x06c45d19, 0xf88bb8a9,
                                            0x1b39896b, 0x53cb9f0d, 0x2c829abf, 0xc584133b,
                                            0x3ee57891, 0xf3b8488d, 0x657eecdd, 0xc2d326e1,
                                            0x8621a03f, 0x8e1f7555, 0xb54e0f17, 0x84bb3f97};
    for (size_t s = 0; s < SUBJECTS * FORMS; s++) {
        const subject *on = &subjects[s / FORMS];
        const block_form *form = &forms[s % FORMS];
        uint32_t lane_bits = 8 * form->bytes / form->lanes;
        const uint32_t *salt = form->kind == UMBEL_KIND_LINE ? line_salts : salts;
        for (int round = 0; round < 300 && takes_part(on, form); round++) {
            uint64_t blocks = 1 + random_below(50), hash = random_word();
            umbel_filter *f = subject_create(on, params_of(form, blocks), NULL);
            assert_ok(umbel_add_hashes(f, &hash, 1, NULL, NULL, NULL));
            umbel_measurement now = measured(f);
            assert_int_equal(now.bits_set, form->lanes);
            const uint8_t *block = f->data + form->bytes * (((hash >> 32) * blocks) >> 32);
            for (uint32_t i = 0; i < form->lanes; i++) {
                uint64_t product = (uint32_t)((uint32_t)hash * salt[i]);
                uint32_t bit = lane_bits * i + (uint32_t)(product * lane_bits >> 32);
                assert_int_equal(block[bit / 8] >> (bit % 8) & 1, 1);
            }
            assert_true(umbel_contains_hash(f, hash));
            umbel_free(f);
        }
    }
}

#if UMBELI_X86
#include "kind/blocked/block_avx2.h"

__attribute__((target("avx2"))) static void offsets_avx2(const uint64_t *hashes, uint64_t nblocks,
                                                         unsigned log2, uint64_t *offsets) {
    umbeli_block_offsets_avx2(hashes, nblocks, log2, offsets);
}
#endif

/* Offsets of several blocks together are those of one at a time, up to the largest filters. */
static void test_offsets(void **state) {
    (void)state;
    for (int round = 0; round < 2000; round++) {
        uint64_t nblocks = round == 0 ? UINT32_MAX : 1 + (random_word() >> (32 + round % 32));
        uint64_t hashes[UMBELI_OFFSETS] = {0, UINT64_MAX}, got[UMBELI_OFFSETS];
        for (size_t i = 2; i < UMBELI_OFFSETS; i++) hashes[i] = random_word();
        for (unsigned log2 = 3; log2 <= 6; log2++) {
            umbeli_block_offsets(hashes, nblocks, log2, got);
            for (size_t i = 0; i < UMBELI_OFFSETS; i++) {
                assert_true(got[i] == umbeli_block_of(hashes[i], nblocks) << log2);
            }
#if UMBELI_X86
            if (!(umbeli_cpu() & UMBELI_CPU_AVX2)) continue;
            uint64_t wide[UMBELI_OFFSETS];
            offsets_avx2(hashes, nblocks, log2, wide);
            assert_memory_equal(wide, got, sizeof got);
#endif
        }
    }
}

/* Every length around the ring's and the groups': as one by one, and nothing is written beyond the end. */
static void test_lengths(void **state) {
    (void)state;
    enum { LONGEST = 150, ROOM = 2 * LONGEST, BLOCKS = 40 };
    uint64_t hashes[ROOM];
    for (size_t i = 0; i < ROOM; i++) hashes[i] = random_word();
    for (size_t s = 0; s < SUBJECTS; s++) {
        if (subjects[s].kind != UMBEL_KIND_BLOCKED || !subject_runs(&subjects[s])) continue;
        umbel_params params = {.bytes = 32 * BLOCKS};
        umbel_filter *f = subject_create(&subjects[s], params, NULL);
        const umbeli_blocked_kernel *kernel = umbeli_blocked_of(f)->kernel;
        for (size_t n = 0; n <= LONGEST; n++) {
            uint8_t want[ROOM], got[ROOM], bits[32 * BLOCKS];
            uint64_t added = 0;
            assert_ok(umbel_clear(f, NULL));
            memset(want, 7, sizeof want);
            for (size_t i = 0; i < n; i++) {
                added += kernel->add_plain(f->data, BLOCKS, hashes + i, 1, want + i);
            }
            memcpy(bits, f->data, sizeof bits);
            for (int ring = 0; ring < 2; ring++) {
                assert_ok(umbel_clear(f, NULL));
                memset(got, 7, sizeof got);
                assert_true(added == (ring ? kernel->add_ring(f->data, BLOCKS, hashes, n, got)
                                           : kernel->add_plain(f->data, BLOCKS, hashes, n, got)));
                assert_memory_equal(got, want, sizeof got);
                assert_memory_equal(f->data, bits, sizeof bits);
            }
            memset(want, 7, sizeof want);
            for (size_t i = 0; i < n; i++) {
                want[i] = umbel_contains_hash(f, hashes[ROOM - n + i]);
            }
            for (int ring = 0; ring < 2; ring++) {
                memset(got, 7, sizeof got);
                if (ring) {
                    kernel->contains_ring(f->data, BLOCKS, hashes + ROOM - n, n, got);
                } else {
                    kernel->contains_plain(f->data, BLOCKS, hashes + ROOM - n, n, got);
                }
                assert_memory_equal(got, want, sizeof got);
            }
        }
        umbel_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_sizes),
        cmocka_unit_test(test_formula),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_lengths),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
