/* SPDX-License-Identifier: MIT
 *
 * api_names.c - errors as text, and the lists of names
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/codec.h"
#include "kind/kind.h"
#include "umbel_foreign.h"
#include "umbel_plan.h"
#include "umbel_text.h"

static const struct {
    const char *name, *text;
} errors[] = {
    [UMBEL_OK] = {"OK", "no error"},
    [UMBEL_EINVAL] = {"EINVAL", "parameter out of range"},
    [UMBEL_ENOMEM] = {"ENOMEM", "out of memory"},
    [UMBEL_ELIMIT] = {"ELIMIT", "above the memory limit"},
    [UMBEL_ECORRUPT] = {"ECORRUPT", "not a valid filter"},
    [UMBEL_EVERSION] = {"EVERSION", "unknown version or option"},
    [UMBEL_ESPACE] = {"ESPACE", "output buffer too small"},
    [UMBEL_EFULL] = {"EFULL", "filter full"},
    [UMBEL_EFROZEN] = {"EFROZEN", "filter is read-only"},
    [UMBEL_EMISMATCH] = {"EMISMATCH", "filters do not match"},
    [UMBEL_ENOTSUP] = {"ENOTSUP", "not supported by this kind or format"},
    [UMBEL_EABSENT] = {"EABSENT", "key is not in the filter"},
    [UMBEL_EIO] = {"EIO", "input or output failed"},
    [UMBEL_ESECRET] = {"ESECRET", "wrong secret"},
    [UMBEL_EUNKNOWN] = {"EUNKNOWN", "format not recognised"},
    [UMBEL_EUNSYNCED] = {"EUNSYNCED", "saved, but not synced"},
    [UMBEL_EUNSIGNED] = {"EUNSIGNED", "not signed as required"},
};

enum { ERRORS = sizeof errors / sizeof *errors };

static const char *text_of(umbel_err err) {
    return (unsigned)err < ERRORS ? errors[err].text : "unknown error";
}

const char *umbel_err_name(umbel_err err) {
    return (unsigned)err < ERRORS ? errors[err].name : NULL;
}

const char *umbel_explain(umbel_err err, const umbel_diag *diag, char *text, size_t cap) {
    const char *what = diag && diag->what ? diag->what : text_of(err);
    const char *field = diag ? diag->field : "";
    char where[80] = "";
    if ((err == UMBEL_EIO || err == UMBEL_EUNSYNCED) && diag && diag->sys) {
        snprintf(text, cap, "%s%s%s: %s", field, *field ? ": " : "", what, strerror(diag->sys));
        return text;
    }
    if (err != UMBEL_ESECRET && diag && diag->offset) {
        snprintf(where, sizeof where, ", at byte %" PRIu64, diag->offset);
    }
    if (err == UMBEL_ELIMIT && diag && diag->need) {
        snprintf(where, sizeof where, "; %" PRIu64 " would be enough", diag->need);
    }
    if (err == UMBEL_ECORRUPT && diag && diag->need) {
        char have[UMBEL_QUANTITY], need[UMBEL_QUANTITY];
        snprintf(where, sizeof where, ": %s of %s bytes", umbel_count_text(diag->offset, have),
                 umbel_count_text(diag->need, need));
    }
    snprintf(text, cap, "%s%s%s%s", field, *field ? ": " : "", what, where);
    return text;
}

const char *umbel_kind_name(umbel_kind kind) {
    if (kind == UMBEL_KIND_AUTO) return "auto";
    const umbeli_kind *found = umbeli_kind_by_id(kind);
    return found ? found->name : NULL;
}

bool umbel_kind_named(const char *name, umbel_kind *kind) {
    if (strcmp(name, "auto") == 0) {
        *kind = UMBEL_KIND_AUTO;
        return true;
    }
    for (const umbeli_kind *const *k = umbeli_kinds; *k; k++) {
        if (strcmp((*k)->name, name) != 0) continue;
        *kind = (*k)->id;
        return true;
    }
    return false;
}

const char *umbel_format_name(umbel_format format) {
    const umbeli_codec *codec = umbeli_codec_by_id(format);
    return codec ? codec->name : NULL;
}

bool umbel_format_named(const char *name, umbel_format *format) {
    for (const umbeli_codec *const *codec = umbeli_codecs; *codec; codec++) {
        if (strcmp((*codec)->name, name) != 0) continue;
        *format = (*codec)->id;
        return true;
    }
    return false;
}

bool umbel_format_describe(umbel_format format, umbel_format_info *info) {
    const umbeli_codec *codec = umbeli_codec_by_id(format);
    *info = (umbel_format_info){0};
    if (!codec) return false;
    *info = (umbel_format_info){
        .name = codec->name,
        .system = codec->system,
        .takes = codec->takes,
        .needs = codec->needs,
        .variants = umbeli_codec_variants(codec),
        .key_len = codec->key_len,
        .recognised = codec->recognise != NULL,
        .has_checksum = codec->has_checksum,
        .has_signed_seed = codec->has_signed_seed,
    };
    return true;
}

/* The variant of this name or, without one, of this bit. */
static const umbeli_variant *find_variant(umbel_format format, const char *name, uint32_t bit) {
    for (const umbeli_codec *const *codec = umbeli_codecs; *codec; codec++) {
        if (format != UMBEL_FMT_ANY && format != (*codec)->id) continue;
        for (size_t i = 0; i < UMBELI_VARIANTS; i++) {
            const umbeli_variant *v = &(*codec)->variants[i];
            if (v->name && (name ? strcmp(v->name, name) == 0 : v->bit == bit)) return v;
        }
    }
    return NULL;
}

bool umbel_variant_named(umbel_format format, const char *name, uint32_t *bits) {
    const umbeli_variant *found = find_variant(format, name, 0);
    if (found) *bits = found->bit;
    return found != NULL;
}

const char *umbel_variant_name(umbel_format format, uint32_t bit) {
    const umbeli_variant *found = find_variant(format, NULL, bit);
    return found ? found->name : NULL;
}

const char *umbel_verdict_name(umbel_verdict verdict) {
    static const char *const names[] = {
        [UMBEL_PLAN_OK] = "ok",
        [UMBEL_PLAN_UNDERDETERMINED] = "underdetermined",
        [UMBEL_PLAN_BAD_RATE] = "bad-rate",
        [UMBEL_PLAN_BELOW_BOUND] = "below-bound",
        [UMBEL_PLAN_BEYOND_KIND] = "beyond-kind",
        [UMBEL_PLAN_TOO_LARGE] = "too-large",
        [UMBEL_PLAN_TOO_SMALL] = "too-small",
        [UMBEL_PLAN_BAD_KIND] = "bad-kind",
        [UMBEL_PLAN_BAD_HASHES] = "bad-hashes",
    };
    return (unsigned)verdict < sizeof names / sizeof *names ? names[verdict] : NULL;
}

const char *umbel_version(void) {
    return UMBEL_VERSION;
}
