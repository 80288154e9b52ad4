/* SPDX-License-Identifier: MIT
 *
 * scalable.h - a chain of blocked filters, each larger than the one before
 *
 * Keys go into the last layer; when it holds what it was planned for, a new one is opened.  Which
 * share of the promised rate each layer gets is in plan/plan_scalable.c.  The layers lie one behind
 * the other in one array, which is moved when it grows: each move costs less than filling the new
 * layer will.
 *
 *   scalable.c          keys in, answers out, growing
 *   scalable_make.c     creating, and the parameters in native files
 */
#ifndef UMBELI_SCALABLE_H
#define UMBELI_SCALABLE_H

#include "kind/chain/chain.h"

enum {
    UMBELI_SCALABLE_LAYERS = 64,
    UMBELI_SCALABLE_EXPANSION = 1024, /* the most */
    UMBELI_SCHEME_SCALABLE = 1,
};

typedef struct umbeli_scalable {
    umbel_filter base; /* shape.bits: of all layers together; shape.fpr is never 0 */
    const umbeli_blocked_kernel *kernel;
    uint32_t expansion, layers_most;
    uint32_t nlayers; /* at least 1 */
    umbeli_layer layers[UMBELI_SCALABLE_LAYERS];
} umbeli_scalable;

static inline const umbeli_scalable *umbeli_scalable_of(const umbel_filter *f) {
    return (const umbeli_scalable *)f;
}

extern const umbeli_ops umbeli_scalable_ops;

#endif
