/* SPDX-License-Identifier: MIT
 *
 * treat.c - line ends, fields, white space, case: in this order
 */
#include "treat.h"

#include <string.h>

struct span {
    const uint8_t *at;
    size_t len;
};

/* White space as isspace has it in the C locale. */
static bool is_space(uint8_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Field n of a line whose fields lie between single delimiters; empty when there is none. */
static struct span delimited(struct span line, uint8_t delimiter, uint32_t n) {
    while (--n) {
        const uint8_t *cut = memchr(line.at, delimiter, line.len);
        if (!cut) return (struct span){line.at + line.len, 0};
        line.len -= (size_t)(cut + 1 - line.at);
        line.at = cut + 1;
    }
    const uint8_t *end = memchr(line.at, delimiter, line.len);
    if (end) line.len = (size_t)(end - line.at);
    return line;
}

/* Field n of a line whose fields lie between runs of white space. */
static struct span spaced(struct span line, uint32_t n) {
    size_t i = 0, start = 0;
    do {
        while (i < line.len && is_space(line.at[i])) i++;
        start = i;
        while (i < line.len && !is_space(line.at[i])) i++;
    } while (--n);
    return (struct span){line.at + start, i - start};
}

static struct span trimmed(struct span s) {
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

bool cli_treats_case(const struct cli_treatment *t) {
    return t->recorded.lower || t->recorded.upper;
}

bool cli_treats_nothing(const struct cli_treatment *t) {
    return !t->crlf && !t->recorded.trim && !t->recorded.field && !cli_treats_case(t);
}

umbel_key cli_treat(const struct cli_treatment *t, const uint8_t *line, size_t len,
                    uint8_t **scratch) {
    const umbel_treatment *r = &t->recorded;
    struct span s = {line, len};
    if (t->crlf && s.len && s.at[s.len - 1] == '\r') s.len--;
    if (r->field) s = r->delimiter ? delimited(s, r->delimiter, r->field) : spaced(s, r->field);
    if (r->trim) s = trimmed(s);
    if (cli_treats_case(t)) {
        change_case(s.at, s.len, r->lower, *scratch);
        s.at = *scratch;
        *scratch += s.len;
    }
    return (umbel_key){s.at, s.len};
}
