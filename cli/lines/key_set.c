/* SPDX-License-Identifier: MIT
 *
 * key_set.c - a set of keys, byte by byte: open addressing, at most three quarters full
 */
#include "lines/key_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "umbel_text.h"

enum { FIRST = 1024 };
static const size_t nowhere = SIZE_MAX;

/* The key's slot, or the free one where it belongs. */
static cli_key_entry *slot_of(const cli_key_set *set, umbel_key key, uint64_t hash) {
    for (size_t i = (size_t)hash & (set->room - 1);; i = (i + 1) & (set->room - 1)) {
        cli_key_entry *e = &set->slots[i];
        if (e->at == nowhere) return e;
        if (e->hash == hash && e->len == key.len &&
            (!key.len || memcmp(set->text + e->at, key.data, key.len) == 0)) {
            return e;
        }
    }
}

/* Exits if there is no room for that much more; what is being enlarged counts twice. */
static void take(const cli_key_set *set, uint64_t more) {
    char limit[UMBEL_QUANTITY];
    uint64_t bytes = (uint64_t)set->room * sizeof *set->slots + set->text_room + more;
    if (!set->limit || bytes <= set->limit) return;
    cli_die("--max-memory", "a larger SIZE",
            "%s is too little for the keys that are to be verified: at least %zu",
            umbel_size_text(set->limit, limit), set->count);
}

static void grow(cli_key_set *set) {
    take(set, (set->room ? 2 * set->room : FIRST) * sizeof *set->slots);
    cli_key_entry *old = set->slots;
    size_t old_room = set->room;
    set->room = old_room ? 2 * old_room : FIRST;
    set->slots = cli_alloc(set->room * sizeof *set->slots);
    for (size_t i = 0; i < set->room; i++) set->slots[i].at = nowhere;
    for (size_t i = 0; i < old_room; i++) {
        if (old[i].at == nowhere) continue;
        *slot_of(set, (umbel_key){set->text + old[i].at, old[i].len}, old[i].hash) = old[i];
    }
    free(old);
}

void cli_key_set_add(cli_key_set *set, umbel_key key, uint64_t hash) {
    if (4 * (set->count + 1) > 3 * set->room) grow(set);
    cli_key_entry *e = slot_of(set, key, hash);
    if (e->at != nowhere) return;
    if (set->text_len + key.len > set->text_room) {
        take(set, 2 * (uint64_t)(set->text_len + key.len));
        set->text_room = 2 * (set->text_len + key.len);
        set->text = cli_realloc(set->text, set->text_room);
    }
    if (key.len) memcpy(set->text + set->text_len, key.data, key.len);
    *e = (cli_key_entry){hash, set->text_len, key.len, false};
    set->text_len += key.len;
    set->count++;
}

cli_key_entry *cli_key_set_find(const cli_key_set *set, umbel_key key, uint64_t hash) {
    if (!set->count) return NULL;
    cli_key_entry *e = slot_of(set, key, hash);
    return e->at == nowhere ? NULL : e;
}

void cli_key_set_free(cli_key_set *set) {
    free(set->slots);
    free(set->text);
}
