/* SPDX-License-Identifier: MIT */
#include "target.h"

#include <string.h>

umbel_key exact_key(unsigned n) {
    enum { SHORT = 41, FOURS = 48 };
    static uint8_t zeros[EXACT_KEYS], bytes[EXACT_KEYS][4];
    n %= EXACT_KEYS;
    if (n < SHORT) return (umbel_key){zeros, n};
    /* Badger's keys have four bytes. */
    memcpy(bytes[n], n < FOURS ? "\xff\x00\x7f" : "key", 3);
    bytes[n][3] = (uint8_t)n;
    return (umbel_key){bytes[n], 4};
}

void exact_add(exact_set *s, unsigned n) {
    n %= EXACT_KEYS;
    s->count[n]++;
    s->added_at[n] = ++s->adds;
    s->advanced_at[n] = s->advances;
}

void exact_clear(exact_set *s) {
    memset(s->count, 0, sizeof s->count);
}

bool exact_has(const exact_set *s, unsigned n) {
    n %= EXACT_KEYS;
    if (s->count[n] == 0) return false;
    if (s->max_adds && s->adds - s->added_at[n] >= s->max_adds) return false;
    return !s->max_advances || s->advances - s->advanced_at[n] < s->max_advances;
}

static void ask(const exact_set *s, const umbel_filter *f, uint8_t hit[EXACT_KEYS]) {
    umbel_key keys[EXACT_KEYS];
    for (unsigned n = 0; n < EXACT_KEYS; n++) keys[n] = exact_key(n);
    umbel_contains_many(f, keys, EXACT_KEYS, hit);
    for (unsigned n = 0; n < EXACT_KEYS; n++) {
        insist(hit[n] || !exact_has(s, n), "no false negative");
    }
}

void exact_find(const exact_set *s, const umbel_filter *f) {
    uint8_t hit[EXACT_KEYS];
    ask(s, f, hit);
}

void exact_check(const exact_set *s, const umbel_filter *f) {
    uint8_t hit[EXACT_KEYS];
    umbel_info info;
    umbel_describe(f, &info);
    ask(s, f, hit);
    for (unsigned n = 0; n < EXACT_KEYS; n++) {
        umbel_key key = exact_key(n);
        uint32_t count = umbel_count(f, key.data, key.len);
        insist(hit[n] == umbel_contains(f, key.data, key.len), "one key gets the answer of many");
        insist(hit[n] == (count > 0), "a count above 0 is in");
        if (info.kind == UMBEL_KIND_COUNTING) {
            insist(count >= (s->count[n] < 15 ? s->count[n] : 15), "counts are never too low");
        }
    }
}
