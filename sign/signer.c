/* SPDX-License-Identifier: MIT
 *
 * signer.c - secret keys, and what is signed with them
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/diag.h"
#include "sign/minisign.h"
#include "sign/signature_path.h"
#include "umbel_sign.h"

/* What minisign takes for a password: a second and 1 GiB. */
#define WORK crypto_pwhash_scryptsalsa208sha256_OPSLIMIT_SENSITIVE
#define MEMORY crypto_pwhash_scryptsalsa208sha256_MEMLIMIT_SENSITIVE
static const uint64_t max_times = 2; /* as much of either */

struct umbel_signer {
    const umbeli_sodium *na;
    uint8_t id[MINISIGN_ID], key[64];
};

static uint64_t load64(const uint8_t from[8]) {
    return umbeli_minisign_number(from); /* little-endian, as the number of a key is */
}

static void store64(uint8_t to[8], uint64_t value) {
    for (int i = 0; i < 8; i++) to[i] = (uint8_t)(value >> 8 * i);
}

/* ---- passwords ---------------------------------------------------------------------------- */

/* Encrypts the pair, or decrypts it. */
static umbel_err mask(const umbeli_sodium *na, minisign_secret *s, const umbel_key *password,
                      umbel_diag *diag) {
    uint8_t stream[sizeof s->pair], *pair = (uint8_t *)&s->pair;
    uint64_t work = load64(s->work), memory = load64(s->memory);
    if (work > max_times * WORK || memory > max_times * MEMORY) {
        return umbeli_fail(diag, UMBEL_ELIMIT, "the key demands more than 2 GiB for its password");
    }
    if (na->crypto_pwhash_scryptsalsa208sha256(stream, sizeof stream, password->data, password->len,
                                               s->salt, work, (size_t)memory)) {
        return umbeli_fail(diag, UMBEL_ENOMEM,
                           "no memory for the password of the key, which takes 1 GiB");
    }
    for (size_t i = 0; i < sizeof stream; i++) pair[i] ^= stream[i];
    na->sodium_memzero(stream, sizeof stream);
    return UMBEL_OK;
}

static void sum_of(const umbeli_sodium *na, const minisign_secret *s, uint8_t out[32]) {
    crypto_generichash_state state;
    na->crypto_generichash_init(&state, NULL, 0, 32);
    na->crypto_generichash_update(&state, s->algorithm, sizeof s->algorithm);
    na->crypto_generichash_update(&state, s->pair.id, sizeof s->pair.id);
    na->crypto_generichash_update(&state, s->pair.key, sizeof s->pair.key);
    na->crypto_generichash_final(&state, out, 32);
    na->sodium_memzero(&state, sizeof state);
}

/* minisign leaves out the sum of a key without a password. */
static bool sum_fits(const umbeli_sodium *na, const minisign_secret *s) {
    static const uint8_t left_out[32];
    uint8_t sum[32];
    sum_of(na, s, sum);
    return na->sodium_memcmp(sum, s->pair.sum, 32) == 0 ||
           (!s->protection[0] && memcmp(s->pair.sum, left_out, 32) == 0);
}

static umbel_err unlock(const umbeli_sodium *na, minisign_secret *s, const umbel_key *password,
                        umbel_diag *diag) {
    bool protected = s->protection[0];
    if (protected && !password) {
        return umbeli_fail(diag, UMBEL_ESECRET, "the key is protected by a password");
    }
    umbel_err e = protected ? mask(na, s, password, diag) : UMBEL_OK;
    if (!e && !sum_fits(na, s)) {
        e = protected ? umbeli_fail(diag, UMBEL_ESECRET, "wrong password for the key")
                      : umbeli_invalid(diag, "is damaged");
    }
    return e;
}

/* ---- keys --------------------------------------------------------------------------------- */

/* A public half that is not that of the secret one would give the secret away. */
static bool halves_fit(const umbeli_sodium *na, const uint8_t key[64]) {
    uint8_t public[32], again[64];
    na->crypto_sign_seed_keypair(public, again, key);
    bool fit = na->sodium_memcmp(again, key, sizeof again) == 0;
    na->sodium_memzero(again, sizeof again);
    return fit;
}

umbel_err umbel_signer_new(umbel_key text, const umbel_key *password, umbel_signer **out,
                           umbel_diag *diag) {
    const umbeli_sodium *na = umbeli_sodium_get(diag);
    if (!na) return UMBEL_ENOTSUP;
    minisign_secret s;
    const char *wrong = umbeli_minisign_read_secret(na, text, &s);
    umbel_err e = wrong ? umbeli_invalid(diag, wrong) : unlock(na, &s, password, diag);
    if (!e && !halves_fit(na, s.pair.key)) e = umbeli_invalid(diag, "is damaged");
    umbel_signer *made = e ? NULL : malloc(sizeof *made);
    if (!e && !made) e = umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the key");
    if (!e) {
        made->na = na;
        memcpy(made->id, s.pair.id, sizeof made->id);
        memcpy(made->key, s.pair.key, sizeof made->key);
        *out = made;
    }
    na->sodium_memzero(&s, sizeof s);
    return e;
}

void umbel_signer_free(umbel_signer *signer) {
    if (!signer) return;
    signer->na->sodium_memzero(signer, sizeof *signer);
    free(signer);
}

static size_t written_secret(const umbeli_sodium *na, const minisign_secret *s, char *out) {
    return umbeli_minisign_write(na,
                                 s->protection[0]
                                     ? "untrusted comment: secret key, protected by a password"
                                     : "untrusted comment: secret key",
                                 s, sizeof *s, out);
}

umbel_err umbel_signer_generate(const umbel_key *password, char secret[UMBEL_SECRET_KEY_TEXT],
                                char public_key[UMBEL_PUBLIC_KEY_TEXT], umbel_diag *diag) {
    const umbeli_sodium *na = umbeli_sodium_get(diag);
    if (!na) return UMBEL_ENOTSUP;
    minisign_secret s = {.algorithm = "Ed", .summing = "B2"};
    minisign_public p = {.algorithm = "Ed"};
    uint8_t seed[32];
    char comment[80];
    na->randombytes_buf(seed, sizeof seed);
    na->randombytes_buf(p.id, sizeof p.id);
    na->crypto_sign_seed_keypair(p.key, s.pair.key, seed);
    na->sodium_memzero(seed, sizeof seed);
    memcpy(s.pair.id, p.id, sizeof p.id);
    sum_of(na, &s, s.pair.sum);
    umbel_err e = UMBEL_OK;
    if (password) {
        memcpy(s.protection, "Sc", 2);
        na->randombytes_buf(s.salt, sizeof s.salt);
        store64(s.work, WORK);
        store64(s.memory, MEMORY);
        e = mask(na, &s, password, diag);
    }
    if (!e) {
        snprintf(comment, sizeof comment, "untrusted comment: public key %016" PRIX64,
                 umbeli_minisign_number(p.id));
        written_secret(na, &s, secret);
        umbeli_minisign_write(na, comment, &p, sizeof p, public_key);
    }
    na->sodium_memzero(&s, sizeof s);
    return e;
}

/* ---- signing ------------------------------------------------------------------------------ */

static umbel_err hash_file(const umbeli_sodium *na, int fd, uint8_t out[64], umbel_diag *diag) {
    uint8_t piece[64 << 10];
    crypto_generichash_state state;
    ssize_t n = 1;
    na->crypto_generichash_init(&state, NULL, 0, 64);
    while (n != 0) {
        n = read(fd, piece, sizeof piece);
        if (n < 0 && errno != EINTR) return umbeli_fail_sys(diag, errno, "cannot read the file");
        if (n > 0) na->crypto_generichash_update(&state, piece, (unsigned long long)n);
    }
    na->crypto_generichash_final(&state, out, 64);
    return UMBEL_OK;
}

static umbel_err hash_path(const umbeli_sodium *na, const char *path, uint8_t out[64],
                           umbel_diag *diag) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return umbeli_fail_sys(diag, errno, "cannot open the file");
    umbel_err e = fstat(fd, &st) || !S_ISREG(st.st_mode)
                      ? umbeli_invalid(diag, "is not a regular file")
                      : hash_file(na, fd, out, diag);
    close(fd);
    return e;
}

/* What is vouched for besides the bytes, in the form of minisign's own comments.  A tab in the name
 * would begin another field. */
static size_t write_comment(const char *path, uint64_t number, char *out, size_t cap) {
    const char *slash = strrchr(path, '/');
    uint64_t now = (uint64_t)time(NULL);
    int len = snprintf(out, cap, "timestamp:%" PRIu64 "\tnumber:%" PRIu64 "\tfile:", now,
                       number ? number : now);
    size_t used = (size_t)len;
    for (const char *at = slash ? slash + 1 : path; *at && used + 16 < cap; at++) {
        out[used++] = (unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at;
    }
    strcpy(out + used, "\thashed");
    return used + strlen("\thashed");
}

enum { COMMENT = 1024, TEXT = COMMENT + 512 };

/* Fills `text` with the signature of a file with this hash; its length. */
static size_t sign(const umbel_signer *by, const uint8_t hash[64], const char *path,
                   uint64_t number, char text[TEXT]) {
    minisign_signature s;
    char comment[COMMENT];
    uint8_t both[sizeof s.over_file.sig + COMMENT];
    static const char trusted[] = "trusted comment: ";
    char line[sizeof trusted + COMMENT];
    memcpy(s.over_file.algorithm, "ED", 2);
    memcpy(s.over_file.id, by->id, sizeof by->id);
    by->na->crypto_sign_detached(s.over_file.sig, NULL, hash, 64, by->key);
    size_t len = write_comment(path, number, comment, sizeof comment);
    memcpy(both, s.over_file.sig, sizeof s.over_file.sig);
    memcpy(both + sizeof s.over_file.sig, comment, len);
    by->na->crypto_sign_detached(s.over_both, NULL, both, sizeof s.over_file.sig + len, by->key);
    snprintf(line, sizeof line, "%s%s", trusted, comment);
    size_t used = umbeli_minisign_write(by->na, "untrusted comment: signature by umbel",
                                        &s.over_file, sizeof s.over_file, text);
    return used + umbeli_minisign_write(by->na, line, s.over_both, sizeof s.over_both, text + used);
}

/* Whoever reads `to` has the whole text, or what was there before. */
static umbel_err replace(const char *to, const char *temporary, const char *text, size_t len,
                         umbel_diag *diag) {
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    bool done = fd >= 0 && write(fd, text, len) == (ssize_t)len && fsync(fd) == 0;
    int why = errno;
    if (fd >= 0 && close(fd) != 0 && done) {
        done = false;
        why = errno;
    }
    if (done && rename(temporary, to) == 0) return UMBEL_OK;
    if (done) why = errno;
    if (fd >= 0) unlink(temporary);
    return umbeli_fail_sys(diag, why, "cannot write its .minisig file");
}

umbel_err umbel_signer_file(const umbel_signer *signer, const char *path, uint64_t number,
                            umbel_diag *diag) {
    uint8_t hash[64];
    char text[TEXT];
    int saved = errno;
    char *to = umbeli_signature_path(path, ""), *temporary = umbeli_signature_path(path, ".tmp");
    umbel_err e = to && temporary ? hash_path(signer->na, path, hash, diag)
                                  : umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a name");
    if (!e) e = replace(to, temporary, text, sign(signer, hash, path, number, text), diag);
    free(to);
    free(temporary);
    errno = saved;
    return e;
}
