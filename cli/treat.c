/* SPDX-License-Identifier: MIT
 *
 * treat.c - line ends, fields, white space, case, numbers: in this order
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

/* A decimal number of `bits` bits, signed or not. */
static bool decimal(struct span s, unsigned bits, uint64_t *out) {
    bool minus = s.len && s.at[0] == '-';
    uint64_t most = minus ? UINT64_C(1) << (bits - 1) : UINT64_MAX >> (64 - bits);
    uint64_t x = 0;
    if (s.len == (size_t)minus) return false;
    for (size_t i = minus; i < s.len; i++) {
        uint64_t digit = (uint64_t)s.at[i] - '0';
        if (digit > 9 || x > (most - digit) / 10) return false;
        x = x * 10 + digit;
    }
    *out = minus ? 0 - x : x;
    return true;
}

static bool encode(enum cli_coding coding, struct span s, uint8_t **scratch, umbel_key *key) {
    unsigned bytes = coding == CODING_INT64_LE ? 8 : 4;
    uint64_t x;
    if (!decimal(s, bytes * 8, &x)) return false;
    for (unsigned i = 0; i < bytes; i++) {
        unsigned shift = 8 * (coding == CODING_INT32_BE ? bytes - 1 - i : i);
        (*scratch)[i] = (uint8_t)(x >> shift);
    }
    *key = (umbel_key){*scratch, bytes};
    *scratch += bytes;
    return true;
}

bool cli_treats_nothing(const struct cli_treatment *t) {
    const umbel_treatment *r = &t->recorded;
    return !t->crlf && !r->trim && !r->lower && !r->upper && !r->field && !t->coding;
}

size_t cli_treat_room(const struct cli_treatment *t, size_t len) {
    return t->coding ? 8 : t->recorded.lower || t->recorded.upper ? len : 0;
}

bool cli_treat(const struct cli_treatment *t, const uint8_t *line, size_t len, uint8_t **scratch,
               umbel_key *key) {
    const umbel_treatment *r = &t->recorded;
    struct span s = {line, len};
    if (t->crlf && s.len && s.at[s.len - 1] == '\r') s.len--;
    if (r->field) s = r->delimiter ? delimited(s, r->delimiter, r->field) : spaced(s, r->field);
    if (r->trim) s = trimmed(s);
    if (t->coding) return encode(t->coding, s, scratch, key);
    if (r->lower || r->upper) {
        change_case(s.at, s.len, r->lower, *scratch);
        s.at = *scratch;
        *scratch += s.len;
    }
    *key = (umbel_key){s.at, s.len};
    return true;
}
