/* SPDX-License-Identifier: MIT
 *
 * api_names.c - names, error texts, and the planner's public functions
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/diag.h"
#include "format/codec.h"
#include "kind/kind.h"
#include "plan/plan.h"

const char *umbel_strerror(umbel_err err) {
    switch (err) {
    case UMBEL_OK: return "no error";
    case UMBEL_EINVAL: return "parameter out of range";
    case UMBEL_ENOMEM: return "out of memory";
    case UMBEL_ELIMIT: return "above the memory limit";
    case UMBEL_ECORRUPT: return "not a valid filter";
    case UMBEL_EVERSION: return "unknown version or option";
    case UMBEL_ESPACE: return "output buffer too small";
    case UMBEL_EFULL: return "filter full";
    case UMBEL_EFROZEN: return "filter is read-only";
    case UMBEL_EMISMATCH: return "filters do not match";
    case UMBEL_ENOTSUP: return "not supported by this kind or format";
    case UMBEL_EABSENT: return "key is not in the filter";
    case UMBEL_EIO: return "input or output failed";
    case UMBEL_ESECRET: return "not the secret of this filter";
    case UMBEL_EUNKNOWN: return "format not recognised";
    }
    return "unknown error";
}

const char *umbel_explain(umbel_err err, const umbel_diag *diag, char *text, size_t cap) {
    const char *what = diag && diag->what ? diag->what : umbel_strerror(err);
    const char *field = diag ? diag->field : "";
    char where[48] = "";
    if (err == UMBEL_EIO && diag && diag->sys) {
        snprintf(text, cap, "%s%s%s: %s", field, *field ? ": " : "", what, strerror(diag->sys));
        return text;
    }
    if (err != UMBEL_ESECRET && diag && diag->offset) {
        snprintf(where, sizeof where, ", at byte %" PRIu64, diag->offset);
    }
    if (err == UMBEL_ELIMIT && diag && diag->need) {
        snprintf(where, sizeof where, "; %" PRIu64 " would be enough", diag->need);
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

const char *umbel_version(void) {
    return UMBEL_VERSION;
}

umbel_err umbel_plan_solve(umbel_plan *plan, umbel_diag *diag) {
    umbel_err e = umbeli_plan_solve(plan);
    return e ? umbeli_fail(diag, e, plan->why) : UMBEL_OK;
}

double umbel_plan_rate(const umbel_plan *plan, uint64_t keys) {
    return umbeli_plan_rate(plan, keys);
}
