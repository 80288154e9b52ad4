/* SPDX-License-Identifier: MIT
 *
 * csv.c - where records of CSV end
 */
#define _GNU_SOURCE /* memrchr */
#include "lines/csv.h"

#include <string.h>

#include "base/error.h"

/* The offset of the next quote, or `len`. */
static size_t next_quote(const uint8_t *text, size_t at, size_t len) {
    const uint8_t *quote = at < len ? memchr(text + at, '"', len - at) : NULL;
    return quote ? (size_t)(quote - text) : len;
}

/* Does the quote at `at`, outside of quoted fields, open one?  A record may begin with a byte-order
 * mark: that of a file is part of its first. */
static bool opens(const cli_csv *csv, const uint8_t *text, size_t at) {
    if (at == 0 || text[at - 1] == csv->sep || text[at - 1] == csv->delimiter) return true;
    if (at < 3 || memcmp(text + at - 3, "\xef\xbb\xbf", 3) != 0) return false;
    return at == 3 || text[at - 4] == csv->sep;
}

/* Behind the quote that ends the field which `at` lies in.  If there is none yet: what was scanned
 * for good, and *closed is false. */
static size_t close_field(const uint8_t *text, size_t at, size_t len, bool *closed) {
    for (;;) {
        size_t quote = next_quote(text, at, len);
        *closed = quote + 1 < len && text[quote + 1] != '"';
        if (*closed) return quote + 1;
        if (quote + 1 >= len) return quote; /* another may follow */
        at = quote + 2;
    }
}

void cli_csv_scan_on(const cli_csv *csv, cli_csv_scan *scan, const uint8_t *text, size_t len) {
    while (scan->at < len) {
        if (scan->quoted) {
            bool closed;
            scan->at = close_field(text, scan->at, len, &closed);
            scan->quoted = !closed;
            if (!closed) return;
            continue;
        }
        size_t quote = next_quote(text, scan->at, len);
        const uint8_t *last = memrchr(text + scan->at, csv->sep, quote - scan->at);
        if (last) scan->whole = (size_t)(last - text) + 1;
        if (quote < len) scan->quoted = opens(csv, text, quote);
        scan->at = quote < len ? quote + 1 : len;
    }
}

size_t cli_csv_first(const cli_csv *csv, const uint8_t *text, size_t len) {
    for (size_t at = 0;;) {
        size_t quote = next_quote(text, at, len);
        const uint8_t *end = quote > at ? memchr(text + at, csv->sep, quote - at) : NULL;
        if (end) return (size_t)(end - text);
        if (quote == len) return len;
        bool closed = true;
        at = quote + 1;
        if (opens(csv, text, quote)) at = close_field(text, at, len, &closed);
        if (!closed) return len;
    }
}

void cli_csv_refuse(const char *what, const uint8_t *field, size_t len) {
    size_t shown = 0;
    while (shown < len && shown < 40 && field[shown] >= ' ') shown++;
    cli_die("--csv", "is there a quote too many, or too few?", "%s: %.*s", what, (int)shown,
            (const char *)field);
}

size_t cli_csv_drop_quoted(const cli_csv *csv, const uint8_t *text, size_t len, uint32_t *ends,
                           size_t n) {
    size_t kept = 0, i = 0;
    for (size_t at = 0; at < len;) {
        size_t quote = next_quote(text, at, len);
        while (i < n && ends[i] < quote) ends[kept++] = ends[i++];
        at = quote + 1;
        if (quote == len || !opens(csv, text, quote)) continue;
        bool closed;
        at = close_field(text, at, len, &closed);
        if (!closed) break; /* the last record of its file: line_key.c refuses it */
        size_t before = i;
        while (i < n && ends[i] < at) i++;
        uint8_t next = text[at];
        if (i > before && next != csv->sep && next != csv->delimiter && next != '\r') {
            cli_csv_refuse("text follows a quoted field with line breaks", text + quote,
                           len - quote);
        }
    }
    /* The block ends with a separator, also after an open quote. */
    if (i < n) ends[kept++] = ends[n - 1];
    return kept;
}
