/* SPDX-License-Identifier: MIT
 *
 * line_key.c - line ends, fields, white space, case, type: in this order
 */
#include "lines/line_key.h"

#include <string.h>

#include "report/error.h"

enum { TYPED_NUMBER = 8 }; /* bytes of the longest number */

typedef struct span {
    const uint8_t *at;
    size_t len;
} span;

/* White space as isspace has it in the C locale. */
static bool is_space(uint8_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Field n of a line whose fields lie between single delimiters; empty when there is none. */
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

/* Field n of a line whose fields lie between runs of white space; empty when there is none.  Ends
 * with the line: a filter's file may name field 2^32-1. */
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

/* Without branches on the text: compilers turn this into vector code. */
static void change_case(const uint8_t *from, size_t len, bool lower, uint8_t *to) {
    uint8_t first = lower ? 'A' : 'a';
    for (size_t i = 0; i < len; i++) {
        uint8_t letter = (uint8_t)(from[i] - first) < 26;
        to[i] = from[i] ^ (uint8_t)(letter << 5);
    }
}

static bool changes_case(const cli_key_rule *t) {
    return t->recorded.lower || t->recorded.upper;
}

/* The bytes that another system hashes for the value that the text denotes. */
static span typed(umbel_type type, span s, uint8_t *to) {
    size_t cap = type == UMBEL_TYPE_UTF16 ? 2 * s.len : TYPED_NUMBER, len = 0;
    if (umbel_typed_key(type, s.at, s.len, to, cap, &len, NULL)) {
        cli_die("--type", "every line must denote such a value", "'%.*s' is no %s",
                (int)(s.len < 40 ? s.len : 40), (const char *)s.at, umbel_type_name(type));
    }
    return (span){to, len};
}

bool cli_key_is_line(const cli_key_rule *t) {
    return !t->crlf && !t->recorded.trim && !t->recorded.field && !changes_case(t) &&
           t->type == UMBEL_TYPE_STRING;
}

size_t cli_line_key_room(const cli_key_rule *t, size_t lines, size_t len) {
    size_t room = changes_case(t) ? len : 0;
    if (t->type != UMBEL_TYPE_STRING) room += 2 * len + TYPED_NUMBER * lines;
    return room;
}

umbel_key cli_line_key(const cli_key_rule *t, const uint8_t *line, size_t len, uint8_t **scratch) {
    const umbel_treatment *r = &t->recorded;
    span s = {line, len};
    if (t->crlf && s.len && s.at[s.len - 1] == '\r') s.len--;
    if (r->field) s = r->delimiter ? delimited(s, r->delimiter, r->field) : spaced(s, r->field);
    if (r->trim) s = trimmed(s);
    if (changes_case(t)) {
        change_case(s.at, s.len, r->lower, *scratch);
        s.at = *scratch;
        *scratch += s.len;
    }
    if (t->type != UMBEL_TYPE_STRING) {
        s = typed(t->type, s, *scratch);
        *scratch += s.len;
    }
    return (umbel_key){s.at, s.len};
}
