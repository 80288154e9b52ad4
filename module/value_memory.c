/* SPDX-License-Identifier: MIT
 *
 * value_memory.c - the parts that a value has in the server's memory
 */
#include "api.h"
#include "chain.h"

uint64_t bf_value_memory(const bf_value *v) {
    uint64_t sum = RedisModule_MallocSize((void *)(uintptr_t)v);
    if (v->older) sum += RedisModule_MallocSize(v->older);
    for (uint32_t i = 0; i < bf_chain_count(v); i++) {
        umbel_filter *f = bf_chain_at(v, i);
        sum += RedisModule_MallocSize(f) + RedisModule_MallocSize(f->array.raw);
    }
    return sum;
}
