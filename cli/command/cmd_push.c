/* SPDX-License-Identifier: MIT
 *
 * cmd_push.c - umbel push: load a filter into a Redis server
 */
#include "command/command.h"
#include "options/programs.h"

static const uint8_t options[] = {
    OPT_REDIS,      OPT_REDIS_KEY, OPT_REPLACE,  OPT_AUTH_FILE,   OPT_DATABASE,     OPT_CLUSTER,
    OPT_WAIT,       OPT_GROW,      OPT_SHARDS,   OPT_SHARD_KEYS,  OPT_SHARD_FPR,    OPT_META,
    OPT_PREFIX,     OPT_KIND,      OPT_FORMAT,   OPT_SECRET_FILE, OPT_SAME_RULE,    OPT_THREADS,
    OPT_MAX_MEMORY, OPT_QUIET,     OPT_JSON,     OPT_HELP,        CLI_LINE_OPTIONS, OPT_HEADING_TLS,
    OPT_CACERT,     OPT_CERT,      OPT_CERT_KEY, OPT_SNI,         OPT_END};

const cli_command cli_command_push = {
    .name = "push",
    .summary = "load a filter into Redis or Valkey",
    .synopsis = "FILTER --redis SERVER --key NAME [OPTION]...",
    .examples = "# Build offline, publish in one step; clients then call BF.EXISTS urls KEY\n"
                "umbel build -p 0.1% -o urls.umb urls.txt\n"
                "umbel push urls.umb --redis localhost:6379 --key urls\n"
                "# Over TLS, as a user whose password is in a file, into database 2\n"
                "umbel push urls.umb --redis rediss://ada@host:6380/2 --auth-file F --key urls\n"
                "# Too large for one node: eight filters, urls:{0} to urls:{7}, in a cluster\n"
                "umbel push urls.txt --shards 8 -p 0.1% --cluster --redis node1:6379 --key urls\n",
    .text = "FILTER is a native filter, for umbel's module, or one of format redisbloom, for "
            "umbel's module and for RedisBloom. It is sent in chunks to a temporary key and "
            "renamed to NAME at the end, so clients see either the old filter or the new one. An "
            "interrupted push resumes where it stopped if it is run again within a day.\n\n"
            "On the server, a native filter takes items up to its planned capacity. With "
            "--expansion 2 a blocked or line one grows beyond it by layers, each twice as "
            "large as the one before, and all of them together keep -p RATE, which must be higher "
            "than its own rate; without -p it is twice that. Shards are then built with half of "
            "RATE. Filters of format redisbloom grow as they were built to.\n\n"
            "With rediss:// the server's certificate must be signed by a trusted authority, "
            "be valid today and name HOST; this cannot be switched off. For a self-signed "
            "certificate, --cacert names that certificate, and --sni the name in it. A user or "
            "password in a URL is percent-encoded: %40 is @, %3A :, %2F /. A password in the URL "
            "stays in the shell's history; --auth-file keeps it out.\n\n"
            "While the key's slot moves to another node of a cluster (ASK, TRYAGAIN), or the "
            "server loads its data (LOADING), push waits, up to --wait seconds for each command. "
            "Everything but the final rename works during a slot migration.\n\n"
            "A filter built with --lower, --upper, --trim or -k is refused, because the server "
            "does not apply them: BF.EXISTS would say no to keys that umbel check finds. "
            "--same-rule says that the clients make keys in the same way. With --shards, --lower, "
            "--upper and --trim are likewise refused.\n\n"
            "The server receives the secret of a keyed filter (--secret-file), because it hashes "
            "on behalf of its clients, and passes it on to its replicas and its dumps.\n\n"
            "With --shards the arguments are files of lines instead, because the bits of a filter "
            "cannot be separated by key. The shard of a key is its CRC-32 times N, divided by "
            "2^32; docs/redis.md shows this in several languages. All shards are sent before the "
            "first one gets its name.",
    .exits = "0 done, 2 error, 3 done, but some lines had no key",
    .options = options,
    .run = CLI_APART(cli_run_push),
};
