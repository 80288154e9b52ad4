#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# push, serve and table are programs of their own, which umbel finds beside it and where it is installed.
load helper

@test "programs: found beside umbel, in libexec of the same prefix, and through a link" {
    real=$(readlink -f "$UMBEL")
    [ -e "$(dirname "$real")/umbel-table" ] || skip "this umbel is one program"
    mkdir -p prefix/bin prefix/libexec/umbel elsewhere beside
    cp "$real" prefix/bin
    cp "$(dirname "$real")/umbel-table" prefix/libexec/umbel
    cp "$real" "$(dirname "$real")/umbel-table" beside
    ln -s "$PWD/prefix/bin/umbel" elsewhere/um
    for way in prefix/bin/umbel elsewhere/um beside/umbel; do
        "$way" table "$root/tests/golden/table/keys300.ldb" > out
        grep -q 'leveldb' out
    done
    (cd / && PATH="$OLDPWD/prefix/bin" umbel table "$root/tests/golden/table/keys300.ldb" > /dev/null)
}

@test "programs: one that is missing or cannot start is named; help and mistakes need none" {
    real=$(readlink -f "$UMBEL")
    [ -e "$(dirname "$real")/umbel-table" ] || skip "this umbel is one program"
    mkdir -p bin libexec/umbel
    cp "$real" bin
    for command in push serve table; do
        refused "umbel: $command: $PWD/bin/../libexec/umbel/umbel-$command is missing" bin/umbel $command
    done
    bin/umbel serve --help | grep -q '^umbel serve - '
    refused "unknown option --htpt (did you mean '--http'?)" bin/umbel serve --htpt x
    echo 'not a program' > libexec/umbel/umbel-serve
    refused 'umbel-serve: Permission denied' bin/umbel serve --squid x
    chmod +x libexec/umbel/umbel-serve
    refused 'umbel-serve: Exec format error' bin/umbel serve --squid x
}

@test "programs: standard input, secrets from pipes, exit statuses and closed descriptors pass through" {
    seq 100 | umbel build -q -o list.umb
    printf '7\n1000\n' | umbel serve --squid list.umb > out
    [ "$(cut -d ' ' -f 1 out | tr '\n' ' ')" = "OK ERR " ]
    (umask 077 && head -c 16 /dev/urandom > key)
    seq 100 | umbel build -q --secret-file key -o keyed.umb
    printf '7\n' | umbel serve --squid --secret-file <(cat key) keyed.umb | grep -q '^OK'
    run -1 umbel table "$root/tests/golden/table/keys300.ldb" --check nothere
    run -2 bash -c '"$1" table "$2" >&-' - "$UMBEL" "$root/tests/golden/table/keys300.ldb"
}
