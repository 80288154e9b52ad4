/* SPDX-License-Identifier: MIT
 *
 * exact_set.h - what a filter must contain, kept exactly: 64 keys and how often each was added
 */
#ifndef EXACT_SET_H
#define EXACT_SET_H

#include "target.h"
#include "umbel.h"

enum { EXACT_KEYS = 64 };

typedef struct exact_set {
    uint64_t count[EXACT_KEYS]; /* times added and neither removed nor forgotten */
    uint64_t added_at[EXACT_KEYS], advanced_at[EXACT_KEYS]; /* the two clocks at the last add */
    uint64_t adds, advances;
    /* Windows: a key is remembered while fewer adds and steps than these follow it; 0: any
     * number. */
    uint64_t max_adds, max_advances;
} exact_set;

/* The n-th key: 0 to 40 bytes, all different, with NUL bytes in some. */
umbel_key exact_key(unsigned n);

void exact_add(exact_set *s, unsigned n);
void exact_clear(exact_set *s);

/* Whether the filter must report the n-th key as present. */
bool exact_has(const exact_set *s, unsigned n);

/* Aborts if the filter lacks a key. */
void exact_find(const exact_set *s, const umbel_filter *f);

/* Also aborts if it counts one too low, or if the ways to query disagree. */
void exact_check(const exact_set *s, const umbel_filter *f);

#endif
