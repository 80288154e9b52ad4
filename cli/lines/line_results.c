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

void cli_output_header(cli_output *o, const cli_batch *b, bool *printed) {
    if (*printed || !b->header.data) return;
    cli_output_write(o, b->header.data, b->header.len);
    *printed = true;
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
