/* SPDX-License-Identifier: MIT */
#include "native_judge.h"

#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "subjects.h"
#include "umbel_foreign.h"
#include "watched_memory.h"

uint8_t *native_sample(umbel_kind kind, size_t *len) {
    umbel_params params = {.kind = kind, .bytes = 160, .seed = 3};
    if (kind == UMBEL_KIND_CLASSIC) params.hashes = 5;
    umbel_filter *f = NULL;
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    for (char c = 'a'; c <= 'z'; c++) assert_ok(umbel_add(f, &c, 1, NULL, NULL));
    assert_ok(umbel_set_meta(f, "name", "text", NULL));
    assert_ok(umbel_set_meta(f, "second", "more", NULL));
    uint8_t *bytes = bytes_of(f, len);
    umbel_free(f);
    return bytes;
}

uint8_t *exact_copy(const uint8_t *bytes, size_t len) {
    uint8_t *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    if (len) memcpy(copy, bytes, len);
    return copy;
}

/* A filter decoded from it must work: query it, fill it, encode it, decode that. */
static void use(umbel_filter *f) {
    umbel_info info;
    umbel_describe(f, &info);
    (void)measured(f);
    umbel_contains(f, "a", 1);
    assert_ok(umbel_add(f, "key", 3, NULL, NULL));
    assert_true(umbel_contains(f, "key", 3));
    size_t len;
    uint8_t *bytes = bytes_of(f, &len);
    umbel_filter *again = NULL;
    assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, &(umbel_foreign){.format = UMBEL_FMT_NATIVE},
                           NULL, &again, NULL));
    assert_same_bytes(f, again);
    umbel_free(again);
    free(bytes);
}

umbel_err native_verdict(const uint8_t *bytes, size_t len, umbel_diag *diag) {
    uint8_t *copy = exact_copy(bytes, len);
    watched_memory m;
    watch_memory(&m, 0);
    umbel_filter *f = NULL;
    *diag = (umbel_diag){.offset = UINT64_MAX};
    umbel_err e = umbel_decode(copy, len, UMBEL_LOAD, &(umbel_foreign){.format = UMBEL_FMT_NATIVE},
                               &m.opts, &f, diag);
    assert_true(m.peak <= len + 4096);
    assert_int_equal(umbel_decode(copy, len, UMBEL_VERIFY,
                                  &(umbel_foreign){.format = UMBEL_FMT_NATIVE}, NULL, NULL, NULL),
                     e);
    if (e) {
        assert_null(f);
        assert_true(e == UMBEL_ECORRUPT || e == UMBEL_EVERSION);
        assert_true(diag->what && diag->offset <= len);
    } else {
        use(f);
    }
    umbel_free(f);
    f = NULL;
    umbel_err seen = umbel_decode(copy, len, UMBEL_MAP,
                                  &(umbel_foreign){.format = UMBEL_FMT_NATIVE}, &m.opts, &f, NULL);
    if (!e) assert_int_equal(seen, UMBEL_OK);
    if (!seen) umbel_contains(f, "a", 1); /* harmless, whatever the bits are */
    umbel_free(f);
    assert_int_equal(m.blocks, 0);
    free(copy);
    return e;
}

void native_refused(const uint8_t *bytes, size_t len, umbel_err want, uint64_t offset) {
    umbel_diag diag;
    umbel_err e = native_verdict(bytes, len, &diag);
    if (e != want || diag.offset != offset) {
        fail_msg("%s at %d (%s), not %s at %d", umbel_err_name(e), (int)diag.offset,
                 sentence(&diag), umbel_err_name(want), (int)offset);
    }
}
