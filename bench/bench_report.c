/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "bench.h"

enum { MOST = 256 };

typedef struct figure {
    const char *what, *who, *unit;
    size_t keys;
    double value;
} figure;

typedef struct bar {
    const char *what, *relation;
    double seen, wanted;
} bar;

static figure figures[MOST];
static bar bars[MOST];
static size_t nfigures, nbars;

void report_figure(const char *what, const char *who, size_t keys, double value, const char *unit) {
    if (nfigures < MOST) figures[nfigures++] = (figure){what, who, unit, keys, value};
    fprintf(stderr, "  %-22s %-24s %11zu keys %9.3f %s\n", what, who, keys, value, unit);
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
        printf("  %11zu keys  %-26s %9.3f %s\n", f->keys, f->who, f->value, f->unit);
    }
    printf("\n%-62s %9s    %9s\n", "what umbel sets itself", "seen", "bar");
    for (size_t i = 0; i < nbars; i++) {
        const bar *b = &bars[i];
        printf("%-62s %9.3f %s %9.3f%s\n", b->what, b->seen, b->relation, b->wanted,
               reached(b) ? "" : "   not reached");
    }
}

static void print_json(void) {
    printf("{\n  \"figures\": [\n");
    for (size_t i = 0; i < nfigures; i++) {
        const figure *f = &figures[i];
        printf("    {\"what\": \"%s\", \"who\": \"%s\", \"keys\": %zu, \"value\": %.4f, \"unit\": "
               "\"%s\"}%s\n",
               f->what, f->who, f->keys, f->value, f->unit, i + 1 < nfigures ? "," : "");
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
