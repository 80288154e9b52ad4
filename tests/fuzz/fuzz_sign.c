/* SPDX-License-Identifier: MIT
 *
 * fuzz_sign.c - texts of keys and signatures: what is accepted is what minisign wrote
 *
 * Byte 0 chooses what the text after it is: a signature of a file, a public key or a secret one.
 */
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "umbel_sign.h"

enum { SIGNATURE, PUBLIC_KEY, SECRET_KEY };

/* minisign's: tests/golden/minisign/locked.pub, list and the comments of its two signatures. */
static const char public_key[] = "RWREYQazd5Bd4fnocBacS23YlqbCFrlH+CPGbwemgFgScPH+Z5Of7wHU";
static const char list[] = "a list that somebody signed\n";
static const char *const comments[] = {"timestamp:1700000000\tfile:list\thashed",
                                       "number:77\tfile:list"};

static bool is_one_of_them(const umbel_signed *is) {
    for (size_t i = 0; i < 2; i++) {
        if (is->comment_len == strlen(comments[i]) &&
            memcmp(is->comment, comments[i], is->comment_len) == 0) {
            return true;
        }
    }
    return false;
}

static void check_signature(umbel_key text) {
    umbel_trust *trust = NULL;
    umbel_signed is;
    umbel_key key = {public_key, sizeof public_key - 1};
    insist(!umbel_trust_new(&key, 1, 0, &trust, NULL), "the key is one");
    umbel_err e = umbel_trust_check(trust, (umbel_key){list, sizeof list - 1}, text, &is, NULL);
    insist(e == UMBEL_OK || e == UMBEL_EUNSIGNED, "a signature is one, or is refused");
    insist(e || is_one_of_them(&is), "nobody else signed the file");
    umbel_trust_free(trust);
}

static void check_public_key(umbel_key text) {
    umbel_trust *trust = NULL;
    umbel_err e = umbel_trust_new(&text, 1, 0, &trust, NULL);
    insist(e == UMBEL_OK || e == UMBEL_EINVAL, "a key is one, or is refused");
    if (!e) umbel_trust_free(trust);
}

/* Without a password, which would take a second. */
static void check_secret_key(umbel_key text) {
    umbel_signer *signer = NULL;
    umbel_err e = umbel_signer_new(text, NULL, &signer, NULL);
    insist(e == UMBEL_OK || e == UMBEL_EINVAL || e == UMBEL_ESECRET, "a key is one, or is refused");
    if (!e) umbel_signer_free(signer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    if (!len) return 0;
    char *text = some_bytes(len - 1); /* ends where its memory ends */
    memcpy(text, bytes + 1, len - 1);
    umbel_key key = {text, len - 1};
    switch (bytes[0] % 3) {
    case SIGNATURE: check_signature(key); break;
    case PUBLIC_KEY: check_public_key(key); break;
    case SECRET_KEY: check_secret_key(key); break;
    }
    free(text);
    return 0;
}
