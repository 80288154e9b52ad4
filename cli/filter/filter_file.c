/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "filter/filter_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/draw.h"
#include "base/error.h"
#include "base/output.h"
#include "filter/filter_bytes.h"
#include "filter/mapped_guard.h"
#include "filter/signed_file.h"
#include "filter/update_lock.h"
#include "umbel_foreign.h"
#include "umbel_text.h"

static bool has_option(const cli_settings *s, cli_option_id id) {
    return cli_takes(s->command, id);
}

static const char *open_hint(umbel_err err, const cli_settings *s) {
    if (err == UMBEL_EUNKNOWN && has_option(s, OPT_FROM)) {
        return "--from is needed for formats without a magic number";
    }
    if (err == UMBEL_EUNKNOWN && !has_option(s, OPT_FORMAT)) return NULL;
    if (err == UMBEL_ESECRET && !s->secret) return "--secret-file FILE opens it";
    return cli_open_hint(err);
}

/* If a command takes a filter, then files, and one of the files is a filter, they were probably
 * swapped. */
static const char *swapped_hint(const char *path, const cli_settings *s, char *room, size_t cap) {
    if (!has_option(s, OPT_CHECK_KEY) && !has_option(s, OPT_GIVEN_KEY)) return NULL;
    for (int i = 0; i < s->nargs; i++) {
        umbel_filter *f = NULL;
        if (strcmp(s->args[i], path) == 0 || cli_is_stdin(s->args[i])) continue;
        if (umbel_file_open(s->args[i], UMBEL_MAP, NULL, NULL, &f, NULL) != UMBEL_OK) continue;
        umbel_free(f);
        snprintf(room, cap, "did you mean umbel %.20s %.200s %.200s?", s->command->name, s->args[i],
                 path);
        return room;
    }
    return NULL;
}

static _Noreturn void refuse(const char *path, umbel_err e, const umbel_diag *diag,
                             const cli_settings *s) {
    char room[480];
    const char *hint = e == UMBEL_EUNKNOWN ? swapped_hint(path, s, room, sizeof room) : NULL;
    if (hint) cli_die(cli_filter_name(path), hint, "is not a filter");
    cli_die_err(cli_filter_name(path), e, diag, open_hint(e, s));
}

static umbel_foreign format_of(const cli_settings *s) {
    umbel_foreign as = {.format = UMBEL_FMT_ANY};
    if (s->format) {
        cli_filter_params given = cli_params_of(s);
        as = cli_foreign_params(&given);
        as.bytes = 0;
    }
    return as;
}

/* Opens the file, once for all that is done with it. */
static cli_filter_bytes source_of(const char *path, const cli_settings *s) {
    umbel_foreign as = format_of(s);
    umbel_diag diag = {0};
    cli_guard_mappings();
    if (!cli_guard_of(s)) return cli_filter_bytes_of(path, &as, s->max_memory);
    cli_filter_bytes out = {.as = as, .fd = -1};
    umbel_err e = cli_signed_bytes(path, s, &out, &diag);
    if (e) cli_die_err(cli_filter_name(path), e, &diag, NULL);
    cli_signed_used(path, out.number);
    return out;
}

static umbel_err get(const cli_filter_bytes *from, const cli_settings *s, umbel_how how,
                     umbel_filter **f, umbel_diag *diag) {
    umbel_opts opts = cli_opts_of(s);
    if (from->at) return umbel_decode(from->at, from->len, UMBEL_LOAD, &from->as, &opts, f, diag);
    umbel_err e = umbel_fd_open(from->fd, how, &from->as, &opts, f, diag);
    /* What cannot be mapped is loaded. */
    return e == UMBEL_ENOTSUP ? umbel_fd_open(from->fd, UMBEL_LOAD, &from->as, &opts, f, diag) : e;
}

/* Opens it for reading as if --secret-file had not been given. */
static umbel_err get_plain(const cli_filter_bytes *from, const cli_settings *s, umbel_filter **f) {
    cli_settings plain = *s;
    plain.secret = NULL;
    return get(from, &plain, UMBEL_MAP, f, NULL);
}

/* Closes the source. */
static umbel_filter *need_from(cli_filter_bytes from, const char *path, const cli_settings *s,
                               umbel_how how) {
    umbel_diag diag = {0};
    umbel_filter *f = NULL;
    if (how != UMBEL_MAP && !s->output && from.piped) {
        cli_die(cli_filter_name(path), "give a file", "a filter in a pipe cannot be changed");
    }
    umbel_err e = get(&from, s, how, &f, &diag);
    if (e == UMBEL_ESECRET && s->secret && get_plain(&from, s, &f) == UMBEL_OK) {
        cli_die_err(cli_filter_name(path), e, &diag, "it opens without --secret-file");
    }
    if (e) refuse(path, e, &diag, s);
    cli_filter_bytes_free(&from);
    return f;
}

umbel_filter *cli_filter_open(const char *path, const cli_settings *s) {
    return need_from(source_of(path, s), path, s, UMBEL_MAP);
}

umbel_filter *cli_filter_open_mixed(const char *path, const cli_settings *s, bool *keyed) {
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    cli_filter_bytes from = source_of(path, s);
    cli_mapping_watch(path, from.fd);
    umbel_err e = get(&from, s, UMBEL_MAP, &f, &diag);
    *keyed = !e && s->secret;
    if (e == UMBEL_ESECRET && s->secret) e = get_plain(&from, s, &f);
    if (e) refuse(path, e, &diag, s);
    cli_filter_bytes_free(&from);
    return f;
}

umbel_filter *cli_filter_try(const char *path, const cli_settings *s, char *why, size_t cap) {
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    cli_filter_bytes from = {.fd = -1, .as = format_of(s)};
    bool guarded = cli_guard_of(s);
    if (!guarded) from.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (!guarded && from.fd < 0) {
        snprintf(why, cap, "%s", strerror(errno));
        return NULL;
    }
    umbel_err e = guarded ? cli_signed_bytes(path, s, &from, &diag) : UMBEL_OK;
    if (!e) e = get(&from, s, UMBEL_MAP, &f, &diag);
    if (e == UMBEL_ESECRET && s->secret) e = get_plain(&from, s, &f);
    if (e) {
        umbel_explain(e, &diag, why, cap);
    } else if (guarded) {
        cli_signed_used(path, from.number);
    } else {
        cli_mapping_watch(path, from.fd);
    }
    cli_filter_bytes_free(&from);
    return f;
}

umbel_filter *cli_filter_load(const char *path, const cli_settings *s) {
    return need_from(source_of(path, s), path, s, UMBEL_LOAD);
}

/* What is beside a list; to be freed. */
static char *deltas_of(const char *path) {
    static const char suffix[] = ".deltas";
    char *name = cli_alloc(strlen(path) + sizeof suffix);
    return strcat(strcpy(name, path), suffix);
}

/* Deltas follow the bytes of a file: changed, it would be another list than either. */
static void refuse_followed(const char *path) {
    char *deltas = deltas_of(path);
    if (!cli_is_stdin(path) && access(deltas, F_OK) == 0) {
        cli_die(path, "umbel delta and apply change such a list, or build it again",
                "%s follows it", deltas);
    }
    free(deltas);
}

umbel_filter *cli_filter_edit(const char *path, const cli_settings *s) {
    refuse_followed(path);
    cli_filter_bytes from = source_of(path, s);
    cli_mapping_watch(path, from.fd);
    return need_from(from, path, s, UMBEL_EDIT);
}

/* Without `open` the result is NULL if the secret is missing, and the bytes are valid. */
static umbel_filter *verified(const char *path, const cli_settings *s, bool open, bool *summed) {
    umbel_diag diag = {0};
    umbel_err e = UMBEL_OK;
    cli_filter_bytes from = source_of(path, s);
    if (!from.at) {
        e = umbel_fd_open(from.fd, UMBEL_VERIFY, &from.as, NULL, NULL, &diag);
    } else if (!open) { /* otherwise decoding verifies everything */
        e = umbel_decode(from.at, from.len, UMBEL_VERIFY, &from.as, NULL, NULL, &diag);
    }
    if (e) refuse(path, e, &diag, s);
    cli_settings once = *s;
    once.unchecked = true; /* it has just been */
    umbel_filter *f = NULL;
    if (open) {
        f = need_from(from, path, &once, UMBEL_MAP);
    } else {
        (void)get(&from, &once, UMBEL_MAP, &f, NULL); /* fails only for lack of the secret */
        cli_filter_bytes_free(&from);
    }
    umbel_info info = {.format = UMBEL_FMT_NATIVE}; /* which alone has secrets */
    umbel_format_info format;
    if (f) umbel_describe(f, &info);
    *summed = umbel_format_describe(info.format, &format) && format.has_checksum;
    return f;
}

umbel_filter *cli_filter_open_verified(const char *path, const cli_settings *s) {
    bool summed;
    return verified(path, s, true, &summed);
}

umbel_filter *cli_filter_verify(const char *path, const cli_settings *s, bool *summed) {
    return verified(path, s, s->format || s->present || s->absent || s->secret, summed);
}

void cli_die_memory(const char *where, const cli_filter_params *p) {
    umbel_plan plan = {.kind = p->kind,
                       .capacity = p->capacity,
                       .fpr = p->fpr,
                       .bytes = p->bytes,
                       .hashes = p->hashes};
    umbel_foreign foreign = cli_foreign_params(p);
    umbel_err e = cli_is_foreign(p) ? umbel_plan_foreign(&foreign, &plan, NULL)
                                    : umbel_plan_solve(&plan, NULL);
    char size[UMBEL_QUANTITY];
    if (e || !plan.bytes) cli_die(where, CLI_SEE_PLAN, "out of memory");
    cli_die(where, CLI_SEE_PLAN, "out of memory: the filter needs %s",
            umbel_size_text(plan.bytes, size));
}

umbel_filter *cli_filter_create(const cli_filter_params *p, const cli_settings *s) {
    umbel_opts opts = cli_opts_of(s);
    umbel_diag diag = {0};
    umbel_filter *f = NULL;
    umbel_params native = cli_native_params(p);
    umbel_foreign foreign = cli_foreign_params(p);
    umbel_err e = cli_is_foreign(p) ? umbel_create_foreign(&foreign, &opts, &f, &diag)
                                    : umbel_create(&native, &opts, &f, &diag);
    if (e == UMBEL_ENOMEM) cli_die_memory(s->command->name, p);
    bool chosen = cli_given(s, OPT_KIND) && strcmp(diag.field, "hashes") == 0;
    if (e) {
        cli_die_err(s->command->name, e, &diag,
                    chosen              ? "--kind classic takes any number"
                    : e == UMBEL_EINVAL ? CLI_SEE_PLAN
                                        : NULL);
    }
    umbel_info info;
    umbel_describe(f, &info);
    if (cli_is_foreign(p) && p->kind != UMBEL_KIND_AUTO && p->kind != info.kind) {
        cli_die("--kind", "leave it out", "%s filters are %s", umbel_format_name(p->format),
                umbel_kind_name(info.kind));
    }
    return f;
}

static umbel_filter *hasher_with(const cli_settings *s, const uint8_t *secret) {
    umbel_filter *hasher = NULL;
    umbel_params params = {.kind = UMBEL_KIND_BLOCKED, .bytes = 32};
    umbel_opts opts = {.secret = secret};
    umbel_diag diag = {0};
    umbel_err e = umbel_create(&params, &opts, &hasher, &diag);
    if (e) cli_die_err(s->command->name, e, &diag, NULL);
    return hasher;
}

umbel_filter *cli_hasher_new(const cli_settings *s) {
    return hasher_with(s, s->secret);
}

umbel_filter *cli_table_hasher_new(const cli_settings *s) {
    uint8_t drawn[16];
    if (s->secret) return hasher_with(s, s->secret);
    cli_draw(drawn, sizeof drawn);
    return hasher_with(s, drawn);
}

static void refuse_as_input(const struct stat *out, const char *output, const char *const *files,
                            int nfiles) {
    struct stat in;
    if (!S_ISREG(out->st_mode)) return;
    for (int i = 0; i < nfiles || (i == 0 && nfiles == 0); i++) {
        bool standard = nfiles == 0 || strcmp(files[i], "-") == 0;
        if ((standard ? fstat(STDIN_FILENO, &in) : stat(files[i], &in)) != 0) continue;
        if (in.st_dev == out->st_dev && in.st_ino == out->st_ino) {
            cli_die(standard ? "standard input" : files[i], NULL, "is also the output: %s", output);
        }
    }
}

void cli_refuse_as_input(const char *output, const char *const *files, int nfiles) {
    struct stat out;
    bool to_stdout = strcmp(output, "-") == 0;
    if ((to_stdout ? fstat(STDOUT_FILENO, &out) : stat(output, &out)) != 0) return;
    refuse_as_input(&out, to_stdout ? "standard output" : output, files, nfiles);
}

void cli_refuse_as_given(const char *output, const cli_settings *s) {
    const char *const named[] = {s->secret_file, s->base};
    const cli_text_list *const lists[] = {&s->never, &s->added, &s->removed, &s->kept};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (named[i]) cli_refuse_as_input(output, &named[i], 1);
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (lists[i]->count) cli_refuse_as_input(output, lists[i]->at, (int)lists[i]->count);
    }
}

static size_t count_stdin(const char *const *files, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += files[i] && cli_is_stdin(files[i]);
    return count;
}

void cli_refuse_stdin_twice(const cli_settings *s, bool without_files) {
    const char *const named[] = {s->secret_file, s->base};
    const cli_text_list *const lists[] = {&s->never, &s->added, &s->removed, &s->kept};
    size_t uses = count_stdin(named, sizeof named / sizeof *named);
    uses += count_stdin((const char *const *)s->args, (size_t)s->nargs);
    uses += without_files && !s->nargs && !s->given_keys.count;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        uses += count_stdin(lists[i]->at, lists[i]->count);
    }
    if (uses > 1) cli_die("standard input", "give a file", "can be read only once");
}

/* Exits, before any work is done, if OUT exists and -f is not given, or if it cannot be created. */
static void check_output(const cli_settings *s) {
    if (!s->output) {
        cli_die(s->command->name, "-o FILE, or -o - for standard output", "-o is missing");
    }
    if (strcmp(s->output, "-") == 0) {
        if (isatty(STDOUT_FILENO)) {
            cli_die("standard output", "-o FILE, or use a pipe",
                    "will not write a filter to a terminal");
        }
        return;
    }
    struct stat st;
    bool exists = stat(s->output, &st) == 0;
    if (exists && S_ISDIR(st.st_mode)) cli_die(s->output, "give a filter file", "is a directory");
    if (exists && !S_ISREG(st.st_mode)) return; /* a pipe or a device keeps nothing */
    cli_refuse_as_given(s->output, s);
    if (!s->force && exists) cli_die(s->output, "-f overwrites it", "already exists");
    char *copy = cli_strndup(s->output, strlen(s->output));
    const char *dir = dirname(copy);
    if (access(dir, W_OK | X_OK) != 0) cli_die_sys(s->output, errno);
    free(copy);
}

void cli_filter_claim_output(const cli_settings *s) {
    struct stat st;
    check_output(s);
    cli_update_lock(s->output, s);
    if (!s->force && strcmp(s->output, "-") != 0 && stat(s->output, &st) == 0 &&
        S_ISREG(st.st_mode)) {
        cli_die(s->output, "-f overwrites it", "another command has just made it");
    }
}

/* The same bytes may have been there before: then they would still follow. */
static void drop_deltas(const char *path) {
    char *deltas = deltas_of(path);
    if (unlink(deltas) == 0) {
        cli_warn("deltas_removed", path, "the deltas of the file before it are removed");
    } else if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG) {
        cli_die_sys(deltas, errno);
    }
    free(deltas);
}

void cli_filter_save(const umbel_filter *f, umbel_format format, const char *path) {
    umbel_diag diag = {0};
    bool to_stdout = strcmp(path, "-") == 0;
    umbel_err e = to_stdout ? umbel_fd_write(f, format, STDOUT_FILENO, &diag)
                            : cli_update_save(f, format, &diag);
    if (e) cli_die_err(to_stdout ? "standard output" : path, e, &diag, NULL);
    if (!to_stdout) drop_deltas(path);
    if (diag.what)
        cli_warn("attributes_lost", path, "%s%s%s", diag.field, *diag.field ? ": " : "", diag.what);
}

void cli_bytes_save(const void *bytes, size_t len, const char *path) {
    umbel_diag diag = {0};
    if (strcmp(path, "-") == 0) {
        fwrite(bytes, 1, len, stdout);
        cli_output_finish_stdio();
        return;
    }
    umbel_err e = cli_update_bytes(bytes, len, &diag);
    if (e) cli_die_err(path, e, &diag, NULL);
}

void cli_filter_save_edited(const umbel_filter *f, umbel_format format, const char *path) {
    cli_mappings_unchanged("nothing was saved");
    cli_filter_save(f, format, path);
}
