/* SPDX-License-Identifier: MIT
 *
 * error.h - an error is one line: `umbel: WHERE: what is wrong (what would work)`
 */
#ifndef CLI_ERROR_H
#define CLI_ERROR_H

#include <stdbool.h>

#include "umbel.h"

/* Exit statuses.  INCOMPLETE: done, but not for every line, or not as promised; a warning has said
 * so. */
enum { CLI_YES = 0, CLI_NO = 1, CLI_ERROR = 2, CLI_INCOMPLETE = 3 };

#define CLI_NO_SODIUM "this umbel was built without libsodium"

/* `where` (a file, an option) and `hint` (what would work) may be NULL.  Exits with CLI_ERROR, from
 * any thread. */
_Noreturn void cli_die(const char *where, const char *hint, const char *what, ...)
    __attribute__((format(printf, 3, 4)));

/* For an error of the operating system, with the message of strerror(sys). */
_Noreturn void cli_die_sys(const char *where, int sys);

/* For an error of the library. */
_Noreturn void cli_die_err(const char *where, umbel_err err, const umbel_diag *diag,
                           const char *hint);

/* Rewrites a text of the library for users of the command, who gave options and not parameters.
 * `out` has `cap` bytes and is returned. */
const char *cli_in_options(const char *text, char *out, size_t cap);

/* Prints `umbel: WHERE: warning: what` and continues.  -q does not silence it, -qq does.  `code` is
 * what programs know it by: docs/contract.md has them all. */
void cli_warn(const char *code, const char *where, const char *what, ...)
    __attribute__((format(printf, 3, 4)));
void cli_silence_warnings(void);

/* An error that does not end the run: another file can still be read. */
void cli_error(const char *where, const char *hint, const char *what, ...)
    __attribute__((format(printf, 3, 4)));

/* What was wrong so far, for a report: warnings, even silenced ones, and errors. */
typedef struct cli_notice {
    struct cli_notice *next;
    const char *code; /* NULL: an error */
    char *where;      /* may be NULL */
    char *text;
} cli_notice;

const cli_notice *cli_notices(void);

/* Call it before anything goes wrong.  `hook` is called before an error exits; without `print`,
 * messages are kept only. */
void cli_keep_notices(void (*hook)(void), bool print);

/* Neither a warning nor an error. */
void cli_note(const char *where, const char *what, ...) __attribute__((format(printf, 2, 3)));

/* malloc and friends that exit on failure. */
void *cli_alloc(size_t size);
void *cli_realloc(void *old, size_t size);
char *cli_strndup(const char *text, size_t len);

/* Calls `hook` before an error exits the program (in the thread where the error happened) and
 * before SIGHUP, SIGINT, SIGQUIT or SIGTERM does (in a separate thread; a second signal kills
 * immediately).
 * Several threads may call it, and it may be re-entered if it fails: it must block other threads
 * and return immediately when called recursively.  Install it before starting other threads.
 * Signals that are ignored stay ignored. */
void cli_on_early_exit(void (*hook)(void *ctx), void *ctx);

/* Calls `hook`, perhaps twice, when the program ends by itself or with an error, after the early
 * hook. */
void cli_on_exit(void (*hook)(void));

/* Calls `hook` before one of these signals ends the program, after the early hook.  Other threads
 * still run, so it must stop them from what they may no longer do.  A reader of standard output
 * that goes away counts as a signal. */
void cli_on_signal(void (*hook)(void));

/* Nobody reads standard output any more: ends as SIGPIPE would have, after the hooks. */
_Noreturn void cli_exit_without_reader(void);

/* For error.c: runs the hooks, if there are any. */
void cli_run_exit_hook(void);

#endif
