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

static bool rule_of(const umbel_recipe *r, umbeli_key_rule *rule) {
    bool field = r->head == UMBELI_HEAD_FIELDS;
    bool fits = (field || r->head == UMBELI_HEAD_LINE) && !r->csv && !r->header && !r->several &&
                !r->missing_empty && r->meaning == UMBELI_MEANING_NONE &&
                (!r->crlf || r->crlf_implied) && !(field && r->parts[0].from_end) &&
                !(field && !r->spaced && r->delimiter == 0);
    if (!fits) return false;
    *rule = (umbeli_key_rule){
        .field = field ? r->parts[0].first : 0,
        .delimiter = field && !r->spaced ? r->delimiter : 0,
        .trim = r->trim,
        .lower = r->lower,
        .upper = r->upper,
    };
    return true;
}

bool umbeli_native_rule_of(const char *recipe, umbeli_key_rule *rule) {
    umbel_recipe r;
    return umbeli_recipe_read(recipe, &r, NULL) == UMBEL_OK && rule_of(&r, rule);
}

/* ---- From old rules ---- */

typedef struct words {
    char text[2 * UMBELI_RECIPE_TEXT];
    size_t len;
} words;

static void add(words *w, const char *text) {
    size_t len = strlen(text);
    if (len >= sizeof w->text - w->len) len = sizeof w->text - w->len - 1;
    memcpy(w->text + w->len, text, len);
    w->len += len;
    w->text[w->len] = 0;
}

static void add_number(words *w, uint32_t n) {
    char digits[11] = "", *at = digits + sizeof digits - 1;
    do {
        *--at = (char)('0' + n % 10);
    } while (n /= 10);
    add(w, at);
}

static void add_delimiter(words *w, uint8_t c) {
    static const char hex[] = "0123456789abcdef";
    char text[] = {'0', 'x', hex[c >> 4], hex[c & 15], 0};
    if (!c) return;
    add(w, " delimiter=");
    add(w, text);
}

/* What 0.2 kept in metadata. */
typedef struct old_names {
    const char *csv, *column, *delimiter, *missing;
} old_names;

static void add_rule(words *w, const umbeli_key_rule *rule, const old_names *old) {
    bool csv = old->csv && strcmp(old->csv, "yes") == 0;
    if (!rule->field && !old->column) {
        add(w, "line");
    } else {
        if (csv) add(w, "csv ");
        if (old->column) {
            char name[UMBELI_RECIPE_TEXT];
            (void)umbel_recipe_quote(old->column, name, sizeof name);
            add(w, "column=");
            add(w, name);
        } else {
            add(w, "field=");
            add_number(w, rule->field);
        }
        uint8_t named = old->column && old->delimiter ? (uint8_t)*old->delimiter : 0;
        add_delimiter(w, named ? named : rule->delimiter);
        if (old->missing && strcmp(old->missing, "empty") == 0) add(w, " missing=empty");
    }
    if (rule->trim) add(w, " trim");
    if (rule->lower) add(w, " lower");
    if (rule->upper) add(w, " upper");
}

static umbel_err set_words(umbel_filter *f, const words *w, umbel_diag *diag) {
    umbel_recipe r;
    /* What cannot be parsed, such as a column name with a line break, stays as it is; looking up
     * records then fails with a message. */
    bool known = umbeli_recipe_read(w->text, &r, NULL) == UMBEL_OK;
    return umbeli_recipe_set(f, known ? r.text : w->text, diag);
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
    words w = {.len = 0};
    add_rule(&w, rule, &old);
    umbel_err e = set_words(f, &w, diag);
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

umbel_err umbeli_native_take_recipe(umbel_filter *f, const umbeli_key_rule *rule, bool recipe_only,
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
