/* SPDX-License-Identifier: MIT
 *
 * umbel_sign.h - who made this file?  Signatures in minisign's format: FILE and FILE.minisig
 *
 *   umbel_key key = {"RWRhlgoVcBpiMWSLmuUF/jMzYUUtLQ+JyAb5ODvaEFa1QLORY3G6QcBr", 56};
 *   umbel_trust *trust;
 *   if (umbel_trust_new(&key, 1, 0, &trust, NULL)) return 1;
 *   umbel_guard guard = umbel_trust_guard(trust);
 *   umbel_source *bad;                          // umbel_lookup.h
 *   if (umbel_source_open("bad.umb", &(umbel_source_opts){.guard = &guard}, &bad, NULL)) return 1;
 *
 * Checksums are against accidents, a signature is against people: only who has the secret key can
 * make one.  It is Ed25519 over BLAKE2b-512 of the file, and again over that and a comment, which
 * has the number of the edition; so minisign checks what umbel signs, and the other way round.
 * Files that minisign signed without hashing them first (its -l) are accepted, too.
 *
 * The functions are in libumbel-sign, which needs libsodium.  The rules of umbel.h hold.
 */
#ifndef UMBEL_SIGN_H
#define UMBEL_SIGN_H

#include "umbel.h"
#include "umbel_lookup.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Checking ----------------------------------------------------------------------------- */

/* The public keys whose files are accepted.  Never changes, so any number of threads may use it. */
typedef struct umbel_trust umbel_trust;

/* Each key is a text: what is in the file that `minisign -G` calls minisign.pub, or its last line
 * alone.  One of them is enough, so that keys can be replaced.  Numbers below `not_before` are
 * refused. */
UMBEL_API umbel_err umbel_trust_new(const umbel_key *keys, size_t n, uint64_t not_before,
                                    umbel_trust **out, umbel_diag *diag);
UMBEL_API void umbel_trust_free(umbel_trust *trust); /* NULL is allowed                         */

/* For umbel_source_opts.guard: accepts a file if the one beside it whose name ends in .minisig has
 * a signature of it, and deltas if each of them has its own.  The trust must outlive the source. */
UMBEL_API umbel_guard umbel_trust_guard(const umbel_trust *trust);

/* What a signature vouches for besides the bytes. */
typedef struct umbel_signed {
    uint64_t number;     /* of the edition: `number:N` in the comment, or else `timestamp:N`, or 0 */
    uint64_t key;        /* the number of the key, which minisign shows with 16 hexadecimal digits */
    const char *comment; /* the trusted comment, within the text of the signature: any bytes but NUL
                          * and newline, without an end */
    size_t comment_len;
    uint64_t reserved[4];
} umbel_signed;

/* Whether `signature`, the text of a .minisig file, is one of these bytes and by a key that is
 * trusted; *out (optional) is what it says.  UMBEL_EUNSIGNED if it is not, or if its number is too
 * small. */
UMBEL_API umbel_err umbel_trust_check(const umbel_trust *trust, umbel_key bytes,
                                      umbel_key signature, umbel_signed *out, umbel_diag *diag);

/* Reads the signature of the file called `path`, which is in PATH.minisig.  UMBEL_EUNSIGNED: there
 * is none, or what is there is longer than any. */
enum { UMBEL_SIGNATURE_MAX = 16384 };
UMBEL_API umbel_err umbel_signature_read(const char *path, char text[UMBEL_SIGNATURE_MAX],
                                         size_t *len, umbel_diag *diag);

/* ---- Signing ------------------------------------------------------------------------------ */

/* A secret key, which is wiped when it is freed. */
typedef struct umbel_signer umbel_signer;

/* `text` is what is in a file with a secret key of minisign.  UMBEL_ESECRET: it is protected by a
 * password, and this one (NULL: none) is wrong; turning the right one into a key takes a second and
 * what memory the file says, at most 2 GiB. */
UMBEL_API umbel_err umbel_signer_new(umbel_key text, const umbel_key *password, umbel_signer **out,
                                     umbel_diag *diag);
UMBEL_API void umbel_signer_free(umbel_signer *signer); /* NULL is allowed                      */

/* Writes PATH.minisig, atomically, for the file as it is now: reads it once, in small pieces.  The
 * number must grow from edition to edition; 0: the seconds since 1970. */
UMBEL_API umbel_err umbel_signer_file(const umbel_signer *signer, const char *path, uint64_t number,
                                      umbel_diag *diag);

/* A new pair of keys, as the texts of two files.  Who has the first can sign: write it where nobody
 * else reads it.  `password` (NULL: none) protects it. */
enum { UMBEL_SECRET_KEY_TEXT = 320, UMBEL_PUBLIC_KEY_TEXT = 128 };
UMBEL_API umbel_err umbel_signer_generate(const umbel_key *password,
                                          char secret[UMBEL_SECRET_KEY_TEXT],
                                          char public_key[UMBEL_PUBLIC_KEY_TEXT], umbel_diag *diag);

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_SIGN_H */
