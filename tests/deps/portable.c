/* SPDX-License-Identifier: MIT
 *
 * portable.c FOLDER - uses what depends on the system: large arrays, threads, files, temporary files
 *
 * Prints what must be the same everywhere, and last whether there were temporary files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <umbel.h>

enum { KEYS = 1100000, PATH_BYTES = 1024 };

static uint32_t numbers[KEYS];
static umbel_key keys[KEYS];
static char path[PATH_BYTES];

static void need(bool good, const char *what) {
    if (good) return;
    printf("failed: %s\n", what);
    exit(1);
}

static void say(const char *what, const umbel_filter *f) {
    size_t len = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE);
    uint8_t *bytes = malloc(len);
    need(bytes && umbel_encode(f, UMBEL_FMT_NATIVE, bytes, len, NULL) == UMBEL_OK, "encode");
    uint64_t sum = 0;
    for (size_t i = 0; i < len; i++) sum = sum * 31 + bytes[i];
    free(bytes);
    printf("%s: %llx\n", what, (unsigned long long)sum);
}

/* 8 MiB, filled and asked by four threads, where there are any. */
static umbel_filter *large(void) {
    umbel_filter *f = NULL;
    umbel_params params = {.kind = UMBEL_KIND_BLOCKED, .bytes = 8 << 20, .concurrent = true};
    umbel_opts opts = {.threads = 4};
    need(umbel_create(&params, &opts, &f, NULL) == UMBEL_OK, "create");
    need(umbel_add_many(f, keys, KEYS, NULL, NULL, NULL) == UMBEL_OK, "add");
    uint8_t *hits = calloc(KEYS, 1);
    need(hits != NULL, "memory");
    umbel_contains_many(f, keys, KEYS, hits);
    need(!memchr(hits, 0, KEYS), "a key is missing");
    free(hits);
    return f;
}

static void files(umbel_filter *f) {
    umbel_filter *opened = NULL, *loaded = NULL;
    umbel_diag diag = {0};
    need(umbel_file_open(path, UMBEL_MAP, NULL, NULL, &opened, &diag) == UMBEL_EIO,
         "nothing there");
    for (int i = 0; i < 2; i++) { /* the second replaces the first */
        need(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL) == UMBEL_OK, "save");
    }
    need(umbel_file_open(path, UMBEL_VERIFY, NULL, NULL, NULL, NULL) == UMBEL_OK, "verify");
    need(umbel_file_open(path, UMBEL_MAP, NULL, NULL, &opened, NULL) == UMBEL_OK, "open");
    need(umbel_file_open(path, UMBEL_LOAD, NULL, NULL, &loaded, NULL) == UMBEL_OK, "load");
    need(umbel_equal(f, opened) && umbel_equal(f, loaded), "files hold the filter");
    need(umbel_add(opened, "x", 1, NULL, NULL) == UMBEL_EFROZEN, "what is opened is frozen");
    umbel_free(opened);
    umbel_free(loaded);
}

static umbel_err make_static(const char *folder, umbel_filter **f) {
    umbel_params params = {.kind = UMBEL_KIND_STATIC, .fpr = 0.01};
    umbel_opts opts = {.threads = 2, .tmp = folder};
    umbel_builder *builder = NULL;
    umbel_err e = umbel_builder_new(&params, &opts, &builder, NULL);
    if (!e) e = umbel_builder_add(builder, keys, KEYS, NULL);
    if (!e) e = umbel_builder_finish(builder, f, NULL);
    umbel_builder_free(builder);
    return e;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    snprintf(path, sizeof path, "%s/f.umb", argv[1]);
    for (uint32_t i = 0; i < KEYS; i++) {
        numbers[i] = i;
        keys[i] = (umbel_key){&numbers[i], sizeof numbers[i]};
    }
    umbel_filter *f = large(), *in_memory = NULL, *in_file = NULL;
    say("blocked", f);
    files(f);
    umbel_free(f);
    need(make_static(NULL, &in_memory) == UMBEL_OK, "build");
    say("static", in_memory);
    umbel_err e = make_static(argv[1], &in_file);
    need(e ? e == UMBEL_EIO : umbel_equal(in_memory, in_file), "build with a temporary file");
    umbel_free(in_memory);
    umbel_free(in_file);
    printf("temporary files: %s\n", e ? "no" : "yes");
    return 0;
}
