/* SPDX-License-Identifier: MIT */
#include "fakeserver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "storage/types.h"
#include "value/server_memory.h"

fake_memory fake_heap;
fake_type fake_types[FAKE_TYPES];

/* ---- Memory ---- */

/* Precedes every piece.  Pieces start at all the offsets within a cache line that malloc's have. */
typedef struct tag {
    uint64_t size;
    uint32_t magic, shift;
} tag;
enum { MAGIC = 0x5ca1ab1e, STEP = 16, LINE = 64 };

static void must(bool condition) {
    if (!condition) abort();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the module has threads */

/* Counts a piece that is taken (1) or given back (-1). */
static uint32_t count(int pieces, size_t size) {
    static uint32_t turn;
    pthread_mutex_lock(&lock);
    fake_heap.pieces += (uint64_t)pieces;
    fake_heap.bytes += (uint64_t)pieces * size;
    uint32_t shift = turn = (turn + STEP) % LINE;
    pthread_mutex_unlock(&lock);
    return shift;
}

static void *take(size_t size) {
    uint8_t *base = size <= SIZE_MAX / 2 ? malloc(sizeof(tag) + LINE + size) : NULL;
    if (!base) return NULL;
    uint32_t shift = count(1, size);
    tag *t = (tag *)(void *)(base + shift);
    *t = (tag){size, MAGIC, shift};
    memset(t + 1, 0xa5, size < 4096 ? size : 4096);
    return t + 1;
}

static tag *tag_of(void *ptr) {
    tag *t = (tag *)ptr - 1;
    must(t->magic == MAGIC);
    return t;
}

static void *must_take(size_t size) {
    void *ptr = take(size);
    must(ptr);
    return ptr;
}

static void *try_take(size_t size) {
    pthread_mutex_lock(&lock);
    fake_heap.allocations++;
    if (size > fake_heap.largest) fake_heap.largest = size;
    bool failing = fake_heap.fail_at && --fake_heap.fail_at == 0;
    if (failing) fake_heap.fail_at = 1; /* and so do all that follow */
    if (fake_heap.limit && size > fake_heap.limit) failing = true;
    pthread_mutex_unlock(&lock);
    return failing ? NULL : take(size);
}

static void *try_take_zeroed(size_t count, size_t size) {
    void *ptr = try_take(count * size);
    return ptr ? memset(ptr, 0, count * size) : NULL;
}

static void *must_take_zeroed(size_t count, size_t size) {
    return memset(must_take(count * size), 0, count * size);
}

static void give_back(void *ptr) {
    if (!ptr) return;
    tag *t = tag_of(ptr);
    t->magic = 0;
    (void)count(-1, t->size);
    free((uint8_t *)t - t->shift);
}

static size_t size_of(void *ptr) {
    return (size_t)tag_of(ptr)->size;
}

/* ---- Types ---- */

static RedisModuleType *create_type(RedisModuleCtx *ctx, const char *name, int encver,
                                    RedisModuleTypeMethods *methods) {
    (void)ctx;
    int i = strcmp(name, "umbel-bf-") == 0   ? FAKE_BLOCKED
            : strcmp(name, "umbel-cl-") == 0 ? FAKE_CLASSIC
                                             : FAKE_REDISBLOOM;
    fake_types[i] = (fake_type){name, encver, *methods};
    return (RedisModuleType *)&fake_types[i];
}

/* ---- Input and output ---- */

enum { OP_UINT = 2, OP_DOUBLE = 4, OP_STRING = 5 };

static void put(fake_io *io, const void *bytes, size_t len) {
    if (len > io->cap - io->len) {
        io->cap = 2 * io->cap + len + 64;
        io->bytes = realloc(io->bytes, io->cap);
        must(io->bytes);
    }
    if (len) memcpy(io->bytes + io->len, bytes, len);
    io->len += len;
}

static void put_length(fake_io *io, uint64_t n) {
    uint8_t b[9] = {(uint8_t)n};
    size_t len = 1;
    if (n >= 64 && n < 16384) {
        b[0] = (uint8_t)(0x40 | n >> 8);
        b[1] = (uint8_t)n;
        len = 2;
    } else if (n >= 16384) {
        bool wide = n > UINT32_MAX;
        b[0] = wide ? 0x81 : 0x80;
        len = wide ? 9 : 5;
        for (size_t i = 1; i < len; i++) b[i] = (uint8_t)(n >> 8 * (len - 1 - i));
    }
    put(io, b, len);
}

static const uint8_t *get(fake_io *io, size_t len) {
    if (io->failed || len > io->len - io->pos) {
        io->failed = true;
        return NULL;
    }
    io->pos += len;
    return io->bytes + io->pos - len;
}

static uint64_t get_length(fake_io *io) {
    const uint8_t *b = get(io, 1);
    if (!b) return 0;
    if (b[0] < 0x40) return b[0];
    size_t more = b[0] < 0x80 ? 1 : b[0] == 0x80 ? 4 : b[0] == 0x81 ? 8 : 0;
    uint64_t n = b[0] < 0x80 ? b[0] & 0x3f : 0;
    const uint8_t *rest = more ? get(io, more) : NULL;
    if (!rest) {
        io->failed = true;
        return 0;
    }
    for (size_t i = 0; i < more; i++) n = n << 8 | rest[i];
    return n;
}

static bool expect(fake_io *io, uint64_t opcode) {
    if (get_length(io) != opcode) io->failed = true;
    return !io->failed;
}

static void save_unsigned(RedisModuleIO *io, uint64_t n) {
    put_length((fake_io *)io, OP_UINT);
    put_length((fake_io *)io, n);
}

static uint64_t load_unsigned(RedisModuleIO *io) {
    return expect((fake_io *)io, OP_UINT) ? get_length((fake_io *)io) : 0;
}

static void save_double(RedisModuleIO *io, double x) {
    put_length((fake_io *)io, OP_DOUBLE);
    put((fake_io *)io, &x, sizeof x);
}

static double load_double(RedisModuleIO *io) {
    double x = 0;
    const uint8_t *b = expect((fake_io *)io, OP_DOUBLE) ? get((fake_io *)io, sizeof x) : NULL;
    if (b) memcpy(&x, b, sizeof x);
    return x;
}

static void save_string(RedisModuleIO *io, const char *bytes, size_t len) {
    put_length((fake_io *)io, OP_STRING);
    put_length((fake_io *)io, len);
    put((fake_io *)io, bytes, len);
}

static char *load_string(RedisModuleIO *io, size_t *len) {
    fake_io *f = (fake_io *)io;
    uint64_t n = expect(f, OP_STRING) ? get_length(f) : 0;
    const uint8_t *b = f->failed ? NULL : get(f, (size_t)n);
    if (!b) return NULL;
    char *copy = must_take(n ? (size_t)n : 1);
    memcpy(copy, b, (size_t)n);
    *len = (size_t)n;
    return copy;
}

static int is_io_error(RedisModuleIO *io) {
    return ((fake_io *)io)->failed;
}

static void log_io_error(RedisModuleIO *io, const char *level, const char *format, ...) {
    (void)level, (void)format;
    ((fake_io *)io)->logged++;
}

void fake_io_free(fake_io *io) {
    free(io->bytes);
    *io = (fake_io){0};
}

void *fake_load(const fake_type *type, int encver, const uint8_t *bytes, size_t len) {
    fake_io io = {.bytes = (uint8_t *)(uintptr_t)bytes, .len = len};
    void *value = type->methods.rdb_load((RedisModuleIO *)&io, encver);
    if (value && io.pos != io.len) { /* the server would trip over the rest */
        type->methods.free(value);
        return NULL;
    }
    must((value != NULL) != (io.logged > 0)); /* a failed load logs the reason */
    return value;
}

/* ---- Digest ---- */

static void digest_string(RedisModuleDigest *digest, const char *bytes, size_t len) {
    uint64_t *sum = (uint64_t *)digest;
    for (size_t i = 0; i < len; i++) *sum = (*sum ^ (uint8_t)bytes[i]) * UINT64_C(0x100000001b3);
}

static void digest_end(RedisModuleDigest *digest) {
    *(uint64_t *)digest ^= 0xff;
}

uint64_t fake_digest(const fake_type *type, void *value) {
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    type->methods.digest((RedisModuleDigest *)&sum, value);
    return sum;
}

/* ---- Defragmentation ---- */

static void *defrag_alloc(RedisModuleDefragCtx *ctx, void *ptr) {
    size_t size = size_of(ptr);
    void *elsewhere = must_take(size);
    memcpy(elsewhere, ptr, size);
    memset(ptr, 0xdd, size);
    give_back(ptr);
    ((fake_defrag *)ctx)->moved++;
    return elsewhere;
}

static int defrag_should_stop(RedisModuleDefragCtx *ctx) {
    return ((fake_defrag *)ctx)->hurry;
}

static int defrag_cursor_set(RedisModuleDefragCtx *ctx, unsigned long cursor) {
    fake_defrag *d = (fake_defrag *)ctx;
    if (!d->has_cursor) return REDISMODULE_ERR;
    d->cursor = cursor;
    return REDISMODULE_OK;
}

static int defrag_cursor_get(RedisModuleDefragCtx *ctx, unsigned long *cursor) {
    const fake_defrag *d = (const fake_defrag *)ctx;
    if (!d->has_cursor) return REDISMODULE_ERR;
    *cursor = d->cursor;
    return REDISMODULE_OK;
}

/* ---- What only the thread that serves clients may ask ---- */

static pthread_t serving;

static int context_flags(RedisModuleCtx *ctx) {
    (void)ctx;
    must(pthread_equal(pthread_self(), serving));
    return 0;
}

static float used_memory_ratio(void) {
    must(pthread_equal(pthread_self(), serving));
    return 1;
}

void fake_start(void) {
    serving = pthread_self();
    bf_memory_register();
    RedisModule_GetContextFlags = context_flags;
    RedisModule_GetUsedMemoryRatio = used_memory_ratio;
    RedisModule_Alloc = must_take;
    RedisModule_TryAlloc = try_take;
    RedisModule_Calloc = must_take_zeroed;
    RedisModule_TryCalloc = try_take_zeroed;
    RedisModule_Free = give_back;
    RedisModule_MallocSize = size_of;
    RedisModule_CreateDataType = create_type;
    RedisModule_SaveUnsigned = save_unsigned;
    RedisModule_LoadUnsigned = load_unsigned;
    RedisModule_SaveDouble = save_double;
    RedisModule_LoadDouble = load_double;
    RedisModule_SaveStringBuffer = save_string;
    RedisModule_LoadStringBuffer = load_string;
    RedisModule_IsIOError = is_io_error;
    RedisModule_LogIOError = log_io_error;
    RedisModule_DigestAddStringBuffer = digest_string;
    RedisModule_DigestEndSequence = digest_end;
    RedisModule_DefragAlloc = defrag_alloc;
    RedisModule_DefragShouldStop = defrag_should_stop;
    RedisModule_DefragCursorSet = defrag_cursor_set;
    RedisModule_DefragCursorGet = defrag_cursor_get;
    must(bf_types_register(NULL) == REDISMODULE_OK);
}
