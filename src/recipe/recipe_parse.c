/* SPDX-License-Identifier: MIT
 *
 * recipe_parse.c - from text to a recipe: a table of words, lists of fields, names and paths, and
 *                  which words go together
 */
#include <string.h>

#include "core/diag.h"
#include "core/memory.h"
#include "recipe/recipe.h"

typedef struct word {
    const char *at;
    size_t len;
} word;

typedef struct parser {
    const char *text, *next;
    umbel_recipe *r;
    size_t names; /* bytes of r->names that are used */
    bool several; /* a list or a range was given */
    umbel_diag *diag;
} parser;

static umbel_err refuse_as(const parser *p, umbel_err err, word w, const char *what) {
    if (p->diag) {
        *p->diag = (umbel_diag){.what = what, .offset = (uint64_t)(w.at - p->text)};
        size_t shown = w.len < sizeof p->diag->field ? w.len : sizeof p->diag->field - 1;
        while (shown < w.len && shown && ((uint8_t)w.at[shown] & 0xc0) == 0x80) shown--;
        memcpy(p->diag->field, w.at, shown);
    }
    return err;
}

static umbel_err refuse(const parser *p, word w, const char *what) {
    return refuse_as(p, UMBEL_EINVAL, w, what);
}

static bool is(word w, const char *text) {
    return w.len == strlen(text) && memcmp(w.at, text, w.len) == 0;
}

/* ---- Lists ---- */

/* NULL: refused with UMBEL_EINVAL. */
static umbeli_part *new_part(parser *p, word w) {
    umbel_recipe *r = p->r;
    if (r->part_count == UMBELI_RECIPE_PARTS) {
        (void)refuse(p, w, "more than 64 parts");
        return NULL;
    }
    umbeli_part *part = &r->parts[r->part_count++];
    *part = (umbeli_part){0};
    return part;
}

/* A number from 1 to 2^32-1; false: there is none at *s, or a larger one. */
static bool read_number(const char **s, const char *end, uint32_t *n) {
    const char *start = *s;
    uint64_t sum = 0;
    for (; *s < end && umbeli_is_digit(**s); ++*s) {
        sum = sum * 10 + (uint64_t)(**s - '0');
        if (sum > UINT32_MAX) return false;
    }
    *n = (uint32_t)sum;
    return *s > start && sum > 0;
}

/* Two parts that follow each other are one range, so that equal lists have equal texts. */
static bool extends(const umbeli_part *last, const umbeli_part *part) {
    return !last->from_end && !part->from_end && !last->open && last->last + 1 == part->first;
}

/* 2  2-4  2-  -1 */
static umbel_err parse_range(parser *p, word w, const char **s) {
    static const char wrong[] = "fields are numbers from 1 to 4294967295, ranges such as 2-4 and "
                                "2-, or -1 for the last";
    const char *end = w.at + w.len;
    umbeli_part part = {0};
    part.from_end = *s < end && **s == '-';
    *s += part.from_end;
    if (!read_number(s, end, &part.first)) return refuse(p, w, wrong);
    part.last = part.first;
    if (*s < end && **s == '-' && !part.from_end) {
        ++*s;
        part.open = *s == end || **s == ',';
        if (!part.open && !read_number(s, end, &part.last)) return refuse(p, w, wrong);
        if (part.last < part.first) return refuse(p, w, "the range ends before it begins");
        p->several |= part.open;
    }
    if (*s < end && **s != ',') return refuse(p, w, wrong);
    umbel_recipe *r = p->r;
    uint64_t parts = r->max_parts + (uint64_t)part.last - part.first + 1;
    if (parts > UMBELI_RECIPE_FIELDS) return refuse(p, w, "more than 1024 fields");
    r->max_parts = (uint32_t)parts;
    umbeli_part *before = r->part_count ? &r->parts[r->part_count - 1] : NULL;
    if (before && extends(before, &part)) {
        before->last = part.last;
        before->open = part.open;
        return UMBEL_OK;
    }
    umbeli_part *to = new_part(p, w);
    if (!to) return UMBEL_EINVAL;
    *to = part;
    return UMBEL_OK;
}

static void begin_name(const parser *p, umbeli_name *name) {
    *name = (umbeli_name){(uint16_t)p->names, 0};
}

static void add_to_name(parser *p, umbeli_name *name, char c) {
    p->r->names[p->names++] = c;
    name->len++;
}

/* A name in quotes, at which *s points; *s moves past them. */
static umbel_err parse_quoted(parser *p, word w, const char **s, umbeli_name *name) {
    const char *end = w.at + w.len;
    begin_name(p, name);
    for (++*s; *s < end && **s != '"'; ++*s) {
        if (**s == '\\') {
            ++*s;
            if (*s == end || (**s != '"' && **s != '\\')) {
                return refuse(p, w, "in quotes, \\ stands before a quote or another \\");
            }
        }
        add_to_name(p, name, **s);
    }
    if (*s == end) return refuse(p, w, "the quotes do not close");
    ++*s;
    return UMBEL_OK;
}

static umbel_err parse_column(parser *p, word w, const char **s) {
    const char *end = w.at + w.len;
    umbeli_part *part = new_part(p, w);
    if (!part) return UMBEL_EINVAL;
    umbel_err e = UMBEL_OK;
    if (*s < end && **s == '"') {
        e = parse_quoted(p, w, s, &part->name);
    } else {
        begin_name(p, &part->name);
        for (; *s < end && **s != ','; ++*s) {
            if (strchr("\"\\=", **s)) {
                return refuse(p, w,
                              "a name with spaces, commas, quotes, backslashes or equals "
                              "signs is written in quotes");
            }
            add_to_name(p, &part->name, **s);
        }
    }
    if (!e && part->name.len == 0) return refuse(p, w, "a name is empty");
    if (!e && *s < end && **s != ',') return refuse(p, w, "a comma must follow the quotes");
    p->r->max_parts++;
    return e;
}

static bool starts_word(char c) {
    return umbeli_is_letter(c) || c == '_';
}

static bool in_word(char c) {
    return starts_word(c) || umbeli_is_digit(c);
}

static const char path_wrong[] = "a path is written as .user.email, .list[0] or .\"odd name\"";

/* .name  ."name"  [0]  .[0] */
static umbel_err parse_step(parser *p, word w, const char **s, bool first) {
    const char *end = w.at + w.len;
    umbel_recipe *r = p->r;
    if (r->step_count == UMBELI_RECIPE_STEPS) return refuse(p, w, "more than 256 steps");
    umbeli_step *step = &r->steps[r->step_count++];
    *step = (umbeli_step){0};
    bool dot = **s == '.';
    *s += dot;
    if (*s < end && **s == '[' && (!dot || first)) {
        step->is_index = true;
        const char *digits = ++*s;
        uint64_t n = 0;
        for (; *s < end && umbeli_is_digit(**s) && n <= UINT32_MAX; ++*s) {
            n = n * 10 + (uint64_t)(**s - '0');
        }
        if (*s == digits || *s == end || **s != ']') return refuse(p, w, path_wrong);
        if (n > UINT32_MAX) return refuse(p, w, "an index is at most 4294967295");
        step->index = (uint32_t)n;
        ++*s;
        return UMBEL_OK;
    }
    if (dot && *s < end && **s == '"') return parse_quoted(p, w, s, &step->name);
    if (!dot || *s == end || !starts_word(**s)) return refuse(p, w, path_wrong);
    begin_name(p, &step->name);
    for (; *s < end && in_word(**s); ++*s) add_to_name(p, &step->name, **s);
    return UMBEL_OK;
}

static umbel_err parse_path(parser *p, word w, const char **s) {
    const char *end = w.at + w.len;
    umbeli_part *part = new_part(p, w);
    if (!part) return UMBEL_EINVAL;
    umbel_err e = UMBEL_OK;
    if (*s == end || **s != '.') return refuse(p, w, path_wrong);
    part->step = (uint16_t)p->r->step_count;
    p->r->max_parts++;
    if (*s + 1 == end || (*s)[1] == ',') { /* the record itself */
        ++*s;
        return UMBEL_OK;
    }
    for (bool first = true; !e && *s < end && **s != ','; first = false) {
        e = parse_step(p, w, s, first);
    }
    part->steps = (uint16_t)(p->r->step_count - part->step);
    return e;
}

/* Parses a list with one of the functions above; the value begins at `value`. */
static umbel_err parse_list(parser *p, word w, const char *value,
                            umbel_err (*parse_item)(parser *, word, const char **)) {
    const char *s = value, *end = w.at + w.len;
    for (;;) {
        umbel_err e = parse_item(p, w, &s);
        if (e) return e;
        if (s == end) return UMBEL_OK;
        s++;
        p->several = true;
    }
}

/* ---- Words ---- */

static umbel_err parse_delimiter(parser *p, word w, const char *value) {
    static const struct {
        const char *name;
        char c;
    } names[] = {{"tab", '\t'}, {"space", ' '}, {"comma", ','}};
    word v = {value, (size_t)(w.at + w.len - value)};
    p->r->spaced = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (is(v, names[i].name)) {
            p->r->delimiter = (uint8_t)names[i].c;
            return UMBEL_OK;
        }
    }
    if (v.len == 1) {
        p->r->delimiter = (uint8_t)v.at[0];
        return UMBEL_OK;
    }
    bool hex = v.len == 4 && v.at[0] == '0' && v.at[1] == 'x';
    int high = hex ? umbeli_hex_digit(v.at[2]) : -1, low = hex ? umbeli_hex_digit(v.at[3]) : -1;
    if (high < 0 || low < 0) {
        return refuse(p, w, "a delimiter is tab, space, comma, one byte, or 0xHH");
    }
    p->r->delimiter = (uint8_t)(high << 4 | low);
    return UMBEL_OK;
}

static umbel_err parse_type(parser *p, word w, const char *value) {
    char name[16] = "";
    size_t len = (size_t)(w.at + w.len - value);
    if (len < sizeof name) memcpy(name, value, len);
    p->r->meaning = UMBELI_MEANING_TYPE;
    if (umbel_type_named(name, &p->r->type)) return UMBEL_OK;
    return refuse_as(p, UMBEL_EVERSION, w, "not a type that is known here");
}

enum {
    WORD_LINE,
    WORD_CSV,
    WORD_FIELD,
    WORD_COLUMN,
    WORD_JSON,
    WORD_DOMAIN,
    WORD_DELIMITER,
    WORD_HEADER,
    WORD_CRLF,
    WORD_TRIM,
    WORD_LOWER,
    WORD_UPPER,
    WORD_SHA1,
    WORD_NTLM,
    WORD_TYPE,
    WORD_MISSING,
    WORDS
};

static const struct {
    const char *name; /* with its equals sign, if it has a value */
    bool head;
} words[WORDS] = {
    [WORD_LINE] = {"line", true},
    [WORD_CSV] = {"csv", true},
    [WORD_FIELD] = {"field=", true},
    [WORD_COLUMN] = {"column=", true},
    [WORD_JSON] = {"json=", true},
    [WORD_DOMAIN] = {"domain", true},
    [WORD_DELIMITER] = {"delimiter=", false},
    [WORD_HEADER] = {"header", false},
    [WORD_CRLF] = {"crlf", false},
    [WORD_TRIM] = {"trim", false},
    [WORD_LOWER] = {"lower", false},
    [WORD_UPPER] = {"upper", false},
    [WORD_SHA1] = {"sha1", false},
    [WORD_NTLM] = {"ntlm", false},
    [WORD_TYPE] = {"type=", false},
    [WORD_MISSING] = {"missing=", false},
};

/* Where each word was given; at is NULL for those that were not. */
typedef struct given {
    word first, word[WORDS];
} given;

static int find_word(word w, const char **value) {
    for (int i = 0; i < WORDS; i++) {
        size_t len = strlen(words[i].name);
        bool has_value = words[i].name[len - 1] == '=';
        if (has_value ? w.len < len || memcmp(w.at, words[i].name, len) != 0
                      : !is(w, words[i].name)) {
            continue;
        }
        *value = w.at + len;
        return i;
    }
    return -1;
}

static umbel_err parse_word(parser *p, word w, int which, const char *value) {
    umbel_recipe *r = p->r;
    switch (which) {
    case WORD_FIELD: r->head = UMBELI_HEAD_FIELDS; return parse_list(p, w, value, parse_range);
    case WORD_COLUMN: r->head = UMBELI_HEAD_COLUMNS; return parse_list(p, w, value, parse_column);
    case WORD_JSON: r->head = UMBELI_HEAD_JSON; return parse_list(p, w, value, parse_path);
    case WORD_CSV: r->csv = true; break;
    case WORD_DOMAIN: r->meaning = UMBELI_MEANING_DOMAIN; break;
    case WORD_DELIMITER: return parse_delimiter(p, w, value);
    case WORD_HEADER: r->header = true; break;
    case WORD_CRLF: r->crlf = true; break;
    case WORD_TRIM: r->trim = true; break;
    case WORD_LOWER: r->lower = true; break;
    case WORD_UPPER: r->upper = true; break;
    case WORD_SHA1: r->meaning = UMBELI_MEANING_SHA1; break;
    case WORD_NTLM: r->meaning = UMBELI_MEANING_NTLM; break;
    case WORD_TYPE: return parse_type(p, w, value);
    case WORD_MISSING:
        r->missing_empty = true;
        if (is((word){value, (size_t)(w.at + w.len - value)}, "empty")) break;
        return refuse_as(p, UMBEL_EVERSION, w, "only missing=empty is known here");
    default: break;
    }
    return UMBEL_OK;
}

/* The next word: up to a space that is not in quotes.  Its length is 0 at the end. */
static umbel_err next_word(parser *p, word *w) {
    const char *s = p->next;
    while (*s == ' ') s++;
    *w = (word){s, 0};
    bool quoted = false;
    for (; *s && (quoted || *s != ' '); s++) {
        if (quoted && *s == '\\' && s[1])
            s++;
        else if (*s == '"')
            quoted = !quoted;
    }
    w->len = (size_t)(s - w->at);
    p->next = s;
    /* delimiter=" is a word. */
    if (!quoted || is(*w, "delimiter=\"")) return UMBEL_OK;
    const char *space = memchr(w->at, ' ', w->len);
    if (space && is((word){w->at, (size_t)(space - w->at)}, "delimiter=\"")) {
        w->len = (size_t)(space - w->at);
        p->next = space;
        return UMBEL_OK;
    }
    return refuse(p, *w, "the quotes do not close");
}

static umbel_err parse_words(parser *p, given *g) {
    for (;;) {
        word w;
        const char *value;
        umbel_err e = next_word(p, &w);
        if (e) return e;
        if (w.len == 0) break;
        int which = find_word(w, &value);
        if (which < 0) return refuse_as(p, UMBEL_EVERSION, w, "not a word that is known here");
        if (!g->first.at && !words[which].head) {
            return refuse(p, w, "a recipe begins with line, field=, column=, csv, json= or domain");
        }
        if (g->word[which].at) return refuse(p, w, "is given twice");
        if (!g->first.at) g->first = w;
        g->word[which] = w;
        e = parse_word(p, w, which, value);
        if (e) return e;
    }
    return g->first.at ? UMBEL_OK : refuse(p, (word){p->text, 0}, "a recipe has at least one word");
}

/* ---- Words that contradict each other ---- */

/* Refuses the later of two words. */
static umbel_err not_both(const parser *p, const given *g, int a, int b, const char *what) {
    if (!g->word[a].at || !g->word[b].at) return UMBEL_OK;
    return refuse(p, g->word[g->word[a].at > g->word[b].at ? a : b], what);
}

static umbel_err check_head(const parser *p, const given *g) {
    static const int heads[] = {WORD_LINE, WORD_FIELD, WORD_COLUMN, WORD_JSON};
    umbel_recipe *r = p->r;
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < i; j++) {
            umbel_err e = not_both(p, g, heads[i], heads[j], "the key is selected twice");
            if (e) return e;
        }
    }
    bool domain_first = g->first.at == g->word[WORD_DOMAIN].at;
    for (size_t i = 0; domain_first && i < 4; i++) {
        word w = g->word[heads[i]];
        if (w.at) return refuse(p, w, "comes before domain");
    }
    if (domain_first) r->head = UMBELI_HEAD_DOMAIN;
    word csv = g->word[WORD_CSV];
    bool fields = r->head == UMBELI_HEAD_FIELDS || r->head == UMBELI_HEAD_COLUMNS;
    if (csv.at && !fields) return refuse(p, csv, "needs field= or column=");
    word delimiter = g->word[WORD_DELIMITER];
    if (delimiter.at && !fields) return refuse(p, delimiter, "needs field= or column=");
    if (csv.at && delimiter.at && memchr("\"\r\n", r->delimiter, 3)) {
        return refuse(p, delimiter, "not in CSV");
    }
    return UMBEL_OK;
}

static umbel_err check_words(const parser *p, const given *g) {
    const umbel_recipe *r = p->r;
    static const int meanings[] = {WORD_DOMAIN, WORD_SHA1, WORD_NTLM, WORD_TYPE};
    umbel_err e = not_both(p, g, WORD_LOWER, WORD_UPPER, "lower and upper exclude each other");
    for (size_t i = 0; !e && i < 4; i++) {
        for (size_t j = 0; !e && j < i; j++) {
            e = not_both(p, g, meanings[i], meanings[j],
                         "only one of domain, sha1, ntlm and type= is possible");
        }
    }
    if (e) return e;
    word w = g->word[WORD_HEADER];
    if (w.at && (r->head == UMBELI_HEAD_JSON || r->head == UMBELI_HEAD_DOMAIN)) {
        return refuse(p, w, "such files have no header");
    }
    w = g->word[WORD_MISSING];
    if (w.at && (r->head == UMBELI_HEAD_LINE || r->head == UMBELI_HEAD_DOMAIN)) {
        return refuse(p, w, "a whole record is never missing");
    }
    if (w.at && r->meaning == UMBELI_MEANING_DOMAIN) {
        return refuse(p, w, "the empty text is not a domain");
    }
    w = g->word[WORD_DOMAIN];
    if (w.at && r->several) return refuse(p, w, "needs a single part");
    bool text = r->type == UMBEL_TYPE_STRING || r->type == UMBEL_TYPE_UTF16;
    w = g->word[WORD_TYPE];
    if (w.at && r->several && !text) return refuse(p, w, "needs a single part");
    w = g->word[WORD_UPPER];
    if (w.at && r->meaning == UMBELI_MEANING_DOMAIN) {
        return refuse(p, w, "domains are in lower case");
    }
    return UMBEL_OK;
}

/* Words that are implied are neither stored nor written. */
static void simplify(umbel_recipe *r, const given *g) {
    if (r->csv && !g->word[WORD_DELIMITER].at) {
        r->spaced = false;
        r->delimiter = ',';
    }
    if (r->head == UMBELI_HEAD_COLUMNS) r->header = true;
    if (r->meaning == UMBELI_MEANING_DOMAIN) r->lower = r->trim = true;
    bool fields = r->head == UMBELI_HEAD_FIELDS || r->head == UMBELI_HEAD_COLUMNS;
    bool white = r->trim || (fields && r->spaced); /* a CR is white space */
    r->crlf_implied = white || r->csv || r->head == UMBELI_HEAD_JSON;
    r->crlf |= r->crlf_implied;
    if (r->meaning == UMBELI_MEANING_TYPE && r->type == UMBEL_TYPE_STRING) {
        r->meaning = UMBELI_MEANING_NONE;
    }
}

static umbel_err check_text(const parser *p) {
    size_t len = strlen(p->text);
    if (len >= UMBELI_RECIPE_TEXT) {
        return refuse(p, (word){p->text, 0}, "a recipe has at most 4095 bytes");
    }
    for (size_t i = 0; i < len; i++) {
        uint8_t c = (uint8_t)p->text[i];
        if (c < ' ' || c == 0x7f) {
            return refuse(p, (word){p->text + i, 0},
                          "a recipe is one line without control "
                          "characters");
        }
    }
    return UMBEL_OK;
}

static const umbeli_settings plain_memory = {.threads = 1};

umbel_err umbeli_recipe_read(const char *text, umbel_recipe *r, umbel_diag *diag) {
    memset(r, 0, sizeof *r);
    r->spaced = true;
    parser p = {.text = text, .next = text, .r = r, .diag = diag};
    given g = {0};
    umbel_err e = check_text(&p);
    if (!e) e = parse_words(&p, &g);
    r->several = p.several || r->max_parts > 1;
    if (!e) e = check_head(&p, &g);
    if (!e) e = check_words(&p, &g);
    if (e) return e;
    simplify(r, &g);
    umbeli_recipe_write(r);
    return UMBEL_OK;
}

umbel_err umbel_recipe_parse(const char *text, umbel_recipe **out, umbel_diag *diag) {
    umbel_recipe *r = umbeli_new(&plain_memory, sizeof *r);
    if (!r) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a recipe");
    umbel_err e = umbeli_recipe_read(text, r, diag);
    if (e) {
        umbel_recipe_free(r);
        return e;
    }
    *out = r;
    return UMBEL_OK;
}

void umbel_recipe_free(umbel_recipe *recipe) {
    umbeli_delete(&plain_memory, recipe);
}

/* ---- Columns ---- */

/* The number of the field with this name; 0: there is none. */
static uint32_t find_column(const umbel_recipe *r, umbeli_text header, const umbeli_part *part,
                            uint8_t *to) {
    umbeli_fields fields = umbeli_fields_of(r, header, r->csv, to);
    umbeli_text name;
    for (uint32_t n = 1; umbeli_next_field(&fields, &name); n++) {
        if (name.len == part->name.len &&
            memcmp(name.at, r->names + part->name.at, name.len) == 0) {
            return n;
        }
    }
    return 0;
}

umbel_err umbel_recipe_bind(const umbel_recipe *recipe, const void *header, size_t len,
                            umbel_recipe **out, umbel_diag *diag) {
    umbeli_text line = {header, len};
    if (line.len && line.at[line.len - 1] == '\r') line.len--;
    line = umbeli_unmarked(line);
    if (recipe->csv && !umbeli_csv_well_formed(line, recipe->delimiter)) {
        return umbeli_invalid(diag, "header: a quote does not close");
    }
    umbel_recipe *r = umbeli_new(&plain_memory, sizeof *r);
    uint8_t *to = umbeli_new(&plain_memory, len + 1);
    umbel_err e = r && to ? UMBEL_OK : umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a recipe");
    if (!e) *r = *recipe;
    for (size_t i = 0; !e && r->head == UMBELI_HEAD_COLUMNS && i < r->part_count; i++) {
        umbeli_part *part = &r->parts[i];
        part->first = part->last = find_column(r, line, part, to);
        if (part->first) continue;
        const char *name = r->names + part->name.at;
        e = refuse(&(parser){.text = name, .diag = diag}, (word){name, part->name.len},
                   "the header has no such column");
    }
    umbeli_delete(&plain_memory, to);
    if (e) {
        umbel_recipe_free(r);
        return e;
    }
    *out = r;
    return UMBEL_OK;
}
