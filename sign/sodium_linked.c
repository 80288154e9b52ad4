/* SPDX-License-Identifier: MIT
 *
 * sodium_linked.c - libsodium, which the linker has found
 */
#include "core/diag.h"
#include "sign/sodium.h"

static const umbeli_sodium linked = {
#define CALL(name) name,
    UMBELI_SODIUM_CALLS(CALL)
#undef CALL
};

const umbeli_sodium *umbeli_sodium_get(umbel_diag *diag) {
    if (sodium_init() >= 0) return &linked;
    (void)umbeli_fail(diag, UMBEL_ENOTSUP, "libsodium cannot be used here");
    return NULL;
}
