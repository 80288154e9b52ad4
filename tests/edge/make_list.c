/* SPDX-License-Identifier: MIT
 *
 * make_list.c - make_list OUT RECIPE RATE LIST [GOOD]: a tight filter of the lines of LIST, by the
 *               library alone; the keys of GOOD are never found
 */
#define _POSIX_C_SOURCE 200809L /* getline */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umbel_lookup.h"
#include "umbel_never.h"

static void need(umbel_err e, const umbel_diag *diag, const char *what) {
    char text[256];
    if (!e) return;
    fprintf(stderr, "make_list: %s: %s\n", what, umbel_explain(e, diag, text, sizeof text));
    exit(1);
}

/* What is done with each key: LIST's are added and shown, GOOD's asked about. */
typedef struct making {
    umbel_recipe *recipe;
    umbel_builder *builder;
    umbel_never *never;
    bool good;
} making;

static void take(making *m, umbel_key key) {
    umbel_diag diag = {0};
    if (!m->good) {
        need(umbel_never_show(m->never, &key, 1, &diag), &diag, "show");
        need(umbel_builder_add(m->builder, &key, 1, &diag), &diag, "add");
        return;
    }
    need(umbel_never_lookups(m->never, m->recipe, &key, 1, &diag), &diag, "ask");
}

static void read_lines(making *m, const char *path) {
    FILE *in = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    if (!in) need(UMBEL_EIO, NULL, path);
    for (ssize_t n; (n = getline(&line, &room, in)) > 0;) {
        umbel_key key = {line, (size_t)n - (line[n - 1] == '\n')};
        size_t need_room = umbel_recipe_room(m->recipe, 1, key.len);
        uint8_t *scratch = malloc(need_room + 1), state;
        if (scratch && umbel_recipe_apply(m->recipe, UMBEL_USE_RECORD, &key, 1, scratch, &state)) {
            take(m, key);
        }
        free(scratch);
    }
    free(line);
    fclose(in);
}

int main(int argc, char **argv) {
    making m = {0};
    umbel_diag diag = {0};
    umbel_filter *f = NULL;
    if (argc < 5) return 2;
    umbel_params params = {.kind = UMBEL_KIND_TIGHT, .fpr = atof(argv[3])};
    need(umbel_recipe_parse(argv[2], &m.recipe, &diag), &diag, argv[2]);
    need(umbel_builder_new(&params, NULL, &m.builder, &diag), &diag, "builder");
    need(umbel_never_new(&params, NULL, &m.never, &diag), &diag, "never");
    m.good = true;
    if (argc > 5) read_lines(&m, argv[5]);
    m.good = false;
    read_lines(&m, argv[4]);
    need(umbel_builder_finish(m.builder, &f, &diag), &diag, "finish");
    need(umbel_never_finish(m.never, f, NULL, &diag), &diag, "never");
    need(umbel_set_recipe(f, argv[2], &diag), &diag, "recipe");
    need(umbel_file_save(f, UMBEL_FMT_NATIVE, argv[1], &diag), &diag, argv[1]);
    umbel_free(f);
    umbel_builder_free(m.builder);
    umbel_never_free(m.never);
    umbel_recipe_free(m.recipe);
    return 0;
}
