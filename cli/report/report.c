/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/safe_text.h"
#include "base/tally.h"
#include "base/wrap.h"
#include "umbel_quantity.h"

enum { LABEL_WIDTH = 18 };

cli_report cli_report_begin(bool json) {
    bool colours = !json && cli_colours(STDOUT_FILENO);
    return (cli_report){.to = stdout,
                        .object = json ? json_object() : NULL,
                        .emphasis = colours ? "\033[1m" : "",
                        .plain = colours ? "\033[0m" : ""};
}

json_t *cli_json_real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *cli_json_count(uint64_t value) {
    if (value <= INT64_MAX) return json_integer((json_int_t)value);
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    return json_string(digits);
}

void cli_report_json(cli_report *r, const char *name, json_t *value) {
    if (r->object && name) {
        json_object_set_new(r->object, name, value);
    } else {
        json_decref(value);
    }
}

/* Wrapped where it is too long for a terminal. */
static void put_value(const char *value, FILE *to) {
    char *text = NULL;
    size_t len = 0;
    bool wraps = (int)strlen(value) + LABEL_WIDTH + 1 > cli_width(to) && isatty(fileno(to));
    FILE *safe = wraps ? open_memstream(&text, &len) : NULL;
    cli_put_safe(value, safe ? safe : to);
    if (!safe) {
        fputc('\n', to);
    } else if (fclose(safe) == 0 && text) {
        cli_wrapped(text, LABEL_WIDTH + 1, LABEL_WIDTH + 1, to);
    }
    free(text);
}

static void line(cli_report *r, const char *label, const char *value) {
    if (r->object || r->silent || !label) return;
    fputs(r->emphasis, r->to);
    int n = cli_put_safe(label, r->to);
    fprintf(r->to, "%s%*s", r->plain, n < LABEL_WIDTH ? LABEL_WIDTH - n + 1 : 1, "");
    put_value(value, r->to);
}

static json_t *base64(const uint8_t *bytes, size_t len) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = cli_alloc(4 * (len / 3 + 1)), *to = text;
    for (size_t i = 0; i < len; i += 3) {
        size_t n = len - i < 3 ? len - i : 3;
        uint32_t three = (uint32_t)bytes[i] << 16 | (n > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (n > 2 ? bytes[i + 2] : 0);
        for (size_t k = 0; k < 4; k++) *to++ = k <= n ? digits[three >> (18 - 6 * k) & 63] : '=';
    }
    json_t *value = json_stringn(text, (size_t)(to - text));
    free(text);
    return value;
}

json_t *cli_json_bytes(const void *bytes, size_t len) {
    json_t *text = json_stringn(bytes, len);
    if (text) return text;
    json_t *o = json_object();
    json_object_set_new(o, "bytes", base64(bytes, len));
    return o;
}

json_t *cli_json_text(const char *text) {
    return cli_json_bytes(text, strlen(text));
}

void cli_report_text(cli_report *r, const char *label, const char *name, const char *value) {
    line(r, label, value);
    cli_report_json(r, name, cli_json_text(value));
}

void cli_report_count(cli_report *r, const char *label, const char *name, uint64_t value) {
    char text[UMBEL_QUANTITY];
    line(r, label, umbel_count_text(value, text));
    cli_report_json(r, name, cli_json_count(value));
}

void cli_report_size(cli_report *r, const char *label, const char *name, uint64_t bytes) {
    char text[UMBEL_QUANTITY];
    line(r, label, umbel_size_text(bytes, text));
    cli_report_json(r, name, cli_json_count(bytes));
}

void cli_report_rate(cli_report *r, const char *label, const char *name, double rate) {
    char text[UMBEL_QUANTITY];
    line(r, label, umbel_rate_text(rate, text));
    cli_report_json(r, name, cli_json_real(rate));
}

void cli_report_real(cli_report *r, const char *label, const char *name, double value,
                     int decimals) {
    char text[UMBEL_QUANTITY];
    line(r, label, cli_real_text(value, decimals, text));
    cli_report_json(r, name, cli_json_real(value));
}

void cli_report_flag(cli_report *r, const char *label, const char *name, bool value) {
    line(r, label, value ? "yes" : "no");
    cli_report_json(r, name, json_boolean(value));
}

void cli_report_end(cli_report *r) {
    if (r->object) {
        size_t safe = isatty(STDOUT_FILENO) ? JSON_ENSURE_ASCII : 0;
        json_dumpf(r->object, r->to, JSON_INDENT(2) | JSON_REAL_PRECISION(12) | safe);
        fputc('\n', r->to);
        json_decref(r->object);
        r->object = NULL;
    }
    cli_output_finish_stdio();
}
