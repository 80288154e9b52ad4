/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* getloadavg */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { MOST = 1024 };

typedef struct figure {
    const char *what, *who, *unit;
    size_t keys;
    double value, least; /* least: 0 if there is one value only */
} figure;

typedef struct bar {
    const char *what, *relation;
    double seen, wanted;
} bar;

static figure figures[MOST];
static bar bars[MOST];
static size_t nfigures, nbars;
static double load_before = -1; /* of the last minute, at the first figure */

static double load(void) {
    double last_minute;
    return getloadavg(&last_minute, 1) == 1 ? last_minute : -1;
}

static void note(figure f) {
    if (nfigures == 0) load_before = load();
    if (nfigures < MOST) figures[nfigures++] = f;
}

void report_figure(const char *what, const char *who, size_t keys, double value, const char *unit) {
    note((figure){what, who, unit, keys, value, 0});
    fprintf(stderr, "  %-22s %-28s %11zu keys %9.3f %s\n", what, who, keys, value, unit);
}

void report_times(const char *what, const char *who, size_t keys, double middle, double least) {
    note((figure){what, who, "ns", keys, middle, least});
    fprintf(stderr, "  %-22s %-28s %11zu keys %9.3f ns, least %9.3f\n", what, who, keys, middle,
            least);
}

void report_bar(const char *what, double seen, const char *relation, double wanted) {
    if (nbars < MOST) bars[nbars++] = (bar){what, relation, seen, wanted};
}

static bool reached(const bar *b) {
    return strcmp(b->relation, ">=") == 0 ? b->seen >= b->wanted : b->seen <= b->wanted;
}

static void print_table(void) {
    const char *what = "";
    for (size_t i = 0; i < nfigures; i++) {
        const figure *f = &figures[i];
        if (strcmp(f->what, what) != 0) printf("\n%s\n", what = f->what);
        printf("  %11zu keys  %-30s %9.3f %s", f->keys, f->who, f->value, f->unit);
        if (f->least > 0) printf(", least %9.3f", f->least);
        printf("\n");
    }
    printf("\nload average of a minute: %.1f at the beginning, %.1f at the end\n", load_before,
           load());
    printf("\n%-62s %9s    %9s\n", "what umbel sets itself", "seen", "bar");
    for (size_t i = 0; i < nbars; i++) {
        const bar *b = &bars[i];
        printf("%-62s %9.3f %s %9.3f%s\n", b->what, b->seen, b->relation, b->wanted,
               reached(b) ? "" : "   not reached");
    }
}

static void print_json(void) {
    printf("{\n  \"load\": [%.2f, %.2f],\n  \"figures\": [\n", load_before, load());
    for (size_t i = 0; i < nfigures; i++) {
        const figure *f = &figures[i];
        printf("    {\"what\": \"%s\", \"who\": \"%s\", \"keys\": %zu, \"value\": %.4f, ", f->what,
               f->who, f->keys, f->value);
        if (f->least > 0) printf("\"least\": %.4f, ", f->least);
        printf("\"unit\": \"%s\"}%s\n", f->unit, i + 1 < nfigures ? "," : "");
    }
    printf("  ],\n  \"bars\": [\n");
    for (size_t i = 0; i < nbars; i++) {
        const bar *b = &bars[i];
        printf("    {\"what\": \"%s\", \"seen\": %.4f, \"relation\": \"%s\", \"bar\": %.4f, "
               "\"reached\": %s}%s\n",
               b->what, b->seen, b->relation, b->wanted, reached(b) ? "true" : "false",
               i + 1 < nbars ? "," : "");
    }
    printf("  ]\n}\n");
}

void report_print(bool json) {
    if (json) {
        print_json();
    } else {
        print_table();
    }
}
