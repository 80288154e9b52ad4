/* SPDX-License-Identifier: MIT */
#include "make/good_keys.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/safe_text.h"
#include "umbel_delta.h"
#include "umbel_lookup.h"
#include "umbel_never.h"
#include "umbel_text.h"

static void need(umbel_err e, const umbel_diag *diag) {
    if (e) cli_die_err("good keys", e, diag, NULL);
}

void cli_limit_hashes(const cli_settings *s, uint64_t keys) {
    char most[UMBEL_QUANTITY];
    if (!s->max_memory || s->tmp || keys <= s->max_memory / 8) return;
    cli_die("build", "--tmp DIR keeps them in a file",
            "more than %s keys, at 8 bytes each, exceed --max-memory",
            umbel_count_text(s->max_memory / 8, most));
}

typedef struct asking {
    umbel_builder *builder; /* the keys are told to this ... */
    umbel_delta *delta;     /* ... or to this ... */
    umbel_never *never;     /* ... or to this; the others are NULL */
    const umbel_recipe *recipe;
    const cli_settings *s;
    uint64_t told; /* to the builder */
} asking;

static void ask(asking *a, const umbel_key *keys, size_t n) {
    umbel_diag diag = {0};
    if (a->builder) cli_limit_hashes(a->s, a->told += n);
    need(a->builder ? umbel_builder_never_lookups(a->builder, a->recipe, keys, n, &diag)
         : a->delta ? umbel_delta_never(a->delta, keys, n, &diag)
                    : umbel_never_lookups(a->never, a->recipe, keys, n, &diag),
         &diag);
}

static void ask_lines(void *ctx, cli_batch *b) {
    ask(ctx, b->keys, b->lines);
}

/* ---- block lists -------------------------------------------------------------------------- */

enum { FORMS = UMBEL_DOMAIN_UNKNOWN + 1, SHOWN = 3, SHOWN_LEN = 80 };

typedef struct forms {
    asking *asking; /* for exceptions */
    uint64_t count[FORMS];
    char unknown[SHOWN][SHOWN_LEN + 1]; /* the first of them */
    size_t shown;
} forms;

static void except(const forms *f, umbel_key name) {
    uint8_t scratch[1024], state;
    if (name.len > sizeof scratch / 4) return;
    if (umbel_recipe_apply(f->asking->recipe, UMBEL_USE_KEY, &name, 1, scratch, &state) == 1) {
        ask(f->asking, &name, 1);
    }
}

static void count_forms(void *ctx, cli_batch *b) {
    forms *f = ctx;
    for (size_t i = 0; i < b->lines; i++) {
        const uint8_t *line = b->text + b->starts[i];
        size_t len = b->ends[i] - b->starts[i];
        umbel_key name;
        umbel_domain_form form = umbel_domain_entry(line, len, &name);
        f->count[form]++;
        if (form == UMBEL_DOMAIN_EXCEPTION) except(f, name);
        if (form != UMBEL_DOMAIN_UNKNOWN || f->shown == SHOWN) continue;
        memcpy(f->unknown[f->shown++], line, len < SHOWN_LEN ? len : SHOWN_LEN);
    }
}

static void say_forms(const forms *f) {
    static const char *const names[FORMS] = {
        "",        "plain",          "hosts",      "adblock",       "RPZ",
        "dnsmasq", "URL (its host)", "exceptions", "not understood"};
    char count[UMBEL_QUANTITY];
    const char *comma = "";
    fputs("umbel: lines: ", stderr);
    for (size_t i = 1; i < FORMS; i++) {
        if (!f->count[i]) continue;
        fprintf(stderr, "%s%s %s", comma, umbel_count_text(f->count[i], count), names[i]);
        comma = ", ";
    }
    fputs("\n", stderr);
    for (size_t i = 0; i < f->shown; i++) {
        cli_print_safe(stderr, "umbel: not understood: %s", f->unknown[i]);
        fputc('\n', stderr);
    }
}

/* Reads the list an extra time, which a pipe does not allow. */
static void read_list(const cli_settings *s, const cli_feed *feed, asking *a) {
    forms f = {.asking = a};
    if (cli_feed_once(feed)) {
        cli_warn("exceptions_unread", "--domains",
                 "a pipe is read once: any exceptions (@@) in it have no effect");
        return;
    }
    cli_feed own = *feed;
    own.nrecipes = 0; /* whole lines, comments too */
    own.skips_missing = false;
    own.quiet = true;
    own.never = NULL;
    own.activity = NULL;
    cli_job job = {NULL, count_forms, &f};
    cli_pipeline(&own, &job);
    if (!s->quiet) say_forms(&f);
}

/* ---- --never --------------------------------------------------------------------------------- */

static void read_never(const cli_settings *s, const cli_feed *feed, asking *a) {
    if (!s->never.count) return;
    cli_feed own = *feed;
    own.files = s->never.at;
    own.nfiles = (int)s->never.count;
    own.given = NULL;
    own.never = NULL;
    own.activity = s->quiet ? NULL : "reading good keys";
    cli_job job = {NULL, ask_lines, a};
    cli_pipeline(&own, &job);
}

/* ---- all of it ---------------------------------------------------------------------------- */

cli_good_keys cli_good_keys_read(const cli_settings *s, const cli_filter_params *params,
                                 const cli_feed *feed, umbel_builder *builder) {
    cli_good_keys good = {0};
    umbel_diag diag = {0};
    bool list = strcmp(umbel_recipe_text(feed->recipes[0]), "domain") == 0;
    if (!list && !s->never.count) return good;
    if (cli_is_foreign(params)) {
        if (s->never.count) cli_die("--never", NULL, "only native filters have exceptions");
        return good;
    }
    umbel_params native = cli_native_params(params);
    umbel_opts opts = {.secret = s->secret};
    if (!builder) need(umbel_never_new(&native, &opts, &good.never, &diag), &diag);
    good.domains = list;
    asking a = {builder, NULL, good.never, feed->recipes[0], s, 0};
    if (list) read_list(s, feed, &a);
    read_never(s, feed, &a);
    good.told = a.told;
    return good;
}

void cli_good_keys_guard(const cli_settings *s, umbel_delta *delta, const cli_feed *feed) {
    asking a = {NULL, delta, NULL, feed->recipes[0], s, 0};
    if (strcmp(umbel_recipe_text(a.recipe), "domain") == 0) read_list(s, feed, &a);
    read_never(s, feed, &a);
}

static void say_exceptions(const cli_good_keys *good, const umbel_build_report *r) {
    char asked[UMBEL_QUANTITY], found[UMBEL_QUANTITY];
    fprintf(stderr, "umbel: good %s: %s asked, %s exception%s\n", good->domains ? "names" : "keys",
            umbel_count_text(r->never, asked), umbel_count_text(r->exceptions, found),
            r->exceptions == 1 ? "" : "s");
    if (good->domains) {
        fputs("umbel: good names: other names below them may be caught at the list's rate; "
              "give those that matter, too (www.NAME)\n",
              stderr);
    }
}

void cli_good_keys_report(const cli_good_keys *good, const umbel_build_report *r,
                          const umbel_filter *f, const cli_settings *s) {
    char found[UMBEL_QUANTITY];
    umbel_info info;
    umbel_describe(f, &info);
    bool has_list = info.kind != UMBEL_KIND_EXACT; /* that needs no exceptions */
    if (r->never && has_list && !s->quiet) say_exceptions(good, r);
    if (!r->members) return;
    umbel_count_text(r->members, found);
    if (good->domains) {
        cli_warn("listed_as_well", "good names",
                 "listed as well, or below a listed name: %s; listed names win", found);
    } else {
        cli_warn("listed_as_well", "good keys", "listed as well: %s; they are found", found);
    }
}

void cli_good_keys_finish(cli_good_keys *good, umbel_filter *f, const cli_settings *s) {
    umbel_build_report report = {0};
    umbel_diag diag = {0};
    if (!good->never) return;
    need(umbel_never_finish(good->never, f, &report, &diag), &diag);
    umbel_never_free(good->never);
    good->never = NULL;
    cli_good_keys_report(good, &report, f, s);
}

int cli_good_keys_status(const umbel_filter *f, const char *name, uint64_t before, int status) {
    umbel_info info;
    char lost[UMBEL_QUANTITY];
    umbel_describe(f, &info);
    if (info.exceptions >= before) return status;
    cli_warn("exceptions_dropped", name,
             "exceptions dropped: %s; keys of --never may be found again: rebuild it with them",
             umbel_count_text(before - info.exceptions, lost));
    return CLI_INCOMPLETE;
}
