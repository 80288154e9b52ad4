/* SPDX-License-Identifier: MIT
 *
 * line_results.c - the lines that a job chose, and what becomes of those without a key
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/tally.h"
#include "lines/pipeline.h"

uint64_t cli_output_lines(cli_output *o, const cli_batch *b, uint8_t want) {
    uint64_t printed = 0;
    for (size_t i = 0; i < b->lines;) {
        if (b->hits[i] != want) {
            i++;
            continue;
        }
        size_t from = i++;
        /* Adjacent lines are written together; skipped lines leave gaps. */
        while (i < b->lines && b->hits[i] == want && b->starts[i] == b->ends[i - 1] + 1) i++;
        cli_output_write(o, b->text + b->starts[from], b->ends[i - 1] + 1 - b->starts[from]);
        printed += i - from;
    }
    if (b->idle) cli_output_flush(o);
    return printed;
}

uint64_t cli_output_keys(cli_output *o, const cli_batch *b, uint8_t want, uint8_t sep) {
    uint64_t chosen = 0;
    for (size_t i = 0; i < b->lines; i++) {
        if (b->hits[i] != want) continue;
        chosen++;
        if (!b->keys[i].data) continue;
        cli_output_write(o, b->keys[i].data, b->keys[i].len);
        cli_output_write(o, &sep, 1);
    }
    if (b->idle) cli_output_flush(o);
    return chosen;
}

/* Without how the line ends. */
static size_t columns_of(const uint8_t *text, size_t len) {
    len--;
    return len && text[len - 1] == '\r' ? len - 1 : len;
}

void cli_output_header(cli_output *o, const cli_batch *b, cli_header *header) {
    const uint8_t *text = b->header.data;
    if (!text || header->mixed) return;
    if (!header->text) {
        cli_output_write(o, text, b->header.len);
        header->len = columns_of(text, b->header.len);
        header->text = cli_alloc(b->header.len);
        memcpy(header->text, text, b->header.len);
        return;
    }
    size_t len = columns_of(text, b->header.len);
    header->mixed = len != header->len || memcmp(text, header->text, len) != 0;
    if (!header->mixed) return;
    cli_warn("columns_differ", b->block.name,
             "has other columns than the header that was printed, and so have these lines");
}

static void warn(const cli_misfits *m, const char *code, const char *is, const char *are,
                 const char *what, const char *done) {
    char count[UMBEL_QUANTITY];
    if (!m->count) return;
    cli_warn(code, m->file, "%s %s %s: %s; the first is line %" PRIu64,
             cli_count_noun(m->count, "line", count), m->count == 1 ? is : are, what, done,
             m->line);
}

int cli_misfits_status(const cli_lines *read, const umbel_recipe *recipe, const char *done,
                       int status) {
    /* Comments in a block list are not expected to have a key. */
    bool list = strcmp(umbel_recipe_text(recipe), "domain") == 0;
    bool json = strncmp(umbel_recipe_text(recipe), "json=", 5) == 0;
    if (!list) {
        warn(&read->nothing, "lines_without_field", "does not have", "do not have",
             json ? "the member" : "the field", done);
    }
    const char *expected = umbel_recipe_expects(recipe);
    warn(&read->malformed, "lines_malformed", "is not", "are not",
         expected ? expected : "well-formed", done);
    return (read->nothing.count && !list) || read->malformed.count ? CLI_INCOMPLETE : status;
}
