/* SPDX-License-Identifier: MIT
 *
 * words.c - the words of recipes: all that the parser, the text, the keys and the command's options
 *           need to know about each
 */
#include "recipe/words.h"

#include "hash/digest.h"

#define BIT(word) (UINT32_C(1) << UMBELI_WORD_##word)

enum {
    NO_FIELDS = BIT(CSV) | BIT(LINE) | BIT(JSON) | BIT(DOMAIN),
    WHOLE = BIT(LINE) | BIT(DOMAIN)
};

static const char needs_fields[] = "needs field= or column=";

const char *const umbeli_group_wrong[] = {
    [UMBEL_WORD_SELECT] = "the key is selected twice",
    [UMBEL_WORD_TRIM] = "is given twice",
    [UMBEL_WORD_CASE] = "lower and upper exclude each other",
    [UMBEL_WORD_MEANING] = "only one of the words that give a key its meaning is possible",
};

const char umbeli_beginning_wrong[] =
    "a recipe begins with csv, line, field=, column=, json= or domain";

const umbeli_word umbeli_words[UMBELI_WORDS] = {
    [UMBELI_WORD_CSV] = {.name = "csv",
                         .group = UMBEL_WORD_FIELDS,
                         .begins = true,
                         .traits = UMBEL_RECIPE_CSV,
                         .never_with = NO_FIELDS,
                         .why = needs_fields,
                         .expects = "CSV whose quotes close",
                         .option = "csv",
                         .help = "fields are those of CSV (RFC 4180), separated by commas or -t C; "
                                 "quoted ones may contain separators and line breaks"},
    [UMBELI_WORD_LINE] = {.name = "line", .begins = true, .group = UMBEL_WORD_SELECT},
    [UMBELI_WORD_FIELD] = {.name = "field=",
                           .begins = true,
                           .group = UMBEL_WORD_SELECT,
                           .read = umbeli_read_fields,
                           .write = umbeli_write_parts},
    [UMBELI_WORD_COLUMN] = {.name = "column=",
                            .begins = true,
                            .group = UMBEL_WORD_SELECT,
                            .traits = UMBEL_RECIPE_COLUMNS,
                            .read = umbeli_read_columns,
                            .write = umbeli_write_parts},
    [UMBELI_WORD_JSON] = {.name = "json=",
                          .begins = true,
                          .group = UMBEL_WORD_SELECT,
                          .read = umbeli_read_paths,
                          .write = umbeli_write_parts,
                          .expects = "JSON with a scalar at the path"},
    [UMBELI_WORD_DELIMITER] = {.name = "delimiter=",
                               .group = UMBEL_WORD_FIELDS,
                               .read = umbeli_read_delimiter,
                               .write = umbeli_write_delimiter,
                               .never_with = NO_FIELDS,
                               .why = needs_fields},
    [UMBELI_WORD_HEADER] = {.name = "header",
                            .group = UMBEL_WORD_FIELDS,
                            .traits = UMBEL_RECIPE_HEADER,
                            .never_with = BIT(JSON) | BIT(DOMAIN),
                            .why = "such files have no header",
                            .option = "header",
                            .help = "the first line of each file is a header, not a key"},
    [UMBELI_WORD_CRLF] = {.name = "crlf",
                          .traits = UMBEL_RECIPE_CRLF,
                          .option = "crlf",
                          .help = "a carriage return before the newline is not part of the key"},
    [UMBELI_WORD_TRIM] = {.name = "trim",
                          .group = UMBEL_WORD_TRIM,
                          .option = "trim",
                          .help = "strip white space from both ends of the key"},
    [UMBELI_WORD_LOWER] = {.name = "lower",
                           .group = UMBEL_WORD_CASE,
                           .change = umbeli_to_lower,
                           .option = "lower",
                           .help = "lowercase the key (ASCII only)"},
    [UMBELI_WORD_UPPER] = {.name = "upper",
                           .group = UMBEL_WORD_CASE,
                           .change = umbeli_to_upper,
                           .option = "upper",
                           .help = "uppercase the key (ASCII only)"},
    [UMBELI_WORD_DOMAIN] = {.name = "domain",
                            .begins = true,
                            .group = UMBEL_WORD_MEANING,
                            .traits = UMBEL_RECIPE_PARENTS,
                            .mean = umbeli_as_domain,
                            .expects = "a domain name",
                            .option = "domains",
                            .help = "keys are domain names, regardless of case and of a trailing "
                                    "dot; a lookup tries the name and each parent"},
    [UMBELI_WORD_SHA1] = {.name = "sha1",
                          .group = UMBEL_WORD_MEANING,
                          .traits = UMBEL_RECIPE_DIGEST,
                          .digest = {UMBELI_SHA1_BYTES, umbeli_sha1, false},
                          .expects = "a digest",
                          .option = "sha1",
                          .help = "the key is the SHA-1 digest, in hexadecimal"},
    [UMBELI_WORD_NTLM] = {.name = "ntlm",
                          .group = UMBEL_WORD_MEANING,
                          .traits = UMBEL_RECIPE_DIGEST,
                          .digest = {UMBELI_MD4_BYTES, umbeli_md4, true},
                          .expects = "UTF-8",
                          .option = "ntlm",
                          .help = "the key is the NTLM digest, in hexadecimal"},
    [UMBELI_WORD_TYPE] = {.name = "type=",
                          .group = UMBEL_WORD_MEANING,
                          .traits = UMBEL_RECIPE_TYPED,
                          .read = umbeli_read_type,
                          .write = umbeli_write_type,
                          .mean = umbeli_as_type},
    [UMBELI_WORD_MISSING] = {.name = "missing=",
                             .value = "empty",
                             .value_wrong = "only missing=empty is known here",
                             .never_with = WHOLE,
                             .why = "a whole record is never missing",
                             .option = "missing-empty",
                             .help = "lines without the field have the empty key, instead of none"},
};
