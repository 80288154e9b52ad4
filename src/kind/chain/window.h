/* SPDX-License-Identifier: MIT
 *
 * window.h - the last keys of a stream: a ring of blocked filters, one for each generation
 *
 * A window of g generations is g + 1 equal blocked filters.  Keys go into the newest; when it is
 * full (or, of a manual window, when the caller says so) the oldest is wiped and becomes the newest.
 * So at any time g whole generations are remembered and a part of one more.
 *
 * A key that comes again goes into the newest generation again, and is remembered as long as any
 * other that came now.
 *
 *   window.c          keys in, answers out, advancing
 *   window_make.c     creating, and the parameters in native files
 */
#ifndef UMBELI_WINDOW_H
#define UMBELI_WINDOW_H

#include "kind/chain/chain.h"
#include "plan/plan.h"

enum { UMBELI_SCHEME_WINDOW = 1 };

typedef struct umbeli_window {
    umbel_filter base;
    const umbeli_blocked_kernel *kernel;
    bool manual;
    uint32_t nlayers;     /* generations + 1, at least 2 */
    uint32_t newest;      /* which layer it is; the one behind it, round the end, is the oldest */
    umbeli_layer *layers; /* [nlayers] in the order of the data; all alike but keys */
} umbeli_window;

static inline const umbeli_window *umbeli_window_of(const umbel_filter *f) {
    return (const umbeli_window *)f;
}

extern const umbeli_ops umbeli_window_ops;

#endif
