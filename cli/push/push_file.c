/* SPDX-License-Identifier: MIT
 *
 * push_file.c - one filter from a file to a server
 */
#include "push/push.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/safe_text.h"
#include "base/tally.h"
#include "filter/filter_file.h"
#include "filter/filter_recipe.h"
#include "report/report.h"

void cli_push_summary(const cli_settings *s, const cli_pushed *p) {
    char keys[UMBEL_QUANTITY], size[UMBEL_QUANTITY], before[UMBEL_QUANTITY], what[UMBEL_QUANTITY];
    if (s->json) {
        cli_report r = cli_report_begin(true);
        cli_report_text(&r, NULL, "key", p->name);
        if (p->server) cli_report_text(&r, NULL, "server", p->server);
        cli_report_count(&r, NULL, "database", p->database);
        if (p->shards) cli_report_count(&r, NULL, "shards", p->shards);
        cli_report_count(&r, NULL, "keys", (uint64_t)llround(p->in.keys));
        cli_report_count(&r, NULL, "bytes", p->bytes);
        cli_report_count(&r, NULL, "resumed_bytes", p->resumed);
        cli_report_end(&r);
        return;
    }
    if (s->quiet) return;
    if (p->shards) {
        fputs(cli_count_noun(p->shards, "shard", what), stderr);
    } else {
        cli_print_safe(stderr, "%s at %s", p->name, p->server);
    }
    fprintf(stderr, ": %s, %s", cli_keys_text(&p->in, keys), umbel_size_text(p->bytes, size));
    if (p->resumed) {
        fprintf(stderr, ", %s of it sent by an earlier run", umbel_size_text(p->resumed, before));
    }
    fputc('\n', stderr);
}

int cli_push_file(const cli_settings *s) {
    cli_push push = {.commands = cli_push_commands_of(s),
                     .name = s->redis_key,
                     .force = s->force,
                     .quiet = s->quiet};
    umbel_filter *f = cli_filter_open_verified(s->args[0], s);
    if (cli_changes_keys(f) && !s->same_rule) {
        cli_die(s->args[0], "umbel info shows how; --same-rule if the clients do the same",
                "its keys are not the lines themselves, so the server would miss some");
    }
    if (s->expansion) {
        cli_push_let_grow(f, s->args[0], s->expansion, s->fpr);
    } else if (s->fpr > 0) {
        cli_die("-p", "--expansion N makes it grow", "%s has its rate already", s->args[0]);
    }
    push.server = cli_connection_open(s);
    cli_push_check(&push);
    cli_push_chunks chunks = cli_push_chunks_of(f, s->args[0]);
    uint64_t resumed = UINT64_MAX;
    do {
        cli_push_upload(&push, &chunks);
        if (push.resumed < resumed) resumed = push.resumed;
    } while (!cli_push_publish(&push, &chunks));
    cli_push_summary(s, &(cli_pushed){.name = push.name,
                                      .server = cli_connection_name(push.server),
                                      .database = cli_connection_database(push.server),
                                      .in = chunks.in,
                                      .bytes = chunks.bits_len,
                                      .resumed = resumed});
    cli_push_chunks_free(&chunks);
    umbel_free(f);
    cli_connection_close(push.server);
    return 0;
}
