/* SPDX-License-Identifier: MIT
 *
 * error.h - what goes wrong is said in one line: `umbel: WHERE: what is wrong (what would work)`
 */
#ifndef CLI_ERROR_H
#define CLI_ERROR_H

#include "umbel.h"

enum { CLI_YES = 0, CLI_NO = 1, CLI_ERROR = 2 };

/* `where` (a file, an option) and `hint` (what would work) may be NULL.  Ends the program with
 * CLI_ERROR, from any thread. */
_Noreturn void cli_die(const char *where, const char *hint, const char *what, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a refusal by the operating system: the words are those of strerror(sys). */
_Noreturn void cli_die_sys(const char *where, int sys);

/* The same for a refusal by the library. */
_Noreturn void cli_die_err(const char *where, umbel_err err, const umbel_diag *diag,
                           const char *hint);

/* One line, and on with it. */
void cli_warn(const char *where, const char *what, ...) __attribute__((format(printf, 2, 3)));

/* Memory or the end of the program. */
void *cli_alloc(size_t size);
void *cli_realloc(void *old, size_t size);
char *cli_strndup(const char *text, size_t len);

/* From now on `last` is called before an error ends the program (in the thread where it happened)
 * and before SIGHUP, SIGINT or SIGTERM does (in one of its own; a second signal ends the program at
 * once).  It may be called by several threads, and in the middle of itself when it fails: it keeps
 * the others waiting, and returns at once to itself.  To be called before there are other threads.
 * Signals that are ignored stay ignored. */
void cli_on_early_exit(void (*last)(void *ctx), void *ctx);

/* For error.c: does what was asked for. */
void cli_run_exit_hook(void);

#endif
