/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/safe_text.h"
#include "base/tally.h"
#include "base/wrap.h"
#include "filter/filter_file.h"
#include "umbel_text.h"

enum { LABEL_WIDTH = 18 };

/* ---- --json ------------------------------------------------------------------------------- */

static struct {
    const cli_settings *s;
    int fd;
    json_t *object;
} whole;

static void begin_object(void) {
    whole.object = json_object();
    json_object_set_new(whole.object, "command", json_string(whole.s->command->name));
}

static json_t *notices(bool warnings) {
    json_t *list = json_array();
    for (const cli_notice *n = cli_notices(); n; n = n->next) {
        if ((n->code != NULL) != warnings) continue;
        json_t *o = json_object();
        if (n->code) json_object_set_new(o, "code", json_string(n->code));
        if (n->where) json_object_set_new(o, "where", cli_json_text(n->where));
        json_object_set_new(o, "text", cli_json_text(n->text ? n->text : "out of memory"));
        json_array_append_new(list, o);
    }
    return list;
}

static bool put_json(const char *text, size_t len) {
    while (len) {
        ssize_t n = write(whole.fd, text, len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        text += n;
        len -= (size_t)n;
    }
    return true;
}

static void close_report(int status) {
    json_t *object = whole.object;
    if (!object) return;
    whole.object = NULL; /* writing it may fail */
    json_object_set_new(object, "status", json_integer(status));
    json_object_set_new(object, "warnings", notices(true));
    json_object_set_new(object, "errors", notices(false));
    size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(12);
    if (isatty(whole.fd)) flags |= JSON_ENSURE_ASCII;
    /* Not by json_dump_callback, which goes on after a part that could not be written. */
    char *text = json_dumps(object, flags);
    bool failed = !text || !put_json(text, strlen(text)) || !put_json("\n", 1);
    if (failed && errno == EPIPE) _exit(CLI_ERROR);
    if (failed) {
        cli_die_sys(strcmp(whole.s->json, "-") ? whole.s->json : "standard output", errno);
    }
    free(text);
    json_decref(object);
}

void cli_report_next(void) {
    if (!whole.object) return;
    close_report(CLI_YES);
    begin_object();
}

static void close_after_error(void) {
    close_report(CLI_ERROR);
}

static bool has_data_on_stdout(const cli_settings *s) {
    cli_mode shows = s->mode[GROUP_SHOW];
    bool lines = shows < SHOW_COUNT || shows == SHOW_FILES || shows == SHOW_OTHER_FILES;
    return (s->command->prints_lines && lines) || (s->output && strcmp(s->output, "-") == 0);
}

static void open_report(cli_settings *s) {
    struct stat report, errors;
    whole.fd = STDOUT_FILENO;
    if (strcmp(s->json, "-") != 0) {
        cli_refuse_as_input(s->json, s->args, s->nargs);
        cli_refuse_as_given(s->json, s);
        whole.fd = open(s->json, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (whole.fd < 0) cli_die_sys(s->json, errno);
    } else if (has_data_on_stdout(s)) {
        cli_die("--json",
                cli_takes(s->command, OPT_JSON_LINES)
                    ? "--json=FILE; --json-lines prints the lines as JSON"
                    : "--json=FILE",
                "standard output has %s", s->command->prints_lines ? "the lines" : "the filter");
    }
    bool shared = fstat(whole.fd, &report) == 0 && fstat(STDERR_FILENO, &errors) == 0 &&
                  report.st_dev == errors.st_dev && report.st_ino == errors.st_ino &&
                  whole.fd != STDOUT_FILENO;
    if (shared) s->quiet = true;
    cli_keep_notices(close_after_error, !shared);
    begin_object();
}

int cli_report_run(int (*run)(const cli_settings *s), const cli_settings *s) {
    static cli_settings own;               /* an error in another thread may need it */
    json_set_alloc_funcs(cli_alloc, free); /* jansson leaves out what it has no memory for */
    if (!s->json) return run(s);
    own = *s;
    whole.s = &own;
    open_report(&own);
    int status = run(&own);
    close_report(status);
    return status;
}

void cli_report_lines(cli_report *r, const cli_lines *read) {
    cli_report_count(r, NULL, "lines", read->count);
    cli_report_count(r, NULL, "lines_without_field", read->nothing.count);
    if (read->nothing.count) {
        cli_report_count(r, NULL, "first_without_field", read->nothing.line);
    }
    cli_report_count(r, NULL, "lines_malformed", read->malformed.count);
    if (read->malformed.count) {
        cli_report_count(r, NULL, "first_malformed", read->malformed.line);
    }
}

/* ---- Facts -------------------------------------------------------------------------------- */

cli_report cli_report_begin(bool json) {
    bool colours = !json && cli_colours(STDOUT_FILENO);
    return (cli_report){.to = stdout,
                        .object = json ? whole.object : NULL,
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
    if (!r->object) cli_output_finish_stdio();
}
