/* SPDX-License-Identifier: MIT
 *
 * cmd_delta.c - umbel delta and umbel apply: small updates of a list
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "filter/filter_file.h"
#include "filter/filter_recipe.h"
#include "filter/lookup.h"
#include "filter/signed_file.h"
#include "make/good_keys.h"
#include "report/delta_report.h"
#include "umbel_delta.h"
#include "umbel_text.h"

/* ---- delta -------------------------------------------------------------------------------- */

static const uint8_t delta_options[] = {
    OPT_BASE,      OPT_OUTPUT,     OPT_FORCE, OPT_ADDED,        OPT_REMOVED, OPT_KEPT,
    OPT_DELTA_FPR, OPT_NEVER,      OPT_QUIET, OPT_SECRET_FILE,  OPT_JSON,    OPT_THREADS,
    OPT_LOCK_WAIT, OPT_MAX_MEMORY, OPT_HELP,  CLI_LINE_OPTIONS, OPT_END};

typedef struct change {
    const cli_settings *s;
    umbel_recipe *recipe;
    umbel_delta *delta;
    uint32_t where; /* the lines that are read are in the list */
    int status;
} change;

static void take_lines(void *ctx, cli_batch *b) {
    const change *c = ctx;
    umbel_diag diag = {0};
    umbel_err e = umbel_delta_keys(c->delta, c->where, b->keys, b->lines, &diag);
    if (e) cli_die_err(c->s->base, e, &diag, NULL);
}

static cli_feed feed_of(const change *c, const char *const *files, size_t n) {
    cli_feed feed = cli_feed_of(c->s, files, (int)n, &c->recipe);
    feed.activity = c->s->quiet ? NULL : "reading the list";
    return feed;
}

static void read_files(change *c, uint32_t where, const char *const *files, size_t n) {
    if (!n) return;
    cli_feed feed = feed_of(c, files, n);
    cli_job job = {NULL, take_lines, c};
    c->where = where;
    cli_lines read = cli_pipeline(&feed, &job);
    c->status = cli_misfits_status(&read, c->recipe, "skipped", c->status);
}

/* Both lists, or the changes. */
static void read_change(change *c) {
    const cli_settings *s = c->s;
    const uint32_t both = UMBEL_DELTA_BEFORE | UMBEL_DELTA_AFTER;
    const char *const *args = (const char *const *)s->args;
    if (s->nargs) {
        read_files(c, UMBEL_DELTA_BEFORE, args, 1);
        read_files(c, UMBEL_DELTA_AFTER, args + 1, 1);
    } else {
        read_files(c, UMBEL_DELTA_BEFORE, s->removed.at, s->removed.count);
        read_files(c, both, s->kept.at, s->kept.count);
        read_files(c, UMBEL_DELTA_AFTER, s->added.at, s->added.count);
    }
    cli_feed after = s->nargs ? feed_of(c, args + 1, 1) : feed_of(c, s->added.at, s->added.count);
    cli_good_keys_guard(s, c->delta, &after);
}

static void check_arguments(const cli_settings *s) {
    bool changes = s->added.count || s->removed.count || s->kept.count;
    if (!s->base) cli_die("delta", "--from FILTER", "which list changes?");
    if (changes && s->nargs) cli_die(s->args[0], NULL, "lists and changes cannot both be given");
    if (changes && !s->kept.count) {
        cli_die("--kept", "the lines that stay; none of them may be lost", "is needed as well");
    }
    if (!changes) cli_expect_args(s, 2, 2);
    if (s->nargs) cli_refuse_as_input(s->output, s->args, s->nargs);
    cli_refuse_stdin_twice(s, false);
}

static const void *finish(change *c, size_t *len, umbel_delta_info *info) {
    umbel_diag diag = {0};
    const void *bytes = NULL;
    umbel_err e = umbel_delta_finish(c->delta, &bytes, len, info, &diag);
    if (e == UMBEL_EMISMATCH) {
        bool few = strcmp(diag.field, "keys") == 0;
        cli_die(c->s->nargs ? c->s->args[0] : "--removed, --kept",
                "give all lines that the list holds",
                few ? "has fewer keys than %s" : "has lines that %s does not have", c->s->base);
    }
    bool exact = e == UMBEL_EINVAL && strcmp(diag.field, "never") == 0;
    if (e) cli_die_err(c->s->base, e, &diag, exact ? "--never FILE, all of it" : NULL);
    return bytes;
}

static int run_delta(const cli_settings *s) {
    change c = {.s = s, .status = CLI_YES};
    umbel_lookup *list = NULL;
    umbel_delta_info info;
    umbel_diag diag = {0};
    size_t len;
    check_arguments(s);
    cli_filter_claim_output(s);
    umbel_filter *base = cli_filter_open_verified(s->base, s);
    c.recipe = cli_recipe_of(base, s->base, s);
    umbel_err e = cli_list_lookup(base, s->base, umbel_recipe_text(c.recipe), NULL, &list, &diag);
    if (!e) e = umbel_delta_new(list, s->fpr, &c.delta, &diag);
    if (e) cli_die_err(s->base, e, &diag, NULL);
    read_change(&c);
    const void *bytes = finish(&c, &len, &info);
    cli_bytes_save(bytes, len, s->output);
    cli_delta_summary(&info, s);
    umbel_delta_free(c.delta);
    umbel_lookup_free(list);
    umbel_recipe_free(c.recipe);
    umbel_free(base);
    return c.status;
}

const cli_command cli_command_delta = {
    .name = "delta",
    .summary = "write what has changed in a list, as a small update of its filter",
    .synopsis = "--from FILTER -o OUT OLD NEW [OPTION]...",
    .examples =
        "# The list of an hour ago, the list of now: 18.umd is what those who have list.umb need\n"
        "umbel delta --from list.umb -o 18.umd old.txt new.txt\n"
        "# The publisher's own list follows it\n"
        "umbel apply list.umb 18.umd\n"
        "# From a database that knows what has changed\n"
        "umbel delta --from list.umb -o 19.umd --added came.txt --removed left.txt --kept rest.txt\n",
    .text =
        "OUT holds the lines of NEW that are not in OLD, at the false-positive rate of FILTER (at "
        "most 1 in 10,000 if that is exact, unless -p is given), and "
        "those of OLD that are not in NEW, exactly: no line of NEW is lost, and none that left is "
        "found. A change of a hundredth takes about a sixtieth of the bytes of a new filter.\n\n"
        "The deltas of a filter are numbered from 1; those that FILTER has already (umbel apply) "
        "are beside it, and the new one follows them. Lines become keys as in FILTER. OLD must be "
        "the list that FILTER and its deltas hold, all of it: a line that they do not have is an "
        "error, and so is a list with fewer keys than theirs.\n\n"
        "Lines of --never are not found afterwards, unless they are in NEW, and neither are the "
        "exceptions in FILTER (build --never); give good lines again that FILTER does not find, "
        "since the new ones may have caught them. An exact FILTER stays exact only if its whole "
        "universe (build --universe) is given again, with --never; less is an error.\n\n"
        "Each delta adds its rate to that of FILTER. A line that left long ago is a stranger to "
        "later deltas, which may find it at their rate.",
    .exits = "0 done, 2 error, 3 done, but some lines had no key",
    .options = delta_options,
    .run = run_delta,
};

/* ---- apply -------------------------------------------------------------------------------- */

static const uint8_t apply_options[] = {OPT_TRUSTED,   OPT_NOT_BEFORE, OPT_QUIET, OPT_JSON,
                                        OPT_LOCK_WAIT, OPT_HELP,       OPT_END};

static uint8_t *read_all_of(FILE *from, const char *path, size_t *len) {
    size_t room = 1 << 16;
    uint8_t *bytes = cli_alloc(room);
    *len = 0;
    for (size_t n; (n = fread(bytes + *len, 1, room - *len, from)) > 0;) {
        *len += n;
        if (*len == room) bytes = cli_realloc(bytes, room *= 2);
    }
    if (ferror(from)) cli_die_sys(path, errno);
    if (from != stdin) fclose(from);
    return bytes;
}

static uint8_t *read_delta(const char *path, size_t *len) {
    FILE *from = cli_is_stdin(path) ? stdin : fopen(path, "rb");
    if (!from) cli_die_sys(path, errno);
    return read_all_of(from, path, len);
}

/* What is in DELTA.minisig; NULL: it is not there. */
static uint8_t *read_signature(const char *delta, size_t *len) {
    char *path = cli_alloc(strlen(delta) + sizeof CLI_SIGNATURE_END);
    strcat(strcpy(path, delta), CLI_SIGNATURE_END);
    FILE *from = cli_is_stdin(delta) ? NULL : fopen(path, "rb");
    if (!from && !cli_is_stdin(delta) && errno != ENOENT) cli_die_sys(path, errno);
    uint8_t *text = from ? read_all_of(from, path, len) : NULL;
    free(path);
    return text;
}

static void refuse(const char *delta, umbel_err e, const umbel_diag *diag) {
    const char *hint = NULL;
    if (strcmp(diag->field, "base") == 0)
        hint = "a delta fits only the filter that it was made for";
    if (strcmp(diag->field, "number") == 0) hint = "umbel info shows how many FILTER has";
    cli_die_err(delta, e, diag, hint);
}

static void apply_one(const cli_settings *s, const char *delta, umbel_delta_info *all) {
    umbel_diag diag = {0};
    umbel_key signature;
    size_t len;
    uint8_t *bytes = read_delta(delta, &len), *text = read_signature(delta, &signature.len);
    double wait = cli_given(s, OPT_LOCK_WAIT) ? (double)s->wait : -1;
    signature.data = text;
    umbel_err e = umbel_delta_apply(s->args[0], wait, bytes, len, text ? &signature : NULL,
                                    cli_guard_of(s), all, &diag);
    free(bytes);
    free(text);
    if (e) refuse(delta, e, &diag);
    if (diag.what) cli_warn("not_locked", s->args[0], "%s", diag.what);
}

static int run_apply(const cli_settings *s) {
    cli_expect_args(s, 2, -1);
    umbel_delta_info all = {0};
    for (int i = 1; i < s->nargs; i++) apply_one(s, s->args[i], &all);
    cli_apply_summary(&all, s);
    return CLI_YES;
}

const cli_command cli_command_apply = {
    .name = "apply",
    .summary = "let a list follow its deltas",
    .synopsis = "FILTER DELTA... [OPTION]...",
    .examples = "umbel apply list.umb 18.umd\n"
                "# After a holiday: several in their order, some of them once more\n"
                "umbel apply list.umb 15.umd 16.umd 17.umd 18.umd\n",
    .text =
        "The deltas are kept in FILTER.deltas, which is replaced in one step. Whatever looks lines "
        "up in FILTER by its name (umbel check, umbel serve, the libraries' sources and lookups of "
        "lists) reads it; commands that change, merge or convert filters have FILTER alone.\n\n"
        "With --key, each delta must be signed by KEY (umbel sign writes DELTA.minisig). Signatures are "
        "kept with the deltas, also without --key, so commands that look lines up with --key find "
        "them there, and a FILTER.deltas from elsewhere may be a DELTA.\n\n"
        "A delta that is there already is passed over, but for a new signature. One that is damaged, for another filter, or "
        "not the next is an error: those before it are applied, and it and those after it are not.\n\n"
        "FILTER.deltas is beside the name that is given: a symbolic link has deltas of its own, and lookups by "
        "the name of its target do not see them.\n\n"
        "A new FILTER, built from the whole list, simply takes the old one's place: deltas that "
        "follow another are left aside, with a warning, and the next umbel apply removes them. "
        "umbel info says when that pays.",
    .exits = CLI_EXITS_DONE,
    .options = apply_options,
    .run = run_apply,
};
