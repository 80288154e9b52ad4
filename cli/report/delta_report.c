/* SPDX-License-Identifier: MIT */
#include "report/delta_report.h"

#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/safe_text.h"
#include "filter/lookup.h"
#include "umbel_delta.h"
#include "umbel_text.h"

static uint64_t file_bytes(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static json_t *delta_json(const umbel_delta_info *d) {
    json_t *o = json_object();
    json_object_set_new(o, "number", cli_json_count(d->number));
    json_object_set_new(o, "added", cli_json_count(d->added));
    json_object_set_new(o, "removed", cli_json_count(d->removed));
    json_object_set_new(o, "guarded", cli_json_count(d->guarded));
    json_object_set_new(o, "keys", cli_json_count(d->keys));
    json_object_set_new(o, "bytes", cli_json_count(d->bytes));
    json_object_set_new(o, "fpr", cli_json_real(d->fpr));
    return o;
}

/* "20,000 added, 20,000 removed, 3 good keys kept out, 73.0 KiB". */
static void print_delta(FILE *to, const umbel_delta_info *d) {
    char added[UMBEL_QUANTITY], removed[UMBEL_QUANTITY], good[UMBEL_QUANTITY], size[UMBEL_QUANTITY];
    fprintf(to, "%s added, %s removed", umbel_count_text(d->added, added),
            umbel_count_text(d->removed, removed));
    if (d->guarded) fprintf(to, ", %s good keys kept out", umbel_count_text(d->guarded, good));
    fprintf(to, ", %s\n", umbel_size_text(d->bytes, size));
}

void cli_delta_summary(const umbel_delta_info *one, const cli_settings *s) {
    if (s->json) {
        cli_report r = cli_report_begin(true);
        cli_report_json(&r, "delta", delta_json(one));
    }
    if (s->quiet) return;
    cli_print_safe(stderr, "%s: ", s->output);
    fprintf(stderr, "delta %u, ", (unsigned)one->number);
    print_delta(stderr, one);
}

static json_t *deltas_json(const umbel_delta_info *all, const char *path) {
    json_t *o = delta_json(all);
    const char *why = umbel_delta_rebase(all, file_bytes(path));
    json_object_set_new(o, "rebase", why ? json_string(why) : json_null());
    return o;
}

void cli_apply_summary(const umbel_delta_info *all, const cli_settings *s) {
    const char *path = s->args[0], *why = umbel_delta_rebase(all, file_bytes(path));
    if (s->json) {
        cli_report r = cli_report_begin(true);
        cli_report_json(&r, "deltas", deltas_json(all, path));
    }
    if (s->quiet) return;
    cli_print_safe(stderr, "%s: ", path);
    fprintf(stderr, "%u delta%s, ", (unsigned)all->number, all->number == 1 ? "" : "s");
    print_delta(stderr, all);
    if (why) cli_note(path, "time for a new base: %s", why);
}

void cli_describe_deltas(cli_report *r, const umbel_filter *f, const char *path) {
    umbel_lookup *list = NULL;
    umbel_delta_info all;
    umbel_diag diag;
    umbel_info base;
    umbel_err e = cli_list_lookup(f, path, umbel_get_recipe(f), NULL, &list, &diag);
    if (e) cli_die_err(path, e, &diag, "the deltas beside it");
    bool any = umbel_lookup_deltas(list, &all);
    umbel_lookup_free(list);
    if (!any) return;
    umbel_describe(f, &base);
    cli_report_json(r, "deltas", deltas_json(&all, path));
    cli_report_count(r, "deltas", NULL, all.number);
    cli_report_count(r, "keys added by them", NULL, all.added);
    cli_report_count(r, "keys removed", NULL, all.removed);
    if (all.guarded) cli_report_count(r, "good keys kept out", NULL, all.guarded);
    cli_report_count(r, "keys with them", NULL, all.keys);
    cli_report_size(r, "size of deltas", NULL, all.bytes);
    if (base.fpr > 0) {
        cli_report_rate(r, "rate with deltas", "fpr_with_deltas", base.fpr + all.fpr);
    }
    if (base.universe) {
        cli_report_text(r, "exact with them", NULL, "for its universe and the keys in the list");
    }
    const char *why = umbel_delta_rebase(&all, file_bytes(path));
    cli_report_text(r, "new base", NULL, why ? why : "not yet");
}
