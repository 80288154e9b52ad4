/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "table/table_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/safe_text.h"
#include "base/tally.h"
#include "base/wrap.h"
#include "umbel_foreign.h"
#include "umbel_text.h"

enum { DRAWN_ACROSS = 64, DRAWN_BESIDE = 11, DRAWN_DOWN = 4, PLACE_WIDTH = 28 };

static const char *const state_names[] = {
    [UMBEL_TABLE_FILTER] = "filter",
    [UMBEL_TABLE_EMPTY] = "empty",
    [UMBEL_TABLE_NONE] = "none",
    [UMBEL_TABLE_UNREADABLE] = "unreadable",
};

static void measure(const umbel_table *t, size_t i, cli_place *p) {
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    umbel_err e = umbel_table_filter(t, i, &f, &diag);
    if (e) cli_die_err("table", e, &diag, NULL);
    umbel_describe(f, &p->info);
    umbel_measure(f, &p->now);
    umbel_free(f);
}

static bool fact_named(const umbel_table *t, const char *name, umbel_table_fact *fact) {
    for (size_t i = 0; umbel_table_fact_of(t, i, fact); i++) {
        if (strcmp(fact->name, name) == 0) return true;
    }
    return false;
}

/* RocksDB counts the keys of all partitions together. */
static uint64_t keys_said(const umbel_table *t) {
    umbel_table_fact fact;
    if (fact_named(t, "rocksdb.num.filter_entries", &fact) && fact.number) return fact.number;
    return fact_named(t, "rocksdb.num.entries", &fact) ? fact.number : 0;
}

cli_places cli_table_places(const umbel_table *t, const char *column) {
    cli_places p = {0};
    uint64_t set = 0, bits = 0;
    size_t count = umbel_table_count(t);
    p.at = cli_alloc((count ? count : 1) * sizeof *p.at);
    for (size_t i = 0; i < count; i++) {
        cli_place *at = &p.at[p.count];
        *at = (cli_place){0};
        umbel_table_place_of(t, i, &at->seen);
        if (column && (!at->seen.column || strcmp(at->seen.column, column) != 0)) continue;
        p.count++;
        p.keys += at->seen.keys;
        p.empty += at->seen.state == UMBEL_TABLE_EMPTY;
        p.without += at->seen.state == UMBEL_TABLE_NONE;
        p.unreadable += at->seen.state == UMBEL_TABLE_UNREADABLE;
        if (at->seen.state != UMBEL_TABLE_FILTER) continue;
        measure(t, i, at);
        p.filters++;
        p.bytes += at->seen.len;
        set += at->now.bits_set;
        bits += at->info.bits;
        p.rate += at->now.rate;
        p.max_keys = fmax(p.max_keys, at->now.keys);
    }
    if (!p.keys) p.keys = keys_said(t);
    if (bits) p.fill = (double)set / (double)bits;
    if (p.filters) p.rate /= (double)p.filters;
    return p;
}

void cli_table_place_text(const umbel_table_place *p, umbel_table_system system, char *out,
                          size_t cap) {
    const char *column = p->column ? p->column : "";
    switch (system) {
    case UMBEL_TABLE_LEVELDB:
        snprintf(out, cap, "blocks from %" PRIu64 " to %" PRIu64, p->first, p->end);
        break;
    case UMBEL_TABLE_CLICKHOUSE:
        snprintf(out, cap, "granule %" PRIu64 ", column %s", p->first, column);
        break;
    case UMBEL_TABLE_ROCKSDB:
        if (p->end == p->first + 1) {
            snprintf(out, cap, "partition %" PRIu64, p->first);
        } else {
            snprintf(out, cap, "the whole file");
        }
        break;
    default: snprintf(out, cap, "row group %" PRIu64 ", %s", p->first, column); break;
    }
}

static double fill_of(const cli_place *p) {
    return p->info.bits ? (double)p->now.bits_set / (double)p->info.bits : 0;
}

/* ---- The list ---- */

static json_t *place_json(const cli_place *p) {
    json_t *o = json_object();
    const umbel_table_place *s = &p->seen;
    json_object_set_new(o, "state", json_string(state_names[s->state]));
    if (s->column) {
        json_object_set_new(o, "column", cli_json_text(s->column));
        json_object_set_new(o, "type", json_string(s->type));
    }
    json_object_set_new(o, "first", cli_json_count(s->first));
    json_object_set_new(o, "end", cli_json_count(s->end));
    json_object_set_new(o, "keys", s->keys ? cli_json_count(s->keys) : json_null());
    if (s->state != UMBEL_TABLE_FILTER) return o;
    json_object_set_new(o, "offset", cli_json_count(s->offset));
    json_object_set_new(o, "bytes", cli_json_count(s->len));
    json_object_set_new(o, "bits", cli_json_count(p->info.bits));
    json_object_set_new(o, "hashes", json_integer(p->info.hashes));
    json_object_set_new(o, "bits_set", cli_json_count(p->now.bits_set));
    json_object_set_new(o, "fill", cli_json_real(fill_of(p)));
    json_object_set_new(o, "keys_estimated", cli_json_real(p->now.keys));
    json_object_set_new(o, "fpr_now", cli_json_real(p->now.rate));
    return o;
}

/* On a narrow terminal there is room for the place and its rate. */
static bool is_narrow(FILE *to) {
    return cli_width(to) < PLACE_WIDTH + 50;
}

static void print_line(const cli_place *p, umbel_table_system system, FILE *to) {
    char place[160], rate[UMBEL_QUANTITY], keys[UMBEL_QUANTITY];
    cli_table_place_text(&p->seen, system, place, sizeof place);
    int wide = cli_put_safe(place, to);
    fprintf(to, "%*s", wide < PLACE_WIDTH ? PLACE_WIDTH - wide + 1 : 1, "");
    if (is_narrow(to)) {
        bool filter = p->seen.state == UMBEL_TABLE_FILTER;
        fprintf(to, "%10s\n",
                filter ? cli_narrow_rate(p->now.rate, rate) : state_names[p->seen.state]);
        return;
    }
    if (p->seen.state == UMBEL_TABLE_FILTER) {
        fprintf(to, "%10" PRIu64 " %3u %6.1f%% %12s ", p->info.bits, p->info.hashes,
                100 * fill_of(p), umbel_rate_text(p->now.rate, rate));
    } else {
        fprintf(to, "%-34s ", state_names[p->seen.state]);
    }
    fprintf(to, "%12s\n", p->seen.keys ? umbel_count_text(p->seen.keys, keys) : "-");
}

void cli_table_report_print(const cli_places *p, umbel_table_system system, cli_report *r) {
    cli_report_count(r, "filters", "filters", p->filters);
    if (p->empty) cli_report_count(r, "empty", "empty", p->empty);
    if (p->without) cli_report_count(r, "without a filter", "without", p->without);
    if (p->unreadable) cli_report_count(r, "unreadable", "unreadable", p->unreadable);
    cli_report_size(r, "bytes of filters", "bytes", p->bytes);
    if (p->keys) cli_report_count(r, "keys", "keys", p->keys);
    if (p->keys && p->filters) {
        cli_report_real(r, "bits per key", "bits_per_key", 8 * (double)p->bytes / (double)p->keys,
                        2);
    }
    if (p->filters) {
        char fill[32];
        snprintf(fill, sizeof fill, "%.1f%%", 100 * p->fill);
        cli_report_text(r, "fill", NULL, fill);
        cli_report_json(r, "fill", cli_json_real(p->fill));
        cli_report_rate(r, "mean live rate", "fpr_now", p->rate);
    }
    if (r->object) {
        json_t *places = json_array();
        for (size_t i = 0; i < p->count; i++) json_array_append_new(places, place_json(&p->at[i]));
        cli_report_json(r, "places", places);
        return;
    }
    if (!p->filters) return;
    if (is_narrow(r->to)) {
        fprintf(r->to, "\n%-*s %10s\n", PLACE_WIDTH, "where", "live rate");
    } else {
        fprintf(r->to, "\n%-*s %10s %3s %7s %12s %12s\n", PLACE_WIDTH, "where", "bits", "k", "fill",
                "live rate", "keys");
    }
    for (size_t i = 0; i < p->count; i++) {
        if (p->at[i].seen.state != UMBEL_TABLE_NONE) print_line(&p->at[i], system, r->to);
    }
}

void cli_table_report_facts(const umbel_table *t, cli_report *r) {
    static const struct {
        const char *name, *label;
    } shown[] = {{"footer.format_version", "format version"},
                 {"rocksdb.filter.policy", "policy"},
                 {"rocksdb.prefix.extractor.name", "prefixes"},
                 {"rocksdb.block.based.table.whole.key.filtering", "whole keys"},
                 {"rocksdb.comparator", "order of keys"},
                 {"rocksdb.compression", "compression"},
                 {"rocksdb.num.entries", "entries"},
                 {"rocksdb.deleted.keys", "deletions"},
                 {"rocksdb.data.size", "bytes of data"}};
    json_t *all = json_object();
    umbel_table_fact fact;
    for (size_t i = 0; umbel_table_fact_of(t, i, &fact); i++) {
        json_object_set_new(all, fact.name,
                            fact.is_number ? cli_json_count(fact.number) : json_string(fact.text));
    }
    if (json_object_size(all)) {
        cli_report_json(r, "properties", all);
    } else {
        json_decref(all);
    }
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        if (!fact_named(t, shown[i].name, &fact)) continue;
        if (fact.is_number) {
            cli_report_count(r, shown[i].label, NULL, fact.number);
        } else if (*fact.text && strcmp(fact.text, "nullptr") != 0) {
            cli_report_text(r, shown[i].label, NULL, fact.text);
        }
    }
}

/* ---- Sizes ---- */

static void advise_size(umbel_table_system system, uint64_t keys, double fpr, cli_report *r) {
    char text[160], rate[UMBEL_QUANTITY], count[UMBEL_QUANTITY];
    umbel_plan plan = {.kind = UMBEL_KIND_CLASSIC, .capacity = keys, .fpr = fpr};
    bool rocksdb = system == UMBEL_TABLE_ROCKSDB, by_key = rocksdb || system == UMBEL_TABLE_LEVELDB;
    umbel_foreign foreign = {
        .format = rocksdb ? UMBEL_FMT_ROCKSDB : UMBEL_FMT_LEVELDB, .capacity = keys, .fpr = fpr};
    if (system == UMBEL_TABLE_PARQUET) {
        plan.kind = UMBEL_KIND_BLOCKED; /* the exact model, unlike the writers' */
    }
    umbel_err e =
        by_key ? umbel_plan_foreign(&foreign, &plan, NULL) : umbel_plan_solve(&plan, NULL);
    if (e) return;
    umbel_rate_text(fpr, rate);
    if (by_key) {
        snprintf(text, sizeof text, "%s would take %.*f bits per key", rate, rocksdb ? 1 : 0,
                 rocksdb ? plan.bits_per_key : ceil(plan.bits_per_key));
    } else {
        snprintf(text, sizeof text, "%s for %s would take %" PRIu64 " bytes and %u hashes", rate,
                 cli_count_noun(keys, "key", count), plan.bytes, plan.hashes);
    }
    cli_report_text(r, "size", NULL, text);
    json_t *o = json_object();
    json_object_set_new(o, "fpr", cli_json_real(fpr));
    json_object_set_new(o, "keys", cli_json_count(keys));
    json_object_set_new(o, "bytes", cli_json_count(plan.bytes));
    json_object_set_new(o, "hashes", json_integer(plan.hashes));
    json_object_set_new(o, "bits_per_key", cli_json_real(plan.bits_per_key));
    cli_report_json(r, "advice", o);
}

void cli_table_report_advise(const cli_places *p, umbel_table_system system, double fpr,
                             cli_report *r) {
    if (!p->filters) return;
    if (isinf(p->max_keys)) {
        cli_report_text(r, "size", "advice_none",
                        "unknown: a filter has every bit set, so its keys cannot be estimated");
        return;
    }
    double keys = ceil(p->max_keys);
    advise_size(system, keys < 1 ? 1 : (uint64_t)keys, fpr, r);
}

/* ---- The plot ---- */

/* A character of the map stands for one place or for several neighbours. */
typedef struct map_cell {
    size_t filters;
    double fill;             /* of all filters in it, summed */
    umbel_table_state other; /* without a filter: what the last place has */
} map_cell;

static map_cell cell_of(const cli_places *p, size_t from, size_t count) {
    map_cell c = {0};
    for (size_t i = from; i < from + count && i < p->count; i++) {
        bool filter = p->at[i].seen.state == UMBEL_TABLE_FILTER;
        c.filters += filter;
        if (filter) c.fill += fill_of(&p->at[i]);
        if (!filter) c.other = p->at[i].seen.state;
    }
    return c;
}

/* A classic filter is at its best when half full: beyond that the colours warn. */
static void draw_cell(const map_cell *c, bool colours, FILE *to) {
    static const char ramp[] = " .:-=+*#%@";
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const int tints[] = {22, 28, 34, 34, 34, 70, 178, 208, 202, 196};
    if (!c->filters) {
        fputc(c->other == UMBEL_TABLE_UNREADABLE ? '?'
              : c->other == UMBEL_TABLE_EMPTY    ? ' '
                                                 : '_',
              to);
        return;
    }
    double fill = c->fill / (double)c->filters;
    int level = (int)(fill * 9.999);
    if (colours) fprintf(to, "\033[38;5;%dm", tints[level]);
    if (cli_utf8()) {
        fputs(blocks[(int)ceil(fill * 8)], to);
    } else {
        fputc(ramp[level], to);
    }
    if (colours) fputs("\033[0m", to);
}

void cli_table_report_draw(const cli_places *p, FILE *to) {
    bool colours = to == stdout && cli_colours(STDOUT_FILENO);
    int room = cli_width(to) - DRAWN_BESIDE;
    size_t across = (size_t)(room < DRAWN_ACROSS ? room : DRAWN_ACROSS),
           cells = across * DRAWN_DOWN;
    size_t each = (p->count + cells - 1) / cells;
    if (!p->filters) return;
    fprintf(to, "\nfill of each place, ");
    fputs(cli_utf8() ? "a full block is 100%" : "from ' ' (0%) through '+' (half) to '@' (full)",
          to);
    if (each > 1) fprintf(to, "; each is the mean of %zu", each);
    fputc('\n', to);
    for (size_t i = 0, n = 0; i < p->count; i += each, n++) {
        map_cell c = cell_of(p, i, each);
        if (n % across == 0) fprintf(to, "%s%8zu |", i ? "|\n" : "", i);
        draw_cell(&c, colours, to);
    }
    fputs("|\n", to);
}
