/* SPDX-License-Identifier: MIT
 *
 * recipe.h - a recipe after parsing, and the steps from a record to a key
 */
#ifndef UMBELI_RECIPE_H
#define UMBELI_RECIPE_H

#include <string.h>

#include "core/text.h"
#include "recipe/words.h"
#include "umbel_foreign.h"
#include "umbel_records.h"

enum {
    UMBELI_RECIPE_TEXT = 4096, /* bytes, with the NUL */
    UMBELI_RECIPE_PARTS = 64,
    UMBELI_RECIPE_STEPS = 256,   /* of all paths */
    UMBELI_RECIPE_FIELDS = 1024, /* that a list may name */
    UMBELI_JSON_DEPTH = 256
};

/* A name within `names`. */
typedef struct umbeli_name {
    uint16_t at, len;
} umbeli_name;

/* One step of a path: a member, or an element. */
typedef struct umbeli_step {
    bool is_index;
    uint32_t index;
    umbeli_name name;
} umbeli_step;

typedef struct umbeli_part {
    uint32_t first, last; /* fields, from 1; a column's number once it is bound, 0 before */
    bool open;            /* up to the record's last field */
    bool from_end;        /* `first` is counted from the end */
    umbeli_name name;
    uint16_t step, steps; /* json: a path */
} umbeli_part;

struct umbel_recipe {
    uint32_t words, written; /* rows, as bits: those that hold, and those not implied by others */
    uint32_t traits;         /* umbel_recipe_trait */
    umbeli_word_id head;     /* the word that selects the part; UMBELI_WORD_DOMAIN if it does */
    umbeli_change *change;   /* of case; NULL: none */
    const umbeli_word *meaning; /* NULL: the part is the key */
    umbel_type type;
    bool plain;         /* the key is the record */
    bool several;       /* the key may have several parts, which are joined */
    bool spaced;        /* runs of white space delimit fields */
    uint8_t delimiter;  /* unless `spaced` */
    uint32_t max_parts; /* that are named, ranges counted */
    size_t part_count, step_count;
    umbeli_part parts[UMBELI_RECIPE_PARTS];
    umbeli_step steps[UMBELI_RECIPE_STEPS];
    char names[UMBELI_RECIPE_TEXT]; /* unquoted */
    char text[UMBELI_RECIPE_TEXT + 32];
};

static inline bool umbeli_has(const umbel_recipe *r, umbeli_word_id word) {
    return r->words >> word & 1;
}

static inline bool umbeli_selects_fields(const umbel_recipe *r) {
    return r->head == UMBELI_WORD_FIELD || r->head == UMBELI_WORD_COLUMN;
}

umbeli_text umbeli_trimmed(umbeli_text s);

/* The text without the byte-order mark that it may begin with. */
static inline umbeli_text umbeli_unmarked(umbeli_text s) {
    bool marked = s.len >= 3 && memcmp(s.at, "\xef\xbb\xbf", 3) == 0;
    return marked ? (umbeli_text){s.at + 3, s.len - 3} : s;
}

/* The first `c` in the text, or NULL. */
const uint8_t *umbeli_find(umbeli_text s, uint8_t c);

/* umbel_recipe_parse into the caller's memory. */
umbel_err umbeli_recipe_read(const char *text, umbel_recipe *r, umbel_diag *diag);

void umbeli_line_char(umbeli_line *l, char c);
void umbeli_line_put(umbeli_line *l, const char *text);
void umbeli_line_number(umbeli_line *l, uint32_t n);
void umbeli_line_name(umbeli_line *l, const char *name, size_t len); /* quoted if need be */
void umbeli_line_quoted(umbeli_line *l, const char *name, size_t len);
void umbeli_line_hex(umbeli_line *l, uint8_t c); /* 0xHH */

/* Writes the canonical text from all other members. */
void umbeli_recipe_write(umbel_recipe *r);

/* The next key to ask for after this one, such as the parent of a domain name; false
 * after the last. */
bool umbeli_recipe_next(const umbel_recipe *recipe, umbel_key *key);

/* What to call the values of this type, for texts that are not one; NULL: every text is. */
const char *umbeli_type_expects(umbel_type type);

/* ---- Selection: what it finds in one record ---- */

/* The selected part, or several joined.  *to is scratch and moves past what was written to it. */
typedef umbel_found umbeli_select(const umbel_recipe *r, umbeli_text record, uint8_t **to,
                                  umbeli_text *part);

umbeli_select umbeli_select_fields, umbeli_select_quoted, umbeli_select_json, umbeli_select_entry;
umbeli_select umbeli_select_asked;     /* an entry or, if it is none, what select_host finds */
umbeli_select umbeli_select_host;      /* of a URL, an address or a name */
umbeli_select umbeli_select_authority; /* of user@host:port: no other byte ends the host */

/* ---- Hosts: recipe_host.c ---- */

typedef struct umbeli_url_host {
    umbeli_text name; /* as it stands: umbeli_percent_decoded if the URL is special */
    bool scheme;      /* else it begins with two slashes */
    bool special;     /* http and the like */
} umbeli_url_host;

/* False: the text is not a URL. */
bool umbeli_url(umbeli_text text, umbeli_url_host *url);

/* The host of [user@]host[:[port]]; of IPv6, without its brackets. */
umbeli_text umbeli_authority_host(umbeli_text authority);

/* The text before the first of these bytes. */
umbeli_text umbeli_before_path(umbeli_text text, const char *ends);

/* Written to `to`, which may be the text itself; a % without two digits stands for itself. */
umbeli_text umbeli_percent_decoded(umbeli_text text, uint8_t *to);

/* The fields of a record, one after the other. */
typedef struct umbeli_fields {
    const umbel_recipe *recipe;
    umbeli_text rest;
    bool done, quoted; /* quoted: the record may have quoted fields */
    uint8_t *to;       /* for a field that has to be unquoted: room for the record */
} umbeli_fields;

umbeli_fields umbeli_fields_of(const umbel_recipe *r, umbeli_text record, bool quoted, uint8_t *to);
bool umbeli_next_field(umbeli_fields *f, umbeli_text *field);

/* The field of CSV that `rest` begins with, unquoted into `to` if need be; rest moves behind its
 * delimiter, and *done says that there was none.  The record is well-formed. */
umbeli_text umbeli_csv_field(umbeli_text *rest, uint8_t delimiter, bool *done, uint8_t *to);

/* The record without a byte-order mark before a quote, which still opens a field. */
umbeli_text umbeli_csv_unmarked(umbeli_text record);

/* False if a quote does not close, or if text follows a quoted field that has line breaks: its
 * quote was a stray one, and several lines were read as one record. */
bool umbeli_csv_well_formed(umbeli_text record, uint8_t delimiter);

/* A key of several parts, being assembled. */
typedef struct umbeli_join {
    const umbel_recipe *recipe;
    uint8_t *to;
    umbeli_text so_far; /* at is NULL before the first part */
    bool copied;        /* so_far lies at `to` */
    size_t parts;
} umbeli_join;

void umbeli_join_part(umbeli_join *j, umbeli_text part);
/* The key; *to moves past it if it was written there. */
umbeli_text umbeli_join_end(umbeli_join *j, uint8_t **to);

/* umbel_recipe_same_keys of two texts; one with a word that is unknown here agrees with itself
 * alone. */
bool umbeli_recipes_agree(const char *a, const char *b);

#endif
