/* SPDX-License-Identifier: MIT
 *
 * cmd_serve.c - umbel serve: answer other programs' questions
 */
#include "command/command.h"
#include "options/programs.h"

static const uint8_t options[] = {
    OPT_HTTP,           OPT_SOCKETMAP,   OPT_ANSWER,   OPT_SQUID,
    OPT_REWRITE,        OPT_SOCKET_MODE, OPT_ANYWHERE, OPT_MAX_CONNECTIONS,
    OPT_REQUEST_MEMORY, OPT_SECRET_FILE, OPT_TRUSTED,  OPT_NOT_BEFORE,
    OPT_HELP,           OPT_END};

const cli_command cli_command_serve = {
    .name = "serve",
    .summary = "answer other programs' questions: HTTP, Postfix, Squid",
    .synopsis = "[OPTION]... [NAME=]FILTER...",
    .examples =
        "# Over HTTP; nginx's auth_request asks /contains/bad?key=HOST&found=403\n"
        "umbel serve --http unix:/run/umbel/http.sock bad.umb\n"
        "curl --unix-socket /run/umbel/http.sock 'http://umbel/contains/bad?key=example.com'\n"
        "# For Postfix: check_sender_access proxy:socketmap:unix:/run/umbel/map.sock:spammers\n"
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
        "the old one stays, and standard error and /metrics say so. With --key the same happens to one that is "
        "not signed by KEY (umbel sign), or is signed with a smaller number than the one in use. Keys have at most 8192 bytes. "
        "A request that takes longer than 10 seconds ends the connection, as do 10 minutes without one "
        "(HTTP: 10 seconds for the head, 60 for the body, 30 without a request). There is one "
        "thread; start several servers to use several cores.\n\n"
        "Addresses are on loopback or Unix sockets unless --anywhere is given. A Unix socket is made "
        "with mode 0666, so that servers under any user can connect, unless --socket-mode narrows it; "
        "its directory must exist, and it is removed at the end. Sockets that "
        "systemd passes under the names http and socketmap (FileDescriptorName=) are also used.",
    .exits = "0 ended by a signal or the end of Squid's input, 2 error",
    .options = options,
    .run = CLI_APART(cli_run_serve),
};
