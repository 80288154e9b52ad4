/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "check/follow.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "filter/filter_file.h"
#include "filter/filter_recipe.h"
#include "filter/signed_file.h"

/* It would have to be decompressed into memory again each time. */
static void refuse_packed(const char *path) {
    uint8_t first[UMBEL_INPUT_LOOK];
    FILE *from = fopen(path, "rb");
    size_t got = from ? fread(first, 1, sizeof first, from) : 0;
    if (from) fclose(from);
    umbel_input is = umbel_input_look(first, got, '\n', NULL);
    if (!umbel_input_packed(is)) return;
    cli_die(path, umbel_input_remedy(is), "is %s, so --follow-filter cannot follow it",
            umbel_input_text(is));
}

/* All zeros if there are none. */
static void deltas_of(const char *path, struct stat *out) {
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s.deltas", path);
    if (stat(name, out) != 0) *out = (struct stat){0};
}

void cli_follow_init(cli_follow *f, const cli_settings *s, const cli_lookup *lookup) {
    f->s = s;
    pthread_mutex_init(&f->changing, NULL);
    pthread_rwlock_init(&f->using, NULL);
    for (size_t i = 0; i < lookup->count; i++) {
        refuse_packed(lookup->at[i].name);
        if (stat(lookup->at[i].name, &f->seen[i]) != 0) f->seen[i] = (struct stat){0};
        f->signature[i] = (struct stat){0};
        deltas_of(lookup->at[i].name, &f->seen_deltas[i]);
    }
}

static bool is_same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* A missing file may be about to come back. */
static bool is_replaced(const char *path, struct stat *seen) {
    struct stat now;
    if (stat(path, &now) != 0 || is_same(&now, seen)) return false;
    *seen = now;
    return true;
}

/* Deltas may be gone for good. */
static bool follows_others(const char *path, struct stat *seen) {
    struct stat now;
    deltas_of(path, &now);
    if (is_same(&now, seen)) return false;
    *seen = now;
    return true;
}

/* A signature that arrives after its file, which was refused without it. */
static bool is_signed_now(const cli_follow *f, const char *path, struct stat *signature) {
    char beside[PATH_MAX];
    if (!f->s->trusted.count || !signature->st_ino) return false;
    snprintf(beside, sizeof beside, "%s" CLI_SIGNATURE_END, path);
    return is_replaced(beside, signature);
}

static void note_refusal(const cli_follow *f, const char *path, struct stat *signature) {
    char beside[PATH_MAX];
    snprintf(beside, sizeof beside, "%s" CLI_SIGNATURE_END, path);
    if (f->s->trusted.count && stat(beside, signature) != 0) signature->st_ino = 1; /* none yet */
}

/* NULL, and `why`, if it cannot be opened. */
static umbel_lookup *try_lookup(const umbel_filter *filter, const cli_lookup *lookup, size_t i,
                                char *why, size_t cap) {
    umbel_lookup *next = NULL;
    umbel_diag diag;
    umbel_err e = cli_list_lookup(filter, lookup->at[i].name, umbel_recipe_text(lookup->recipes[i]),
                                  lookup->guard, &next, &diag);
    if (e) umbel_explain(e, &diag, why, cap);
    return next;
}

static void reopen(cli_follow *f, cli_lookup *lookup, size_t i) {
    const char *path = lookup->at[i].name;
    char why[256];
    umbel_filter *filter = cli_filter_try(path, f->s, why, sizeof why);
    umbel_lookup *next = filter ? try_lookup(filter, lookup, i, why, sizeof why) : NULL;
    f->signature[i] = (struct stat){0};
    if (!next) {
        note_refusal(f, path, &f->signature[i]);
        cli_warn("replacement_refused", path, "was replaced, but the old filter stays: %s", why);
        umbel_free(filter);
        return;
    }
    umbel_recipe *recipe = cli_recipe_of(filter, path, f->s);
    bool same = strcmp(umbel_recipe_text(recipe), umbel_recipe_text(lookup->recipes[i])) == 0;
    if (same) {
        pthread_rwlock_wrlock(&f->using);
        cli_lookup_replace(lookup, i, filter, next);
        pthread_rwlock_unlock(&f->using);
        if (!f->s->quiet) cli_note(path, "was replaced: using the new filter");
    } else {
        cli_warn("replacement_refused", path,
                 "was replaced, but the old filter stays: the recipe of the new one is %s",
                 umbel_recipe_text(recipe));
        umbel_lookup_free(next);
        umbel_free(filter);
    }
    umbel_recipe_free(recipe);
}

void cli_follow_begin(cli_follow *f, cli_lookup *lookup) {
    pthread_mutex_lock(&f->changing);
    for (size_t i = 0; i < lookup->count; i++) {
        const char *path = lookup->at[i].name;
        bool other = is_replaced(path, &f->seen[i]);
        other |= follows_others(path, &f->seen_deltas[i]);
        if (other || is_signed_now(f, path, &f->signature[i])) {
            reopen(f, lookup, i);
        }
    }
    pthread_rwlock_rdlock(&f->using);
    pthread_mutex_unlock(&f->changing);
}

void cli_follow_end(cli_follow *f) {
    pthread_rwlock_unlock(&f->using);
}
