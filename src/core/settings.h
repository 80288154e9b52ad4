/* SPDX-License-Identifier: MIT
 *
 * settings.h - the 16 bytes of a keyed filter that no file holds
 */
#ifndef UMBELI_SETTINGS_H
#define UMBELI_SETTINGS_H

#include "core/bits.h"

enum { UMBELI_SECRET_BYTES = 16 };

typedef struct umbeli_secret {
    uint64_t word[2];
} umbeli_secret;

static inline umbeli_secret umbeli_secret_from(const uint8_t *bytes) {
    return (umbeli_secret){{umbeli_load_le64(bytes), umbeli_load_le64(bytes + 8)}};
}

#endif
