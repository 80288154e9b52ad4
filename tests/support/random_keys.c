/* SPDX-License-Identifier: MIT */
#include "random_keys.h"

#include <stdlib.h>
#include <string.h>

#include "cases.h"

enum { KEY_ROOM = 24 };

static uint64_t state_word, set_base;

uint64_t random_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int random_start(void **state) {
    (void)state;
    const char *text = getenv("UMBEL_TEST_SEED");
    state_word = text ? strtoull(text, NULL, 0) : 20240608;
    print_message("# UMBEL_TEST_SEED=%llu\n", (unsigned long long)state_word);
    set_base = random_word();
    return 0;
}

uint64_t random_word(void) {
    return random_mix(state_word += UINT64_C(0x9e3779b97f4a7c15));
}

uint64_t random_below(uint64_t limit) {
    return random_word() % limit;
}

key_set random_keys(size_t n, uint64_t tag) {
    key_set set = {
        .keys = calloc(n + 1, sizeof *set.keys), .n = n, .bytes = malloc(n * KEY_ROOM + 1)};
    assert_non_null(set.keys);
    assert_non_null(set.bytes);
    for (size_t i = 0; i < n; i++) {
        uint8_t *key = set.bytes + i * KEY_ROOM;
        uint64_t word = random_mix(set_base + (tag << 40) + i), tail[2] = {word * 3, word * 5};
        memcpy(key, &word, sizeof word);
        memcpy(key + 8, tail, sizeof tail);
        set.keys[i] = (umbel_key){.data = key, .len = 8 + (size_t)(word >> 60)};
    }
    return set;
}

void free_keys(key_set *set) {
    free(set->keys);
    free(set->bytes);
    *set = (key_set){0};
}

uint64_t *hashes_of(const umbel_filter *f, const key_set *set) {
    uint64_t *hashes = calloc(set->n + 1, sizeof *hashes);
    assert_non_null(hashes);
    bool taken = takes_hashes(f);
    assert_int_equal(umbel_hash_many(f, set->keys, set->n, hashes, NULL),
                     taken ? UMBEL_OK : UMBEL_ENOTSUP);
    for (size_t i = 0; i < set->n && taken; i++) {
        assert_int_equal(hashes[i], one_hash(f, set->keys[i].data, set->keys[i].len));
    }
    return hashes;
}
