/* SPDX-License-Identifier: MIT
 *
 * umbel_foreign.h - other systems' filters, bit for bit: made, sized and keyed as by those systems
 *
 *   umbel_foreign guava = { .format = UMBEL_FMT_GUAVA, .capacity = 1000000, .fpr = 0.01 };
 *   umbel_filter *filter = NULL;
 *   uint8_t key[8];
 *   size_t len = 0;
 *   umbel_err e = umbel_create_foreign(&guava, NULL, &filter, NULL);
 *   if (!e) e = umbel_typed_key(UMBEL_TYPE_INT64, "42", 2, key, sizeof key, &len, NULL);
 *   if (!e) e = umbel_add(filter, key, len, NULL, NULL);      // Guava's longFunnel finds 42
 *   if (!e) e = umbel_file_save(filter, UMBEL_FMT_GUAVA, "ids.guava", NULL);
 *   umbel_free(filter);
 *
 * The rules of umbel.h hold here as well.
 */
#ifndef UMBEL_FOREIGN_H
#define UMBEL_FOREIGN_H

#include "umbel.h"
#include "umbel_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Formats ------------------------------------------------------------------------------ */

/* Variants of a format, or-ed together; 0 is its usual form. */
typedef enum umbel_variant {
    UMBEL_VARIANT_INT32 = 1 << 0,      /* gocrc32: as on 32-bit platforms, where sums wrap        */
    UMBEL_VARIANT_MITZ32 = 1 << 1,     /* guava: the strategy MURMUR128_MITZ_32                   */
    UMBEL_VARIANT_GUAVA_2024 = 1 << 2, /* guava: hashes from fpr alone (since late 2024)          */
    UMBEL_VARIANT_CLICKHOUSE_INDEX = 1 << 3, /* clickhouse: a granule of a bloom_filter index;
                                                keys are strings ...                              */
    UMBEL_VARIANT_CLICKHOUSE_NUMBERS = 1 << 4, /* ... or, with this as well, numbers as ClickHouse
                                                  stores them: 1 to 32 bytes, little-endian       */
    UMBEL_VARIANT_CLICKHOUSE_PRE2024 = 1 << 5, /* with INDEX: sized as in releases before 2024    */
    UMBEL_VARIANT_SPARK_V1 = 1 << 6            /* spark: version 1, for Spark before 4.1          */
} umbel_variant;

/* The names of variants, as the command, Python and JavaScript know them.  umbel_variant_named sets
 * *bits to the variant with this name, such as "mitz32", of this format (FMT_ANY: of any); false:
 * there is none.  umbel_variant_name gives the name of one such bit, or of 0, the usual form, if it
 * has a name; NULL: none. */
UMBEL_API bool umbel_variant_named(umbel_format format, const char *name, uint32_t *bits);
UMBEL_API const char *umbel_variant_name(umbel_format format, uint32_t bit);

/* What the other system's constructor takes.  Zero means "not given"; setting what a format does
 * not take is an error that names it.  To decode, `format` alone is enough for most formats;
 * gocrc32 needs capacity, fpr and variant; clickhouse needs hashes, seed and variant, and for an
 * index fpr, or bits_per_key and hashes. */
struct umbel_foreign {
    umbel_format format;
    uint32_t variant;
    uint64_t capacity;
    double fpr;
    uint64_t bytes;
    uint64_t seed;         /* clickhouse, datasketches, and spark, where it is an int; negative ones
                              in two's complement                                                 */
    uint32_t hashes;       /* leveldb, corekv, badger, rocksdb with bytes alone; clickhouse; spark,
                              datasketches with bytes                                             */
    uint32_t bits_per_key; /* leveldb, corekv, badger, rocksdb, clickhouse's index: instead of
                              fpr                                                                 */
    uint32_t expansion;    /* redisbloom: capacity of a layer, as a multiple of the one before;
                              0: 2                                                                */
    bool nonscaling;       /* redisbloom: refuse keys beyond capacity instead of growing          */
    uint64_t reserved[4];
};

/* The fields of umbel_foreign besides format and variant. */
typedef enum umbel_field {
    UMBEL_FIELD_CAPACITY = 1 << 0,
    UMBEL_FIELD_FPR = 1 << 1,
    UMBEL_FIELD_BYTES = 1 << 2,
    UMBEL_FIELD_SEED = 1 << 3,
    UMBEL_FIELD_HASHES = 1 << 4,
    UMBEL_FIELD_BITS_PER_KEY = 1 << 5,
    UMBEL_FIELD_EXPANSION = 1 << 6,
    UMBEL_FIELD_NONSCALING = 1 << 7
} umbel_field;

typedef struct umbel_format_info {
    const char *name;     /* "guava"; its page is docs/formats/NAME.md                            */
    const char *system;   /* whose it is, and the version that it was compared with               */
    uint32_t takes;       /* fields, or-ed, that some filter of this format is made with          */
    uint32_t needs;       /* fields that its bytes do not say, and that decoding has to be told   */
    uint32_t variants;    /* or-ed                                                                */
    uint32_t key_len;     /* bytes of every key; 0: any number                                   */
    bool recognised;      /* by its bytes, so that it need not be named                           */
    bool has_checksum;    /* damaged bits are noticed                                             */
    bool has_signed_seed; /* the system shows its seeds as signed numbers                         */
    uint8_t reserved8[5];
    uint64_t reserved[2];
} umbel_format_info;

/* What is known about a format; false: there is none with this number.  They are numbered from 1
 * without a gap. */
UMBEL_API bool umbel_format_describe(umbel_format format, umbel_format_info *info);

UMBEL_API umbel_err umbel_create_foreign(const umbel_foreign *foreign, const umbel_opts *opts,
                                         umbel_filter **out, umbel_diag *diag);

/* What umbel_create_foreign would make, without making it.  plan->rate takes account of the limits
 * of the system's hash and layout.  Where they raise the rate above fpr, verdict is
 * UMBEL_PLAN_BEYOND_KIND and why gives the reason, although the filter can be made: the system
 * itself would make it. */
UMBEL_API umbel_err umbel_plan_foreign(const umbel_foreign *foreign, umbel_plan *plan,
                                       umbel_diag *diag);

/* ---- Keys --------------------------------------------------------------------------------- */

/* Types of values, and the bytes that stand for them.  Numbers are little-endian two's complement
 * or IEEE 754. */
typedef enum umbel_type {
    UMBEL_TYPE_STRING = 0, /* the bytes of the text as they are                                   */
    UMBEL_TYPE_UTF16 = 1,  /* UTF-8 text as UTF-16 code units: Guava's unencodedCharsFunnel       */
    UMBEL_TYPE_INT8 = 2,
    UMBEL_TYPE_INT16 = 3,
    UMBEL_TYPE_INT32 = 4, /* Guava's integerFunnel, Parquet's INT32                               */
    UMBEL_TYPE_INT64 = 5, /* Guava's longFunnel, Parquet's INT64                                  */
    UMBEL_TYPE_UINT8 = 6,
    UMBEL_TYPE_UINT16 = 7,
    UMBEL_TYPE_UINT32 = 8,
    UMBEL_TYPE_UINT64 = 9,
    UMBEL_TYPE_FLOAT = 10,    /* 4 bytes; ClickHouse hashes Float32 as a double                   */
    UMBEL_TYPE_DOUBLE = 11,   /* 8 bytes                                                          */
    UMBEL_TYPE_UINT32BE = 12, /* big-endian: corekv                                              */
    UMBEL_TYPE_UUID = 13,     /* 16 bytes, in the order in which they are written                 */
    UMBEL_TYPE_BYTEA = 14,    /* what PostgreSQL reads as bytea: \x6162, or a\142                */
    /* Values of SQL, as ISO 8601 writes them and PostgreSQL prints them: */
    UMBEL_TYPE_DATE = 15,        /* int32, days since 1970-01-01: Parquet's DATE                  */
    UMBEL_TYPE_TIMESTAMP = 16,   /* int64, microseconds since 1970-01-01 00:00                    */
    UMBEL_TYPE_TIMESTAMPTZ = 17, /* the same in UTC; the text names its offset                    */
    UMBEL_TYPE_INET = 18,   /* 4 or 16 bytes, big-endian; of a network, and the prefix's length   */
    UMBEL_TYPE_NUMERIC = 19 /* 1.50 is the text 15e-1: no zeros at the ends of the digits         */
} umbel_type;

UMBEL_API const char *umbel_type_name(umbel_type type); /* "int64"; NULL: no such type           */
UMBEL_API bool umbel_type_named(const char *name, umbel_type *type);

/* Reads the value that the text denotes and writes the bytes to use as its key.  UMBEL_EINVAL when
 * the text is not such a value (a sign and digits for integers, what strtod reads for floats, 32
 * hexadecimal digits with or without hyphens between groups of four, or braces around, for a UUID;
 * docs/sql.md has the types of SQL); UMBEL_ESPACE when cap is too small: 2 * len + 16 is enough for
 * every type, and numeric needs it. */
UMBEL_API umbel_err umbel_typed_key(umbel_type type, const void *text, size_t len, void *key,
                                    size_t cap, size_t *key_len, umbel_diag *diag);

/* ---- What only some systems have ---------------------------------------------------------- */

/* Bytes that a file carries after its filter; only dcso files have such a section, and keep it.
 * umbel_set_data copies them; len 0 removes the section; UMBEL_ENOTSUP for other formats, which
 * would lose them.  The bytes that umbel_get_data returns live until they are set again; NULL when
 * there are none. */
UMBEL_API umbel_err umbel_set_data(umbel_filter *filter, const void *data, size_t len,
                                   umbel_diag *diag);
UMBEL_API const void *umbel_get_data(const umbel_filter *filter, size_t *len);

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_FOREIGN_H */
