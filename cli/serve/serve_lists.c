/* SPDX-License-Identifier: MIT
 *
 * serve_lists.c - filters by name, asked and replaced
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "serve/serve.h"

/* `NAME=FILE`, where NAME has no slash; else the file's own name without .umb. */
static char *name_of(const char *spec, const char **path) {
    const char *equals = strchr(spec, '='), *slash = strchr(spec, '/');
    if (equals && equals > spec && (!slash || equals < slash)) {
        *path = equals + 1;
        return cli_strndup(spec, (size_t)(equals - spec));
    }
    *path = spec;
    const char *base = strrchr(spec, '/') ? strrchr(spec, '/') + 1 : spec;
    size_t len = strlen(base);
    if (len > 4 && strcmp(base + len - 4, ".umb") == 0) len -= 4;
    return cli_strndup(base, len);
}

/* It stands in the lines of three protocols and of /metrics as it is. */
static bool is_plain(const char *name) {
    for (const char *c = name; *c; c++) {
        if ((unsigned char)*c <= ' ' || strchr("\"\\%\x7f", *c)) return false;
    }
    return true;
}

static void note_deltas(const serve_list *l) {
    if (l->state.aside) {
        cli_note(l->path, "the deltas beside it are not used: they follow another filter");
    }
}

void serve_lists_add(serve_lists *all, const char *spec, const umbel_source_opts *how) {
    umbel_diag diag = {0};
    if (all->count == SERVE_LISTS_MAX) cli_die("serve", NULL, "more than 64 filters");
    serve_list *l = &all->at[all->count];
    l->name = name_of(spec, &l->path);
    if (!is_plain(l->name)) {
        cli_die(spec, "NAME=FILE gives it another",
                "the name of a list has no spaces, quotes, backslashes or percent signs");
    }
    if (serve_lists_named(all, l->name, strlen(l->name))) {
        cli_die(spec, "NAME=FILE gives it another", "there are two lists called '%s'", l->name);
    }
    umbel_err e = umbel_source_open(l->path, how, &l->source, &diag);
    if (e) cli_die_err(l->path, e, &diag, NULL);
    (void)umbel_source_status(l->source, &l->state, NULL);
    note_deltas(l);
    all->count++;
}

void serve_lists_free(serve_lists *all) {
    for (size_t i = 0; i < all->count; i++) {
        umbel_source_close(all->at[i].source);
        free(all->at[i].name);
    }
    all->count = 0;
}

bool serve_hold(serve_lists *all, size_t bytes) {
    bool fits = bytes <= all->max_held && all->held <= all->max_held - bytes;
    all->held += fits ? bytes : 0;
    all->turned_away += !fits;
    return fits;
}

void serve_release(serve_lists *all, size_t bytes) {
    all->held -= bytes;
}

serve_list *serve_lists_named(serve_lists *all, const char *name, size_t len) {
    for (size_t i = 0; i < all->count; i++) {
        if (strlen(all->at[i].name) == len && memcmp(all->at[i].name, name, len) == 0) {
            return &all->at[i];
        }
    }
    return NULL;
}

/* Reports once that a list is damaged. */
static void count_damage(serve_list *l, umbel_err e, const umbel_diag *diag, uint64_t keys) {
    char text[256];
    l->unanswered += keys;
    if (e != UMBEL_ECORRUPT || l->damaged) return;
    l->damaged = true;
    cli_note(l->path, "is damaged, so what is found in it may not be there: %s",
             umbel_explain(e, diag, text, sizeof text));
}

umbel_err serve_list_ask_many(serve_list *l, umbel_recipe_use use, const umbel_key *keys, size_t n,
                              uint8_t *hit) {
    umbel_diag diag = {0};
    const umbel_lookup *now = umbel_source_now(l->source);
    umbel_err e = umbel_lookup_texts(now, use, keys, n, hit, NULL, &diag);
    l->asked += n;
    if (e) count_damage(l, e, &diag, n);
    return e;
}

serve_answer serve_list_ask(serve_list *l, umbel_recipe_use use, const void *key, size_t len) {
    uint8_t hit;
    if (serve_list_ask_many(l, use, &(umbel_key){key, len}, 1, &hit)) return SERVE_DAMAGED;
    l->found += hit;
    return hit ? SERVE_YES : SERVE_NO;
}

serve_list *serve_lists_any(serve_lists *all, const void *key, size_t len, serve_answer *answer) {
    for (size_t i = 0; i < all->count; i++) {
        *answer = serve_list_ask(&all->at[i], UMBEL_USE_KEY, key, len);
        if (*answer != SERVE_NO) return &all->at[i];
    }
    return NULL;
}

static void refresh(serve_list *l) {
    umbel_diag diag = {0};
    umbel_source_state state;
    char text[256];
    umbel_err e = umbel_source_refresh(l->source, &diag);
    (void)umbel_source_status(l->source, &state, NULL);
    if (e && state.refused != l->state.refused) { /* by a question, perhaps */
        cli_note(l->path, "not reloaded, the old filter still answers: %s",
                 umbel_explain(e, &diag, text, sizeof text));
    }
    if (state.replaced != l->state.replaced) {
        cli_note(l->path, "reloaded");
        l->damaged = false;
    }
    bool others = state.aside != l->state.aside;
    l->state = state;
    if (others) note_deltas(l);
}

void serve_lists_refresh(serve_lists *all) {
    for (size_t i = 0; i < all->count; i++) refresh(&all->at[i]);
}
