/* SPDX-License-Identifier: MIT
 *
 * recipe_csv.c - CSV: where records end, and its quoted fields
 *
 * Whether a separator ends a record depends on all quotes before it.  Most records have no quote at
 * all, so everything here looks for quotes first.
 */
#include <string.h>

#include "recipe/recipe.h"

/* The offset of the next quote, or `len`. */
static size_t next_quote(const uint8_t *text, size_t at, size_t len) {
    const uint8_t *quote = at < len ? memchr(text + at, '"', len - at) : NULL;
    return quote ? (size_t)(quote - text) : len;
}

/* Whether the quote at `at`, which is outside quoted fields, opens one.  A record may begin with a
 * byte-order mark: a file's mark is part of its first record. */
static bool opens(const umbel_recipe *r, uint8_t separator, const uint8_t *text, size_t at) {
    if (at == 0 || text[at - 1] == separator || text[at - 1] == r->delimiter) return true;
    if (at < 3 || memcmp(text + at - 3, "\xef\xbb\xbf", 3) != 0) return false;
    return at == 3 || text[at - 4] == separator;
}

/* The position after the quote that ends the field in which `at` lies.  If there is none yet: the
 * end of what need not be scanned again, and *closed is false. */
static size_t close_field(const uint8_t *text, size_t at, size_t len, bool *closed) {
    for (;;) {
        size_t quote = next_quote(text, at, len);
        *closed = quote + 1 < len && text[quote + 1] != '"';
        if (*closed) return quote + 1;
        if (quote + 1 >= len) return quote; /* another may follow */
        at = quote + 2;
    }
}

/* The position after the last separator in text[from..to), or 0. */
static size_t behind_last(const uint8_t *text, size_t from, size_t to, uint8_t separator) {
    while (to > from && text[to - 1] != separator) to--;
    return to > from ? to : 0;
}

void umbel_recipe_scan(const umbel_recipe *recipe, uint8_t separator,
                       umbel_recipe_progress *progress, const void *text, size_t len) {
    const uint8_t *s = text;
    while (progress->at < len) {
        if (progress->quoted) {
            bool closed;
            progress->at = close_field(s, progress->at, len, &closed);
            progress->quoted = !closed;
            if (!closed) return;
            continue;
        }
        size_t quote = umbeli_has(recipe, UMBELI_WORD_CSV) ? next_quote(s, progress->at, len) : len;
        size_t whole = behind_last(s, progress->at, quote, separator);
        if (whole) progress->whole = whole;
        if (quote < len) progress->quoted = opens(recipe, separator, s, quote);
        progress->at = quote < len ? quote + 1 : len;
    }
}

size_t umbel_recipe_first(const umbel_recipe *recipe, uint8_t separator, const void *text,
                          size_t len) {
    const uint8_t *s = text;
    for (size_t at = 0;;) {
        size_t quote = umbeli_has(recipe, UMBELI_WORD_CSV) ? next_quote(s, at, len) : len;
        const uint8_t *end = quote > at ? memchr(s + at, separator, quote - at) : NULL;
        if (end) return (size_t)(end - s);
        if (quote == len) return len;
        bool closed = true;
        at = quote + 1;
        if (opens(recipe, separator, s, quote)) at = close_field(s, at, len, &closed);
        if (!closed) return len;
    }
}

size_t umbel_recipe_ends(const umbel_recipe *recipe, uint8_t separator, const void *text,
                         size_t len, uint32_t *ends, size_t n) {
    const uint8_t *s = text;
    size_t kept = 0, i = 0;
    if (!umbeli_has(recipe, UMBELI_WORD_CSV) || next_quote(s, 0, len) == len) return n;
    for (size_t at = 0; at < len;) {
        size_t quote = next_quote(s, at, len);
        while (i < n && ends[i] < quote) ends[kept++] = ends[i++];
        at = quote + 1;
        if (quote == len || !opens(recipe, separator, s, quote)) continue;
        bool closed;
        at = close_field(s, at, len, &closed);
        if (!closed) break; /* the last record of its file */
        while (i < n && ends[i] < at) i++;
    }
    if (i < n) ends[kept++] = ends[n - 1];
    return kept;
}

/* ---- Fields of one record ---- */

/* The quote that ends the quoted field at `at`, or NULL; *doubled: it has quotes within. */
static const uint8_t *closing_quote(const uint8_t *at, const uint8_t *end, bool *doubled) {
    *doubled = false;
    for (at++; at < end; at += 2) {
        at = memchr(at, '"', (size_t)(end - at));
        if (!at || at + 1 == end || at[1] != '"') return at;
        *doubled = true;
    }
    return NULL;
}

umbeli_text umbeli_csv_unmarked(umbeli_text record) {
    umbeli_text rest = umbeli_unmarked(record);
    return rest.len && *rest.at == '"' ? rest : record;
}

bool umbeli_csv_well_formed(umbeli_text record, uint8_t delimiter) {
    const uint8_t *end = record.at + record.len;
    for (const uint8_t *at = record.at; at < end; at++) {
        if (*at == '"') {
            bool doubled;
            const uint8_t *open = at, *quote = closing_quote(at, end, &doubled);
            if (!quote) return false;
            at = quote + 1;
            bool stray = at < end && *at != delimiter;
            if (stray && memchr(open, '\n', (size_t)(at - open))) return false;
        }
        at = at < end ? memchr(at, delimiter, (size_t)(end - at)) : NULL;
        if (!at) break;
    }
    return true;
}

umbeli_text umbeli_csv_field(umbeli_text *rest, uint8_t delimiter, bool *done, uint8_t *to) {
    const uint8_t *at = rest->at, *end = at + rest->len, *stop = at;
    umbeli_text field = {at, 0};
    bool doubled = false;
    const uint8_t *quote = at < end && *at == '"' ? closing_quote(at, end, &doubled) : NULL;
    if (quote) stop = quote + 1;
    const uint8_t *cut = stop < end ? memchr(stop, delimiter, (size_t)(end - stop)) : NULL;
    const uint8_t *tail = cut ? cut : end;
    if (!quote) {
        field.len = (size_t)(tail - at);
    } else if (!doubled && stop == tail) {
        field = (umbeli_text){at + 1, (size_t)(quote - at - 1)};
    } else {
        field.at = to;
        for (const uint8_t *s = at + 1; s < quote; s++) {
            to[field.len++] = *s;
            s += *s == '"'; /* two stand for one */
        }
        memcpy(to + field.len, stop, (size_t)(tail - stop));
        field.len += (size_t)(tail - stop);
    }
    *done = !cut;
    if (cut) *rest = (umbeli_text){cut + 1, (size_t)(end - cut - 1)};
    return field;
}
