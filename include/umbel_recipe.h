/* SPDX-License-Identifier: MIT
 *
 * umbel_recipe.h - how a record of input becomes a key
 *
 *   umbel_recipe *recipe;
 *   if (umbel_recipe_parse("field=2 delimiter=tab lower", &recipe, NULL)) return 1;
 *   umbel_key key = {"7\tAda", 5};
 *   uint8_t state, scratch[64];              // umbel_recipe_room says how much is needed
 *   if (umbel_recipe_apply(recipe, UMBEL_USE_RECORD, &key, 1, scratch, &state)) {
 *       umbel_add(filter, key.data, key.len, NULL, NULL);     // "ada"
 *   }
 *   umbel_recipe_free(recipe);
 *
 * A recipe is one line of text; docs/recipes.md describes every word.  The first says which part
 * of a record is the key; the others, in any order, say what is done with it.
 *
 * The rules of umbel.h hold here as well.  A recipe never changes, so any number of threads may
 * use it.
 */
#ifndef UMBEL_RECIPE_H
#define UMBEL_RECIPE_H

#include "umbel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct umbel_recipe umbel_recipe;

/* ---- Recipes ------------------------------------------------------------------------------ */

/* Reads a recipe.  UMBEL_EINVAL when the text is not one, UMBEL_EVERSION when it has a word that is
 * unknown here; diag->field is the word (truncated to fit), diag->offset its place in the text,
 * from 0. */
UMBEL_API umbel_err umbel_recipe_parse(const char *text, umbel_recipe **out, umbel_diag *diag);
UMBEL_API void umbel_recipe_free(umbel_recipe *recipe); /* NULL is allowed                       */

/* The recipe's canonical text: equal recipes have equal texts.  Lives as long as the recipe. */
UMBEL_API const char *umbel_recipe_text(const umbel_recipe *recipe);

/* Writes a name as column= needs it, in quotes if necessary.  The text is truncated to cap bytes
 * including its NUL; returns its full length.  The members in a path of json= are quoted in the
 * same way: ."odd name". */
UMBEL_API size_t umbel_recipe_quote(const char *name, char *text, size_t cap);

typedef enum umbel_recipe_trait {
    UMBEL_RECIPE_LINE = 1,     /* the key is the record: there is nothing to apply               */
    UMBEL_RECIPE_HEADER = 2,   /* the first record of each file is a header, not a key           */
    UMBEL_RECIPE_COLUMNS = 4,  /* parts are named: use umbel_recipe_bind for each file           */
    UMBEL_RECIPE_CSV = 8,      /* records may contain separators: umbel_recipe_ends, _scan       */
    UMBEL_RECIPE_PARENTS = 16, /* of a domain name, a lookup asks for the parents as well        */
    UMBEL_RECIPE_DIGEST = 32,  /* UMBEL_USE_DIGEST makes a difference                            */
    UMBEL_RECIPE_TYPED = 64,   /* type=: for filters of other systems                            */
    UMBEL_RECIPE_CRLF = 128    /* a CR at the end of a record is not part of the key             */
} umbel_recipe_trait;

/* The traits that a recipe has, or-ed together. */
UMBEL_API uint32_t umbel_recipe_traits(const umbel_recipe *recipe);

/* From SELECT on, the words of a group exclude each other; from TRIM on, they change keys.  The
 * numbers never change. */
typedef enum umbel_word_group {
    UMBEL_WORD_RECORDS = 0, /* where a record ends, and which have no key                         */
    UMBEL_WORD_FIELDS = 1,  /* how the fields of a file are divided and named                     */
    UMBEL_WORD_SELECT = 2,  /* which part of a record is the key                                  */
    UMBEL_WORD_TRIM = 3,    /* what lies around the part                                          */
    UMBEL_WORD_CASE = 4,
    UMBEL_WORD_MEANING = 5  /* what the part stands for                                           */
} umbel_word_group;

/* A word of recipes, for programs that offer it. */
typedef struct umbel_word {
    const char *name;  /* "sha1"; with an equals sign if a value follows                          */
    const char *value; /* the only one that is possible; NULL: any, or none                       */
    umbel_word_group group;
    uint32_t traits;    /* that it gives a recipe                                                 */
    bool part;          /* of use only where a part of the record is selected                     */
    const char *option; /* of the command, without dashes, if it is this word alone; NULL: none   */
    const char *help;   /* a sentence; NULL without an option                                     */
    uint64_t reserved[4];
} umbel_word;

/* The words that are known, in the order of the canonical text, from 0; false: no more. */
UMBEL_API bool umbel_recipe_word(uint32_t index, umbel_word *out);

/* Whether two recipes make the same key from the same part, wherever in a record each finds it:
 * their trim, case and meaning are equal.  umbel_merge, umbel_intersect and umbel_is_subset refuse
 * filters whose recipes do not. */
UMBEL_API bool umbel_recipe_same_keys(const umbel_recipe *a, const umbel_recipe *b);

/* The recipe for one file: column names become numbers, found in the file's first record, which is
 * given without its separator.  A byte-order mark and a CR at the end are ignored; of two equal
 * names the first is meant.  UMBEL_EINVAL, with the name in diag->field, if there is no such
 * column.  The text stays the same.  Until it is bound, a recipe with named columns finds nothing
 * in any record. */
UMBEL_API umbel_err umbel_recipe_bind(const umbel_recipe *recipe, const void *header, size_t len,
                                      umbel_recipe **out, umbel_diag *diag);

/* ---- Keys --------------------------------------------------------------------------------- */

typedef enum umbel_recipe_use {
    UMBEL_USE_RECORD = 0, /* select a part, normalise it, give it its meaning                    */
    UMBEL_USE_KEY = 1,    /* the text was typed as a key: nothing is selected, but of a URL or
                             user@host under the recipe `domain` the host                        */
    UMBEL_USE_DIGEST = 2, /* the selected part is already the digest (UMBEL_RECIPE_DIGEST)       */
    UMBEL_USE_HOST = 3,   /* a key that is no URL: [user@]host[:port] from DNS or mail, whatever
                             other bytes are in it                                               */
    UMBEL_USE_LOOKUP = 16 /* or-ed with one of them: the key is looked up, not added.  Of a text
                             that is not a domain name, it is the longest parent that is one     */
} umbel_recipe_use;

typedef enum umbel_found {
    UMBEL_FOUND_KEY = 0,
    UMBEL_FOUND_NOTHING = 1,  /* the record does not have the part                               */
    UMBEL_FOUND_MALFORMED = 2 /* not JSON, a quote that does not close, not an int64 ...         */
} umbel_found;

/* Turns n records, without their separators, into keys in place.  states says for each whether it
 * has one (an umbel_found); if not, its data is NULL.  Returns how many have one.  Keys point into
 * their records or into scratch, which has umbel_recipe_room bytes.  Records may lie anywhere; they
 * are processed fastest if they follow each other in one text, with a byte between them. */
UMBEL_API size_t umbel_recipe_apply(const umbel_recipe *recipe, umbel_recipe_use use,
                                    umbel_key *records, size_t n, void *scratch, uint8_t *states);

/* Bytes of scratch that umbel_recipe_apply needs for this many records and bytes; 0: none. */
UMBEL_API size_t umbel_recipe_room(const umbel_recipe *recipe, size_t records, size_t bytes);

/* What a malformed record is not, as static text: "JSON with a scalar at the path", "a valid
 * int64".  NULL: no record can be malformed. */
UMBEL_API const char *umbel_recipe_expects(const umbel_recipe *recipe);

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
    UMBEL_INPUT_LINES = 0, /* nothing speaks against it                                          */
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
 * is NUL, NULs say nothing.  *more (optional): with more bytes a magic number may be complete. */
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

/* Adds to *sum what is in whole records, with their separators, of a file that `begins` with them
 * or not.  Without a recipe (NULL), the lines are the keys. */
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

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_RECIPE_H */
