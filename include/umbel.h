/* SPDX-License-Identifier: MIT
 *
 * umbel.h - Bloom filters and their kin: one handle, several kinds, everyone's formats
 *
 *   umbel_filter *seen = NULL;
 *   umbel_err e = umbel_create(&(umbel_params){ .keys = 1000000, .fpr = 0.01 }, NULL, &seen, NULL);
 *   if (!e) e = umbel_add(seen, "ada", 3, NULL);
 *   if (!e && umbel_contains(seen, "ada", 3)) puts("perhaps");     // never a false "no"
 *   if (!e) e = umbel_file_save(seen, UMBEL_FMT_NATIVE, "seen.umb", NULL);
 *   umbel_free(seen);
 *
 * Rules that hold for every function below
 *   errors     A function that can fail returns umbel_err; UMBEL_OK is 0.  On failure nothing has
 *              changed but *diag, which may be NULL and else says where and why.
 *   ownership  A filter written to *out is yours; umbel_free ends it.  The library keeps no pointer
 *              that you pass in, with one exception: umbel_view.
 *   validity   A filter that exists is valid.  Decoding checks everything; there is no second step.
 *   keys       Bytes with a length.  Empty keys and NUL bytes are ordinary keys.  (The secret of a
 *              keyed filter, umbel_params.key, is another thing.)
 *   bytes      A filter's bytes depend only on its parameters and keys, never on CPU, compiler,
 *              number of threads or byte order.
 *   threads    Any number of readers, or one writer, per filter.  A filter created with
 *              `concurrent` also takes any number of writers in umbel_add and its kin.
 *   silence    The library never prints, exits, reads the environment or changes errno.
 */
#ifndef UMBEL_H
#define UMBEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UMBEL_VERSION_MAJOR 0
#define UMBEL_VERSION_MINOR 1
#define UMBEL_VERSION_PATCH 0
#define UMBEL_VERSION "0.1.0"

#if defined(__GNUC__)
#define UMBEL_API __attribute__((visibility("default")))
#else
#define UMBEL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types -------------------------------------------------------------------------------- */

typedef struct umbel_filter umbel_filter;

typedef enum umbel_err {
    UMBEL_OK = 0,
    UMBEL_EINVAL,    /* a parameter is out of range, or parameters contradict each other        */
    UMBEL_ENOMEM,    /* memory could not be had                                                 */
    UMBEL_ELIMIT,    /* umbel_opts.max_bytes would be passed                                    */
    UMBEL_ECORRUPT,  /* the bytes are not a valid filter of that format                         */
    UMBEL_EVERSION,  /* a valid envelope, but of a version or with an option not known here     */
    UMBEL_ESPACE,    /* the output buffer is too small                                          */
    UMBEL_EFULL,     /* the filter has reached its limit and may not grow                       */
    UMBEL_EFROZEN,   /* the filter is read-only: a view, a mapped file or a static kind         */
    UMBEL_EMISMATCH, /* the filters differ in kind, hash, seed or shape                         */
    UMBEL_ENOTSUP,   /* this kind or format has no such operation                               */
    UMBEL_EABSENT,   /* the key to remove is certainly not in the filter                        */
    UMBEL_EIO,       /* the operating system refused; diag->sys holds its errno                 */
    UMBEL_EKEY       /* the filter is keyed and this is not its key, or it is not keyed         */
} umbel_err;

/* Why something failed.  `what` is static text; it names the field or parameter. */
typedef struct umbel_diag {
    uint64_t offset; /* decoding: where in the bytes; otherwise 0                               */
    int sys;         /* UMBEL_EIO: the errno of the failing call; otherwise 0                   */
    const char *what;
    uint64_t need;   /* UMBEL_ELIMIT: the max_bytes that would do; UMBEL_ECORRUPT of bytes that
                        are cut short: how many there should be; 0 where it is not known        */
} umbel_diag;

/* The numbers are stored in native files and never change. */
typedef enum umbel_kind {
    UMBEL_AUTO = 0,    /* blocked, or classic where blocked would need over 1.25 times the bytes */
    UMBEL_BLOCKED = 1, /* split-block Bloom: one cache line a key; the fast general filter       */
    UMBEL_CLASSIC = 2, /* m bits, k probes anywhere: the smallest mutable filter                 */
    UMBEL_STATIC = 3,  /* binary fuse: built once from all keys (umbel_build), the smallest      */
    UMBEL_COUNTING = 4, /* 4-bit counters in place of blocked's bits: keys can be removed        */
    UMBEL_SCALABLE = 5, /* a chain of blocked filters: grows, and keeps its rate all the time    */
    UMBEL_WINDOW = 6    /* remembers the last keys and forgets older ones, in fixed memory       */
} umbel_kind;

typedef enum umbel_format {
    UMBEL_FMT_ANY = 0,        /* decoding: recognise it by its magic number                      */
    UMBEL_FMT_NATIVE = 1,     /* umbel's own file, docs/formats/native.md; holds every kind      */
    UMBEL_FMT_LEVELDB = 2,    /* LevelDB's filter policy leveldb.BuiltinBloomFilter2             */
    UMBEL_FMT_COREKV = 3,     /* the Go filter of corekv: LevelDB's bytes, uint32 keys           */
    UMBEL_FMT_BADGER = 4,     /* Badger's: LevelDB's bytes, keys are uint32 hashes already       */
    UMBEL_FMT_CLICKHOUSE = 5, /* ClickHouse's BloomFilter class                                  */
    UMBEL_FMT_GOCRC32 = 6,    /* the Go filter over one CRC-32; words little-endian              */
    UMBEL_FMT_GUAVA = 7,      /* Guava's BloomFilter.writeTo                                     */
    UMBEL_FMT_PARQUET = 8,    /* Parquet's split-block filter with its Thrift header             */
    UMBEL_FMT_REDISBLOOM = 9, /* RedisBloom's chain: SCANDUMP's header and bits in a container   */
    UMBEL_FMT_DCSO = 10       /* DCSO's bloom files, also those of CIRCL; not gzip-compressed    */
} umbel_format;

/* Other forms of one format, or-ed together; 0 is its usual form. */
typedef enum umbel_variant {
    UMBEL_VARIANT_INT32 = 1 << 0,      /* gocrc32: as on 32-bit platforms, where sums wrap       */
    UMBEL_VARIANT_MITZ32 = 1 << 1,     /* guava: the strategy MURMUR128_MITZ_32                  */
    UMBEL_VARIANT_GUAVA_2024 = 1 << 2, /* guava: hashes from fpr alone, as since late 2024       */
    UMBEL_VARIANT_CLICKHOUSE_INDEX = 1 << 3, /* clickhouse: a granule of a bloom_filter index;
                                                keys are strings ...                         */
    UMBEL_VARIANT_CLICKHOUSE_NUMBERS = 1 << 4, /* ... or, with this, too, numbers as ClickHouse
                                                  stores them: 1 to 32 bytes, little-endian  */
    UMBEL_VARIANT_CLICKHOUSE_PRE2024 = 1 << 5  /* with INDEX: sized as in releases before 2024 */
} umbel_variant;

/* What to make.  Zero means "not given" everywhere.  Of keys, fpr and bytes give two and the third
 * follows; or all three, and it is refused if bytes cannot hold the promise; or bytes alone, for a
 * filter of just that size without a promise (classic then needs hashes). */
typedef struct umbel_params {
    umbel_kind kind;
    umbel_format format; /* 0, NATIVE: umbel's hashing; others: hash and size as that system     */
    uint64_t keys;       /* keys expected                                                        */
    double fpr;          /* promised false-positive rate once they are in, in (0,1)              */
    uint64_t bytes;      /* memory for the bits, at most                                         */
    uint64_t seed;       /* other seeds place keys elsewhere; filters unite only with equal seeds */
    uint32_t hashes;     /* classic: probes a key; static: 3 or 4; 0 chooses the best            */
    bool concurrent;     /* blocked: umbel_add and kin may run in many threads at once           */
    bool nonscaling;     /* redisbloom: refuse keys beyond `keys` instead of growing             */
    bool manual;         /* window: umbel_advance alone moves it on, adding never does           */
    uint32_t bits_per_key; /* leveldb, corekv, badger, clickhouse's index: instead of fpr        */
    uint32_t variant;      /* a format's other form: UMBEL_VARIANT_..., 0: its usual one         */
    uint32_t expansion;    /* redisbloom, scalable: each link or layer is for so many times the
                              keys of the one before; 0: 2                                       */
    uint32_t reserved32;   /* must be zero                                                       */
    uint32_t layers;       /* scalable: at most so many, then UMBEL_EFULL; 0: 64                 */
    uint32_t generations;  /* window: forget in so many steps; 0: 8.  `keys` is the window       */
    const uint8_t *key;    /* 16 secret bytes, or NULL.  Natively hashed filters: who does not know
                              them can neither foretell nor provoke false positives.  Copied; no
                              file holds them, so umbel_opts.key opens it again                  */
    uint64_t reserved[4];  /* must be zero                                                       */
} umbel_params;

typedef struct umbel_alloc {
    void *(*alloc)(void *ctx, size_t size); /* NULL when there is none; aligned as malloc's      */
    void (*free)(void *ctx, void *ptr);
    void *ctx;
} umbel_alloc;

typedef struct umbel_opts {
    const umbel_alloc *alloc; /* NULL: malloc and free.  Copied; ctx must outlive the filter     */
    uint64_t max_bytes;       /* refuse filters whose bits need more; 0: no limit                */
    uint32_t threads;         /* *_many calls of a million keys may use so many; 0 and 1: one    */
    uint32_t reserved32;      /* must be zero                                                    */
    const char *tmp;          /* umbel_build of static filters: a directory for a temporary file
                                 of 8 bytes a key, instead of memory; it is gone afterwards      */
    const uint8_t *key;       /* decoding, opening, loading: the 16 bytes that the filter was made
                                 with; UMBEL_EKEY if they are others, or missing, or not needed  */
    uint64_t reserved[2];     /* must be zero                                                    */
} umbel_opts;

typedef struct umbel_key {
    const void *data; /* may be NULL when len is 0 */
    size_t len;
} umbel_key;

/* The types of values whose bytes other systems hash; umbel_typed_key.  Numbers are little-endian
 * two's complement or IEEE 754. */
typedef enum umbel_type {
    UMBEL_TYPE_STRING = 0, /* the bytes of the text as they are                                  */
    UMBEL_TYPE_UTF16 = 1,  /* UTF-8 text as UTF-16 code units, as Guava's unencodedCharsFunnel   */
    UMBEL_TYPE_INT8 = 2,
    UMBEL_TYPE_INT16 = 3,
    UMBEL_TYPE_INT32 = 4, /* Guava's integerFunnel, Parquet's INT32                              */
    UMBEL_TYPE_INT64 = 5, /* Guava's longFunnel, Parquet's INT64                                 */
    UMBEL_TYPE_UINT8 = 6,
    UMBEL_TYPE_UINT16 = 7,
    UMBEL_TYPE_UINT32 = 8,
    UMBEL_TYPE_UINT64 = 9,
    UMBEL_TYPE_FLOAT = 10,    /* 4 bytes; ClickHouse hashes Float32 as double, too               */
    UMBEL_TYPE_DOUBLE = 11,   /* 8 bytes                                                         */
    UMBEL_TYPE_UINT32_BE = 12 /* big-endian: corekv                                              */
} umbel_type;

/* What was done to each line before it became a key.  The library records it with the filter and
 * does not apply it: whoever splits text into keys does (as the umbel command does). */
typedef struct umbel_treatment {
    bool trim;         /* white space at both ends removed                                       */
    bool lower;        /* ASCII letters made small ...                                           */
    bool upper;        /* ... or large                                                           */
    uint8_t delimiter; /* between fields; 0: runs of white space                                 */
    uint32_t field;    /* the key is this field of the line, from 1; 0: the whole line           */
} umbel_treatment;

typedef struct umbel_info {
    umbel_kind kind;
    umbel_format format;      /* whose hashing and sizing it follows                             */
    const char *layout;       /* "blocked/xxh3", ...: filters unite if this, shape, seed and key
                                 agree                                                           */
    const char *kernel;       /* "avx2", "generic", ...                                          */
    uint64_t seed;
    uint64_t fingerprint;     /* of umbel_params.key, telling keys apart but nothing about them; 0:
                                 not keyed                                                       */
    uint32_t hashes;          /* probes a key                                                    */
    uint32_t parts;           /* filters in it that a look-up may have to ask; mostly 1          */
    bool frozen, concurrent;
    bool grows;               /* adding beyond capacity adds a layer and keeps fpr               */
    uint64_t bits, bytes;     /* of the bit array                                                */
    uint64_t capacity;        /* keys planned for; 0: unknown                                    */
    double fpr;               /* rate promised at capacity; 0: none                              */
    uint64_t keys_added;      /* adds that changed the filter, less removes; after unite the sum  */
    uint64_t bits_set;
    double keys_estimated;    /* distinct keys, from the bits; infinite when every bit is set    */
    double fpr_now;           /* live rate: that of a random absent key, from the bits           */
} umbel_info;

/* ---- Life --------------------------------------------------------------------------------- */

/* Makes an empty filter.  opts may be NULL.  UMBEL_EINVAL names the parameter in diag;
 * UMBEL_ENOMEM and UMBEL_ELIMIT before anything is allocated beyond the limit. */
UMBEL_API umbel_err umbel_create(const umbel_params *params, const umbel_opts *opts,
                                 umbel_filter **out, umbel_diag *diag);

/* Makes a filter from all keys that `next` delivers: the only way to a static filter, and for the
 * other kinds umbel_create and umbel_add_many in one.  A static filter needs fpr, or bytes, or
 * both; its keys are counted, so params->keys may be 0, and keys that come twice count once.  It
 * takes 8 bytes of memory a key (none with opts.tmp) besides the filter and some megabytes for each
 * of opts.threads.  UMBEL_EINVAL that names the seed: the keys do not fit under this one, which is
 * not to be expected; another will do.
 * `next` writes up to cap keys and their number to *n; they must stay until it is called again.
 * 0 keys end it, and so does an error, which umbel_build then returns. */
typedef umbel_err (*umbel_source)(void *ctx, umbel_key *keys, size_t cap, size_t *n);
UMBEL_API umbel_err umbel_build(const umbel_params *params, const umbel_opts *opts,
                                umbel_source next, void *ctx, umbel_filter **out,
                                umbel_diag *diag);

/* The same for keys that are at hand only bit by bit: begin, add as often as you like, then finish,
 * which gives the filter, and free, also after an error.  One thread at a time. */
typedef struct umbel_builder umbel_builder;
UMBEL_API umbel_err umbel_builder_new(const umbel_params *params, const umbel_opts *opts,
                                      umbel_builder **out, umbel_diag *diag);
UMBEL_API umbel_err umbel_builder_add(umbel_builder *builder, const umbel_key *keys, size_t n,
                                      umbel_diag *diag);
UMBEL_API umbel_err umbel_builder_finish(umbel_builder *builder, umbel_filter **out,
                                         umbel_diag *diag);
UMBEL_API void umbel_builder_free(umbel_builder *builder);

/* A mutable filter (unless it is static) equal to this one, with its metadata, under the same
 * allocator. */
UMBEL_API umbel_err umbel_copy(const umbel_filter *filter, umbel_filter **out);

/* Ends a filter; NULL is fine. */
UMBEL_API void umbel_free(umbel_filter *filter);

/* ---- Keys --------------------------------------------------------------------------------- */

/* Adds one key.  *was_new, if asked for, tells whether it was certainly absent before.
 * UMBEL_EFULL when a scalable filter would have to grow beyond its layers or opts.max_bytes.
 * Concurrent filters: once umbel_add has returned, every umbel_contains of that key that happens
 * after it, in any thread, is true.  Of several threads that add one absent key at the same moment
 * at least one sees was_new true; more than one may.  UMBEL_EFROZEN for read-only filters. */
UMBEL_API umbel_err umbel_add(umbel_filter *filter, const void *key, size_t len, bool *was_new);

/* False: certainly not added.  True: added, or a false positive. */
UMBEL_API bool umbel_contains(const umbel_filter *filter, const void *key, size_t len);

/* As n calls of umbel_add in order, much faster: memory is fetched ahead, and for a million keys
 * and more in one call a filter beyond the caches is worked through part by part, with scratch
 * memory of about 16 bytes a key, 550 MiB at most (without it, slower).  was_new[i], if not NULL,
 * is 1 or 0.  It ends where one of the calls would fail, with the keys before that one added and
 * was_new behind them left alone; once a filter takes keys at all, that can only be where a filter
 * has to grow. */
UMBEL_API umbel_err umbel_add_many(umbel_filter *filter, const umbel_key *keys, size_t n,
                                   uint8_t *was_new);

/* As n calls of umbel_contains, likewise; hit[i] is 1 or 0. */
UMBEL_API void umbel_contains_many(const umbel_filter *filter, const umbel_key *keys, size_t n,
                                   uint8_t *hit);

/* Other systems hash values of their types, not texts: reads the value that the text denotes and
 * writes the bytes to use as its key.  UMBEL_EINVAL when the text is no such value (nothing but
 * digits and a sign for integers, what strtod reads for the others); UMBEL_ESPACE when cap is too
 * small: numbers need at most 8 bytes, strings len, UTF-16 twice that. */
UMBEL_API umbel_err umbel_typed_key(umbel_type type, const void *text, size_t len, void *key,
                                    size_t cap, size_t *key_len, umbel_diag *diag);

/* Cuts text as ClickHouse's indexes do before they hash it: into words (ngram 0, tokenbf_v1) or
 * into every window of `ngram` code points (ngrambf_v1).  Start with *pos 0; each call gives the
 * next token, a part of the text, and false behind the last. */
UMBEL_API bool umbel_clickhouse_token(const void *text, size_t len, uint32_t ngram, size_t *pos,
                                      umbel_key *token);

/* Takes one added key out again (counting only).  UMBEL_EABSENT, and nothing changes, for a key
 * that is certainly not in.  A key that was never added but looks as if it had been cannot be told
 * from one that was: removing it takes other keys' counts, which may then be missed.  So remove
 * only what you added, as often as you added it.  Counters stay at 15 once they got there: a key
 * added 15 times or more stays in for good. */
UMBEL_API umbel_err umbel_remove(umbel_filter *filter, const void *key, size_t len);

/* How often the key was added, at most (counting): 15 means 15 or more.  Other kinds: 1 or 0, as
 * umbel_contains. */
UMBEL_API uint32_t umbel_count(const umbel_filter *filter, const void *key, size_t len);

/* Moves a window on by one generation: the oldest is forgotten, and keys go into a fresh one.
 * Windows do it by themselves after every keys / generations keys, unless they are `manual`: then a
 * caller who does it every hour, with 24 generations, has a filter of the last day.  A key is found
 * until `generations` + 1 such steps came after it. */
UMBEL_API umbel_err umbel_advance(umbel_filter *filter);

/* Hash once, ask many: umbel_hash gives the 64-bit hash of a key under this filter's seed, and the
 * functions below take such hashes where the ones above take keys.  Any filter with the same
 * layout, seed and key fingerprint gives the same hash.  UMBEL_ENOTSUP for layouts that need more
 * than 64 bits a key (classic); umbel_takes_hashes tells beforehand, umbel_hash then returns 0 and
 * umbel_contains_hash true. */
UMBEL_API bool umbel_takes_hashes(const umbel_filter *filter);
UMBEL_API uint64_t umbel_hash(const umbel_filter *filter, const void *key, size_t len);
UMBEL_API umbel_err umbel_hash_many(const umbel_filter *filter, const umbel_key *keys, size_t n,
                                    uint64_t *hashes);
UMBEL_API bool umbel_contains_hash(const umbel_filter *filter, uint64_t hash);
UMBEL_API umbel_err umbel_add_hashes(umbel_filter *filter, const uint64_t *hashes, size_t n,
                                     uint8_t *was_new);
UMBEL_API umbel_err umbel_contains_hashes(const umbel_filter *filter, const uint64_t *hashes,
                                          size_t n, uint8_t *hit);

/* ---- Whole filters ------------------------------------------------------------------------ */

/* Adds all keys of `from`.  UMBEL_EMISMATCH, with diag naming what differs, unless layout, seed,
 * key, bits and hashes are equal. */
UMBEL_API umbel_err umbel_unite(umbel_filter *into, const umbel_filter *from, umbel_diag *diag);

/* Keeps the bits that both have: every common key stays, and the rate is at most that of either. */
UMBEL_API umbel_err umbel_intersect(umbel_filter *into, const umbel_filter *with,
                                    umbel_diag *diag);

/* *yes when every bit of `part` is set in `whole`: necessary, and nearly sufficient, for each key
 * of part to be in whole. */
UMBEL_API umbel_err umbel_is_subset(const umbel_filter *part, const umbel_filter *whole, bool *yes,
                                    umbel_diag *diag);

/* Same layout, seed, shape and bits.  Counts, promises and metadata may differ. */
UMBEL_API bool umbel_equal(const umbel_filter *a, const umbel_filter *b);

/* True when no bit is set. */
UMBEL_API bool umbel_is_empty(const umbel_filter *filter);

/* Forgets every key; parameters and metadata stay. */
UMBEL_API umbel_err umbel_clear(umbel_filter *filter);

/* Halves the filter as often as its live rate stays at or below fpr; each key stays in.
 * UMBEL_EINVAL when the rate is above fpr already; UMBEL_OK without a change when it cannot be
 * halved. */
UMBEL_API umbel_err umbel_fold(umbel_filter *filter, double fpr, umbel_diag *diag);

/* The blocked filter with the same keys, promise, treatment and metadata, in a quarter of the
 * memory: of a counting filter only. */
UMBEL_API umbel_err umbel_snapshot(const umbel_filter *filter, umbel_filter **out,
                                   umbel_diag *diag);

/* All that is known about a filter.  Counts the bits, so it takes time like reading the filter. */
UMBEL_API void umbel_describe(const umbel_filter *filter, umbel_info *info);

/* umbel_info.keys_added alone, at once. */
UMBEL_API uint64_t umbel_keys_added(const umbel_filter *filter);

/* ---- What travels with a filter ----------------------------------------------------------- */

UMBEL_API umbel_err umbel_set_treatment(umbel_filter *filter, const umbel_treatment *treatment,
                                        umbel_diag *diag);
UMBEL_API void umbel_get_treatment(const umbel_filter *filter, umbel_treatment *treatment);

/* Free-form text under a name; a value of NULL removes it.  Names have 1 to 255 bytes; there are
 * at most 1024, with their values at most 512 KiB.  Native files keep it, others do not. */
UMBEL_API umbel_err umbel_set_meta(umbel_filter *filter, const char *name, const char *value,
                                   umbel_diag *diag);

/* The i-th entry in the order they were set; false past the last.  The texts live until the filter
 * or its metadata changes. */
UMBEL_API bool umbel_meta_at(const umbel_filter *filter, size_t i, const char **name,
                             const char **value);

/* Bytes that a file carries behind its filter and that mean nothing to it; dcso files have such a
 * section and keep it, other formats do not.  Copied; len 0 removes it.  The bytes returned live
 * until it is set again; NULL when there are none. */
UMBEL_API umbel_err umbel_set_data(umbel_filter *filter, const void *data, size_t len,
                                   umbel_diag *diag);
UMBEL_API const void *umbel_get_data(const umbel_filter *filter, size_t *len);

/* ---- Bytes -------------------------------------------------------------------------------- */

/* Makes a filter from untrusted bytes; they must be one filter exactly, with nothing behind it.
 * Allocates no more than the bytes justify.  UMBEL_FMT_ANY recognises formats with a magic
 * number. */
UMBEL_API umbel_err umbel_decode(umbel_format format, const void *bytes, size_t len,
                                 const umbel_opts *opts, umbel_filter **out, umbel_diag *diag);

/* As umbel_decode without copying: a frozen filter over `bytes`, which must outlive it unchanged.
 * Reads the header only, so damage among the bits goes unseen (umbel_verify sees it) but stays
 * harmless: wrong answers at worst.  UMBEL_ENOTSUP where the layout does not allow it. */
UMBEL_API umbel_err umbel_view(umbel_format format, const void *bytes, size_t len,
                               const umbel_opts *opts, umbel_filter **out, umbel_diag *diag);

/* The same for bytes that do not say all about themselves: `like` holds the format and whatever
 * umbel_create would be told to make such a filter, bytes excepted.  Needed for gocrc32 (keys, fpr,
 * variant) and clickhouse (hashes, seed, variant; for an index fpr, or bits_per_key and hashes);
 * other formats look at nothing but the format.  The plain functions answer UMBEL_EINVAL where
 * these are needed. */
UMBEL_API umbel_err umbel_decode_as(const umbel_params *like, const void *bytes, size_t len,
                                    const umbel_opts *opts, umbel_filter **out, umbel_diag *diag);
UMBEL_API umbel_err umbel_view_as(const umbel_params *like, const void *bytes, size_t len,
                                  const umbel_opts *opts, umbel_filter **out, umbel_diag *diag);

/* Everything that umbel_decode checks, all checksums included, without making a filter. */
UMBEL_API umbel_err umbel_verify(umbel_format format, const void *bytes, size_t len,
                                 umbel_diag *diag);

/* Bytes that umbel_encode will write; 0 when the format cannot hold this filter. */
UMBEL_API uint64_t umbel_encoded_size(const umbel_filter *filter, umbel_format format);

/* Writes the filter.  UMBEL_ESPACE when cap is below umbel_encoded_size; UMBEL_EMISMATCH when the
 * format hashes otherwise: bits cannot be re-hashed, only keys can be added again. */
UMBEL_API umbel_err umbel_encode(const umbel_filter *filter, umbel_format format, void *bytes,
                                 size_t cap, umbel_diag *diag);

/* What the filter's own system prints for it, as NUL-terminated text: gocrc32's String().
 * UMBEL_ESPACE when cap is too small (128 bytes always do); UMBEL_ENOTSUP where there is none. */
UMBEL_API umbel_err umbel_text(const umbel_filter *filter, char *text, size_t cap,
                               umbel_diag *diag);

/* ---- Files -------------------------------------------------------------------------------- */

/* Opens by mapping: at once whatever the size, shared between processes, frozen.  Systems without
 * mmap read the file into memory instead.  As umbel_view for the rest. */
UMBEL_API umbel_err umbel_file_open(umbel_format format, const char *path, const umbel_opts *opts,
                                    umbel_filter **out, umbel_diag *diag);

/* Reads and checks all of it: a mutable filter. */
UMBEL_API umbel_err umbel_file_load(umbel_format format, const char *path, const umbel_opts *opts,
                                    umbel_filter **out, umbel_diag *diag);

/* umbel_verify of a file. */
UMBEL_API umbel_err umbel_file_verify(umbel_format format, const char *path, umbel_diag *diag);

/* Replaces path atomically: temporary file beside it, fsync, rename, fsync of the directory.  After
 * a crash there is the old file or the new one.  An error leaves the old one, unless diag says that
 * the directory could not be synced: then the new one is there, but may not survive a power cut.
 * The temporary file is PATH.umbel-tmp.  Savers of one path take turns on it, and one that a killed
 * process left is removed by the next save. */
UMBEL_API umbel_err umbel_file_save(const umbel_filter *filter, umbel_format format,
                                    const char *path, umbel_diag *diag);

/* Writes to a descriptor as a stream, without a copy of the filter in memory. */
UMBEL_API umbel_err umbel_file_write(const umbel_filter *filter, umbel_format format, int fd,
                                     umbel_diag *diag);

/* ---- Planning ----------------------------------------------------------------------------- */

typedef enum umbel_verdict {
    UMBEL_PLAN_OK = 0,
    UMBEL_PLAN_UNDERDETERMINED, /* fewer than two of keys, fpr, bytes                            */
    UMBEL_PLAN_BAD_RATE,        /* fpr is not a number between 0 and 1                           */
    UMBEL_PLAN_BELOW_BOUND,     /* fewer bits than log2(1/fpr) a key: no filter of any kind can  */
    UMBEL_PLAN_BEYOND_KIND,     /* possible for others, not for this kind                        */
    UMBEL_PLAN_TOO_LARGE,       /* more than this kind or 2^63 bits can address                  */
    UMBEL_PLAN_TOO_SMALL,       /* fewer bytes than the smallest filter of this kind             */
    UMBEL_PLAN_BAD_KIND,        /* no such kind                                                  */
    UMBEL_PLAN_BAD_HASHES       /* more probes than supported, or fixed for this kind            */
} umbel_verdict;

typedef struct umbel_plan {
    umbel_kind kind; /* in: AUTO or a kind; out: the kind chosen                                 */
    uint64_t keys;   /* in: two of these three, or all; out: all                                 */
    double fpr;      /* promised: the live rate of the filter that you get is at or below it once
                        `keys` are in, in all but about one of a thousand filters                */
    uint64_t bytes;
    uint32_t hashes;     /* in: 0 or a choice; out: probes a key                                 */
    uint64_t bits;       /* out: the size of the bit array                                       */
    double rate;         /* out: the mean over all such filters, once `keys` are in; at most fpr */
    double bits_per_key; /* out */
    double bound;        /* out: 2^-(bits per key), below which no filter can be                 */
    uint32_t generations; /* window, in: 0 or a choice; out: that or 8                           */
    umbel_verdict verdict; /* out: why it was refused ...                                        */
    const char *why;       /* ... in static words; never NULL                                    */
} umbel_plan;

/* Completes the plan.  UMBEL_EINVAL with verdict and why when it cannot be; kind, keys, fpr and
 * bytes are then as they were.  Given keys and fpr, bytes is the least that holds the promise;
 * given bytes and fpr, keys the most; given keys and bytes, fpr the least. */
UMBEL_API umbel_err umbel_plan_solve(umbel_plan *plan);

/* What umbel_create would make of these parameters in a foreign format, sized as that system does
 * it, without making it.  plan->rate knows the limits of the system's hash and layout; where they
 * let the rate pass fpr, verdict is UMBEL_PLAN_BEYOND_KIND and why says the reason, though the
 * filter can be made: the system itself would make it, too. */
UMBEL_API umbel_err umbel_plan_format(const umbel_params *params, umbel_plan *plan,
                                      umbel_diag *diag);

/* The model's rate of a solved plan after `keys` keys instead of the planned ones. */
UMBEL_API double umbel_plan_rate(const umbel_plan *plan, uint64_t keys);

/* ---- Names -------------------------------------------------------------------------------- */

UMBEL_API const char *umbel_strerror(umbel_err err);           /* never NULL                     */
UMBEL_API const char *umbel_kind_name(umbel_kind kind);        /* "blocked"; NULL: no such kind  */
UMBEL_API bool umbel_kind_named(const char *name, umbel_kind *kind);
UMBEL_API const char *umbel_format_name(umbel_format format);  /* "native"; NULL: no such format */
UMBEL_API bool umbel_format_named(const char *name, umbel_format *format);
UMBEL_API const char *umbel_type_name(umbel_type type);        /* "int64"; NULL: no such type    */
UMBEL_API bool umbel_type_named(const char *name, umbel_type *type);
UMBEL_API const char *umbel_version(void); /* of the library at run time, as UMBEL_VERSION        */

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_H */
