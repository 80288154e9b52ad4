/* SPDX-License-Identifier: MIT
 *
 * api_input.c - what an input of lines really is, and what in its lines cannot be seen
 */
#include <string.h>

#include "core/diag.h"
#include "core/memory.h"
#include "format/codec.h"
#include "recipe/recipe.h"

/* ---- What it is ---- */

enum { LOOK = UMBEL_INPUT_LOOK };

typedef struct described {
    const char *name, *text, *remedy, *refusal;
} described;

#define REFUSED(name, text) \
    { name, text, NULL, "input: " text ", not lines" }
#define CONVERTED(name, text, remedy) \
    { name, text, remedy, "input: " text "; " remedy " makes lines of it" }
#define PACKED(name) CONVERTED(name, "compressed with " name, name " -dc FILE")
#define ENCODED(name) CONVERTED(name, name " text", "iconv -f " name " -t UTF-8 FILE")

static const described kinds[] = {
    [UMBEL_INPUT_LINES] = {"lines", "lines", NULL, NULL},
    [UMBEL_INPUT_GZIP] = PACKED("gzip"),
    [UMBEL_INPUT_ZSTD] = PACKED("zstd"),
    [UMBEL_INPUT_BZIP2] = PACKED("bzip2"),
    [UMBEL_INPUT_XZ] = PACKED("xz"),
    [UMBEL_INPUT_LZ4] = PACKED("lz4"),
    [UMBEL_INPUT_LZIP] = PACKED("lzip"),
    [UMBEL_INPUT_ZIP] = CONVERTED("zip", "a ZIP archive", "unzip -p FILE"),
    [UMBEL_INPUT_7Z] = CONVERTED("7z", "a 7z archive", "7z x -so FILE"),
    [UMBEL_INPUT_FILTER] = REFUSED("filter", "a filter"),
    [UMBEL_INPUT_PNG] = REFUSED("PNG", "a PNG image"),
    [UMBEL_INPUT_PDF] = REFUSED("PDF", "a PDF document"),
    [UMBEL_INPUT_PARQUET] = REFUSED("Parquet", "a Parquet file"),
    [UMBEL_INPUT_SQLITE] = REFUSED("SQLite", "an SQLite database"),
    [UMBEL_INPUT_UTF16] = ENCODED("UTF-16"),
    [UMBEL_INPUT_UTF16LE] = ENCODED("UTF-16LE"),
    [UMBEL_INPUT_UTF16BE] = ENCODED("UTF-16BE"),
    [UMBEL_INPUT_UTF32] = ENCODED("UTF-32"),
};

static const described *of(umbel_input input) {
    static const described none = {0};
    return (size_t)input < sizeof kinds / sizeof *kinds ? &kinds[input] : &none;
}

const char *umbel_input_name(umbel_input input) {
    return of(input)->name;
}

const char *umbel_input_text(umbel_input input) {
    return of(input)->text;
}

const char *umbel_input_remedy(umbel_input input) {
    return of(input)->remedy;
}

bool umbel_input_packed(umbel_input input) {
    return input >= UMBEL_INPUT_GZIP && input <= UMBEL_INPUT_LZIP;
}

/* In that of bzip2 a dot stands for the digit of the block size. */
static const struct {
    umbel_input is;
    size_t len;
    char magic[17];
} magics[] = {
    {UMBEL_INPUT_GZIP, 3, "\x1f\x8b\x08"},
    {UMBEL_INPUT_ZSTD, 4, "\x28\xb5\x2f\xfd"},
    {UMBEL_INPUT_BZIP2, 10, "BZh.1AY&SY"},
    {UMBEL_INPUT_BZIP2, 10, "BZh.\x17\x72\x45\x38\x50\x90"}, /* of nothing */
    {UMBEL_INPUT_XZ, 6, "\xfd\x37zXZ"},
    {UMBEL_INPUT_LZ4, 4, "\x04\x22\x4d\x18"},
    {UMBEL_INPUT_LZ4, 4, "\x02\x21\x4c\x18"}, /* its older frames */
    {UMBEL_INPUT_LZIP, 5, "LZIP\x01"},
    {UMBEL_INPUT_ZIP, 4, "PK\x03\x04"},
    {UMBEL_INPUT_7Z, 6, "7z\xbc\xaf\x27\x1c"},
    {UMBEL_INPUT_PNG, 8, "\x89PNG\r\n\x1a\n"},
    {UMBEL_INPUT_PDF, 5, "%PDF-"},
    {UMBEL_INPUT_PARQUET, 5, "PAR1\x15"}, /* its first page begins */
    {UMBEL_INPUT_SQLITE, 16, "SQLite format 3"},
    {UMBEL_INPUT_UTF32, 4, "\xff\xfe\0"},
    {UMBEL_INPUT_UTF32, 4, "\0\0\xfe\xff"},
    {UMBEL_INPUT_UTF16, 2, "\xff\xfe"},
    {UMBEL_INPUT_UTF16, 2, "\xfe\xff"},
};

static umbel_input by_magic(const uint8_t *first, size_t len, bool *more) {
    *more = false;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        size_t at = 0;
        for (; at < len && at < magics[i].len; at++) {
            uint8_t want = (uint8_t)magics[i].magic[at];
            if (want == '.' ? first[at] < '1' || first[at] > '9' : first[at] != want) break;
        }
        if (at == magics[i].len) return magics[i].is;
        *more |= at == len;
    }
    return UMBEL_INPUT_LINES;
}

/* Whether it looks like UTF-16 whose high bytes are every second one, from `high` on: most units
 * are letters with a zero, no unit is NUL, and a newline is a unit of its own. */
static bool is_wide(const uint8_t *first, size_t len, size_t high) {
    size_t letters = 0, units = len / 2;
    for (size_t i = 0; i < units; i++) {
        uint8_t upper = first[2 * i + high], lower = first[2 * i + 1 - high];
        if (upper == '\n' || !lower || (lower == '\n' && upper)) return false;
        letters += !upper && lower >= ' ';
    }
    return len % 2 == 0 && letters * 2 > units;
}

umbel_input umbel_input_look(const void *first, size_t len, uint8_t separator, bool *more) {
    bool may_change;
    umbel_input is = by_magic(first, len, &may_change);
    const umbeli_codec *codec = NULL;
    /* A mark alone may be a key's bytes.  Text in UTF-16 or UTF-32 has newlines, so it has NULs; in
     * lines that end with NUL, those say nothing. */
    bool nuls = separator && len && memchr(first, 0, len < LOOK ? len : LOOK);
    bool marked = is == UMBEL_INPUT_UTF16 || is == UMBEL_INPUT_UTF32;
    if (more) *more = may_change || (marked && len < 4);
    if (marked && !nuls) is = UMBEL_INPUT_LINES;
    if (is || !len) return is;
    if (!umbeli_codec_reading(NULL, first, len, &codec, NULL)) return UMBEL_INPUT_FILTER;
    /* Keys are bytes and may hold NULs: umbel_unseen_count says so. */
    if (len > LOOK) len = LOOK;
    return !nuls                    ? UMBEL_INPUT_LINES
           : is_wide(first, len, 1) ? UMBEL_INPUT_UTF16LE
           : is_wide(first, len, 0) ? UMBEL_INPUT_UTF16BE
                                    : UMBEL_INPUT_LINES;
}

umbel_err umbel_input_refuse(umbel_input input, umbel_diag *diag) {
    const char *refusal = of(input)->refusal;
    return refusal ? umbeli_fail(diag, UMBEL_ENOTSUP, refusal) : UMBEL_OK;
}

/* ---- What cannot be seen ---- */

/* Would a record have the same key without its first `head` and its last `tail` bytes? */
static bool same_key_without(const umbel_recipe *recipe, umbel_recipe_use use, umbeli_text record,
                             size_t head, size_t tail) {
    static const umbeli_settings plain_memory = {.threads = 1};
    umbel_key keys[2] = {{record.at, record.len}, {record.at + head, record.len - head - tail}};
    uint8_t states[2] = {0};
    if (!recipe) return false;
    void *scratch = umbeli_new(&plain_memory, umbel_recipe_room(recipe, 2, 2 * record.len) + 1);
    if (!scratch) return false;
    umbel_recipe_apply(recipe, use, keys, 2, scratch, states);
    bool same = states[0] == states[1] && keys[0].len == keys[1].len &&
                (!keys[0].len || memcmp(keys[0].data, keys[1].data, keys[0].len) == 0);
    umbeli_delete(&plain_memory, scratch);
    return same;
}

/* How many lines end in a carriage return.  The first of them tells whether it matters: all lines
 * of a file are read alike. */
static uint64_t count_returns(const umbel_recipe *recipe, umbel_recipe_use use, umbeli_text text) {
    const uint8_t *at = text.at, *end = at + text.len;
    uint64_t n = 0;
    for (; at < end && (at = memchr(at, '\r', (size_t)(end - at))); at++) {
        if (at + 1 == end || at[1] != '\n') continue;
        if (n++) continue;
        const uint8_t *start = at;
        while (start > text.at && start[-1] != '\n') start--;
        umbeli_text line = {start, (size_t)(at + 1 - start)};
        if (same_key_without(recipe, use, line, 0, 1)) return 0;
    }
    return n;
}

static uint64_t count_nuls(umbeli_text text, uint8_t separator) {
    const uint8_t *at = text.at, *end = at + text.len;
    uint64_t n = 0;
    while (at && at < end && (at = memchr(at, 0, (size_t)(end - at)))) {
        n++;
        at = memchr(at, separator, (size_t)(end - at));
    }
    return n;
}

void umbel_unseen_count(const umbel_recipe *recipe, umbel_recipe_use use, uint8_t separator,
                        const void *text, size_t len, bool begins, umbel_unseen *sum) {
    umbeli_text rest = {text, len};
    if (begins && len) {
        const uint8_t *end = memchr(text, separator, len);
        umbeli_text first = {text, end ? (size_t)(end - rest.at) : len};
        if (recipe &&
            umbeli_has(recipe, UMBELI_WORD_HEADER)) { /* not a key, and read without its mark */
            size_t header = umbel_recipe_first(recipe, separator, text, len);
            header += header < len;
            rest = (umbeli_text){rest.at + header, len - header};
        } else if (umbeli_unmarked(first).len < first.len) {
            sum->marks += !same_key_without(recipe, use, first, 3, 0);
        }
    }
    if (separator == '\n' && !(recipe && umbeli_has(recipe, UMBELI_WORD_CRLF))) {
        sum->returns += count_returns(recipe, use, rest);
    }
    if (begins && separator) {
        if (rest.len > LOOK) rest.len = LOOK;
        sum->nuls += count_nuls(rest, separator);
    }
}
