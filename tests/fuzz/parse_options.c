/* SPDX-License-Identifier: MIT
 *
 * parse_options.c - command lines
 *
 * In place of cli/report/error.c: what would exit the command ends the parsing here, and memory
 * that the command would leave to its exit is freed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "options/filter_options.h"
#include "parse_target.h"
#include "umbel_foreign.h"

enum { MAX_BLOCKS = 4096, MAX_ARGUMENTS = 64 };

static jmp_buf refused;
static void *blocks[MAX_BLOCKS];
static size_t nblocks;
static bool parsing; /* else the caller frees its memory */

void cli_die(const char *where, const char *hint, const char *what, ...) {
    char line[512];
    va_list args;
    va_start(args, what);
    vsnprintf(line, sizeof line, what, args);
    va_end(args);
    insist(line[0] && (!where || where[0]) && (!hint || hint[0]), "an error has a message");
    longjmp(refused, 1);
}

void cli_warn(const char *where, const char *what, ...) {
    (void)where, (void)what;
}

void *cli_alloc(size_t size) {
    return cli_realloc(NULL, size);
}

void *cli_realloc(void *old, size_t size) {
    size_t i = 0;
    while (parsing && old && blocks[i] != old) i++;
    void *block = realloc(old, size ? size : 1);
    insist(block != NULL, "there is memory for a test");
    if (!parsing) return block;
    if (!old) i = nblocks++;
    insist(i < MAX_BLOCKS, "few blocks");
    return blocks[i] = block;
}

char *cli_strndup(const char *text, size_t len) {
    char *copy = cli_alloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

static uint8_t all_options[OPTION_COUNT];

const cli_command cli_umbel = {.name = "umbel", .synopsis = "", .options = all_options};
static const cli_command subcommand = {.name = "fuzz", .synopsis = "FILE", .options = all_options};

static void use_settings(const cli_settings *s, int argc) {
    insist(s->nargs >= 0 && s->nargs < argc, "no more arguments than words");
    for (int i = 0; i < s->nargs; i++) insist(s->args[i] != NULL, "each is there");
    if (cli_given(s, OPT_FPR)) insist(s->fpr > 0 && s->fpr < 1, "rates are rates");
    if (cli_given(s, OPT_KEYS)) insist(s->keys > 0, "keys from 1");
    if (cli_given(s, OPT_BYTES)) insist(s->bytes > 0, "sizes from 1");
    cli_filter_params p = cli_params_of(s);
    insist(p.hashes == s->hashes && p.bits_per_key == s->bits_per_key, "no number is cut");
    umbel_opts opts = cli_opts_of(s);
    insist(opts.threads == s->threads, "nor this one");
    insist(umbel_type_name(cli_type_of(s)) != NULL, "a type");
    cli_exclude(s, OPT_LOWER, OPT_UPPER);
    cli_expect_args(s, 1, 3);
}

void parse_options(char *text, size_t len) {
    char *argv[MAX_ARGUMENTS + 1];
    int argc = 0;
    cli_settings settings;
    argv[argc++] = text;
    for (size_t at = 0; at < len && argc < MAX_ARGUMENTS; at += strlen(text + at) + 1) {
        argv[argc++] = text + at;
    }
    argv[argc] = NULL;
    for (uint8_t id = 1; id < OPTION_COUNT; id++) all_options[id - 1] = id;
    const cli_command *command = argc % 2 ? &subcommand : &cli_umbel;
    parsing = true;
    if (!setjmp(refused)) {
        cli_parse(command, argc, argv, &settings);
        use_settings(&settings, argc);
    }
    while (nblocks > 0) free(blocks[--nblocks]);
    parsing = false;
}
