/* SPDX-License-Identifier: MIT
 *
 * recipe_text.c - the canonical text of a recipe: equal recipes have equal texts
 */
#include <string.h>

#include "recipe/recipe.h"

void umbeli_line_char(umbeli_line *l, char c) {
    if (l->len + 1 < l->cap) {
        l->to[l->len] = c;
        l->to[l->len + 1] = 0;
    }
    l->len++;
}

void umbeli_line_put(umbeli_line *l, const char *text) {
    while (*text) umbeli_line_char(l, *text++);
}

void umbeli_line_number(umbeli_line *l, uint32_t n) {
    uint32_t unit = 1;
    while (n / unit >= 10) unit *= 10;
    for (; unit; unit /= 10) umbeli_line_char(l, (char)('0' + n / unit % 10));
}

void umbeli_line_quoted(umbeli_line *l, const char *name, size_t len) {
    umbeli_line_char(l, '"');
    for (size_t i = 0; i < len; i++) {
        if (name[i] == '"' || name[i] == '\\') umbeli_line_char(l, '\\');
        umbeli_line_char(l, name[i]);
    }
    umbeli_line_char(l, '"');
}

void umbeli_line_name(umbeli_line *l, const char *name, size_t len) {
    bool plain = len > 0;
    for (size_t i = 0; i < len; i++) plain &= !strchr(" ,\"\\=", name[i]);
    if (!plain) {
        umbeli_line_quoted(l, name, len);
    } else {
        for (size_t i = 0; i < len; i++) umbeli_line_char(l, name[i]);
    }
}

size_t umbel_recipe_quote(const char *name, char *text, size_t cap) {
    umbeli_line l = {text, cap, 0};
    if (cap) *text = 0;
    umbeli_line_name(&l, name, strlen(name));
    return l.len;
}

void umbeli_line_hex(umbeli_line *l, uint8_t c) {
    static const char digits[] = "0123456789abcdef";
    umbeli_line_put(l, "0x");
    umbeli_line_char(l, digits[c >> 4]);
    umbeli_line_char(l, digits[c & 15]);
}

void umbeli_recipe_write(umbel_recipe *r) {
    umbeli_line l = {r->text, sizeof r->text, 0};
    for (unsigned i = 0; i < UMBELI_WORDS; i++) {
        const umbeli_word *row = &umbeli_words[i];
        if (!(r->written >> i & 1)) continue;
        if (l.len) umbeli_line_char(&l, ' ');
        umbeli_line_put(&l, row->name);
        if (row->value) umbeli_line_put(&l, row->value);
        if (row->write) row->write(&l, r);
    }
}

const char *umbel_recipe_text(const umbel_recipe *recipe) {
    return recipe->text;
}

bool umbel_recipe_word(uint32_t index, umbel_word *out) {
    if (index >= UMBELI_WORDS) return false;
    const umbeli_word *row = &umbeli_words[index];
    *out = (umbel_word){.name = row->name,
                        .value = row->value,
                        .group = row->group,
                        .traits = row->traits,
                        .part = (row->never_with >> UMBELI_WORD_LINE & 1) != 0,
                        .option = row->option,
                        .help = row->help};
    return true;
}

/* ---- Two recipes ---- */

/* The words that change keys. */
static uint32_t changes(const umbel_recipe *r) {
    uint32_t words = 0;
    for (unsigned i = 0; i < UMBELI_WORDS; i++) {
        if (umbeli_words[i].group >= UMBEL_WORD_TRIM) words |= r->words & UINT32_C(1) << i;
    }
    return words;
}

bool umbel_recipe_same_keys(const umbel_recipe *a, const umbel_recipe *b) {
    return changes(a) == changes(b) && a->type == b->type;
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
