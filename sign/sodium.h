/* SPDX-License-Identifier: MIT
 *
 * sodium.h - what is used of libsodium
 *
 * libumbel-sign links it (sodium_linked.c).  The command loads it when a file is signed or checked
 * (sodium_loaded.c), since a lookup takes no longer than loading would.
 */
#ifndef UMBELI_SODIUM_H
#define UMBELI_SODIUM_H

#include <sodium.h>

#include "umbel.h"

#define UMBELI_SODIUM_CALLS(CALL)     \
    CALL(sodium_init)                 \
    CALL(sodium_memzero)              \
    CALL(sodium_memcmp)               \
    CALL(sodium_base642bin)           \
    CALL(sodium_bin2base64)           \
    CALL(randombytes_buf)             \
    CALL(crypto_generichash)          \
    CALL(crypto_generichash_init)     \
    CALL(crypto_generichash_update)   \
    CALL(crypto_generichash_final)    \
    CALL(crypto_sign_seed_keypair)    \
    CALL(crypto_sign_detached)        \
    CALL(crypto_sign_verify_detached) \
    CALL(crypto_pwhash_scryptsalsa208sha256)

typedef struct umbeli_sodium {
#define CALL(name) __typeof__(&name) name;
    UMBELI_SODIUM_CALLS(CALL)
#undef CALL
} umbeli_sodium;

/* Ready to be used, from any thread; or NULL, and UMBEL_ENOTSUP is what *diag explains. */
const umbeli_sodium *umbeli_sodium_get(umbel_diag *diag);

#endif
