/* SPDX-License-Identifier: MIT
 *
 * leveldb_consumer.c FOLDER - a LevelDB program in C with umbel's filter policy
 */
#include <stdio.h>
#include <stdlib.h>
#include <umbel_leveldb.h>

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    leveldb_filterpolicy_t *policy = umbel_leveldb_split_block(10);
    leveldb_options_t *options = leveldb_options_create();
    leveldb_options_set_create_if_missing(options, 1);
    leveldb_options_set_filter_policy(options, policy);
    leveldb_writeoptions_t *writing = leveldb_writeoptions_create();
    leveldb_readoptions_t *reading = leveldb_readoptions_create();

    char *error = NULL, *value = NULL;
    size_t len = 0;
    leveldb_t *db = leveldb_open(options, argv[1], &error);
    if (!error) leveldb_put(db, writing, "ada", 3, "1815", 4, &error);
    if (!error) leveldb_compact_range(db, NULL, 0, NULL, 0);
    if (!error) value = leveldb_get(db, reading, "ada", 3, &len, &error);
    if (error) fprintf(stderr, "%s\n", error);
    int status = !error && value && len == 4 ? 0 : 1;

    free(value);
    if (db) leveldb_close(db);
    leveldb_readoptions_destroy(reading);
    leveldb_writeoptions_destroy(writing);
    leveldb_options_destroy(options);
    leveldb_filterpolicy_destroy(policy);
    leveldb_free(error);
    return status;
}
