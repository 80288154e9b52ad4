/* SPDX-License-Identifier: MIT
 *
 * trust.c - whose files are accepted
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/diag.h"
#include "sign/minisign.h"
#include "sign/signature_path.h"
#include "umbel_sign.h"

struct umbel_trust {
    const umbeli_sodium *na;
    uint64_t not_before;
    size_t count;
    minisign_public keys[];
};

umbel_err umbel_trust_new(const umbel_key *keys, size_t n, uint64_t not_before, umbel_trust **out,
                          umbel_diag *diag) {
    const umbeli_sodium *na = umbeli_sodium_get(diag);
    if (!na) return UMBEL_ENOTSUP;
    if (!n) return umbeli_invalid(diag, "keys: there are none");
    umbel_trust *t = malloc(sizeof *t + n * sizeof *t->keys);
    if (!t) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the keys");
    *t = (umbel_trust){.na = na, .not_before = not_before, .count = n};
    for (size_t i = 0; i < n; i++) {
        const char *wrong = umbeli_minisign_read_public(na, keys[i], &t->keys[i]);
        if (!wrong) continue;
        free(t);
        return umbeli_invalid(diag, wrong);
    }
    *out = t;
    return UMBEL_OK;
}

void umbel_trust_free(umbel_trust *t) {
    free(t);
}

/* ---- what a comment says ------------------------------------------------------------------ */

/* The number after `name` in fields that tabs separate; false if there is none. */
static bool field(const char *at, size_t len, const char *name, uint64_t *out) {
    const char *end = at + len;
    size_t skip = strlen(name);
    for (const char *next; at < end; at = next + 1) {
        next = memchr(at, '\t', (size_t)(end - at));
        if (!next) next = end;
        if ((size_t)(next - at) <= skip || memcmp(at, name, skip) != 0) continue;
        uint64_t n = 0;
        for (at += skip; at < next && *at >= '0' && *at <= '9'; at++) {
            unsigned digit = (unsigned)(*at - '0');
            if (n > (UINT64_MAX - digit) / 10) return false;
            n = n * 10 + digit;
        }
        *out = n;
        return at == next;
    }
    return false;
}

static uint64_t number_in(const minisign_signature *s) {
    uint64_t n = 0;
    if (field(s->comment, s->comment_len, "number:", &n)) return n;
    return field(s->comment, s->comment_len, "timestamp:", &n) ? n : 0;
}

/* ---- checking ----------------------------------------------------------------------------- */

static const minisign_public *trusted(const umbel_trust *t, const minisign_signature *s) {
    for (size_t i = 0; i < t->count; i++) {
        if (memcmp(t->keys[i].id, s->over_file.id, MINISIGN_ID) == 0) return &t->keys[i];
    }
    return NULL;
}

static bool fits_file(const umbeli_sodium *na, const minisign_public *by,
                      const minisign_signature *s, umbel_key bytes) {
    uint8_t hash[64];
    if (s->prehashed) {
        na->crypto_generichash(hash, sizeof hash, bytes.data, bytes.len, NULL, 0);
        bytes = (umbel_key){hash, sizeof hash};
    }
    return na->crypto_sign_verify_detached(s->over_file.sig, bytes.data, bytes.len, by->key) == 0;
}

static bool fits_comment(const umbeli_sodium *na, const minisign_public *by,
                         const minisign_signature *s) {
    uint8_t both[sizeof s->over_file.sig + MINISIGN_COMMENT_MAX];
    memcpy(both, s->over_file.sig, sizeof s->over_file.sig);
    memcpy(both + sizeof s->over_file.sig, s->comment, s->comment_len);
    return na->crypto_sign_verify_detached(s->over_both, both,
                                           sizeof s->over_file.sig + s->comment_len, by->key) == 0;
}

/* What is wrong; NULL: nothing.  The comment first: it costs nothing, and without it there is no
 * need to hash a large file. */
static const char *refusal(const umbel_trust *t, const minisign_signature *s, umbel_key bytes) {
    const minisign_public *by = trusted(t, s);
    if (!by) return "signed by another key than those that are accepted";
    if (!fits_comment(t->na, by, s)) return "the signature or its trusted comment was changed";
    if (number_in(s) < t->not_before)
        return "signed with too small a number, that of an older edition";
    return fits_file(t->na, by, s, bytes) ? NULL : "the signature is not one of these bytes";
}

umbel_err umbel_trust_check(const umbel_trust *t, umbel_key bytes, umbel_key signature,
                            umbel_signed *out, umbel_diag *diag) {
    minisign_signature s;
    const char *wrong = umbeli_minisign_read_signature(t->na, signature, &s);
    if (!wrong) wrong = refusal(t, &s, bytes);
    if (wrong) return umbeli_fail(diag, UMBEL_EUNSIGNED, wrong);
    if (!out) return UMBEL_OK;
    *out = (umbel_signed){.number = number_in(&s),
                          .key = umbeli_minisign_number(s.over_file.id),
                          .comment = s.comment,
                          .comment_len = s.comment_len};
    return UMBEL_OK;
}

/* ---- files -------------------------------------------------------------------------------- */

/* Up to `room` bytes; -1 with errno.  A FIFO must not block us. */
static ssize_t read_start(const char *path, char *bytes, size_t room) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    size_t len = 0;
    ssize_t n = fd < 0 ? -1 : 1;
    while (n > 0 && len < room) {
        n = read(fd, bytes + len, room - len);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            len += (size_t)n;
    }
    int why = errno;
    if (fd >= 0) close(fd);
    errno = why;
    return n < 0 ? -1 : (ssize_t)len;
}

umbel_err umbel_signature_read(const char *path, char text[UMBEL_SIGNATURE_MAX], size_t *len,
                               umbel_diag *diag) {
    int saved = errno;
    char *beside = umbeli_signature_path(path, "");
    ssize_t got = beside ? read_start(beside, text, UMBEL_SIGNATURE_MAX) : -1;
    int why = errno;
    free(beside);
    errno = saved;
    if (!beside) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a name");
    if (got < 0 && why == ENOENT) {
        return umbeli_fail(diag, UMBEL_EUNSIGNED,
                           "is not signed, there is no .minisig file beside it");
    }
    if (got < 0) return umbeli_fail_sys(diag, why, "cannot read its .minisig file");
    if (got == UMBEL_SIGNATURE_MAX) {
        return umbeli_fail(diag, UMBEL_EUNSIGNED, "its .minisig file is too long for a signature");
    }
    *len = (size_t)got;
    return UMBEL_OK;
}

static umbel_err accept_signed(void *ctx, const char *path, const void *bytes, size_t len,
                               const umbel_key *signature, uint64_t *number, umbel_diag *diag) {
    char text[UMBEL_SIGNATURE_MAX];
    umbel_key beside = {text, 0};
    umbel_signed is;
    umbel_err e = signature ? UMBEL_OK : umbel_signature_read(path, text, &beside.len, diag);
    if (!e) {
        e = umbel_trust_check(ctx, (umbel_key){bytes, len}, signature ? *signature : beside, &is,
                              diag);
    }
    if (!e) *number = is.number;
    return e;
}

umbel_guard umbel_trust_guard(const umbel_trust *t) {
    return (umbel_guard){accept_signed, (void *)(uintptr_t)t, UMBELI_SIGNATURE_END};
}
