/* SPDX-License-Identifier: MIT
 *
 * option_list.h - every option of every command; options.h includes it for the ids, options.c for
 *                 the table
 *
 *   OPTION(ID, letters, name, ARGUMENT, choices, TYPE, field of cli_settings, help)
 *   FLAG(ID, letters, name, field of cli_settings, help)
 *   CHOICE(ID, letters, name, help): a flag that only chooses a mode, see modes.c
 *   HEADING(ID, text): the options after it are shown below it
 *   WORDS(ID): in the list of a command, the flags that the library has for words of recipes
 */

HEADING(HEADING_LINES, "How lines become keys")
HEADING(HEADING_FOREIGN, "Filters of other systems")
HEADING(HEADING_TLS, "TLS")

OPTION(OUTPUT, "o", "output", "OUT", "FILE", TEXT, output,
       "write the filter to OUT, atomically; - is standard output")
FLAG(FORCE, "f", "force", force, "overwrite OUT if it exists")
OPTION(KEYS, "n", "keys", "KEYS", NULL, COUNT, keys,
       "plan for this many keys: 1000000, 2e9, 500M (here M is a million)")
OPTION(FPR, "p", "fpr", "RATE", NULL, RATE, fpr,
       "the false-positive rate to promise: 1%, 0.01, 1/1000, 1e-6")
OPTION(FOLD_FPR, "p", "fpr", "RATE", NULL, RATE, fpr,
       "shrink while the false-positive rate stays at or below RATE: 1%, 0.01, 1/1000")
OPTION(BYTES, "m", "bytes", "SIZE", NULL, SIZE, bytes,
       "memory for the bits: 500MiB, 500M, 2GB, 2e9 (here M is MiB)")
FLAG(NAMES, "", "domains", names,
     "keys are domain names: show how often a name of four labels is found by chance")
OPTION(KIND, "", "kind", "KIND", "KIND", KIND, kind,
       "the kind of filter; auto is blocked or line, or classic if much smaller")
OPTION(TMP, "", "tmp", "DIR", "FILE", TEXT, tmp,
       "static: keep 8 bytes per key in a file in DIR while building, not in memory")
OPTION(SPOOL, "", "tmp", "DIR", "FILE", TEXT, tmp,
       "keep a pipe that is read twice in a file in DIR ($TMPDIR, or /tmp)")
OPTION(NEVER, "", "never", "FILE", "FILE", LIST, never,
       "never find the keys in FILE, unless they are added as well; may be repeated")
OPTION(UNIVERSE, "", "universe", "FILE", "FILE", LIST, never,
       "make an exact filter, which finds none of the keys in FILE, however many, unless they are "
       "added as well; may be repeated")
OPTION(UNIVERSE_SIZE, "", "universe", "KEYS", NULL, COUNT, universe,
       "exact: a filter that is never wrong about this many other keys, known when it is built")
OPTION(HASHES, "", "hashes", "K", NULL, COUNT32, hashes,
       "probes per key, instead of the best number")
OPTION(SEED, "", "seed", "S", NULL, SEED, seed,
       "hash with this seed; only filters with the same seed can be merged")
OPTION(SECRET_FILE, "", "secret-file", "FILE", "FILE", TEXT, secret_file,
       "the filter is keyed, and FILE holds its secret: 16 random bytes or 32 "
       "hexadecimal digits")
OPTION(TRUSTED, "", "key", "KEY", "FILE", LIST, trusted,
       "use a file only if KEY has signed it (FILE.minisig): minisign's public key, or a file with "
       "it; may be repeated")
OPTION(NOT_BEFORE, "", "not-before", "N", NULL, NUMBER, not_before,
       "with --key: refuse a file that was signed with a smaller number, an older one")
OPTION(META, "", "meta", "NAME=VALUE", NULL, PAIRS, meta,
       "store NAME=VALUE with the filter; may be repeated")
OPTION(BASE, "", "from", "FILTER", "FILE", TEXT, base,
       "the list as it is: a filter, and the deltas beside it")
OPTION(ADDED, "", "added", "FILE", "FILE", LIST, added,
       "lines that come, in place of OLD and NEW; may be repeated")
OPTION(REMOVED, "", "removed", "FILE", "FILE", LIST, removed, "lines that leave; may be repeated")
OPTION(KEPT, "", "kept", "FILE", "FILE", LIST, kept, "lines that stay; may be repeated")
OPTION(DELTA_FPR, "p", "fpr", "RATE", NULL, RATE, fpr,
       "the false-positive rate of the lines that come (that of FILTER)")
OPTION(FORMAT, "", "format", "FORMAT", "FORMAT", FORMAT, format,
       "the format of the filter, if it is not umbel's own")
OPTION(BITS_PER_KEY, "", "bits-per-key", "N", NULL, COUNT32, bits_per_key,
       "leveldb, corekv, badger, clickhouse, rocksdb: size by bits per key")
OPTION(TYPE, "", "type", "TYPE", "TYPE", TYPE, type,
       "what a line stands for in a system whose keys are not text (string)")
OPTION(EXPANSION, "", "expansion", "N", NULL, COUNT32, expansion,
       "redisbloom: each new layer is N times larger (2)")
FLAG(NONSCALING, "", "nonscaling", nonscaling, "redisbloom: never add a layer")
OPTION(VARIANT, "", "variant", "NAME", "int32 mitz32 guava2024 index numbers pre2024 v1 v2", LIST,
       variants,
       "a variant of the format: guava2024 (hashes from the rate alone), mitz32 "
       "(Guava's MURMUR128_MITZ_32); int32 (gocrc32 where Go's int has 32 bits); "
       "index, numbers, pre2024 (ClickHouse's skip index); v1, v2 (Spark, v2); may "
       "be repeated")
OPTION(FROM, "", "from", "FORMAT", "FORMAT", FORMAT, from,
       "the format of IN; formats with a magic number are recognised")
OPTION(TO, "", "to", "FORMAT", "FORMAT", FORMAT, to, "the format of OUT (that of IN)")

FLAG(NULL, "0z", "null", null,
     "lines end in NUL instead of newline, in input and output; -z is the same")
FLAG(SKIP_EMPTY, "", "skip-empty", skip_empty, "skip lines with an empty key")
OPTION(DELIMITER, "t", "delimiter", "C", NULL, BYTE, delimiter,
       "fields are separated by the character C, which quotes do not protect: "
       "see --csv (default: runs of white space)")
OPTION(FIELD, "k", "field", "LIST|NAME", NULL, LIST, fields,
       "the key is these fields of the line, counted from 1: 2, or 1,7, or 2-4, or -1 "
       "for the last; or the column NAME, and the first line is a header; may be "
       "repeated")
OPTION(JSON_KEY, "", "json-key", "PATH", NULL, LIST, json_keys,
       "lines are JSON, and the key is the member at PATH, written as for jq: "
       ".user.email; may be repeated")
FLAG(DIGESTS, "", "digests", digests,
     "with an option for digests: the lines of this input are already digests")
WORDS(WORDS)
OPTION(RECIPE, "", "recipe", "TEXT", NULL, TEXT, recipe,
       "all of this as one text, as umbel info shows it: 'csv column=email lower'")
OPTION(MAX_LINE, "", "max-line", "SIZE", NULL, SIZE, max_line,
       "refuse longer lines (1GiB, or 16MiB with --csv; at most 3GiB)")
OPTION(THREADS, "j", "threads", "N", NULL, COUNT32, threads,
       "use N threads; the output stays in input order (1)")
OPTION(MAX_MEMORY, "", "max-memory", "SIZE", NULL, SIZE, max_memory,
       "refuse filters, and input (long lines, compression), that need more memory than SIZE; "
       "filters that are only read are mapped and not counted")

OPTION(CHECK_KEY, "e", "text", "KEY", NULL, LIST, given_keys,
       "look up KEY itself, instead of lines; may be repeated")
CHOICE(ASK, "", "ask",
       "ask for one key on the terminal, without showing it; says in words whether it "
       "is in the filter")
OPTION(GIVEN_KEY, "e", "text", "KEY", NULL, LIST, given_keys,
       "KEY itself, instead of lines; may be repeated")
FLAG(LINE_NUMBER, "", "line-number", line_number,
     "print the line number and a colon before each line")
FLAG(WITH_FILENAME, "H", "with-filename", with_filename,
     "print the file name and a colon before each line; with "
     "-c, one count per file")
FLAG(LINE_BUFFERED, "", "line-buffered", line_buffered,
     "write results immediately, even if there is more input; "
     "when the input pauses, they always are")
CHOICE(MARK, "", "mark", "print all lines, each after a column that says yes or no")
OPTION(VERIFY_WITH, "", "verify-with", "FILE", "FILE", TEXT, verify_with,
       "FILE has the keys that the filter was built from: drop the false "
       "positives")
FLAG(FOLLOW_FILTER, "", "follow-filter", follow_filter,
     "use a new filter as soon as its file is replaced")
FLAG(UNCHECKED, "", "unchecked", unchecked,
     "do not verify the checksums of what lookups read: damage gives a wrong no")
OPTION(SHAPE_KEYS, "", "keys", "KEYS", NULL, COUNT, keys,
       "the filter was planned for this many keys")
FLAG(INVERT, "v", "invert", invert, "print the lines that are certainly not in the filter")
CHOICE(COUNT, "c", "count", "print only the number of lines")
CHOICE(ONLY_MATCHING, "", "only-matching", "print only the key of each line, as it is compared")
CHOICE(FILES, "l", "files-with-matches", "print only the names of files with selected lines")
CHOICE(OTHER_FILES, "L", "files-without-match",
       "print only the names of files without selected lines")
OPTION(MAX_COUNT, "", "max-count", "N", NULL, COUNT, max_count,
       "print at most N selected lines of each file")
FLAG(QUIET_MATCH, "q", "quiet", quiet,
     "print nothing and stop at the first match; the exit status is the answer; -qq: no "
     "warnings either")
OPTION(ALSO, "", "also", "FILTER", "FILE", LIST, also,
       "look in this filter as well; may be repeated")
CHOICE(ANNOTATE, "", "annotate",
       "print the names of the matching filters and a tab before each line")
FLAG(STRICT, "", "strict", strict, "fail at the first key beyond the plan")
OPTION(STATE, "", "state", "FILTER", "FILE", TEXT, state,
       "remember keys across runs in FILTER, which is created if missing")
OPTION(SAVE_EVERY, "", "save-every", "N|DURATION", NULL, EVERY, save_every,
       "save FILTER every N lines, or this often (10m), and not only at the end")
OPTION(LOCK_WAIT, "", "wait", "SECONDS", NULL, NUMBER, wait,
       "wait this long for another command that changes the same file (forever)")
OPTION(WINDOW, "", "window", "N|DURATION/STEP", NULL, WINDOW, window,
       "remember the last N keys, or those of the last DURATION (24h/1h, 7d/1d, "
       "90m/10m), and forget older ones; for endless streams")
OPTION(TIME_KEY, "", "time-key", "N|NAME|PATH", NULL, TEXT, time_key,
       "--window goes by the time in each line, not by this machine's clock: it is at the "
       "beginning of this field, column or member of JSON (PATH, as for jq)")
CHOICE(REPEATED, "d", "repeated", "print one line of each key that is repeated: the first")
CHOICE(ALL_REPEATED, "D", "all-repeated", "print all lines of keys that are repeated")
CHOICE(UNIQUE, "u", "unique", "print the lines whose keys are not repeated")
CHOICE(REPEATS, "", "repeats",
       "print every line but the first of each key, as the stream goes by; lost lines appear here")
CHOICE(COUNTS, "c", "count", "print how often each key occurs before its first line")
OPTION(TOP, "", "top", "N", NULL, COUNT32, top,
       "print the N most frequent keys, with their counts, at the end of the input")
FLAG(EXACT, "", "exact", exact,
     "leave nothing out: compare the lines that B may contain with B itself")
OPTION(DIFF_FPR, "p", "fpr", "RATE", NULL, RATE, fpr,
       "at most this share of the lines to be printed is left out (0.1%)")
OPTION(PRESENT, "", "present", "FILE", "FILE", TEXT, present,
       "every line of FILE must be in the filter")
OPTION(ABSENT, "", "absent", "FILE", "FILE", TEXT, absent,
       "no line of FILE was added: measure the false-positive rate")
FLAG(PLOT, "", "plot", plot, "plot rate against keys, even if not on a terminal")
OPTION(CHECK, "", "check", "KEY", NULL, TEXT, check,
       "show whether and where the file may hold KEY; exit status 0 or 1")
OPTION(COLUMN, "", "column", "C", NULL, TEXT, column,
       "only this column: its name in Parquet, its number (1, 2, ...) in ClickHouse")
OPTION(COLUMNS, "", "columns", "N", NULL, COUNT32, columns,
       "ClickHouse: the index covers N columns (1)")
OPTION(COLUMN_TYPE, "", "type", "TYPE", "TYPE", TEXT, column_type,
       "what KEY stands for, or ClickHouse's name for it: UInt64, Date, ...; Parquet "
       "files record it (string)")
OPTION(INDEX, "", "index", "DEFINITION", NULL, TEXT, index,
       "ClickHouse: the index as the table defines it, 'tokenbf_v1(256, 2, 0)'; for a "
       "directory, preceded by its name: 'tk tokenbf_v1(256, 2, 0)'")
OPTION(SIZE_FPR, "p", "fpr", "RATE", NULL, RATE, fpr,
       "show what size would keep this false-positive rate (1%)")
OPTION(FILTER, "", "filter", "N", NULL, NUMBER, filter,
       "write the filter of place N, from 0 on, to -o OUT, in its system's format")
FLAG(FILL_PLOT, "", "plot", plot, "plot the fill, even if not on a terminal")

OPTION(REDIS, "", "redis", "SERVER", NULL, TEXT, redis,
       "the server: localhost:6379, [::1]:6379, /run/redis/redis.sock, "
       "redis://USER:PASSWORD@HOST:PORT/DATABASE, or rediss:// over TLS")
OPTION(REDIS_KEY, "", "key", "NAME", NULL, TEXT, redis_key, "the key to create")
OPTION(PREFIX, "", "prefix", "NAME", NULL, TEXT, prefix,
       "what the commands of the server's module begin with, instead of BF (loadmodule umbel.so "
       "prefix NAME)")
OPTION(SHARDS, "", "shards", "N", NULL, COUNT32, shards,
       "build N filters from lines and create the keys NAME:{0} to NAME:{N-1}")
FLAG(CLUSTER, "", "cluster", cluster, "follow redirections to the cluster node that has the key")
OPTION(DATABASE, "", "db", "N", NULL, NUMBER, database, "the number of the database (0)")
OPTION(WAIT, "", "wait", "SECONDS", NULL, NUMBER, wait,
       "how long a command may wait while the key's slot moves or the server loads its "
       "data (60)")
OPTION(CACERT, "", "cacert", "F", "FILE", TEXT, cacert,
       "trust the authorities in F (those of the system)")
OPTION(CERT, "", "cert", "F", "FILE", TEXT, cert, "show the server the certificate in F")
OPTION(CERT_KEY, "", "cert-key", "F", "FILE", TEXT, cert_key,
       "its private key is in F (in the file of --cert)")
OPTION(SNI, "", "sni", "NAME", NULL, TEXT, sni,
       "ask for NAME, which the server's certificate must have, instead of HOST")
OPTION(GROW, "", "expansion", "N", NULL, COUNT32, expansion,
       "let the filter grow on the server when it is full, each layer N times as large "
       "as the one before")
OPTION(AUTH_FILE, "", "auth-file", "F", "FILE", TEXT, auth_file,
       "F holds the password, or two lines: the user and the password")
FLAG(REPLACE, "f", "force", force, "replace an existing filter")
FLAG(SAME_RULE, "", "same-rule", same_rule,
     "push a filter whose keys were changed or cut out of lines "
     "(--lower, -k): the clients do the same")
OPTION(SHARD_KEYS, "n", "keys", "KEYS", NULL, COUNT, keys,
       "--shards: plan for this many keys in all shards (those in the input)")
OPTION(SHARD_FPR, "p", "fpr", "RATE", NULL, RATE, fpr,
       "--shards: promise this false-positive rate (1%); --expansion: that of all "
       "layers together (twice that of the filter)")

FLAG(SQUID, "", "squid", squid, "answer Squid on standard input and output: external_acl_type")
OPTION(REWRITE, "", "rewrite", "URL", NULL, TEXT, rewrite,
       "with --squid, for url_rewrite_program: redirect requests for listed URLs to URL")
OPTION(SOCKETMAP, "", "socketmap", "ADDRESS", NULL, LIST, socketmap,
       "answer Postfix's socketmap at unix:PATH, PORT or HOST:PORT; may be repeated")
OPTION(ANSWER, "", "answer", "TEXT", NULL, TEXT, answer,
       "what a listed key maps to in a socketmap (REJECT)")
OPTION(HTTP, "", "http", "ADDRESS", NULL, LIST, http,
       "answer HTTP at unix:PATH, PORT or HOST:PORT; may be repeated")
OPTION(SOCKET_MODE, "", "socket-mode", "MODE", NULL, TEXT, socket_mode,
       "make Unix sockets with this octal mode (666: every user may connect)")
FLAG(ANYWHERE, "", "anywhere", anywhere,
     "listen where other machines can connect, not only on loopback and Unix sockets")
OPTION(MAX_CONNECTIONS, "", "max-connections", "N", NULL, COUNT, max_connections,
       "at most N connections for HTTP, and N for socketmaps (10000)")
OPTION(REQUEST_MEMORY, "", "request-memory", "SIZE", NULL, SIZE, request_memory,
       "refuse batches while all of them together take SIZE (64MiB)")

OPTION(SIGNING_KEY, "s", "secret-key", "FILE", "FILE", TEXT, signing_key,
       "sign with the secret key in FILE, minisign's or one that --generate made")
OPTION(NUMBER, "", "number", "N", NULL, COUNT, number,
       "the number of this edition, larger than that of the last (seconds since 1970)")
OPTION(PASSWORD_FILE, "", "password-file", "F", "FILE", TEXT, password_file,
       "the first line of F is the key's password; without this it is asked for on the terminal")
CHOICE(
    GENERATE, "", "generate",
    "make a pair of keys: the secret one in --secret-key FILE, the public one on standard output")
FLAG(NO_PASSWORD, "", "no-password", no_password,
     "--generate: whoever can read FILE can sign, without a password")

FLAG(QUIET, "q", "quiet", quiet, "no progress and no summary; -qq: no warnings either")
OPTION(JSON, "", "json", "[=FILE]", NULL, OPTIONAL, json,
       "write the report as a JSON object to FILE or, if nothing else goes there, to standard "
       "output; what was wrong is in it")
CHOICE(JSON_LINES, "", "json-lines",
       "print each selected line as a JSON object, with the filters that have it")
FLAG(HELP, "h", "help", help, "show this help")
FLAG(VERSION, "V", "version", version, "show the version")
