/* SPDX-License-Identifier: MIT
 *
 * run_serve.c - umbel serve: its options, the lists and sockets, and the loop
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "filter/signed_file.h"
#include "options/filter_options.h"
#include "options/programs.h"
#include "serve/serve.h"

static const unsigned default_connections = 10000;

static bool makes_unix(const cli_text_list *given) {
    size_t i = 0;
    while (i < given->count && !serve_is_unix(given->at[i])) i++;
    return i < given->count;
}

/* --socket-mode: three octal digits, perhaps after a zero. */
static mode_t socket_mode(const cli_settings *s) {
    const char *text = s->socket_mode;
    if (!text) return SERVE_SOCKET_MODE;
    size_t len = strlen(text);
    mode_t mode = (mode_t)strtoul(text, NULL, 8);
    bool octal = (len == 3 || (len == 4 && *text == '0')) && strspn(text, "01234567") == len;
    if (!octal) cli_die("--socket-mode", "octal, such as 660", "'%s' is not a mode", text);
    if (!(mode & 0222)) {
        cli_die("--socket-mode", "connecting takes the permission to write",
                "with %s nobody could connect", text);
    }
    if (!makes_unix(&s->http) && !makes_unix(&s->socketmap)) {
        cli_die("--socket-mode", "systemd's have SocketMode=", "applies to unix:PATH only");
    }
    return mode;
}

/* Sockets given by options, then those that systemd passes under the name of the protocol. */
static size_t sockets(const cli_settings *s, const cli_text_list *given, const char *protocol,
                      int fds[SERVE_SOCKETS_MAX]) {
    size_t n = 0;
    mode_t mode = socket_mode(s);
    int at = 0, fd;
    for (size_t i = 0; i < given->count; i++) {
        if (n == SERVE_SOCKETS_MAX) cli_die(protocol, NULL, "more than 8 sockets");
        fds[n++] = serve_listen(given->at[i], s->anywhere, mode);
    }
    while ((fd = serve_inherited(protocol, &at)) >= 0) {
        if (n == SERVE_SOCKETS_MAX) cli_die(protocol, NULL, "more than 8 sockets");
        fds[n++] = fd;
    }
    return n;
}

int cli_run_serve(const cli_settings *s) {
    static serve_lists lists;
    umbel_opts opts = cli_opts_of(s);
    umbel_source_opts how = {.opts = &opts, .guard = cli_guard_of(s)};
    serve_options o = {
        .answer = s->answer ? s->answer : "REJECT",
        .rewrite = s->rewrite,
        .squid = s->squid,
        .max_connections = default_connections,
    };
    cli_expect_args(s, 1, -1);
    if (s->rewrite && !s->squid) cli_die("--rewrite", NULL, "applies to --squid only");
    if (s->max_connections > 1000000) cli_die("--max-connections", NULL, "more than a million");
    if (s->max_connections) o.max_connections = (unsigned)s->max_connections;
    lists.max_held = s->request_memory ? (size_t)s->request_memory : SERVE_HELD_MAX;
    for (int i = 0; i < s->nargs; i++) serve_lists_add(&lists, s->args[i], &how);
    o.signals = serve_signals();
    o.socketmaps = sockets(s, &s->socketmap, "socketmap", o.socketmap);
    o.https = sockets(s, &s->http, "http", o.http);
    if (o.socketmaps + o.https - s->socketmap.count - s->http.count < serve_inherited_count()) {
        cli_die("LISTEN_FDS", "FileDescriptorName=http, or socketmap",
                "a socket was passed under an unknown name");
    }
    if (!o.squid && !o.socketmaps && !o.https) {
        cli_die("serve", "--http, --socketmap or --squid", "there is nothing to listen on");
    }
    int status = serve_loop(&lists, &o);
    serve_lists_free(&lists);
    return status;
}
