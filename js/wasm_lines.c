/* SPDX-License-Identifier: MIT
 *
 * wasm_lines.c - lines of text into filters, and lines that a filter may hold: the page's batches
 *
 * The page reads a file in pieces.  Each call takes the lines that end in the piece and says how
 * many bytes that was; the rest comes again in front of the next piece.  What a line's key is says
 * the filter's umbel_key_rule, as for the umbel command.
 */
#include <string.h>

#include "umbel_foreign.h"
#include "umbel_meta.h"
#include "wasm_exports.h"

enum { BATCH = 4096 };

typedef struct span {
    const uint8_t *at;
    size_t len;
} span;

typedef struct lines {
    const uint8_t *at, *end;
    bool last; /* what is left behind the last newline is a line, too */
} lines;

static umbel_key keys[BATCH];
static span whole[BATCH];
static uint8_t hits[BATCH];
static uint32_t taken, kept; /* of the last call: lines read, bytes written */

static bool next_line(lines *l, span *line) {
    if (l->at == l->end) return false;
    const uint8_t *newline = memchr(l->at, '\n', (size_t)(l->end - l->at));
    if (!newline && !l->last) return false;
    const uint8_t *end = newline ? newline : l->end;
    *line = (span){l->at, (size_t)(end - l->at)};
    l->at = newline ? newline + 1 : l->end;
    return true;
}

EXPORT("lines_taken") uint32_t wasm_lines_taken(void) {
    return taken;
}

EXPORT("lines_kept") uint32_t wasm_lines_kept(void) {
    return kept;
}

/* Newlines among the bytes. */
EXPORT("count_lines") uint32_t wasm_count_lines(const uint8_t *bytes, size_t len) {
    uint32_t n = 0;
    for (size_t i = 0; i < len; i++) n += bytes[i] == '\n';
    return n;
}

/* The lines as keys for the builder.  Bytes used, or -1. */
EXPORT("build_lines")
int wasm_build_lines(umbel_builder *builder, const uint8_t *bytes, size_t len, int last) {
    lines l = {bytes, bytes + len, last != 0};
    umbel_diag diag = {0};
    span line;
    size_t n = 0;
    taken = 0;
    while (next_line(&l, &line)) {
        keys[n++] = (umbel_key){line.at, line.len};
        taken++;
        if (n < BATCH) continue;
        if (!wasm_ok(umbel_builder_add(builder, keys, n, &diag), &diag)) return -1;
        n = 0;
    }
    bool fine = wasm_ok(umbel_builder_add(builder, keys, n, &diag), &diag);
    return fine ? (int)(l.at - bytes) : -1;
}

/* ---- Keys of lines ---- */

static bool is_space(uint8_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static span delimited(span s, uint8_t delimiter, uint32_t field) {
    while (--field) {
        const uint8_t *cut = memchr(s.at, delimiter, s.len);
        if (!cut) return (span){s.at + s.len, 0};
        s.len -= (size_t)(cut + 1 - s.at);
        s.at = cut + 1;
    }
    const uint8_t *end = memchr(s.at, delimiter, s.len);
    if (end) s.len = (size_t)(end - s.at);
    return s;
}

static span spaced(span s, uint32_t field) {
    size_t i = 0, start = 0;
    do {
        while (i < s.len && is_space(s.at[i])) i++;
        start = i;
        while (i < s.len && !is_space(s.at[i])) i++;
    } while (--field && i < s.len);
    if (field) start = i;
    return (span){s.at + start, i - start};
}

/* The key of a line by the filter's rule, then as a value of `type`.  It lies in the line or at
 * *scratch, which moves on.  False: the text is no such value. */
static bool key_of(const umbel_key_rule *rule, int type, span s, uint8_t **scratch,
                   umbel_key *key) {
    if (rule->field) {
        s = rule->delimiter ? delimited(s, rule->delimiter, rule->field) : spaced(s, rule->field);
    }
    if (rule->trim) {
        while (s.len && is_space(s.at[s.len - 1])) s.len--;
        while (s.len && is_space(s.at[0])) s.at++, s.len--;
    }
    if (rule->lower || rule->upper) {
        uint8_t first = rule->lower ? 'A' : 'a', *to = *scratch;
        for (size_t i = 0; i < s.len; i++) {
            uint8_t letter = (uint8_t)(s.at[i] - first) < 26;
            to[i] = s.at[i] ^ (uint8_t)(letter << 5);
        }
        s.at = to;
        *scratch += s.len;
    }
    *key = (umbel_key){s.at, s.len};
    if (type == UMBEL_TYPE_STRING) return true;
    size_t cap = 2 * s.len + 8;
    if (umbel_typed_key((umbel_type)type, s.at, s.len, *scratch, cap, &key->len, NULL)) {
        return false;
    }
    key->data = *scratch;
    *scratch += key->len;
    return true;
}

/* The key of one line into out, which has 3 len + 8 bytes; its length, or -1. */
EXPORT("line_key")
int wasm_line_key(const umbel_filter *f, int type, const uint8_t *line, size_t len, uint8_t *out) {
    umbel_key_rule rule;
    umbel_key key;
    umbel_get_key_rule(f, &rule);
    uint8_t *scratch = out;
    if (!key_of(&rule, type, (span){line, len}, &scratch, &key)) return -1;
    memmove(out, key.data, key.len);
    return (int)key.len;
}

/* Asks for n lines and copies those that the filter may hold to out. */
static uint8_t *ask(const umbel_filter *f, size_t n, uint8_t *out) {
    umbel_contains_many(f, keys, n, hits);
    for (size_t i = 0; i < n; i++) {
        if (!hits[i]) continue;
        memcpy(out, whole[i].at, whole[i].len);
        out += whole[i].len;
        *out++ = '\n';
    }
    return out;
}

/* Lines that may be in the filter go to out, which has len + 1 bytes; lines that are no value of
 * the type are in no filter.  scratch has 3 len + 8 (len + 1) bytes.  Bytes used. */
EXPORT("match_lines")
int wasm_match_lines(const umbel_filter *f, int type, const uint8_t *bytes, size_t len, int last,
                     uint8_t *out, uint8_t *scratch) {
    lines l = {bytes, bytes + len, last != 0};
    umbel_key_rule rule;
    span line;
    size_t n = 0;
    uint8_t *start = out, *free_room = scratch;
    umbel_get_key_rule(f, &rule);
    taken = 0;
    while (next_line(&l, &line)) {
        taken++;
        if (!key_of(&rule, type, line, &free_room, &keys[n])) continue;
        whole[n++] = line;
        if (n < BATCH) continue;
        out = ask(f, n, out);
        free_room = scratch;
        n = 0;
    }
    out = ask(f, n, out);
    kept = (uint32_t)(out - start);
    return (int)(l.at - bytes);
}
