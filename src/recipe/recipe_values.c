/* SPDX-License-Identifier: MIT
 *
 * recipe_values.c - the values of words, read and written: lists of fields, names and paths,
 *                   delimiters, types
 */
#include <string.h>

#include "recipe/recipe.h"

/* ---- Lists ---- */

/* NULL: refused with UMBEL_EINVAL. */
static umbeli_part *new_part(umbeli_parser *p, umbeli_token w) {
    umbel_recipe *r = p->recipe;
    if (r->part_count == UMBELI_RECIPE_PARTS) {
        (void)umbeli_refuse(p, w, "more than 64 parts");
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
static umbel_err parse_range(umbeli_parser *p, umbeli_token w, const char **s) {
    static const char wrong[] = "fields are numbers from 1 to 4294967295, ranges such as 2-4 and "
                                "2-, or -1 for the last";
    const char *end = w.at + w.len;
    umbeli_part part = {0};
    part.from_end = *s < end && **s == '-';
    *s += part.from_end;
    if (!read_number(s, end, &part.first)) return umbeli_refuse(p, w, wrong);
    part.last = part.first;
    if (*s < end && **s == '-' && !part.from_end) {
        ++*s;
        part.open = *s == end || **s == ',';
        if (!part.open && !read_number(s, end, &part.last)) return umbeli_refuse(p, w, wrong);
        if (part.last < part.first) return umbeli_refuse(p, w, "the range ends before it begins");
        p->several |= part.open;
    }
    if (*s < end && **s != ',') return umbeli_refuse(p, w, wrong);
    umbel_recipe *r = p->recipe;
    uint64_t parts = r->max_parts + (uint64_t)part.last - part.first + 1;
    if (parts > UMBELI_RECIPE_FIELDS) return umbeli_refuse(p, w, "more than 1024 fields");
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

static void begin_name(const umbeli_parser *p, umbeli_name *name) {
    *name = (umbeli_name){(uint16_t)p->names, 0};
}

static void add_to_name(umbeli_parser *p, umbeli_name *name, char c) {
    p->recipe->names[p->names++] = c;
    name->len++;
}

/* A name in quotes, at which *s points; *s moves past them. */
static umbel_err parse_quoted(umbeli_parser *p, umbeli_token w, const char **s, umbeli_name *name) {
    const char *end = w.at + w.len;
    begin_name(p, name);
    for (++*s; *s < end && **s != '"'; ++*s) {
        if (**s == '\\') {
            ++*s;
            if (*s == end || (**s != '"' && **s != '\\')) {
                return umbeli_refuse(p, w, "in quotes, \\ stands before a quote or another \\");
            }
        }
        add_to_name(p, name, **s);
    }
    if (*s == end) return umbeli_refuse(p, w, "the quotes do not close");
    ++*s;
    return UMBEL_OK;
}

static umbel_err parse_column(umbeli_parser *p, umbeli_token w, const char **s) {
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
                return umbeli_refuse(p, w,
                                     "a name with spaces, commas, quotes, backslashes or equals "
                                     "signs is written in quotes");
            }
            add_to_name(p, &part->name, **s);
        }
    }
    if (!e && part->name.len == 0) return umbeli_refuse(p, w, "a name is empty");
    if (!e && *s < end && **s != ',') return umbeli_refuse(p, w, "a comma must follow the quotes");
    p->recipe->max_parts++;
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
static umbel_err parse_step(umbeli_parser *p, umbeli_token w, const char **s, bool first) {
    const char *end = w.at + w.len;
    umbel_recipe *r = p->recipe;
    if (r->step_count == UMBELI_RECIPE_STEPS) return umbeli_refuse(p, w, "more than 256 steps");
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
        if (*s == digits || *s == end || **s != ']') return umbeli_refuse(p, w, path_wrong);
        if (n > UINT32_MAX) return umbeli_refuse(p, w, "an index is at most 4294967295");
        step->index = (uint32_t)n;
        ++*s;
        return UMBEL_OK;
    }
    if (dot && *s < end && **s == '"') return parse_quoted(p, w, s, &step->name);
    if (!dot || *s == end || !starts_word(**s)) return umbeli_refuse(p, w, path_wrong);
    begin_name(p, &step->name);
    for (; *s < end && in_word(**s); ++*s) add_to_name(p, &step->name, **s);
    return UMBEL_OK;
}

static umbel_err parse_path(umbeli_parser *p, umbeli_token w, const char **s) {
    const char *end = w.at + w.len;
    umbeli_part *part = new_part(p, w);
    if (!part) return UMBEL_EINVAL;
    umbel_err e = UMBEL_OK;
    if (*s == end || **s != '.') return umbeli_refuse(p, w, path_wrong);
    part->step = (uint16_t)p->recipe->step_count;
    p->recipe->max_parts++;
    if (*s + 1 == end || (*s)[1] == ',') { /* the record itself */
        ++*s;
        return UMBEL_OK;
    }
    for (bool first = true; !e && *s < end && **s != ','; first = false) {
        e = parse_step(p, w, s, first);
    }
    part->steps = (uint16_t)(p->recipe->step_count - part->step);
    return e;
}

/* Parses a list with one of the functions above; the value begins at `value`. */
static umbel_err parse_list(umbeli_parser *p, umbeli_token w, const char *value,
                            umbel_err (*parse_item)(umbeli_parser *, umbeli_token, const char **)) {
    const char *s = value, *end = w.at + w.len;
    for (;;) {
        umbel_err e = parse_item(p, w, &s);
        if (e) return e;
        if (s == end) return UMBEL_OK;
        s++;
        p->several = true;
    }
}

umbel_err umbeli_read_fields(umbeli_parser *p, umbeli_token w, const char *value) {
    return parse_list(p, w, value, parse_range);
}

umbel_err umbeli_read_columns(umbeli_parser *p, umbeli_token w, const char *value) {
    return parse_list(p, w, value, parse_column);
}

umbel_err umbeli_read_paths(umbeli_parser *p, umbeli_token w, const char *value) {
    return parse_list(p, w, value, parse_path);
}

/* As jq defines it. */
static bool is_identifier(const char *name, size_t len) {
    for (size_t i = 0; i < len; i++) {
        char c = name[i];
        if (!umbeli_is_letter(c) && c != '_' && !(i && umbeli_is_digit(c))) return false;
    }
    return len > 0;
}

static void put_path(umbeli_line *l, const umbel_recipe *r, const umbeli_part *part) {
    if (part->steps == 0 || r->steps[part->step].is_index) umbeli_line_char(l, '.');
    for (size_t i = part->step; i < (size_t)part->step + part->steps; i++) {
        const umbeli_step *step = &r->steps[i];
        const char *name = r->names + step->name.at;
        if (step->is_index) {
            umbeli_line_char(l, '[');
            umbeli_line_number(l, step->index);
            umbeli_line_char(l, ']');
            continue;
        }
        umbeli_line_char(l, '.');
        if (is_identifier(name, step->name.len)) {
            for (size_t k = 0; k < step->name.len; k++) umbeli_line_char(l, name[k]);
        } else {
            umbeli_line_quoted(l, name, step->name.len);
        }
    }
}

static void put_range(umbeli_line *l, const umbeli_part *part) {
    if (part->from_end) umbeli_line_char(l, '-');
    umbeli_line_number(l, part->first);
    if (part->open || part->last > part->first) umbeli_line_char(l, '-');
    if (!part->open && part->last > part->first) umbeli_line_number(l, part->last);
}

void umbeli_write_parts(umbeli_line *l, const umbel_recipe *r) {
    for (size_t i = 0; i < r->part_count; i++) {
        const umbeli_part *part = &r->parts[i];
        if (i) umbeli_line_char(l, ',');
        if (r->head == UMBELI_WORD_FIELD) put_range(l, part);
        if (r->head == UMBELI_WORD_COLUMN)
            umbeli_line_name(l, r->names + part->name.at, part->name.len);
        if (r->head == UMBELI_WORD_JSON) put_path(l, r, part);
    }
}

/* ---- Delimiters and types ---- */

umbel_err umbeli_read_delimiter(umbeli_parser *p, umbeli_token w, const char *value) {
    static const struct {
        const char *name;
        char c;
    } names[] = {{"tab", '\t'}, {"space", ' '}, {"comma", ','}};
    umbeli_token v = {value, (size_t)(w.at + w.len - value)};
    p->recipe->spaced = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (umbeli_token_is(v, names[i].name)) {
            p->recipe->delimiter = (uint8_t)names[i].c;
            return UMBEL_OK;
        }
    }
    if (v.len == 1) {
        p->recipe->delimiter = (uint8_t)v.at[0];
        return UMBEL_OK;
    }
    bool hex = v.len == 4 && v.at[0] == '0' && v.at[1] == 'x';
    int high = hex ? umbeli_hex_digit(v.at[2]) : -1, low = hex ? umbeli_hex_digit(v.at[3]) : -1;
    if (high < 0 || low < 0) {
        return umbeli_refuse(p, w, "a delimiter is tab, space, comma, one byte, or 0xHH");
    }
    p->recipe->delimiter = (uint8_t)(high << 4 | low);
    return UMBEL_OK;
}

void umbeli_write_delimiter(umbeli_line *l, const umbel_recipe *r) {
    uint8_t c = r->delimiter;
    if (c == '\t') {
        umbeli_line_put(l, "tab");
    } else if (c == ' ' || c == ',') {
        umbeli_line_put(l, c == ' ' ? "space" : "comma");
    } else if (c > ' ' && c < 0x7f && c != '"') {
        umbeli_line_char(l, (char)c);
    } else {
        umbeli_line_hex(l, c);
    }
}

umbel_err umbeli_read_type(umbeli_parser *p, umbeli_token w, const char *value) {
    char name[16] = "";
    size_t len = (size_t)(w.at + w.len - value);
    if (len < sizeof name) memcpy(name, value, len);
    if (umbel_type_named(name, &p->recipe->type)) return UMBEL_OK;
    return umbeli_refuse_as(p, UMBEL_EVERSION, w, "not a type that is known here");
}

void umbeli_write_type(umbeli_line *l, const umbel_recipe *r) {
    umbeli_line_put(l, umbel_type_name(r->type));
}
