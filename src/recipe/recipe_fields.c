/* SPDX-License-Identifier: MIT
 *
 * recipe_fields.c - fields of a record by number: one, or several joined to one key
 */
#include <string.h>

#include "recipe/recipe.h"

const uint8_t *umbeli_find(umbeli_text s, uint8_t c) {
    return s.len ? memchr(s.at, c, s.len) : NULL;
}

umbeli_text umbeli_trimmed(umbeli_text s) {
    while (s.len && umbeli_is_space(s.at[s.len - 1])) s.len--;
    while (s.len && umbeli_is_space(s.at[0])) s.at++, s.len--;
    return s;
}

static const umbeli_text no_field = {NULL, 0};

/* Field n from 1 between delimiters, or between runs of white space. */
static umbeli_text delimited(umbeli_text record, uint8_t delimiter, uint32_t n) {
    while (--n) {
        const uint8_t *cut = umbeli_find(record, delimiter);
        if (!cut) return no_field;
        record.len -= (size_t)(cut + 1 - record.at);
        record.at = cut + 1;
    }
    const uint8_t *end = umbeli_find(record, delimiter);
    if (end) record.len = (size_t)(end - record.at);
    return record;
}

/* Stops at the end of the record: a recipe may ask for field 2^32-1. */
static umbeli_text spaced(umbeli_text record, uint32_t n) {
    size_t i = 0, start = 0;
    do {
        while (i < record.len && umbeli_is_space(record.at[i])) i++;
        start = i;
        while (i < record.len && !umbeli_is_space(record.at[i])) i++;
    } while (--n && i < record.len);
    return n || start == i ? no_field : (umbeli_text){record.at + start, i - start};
}

/* ---- All fields, in order ---- */

umbeli_fields umbeli_fields_of(const umbel_recipe *r, umbeli_text record, bool quoted,
                               uint8_t *to) {
    return (umbeli_fields){.recipe = r, .rest = record, .quoted = quoted, .to = to};
}

bool umbeli_next_field(umbeli_fields *f, umbeli_text *field) {
    const umbel_recipe *r = f->recipe;
    umbeli_text *rest = &f->rest;
    if (f->done) return false;
    if (f->quoted) {
        *field = umbeli_csv_field(rest, r->delimiter, &f->done, f->to);
        return true;
    }
    *field = r->spaced ? spaced(*rest, 1) : delimited(*rest, r->delimiter, 1);
    if (!field->at) return false;
    const uint8_t *end = rest->at + rest->len, *next = field->at + field->len;
    f->done = next == end;
    if (!f->done) next++;
    *rest = (umbeli_text){next, (size_t)(end - next)};
    return true;
}

/* ---- Several parts, joined ---- */

/* Decided as by Python's csv.writer. */
static bool needs_quotes(const umbel_recipe *r, umbeli_text part) {
    uint8_t delimiter = r->head == UMBELI_WORD_JSON ? ',' : r->delimiter;
    for (size_t i = 0; i < part.len; i++) {
        uint8_t c = part.at[i];
        if (c == delimiter || c == '"' || c == '\r' || c == '\n') return true;
    }
    return false;
}

static void put_bytes(umbeli_join *j, const uint8_t *bytes, size_t len) {
    if (len) memcpy(j->to + j->so_far.len, bytes, len);
    j->so_far.len += len;
}

static void put_as_csv(umbeli_join *j, umbeli_text part) {
    static const uint8_t quote = '"';
    if (!needs_quotes(j->recipe, part)) {
        put_bytes(j, part.at, part.len);
        return;
    }
    put_bytes(j, &quote, 1);
    for (size_t i = 0; i < part.len; i++) {
        if (part.at[i] == '"') put_bytes(j, &quote, 1);
        put_bytes(j, part.at + i, 1);
    }
    put_bytes(j, &quote, 1);
}

/* Neighbours in a delimited record are already joined: nothing is copied. */
static bool is_next(const umbeli_join *j, umbeli_text part) {
    return !j->copied && !j->recipe->spaced && part.at == j->so_far.at + j->so_far.len + 1;
}

void umbeli_join_part(umbeli_join *j, umbeli_text part) {
    const umbel_recipe *r = j->recipe;
    bool csv = umbeli_has(r, UMBELI_WORD_CSV) || r->head == UMBELI_WORD_JSON, first = !j->so_far.at;
    uint8_t between = r->head == UMBELI_WORD_JSON ? ',' : r->spaced ? ' ' : r->delimiter;
    if (first && !csv && part.at) {
        j->so_far = part;
    } else if (!csv && part.at && is_next(j, part)) {
        j->so_far.len += part.len + 1;
    } else {
        if (!j->copied) {
            if (j->so_far.len) memcpy(j->to, j->so_far.at, j->so_far.len);
            j->so_far.at = j->to;
            j->copied = true;
        }
        if (!first) put_bytes(j, &between, 1);
        if (csv) {
            put_as_csv(j, part);
        } else {
            put_bytes(j, part.at, part.len);
        }
    }
    j->parts++;
}

umbeli_text umbeli_join_end(umbeli_join *j, uint8_t **to) {
    bool csv = umbeli_has(j->recipe, UMBELI_WORD_CSV) || j->recipe->head == UMBELI_WORD_JSON;
    /* A record of one empty field is not an empty line. */
    if (csv && j->parts == 1 && j->so_far.len == 0) put_bytes(j, (const uint8_t *)"\"\"", 2);
    if (j->copied) *to += j->so_far.len;
    return j->so_far;
}

/* ---- Selection ---- */

typedef struct walk {
    umbeli_fields fields;
    uint32_t passed; /* fields read so far */
} walk;

/* Field n; those of an ascending list are found in one pass. */
static bool walk_to(walk *w, umbeli_text record, uint32_t n, umbeli_text *field) {
    if (n <= w->passed) {
        w->fields = umbeli_fields_of(w->fields.recipe, record, w->fields.quoted, w->fields.to);
        w->passed = 0;
    }
    do {
        if (!umbeli_next_field(&w->fields, field)) return false;
    } while (++w->passed < n);
    return true;
}

static uint32_t count_fields(const umbel_recipe *r, umbeli_text record, bool quoted, uint8_t *to) {
    umbeli_fields fields = umbeli_fields_of(r, record, quoted, to);
    umbeli_text field;
    uint32_t n = 0;
    while (n < UINT32_MAX && umbeli_next_field(&fields, &field)) n++;
    return n;
}

/* The number of the part's first field from the front; 0: there is no such field. */
static uint32_t first_of(const umbel_recipe *r, const umbeli_part *part, umbeli_text record,
                         bool quoted, uint8_t *to) {
    if (!part->from_end) return part->first;
    uint32_t n = count_fields(r, record, quoted, to);
    return part->first > n ? 0 : n + 1 - part->first;
}

static umbel_found join_range(walk *w, umbeli_join *j, const umbeli_part *part,
                              umbeli_text record) {
    const umbel_recipe *r = j->recipe;
    uint32_t n = first_of(r, part, record, w->fields.quoted, w->fields.to);
    uint32_t last = part->open ? UINT32_MAX : part->from_end ? n : part->last;
    for (uint32_t at = n;; at++) {
        umbeli_text field = no_field;
        bool exists = at && walk_to(w, record, at, &field);
        if (!exists && part->open && at > n) return UMBEL_FOUND_KEY;
        if (!exists && !umbeli_has(r, UMBELI_WORD_MISSING)) return UMBEL_FOUND_NOTHING;
        if (!exists) field = no_field;
        umbeli_join_part(j,
                         umbeli_has(r, UMBELI_WORD_TRIM) && exists ? umbeli_trimmed(field) : field);
        if (at >= last || (!exists && part->open)) return UMBEL_FOUND_KEY;
    }
}

static umbel_found select_several(const umbel_recipe *r, umbeli_text record, bool quoted,
                                  uint8_t **to, umbeli_text *part) {
    /* Scratch holds the unquoted fields first, then the joined key. */
    uint8_t *unquoted = *to;
    if (umbeli_has(r, UMBELI_WORD_CSV)) *to += record.len;
    walk w = {.fields = umbeli_fields_of(r, record, quoted, unquoted)};
    umbeli_join j = {.recipe = r, .to = *to};
    for (size_t i = 0; i < r->part_count; i++) {
        umbel_found found = join_range(&w, &j, &r->parts[i], record);
        if (found) return found;
    }
    *part = umbeli_join_end(&j, to);
    return UMBEL_FOUND_KEY;
}

static umbeli_text last_delimited(umbeli_text record, uint8_t delimiter) {
    size_t start = record.len;
    while (start && record.at[start - 1] != delimiter) start--;
    return (umbeli_text){record.at + start, record.len - start};
}

static umbel_found found_field(const umbel_recipe *r, umbeli_text record, umbeli_text *part) {
    if (part->at) return UMBEL_FOUND_KEY;
    *part = (umbeli_text){record.at, 0};
    return umbeli_has(r, UMBELI_WORD_MISSING) ? UMBEL_FOUND_KEY : UMBEL_FOUND_NOTHING;
}

umbel_found umbeli_select_fields(const umbel_recipe *r, umbeli_text record, uint8_t **to,
                                 umbeli_text *part) {
    if (r->several) return select_several(r, record, false, to, part);
    const umbeli_part *p = &r->parts[0];
    uint32_t n = p->first;
    if (p->from_end && n == 1 && !r->spaced) {
        *part = last_delimited(record, r->delimiter);
        return UMBEL_FOUND_KEY;
    }
    if (p->from_end) n = first_of(r, p, record, false, NULL);
    *part = n == 0 ? no_field : r->spaced ? spaced(record, n) : delimited(record, r->delimiter, n);
    return found_field(r, record, part);
}

umbel_found umbeli_select_quoted(const umbel_recipe *r, umbeli_text record, uint8_t **to,
                                 umbeli_text *part) {
    record = umbeli_csv_unmarked(record);
    if (!umbeli_csv_well_formed(record, r->delimiter)) return UMBEL_FOUND_MALFORMED;
    if (r->several) return select_several(r, record, true, to, part);
    uint32_t n = first_of(r, &r->parts[0], record, true, *to);
    walk w = {.fields = umbeli_fields_of(r, record, true, *to)};
    *part = no_field;
    if (n && !walk_to(&w, record, n, part)) *part = no_field;
    if (part->at == *to) *to += part->len;
    return found_field(r, record, part);
}
