/* SPDX-License-Identifier: MIT
 *
 * test_sample.c - figures of large values come from a part of their bytes: the rest cannot be read
 */
#include <sys/mman.h>
#include <unistd.h>

#include "cases.h"
#include "fakeserver.h"
#include "value/value_unboxed.h"

/* 16 MiB of a value, 4 of each of its layers. */
enum { MOST = 16 << 20, MOST_OF_ONE = 4 << 20, KEYS = 1000 };

/* While a server loads, it takes what it is given, however much memory this machine has left. */
static int loading(RedisModuleCtx *ctx) {
    (void)ctx;
    return REDISMODULE_CTX_FLAGS_LOADING;
}

static bf_value *large_value(bf_params p) {
    bf_value *v = NULL;
    umbel_diag diag = {0};
    p.error = 0.01;
    p.capacity = 50 * 1000 * 1000;
    if (bf_value_create(&p, 0, &v, &diag)) fail_msg("%s", diag.what);
    for (uint32_t k = 0; k < KEYS; k++) {
        uint8_t was_new;
        size_t done;
        umbel_key key = {&k, sizeof k};
        assert_ok(bf_value_add(v, &key, 1, 0, &was_new, &done));
    }
    return v;
}

/* The pages behind the first bytes; returns how many bytes are in them. */
static size_t protect(uint8_t *bytes, uint64_t len, uint64_t first, int how) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)bytes + (uintptr_t)first + page - 1) / page * page;
    uintptr_t to = ((uintptr_t)bytes + (uintptr_t)len) / page * page;
    if (len <= first || to <= from) return 0;
    assert_int_equal(mprotect((void *)from, to - from, how), 0);
    return to - from;
}

static size_t protect_value(const bf_value *v, int how) {
    bf_room room;
    const umbel_filter *f = bf_value_filter(v, &room);
    if (!umbeli_is_chain(f)) return protect(f->data, f->data_len, MOST_OF_ONE, how);
    const umbeli_chain *c = umbeli_chain_of(f);
    uint64_t each = MOST / c->count < MOST_OF_ONE ? MOST / c->count : MOST_OF_ONE;
    size_t hidden = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        hidden += protect(c->layers[i].bits, c->layers[i].bytes, each, how);
    }
    return hidden;
}

static void large_values_are_sampled(void **state) {
    (void)state;
    fake_start();
    RedisModule_GetContextFlags = loading;
    static const bf_params shapes[] = {
        {.window = 255},  {.window = 8},    {.counting = true},
        {.expansion = 0}, {.expansion = 2}, {.layout = BF_REDISBLOOM, .expansion = 2},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        bf_value *v = large_value(shapes[i]);
        umbel_measurement now, of_layer = {0};
        assert_true(bf_value_bytes(v) > 55 * 1000 * 1000);
        assert_true(protect_value(v, PROT_NONE) > 32 << 20);
        bf_value_measure(v, &now);
        for (uint32_t l = 0; l < bf_value_layers(v); l++) bf_value_measure_layer(v, l, &of_layer);
        protect_value(v, PROT_READ | PROT_WRITE);
        assert_true(now.bits > 0 && of_layer.bits > 0);
        /* Counted as they were added, whatever the sample says. */
        assert_int_equal(bf_value_card(v), KEYS);
        bf_value_free(v);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_values_are_sampled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
