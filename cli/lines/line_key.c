/* SPDX-License-Identifier: MIT
 *
 * line_key.c - how a line becomes a key: line end, field, white space, case, type, in this order
 */
#include "lines/line_key.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lines/csv.h"
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

static const span no_field = {NULL, 0};

/* Field n of a line with fields between single delimiters. */
static span delimited(span line, uint8_t delimiter, uint32_t n) {
    while (--n) {
        const uint8_t *cut = memchr(line.at, delimiter, line.len);
        if (!cut) return no_field;
        line.len -= (size_t)(cut + 1 - line.at);
        line.at = cut + 1;
    }
    const uint8_t *end = memchr(line.at, delimiter, line.len);
    if (end) line.len = (size_t)(end - line.at);
    return line;
}

/* Field n of a line with fields between runs of white space.  Stops at the
 * end of the line: a filter may ask for field 2^32-1. */
static span spaced(span line, uint32_t n) {
    size_t i = 0, start = 0;
    do {
        while (i < line.len && is_space(line.at[i])) i++;
        start = i;
        while (i < line.len && !is_space(line.at[i])) i++;
    } while (--n && i < line.len);
    return n || start == i ? no_field : (span){line.at + start, i - start};
}

/* The field of CSV that begins at *at, unquoted into `to` if it is quoted; *at moves to the
 * delimiter behind it, or to the end. */
static span csv_field(span line, size_t *at, uint8_t delimiter, uint8_t *to) {
    size_t i = *at, len = 0;
    if (i == line.len || line.at[i] != '"') {
        const uint8_t *end = memchr(line.at + i, delimiter, line.len - i);
        *at = end ? (size_t)(end - line.at) : line.len;
        return (span){line.at + i, *at - i};
    }
    for (i++;; i++) {
        const uint8_t *quote = i < line.len ? memchr(line.at + i, '"', line.len - i) : NULL;
        if (!quote) {
            cli_csv_refuse("a quoted field does not end", line.at + *at, line.len - *at);
        }
        size_t n = (size_t)(quote - line.at) - i;
        memcpy(to + len, line.at + i, n);
        len += n;
        i += n + 1;
        if (i == line.len || line.at[i] != '"') break;
        to[len++] = '"'; /* two stand for one */
    }
    for (; i < line.len && line.at[i] != delimiter; i++) to[len++] = line.at[i];
    *at = i;
    return (span){to, len};
}

/* Field n of a line of CSV; `to` has room for the line. */
static span csv(span line, uint8_t delimiter, uint32_t n, uint8_t *to) {
    for (size_t at = 0;; at++) {
        span field = csv_field(line, &at, delimiter, to);
        if (--n == 0) return field;
        if (at == line.len) return no_field;
    }
}

uint8_t cli_csv_delimiter(const cli_key_rule *rule) {
    return rule->recorded.delimiter ? rule->recorded.delimiter : ',';
}

static span field_of(const cli_key_rule *rule, span line, uint32_t n, uint8_t *to) {
    uint8_t delimiter = rule->recorded.delimiter;
    if (rule->csv) return csv(line, cli_csv_delimiter(rule), n, to);
    return delimiter ? delimited(line, delimiter, n) : spaced(line, n);
}

/* Without what a line may end in, and a file begin with. */
static span header_of(const uint8_t *line, size_t len) {
    if (len && line[len - 1] == '\r') len--;
    if (len >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) return (span){line + 3, len - 3};
    return (span){line, len};
}

/* The field that begins at *at, which moves behind it and its delimiter. */
static span next_field(const cli_key_rule *rule, span line, size_t *at, uint8_t *to) {
    uint8_t delimiter = rule->recorded.delimiter;
    span rest = {line.at + *at, line.len - *at}, field;
    if (rule->csv) {
        field = csv_field(line, at, cli_csv_delimiter(rule), to);
        ++*at;
    } else {
        field = delimiter ? delimited(rest, delimiter, 1) : spaced(rest, 1);
        *at = field.at ? (size_t)(field.at - line.at) + field.len + 1 : line.len + 1;
    }
    return field;
}

uint32_t cli_find_column(const cli_key_rule *rule, const uint8_t *header, size_t len) {
    span line = header_of(header, len);
    uint8_t *to = cli_alloc(len);
    size_t want = strlen(rule->column), at = 0;
    uint32_t found = 0;
    for (uint32_t n = 1; !found && at <= line.len; n++) {
        span name = next_field(rule, line, &at, to);
        if (name.at && name.len == want && memcmp(name.at, rule->column, want) == 0) found = n;
    }
    free(to);
    return found;
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
    return !rule->crlf && !rule->recorded.trim && !rule->recorded.field && !rule->column &&
           !changes_case(rule) && rule->type == UMBEL_TYPE_STRING;
}

size_t cli_line_key_room(const cli_key_rule *rule, size_t lines, size_t len) {
    size_t room = changes_case(rule) ? len : 0;
    if (rule->csv) room += len;
    if (rule->type != UMBEL_TYPE_STRING) room += 2 * len + TYPED_NUMBER * lines;
    return room;
}

umbel_key cli_line_key(const cli_key_rule *rule, const uint8_t *line, size_t len,
                       uint8_t **scratch) {
    const umbel_key_rule *r = &rule->recorded;
    span s = {line, len};
    if (rule->crlf && s.len && s.at[s.len - 1] == '\r') s.len--;
    if (r->field) {
        s = field_of(rule, s, r->field, *scratch);
        if (s.at && s.at == *scratch) *scratch += s.len;
    }
    if (!s.at) {
        if (!rule->missing_empty) return (umbel_key){NULL, 0};
        s = (span){line, 0};
    }
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
