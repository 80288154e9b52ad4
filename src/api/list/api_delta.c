/* SPDX-License-Identifier: MIT
 *
 * api_delta.c - small updates of a list: built, described, put beside its filter
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "api/file_stream.h"
#include "api/list/owned_lookup.h"
#include "core/diag.h"
#include "core/mapping.h"
#include "core/memory.h"
#include "format/delta/delta_build.h"
#include "format/delta/delta_parts.h"
#include "format/native/native_header.h"
#include "hash/native_hash.h"
#include "kind/static/static_store.h"
#include "recipe/recipe.h"
#include "umbel_delta.h"

enum { BATCH = 512 };

static const umbeli_settings plain = {.threads = 1};

static umbel_err no_memory(umbel_diag *diag) {
    return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a delta");
}

static umbel_delta_info info_of(const umbeli_delta_sums *s) {
    return (umbel_delta_info){.number = s->last.number,
                              .added = s->added,
                              .removed = s->removed,
                              .guarded = s->guarded,
                              .keys = s->last.keys,
                              .bytes = s->bytes,
                              .fpr = s->fpr,
                              .base = s->last.base.trailer,
                              .before = s->last.before,
                              .sum = s->last.sum};
}

umbel_err umbel_delta_read(const void *bytes, size_t len, umbel_delta_info *info,
                           umbel_diag *diag) {
    umbeli_delta d;
    umbeli_delta_sums sums = {.added = 0};
    umbel_filter *decider = NULL;
    umbel_err e = umbeli_delta_read(bytes, len, &d, diag);
    if (!e) e = umbeli_delta_decider(&d, &plain, &decider, diag);
    umbel_free(decider);
    if (e) return e;
    umbeli_delta_count(&sums, &d);
    *info = info_of(&sums);
    return UMBEL_OK;
}

/* ---- building ----------------------------------------------------------------------------- */

typedef struct hashes {
    uint64_t *at;
    size_t n, room;
} hashes;

struct umbel_delta {
    umbeli_settings settings;
    const umbel_lookup *from;
    umbeli_delta delta;
    hashes old, now, good, found;
    uint64_t strange; /* keys of the list before that the list does not have */
    uint8_t *bytes;
};

/* The base that a lookup's filter came from. */
static umbeli_delta_base base_of(const umbel_filter *f) {
    return (umbeli_delta_base){f->file_sums[0], f->file_sums[1]};
}

static bool is_file(const umbel_filter *f) {
    return f->file_sums[0] || f->file_sums[1];
}

static umbel_err reserve(const umbeli_settings *settings, hashes *h, size_t more,
                         umbel_diag *diag) {
    if (h->room - h->n >= more) return UMBEL_OK;
    size_t room = h->room < 1024 ? 1024 : 2 * h->room;
    while (room < h->n + more) room *= 2;
    uint64_t *at = umbeli_new(settings, room * sizeof *at);
    if (!at) return no_memory(diag);
    if (h->n) memcpy(at, h->at, h->n * sizeof *at);
    umbeli_delete(settings, h->at);
    h->at = at;
    h->room = room;
    return UMBEL_OK;
}

static umbel_err add_exceptions(umbel_delta *d, umbel_diag *diag) {
    const umbeli_exceptions *x = umbel_lookup_filter(d->from)->exceptions;
    if (!x) return UMBEL_OK;
    umbel_err e = reserve(&d->settings, &d->good, x->count, diag);
    if (!e) memcpy(d->good.at, x->hashes, x->count * sizeof *x->hashes);
    if (!e) d->good.n = x->count;
    return e;
}

/* An exact base's rate is that of strangers alone, and often some percent; but to a delta the keys
 * that left before it are strangers, too.  This one takes 15 bits for each key that came. */
static double usual_rate(const umbel_filter *f) {
    const double most = 1e-4;
    bool exact = f->shape.kind == UMBEL_KIND_EXACT;
    return exact && !(f->shape.fpr > 0 && f->shape.fpr < most) ? most : f->shape.fpr;
}

static umbel_err check_base(const umbel_lookup *from, double fpr, umbel_diag *diag) {
    const umbel_filter *f = umbel_lookup_filter(from);
    if (!f || !is_file(f)) return umbeli_invalid(diag, "from: must be a native file");
    if (fpr == 0) fpr = usual_rate(f);
    if (!(fpr > 0 && fpr < 1)) {
        return umbeli_invalid(diag, "fpr: must be given, since the base promises none");
    }
    return UMBEL_OK;
}

umbel_err umbel_delta_new(const umbel_lookup *from, double fpr, umbel_delta **out,
                          umbel_diag *diag) {
    umbel_err e = check_base(from, fpr, diag);
    if (e) return e;
    const umbel_filter *f = umbel_lookup_filter(from);
    const umbeli_delta_chain *chain = umbeli_lookup_chain(from);
    umbeli_delta *last = chain ? (umbeli_delta *)&umbeli_delta_chain_sums(chain)->last : NULL;
    if (last && last->number == UMBELI_DELTA_MAX) {
        return umbeli_fail(diag, UMBEL_EFULL,
                           "number: 1024 deltas follow this base; build it again");
    }
    umbel_delta *d = umbeli_new(&f->settings, sizeof *d);
    if (!d) return no_memory(diag);
    d->settings = f->settings;
    d->from = from;
    d->delta = (umbeli_delta){.base = base_of(f),
                              .before = last ? last->sum : f->file_sums[1],
                              .number = last ? last->number + 1 : 1,
                              .fpr = fpr != 0 ? fpr : usual_rate(f)};
    umbel_lookup_hold(from);
    e = add_exceptions(d, diag);
    if (e) {
        umbel_delta_free(d);
    } else {
        *out = d;
    }
    return e;
}

static umbel_err add_keys(umbel_delta *d, hashes *into, const umbel_key *keys, size_t n,
                          umbel_diag *diag) {
    umbel_err e = reserve(&d->settings, into, n, diag);
    if (e) return e;
    umbeli_native_hashes(&umbel_lookup_filter(d->from)->shape, keys, n, into->at + into->n);
    into->n += n;
    return UMBEL_OK;
}

umbel_err umbel_delta_keys(umbel_delta *d, uint32_t where, const umbel_key *keys, size_t n,
                           umbel_diag *diag) {
    uint8_t hit[BATCH];
    umbel_err e = UMBEL_OK;
    if (!where || where & ~(uint32_t)(UMBEL_DELTA_BEFORE | UMBEL_DELTA_AFTER)) {
        return umbeli_invalid(diag, "where: must be before, after or both");
    }
    for (size_t from = 0; from < n && !e; from += BATCH) {
        size_t some = n - from < BATCH ? n - from : BATCH;
        if (where & UMBEL_DELTA_BEFORE) {
            e = add_keys(d, &d->old, keys + from, some, diag);
            umbeli_lookup_each(d->from, keys + from, some, hit);
            for (size_t i = 0; i < some; i++) d->strange += !hit[i];
        }
        if (!e && where & UMBEL_DELTA_AFTER) e = add_keys(d, &d->now, keys + from, some, diag);
    }
    return e;
}

/* The key and, of a domain name, its parents, which a lookup would ask for as well. */
static umbel_err add_good(umbel_delta *d, umbel_key key, umbel_diag *diag) {
    const umbel_recipe *recipe = umbel_lookup_recipe(d->from);
    umbel_err e = UMBEL_OK;
    bool more = true;
    while (more && !e) {
        uint8_t hit;
        umbeli_lookup_each(d->from, &key, 1, &hit);
        e = add_keys(d, hit ? &d->found : &d->good, &key, 1, diag);
        more = umbeli_recipe_next(recipe, &key);
    }
    return e;
}

umbel_err umbel_delta_never(umbel_delta *d, const umbel_key *good, size_t n, umbel_diag *diag) {
    umbel_err e = UMBEL_OK;
    for (size_t i = 0; i < n && !e; i++) e = add_good(d, good[i], diag);
    return e;
}

static umbel_err sort(const umbel_delta *d, hashes *h, umbeli_sorted *out, umbel_diag *diag) {
    uint64_t *scratch = umbeli_new(&d->settings, (h->n + 1) * sizeof *scratch);
    if (!scratch) return no_memory(diag);
    if (h->n) h->n = umbeli_static_sort(h->at, scratch, h->n);
    umbeli_delete(&d->settings, scratch);
    *out = (umbeli_sorted){h->at, h->n};
    return UMBEL_OK;
}

/* How many distinct keys the list has at least.  Filters that are built at once count them; of the
 * others some estimate, and those that forget or count cannot tell. */
static uint64_t least_keys(const umbel_lookup *from) {
    const umbeli_delta_chain *chain = umbeli_lookup_chain(from);
    const umbel_filter *f = umbel_lookup_filter(from);
    uint64_t keys = umbeli_keys_added(f);
    uint64_t slack = keys / 32 + 16 + (uint64_t)(4 * f->count_error);
    umbel_traits can;
    umbel_kind_traits(f->shape.kind, &can);
    if (chain) return umbeli_delta_chain_sums(chain)->last.keys;
    if (can.built_once) return keys;
    return can.removes || can.forgets || keys < slack ? 0 : keys - slack;
}

/* An exact base stays exact only if all that it knows is given again; what is in the list now may
 * have been among that. */
static bool lacks_universe(const umbel_delta *d, const umbeli_list_change *c) {
    const umbeli_delta_chain *chain = umbeli_lookup_chain(d->from);
    umbel_info base;
    umbel_describe(umbel_lookup_filter(d->from), &base);
    uint64_t good = c->good.n + c->found.n, added = d->delta.added;
    if (chain) added += umbeli_delta_chain_sums(chain)->added;
    return base.universe && (!good || good + added < base.universe);
}

static umbel_err check_whole(const umbel_delta *d, const umbeli_list_change *c, umbel_diag *diag) {
    if (c->old.n < least_keys(d->from)) {
        return umbeli_fail(diag, UMBEL_EMISMATCH, "keys: fewer before than the list has");
    }
    if (lacks_universe(d, c)) {
        return umbeli_invalid(diag, "never: the whole universe of an exact base is needed again");
    }
    return UMBEL_OK;
}

umbel_err umbel_delta_finish(umbel_delta *d, const void **bytes, size_t *len,
                             umbel_delta_info *info, umbel_diag *diag) {
    umbeli_list_change c = {{NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}};
    umbeli_delta_sums sums = {.added = 0};
    if (d->strange) {
        return umbeli_fail(diag, UMBEL_EMISMATCH, "before: some of these keys are not in the list");
    }
    umbel_err e = sort(d, &d->old, &c.old, diag);
    if (!e) e = sort(d, &d->now, &c.now, diag);
    if (!e) e = sort(d, &d->good, &c.good, diag);
    if (!e) e = sort(d, &d->found, &c.found, diag);
    umbeli_delete(&d->settings, d->bytes);
    d->bytes = NULL;
    if (!e) e = umbeli_delta_build(&d->delta, &c, &d->settings, &d->bytes, diag);
    if (!e) e = check_whole(d, &c, diag);
    if (e) return e;
    *bytes = d->bytes;
    *len = (size_t)d->delta.len;
    umbeli_delta_count(&sums, &d->delta);
    if (info) *info = info_of(&sums);
    return UMBEL_OK;
}

void umbel_delta_free(umbel_delta *d) {
    if (!d) return;
    umbeli_settings settings = d->settings;
    umbeli_delete(&settings, d->old.at);
    umbeli_delete(&settings, d->now.at);
    umbeli_delete(&settings, d->good.at);
    umbeli_delete(&settings, d->found.at);
    umbeli_delete(&settings, d->bytes);
    const umbel_lookup *from = d->from;
    umbeli_delete(&settings, d);
    umbel_lookup_free(from);
}

/* ---- reading ------------------------------------------------------------------------------ */

umbel_err umbeli_deltas_accept(const umbel_guard *guard, const char *name, const void *bytes,
                               size_t len, uint64_t *number, umbel_diag *diag) {
    umbel_err e = UMBEL_OK;
    umbeli_delta_part part;
    *number = 0;
    for (size_t at = 0; at < len && !e; at += part.len) {
        e = umbeli_delta_part_read((const uint8_t *)bytes + at, len - at, &part, diag);
        if (!e && !part.signature.len) {
            e = umbeli_fail(diag, UMBEL_EUNSIGNED, "a delta is not signed");
        }
        if (!e) {
            e = guard->accept(guard->ctx, name, part.delta.data, part.delta.len, &part.signature,
                              number, diag);
        }
    }
    return e;
}

umbel_err umbeli_deltas_read(const void *bytes, size_t len, const umbel_filter *base,
                             umbeli_delta_chain **out, bool *aside, umbel_diag *diag) {
    const umbeli_delta_base from = base_of(base);
    umbel_diag why = {0};
    umbel_err e = umbeli_delta_chain_new(bytes, len, &from, &base->settings, out, &why);
    bool other = e == UMBEL_EMISMATCH && strcmp(why.field, "base") == 0;
    if (aside) *aside = other;
    if (e && diag) *diag = why;
    return other ? UMBEL_OK : e;
}

/* The name of the file beside a list's. */
static char *beside(const char *path, umbel_diag *diag) {
    size_t len = strlen(path);
    char *name = umbeli_new(&plain, len + sizeof UMBELI_DELTAS);
    if (!name) {
        (void)no_memory(diag);
        return NULL;
    }
    memcpy(name, path, len);
    memcpy(name + len, UMBELI_DELTAS, sizeof UMBELI_DELTAS);
    return name;
}

/* All bytes of the file, which may be absent: then there are none. */
static umbel_err read_beside(const char *name, umbeli_mapping *out, umbel_diag *diag) {
    int fd;
    *out = (umbeli_mapping){NULL, 0};
    umbel_diag why = {0};
    umbel_err e = umbeli_open(name, &fd, &why);
    if (e && why.sys == ENOENT) return UMBEL_OK;
    if (e) {
        if (diag) *diag = why;
        return e;
    }
    e = umbeli_bytes_of(fd, &plain, out, diag);
    umbeli_close(fd);
    return e;
}

umbel_err umbel_lookup_list(const umbel_filter *filter, const char *path, const char *recipe,
                            const umbel_guard *guard, umbel_lookup **out, umbel_diag *diag) {
    umbel_lookup *l = NULL;
    umbeli_delta_chain *chain = NULL;
    umbeli_mapping bytes = {NULL, 0};
    if (diag) *diag = (umbel_diag){0};
    char *name = beside(path, diag);
    if (!name) return UMBEL_ENOMEM;
    umbel_err e = read_beside(name, &bytes, diag);
    uint64_t number;
    if (!e && guard) e = umbeli_deltas_accept(guard, name, bytes.bytes, bytes.len, &number, diag);
    if (!e && bytes.len) e = umbeli_deltas_read(bytes.bytes, bytes.len, filter, &chain, NULL, diag);
    if (!e) e = umbel_lookup_new(filter, recipe, &l, e ? NULL : diag);
    umbeli_delete(&plain, bytes.bytes);
    umbeli_delete(&plain, name);
    if (e) {
        umbeli_delta_chain_free(chain);
        return e;
    }
    umbeli_lookup_follow(l, chain);
    *out = l;
    return UMBEL_OK;
}

bool umbel_lookup_deltas(const umbel_lookup *lookup, umbel_delta_info *all) {
    const umbeli_delta_chain *chain = umbeli_lookup_chain(lookup);
    *all = chain ? info_of(umbeli_delta_chain_sums(chain)) : (umbel_delta_info){0};
    if (chain) all->base_fpr = umbel_lookup_filter(lookup)->shape.fpr;
    return chain != NULL;
}

const char *umbel_delta_rebase(const umbel_delta_info *all, uint64_t base_bytes) {
    enum { MANY = 30, TIMES = 10 };
    if (all->number >= MANY) return "30 deltas: lookups slow down";
    if (all->bytes > base_bytes / 2) return "half of the base's bytes";
    if (all->fpr > (TIMES - 1) * all->base_fpr && all->base_fpr > 0) {
        return "ten times the base's rate";
    }
    return NULL;
}

/* ---- applying ----------------------------------------------------------------------------- */

/* The checksums of a native file, of which little more is read, and what it promises. */
static umbel_err identify(const char *path, umbeli_delta_base *base, double *fpr,
                          umbel_diag *diag) {
    umbeli_mapping m;
    umbeli_native_header h;
    umbel_err e = umbeli_mapping_open(path, &m, diag);
    if (e) return e;
    e = umbeli_native_read(m.bytes, m.len, &h, diag);
    if (!e && m.len < h.payload_at + 8) e = umbeli_cut_off(diag, m.len, h.payload_at + 8);
    if (!e) {
        *base =
            (umbeli_delta_base){h.checksum, umbeli_load_le64((const uint8_t *)m.bytes + m.len - 8)};
        *fpr = h.shape.fpr;
    }
    umbeli_mapping_close(m.bytes, m.len);
    return e;
}

/* The deltas beside a list, and what comes to them. */
typedef struct joined {
    umbeli_delta_part parts[UMBELI_DELTA_MAX]; /* number 1 first; borrowed from both files */
    uint32_t n;
    umbeli_delta_sums sums;
    uint8_t *bytes; /* of the new file */
    size_t len;
    double base_fpr;
} joined;

/* Reads the part that begins at bytes[at]. */
static umbel_err read_part(const uint8_t *bytes, size_t len, size_t at, umbeli_delta_part *part,
                           umbeli_delta *d, umbel_diag *diag) {
    umbel_err e = umbeli_delta_part_read(bytes + at, len - at, part, diag);
    if (!e) e = umbeli_delta_read(part->delta.data, part->delta.len, d, diag);
    if (e) umbeli_diag_shift(diag, at);
    return e;
}

static umbel_err append(joined *j, const umbeli_delta_part *part, const umbeli_delta *d,
                        const umbeli_delta_base *base, umbel_diag *diag) {
    umbel_err e = umbeli_delta_follows(d, base, &j->sums, diag);
    if (e) return e;
    umbeli_delta_count(&j->sums, d);
    j->parts[j->n++] = *part;
    j->len += part->len;
    return UMBEL_OK;
}

/* Those of another base make way. */
static umbel_err take_old(joined *j, const umbeli_mapping *old, const umbeli_delta_base *base,
                          umbel_diag *diag) {
    const uint8_t *bytes = old->bytes;
    umbel_diag why = {0};
    umbel_err e = UMBEL_OK;
    umbeli_delta_part part;
    for (size_t at = 0; at < old->len && !e; at += part.len) {
        umbeli_delta d;
        e = read_part(bytes, old->len, at, &part, &d, diag);
        if (!e && !at && umbeli_delta_follows(&d, base, &j->sums, &why) &&
            strcmp(why.field, "base") == 0) {
            return UMBEL_OK;
        }
        if (!e) e = append(j, &part, &d, base, diag);
    }
    return e;
}

/* The same delta, if it is there already. */
static umbeli_delta_part *find(joined *j, const umbeli_delta_part *part, uint32_t number) {
    umbeli_delta_part *there = number <= j->n ? &j->parts[number - 1] : NULL;
    bool same = there && there->delta.len == part->delta.len &&
                memcmp(there->delta.data, part->delta.data, part->delta.len) == 0;
    return same ? there : NULL;
}

/* Of one that is there already, only the signature is new: keys are replaced. */
static umbel_err take_new(joined *j, const uint8_t *bytes, size_t len,
                          const umbeli_delta_base *base, umbel_diag *diag) {
    umbel_err e = UMBEL_OK;
    umbeli_delta_part part;
    for (size_t at = 0; at < len && !e; at += part.len) {
        umbeli_delta d;
        e = read_part(bytes, len, at, &part, &d, diag);
        if (e) return e;
        umbeli_delta_part *there = find(j, &part, d.number);
        if (!there) {
            e = append(j, &part, &d, base, diag);
        } else if (part.signature.len) {
            j->len += part.len - there->len;
            *there = part;
        }
    }
    return e;
}

static umbel_err write_parts(joined *j, umbel_diag *diag) {
    j->bytes = umbeli_new(&plain, j->len);
    if (!j->bytes) return no_memory(diag);
    uint8_t *to = j->bytes;
    for (uint32_t i = 0; i < j->n; i++) to = umbeli_delta_part_write(&j->parts[i], to);
    return UMBEL_OK;
}

static umbel_err join(const umbeli_mapping *old, const void *bytes, size_t len,
                      const umbeli_delta_base *base, joined *j, umbel_diag *diag) {
    umbeli_delta_chain *chain = NULL;
    umbel_err e = take_old(j, old, base, diag);
    if (!e) e = take_new(j, bytes, len, base, diag);
    if (!e) e = write_parts(j, diag);
    if (!e) e = umbeli_delta_chain_new(j->bytes, j->len, base, &plain, &chain, diag);
    umbeli_delta_chain_free(chain); /* it can be made */
    return e;
}

static umbel_err apply(const char *path, const char *name, double wait, const void *bytes,
                       size_t len, joined *j, umbel_diag *diag) {
    umbel_update *u = NULL;
    umbeli_delta_base base;
    umbeli_mapping old = {NULL, 0};
    umbel_diag begun = {0};
    umbel_err e = umbel_update_begin(name, wait, &u, &begun);
    if (e) {
        if (diag) *diag = begun;
        return e;
    }
    e = identify(path, &base, &j->base_fpr, diag);
    if (!e) e = read_beside(name, &old, diag);
    if (!e) e = join(&old, bytes, len, &base, j, diag);
    bool same = !e && old.len && j->len == old.len && memcmp(j->bytes, old.bytes, old.len) == 0;
    if (!e && !same) e = umbel_update_bytes(u, j->bytes, j->len, path, diag);
    umbeli_delete(&plain, old.bytes);
    umbel_update_end(u);
    if (!e && diag && !diag->what) *diag = begun;
    return e;
}

/* Gives a single delta, alone in the bytes, the signature that was beside it. */
static umbel_err attach(const umbel_key *signature, const void **bytes, size_t *len,
                        uint8_t **owned, umbel_diag *diag) {
    umbeli_delta_part part;
    umbel_err e = umbeli_delta_part_read(*bytes, *len, &part, diag);
    if (e || !signature || part.len < *len || part.signature.len) return e;
    e = umbeli_delta_part_sign(&part, *signature, diag);
    if (e) return e;
    *owned = umbeli_new(&plain, part.len);
    if (!*owned) return no_memory(diag);
    umbeli_delta_part_write(&part, *owned);
    *bytes = *owned;
    *len = part.len;
    return UMBEL_OK;
}

umbel_err umbel_delta_apply(const char *path, double wait_seconds, const void *bytes, size_t len,
                            const umbel_key *signature, const umbel_guard *guard,
                            umbel_delta_info *all, umbel_diag *diag) {
    uint8_t *owned = NULL;
    uint64_t number;
    if (diag) *diag = (umbel_diag){0};
    joined *j = umbeli_new(&plain, sizeof *j);
    char *name = j ? beside(path, diag) : NULL;
    umbel_err e = name ? attach(signature, &bytes, &len, &owned, diag) : no_memory(diag);
    if (!e && guard) e = umbeli_deltas_accept(guard, name, bytes, len, &number, diag);
    if (!e) e = apply(path, name, wait_seconds, bytes, len, j, diag);
    if ((!e || e == UMBEL_EUNSYNCED) && all) {
        *all = info_of(&j->sums);
        all->base_fpr = j->base_fpr;
    }
    umbeli_delete(&plain, owned);
    umbeli_delete(&plain, name);
    if (j) umbeli_delete(&plain, j->bytes);
    umbeli_delete(&plain, j);
    return e;
}
