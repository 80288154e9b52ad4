/* SPDX-License-Identifier: MIT
 *
 * pg_error.c - the library's errors as PostgreSQL's, and its memory from memory contexts
 */
#include "pg_umbel.h"

#include <errno.h>
#include <math.h>

static int sqlstate_of(umbel_err err) {
    switch (err) {
    case UMBEL_EINVAL:
    case UMBEL_EMISMATCH: return ERRCODE_INVALID_PARAMETER_VALUE;
    case UMBEL_ENOMEM: return ERRCODE_OUT_OF_MEMORY;
    case UMBEL_ELIMIT:
    case UMBEL_EFULL: return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    case UMBEL_ECORRUPT:
    case UMBEL_EUNKNOWN: return ERRCODE_INVALID_BINARY_REPRESENTATION;
    case UMBEL_EVERSION:
    case UMBEL_EFROZEN:
    case UMBEL_ENOTSUP: return ERRCODE_FEATURE_NOT_SUPPORTED;
    case UMBEL_ESECRET: return ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
    default: return ERRCODE_INTERNAL_ERROR;
    }
}

static const char *hint_of(umbel_err err) {
    switch (err) {
    case UMBEL_ELIMIT:
        return "Give fewer keys or a higher rate, build one filter per partition, or build a file "
               "with the umbel command and ask it through umbel_file().";
    case UMBEL_EMISMATCH:
        return "Filters merge if they were made with the same kind, capacity, rate, seed, secret and "
               "recipe.";
    case UMBEL_EUNKNOWN: return "A value of type umbel is a native umbel file (.umb).";
    case UMBEL_ESECRET:
        return "Put the secret into a file of umbel.secret_directory on the server.";
    default: return NULL;
    }
}

void pgu_fail(umbel_err err, const umbel_diag *diag) {
    char text[512], size[64] = "";
    const char *hint = hint_of(err);
    umbel_explain(err, diag, text, sizeof text);
    if (err == UMBEL_ELIMIT && diag && diag->need) {
        strlcpy(text, "the filter is larger than a value that can be dumped", sizeof text);
        snprintf(size, sizeof size, "It needs " UINT64_FORMAT " bytes; a value holds at most %zu.",
                 (uint64)diag->need, (size_t)PGU_MAX_SIZE);
    }
    if (err == UMBEL_EIO && diag) errno = diag->sys;
    ereport(ERROR, (err == UMBEL_EIO ? errcode_for_file_access() : errcode(sqlstate_of(err)),
                    errmsg("%s", text), size[0] ? errdetail_internal("%s", size) : 0,
                    hint ? errhint("%s", hint) : 0));
}

uint64_t pgu_whole(double number, const char *what) {
    if (!(number >= 0 && number < 9.2e18 && number == floor(number))) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("%s: must be a whole number", what)));
    }
    return (uint64_t)number;
}

umbel_kind pgu_kind(const char *name) {
    umbel_kind kind = UMBEL_KIND_AUTO;
    if (!umbel_kind_named(name, &kind)) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("kind: there is no kind called \"%s\"", name)));
    }
    return kind;
}

static void *allocate(void *context, size_t size) {
    return MemoryContextAllocExtended(context, size, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
}

static void release(void *context, void *ptr) {
    (void)context;
    pfree(ptr);
}

umbel_opts pgu_opts(MemoryContext context) {
    static umbel_alloc alloc; /* the library copies it */
    alloc = (umbel_alloc){.alloc = allocate, .free = release, .ctx = context};
    /* Besides the bits a file holds a header, at most 1 MiB, and sums of 8 bytes per MiB. */
    return (umbel_opts){.alloc = &alloc, .max_bytes = PGU_MAX_SIZE - (2 << 20)};
}

const umbel_foreign pgu_native = {.format = UMBEL_FMT_NATIVE};

void pgu_insist_on_size(uint64_t size) {
    umbel_diag diag = {.need = size};
    if (size > PGU_MAX_SIZE) pgu_fail(UMBEL_ELIMIT, &diag);
}

struct varlena *pgu_encode(const umbel_filter *filter) {
    umbel_diag diag = {0};
    uint64_t size = umbel_encoded_size(filter, UMBEL_FMT_NATIVE);
    pgu_insist_on_size(size);
    struct varlena *value = palloc(VARHDRSZ + size);
    SET_VARSIZE(value, VARHDRSZ + size);
    umbel_err e = umbel_encode(filter, UMBEL_FMT_NATIVE, VARDATA(value), size, &diag);
    if (e) pgu_fail(e, &diag);
    return value;
}
