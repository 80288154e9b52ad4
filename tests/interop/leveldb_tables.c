/* SPDX-License-Identifier: MIT
 *
 * leveldb_tables.c - tables that LevelDB writes on the spot: read, queried, and written again
 *
 * A recording policy reports which filter LevelDB's own reader chooses for a key; umbel must choose
 * the same and give the same answer.  The filter block, rebuilt from the data blocks, must be
 * LevelDB's.  umbel's two policies must work in a real database.
 */
#define _DEFAULT_SOURCE /* mkdtemp, scandir */
#include <dirent.h>
#include <leveldb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tables/leveldb/leveldb_table.h"
#include "umbel_foreign.h"
#include "umbel_leveldb.h"
#include "umbel_table.h"

enum { BITS_PER_KEY = 10, PATH_BYTES = 512, MAX_KEY = 64 };

static unsigned long test_number, answers, filters_asked;

static void die(const char *what) {
    printf("not ok %lu - %s\n", test_number + 1, what);
    exit(1);
}

static void no_error(char *error) {
    if (!error) return;
    printf("# %s\n", error);
    die("LevelDB reports an error");
}

/* ---- A recording policy ---- */

static struct {
    bool asked, answer;
    unsigned char filter[1 << 16];
    size_t len;
} heard;

static void nothing_to_end(void *state) {
    (void)state;
}

static char *listening_create(void *state, const char *const *keys, const size_t *lens, int n,
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
    if (!bytes || umbel_encode(f, UMBEL_FMT_LEVELDB, bytes, *len, NULL)) die("not written");
    umbel_free(f);
    return bytes;
}

static unsigned char listening_match(void *state, const char *key, size_t len, const char *filter,
                                     size_t filter_len) {
    (void)state;
    umbel_filter *f = NULL;
    if (filter_len > sizeof heard.filter) die("a filter larger than expected");
    if (umbel_decode(filter, filter_len, UMBEL_MAP, &(umbel_foreign){.format = UMBEL_FMT_LEVELDB},
                     NULL, &f, NULL))
        die("not read");
    heard.asked = true;
    heard.answer = umbel_contains(f, key, len);
    heard.len = filter_len;
    memcpy(heard.filter, filter, filter_len);
    umbel_free(f);
    return heard.answer;
}

static const char *builtin_name(void *state) {
    (void)state;
    return "leveldb.BuiltinBloomFilter2";
}

/* ---- Databases ---- */

typedef enum whose { THEIRS, LISTENING, OURS, SPLIT } whose;

typedef struct database {
    leveldb_t *db;
    leveldb_options_t *options;
    leveldb_filterpolicy_t *policy;
} database;

static leveldb_filterpolicy_t *policy_of(whose who) {
    if (who == THEIRS) return leveldb_filterpolicy_create_bloom(BITS_PER_KEY);
    if (who == OURS) return umbel_leveldb_builtin(BITS_PER_KEY);
    if (who == SPLIT) return umbel_leveldb_split_block(BITS_PER_KEY);
    return leveldb_filterpolicy_create(NULL, nothing_to_end, listening_create, listening_match,
                                       builtin_name);
}

static database open_database(const char *path, whose who, int compression, size_t block_size) {
    database d = {.options = leveldb_options_create(), .policy = policy_of(who)};
    leveldb_options_set_create_if_missing(d.options, 1);
    leveldb_options_set_filter_policy(d.options, d.policy);
    leveldb_options_set_compression(d.options, compression);
    leveldb_options_set_block_size(d.options, block_size);
    leveldb_options_set_max_file_size(d.options, (size_t)1 << 29);
    leveldb_options_set_write_buffer_size(d.options, (size_t)1 << 26);
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

static void remove_database(const char *path) {
    leveldb_options_t *options = leveldb_options_create();
    char *error = NULL;
    leveldb_destroy_db(options, path, &error);
    no_error(error);
    leveldb_options_destroy(options);
}

/* Keys of 6 to 45 bytes of any value; the same number gives the same key. */
static size_t key_of(uint64_t number, unsigned char key[MAX_KEY]) {
    uint64_t x = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    size_t len = 6 + (x >> 40) % 40;
    for (size_t i = 0; i < len; i++) {
        x ^= x >> 29;
        x *= UINT64_C(0xbf58476d1ce4e5b9);
        key[i] = (unsigned char)(x >> 56);
    }
    return len;
}

/* With a snapshot held, old versions and deletions stay in the table. */
static void fill(const char *path, whose who, int compression, size_t block_size, unsigned keys) {
    database d = open_database(path, who, compression, block_size);
    leveldb_writeoptions_t *write = leveldb_writeoptions_create();
    const leveldb_snapshot_t *snapshot = NULL;
    char *error = NULL, value[200];
    unsigned char key[MAX_KEY];
    memset(value, 'v', sizeof value);
    for (unsigned i = 0; i < keys; i++) {
        size_t len = key_of(i, key);
        leveldb_put(d.db, write, (char *)key, len, value, i * 7 % sizeof value, &error);
        no_error(error);
    }
    snapshot = leveldb_create_snapshot(d.db);
    for (unsigned i = 0; i < keys; i += 5) {
        size_t len = key_of(i, key);
        if (i % 2) {
            leveldb_delete(d.db, write, (char *)key, len, &error);
        } else {
            leveldb_put(d.db, write, (char *)key, len, value, 3, &error);
        }
        no_error(error);
    }
    leveldb_compact_range(d.db, NULL, 0, NULL, 0);
    leveldb_release_snapshot(d.db, snapshot);
    leveldb_writeoptions_destroy(write);
    close_database(d);
}

static int is_table(const struct dirent *entry) {
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".ldb") == 0;
}

/* The path of the one table there is. */
static void the_table(const char *folder, char path[2 * PATH_BYTES]) {
    struct dirent **found;
    if (scandir(folder, &found, is_table, alphasort) != 1) die("not one table");
    snprintf(path, 2 * PATH_BYTES, "%s/%s", folder, found[0]->d_name);
    free(found[0]);
    free(found);
}

static umbel_table *open_table(const char *folder) {
    char path[2 * PATH_BYTES];
    umbel_table *t = NULL;
    umbel_diag diag = {0};
    the_table(folder, path);
    if (umbel_table_open(path, NULL, NULL, &t, &diag)) die(diag.what);
    if (umbel_table_fault(t, 0, &diag)) die(diag.what);
    return t;
}

/* ---- Comparisons ---- */

/* The same filter and the same answer as LevelDB's reader, for present and absent keys. */
static void same_choices(const char *folder, int compression, size_t block_size, unsigned keys) {
    database d = open_database(folder, LISTENING, compression, block_size);
    umbel_table *t = open_table(folder);
    leveldb_readoptions_t *read = leveldb_readoptions_create();
    uint8_t *may = calloc(umbel_table_count(t) + 1, 1);
    for (unsigned i = 0; i < 2 * keys; i++) {
        unsigned char key[MAX_KEY];
        size_t len = key_of(i, key), value_len;
        char *error = NULL;
        heard.asked = false;
        leveldb_free(leveldb_get(d.db, read, (char *)key, len, &value_len, &error));
        no_error(error);
        umbel_table_answer answer;
        if (umbel_table_check(t, NULL, key, len, may, &answer, NULL)) die("a key is not checked");
        if (i < keys && !answer.may_contain) die("a key is lost");
        if (!heard.asked) continue; /* outside the range of the table's keys */
        answers++;
        if (heard.answer != answer.may_contain) die("another answer than LevelDB's");
        if (!answer.may_contain) continue;
        size_t place = 0;
        while (!may[place]) place++;
        umbel_table_place p;
        umbel_table_place_of(t, place, &p);
        if (answer.places != 1 || p.len != heard.len) die("another filter than LevelDB's");
        if (memcmp(t->bytes + p.offset, heard.filter, heard.len)) die("other bytes of a filter");
        if (answer.block < p.first || answer.block >= p.end) die("a block of another filter");
    }
    free(may);
    leveldb_readoptions_destroy(read);
    umbel_table_close(t);
    close_database(d);
}

/* The filter block from the data blocks, against the one in the file. */
static void same_filter_block(const char *folder, unsigned long *keys) {
    umbel_table *t = open_table(folder);
    const umbeli_sstable *own = t->own;
    umbel_leveldb_block *b = NULL;
    unsigned char key[MAX_KEY + 8];
    if (umbel_leveldb_block_new(BITS_PER_KEY, NULL, &b, NULL)) die("no builder");
    umbel_err e = umbel_leveldb_block_start(b, 0);
    umbeli_entries it = umbeli_entries_of(&own->index);
    while (!e && umbeli_entries_next(&it)) {
        umbeli_handle h;
        umbeli_block data;
        umbeli_reader r = umbeli_reader_over(it.value, it.value_len);
        if (!umbeli_take_handle(&r, &h) || umbeli_block_read(t, h, &data, NULL)) die("a block");
        umbeli_entries entries = umbeli_entries_of(&data);
        for (; !e && umbeli_entries_next(&entries); ++*keys) {
            memcpy(key + entries.shared, entries.suffix, entries.suffix_len);
            e = umbel_leveldb_block_add(b, key, entries.key_len - 8);
        }
        if (!e) e = umbel_leveldb_block_start(b, h.offset + h.size + UMBELI_SSTABLE_TRAILER);
        umbeli_block_end(t, &data);
    }
    const void *bytes = NULL;
    size_t len = 0;
    if (e || umbel_leveldb_block_finish(b, &bytes, &len)) die("the builder fails");
    if (len != own->filters.len || memcmp(bytes, own->filters.bytes, len)) {
        die("another filter block than LevelDB's");
    }
    umbel_leveldb_block_free(b);
    umbel_table_close(t);
}

static unsigned char *contents(const char *folder, size_t *len) {
    char path[2 * PATH_BYTES];
    the_table(folder, path);
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) die("a table cannot be read");
    *len = (size_t)ftell(f);
    rewind(f);
    unsigned char *bytes = malloc(*len + 1);
    if (!bytes || fread(bytes, 1, *len, f) != *len) die("a table cannot be read");
    fclose(f);
    return bytes;
}

static void same_bytes(const char *a, const char *b) {
    size_t len_a, len_b;
    unsigned char *bytes_a = contents(a, &len_a), *bytes_b = contents(b, &len_b);
    if (len_a != len_b || memcmp(bytes_a, bytes_b, len_a)) die("the tables differ");
    free(bytes_a);
    free(bytes_b);
}

/* Every key is where it was put, under this policy; umbel table reads every filter. */
static void finds_all(const char *folder, whose who, int compression, size_t block_size,
                      unsigned keys) {
    database d = open_database(folder, who, compression, block_size);
    umbel_table *t = open_table(folder);
    leveldb_readoptions_t *read = leveldb_readoptions_create();
    unsigned absent = 0;
    for (unsigned i = 0; i < 2 * keys; i++) {
        unsigned char key[MAX_KEY];
        size_t len = key_of(i, key), value_len;
        char *error = NULL;
        char *value = leveldb_get(d.db, read, (char *)key, len, &value_len, &error);
        no_error(error);
        umbel_table_answer answer;
        if (umbel_table_check(t, NULL, key, len, NULL, &answer, NULL)) die("a key is not checked");
        if ((value || i < keys) && !answer.may_contain) die("a filter loses a key");
        if (i < keys && !value && (i % 5 || !(i % 2))) die("LevelDB loses a key");
        if (i >= keys) absent += answer.may_contain;
        leveldb_free(value);
    }
    if (absent > keys / 10) die("too many false positives");
    for (size_t i = 0; i < umbel_table_count(t); i++) {
        umbel_table_place p;
        umbel_table_place_of(t, i, &p);
        filters_asked += p.state == UMBEL_TABLE_FILTER;
    }
    leveldb_readoptions_destroy(read);
    umbel_table_close(t);
    close_database(d);
}

static void compare(const char *folder, int compression, size_t block_size, unsigned keys) {
    char theirs[PATH_BYTES], ours[PATH_BYTES], split[PATH_BYTES];
    unsigned long in_blocks = 0;
    snprintf(theirs, sizeof theirs, "%s/theirs", folder);
    snprintf(ours, sizeof ours, "%s/ours", folder);
    snprintf(split, sizeof split, "%s/split", folder);
    fill(theirs, THEIRS, compression, block_size, keys);
    fill(ours, OURS, compression, block_size, keys);
    fill(split, SPLIT, compression, block_size, keys);
    same_bytes(theirs, ours);
    same_choices(theirs, compression, block_size, keys);
    same_filter_block(theirs, &in_blocks);
    finds_all(theirs, OURS, compression, block_size, keys);
    finds_all(ours, THEIRS, compression, block_size, keys);
    finds_all(split, SPLIT, compression, block_size, keys);
    remove_database(theirs);
    remove_database(ours);
    remove_database(split);
    printf("ok %lu - %u keys (%lu versions), compression %d, blocks of %zu\n", ++test_number, keys,
           in_blocks, compression, block_size);
}

int main(void) {
    const char *tmp = getenv("TMPDIR");
    char folder[PATH_BYTES / 2];
    snprintf(folder, sizeof folder, "%s/umbel-table-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(folder)) die("no temporary folder");
    compare(folder, leveldb_no_compression, 4096, 300);
    compare(folder, leveldb_snappy_compression, 4096, 5000);
    compare(folder, leveldb_no_compression, 512, 3000);
    compare(folder, leveldb_snappy_compression, 65536, 20000);
    rmdir(folder);
    printf("# %lu answers as LevelDB's, %lu filters read\n", answers, filters_asked);
    printf("1..%lu\n", test_number);
    return answers > 1000 && filters_asked > 100 ? 0 : 1;
}
