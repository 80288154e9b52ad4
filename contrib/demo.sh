#!/bin/sh
# SPDX-License-Identifier: MIT
# demo.sh - a blocklist of a million URLs: plan it, build it, query it, measure it
# Usage: contrib/demo.sh [the umbel command]
set -eu
umbel=${1:-${UMBEL:-umbel}}
case $umbel in */*) umbel=$(cd "$(dirname "$umbel")" && pwd)/$(basename "$umbel") ;; esac
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

show() {
    printf '\n$ umbel %s\n' "$*"
    "$umbel" "$@"
}

url='{ printf "https://%s%d.example.org/page/%d.html\n", site, $1 % 5000, $1 }'
seq 1000000 | awk -v site=bad "$url" > blocklist.txt
seq 2000000 | awk -v site=good "$url" > others.txt
# A stream of requests: one in a hundred is on the list.
seq 990000 | awk -v site=fine "$url" > requests.txt
seq 1 100 1000000 | awk -v site=bad "$url" >> requests.txt

echo 'The question: two billion URLs in 500 MiB?'
show plan -n 2e9 -m 500MiB || true

printf '\nA blocklist of a million URLs, wrong once in a thousand:\n'
show build -p 0.1% -o blocklist.umb blocklist.txt
show info blocklist.umb

printf '\nA million requests, 10,000 of them for listed URLs: how many are caught?\n'
show check -c blocklist.umb requests.txt
"$umbel" check blocklist.umb requests.txt | tail -n 3

printf '\nIs every listed URL found, and is the promised rate kept for two million others?\n'
show verify blocklist.umb --present blocklist.txt --absent others.txt
