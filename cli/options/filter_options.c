/* SPDX-License-Identifier: MIT
 *
 * filter_options.c - the options that describe a filter: kind, format, type
 */
#include "options/filter_options.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "umbel_foreign.h"

enum { ENUM_END = 64 };

static const char *kind_at(int i) {
    return umbel_kind_name((umbel_kind)i);
}

static const char *format_at(int i) {
    return i ? umbel_format_name((umbel_format)i) : NULL;
}

static const char *type_at(int i) {
    return umbel_type_name((umbel_type)i);
}

static char *join_names(const char *(*at)(int), const char *separator, char *out) {
    size_t used = 0;
    *out = '\0';
    for (int i = 0; i < ENUM_END; i++) {
        const char *name = at(i);
        if (!name) continue;
        int n = snprintf(out + used, CLI_NAMES - used, "%s%s", used ? separator : "", name);
        if (n < 0 || (size_t)n >= CLI_NAMES - used) break;
        used += (size_t)n;
    }
    return out;
}

char *cli_kind_names(const char *separator, char *out) {
    join_names(kind_at, separator, out);
    size_t used = strlen(out);
    snprintf(out + used, CLI_NAMES - used, "%ssmallest", separator);
    return out;
}

char *cli_format_names(const char *separator, char *out) {
    return join_names(format_at, separator, out);
}

char *cli_type_names(const char *separator, char *out) {
    return join_names(type_at, separator, out);
}

umbel_kind cli_kind_named(const char *name) {
    umbel_kind kind = UMBEL_KIND_AUTO;
    char known[CLI_NAMES];
    if (name && strcmp(name, "smallest") == 0) return UMBEL_KIND_TIGHT;
    if (name && strcmp(name, "auto") != 0 && !umbel_kind_named(name, &kind)) {
        cli_die("--kind", cli_kind_names(", ", known), "unknown kind '%s'", name);
    }
    return kind;
}

umbel_format cli_format_named(const char *name, const char *option, umbel_format fallback) {
    umbel_format format = fallback;
    char known[CLI_NAMES];
    if (name && !umbel_format_named(name, &format)) {
        cli_die(option, cli_format_names(", ", known), "unknown format '%s'", name);
    }
    return format;
}

uint32_t cli_option_u32(cli_option_id id, uint64_t value) {
    char shown[48];
    if (value > UINT32_MAX) cli_die(cli_option_text(id, shown), NULL, "too large");
    return (uint32_t)value;
}

static const struct {
    const char *name;
    uint32_t bit;
} variants[] = {
    {"guava2024", UMBEL_VARIANT_GUAVA_2024},
    {"index", UMBEL_VARIANT_CLICKHOUSE_INDEX},
    {"numbers", UMBEL_VARIANT_CLICKHOUSE_NUMBERS},
    {"pre2024", UMBEL_VARIANT_CLICKHOUSE_PRE2024},
    {"v1", UMBEL_VARIANT_SPARK_V1},
    {"v2", 0},
};

/* --int, --strategy and --variant as the bits of umbel_foreign.variant. */
static uint32_t variant_of(const cli_settings *s) {
    uint32_t bits = 0;
    if (s->int_bits && s->int_bits != 32 && s->int_bits != 64) {
        cli_die("--int", "32 or 64", "Go has no such int");
    }
    if (s->int_bits == 32) bits |= UMBEL_VARIANT_INT32;
    if (s->strategy && s->strategy != 32 && s->strategy != 64) {
        cli_die("--strategy", "32 or 64", "Guava has no such strategy");
    }
    if (s->strategy == 32) bits |= UMBEL_VARIANT_MITZ32;
    for (size_t i = 0; i < s->variants.count; i++) {
        size_t k = 0, end = sizeof variants / sizeof *variants;
        while (k < end && strcmp(s->variants.at[i], variants[k].name) != 0) k++;
        if (k == end) {
            cli_die("--variant", "guava2024, index, numbers, pre2024, v1, v2",
                    "unknown variant '%s'", s->variants.at[i]);
        }
        bits |= variants[k].bit;
    }
    return bits;
}

/* What only other systems' filters take must not be ignored. */
static void refuse_foreign_options(const cli_filter_params *p) {
    cli_option_id id = p->bits_per_key ? OPT_BITS_PER_KEY
                       : p->nonscaling ? OPT_NONSCALING
                       : p->variant    ? OPT_VARIANT
                                       : OPT_END;
    char shown[48];
    if (id != OPT_END) cli_die(cli_option_text(id, shown), NULL, "not for native filters");
}

cli_filter_params cli_params_of(const cli_settings *s) {
    cli_filter_params p = {
        .format = cli_format_named(s->format, "--format", UMBEL_FMT_NATIVE),
        .kind = cli_kind_named(s->kind),
        .capacity = s->keys,
        .fpr = s->fpr,
        .bytes = s->bytes,
        .seed = s->seed,
        .hashes = cli_option_u32(OPT_HASHES, s->hashes),
        .bits_per_key = cli_option_u32(OPT_BITS_PER_KEY, s->bits_per_key),
        .variant = variant_of(s),
        .expansion = cli_option_u32(OPT_EXPANSION, s->expansion),
        .nonscaling = s->nonscaling,
        .secret = cli_secret_of(s),
    };
    if (!cli_is_foreign(&p)) {
        refuse_foreign_options(&p);
    } else if (p.secret) {
        cli_die("--secret-file", "only native filters can be keyed",
                "%s filters do not use a secret", umbel_format_name(p.format));
    }
    return p;
}

umbel_params cli_native_params(const cli_filter_params *p) {
    return (umbel_params){
        .kind = p->kind,
        .capacity = p->capacity,
        .fpr = p->fpr,
        .bytes = p->bytes,
        .seed = p->seed,
        .hashes = p->hashes,
        .secret = p->secret,
        .scalable = {.expansion = p->expansion},
    };
}

umbel_foreign cli_foreign_params(const cli_filter_params *p) {
    return (umbel_foreign){
        .format = p->format,
        .variant = p->variant,
        .capacity = p->capacity,
        .fpr = p->fpr,
        .bytes = p->bytes,
        .seed = p->seed,
        .hashes = p->hashes,
        .bits_per_key = p->bits_per_key,
        .expansion = p->expansion,
        .nonscaling = p->nonscaling,
    };
}

umbel_opts cli_opts_of(const cli_settings *s) {
    return (umbel_opts){
        .threads = cli_option_u32(OPT_THREADS, s->threads),
        .secret = cli_secret_of(s),
        .max_bytes = s->max_memory,
    };
}

static umbel_type funnel_named(const char *name) {
    static const struct {
        const char *name;
        umbel_type type;
    } funnels[] = {{"string", UMBEL_TYPE_STRING},
                   {"bytes", UMBEL_TYPE_STRING},
                   {"chars", UMBEL_TYPE_UTF16},
                   {"long", UMBEL_TYPE_INT64},
                   {"int", UMBEL_TYPE_INT32}};
    for (size_t i = 0; i < sizeof funnels / sizeof *funnels; i++) {
        if (strcmp(funnels[i].name, name) == 0) return funnels[i].type;
    }
    cli_die("--funnel", "string, bytes, chars, long or int", "unknown funnel '%s'", name);
}

umbel_type cli_type_of(const cli_settings *s) {
    cli_exclude(s, OPT_TYPE, OPT_FUNNEL);
    char known[CLI_NAMES];
    umbel_type type = UMBEL_TYPE_STRING;
    if (s->funnel) return funnel_named(s->funnel);
    if (s->type && !umbel_type_named(s->type, &type)) {
        cli_die("--type", cli_type_names(", ", known), "unknown type '%s'", s->type);
    }
    /* Badger's keys are always 32-bit hashes. */
    bool badger = cli_format_named(s->format, "--format", UMBEL_FMT_NATIVE) == UMBEL_FMT_BADGER;
    return !s->type && badger ? UMBEL_TYPE_UINT32 : type;
}
