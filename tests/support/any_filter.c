/* SPDX-License-Identifier: MIT */
#include "any_filter.h"
#include "umbel_foreign.h"

#include <stdio.h>

umbel_err any_create(const any_params *params, const umbel_opts *opts, umbel_filter **out,
                     umbel_diag *diag) {
    if (params->foreign.format) return umbel_create_foreign(&params->foreign, opts, out, diag);
    umbel_opts keyed = opts ? *opts : (umbel_opts){0};
    if (params->secret) keyed.secret = params->secret;
    return umbel_create(&params->native, &keyed, out, diag);
}

const umbel_foreign *any_as(const any_params *params) {
    return params->foreign.format ? &params->foreign : NULL;
}

umbel_err build_from(const umbel_params *params, const umbel_opts *opts, const umbel_key *keys,
                     size_t n, umbel_filter **out, umbel_diag *diag) {
    umbel_builder *builder = NULL;
    umbel_err e = umbel_builder_new(params, opts, &builder, diag);
    if (!e) e = umbel_builder_add(builder, keys, n, diag);
    if (!e) e = umbel_builder_finish(builder, out, diag);
    umbel_builder_free(builder);
    return e;
}

umbel_info described(const umbel_filter *f) {
    umbel_info info;
    umbel_describe(f, &info);
    return info;
}

uint64_t keys_added(const umbel_filter *f) {
    return described(f).keys_added;
}

umbel_measurement measured(const umbel_filter *f) {
    umbel_measurement now;
    umbel_measure(f, &now);
    return now;
}

const char *sentence(const umbel_diag *diag) {
    static _Thread_local char text[512];
    if (!diag->what) return "";
    snprintf(text, sizeof text, "%s%s%s", diag->field, *diag->field ? ": " : "", diag->what);
    return text;
}
