/* SPDX-License-Identifier: MIT
 *
 * random_keys.h - random numbers and sets of distinct keys, the same in every run
 *
 * UMBEL_TEST_SEED gives a different run; the seed is printed, so that a failure can be reproduced.
 */
#ifndef RANDOM_KEYS_H
#define RANDOM_KEYS_H

#include "umbel.h"

/* A cmocka group set-up: seeds the generator and prints the seed. */
int random_start(void **state);

/* Splitmix64's finish, one to one: distinct numbers give distinct ones. */
uint64_t random_mix(uint64_t number);

uint64_t random_word(void);
uint64_t random_below(uint64_t limit);

typedef struct key_set {
    umbel_key *keys;
    size_t n;
    uint8_t *bytes;
} key_set;

/* n distinct keys of 8 to 23 bytes, none of them in a set with another tag (below 2^16). */
key_set random_keys(size_t n, uint64_t tag);
void free_keys(key_set *set);

/* The hashes that this filter gives them; free() them. */
uint64_t *hashes_of(const umbel_filter *f, const key_set *set);

#endif
