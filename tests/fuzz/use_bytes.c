/* SPDX-License-Identifier: MIT */
#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "../support/watched_memory.h"
#include "core/bits.h"
#include "umbel_foreign.h"
#include "umbel_recipe.h"

static bool needs_help(const umbel_foreign *as) {
    umbel_format_info info;
    return umbel_format_describe(as->format, &info) && info.needs;
}

static void refused(umbel_err e, const umbel_filter *f, const umbel_diag *diag, size_t len) {
    insist(!f, "no filter after an error");
    insist(diag->what != NULL, "an error has words");
    insist(diag->offset <= len, "an error lies within the bytes");
    insist(e == UMBEL_ECORRUPT || e == UMBEL_EVERSION || e == UMBEL_EINVAL || e == UMBEL_ELIMIT ||
               e == UMBEL_ENOMEM || e == UMBEL_ENOTSUP || e == UMBEL_EMISMATCH ||
               e == UMBEL_ESECRET || e == UMBEL_EUNKNOWN,
           "decoding has the errors it should");
}

/* Native files of before 0.3 say in other words how lines became keys, and are translated: what was
 * written then is read and written as it is. */
static void use_translated(const uint8_t *bytes, size_t len, const uint8_t *secret) {
    umbel_opts opts = {.secret = secret};
    umbel_filter *f = NULL;
    insist(!umbel_decode(bytes, len, UMBEL_LOAD, NULL, &opts, &f, NULL),
           "what was written is read");
    size_t again_len;
    uint8_t *again = bytes_in(f, UMBEL_FMT_NATIVE, &again_len);
    insist(again && again_len == len && memcmp(again, bytes, len) == 0, "and written alike");
    free(again);
    umbel_free(f);
}

/* Metadata is in the header, whose length is at offset 12. */
static bool names_recipe(const uint8_t *bytes, size_t len) {
    static const char name[] = "recipe";
    size_t header = len < 16 ? 0 : umbeli_load_le32(bytes + 12), n = sizeof name - 1;
    for (size_t at = 128; at + n <= header && header <= len; at++) {
        if (memcmp(bytes + at, name, n) == 0) return true;
    }
    return false;
}

/* All formats but one have one way to write a filter. */
static void use_decoded(const umbel_filter *f, const umbel_foreign *as, const uint8_t *secret,
                        const uint8_t *bytes, size_t len) {
    umbel_info info;
    size_t again_len;
    use_answers(f);
    use_changes(f);
    use_formats(f, as, secret);
    umbel_describe(f, &info);
    uint8_t *again = bytes_in(f, info.format, &again_len);
    /* RocksDB has several ways to write a filter without keys, and DataSketches leaves the number of
     * set bits open. */
    bool one_way = info.format != UMBEL_FMT_PARQUET && info.format != UMBEL_FMT_DATASKETCHES &&
                   !(info.format == UMBEL_FMT_ROCKSDB && len <= 5);
    /* Also a recipe that says no more than "line", and metadata of that name from before 0.3. */
    bool translated = info.format == UMBEL_FMT_NATIVE &&
                      (strcmp(umbel_get_recipe(f), "line") != 0 || names_recipe(bytes, len));
    if (again && translated) {
        use_translated(again, again_len, secret);
    } else if (again && one_way) {
        insist(again_len == len && memcmp(again, bytes, len) == 0, "the bytes come back");
    }
    free(again);
}

bool use_bytes(const umbel_foreign *as, const uint8_t *secret, const uint8_t *bytes, size_t len,
               uint64_t max) {
    watched_memory m;
    watch_memory(&m, 0);
    m.opts.max_bytes = USE_MAX_BYTES;
    m.opts.secret = secret;
    umbel_filter *f = NULL, *seen = NULL;
    umbel_diag diag = {.offset = UINT64_MAX};
    umbel_err e = umbel_decode(bytes, len, UMBEL_LOAD, as, &m.opts, &f, &diag);
    insist(m.peak <= max, "decoding allocates what the bytes justify");
    if (e) refused(e, f, &diag, len);
    insist(e != UMBEL_EUNKNOWN || as->format == UMBEL_FMT_ANY, "a named format is known");
    if (needs_help(as)) {
        umbel_foreign alone = {.format = as->format};
        umbel_err plain = umbel_decode(bytes, len, UMBEL_LOAD, &alone, &m.opts, &seen, NULL);
        insist(plain == UMBEL_EINVAL && !seen, "bytes that do not say all are not guessed");
    }
    umbel_err verified = umbel_decode(bytes, len, UMBEL_VERIFY, as, NULL, NULL, NULL);
    bool other = e == UMBEL_ELIMIT || e == UMBEL_ENOMEM || e == UMBEL_ESECRET;
    insist(verified == e || other, "verify says what decode says");
    diag = (umbel_diag){.offset = UINT64_MAX};
    umbel_err viewed = umbel_decode(bytes, len, UMBEL_MAP, as, &m.opts, &seen, &diag);
    if (viewed) refused(viewed, seen, &diag, len);
    insist(e || !viewed || viewed == UMBEL_ENOTSUP, "what can be decoded can be viewed");
    insist((e == UMBEL_ESECRET) == (viewed == UMBEL_ESECRET), "who has no key sees nothing");
    if (!viewed) {
        use_answers(seen);
        use_changes(seen);
    }
    if (!viewed && !e) insist(umbel_equal(f, seen), "a view equals the copy");
    umbel_free(seen);
    if (!e) use_decoded(f, as, secret, bytes, len);
    umbel_free(f);
    insist(m.blocks == 0, "all memory is given back");
    return !e;
}
