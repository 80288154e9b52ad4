/* SPDX-License-Identifier: MIT
 *
 * value_layers.h - the policy of chains in the blocked layout: which layer comes next
 */
#ifndef BF_VALUE_LAYERS_H
#define BF_VALUE_LAYERS_H

#include "value/value.h"

typedef struct bf_layers {
    umbeli_chain chain;
    bf_params params; /* those of the value */
} bf_layers;

/* The hash, seed and secret of filters in the blocked layout that the module makes; NULL: no
 * secret. */
umbeli_shape bf_hashing(const uint8_t *key);

static inline const uint8_t *bf_params_key(const bf_params *p) {
    return p->keyed ? p->key : NULL;
}

/* A chain of the blocked layout with its first layer; `hashing` has hash, seed and secret.  More
 * layers follow with umbeli_chain_append. */
umbel_err bf_layers_new(const bf_params *params, const umbeli_shape *hashing,
                        const umbeli_layer *first, const umbeli_settings *settings,
                        umbel_filter **out, umbel_diag *diag);

/* umbeli_chain_lend. */
void bf_layers_lend(bf_layers *l, const bf_params *params, umbeli_layer *layers, uint32_t count,
                    umbeli_array first, const umbeli_settings *settings);

#endif
