/* SPDX-License-Identifier: MIT
 *
 * cmd_sign.c - umbel sign: files that only the owner of a key can have made
 */
#define _DEFAULT_SOURCE /* explicit_bzero */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ask.h"
#include "base/output.h"
#include "command/command.h"
#include "options/secret_file.h"

static const uint8_t options[] = {OPT_SIGNING_KEY, OPT_NUMBER, OPT_PASSWORD_FILE, OPT_GENERATE,
                                  OPT_NO_PASSWORD, OPT_QUIET,  OPT_HELP,          OPT_END};

#ifdef UMBEL_WITH_SODIUM
#include "umbel_sign.h"

/* ---- passwords ---------------------------------------------------------------------------- */

/* To be wiped and freed. */
static char *password_in(const char *path) {
    char text[CLI_SECRET_TEXT];
    struct stat st;
    size_t len = cli_read_start(path, text, sizeof text, &st, NULL);
    const char *end = memchr(text, '\n', len);
    if (!end && len == sizeof text) cli_die(path, NULL, "the password is too long");
    if (end) len = (size_t)(end - text);
    if (!len) cli_die(path, "--no-password makes a key without one", "there is no password");
    if (memchr(text, '\0', len)) cli_die(path, NULL, "the password has a NUL");
    cli_warn_readable(path, &st);
    char *password = cli_strndup(text, len);
    explicit_bzero(text, sizeof text);
    return password;
}

static char *ask(const char *prompt) {
    return cli_ask("sign", prompt, "--password-file FILE has the password");
}

static void wipe(char *text) {
    if (text) explicit_bzero(text, strlen(text));
    free(text);
}

static char *new_password(const cli_settings *s) {
    if (s->no_password) return NULL;
    if (s->password_file) return password_in(s->password_file);
    char *password = ask("New password for the key (not shown): ");
    char *again = ask("The same again: ");
    bool same = strcmp(password, again) == 0;
    wipe(again);
    if (!same) cli_die("sign", NULL, "these were two different passwords");
    return password;
}

/* ---- keys --------------------------------------------------------------------------------- */

static umbel_err unlock(const cli_settings *s, umbel_key text, umbel_signer **out,
                        umbel_diag *diag) {
    umbel_err e = umbel_signer_new(text, NULL, out, diag);
    if (e != UMBEL_ESECRET) return e;
    char *password =
        s->password_file ? password_in(s->password_file) : ask("Password of the key (not shown): ");
    *diag = (umbel_diag){0};
    e = umbel_signer_new(text, &(umbel_key){password, strlen(password)}, out, diag);
    wipe(password);
    return e;
}

static umbel_signer *signer_of(const cli_settings *s) {
    char text[CLI_SECRET_TEXT];
    struct stat st;
    umbel_diag diag = {0};
    umbel_signer *signer = NULL;
    size_t len = cli_read_start(s->signing_key, text, sizeof text, &st, "--generate makes one");
    umbel_err e = unlock(s, (umbel_key){text, len}, &signer, &diag);
    explicit_bzero(text, sizeof text);
    if (e) cli_die_err(s->signing_key, e, &diag, NULL);
    cli_warn_readable(s->signing_key, &st);
    return signer;
}

/* A key that is there is never overwritten: nobody could make it again. */
static void write_secret(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) cli_die(path, errno == EEXIST ? "give another name" : NULL, "%s", strerror(errno));
    size_t len = strlen(text);
    if (write(fd, text, len) == (ssize_t)len && fsync(fd) == 0 && close(fd) == 0) return;
    int why = errno;
    unlink(path);
    cli_die_sys(path, why);
}

static int generate(const cli_settings *s) {
    char secret[UMBEL_SECRET_KEY_TEXT], public_key[UMBEL_PUBLIC_KEY_TEXT];
    umbel_diag diag = {0};
    cli_expect_args(s, 0, 0);
    cli_exclude(s, OPT_PASSWORD_FILE, OPT_NO_PASSWORD);
    if (access(s->signing_key, F_OK) == 0) {
        cli_die(s->signing_key, "give another name", "%s", strerror(EEXIST));
    }
    char *password = new_password(s);
    umbel_key given = {password, password ? strlen(password) : 0};
    umbel_err e = umbel_signer_generate(password ? &given : NULL, secret, public_key, &diag);
    wipe(password);
    if (e) cli_die_err("sign", e, &diag, NULL);
    write_secret(s->signing_key, secret);
    explicit_bzero(secret, sizeof secret);
    fputs(public_key, stdout);
    cli_output_finish_stdio();
    return CLI_YES;
}

static int run(const cli_settings *s) {
    umbel_diag diag = {0};
    if (!s->signing_key) cli_die("sign", "as in -s list.key", "--secret-key is missing");
    if (s->mode[GROUP_SIGN] == SIGN_NEW_KEYS) return generate(s);
    cli_expect_args(s, 1, -1);
    umbel_signer *signer = signer_of(s);
    for (int i = 0; i < s->nargs; i++) {
        umbel_err e = umbel_signer_file(signer, s->args[i], s->number, &diag);
        if (e) cli_die_err(s->args[i], e, &diag, NULL);
        if (!s->quiet) cli_note(s->args[i], "signed: %s.minisig", s->args[i]);
    }
    umbel_signer_free(signer);
    return CLI_YES;
}

#else

static int run(const cli_settings *s) {
    (void)s;
    cli_die("sign", "install libsodium-dev and rebuild", CLI_NO_SODIUM);
}

#endif

const cli_command cli_command_sign = {
    .name = "sign",
    .summary = "sign files, so that others know who made them",
    .synopsis = "-s FILE [--number N] [OPTION]... FILE...",
    .examples = "# Once: a pair of keys. The public one goes to everybody who uses the list\n"
                "umbel sign --generate --password-file F -s list.key > list.pub\n"
                "# Each time: bad.umb.minisig is published beside bad.umb\n"
                "umbel sign --password-file F -s list.key bad.umb\n"
                "# What the others do\n"
                "umbel check --key list.pub bad.umb requests.txt\n",
    .text =
        "Writes FILE.minisig, in the format of minisign, which can check it as well (minisign -V -p "
        "list.pub -m FILE), and whose keys may be used: Ed25519 over BLAKE2b-512 of FILE. Any file can "
        "be signed.\n\n"
        "check, serve and verify take the public key with --key, and then use only what is signed. "
        "Publish the signature before the file, so that nobody meets the new file with the old "
        "signature, which is refused; serve tries again as soon as the signature is there.\n\n"
        "The signature has a trusted comment, which nobody else can change either: the time, the name of "
        "FILE and the number of this edition. It must grow from one to the next, because then old "
        "editions cannot be brought back: programs that are running refuse a smaller number than the "
        "one that they use, and --not-before refuses it from the start.\n\n"
        "A key is protected by a password, which takes a second and 1 GiB of memory to try. It is typed, "
        "or in a file or pipe (--password-file /dev/fd/3), never an argument, which all users could see. "
        "The secret key is never overwritten; keep a copy elsewhere.",
    .exits = CLI_EXITS_DONE,
    .options = options,
    .run = run,
};
