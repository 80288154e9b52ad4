/* SPDX-License-Identifier: MIT
 *
 * umbel_records.h - files of records: where one ends, what a file is, and all keys of one
 *
 *   umbel_records *records;
 *   if (umbel_records_new(recipe, UMBEL_USE_RECORD, '\n', &records, NULL)) return 1;
 *   umbel_records_feed(records, "Ada\nGrace\n", 10, true, NULL);
 *   umbel_records_batch batch;
 *   while (!umbel_records_next(records, &batch, NULL) && batch.n) {
 *       for (size_t i = 0; i < batch.n; i++) {
 *           umbel_key key = batch.keys[i];
 *           if (key.data) umbel_add(filter, key.data, key.len, NULL, NULL);
 *       }
 *   }
 *   umbel_records_free(records);
 *
 * A companion of umbel_recipe.h, with a version of its own (docs/abi.md).  The rules of umbel.h
 * hold here as well.
 */
#ifndef UMBEL_RECORDS_H
#define UMBEL_RECORDS_H

#include "umbel_recipe.h"

#ifdef __cplusplus
extern "C" {
#endif

#define UMBEL_RECORDS_VERSION 1

/* ---- Where records end -------------------------------------------------------------------- */

/* Every separator ends a record, except in CSV (UMBEL_RECIPE_CSV), where it may be part of a quoted
 * field, so CSV is scanned in order, from the beginning of a file.  A quote opens a field only at
 * its beginning; within the field two quotes stand for one.  A quote that is never closed makes
 * everything after it one record, which umbel_recipe_apply then calls malformed.  `separator` is a
 * newline or a NUL: a property of the input, not of the recipe. */

/* How far a text that begins with a record has been scanned.  Start with zeros. */
typedef struct umbel_recipe_progress {
    size_t at;    /* everything before this has been scanned                                     */
    size_t whole; /* just after the last complete record's separator; 0: there is none           */
    bool quoted;  /* `at` lies within a quoted field                                             */
    uint64_t reserved[2];
} umbel_recipe_progress;

/* Continues the scan up to `len`, which has grown since the last call.  Works for every recipe. */
UMBEL_API void umbel_recipe_scan(const umbel_recipe *recipe, uint8_t separator,
                                 umbel_recipe_progress *progress, const void *text, size_t len);

/* The length of the text's first record without its separator; `len` if there is none. */
UMBEL_API size_t umbel_recipe_first(const umbel_recipe *recipe, uint8_t separator, const void *text,
                                    size_t len);

/* Drops the separators within quoted fields and returns how many are left: `ends` are the offsets
 * of all n separators of a text that begins with a record.  If the text ends with a separator
 * within a quoted field, that one is kept. */
UMBEL_API size_t umbel_recipe_ends(const umbel_recipe *recipe, uint8_t separator, const void *text,
                                   size_t len, uint32_t *ends, size_t n);

/* ---- What an input is --------------------------------------------------------------------- */

/* What a file that is given as lines may be instead.  Keys are bytes, so a binary file that has no
 * magic number is lines, too; its NULs are counted.  The numbers never change. */
typedef enum umbel_input {
    UMBEL_INPUT_LINES = 0, /* as far as can be seen                                          */
    UMBEL_INPUT_GZIP = 1,  /* compressed, up to LZIP                                             */
    UMBEL_INPUT_ZSTD = 2,
    UMBEL_INPUT_BZIP2 = 3,
    UMBEL_INPUT_XZ = 4,
    UMBEL_INPUT_LZ4 = 5,
    UMBEL_INPUT_LZIP = 6,
    UMBEL_INPUT_ZIP = 7,
    UMBEL_INPUT_7Z = 8,
    UMBEL_INPUT_FILTER = 9, /* of any format that these bytes show                               */
    UMBEL_INPUT_PNG = 10,
    UMBEL_INPUT_PDF = 11,
    UMBEL_INPUT_PARQUET = 12,
    UMBEL_INPUT_SQLITE = 13,
    UMBEL_INPUT_UTF16 = 14, /* its byte-order mark says which                                    */
    UMBEL_INPUT_UTF16LE = 15,
    UMBEL_INPUT_UTF16BE = 16,
    UMBEL_INPUT_UTF32 = 17
} umbel_input;

/* Bytes that are enough to look at. */
#define UMBEL_INPUT_LOOK 4096

/* What an input is that begins with these bytes and whose records end with `separator`: where that
 * is NUL, NULs say nothing.  *more (optional): these bytes may be the start of a magic number, and
 * more would tell. */
UMBEL_API umbel_input umbel_input_look(const void *first, size_t len, uint8_t separator,
                                       bool *more);
UMBEL_API bool umbel_input_packed(umbel_input input);        /* GZIP to LZIP                    */
UMBEL_API const char *umbel_input_name(umbel_input input);   /* "zstd", "PNG", "UTF-16LE"       */
UMBEL_API const char *umbel_input_text(umbel_input input);   /* "compressed with zstd"          */
UMBEL_API const char *umbel_input_remedy(umbel_input input); /* "zstd -dc FILE"; NULL: none     */

/* UMBEL_ENOTSUP, in words, unless it is lines. */
UMBEL_API umbel_err umbel_input_refuse(umbel_input input, umbel_diag *diag);

/* What cannot be seen in lines, but is part of their keys. */
typedef struct umbel_unseen {
    uint64_t returns; /* lines that end in a carriage return                                     */
    uint64_t marks;   /* files that begin with a byte-order mark                                 */
    uint64_t nuls;    /* lines with a NUL, in the first UMBEL_INPUT_LOOK bytes of each file      */
    uint64_t reserved[3];
} umbel_unseen;

/* Adds to *sum what is in these whole records, separators included. `begins`: the file begins
 * with them.  Without a recipe (NULL), the lines are the keys. */
UMBEL_API void umbel_unseen_count(const umbel_recipe *recipe, umbel_recipe_use use,
                                  uint8_t separator, const void *text, size_t len, bool begins,
                                  umbel_unseen *sum);

/* ---- Whole files -------------------------------------------------------------------------- */

/* A reader for files that come in pieces: feed a piece, take batches until one is empty, then feed
 * the next.  The reader handles headers, column names and records that span pieces. */
typedef struct umbel_records umbel_records;

typedef struct umbel_records_batch {
    size_t n;                  /* 0: feed more                                                    */
    const umbel_key *records;  /* without separators; valid until the next call                   */
    const umbel_key *keys;     /* data is NULL where there is none                                */
    const uint8_t *states;     /* umbel_found                                                     */
    size_t nothing, malformed; /* records without a key among them                               */
    uint64_t reserved[4];
} umbel_records_batch;

/* A reader of records that end with `separator`. */
UMBEL_API umbel_err umbel_records_new(const umbel_recipe *recipe, umbel_recipe_use use,
                                      uint8_t separator, umbel_records **out, umbel_diag *diag);
UMBEL_API void umbel_records_free(umbel_records *records); /* NULL is allowed                    */

/* Feeds a piece, which is copied.  `last`: the file ends with it; then a final record without a
 * separator also counts, and the next piece begins another file.  UMBEL_EINVAL if batches of the
 * previous file are left. */
UMBEL_API umbel_err umbel_records_feed(umbel_records *records, const void *bytes, size_t len,
                                       bool last, umbel_diag *diag);

/* The next batch.  UMBEL_EINVAL when a column is not in the header, UMBEL_ELIMIT for a record of
 * more than 16 MiB (CSV: a quote may be missing), UMBEL_ENOTSUP for a file that is not lines: what
 * umbel_input_look says of as much of it as was fed before the first batch. */
UMBEL_API umbel_err umbel_records_next(umbel_records *records, umbel_records_batch *out,
                                       umbel_diag *diag);

/* The header of the file that is being read, without its separator; data is NULL if there is none
 * or it has not been read yet.  Valid until the next file. */
UMBEL_API umbel_key umbel_records_header(const umbel_records *records);

/* Of all batches so far. */
UMBEL_API void umbel_records_unseen(const umbel_records *records, umbel_unseen *out);

/* ---- Lists of domains --------------------------------------------------------------------- */

/* Forms of an entry in a list of domains.  The numbers never change. */
typedef enum umbel_domain_form {
    UMBEL_DOMAIN_NONE = 0,      /* a comment, an empty line, what surrounds the entries          */
    UMBEL_DOMAIN_PLAIN = 1,     /* name   *.name   .name                                         */
    UMBEL_DOMAIN_HOSTS = 2,     /* 0.0.0.0 name                                                  */
    UMBEL_DOMAIN_ADBLOCK = 3,   /* ||name^                                                       */
    UMBEL_DOMAIN_RPZ = 4,       /* name CNAME .                                                  */
    UMBEL_DOMAIN_DNSMASQ = 5,   /* address=/name/                                                */
    UMBEL_DOMAIN_URL = 6,       /* https://name/path: its host                                   */
    UMBEL_DOMAIN_EXCEPTION = 7, /* @@||name^   name CNAME rpz-passthru.: no key                  */
    UMBEL_DOMAIN_UNKNOWN = 8
} umbel_domain_form;

/* What a line of a list of domains is, and the name in it, unchanged; data is NULL if it has none.
 * The recipe `domain` reads its records in this way. */
UMBEL_API umbel_domain_form umbel_domain_entry(const void *line, size_t len, umbel_key *name);

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_RECORDS_H */
