/* SPDX-License-Identifier: MIT
 *
 * umbel_lookup.h - is this text in the list?  A filter with the recipe that makes keys of texts
 *
 *   umbel_source *bad;
 *   if (umbel_source_open("/var/lib/umbel/bad.umb", NULL, &bad, NULL)) return 1;
 *   umbel_key name = {"www.bad.example", 15};
 *   uint8_t hit;
 *   const umbel_lookup *now = umbel_source_now(bad);
 *   if (umbel_lookup_texts(now, UMBEL_USE_KEY, &name, 1, &hit, NULL, NULL)) return 1;
 *   if (hit) puts("perhaps");                // the list may have bad.example, or example
 *   umbel_source_close(bad);
 *
 * umbel_contains takes keys: bytes, as they were added.  A lookup takes what a user, a resolver or
 * a log has: the recipe says what its key is, and which other keys are asked for with it.  The
 * command, umbel serve and all bindings ask through this header, so they cannot disagree.
 *
 * A list changes: small deltas follow the filter that was published, in a file beside it, and every
 * lookup through a source takes them into account.
 *
 * The rules of umbel.h hold here as well.
 */
#ifndef UMBEL_LOOKUP_H
#define UMBEL_LOOKUP_H

#include "umbel.h"
#include "umbel_recipe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Lookups ------------------------------------------------------------------------------ */

/* Never changes, so any number of threads may ask it; an allocator of the filter's own is called
 * from all of them. */
typedef struct umbel_lookup umbel_lookup;

/* Lends a filter, which must outlive the lookup; adding to it, under the rules for its threads, is
 * allowed.  A recipe that is NULL is the filter's own.  A filter that is NULL holds every key: what
 * umbel_confirm says is the answer. */
UMBEL_API umbel_err umbel_lookup_new(const umbel_filter *filter, const char *recipe,
                                     umbel_lookup **out, umbel_diag *diag);

/* A lookup is counted: each call of umbel_lookup_hold needs one more of umbel_lookup_free.  Who
 * holds the lookup of an umbel_source may use it after the source has another, or is closed. */
UMBEL_API void umbel_lookup_hold(const umbel_lookup *lookup);
UMBEL_API void umbel_lookup_free(const umbel_lookup *lookup); /* NULL is allowed                */

UMBEL_API const umbel_filter *umbel_lookup_filter(const umbel_lookup *lookup);
UMBEL_API const umbel_recipe *umbel_lookup_recipe(const umbel_lookup *lookup);

/* An exact second stage: whether a key that the filter has is really in the list.  Final struct. */
typedef struct umbel_confirm {
    bool (*has)(void *ctx, umbel_key key);
    void *ctx;
} umbel_confirm;

/* Sets hit[i] to 1 if the filter has the key of text i or, for a domain name, one of its parents:
 * the key is asked for first, then its parent and so on, and one hit is enough, so a name with l
 * labels is a false positive up to l times as often as a single key.  Otherwise to 0; a text
 * without a key is in no list.  states[i] (optional) is the umbel_found of text i.
 * UMBEL_USE_LOOKUP is implied.  UMBEL_ENOMEM: nothing was looked up.  UMBEL_ECORRUPT: lookups have
 * met damage (umbel_damage), so a 1 may mean only that; a 0 is certain even then, and where there
 * is nothing else it is not an error. */
UMBEL_API umbel_err umbel_lookup_texts(const umbel_lookup *lookup, umbel_recipe_use use,
                                       const umbel_key *texts, size_t n, uint8_t *hit,
                                       uint8_t *states, umbel_diag *diag);

/* The same for keys that the recipe has made already; data of NULL is not a key, unless the
 * recipe is `line`.  hashes[i] (optional) is that of key i: several lookups whose filters hash
 * alike can share what umbel_hash_many computed for one of them.  `confirm` (optional) is asked
 * about every key that the filter has, parents included, until it says yes.  found[i] (optional) is
 * the key, or the part of it, that was a hit; its data is NULL where there was none. */
UMBEL_API umbel_err umbel_lookup_keys(const umbel_lookup *lookup, const umbel_key *keys,
                                      const uint64_t *hashes, size_t n,
                                      const umbel_confirm *confirm, uint8_t *hit, umbel_key *found,
                                      umbel_diag *diag);

/* umbel_builder_never for good keys that will be looked up under this recipe:
 * about their parents as well, which a lookup would find by mistake. */
UMBEL_API umbel_err umbel_builder_never_lookups(umbel_builder *builder, const umbel_recipe *recipe,
                                                const umbel_key *good, size_t n, umbel_diag *diag);

/* ---- Sources: files that are replaced while they are queried ------------------------------- */

/* Says whether the bytes of a file may be used, before anything is made of them: who signed them,
 * perhaps (umbel_trust_guard).  Files are then read into memory whatever their size, so that what
 * it saw is what answers.  Final struct. */
typedef struct umbel_guard {
    /* An error refuses the file.  *number is that of the edition: one that is smaller than that of
     * the file in force is refused as well, with UMBEL_EUNSIGNED.  The bytes are all of those in
     * PATH, whose signature is beside it, or a delta in it, whose signature is given. */
    umbel_err (*accept)(void *ctx, const char *path, const void *bytes, size_t len,
                        const umbel_key *signature, uint64_t *number, umbel_diag *diag);
    void *ctx;
    const char *beside; /* the end of the name of the file that it reads beside this one, such
                         * as ".minisig": when that changes, a refused file is looked at again.
                         * NULL: it reads none */
} umbel_guard;

/* A file with a filter, which may be replaced at any time (by umbel_file_save or mv), as may the
 * deltas beside it: what resolvers, proxies and servers need from a list.  Files of up to 64 MiB
 * are read into memory and checked, so nothing done to the file afterwards does any harm; larger
 * ones are mapped (umbel_file_open).  A new file that is not a filter, is damaged, has a recipe
 * that is not understood or is not accepted by the guard is refused, as are new deltas: what was
 * there stays in force, and what was refused is not read again until it changes.
 *
 * A source has one owner: one thread at a time calls the functions that take it.  The lookups that
 * it gives are for any thread that holds them. */
typedef struct umbel_source umbel_source;

typedef struct umbel_source_opts {
    const umbel_foreign *as; /* as for umbel_file_open; NULL: the format is recognised.  Copied */
    const umbel_opts *opts;  /* for every filter that is opened.  Copied                        */
    const char *recipe;      /* instead of the filters' own; NULL: theirs.  Copied              */
    const umbel_guard *guard; /* NULL: every file is used.  Copied                              */
    /* Opens the file in another way: compressed, from elsewhere.  Its errors refuse the file; NULL:
     * as above.  There is no guard then: only the opener knows the bytes. */
    umbel_err (*open)(void *ctx, const char *path, umbel_filter **out, umbel_diag *diag);
    void *ctx;
    uint64_t reserved[3];
} umbel_source_opts;

UMBEL_API umbel_err umbel_source_open(const char *path, const umbel_source_opts *how,
                                      umbel_source **out, umbel_diag *diag);
UMBEL_API void umbel_source_close(umbel_source *source); /* NULL is allowed                     */

/* The lookup that is in force, after looking for a new file at most once per second.  Valid until
 * the next call for this source, or as long as it is held. */
UMBEL_API const umbel_lookup *umbel_source_now(umbel_source *source);

/* Looks for a new file at once.  The error is that of umbel_source_status. */
UMBEL_API umbel_err umbel_source_refresh(umbel_source *source, umbel_diag *diag);

typedef struct umbel_source_state {
    uint64_t replaced; /* how often a new file took the old one's place                         */
    uint64_t refused;  /* how many new files were refused                                       */
    uint64_t since;    /* when the lookup in force was made, in seconds since 1970              */
    bool stale;        /* the file that is there now is not used, or there is none              */
    uint8_t reserved8[7];
    uint64_t number; /* of the file in force, as the guard says; 0: there is no guard           */
    uint64_t aside;  /* bytes of deltas beside the file in force that follow another, or 0      */
    uint64_t reserved[2];
} umbel_source_state;

/* Without looking again.  UMBEL_ECORRUPT if lookups have met damage in a mapped file
 * (umbel_damage); otherwise, the error for which the file that is there now is not used, and an
 * older one answers.  *state (optional) is set in any case. */
UMBEL_API umbel_err umbel_source_status(const umbel_source *source, umbel_source_state *state,
                                        umbel_diag *diag);

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_LOOKUP_H */
