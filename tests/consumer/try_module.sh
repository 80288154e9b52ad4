#!/bin/sh
# SPDX-License-Identifier: MIT
# try_module.sh MODULE - loads the module into a real server, adds a key and finds it
set -eu
module=$1
tmp=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || :; rm -rf "$tmp"' EXIT
fail() { cat "$tmp/log"; echo "FAILED: $*"; exit 1; }

command -v redis-server >/dev/null || { echo "redis-server is not installed (scripts/setup test)"; exit 1; }
redis-server --port 0 --unixsocket "$tmp/socket" --save '' --dir "$tmp" --loadmodule "$module" \
    >"$tmp/log" 2>&1 &
server=$!
tries=0
until [ "$(redis-cli -s "$tmp/socket" ping 2>/dev/null)" = PONG ]; do
    kill -0 "$server" 2>/dev/null && [ $tries -lt 300 ] || fail "redis-server"
    tries=$((tries + 1))
    sleep 0.1
done
[ "$(redis-cli -s "$tmp/socket" bf.add names ada)" = 1 ] || fail "BF.ADD"
[ "$(redis-cli -s "$tmp/socket" bf.exists names ada)" = 1 ] || fail "BF.EXISTS"
redis-cli -s "$tmp/socket" shutdown nosave || :
wait "$server" || :
server=
