/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "check/check_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/safe_text.h"
#include "filter/mapped_guard.h"
#include "report/report.h"

/* In place of a count: the lines could not be looked up. */
static const size_t no_answer = SIZE_MAX;

typedef struct guarded_batch {
    const cli_check *check;
    cli_batch *batch;
} guarded_batch;

static void look_up_guarded(void *ctx) {
    const guarded_batch *g = ctx;
    cli_lookup_batch(&g->check->lookup, g->batch);
}

static void look_up(void *ctx, cli_batch *b) {
    cli_check *c = ctx;
    guarded_batch g = {c, b};
    if (c->follow) cli_follow_begin(c->follow, &c->lookup);
    if (!cli_guarded(look_up_guarded, &g) || cli_lookup_damaged(&c->lookup, NULL)) {
        b->lines = no_answer;
    }
    if (c->follow) cli_follow_end(c->follow);
}

/* Called in turn, when everything looked up before has been shown. */
static _Noreturn void end_without_answer(cli_check *c) {
    if (c->out.used) cli_output_flush(&c->out);
    cli_need_undamaged(&c->lookup);
    cli_die(c->s->args[0], "replace filters, do not overwrite them", "%sshrank while it was read",
            c->lookup.count > 1 ? "or one of --also " : "");
}

/* ---- Lines -------------------------------------------------------------------------------- */

static void put(cli_check *c, const char *text) {
    cli_output_write(&c->out, text, strlen(text));
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether filter j has line i. */
static bool has_line(const cli_check *c, const cli_batch *b, size_t i, size_t j) {
    return c->lookup.count == 1 ? b->hits[i] : (b->hashes[i] >> j) & 1;
}

/* Follows the column of --mark: what separates the fields of the table. */
static const char *mark_separator(const cli_check *c) {
    static char given[2];
    bool csv = umbel_recipe_traits(c->lookup.recipes[0]) & UMBEL_RECIPE_CSV;
    if (c->s->delimiter) given[0] = (char)c->s->delimiter;
    return c->s->delimiter ? given : csv ? "," : "\t";
}

static void print_line(cli_check *c, const cli_batch *b, size_t i) {
    if (c->s->with_filename) {
        put(c, b->block.name);
        put(c, ":");
    }
    if (c->s->line_number) {
        char number[24];
        snprintf(number, sizeof number, "%" PRIu64 ":", b->first + b->numbers[i]);
        put(c, number);
    }
    if (c->show == SHOW_MARK) {
        put(c, b->hits[i] ? "yes" : "no");
        put(c, mark_separator(c));
    }
    if (c->show == SHOW_ANNOTATED) {
        const char *comma = "";
        for (size_t j = 0; j < c->lookup.count; j++) {
            if (!has_line(c, b, i, j)) continue;
            put(c, comma);
            put(c, base_name(c->lookup.at[j].name));
            comma = ",";
        }
        put(c, "\t");
    }
    if (c->show == SHOW_KEYS) {
        cli_output_write(&c->out, b->keys[i].data, b->keys[i].len);
        cli_output_write(&c->out, &c->feed->sep, 1);
        return;
    }
    cli_output_write(&c->out, b->text + b->starts[i], b->ends[i] + 1 - b->starts[i]);
}

/* --ask: what was typed is not shown, so each filter's answer is put in words. */
static void print_verdicts(cli_check *c, const cli_batch *b) {
    if (!b->keys[0].data) return;
    c->matches += b->hits[0];
    for (size_t j = 0; j < c->lookup.count && c->show == SHOW_LINES; j++) {
        cli_put_safe(c->lookup.at[j].name, stdout);
        fputs(has_line(c, b, 0, j) ? ": probably in it\n" : ": certainly not in it\n", stdout);
    }
    cli_output_finish_stdio();
}

static void put_json(cli_check *c, json_t *o) {
    char *out = json_dumps(o, 0);
    if (!out) cli_die(NULL, NULL, "out of memory");
    put(c, out);
    put(c, "\n");
    free(out);
    json_decref(o);
}

static void print_json(cli_check *c, const cli_batch *b, size_t i) {
    const char *line = (const char *)b->text + b->starts[i];
    json_t *names = json_array(), *o = json_object();
    for (size_t j = 0; j < c->lookup.count; j++) {
        if (has_line(c, b, i, j)) json_array_append_new(names, cli_json_text(c->lookup.at[j].name));
    }
    if (c->s->with_filename) json_object_set_new(o, "file", cli_json_text(b->block.name));
    if (c->s->line_number) {
        json_object_set_new(o, "number", cli_json_count(b->first + b->numbers[i]));
    }
    json_object_set_new(o, "line", cli_json_bytes(line, b->ends[i] - b->starts[i]));
    json_object_set_new(o, "filters", names);
    put_json(c, o);
}

/* The column of --mark gets a name. */
static void print_header(cli_check *c, const cli_batch *b) {
    if (c->json || !b->header.data) return;
    if (c->show != SHOW_LINES && c->show != SHOW_MARK) return;
    if (c->s->with_filename || c->s->line_number) return; /* no longer a table */
    if (c->show == SHOW_MARK && !c->header.text) {
        put(c, "found");
        put(c, mark_separator(c));
    }
    cli_output_header(&c->out, b, &c->header);
}

/* ---- Counts ------------------------------------------------------------------------------- */

static void print_count(cli_check *c, const char *file, uint64_t lines, uint64_t matches) {
    char text[32];
    if (c->s->json) {
        if (!file) return; /* the report has it */
        json_t *o = json_object();
        json_object_set_new(o, "file", cli_json_text(file));
        json_object_set_new(o, "lines", cli_json_count(lines));
        json_object_set_new(o, "selected", cli_json_count(matches));
        if (!c->counts) c->counts = json_array();
        json_array_append_new(c->counts, o);
        return;
    }
    snprintf(text, sizeof text, "%" PRIu64 "\n", matches);
    if (file) {
        put(c, file);
        put(c, ":");
    }
    put(c, text);
}

static bool is_empty_file(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

/* Everything that is reported about a file. */
static void print_file(cli_check *c, const char *file, uint64_t lines, uint64_t matches) {
    if (c->show == SHOW_COUNT) {
        print_count(c, file, lines, matches);
    } else if ((c->show == SHOW_FILES) == (matches > 0)) {
        put(c, file);
        put(c, "\n");
    }
}

/* For the file that has ended, and for files without lines up to the one with this name (NULL: to
 * the end). */
static void end_files_until(cli_check *c, const char *name) {
    if (c->file) print_file(c, c->file, c->file_lines, c->file_matches);
    c->file = name;
    c->file_lines = c->file_matches = 0;
    if (name && strcmp(name, "-e") == 0) return;
    for (; c->files_begun < c->feed->nfiles; c->files_begun++) {
        const char *file = c->feed->files[c->files_begun];
        const char *shown = strcmp(file, "-") == 0 ? "standard input" : file;
        if (name && strcmp(shown, name) == 0) {
            c->files_begun++;
            return;
        }
        if (is_empty_file(file)) print_file(c, shown, 0, 0);
    }
}

/* Prints the batch's selected lines one by one; with --max-count, at most that many of each file.
 */
static void print_each(cli_check *c, const cli_batch *b) {
    uint64_t most = c->s->max_count ? c->s->max_count : UINT64_MAX;
    if (b->block.begins) c->shown = 0;
    for (size_t i = 0; i < b->lines; i++) {
        bool selected = b->hits[i] == !c->invert;
        if ((!selected && c->show != SHOW_MARK) || c->shown == most) continue;
        c->matches += selected;
        c->file_matches += selected;
        c->shown++;
        if (c->show == SHOW_STATUS && !c->s->json)
            _exit(CLI_YES); /* without cleaning up: other threads may be waiting for a slow pipe */
        if (!cli_check_prints(c->s)) continue;
        if (c->json) {
            print_json(c, b, i);
        } else {
            print_line(c, b, i);
        }
    }
    c->enough = c->shown == most && c->feed->nfiles <= 1;
}

static void show(void *ctx, cli_batch *b) {
    cli_check *c = ctx;
    if (b->lines == no_answer) end_without_answer(c);
    if (c->s->mode[GROUP_INPUT] == INPUT_ASKED) {
        print_verdicts(c, b);
        return;
    }
    if (c->per_file && b->block.begins) end_files_until(c, b->block.begins);
    print_header(c, b);
    if (c->show == SHOW_LINES && !c->json && !c->s->line_number && !c->s->with_filename &&
        !c->s->max_count) {
        c->matches += cli_output_lines(&c->out, b, !c->invert);
        return;
    }
    if (!c->enough) print_each(c, b);
    c->file_lines += b->lines;
    if (b->idle || c->enough) cli_output_flush(&c->out);
}

bool cli_check_prints(const cli_settings *s) {
    cli_mode shows = s->mode[GROUP_SHOW];
    return shows <= SHOW_ANNOTATED;
}

bool cli_check_per_file(const cli_settings *s) {
    cli_mode shows = s->mode[GROUP_SHOW];
    return shows == SHOW_FILES || shows == SHOW_OTHER_FILES ||
           (shows == SHOW_COUNT && s->with_filename);
}

cli_job cli_check_job(cli_check *c) {
    return (cli_job){look_up, show, c};
}

void cli_check_end(cli_check *c, const cli_lines *read) {
    if (c->per_file) {
        end_files_until(c, NULL);
    } else if (c->show == SHOW_COUNT) {
        print_count(c, NULL, read->count, c->matches);
    }
    if (c->s->json) {
        cli_report r = cli_report_begin(true);
        cli_report_lines(&r, read);
        cli_report_count(&r, NULL, "selected", c->matches);
        if (c->counts) cli_report_json(&r, "files", c->counts);
    }
    if (c->out.used) cli_output_flush(&c->out);
    free(c->out.buffer);
    free(c->header.text);
}
