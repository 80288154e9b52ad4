/* SPDX-License-Identifier: MIT
 *
 * cmd_push.c - umbel push: load a filter into a Redis server
 */
#include "command/command.h"
#include "push/push.h"

static const uint8_t options[] = {OPT_REDIS,      OPT_REDIS_KEY, OPT_REPLACE,      OPT_SAME_RULE,
                                  OPT_CLUSTER,    OPT_AUTH_FILE, OPT_SECRET_FILE,  OPT_SHARDS,
                                  OPT_SHARD_KEYS, OPT_SHARD_FPR, OPT_META,         OPT_KIND,
                                  OPT_FORMAT,     OPT_THREADS,   OPT_QUIET,        OPT_JSON,
                                  OPT_MAX_MEMORY, OPT_HELP,      CLI_LINE_OPTIONS, OPT_END};

static int run(const cli_settings *s) {
    if (!s->redis) cli_die("push", "as in --redis localhost:6379", "--redis is missing");
    if (!s->redis_key || !*s->redis_key) cli_die("push", "as in --key urls", "--key is missing");
    if (!s->shards) cli_expect_args(s, 1, 1);
#ifdef UMBEL_WITH_HIREDIS
    return s->shards ? cli_push_shards(s) : cli_push_file(s);
#else
    cli_die("push", "install libhiredis-dev and rebuild", "this umbel was built without hiredis");
#endif
}

const cli_command cli_command_push = {
    .name = "push",
    .summary = "load a filter into Redis or Valkey",
    .synopsis = "FILTER --redis HOST:PORT --key NAME [OPTION]...",
    .examples =
        "# Build offline, publish in one step; clients then call BF.EXISTS urls KEY\n"
        "umbel build -p 0.1% -o urls.umb urls.txt\n"
        "umbel push urls.umb --redis localhost:6379 --key urls\n"
        "# Too large for one node: eight filters, urls:{0} to urls:{7}, spread over a cluster\n"
        "umbel push urls.txt --shards 8 -p 0.1% --cluster --redis node1:6379 --key urls\n",
    .text = "FILTER is a native filter, for umbel's module, or one of format redisbloom, for "
            "umbel's module and for RedisBloom. It is sent in chunks to a temporary key and "
            "renamed to NAME at the end, so clients see either the old filter or the new one. An "
            "interrupted push resumes where it stopped if it is run again within a day.\n\n"
            "On the server, a native filter takes items up to its planned capacity; one built "
            "with --meta bf.expansion=2 --meta bf.error=RATE grows beyond it and keeps RATE, "
            "which must be higher than its own rate.\n\n"
            "A filter built with --lower, --upper, --trim or -k is refused, because the server "
            "does not apply them: BF.EXISTS would say no to keys that umbel check finds. "
            "--same-rule says that the clients make keys in the same way. With --shards, --lower, "
            "--upper and --trim are refused likewise.\n\n"
            "The server receives the secret of a keyed filter (--secret-file), because it hashes "
            "on behalf of its clients, and passes it on to its replicas and its dumps.\n\n"
            "With --shards the arguments are files of lines instead, because the bits of a filter "
            "cannot be separated by key. The shard of a key is its CRC-32 times N, divided by "
            "2^32; docs/redis.md shows this in several languages. All shards are sent before the "
            "first one gets its name.",
    .exits = CLI_EXITS_DONE,
    .options = options,
    .run = run,
};
