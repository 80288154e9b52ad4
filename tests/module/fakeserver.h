/* SPDX-License-Identifier: MIT
 *
 * fakeserver.h - just enough of a server for the module's types to work: memory that is counted and
 * can run out, values read from and written to bytes as in RDB files, defragmentation that moves
 * everything.  It ends the test if any thread but the first asks for more than memory.
 */
#ifndef FAKESERVER_H
#define FAKESERVER_H

#include "api.h"

/* Points the module's API here and lets it register its types. */
void fake_start(void);

/* ---- Memory ---- */

typedef struct fake_memory {
    uint64_t pieces, bytes; /* in use */
    uint64_t allocations;   /* so far */
    uint64_t fail_at;       /* this TryAlloc from now and later ones return NULL; 0: never */
    uint64_t largest;       /* piece requested since it was last set to 0 */
    uint64_t limit;         /* TryAlloc of more returns NULL; 0: none */
} fake_memory;
extern fake_memory fake_heap;

/* ---- Types ---- */

/* What the module registered: MBbloom--, umbel-bf-, umbel-cl-. */
enum { FAKE_REDISBLOOM, FAKE_BLOCKED, FAKE_CLASSIC, FAKE_TYPES };
typedef struct fake_type {
    const char *name;
    int encver;
    RedisModuleTypeMethods methods;
} fake_type;
extern fake_type fake_types[FAKE_TYPES];

/* ---- Input and output ---- */

/* What RedisModuleIO points to: RDB's values, each with its opcode, no end mark.  Strings are
 * stored plainly. */
typedef struct fake_io {
    uint8_t *bytes;
    size_t len, cap, pos;
    bool failed;
    unsigned logged;
} fake_io;
void fake_io_free(fake_io *io);

/* Reads these bytes, which the caller keeps, as a value of the type. */
void *fake_load(const fake_type *type, int encver, const uint8_t *bytes, size_t len);

/* ---- Digest ---- */

/* FNV-1a over everything added. */
uint64_t fake_digest(const fake_type *type, void *value);

/* ---- Defragmentation ---- */

/* What RedisModuleDefragCtx points to. */
typedef struct fake_defrag {
    unsigned long cursor;
    bool has_cursor, hurry; /* hurry: stop whenever asked */
    uint64_t moved;
} fake_defrag;

#endif
