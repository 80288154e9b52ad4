/* SPDX-License-Identifier: MIT
 *
 * wasm_exports.c - umbel.h as a WebAssembly module exports it, for the page and the npm package
 *
 * Handles are addresses.  Structs do not cross the boundary: parameters are set by one call and
 * used by the next, and results are read from `numbers` and `texts`, which are valid until the next
 * call.  Functions that fail return 0 or NULL; error() then returns the umbel_err, message() the
 * sentence.  Keys come as one run of bytes and the offset at which each of them ends.
 */
#include "wasm_exports.h"

#include <stdlib.h>
#include <string.h>

#include "format/codec.h"
#include "hash/foreign_hash.h"
#include "umbel_experimental.h"
#include "umbel_foreign.h"
#include "umbel_lookup.h"
#include "umbel_plan.h"
#include "umbel_table.h"
#include "umbel_text.h"

enum { NUMBERS = 32, TEXTS = 8192, BATCH = 4096, SECRET = 16 };

static double numbers[NUMBERS];
static char texts[TEXTS];
static umbel_err err;
static umbel_diag diag;
static umbel_key batch[BATCH];

static umbel_params params;
static umbel_foreign foreign;
static uint8_t secret[SECRET];
static bool has_secret;

static bool ok(umbel_err e) {
    err = e;
    return e == UMBEL_OK;
}

bool wasm_ok(umbel_err e, const umbel_diag *why) {
    diag = *why;
    return ok(e);
}

static void begin(void) {
    diag = (umbel_diag){0};
}

/* Texts one after the other, each with its NUL. */
static void put_texts(const char *const *list, size_t n) {
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const char *text = list[i] ? list[i] : "";
        size_t len = strlen(text);
        if (len > TEXTS / n - 1) len = TEXTS / n - 1;
        memcpy(texts + at, text, len);
        texts[at + len] = '\0';
        at += len + 1;
    }
}

void wasm_put_text(const char *text) {
    put_texts(&text, 1);
}

void wasm_put_numbers(const double *list, size_t n) {
    memcpy(numbers, list, n * sizeof *list);
}

/* ---- Memory and errors -------------------------------------------------------------------- */

EXPORT("alloc") void *wasm_alloc(size_t size) {
    return malloc(size ? size : 1);
}

EXPORT("release") void wasm_release(void *at) {
    free(at);
}

EXPORT("numbers") const double *wasm_numbers(void) {
    return numbers;
}

EXPORT("texts") const char *wasm_texts(void) {
    return texts;
}

EXPORT("error") int wasm_error(void) {
    return (int)err;
}

EXPORT("message") const char *wasm_message(void) {
    return umbel_explain(err, &diag, texts, sizeof texts);
}

/* Of the error: where in the bytes, and the limit that would do, where known; its field. */
EXPORT_API("blame") void wasm_blame(void) {
    numbers[0] = (double)diag.offset;
    numbers[1] = (double)diag.need;
    wasm_put_text(diag.field);
}

EXPORT("version") const char *wasm_version(void) {
    const char *version = umbel_version();
    put_texts(&version, 1);
    return texts;
}

static const char *purpose_of(umbel_kind kind) {
    umbel_traits traits;
    return umbel_kind_traits(kind, &traits) ? traits.purpose : NULL;
}

/* The lists of names: the i-th of kinds, formats, types, verdicts, errors, variants or what kinds
 * after auto are for; NULL after the last. */
static const char *name_in(int list, int i) {
    switch (list) {
    case 0: return umbel_kind_name((umbel_kind)i);
    case 1: return i == UMBEL_FMT_ANY ? "any" : umbel_format_name((umbel_format)i);
    case 2: return umbel_type_name((umbel_type)i);
    case 3: return umbel_verdict_name((umbel_verdict)i);
    case 4: return umbel_err_name((umbel_err)i);
    case 5: return umbel_variant_name(UMBEL_FMT_ANY, UINT32_C(1) << i);
    default: return purpose_of((umbel_kind)(i + 1));
    }
}

EXPORT("name") const char *wasm_name(int list, int i) {
    const char *name = name_in(list, i);
    if (!name) return NULL;
    put_texts(&name, 1);
    return texts;
}

/* Where the bits begin in the bytes that a filter was opened from. */
EXPORT("bits_at") size_t wasm_bits_at(const umbel_filter *f, const uint8_t *bytes, size_t len) {
    umbel_info info;
    umbel_describe(f, &info);
    const umbeli_codec *codec = umbeli_codec_by_id(info.format);
    return codec->bits_at ? (size_t)codec->bits_at(f, bytes, len) : 0;
}

/* What a kind can do. */
EXPORT("built_once") int wasm_built_once(int kind) {
    umbel_traits traits;
    umbel_kind_traits((umbel_kind)kind, &traits);
    return traits.built_once;
}

/* ---- Making ------------------------------------------------------------------------------- */

EXPORT("set_secret") void wasm_set_secret(const uint8_t *bytes) {
    has_secret = bytes != NULL;
    if (bytes) memcpy(secret, bytes, SECRET);
}

EXPORT("set_params")
void wasm_set_params(int kind, uint32_t hashes, uint64_t capacity, double fpr, uint64_t bytes,
                     uint64_t seed, uint32_t expansion, uint32_t max_layers, uint32_t generations,
                     uint32_t manual) {
    params = (umbel_params){
        .kind = (umbel_kind)kind,
        .hashes = hashes,
        .capacity = capacity,
        .fpr = fpr,
        .bytes = bytes,
        .seed = seed,
        .scalable = {expansion, max_layers},
        .window = {generations, manual},
    };
}

EXPORT("set_foreign")
void wasm_set_foreign(int format, uint32_t variant, uint64_t capacity, double fpr, uint64_t bytes,
                      uint64_t seed, uint32_t hashes, uint32_t bits_per_key, uint32_t expansion,
                      uint32_t nonscaling) {
    foreign = (umbel_foreign){
        .format = (umbel_format)format,
        .variant = variant,
        .capacity = capacity,
        .fpr = fpr,
        .bytes = bytes,
        .seed = seed,
        .hashes = hashes,
        .bits_per_key = bits_per_key,
        .expansion = expansion,
        .nonscaling = nonscaling,
    };
}

static umbel_opts *opts(void) {
    static umbel_opts given;
    given.secret = has_secret ? secret : NULL;
    return &given;
}

EXPORT("create") umbel_filter *wasm_create(void) {
    umbel_filter *f = NULL;
    begin();
    return ok(umbel_create(&params, opts(), &f, &diag)) ? f : NULL;
}

EXPORT("create_foreign") umbel_filter *wasm_create_foreign(void) {
    umbel_filter *f = NULL;
    begin();
    return ok(umbel_create_foreign(&foreign, NULL, &f, &diag)) ? f : NULL;
}

EXPORT_API("copy") umbel_filter *wasm_copy(const umbel_filter *from) {
    umbel_filter *f = NULL;
    begin();
    return ok(umbel_copy(from, &f, &diag)) ? f : NULL;
}

EXPORT_API("snapshot") umbel_filter *wasm_snapshot(const umbel_filter *from) {
    umbel_filter *f = NULL;
    begin();
    return ok(umbel_snapshot(from, &f, &diag)) ? f : NULL;
}

EXPORT("dispose") void wasm_dispose(umbel_filter *f) {
    wasm_forget_lookup(f);
    umbel_free(f);
}

EXPORT("builder") umbel_builder *wasm_builder(void) {
    umbel_builder *b = NULL;
    begin();
    return ok(umbel_builder_new(&params, opts(), &b, &diag)) ? b : NULL;
}

EXPORT("builder_finish") umbel_filter *wasm_builder_finish(umbel_builder *b) {
    umbel_filter *f = NULL;
    begin();
    return ok(umbel_builder_finish(b, &f, &diag)) ? f : NULL;
}

EXPORT("builder_dispose") void wasm_builder_dispose(umbel_builder *b) {
    umbel_builder_free(b);
}

/* ---- Keys --------------------------------------------------------------------------------- */

/* -1 on failure, else whether it was new. */
EXPORT_API("add") int wasm_add(umbel_filter *f, const uint8_t *key, size_t len) {
    bool was_new = false;
    begin();
    return ok(umbel_add(f, key, len, &was_new, &diag)) ? was_new : -1;
}

EXPORT("has") int wasm_has(const umbel_filter *f, const uint8_t *key, size_t len) {
    return umbel_contains(f, key, len);
}

EXPORT_API("remove_key") int wasm_remove(umbel_filter *f, const uint8_t *key, size_t len) {
    begin();
    return ok(umbel_remove(f, key, len, &diag));
}

EXPORT("count") uint32_t wasm_count(const umbel_filter *f, const uint8_t *key, size_t len) {
    return umbel_count(f, key, len);
}

EXPORT_API("advance") int wasm_advance(umbel_filter *f) {
    begin();
    return ok(umbel_advance(f, &diag));
}

/* The keys from number `from` on that fit into the batch. */
static size_t fill_batch(const uint8_t *data, const uint32_t *ends, size_t from, size_t n) {
    size_t filled = n - from < BATCH ? n - from : BATCH;
    size_t at = from ? ends[from - 1] : 0;
    for (size_t i = 0; i < filled; i++) {
        batch[i] = (umbel_key){data + at, ends[from + i] - at};
        at = ends[from + i];
    }
    return filled;
}

/* How many were added; fewer than n: error() says why.  was_new may be NULL. */
EXPORT("add_many")
size_t wasm_add_many(umbel_filter *f, const uint8_t *data, const uint32_t *ends, size_t n,
                     uint8_t *was_new) {
    begin();
    for (size_t from = 0; from < n;) {
        size_t filled = fill_batch(data, ends, from, n), done = 0;
        if (!ok(umbel_add_many(f, batch, filled, was_new ? was_new + from : NULL, &done, &diag))) {
            return from + done;
        }
        from += filled;
    }
    return n;
}

EXPORT_API("has_many")
void wasm_has_many(const umbel_filter *f, const uint8_t *data, const uint32_t *ends, size_t n,
                   uint8_t *hit) {
    for (size_t from = 0; from < n;) {
        size_t filled = fill_batch(data, ends, from, n);
        umbel_contains_many(f, batch, filled, hit + from);
        from += filled;
    }
}

/* The lookup that was used last: texts are mostly asked of one filter. */
static umbel_lookup *lookup;

void wasm_forget_lookup(const umbel_filter *f) {
    if (!lookup || umbel_lookup_filter(lookup) != f) return;
    umbel_lookup_free(lookup);
    lookup = NULL;
}

/* Whether the filter may have the keys of texts; 0: it failed. */
EXPORT_API("has_texts")
int wasm_has_texts(const umbel_filter *f, const uint8_t *data, const uint32_t *ends, size_t n,
                   uint8_t *hit) {
    begin();
    if (!lookup || umbel_lookup_filter(lookup) != f) {
        umbel_lookup_free(lookup);
        lookup = NULL;
        if (!ok(umbel_lookup_new(f, NULL, &lookup, &diag))) return 0;
    }
    for (size_t from = 0; from < n;) {
        size_t filled = fill_batch(data, ends, from, n);
        umbel_err e =
            umbel_lookup_texts(lookup, UMBEL_USE_KEY, batch, filled, hit + from, NULL, &diag);
        if (!ok(e)) return 0;
        from += filled;
    }
    return 1;
}

/* Adds keys or, with good 1, tells of good ones, all of which come first. */
EXPORT_API("builder_add")
int wasm_builder_add(umbel_builder *b, int good, const uint8_t *data, const uint32_t *ends,
                     size_t n) {
    begin();
    for (size_t from = 0; from < n;) {
        size_t filled = fill_batch(data, ends, from, n);
        if (!ok(good ? umbel_builder_never(b, batch, filled, &diag)
                     : umbel_builder_add(b, batch, filled, &diag))) {
            return 0;
        }
        from += filled;
    }
    return 1;
}

/* How many bits the key touches; the first of them, as numbers, in `bits`. */
EXPORT("probes")
size_t wasm_probes(const umbel_filter *f, const uint8_t *key, size_t len, uint64_t *bits,
                   size_t cap) {
    return umbel_probes(f, key, len, bits, cap);
}

/* The bytes to use as the key of a value; their number, or -1. */
EXPORT_API("typed_key")
int wasm_typed_key(int type, const uint8_t *text, size_t len, uint8_t *key, size_t cap) {
    size_t key_len = 0;
    begin();
    return ok(umbel_typed_key((umbel_type)type, text, len, key, cap, &key_len, &diag))
               ? (int)key_len
               : -1;
}

/* A count, a size, a rate or a duration, as people write it, into `numbers`. */
EXPORT("parse") int wasm_parse(int what, const char *text) {
    uint64_t whole = 0;
    double rate = 0;
    umbel_err e;
    begin();
    switch (what) {
    case 0: e = umbel_parse_count(text, &whole, &diag); break;
    case 1: e = umbel_parse_size(text, &whole, &diag); break;
    case 2: e = umbel_parse_rate(text, &rate, &diag); break;
    default: e = umbel_parse_duration(text, &whole, &diag); break;
    }
    numbers[0] = what == 2 ? rate : (double)whole;
    return ok(e);
}

/* ---- Whole filters ------------------------------------------------------------------------ */

EXPORT_API("merge") int wasm_merge(umbel_filter *into, const umbel_filter *from) {
    begin();
    return ok(umbel_merge(into, from, &diag));
}

EXPORT_API("intersect") int wasm_intersect(umbel_filter *into, const umbel_filter *with) {
    begin();
    return ok(umbel_intersect(into, with, &diag));
}

EXPORT_API("equal") int wasm_equal(const umbel_filter *a, const umbel_filter *b) {
    return umbel_equal(a, b);
}

EXPORT_API("clear") int wasm_clear(umbel_filter *f) {
    begin();
    return ok(umbel_clear(f, &diag));
}

EXPORT_API("fold") int wasm_fold(umbel_filter *f, double fpr) {
    begin();
    return ok(umbel_fold(f, fpr, &diag));
}

/* ---- What is known ------------------------------------------------------------------------ */

static void put_word(size_t at, uint64_t word) {
    numbers[at] = (double)(uint32_t)(word >> 32);
    numbers[at + 1] = (double)(uint32_t)word;
}

EXPORT("describe") void wasm_describe(const umbel_filter *f) {
    umbel_info info;
    umbel_describe(f, &info);
    const double all[] = {
        (double)info.kind,       (double)info.format,      (double)info.hashes,
        (double)info.layers,     (double)info.generations, (double)info.grows,
        (double)info.frozen,     (double)info.manual,      (double)info.capacity,
        (double)info.fpr,        (double)info.bits,        (double)info.bytes,
        (double)info.keys_added, (double)info.exceptions,  (double)info.outdated,
        (double)info.universe,
    };
    memcpy(numbers, all, sizeof all);
    put_word(sizeof all / sizeof *all, info.seed);
    put_word(sizeof all / sizeof *all + 2, info.fingerprint);
    char own[128] = ""; /* what gocrc32's String() prints, and the like */
    if (umbel_text(f, own, sizeof own, NULL)) own[0] = '\0';
    const char *words[] = {umbel_kind_name(info.kind), umbel_format_name(info.format), info.layout,
                           info.kernel, own};
    put_texts(words, sizeof words / sizeof *words);
}

/* Reads all bits, and judges what they say. */
EXPORT("measure") void wasm_measure(const umbel_filter *f) {
    umbel_info info;
    umbel_measurement now;
    umbel_health health;
    umbel_describe(f, &info);
    umbel_measure(f, &now);
    umbel_judge(&info, &now, &health);
    numbers[0] = (double)now.bits_set;
    numbers[1] = now.keys;
    numbers[2] = now.keys_error;
    numbers[3] = now.rate;
    numbers[4] = health.overfull;
    numbers[5] = health.beyond_plan;
    numbers[6] = (double)health.room;
}

/* Name and value of the i-th entry; 0: there is none. */
EXPORT("meta") int wasm_meta(const umbel_filter *f, size_t i) {
    const char *pair[2];
    if (!umbel_meta_at(f, i, &pair[0], &pair[1])) return 0;
    put_texts(pair, 2);
    return 1;
}

static void put_plan(const umbel_plan *plan) {
    const double all[] = {
        (double)plan->verdict,
        (double)plan->kind,
        (double)plan->hashes,
        (double)plan->capacity,
        plan->fpr,
        (double)plan->bytes,
        (double)plan->bits,
        plan->rate,
        plan->bits_per_key,
        plan->bound,
        (double)plan->generations,
    };
    memcpy(numbers, all, sizeof all);
    const char *words[] = {umbel_kind_name(plan->kind), plan->why};
    put_texts(words, 2);
}

EXPORT("plan")
int wasm_plan(int kind, uint32_t hashes, uint64_t capacity, double fpr, uint64_t bytes,
              uint32_t generations) {
    umbel_plan plan = {
        .kind = (umbel_kind)kind,
        .hashes = hashes,
        .capacity = capacity,
        .fpr = fpr,
        .bytes = bytes,
        .generations = generations,
    };
    begin();
    bool solved = ok(umbel_plan_solve(&plan, &diag));
    put_plan(&plan);
    return solved;
}

/* Plans the filter that set_foreign describes. */
EXPORT_API("plan_foreign") int wasm_plan_foreign(void) {
    umbel_plan plan = {0};
    begin();
    if (!ok(umbel_plan_foreign(&foreign, &plan, &diag))) return 0;
    put_plan(&plan);
    return 1;
}

/* ---- Bytes -------------------------------------------------------------------------------- */

/* The format of set_foreign, or the one that is recognised.  The bytes may be freed afterwards. */
EXPORT_API("decode") umbel_filter *wasm_decode(const uint8_t *bytes, size_t len) {
    umbel_filter *f = NULL;
    begin();
    return ok(umbel_decode(bytes, len, UMBEL_LOAD, &foreign, opts(), &f, &diag)) ? f : NULL;
}

/* Checks everything, and copies nothing where the format allows that: the bytes must stay. */
EXPORT("open") umbel_filter *wasm_open(const uint8_t *bytes, size_t len) {
    umbel_filter *f = NULL;
    begin();
    if (!ok(umbel_decode(bytes, len, UMBEL_VERIFY, &foreign, NULL, NULL, &diag))) return NULL;
    umbel_opts verified = *opts();
    verified.unchecked = true;
    umbel_err e = umbel_decode(bytes, len, UMBEL_MAP, &foreign, &verified, &f, &diag);
    if (e == UMBEL_ENOTSUP) e = umbel_decode(bytes, len, UMBEL_LOAD, &foreign, opts(), &f, &diag);
    return ok(e) ? f : NULL;
}

/* Whether bytes that begin like this, len of them, may be of any format.  Only the start has to be
 * there: formats are recognised by their header and their length. */
EXPORT("recognised") int wasm_recognised(const uint8_t *bytes, size_t len) {
    const umbeli_codec *codec;
    begin();
    return ok(umbeli_codec_reading(&foreign, bytes, len, &codec, &diag));
}

EXPORT("encoded_size") double wasm_encoded_size(const umbel_filter *f, int format) {
    return (double)umbel_encoded_size(f, (umbel_format)format);
}

EXPORT("encode") int wasm_encode(const umbel_filter *f, int format, uint8_t *bytes, size_t cap) {
    begin();
    return ok(umbel_encode(f, (umbel_format)format, bytes, cap, &diag));
}

/* ---- Tables ------------------------------------------------------------------------------- */

/* A LevelDB table or a Parquet file; the bytes must stay. */
EXPORT("table") umbel_table *wasm_table(const uint8_t *bytes, size_t len) {
    umbel_table *t = NULL;
    begin();
    return ok(umbel_table_read(bytes, len, NULL, NULL, &t, &diag)) ? t : NULL;
}

EXPORT("table_dispose") void wasm_table_dispose(umbel_table *t) {
    umbel_table_close(t);
}

EXPORT("table_count") size_t wasm_table_count(const umbel_table *t) {
    const char *system = umbel_table_system_name(umbel_table_system_of(t));
    put_texts(&system, 1);
    return umbel_table_count(t);
}

EXPORT("table_place") void wasm_table_place(const umbel_table *t, size_t i) {
    umbel_table_place place;
    umbel_table_place_of(t, i, &place);
    const double all[] = {
        (double)place.state, (double)place.offset, (double)place.len,
        (double)place.first, (double)place.end,    (double)place.keys,
    };
    memcpy(numbers, all, sizeof all);
    const char *words[] = {place.column, place.type};
    put_texts(words, 2);
}

EXPORT("table_filter") umbel_filter *wasm_table_filter(const umbel_table *t, size_t i) {
    umbel_filter *f = NULL;
    begin();
    return ok(umbel_table_filter(t, i, &f, &diag)) ? f : NULL;
}

/* A sentence about the i-th fault of the file, or NULL. */
EXPORT("table_fault") const char *wasm_table_fault(const umbel_table *t, size_t i) {
    umbel_diag fault;
    umbel_err e = umbel_table_fault(t, i, &fault);
    return e ? umbel_explain(e, &fault, texts, sizeof texts) : NULL;
}

/* The bytes of a value of the i-th place's column, or -1. */
EXPORT("table_key")
int wasm_table_key(const umbel_table *t, size_t i, const uint8_t *text, size_t len, uint8_t *key,
                   size_t cap) {
    umbel_table_place place;
    size_t key_len = 0;
    umbel_table_place_of(t, i, &place);
    begin();
    return ok(umbel_table_key(t, place.column, NULL, text, len, key, cap, &key_len, &diag))
               ? (int)key_len
               : -1;
}

/* ---- The page's explanations -------------------------------------------------------------- */

static void put_hex(char *to, uint64_t word, int digits) {
    for (int i = digits - 1; i >= 0; i--, word >>= 4) to[i] = "0123456789abcdef"[word & 15];
}

/* What a key is hashed to, as hexadecimal text: 64 bits, 128 of classic filters, LevelDB's 32. */
EXPORT("show_hash")
void wasm_show_hash(const umbel_filter *f, int which, const uint8_t *key, size_t len) {
    if (which == 1) {
        umbeli_hash128 h = umbeli_xxh3_128(key, len, 0);
        put_hex(texts, h.high, 16);
        put_hex(texts + 16, h.low, 16);
        texts[32] = '\0';
    } else if (which == 2) {
        put_hex(texts, umbeli_leveldb_hash(key, len), 8);
        texts[8] = '\0';
    } else {
        uint64_t hash = 0;
        (void)umbel_hash_many(f, &(umbel_key){key, len}, 1, &hash, NULL);
        put_hex(texts, hash, 16);
        texts[16] = '\0';
    }
}
