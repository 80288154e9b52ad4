/* SPDX-License-Identifier: MIT */
#include "filter/filter_recipe.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "options/recipe_options.h"
#include "umbel_recipe.h"

umbel_recipe *cli_recipe_named(const char *where, const char *text) {
    umbel_recipe *recipe = NULL;
    umbel_diag diag = {0};
    umbel_err e = umbel_recipe_parse(text, &recipe, &diag);
    if (e) {
        cli_die_err(where, e, &diag,
                    e == UMBEL_EVERSION ? "a newer umbel may know the word" : "man umbel-recipe");
    }
    return recipe;
}

static umbel_recipe *with_options(const cli_settings *s, const char *stored) {
    char *text = cli_recipe_text(s, stored);
    umbel_recipe *recipe = cli_recipe_named(s->recipe ? "--recipe" : s->command->name, text);
    if (s->digests && !(umbel_recipe_traits(recipe) & UMBEL_RECIPE_DIGEST)) {
        char options[96];
        cli_digest_options(options, sizeof options);
        cli_die("--digests", options, "keys are not digests");
    }
    free(text);
    return recipe;
}

umbel_recipe *cli_recipe_given(const cli_settings *s) {
    return with_options(s, "line");
}

umbel_recipe *cli_recipe_stored(const umbel_filter *f, const char *name) {
    return cli_recipe_named(name, umbel_get_recipe(f));
}

umbel_recipe *cli_recipe_of(const umbel_filter *f, const char *name, const cli_settings *s) {
    umbel_recipe_free(cli_recipe_stored(f, name));
    return with_options(s, umbel_get_recipe(f));
}

bool cli_changes_keys(const umbel_filter *f) {
    const char *text = umbel_get_recipe(f);
    return strcmp(text, "line") != 0 && strcmp(text, "line crlf") != 0;
}

void cli_need_same_keys(const umbel_filter *a, const umbel_filter *b, const char *name) {
    umbel_recipe *first = cli_recipe_stored(a, name), *other = cli_recipe_stored(b, name);
    bool same = umbel_recipe_same_keys(first, other);
    umbel_recipe_free(first);
    umbel_recipe_free(other);
    if (same) return;
    cli_die(name, "umbel info shows how",
            "makes keys from lines differently than the first filter");
}

void cli_filter_set_meta(umbel_filter *f, const cli_settings *s, const umbel_recipe *recipe) {
    umbel_diag diag = {0};
    umbel_err e = umbel_set_recipe(f, umbel_recipe_text(recipe), &diag);
    if (e) cli_die_err(s->command->name, e, &diag, NULL);
    for (size_t i = 0; i < s->meta.count; i += 2) {
        e = umbel_set_meta(f, s->meta.at[i], s->meta.at[i + 1], &diag);
        if (e) cli_die_err("--meta", e, &diag, NULL);
    }
}
