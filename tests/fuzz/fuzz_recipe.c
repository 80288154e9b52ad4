/* SPDX-License-Identifier: MIT
 *
 * fuzz_recipe.c - recipes and what they make of records
 *
 * Input: a recipe up to a newline, then a file.  The canonical text is one; records alone, in one
 * batch and from a file in two pieces have the same keys, in exactly as much scratch as was asked
 * for.
 */
#include <stdlib.h>
#include <string.h>

#include "recipe/recipe.h"
#include "target.h"

#define INSIST(what) insist(what, #what)

enum { MAX_RECORDS = 4096 };

typedef struct found {
    umbel_key keys[MAX_RECORDS], records[MAX_RECORDS];
    uint8_t states[MAX_RECORDS];
    size_t n;
} found;

static umbel_recipe *read_recipe(const uint8_t *text, size_t len) {
    char *copy = malloc(len + 1);
    umbel_recipe *recipe = NULL, *again = NULL;
    umbel_diag diag = {0};
    memcpy(copy, text, len);
    copy[len] = 0;
    umbel_err e = umbel_recipe_parse(copy, &recipe, &diag);
    if (e) {
        INSIST(e == UMBEL_EINVAL || e == UMBEL_EVERSION);
        INSIST(diag.what && diag.offset <= len && strlen(diag.field) < sizeof diag.field);
    } else {
        INSIST(!umbel_recipe_parse(umbel_recipe_text(recipe), &again, NULL));
        INSIST(strcmp(umbel_recipe_text(again), umbel_recipe_text(recipe)) == 0);
        INSIST(umbel_recipe_traits(again) == umbel_recipe_traits(recipe));
        umbel_recipe_free(again);
    }
    free(copy);
    return recipe;
}

static bool same(umbel_key a, umbel_key b) {
    return a.len == b.len && (a.data == NULL) == (b.data == NULL) &&
           (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* The records of a text whose last byte is a newline. */
static void split(const umbel_recipe *r, const uint8_t *text, size_t len, found *to) {
    static uint32_t ends[MAX_RECORDS];
    size_t n = 0, start = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\n') ends[n++] = (uint32_t)i;
    }
    to->n = umbel_recipe_ends(r, '\n', text, len, ends, n);
    INSIST(to->n > 0 && ends[to->n - 1] == len - 1);
    for (size_t i = 0; i < to->n; i++) {
        to->records[i] = (umbel_key){text + start, ends[i] - start};
        start = ends[i] + 1;
    }
}

static void check_alone(const umbel_recipe *r, umbel_recipe_use use, const found *all) {
    for (size_t i = 0; i < all->n; i++) {
        umbel_key key = all->records[i];
        uint8_t state, *scratch = malloc(umbel_recipe_room(r, 1, key.len));
        INSIST(umbel_recipe_apply(r, use, &key, 1, scratch, &state) == (state == UMBEL_FOUND_KEY));
        INSIST(state == all->states[i] && same(key, all->keys[i]));
        if (!state && umbeli_recipe_next(r, &key)) INSIST(key.len < all->keys[i].len);
        free(scratch);
    }
}

static void check_reader(const umbel_recipe *r, const uint8_t *text, size_t len, const found *all) {
    umbel_records *reader = NULL;
    umbel_records_batch b;
    INSIST(!umbel_records_new(r, UMBEL_USE_RECORD, '\n', &reader, NULL));
    size_t seen = 0, half = len / 2;
    bool other = false; /* it begins like something that is not lines */
    bool header = umbel_recipe_traits(r) & UMBEL_RECIPE_HEADER;
    for (int piece = 0; piece < 2; piece++) {
        INSIST(!umbel_records_feed(reader, text + (piece ? half : 0), piece ? len - half : half,
                                   piece, NULL));
        for (;;) {
            umbel_err e = umbel_records_next(reader, &b, NULL);
            other |= e == UMBEL_ENOTSUP;
            if (e || !b.n) break;
            for (size_t i = 0; !header && i < b.n; i++, seen++) {
                INSIST(seen < all->n && same(b.records[i], all->records[seen]));
                INSIST(b.states[i] == all->states[seen] && same(b.keys[i], all->keys[seen]));
            }
        }
    }
    INSIST(header || other || seen == all->n);
    umbel_records_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static found all;
    const uint8_t *cut = size && size < MAX_RECORDS ? memchr(data, '\n', size) : NULL;
    if (!cut) return 0;
    umbel_recipe *r = read_recipe(data, (size_t)(cut - data)), *bound = NULL;
    size_t len = size - (size_t)(cut - data);
    uint8_t *text = malloc(len);
    memcpy(text, cut + 1, len - 1);
    text[len - 1] = '\n';
    if (!r) {
        free(text);
        return 0;
    }
    size_t first = umbel_recipe_first(r, '\n', text, len);
    if (!umbel_recipe_bind(r, text, first < len ? first : len - 1, &bound, NULL)) {
        for (int use = 0; use < 2 * UMBEL_USE_LOOKUP; use++) {
            if ((use & (UMBEL_USE_LOOKUP - 1)) > UMBEL_USE_HOST) continue;
            split(bound, text, len, &all);
            memcpy(all.keys, all.records, all.n * sizeof *all.keys);
            uint8_t *scratch = malloc(umbel_recipe_room(bound, all.n, len));
            umbel_recipe_apply(bound, (umbel_recipe_use)use, all.keys, all.n, scratch, all.states);
            check_alone(bound, (umbel_recipe_use)use, &all);
            if (use == 0) check_reader(r, text, len, &all);
            free(scratch);
        }
        umbel_recipe_free(bound);
    }
    umbel_recipe_free(r);
    free(text);
    return 0;
}
