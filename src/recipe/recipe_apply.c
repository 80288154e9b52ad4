/* SPDX-License-Identifier: MIT
 *
 * recipe_apply.c - from records to keys: select, normalise, give it its meaning
 */
#include <string.h>

#include "recipe/recipe.h"

enum { VALUE_MAX = 16, DOMAIN_MAX = 253 };

/* ---- Normalising ---- */

/* Branch-free, so that compilers vectorise it. */
static void change_case(const uint8_t *from, size_t len, bool lower, uint8_t *to) {
    uint8_t first = lower ? 'A' : 'a';
    for (size_t i = 0; i < len; i++) {
        uint8_t letter = (uint8_t)(from[i] - first) < 26;
        to[i] = from[i] ^ (uint8_t)(letter << 5);
    }
}

void umbeli_to_lower(const uint8_t *from, size_t len, uint8_t *to) {
    change_case(from, len, true, to);
}

void umbeli_to_upper(const uint8_t *from, size_t len, uint8_t *to) {
    change_case(from, len, false, to);
}

static umbeli_text normalised(const umbel_recipe *r, umbeli_text part, uint8_t **to) {
    if (umbeli_has(r, UMBELI_WORD_TRIM)) part = umbeli_trimmed(part);
    if (r->change) {
        r->change(part.at, part.len, *to);
        part.at = *to;
        *to += part.len;
    }
    return part;
}

/* ---- Meaning ---- */

static umbeli_text put_hex(const uint8_t *digest, size_t len, uint8_t **to) {
    static const char digits[] = "0123456789ABCDEF";
    umbeli_text hex = {*to, 2 * len};
    for (size_t i = 0; i < len; i++) {
        *(*to)++ = (uint8_t)digits[digest[i] >> 4];
        *(*to)++ = (uint8_t)digits[digest[i] & 15];
    }
    return hex;
}

static umbel_found digest_of(const umbeli_digest *d, umbeli_text *key, uint8_t **to) {
    uint8_t digest[UMBELI_DIGEST_MAX];
    umbeli_text text = *key;
    if (d->utf16) {
        if (umbel_typed_key(UMBEL_TYPE_UTF16, key->at, key->len, *to, 2 * key->len, &text.len,
                            NULL)) {
            return UMBEL_FOUND_MALFORMED;
        }
        text.at = *to;
    }
    d->of(text.at, text.len, digest);
    *key = put_hex(digest, d->bytes, to);
    return UMBEL_FOUND_KEY;
}

/* A digest as it was read: hexadecimal of the right length, in upper case. */
static umbel_found digest_as_read(const umbeli_digest *d, umbeli_text *key, uint8_t **to) {
    if (key->len != 2 * d->bytes) return UMBEL_FOUND_MALFORMED;
    for (size_t i = 0; i < key->len; i++) {
        if (umbeli_hex_digit(key->at[i]) < 0) return UMBEL_FOUND_MALFORMED;
    }
    umbeli_to_upper(key->at, key->len, *to);
    key->at = *to;
    *to += key->len;
    return UMBEL_FOUND_KEY;
}

/* The last labels of a text that are a name: 1 byte or more each between dots, without white space
 * or controls, and 253 bytes in all. */
static umbeli_text last_labels(umbeli_text t) {
    size_t from = t.len, label_end = t.len;
    for (size_t i = t.len; i-- > 0 && t.len - i <= DOMAIN_MAX;) {
        uint8_t c = t.at[i];
        if (c <= ' ' || c == 0x7f || (c == '.' && i + 1 == label_end)) break;
        if (c == '.') {
            label_end = i;
        } else if (i == 0 || t.at[i - 1] == '.') {
            from = i;
        }
    }
    return (umbeli_text){t.at + from, t.len - from};
}

/* A final dot is left out.  A lookup also asks for the parents of a text that is not a name: owners
 * of a listed domain choose the labels below it. */
umbel_found umbeli_as_domain(const umbel_recipe *r, bool lookup, umbeli_text *key, uint8_t **to) {
    (void)r, (void)to;
    if (key->len == 0) return UMBEL_FOUND_NOTHING;
    umbeli_text t = *key;
    if (t.at[t.len - 1] == '.') t.len--;
    while (lookup && t.len && t.at[t.len - 1] == '.') t.len--;
    *key = last_labels(t);
    return key->len && (lookup || key->len == t.len) ? UMBEL_FOUND_KEY : UMBEL_FOUND_MALFORMED;
}

umbel_found umbeli_as_type(const umbel_recipe *r, bool lookup, umbeli_text *key, uint8_t **to) {
    (void)lookup;
    size_t cap = 2 * key->len + VALUE_MAX; /* UTF-16, or a number from one digit */
    if (umbel_typed_key(r->type, key->at, key->len, *to, cap, &key->len, NULL)) {
        return UMBEL_FOUND_MALFORMED;
    }
    key->at = *to;
    *to += key->len;
    return UMBEL_FOUND_KEY;
}

static umbel_found meant(const umbel_recipe *r, umbel_recipe_use use, bool lookup, umbeli_text *key,
                         uint8_t **to) {
    const umbeli_word *meaning = r->meaning;
    if (!meaning) return UMBEL_FOUND_KEY;
    if (meaning->mean) return meaning->mean(r, lookup, key, to);
    return (use == UMBEL_USE_DIGEST ? digest_as_read : digest_of)(&meaning->digest, key, to);
}

bool umbeli_recipe_next(const umbel_recipe *recipe, umbel_key *key) {
    if (!umbeli_has(recipe, UMBELI_WORD_DOMAIN) || !key->len) return false;
    const uint8_t *dot = memchr(key->data, '.', key->len);
    if (!dot) return false;
    key->len -= (size_t)(dot + 1 - (const uint8_t *)key->data);
    key->data = dot + 1;
    return true;
}

/* ---- All records ---- */

static umbel_found select_line(const umbel_recipe *r, umbeli_text record, uint8_t **to,
                               umbeli_text *part) {
    (void)r, (void)to;
    *part = record;
    return UMBEL_FOUND_KEY;
}

static umbel_found select_none(const umbel_recipe *r, umbeli_text record, uint8_t **to,
                               umbeli_text *part) {
    (void)r, (void)record, (void)to, (void)part;
    return UMBEL_FOUND_NOTHING;
}

/* The selection for records without quotes. */
static umbeli_select *selection(const umbel_recipe *r, umbel_recipe_use use, bool lookup) {
    if (use == UMBEL_USE_KEY || use == UMBEL_USE_HOST) {
        if (!umbeli_has(r, UMBELI_WORD_DOMAIN)) return select_line;
        return use == UMBEL_USE_KEY ? umbeli_select_host : umbeli_select_authority;
    }
    switch (r->head) {
    case UMBELI_WORD_DOMAIN: return lookup ? umbeli_select_asked : umbeli_select_entry;
    case UMBELI_WORD_COLUMN: return r->parts[0].first ? umbeli_select_fields : select_none;
    case UMBELI_WORD_FIELD: return umbeli_select_fields;
    case UMBELI_WORD_JSON: return umbeli_select_json;
    default: return select_line;
    }
}

/* Where the next quote of a batch is: one search finds that thousands of records have none. */
typedef struct quotes {
    const uint8_t *from, *end; /* a run of records, one byte apart */
    const uint8_t *quote;      /* the first after the record that was checked last, or the end */
} quotes;

/* Whether record i has a quote. */
static bool has_quote(quotes *q, const umbel_key *records, size_t i, size_t n) {
    const uint8_t *at = records[i].data, *end = at + records[i].len;
    if (records[i].len == 0) return false;
    bool known = at >= q->from && end <= q->end;
    if (!known) {
        q->from = at;
        q->end = end;
        while (++i < n && records[i].data == q->end + 1) q->end += 1 + records[i].len;
    }
    if (!known || q->quote < at) {
        q->quote = memchr(at, '"', (size_t)(q->end - at));
        if (!q->quote) q->quote = q->end;
    }
    return q->quote < end;
}

size_t umbel_recipe_apply(const umbel_recipe *recipe, umbel_recipe_use use, umbel_key *records,
                          size_t n, void *scratch, uint8_t *states) {
    if (recipe->plain) {
        if (n) memset(states, UMBEL_FOUND_KEY, n);
        return n;
    }
    bool lookup = (use & UMBEL_USE_LOOKUP) != 0;
    use = (umbel_recipe_use)(use & (UMBEL_USE_LOOKUP - 1u));
    umbeli_select *pick = selection(recipe, use, lookup);
    bool csv = umbeli_has(recipe, UMBELI_WORD_CSV) && pick == umbeli_select_fields;
    bool crlf =
        umbeli_has(recipe, UMBELI_WORD_CRLF) && use != UMBEL_USE_KEY && use != UMBEL_USE_HOST;
    uint8_t *to = scratch;
    quotes q = {0};
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        umbeli_text record = {records[i].data, records[i].len}, key = {0};
        bool quoted = csv && has_quote(&q, records, i, n);
        if (crlf && record.len && record.at[record.len - 1] == '\r') record.len--;
        umbel_found state = (quoted ? umbeli_select_quoted : pick)(recipe, record, &to, &key);
        if (state == UMBEL_FOUND_KEY) {
            key = normalised(recipe, key, &to);
            state = meant(recipe, use, lookup, &key, &to);
        }
        records[i] = state ? (umbel_key){NULL, 0} : (umbel_key){key.at, key.len};
        states[i] = (uint8_t)state;
        found += !state;
    }
    return found;
}

size_t umbel_recipe_room(const umbel_recipe *recipe, size_t records, size_t bytes) {
    const umbel_recipe *r = recipe;
    if (r->plain) return 0;
    double n = (double)records, all = (double)bytes, selected = all, room = 0;
    if (r->several) {
        /* Each part of the list is at most the record, quoted; then there is the unquoted
         * record. */
        selected = (double)r->part_count * 3 * (all + n) +
                   (umbeli_has(r, UMBELI_WORD_MISSING) ? r->max_parts * n : 0);
        room = selected + all;
    } else if (umbeli_has(r, UMBELI_WORD_CSV) || r->head == UMBELI_WORD_JSON) {
        room = all;
    }
    if (r->change) room += selected;
    if (umbeli_has(r, UMBELI_WORD_DOMAIN)) room += all; /* a host is cleaned and decoded */
    if (r->meaning) {
        const umbeli_digest *digest = &r->meaning->digest;
        if (umbeli_has(r, UMBELI_WORD_TYPE) || digest->utf16) room += 2 * selected;
        room += (2 * digest->bytes > VALUE_MAX ? 2 * (double)digest->bytes : VALUE_MAX) * n;
    }
    /* Nobody has that much memory, and the product must not wrap. */
    return room < (double)(SIZE_MAX / 2) ? (size_t)room : SIZE_MAX;
}

uint32_t umbel_recipe_traits(const umbel_recipe *recipe) {
    return recipe->traits;
}

/* Text of any kind has a digest, if it is found. */
const char *umbel_recipe_expects(const umbel_recipe *recipe) {
    const char *what = NULL;
    if (umbeli_has(recipe, UMBELI_WORD_TYPE)) return umbeli_type_expects(recipe->type);
    for (unsigned i = 0; i < UMBELI_WORDS; i++) {
        const umbeli_word *row = &umbeli_words[i];
        if (!umbeli_has(recipe, (umbeli_word_id)i) || !row->expects) continue;
        if (!what || !row->digest.bytes) what = row->expects;
    }
    return what;
}
