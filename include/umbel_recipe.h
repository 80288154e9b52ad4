/* SPDX-License-Identifier: MIT
 *
 * umbel_recipe.h - how a record of input becomes a key, and the recipe that travels with a filter
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
    UMBEL_RECIPE_CSV = 8,      /* records may contain separators: umbel_records.h                */
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
    UMBEL_USE_HOST = 3,   /* a key that is not a URL: [user@]host[:port] from DNS or mail, whatever
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

/* ---- The recipe of a filter --------------------------------------------------------------- */

/* How records of input became keys, for whoever looks up records later: a line of text that
 * umbel_recipe.h describes.  The filter keeps its canonical form.  A file may have a recipe with
 * words unknown here: the text is still returned, and parsing it says which word is unknown. */
UMBEL_API umbel_err umbel_set_recipe(umbel_filter *filter, const char *text, umbel_diag *diag);
/* "line" if none was set; lives until the filter or its recipe changes. */
UMBEL_API const char *umbel_get_recipe(const umbel_filter *filter);

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_RECIPE_H */
