/* SPDX-License-Identifier: MIT */
#include "uniq/line_times.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/tally.h"
#include "uniq/line_time.h"

static void make_room(cli_line_times *t, size_t lines) {
    if (t->room >= lines) return;
    t->room = lines + lines / 4;
    t->at = cli_realloc(t->at, t->room * sizeof *t->at);
    t->texts = cli_realloc(t->texts, t->room * sizeof *t->texts);
    t->states = cli_realloc(t->states, t->room);
}

/* A field ends at a blank, but times have blanks: it is where they begin that counts. */
static bool time_of(const cli_batch *b, size_t i, umbel_key text, uint64_t *time) {
    const uint8_t *from = text.data, *end = b->text + b->ends[i];
    bool within = from && from >= b->text + b->starts[i] && from <= end;
    return from &&
           cli_line_time((const char *)from, within ? (size_t)(end - from) : text.len, time);
}

static void count(cli_misfits *m, const cli_batch *b, size_t i) {
    if (!m->count++) *m = (cli_misfits){1, b->block.name, b->first + b->numbers[i]};
}

/* Lines before the first time count as of that time. */
static void begin(cli_line_times *t, const cli_batch *b, umbel_clock *clock) {
    for (size_t i = 0; i < b->lines && !clock->advanced; i++) clock->advanced = t->at[i];
    for (size_t i = 0; i < b->lines && !t->at[i]; i++) t->at[i] = clock->advanced;
}

void cli_line_times_read(cli_line_times *t, const cli_batch *b, umbel_clock *clock) {
    make_room(t, b->lines);
    cli_batch_keys(b, b->recipes[1], UMBEL_USE_RECORD, t->texts, t->states, &t->scratch,
                   &t->scratch_room);
    if (t->newest < clock->advanced) t->newest = clock->advanced;
    for (size_t i = 0; i < b->lines; i++) {
        uint64_t time = t->newest;
        if (!time_of(b, i, t->texts[i], &time)) count(&t->without, b, i);
        if (time + clock->step < t->newest) count(&t->late, b, i);
        if (time > t->newest) t->newest = time;
        t->at[i] = t->newest;
    }
    begin(t, b, clock);
}

static void warn(const cli_misfits *m, const char *code, const char *is, const char *are) {
    char n[UMBEL_QUANTITY];
    if (!m->count) return;
    cli_warn(code, m->file, "%s %s: taken as of the line before; the first is line %" PRIu64,
             cli_count_noun(m->count, "line", n), m->count == 1 ? is : are, m->line);
}

int cli_line_times_end(cli_line_times *t, int status) {
    warn(&t->without, "lines_without_time", "does not have a time", "do not have a time");
    warn(&t->late, "lines_late", "is more than a step late", "are more than a step late");
    free(t->at), free(t->texts), free(t->states), free(t->scratch);
    return t->without.count || t->late.count ? CLI_INCOMPLETE : status;
}
