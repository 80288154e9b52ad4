/* SPDX-License-Identifier: MIT
 *
 * key_counts.c - how often each key went by: open addressing, at most 5/6 full
 */
#include "uniq/key_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { FIRST = 1024, AHEAD = 16 };

/* 0 marks free slots. */
static uint64_t stored(uint64_t hash) {
    return hash ? hash : 1;
}

static cli_key_count *slot_of(const cli_key_counts *t, uint64_t hash) {
    for (size_t i = (size_t)hash & (t->room - 1);; i = (i + 1) & (t->room - 1)) {
        if (!t->slots[i].hash || t->slots[i].hash == hash) return &t->slots[i];
    }
}

static void grow(cli_key_counts *t) {
    cli_key_counts new = {.room = t->room ? 2 * t->room : FIRST};
    size_t size = new.room * sizeof *new.slots;
    if (t->limit && size + size / 2 > t->limit) {
        cli_die("-c", "--top N takes little memory", "more keys than --max-memory has room for");
    }
    new.slots = cli_alloc(size);
    memset(new.slots, 0, size);
    for (size_t i = 0; i < t->room; i++) {
        if (t->slots[i].hash) *slot_of(&new, t->slots[i].hash) = t->slots[i];
    }
    free(t->slots);
    t->slots = new.slots;
    t->room = new.room;
}

void cli_key_counts_add(cli_key_counts *t, const uint64_t *hashes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (6 * (t->keys + 1) > 5 * t->room) grow(t);
        if (i + AHEAD < n) {
            __builtin_prefetch(&t->slots[(size_t)hashes[i + AHEAD] & (t->room - 1)], 1);
        }
        cli_key_count *slot = slot_of(t, stored(hashes[i]));
        t->keys += !slot->hash;
        slot->hash = stored(hashes[i]);
        slot->count++;
    }
}

cli_key_count *cli_key_counts_of(const cli_key_counts *t, uint64_t hash) {
    return slot_of(t, stored(hash));
}

void cli_key_counts_free(cli_key_counts *t) {
    free(t->slots);
}
