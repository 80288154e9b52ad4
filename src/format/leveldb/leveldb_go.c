/* SPDX-License-Identifier: MIT
 *
 * leveldb_go.c - the filters of corekv and Badger: LevelDB's bytes in Go, with different keys
 *
 * corekv hashes uint32 keys as four big-endian bytes; Badger takes uint32 hashes as they are.
 * Bytes: leveldb_layout.h.  Pages: docs/formats/corekv.md, docs/formats/badger.md.
 */
#include <math.h>

#include "core/platform.h"
#include "format/leveldb/leveldb_layout.h"
#include "umbel_foreign.h"

enum { SCHEME_COREKV = 3, SCHEME_BADGER = 4 };

/* Both truncate the modulus to 32 bits: from 2^32 bits on they use only part of the bits, or divide
 * by 0. */
#define MAX_BITS UINT64_C(0xfffffff8)

/* ---- Positions ---- */

static void badger_positions(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    (void)len; /* key_len is 4 */
    umbeli_leveldb_probes(c, umbeli_load_le32(key), pos);
}

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
    .key_len = 4,
};

/* ---- Sizes ---- */

/* ln 2 with the digits that both have. */
static const double ln2 = 0.69314718056;

static uint32_t whole(double bits_per_key) {
    return bits_per_key < 1 ? 1 : bits_per_key > 65536 ? 0 : (uint32_t)bits_per_key;
}

/* BloomBitsPerKey, in its order of operations. */
static uint32_t corekv_bits_per_key(uint64_t keys, double fpr) {
    double n = (double)keys, size = -1 * n * log(fpr) / (ln2 * ln2);
    return whole(ceil(size / n));
}

/* Badger multiplies by ln 2 once more, which gives the number of probes. */
static uint32_t badger_bits_per_key(uint64_t keys, double fpr) {
    double n = (double)keys, size = -1 * n * log(fpr) / (ln2 * ln2);
    return whole(ceil(ln2 * size / n));
}

static const umbeli_leveldb_profile corekv = {
    .scheme = &scheme_corekv,
    .max_bits = MAX_BITS,
    .bits_per_key = corekv_bits_per_key,
    .beyond = "this many 32-bit keys exceed this rate",
};

static const umbeli_leveldb_profile badger = {
    .scheme = &scheme_badger,
    .max_bits = MAX_BITS,
    .bits_per_key = badger_bits_per_key,
    .beyond = "BloomBitsPerKey gives Badger too few bits for this rate; give bits_per_key",
};

/* ---- Codecs ---- */

static umbel_err corekv_draft(const umbel_foreign *p, umbeli_draft *draft, umbel_diag *diag) {
    return umbeli_leveldb_draft(&corekv, p, draft, diag);
}

static umbel_err badger_draft(const umbel_foreign *p, umbeli_draft *draft, umbel_diag *diag) {
    return umbeli_leveldb_draft(&badger, p, draft, diag);
}

static umbel_err corekv_decode(const uint8_t *bytes, size_t len, umbeli_decoding how,
                               const umbeli_settings *settings, umbel_filter **out,
                               umbel_diag *diag) {
    return umbeli_leveldb_decode(&corekv, bytes, len, how, settings, out, diag);
}

static umbel_err badger_decode(const uint8_t *bytes, size_t len, umbeli_decoding how,
                               const umbeli_settings *settings, umbel_filter **out,
                               umbel_diag *diag) {
    return umbeli_leveldb_decode(&badger, bytes, len, how, settings, out, diag);
}

static uint64_t corekv_size(const umbel_filter *f) {
    return umbeli_leveldb_size(&corekv, f);
}

static uint64_t badger_size(const umbel_filter *f) {
    return umbeli_leveldb_size(&badger, f);
}

const umbeli_codec umbeli_codec_corekv = {
    .id = UMBEL_FMT_COREKV,
    .name = "corekv",
    .system = "corekv's Go filter, run under Go 1.19",
    .draft = corekv_draft,
    .rate = umbeli_leveldb_draft_rate,
    .weakens = true,
    .decode = corekv_decode,
    .size = corekv_size,
    .encode = umbeli_leveldb_encode,
};

const umbeli_codec umbeli_codec_badger = {
    .id = UMBEL_FMT_BADGER,
    .name = "badger",
    .system = "Badger's Go filter",
    .draft = badger_draft,
    .rate = umbeli_leveldb_draft_rate,
    .weakens = true,
    .decode = badger_decode,
    .size = badger_size,
    .encode = umbeli_leveldb_encode,
};
