/* SPDX-License-Identifier: MIT
 *
 * sstable_seek.c - the index block: each entry's key is at or behind the last key of its data block
 *
 * Keys in a table are internal: the user's key and 8 bytes of sequence number and type.  A look-up
 * wants the newest version, so the first entry whose user key is not before the wanted one is the
 * answer.
 */
#include <string.h>

#include "table/sstable.h"

enum { INTERNAL = 8 };

typedef struct seek {
    const uint8_t *target;
    size_t len;
    uint8_t *key; /* of the entry read last */
    size_t equal; /* so many first bytes of it are the target's */
} seek;

/* Brings `key` up to date and tells whether its user part is at or behind the target.  Looks at the
 * new bytes only: beginnings may be long, and shared by very many entries. */
static bool reached(seek *s, const umbeli_entries *it) {
    memcpy(s->key + it->shared, it->suffix, it->suffix_len);
    if (it->shared <= s->equal) {
        s->equal = it->shared;
        while (s->equal < it->key_len && s->equal < s->len &&
               s->key[s->equal] == s->target[s->equal]) {
            s->equal++;
        }
    }
    size_t user = it->key_len - INTERNAL;
    size_t common = s->equal < user ? s->equal : user;
    if (common == s->len) return true;
    return common < user && s->key[common] > s->target[common];
}

umbel_err umbeli_sstable_seek(const umbel_table *t, const void *key, size_t len, bool *found,
                              umbeli_handle *block) {
    const umbeli_sstable *own = t->own;
    *found = false;
    if (!own->index.bytes) return UMBEL_ECORRUPT;
    seek s = {.target = key, .len = len};
    s.key = umbeli_new(&t->memory, own->index.len + 1);
    if (!s.key) return UMBEL_ENOMEM;
    umbel_err e = UMBEL_OK;
    umbeli_entries it = umbeli_entries_of(&own->index);
    while (!e && !*found && umbeli_entries_next(&it)) {
        if (it.key_len < INTERNAL) {
            e = UMBEL_ECORRUPT;
        } else if (reached(&s, &it)) {
            umbeli_reader r = umbeli_reader_over(it.value, it.value_len);
            if (umbeli_take_handle(&r, block)) {
                *found = true;
            } else {
                e = UMBEL_ECORRUPT;
            }
        }
    }
    umbeli_delete(&t->memory, s.key);
    return !e && it.wrong ? UMBEL_ECORRUPT : e;
}
