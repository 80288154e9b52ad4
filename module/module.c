/* SPDX-License-Identifier: MIT
 *
 * module.c - what the server calls when it loads umbel.so
 */
#include "api.h"
#include "umbel.h"

/* RedisBloom's name: clients ask MODULE LIST for it, and its settings are called bf.something. */
#define MODULE_NAME "bf"

static int module_version(void) {
    return UMBEL_VERSION_MAJOR * 10000 + UMBEL_VERSION_MINOR * 100 + UMBEL_VERSION_PATCH;
}

UMBEL_API int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    (void)argv, (void)argc;
    if (bf_api_resolve(ctx) || RedisModule_IsModuleNameBusy(MODULE_NAME)) return REDISMODULE_ERR;
    RedisModule_SetModuleAttribs(ctx, MODULE_NAME, module_version(), REDISMODULE_APIVER_1);
    RedisModule_SetModuleOptions(ctx, REDISMODULE_OPTIONS_HANDLE_IO_ERRORS);
    return REDISMODULE_OK;
}
