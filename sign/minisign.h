/* SPDX-License-Identifier: MIT
 *
 * minisign.h - minisign's keys and signatures: lines of text around base 64
 *
 *   signature   untrusted comment: ...       secret key  untrusted comment: ...
 *               BASE64(algorithm id sig)                 BASE64(minisign_secret_bytes)
 *               trusted comment: ...         public key  untrusted comment: ...
 *               BASE64(sig over both)                    BASE64("Ed" id key)
 *
 * Readers take any text and say what is wrong with it, in words that follow the name of the file;
 * NULL: nothing is.
 */
#ifndef UMBELI_MINISIGN_H
#define UMBELI_MINISIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sign/sodium.h"

enum { MINISIGN_ID = 8, MINISIGN_COMMENT_MAX = 8192 };

typedef struct minisign_public {
    uint8_t algorithm[2], id[MINISIGN_ID], key[32];
} minisign_public;

/* What the password protects. */
typedef struct minisign_pair {
    uint8_t id[MINISIGN_ID], key[64], sum[32]; /* the sum is BLAKE2b of "Ed", id and key */
} minisign_pair;

typedef struct minisign_secret {
    uint8_t algorithm[2], protection[2], summing[2];
    uint8_t salt[32], work[8], memory[8];
    minisign_pair pair;
} minisign_secret;

typedef struct minisign_signature {
    struct {
        uint8_t algorithm[2], id[MINISIGN_ID], sig[64];
    } over_file;
    uint8_t over_both[64]; /* over_file.sig and the comment */
    bool prehashed;
    const char *comment; /* within the text */
    size_t comment_len;
} minisign_signature;

const char *umbeli_minisign_read_public(const umbeli_sodium *na, umbel_key text,
                                        minisign_public *out);
const char *umbeli_minisign_read_secret(const umbeli_sodium *na, umbel_key text,
                                        minisign_secret *out);
const char *umbeli_minisign_read_signature(const umbeli_sodium *na, umbel_key text,
                                           minisign_signature *out);

/* `COMMENT\nBASE64\n` with an end, in `out`, which is large enough; the length. */
size_t umbeli_minisign_write(const umbeli_sodium *na, const char *comment, const void *bytes,
                             size_t len, char *out);

/* As minisign shows it. */
uint64_t umbeli_minisign_number(const uint8_t id[MINISIGN_ID]);

#endif
