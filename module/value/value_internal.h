/* SPDX-License-Identifier: MIT
 *
 * value_internal.h - the inside of a value, for the files that work on it
 *
 *   value.c          making, copying, ending
 *   value_keys.c     keys in, answers out
 *   value_merge.c    two values into one
 *   value_figures.c  numbers about it
 *   value_parts.c    its pieces of memory: how much, and moving them
 *   dump.c           bytes, with dump_head.c
 *   types.c          what the server asks for, with type_*.c
 */
#ifndef BF_VALUE_INTERNAL_H
#define BF_VALUE_INTERNAL_H

#include "core/filter.h"
#include "value/value.h"

/* Most values are a single layer, which then is one pointer away. */
struct bf_value {
    umbel_filter *newest;
    umbel_filter **older; /* [older_count], the oldest first; NULL when there are none */
    uint32_t older_count;
    uint64_t older_keys, older_capacity; /* in and of all of them */
    bf_params params;
};

static inline uint32_t bf_chain_count(const bf_value *v) {
    return v->older_count + 1;
}

/* Layer i, the oldest is 0. */
static inline umbel_filter *bf_chain_at(const bf_value *v, uint32_t i) {
    return i < v->older_count ? v->older[i] : v->newest;
}

/* A filter that keeps account of its capacity itself, or has none. */
static inline bool bf_keeps_itself(const umbel_filter *f) {
    return f->shape.format != UMBEL_FMT_NATIVE || f->shape.kind == UMBEL_SCALABLE ||
           f->shape.kind == UMBEL_WINDOW;
}

/* A value of these layers, which it owns from then on, oldest first; params are copied.  NULL, with
 * the layers still the caller's, when there is no memory. */
bf_value *bf_value_of(const bf_params *params, umbel_filter *const *layers, uint32_t count);

/* Puts a layer behind the newest; UMBEL_ENOMEM. */
umbel_err bf_chain_append(bf_value *v, umbel_filter *layer);

/* Lets the chain grow by a layer: UMBEL_EFULL, UMBEL_ELIMIT or UMBEL_ENOMEM when it cannot. */
umbel_err bf_chain_grow(bf_value *v, uint64_t max_bytes);

/* Where a change began; bf_account_end tells the totals what came of it. */
typedef struct bf_account {
    uint64_t layers, items, capacity;
} bf_account;
bf_account bf_account_begin(const bf_value *v);
void bf_account_end(const bf_value *v, bf_account before);

#endif
