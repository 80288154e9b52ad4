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

static const char *kind_at(int i) {
    return umbel_kind_name((umbel_kind)i);
}

static const char *format_at(int i) {
    return i ? umbel_format_name((umbel_format)i) : NULL;
}

static const char *type_at(int i) {
    return umbel_type_name((umbel_type)i);
}

/* The names that an option of such a type takes: the library's, and one more with its value. */
static const struct {
    const char *what, *(*at)(int);
    const char *more;
    int more_value;
} names[] = {[TYPE_KIND] = {"kind", kind_at, "smallest", UMBEL_KIND_TIGHT},
             [TYPE_FORMAT] = {"format", format_at, NULL, 0},
             [TYPE_TYPE] = {"type", type_at, NULL, 0}};
enum { ENUM_END = 64 };

static const char *name_at(cli_option_type type, int i) {
    return i < ENUM_END ? names[type].at(i) : names[type].more;
}

char *cli_names(cli_option_type type, const char *separator, char *out) {
    size_t used = 0;
    *out = '\0';
    for (int i = 0; i <= ENUM_END && used < CLI_NAMES; i++) {
        const char *name = name_at(type, i);
        if (!name) continue;
        used += (size_t)snprintf(out + used, CLI_NAMES - used, "%s%s", used ? separator : "", name);
    }
    return out;
}

int cli_value_named(cli_option_type type, const char *shown, const char *name) {
    char known[CLI_NAMES];
    if (type == TYPE_KIND && strcmp(name, "auto") == 0) return UMBEL_KIND_AUTO;
    for (int i = 0; i <= ENUM_END; i++) {
        const char *one = name_at(type, i);
        if (one && strcmp(one, name) == 0) return i < ENUM_END ? i : names[type].more_value;
    }
    cli_die(shown, cli_names(type, ", ", known), "unknown %s '%s'", names[type].what, name);
}

static uint32_t variant_of(const cli_settings *s) {
    uint32_t bits = 0;
    for (size_t i = 0; i < s->variants.count; i++) {
        uint32_t more;
        if (!umbel_variant_named(UMBEL_FMT_ANY, s->variants.at[i], &more)) {
            cli_die("--variant", cli_option_of(OPT_VARIANT)->choices, "unknown variant '%s'",
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

/* Options for foreign filters must not be ignored. */
static void refuse_foreign_options(const cli_filter_params *p, const cli_settings *s) {
    cli_option_id id = p->bits_per_key ? OPT_BITS_PER_KEY
                       : p->nonscaling ? OPT_NONSCALING
                       : p->variant    ? OPT_VARIANT
                                       : OPT_END;
    char shown[48];
    if (id == OPT_END) return;
    cli_die(cli_option_text(id, shown),
            cli_takes(s->command, OPT_FROM) ? "--from FORMAT is another system's"
                                            : "--format FORMAT is another system's",
            "not for native filters");
}

uint64_t cli_seed_of(const cli_settings *s, umbel_format format) {
    umbel_format_info info;
    if (s->negative_seed && !(umbel_format_describe(format, &info) && info.has_signed_seed)) {
        cli_die("--seed", "this format's seeds have no sign", "must be 0 or more");
    }
    return s->seed;
}

cli_filter_params cli_params_of(const cli_settings *s) {
    cli_filter_params p = {
        .format = s->format ? s->format : UMBEL_FMT_NATIVE,
        .kind = s->kind,
        .capacity = s->keys,
        .fpr = s->fpr,
        .bytes = s->bytes,
        .seed = cli_seed_of(s, s->format),
        .hashes = s->hashes,
        .bits_per_key = s->bits_per_key,
        .variant = s->variant,
        .expansion = s->expansion,
        .nonscaling = s->nonscaling,
    };
    if (!cli_is_foreign(&p)) {
        refuse_foreign_options(&p, s);
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

void cli_need_universe_kind(umbel_kind kind) {
    umbel_traits traits;
    umbel_kind_traits(kind, &traits);
    if (kind == UMBEL_KIND_AUTO || traits.universe) return;
    cli_die("--universe", "--never makes exceptions in other kinds", "not for --kind %s",
            umbel_kind_name(kind));
}

umbel_opts cli_opts_of(const cli_settings *s) {
    return (umbel_opts){
        .threads = s->threads,
        .secret = s->secret,
        .max_bytes = s->max_memory,
        .unchecked = s->unchecked,
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
