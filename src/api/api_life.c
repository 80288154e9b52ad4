/* SPDX-License-Identifier: MIT
 *
 * api_life.c - creating, building, copying and freeing filters
 */
#include "core/diag.h"
#include "format/codec.h"
#include "kind/checked_pieces.h"
#include "kind/kind.h"
#include "kind/static/static.h"
#include "plan/plan.h"
#include "umbel_foreign.h"
#include "umbel_never.h"

/* ---- creating ------------------------------------------------------------------------------ */

/* The kind for AUTO: the planner's choice where a rate is promised, else blocked. */
static umbel_err choose_kind(umbel_params *params, umbel_diag *diag) {
    if (params->kind != UMBEL_KIND_AUTO) return UMBEL_OK;
    params->kind = UMBEL_KIND_BLOCKED;
    if (umbeli_bytes_alone(params)) return UMBEL_OK;
    umbel_plan plan;
    umbel_err e = umbeli_kind_plan(UMBEL_KIND_AUTO, params, &plan, diag);
    if (e) return e;
    params->kind = plan.kind;
    params->capacity = plan.capacity;
    params->fpr = plan.fpr;
    params->bytes = plan.bytes; /* so that the search is not repeated */
    params->hashes = plan.hashes;
    return UMBEL_OK;
}

/* Checks given and opts; *params gets a kind that exists, *settings what both of them specify. */
static umbel_err check_params(const umbel_params *given, const umbel_opts *opts,
                              umbel_params *params, umbeli_settings *settings, umbel_diag *diag) {
    *params = *given;
    umbel_err e = umbeli_settings_from(opts, settings, diag);
    if (e) return e;
    if (!umbeli_reserved_zero(given->reserved, sizeof given->reserved)) {
        return umbeli_invalid(diag, "params.reserved: must be 0");
    }
    if (!(given->fpr >= 0 && given->fpr < 1)) { /* also NaN */
        return umbeli_invalid(diag, "fpr: must be between 0 and 1");
    }
    if (settings->concurrent) params->concurrent = true;
    settings->concurrent = params->concurrent;
    e = choose_kind(params, diag);
    return e ? e : umbeli_kind_params(params, diag);
}

umbel_err umbel_create(const umbel_params *params, const umbel_opts *opts, umbel_filter **out,
                       umbel_diag *diag) {
    umbel_params native;
    umbeli_settings settings;
    umbel_err e = check_params(params, opts, &native, &settings, diag);
    if (e) return e;
    const umbeli_kind *kind = umbeli_kind_by_id(native.kind);
    if (!kind->create) {
        return umbeli_fail(diag, UMBEL_ENOTSUP, "kind: is built once, from all the keys");
    }
    return kind->create(&native, &settings, out, diag);
}

umbel_filter *umbel_new(uint64_t capacity, double fpr) {
    umbel_filter *f = NULL;
    umbel_params params = {.capacity = capacity, .fpr = fpr};
    return umbel_create(&params, NULL, &f, NULL) ? NULL : f;
}

umbel_err umbel_create_foreign(const umbel_foreign *foreign, const umbel_opts *opts,
                               umbel_filter **out, umbel_diag *diag) {
    umbeli_settings settings;
    umbel_err e = umbeli_settings_from(opts, &settings, diag);
    return e ? e : umbeli_codec_create(foreign, &settings, out, diag);
}

/* ---- building ------------------------------------------------------------------------------ */

/* Filters that are built once have their own builder; the others are simply added to. */
struct umbel_builder {
    umbeli_settings settings;
    umbeli_static_builder *fixed;
    umbel_filter *growing;
    umbel_never *never; /* NULL: the builder above takes good keys */
    umbel_build_report report;
    bool told, added, failed, finished;
};

umbel_err umbel_builder_new(const umbel_params *given, const umbel_opts *opts, umbel_builder **out,
                            umbel_diag *diag) {
    umbel_params params;
    umbeli_settings settings;
    umbel_err e = check_params(given, opts, &params, &settings, diag);
    if (e) return e;
    umbel_builder *b = umbeli_new(&settings, sizeof *b);
    if (!b) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a builder");
    b->settings = settings;
    e = umbeli_kind_by_id(params.kind)->traits.built_once
            ? umbeli_static_builder_new(&params, opts ? opts->tmp : NULL, &b->settings, &b->fixed,
                                        diag)
            : umbel_create(given, opts, &b->growing, diag);
    bool exact = params.kind == UMBEL_KIND_EXACT;
    if (!e && !exact) e = umbel_never_new(&params, opts, &b->never, diag);
    if (e) {
        umbel_builder_free(b);
        return e;
    }
    *out = b;
    return UMBEL_OK;
}

static umbel_err check_open(const umbel_builder *b, umbel_diag *diag) {
    if (!b->failed && !b->finished) return UMBEL_OK;
    return umbeli_invalid(diag, "the builder has already failed or finished");
}

umbel_err umbel_builder_never(umbel_builder *b, const umbel_key *keys, size_t n, umbel_diag *diag) {
    umbel_err e = check_open(b, diag);
    if (e) return e;
    if (b->added)
        return umbeli_invalid(diag, "never: such keys come before the first that is added");
    b->told = true;
    e = b->never ? umbel_never_ask(b->never, keys, n, diag)
                 : umbeli_static_builder_never(b->fixed, keys, n, diag);
    b->failed = e != UMBEL_OK;
    return e;
}

umbel_err umbel_builder_add(umbel_builder *b, const umbel_key *keys, size_t n, umbel_diag *diag) {
    umbel_err e = check_open(b, diag);
    if (e) return e;
    b->added = true;
    e = b->fixed ? umbeli_static_builder_add(b->fixed, keys, n, diag)
                 : umbel_add_many(b->growing, keys, n, NULL, NULL, diag);
    if (!e && b->never && b->told) e = umbel_never_show(b->never, keys, n, diag);
    b->failed = e != UMBEL_OK;
    return e;
}

static umbel_err finish(umbel_builder *b, umbel_filter **out, umbel_diag *diag) {
    umbel_filter *f = b->growing;
    b->growing = NULL;
    umbel_err e =
        b->fixed ? umbeli_static_builder_finish(b->fixed, &f, &b->report, diag) : UMBEL_OK;
    if (!e && b->never && b->told) e = umbel_never_finish(b->never, f, &b->report, diag);
    return umbeli_filter_finish(f, e, out);
}

umbel_err umbel_builder_finish(umbel_builder *b, umbel_filter **out, umbel_diag *diag) {
    umbel_err e = check_open(b, diag);
    if (e) return e;
    e = finish(b, out, diag);
    b->failed = e != UMBEL_OK;
    b->finished = !e;
    return e;
}

void umbel_builder_report(const umbel_builder *b, umbel_build_report *report) {
    *report = b->report;
}

void umbel_builder_free(umbel_builder *b) {
    if (!b) return;
    umbeli_settings settings = b->settings;
    umbeli_static_builder_delete(b->fixed);
    umbeli_filter_free(b->growing);
    umbel_never_free(b->never);
    umbeli_delete(&settings, b);
}

/* ---- copying, freeing ---------------------------------------------------------------------- */

umbel_err umbel_copy(const umbel_filter *filter, umbel_filter **out, umbel_diag *diag) {
    umbel_err e = umbeli_check_now(filter, diag);
    if (e) return e;
    e = umbeli_filter_copy(filter, out);
    if (e == UMBEL_ELIMIT) return umbeli_fail_limit(diag, umbeli_filter_bytes(filter));
    return e ? umbeli_fail(diag, e, "no memory for a copy") : UMBEL_OK;
}

void umbel_free(umbel_filter *filter) {
    umbeli_filter_free(filter);
}
