/* SPDX-License-Identifier: MIT
 *
 * umbel.h - Bloom filters and their kin: one handle, several kinds, everyone's formats
 *
 *   umbel_filter *seen = umbel_new(1000000, 0.01);       // a million keys, 1% false positives
 *   if (!seen) return 1;
 *   umbel_add(seen, "ada", 3, NULL, NULL);
 *   if (umbel_contains(seen, "ada", 3)) puts("perhaps");  // a "no" is never wrong
 *   if (umbel_file_save(seen, UMBEL_FMT_NATIVE, "seen.umb", NULL)) return 1;
 *   umbel_free(seen);
 *
 * Rules that hold for every function
 *   errors     A function that can fail returns umbel_err; UMBEL_OK is 0.  On failure nothing
 *              changes except *diag (optional), which says what failed and where.
 *   ownership  A filter written to *out is yours; umbel_free frees it.  The library keeps no
 *              pointer that you pass in, with one exception: UMBEL_MAP.
 *   validity   A filter that exists is valid.  Decoding checks everything; there is no second step.
 *   keys       Bytes with a length.  Empty keys and NUL bytes are ordinary keys.
 *   bytes      A filter's bits depend only on its parameters and its keys, never on CPU, compiler,
 *              number of threads or byte order.
 *   threads    Any number of readers, or one writer, per filter.  In a concurrent filter any number
 *              of threads may also add; copying, measuring or saving it meanwhile is safe and
 *              covers every key whose add has returned.  Lookups never wait.  Writers take turns
 *              within a sixteenth of a small filter or a 32nd of a large one: batches of adds take
 *              1.0 to 1.8 times as long as in a plain filter, single adds 1.1 to 1.6 times.  Two
 *              threads add batches 0.7 to 1.0 times as fast as one adds them to a plain filter of
 *              10 million keys, and 1.4 times as fast at 100 million.  Threads with a plain filter
 *              each, merged in the end, are faster: 1.5 and 1.7 times.  If a process with several
 *              threads forks, the child must not add to a concurrent filter that it inherits.
 *   silence    The library never prints, exits, reads the environment or changes errno.
 *   structs    Every struct ends in `reserved` words: zero in what you pass in, zero in what you
 *              get back, so that a later version can use them.  Start from { 0 } or a designated
 *              initialiser.  Enums may gain values; existing numbers never change.
 *              Final structs: umbel_key, umbel_alloc, umbel_confirm and umbel_guard.
 *
 * More headers: umbel_plan.h (sizes and rates in advance), umbel_foreign.h (other systems'
 * filters), umbel_recipe.h (records into keys), umbel_lookup.h (texts looked up, in files that are
 * replaced).  With versions of their own: umbel_text.h (numbers as people write them, clocks of
 * windows), umbel_records.h (files of records), umbel_never.h (exceptions of a filter that exists),
 * umbel_delta.h (updates of a list), umbel_redis.h, umbel.hpp (C++), umbel_table.h, umbel_leveldb.h
 * and umbel_sign.h (separate libraries).  umbel_experimental.h promises nothing.
 */
#ifndef UMBEL_H
#define UMBEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UMBEL_VERSION_MAJOR 0
#define UMBEL_VERSION_MINOR 4
#define UMBEL_VERSION_PATCH 0
#define UMBEL_VERSION "0.4.0"
#define UMBEL_VERSION_NUMBER 400 /* 10000 major + 100 minor + patch */

#if defined(__GNUC__)
#define UMBEL_API __attribute__((visibility("default")))
#else
#define UMBEL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct umbel_filter umbel_filter;
typedef struct umbel_opts umbel_opts;       /* allocator, limits, threads: defined at the end   */
typedef struct umbel_foreign umbel_foreign; /* other systems' filters: umbel_foreign.h          */

/* ---- Errors ------------------------------------------------------------------------------- */

typedef enum umbel_err {
    UMBEL_OK = 0,
    UMBEL_EINVAL = 1,    /* a parameter is out of range, or parameters contradict each other    */
    UMBEL_ENOMEM = 2,    /* out of memory                                                       */
    UMBEL_ELIMIT = 3,    /* above umbel_opts.max_bytes                                          */
    UMBEL_ECORRUPT = 4,  /* the bytes are not a valid filter of that format                     */
    UMBEL_EVERSION = 5,  /* the file's version, or an option in it, is unknown to this library  */
    UMBEL_ESPACE = 6,    /* the output buffer is too small                                      */
    UMBEL_EFULL = 7,     /* the filter has reached its limit and may not grow                   */
    UMBEL_EFROZEN = 8,   /* the filter is read-only: a view, a mapped file or a static kind     */
    UMBEL_EMISMATCH = 9, /* the filters differ in kind, hash, seed, secret or size              */
    UMBEL_ENOTSUP = 10,  /* this kind or format does not support the operation                  */
    UMBEL_EABSENT = 11,  /* the key to remove is certainly not in the filter                    */
    UMBEL_EIO = 12,      /* the operating system refused; diag->sys holds its errno             */
    UMBEL_ESECRET = 13,  /* the secret is wrong, missing, or given where none is needed         */
    UMBEL_EUNKNOWN = 14, /* format not recognised; specify one                                  */
    UMBEL_EUNSYNCED = 15, /* saved and in place, but the directory could not be synced: a power
                              cut may bring the old file back; diag->sys holds the errno         */
    UMBEL_EUNSIGNED = 16 /* not signed as required, or its number is that of an older edition */
} umbel_err;

/* Why something failed. */
typedef struct umbel_diag {
    const char *what; /* what is wrong, as static text; NULL: nothing                            */
    uint64_t offset;  /* decoding: where in the bytes; otherwise 0                               */
    uint64_t need;    /* UMBEL_ELIMIT: the max_bytes that would suffice; UMBEL_ECORRUPT of truncated
                         bytes: how many there should be; 0: not known                           */
    int sys;          /* UMBEL_EIO, UMBEL_EUNSYNCED: the errno of the failing call; otherwise 0  */
    char field[36];   /* the parameter, or the field of the file, at fault; may be empty         */
    uint64_t reserved[2];
} umbel_diag;

/* Writes the whole message, such as "payload checksum: the bits are damaged, at byte 4096", into
 * text, truncated to cap bytes including its NUL, and returns text.  diag may be NULL. */
UMBEL_API const char *umbel_explain(umbel_err err, const umbel_diag *diag, char *text, size_t cap);
UMBEL_API const char *umbel_err_name(umbel_err err); /* "EINVAL"; NULL: no such error            */

/* ---- Life cycle --------------------------------------------------------------------------- */

/* An empty filter for `capacity` keys whose false-positive rate stays at or below fpr until they
 * are in; NULL when out of memory or if there can be no such filter. */
UMBEL_API umbel_filter *umbel_new(uint64_t capacity, double fpr);
UMBEL_API void umbel_free(umbel_filter *filter); /* NULL is allowed                              */

/* The numbers are stored in native files and never change. */
typedef enum umbel_kind {
    UMBEL_KIND_AUTO = 0,     /* blocked or line, or classic if it is at least 25% smaller         */
    UMBEL_KIND_BLOCKED = 1,  /* split-block Bloom: one cache line per key; the fast general kind  */
    UMBEL_KIND_CLASSIC = 2,  /* m bits, k probes anywhere: the smallest filter that takes adds    */
    UMBEL_KIND_STATIC = 3,   /* binary fuse: built once from all keys, smaller (umbel_builder)    */
    UMBEL_KIND_COUNTING = 4, /* 4-bit counters in place of blocked's bits: keys can be removed    */
    UMBEL_KIND_SCALABLE = 5, /* a chain of layers: grows, and keeps its rate throughout           */
    UMBEL_KIND_WINDOW = 6,   /* remembers the latest keys and forgets older ones, in fixed memory */
    UMBEL_KIND_TIGHT = 7,    /* bumped ribbon: built once, 1 to 2% above the theoretical minimum  */
    UMBEL_KIND_LINE = 8,     /* blocked in whole cache lines: smaller, slower in cache; low rates */
    UMBEL_KIND_EXACT = 9     /* two ribbons: built once, never wrong about keys known beforehand  */
} umbel_kind;

/* What to make.  Zero means "not given" everywhere; setting a field of another kind is an error
 * that names the field.  Give two of capacity, fpr and bytes, and the third follows; or all three,
 * which is an error if bytes cannot keep the rate; or bytes alone, for a filter of just that size
 * that promises nothing (classic then needs hashes). */
typedef struct umbel_params {
    umbel_kind kind;
    uint32_t hashes;   /* probes per key; line: 4, 8 or 16, static: 3 or 4; 0: the best      */
    uint64_t capacity; /* keys planned for                                                    */
    double fpr;        /* false-positive rate promised once they are in, in (0,1)             */
    uint64_t bytes;    /* memory for the bits, at most                                        */
    uint64_t seed;     /* varies where keys go; filters merge only if their seeds are equal   */
    bool concurrent;   /* any number of threads may add at the same time (blocked, line)      */
    struct {
        /* Both 0: few layers, and from 10,000 keys on at most 22 bits per key at a rate of 1%.
         * Else layers are filters only, so that no add waits for keys to be moved. */
        uint32_t expansion;  /* each layer is for this many times the keys of the last; then 0: 2 */
        uint32_t max_layers; /* then UMBEL_EFULL; 0: 64                                           */
    } scalable;
    struct {
        uint32_t generations; /* forget in this many steps; 0: 8.  `capacity` is the whole window */
        bool manual;          /* only umbel_advance advances it; adding never does                */
    } window;
    uint64_t reserved[4];
} umbel_params;

/* opts and diag may be NULL here and everywhere. */
UMBEL_API umbel_err umbel_create(const umbel_params *params, const umbel_opts *opts,
                                 umbel_filter **out, umbel_diag *diag);

/* An independent, writable copy (static filters stay read-only) with the same options. */
UMBEL_API umbel_err umbel_copy(const umbel_filter *filter, umbel_filter **out, umbel_diag *diag);

typedef struct umbel_key {
    const void *data; /* may be NULL when len is 0 */
    size_t len;
} umbel_key;

/* Builds a filter from all its keys: the only way to make a static, tight or exact one.  For these,
 * it counts the keys itself (duplicates once), so fpr or bytes is enough, and takes 8 bytes per key
 * meanwhile, or none with opts.tmp.  Add as often as you like, finish, and free the builder, even
 * after an error. */
typedef struct umbel_builder umbel_builder;
typedef struct umbel_build_report {
    uint64_t never;      /* distinct keys that umbel_builder_never was told of                    */
    uint64_t members;    /* of these, how many were added as well, and so are found               */
    uint64_t exceptions; /* and how many would have been found by mistake, and are not; 0 for
                            exact filters, which keep no list of them                             */
    uint64_t reserved[5];
} umbel_build_report;
UMBEL_API umbel_err umbel_builder_new(const umbel_params *params, const umbel_opts *opts,
                                      umbel_builder **out, umbel_diag *diag);
/* Keys that must never be found unless they are added as well; all of them before the first add.
 * An exact filter is built so that it finds none of them, whatever their number.  In filters of
 * other kinds, those that are found although they were not added become exceptions: exact hashes,
 * stored in native files, that lookups compare after a hit.  An exception never hides a key: adding
 * its key drops it.  Adding other keys leaves exceptions valid but umbel_info.outdated, since the
 * filter may then find keys that it did not find before.  Merging, folding and clearing drop all
 * exceptions.  Concurrent filters cannot have any.  UMBEL_EFULL above 64,000 exceptions: promise a
 * lower rate. */
UMBEL_API umbel_err umbel_builder_never(umbel_builder *builder, const umbel_key *keys, size_t n,
                                        umbel_diag *diag);
UMBEL_API umbel_err umbel_builder_add(umbel_builder *builder, const umbel_key *keys, size_t n,
                                      umbel_diag *diag);
UMBEL_API umbel_err umbel_builder_finish(umbel_builder *builder, umbel_filter **out,
                                         umbel_diag *diag);
UMBEL_API void umbel_builder_report(const umbel_builder *builder, umbel_build_report *report);
UMBEL_API void umbel_builder_free(umbel_builder *builder);

/* ---- Keys --------------------------------------------------------------------------------- */

/* Keys are bytes, as they are: a filter's recipe, which makes keys of texts, is not applied here,
 * but by umbel_recipe_apply (umbel_recipe.h) and umbel_lookup_texts (umbel_lookup.h). */

/* Adds one key; *was_new (optional) says whether it was certainly absent.  UMBEL_EFULL when the
 * filter would have to grow and may not.  Every lookup that begins after the return finds the key;
 * if several threads add the same absent key simultaneously, at least one gets was_new true. */
UMBEL_API umbel_err umbel_add(umbel_filter *filter, const void *key, size_t len, bool *was_new,
                              umbel_diag *diag);

/* False: certainly not added.  True: added, or a false positive.  Lookups cannot fail. */
UMBEL_API bool umbel_contains(const umbel_filter *filter, const void *key, size_t len);

/* Like n calls in order, but several times as fast, because memory is fetched ahead.  was_new[i]
 * and hit[i] are 1 or 0; was_new may be NULL.  *done (optional) is the number of keys added: n, or
 * on failure the number before the first key that could not be added.  Those stay in, and the rest
 * of was_new is untouched. */
UMBEL_API umbel_err umbel_add_many(umbel_filter *filter, const umbel_key *keys, size_t n,
                                   uint8_t *was_new, size_t *done, umbel_diag *diag);
UMBEL_API void umbel_contains_many(const umbel_filter *filter, const umbel_key *keys, size_t n,
                                   uint8_t *hit);

/* Counting filters: removes a key that was added, once; UMBEL_EABSENT if it is certainly absent.
 * Remove only what you added, and only as often as you added it: a false positive cannot be told
 * from a key, and removing one can make other keys vanish.  A counter that has reached 15 stays
 * there. */
UMBEL_API umbel_err umbel_remove(umbel_filter *filter, const void *key, size_t len,
                                 umbel_diag *diag);

/* An upper bound on how often the key was added (counting; 15: 15 or more); other kinds: 1 or 0. */
UMBEL_API uint32_t umbel_count(const umbel_filter *filter, const void *key, size_t len);

/* Advances a window by one generation, which forgets the oldest.  Unless it is `manual`, a window
 * does this by itself after every capacity / generations keys.  A key is found until
 * generations + 1 such steps have followed it. */
UMBEL_API umbel_err umbel_advance(umbel_filter *filter, umbel_diag *diag);

/* Hash once, look up often: umbel_hash_many gives keys' 64-bit hashes, valid for every filter with
 * the same layout, seed and secret.  Classic filters need more bits: their umbel_info.takes_hashes
 * is false, hashing and adding return UMBEL_ENOTSUP, and lookups return true.  Your own hashes must
 * be uniform over all 64 bits: pass integers through umbel_mix first, or every promise is void. */
UMBEL_API umbel_err umbel_hash_many(const umbel_filter *filter, const umbel_key *keys, size_t n,
                                    uint64_t *hashes, umbel_diag *diag);
UMBEL_API inline uint64_t umbel_mix(uint64_t number);
UMBEL_API bool umbel_contains_hash(const umbel_filter *filter, uint64_t hash);
UMBEL_API void umbel_contains_hashes(const umbel_filter *filter, const uint64_t *hashes, size_t n,
                                     uint8_t *hit);
UMBEL_API umbel_err umbel_add_hashes(umbel_filter *filter, const uint64_t *hashes, size_t n,
                                     uint8_t *was_new, size_t *done, umbel_diag *diag);

/* ---- Whole filters ------------------------------------------------------------------------ */

/* umbel_merge adds all keys of `from`, umbel_intersect keeps only the keys in common.
 * UMBEL_EMISMATCH, naming what differs, unless layout, seed, secret, bits and hashes are equal and
 * both recipes make the same keys (umbel_recipe_same_keys).  The recipe of `into` stays. */
UMBEL_API umbel_err umbel_merge(umbel_filter *into, const umbel_filter *from, umbel_diag *diag);
UMBEL_API umbel_err umbel_intersect(umbel_filter *into, const umbel_filter *with, umbel_diag *diag);

/* *yes: every bit of `part` is set in `whole`, which is necessary, and nearly sufficient, for every
 * key of part to be in whole. */
UMBEL_API umbel_err umbel_is_subset(const umbel_filter *part, const umbel_filter *whole, bool *yes,
                                    umbel_diag *diag);

/* Equal layout, seed, secret, size and bits; counts, promises and metadata may differ. */
UMBEL_API bool umbel_equal(const umbel_filter *a, const umbel_filter *b);
UMBEL_API bool umbel_is_empty(const umbel_filter *filter); /* no key can be in it                */
UMBEL_API umbel_err umbel_clear(umbel_filter *filter, umbel_diag *diag); /* forgets every key    */

/* Folding divides the size by the largest whole number that divides it evenly and leaves the live
 * rate at or below fpr.  A snapshot is a blocked filter with the keys of a counting one, in a
 * quarter of the memory.  Both keep all keys. */
UMBEL_API umbel_err umbel_fold(umbel_filter *filter, double fpr, umbel_diag *diag);
UMBEL_API umbel_err umbel_snapshot(const umbel_filter *filter, umbel_filter **out,
                                   umbel_diag *diag);

/* ---- Text that travels with a filter ------------------------------------------------------ */

/* Free-form text under a name of 1 to 255 bytes (not "recipe"); NULL removes it.  At most 1024
 * names, 512 KiB in all.  umbel_meta_at gives the i-th entry in the order they were set, or false
 * after the last; the texts live until the filter or its metadata changes. */
UMBEL_API umbel_err umbel_set_meta(umbel_filter *filter, const char *name, const char *value,
                                   umbel_diag *diag);
UMBEL_API const char *umbel_get_meta(const umbel_filter *filter, const char *name); /* or NULL   */
UMBEL_API bool umbel_meta_at(const umbel_filter *filter, size_t i, const char **name,
                             const char **value);

/* ---- What is known about a filter --------------------------------------------------------- */

/* The system that a filter is for; docs/formats/ has a page for each, umbel_foreign.h makes such
 * filters.  ANY: when reading, recognise it; when writing, the filter's own. */
typedef enum umbel_format {
    UMBEL_FMT_ANY = 0,
    UMBEL_FMT_NATIVE = 1,      /* umbel's own file; holds every kind                              */
    UMBEL_FMT_LEVELDB = 2,     /* LevelDB's filter policy leveldb.BuiltinBloomFilter2             */
    UMBEL_FMT_COREKV = 3,      /* the Go filter of corekv: LevelDB's bytes, uint32 keys           */
    UMBEL_FMT_BADGER = 4,      /* Badger's: LevelDB's bytes, keys are uint32 hashes already       */
    UMBEL_FMT_CLICKHOUSE = 5,  /* ClickHouse's BloomFilter class, and its bloom_filter index      */
    UMBEL_FMT_GOCRC32 = 6,     /* the Go filter over one CRC-32; words little-endian              */
    UMBEL_FMT_GUAVA = 7,       /* Guava's BloomFilter.writeTo                                     */
    UMBEL_FMT_PARQUET = 8,     /* Parquet's split-block filter with its Thrift header             */
    UMBEL_FMT_REDISBLOOM = 9,  /* RedisBloom's chain: SCANDUMP's header and bits in a container   */
    UMBEL_FMT_DCSO = 10,       /* DCSO's bloom files, also CIRCL's; decompress gzipped ones first */
    UMBEL_FMT_ROCKSDB = 11,    /* RocksDB's filter block: FastLocalBloom; also reads the older   */
    UMBEL_FMT_SPARK = 12,      /* Spark's BloomFilter.writeTo                                     */
    UMBEL_FMT_DATASKETCHES = 13 /* the BloomFilter of Apache DataSketches                         */
} umbel_format;

/* The function that hashes keys.  Native files store the numbers 1 and 2. */
typedef enum umbel_hash_function {
    UMBEL_HASH_NONE = 0,        /* keys are hashes already: badger                                */
    UMBEL_HASH_XXH3 = 1,        /* native                                                         */
    UMBEL_HASH_SIPHASH13 = 2,   /* native, with a secret                                          */
    UMBEL_HASH_LEVELDB = 3,     /* leveldb, corekv                                                */
    UMBEL_HASH_CITY64 = 4,      /* clickhouse: CityHash 1.0.2                                     */
    UMBEL_HASH_CRC32 = 5,       /* gocrc32                                                        */
    UMBEL_HASH_MURMUR3_128 = 6, /* guava                                                          */
    UMBEL_HASH_XXH64 = 7,       /* parquet, datasketches                                          */
    UMBEL_HASH_MURMUR2_64A = 8, /* redisbloom                                                     */
    UMBEL_HASH_FNV1_64 = 9,     /* dcso                                                           */
    UMBEL_HASH_FMIX64 = 10,     /* clickhouse: numbers in an index                                */
    UMBEL_HASH_MURMUR3_32 = 11, /* spark                                                          */
    UMBEL_HASH_XXPH3 = 12,      /* rocksdb: a preview of XXH3                                     */
    UMBEL_HASH_ROCKSDB = 13     /* rocksdb: filters of format versions below 5                    */
} umbel_hash_function;

typedef struct umbel_info {
    umbel_kind kind;
    umbel_format format; /* whose hashing and sizing it follows                                  */
    umbel_hash_function hash;
    const char *layout; /* "blocked/xxh3", ...                                                  */
    const char *kernel; /* "avx2", "generic", ...                                               */
    uint64_t seed;
    uint64_t fingerprint; /* tells secrets apart and says nothing else about them; 0: no secret   */
    uint64_t capacity;    /* keys planned for; 0: unknown                                         */
    double fpr;           /* rate promised at capacity; 0: none                                   */
    uint64_t bits, bytes; /* of the bit array                                                     */
    uint64_t keys_added;  /* adds that changed the filter, minus removes; after a merge, as if all
                             had been added to one filter, but the sum in concurrent filters and
                             other systems' formats.  How many keys: umbel_measurement.keys       */
    uint32_t hashes;      /* probes per key                                                       */
    uint32_t layers;      /* how many filters a lookup may have to search; usually 1              */
    uint32_t generations; /* windows; otherwise 0                                                 */
    bool grows;           /* opens another layer instead of exceeding its rate                    */
    bool frozen;          /* read-only                                                            */
    bool concurrent;
    bool manual;         /* windows that only umbel_advance advances                             */
    uint32_t exceptions; /* good keys that would be found by mistake, and are not                */
    bool outdated;       /* keys were added after the exceptions were found                      */
    bool takes_hashes;   /* umbel_hash_many and its like work                                    */
    uint8_t reserved8[2];
    uint64_t universe; /* exact: known keys that are not in it, about which it is never wrong     */
    uint64_t reserved[2];
} umbel_info;

typedef struct umbel_measurement {
    uint64_t bits;     /* that keys can set ...                                                   */
    uint64_t bits_set; /* ... and have set                                                        */
    double keys;       /* distinct keys in it, as well as can be known (see below); infinite when
                          every bit is set, since any number of keys may have done that           */
    double rate;       /* live false-positive rate, for random absent keys                        */
    double keys_error; /* standard error of keys; 0: they were counted                            */
    double rate_alike; /* the rate for absent keys whose hashes end like those of the keys in it;
                          0 unless the format's hash makes a difference between them (dcso)       */
    double rate_below; /* not 0: hashes were tried and none found, so the rate is below this with a
                          confidence of 95%, and `rate` is what a single find would make it       */
    uint64_t reserved[1];
} umbel_measurement;

/* umbel_describe says how the filter was made, in constant time; umbel_measure says what its bits
 * show, and reads all of them.  Adds that changed the filter are counted, and a model says how many
 * keys false positives hid from the count.  Together they are `keys`, unless the bits contradict
 * them, as after a merge of filters with keys in common; then, and where the format stores no
 * count, `keys` is estimated from the bits. */
UMBEL_API void umbel_describe(const umbel_filter *filter, umbel_info *info);
UMBEL_API void umbel_measure(const umbel_filter *filter, umbel_measurement *now);

typedef struct umbel_health {
    bool overfull;   /* beyond doubt more keys than planned, or a live rate above the promise; only
                        the former in foreign formats that plan for a number of keys, because
                        their sizing may miss the requested rate                                  */
    bool keys_known; /* false: every bit is set, which any number of keys may have done           */
    bool beyond_plan; /* overfull because of its keys, not only because of its rate               */
    double keys; /* distinct keys in it; 0 unless keys_known ...                              */
    double keys_error; /* ... and their standard error                                            */
    double rate;     /* live false-positive rate ...                                              */
    double promised; /* ... and the rate promised at capacity; 0: none                            */
    uint64_t room;   /* keys that can still be added within the plan; 0 if there is no plan, and for
                        filters that grow or forget, which are never full                         */
    double rate_below; /* as measured; not 0: the rate is not known, only that it is below this   */
    uint64_t reserved[3];
} umbel_health;

/* Whether a filter keeps its promise, judged from what umbel_describe and umbel_measure report
 * about it.  The command and all bindings use this function, so they cannot disagree. */
UMBEL_API void umbel_judge(const umbel_info *info, const umbel_measurement *now,
                           umbel_health *health);

/* ---- Bytes and files ---------------------------------------------------------------------- */

/* What is to become of bytes or a file. */
typedef enum umbel_how {
    UMBEL_LOAD = 0,  /* a filter of its own, writable (static ones stay read-only)               */
    UMBEL_MAP = 1,   /* a read-only filter over them, immediate at any size                       */
    UMBEL_EDIT = 2,  /* LOAD, but of a native file only pages that are written to are copied      */
    UMBEL_VERIFY = 3 /* checks what LOAD checks and makes nothing; opts and out unused          */
} umbel_how;

/* Makes a filter from untrusted bytes, which must be exactly one filter.  Allocates no more than
 * they justify, and for an empty filter whose bits are not stored (datasketches) at most 64 MiB, or
 * opts->max_bytes if that is given.  If `as` is NULL, the format is recognised; otherwise `as`
 * names the format and, where the bytes do not say enough about themselves, what the filter was
 * made with.
 *
 * UMBEL_MAP: the bytes must outlive the filter unchanged.  Reads the header and the checksums, and
 * the bits only if they are no more than a MiB: lookups check what they read (umbel_damage).
 * UMBEL_ENOTSUP where the format cannot be used in place.  UMBEL_VERIFY checks everything,
 * checksums included, and needs no secret. */
UMBEL_API umbel_err umbel_decode(const void *bytes, size_t len, umbel_how how,
                                 const umbel_foreign *as, const umbel_opts *opts,
                                 umbel_filter **out, umbel_diag *diag);

/* Whether lookups in a view or a mapped file have met damage; ask after them.  UMBEL_ECORRUPT: some
 * piece of 1 MiB, which *diag names, does not have the checksum that a native file keeps for it;
 * from then on it stays so.  A lookup checks every piece that it reads, once, and answers true if
 * it is damaged, so that a false answer is certain; a batch with as many keys as pieces are left
 * checks all of them.  Functions that read all bits (copies, sets, umbel_encode, saving) check
 * first, and fail; only umbel_measure does not.  Other systems' formats, most of which have no
 * checksums, and filters opened with opts.unchecked are not checked: UMBEL_OK. */
UMBEL_API umbel_err umbel_damage(const umbel_filter *filter, umbel_diag *diag);

/* umbel_decode for a file.  A mapped file is shared between processes.  Truncating it kills the
 * reader (SIGBUS), and overwriting it in place gives wrong answers, so replace files, as
 * umbel_file_save does.  UMBEL_EDIT is for a few changes to a large native file: bits stay in the
 * file's cached pages, and parts that are zeros by their checksums are read, and checked, when a
 * key first touches them.  The file is unchanged until umbel_file_save replaces it; until then do
 * not truncate it either.  umbel_fd_open takes a file that is open for reading, and reads all of
 * it, whatever its offset; the descriptor stays yours and may be closed as soon as it returns. */
UMBEL_API umbel_err umbel_file_open(const char *path, umbel_how how, const umbel_foreign *as,
                                    const umbel_opts *opts, umbel_filter **out, umbel_diag *diag);
UMBEL_API umbel_err umbel_fd_open(int fd, umbel_how how, const umbel_foreign *as,
                                  const umbel_opts *opts, umbel_filter **out, umbel_diag *diag);

/* umbel_encoded_size gives the bytes that umbel_encode needs; 0: the format cannot hold this
 * filter.  UMBEL_ESPACE when cap is less; UMBEL_EMISMATCH when the format uses a different hash:
 * bits cannot be hashed again, only keys can be added again. */
UMBEL_API uint64_t umbel_encoded_size(const umbel_filter *filter, umbel_format format);
UMBEL_API umbel_err umbel_encode(const umbel_filter *filter, umbel_format format, void *bytes,
                                 size_t cap, umbel_diag *diag);

/* Replaces the file atomically (PATH.umbel-tmp, fsync, rename, fsync of the directory): after a
 * crash there is the old file or the new one.  Owner, group, mode, access control lists and
 * extended attributes are preserved where permitted; after UMBEL_OK, diag->what is NULL or says
 * what was lost, and if that is the group or the access control list, group and others have no
 * access.  Setuid, setgid and sticky bits, capabilities and signatures of the old content are never
 * preserved.  UMBEL_EUNSYNCED: the new file is in place, and only syncing its directory failed.
 *
 * Whoever loads a file, changes it and saves it takes turns with others by umbel_update_begin,
 * which locks PATH.umbel-lock (flock) and waits for at most that many seconds, or without limit if
 * negative: UMBEL_EIO with diag->sys EWOULDBLOCK means that the time is up.  After UMBEL_OK,
 * diag->what is NULL or says that the file cannot be locked: locks that others than the file's
 * writers could hold are not waited for.  An update saves any number of times; the lock file is
 * removed by umbel_update_end, or by the next update if a process was killed.  umbel_file_save is
 * all three, so it must not be called for a file that is being updated.  umbel_fd_write streams
 * to a descriptor. */
typedef struct umbel_update umbel_update;

UMBEL_API umbel_err umbel_update_begin(const char *path, double wait_seconds, umbel_update **out,
                                       umbel_diag *diag);
UMBEL_API umbel_err umbel_update_save(umbel_update *update, const umbel_filter *filter,
                                      umbel_format format, umbel_diag *diag);
UMBEL_API void umbel_update_end(umbel_update *update); /* NULL: does nothing */
/* umbel_update_save of bytes that are no filter; a new file gets owner, group and mode of the file
 * `like` (optional). */
UMBEL_API umbel_err umbel_update_bytes(umbel_update *update, const void *bytes, size_t len,
                                       const char *like, umbel_diag *diag);
UMBEL_API umbel_err umbel_file_save(const umbel_filter *filter, umbel_format format,
                                    const char *path, umbel_diag *diag);
UMBEL_API umbel_err umbel_fd_write(const umbel_filter *filter, umbel_format format, int fd,
                                   umbel_diag *diag);

/* ---- Options and names -------------------------------------------------------------------- */

typedef struct umbel_alloc {
    void *(*alloc)(void *ctx, size_t size); /* NULL when out of memory; aligned as by malloc      */
    void (*free)(void *ctx, void *ptr);
    void *ctx;
} umbel_alloc;

struct umbel_opts {
    const umbel_alloc *alloc; /* NULL: malloc and free.  Copied; ctx must outlive the filter      */
    uint64_t max_bytes;       /* refuse filters whose bits need more; 0: no limit                 */
    const uint8_t *secret;    /* 16 bytes that key a new filter, and are needed to open it again:
                                 without them nobody can construct false positives.  NULL: none.
                                 Copied; never stored in a file                                   */
    const char *tmp;          /* umbel_builder of static filters: a directory for a temporary file
                                 of 8 bytes per key, used instead of memory and then removed      */
    uint32_t threads;         /* calls with a million keys may use this many; 0 and 1: one        */
    bool concurrent;          /* a loaded or decoded filter takes any number of writers           */
    bool unchecked;           /* views and mapped files are not checked at all: see umbel_damage  */
    uint64_t reserved[4];
};

UMBEL_API const char *umbel_kind_name(umbel_kind kind); /* "blocked"; NULL: no such kind   */
UMBEL_API bool umbel_kind_named(const char *name, umbel_kind *kind);

/* What the filters of a kind can do.  Returns false, with all traits zero, for AUTO and unknown
 * kinds.  Filters in other systems' formats may be able to do less. */
typedef struct umbel_traits {
    bool built_once; /* made from all its keys by umbel_builder, and then read-only               */
    bool adds;       /* umbel_add                                                                 */
    bool removes;    /* umbel_remove                                                              */
    bool counts;     /* umbel_count counts to 15                                                  */
    bool merges;     /* umbel_merge, umbel_intersect, umbel_is_subset                             */
    bool folds;      /* umbel_fold                                                                */
    bool grows;      /* beyond its capacity, keeping its rate                                     */
    bool forgets;    /* old keys, as a window does                                                */
    bool concurrent; /* umbel_params.concurrent                                                   */
    bool hashes;     /* umbel_info.takes_hashes                                                   */
    bool universe;   /* umbel_builder_never takes any number of keys: never wrong about them      */
    const char *purpose; /* "fast and general"                                                    */
    uint64_t reserved[1];
} umbel_traits;
UMBEL_API bool umbel_kind_traits(umbel_kind kind, umbel_traits *traits);
UMBEL_API const char *umbel_format_name(umbel_format format); /* "native"; NULL: no such format  */
UMBEL_API bool umbel_format_named(const char *name, umbel_format *format);
UMBEL_API const char *umbel_version(void); /* of the library at run time, as UMBEL_VERSION        */

/* ---- Inline --------------------------------------------------------------------------------- */

/* The finaliser of MurmurHash3, moved so that 0 does not stay 0. */
inline uint64_t umbel_mix(uint64_t number) {
    uint64_t x = number + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_H */
