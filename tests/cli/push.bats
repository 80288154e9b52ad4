# SPDX-License-Identifier: MIT
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
