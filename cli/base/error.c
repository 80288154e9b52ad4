/* SPDX-License-Identifier: MIT
 *
 * error.c - messages on standard error
 */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/progress.h"
#include "base/safe_text.h"
#include "base/wrap.h"
#include "umbel_text.h"

/* Set before there are threads. */
static bool silenced, unseen;
static void (*before_error)(void);

static cli_notice *notices, **last_notice = &notices;

/* Called with stderr's lock. */
static void keep(const char *code, const char *where, const char *what, va_list args) {
    cli_notice *n = before_error ? calloc(1, sizeof *n) : NULL;
    if (!n) return;
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, what, again);
    va_end(again);
    n->code = code;
    n->where = where ? strdup(where) : NULL;
    n->text = malloc((size_t)len + 1);
    if (n->text) vsnprintf(n->text, (size_t)len + 1, what, args);
    *last_notice = n;
    last_notice = &n->next;
}

const cli_notice *cli_notices(void) {
    return notices;
}

void cli_keep_notices(void (*hook)(void), bool print) {
    before_error = hook;
    unseen = !print;
}

static void print_message(const char *where, const char *word, const char *hint, const char *what,
                          va_list args) {
    if (unseen) return;
    cli_progress_hide();
    flockfile(stderr);
    FILE *to = cli_sentence(); /* stderr's lock is its lock, too */
    fputs("umbel: ", to);
    if (where) cli_print_safe(to, "%s: ", where);
    fputs(word, to);
    cli_vprint_safe(to, what, args);
    if (hint) cli_print_safe(to, " (%s)", hint);
    cli_sentence_end(to);
    funlockfile(stderr);
}

/* Without exit handlers: other threads may be in the middle of anything. */
static _Noreturn void exit_now(void) {
    cli_run_exit_hook();
    void (*hook)(void) = before_error;
    before_error = NULL; /* which may fail itself */
    if (hook) hook();
    fflush(stdout);
    _exit(CLI_ERROR);
}

/* `code` NULL: an error. */
static void notice(const char *code, const char *where, const char *hint, const char *what,
                   va_list args) {
    va_list again;
    va_copy(again, args);
    flockfile(stderr);
    keep(code, where, what, again);
    funlockfile(stderr);
    va_end(again);
    if (!code || !silenced) print_message(where, code ? "warning: " : "", hint, what, args);
}

void cli_die(const char *where, const char *hint, const char *what, ...) {
    va_list args;
    va_start(args, what);
    notice(NULL, where, hint, what, args);
    va_end(args);
    exit_now();
}

void cli_die_sys(const char *where, int sys) {
    cli_die(where, NULL, "%s", strerror(sys));
}

static _Noreturn void refuse_size(const char *where, const umbel_diag *diag) {
    char need[UMBEL_QUANTITY], enough[64];
    if (!diag || !diag->need) {
        const char *what = diag && diag->what && !diag->field[0] ? diag->what : "";
        cli_die(where, "--max-memory SIZE raises it", "above the memory limit%s%s",
                what[0] ? ": " : "", what);
    }
    snprintf(enough, sizeof enough, "--max-memory %" PRIu64 " is enough", diag->need);
    cli_die(where, enough, "needs %s, more than --max-memory allows",
            umbel_size_text(diag->need, need));
}

/* The library names its parameters; people gave options. */
static const char *option_of(const umbel_diag *diag) {
    static const struct {
        const char *field, *option;
    } names[] = {{"capacity", "--keys"},
                 {"fpr", "-p"},
                 {"bytes", "-m"},
                 {"hashes", "--hashes"},
                 {"seed", "--seed"},
                 {"kind", "--kind"},
                 {"bits_per_key", "--bits-per-key"},
                 {"expansion", "--expansion"},
                 {"nonscaling", "--nonscaling"},
                 {"variant", "--variant"},
                 {"secret", "--secret-file"},
                 {"threads", "--threads"},
                 {"tmp", "--tmp"}};
    for (size_t i = 0; diag && i < sizeof names / sizeof *names; i++) {
        if (strcmp(diag->field, names[i].field) == 0) return names[i].option;
    }
    return NULL;
}

const char *cli_in_options(const char *text, char *out, size_t cap) {
    static const struct {
        const char *of_library, *of_command;
    } words[] = {{"bits_per_key", "--bits-per-key"},
                 {", but its snapshot can", ""},
                 {"give this, fpr or bytes", "give this, -p or -m"},
                 {"format: not recognised", "is not a filter that can be recognised"},
                 {"numbers from 1 to 4294967295", "numbers from 1"},
                 {"higher fpr", "higher rate"},
                 {"log2(1/fpr)", "log2(1/rate)"},
                 {"filter is read-only", "filter was built once and cannot be changed"}};
    size_t n = 0;
    while (*text && n + 64 < cap) {
        size_t i = 0, count = sizeof words / sizeof *words;
        while (i < count && strncmp(text, words[i].of_library, strlen(words[i].of_library)) != 0)
            i++;
        if (i == count) {
            out[n++] = *text++;
        } else {
            n += (size_t)snprintf(out + n, cap - n, "%s", words[i].of_command);
            text += strlen(words[i].of_library);
        }
    }
    out[n] = '\0';
    return out;
}

void cli_die_err(const char *where, umbel_err err, const umbel_diag *diag, const char *hint) {
    char text[256], reworded[320];
    if (err == UMBEL_ELIMIT) {
        refuse_size(where, diag);
    } else if (err == UMBEL_EIO && diag && diag->sys) {
        cli_die(where, hint, "%s", strerror(diag->sys));
    }
    const char *option = err == UMBEL_EINVAL ? option_of(diag) : NULL;
    if (option && diag->what) {
        cli_die(where, hint, "%s: %s", option,
                cli_in_options(diag->what, reworded, sizeof reworded));
    }
    umbel_explain(err, diag, text, sizeof text);
    cli_die(where, hint, "%s", cli_in_options(text, reworded, sizeof reworded));
}

void cli_silence_warnings(void) {
    silenced = true;
}

void cli_warn(const char *code, const char *where, const char *what, ...) {
    va_list args;
    va_start(args, what);
    notice(code, where, NULL, what, args);
    va_end(args);
}

void cli_error(const char *where, const char *hint, const char *what, ...) {
    va_list args;
    va_start(args, what);
    notice(NULL, where, hint, what, args);
    va_end(args);
}

void cli_note(const char *where, const char *what, ...) {
    va_list args;
    va_start(args, what);
    print_message(where, "", NULL, what, args);
    va_end(args);
}

void *cli_alloc(size_t size) {
    return cli_realloc(NULL, size);
}

char *cli_strndup(const char *text, size_t len) {
    char *copy = cli_alloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

void *cli_realloc(void *old, size_t size) {
    void *p = realloc(old, size ? size : 1);
    if (!p) cli_die(NULL, NULL, "out of memory: cannot allocate %zu bytes", size);
    return p;
}
