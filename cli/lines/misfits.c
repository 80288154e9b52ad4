/* SPDX-License-Identifier: MIT */
#include "lines/misfits.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/tally.h"

static void warn(const cli_misfits *m, const char *is, const char *are, const char *what,
                 const char *done) {
    char count[UMBEL_QUANTITY];
    if (!m->count) return;
    cli_warn(m->file, "%s %s %s: %s; the first is line %" PRIu64,
             cli_count_noun(m->count, "line", count), m->count == 1 ? is : are, what, done,
             m->line);
}

int cli_misfits_status(const cli_lines *read, const umbel_recipe *recipe, const char *done,
                       int status) {
    /* Comments in a block list lack nothing. */
    bool list = strcmp(umbel_recipe_text(recipe), "domain") == 0;
    bool json = strncmp(umbel_recipe_text(recipe), "json=", 5) == 0;
    if (!list) {
        warn(&read->nothing, "does not have", "do not have", json ? "the member" : "the field",
             done);
    }
    const char *expected = umbel_recipe_expects(recipe);
    warn(&read->malformed, "is not", "are not", expected ? expected : "well-formed", done);
    return (read->nothing.count && !list) || read->malformed.count ? CLI_INCOMPLETE : status;
}
