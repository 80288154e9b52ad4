/* SPDX-License-Identifier: MIT
 *
 * test_packed.c - layers of packed hashes against a plain set, at every size, and damage to them
 */
#include "cases.h"

#include <stdlib.h>
#include <string.h>

#include "core/cpu.h"
#include "kind/chain/chain.h"
#include "umbel.h"

static umbeli_layer layer_with(bool short_chunks, uint64_t bytes, uint32_t bits) {
    umbeli_layer l = {
        .probes = &umbeli_probes_packed,
        .short_chunks = short_chunks,
        .bits = calloc(1, (size_t)bytes),
        .bytes = bytes,
        .nbits = 8 * bytes,
        .hashes = bits,
        .capacity = umbeli_packed_capacity(bytes, bits),
    };
    assert_non_null(l.bits);
    l.probes->prepare(&l);
    return l;
}

static umbeli_layer layer_of(uint64_t bytes, uint32_t bits) {
    return layer_with(false, bytes, bits);
}

static bool add(umbeli_layer *l, uint64_t hash) {
    uint8_t was_new = 0;
    l->keys += l->probes->add(l, (umbeli_hashes){.narrow = &hash}, 1, &was_new);
    return was_new;
}

static bool has(const umbeli_layer *l, uint64_t hash) {
    uint8_t found = 0;
    l->probes->contains(l, (umbeli_hashes){.narrow = &hash}, 1, &found);
    return found;
}

static int ascending(const void *a, const void *b) {
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static bool in_set(const uint64_t *set, size_t n, uint64_t hash) {
    return bsearch(&hash, set, n, sizeof hash, ascending) != NULL;
}

/* Every add and every lookup says what a set of the kept bits says. */
static void is_a_set(void **state) {
    (void)state;
    static const struct {
        uint64_t bytes;
        uint32_t bits;
    } shapes[] = {{24, 18},   {40, 14},    {168, 18},   {184, 8},    {1016, 18}, {2048, 25},
                  {2056, 25}, {10112, 25}, {65408, 31}, {30000, 47}, {4096, 12}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        umbeli_layer l = layer_of(shapes[s].bytes, shapes[s].bits);
        unsigned shift = 64 - shapes[s].bits;
        uint64_t *set = calloc(l.capacity + 1, sizeof *set), hash = s;
        size_t n = 0;
        assert_non_null(set);
        assert_true(l.capacity > 4);
        for (uint64_t i = 0; i < 3 * l.capacity && l.keys < l.capacity && l.packed.room; i++) {
            hash = umbel_mix(hash + 1);
            if (i % 5 == 0 && n) hash = set[i % n] << shift | (hash >> 50);
            bool known = false;
            for (size_t k = 0; k < n && !known; k++) known = set[k] == hash >> shift;
            assert_int_equal(add(&l, hash), !known);
            if (!known) set[n++] = hash >> shift;
        }
        assert_int_equal(l.keys, n);
        assert_true(n * 10 >= l.capacity * 8 || shapes[s].bits < 13);
        qsort(set, n, sizeof *set, ascending);
        for (size_t i = 0; i < n; i++) assert_true(has(&l, set[i] << shift));
        for (int i = 0; i < 20000; i++) {
            hash = umbel_mix(hash + 1);
            assert_int_equal(has(&l, hash), in_set(set, n, hash >> shift));
        }
        assert_true(l.probes->check(&l, l.bits));
        /* As a larger one, all in order, and what is counted is what there is. */
        umbeli_layer larger = layer_of(2 * l.bytes + 8, l.hashes);
        assert_true(umbeli_packed_refill(&larger, &l, NULL));
        assert_int_equal(larger.keys, n);
        for (size_t i = 0; i < n; i++) assert_true(has(&larger, set[i] << shift));
        uint32_t room = larger.packed.room;
        larger.probes->recount(&larger);
        assert_int_equal(larger.keys, n);
        assert_int_equal(larger.packed.room, room);
        free(larger.bits);
        free(l.bits);
        free(set);
    }
}

static void two_become_one(void **state) {
    (void)state;
    umbeli_layer a = layer_of(10112, 25), b = layer_of(2560, 25), both = layer_of(16256, 25);
    for (uint64_t i = 0; i < 2000; i++) add(&a, umbel_mix(i));
    for (uint64_t i = 1500; i < 2300; i++) add(&b, umbel_mix(i));
    assert_true(umbeli_packed_refill(&both, &a, &b));
    assert_int_equal(both.keys, 2300);
    assert_true(both.probes->check(&both, both.bits));
    for (uint64_t i = 0; i < 2300; i++) assert_true(has(&both, umbel_mix(i)));
    umbeli_layer little = layer_of(2560, 25);
    assert_false(umbeli_packed_refill(&little, &a, &b));
    free(a.bits);
    free(b.bits);
    free(both.bits);
    free(little.bits);
}

/* A single changed bit makes another valid set, or is noticed; whatever passes is in order, and so no
 * lookup or add goes astray. */
static void damage_is_noticed(void **state) {
    (void)state;
    umbeli_layer l = layer_of(2568, 25), copy = layer_of(2568, 25);
    for (uint64_t i = 0; i < 700; i++) add(&l, umbel_mix(i));
    int refused = 0;
    for (uint64_t bit = 0; bit < l.nbits; bit++) {
        memcpy(copy.bits, l.bits, (size_t)l.bytes);
        copy.bits[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (!copy.probes->check(&copy, copy.bits)) {
            refused++;
            continue;
        }
        copy.probes->recount(&copy);
        assert_in_range(copy.keys, 699, 701);
        for (uint64_t i = 700; i < 710; i++) add(&copy, umbel_mix(i));
        assert_true(copy.probes->check(&copy, copy.bits));
    }
    assert_true(refused > (int)l.nbits / 2);
    memset(copy.bits, 0xff, (size_t)copy.bytes);
    assert_false(copy.probes->check(&copy, copy.bits));
    free(l.bits);
    free(copy.bits);
}

/* What is written is read again, to the byte, and nothing else is: not one byte less or more, not
 * one key less or more, and of single changed bits only what is another set. */
static void files_have_fewer_bytes(void **state) {
    (void)state;
    static const uint64_t counts[] = {0, 1, 2, 7, 99, 100, 700, 1500};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        umbeli_layer l = layer_of(4096, 18);
        for (uint64_t i = 0; l.keys < counts[c]; i++) add(&l, umbel_mix(i));
        uint8_t *bytes = calloc(1, 4097);
        size_t len = umbeli_packed_write(&l, bytes);
        assert_true(8 * len <= 16 + counts[c] * (counts[c] == 100 ? 13 : 21));
        for (int wrong = 0; wrong < 5; wrong++) {
            umbeli_layer again = layer_of(4096, 18);
            uint64_t keys = counts[c] + (wrong == 1) - (wrong == 2);
            size_t given = len + (wrong == 3) - (wrong == 4);
            if (keys <= counts[c] + 1 && given <= len + 1) {
                assert_int_equal(umbeli_packed_read(&again, keys, bytes, given), wrong == 0);
            }
            if (wrong == 0) assert_memory_equal(again.bits, l.bits, l.bytes);
            free(again.bits);
        }
        for (size_t bit = 0; bit < 8 * len; bit++) {
            umbeli_layer again = layer_of(4096, 18);
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            if (umbeli_packed_read(&again, counts[c], bytes, len)) {
                assert_true(again.probes->check(&again, again.bits));
                assert_memory_not_equal(again.bits, l.bits, l.bytes);
            }
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            free(again.bits);
        }
        free(bytes);
        free(l.bits);
    }
}

static size_t all_kernels(const umbeli_packed_kernel *kernels[3]) {
    size_t count = 0;
    kernels[count++] = &umbeli_packed_generic;
#if UMBELI_X86
    if (umbeli_cpu() & UMBELI_CPU_AVX2) kernels[count++] = &umbeli_packed_avx2;
    if (umbeli_cpu() & UMBELI_CPU_AVX512) kernels[count++] = &umbeli_packed_avx512;
#endif
    return count;
}

/* Every kernel leaves the same bytes and gives the same answers. */
static void kernels_agree(void **state) {
    (void)state;
    const umbeli_packed_kernel *kernels[3];
    size_t count = all_kernels(kernels);
    static const uint64_t sizes[] = {24, 168, 1016, 4096, 6200, 10111};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        umbeli_layer first = layer_of(sizes[s], 25);
        for (size_t k = 0; k < count; k++) {
            umbeli_layer l = layer_of(sizes[s], 25);
            uint8_t yes = 0;
            for (uint64_t i = 0; l.keys < l.capacity && l.packed.room; i++) {
                uint64_t hash = umbel_mix(i);
                kernels[k]->contains_long(&l, &hash, 1, &yes);
                assert_false(yes);
                l.keys += kernels[k]->add_long(&l, &hash, 1, &yes);
                assert_true(yes);
                kernels[k]->contains_long(&l, &hash, 1, &yes);
                assert_true(yes);
            }
            assert_true(l.probes->check(&l, l.bits));
            if (k == 0) memcpy(first.bits, l.bits, (size_t)l.bytes);
            assert_memory_equal(first.bits, l.bits, l.bytes);
            free(l.bits);
        }
        free(first.bits);
    }
}

/* The hash that is added i-th: any; or, so that whole words of the upper parts are ones, such that
 * a chunk's are close together, from its first value on or up to its last. */
static uint64_t hash_of_pattern(int pattern, uint64_t i, uint32_t bits, uint64_t chunks) {
    uint64_t apart = (UINT64_C(1) << bits) / chunks, chunk = i % chunks, nth = i / chunks;
    if (pattern == 0) return umbel_mix(i);
    uint64_t kept = pattern == 1 ? chunk * apart + nth + 1 : (chunk + 1) * apart - nth - 1;
    return kept << (64 - bits);
}

/* The same for small chunks, key by key and in batches of every length around a group's. */
static void short_chunk_kernels_agree(void **state) {
    (void)state;
    enum { MOST = 3000, BITS = 25, BYTES = 4096, ABSENT = 1000, ALL = MOST + ABSENT };
    static const size_t lengths[] = {1, 2, 31, 32, 33, 63, 64, 65, 96, 97, 1000, ALL};
    const umbeli_packed_kernel *kernels[3];
    size_t count = all_kernels(kernels);
    uint64_t *hashes = calloc(ALL, sizeof *hashes), *set = calloc(MOST, sizeof *set);
    uint8_t *found = malloc(ALL), was_new;
    for (int pattern = 0; pattern < 3; pattern++) {
        umbeli_layer first = layer_with(true, BYTES, BITS);
        for (size_t k = 0; k < count; k++) {
            umbeli_layer l = layer_with(true, BYTES, BITS);
            size_t n = 0;
            for (uint64_t i = 0; n < MOST && l.packed.room; i++) {
                hashes[n] = hash_of_pattern(pattern, i, BITS, l.packed.chunks);
                l.keys += kernels[k]->add(&l, &hashes[n], 1, &was_new);
                if (was_new) set[n] = hashes[n] >> (64 - BITS), n++;
            }
            assert_int_equal(n, l.keys);
            assert_true(n > 800);
            assert_true(l.probes->check(&l, l.bits));
            if (k == 0) memcpy(first.bits, l.bits, BYTES);
            assert_memory_equal(first.bits, l.bits, BYTES);
            qsort(set, n, sizeof *set, ascending);
            for (size_t i = n; i < n + ABSENT; i++) {
                uint64_t near = hashes[i % n] + ((i % 5) << (64 - BITS));
                hashes[i] = i % 2 ? umbel_mix(i + ALL) : near;
            }
            for (size_t s = 0; s < sizeof lengths / sizeof *lengths; s++) {
                memset(found, 2, ALL);
                for (size_t i = 0; i < n + ABSENT; i += lengths[s]) {
                    size_t left = n + ABSENT - i;
                    kernels[k]->contains(&l, hashes + i, left < lengths[s] ? left : lengths[s],
                                         found + i);
                }
                for (size_t i = 0; i < n + ABSENT; i++) {
                    assert_int_equal(found[i], in_set(set, n, hashes[i] >> (64 - BITS)));
                }
            }
            free(l.bits);
        }
        free(first.bits);
    }
    for (size_t k = 1; k < count; k++) {
        uint64_t out[2][77];
        kernels[0]->spread(BITS, hashes, 77, out[0]);
        kernels[k]->spread(BITS, hashes, 77, out[1]);
        assert_memory_equal(out[0], out[1], sizeof out[0]);
    }
    free(hashes);
    free(set);
    free(found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_have_fewer_bytes),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(short_chunk_kernels_agree),
        cmocka_unit_test(is_a_set),
        cmocka_unit_test(two_become_one),
        cmocka_unit_test(damage_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
