/* SPDX-License-Identifier: MIT
 *
 * parse_names.c - servers and the names of their keys
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse_target.h"
#include "push/push.h"
#include "push/push_address.h"

static void check_address(const char *text) {
    cli_address address = {.port = -1}, again;
    char out[CLI_HOST + 16];
    if (!cli_parse_address(text, &address)) {
        insist(address.port == -1, "what is no address changes nothing");
        return;
    }
    insist(address.host[0] && memchr(address.host, 0, sizeof address.host), "a host has a name");
    insist((address.port == 0) == (text[0] == '/'), "sockets have no port");
    insist(address.port >= 0 && address.port < 65536, "ports have a range");
    if (address.port == 0) {
        insist(strcmp(address.host, text) == 0, "a socket is its path");
    } else if (!strchr(address.host, ']') && address.host[0] != '/') {
        snprintf(out, sizeof out, "[%s]:%d", address.host, address.port);
        insist(cli_parse_address(out, &again) && strcmp(address.host, again.host) == 0 &&
                   address.port == again.port,
               "in brackets it is the same");
    }
}

/* The text after redis://, and as it is. */
static void check_server(const char *scheme, const char *rest) {
    size_t room = strlen(scheme) + strlen(rest) + 1;
    char *text = some_bytes(room);
    cli_server server;
    snprintf(text, room, "%s%s", scheme, rest);
    const char *wrong = cli_parse_server(text, &server);
    insist(strlen(text) == room - 1, "hiding a password changes no length");
    insist(!wrong || *wrong, "an error has a message");
    if (!wrong) {
        insist(server.at.host[0] && server.at.port >= 0 && server.at.port < 65536, "an address");
        insist(*scheme == '\0' || server.at.port > 0, "a URL has a port");
        insist(server.login.database <= INT32_MAX, "databases have a range");
        insist(!server.login.password || cli_is_url(text), "only URLs have passwords");
    }
    cli_login_free(&server.login);
    free(text);
}

void parse_names(const char *text) {
    uint32_t slot = cli_cluster_slot(text), shards = 1 + slot % 100;
    check_address(text);
    check_server("", text);
    check_server("redis://", text);
    check_server("rediss://", text);
    insist(slot < CLI_CLUSTER_SLOTS, "slots have a range");
    char *sibling = cli_sibling_name(text, "mark"), *named = cli_shard_name(text, 7);
    insist(cli_cluster_slot(sibling) == slot, "a sibling name is in the same slot");
    uint32_t shard = cli_shard_of(text, strlen(text), shards);
    insist(shard < shards && cli_shard_of(text, strlen(text), 1) == 0, "shards have a range");
    insist(strncmp(named, text, strlen(text)) == 0, "a shard's name begins with the filter's");
    free(named);
    free(sibling);
}
