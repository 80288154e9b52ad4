/* SPDX-License-Identifier: MIT
 *
 * leveldb.c - LevelDB's built-in filter policy, leveldb.BuiltinBloomFilter2, and its Go relatives
 *
 * corekv and Badger have LevelDB's bytes, but different keys: corekv hashes uint32 keys as four
 * big-endian bytes, Badger takes uint32 hashes as they are.  Bytes: leveldb_layout.h.  Pages:
 * docs/formats/leveldb.md, corekv.md, badger.md.
 */
#include <math.h>

#include "core/platform.h"
#include "format/codec_params.h"
#include "format/leveldb/leveldb_layout.h"
#include "umbel_foreign.h"

enum { SCHEME_LEVELDB = 2, SCHEME_COREKV = 3, SCHEME_BADGER = 4 };
enum { BADGER_KEY = 4 };

/* ---- Positions ---- */

static void badger_positions(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    (void)len; /* BADGER_KEY */
    umbeli_leveldb_probes(c, umbeli_load_le32(key), pos);
}

static const umbeli_scheme scheme_leveldb = {
    .id = SCHEME_LEVELDB,
    .hash = UMBEL_HASH_LEVELDB,
    .layout = "classic/leveldb",
    .format = UMBEL_FMT_LEVELDB,
    .positions = umbeli_leveldb_positions,
    .estimate = umbeli_leveldb_estimate,
    .estimate_error = umbeli_leveldb_estimate_error,
    .live_rate = umbeli_leveldb_live,
    .contains_many = umbeli_leveldb_contains_many,
};

static const umbeli_scheme scheme_corekv = {
    .id = SCHEME_COREKV,
    .hash = UMBEL_HASH_LEVELDB,
    .layout = "classic/corekv",
    .format = UMBEL_FMT_COREKV,
    .positions = umbeli_leveldb_positions,
    .estimate = umbeli_leveldb_estimate,
    .estimate_error = umbeli_leveldb_estimate_error,
    .live_rate = umbeli_leveldb_live,
    .contains_many = umbeli_leveldb_contains_many,
};

static const umbeli_scheme scheme_badger = {
    .id = SCHEME_BADGER,
    .hash = UMBEL_HASH_NONE,
    .layout = "classic/badger",
    .format = UMBEL_FMT_BADGER,
    .positions = badger_positions,
    .estimate = umbeli_leveldb_estimate,
    .estimate_error = umbeli_leveldb_estimate_error,
    .live_rate = umbeli_leveldb_live,
    .key_len = BADGER_KEY,
};

/* ---- Sizes ---- */

/* LevelDB has no rates: finds bits per key that keep this one, as few as a few attempts allow.
 * From 44 bits on k stays 30, and more bits still help.  The model takes milliseconds, so the
 * search starts where a guess keeps the rate. */
static uint32_t leveldb_bits_per_key(uint64_t keys, double fpr) {
    enum { MOST = 1000, SMALLER_STEPS = 16 };
    uint64_t bits;
    bool guessing = true;
    for (uint32_t each = 1; each <= MOST; each += guessing ? 1 : 1 + each / SMALLER_STEPS) {
        uint32_t hashes = umbeli_leveldb_hashes(each);
        if (!umbeli_leveldb_bits(keys, each, &bits)) return 0;
        /* The formula of ideal filters is quickest, and a rate that not even it keeps needs no
         * guess. */
        if (guessing && umbeli_narrow_rate(bits, hashes, keys, 32) > fpr) continue;
        if (guessing && umbeli_leveldb_guess(bits, hashes, keys) > fpr) continue;
        guessing = false;
        if (umbeli_leveldb_rate(bits, hashes, keys) <= fpr) return each;
    }
    return 0;
}

/* ln 2 with the digits that both have. */
static const double go_ln2 = 0.69314718056;

static uint32_t whole(double bits_per_key) {
    return bits_per_key < 1 ? 1 : bits_per_key > 65536 ? 0 : (uint32_t)bits_per_key;
}

/* BloomBitsPerKey, in its order of operations. */
static uint32_t corekv_bits_per_key(uint64_t keys, double fpr) {
    double n = (double)keys, size = -1 * n * log(fpr) / (go_ln2 * go_ln2);
    return whole(ceil(size / n));
}

/* Badger multiplies by ln 2 once more, which gives the number of probes. */
static uint32_t badger_bits_per_key(uint64_t keys, double fpr) {
    double n = (double)keys, size = -1 * n * log(fpr) / (go_ln2 * go_ln2);
    return whole(ceil(go_ln2 * size / n));
}

static const umbeli_leveldb_profile leveldb = {
    .scheme = &scheme_leveldb,
    .max_bits = INT64_MAX,
    .bits_per_key = leveldb_bits_per_key,
    .beyond = "LevelDB's 32-bit hash cannot keep this rate",
};

/* Both Go filters truncate the modulus to 32 bits: from 2^32 bits on they use only part of the
 * bits, or divide by 0. */
#define GO_MAX_BITS UINT64_C(0xfffffff8)

static const umbeli_leveldb_profile corekv = {
    .scheme = &scheme_corekv,
    .max_bits = GO_MAX_BITS,
    .bits_per_key = corekv_bits_per_key,
    .beyond = "this many 32-bit keys exceed this rate",
};

static const umbeli_leveldb_profile badger = {
    .scheme = &scheme_badger,
    .max_bits = GO_MAX_BITS,
    .bits_per_key = badger_bits_per_key,
    .beyond = "BloomBitsPerKey gives Badger too few bits for this rate; give bits_per_key",
};

/* ---- Codecs ---- */

static const umbeli_leveldb_profile *profile_of(umbel_format format) {
    return format == UMBEL_FMT_COREKV ? &corekv : format == UMBEL_FMT_BADGER ? &badger : &leveldb;
}

static umbel_err draft_of(const umbel_foreign *p, umbeli_draft *draft, umbel_diag *diag) {
    return umbeli_leveldb_draft(profile_of(p->format), p, draft, diag);
}

/* There is no magic number, so `as` has the format. */
static umbel_err decode_as(const umbel_foreign *as, const uint8_t *bytes, size_t len,
                           umbeli_decoding how, const umbeli_settings *settings, umbel_filter **out,
                           umbel_diag *diag) {
    return umbeli_leveldb_decode(profile_of(as->format), bytes, len, how, settings, out, diag);
}

static uint64_t leveldb_size(const umbel_filter *f) {
    return umbeli_leveldb_size(&leveldb, f);
}

static uint64_t corekv_size(const umbel_filter *f) {
    return umbeli_leveldb_size(&corekv, f);
}

static uint64_t badger_size(const umbel_filter *f) {
    return umbeli_leveldb_size(&badger, f);
}

enum {
    TAKES = UMBEL_FIELD_CAPACITY | UMBEL_FIELD_FPR | UMBEL_FIELD_BYTES | UMBEL_FIELD_HASHES |
            UMBEL_FIELD_BITS_PER_KEY
};

const umbeli_codec umbeli_codec_leveldb = {
    .id = UMBEL_FMT_LEVELDB,
    .name = "leveldb",
    .system = "LevelDB 1.23",
    .takes = TAKES,
    .draft = draft_of,
    .rate = umbeli_leveldb_draft_rate,
    .weakens = true,
    .decode_as = decode_as,
    .size = leveldb_size,
    .encode = umbeli_leveldb_encode,
};

const umbeli_codec umbeli_codec_corekv = {
    .id = UMBEL_FMT_COREKV,
    .name = "corekv",
    .system = "corekv's Go filter, run under Go 1.19",
    .takes = TAKES,
    .draft = draft_of,
    .rate = umbeli_leveldb_draft_rate,
    .weakens = true,
    .decode_as = decode_as,
    .size = corekv_size,
    .encode = umbeli_leveldb_encode,
};

const umbeli_codec umbeli_codec_badger = {
    .id = UMBEL_FMT_BADGER,
    .name = "badger",
    .system = "Badger's Go filter",
    .takes = TAKES,
    .key_len = BADGER_KEY,
    .draft = draft_of,
    .rate = umbeli_leveldb_draft_rate,
    .weakens = true,
    .decode_as = decode_as,
    .size = badger_size,
    .encode = umbeli_leveldb_encode,
};
