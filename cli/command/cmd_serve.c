/* SPDX-License-Identifier: MIT
 *
 * cmd_serve.c - umbel serve: answer other programs' questions
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "command/command.h"
#include "options/filter_options.h"
#include "serve/serve.h"

static const uint8_t options[] = {
    OPT_HTTP,           OPT_SOCKETMAP,   OPT_ANSWER,   OPT_SQUID,
    OPT_REWRITE,        OPT_SOCKET_MODE, OPT_ANYWHERE, OPT_MAX_CONNECTIONS,
    OPT_REQUEST_MEMORY, OPT_SECRET_FILE, OPT_HELP,     OPT_END};

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
        cli_die("--socket-mode", "who may write may connect", "with %s nobody could connect", text);
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

static int run(const cli_settings *s) {
    static serve_lists lists;
    umbel_opts opts = cli_opts_of(s);
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
    for (int i = 0; i < s->nargs; i++) serve_lists_add(&lists, s->args[i], &opts);
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

const cli_command cli_command_serve = {
    .name = "serve",
    .summary = "answer other programs' questions: HTTP, Postfix, Squid",
    .synopsis = "[OPTION]... [NAME=]FILTER...",
    .examples =
        "# Over HTTP; nginx's auth_request asks /contains/bad?key=HOST&found=403\n"
        "umbel serve --http unix:/run/umbel/http.sock bad.umb\n"
        "curl --unix-socket /run/umbel/http.sock 'http://umbel/contains/bad?key=example.com'\n"
        "# For Postfix: check_sender_access socketmap:unix:/run/umbel/map.sock:spammers\n"
        "umbel serve --socketmap unix:/run/umbel/map.sock spammers=senders.umb\n"
        "# A helper of Squid: external_acl_type bad concurrency=100 %DST\n"
        "umbel serve --squid bad.umb\n",
    .text =
        "A list is named after its file, without .umb, unless NAME= gives another name. The recipe "
        "stored in the filter turns a question into a key: domain names are looked up with each of "
        "their parents, URLs by their host.\n\n"
        "HTTP: GET /contains/NAME?key=KEY replies true or false; with &found=STATUS (200 to "
        "599) a listed key gets that status, which is all that nginx's auth_request needs; other "
        "arguments are refused. POST /contains/NAME takes "
        "a key per line and replies 1 or 0 per line, up to 64 MiB; it takes a bit per line, and what "
        "all together may take is --request-memory: then the reply is 503. /metrics has counters for "
        "Prometheus, /health says ok.\n\n"
        "Socketmap: a listed key maps to the --answer, others are NOTFOUND. Squid: OK or ERR, "
        "after the channel if there is one; OK has the tag of the list.\n\n"
        "When a FILTER has been replaced (every command of umbel replaces files, and so does mv), "
        "the new one answers within a second, or immediately after SIGHUP; if it cannot be read "
        "the old one stays, and standard error and /metrics say so. Keys have at most 8192 bytes. "
        "A request that takes longer than 10 seconds ends the connection, as do 10 minutes without one "
        "(HTTP: 10 seconds for the head, 60 for the body, 30 without a request). There is one "
        "thread; start several servers to use several cores.\n\n"
        "Addresses are on loopback or Unix sockets unless --anywhere is given. A Unix socket is made "
        "with mode 0666, so that servers under any user can connect, unless --socket-mode narrows it; "
        "its directory must exist, and it is removed at the end. Sockets that "
        "systemd passes under the names http and socketmap (FileDescriptorName=) are also used.",
    .exits = "0 ended by a signal or the end of Squid's input, 2 error",
    .options = options,
    .run = run,
};
