#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# labels: checks
# scripts/setup on machines of all sorts, simulated by small stand-ins for the commands it calls.

setup() {
    bin=$BATS_TEST_TMPDIR/bin
    calls=$BATS_TEST_TMPDIR/calls
    mkdir "$bin"
    touch "$calls"
    for tool in sh env cat; do ln -s "$(command -v $tool)" "$bin/$tool"; done
    stand_in dpkg-query '[ "$4" != libzstd-dev ] && [ "$4" != cmake ] && echo installed'
    stand_in apt-get "echo \"\$DEBIAN_FRONTEND \$*\" >>'$calls'"
    stand_in id 'echo 0'
    stand_in npm "echo npm >>'$calls'"
}

# stand_in NAME CODE - a command of that name that runs this code.
stand_in() {
    printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}

setup_run() {
    run env PATH="$bin" "$BATS_TEST_DIRNAME/../../scripts/setup" "$@"
    echo "$output"
    cat "$calls"
}

installs='noninteractive .*install -y --no-install-recommends cmake libzstd-dev *$'

@test "setup: nothing missing, nothing done" {
    stand_in dpkg-query 'echo installed'
    for part in run test bench js; do
        setup_run $part
        [ "$status" -eq 0 ]
        [ -z "$output" ]
    done
    [ ! -s "$calls" ]
}

@test "setup: root installs just what is missing" {
    setup_run
    [ "$status" -eq 0 ]
    [ "$(wc -l <"$calls")" -eq 2 ]
    grep -q 'noninteractive .*update$' "$calls"
    grep -q "$installs" "$calls"
}

@test "setup: others go through sudo" {
    stand_in id 'echo 1000'
    stand_in sudo "echo sudo >>'$calls'; exec \"\$@\""
    setup_run
    [ "$status" -eq 0 ]
    [ "$(grep -c '^sudo$' "$calls")" -eq 2 ]
    grep -q "$installs" "$calls"
}

@test "setup: without root and sudo it names the packages" {
    stand_in id 'echo 1000'
    setup_run
    [ "$status" -eq 1 ]
    [[ $output == *"takes root or sudo"*"cmake libzstd-dev"* ]]
    [ ! -s "$calls" ]
}

@test "setup: when apt-get fails it names the packages" {
    stand_in apt-get 'echo "no network" >&2; exit 100'
    setup_run
    [ "$status" -eq 1 ]
    [[ $output == *"no network"*"apt-get failed"*"cmake libzstd-dev"* ]]
}

@test "setup: another system gets the list and continues" {
    rm "$bin/apt-get"
    setup_run
    [ "$status" -eq 0 ]
    [[ $output == *"not a Debian system"*"libxxhash-dev"* ]]
}

@test "setup: no such part" {
    setup_run everything
    [ "$status" -eq 2 ]
    [[ $output == *"no part called 'everything'"* ]]
}

@test "setup: knows every part that the Makefile asks for" {
    parts=$(sed -n 's/^\t-\{0,1\}scripts\/setup \([a-z]*\)$/\1/p' Makefile | sort -u)
    [ "$(wc -l <<< "$parts")" -ge 10 ]
    for part in $parts; do
        grep -q "^$part) packages=" scripts/setup || { echo "no part $part"; return 1; }
        sed -n '3,15p' scripts/setup | grep -qw "$part" || { echo "$part is not described"; return 1; }
    done
}
