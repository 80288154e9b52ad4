/* SPDX-License-Identifier: MIT
 *
 * cmd_push.c - umbel push: a filter becomes a key of a Redis server
 */
#include "command/command.h"
#include "push/push.h"

static const uint8_t options[] = {
    OPT_REDIS,   OPT_REDIS_KEY,    OPT_REPLACE,   OPT_CLUSTER,    OPT_AUTH_FILE, OPT_SECRET_FILE,
    OPT_SHARDS,  OPT_SHARD_KEYS,   OPT_SHARD_FPR, OPT_META,       OPT_KIND,      OPT_FORMAT,
    OPT_THREADS, CLI_LINE_OPTIONS, OPT_QUIET,     OPT_MAX_MEMORY, OPT_HELP,      OPT_END};

static int run(const cli_settings *s) {
    if (!s->redis) cli_die("push", "as in --redis localhost:6379", "--redis is missing");
    if (!s->redis_key || !*s->redis_key) cli_die("push", "--key NAME", "which key?");
    if (!s->shards) cli_expect_args(s, 1, 1);
#ifdef UMBEL_WITH_HIREDIS
    return s->shards ? cli_push_shards(s) : cli_push_file(s);
#else
    cli_die("push", "install libhiredis-dev and build it again",
            "this umbel was built without hiredis");
#endif
}

const cli_command cli_command_push = {
    .name = "push",
    .summary = "load a filter into Redis or Valkey",
    .synopsis = "FILTER --redis HOST:PORT --key NAME [OPTION]...",
    .examples =
        "# Built offline, then a key of the server in one step; clients ask BF.EXISTS urls KEY\n"
        "umbel build -p 0.1% -o urls.umb urls.txt\n"
        "umbel push urls.umb --redis localhost:6379 --key urls\n"
        "# Larger than one node: eight filters, urls:{0} to urls:{7}, spread over a cluster\n"
        "umbel push urls.txt --shards 8 -p 0.1% --cluster --redis node1:6379 --key urls\n",
    .text =
        "FILTER is a native filter, for umbel's module, or one of format redisbloom, for that "
        "and for RedisBloom. It is sent in pieces to a key beside NAME and gets its name at the "
        "end, so clients see the old filter or the new one. A run that was interrupted goes on "
        "where it stopped when it is started again within a day.\n\n"
        "On the server a native filter takes items up to what it was planned for; one built with "
        "--meta bf.expansion=2 --meta bf.error=RATE grows beyond, and keeps RATE, which must be "
        "higher than its own.\n\n"
        "The server gets the key of a keyed filter (--secret-file), as it hashes for its clients, "
        "and gives it on to its replicas and its dumps.\n\n"
        "With --shards the arguments are files of lines instead: bits cannot be told apart by the "
        "keys they belong to. The shard of a key is its CRC-32 times N, divided by 2^32; "
        "docs/redis.md shows it in a few languages. All shards are sent before the first gets "
        "its name.",
    .exits = CLI_EXITS_DONE,
    .options = options,
    .run = run,
};
