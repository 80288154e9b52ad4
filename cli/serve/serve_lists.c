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

void serve_lists_add(serve_lists *all, const char *spec, const umbel_opts *opts) {
    umbel_diag diag = {0};
    if (all->count == SERVE_LISTS_MAX) cli_die("serve", NULL, "more than 64 filters");
    serve_list *l = &all->at[all->count];
    l->name = name_of(spec, &l->path);
    if (serve_lists_named(all, l->name, strlen(l->name))) {
        cli_die(spec, "NAME=FILE gives it another", "there are two lists called '%s'", l->name);
    }
    umbel_err e = umbel_list_open(l->path, opts, &l->list, &diag);
    if (e) cli_die_err(l->path, e, &diag, NULL);
    all->count++;
}

void serve_lists_free(serve_lists *all) {
    for (size_t i = 0; i < all->count; i++) {
        umbel_list_close(all->at[i].list);
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

bool serve_list_damaged(serve_list *l) {
    umbel_diag diag = {0};
    char text[256];
    umbel_err e = umbel_damage(umbel_list_filter(l->list), &diag);
    if (e && !l->damaged) {
        cli_note(l->path, "is damaged, so what is found in it may not be there: %s",
                 umbel_explain(e, &diag, text, sizeof text));
    }
    l->damaged = e != UMBEL_OK;
    return l->damaged;
}

serve_answer serve_list_ask(serve_list *l, umbel_recipe_use use, const void *key, size_t len) {
    l->asked++;
    if (!umbel_list_has(l->list, use, key, len)) return SERVE_NO;
    bool damaged = serve_list_damaged(l);
    l->unanswered += damaged;
    l->found += !damaged;
    return damaged ? SERVE_DAMAGED : SERVE_YES;
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
    char text[256];
    umbel_err e = umbel_list_refresh(l->list, NULL, &diag);
    uint64_t replaced = umbel_list_replaced(l->list); /* by a question, perhaps */
    if (e && !l->failed) {
        cli_note(l->path, "not reloaded, the old filter still answers: %s",
                 umbel_explain(e, &diag, text, sizeof text));
    }
    l->failures += e && !l->failed;
    l->failed = e != UMBEL_OK;
    if (replaced != l->reloads) cli_note(l->path, "reloaded");
    l->reloads = replaced;
}

void serve_lists_refresh(serve_lists *all) {
    for (size_t i = 0; i < all->count; i++) refresh(&all->at[i]);
}
