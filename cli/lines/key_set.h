/* SPDX-License-Identifier: MIT
 *
 * key_set.h - a set of keys, byte by byte
 */
#ifndef CLI_KEY_SET_H
#define CLI_KEY_SET_H

#include "umbel.h"

typedef struct cli_key_entry {
    uint64_t hash;
    size_t at; /* in the text of the set; SIZE_MAX: a free slot */
    size_t len;
    bool marked; /* for the caller to use */
} cli_key_entry;

/* Starts with zeros. */
typedef struct cli_key_set {
    cli_key_entry *slots;
    size_t room, count; /* room is a power of two, or 0 */
    uint8_t *text;
    size_t text_len, text_room;
    uint64_t limit; /* bytes, for --max-memory; 0: none */
} cli_key_set;

/* `hash` is any good hash of the key, always the same one. */
void cli_key_set_add(cli_key_set *set, umbel_key key, uint64_t hash);

/* NULL: it is not in the set.  Any number of threads may call it while none adds. */
cli_key_entry *cli_key_set_find(const cli_key_set *set, umbel_key key, uint64_t hash);

void cli_key_set_free(cli_key_set *set);

#endif
