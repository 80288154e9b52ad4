/* SPDX-License-Identifier: MIT
 *
 * parse_lines.c - from text to keys, twice: by the command and by a simple model
 */
#include <stdlib.h>
#include <string.h>

#include "lines/csv.h"
#include "lines/line_key.h"
#include "lines/split.h"
#include "parse_target.h"

/* ---- Lines ---- */

static void check_split(cli_split *split, const uint8_t *text, size_t len, uint8_t sep) {
    uint32_t *ends = some_bytes((len + CLI_SPLIT_SLACK) * sizeof *ends);
    size_t n = split(text, len, sep, ends), seen = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] != sep) continue;
        insist(seen < n && ends[seen] == i, "every separator is found");
        seen++;
    }
    insist(seen == n, "and nothing else");
    free(ends);
}

/* ---- Records of CSV, byte by byte ---- */

/* The length of the record at the beginning of the text, and whether a separator ends it. */
static size_t plain_record(const cli_csv *csv, const uint8_t *text, size_t len, bool *ended) {
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    bool starts = true, quoted = false;
    size_t i = len >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
    for (; i < len; i++) {
        uint8_t c = text[i];
        if (quoted) {
            if (c == '"' && i + 1 < len && text[i + 1] == '"') {
                i++;
            } else if (c == '"') {
                quoted = false;
            }
        } else if (c == '"' && starts) {
            quoted = true;
        } else if (c == csv->sep) {
            break;
        }
        starts = !quoted && c == csv->delimiter;
    }
    *ended = i < len;
    return i;
}

static void check_csv(const cli_csv *csv, const uint8_t *text, size_t len, size_t step) {
    if (csv->sep == '"' || csv->delimiter == '"' || csv->sep == csv->delimiter) return;
    size_t whole = 0;
    for (bool ended = true; ended;) {
        size_t n = plain_record(csv, text + whole, len - whole, &ended);
        insist(cli_csv_first(csv, text + whole, len - whole) == n, "the first record");
        if (ended) whole += n + 1;
    }
    cli_csv_scan scan = {0};
    for (size_t at = 0; at < len;) {
        at = len - at < step ? len : at + step;
        cli_csv_scan_on(csv, &scan, text, at);
        insist(scan.whole <= at && scan.at <= at, "within the text");
    }
    insist(scan.whole == whole, "as many whole records, however they arrive");
}

/* ---- Keys, byte by byte ---- */

typedef struct plain {
    uint8_t *bytes;
    size_t len;
} plain;

static bool is_blank(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\v' || c == '\f' || c == '\r';
}

static void keep(plain *p, size_t from, size_t to) {
    memmove(p->bytes, p->bytes + from, to - from);
    p->len = to - from;
}

static void plain_field(plain *p, const umbel_key_rule *t) {
    size_t at = 0;
    for (uint64_t field = 1; at <= p->len; field++) {
        size_t end = at;
        if (t->delimiter) {
            while (end < p->len && p->bytes[end] != t->delimiter) end++;
        } else {
            while (at < p->len && is_blank(p->bytes[at])) at++;
            for (end = at; end < p->len && !is_blank(p->bytes[end]);) end++;
        }
        if (field == t->field) {
            keep(p, at, end);
            return;
        }
        at = end + 1;
    }
    p->len = 0;
}

static void plain_key(plain *p, const cli_key_rule *t) {
    const umbel_key_rule *r = &t->recorded;
    if (t->crlf && p->len && p->bytes[p->len - 1] == '\r') p->len--;
    if (r->field) plain_field(p, r);
    if (r->trim) {
        size_t from = 0, to = p->len;
        while (to > 0 && is_blank(p->bytes[to - 1])) to--;
        while (from < to && is_blank(p->bytes[from])) from++;
        keep(p, from, to);
    }
    for (size_t i = 0; i < p->len; i++) {
        uint8_t c = p->bytes[i];
        if (r->lower && c >= 'A' && c <= 'Z') p->bytes[i] = (uint8_t)(c + 32);
        if (r->upper && c >= 'a' && c <= 'z') p->bytes[i] = (uint8_t)(c - 32);
    }
}

static void check_line_key(const cli_key_rule *t, const uint8_t *line, size_t len) {
    size_t room = cli_line_key_room(t, 1, len);
    uint8_t *scratch = some_bytes(room), *used = scratch;
    plain p = {some_bytes(len), len};
    if (len) memcpy(p.bytes, line, len);
    umbel_key key = cli_line_key(t, line, len, &used);
    plain_key(&p, t);
    insist((size_t)(used - scratch) <= room, "no more room than was said");
    insist(key.len == p.len && (!p.len || memcmp(key.data, p.bytes, p.len) == 0), "the same key");
    if (cli_key_is_line(t)) insist(key.len == len, "the key is the line");
    free(p.bytes);
    free(scratch);
}

void parse_lines(const uint8_t *text, size_t len, const uint8_t choices[4]) {
    uint8_t sep = choices[0] & 1 ? '\n' : choices[1];
    cli_key_rule t = {
        .recorded = {.trim = choices[0] & 2,
                     .lower = (choices[0] & 12) == 4,
                     .upper = (choices[0] & 12) == 8,
                     .delimiter = choices[0] & 16 ? choices[2] : 0,
                     .field = choices[3] == 255 ? UINT32_MAX : choices[3]},
        .crlf = choices[0] & 32,
    };
    check_split(cli_split_generic, text, len, sep);
    check_split(cli_split_best(), text, len, sep);
    check_csv(&(cli_csv){sep, choices[0] & 16 ? choices[2] : ','}, text, len, 1 + choices[3] % 16);
    for (size_t at = 0; at <= len;) {
        const uint8_t *cut = at < len ? memchr(text + at, sep, len - at) : NULL;
        size_t end = cut ? (size_t)(cut - text) : len;
        check_line_key(&t, text + at, end - at);
        at = end + 1;
    }
}
