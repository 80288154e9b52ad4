/* SPDX-License-Identifier: MIT
 *
 * recipe_json.c - members of a JSON text by path: one pass over its bytes, without a tree
 *
 * The whole text is checked (RFC 8259, UTF-8, at most 256 levels), so that what is not JSON is
 * never taken for a key.  All paths descend together: at each level a mask says which of them lead
 * here, and a value to which none leads is skipped by a loop with one bit per open bracket.
 */
#include <string.h>

#include "core/bits.h"
#include "recipe/recipe.h"

typedef struct scanner {
    const umbel_recipe *recipe;
    const uint8_t *at, *end;
    uint64_t found;                          /* paths that have led to a value, or to none */
    umbeli_text values[UMBELI_RECIPE_PARTS]; /* as they stand, quotes included */
} scanner;

static void skip_spaces(scanner *s) {
    while (s->at < s->end && (*s->at == ' ' || (*s->at >= '\t' && *s->at <= '\r' &&
                                                *s->at != '\v' && *s->at != '\f'))) {
        s->at++;
    }
}

/* The next byte that is not white space; 0 at the end. */
static uint8_t peek(scanner *s) {
    if (s->at<s->end && * s->at> ' ') return *s->at;
    skip_spaces(s);
    return s->at < s->end ? *s->at : 0;
}

static bool accept(scanner *s, uint8_t c) {
    if (peek(s) != c) return false;
    s->at++;
    return true;
}

/* ---- Strings ---- */

#define ONES UINT64_C(0x0101010101010101)
#define HIGH UINT64_C(0x8080808080808080)

/* The high bit of each byte that ends a run of plain ASCII: quotes, backslashes, control characters
 * and bytes from 0x80 on.  A byte above the first such byte may be marked wrongly. */
static uint64_t special(uint64_t x) {
    uint64_t quote = x ^ ONES * '"', slash = x ^ ONES * '\\';
    return (x | (x - ONES * ' ') | ((quote - ONES) & ~quote) | ((slash - ONES) & ~slash)) & HIGH;
}

static void skip_plain(scanner *s) {
    while (s->end - s->at >= 8) {
        uint64_t stop = special(umbeli_load_le64(s->at));
        if (stop) {
            s->at += __builtin_ctzll(stop) / 8;
            return;
        }
        s->at += 8;
    }
    while (s->at < s->end && *s->at >= ' ' && *s->at < 0x80 && *s->at != '"' && *s->at != '\\') {
        s->at++;
    }
}

/* Four hexadecimal digits; false: there are none. */
static bool hex4(const uint8_t *at, const uint8_t *end, uint32_t *unit) {
    if (end - at < 4) return false;
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = umbeli_hex_digit(at[i]);
        if (digit < 0) return false;
        *unit = *unit << 4 | (uint32_t)digit;
    }
    return true;
}

/* The code point that follows "\u" at `at`, a pair of surrogates included; the bytes that it takes,
 * or 0. */
static size_t read_escape(const uint8_t *at, const uint8_t *end, uint32_t *point) {
    uint32_t low;
    if (!hex4(at, end, point)) return 0;
    if (*point < 0xd800 || *point > 0xdfff) return 4;
    if (*point > 0xdbff || end - at < 10 || at[4] != '\\' || at[5] != 'u') return 0;
    if (!hex4(at + 6, end, &low) || low < 0xdc00 || low > 0xdfff) return 0;
    *point = 0x10000 + ((*point - 0xd800) << 10) + (low - 0xdc00);
    return 10;
}

static bool skip_escape(scanner *s) {
    if (s->end - s->at < 2) return false;
    uint8_t c = s->at[1];
    uint32_t point;
    size_t more = c == 'u' ? read_escape(s->at + 2, s->end, &point) : 0;
    if (c == 'u' ? !more : !c || !strchr("\"\\/bfnrt", c)) return false;
    s->at += 2 + more;
    return true;
}

/* One character of UTF-8 beyond ASCII. */
static bool skip_utf8(scanner *s) {
    const uint8_t *p = s->at;
    uint8_t c = p[0];
    ptrdiff_t len = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4 || s->end - p < len) return false;
    for (ptrdiff_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80) return false;
    }
    bool overlong = (c == 0xe0 && p[1] < 0xa0) || (c == 0xf0 && p[1] < 0x90);
    bool beyond = (c == 0xed && p[1] > 0x9f) || (c == 0xf4 && p[1] > 0x8f); /* surrogates, 10ffff */
    if (overlong || beyond) return false;
    s->at += len;
    return true;
}

/* The string that begins here, with its quotes; *plain: it has no escapes. */
static bool skip_string(scanner *s, bool *plain) {
    *plain = true;
    for (s->at++;;) {
        skip_plain(s);
        if (s->at == s->end || *s->at < ' ') return false;
        if (*s->at == '"') break;
        if (*s->at == '\\') {
            *plain = false;
            if (!skip_escape(s)) return false;
        } else if (!skip_utf8(s)) {
            return false;
        }
    }
    s->at++;
    return true;
}

static size_t put_utf8(uint32_t p, uint8_t *to) {
    if (p < 0x80) {
        to[0] = (uint8_t)p;
        return 1;
    }
    size_t more = p < 0x800 ? 1 : p < 0x10000 ? 2 : 3;
    for (size_t i = more; i > 0; i--, p >>= 6) to[i] = (uint8_t)(0x80 | (p & 0x3f));
    to[0] = (uint8_t)(0xf0u << (3 - more) | p);
    return more + 1;
}

/* What the next character of a well-formed string stands for, one byte of it or one escape; *at
 * moves past it. */
static size_t decode_one(const uint8_t **at, const uint8_t *end, uint8_t to[4]) {
    static const char from[] = "bfnrt", into[] = "\b\f\n\r\t";
    const uint8_t *s = *at;
    if (*s != '\\') {
        to[0] = *(*at)++;
        return 1;
    }
    const char *named = strchr(from, s[1]);
    uint32_t point = named ? (uint8_t)into[named - from] : s[1];
    *at += 2;
    if (s[1] == 'u') *at += read_escape(s + 2, end, &point);
    return put_utf8(point, to);
}

/* `to` has room for the string. */
static size_t decode(umbeli_text string, uint8_t *to) {
    const uint8_t *at = string.at, *end = at + string.len;
    size_t len = 0;
    while (at < end) {
        uint8_t one[4];
        size_t n = decode_one(&at, end, one);
        memcpy(to + len, one, n);
        len += n;
    }
    return len;
}

static bool decodes_to(umbeli_text string, const char *want, size_t len) {
    const uint8_t *at = string.at, *end = at + string.len;
    while (at < end) {
        uint8_t one[4];
        size_t n = decode_one(&at, end, one);
        if (n > len || memcmp(one, want, n) != 0) return false;
        want += n;
        len -= n;
    }
    return len == 0;
}

/* ---- Values that no path leads to ---- */

static bool skip_digits(scanner *s) {
    const uint8_t *start = s->at;
    while (s->at < s->end && umbeli_is_digit(*s->at)) s->at++;
    return s->at > start;
}

static bool skip_number(scanner *s) {
    if (*s->at == '-') s->at++;
    if (s->at < s->end && *s->at == '0') {
        s->at++;
    } else if (!skip_digits(s)) {
        return false;
    }
    if (s->at < s->end && *s->at == '.') {
        s->at++;
        if (!skip_digits(s)) return false;
    }
    if (s->at < s->end && (*s->at | 0x20) == 'e') {
        s->at++;
        if (s->at < s->end && (*s->at == '+' || *s->at == '-')) s->at++;
        if (!skip_digits(s)) return false;
    }
    return true;
}

static bool skip_literal(scanner *s, const char *text) {
    size_t len = strlen(text);
    if ((size_t)(s->end - s->at) < len || memcmp(s->at, text, len) != 0) return false;
    s->at += len;
    return true;
}

/* A string, number, true, false or null. */
static bool skip_scalar(scanner *s) {
    bool plain;
    switch (peek(s)) {
    case '"': return skip_string(s, &plain);
    case 't': return skip_literal(s, "true");
    case 'f': return skip_literal(s, "false");
    case 'n': return skip_literal(s, "null");
    case 0: return false;
    default: return skip_number(s);
    }
}

/* A member's name and the colon after it. */
static bool skip_name(scanner *s) {
    bool plain;
    return peek(s) == '"' && skip_string(s, &plain) && accept(s, ':');
}

/* Any value at this depth. */
static bool skip_value(scanner *s, unsigned outer) {
    uint64_t objects[UMBELI_JSON_DEPTH / 64] = {0}; /* a bit for each open bracket: it is a brace */
    unsigned depth = outer;
    for (;;) {
        uint8_t c = peek(s);
        bool object = c == '{';
        if (object || c == '[') {
            if (depth == UMBELI_JSON_DEPTH) return false;
            uint64_t bit = UINT64_C(1) << depth % 64, *word = &objects[depth / 64];
            *word = object ? *word | bit : *word & ~bit;
            depth++;
            s->at++;
            bool empty = peek(s) == (object ? '}' : ']');
            if (!empty && object && !skip_name(s)) return false;
            if (!empty) continue;
        } else if (!skip_scalar(s)) {
            return false;
        }
        /* After a value, or before the end of an empty container. */
        for (;;) {
            if (depth == outer) return true;
            object = objects[(depth - 1) / 64] >> (depth - 1) % 64 & 1;
            if (accept(s, object ? '}' : ']')) {
                depth--;
                continue;
            }
            if (!accept(s, ',') || (object && !skip_name(s))) return false;
            break;
        }
    }
}

/* ---- Paths ---- */

/* Which of the paths in `mask` step into the member with this name; plain: it has no escapes. */
static uint64_t into_member(const scanner *s, uint64_t mask, unsigned depth, umbeli_text name,
                            bool plain) {
    uint64_t into = 0;
    const umbel_recipe *r = s->recipe;
    for (uint64_t left = mask; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        const umbeli_step *step = &r->steps[r->parts[i].step + depth];
        const char *want = r->names + step->name.at;
        if (step->is_index) continue;
        bool equal = plain ? name.len == step->name.len && memcmp(name.at, want, name.len) == 0
                           : decodes_to(name, want, step->name.len);
        if (equal) into |= UINT64_C(1) << i;
    }
    return into;
}

static uint64_t into_element(const scanner *s, uint64_t mask, unsigned depth, uint32_t index) {
    uint64_t into = 0;
    const umbel_recipe *r = s->recipe;
    for (uint64_t left = mask; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        const umbeli_step *step = &r->steps[r->parts[i].step + depth];
        if (step->is_index && step->index == index) into |= UINT64_C(1) << i;
    }
    return into;
}

static bool walk(scanner *s, unsigned depth, uint64_t mask);

static bool step_into(scanner *s, unsigned depth, uint64_t into) {
    if (!into) return skip_value(s, depth + 1);
    s->found |= into; /* of equal names the first counts */
    return walk(s, depth + 1, into);
}

static bool walk_object(scanner *s, unsigned depth, uint64_t mask) {
    s->at++;
    if (accept(s, '}')) return true;
    for (;;) {
        bool plain;
        if (peek(s) != '"') return false;
        const uint8_t *start = s->at + 1;
        if (!skip_string(s, &plain)) return false;
        umbeli_text name = {start, (size_t)(s->at - 1 - start)};
        uint64_t left = mask & ~s->found;
        uint64_t into = left ? into_member(s, left, depth, name, plain) : 0;
        if (!accept(s, ':') || !step_into(s, depth, into)) return false;
        if (accept(s, '}')) return true;
        if (!accept(s, ',')) return false;
    }
}

static bool walk_array(scanner *s, unsigned depth, uint64_t mask) {
    s->at++;
    if (accept(s, ']')) return true;
    for (uint32_t index = 0;; index += index < UINT32_MAX) {
        uint64_t left = mask & ~s->found;
        uint64_t into = left ? into_element(s, left, depth, index) : 0;
        if (!step_into(s, depth, into)) return false;
        if (accept(s, ']')) return true;
        if (!accept(s, ',')) return false;
    }
}

/* The value here, to which the first `depth` steps of the paths in `mask` have led. */
static bool walk(scanner *s, unsigned depth, uint64_t mask) {
    const umbel_recipe *r = s->recipe;
    uint64_t further = 0;
    for (uint64_t left = mask; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        if (r->parts[i].steps > depth) further |= UINT64_C(1) << i;
    }
    /* Paths that led here may still be found below; `found` is about names at one level. */
    s->found &= ~further;
    uint8_t c = peek(s);
    const uint8_t *start = s->at;
    bool fine = depth < UMBELI_JSON_DEPTH && further && c == '{'   ? walk_object(s, depth, further)
                : depth < UMBELI_JSON_DEPTH && further && c == '[' ? walk_array(s, depth, further)
                                                                   : skip_value(s, depth);
    s->found |= mask;
    for (uint64_t left = mask & ~further; left; left &= left - 1) {
        s->values[__builtin_ctzll(left)] = (umbeli_text){start, (size_t)(s->at - start)};
    }
    return fine;
}

/* The text of a value; strings are decoded to *to. */
static umbel_found scalar(const umbel_recipe *r, umbeli_text value, uint8_t **to,
                          umbeli_text *part) {
    *part = value;
    if (!value.at || value.at[0] == 'n') {
        *part = (umbeli_text){*to, 0};
        return umbeli_has(r, UMBELI_WORD_MISSING) ? UMBEL_FOUND_KEY : UMBEL_FOUND_NOTHING;
    }
    if (value.at[0] == '{' || value.at[0] == '[') return UMBEL_FOUND_MALFORMED;
    if (value.at[0] == '"') {
        *part = (umbeli_text){value.at + 1, value.len - 2};
        if (umbeli_find(*part, '\\')) {
            size_t len = decode(*part, *to);
            *part = (umbeli_text){*to, len};
            *to += len;
        }
    }
    return UMBEL_FOUND_KEY;
}

umbel_found umbeli_select_json(const umbel_recipe *r, umbeli_text record, uint8_t **to,
                               umbeli_text *part) {
    record = umbeli_unmarked(record);
    scanner s; /* not initialised as a whole: not all of its room is needed */
    s.recipe = r, s.at = record.at, s.end = record.at + record.len, s.found = 0;
    for (size_t i = 0; i < r->part_count; i++) s.values[i] = (umbeli_text){NULL, 0};
    if (!peek(&s) && s.at == s.end) return UMBEL_FOUND_NOTHING;
    uint64_t all = UINT64_MAX >> (64 - r->part_count);
    if (!walk(&s, 0, all)) return UMBEL_FOUND_MALFORMED;
    if (peek(&s) || s.at < s.end) return UMBEL_FOUND_MALFORMED;
    if (!r->several) return scalar(r, s.values[0], to, part);

    /* Scratch holds the decoded parts first, then the joined key. */
    uint8_t *decoded = *to;
    *to += record.len;
    umbeli_join j = {.recipe = r, .to = *to};
    for (size_t i = 0; i < r->part_count; i++) {
        uint8_t *next = decoded;
        umbeli_text value;
        umbel_found found = scalar(r, s.values[i], &next, &value);
        if (found) return found;
        umbeli_join_part(&j, umbeli_has(r, UMBELI_WORD_TRIM) ? umbeli_trimmed(value) : value);
    }
    *part = umbeli_join_end(&j, to);
    return UMBEL_FOUND_KEY;
}
