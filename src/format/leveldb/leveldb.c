/* SPDX-License-Identifier: MIT
 *
 * leveldb.c - LevelDB's built-in filter policy, leveldb.BuiltinBloomFilter2
 *
 * Bytes: leveldb_layout.h.  Page: docs/formats/leveldb.md.
 */
#include "core/platform.h"
#include "format/codec_params.h"
#include "format/leveldb/leveldb_layout.h"
#include "umbel_foreign.h"

enum { SCHEME_LEVELDB = 2 };

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

/* LevelDB has no rates: finds bits per key that keep this one, as few as a few attempts allow.
 * From 44 bits on k stays 30, and more bits still help.  The model takes milliseconds, so the
 * search starts where a guess keeps the rate. */
static uint32_t bits_per_key(uint64_t keys, double fpr) {
    enum { MOST = 1000, SMALLER_STEPS = 16 };
    uint64_t bits;
    bool guessing = true;
    for (uint32_t each = 1; each <= MOST; each += guessing ? 1 : 1 + each / SMALLER_STEPS) {
        uint32_t hashes = umbeli_leveldb_hashes(each);
        if (!umbeli_leveldb_bits(keys, each, &bits)) return 0;
        /* The ideal is quickest: only where it keeps the rate is there anything to guess. */
        if (guessing && umbeli_narrow_rate(bits, hashes, keys, 32) > fpr) continue;
        if (guessing && umbeli_leveldb_guess(bits, hashes, keys) > fpr) continue;
        guessing = false;
        if (umbeli_leveldb_rate(bits, hashes, keys) <= fpr) return each;
    }
    return 0;
}

static const umbeli_leveldb_profile profile = {
    .scheme = &scheme_leveldb,
    .max_bits = INT64_MAX,
    .bits_per_key = bits_per_key,
    .beyond = "LevelDB's 32-bit hash cannot keep this rate",
};

static umbel_err draft_of(const umbel_foreign *params, umbeli_draft *draft, umbel_diag *diag) {
    return umbeli_leveldb_draft(&profile, params, draft, diag);
}

static umbel_err decode(const uint8_t *bytes, size_t len, umbeli_decoding how,
                        const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    return umbeli_leveldb_decode(&profile, bytes, len, how, settings, out, diag);
}

static uint64_t size(const umbel_filter *f) {
    return umbeli_leveldb_size(&profile, f);
}

const umbeli_codec umbeli_codec_leveldb = {
    .id = UMBEL_FMT_LEVELDB,
    .name = "leveldb",
    .system = "LevelDB 1.23",
    .draft = draft_of,
    .rate = umbeli_leveldb_draft_rate,
    .weakens = true,
    .decode = decode,
    .size = size,
    .encode = umbeli_leveldb_encode,
};
