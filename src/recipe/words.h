/* SPDX-License-Identifier: MIT
 *
 * words.h - the words of recipes, one row each
 */
#ifndef UMBELI_WORDS_H
#define UMBELI_WORDS_H

#include "core/text.h"
#include "umbel_recipe.h"

/* The rows, in the order of the canonical text. */
typedef enum umbeli_word_id {
    UMBELI_WORD_CSV,
    UMBELI_WORD_LINE,
    UMBELI_WORD_FIELD,
    UMBELI_WORD_COLUMN,
    UMBELI_WORD_JSON,
    UMBELI_WORD_DELIMITER,
    UMBELI_WORD_HEADER,
    UMBELI_WORD_CRLF,
    UMBELI_WORD_TRIM,
    UMBELI_WORD_LOWER,
    UMBELI_WORD_UPPER,
    UMBELI_WORD_DOMAIN,
    UMBELI_WORD_SHA1,
    UMBELI_WORD_NTLM,
    UMBELI_WORD_TYPE,
    UMBELI_WORD_MISSING,
    UMBELI_WORDS
} umbeli_word_id;

enum { UMBELI_DIGEST_MAX = 64 };

typedef struct umbeli_text {
    const uint8_t *at; /* NULL: there is none */
    size_t len;
} umbeli_text;

/* A recipe's text being read, and a word in it: recipe_parse.c. */
typedef struct umbeli_parser {
    const char *text, *next;
    umbel_recipe *recipe;
    size_t names; /* bytes of recipe->names that are used */
    bool several; /* a list or a range was given */
    umbel_diag *diag;
} umbeli_parser;

typedef struct umbeli_token {
    const char *at;
    size_t len;
} umbeli_token;

bool umbeli_token_is(umbeli_token w, const char *text);
umbel_err umbeli_refuse_as(const umbeli_parser *p, umbel_err err, umbeli_token w, const char *what);
umbel_err umbeli_refuse(const umbeli_parser *p, umbeli_token w, const char *what);

/* Reads what follows the equals sign of a word. */
typedef umbel_err umbeli_read_value(umbeli_parser *p, umbeli_token w, const char *value);

/* A text being written: what has room is written, all of it is counted. */
typedef struct umbeli_line {
    char *to;
    size_t cap, len;
} umbeli_line;

/* Writes it. */
typedef void umbeli_write_value(umbeli_line *l, const umbel_recipe *r);

umbeli_read_value umbeli_read_fields, umbeli_read_columns, umbeli_read_paths, umbeli_read_delimiter,
    umbeli_read_type;
umbeli_write_value umbeli_write_parts, umbeli_write_delimiter, umbeli_write_type;

/* Every byte of a part becomes another. */
typedef void umbeli_change(const uint8_t *from, size_t len, uint8_t *to);
umbeli_change umbeli_to_lower, umbeli_to_upper;

/* What a part stands for becomes the key.  *to is scratch and moves past what was written to it. */
typedef umbel_found umbeli_mean(const umbel_recipe *r, bool lookup, umbeli_text *key, uint8_t **to);
umbeli_mean umbeli_as_domain, umbeli_as_type;

/* The key is a digest of the part, or of the part as UTF-16, in upper-case hexadecimal. */
typedef struct umbeli_digest {
    size_t bytes; /* 0: not a digest */
    void (*of)(const void *bytes, size_t len, uint8_t *digest);
    bool utf16;
} umbeli_digest;

typedef struct umbeli_word {
    const char *name; /* with its equals sign, if it has a value */
    umbel_word_group group;
    uint32_t traits;         /* umbel_recipe_trait */
    const char *value;       /* the only value there is ... */
    const char *value_wrong; /* ... and the message about others */
    umbeli_read_value *read; /* any value */
    umbeli_write_value *write;
    bool begins;         /* a recipe may begin with it */
    uint32_t never_with; /* bits of the words that select the part ... */
    const char *why;     /* ... and the reason */
    umbeli_change *change;
    umbeli_mean *mean;
    umbeli_digest digest;
    const char *expects; /* what a malformed record is not; types have their own */
    const char *option;  /* of the command; NULL: none, or one with a syntax of its own */
    const char *help;
} umbeli_word;

extern const umbeli_word umbeli_words[UMBELI_WORDS];

/* Why two words of a group exclude each other, and what a recipe begins with. */
extern const char *const umbeli_group_wrong[];
extern const char umbeli_beginning_wrong[];

#endif
