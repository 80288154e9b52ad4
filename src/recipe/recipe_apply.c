/* SPDX-License-Identifier: MIT
 *
 * recipe_apply.c - from records to keys: select, normalise, give it its meaning
 */
#include <string.h>

#include "hash/digest.h"
#include "recipe/recipe.h"

enum { HEX_MAX = 2 * UMBELI_SHA1_BYTES, VALUE_MAX = 16, DOMAIN_MAX = 253 };

/* ---- Normalising ---- */

/* Branch-free, so that compilers vectorise it. */
static void change_case(const uint8_t *from, size_t len, bool lower, uint8_t *to) {
    uint8_t first = lower ? 'A' : 'a';
    for (size_t i = 0; i < len; i++) {
        uint8_t letter = (uint8_t)(from[i] - first) < 26;
        to[i] = from[i] ^ (uint8_t)(letter << 5);
    }
}

static umbeli_text normalised(const umbel_recipe *r, umbeli_text part, uint8_t **to) {
    if (r->trim) part = umbeli_trimmed(part);
    if (r->lower || r->upper) {
        change_case(part.at, part.len, r->lower, *to);
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

static umbel_found digest_of(const umbel_recipe *r, umbeli_text *key, uint8_t **to) {
    uint8_t digest[UMBELI_SHA1_BYTES];
    if (r->meaning == UMBELI_MEANING_SHA1) {
        umbeli_sha1(key->at, key->len, digest);
        *key = put_hex(digest, UMBELI_SHA1_BYTES, to);
        return UMBEL_FOUND_KEY;
    }
    size_t len;
    if (umbel_typed_key(UMBEL_TYPE_UTF16, key->at, key->len, *to, 2 * key->len, &len, NULL)) {
        return UMBEL_FOUND_MALFORMED;
    }
    umbeli_md4(*to, len, digest);
    *key = put_hex(digest, UMBELI_MD4_BYTES, to);
    return UMBEL_FOUND_KEY;
}

/* A digest as it was read: hexadecimal of the right length, in upper case. */
static umbel_found digest_as_read(const umbel_recipe *r, umbeli_text *key, uint8_t **to) {
    size_t want = 2 * (r->meaning == UMBELI_MEANING_SHA1 ? (size_t)UMBELI_SHA1_BYTES
                                                         : (size_t)UMBELI_MD4_BYTES);
    if (key->len != want) return UMBEL_FOUND_MALFORMED;
    for (size_t i = 0; i < want; i++) {
        if (umbeli_hex_digit(key->at[i]) < 0) return UMBEL_FOUND_MALFORMED;
    }
    change_case(key->at, want, false, *to);
    key->at = *to;
    *to += want;
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

/* The last dot is left out.  A lookup asks for the parents of what is not a name, too: whoever is
 * on a list chooses the labels below it. */
static umbel_found as_domain(umbeli_text *key, bool lookup) {
    if (key->len == 0) return UMBEL_FOUND_NOTHING;
    umbeli_text t = *key;
    if (t.at[t.len - 1] == '.') t.len--;
    while (lookup && t.len && t.at[t.len - 1] == '.') t.len--;
    *key = last_labels(t);
    return key->len && (lookup || key->len == t.len) ? UMBEL_FOUND_KEY : UMBEL_FOUND_MALFORMED;
}

static umbel_found as_type(const umbel_recipe *r, umbeli_text *key, uint8_t **to) {
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
    switch (r->meaning) {
    case UMBELI_MEANING_DOMAIN: return as_domain(key, lookup);
    case UMBELI_MEANING_TYPE: return as_type(r, key, to);
    case UMBELI_MEANING_SHA1:
    case UMBELI_MEANING_NTLM:
        return use == UMBEL_USE_DIGEST ? digest_as_read(r, key, to) : digest_of(r, key, to);
    default: return UMBEL_FOUND_KEY;
    }
}

bool umbel_recipe_next(const umbel_recipe *recipe, umbel_key *key) {
    if (recipe->meaning != UMBELI_MEANING_DOMAIN || !key->len) return false;
    const uint8_t *dot = memchr(key->data, '.', key->len);
    if (!dot) return false;
    key->len -= (size_t)(dot + 1 - (const uint8_t *)key->data);
    key->data = dot + 1;
    return true;
}

/* ---- All records ---- */

static bool is_line(const umbel_recipe *r) {
    return r->head == UMBELI_HEAD_LINE && !r->crlf && !r->trim && !r->lower && !r->upper &&
           r->meaning == UMBELI_MEANING_NONE;
}

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
        if (r->meaning != UMBELI_MEANING_DOMAIN) return select_line;
        return use == UMBEL_USE_KEY ? umbeli_select_host : umbeli_select_authority;
    }
    switch (r->head) {
    case UMBELI_HEAD_DOMAIN: return lookup ? umbeli_select_asked : umbeli_select_entry;
    case UMBELI_HEAD_COLUMNS: return r->parts[0].first ? umbeli_select_fields : select_none;
    case UMBELI_HEAD_FIELDS: return umbeli_select_fields;
    case UMBELI_HEAD_JSON: return umbeli_select_json;
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
    if (is_line(recipe)) {
        if (n) memset(states, UMBEL_FOUND_KEY, n);
        return n;
    }
    bool lookup = (use & UMBEL_USE_LOOKUP) != 0;
    use = (umbel_recipe_use)(use & (UMBEL_USE_LOOKUP - 1u));
    umbeli_select *pick = selection(recipe, use, lookup);
    bool csv = recipe->csv && pick == umbeli_select_fields;
    bool crlf = recipe->crlf && use != UMBEL_USE_KEY && use != UMBEL_USE_HOST;
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
    if (is_line(r)) return 0;
    double n = (double)records, all = (double)bytes, selected = all, room = 0;
    if (r->several) {
        /* Each part of the list is at most the record, quoted; then there is the unquoted
         * record. */
        selected =
            (double)r->part_count * 3 * (all + n) + (r->missing_empty ? r->max_parts * n : 0);
        room = selected + all;
    } else if (r->csv || r->head == UMBELI_HEAD_JSON) {
        room = all;
    }
    if (r->lower || r->upper) room += selected;
    if (r->meaning == UMBELI_MEANING_DOMAIN) room += all; /* a host is cleaned and decoded */
    if (r->meaning == UMBELI_MEANING_TYPE || r->meaning == UMBELI_MEANING_NTLM) {
        room += 2 * selected;
    }
    if (r->meaning != UMBELI_MEANING_NONE) room += HEX_MAX * n;
    /* Nobody has that much memory, and the product must not wrap. */
    return room < (double)(SIZE_MAX / 2) ? (size_t)room : SIZE_MAX;
}

uint32_t umbel_recipe_traits(const umbel_recipe *recipe) {
    const umbel_recipe *r = recipe;
    bool digest = r->meaning == UMBELI_MEANING_SHA1 || r->meaning == UMBELI_MEANING_NTLM;
    return (is_line(r) && !r->header ? UMBEL_RECIPE_LINE : 0u) |
           (r->header ? UMBEL_RECIPE_HEADER : 0u) |
           (r->head == UMBELI_HEAD_COLUMNS ? UMBEL_RECIPE_COLUMNS : 0u) |
           (r->csv ? UMBEL_RECIPE_CSV : 0u) |
           (r->meaning == UMBELI_MEANING_DOMAIN ? UMBEL_RECIPE_PARENTS : 0u) |
           (digest ? UMBEL_RECIPE_DIGEST : 0u) |
           (r->meaning == UMBELI_MEANING_TYPE ? UMBEL_RECIPE_TYPED : 0u) |
           (r->crlf ? UMBEL_RECIPE_CRLF : 0u);
}

const char *umbel_recipe_expects(const umbel_recipe *recipe) {
    static const char *const values[] = {
        [UMBEL_TYPE_STRING] = NULL,
        [UMBEL_TYPE_UTF16] = "UTF-8",
        [UMBEL_TYPE_INT8] = "a valid int8",
        [UMBEL_TYPE_INT16] = "a valid int16",
        [UMBEL_TYPE_INT32] = "a valid int32",
        [UMBEL_TYPE_INT64] = "a valid int64",
        [UMBEL_TYPE_UINT8] = "a valid uint8",
        [UMBEL_TYPE_UINT16] = "a valid uint16",
        [UMBEL_TYPE_UINT32] = "a valid uint32",
        [UMBEL_TYPE_UINT64] = "a valid uint64",
        [UMBEL_TYPE_FLOAT] = "a valid float",
        [UMBEL_TYPE_DOUBLE] = "a valid double",
        [UMBEL_TYPE_UINT32BE] = "a valid uint32be",
        [UMBEL_TYPE_UUID] = "a valid uuid",
        [UMBEL_TYPE_BYTEA] = "a valid bytea",
    };
    if (recipe->meaning == UMBELI_MEANING_TYPE) return values[recipe->type];
    if (recipe->meaning == UMBELI_MEANING_DOMAIN) return "a domain name";
    if (recipe->head == UMBELI_HEAD_JSON) return "JSON with a scalar at the path";
    if (recipe->csv) return "CSV whose quotes close";
    if (recipe->meaning == UMBELI_MEANING_NTLM) return "UTF-8";
    return recipe->meaning == UMBELI_MEANING_SHA1 ? "a digest" : NULL;
}
