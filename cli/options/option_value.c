/* SPDX-License-Identifier: MIT
 *
 * option_value.c - the text of an option becomes a value
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "options/filter_options.h"
#include "umbel_text.h"

static void put_text(cli_text_list *list, const char *text) {
    list->at = cli_realloc(list->at, (list->count + 1) * sizeof *list->at);
    list->at[list->count++] = text;
}

/* --meta NAME=VALUE. */
static void put_pair(cli_text_list *list, const char *shown, const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        cli_die(shown, "as in --meta source=feed-7", "'%s' is not NAME=VALUE", text);
    }
    put_text(list, cli_strndup(text, (size_t)(equals - text)));
    put_text(list, equals + 1);
}

static void put_whole(const cli_option *o, const char *shown, const char *value, uint64_t *out) {
    umbel_diag why = {0};
    umbel_err err = o->type == TYPE_SIZE ? umbel_parse_size(value, out, &why)
                                         : umbel_parse_count(value, out, &why);
    bool keys = strcmp(o->argument, "KEYS") == 0;
    bool may_be_0 = o->type == TYPE_NUMBER || o->type == TYPE_SEED;
    const char *hint = o->type == TYPE_SIZE ? "such as 500MiB, 2G or 2e9"
                       : may_be_0           ? "a whole number, 0 or more"
                       : keys               ? "such as 1000000, 2e9 or 500M"
                                            : "a whole number, 1 or more";
    if (err) cli_die(shown, hint, "'%s' is %s", value, why.what);
    if (*out == 0 && !may_be_0) cli_die(shown, hint, "must be at least 1");
}

/* Negative seeds are for formats whose seeds have a sign. */
static void put_seed(cli_settings *s, const cli_option *o, const char *shown, const char *value) {
    s->negative_seed = value[0] == '-' && value[1] >= '0' && value[1] <= '9';
    put_whole(o, shown, value + s->negative_seed, &s->seed);
    if (!s->negative_seed) return;
    if (s->seed > INT64_MAX) cli_die(shown, NULL, "too small");
    s->seed = 0 - s->seed;
}

static uint32_t count32(const cli_option *o, const char *shown, const char *value) {
    uint64_t count = 0;
    put_whole(o, shown, value, &count);
    if (count > UINT32_MAX) cli_die(shown, NULL, "too large");
    return (uint32_t)count;
}

/* One byte, or the two characters \t. */
static uint8_t byte_of(const char *shown, const char *value) {
    if (strcmp(value, "\\t") == 0) return '\t';
    if (strlen(value) != 1) {
        cli_die(shown, "as in sort: -t , or -t '\\t'", "'%s' is not one character", value);
    }
    return (uint8_t)*value;
}

static double rate_of(const char *shown, const char *value) {
    double rate = 0;
    umbel_diag why = {0};
    if (umbel_parse_rate(value, &rate, &why)) {
        cli_die(shown, "between 0 and 1, such as 1%, 0.01, 1/1000 or 1e-6", "'%s' is %s", value,
                why.what);
    }
    return rate;
}

/* Otherwise the second value would silently win. */
static void refuse_second(const cli_settings *s, cli_option_id id, const char *shown) {
    cli_option_type type = cli_option_of(id)->type;
    if (!s->given[id] || type == TYPE_FLAG || type == TYPE_LIST || type == TYPE_PAIRS) return;
    cli_die(shown, "give it once", "was given twice");
}

void cli_option_put(cli_settings *s, cli_option_id id, const char *shown, const char *value) {
    const cli_option *o = cli_option_of(id);
    void *field = (char *)s + o->field;
    refuse_second(s, id, shown);
    if (id == OPT_QUIET || id == OPT_QUIET_MATCH) s->silent = s->quiet; /* -qq */
    s->given[id] = true;
    switch (o->type) {
    case TYPE_FLAG:
        if (o->field) *(bool *)field = true;
        break;
    case TYPE_OPTIONAL:
    case TYPE_TEXT: *(const char **)field = value; break;
    case TYPE_LIST: put_text(field, value); break;
    case TYPE_PAIRS: put_pair(field, shown, value); break;
    case TYPE_RATE: *(double *)field = rate_of(shown, value); break;
    case TYPE_KIND:
        *(umbel_kind *)field = (umbel_kind)cli_value_named(o->type, shown, value);
        break;
    case TYPE_FORMAT:
        *(umbel_format *)field = (umbel_format)cli_value_named(o->type, shown, value);
        break;
    case TYPE_TYPE:
        *(umbel_type *)field = (umbel_type)cli_value_named(o->type, shown, value);
        break;
    case TYPE_BYTE: *(uint8_t *)field = byte_of(shown, value); break;
    case TYPE_EVERY: *(cli_window *)field = cli_every_named(shown, value); break;
    case TYPE_WINDOW: *(cli_window *)field = cli_window_named(shown, value); break;
    case TYPE_COUNT32: *(uint32_t *)field = count32(o, shown, value); break;
    case TYPE_SEED: put_seed(s, o, shown, value); break;
    case TYPE_COUNT:
    case TYPE_SIZE:
    case TYPE_NUMBER: put_whole(o, shown, value, field); break;
    }
}
