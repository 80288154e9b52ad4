/* SPDX-License-Identifier: MIT
 *
 * filter_options.c - the options that describe a filter: kind, format, type
 */
#include "options/filter_options.h"

#include <inttypes.h>
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

umbel_kind cli_kind_named(const char *shown, const char *name) {
    umbel_kind kind = UMBEL_KIND_AUTO;
    char known[CLI_NAMES];
    if (strcmp(name, "smallest") == 0) return UMBEL_KIND_TIGHT;
    if (strcmp(name, "auto") != 0 && !umbel_kind_named(name, &kind)) {
        cli_die(shown, cli_kind_names(", ", known), "unknown kind '%s'", name);
    }
    return kind;
}

umbel_format cli_format_named(const char *shown, const char *name) {
    umbel_format format = UMBEL_FMT_ANY;
    char known[CLI_NAMES];
    if (!umbel_format_named(name, &format)) {
        cli_die(shown, cli_format_names(", ", known), "unknown format '%s'", name);
    }
    return format;
}

umbel_type cli_type_named(const char *shown, const char *name) {
    umbel_type type = UMBEL_TYPE_STRING;
    char known[CLI_NAMES];
    if (!umbel_type_named(name, &type)) {
        cli_die(shown, cli_type_names(", ", known), "unknown type '%s'", name);
    }
    return type;
}

static uint32_t variant_of(const cli_settings *s) {
    uint32_t bits = 0;
    for (size_t i = 0; i < s->variants.count; i++) {
        uint32_t more;
        if (!umbel_variant_named(UMBEL_FMT_ANY, s->variants.at[i], &more)) {
            cli_die("--variant", cli_options[OPT_VARIANT].choices, "unknown variant '%s'",
                    s->variants.at[i]);
        }
        bits |= more;
    }
    return bits;
}

void cli_settle(cli_settings *s) {
    s->variant = variant_of(s);
    /* Badger's keys are always 32-bit hashes. */
    if (s->format == UMBEL_FMT_BADGER && !cli_given(s, OPT_TYPE)) s->type = UMBEL_TYPE_UINT32;
    cli_secret_read(s);
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
        .format = s->format ? s->format : UMBEL_FMT_NATIVE,
        .kind = s->kind,
        .capacity = s->keys,
        .fpr = s->fpr,
        .bytes = s->bytes,
        .seed = s->seed,
        .hashes = s->hashes,
        .bits_per_key = s->bits_per_key,
        .variant = s->variant,
        .expansion = s->expansion,
        .nonscaling = s->nonscaling,
    };
    if (!cli_is_foreign(&p)) {
        refuse_foreign_options(&p);
    } else if (s->secret) {
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
        .threads = s->threads,
        .secret = s->secret,
        .max_bytes = s->max_memory,
    };
}

char *cli_alike_avoided(umbel_foreign foreign, char *out) {
    enum { NEAR = 64 };
    umbel_plan plan = {0};
    *out = '\0';
    for (int i = 0; i < NEAR; i++) {
        foreign.capacity++;
        if (umbel_plan_foreign(&foreign, &plan, NULL) || plan.rate_alike > 0) continue;
        snprintf(out, CLI_AVOIDED, "; -n %" PRIu64 " avoids it", foreign.capacity);
        break;
    }
    return out;
}
