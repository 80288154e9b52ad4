/* SPDX-License-Identifier: MIT
 *
 * fuzz_redis_load.c - what a server passes to the module's loaders: RDB values and dumps
 *
 * Byte 0 is the entry point, byte 1 the encoding version.  RDB: the values as stored in a file; the
 * head of a blocked one has its checksums corrected first.  HEAD and WHOLE: what BF.LOADCHUNK and
 * BF.LOAD receive.  LAYERS: bytes 2 and 3 are the length of a head; head and bits follow, each as
 * long as the head says, so the fuzzer need not guess lengths twice.  COMPACT: the same with a
 * compact head, without its first four bytes.
 */
#define _DEFAULT_SOURCE /* clock_gettime */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/bits.h"
#include "fakeserver.h"
#include "hash/xxh.h"
#include "storage/dump.h"
#include "storage/dump_header.h"
#include "storage/types.h"
#include "target.h"
#include "value/value_memory.h"

enum { RDB_REDISBLOOM, RDB_BLOCKED, HEAD, WHOLE, LAYERS, COMPACT, WAYS };
enum { LIMIT = 1 << 20, KEYS = 40, SUM = 8, FIXED = 128 };

/* ---- What must hold of a value ---- */

static uint64_t digest_of(bf_value *v) {
    return fake_digest((const fake_type *)bf_type_of(v), v);
}

static void add_and_ask(bf_value *v) {
    char text[KEYS][4];
    umbel_key keys[KEYS];
    uint8_t flags[KEYS];
    size_t done = 0;
    for (int i = 0; i < KEYS; i++) {
        memcpy(text[i], "key", 4);
        text[i][3] = (char)i;
        keys[i] = (umbel_key){text[i], 4};
    }
    (void)bf_value_add(v, keys, KEYS, 4 * LIMIT, flags, &done);
    insist(done <= KEYS, "no more keys are done than there are");
    for (size_t i = 0; i < done; i++) insist(flags[i] <= 1, "new or not");
    bf_value_contains(v, keys, KEYS, flags);
    bf_params params = bf_value_params(v);
    for (size_t i = 0; i < done && !params.window; i++) insist(flags[i], "what was added is in");
    (void)bf_value_remove(v, &keys[0]);
    (void)bf_value_count(v, &keys[1]);
}

/* With a copy of itself, which has the same keys. */
static void merge(bf_value *v) {
    bf_value *twin = NULL;
    if (bf_value_copy(v, &twin)) return;
    (void)bf_value_merge(twin, v, NULL);
    add_and_ask(twin);
    bf_value_free(twin);
}

static void look_at(const bf_value *v) {
    bf_layer layer;
    umbel_measurement measure;
    uint64_t keys = 0;
    for (uint32_t i = 0; i < bf_value_layers(v); i++) {
        bf_value_layer(v, i, &layer);
        keys += layer.keys;
    }
    insist(keys == bf_value_card(v), "the keys of the layers are those of the value");
    bf_value_measure(v, &measure);
    insist(measure.bits_set <= measure.bits, "no more bits are set than there are");
    bf_params params = bf_value_params(v);
    if (params.error > 0 && params.capacity > 0) (void)bf_params_max_keys(&params, LIMIT);
    (void)bf_value_size(v);
}

static void there_and_back(bf_value *v) {
    const fake_type *type = (const fake_type *)bf_type_of(v);
    fake_io io = {0};
    uint64_t digest = digest_of(v);
    type->methods.rdb_save((RedisModuleIO *)&io, v);
    bf_value *again = fake_load(type, type->encver, io.bytes, io.len);
    insist(again && digest_of(again) == digest, "what is saved can be loaded, and is the same");
    bf_value_free(again);
    fake_io_free(&io);

    size_t len = 0;
    uint8_t *whole = bf_dump_whole(v, &len);
    insist(!bf_load_whole(whole, len, 0, &again, NULL), "a dump can be loaded");
    insist(digest_of(again) == digest, "and is the same");
    bf_value_free(again);
    RedisModule_Free(whole);
}

static void use(bf_value *v) {
    bf_value *copy = NULL;
    look_at(v);
    there_and_back(v);
    insist(!bf_value_copy(v, &copy), "there is memory for a copy");
    add_and_ask(v);
    merge(v);
    fake_defrag ctx = {.has_cursor = true, .hurry = true};
    while (bf_value_defrag((RedisModuleDefragCtx *)&ctx, &v)) continue;
    add_and_ask(v);
    look_at(v);
    (void)bf_value_merge(copy, v, NULL);
    (void)bf_value_clear(v);
    bf_value_free(v);
    bf_value_free(copy);
}

/* A dump made to hurt took minutes.  A limit for what hangs: CPU time also differs between machines. */
static void use_quickly(bf_value *v) {
    struct timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    use(v);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    insist(end.tv_sec - begin.tv_sec <= 10, "what was loaded is used without hanging");
}

/* ---- Entry points ---- */

/* Corrects the checksums of consecutive headers. */
static void seal(uint8_t *head, size_t len) {
    for (size_t at = 0; len - at >= FIXED + SUM && memcmp(head + at, "UMBEL\x1a\r\n", 8) == 0;) {
        size_t header = umbeli_load_le32(head + at + 12);
        if (header < FIXED + SUM || header > len - at) return;
        umbeli_store_le64(head + at + header - SUM, umbeli_xxh3_64(head + at, header - SUM, 0));
        at += header;
    }
}

static void put_string(fake_io *io, const uint8_t *bytes, size_t len) {
    RedisModule_SaveStringBuffer((RedisModuleIO *)io, (const char *)bytes, len);
}

/* Head and bits as strings. */
static fake_io as_layers(uint8_t *bytes, size_t len) {
    fake_io io = {0};
    if (len < 2) return io;
    size_t head = umbeli_load_le16(bytes);
    bytes += 2;
    len -= 2;
    if (head > len) head = len;
    seal(bytes, head);
    put_string(&io, bytes, head);
    uint8_t *bits = bytes + head;
    len -= head;
    for (size_t at = 0; head - at >= FIXED + SUM;) {
        size_t header = umbeli_load_le32(bytes + at + 12);
        uint64_t said = umbeli_load_le64(bytes + at + 104);
        if (header < FIXED + SUM || header > head - at || said > len) break;
        put_string(&io, bits, (size_t)said);
        bits += said;
        len -= (size_t)said;
        at += header;
    }
    return io;
}

/* A compact head and bits as strings. */
static fake_io as_compact(const uint8_t *bytes, size_t len) {
    enum { ALWAYS = 128, SEALED = 16, MAGIC = 4, HEAD_MAX = 4096 };
    fake_io io = {0};
    uint8_t head_bytes[HEAD_MAX] = "UMBF";
    bf_head head;
    size_t some = len < HEAD_MAX - MAGIC ? len : HEAD_MAX - MAGIC;
    memcpy(head_bytes + MAGIC, bytes, some);
    head_bytes[MAGIC] = (uint8_t)((head_bytes[MAGIC] | ALWAYS) & ~SEALED);
    if (bf_head_read(head_bytes, some + MAGIC, &head, NULL)) return io;
    put_string(&io, head_bytes, head.len);
    bytes += head.len - MAGIC;
    len -= head.len - MAGIC;
    for (uint32_t i = 0; i < head.count && bf_head_bytes(&head, i) <= len; i++) {
        size_t said = (size_t)bf_head_bytes(&head, i);
        put_string(&io, bytes, said);
        bytes += said;
        len -= said;
    }
    return io;
}

static bf_value *load(unsigned way, int encver, uint8_t *bytes, size_t len) {
    bf_value *v = NULL;
    fake_io io;
    switch (way) {
    case RDB_REDISBLOOM: return fake_load(&fake_types[FAKE_REDISBLOOM], encver, bytes, len);
    case RDB_BLOCKED: return fake_load(&fake_types[FAKE_BLOCKED], encver, bytes, len);
    case LAYERS:
        io = as_layers(bytes, len);
        v = fake_load(&fake_types[FAKE_BLOCKED], BF_BLOCKED_ENCVER, io.bytes, io.len);
        fake_io_free(&io);
        return v;
    case COMPACT:
        io = as_compact(bytes, len);
        v = fake_load(&fake_types[FAKE_BLOCKED], BF_BLOCKED_ENCVER, io.bytes, io.len);
        fake_io_free(&io);
        return v;
    default:
        seal(bytes, len);
        if (way == HEAD) return bf_load_head(bytes, len, LIMIT, &v, NULL) ? NULL : v;
        return bf_load_whole(bytes, len, LIMIT, &v, NULL) ? NULL : v;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    static bool started;
    if (!started) fake_start();
    started = true;
    if (len < 2) return 0;
    unsigned way = bytes[0] % WAYS;
    int encver = bytes[1] % 8;
    uint8_t *own = some_bytes(len);
    memcpy(own, bytes, len);
    fake_heap = (fake_memory){0};
    bf_value *v = load(way, encver, own + 2, len - 2);
    insist(fake_heap.largest <= (way == HEAD ? LIMIT + 4096 : 4 * len + 65536),
           "no more memory is asked for than the input justifies");
    if (v) use_quickly(v);
    insist(fake_heap.pieces == 0, "all memory is given back");
    free(own);
    return 0;
}
