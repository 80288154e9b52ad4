/* SPDX-License-Identifier: MIT
 *
 * api_records.c - records and keys of files that come in pieces
 */
#include <string.h>

#include "core/diag.h"
#include "core/memory.h"
#include "recipe/recipe.h"

enum { BATCH = 4096, MAX_RECORD = 16 << 20 };

struct umbel_records {
    const umbel_recipe *recipe; /* of all files: a copy of the caller's */
    umbel_recipe *bound;        /* of this file, once its header was read; NULL: as `recipe` */
    umbel_recipe_use use;
    uint8_t separator;
    bool header_due; /* the next record is a header */
    bool last;       /* the file ends with these bytes */
    bool finished;   /* all of the file was taken: what is fed next is another file */
    bool known;      /* its first bytes are not those of something else */
    bool begun;      /* a record of it was taken */
    bool ended;      /* its last separator was not there, but added */
    umbel_unseen unseen;

    uint8_t *text; /* what was fed and not yet taken, from `at` on */
    size_t at, len, room;
    umbel_recipe_progress progress; /* over text + at */

    uint8_t *header;
    size_t header_len;
    uint8_t *scratch;
    size_t scratch_room;
    umbel_key records[BATCH], keys[BATCH];
    uint8_t states[BATCH];
};

static const umbeli_settings plain_memory = {.threads = 1};

umbel_err umbel_records_new(const umbel_recipe *recipe, umbel_recipe_use use, uint8_t separator,
                            umbel_records **out, umbel_diag *diag) {
    umbel_records *r = umbeli_new(&plain_memory, sizeof *r);
    umbel_recipe *copy = umbeli_new(&plain_memory, sizeof *copy);
    if (!r || !copy) {
        umbeli_delete(&plain_memory, r);
        umbeli_delete(&plain_memory, copy);
        return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for records");
    }
    *copy = *recipe;
    *r = (umbel_records){.recipe = copy, .use = use, .separator = separator};
    r->header_due = umbeli_has(recipe, UMBELI_WORD_HEADER);
    *out = r;
    return UMBEL_OK;
}

void umbel_records_free(umbel_records *records) {
    if (!records) return;
    void *own[] = {(void *)(uintptr_t)records->recipe,
                   records->bound,
                   records->text,
                   records->header,
                   records->scratch,
                   records};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) umbeli_delete(&plain_memory, own[i]);
}

/* Room for `need` bytes, of which the first `used` are kept. */
static umbel_err grow(uint8_t **bytes, size_t *room, size_t used, size_t need, umbel_diag *diag) {
    if (need <= *room) return UMBEL_OK;
    size_t more = need / 4 < SIZE_MAX - need ? need + need / 4 : need;
    uint8_t *bigger = more == SIZE_MAX ? NULL : umbeli_new(&plain_memory, more);
    if (!bigger) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for records");
    if (used) memcpy(bigger, *bytes, used);
    umbeli_delete(&plain_memory, *bytes);
    *bytes = bigger;
    *room = more;
    return UMBEL_OK;
}

static void begin_file(umbel_records *r) {
    umbel_recipe_free(r->bound);
    umbeli_delete(&plain_memory, r->header);
    r->bound = NULL;
    r->header = NULL;
    r->header_len = 0;
    r->header_due = umbeli_has(r->recipe, UMBELI_WORD_HEADER);
    r->finished = r->last = r->known = r->begun = r->ended = false;
    r->progress = (umbel_recipe_progress){0};
}

/* Moves what was not taken yet to the front. */
static void compact(umbel_records *r) {
    r->len -= r->at;
    if (r->at && r->len) memmove(r->text, r->text + r->at, r->len);
    r->progress.at -= r->at;
    r->progress.whole = r->progress.whole > r->at ? r->progress.whole - r->at : 0;
    r->at = 0;
}

umbel_err umbel_records_feed(umbel_records *records, const void *bytes, size_t len, bool last,
                             umbel_diag *diag) {
    umbel_records *r = records;
    if (r->last && !r->finished) {
        return umbeli_invalid(diag, "the previous file was not read to its end");
    }
    compact(r);
    if (r->finished) begin_file(r);
    if (len > SIZE_MAX - 1 - r->len)
        return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for records");
    umbel_err e = grow(&r->text, &r->room, r->len, r->len + len + 1, diag);
    if (e) return e;
    if (len) memcpy(r->text + r->len, bytes, len);
    r->len += len;
    r->last = last;
    /* Each record ends in a separator. */
    r->ended = last && r->len && r->text[r->len - 1] != r->separator;
    if (r->ended) r->text[r->len++] = r->separator;
    umbel_recipe_scan(r->recipe, r->separator, &r->progress, r->text, r->len);
    if (last) r->progress.whole = r->len;
    return UMBEL_OK;
}

/* Refuses what is not lines; *wait: more bytes are needed to know. */
static umbel_err look(umbel_records *r, bool *wait, umbel_diag *diag) {
    *wait = false;
    if (r->known || r->len == r->at) return UMBEL_OK;
    size_t len = r->len - r->at - r->ended;
    umbel_input is = umbel_input_look(r->text + r->at, len, r->separator, wait);
    *wait = *wait && !is && !r->last;
    r->known = !is && !*wait;
    return umbel_input_refuse(is, diag);
}

static void count_unseen(umbel_records *r, size_t len, bool begins) {
    const umbel_recipe *recipe = r->bound ? r->bound : r->recipe;
    umbel_unseen_count(recipe, r->use, r->separator, r->text + r->at, len, begins, &r->unseen);
}

/* Reads the first record of a file. */
static umbel_err read_header(umbel_records *r, umbel_diag *diag) {
    const uint8_t *text = r->text + r->at;
    size_t whole = r->progress.whole - r->at;
    size_t len = umbel_recipe_first(r->recipe, r->separator, text, whole);
    if (len == whole) len--; /* an open quote */
    umbel_err e = umbel_recipe_bind(r->recipe, text, len, &r->bound, diag);
    if (e) return e;
    r->header = umbeli_new(&plain_memory, len + 1);
    if (!r->header) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for records");
    memcpy(r->header, text, len);
    r->header_len = len;
    r->header_due = false;
    r->at += len + 1;
    return UMBEL_OK;
}

static size_t next_quote(const umbel_records *r, const uint8_t *text, size_t at, size_t len) {
    const uint8_t *quote = umbeli_has(r->recipe, UMBELI_WORD_CSV) && at < len
                               ? memchr(text + at, '"', len - at)
                               : NULL;
    return quote ? (size_t)(quote - text) : len;
}

/* The next records of text, which ends with a separator; at most BATCH.  *used is the end of the
 * last. */
static size_t split(umbel_records *r, const uint8_t *text, size_t len, size_t *used) {
    size_t n = 0, at = 0, quote = next_quote(r, text, 0, len);
    for (; at < len && n < BATCH; n++) {
        const uint8_t *end = memchr(text + at, r->separator, len - at);
        size_t record = (size_t)(end - text) - at;
        if (at + record > quote) {
            record = umbel_recipe_first(r->recipe, r->separator, text + at, len - at);
            if (record == len - at) record--; /* an open quote: all that is left is one record */
            quote = next_quote(r, text, at + record, len);
        }
        r->records[n] = (umbel_key){text + at, record};
        at += record + 1;
    }
    *used = at;
    return n;
}

static umbel_err too_long(umbel_diag *diag) {
    return umbeli_fail(diag, UMBEL_ELIMIT, "a record has more than 16 MiB; a quote may be missing");
}

static umbel_err make_keys(umbel_records *r, size_t n, size_t len, umbel_records_batch *out,
                           umbel_diag *diag) {
    const umbel_recipe *recipe = r->bound ? r->bound : r->recipe;
    umbel_err e = grow(&r->scratch, &r->scratch_room, 0, umbel_recipe_room(recipe, n, len), diag);
    if (e) return e;
    memcpy(r->keys, r->records, n * sizeof *r->keys);
    (void)umbel_recipe_apply(recipe, r->use, r->keys, n, r->scratch, r->states);
    *out =
        (umbel_records_batch){.n = n, .records = r->records, .keys = r->keys, .states = r->states};
    for (size_t i = 0; i < n; i++) {
        out->nothing += r->states[i] == UMBEL_FOUND_NOTHING;
        out->malformed += r->states[i] == UMBEL_FOUND_MALFORMED;
    }
    return UMBEL_OK;
}

umbel_err umbel_records_next(umbel_records *records, umbel_records_batch *out, umbel_diag *diag) {
    umbel_records *r = records;
    bool wait;
    *out = (umbel_records_batch){0};
    umbel_err e = look(r, &wait, diag);
    if (e || wait) return e;
    if (r->header_due && r->progress.whole > r->at) {
        e = read_header(r, diag);
        if (e) return e;
    }
    if (r->progress.whole <= r->at) {
        r->finished = r->last;
        return r->len - r->at > MAX_RECORD ? too_long(diag) : UMBEL_OK;
    }
    size_t used = 0, n = split(r, r->text + r->at, r->progress.whole - r->at, &used);
    for (size_t i = 0; i < n; i++) {
        if (r->records[i].len > MAX_RECORD) return too_long(diag);
    }
    e = make_keys(r, n, used, out, diag);
    if (e) return e;
    count_unseen(r, used, !r->begun && !umbeli_has(r->recipe, UMBELI_WORD_HEADER));
    r->begun = true;
    r->at += used;
    return UMBEL_OK;
}

void umbel_records_unseen(const umbel_records *records, umbel_unseen *out) {
    *out = records->unseen;
}

umbel_key umbel_records_header(const umbel_records *records) {
    return (umbel_key){records->header, records->header_len};
}
