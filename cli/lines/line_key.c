/* SPDX-License-Identifier: MIT
 *
 * line_key.c - how a line becomes a key: line end, field, white space, case, type, in this order
 */
#include "lines/line_key.h"

#include <string.h>

#include "report/error.h"
#include "umbel_foreign.h"

enum { TYPED_NUMBER = 8 }; /* bytes of the widest number */

typedef struct span {
    const uint8_t *at;
    size_t len;
} span;

/* isspace in the C locale. */
static bool is_space(uint8_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Field n of a line with fields between single delimiters; empty if there is none. */
static span delimited(span line, uint8_t delimiter, uint32_t n) {
    while (--n) {
        const uint8_t *cut = memchr(line.at, delimiter, line.len);
        if (!cut) return (span){line.at + line.len, 0};
        line.len -= (size_t)(cut + 1 - line.at);
        line.at = cut + 1;
    }
    const uint8_t *end = memchr(line.at, delimiter, line.len);
    if (end) line.len = (size_t)(end - line.at);
    return line;
}

/* Field n of a line with fields between runs of white space; empty if there is none.  Stops at the
 * end of the line: a filter may ask for field 2^32-1. */
static span spaced(span line, uint32_t n) {
    size_t i = 0, start = 0;
    do {
        while (i < line.len && is_space(line.at[i])) i++;
        start = i;
        while (i < line.len && !is_space(line.at[i])) i++;
    } while (--n && i < line.len);
    if (n) start = i;
    return (span){line.at + start, i - start};
}

static span trimmed(span s) {
    while (s.len && is_space(s.at[s.len - 1])) s.len--;
    while (s.len && is_space(s.at[0])) s.at++, s.len--;
    return s;
}

/* Branch-free, so that compilers vectorise it. */
static void change_case(const uint8_t *from, size_t len, bool lower, uint8_t *to) {
    uint8_t first = lower ? 'A' : 'a';
    for (size_t i = 0; i < len; i++) {
        uint8_t letter = (uint8_t)(from[i] - first) < 26;
        to[i] = from[i] ^ (uint8_t)(letter << 5);
    }
}

static bool changes_case(const cli_key_rule *rule) {
    return rule->recorded.lower || rule->recorded.upper;
}

/* The bytes that another system hashes for this value. */
static span typed(umbel_type type, span s, uint8_t *to) {
    size_t cap = type == UMBEL_TYPE_UTF16 ? 2 * s.len : TYPED_NUMBER, len = 0;
    if (umbel_typed_key(type, s.at, s.len, to, cap, &len, NULL)) {
        cli_die("--type", "every line must be one", "'%.*s' is not a valid %s",
                (int)(s.len < 40 ? s.len : 40), (const char *)s.at, umbel_type_name(type));
    }
    return (span){to, len};
}

bool cli_key_is_line(const cli_key_rule *rule) {
    return !rule->crlf && !rule->recorded.trim && !rule->recorded.field && !changes_case(rule) &&
           rule->type == UMBEL_TYPE_STRING;
}

size_t cli_line_key_room(const cli_key_rule *rule, size_t lines, size_t len) {
    size_t room = changes_case(rule) ? len : 0;
    if (rule->type != UMBEL_TYPE_STRING) room += 2 * len + TYPED_NUMBER * lines;
    return room;
}

umbel_key cli_line_key(const cli_key_rule *rule, const uint8_t *line, size_t len,
                       uint8_t **scratch) {
    const umbel_key_rule *r = &rule->recorded;
    span s = {line, len};
    if (rule->crlf && s.len && s.at[s.len - 1] == '\r') s.len--;
    if (r->field) s = r->delimiter ? delimited(s, r->delimiter, r->field) : spaced(s, r->field);
    if (r->trim) s = trimmed(s);
    if (changes_case(rule)) {
        change_case(s.at, s.len, r->lower, *scratch);
        s.at = *scratch;
        *scratch += s.len;
    }
    if (rule->type != UMBEL_TYPE_STRING) {
        s = typed(rule->type, s, *scratch);
        *scratch += s.len;
    }
    return (umbel_key){s.at, s.len};
}
