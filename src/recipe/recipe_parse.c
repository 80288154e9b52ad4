/* SPDX-License-Identifier: MIT
 *
 * recipe_parse.c - from text to a recipe: its words, and which of them go together
 */
#include <string.h>

#include "core/diag.h"
#include "core/memory.h"
#include "recipe/recipe.h"

umbel_err umbeli_refuse_as(const umbeli_parser *p, umbel_err err, umbeli_token w,
                           const char *what) {
    if (p->diag) {
        *p->diag = (umbel_diag){.what = what, .offset = (uint64_t)(w.at - p->text)};
        size_t shown = w.len < sizeof p->diag->field ? w.len : sizeof p->diag->field - 1;
        while (shown < w.len && shown && ((uint8_t)w.at[shown] & 0xc0) == 0x80) shown--;
        memcpy(p->diag->field, w.at, shown);
    }
    return err;
}

umbel_err umbeli_refuse(const umbeli_parser *p, umbeli_token w, const char *what) {
    return umbeli_refuse_as(p, UMBEL_EINVAL, w, what);
}

bool umbeli_token_is(umbeli_token w, const char *text) {
    return w.len == strlen(text) && memcmp(w.at, text, w.len) == 0;
}

/* ---- Words ---- */

/* Where each word was given; at is NULL for those that were not. */
typedef struct given {
    umbeli_token first, word[UMBELI_WORDS];
} given;

/* The row of a word, and where its value begins; UMBELI_WORDS: there is none. */
static unsigned find_word(umbeli_token w, const char **value) {
    for (unsigned i = 0; i < UMBELI_WORDS; i++) {
        const umbeli_word *row = &umbeli_words[i];
        size_t len = strlen(row->name);
        bool whole = !row->read && !row->value;
        if (w.len < len || (whole && w.len > len) || memcmp(w.at, row->name, len) != 0) continue;
        *value = w.at + len;
        return i;
    }
    return UMBELI_WORDS;
}

static umbel_err read_value(umbeli_parser *p, umbeli_token w, const umbeli_word *row,
                            const char *value) {
    if (row->read) return row->read(p, w, value);
    umbeli_token v = {value, (size_t)(w.at + w.len - value)};
    if (!row->value || umbeli_token_is(v, row->value)) return UMBEL_OK;
    return umbeli_refuse_as(p, UMBEL_EVERSION, w, row->value_wrong);
}

/* The next word: up to a space that is not in quotes.  Its length is 0 at the end. */
static umbel_err next_word(umbeli_parser *p, umbeli_token *w) {
    const char *s = p->next;
    while (*s == ' ') s++;
    *w = (umbeli_token){s, 0};
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
    if (!quoted || umbeli_token_is(*w, "delimiter=\"")) return UMBEL_OK;
    const char *space = memchr(w->at, ' ', w->len);
    if (space && umbeli_token_is((umbeli_token){w->at, (size_t)(space - w->at)}, "delimiter=\"")) {
        w->len = (size_t)(space - w->at);
        p->next = space;
        return UMBEL_OK;
    }
    return umbeli_refuse(p, *w, "the quotes do not close");
}

static umbel_err parse_words(umbeli_parser *p, given *g) {
    for (;;) {
        umbeli_token w;
        const char *value;
        umbel_err e = next_word(p, &w);
        if (e) return e;
        if (w.len == 0) break;
        unsigned i = find_word(w, &value);
        if (i == UMBELI_WORDS) {
            return umbeli_refuse_as(p, UMBEL_EVERSION, w, "not a word that is known here");
        }
        const umbeli_word *row = &umbeli_words[i];
        if (!g->first.at && !row->begins) return umbeli_refuse(p, w, umbeli_beginning_wrong);
        if (g->word[i].at) return umbeli_refuse(p, w, "is given twice");
        if (!g->first.at) g->first = w;
        g->word[i] = w;
        p->recipe->words |= UINT32_C(1) << i;
        if (row->group == UMBEL_WORD_SELECT) p->recipe->head = (umbeli_word_id)i;
        if (row->change) p->recipe->change = row->change;
        if (row->group == UMBEL_WORD_MEANING) p->recipe->meaning = row;
        e = read_value(p, w, row, value);
        if (e) return e;
    }
    umbeli_token none = {p->text, 0};
    return g->first.at ? UMBEL_OK : umbeli_refuse(p, none, "a recipe has at least one word");
}

/* ---- Words that contradict each other ---- */

/* Refuses the later of two words of a group. */
static umbel_err check_groups(const umbeli_parser *p, const given *g) {
    for (unsigned i = 0; i < UMBELI_WORDS; i++) {
        umbel_word_group group = umbeli_words[i].group;
        for (unsigned k = 0; k < i && group >= UMBEL_WORD_SELECT; k++) {
            umbeli_token a = g->word[i], b = g->word[k];
            if (umbeli_words[k].group != group || !a.at || !b.at) continue;
            return umbeli_refuse(p, a.at > b.at ? a : b, umbeli_group_wrong[group]);
        }
    }
    return UMBEL_OK;
}

/* What is possible depends on the word that selects the part. */
static umbel_err check_head(const umbeli_parser *p, const given *g) {
    umbel_recipe *r = p->recipe;
    if (g->first.at == g->word[UMBELI_WORD_DOMAIN].at) {
        umbeli_token selects = g->word[r->head];
        if (r->head) return umbeli_refuse(p, selects, "comes before domain");
        r->head = UMBELI_WORD_DOMAIN;
    }
    for (unsigned i = 0; i < UMBELI_WORDS; i++) {
        const umbeli_word *row = &umbeli_words[i];
        bool wrong = g->word[i].at && row->never_with >> r->head & 1;
        if (wrong) return umbeli_refuse(p, g->word[i], row->why);
    }
    return UMBEL_OK;
}

static umbel_err check_meaning(const umbeli_parser *p, const given *g) {
    static const char single[] = "needs a single part";
    const umbel_recipe *r = p->recipe;
    umbeli_token delimiter = g->word[UMBELI_WORD_DELIMITER], upper = g->word[UMBELI_WORD_UPPER];
    umbeli_token domain = g->word[UMBELI_WORD_DOMAIN], type = g->word[UMBELI_WORD_TYPE];
    umbeli_token missing = g->word[UMBELI_WORD_MISSING];
    bool text = r->type == UMBEL_TYPE_STRING || r->type == UMBEL_TYPE_UTF16;
    if (umbeli_has(r, UMBELI_WORD_CSV) && delimiter.at && memchr("\"\r\n", r->delimiter, 3)) {
        return umbeli_refuse(p, delimiter, "not in CSV");
    }
    if (domain.at && missing.at) {
        return umbeli_refuse(p, missing, "the empty text is not a domain");
    }
    if (domain.at && r->several) return umbeli_refuse(p, domain, single);
    if (type.at && r->several && !text) return umbeli_refuse(p, type, single);
    if (domain.at && upper.at) return umbeli_refuse(p, upper, "domains are in lower case");
    return UMBEL_OK;
}

#define BIT(word) (UINT32_C(1) << UMBELI_WORD_##word)

/* Words that others imply hold, but are not written. */
static void imply(umbel_recipe *r) {
    uint32_t implied = 0;
    bool csv = umbeli_has(r, UMBELI_WORD_CSV), fields = umbeli_selects_fields(r);
    if (!umbeli_has(r, UMBELI_WORD_DELIMITER)) {
        r->spaced = !csv;
        r->delimiter = csv ? ',' : 0;
    }
    if (csv && r->delimiter == ',') implied |= BIT(DELIMITER);
    if (r->head == UMBELI_WORD_COLUMN) implied |= BIT(HEADER);
    if (umbeli_has(r, UMBELI_WORD_DOMAIN)) {
        implied |= BIT(LOWER) | BIT(TRIM);
        r->change = umbeli_to_lower;
    }
    bool white =
        ((r->words | implied) & BIT(TRIM)) || (fields && r->spaced); /* CR is white space */
    if (white || csv || r->head == UMBELI_WORD_JSON) implied |= BIT(CRLF);
    if (umbeli_has(r, UMBELI_WORD_TYPE) && r->type == UMBEL_TYPE_STRING) {
        r->words &= ~BIT(TYPE);
        r->meaning = NULL;
    }
    r->words |= implied;
    r->written = r->words & ~implied;
    for (unsigned i = 0; i < UMBELI_WORDS; i++) {
        if (r->words >> i & 1) r->traits |= umbeli_words[i].traits;
    }
    if ((r->words & ~BIT(HEADER)) == BIT(LINE)) {
        r->plain = true;
        if (!umbeli_has(r, UMBELI_WORD_HEADER)) r->traits |= UMBEL_RECIPE_LINE;
    }
}

static umbel_err check_text(const umbeli_parser *p) {
    size_t len = strlen(p->text);
    if (len >= UMBELI_RECIPE_TEXT) {
        return umbeli_refuse(p, (umbeli_token){p->text, 0}, "a recipe has at most 4095 bytes");
    }
    for (size_t i = 0; i < len; i++) {
        uint8_t c = (uint8_t)p->text[i];
        if (c < ' ' || c == 0x7f) {
            return umbeli_refuse(p, (umbeli_token){p->text + i, 0},
                                 "a recipe is one line without control "
                                 "characters");
        }
    }
    return UMBEL_OK;
}

static const umbeli_settings plain_memory = {.threads = 1};

umbel_err umbeli_recipe_read(const char *text, umbel_recipe *r, umbel_diag *diag) {
    memset(r, 0, sizeof *r);
    umbeli_parser p = {.text = text, .next = text, .recipe = r, .diag = diag};
    given g = {0};
    umbel_err e = check_text(&p);
    if (!e) e = parse_words(&p, &g);
    r->several = p.several || r->max_parts > 1;
    if (!e) e = check_groups(&p, &g);
    if (!e) e = check_head(&p, &g);
    if (!e) e = check_meaning(&p, &g);
    if (e) return e;
    imply(r);
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
    umbeli_fields fields = umbeli_fields_of(r, header, umbeli_has(r, UMBELI_WORD_CSV), to);
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
    if (umbeli_has(recipe, UMBELI_WORD_CSV) && !umbeli_csv_well_formed(line, recipe->delimiter)) {
        return umbeli_invalid(diag, "header: a quote does not close");
    }
    umbel_recipe *r = umbeli_new(&plain_memory, sizeof *r);
    uint8_t *to = umbeli_new(&plain_memory, len + 1);
    umbel_err e = r && to ? UMBEL_OK : umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a recipe");
    if (!e) *r = *recipe;
    for (size_t i = 0; !e && r->head == UMBELI_WORD_COLUMN && i < r->part_count; i++) {
        umbeli_part *part = &r->parts[i];
        part->first = part->last = find_column(r, line, part, to);
        if (part->first) continue;
        const char *name = r->names + part->name.at;
        e = umbeli_refuse(&(umbeli_parser){.text = name, .diag = diag},
                          (umbeli_token){name, part->name.len}, "the header has no such column");
    }
    umbeli_delete(&plain_memory, to);
    if (e) {
        umbel_recipe_free(r);
        return e;
    }
    *out = r;
    return UMBEL_OK;
}
