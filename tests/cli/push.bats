# SPDX-License-Identifier: MIT
# labels: asan
# What push refuses before sending anything.  tests/module/test_push.py uses real servers.
load helper

here() {
    run umbel push x --redis 127.0.0.1:1 --key k
    [[ $output != *"without hiredis"* ]] || skip "built without hiredis"
    urls 1 100 > lines
    umbel build -q -o f.umb lines
}

@test "push: says what is missing" {
    refused "--redis is missing (as in --redis localhost:6379)" umbel push f.umb --key k
    refused "--key is missing (as in --key urls)" umbel push f.umb --redis localhost
    refused "--key is missing (as in --key urls)" umbel push f.umb --redis localhost --key ''
    refused "missing argument" umbel push --redis localhost --key k
    refused "unexpected argument 'b'" umbel push --redis localhost --key k a b
}

@test "push: addresses, files and servers that do not exist" {
    here
    refused "'h:port' is not an address" umbel push f.umb --redis h:port --key k
    refused "No such file" umbel push none.umb --redis 127.0.0.1:1 --key k
    refused "is a directory" umbel push . --redis 127.0.0.1:1 --key k
    refused "127.0.0.1:1: Connection refused (is redis-server running there?)" \
        umbel push f.umb --redis 127.0.0.1:1 --key k
    refused "./none: No such file" umbel push f.umb --redis 127.0.0.1:1 --key k --auth-file ./none
    : > empty
    refused "empty: is empty (one line: the password)" \
        umbel push f.umb --redis 127.0.0.1:1 --key k --auth-file empty
    refused "$PWD/no.sock: No such file" umbel push f.umb --redis "$PWD/no.sock" --key k
}

@test "push: URLs that cannot be used" {
    here
    go() { umbel push f.umb --key k --redis "$@"; }
    refused "is not a redis:// or rediss:// URL" go http://localhost
    refused "host and port are ambiguous" go redis://localhost:port
    refused "host and port are ambiguous" go redis://:pass/word@localhost
    refused "? and # are not supported" go 'redis://localhost?db=1'
    refused "the number of a database" go redis://localhost/one
    refused "there is no such database" go redis://localhost/4294967296
    refused "a % is not followed by two hexadecimal digits" go redis://:100%@localhost
    refused "has a user without a password" go redis://ada@localhost
    refused "127.0.0.1:1: Connection refused" go redis://:secret@127.0.0.1:1/2
    refused "[::1]:1: " go 'redis://[::1]:1'
    refused "has a database, too (one will do)" go redis://localhost/2 --db 2
    printf 'ada\nsecret\n' > two
    refused "has a password, too" go redis://:secret@localhost --auth-file two
    refused "has a user, too" go redis://ada@localhost --auth-file two
    refused "--cert-key: is the key of a certificate (--cert F)" go rediss://localhost --cert-key two
    refused "--sni: applies to TLS only (--redis rediss://HOST:PORT)" go redis://localhost --sni x
    refused "a URL follows --redis" umbel push redis://:secret@localhost --redis localhost --key k
    refused "unknown option --redi (did you mean '--redis'?)" umbel push f.umb --redi=redis://:secret@h --key k
    [[ $output != *secret* ]]
}

@test "push: shards are built from files of lines, as native or redisbloom" {
    here
    refused "cannot be a pipe: it is read once per shard" umbel push --shards 2 --redis 127.0.0.1:1 --key k < <(cat lines)
    refused "puts all shards into one slot (use a NAME without {)" \
        umbel push lines --shards 2 --redis 127.0.0.1:1 --key 'a{b}'
    refused "at most 16384" umbel push lines --shards 16385 --redis 127.0.0.1:1 --key k
    refused "native or redisbloom" \
        umbel push lines --shards 2 --format guava --redis 127.0.0.1:1 --key k
    refused "filters that are built once cannot be shards" \
        umbel push lines --shards 2 --kind static --redis 127.0.0.1:1 --key k
}
