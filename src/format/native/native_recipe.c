/* SPDX-License-Identifier: MIT
 *
 * native_recipe.c - recipes in native files, also in those of versions that had none
 *
 * Before 0.3 a header had nine bytes for a field, a delimiter and the case of letters; CSV, names
 * of columns and missing fields were metadata that only the command understood.  A recipe that the
 * nine bytes can express is written in both ways, so that 0.2 reads the file; for others a flag is
 * set that 0.2 refuses.
 */
#include "format/native/native_recipe.h"

#include <string.h>

#include "core/diag.h"
#include "recipe/recipe.h"

const char *umbeli_key_rule_wrong(const umbeli_key_rule *rule) {
    if (rule->lower && rule->upper) return "key rule: lower and upper are mutually exclusive";
    if (rule->delimiter && !rule->field) return "key rule: a delimiter needs a field";
    return NULL;
}

#define BIT(word) (UINT32_C(1) << UMBELI_WORD_##word)

static bool rule_of(const umbel_recipe *r, umbeli_key_rule *rule) {
    const uint32_t ruled =
        BIT(LINE) | BIT(FIELD) | BIT(DELIMITER) | BIT(TRIM) | BIT(LOWER) | BIT(UPPER);
    bool field = r->head == UMBELI_WORD_FIELD;
    bool fits = !(r->written & ~ruled) && !r->several && !(field && r->parts[0].from_end) &&
                !(field && !r->spaced && r->delimiter == 0);
    if (!fits) return false;
    *rule = (umbeli_key_rule){
        .field = field ? r->parts[0].first : 0,
        .delimiter = field && !r->spaced ? r->delimiter : 0,
        .trim = umbeli_has(r, UMBELI_WORD_TRIM),
        .lower = umbeli_has(r, UMBELI_WORD_LOWER),
        .upper = umbeli_has(r, UMBELI_WORD_UPPER),
    };
    return true;
}

bool umbeli_native_rule_of(const char *recipe, umbeli_key_rule *rule) {
    umbel_recipe r;
    return umbeli_recipe_read(recipe, &r, NULL) == UMBEL_OK && rule_of(&r, rule);
}

/* ---- From old rules ---- */

/* What 0.2 kept in metadata. */
typedef struct old_names {
    const char *csv, *column, *delimiter, *missing;
} old_names;

static void put_rule(umbeli_line *l, const umbeli_key_rule *rule, const old_names *old) {
    bool csv = old->csv && strcmp(old->csv, "yes") == 0;
    if (!rule->field && !old->column) {
        umbeli_line_put(l, "line");
    } else {
        if (csv) umbeli_line_put(l, "csv ");
        if (old->column) {
            umbeli_line_put(l, "column=");
            umbeli_line_name(l, old->column, strlen(old->column));
        } else {
            umbeli_line_put(l, "field=");
            umbeli_line_number(l, rule->field);
        }
        uint8_t named = old->column && old->delimiter ? (uint8_t)*old->delimiter : 0;
        uint8_t delimiter = named ? named : rule->delimiter;
        if (delimiter) umbeli_line_put(l, " delimiter=");
        if (delimiter) umbeli_line_hex(l, delimiter);
        if (old->missing && strcmp(old->missing, "empty") == 0)
            umbeli_line_put(l, " missing=empty");
    }
    if (rule->trim) umbeli_line_put(l, " trim");
    if (rule->lower) umbeli_line_put(l, " lower");
    if (rule->upper) umbeli_line_put(l, " upper");
}

static umbel_err set_recipe(umbel_filter *f, const char *text, umbel_diag *diag) {
    umbel_recipe r;
    /* What cannot be parsed, such as a column name with a line break, stays as it is; looking up
     * records then fails with a message. */
    bool known = umbeli_recipe_read(text, &r, NULL) == UMBEL_OK;
    return umbeli_recipe_set(f, known ? r.text : text, diag);
}

/* ---- Reading ---- */

static bool same(const umbeli_key_rule *a, const umbeli_key_rule *b) {
    return a->field == b->field && a->delimiter == b->delimiter && a->trim == b->trim &&
           a->lower == b->lower && a->upper == b->upper;
}

/* Makes the recipe of a file that has none. */
static umbel_err translate(umbel_filter *f, const umbeli_key_rule *rule, umbel_diag *diag) {
    static const char *const names[] = {"key.csv", "key.column", "key.delimiter", "key.missing"};
    old_names old = {umbeli_meta_get(f, names[0]), umbeli_meta_get(f, names[1]),
                     umbeli_meta_get(f, names[2]), umbeli_meta_get(f, names[3])};
    char text[2 * UMBELI_RECIPE_TEXT] = "";
    umbeli_line line = {text, sizeof text, 0};
    put_rule(&line, rule, &old);
    umbel_err e = set_recipe(f, text, diag);
    if (e || (!rule->field && !old.column)) return e; /* a user's own metadata */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) umbeli_meta_remove(f, names[i]);
    return UMBEL_OK;
}

/* Renames a user's own metadata of this name, in a file of a version without recipes. */
static umbel_err rename_entry(umbel_filter *f, const char *text, umbel_diag *diag) {
    static const char name[] = "old.recipe";
    umbel_err e = umbeli_meta_set(f, name, sizeof name - 1, text, strlen(text), diag);
    if (!e) umbeli_meta_remove(f, UMBELI_META_RECIPE);
    return e;
}

umbel_err umbeli_native_read_recipe(umbel_filter *f, const umbeli_key_rule *rule, bool recipe_only,
                                    umbel_diag *diag) {
    const char *text = umbeli_meta_get(f, UMBELI_META_RECIPE);
    umbel_recipe r;
    if (!text && recipe_only) return umbeli_fail(diag, UMBEL_ECORRUPT, "recipe: is missing");
    bool known = text && umbeli_recipe_read(text, &r, NULL) == UMBEL_OK;
    if (text && !known && recipe_only) return UMBEL_OK; /* of a later version */
    if (!known) {
        umbel_err e = text ? rename_entry(f, text, diag) : UMBEL_OK;
        return e ? e : translate(f, rule, diag);
    }
    umbeli_key_rule implied = {0};
    bool fits = rule_of(&r, &implied);
    if (fits == recipe_only || (fits && !same(&implied, rule))) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "recipe: contradicts the key rule");
    }
    return umbeli_recipe_set(f, r.text, diag);
}
