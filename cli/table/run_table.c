/* SPDX-License-Identifier: MIT
 *
 * run_table.c - umbel table: one file or several, listed, asked or extracted
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/output.h"
#include "base/safe_text.h"
#include "filter/filter_file.h"
#include "options/filter_options.h"
#include "options/programs.h"
#include "table/database_report.h"
#include "table/table_report.h"

/* "tk tokenbf_v1(256, 2, 0)": a name, then the definition; *name stays NULL without one. */
static const char *split_index(const char *text, char **name) {
    size_t len = strcspn(text, " (");
    const char *rest = text + len + strspn(text + len, " ");
    if (text[len] != ' ' || *rest == '(' || *rest == '\0') return text;
    *name = cli_strndup(text, len);
    return rest;
}

/* NULL, with *e and *diag, if it cannot be read. */
static umbel_table *try_table(const char *path, const cli_settings *s, umbel_err *e,
                              umbel_diag *diag) {
    char *name = NULL;
    umbel_table *t = NULL;
    umbel_table_hints hints = {.type = s->column_type,
                               .columns = s->columns,
                               .index = s->index ? split_index(s->index, &name) : NULL};
    hints.name = name;
    umbel_opts opts = cli_opts_of(s);
    *e = umbel_table_open(path, &hints, &opts, &t, diag);
    free(name);
    return t;
}

static umbel_table *open_table(const char *path, const cli_settings *s) {
    umbel_diag diag = {0};
    umbel_err e;
    umbel_table *t = try_table(path, s, &e, &diag);
    if (e) {
        bool index = e == UMBEL_EINVAL && strcmp(diag.field, "index") == 0;
        bool several = e == UMBEL_EINVAL && strcmp(diag.field, "name") == 0;
        cli_die_err(path, e, &diag,
                    index     ? "give it with --index"
                    : several ? "put the name before the definition: --index 'NAME DEFINITION'"
                              : NULL);
    }
    return t;
}

/* Reports damage on standard error and in the JSON, unless r is NULL; returns the number of faults.
 */
static size_t report_faults(const umbel_table *t, const char *path, cli_report *r) {
    umbel_diag fault;
    char text[64];
    size_t count = 0;
    json_t *list = json_array();
    for (umbel_err e; (e = umbel_table_fault(t, count, &fault)); count++) {
        cli_error(path, NULL, "byte %" PRIu64 ": %s", fault.offset, fault.what);
        json_t *o = json_object();
        json_object_set_new(o, "offset", cli_json_count(fault.offset));
        json_object_set_new(o, "error", json_string(umbel_explain(e, NULL, text, sizeof text)));
        json_object_set_new(o, "what", json_string(fault.what));
        json_array_append_new(list, o);
    }
    if (r) cli_report_json(r, "faults", list);
    if (!r) json_decref(list);
    return count;
}

static int list(const umbel_table *t, const char *path, const cli_settings *s) {
    cli_report r = cli_report_begin(s->json);
    umbel_table_system system = umbel_table_system_of(t);
    cli_places p = cli_table_places(t, s->column);
    if (s->column && !p.count) cli_die("--column", NULL, "unknown column '%s'", s->column);
    cli_report_text(&r, "file", "file", path);
    cli_report_text(&r, "system", "system", umbel_table_system_name(system));
    size_t faults = report_faults(t, path, &r);
    cli_table_report_facts(t, &r);
    cli_table_report_advise(&p, system, s->fpr > 0 ? s->fpr : CLI_DEFAULT_FPR, &r);
    cli_table_report_print(&p, system, &r);
    if (!s->json && (s->plot || isatty(STDOUT_FILENO))) cli_table_report_draw(&p, stdout);
    cli_report_end(&r);
    free(p.at);
    return faults ? CLI_ERROR : CLI_YES;
}

static void print_answer(const umbel_table *t, const umbel_table_answer *answer, const uint8_t *may,
                         cli_report *r) {
    json_t *places = json_array();
    for (size_t i = 0; i < umbel_table_count(t); i++) {
        char text[160];
        umbel_table_place p;
        if (!may[i]) continue;
        umbel_table_place_of(t, i, &p);
        cli_table_place_text(&p, umbel_table_system_of(t), text, sizeof text);
        json_array_append_new(places, json_integer((json_int_t)i));
        if (r->object) continue;
        cli_put_safe(text, r->to);
        fputc('\n', r->to);
    }
    cli_report_json(r, "may_hold", places);
    if (answer->has_block) {
        cli_report_count(r, NULL, "block_offset", answer->block);
        cli_report_count(r, NULL, "block_bytes", answer->len);
        if (!r->object) {
            fprintf(r->to, "block at %" PRIu64 ", %" PRIu64 " bytes\n", answer->block, answer->len);
        }
    }
}

/* The answer for one file; may[i] is 1 for each place that may hold the key. */
static umbel_table_answer ask(const umbel_table *t, const cli_settings *s, uint8_t *may) {
    size_t len = strlen(s->check), cap = (len > 32 ? len : 32) + 1, key_len = 0;
    uint8_t *key = cli_alloc(cap);
    umbel_diag diag = {0};
    umbel_table_answer answer;
    umbel_err e =
        umbel_table_key(t, s->column, s->column_type, s->check, len, key, cap, &key_len, &diag);
    if (e) cli_die_err("--check", e, &diag, NULL);
    e = umbel_table_check(t, s->column, key, key_len, may, &answer, &diag);
    if (e) cli_die_err("--check", e, &diag, NULL);
    free(key);
    return answer;
}

static int check(const umbel_table *t, const char *path, const cli_settings *s) {
    uint8_t *may = cli_alloc(umbel_table_count(t) + 1);
    umbel_table_answer answer = ask(t, s, may);
    cli_report r = cli_report_begin(s->json);
    report_faults(t, path, &r);
    cli_report_flag(&r, NULL, "may_contain", answer.may_contain);
    if (s->json || !s->quiet) print_answer(t, &answer, may, &r);
    cli_report_end(&r);
    free(may);
    return answer.may_contain ? CLI_YES : CLI_NO;
}

/* ---- One filter into a file ---- */

static int extract(const umbel_table *t, const cli_settings *s) {
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    if (!s->output) cli_die("--filter", NULL, "needs -o OUT");
    if (s->filter >= umbel_table_count(t)) {
        cli_die("--filter", NULL, "there are %zu places, counted from 0", umbel_table_count(t));
    }
    cli_filter_claim_output(s);
    umbel_err e = umbel_table_filter(t, (size_t)s->filter, &f, &diag);
    if (e) cli_die_err("--filter", e, &diag, NULL);
    cli_filter_save(f, UMBEL_FMT_ANY, s->output);
    cli_summary(f, s, NULL);
    umbel_free(f);
    return CLI_YES;
}

/* ---- Several files: a database ---- */

/* Adds a file to the sums; false if it is damaged or cannot be read. */
static bool add_file(const char *path, const cli_settings *s, cli_report *r,
                     cli_database *database) {
    umbel_diag diag = {0};
    umbel_err e;
    umbel_table *t = try_table(path, s, &e, &diag);
    if (e) {
        char why[256];
        cli_error(path, NULL, "%s", umbel_explain(e, &diag, why, sizeof why));
        return false;
    }
    if (s->check) {
        uint8_t *may = cli_alloc(umbel_table_count(t) + 1);
        cli_database_answer(database, path, ask(t, s, may).may_contain, r);
        free(may);
    } else {
        cli_places p = cli_table_places(t, s->column);
        cli_database_add(database, path, &p, r);
        free(p.at);
    }
    size_t faults = report_faults(t, path, NULL);
    umbel_table_close(t);
    return faults == 0;
}

static int many(const cli_files *files, const cli_settings *s) {
    cli_report r = cli_report_begin(s->json);
    cli_database database = cli_database_begin(s->check && s->quiet);
    bool sound = true;
    for (size_t i = 0; i < files->count; i++) {
        sound &= add_file(files->at[i], s, &r, &database);
    }
    cli_database_end(&database, s->check != NULL, &r);
    cli_report_end(&r);
    return s->check ? database.may ? CLI_YES
                      : sound      ? CLI_NO
                                   : CLI_ERROR
           : sound  ? CLI_YES
                    : CLI_ERROR;
}

static int one(const char *path, const cli_settings *s) {
    umbel_table *t = open_table(path, s);
    int status = s->given[OPT_FILTER] ? extract(t, s)
                 : s->check           ? check(t, path, s)
                                      : list(t, path, s);
    umbel_table_close(t);
    return status;
}

static int run(const cli_settings *s) {
    cli_expect_args(s, 1, INT_MAX);
    cli_files files = cli_database_files(s->args, s->nargs, s->index != NULL);
    if (s->output && !s->given[OPT_FILTER]) cli_die("-o", NULL, "needs --filter N");
    if (files.count != 1 && s->given[OPT_FILTER]) cli_die("--filter", NULL, "takes one file");
    int status = files.count == 1 ? one(files.at[0], s) : many(&files, s);
    cli_files_free(&files);
    return status;
}

int cli_run_table(const cli_settings *s) {
    return cli_report_run(run, s);
}
