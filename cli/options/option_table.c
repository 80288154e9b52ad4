/* SPDX-License-Identifier: MIT
 *
 * option_table.c - the one table of options
 */
#include "options/options.h"

#define AT(member) offsetof(cli_settings, member)
#define FLAG(letters, name, member, help) \
    { letters, name, NULL, NULL, TYPE_FLAG, AT(member), help }

#define HEADING(text) \
    { "", "", NULL, NULL, TYPE_FLAG, 0, text }

const cli_option cli_options[OPTION_COUNT] = {
    [OPT_END] = HEADING(""),
    [OPT_HEADING_LINES] = HEADING("How lines become keys"),
    [OPT_HEADING_FOREIGN] = HEADING("Filters of other systems"),
    [OPT_HEADING_TLS] = HEADING("TLS"),

    [OPT_OUTPUT] = {"o", "output", "OUT", "FILE", TYPE_TEXT, AT(output),
                    "write the filter to OUT, atomically; - is standard output"},
    [OPT_FORCE] = FLAG("f", "force", force, "overwrite OUT if it exists"),
    [OPT_KEYS] = {"n", "keys", "KEYS", NULL, TYPE_COUNT, AT(keys),
                  "plan for this many keys: 1000000, 2e9, 500M (here M is a million)"},
    [OPT_FPR] = {"p", "fpr", "RATE", NULL, TYPE_RATE, AT(fpr),
                 "the false-positive rate to promise: 1%, 0.01, 1/1000, 1e-6"},
    [OPT_FOLD_FPR] =
        {"p", "fpr", "RATE", NULL, TYPE_RATE, AT(fpr),
         "shrink while the false-positive rate stays at or below RATE: 1%, 0.01, 1/1000"},
    [OPT_BYTES] = {"m", "bytes", "SIZE", NULL, TYPE_SIZE, AT(bytes),
                   "memory for the bits: 500MiB, 500M, 2GB, 2e9 (here M is MiB)"},
    [OPT_KIND] = {"", "kind", "KIND", "KIND", TYPE_KIND, AT(kind),
                  "the kind of filter; auto is blocked or line, or classic if much smaller"},
    [OPT_TMP] = {"", "tmp", "DIR", "FILE", TYPE_TEXT, AT(tmp),
                 "static: keep 8 bytes per key in a file in DIR while building, not in memory"},
    [OPT_NEVER] = {"", "never", "FILE", "FILE", TYPE_LIST, AT(never),
                   "never find the keys in FILE, unless they are added as well; may be repeated"},
    [OPT_HASHES] = {"", "hashes", "K", NULL, TYPE_COUNT32, AT(hashes),
                    "probes per key, instead of the best number"},
    [OPT_SEED] = {"", "seed", "S", NULL, TYPE_NUMBER, AT(seed),
                  "hash with this seed; only filters with the same seed can be merged"},
    [OPT_SECRET_FILE] = {"", "secret-file", "FILE", "FILE", TYPE_TEXT, AT(secret_file),
                         "the filter is keyed, and FILE holds its secret: 16 random bytes or 32 "
                         "hexadecimal digits"},
    [OPT_META] = {"", "meta", "NAME=VALUE", NULL, TYPE_PAIRS, AT(meta),
                  "store NAME=VALUE with the filter; may be repeated"},
    [OPT_FORMAT] = {"", "format", "FORMAT", "FORMAT", TYPE_FORMAT, AT(format),
                    "the format of the filter, if it is not umbel's own"},
    [OPT_BITS_PER_KEY] = {"", "bits-per-key", "N", NULL, TYPE_COUNT32, AT(bits_per_key),
                          "leveldb, corekv, badger, ClickHouse indexes: size by bits per key"},
    [OPT_TYPE] = {"", "type", "TYPE", "TYPE", TYPE_TYPE, AT(type),
                  "what a line stands for in a system whose keys are not text (string)"},
    [OPT_EXPANSION] = {"", "expansion", "N", NULL, TYPE_COUNT32, AT(expansion),
                       "redisbloom: each new layer is N times larger (2)"},
    [OPT_NONSCALING] = FLAG("", "nonscaling", nonscaling, "redisbloom: never add a layer"),
    [OPT_VARIANT] = {"", "variant", "NAME", "guava2024 mitz32 int32 index numbers pre2024 v1 v2",
                     TYPE_LIST, AT(variants),
                     "a variant of the format: guava2024 (hashes from the rate alone), mitz32 "
                     "(Guava's MURMUR128_MITZ_32); int32 (gocrc32 where Go's int has 32 bits); "
                     "index, numbers, pre2024 (ClickHouse's skip index); v1, v2 (Spark, v2); may "
                     "be repeated"},
    [OPT_FROM] = {"", "from", "FORMAT", "FORMAT", TYPE_FORMAT, AT(from),
                  "the format of IN; formats with a magic number are recognised"},
    [OPT_TO] = {"", "to", "FORMAT", "FORMAT", TYPE_FORMAT, AT(to),
                "the format of OUT (that of IN)"},

    [OPT_NULL] = FLAG("0z", "null", null,
                      "lines end in NUL instead of newline, in input and output; -z is the same"),
    [OPT_CRLF] =
        FLAG("", "crlf", crlf, "a carriage return before the newline is not part of the key"),
    [OPT_SKIP_EMPTY] = FLAG("", "skip-empty", skip_empty, "skip lines with an empty key"),
    [OPT_DELIMITER] = {"t", "delimiter", "C", NULL, TYPE_BYTE, AT(delimiter),
                       "fields are separated by the character C, which quotes do not protect: "
                       "see --csv (default: runs of white space)"},
    [OPT_FIELD] = {"k", "field", "LIST|NAME", NULL, TYPE_LIST, AT(fields),
                   "the key is these fields of the line, counted from 1: 2, or 1,7, or 2-4, or -1 "
                   "for the last; or the column NAME, and the first line is a header; may be "
                   "repeated"},
    [OPT_CSV] = FLAG("", "csv", csv,
                     "fields are those of CSV (RFC 4180): between commas, or -t C; those in "
                     "quotes may contain them, and line breaks"),
    [OPT_HEADER] = FLAG("", "header", header, "the first line of each file is a header, not a key"),
    [OPT_JSON_KEY] = {"", "json-key", "PATH", NULL, TYPE_LIST, AT(json_keys),
                      "lines are JSON, and the key is the member at PATH, written as for jq: "
                      ".user.email; may be repeated"},
    [OPT_MISSING_EMPTY] = FLAG("", "missing-empty", missing_empty,
                               "lines without the field have the empty key, instead of none"),
    [OPT_TRIM] = FLAG("", "trim", trim, "strip white space from both ends of the key"),
    [OPT_LOWER] = FLAG("", "lower", lower, "lowercase the key (ASCII only)"),
    [OPT_UPPER] = FLAG("", "upper", upper, "uppercase the key (ASCII only)"),
    [OPT_DOMAINS] = FLAG("", "domains", domains,
                         "keys are names of domains, without regard to case and a dot at the end; "
                         "a lookup asks for the name and each parent"),
    [OPT_SHA1] = FLAG("", "sha1", sha1, "the key is the SHA-1 digest, in hexadecimal"),
    [OPT_NTLM] = FLAG("", "ntlm", ntlm, "the key is the NTLM digest, in hexadecimal"),
    [OPT_DIGESTS] =
        FLAG("", "digests", digests, "--sha1, --ntlm: the lines of this input are digests already"),
    [OPT_RECIPE] = {"", "recipe", "TEXT", NULL, TYPE_TEXT, AT(recipe),
                    "all of this as one text, as umbel info shows it: 'csv column=email lower'"},
    [OPT_MAX_LINE] = {"", "max-line", "SIZE", NULL, TYPE_SIZE, AT(max_line),
                      "refuse longer lines (1GiB, or 16MiB with --csv; at most 3GiB)"},
    [OPT_THREADS] = {"j", "threads", "N", NULL, TYPE_COUNT32, AT(threads),
                     "use N threads; the output stays in input order (1)"},
    [OPT_MAX_MEMORY] =
        {"", "max-memory", "SIZE", NULL, TYPE_SIZE, AT(max_memory),
         "refuse filters that need more memory than SIZE; files that are only read are "
         "mapped and do not count"},

    [OPT_CHECK_KEY] = {"e", "key", "KEY", NULL, TYPE_LIST, AT(given_keys),
                       "look up KEY itself, instead of lines; may be repeated"},
    [OPT_ASK] =
        FLAG("", "ask", ask,
             "ask for one key on the terminal, without showing it; says in words whether it "
             "is in the filter"),
    [OPT_GIVEN_KEY] = {"e", "key", "KEY", NULL, TYPE_LIST, AT(given_keys),
                       "KEY itself, instead of lines; may be repeated"},
    [OPT_LINE_NUMBER] = FLAG("n", "line-number", line_number,
                             "print the number of each line in its file, and a colon, before it"),
    [OPT_WITH_FILENAME] = FLAG("H", "with-filename", with_filename,
                               "print the name of its file, and a colon, before each line; with "
                               "-c, one count per file"),
    [OPT_LINE_BUFFERED] =
        FLAG("", "line-buffered", line_buffered,
             "write what was read so far immediately, even if more input is there; "
             "when the input pauses, that is always done"),
    [OPT_MARK] = FLAG("", "mark", mark, "print all lines, each after a column that says yes or no"),
    [OPT_VERIFY_WITH] = {"", "verify-with", "FILE", "FILE", TYPE_TEXT, AT(verify_with),
                         "FILE has the keys that the filter was built from: drop the false "
                         "positives"},
    [OPT_FOLLOW_FILTER] = FLAG("", "follow-filter", follow_filter,
                               "take up a filter as soon as its file is replaced"),
    [OPT_SHAPE_KEYS] = {"", "keys", "KEYS", NULL, TYPE_COUNT, AT(keys),
                        "the filter was planned for this many keys"},
    [OPT_INVERT] =
        FLAG("v", "invert", invert, "print the lines that are certainly not in the filter"),
    [OPT_COUNT] = FLAG("c", "count", count, "print only the number of lines"),
    [OPT_QUIET_MATCH] =
        FLAG("q", "quiet", quiet,
             "print nothing and stop at the first match; the exit status is the answer; -qq: no "
             "warnings either"),
    [OPT_ALSO] = {"", "also", "FILTER", "FILE", TYPE_LIST, AT(also),
                  "look in this filter too; may be repeated"},
    [OPT_ANNOTATE] = FLAG("", "annotate", annotate,
                          "print the names of the matching filters and a tab before each line"),
    [OPT_STRICT] = FLAG("", "strict", strict, "fail at the first key beyond the plan"),
    [OPT_STATE] = {"", "state", "FILTER", "FILE", TYPE_TEXT, AT(state),
                   "remember keys across runs in FILTER, which is created if missing"},
    [OPT_WINDOW] = {"", "window", "N|DURATION/STEP", NULL, TYPE_WINDOW, AT(window),
                    "remember the last N keys, or those of the last DURATION (24h/1h, 7d/1d, "
                    "90m/10m), and forget older ones; for endless streams"},
    [OPT_REPEATED] = FLAG("d", "repeated", repeated, "print the repeated lines instead"),
    [OPT_COUNTS] = FLAG("c", "count", counts,
                        "print how often each key occurs before its first line; files are read "
                        "twice"),
    [OPT_TOP] = {"", "top", "N", NULL, TYPE_COUNT32, AT(top),
                 "print the N most frequent keys, with their counts, at the end of the input"},
    [OPT_EXACT] = FLAG("", "exact", exact,
                       "leave nothing out: compare the lines that B may have with B itself"),
    [OPT_DIFF_FPR] = {"p", "fpr", "RATE", NULL, TYPE_RATE, AT(fpr),
                      "at most this share of the lines to be printed is left out (0.1%)"},
    [OPT_PRESENT] = {"", "present", "FILE", "FILE", TYPE_TEXT, AT(present),
                     "every line of FILE must be in the filter"},
    [OPT_ABSENT] = {"", "absent", "FILE", "FILE", TYPE_TEXT, AT(absent),
                    "no line of FILE was added: measure the false-positive rate"},
    [OPT_PLOT] = FLAG("", "plot", plot, "plot rate against keys, even if not on a terminal"),
    [OPT_CHECK] = {"", "check", "KEY", NULL, TYPE_TEXT, AT(check),
                   "show whether and where the file may hold KEY; exit status 0 or 1"},
    [OPT_COLUMN] = {"", "column", "C", NULL, TYPE_TEXT, AT(column),
                    "only this column: its name in Parquet, its number (1, 2, ...) in ClickHouse"},
    [OPT_COLUMNS] = {"", "columns", "N", NULL, TYPE_COUNT32, AT(columns),
                     "ClickHouse: the index covers N columns (1)"},
    [OPT_COLUMN_TYPE] =
        {"", "type", "TYPE", "TYPE", TYPE_TEXT, AT(column_type),
         "what KEY stands for, or ClickHouse's name for it: UInt64, Date, ...; Parquet "
         "files record it (string)"},
    [OPT_INDEX] = {"", "index", "DEFINITION", NULL, TYPE_TEXT, AT(index),
                   "ClickHouse: the index as the table defines it, 'tokenbf_v1(256, 2, 0)'; for a "
                   "directory, preceded by its name: 'tk tokenbf_v1(256, 2, 0)'"},
    [OPT_SIZE_FPR] = {"p", "fpr", "RATE", NULL, TYPE_RATE, AT(fpr),
                      "show what size would keep this false-positive rate (1%)"},
    [OPT_FILTER] = {"", "filter", "N", NULL, TYPE_NUMBER, AT(filter),
                    "write the filter of place N, from 0 on, to -o OUT, in its system's format"},
    [OPT_FILL_PLOT] = FLAG("", "plot", plot, "plot the fill, even if not on a terminal"),

    [OPT_REDIS] = {"", "redis", "SERVER", NULL, TYPE_TEXT, AT(redis),
                   "the server: localhost:6379, [::1]:6379, /run/redis/redis.sock, "
                   "redis://USER:PASSWORD@HOST:PORT/DATABASE, or rediss:// over TLS"},
    [OPT_REDIS_KEY] = {"", "key", "NAME", NULL, TYPE_TEXT, AT(redis_key), "the key to create"},
    [OPT_SHARDS] = {"", "shards", "N", NULL, TYPE_COUNT32, AT(shards),
                    "build N filters from lines and create the keys NAME:{0} to NAME:{N-1}"},
    [OPT_CLUSTER] =
        FLAG("", "cluster", cluster, "follow redirections to the cluster node that has the key"),
    [OPT_DATABASE] = {"", "db", "N", NULL, TYPE_NUMBER, AT(database),
                      "the number of the database (0)"},
    [OPT_WAIT] = {"", "wait", "SECONDS", NULL, TYPE_NUMBER, AT(wait),
                  "how long a command may wait while the key's slot moves or the server loads its "
                  "data (60)"},
    [OPT_CACERT] = {"", "cacert", "F", "FILE", TYPE_TEXT, AT(cacert),
                    "trust the authorities in F (those of the system)"},
    [OPT_CERT] = {"", "cert", "F", "FILE", TYPE_TEXT, AT(cert),
                  "show the server the certificate in F"},
    [OPT_CERT_KEY] = {"", "cert-key", "F", "FILE", TYPE_TEXT, AT(cert_key),
                      "its private key is in F (in the file of --cert)"},
    [OPT_SNI] = {"", "sni", "NAME", NULL, TYPE_TEXT, AT(sni),
                 "ask for NAME, which the server's certificate must have, instead of HOST"},
    [OPT_GROW] = {"", "expansion", "N", NULL, TYPE_COUNT32, AT(expansion),
                  "let the filter grow on the server when it is full, each layer N times as large "
                  "as the one before"},
    [OPT_AUTH_FILE] = {"", "auth-file", "F", "FILE", TYPE_TEXT, AT(auth_file),
                       "F holds the password, or two lines: the user and the password"},
    [OPT_REPLACE] = FLAG("f", "force", force, "replace an existing filter"),
    [OPT_SAME_RULE] = FLAG("", "same-rule", same_rule,
                           "push a filter although its keys were changed or cut out of lines "
                           "(--lower, -k): the clients do the same"),
    [OPT_SHARD_KEYS] = {"n", "keys", "KEYS", NULL, TYPE_COUNT, AT(keys),
                        "--shards: plan for this many keys in all shards (those in the input)"},
    [OPT_SHARD_FPR] = {"p", "fpr", "RATE", NULL, TYPE_RATE, AT(fpr),
                       "--shards: promise this false-positive rate (1%); --expansion: that of all "
                       "layers together (twice that of the filter)"},

    [OPT_SQUID] =
        FLAG("", "squid", squid, "answer Squid on standard input and output: external_acl_type"),
    [OPT_REWRITE] =
        {"", "rewrite", "URL", NULL, TYPE_TEXT, AT(rewrite),
         "with --squid, for url_rewrite_program: send requests for what is listed to URL"},
    [OPT_SOCKETMAP] =
        {"", "socketmap", "ADDRESS", NULL, TYPE_LIST, AT(socketmap),
         "answer Postfix' socketmap at unix:PATH, PORT or HOST:PORT; may be repeated"},
    [OPT_ANSWER] = {"", "answer", "TEXT", NULL, TYPE_TEXT, AT(answer),
                    "what a listed key maps to in a socketmap (REJECT)"},
    [OPT_HTTP] = {"", "http", "ADDRESS", NULL, TYPE_LIST, AT(http),
                  "answer HTTP at unix:PATH, PORT or HOST:PORT; may be repeated"},
    [OPT_ANYWHERE] =
        FLAG("", "anywhere", anywhere,
             "listen where other machines can ask, not on loopback and Unix sockets alone"),
    [OPT_MAX_CONNECTIONS] = {"", "max-connections", "N", NULL, TYPE_COUNT, AT(max_connections),
                             "of HTTP, and of socketmaps; more are turned away (10000)"},

    [OPT_QUIET] = FLAG("q", "quiet", quiet, "no progress and no summary; -qq: no warnings either"),
    [OPT_JSON] = FLAG("", "json", json, "print JSON"),
    [OPT_JSON_LINES] = FLAG("", "json", json,
                            "print each selected line as a JSON object, with the filters that "
                            "have it; with -c one object with both counts"),
    [OPT_JSON_SUMMARY] =
        FLAG("", "json", json, "print the summary, on standard error, as a JSON object"),
    [OPT_HELP] = FLAG("h", "help", help, "show this help"),
    [OPT_VERSION] = FLAG("V", "version", version, "show the version"),
};
