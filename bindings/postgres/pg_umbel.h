/* SPDX-License-Identifier: MIT
 *
 * pg_umbel.h - what the files of the PostgreSQL extension share
 *
 * The library decides everything about filters; these files turn datums into keys and filters, and
 * the library's errors into PostgreSQL's.  Memory comes from memory contexts, so that an ERROR,
 * which jumps over every frame, frees it.  It never jumps over the library's own frames, because
 * the allocator returns NULL instead of raising an error.
 */
#ifndef UMBEL_PG_UMBEL_H
#define UMBEL_PG_UMBEL_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "umbel.h"
#include "umbel_foreign.h"
#include "umbel_lookup.h"
#include "umbel_plan.h"

/* ---- errors and memory: pg_error.c */

/* Raises the library's error with its SQLSTATE and, where there is one, a hint. */
extern _Noreturn void pgu_fail(umbel_err err, const umbel_diag *diag);

/* A count in a double, which numeric and integer literals become; a kind by its name. */
extern uint64_t pgu_whole(double number, const char *what);
extern umbel_kind pgu_kind(const char *name);

/* The most that a value may have: as text it doubles, and pg_dump writes a row, other columns included,
 * into one buffer of 1 GiB. */
#define PGU_MAX_SIZE ((Size)500 << 20)
extern void pgu_insist_on_size(uint64_t size);

/* Options for the next call of the library: memory comes from this context, and no filter may be
 * larger than a value of PostgreSQL. */
extern umbel_opts pgu_opts(MemoryContext context);

extern const umbel_foreign pgu_native; /* the only format of a value */

/* The file of a filter as a value; raises an error if it is larger than one can be. */
extern struct varlena *pgu_encode(const umbel_filter *filter);

/* ---- secrets: pg_secret.c */

extern void pgu_define_settings(void);
extern int pgu_cache_kb; /* umbel.cache_size */

/* The secret in the file of this name in umbel.secret_directory, in memory of this context. */
extern const uint8_t *pgu_secret_named(const char *name, MemoryContext context);

/* The secret, if the filter has one, is found by its fingerprint. */
extern umbel_filter *pgu_open(umbel_how how, const struct varlena *value, MemoryContext context);
extern umbel_filter *pgu_open_file(const char *path, MemoryContext context);

/* ---- filters in the arguments of functions: pg_cache.c */

extern void pgu_define_cache(void);

/* A filter, and how records become its keys; NULL: a record is the key. */
typedef struct pgu_asked {
    const umbel_filter *filter;
    const umbel_lookup *lookup;
    const umbel_recipe *recipe;
} pgu_asked;

/* All of it; the lookup lives as long as the context. */
extern pgu_asked pgu_asked_of(const umbel_filter *filter, MemoryContext context);

/* The filter in argument `arg`, decoded once however often it is queried; valid until the function
 * returns. */
extern const pgu_asked *pgu_filter(FunctionCallInfo fcinfo, int arg);

/* A value that is a mapped file: what umbel_file returns. */
extern Datum pgu_mapped(umbel_filter *filter, MemoryContext context);

/* ---- keys: pg_key.c */

/* A recipe that lives as long as the context; NULL for "line", which changes nothing. */
extern const umbel_recipe *pgu_recipe(const char *text, MemoryContext context);

/* The key of a datum; false: the recipe finds none in it.  `number` has room for an integer. */
typedef bool pgu_read(Datum datum, const umbel_recipe *recipe, uint64_t *number, umbel_key *key);
typedef pgu_read *pgu_reader;

/* Types of keys, as the Makefile and the names of functions in C have them. */
#define PGU_KEY_TYPES(X) \
    X(text)              \
    X(bytea)             \
    X(smallint)          \
    X(integer)           \
    X(bigint)            \
    X(uuid)              \
    X(date)              \
    X(timestamp)         \
    X(timestamptz)       \
    X(inet)              \
    X(numeric)
#define PGU_READER(type) extern pgu_read pgu_key_##type;
PGU_KEY_TYPES(PGU_READER)

/* The recipe of filters whose keys are read so: what the command and the page use for the same keys as
 * text, so that a literal, which PostgreSQL takes for text, asks for the right key. */
extern const char *pgu_recipe_of(pgu_reader read);

#endif
