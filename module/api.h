/* SPDX-License-Identifier: MIT
 *
 * api.h - the part of the Redis and Valkey module API that this module uses
 *
 * A module looks up the server's functions by name when it is loaded; names, signatures and numbers
 * here are the interface of Redis 7.0 and later and of Valkey, which uses the same names.
 * bf_api_resolve fills in the pointers.  All of BF_API_NEEDED are then set; those of BF_API_NEWER,
 * which 7.0 does not have, may be NULL: test before use.
 */
#ifndef BF_API_H
#define BF_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct RedisModuleCtx RedisModuleCtx;
typedef struct RedisModuleKey RedisModuleKey;
typedef struct RedisModuleString RedisModuleString;
typedef struct RedisModuleType RedisModuleType;
typedef struct RedisModuleIO RedisModuleIO;
typedef struct RedisModuleDigest RedisModuleDigest;
typedef struct RedisModuleInfoCtx RedisModuleInfoCtx;
typedef struct RedisModuleServerInfoData RedisModuleServerInfoData;
typedef struct RedisModuleDefragCtx RedisModuleDefragCtx;
typedef struct RedisModuleCommand RedisModuleCommand;
typedef struct RedisModuleKeyOptCtx RedisModuleKeyOptCtx;
typedef struct RedisModuleBlockedClient RedisModuleBlockedClient;

enum {
    REDISMODULE_OK = 0,
    REDISMODULE_ERR = 1,
    REDISMODULE_APIVER_1 = 1,

    REDISMODULE_READ = 1,
    REDISMODULE_WRITE = 2,
    REDISMODULE_KEYTYPE_EMPTY = 0,
    REDISMODULE_KEYTYPE_MODULE = 6,

    REDISMODULE_CTX_FLAGS_LUA = 1 << 0,
    REDISMODULE_CTX_FLAGS_MULTI = 1 << 1,
    REDISMODULE_CTX_FLAGS_SLAVE = 1 << 3,
    REDISMODULE_CTX_FLAGS_CLUSTER = 1 << 5,
    REDISMODULE_CTX_FLAGS_AOF = 1 << 6,
    REDISMODULE_CTX_FLAGS_REPLICATED = 1 << 12,
    REDISMODULE_CTX_FLAGS_LOADING = 1 << 13,
    REDISMODULE_CTX_FLAGS_DENY_BLOCKING = 1 << 21,
    REDISMODULE_CTX_FLAGS_RESP3 = 1 << 22,
    REDISMODULE_CTX_FLAGS_ASYNC_LOADING = 1 << 23,

    REDISMODULE_NOTIFY_GENERIC = 1 << 2,
    REDISMODULE_NOTIFY_MODULE = 1 << 13,

    REDISMODULE_OPTIONS_HANDLE_IO_ERRORS = 1 << 0,
    REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED = 1 << 1,
    REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD = 1 << 2,
    VALKEYMODULE_OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION = 1 << 5, /* since 9.0 */

    REDISMODULE_YIELD_FLAG_CLIENTS = 1 << 1,

    REDISMODULE_EVENT_ROLE_CHANGED = 0,
    REDISMODULE_EVENT_REPLICA_CHANGE = 6,
    REDISMODULE_EVENT_FORK_CHILD = 13,
    REDISMODULE_SUBEVENT_REPLICA_CHANGE_ONLINE = 0,

    REDISMODULE_CONFIG_DEFAULT = 0,
    REDISMODULE_CONFIG_HIDDEN = 1 << 4,
    REDISMODULE_CONFIG_PROTECTED = 1 << 5,
    REDISMODULE_CONFIG_MEMORY = 1 << 7,
    REDISMODULE_CONFIG_UNPREFIXED = 1 << 9 /* since Redis 8.0 */
};

#define REDISMODULE_ERRORMSG_WRONGTYPE \
    "WRONGTYPE Operation against a key holding the wrong kind of value"

typedef int (*RedisModuleCmdFunc)(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
typedef void (*RedisModuleInfoFunc)(RedisModuleInfoCtx *ctx, int for_crash_report);

/* What a server calls for values of a type.  The order is the interface. */
enum { REDISMODULE_TYPE_METHOD_VERSION = 4 };
typedef struct RedisModuleTypeMethods {
    uint64_t version;
    void *(*rdb_load)(RedisModuleIO *rdb, int encver);
    void (*rdb_save)(RedisModuleIO *rdb, void *value);
    void (*aof_rewrite)(RedisModuleIO *aof, RedisModuleString *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(RedisModuleDigest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(RedisModuleIO *rdb, int encver, int when);
    void (*aux_save)(RedisModuleIO *rdb, int when);
    int aux_save_triggers;
    size_t (*free_effort)(RedisModuleString *key, const void *value);
    void (*unlink)(RedisModuleString *key, const void *value);
    void *(*copy)(RedisModuleString *from, RedisModuleString *to, const void *value);
    int (*defrag)(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **value);
    size_t (*mem_usage2)(RedisModuleKeyOptCtx *ctx, const void *value, size_t sample_size);
    size_t (*free_effort2)(RedisModuleKeyOptCtx *ctx, const void *value);
    void (*unlink2)(RedisModuleKeyOptCtx *ctx, const void *value);
    void *(*copy2)(RedisModuleKeyOptCtx *ctx, const void *value);
} RedisModuleTypeMethods;

/* Configuration: a setter that refuses writes its reason to *err, which the server frees. */
typedef RedisModuleString *(*RedisModuleConfigGetStringFunc)(const char *name, void *privdata);
typedef int (*RedisModuleConfigSetStringFunc)(const char *name, RedisModuleString *value,
                                              void *privdata, RedisModuleString **err);
typedef long long (*RedisModuleConfigGetNumericFunc)(const char *name, void *privdata);
typedef int (*RedisModuleConfigSetNumericFunc)(const char *name, long long value, void *privdata,
                                               RedisModuleString **err);
typedef int (*RedisModuleConfigGetEnumFunc)(const char *name, void *privdata);
typedef int (*RedisModuleConfigSetEnumFunc)(const char *name, int value, void *privdata,
                                            RedisModuleString **err);
typedef int (*RedisModuleConfigApplyFunc)(RedisModuleCtx *ctx, void *privdata,
                                          RedisModuleString **err);

/* What COMMAND DOCS and COMMAND INFO show.  A server steps through arrays by the sizes in the
 * version record, so newer members at the end of a struct do not disturb older servers. */
typedef struct RedisModuleCommandHistoryEntry {
    const char *since, *changes;
} RedisModuleCommandHistoryEntry;

enum {
    REDISMODULE_CMD_KEY_RO = 1 << 0,
    REDISMODULE_CMD_KEY_RW = 1 << 1,
    REDISMODULE_CMD_KEY_ACCESS = 1 << 4,
    REDISMODULE_CMD_KEY_UPDATE = 1 << 5,
    REDISMODULE_CMD_KEY_INSERT = 1 << 6,
    REDISMODULE_CMD_KEY_DELETE = 1 << 7
};
typedef enum { REDISMODULE_KSPEC_BS_INDEX = 2 } RedisModuleKeySpecBeginSearchType;
typedef enum { REDISMODULE_KSPEC_FK_RANGE = 2 } RedisModuleKeySpecFindKeysType;

typedef struct RedisModuleCommandKeySpec {
    const char *notes;
    uint64_t flags;
    RedisModuleKeySpecBeginSearchType begin_search_type;
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *keyword;
            int startfrom;
        } keyword;
    } bs;
    RedisModuleKeySpecFindKeysType find_keys_type;
    union {
        struct {
            int lastkey, keystep, limit;
        } range;
        struct {
            int keynumidx, firstkey, keystep;
        } keynum;
    } fk;
} RedisModuleCommandKeySpec;

typedef enum {
    REDISMODULE_ARG_TYPE_STRING,
    REDISMODULE_ARG_TYPE_INTEGER,
    REDISMODULE_ARG_TYPE_DOUBLE,
    REDISMODULE_ARG_TYPE_KEY,
    REDISMODULE_ARG_TYPE_PATTERN,
    REDISMODULE_ARG_TYPE_UNIX_TIME,
    REDISMODULE_ARG_TYPE_PURE_TOKEN,
    REDISMODULE_ARG_TYPE_ONEOF,
    REDISMODULE_ARG_TYPE_BLOCK
} RedisModuleCommandArgType;

enum { REDISMODULE_CMD_ARG_OPTIONAL = 1 << 0, REDISMODULE_CMD_ARG_MULTIPLE = 1 << 1 };

typedef struct RedisModuleCommandArg {
    const char *name;
    RedisModuleCommandArgType type;
    int key_spec_index;
    const char *token, *summary, *since;
    int flags;
    const char *deprecated_since;
    struct RedisModuleCommandArg *subargs;
    const char *display_text; /* since 7.2 */
} RedisModuleCommandArg;

typedef struct RedisModuleCommandInfoVersion {
    int version;
    size_t sizeof_historyentry, sizeof_keyspec, sizeof_arg;
} RedisModuleCommandInfoVersion;

typedef struct RedisModuleCommandInfo {
    const RedisModuleCommandInfoVersion *version;
    const char *summary, *complexity, *since;
    RedisModuleCommandHistoryEntry *history;
    const char *tips;
    int arity;
    RedisModuleCommandKeySpec *key_specs;
    RedisModuleCommandArg *args;
} RedisModuleCommandInfo;

/* clang-format off */
typedef struct RedisModuleEvent {
    uint64_t id, dataver;
} RedisModuleEvent;

#define BF_API_NEEDED(X) \
    X(void, SetModuleAttribs, (RedisModuleCtx *ctx, const char *name, int ver, int apiver)) \
    X(int, IsModuleNameBusy, (const char *name)) \
    X(void, SetModuleOptions, (RedisModuleCtx *ctx, int options)) \
    X(int, CreateCommand, (RedisModuleCtx *ctx, const char *name, RedisModuleCmdFunc func, \
                           const char *flags, int firstkey, int lastkey, int keystep)) \
    X(RedisModuleCommand *, GetCommand, (RedisModuleCtx *ctx, const char *name)) \
    X(int, SetCommandInfo, (RedisModuleCommand *command, const RedisModuleCommandInfo *info)) \
    X(RedisModuleType *, CreateDataType, (RedisModuleCtx *ctx, const char *name, int encver, \
                                          RedisModuleTypeMethods *methods)) \
    X(int, WrongArity, (RedisModuleCtx *ctx)) \
    X(RedisModuleKey *, OpenKey, (RedisModuleCtx *ctx, RedisModuleString *name, int mode)) \
    X(void, CloseKey, (RedisModuleKey *key)) \
    X(int, KeyType, (RedisModuleKey *key)) \
    X(long long, GetAbsExpire, (RedisModuleKey *key)) \
    X(int, SetExpire, (RedisModuleKey *key, long long milliseconds)) \
    X(long long, Milliseconds, (void)) \
    X(void, LatencyAddSample, (const char *event, long long milliseconds)) \
    X(RedisModuleType *, ModuleTypeGetType, (RedisModuleKey *key)) \
    X(void *, ModuleTypeGetValue, (RedisModuleKey *key)) \
    X(int, ModuleTypeSetValue, (RedisModuleKey *key, RedisModuleType *type, void *value)) \
    X(int, ModuleTypeReplaceValue, (RedisModuleKey *key, RedisModuleType *type, void *value, \
                                    void **old_value)) \
    X(const char *, StringPtrLen, (const RedisModuleString *string, size_t *len)) \
    X(int, StringToLongLong, (const RedisModuleString *string, long long *value)) \
    X(int, StringToDouble, (const RedisModuleString *string, double *value)) \
    X(RedisModuleString *, CreateString, (RedisModuleCtx *ctx, const char *bytes, size_t len)) \
    X(int, StringCompare, (const RedisModuleString *a, const RedisModuleString *b)) \
    X(void, RetainString, (RedisModuleCtx *ctx, RedisModuleString *string)) \
    X(void, FreeString, (RedisModuleCtx *ctx, RedisModuleString *string)) \
    X(int, ReplyWithLongLong, (RedisModuleCtx *ctx, long long value)) \
    X(int, ReplyWithBool, (RedisModuleCtx *ctx, int value)) \
    X(int, ReplyWithDouble, (RedisModuleCtx *ctx, double value)) \
    X(int, ReplyWithArray, (RedisModuleCtx *ctx, long len)) \
    X(int, ReplyWithMap, (RedisModuleCtx *ctx, long len)) \
    X(int, ReplyWithSimpleString, (RedisModuleCtx *ctx, const char *text)) \
    X(int, ReplyWithError, (RedisModuleCtx *ctx, const char *text)) \
    X(int, ReplyWithStringBuffer, (RedisModuleCtx *ctx, const char *bytes, size_t len)) \
    X(int, ReplyWithNull, (RedisModuleCtx *ctx)) \
    X(int, Replicate, (RedisModuleCtx *ctx, const char *command, const char *format, ...)) \
    X(int, ReplicateVerbatim, (RedisModuleCtx *ctx)) \
    X(int, NotifyKeyspaceEvent, (RedisModuleCtx *ctx, int type, const char *event, \
                                 RedisModuleString *key)) \
    X(int, SignalModifiedKey, (RedisModuleCtx *ctx, RedisModuleString *key)) \
    X(int, GetContextFlags, (RedisModuleCtx *ctx)) \
    X(int, GetSelectedDb, (RedisModuleCtx *ctx)) \
    X(int, SelectDb, (RedisModuleCtx *ctx, int db)) \
    X(RedisModuleBlockedClient *, BlockClient, (RedisModuleCtx *ctx, RedisModuleCmdFunc reply, \
        RedisModuleCmdFunc timeout, void (*free_privdata)(RedisModuleCtx *ctx, void *privdata), \
        long long milliseconds)) \
    X(int, UnblockClient, (RedisModuleBlockedClient *client, void *privdata)) \
    X(int, AbortBlock, (RedisModuleBlockedClient *client)) \
    X(int, IsBlockedReplyRequest, (RedisModuleCtx *ctx)) \
    X(void *, GetBlockedClientPrivateData, (RedisModuleCtx *ctx)) \
    X(RedisModuleCtx *, GetDetachedThreadSafeContext, (RedisModuleCtx *ctx)) \
    X(void, FreeThreadSafeContext, (RedisModuleCtx *ctx)) \
    X(int, AvoidReplicaTraffic, (void)) \
    X(uint64_t, CreateTimer, (RedisModuleCtx *ctx, long long milliseconds, \
                              void (*callback)(RedisModuleCtx *ctx, void *data), void *data)) \
    X(void, Yield, (RedisModuleCtx *ctx, int flags, const char *busy_reply)) \
    X(int, SubscribeToKeyspaceEvents, (RedisModuleCtx *ctx, int types, \
        int (*callback)(RedisModuleCtx *ctx, int type, const char *event, RedisModuleString *key))) \
    X(int, SubscribeToServerEvent, (RedisModuleCtx *ctx, RedisModuleEvent event, \
        void (*callback)(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t sub, void *data))) \
    X(void *, Alloc, (size_t size)) \
    X(void *, TryAlloc, (size_t size)) \
    X(void *, Calloc, (size_t count, size_t size)) \
    X(void, Free, (void *ptr)) \
    X(size_t, MallocSize, (void *ptr)) \
    X(float, GetUsedMemoryRatio, (void)) \
    X(void, SaveUnsigned, (RedisModuleIO *io, uint64_t value)) \
    X(uint64_t, LoadUnsigned, (RedisModuleIO *io)) \
    X(void, SaveDouble, (RedisModuleIO *io, double value)) \
    X(double, LoadDouble, (RedisModuleIO *io)) \
    X(void, SaveStringBuffer, (RedisModuleIO *io, const char *bytes, size_t len)) \
    X(char *, LoadStringBuffer, (RedisModuleIO *io, size_t *len)) \
    X(int, IsIOError, (RedisModuleIO *io)) \
    X(void, LogIOError, (RedisModuleIO *io, const char *level, const char *format, ...)) \
    X(void, EmitAOF, (RedisModuleIO *io, const char *command, const char *format, ...)) \
    X(void, DigestAddStringBuffer, (RedisModuleDigest *digest, const char *bytes, size_t len)) \
    X(void, DigestEndSequence, (RedisModuleDigest *digest)) \
    X(void *, DefragAlloc, (RedisModuleDefragCtx *ctx, void *ptr)) \
    X(int, DefragShouldStop, (RedisModuleDefragCtx *ctx)) \
    X(int, DefragCursorSet, (RedisModuleDefragCtx *ctx, unsigned long cursor)) \
    X(int, DefragCursorGet, (RedisModuleDefragCtx *ctx, unsigned long *cursor)) \
    X(int, RegisterInfoFunc, (RedisModuleCtx *ctx, RedisModuleInfoFunc func)) \
    X(int, InfoAddSection, (RedisModuleInfoCtx *ctx, const char *name)) \
    X(int, InfoAddFieldULongLong, (RedisModuleInfoCtx *ctx, const char *field, \
                                   unsigned long long value)) \
    X(int, RegisterNumericConfig, (RedisModuleCtx *ctx, const char *name, long long value, \
        unsigned int flags, long long min, long long max, RedisModuleConfigGetNumericFunc get, \
        RedisModuleConfigSetNumericFunc set, RedisModuleConfigApplyFunc apply, void *privdata)) \
    X(int, RegisterStringConfig, (RedisModuleCtx *ctx, const char *name, const char *value, \
        unsigned int flags, RedisModuleConfigGetStringFunc get, \
        RedisModuleConfigSetStringFunc set, RedisModuleConfigApplyFunc apply, void *privdata)) \
    X(int, RegisterEnumConfig, (RedisModuleCtx *ctx, const char *name, int value, \
        unsigned int flags, const char **names, const int *values, int count, \
        RedisModuleConfigGetEnumFunc get, RedisModuleConfigSetEnumFunc set, \
        RedisModuleConfigApplyFunc apply, void *privdata)) \
    X(int, LoadConfigs, (RedisModuleCtx *ctx)) \
    X(RedisModuleServerInfoData *, GetServerInfo, (RedisModuleCtx *ctx, const char *section)) \
    X(void, FreeServerInfo, (RedisModuleCtx *ctx, RedisModuleServerInfoData *data)) \
    X(unsigned long long, ServerInfoGetFieldUnsigned, (RedisModuleServerInfoData *data, \
                                                       const char *field, int *failed)) \
    X(void, Log, (RedisModuleCtx *ctx, const char *level, const char *format, ...)) \
    X(void, GetRandomBytes, (unsigned char *bytes, size_t len))

#define BF_API_NEWER(X) \
    X(int, AddACLCategory, (RedisModuleCtx *ctx, const char *name)) \
    X(int, LoadDefaultConfigs, (RedisModuleCtx *ctx)) \
    X(int, MustObeyClient, (RedisModuleCtx *ctx)) \
    X(int, SetCommandACLCategories, (RedisModuleCommand *command, const char *categories)) \
    X(void *, TryCalloc, (size_t count, size_t size))
/* clang-format on */

#define BF_API_DECLARE(result, name, parameters) extern result(*RedisModule_##name) parameters;
BF_API_NEEDED(BF_API_DECLARE)
BF_API_NEWER(BF_API_DECLARE)
#undef BF_API_DECLARE

/* Looks up every function above.  NULL, or the name of the first needed one that the server does
 * not have, in which case no pointer may be used. */
const char *bf_api_resolve(RedisModuleCtx *ctx);

#endif
