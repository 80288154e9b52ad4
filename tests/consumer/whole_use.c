/* SPDX-License-Identifier: MIT
 *
 * whole_use.c FILE [memory] - what asks most of the system: threads, a temporary file while building
 * (not with `memory`), saving, mapping
 */
#include <umbel.h>
#include <umbel_plan.h>

#include <stdio.h>

enum { KEYS = 100000 };

static umbel_err build(umbel_kind kind, const umbel_opts *opts, umbel_filter **out,
                       umbel_diag *diag) {
    umbel_params params = {.kind = kind, .fpr = 0.01, .capacity = KEYS};
    umbel_builder *builder = NULL;
    umbel_err err = umbel_builder_new(&params, opts, &builder, diag);
    for (int i = 0; !err && i < KEYS; i++) {
        char text[32];
        umbel_key key = {text, (size_t)snprintf(text, sizeof text, "key %d", i)};
        err = umbel_builder_add(builder, &key, 1, diag);
    }
    if (!err) err = umbel_builder_finish(builder, out, diag);
    umbel_builder_free(builder);
    return err;
}

/* Of all keys, how many are found. */
static int found_in(const umbel_filter *filter) {
    int found = 0;
    for (int i = 0; i < KEYS; i++) {
        char text[32];
        size_t len = (size_t)snprintf(text, sizeof text, "key %d", i);
        found += umbel_contains(filter, text, len);
    }
    return found;
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    const umbel_kind kinds[] = {UMBEL_KIND_STATIC, UMBEL_KIND_TIGHT, UMBEL_KIND_CLASSIC,
                                UMBEL_KIND_BLOCKED};
    umbel_opts opts = {.threads = 4, .tmp = argc == 2 ? "." : NULL};
    umbel_diag diag = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        umbel_filter *filter = NULL, *mapped = NULL;
        umbel_err err = build(kinds[i], &opts, &filter, &diag);
        if (!err) err = umbel_file_save(filter, UMBEL_FMT_NATIVE, argv[1], &diag);
        if (!err) err = umbel_file_open(argv[1], UMBEL_MAP, NULL, NULL, &mapped, &diag);
        if (!err) err = umbel_file_open(argv[1], UMBEL_VERIFY, NULL, NULL, NULL, &diag);
        int found = err ? 0 : found_in(mapped);
        umbel_free(mapped);
        umbel_free(filter);
        if (found != KEYS) {
            char why[200];
            fprintf(stderr, "%s: %d found, %s\n", umbel_kind_name(kinds[i]), found,
                    umbel_explain(err, &diag, why, sizeof why));
            return 1;
        }
    }
    umbel_plan plan = {.capacity = KEYS, .fpr = 0.01};
    return umbel_plan_solve(&plan, &diag) == UMBEL_OK && plan.bytes > 0 ? 0 : 1;
}
