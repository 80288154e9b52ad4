/* SPDX-License-Identifier: MIT
 *
 * recipe_text.c - the canonical text of a recipe: equal recipes have equal texts
 */
#include <string.h>

#include "recipe/recipe.h"

static void put_char(umbeli_line *l, char c) {
    if (l->len + 1 < l->cap) {
        l->to[l->len] = c;
        l->to[l->len + 1] = 0;
    }
    l->len++;
}

void umbeli_line_put(umbeli_line *l, const char *text) {
    while (*text) put_char(l, *text++);
}

void umbeli_line_number(umbeli_line *l, uint32_t n) {
    uint32_t unit = 1;
    while (n / unit >= 10) unit *= 10;
    for (; unit; unit /= 10) put_char(l, (char)('0' + n / unit % 10));
}

static void put_quoted(umbeli_line *l, const char *name, size_t len) {
    put_char(l, '"');
    for (size_t i = 0; i < len; i++) {
        if (name[i] == '"' || name[i] == '\\') put_char(l, '\\');
        put_char(l, name[i]);
    }
    put_char(l, '"');
}

void umbeli_line_name(umbeli_line *l, const char *name, size_t len) {
    bool plain = len > 0;
    for (size_t i = 0; i < len; i++) plain &= !strchr(" ,\"\\=", name[i]);
    if (!plain) {
        put_quoted(l, name, len);
    } else {
        for (size_t i = 0; i < len; i++) put_char(l, name[i]);
    }
}

size_t umbel_recipe_quote(const char *name, char *text, size_t cap) {
    umbeli_line l = {text, cap, 0};
    if (cap) *text = 0;
    umbeli_line_name(&l, name, strlen(name));
    return l.len;
}

/* As jq defines it. */
static bool is_identifier(const char *name, size_t len) {
    for (size_t i = 0; i < len; i++) {
        char c = name[i];
        if (!umbeli_is_letter(c) && c != '_' && !(i && umbeli_is_digit(c))) return false;
    }
    return len > 0;
}

static void put_path(umbeli_line *l, const umbel_recipe *r, const umbeli_part *part) {
    if (part->steps == 0 || r->steps[part->step].is_index) put_char(l, '.');
    for (size_t i = part->step; i < (size_t)part->step + part->steps; i++) {
        const umbeli_step *step = &r->steps[i];
        const char *name = r->names + step->name.at;
        if (step->is_index) {
            put_char(l, '[');
            umbeli_line_number(l, step->index);
            put_char(l, ']');
            continue;
        }
        put_char(l, '.');
        if (is_identifier(name, step->name.len)) {
            for (size_t k = 0; k < step->name.len; k++) put_char(l, name[k]);
        } else {
            put_quoted(l, name, step->name.len);
        }
    }
}

static void put_range(umbeli_line *l, const umbeli_part *part) {
    if (part->from_end) put_char(l, '-');
    umbeli_line_number(l, part->first);
    if (part->open || part->last > part->first) put_char(l, '-');
    if (!part->open && part->last > part->first) umbeli_line_number(l, part->last);
}

static void put_parts(umbeli_line *l, const umbel_recipe *r) {
    for (size_t i = 0; i < r->part_count; i++) {
        const umbeli_part *part = &r->parts[i];
        if (i) put_char(l, ',');
        if (r->head == UMBELI_HEAD_FIELDS) put_range(l, part);
        if (r->head == UMBELI_HEAD_COLUMNS)
            umbeli_line_name(l, r->names + part->name.at, part->name.len);
        if (r->head == UMBELI_HEAD_JSON) put_path(l, r, part);
    }
}

void umbeli_line_hex(umbeli_line *l, uint8_t c) {
    static const char digits[] = "0123456789abcdef";
    umbeli_line_put(l, "0x");
    put_char(l, digits[c >> 4]);
    put_char(l, digits[c & 15]);
}

static void put_delimiter(umbeli_line *l, uint8_t c) {
    umbeli_line_put(l, " delimiter=");
    if (c == '\t') {
        umbeli_line_put(l, "tab");
    } else if (c == ' ' || c == ',') {
        umbeli_line_put(l, c == ' ' ? "space" : "comma");
    } else if (c > ' ' && c < 0x7f && c != '"') {
        put_char(l, (char)c);
    } else {
        umbeli_line_hex(l, c);
    }
}

void umbeli_recipe_write(umbel_recipe *r) {
    static const char *const heads[] = {
        [UMBELI_HEAD_LINE] = "line",       [UMBELI_HEAD_FIELDS] = "field=",
        [UMBELI_HEAD_COLUMNS] = "column=", [UMBELI_HEAD_JSON] = "json=",
        [UMBELI_HEAD_DOMAIN] = "domain",
    };
    bool domain = r->meaning == UMBELI_MEANING_DOMAIN;
    umbeli_line l = {r->text, sizeof r->text, 0};
    if (r->csv) umbeli_line_put(&l, "csv ");
    umbeli_line_put(&l, heads[r->head]);
    put_parts(&l, r);
    if (!r->spaced && !(r->csv && r->delimiter == ',')) put_delimiter(&l, r->delimiter);
    if (r->header && r->head != UMBELI_HEAD_COLUMNS) umbeli_line_put(&l, " header");
    if (r->crlf && !r->crlf_implied) umbeli_line_put(&l, " crlf");
    if (r->trim && !domain) umbeli_line_put(&l, " trim");
    if (r->lower && !domain) umbeli_line_put(&l, " lower");
    if (r->upper) umbeli_line_put(&l, " upper");
    if (domain && r->head != UMBELI_HEAD_DOMAIN) umbeli_line_put(&l, " domain");
    if (r->meaning == UMBELI_MEANING_SHA1) umbeli_line_put(&l, " sha1");
    if (r->meaning == UMBELI_MEANING_NTLM) umbeli_line_put(&l, " ntlm");
    if (r->meaning == UMBELI_MEANING_TYPE) {
        umbeli_line_put(&l, " type=");
        umbeli_line_put(&l, umbel_type_name(r->type));
    }
    if (r->missing_empty) umbeli_line_put(&l, " missing=empty");
}

const char *umbel_recipe_text(const umbel_recipe *recipe) {
    return recipe->text;
}

bool umbel_recipe_same_keys(const umbel_recipe *a, const umbel_recipe *b) {
    bool typed = a->meaning == UMBELI_MEANING_TYPE;
    return a->trim == b->trim && a->lower == b->lower && a->upper == b->upper &&
           a->meaning == b->meaning && (!typed || a->type == b->type);
}

bool umbeli_recipes_agree(const char *a, const char *b) {
    umbel_recipe *x = NULL, *y = NULL;
    if (strcmp(a, b) == 0) return true;
    bool known = !umbel_recipe_parse(a, &x, NULL) && !umbel_recipe_parse(b, &y, NULL);
    bool agree = known && umbel_recipe_same_keys(x, y);
    umbel_recipe_free(x);
    umbel_recipe_free(y);
    return agree;
}
