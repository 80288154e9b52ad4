/* SPDX-License-Identifier: MIT
 *
 * pg_cache.c - the filter in an argument, decoded once
 *
 * A filter of 6 MB lies in 3,000 rows of a TOAST table.  A query that looks up a million keys calls
 * our function a million times with the same pointer to them, so decoded filters are kept, up to
 * umbel.cache_size per session; the least recently used ones go first.
 *
 * How a value is identified:
 *   in a TOAST table  its number there.  Within a transaction the number means one value only; in a
 *                     later one the filter's last eight bytes, a checksum over everything, are read
 *                     and compared, which takes one row instead of 3,000.
 *   in memory         its address, length and checksum, until the end of the transaction.
 *   a mapped file     is already open (umbel_file).
 */
#include "pg_umbel.h"

#include "access/detoast.h"
#include "access/xact.h"
#include "common/hashfn.h"
#include "lib/ilist.h"
#include "storage/proc.h"
#include "utils/expandeddatum.h"
#include "utils/hsearch.h"

typedef struct identity {
    uint64 place; /* TOAST: relation and number; memory: the address */
    uint64 size;  /* TOAST: as the pointer says it; memory: in bytes */
    uint64 sum;   /* memory: the checksum; TOAST: 0                  */
} identity;

typedef struct cached {
    identity id;
    uint64 sum;
    LocalTransactionId seen; /* the transaction that last compared the checksum */
    bool in_memory;
    pgu_asked asked;
    MemoryContext context; /* the filter's */
    Size bytes;
    dlist_node used; /* most recently used first */
} cached;

static MemoryContext cache_context;
static HTAB *cache;
static dlist_head by_use = DLIST_STATIC_INIT(by_use);
static Size cache_bytes;
static uint64 evictions;

/* What a call site remembers: most calls query the same filter as the call before. */
typedef struct call_site {
    cached *last;
    uint64 evictions;
    LocalTransactionId transaction;
} call_site;

static LocalTransactionId transaction_now(void) {
#if PG_VERSION_NUM >= 170000
    return MyProc->vxid.lxid;
#else
    return MyProc->lxid;
#endif
}

static void evict(cached *c) {
    dlist_delete(&c->used);
    cache_bytes -= c->bytes;
    evictions++;
    MemoryContextDelete(c->context);
    hash_search(cache, &c->id, HASH_REMOVE, NULL);
}

static void make_room(Size bytes) {
    Size limit = (Size)pgu_cache_kb * 1024;
    while (!dlist_is_empty(&by_use) && cache_bytes + bytes > limit) {
        evict(dlist_tail_element(cached, used, &by_use));
    }
}

/* Addresses mean nothing after the transaction, and a filter beyond the limit was for one query. */
static void end_transaction(XactEvent event, void *unused) {
    dlist_mutable_iter i;
    (void)unused;
    if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE &&
        event != XACT_EVENT_PARALLEL_COMMIT && event != XACT_EVENT_PARALLEL_ABORT) {
        return;
    }
    dlist_foreach_modify(i, &by_use) {
        cached *c = dlist_container(cached, used, i.cur);
        if (c->in_memory) evict(c);
    }
    make_room(0);
}

void pgu_define_cache(void) {
    HASHCTL how = {.keysize = sizeof(identity), .entrysize = sizeof(cached)};
    cache_context =
        AllocSetContextCreate(TopMemoryContext, "umbel filters", ALLOCSET_DEFAULT_SIZES);
    how.hcxt = cache_context;
    cache = hash_create("umbel filters", 64, &how, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
    RegisterXactCallback(end_transaction, NULL);
}

static void free_lookup(void *lookup) {
    umbel_lookup_free(lookup);
}

pgu_asked pgu_asked_of(const umbel_filter *filter, MemoryContext context) {
    umbel_lookup *lookup = NULL;
    umbel_diag diag = {0};
    MemoryContextCallback *end = MemoryContextAllocZero(context, sizeof *end);
    umbel_err e = umbel_lookup_new(filter, NULL, &lookup, &diag);
    if (e) pgu_fail(e, &diag);
    *end = (MemoryContextCallback){.func = free_lookup, .arg = lookup};
    MemoryContextRegisterResetCallback(context, end);
    const umbel_recipe *recipe = umbel_lookup_recipe(lookup);
    bool line = umbel_recipe_traits(recipe) & UMBEL_RECIPE_LINE;
    return (pgu_asked){filter, lookup, line ? NULL : recipe};
}

static uint64 last_word(const struct varlena *value) {
    uint64 word = 0;
    size_t len = VARSIZE_ANY_EXHDR(value);
    if (len >= sizeof word) memcpy(&word, VARDATA_ANY(value) + len - sizeof word, sizeof word);
    return word;
}

static identity identity_of(const struct varlena *value) {
    identity id = {0};
    if (VARATT_IS_EXTERNAL_ONDISK(value)) {
        struct varatt_external pointer;
        VARATT_EXTERNAL_GET_POINTER(pointer, value);
        id.place = (uint64)pointer.va_toastrelid << 32 | pointer.va_valueid;
        id.size = (uint64)pointer.va_rawsize << 32 | pointer.va_extinfo;
    } else {
        id.place = (uint64)(uintptr_t)value;
        id.size = VARSIZE_ANY(value);
        /* For a compressed value these are the last compressed bytes, which depend on all others.
         */
        id.sum = last_word(value);
    }
    return id;
}

/* Whether a value in a TOAST table is still the one that was decoded in an earlier transaction. */
static bool same_sum(const struct varlena *value, const cached *c) {
    struct varatt_external pointer;
    VARATT_EXTERNAL_GET_POINTER(pointer, value);
    if (VARATT_EXTERNAL_IS_COMPRESSED(pointer)) return false;
    int32 size = pointer.va_rawsize - VARHDRSZ;
    struct varlena *end = detoast_attr_slice(unconstify(struct varlena *, value), size - 8, 8);
    bool same = last_word(end) == c->sum;
    pfree(end);
    return same;
}

static cached *find(const struct varlena *value, const identity *id) {
    cached *c = hash_search(cache, id, HASH_FIND, NULL);
    if (c && c->seen != transaction_now()) {
        if (c->in_memory || !same_sum(value, c)) {
            evict(c);
            return NULL;
        }
        c->seen = transaction_now();
    }
    return c;
}

/* Decodes, which also compares every checksum, into an aligned copy. */
static cached *load(struct varlena *value, const identity *id) {
    struct varlena *plain = detoast_attr(value);
    make_room(VARSIZE_ANY(plain));
    MemoryContext context =
        AllocSetContextCreate(CurrentMemoryContext, "umbel filter", ALLOCSET_SMALL_SIZES);
    umbel_filter *filter = pgu_open(UMBEL_LOAD, plain, context);
    pgu_asked asked = pgu_asked_of(filter, context);
    cached *c = hash_search(cache, id, HASH_ENTER, NULL);
    MemoryContextSetParent(context, cache_context); /* until here an error frees it */
    c->sum = last_word(plain);
    c->seen = transaction_now();
    c->in_memory = !VARATT_IS_EXTERNAL_ONDISK(value);
    c->asked = asked;
    c->context = context;
    c->bytes = MemoryContextMemAllocated(context, true);
    cache_bytes += c->bytes;
    dlist_push_head(&by_use, &c->used);
    if (plain != value) pfree(plain);
    return c;
}

/* ---- mapped files -------------------------------------------------------------------------- */

typedef struct mapped {
    ExpandedObjectHeader head;
    umbel_filter *filter;
    pgu_asked asked;
    MemoryContextCallback closing;
} mapped;

static Size flat_size(ExpandedObjectHeader *head) {
    uint64_t size = umbel_encoded_size(((mapped *)head)->filter, UMBEL_FMT_NATIVE);
    umbel_diag diag = {.what = "the file cannot be copied into a value"};
    if (size == 0) pgu_fail(UMBEL_ENOTSUP, &diag);
    pgu_insist_on_size(size);
    return size + VARHDRSZ;
}

static void flatten(ExpandedObjectHeader *head, void *result, Size size) {
    umbel_diag diag = {0};
    umbel_err e = umbel_encode(((mapped *)head)->filter, UMBEL_FMT_NATIVE, VARDATA(result),
                               size - VARHDRSZ, &diag);
    if (e) pgu_fail(e, &diag);
    SET_VARSIZE(result, size);
}

static const ExpandedObjectMethods mapped_methods = {flat_size, flatten};

static void close_mapped(void *m) {
    umbel_free(((mapped *)m)->filter);
}

Datum pgu_mapped(umbel_filter *filter, MemoryContext context) {
    mapped *m = MemoryContextAllocZero(context, sizeof *m);
    EOH_init_header(&m->head, &mapped_methods, context);
    m->filter = filter;
    m->closing = (MemoryContextCallback){.func = close_mapped, .arg = m};
    MemoryContextRegisterResetCallback(context, &m->closing);
    m->asked = pgu_asked_of(filter, context);
    return EOHPGetRODatum(&m->head);
}

/* ---- arguments ----------------------------------------------------------------------------- */

const pgu_asked *pgu_filter(FunctionCallInfo fcinfo, int arg) {
    struct varlena *value = (struct varlena *)PG_GETARG_POINTER(arg);
    call_site *site = fcinfo->flinfo->fn_extra;
    if (VARATT_IS_EXTERNAL_EXPANDED(value)) {
        ExpandedObjectHeader *head = DatumGetEOHP(PointerGetDatum(value));
        if (head->eoh_methods == &mapped_methods) return &((mapped *)head)->asked;
    }
    if (!site) {
        site = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof *site);
        fcinfo->flinfo->fn_extra = site;
    }
    identity id = identity_of(value);
    if (site->last && site->evictions == evictions && site->transaction == transaction_now() &&
        memcmp(&site->last->id, &id, sizeof id) == 0) {
        return &site->last->asked;
    }
    cached *c = find(value, &id);
    if (!c) c = load(value, &id);
    dlist_move_head(&by_use, &c->used);
    *site = (call_site){c, evictions, transaction_now()};
    return &c->asked;
}
