/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* opendir */
#include "table/database_report.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/safe_text.h"
#include "base/tally.h"
#include "base/wrap.h"
#include "umbel_text.h"

/* ---- Files ---- */

static void add_file(cli_files *files, char *path) {
    if (files->count == files->cap) {
        files->cap = files->cap ? 2 * files->cap : 16;
        char **larger = cli_alloc(files->cap * sizeof *larger);
        if (files->count) memcpy(larger, files->at, files->count * sizeof *larger);
        free(files->at);
        files->at = larger;
    }
    files->at[files->count++] = path;
}

static bool is_table(const char *name) {
    size_t len = strlen(name);
    return len > 4 && (strcmp(name + len - 4, ".sst") == 0 || strcmp(name + len - 4, ".ldb") == 0);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns whether there are any. */
static bool add_tables_of(cli_files *files, const char *folder) {
    size_t first = files->count;
    DIR *dir = opendir(folder);
    if (!dir) return false;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!is_table(entry->d_name)) continue;
        size_t len = strlen(folder) + strlen(entry->d_name) + 2;
        char *path = cli_alloc(len);
        snprintf(path, len, "%s/%s", folder, entry->d_name);
        add_file(files, path);
    }
    closedir(dir);
    if (files->count > first) {
        qsort(files->at + first, files->count - first, sizeof *files->at, by_name);
    }
    return files->count > first;
}

cli_files cli_database_files(const char *const *args, int nargs, bool parts) {
    cli_files files = {0};
    for (int i = 0; i < nargs; i++) {
        if (parts || !add_tables_of(&files, args[i]))
            add_file(&files, cli_strndup(args[i], strlen(args[i])));
    }
    return files;
}

void cli_files_free(cli_files *files) {
    for (size_t i = 0; i < files->count; i++) free(files->at[i]);
    free(files->at);
}

/* ---- Lines ---- */

cli_database cli_database_begin(bool silent) {
    return (cli_database){.silent = silent, .list = json_array()};
}

static double per_key(uint64_t bytes, uint64_t keys) {
    return keys ? 8 * (double)bytes / (double)keys : 0;
}

void cli_database_add(cli_database *d, const char *path, const cli_places *p, cli_report *r) {
    char keys[UMBEL_QUANTITY], size[UMBEL_QUANTITY], rate[UMBEL_QUANTITY];
    d->files++;
    d->filters += p->filters;
    d->keys += p->keys;
    d->bytes += p->bytes;
    d->rate += p->rate * (double)p->filters;
    d->rates_max = fmax(d->rates_max, p->rate);
    if (r->object) {
        json_t *o = json_object();
        json_object_set_new(o, "file", cli_json_text(path));
        json_object_set_new(o, "filters", cli_json_count(p->filters));
        json_object_set_new(o, "keys", p->keys ? cli_json_count(p->keys) : json_null());
        json_object_set_new(o, "bytes", cli_json_count(p->bytes));
        json_object_set_new(o, "bits_per_key", cli_json_real(per_key(p->bytes, p->keys)));
        json_object_set_new(o, "fill", cli_json_real(p->fill));
        json_object_set_new(o, "fpr_now", p->filters ? cli_json_real(p->rate) : json_null());
        json_array_append_new(d->list, o);
        return;
    }
    bool narrow = cli_width(r->to) < 80; /* room for the rate and a name */
    if (!d->headed && narrow) {
        fprintf(r->to, "%9s  %s\n", "live rate", "file");
    } else if (!d->headed) {
        fprintf(r->to, "%8s %14s %10s %6s %7s %12s  %s\n", "filters", "keys", "size", "b/key",
                "fill", "live rate", "file");
    }
    d->headed = true;
    if (narrow) {
        cli_print_safe(r->to, "%9s  %s", p->filters ? cli_narrow_rate(p->rate, rate) : "-", path);
        fputc('\n', r->to);
        return;
    }
    cli_print_safe(r->to, "%8zu %14s %10s %6.2f %6.1f%% %12s  %s", p->filters,
                   p->keys ? umbel_count_text(p->keys, keys) : "-", umbel_size_text(p->bytes, size),
                   per_key(p->bytes, p->keys), 100 * p->fill,
                   p->filters ? umbel_rate_text(p->rate, rate) : "-", path);
    fputc('\n', r->to);
}

void cli_database_answer(cli_database *d, const char *path, bool may, cli_report *r) {
    d->files++;
    d->may += may;
    if (!may) return;
    json_t *o = json_object();
    json_object_set_new(o, "file", cli_json_text(path));
    json_array_append_new(d->list, o);
    if (r->object || d->silent) return;
    if (isatty(fileno(r->to))) { /* as ls does: for programs, names are data */
        cli_put_safe(path, r->to);
    } else {
        fputs(path, r->to);
    }
    fputc('\n', r->to);
}

void cli_database_end(cli_database *d, bool check, cli_report *r) {
    if (check) {
        cli_report_flag(r, NULL, "may_contain", d->may > 0);
        cli_report_count(r, NULL, "files_read", d->files);
        cli_report_json(r, "files", d->list);
        return;
    }
    if (!r->object) fputc('\n', r->to);
    cli_report_count(r, "files", "files_read", d->files);
    cli_report_count(r, "filters", "filters", d->filters);
    cli_report_size(r, "bytes of filters", "bytes", d->bytes);
    if (d->keys) {
        cli_report_count(r, "keys", "keys", d->keys);
        cli_report_real(r, "bits per key", "bits_per_key", per_key(d->bytes, d->keys), 2);
    }
    if (d->filters) {
        cli_report_rate(r, "mean live rate", "fpr_now", d->rate / (double)d->filters);
        cli_report_rate(r, "worst file", "fpr_worst", d->rates_max);
    }
    cli_report_json(r, "files", d->list);
}
