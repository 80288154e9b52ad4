/* SPDX-License-Identifier: MIT
 *
 * filter_file.c - filters named on the command line: opened, loaded, verified, saved
 */
#define _POSIX_C_SOURCE 200809L
#include "filter/filter_file.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/quantity.h"
#include "filter/gzipped_filter.h"
#include "filter/mapped_guard.h"
#include "filter/piped_filter.h"
#include "filter/update_lock.h"
#include "umbel_foreign.h"
#include "umbel_meta.h"

/* What would work, if that is more than the error itself says. */
static const char *open_hint(umbel_err err, const cli_settings *s) {
    if (err == UMBEL_EUNKNOWN) {
        return "--format is needed for formats without a magic number";
    }
    if (err == UMBEL_EVERSION) return "a newer umbel may be able to read it";
    if (err == UMBEL_ESECRET && !s->secret) return "--secret-file FILE opens it";
    return NULL;
}

static void refuse_directory(const char *path) {
    struct stat st;
    if (!cli_is_stdin(path) && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        cli_die(path, "give a filter file", "is a directory");
    }
}

/* DCSO's files may be gzip-compressed, which is not the library's to read. */
static umbel_err get_gzipped(const char *path, const umbel_opts *opts, umbel_filter **f,
                             umbel_diag *diag) {
    uint8_t *bytes = NULL;
    size_t len = 0;
    umbel_err e = cli_gunzip_filter_file(path, opts, &bytes, &len, diag);
    if (!e) e = umbel_decode(bytes, len, &(umbel_foreign){.format = UMBEL_FMT_DCSO}, opts, f, diag);
    free(bytes);
    return e;
}

/* `-`: standard input, read whole. */
static umbel_err get_piped(const umbel_foreign *as, bool may_be_packed, const umbel_opts *opts,
                           umbel_filter **f, umbel_diag *diag) {
    size_t len = 0;
    const uint8_t *bytes = cli_stdin_bytes(opts->max_bytes, &len);
    if (!may_be_packed || !cli_is_gzipped(bytes, len)) {
        return umbel_decode(bytes, len, as, opts, f, diag);
    }
    uint8_t *unpacked = NULL;
    umbel_err e = cli_gunzip_filter(bytes, len, opts, &unpacked, &len, diag);
    umbel_foreign dcso = {.format = UMBEL_FMT_DCSO};
    if (!e) e = umbel_decode(unpacked, len, &dcso, opts, f, diag);
    free(unpacked);
    return e;
}

/* umbel_file_open, _load or _edit. */
typedef umbel_err opener(const char *path, const umbel_foreign *as, const umbel_opts *opts,
                         umbel_filter **out, umbel_diag *diag);

static umbel_err get(const char *path, const cli_settings *s, opener *open, umbel_filter **f,
                     umbel_diag *diag) {
    umbel_opts opts = cli_opts_of(s);
    umbel_foreign as = {.format = UMBEL_FMT_ANY};
    if (s->format) {
        cli_filter_params given = cli_params_of(s);
        as = cli_foreign_params(&given);
        as.bytes = 0;
    }
    refuse_directory(path);
    cli_guard_mappings();
    bool may_be_packed = as.format == UMBEL_FMT_ANY || as.format == UMBEL_FMT_DCSO;
    if (cli_is_stdin(path)) return get_piped(&as, may_be_packed, &opts, f, diag);
    if (may_be_packed && cli_is_gzipped_file(path)) return get_gzipped(path, &opts, f, diag);
    umbel_err e = open(path, &as, &opts, f, diag);
    /* What cannot be mapped is loaded. */
    return e == UMBEL_ENOTSUP ? umbel_file_load(path, &as, &opts, f, diag) : e;
}

/* For reading, as if --secret-file had not been given. */
static umbel_err get_plain(const char *path, const cli_settings *s, umbel_filter **f) {
    cli_settings plain = *s;
    plain.secret = NULL;
    return get(path, &plain, umbel_file_open, f, NULL);
}

static umbel_filter *need(const char *path, const cli_settings *s, opener *open) {
    umbel_diag diag = {0};
    umbel_filter *f = NULL;
    if (open != umbel_file_open && cli_is_stdin(path) && !s->output) {
        cli_die("standard input", "give a file", "a filter in a pipe cannot be changed");
    }
    umbel_err e = get(path, s, open, &f, &diag);
    if (e == UMBEL_ESECRET && s->secret && get_plain(path, s, &f) == UMBEL_OK) {
        cli_die_err(cli_filter_name(path), e, &diag, "it opens without --secret-file");
    }
    if (e) cli_die_err(cli_filter_name(path), e, &diag, open_hint(e, s));
    return f;
}

umbel_filter *cli_filter_open(const char *path, const cli_settings *s) {
    return need(path, s, umbel_file_open);
}

umbel_filter *cli_filter_open_mixed(const char *path, const cli_settings *s, bool *keyed) {
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    umbel_err e = get(path, s, umbel_file_open, &f, &diag);
    *keyed = !e && s->secret;
    if (e == UMBEL_ESECRET && s->secret) e = get_plain(path, s, &f);
    if (e) cli_die_err(cli_filter_name(path), e, &diag, open_hint(e, s));
    return f;
}

umbel_filter *cli_filter_load(const char *path, const cli_settings *s) {
    return need(path, s, umbel_file_load);
}

umbel_filter *cli_filter_edit(const char *path, const cli_settings *s) {
    cli_mapping_watch(path);
    return need(path, s, umbel_file_edit);
}

umbel_filter *cli_filter_open_verified(const char *path, const cli_settings *s) {
    umbel_diag diag = {0};
    refuse_directory(path);
    if (cli_is_stdin(path)) return cli_filter_open(path, s); /* decoding verifies everything */
    umbel_err e = umbel_file_verify(path, NULL, &diag);
    if (e) cli_die_err(cli_filter_name(path), e, &diag, open_hint(e, s));
    return cli_filter_open(path, s);
}

umbel_filter *cli_filter_verify(const char *path, const cli_settings *s) {
    umbel_diag diag = {0};
    refuse_directory(path);
    /* Loading verifies everything as well. */
    if (cli_is_stdin(path) && s->format) return cli_filter_open(path, s);
    if (s->format || cli_is_gzipped_file(path)) return cli_filter_load(path, s);
    if (s->present || s->absent || s->secret) return cli_filter_open_verified(path, s);
    umbel_err e;
    if (cli_is_stdin(path)) {
        size_t len = 0;
        const uint8_t *bytes = cli_stdin_bytes(s->max_memory, &len);
        e = umbel_verify(bytes, len, NULL, &diag);
    } else {
        e = umbel_file_verify(path, NULL, &diag);
    }
    if (e) cli_die_err(cli_filter_name(path), e, &diag, open_hint(e, s));
    return NULL;
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
    char size[CLI_QUANTITY];
    if (e || !plan.bytes) cli_die(where, CLI_SEE_PLAN, "out of memory");
    cli_die(where, CLI_SEE_PLAN, "out of memory: the filter needs %s",
            cli_size_text(plan.bytes, size));
}

umbel_filter *cli_filter_create(const cli_filter_params *p, const cli_settings *s) {
    umbel_opts opts = cli_opts_of(s);
    opts.secret = NULL; /* that of a new filter is among its parameters */
    umbel_diag diag = {0};
    umbel_filter *f = NULL;
    umbel_params native = cli_native_params(p);
    umbel_foreign foreign = cli_foreign_params(p);
    umbel_err e = cli_is_foreign(p) ? umbel_create_foreign(&foreign, &opts, &f, &diag)
                                    : umbel_create(&native, &opts, &f, &diag);
    if (e == UMBEL_ENOMEM) cli_die_memory(s->command->name, p);
    if (e) cli_die_err(s->command->name, e, &diag, e == UMBEL_EINVAL ? CLI_SEE_PLAN : NULL);
    umbel_info info;
    umbel_describe(f, &info);
    if (cli_is_foreign(p) && p->kind != UMBEL_KIND_AUTO && p->kind != info.kind) {
        cli_die("--kind", "leave it out", "%s filters are %s", umbel_format_name(p->format),
                umbel_kind_name(info.kind));
    }
    return f;
}

static void refuse_as_input(const struct stat *out, const char *output, const char *const *files,
                            int nfiles) {
    struct stat in;
    if (!S_ISREG(out->st_mode)) return;
    for (int i = 0; i < nfiles || (i == 0 && nfiles == 0); i++) {
        bool standard = nfiles == 0 || strcmp(files[i], "-") == 0;
        if ((standard ? fstat(STDIN_FILENO, &in) : stat(files[i], &in)) != 0) continue;
        if (in.st_dev == out->st_dev && in.st_ino == out->st_ino) {
            cli_die(standard ? "standard input" : files[i], NULL, "is the output as well: %s",
                    output);
        }
    }
}

void cli_refuse_as_input(const char *output, const char *const *files, int nfiles) {
    struct stat out;
    bool to_stdout = strcmp(output, "-") == 0;
    if ((to_stdout ? fstat(STDOUT_FILENO, &out) : stat(output, &out)) != 0) return;
    refuse_as_input(&out, to_stdout ? "standard output" : output, files, nfiles);
}

void cli_filter_check_output(const cli_settings *s) {
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
    refuse_directory(s->output);
    if (s->secret_file) cli_refuse_as_input(s->output, (const char *const[]){s->secret_file}, 1);
    if (!s->force && access(s->output, F_OK) == 0) {
        cli_die(s->output, "-f overwrites it", "already exists");
    }
    char *copy = cli_strndup(s->output, strlen(s->output));
    const char *dir = dirname(copy);
    if (access(dir, W_OK | X_OK) != 0) cli_die_sys(s->output, errno);
    free(copy);
}

void cli_filter_take_output(const cli_settings *s) {
    cli_update_lock(s->output, s);
    if (!s->force && strcmp(s->output, "-") != 0 && access(s->output, F_OK) == 0) {
        cli_die(s->output, "-f overwrites it", "another command has just made it");
    }
}

void cli_filter_save(const umbel_filter *f, umbel_format format, const char *path) {
    umbel_diag diag = {0};
    bool to_stdout = strcmp(path, "-") == 0;
    umbel_err e = to_stdout ? umbel_file_write(f, format, STDOUT_FILENO, &diag)
                            : umbel_file_save(f, format, path, &diag);
    if (e) cli_die_err(to_stdout ? "standard output" : path, e, &diag, NULL);
}

void cli_filter_save_edited(const umbel_filter *f, umbel_format format, const char *path) {
    cli_mappings_unchanged("nothing was saved");
    cli_filter_save(f, format, path);
}

/* What umbel_key_rule cannot express; the help of `umbel build` names them. */
static const char meta_csv[] = "key.csv", meta_column[] = "key.column",
                  meta_delimiter[] = "key.delimiter", meta_missing[] = "key.missing";

/* -k, -t, --csv, --header and --missing-empty. */
static void merge_field(cli_key_rule *rule, const cli_settings *s) {
    umbel_key_rule *t = &rule->recorded;
    if (s->field_name && !s->header) {
        cli_die("-k", "--header finds a column by its name", "'%s' is not a number", s->field_name);
    }
    if (s->field || s->field_name) {
        t->field = s->field;
        t->delimiter = 0;
        rule->column = s->field_name;
        rule->csv = false;
    }
    rule->csv |= s->csv;
    rule->header = s->header;
    rule->missing_empty |= s->missing_empty;
    if (t->field || rule->column) return;
    if (s->delimiter) cli_die("-t", "-k N selects one", "no field is selected");
    if (s->csv) cli_die("--csv", "-k N selects one", "no field is selected");
    if (s->missing_empty) cli_die("--missing-empty", "-k N selects one", "no field is selected");
}

static void merge_given(cli_key_rule *rule, const cli_settings *s) {
    umbel_key_rule *t = &rule->recorded;
    merge_field(rule, s);
    if (s->delimiter) t->delimiter = s->delimiter;
    t->trim |= s->trim;
    t->lower |= s->lower;
    t->upper |= s->upper;
    if (t->lower && t->upper) {
        cli_die(s->command->name, "the filter's own setting is applied automatically",
                "--lower and --upper contradict each other");
    }
}

cli_key_rule cli_key_rule_given(const cli_settings *s) {
    cli_key_rule t = {.crlf = s->crlf, .type = s->type};
    merge_given(&t, s);
    t.crlf |= t.csv; /* lines of CSV end so */
    return t;
}

cli_key_rule cli_key_rule_of(const umbel_filter *f, const cli_settings *s) {
    cli_key_rule t = {.crlf = s->crlf, .type = s->type};
    umbel_get_key_rule(f, &t.recorded);
    const char *csv = umbel_get_meta(f, meta_csv), *missing = umbel_get_meta(f, meta_missing);
    t.column = umbel_get_meta(f, meta_column);
    const char *delimiter = umbel_get_meta(f, meta_delimiter);
    if (t.column && delimiter) t.recorded.delimiter = (uint8_t)*delimiter;
    t.csv = csv && strcmp(csv, "yes") == 0;
    t.missing_empty = missing && strcmp(missing, "empty") == 0;
    merge_given(&t, s);
    t.crlf |= t.csv;
    return t;
}

bool cli_changes_keys(const umbel_filter *f) {
    umbel_key_rule t;
    umbel_get_key_rule(f, &t);
    return t.field || t.trim || t.lower || t.upper || umbel_get_meta(f, meta_column);
}

void cli_filter_set_meta(umbel_filter *f, const cli_settings *s, const cli_key_rule *rule) {
    umbel_diag diag = {0};
    /* The stored rule has a delimiter only beside the number of a field. */
    umbel_key_rule stored = rule->recorded;
    char delimiter[2] = {(char)stored.delimiter, '\0'};
    if (!stored.field) stored.delimiter = 0;
    umbel_err e = umbel_set_key_rule(f, &stored, &diag);
    if (!e && !stored.field && *delimiter) {
        e = umbel_set_meta(f, meta_delimiter, delimiter, &diag);
    }
    if (!e && rule->csv) e = umbel_set_meta(f, meta_csv, "yes", &diag);
    if (!e && rule->column) e = umbel_set_meta(f, meta_column, rule->column, &diag);
    if (!e && rule->missing_empty) e = umbel_set_meta(f, meta_missing, "empty", &diag);
    if (e) cli_die_err(s->command->name, e, &diag, NULL);
    for (size_t i = 0; i < s->meta.count; i += 2) {
        e = umbel_set_meta(f, s->meta.at[i], s->meta.at[i + 1], &diag);
        if (e) cli_die_err("--meta", e, &diag, NULL);
    }
}
