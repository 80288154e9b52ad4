/* SPDX-License-Identifier: MIT
 *
 * leveldb_database.c - a real database whose filter policy is made of umbel functions: its tables
 * are byte for byte those of LevelDB's own policy, and each policy reads the other's database
 */
#define _DEFAULT_SOURCE /* mkdtemp, scandir */
#include <dirent.h>
#include <leveldb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "umbel_foreign.h"

enum { BITS_PER_KEY = 10, PATH_BYTES = 512 };

static unsigned long filters_made, keys_asked, tables_compared, test_number;

static void die(const char *what) {
    printf("not ok %lu - %s\n", test_number + 1, what);
    exit(1);
}

static void no_error(char *error) {
    if (!error) return;
    printf("# %s\n", error);
    die("LevelDB reports an error");
}

/* ---- The policy ---- */

static void nothing_to_end(void *state) {
    (void)state;
}

static char *create_filter(void *state, const char *const *keys, const size_t *lens, int n,
                           size_t *len) {
    (void)state;
    umbel_foreign params = {
        .format = UMBEL_FMT_LEVELDB, .capacity = (uint64_t)n, .bits_per_key = BITS_PER_KEY};
    umbel_filter *f = NULL;
    if (umbel_create_foreign(&params, NULL, &f, NULL)) die("a filter is not made");
    for (int i = 0; i < n; i++) {
        if (umbel_add(f, keys[i], lens[i], NULL, NULL)) die("a key is not added");
    }
    *len = (size_t)umbel_encoded_size(f, UMBEL_FMT_LEVELDB);
    char *bytes = malloc(*len);
    if (!bytes || umbel_encode(f, UMBEL_FMT_LEVELDB, bytes, *len, NULL))
        die("a filter is not written");
    umbel_free(f);
    filters_made++;
    return bytes;
}

static unsigned char key_may_match(void *state, const char *key, size_t len, const char *filter,
                                   size_t filter_len) {
    (void)state;
    umbel_filter *f = NULL;
    if (umbel_decode(filter, filter_len, UMBEL_MAP, &(umbel_foreign){.format = UMBEL_FMT_LEVELDB},
                     NULL, &f, NULL))
        die("a filter is not read");
    bool may = umbel_contains(f, key, len);
    umbel_free(f);
    keys_asked++;
    return may;
}

static const char *policy_name(void *state) {
    (void)state;
    return "leveldb.BuiltinBloomFilter2";
}

static leveldb_filterpolicy_t *policy_of(bool umbel) {
    if (!umbel) return leveldb_filterpolicy_create_bloom(BITS_PER_KEY);
    return leveldb_filterpolicy_create(NULL, nothing_to_end, create_filter, key_may_match,
                                       policy_name);
}

/* ---- Databases ---- */

typedef struct database {
    leveldb_t *db;
    leveldb_options_t *options;
    leveldb_filterpolicy_t *policy;
} database;

static database open_database(const char *path, bool umbel, int compression) {
    database d = {.options = leveldb_options_create(), .policy = policy_of(umbel)};
    leveldb_options_set_create_if_missing(d.options, 1);
    leveldb_options_set_filter_policy(d.options, d.policy);
    leveldb_options_set_compression(d.options, compression);
    char *error = NULL;
    d.db = leveldb_open(d.options, path, &error);
    no_error(error);
    return d;
}

static void close_database(database d) {
    leveldb_close(d.db);
    leveldb_options_destroy(d.options);
    leveldb_filterpolicy_destroy(d.policy);
}

static void fill(const char *path, bool umbel, int compression, int keys) {
    database d = open_database(path, umbel, compression);
    leveldb_writeoptions_t *write = leveldb_writeoptions_create();
    char *error = NULL;
    for (int i = 0; i < keys; i++) {
        char key[32], value[64];
        snprintf(key, sizeof key, "key%06d", i * 7 % keys);
        snprintf(value, sizeof value, "the value of number %d", i);
        leveldb_put(d.db, write, key, strlen(key), value, strlen(value), &error);
        if (i % 10 == 3) leveldb_delete(d.db, write, key, strlen(key), &error);
        no_error(error);
    }
    leveldb_compact_range(d.db, NULL, 0, NULL, 0);
    leveldb_writeoptions_destroy(write);
    close_database(d);
}

/* Looks up keys that are there, that were deleted, and that lie between them. */
static void ask(const char *path, bool umbel, int compression, int keys) {
    database d = open_database(path, umbel, compression);
    leveldb_readoptions_t *read = leveldb_readoptions_create();
    char *error = NULL;
    for (int i = 0; i < keys; i++) {
        for (int absent = 0; absent < 2; absent++) {
            char key[32];
            size_t len;
            snprintf(key, sizeof key, "key%06d%s", i * 7 % keys, absent ? "x" : "");
            char *value = leveldb_get(d.db, read, key, strlen(key), &len, &error);
            no_error(error);
            if ((value != NULL) != (!absent && i % 10 != 3)) die("a key is lost, or found wrongly");
            leveldb_free(value);
        }
    }
    leveldb_readoptions_destroy(read);
    close_database(d);
}

/* ---- Files ---- */

static int is_table(const struct dirent *entry) {
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".ldb") == 0;
}

static unsigned char *contents(const char *folder, const char *name, size_t *len) {
    char path[2 * PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) die("a table cannot be read");
    long size = ftell(f);
    if (size <= 0) die("a table is empty");
    rewind(f);
    *len = (size_t)size;
    unsigned char *bytes = malloc(*len);
    if (!bytes || fread(bytes, 1, *len, f) != *len) die("a table cannot be read");
    fclose(f);
    return bytes;
}

static void compare_tables(const char *a, const char *b) {
    struct dirent **in_a, **in_b;
    int count = scandir(a, &in_a, is_table, alphasort);
    if (count < 1 || scandir(b, &in_b, is_table, alphasort) != count) die("not the same tables");
    for (int i = 0; i < count; i++) {
        size_t len_a, len_b;
        unsigned char *bytes_a = contents(a, in_a[i]->d_name, &len_a);
        unsigned char *bytes_b = contents(b, in_b[i]->d_name, &len_b);
        if (strcmp(in_a[i]->d_name, in_b[i]->d_name) != 0 || len_a != len_b ||
            memcmp(bytes_a, bytes_b, len_a) != 0) {
            die("the tables differ");
        }
        tables_compared++;
        free(bytes_a);
        free(bytes_b);
        free(in_a[i]);
        free(in_b[i]);
    }
    free(in_a);
    free(in_b);
}

static void remove_database(const char *path) {
    leveldb_options_t *options = leveldb_options_create();
    char *error = NULL;
    leveldb_destroy_db(options, path, &error);
    no_error(error);
    leveldb_options_destroy(options);
}

static void compare(const char *folder, int compression, int keys) {
    char theirs[PATH_BYTES], ours[PATH_BYTES];
    snprintf(theirs, sizeof theirs, "%s/theirs", folder);
    snprintf(ours, sizeof ours, "%s/ours", folder);
    fill(theirs, false, compression, keys);
    fill(ours, true, compression, keys);
    compare_tables(theirs, ours);
    ask(theirs, true, compression, keys);
    ask(ours, false, compression, keys);
    ask(ours, true, compression, keys);
    remove_database(theirs);
    remove_database(ours);
    printf("ok %lu - %d keys, compression %d\n", ++test_number, keys, compression);
}

int main(void) {
    const char *tmp = getenv("TMPDIR");
    char folder[PATH_BYTES / 2];
    snprintf(folder, sizeof folder, "%s/umbel-leveldb-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(folder)) die("no temporary folder");
    compare(folder, leveldb_no_compression, 300);
    compare(folder, leveldb_snappy_compression, 3000);
    compare(folder, leveldb_no_compression, 50000);
    rmdir(folder);
    printf("# %lu tables equal, %lu filters made, %lu answers given\n", tables_compared,
           filters_made, keys_asked);
    printf("1..%lu\n", test_number);
    return filters_made && keys_asked ? 0 : 1;
}
