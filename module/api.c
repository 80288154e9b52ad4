/* SPDX-License-Identifier: MIT
 *
 * api.c - the pointers of api.h
 */
#include "api.h"

#define DEFINE(result, name, parameters) result(*RedisModule_##name) parameters;
BF_API_NEEDED(DEFINE)
BF_API_NEWER(DEFINE)

/* A context begins with the function that looks up the others: it writes the pointer through its
 * second argument, and leaves it untouched if the server does not know the name. */
typedef int (*get_api)(const char *name, void *pointer);

const char *bf_api_resolve(RedisModuleCtx *ctx) {
    get_api get = *(get_api *)(void *)ctx;
    const char *missing = NULL;
#define GET(result, name, parameters)                                                         \
    if (get("RedisModule_" #name, (void *)&RedisModule_##name) != REDISMODULE_OK && !missing) \
        missing = "RedisModule_" #name;
    BF_API_NEEDED(GET)
#undef GET
#define GET(result, name, parameters) (void)get("RedisModule_" #name, (void *)&RedisModule_##name);
    BF_API_NEWER(GET)
    return missing;
}
