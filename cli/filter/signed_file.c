/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "filter/signed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "options/secret_file.h"

/* ---- keys --------------------------------------------------------------------------------- */

#ifdef UMBEL_WITH_SODIUM
#include "umbel_sign.h"

static const umbel_trust *trust;
static cli_signature last;

const cli_signature *cli_signature_last(void) {
    return &last;
}

/* A key itself, or what is in the file of this name. */
static umbel_key key_text(const cli_settings *s, const char *given) {
    enum { ALONE = 56 };
    static const char kind[] = "RW"; /* what "Ed" is in base 64 */
    size_t len = strlen(given);
    if (len == ALONE && memcmp(given, kind, 2) == 0) return (umbel_key){given, len};
    char *text = cli_alloc(CLI_SECRET_TEXT);
    struct stat st;
    const char *hint = cli_takes(s->command, OPT_CHECK_KEY)
                           ? "--key is a public key, or a file with one; -e KEY looks KEY up"
                           : "--key is a public key, or a file with one";
    return (umbel_key){text, cli_read_start(given, text, CLI_SECRET_TEXT, &st, hint)};
}

static void need_trust(const cli_settings *s) {
    umbel_key *keys = cli_alloc(s->trusted.count * sizeof *keys);
    umbel_trust *all = NULL;
    for (size_t i = 0; i < s->trusted.count; i++) {
        umbel_trust *one = NULL;
        umbel_diag diag = {0};
        keys[i] = key_text(s, s->trusted.at[i]);
        umbel_err e = umbel_trust_new(&keys[i], 1, 0, &one, &diag);
        if (e) cli_die_err(e == UMBEL_EINVAL ? s->trusted.at[i] : "--key", e, &diag, NULL);
        umbel_trust_free(one);
    }
    umbel_diag diag = {0};
    umbel_err e = umbel_trust_new(keys, s->trusted.count, s->not_before, &all, &diag);
    if (e) cli_die_err("--key", e, &diag, NULL);
    for (size_t i = 0; i < s->trusted.count; i++) {
        if (keys[i].data != s->trusted.at[i]) free((char *)(uintptr_t)keys[i].data);
    }
    free(keys);
    trust = all;
}

const umbel_guard *cli_guard_of(const cli_settings *s) {
    static umbel_guard guard;
    if (!s->trusted.count) return NULL;
    if (!trust) need_trust(s);
    guard = umbel_trust_guard(trust);
    return &guard;
}

static umbel_err check(const char *path, umbel_key bytes, uint64_t *number, umbel_diag *diag) {
    char text[UMBEL_SIGNATURE_MAX];
    size_t len = 0;
    umbel_signed is;
    umbel_err e = umbel_signature_read(path, text, &len, diag);
    if (!e) e = umbel_trust_check(trust, bytes, (umbel_key){text, len}, &is, diag);
    if (e) return e;
    *number = last.number = is.number;
    last.key = is.key;
    memcpy(last.comment, is.comment, is.comment_len);
    last.comment[is.comment_len] = '\0';
    return UMBEL_OK;
}

#else

const cli_signature *cli_signature_last(void) {
    return NULL;
}

const umbel_guard *cli_guard_of(const cli_settings *s) {
    if (s->trusted.count) cli_die("--key", "install libsodium-dev and rebuild", CLI_NO_SODIUM);
    return NULL;
}

static umbel_err check(const char *path, umbel_key bytes, uint64_t *number, umbel_diag *diag) {
    (void)path, (void)bytes, (void)number, (void)diag;
    return UMBEL_ENOTSUP;
}

#endif

/* ---- files -------------------------------------------------------------------------------- */

/* The numbers of the files in use. */
static struct used {
    struct used *next;
    const char *path;
    uint64_t number;
} * files;

static struct used *used_as(const char *path) {
    struct used *u = files;
    while (u && strcmp(u->path, path) != 0) u = u->next;
    return u;
}

void cli_signed_used(const char *path, uint64_t number) {
    struct used *u = used_as(path);
    if (!u) {
        u = cli_alloc(sizeof *u);
        *u = (struct used){files, path, 0};
        files = u;
    }
    u->number = number;
}

static umbel_err fail(umbel_diag *diag, umbel_err e, int sys, const char *what) {
    *diag = (umbel_diag){.what = what, .sys = sys};
    return e;
}

/* Reads all of it; a file that grows meanwhile is not one that was signed. */
static umbel_err read_whole(int fd, const cli_settings *s, cli_filter_bytes *out,
                            umbel_diag *diag) {
    struct stat st;
    if (fstat(fd, &st)) return fail(diag, UMBEL_EIO, errno, "cannot stat the file");
    if (!S_ISREG(st.st_mode)) {
        return fail(diag, UMBEL_EUNSIGNED, 0, "is not a file, so no signature is beside it");
    }
    size_t size = (size_t)st.st_size;
    if (s->max_memory && size > s->max_memory) {
        return fail(diag, UMBEL_ELIMIT, 0, "larger than --max-memory, and read to be checked");
    }
    uint8_t *bytes = cli_alloc(size + 1);
    ssize_t n = 1;
    for (out->len = 0; n != 0 && out->len <= size; out->len += n > 0 ? (size_t)n : 0) {
        n = read(fd, bytes + out->len, size + 1 - out->len);
        if (n < 0 && errno != EINTR) break;
    }
    out->at = bytes;
    out->owned = bytes;
    return n < 0 ? fail(diag, UMBEL_EIO, errno, "cannot read the file") : UMBEL_OK;
}

umbel_err cli_signed_bytes(const char *path, const cli_settings *s, cli_filter_bytes *out,
                           umbel_diag *diag) {
    if (cli_is_stdin(path)) {
        return fail(diag, UMBEL_EUNSIGNED, 0, "is not a file, so no signature is beside it");
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail(diag, UMBEL_EIO, errno, "cannot open the file");
    umbel_err e = read_whole(fd, s, out, diag);
    close(fd);
    if (!e) e = check(path, (umbel_key){out->at, out->len}, &out->number, diag);
    const struct used *u = used_as(path);
    if (!e && u && out->number < u->number) {
        e = fail(diag, UMBEL_EUNSIGNED, 0, "its number is smaller than that of the list in use");
    }
    if (e) cli_filter_bytes_free(out);
    return e;
}
