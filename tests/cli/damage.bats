# SPDX-License-Identifier: MIT
# Damaged filters: a "no" is certain, or there is an error that says where.

load helper

# build KIND: list.umb with 400,000 keys, of two pieces or more, and bad.umb with a hole in it
build() {
    seq 400000 > keys
    umbel build -q -f --kind "$1" -p 0.0000001 -o list.umb keys
    cp list.umb bad.umb
    hole bad.umb
}

# hole FILE: 4 KiB of zeros in the middle, as an interrupted rsync --inplace leaves them
hole() {
    dd if=/dev/zero of="$1" bs=4096 seek=$(($(stat -c %s "$1") / 8192)) count=1 conv=notrunc 2> dd.log
}

damaged="bad.umb: payload checksum: the bits are damaged, at byte"

@test "damage: check looks no line up in a filter with a hole, whatever its kind" {
    for kind in blocked line classic static tight counting scalable; do
        build $kind
        run umbel check -c list.umb keys
        [ "$output" = 400000 ]
        refused "$damaged" umbel check bad.umb keys
        refused "$damaged" umbel check -v bad.umb keys
        refused "$damaged" umbel check -c bad.umb keys
        refused "$damaged" umbel check --also bad.umb -c list.umb keys
        refused "$damaged" umbel check --follow-filter bad.umb keys
        refused "$damaged" umbel check --verify-with keys bad.umb keys
    done
}

@test "damage: single keys are found, or there is an error" {
    build blocked
    errors=0
    for i in $(seq 40); do
        run umbel check -q bad.umb -e "$i"
        [ "$status" -ne 1 ]
        [ "$status" -eq 0 ] || errors=$((errors + 1))
    done
    [ "$errors" -gt 0 ] # of two pieces, one is damaged
    [ "$errors" -lt 40 ]
}

@test "damage: --unchecked is the way out, and gives a wrong no" {
    build blocked
    run umbel check --unchecked -c bad.umb keys
    [ "$status" -eq 0 ]
    [ "$output" -lt 400000 ]
}

@test "damage: no command saves damaged bits with new checksums" {
    build blocked
    echo more > more
    refused "$damaged" umbel merge -o out.umb list.umb bad.umb
    refused "$damaged" umbel merge -o out.umb bad.umb list.umb
    refused "$damaged" umbel intersect -o out.umb list.umb bad.umb
    refused "$damaged" umbel convert -o out.umb bad.umb
    refused "$damaged" umbel fold -p 1% -o out.umb bad.umb
    refused "$damaged" umbel add bad.umb more
    refused "$damaged" umbel cmp bad.umb list.umb
    refused "$damaged" umbel cmp list.umb bad.umb
    refused "$damaged" umbel uniq --state bad.umb more
    [ ! -e out.umb ]
    build counting
    seq 9 > few
    refused "$damaged" umbel remove bad.umb few
}

@test "damage: no figures are made of damaged bits" {
    build line
    refused "$damaged" umbel info bad.umb
    run --separate-stderr umbel info --json bad.umb
    [ "$status" -eq 2 ]
    [[ $stderr == "umbel: $damaged "* ]]
    [ "${#stderr_lines[@]}" -eq 1 ]
    jq -e --arg said "$stderr" '(keys == ["command", "errors", "status", "warnings"]) and .status == 2 and .warnings == []
        and [.errors[] | "umbel: \(.where): \(.text)"] == [$said]' <<< "$output"
}

@test "damage: verify says which formats have no checksums" {
    seq 9 > keys
    umbel build -q -o k.umb keys
    run umbel verify k.umb
    [[ "$output" == *"checksums"*"OK"* ]]
    umbel build -q --format dcso -n 9 -o k.bloom keys
    run umbel verify k.bloom
    [ "$status" -eq 0 ]
    [[ "$output" == *"none in this format"* ]]
    [[ "$output" != *OK* ]]
    [ "$(umbel verify --json k.bloom | jq .checksums)" = false ]
    [ "$(umbel verify --json k.umb | jq .checksums)" = true ]
}

# Lists of more than 64 MiB are mapped.
mapped_list() {
    seq 2000 > keys
    umbel build -q --kind blocked -n 60000000 -p 1% -o bad.umb keys
    [ "$(stat -c %s bad.umb)" -gt $((68 << 20)) ]
    dd if=/dev/zero of=bad.umb bs=1M seek=2 count=60 conv=notrunc 2> dd.log
}

@test "damage: Squid's helper answers BH, and says why once" {
    mapped_list
    seq 40 > asked
    umbel serve --squid bad.umb < asked > answers 2> log
    [ "$(grep -c '^BH message="the list is damaged"$' answers)" -gt 0 ]
    [ "$(grep -vc '^BH message="the list is damaged"$\|^OK tag=bad$' answers)" -eq 0 ]
    [ "$(grep -c 'is damaged' log)" -eq 1 ]
    grep -q 'payload checksum' log
}

@test "damage: HTTP and socketmap answer errors, which are counted" {
    mapped_list
    "$UMBEL" serve --http unix:http.sock --socketmap unix:map.sock bad.umb 2> log 3>&- &
    server=$!
    eventually [ -S http.sock ]
    eventually [ -S map.sock ]
    seq 2000 | curl -s -o body -w '%{http_code}' --unix-socket http.sock --data-binary @- \
        http://umbel/contains/bad > status
    curl -s -o one -w '%{http_code}' --unix-socket http.sock \
        'http://umbel/contains/bad?key=1&found=403' > single
    python3 -c '
import socket
s = socket.socket(socket.AF_UNIX); s.settimeout(300); s.connect("map.sock")
s.sendall(b"5:bad 1,")
print(s.recv(100).decode())' > map
    curl -s --unix-socket http.sock http://umbel/metrics > metrics
    # No is certain: what is not in the list is answered by that, if the lookup met no damaged piece.
    curl -s --unix-socket http.sock 'http://umbel/contains/bad?key=other[1-200]' | sort -u > others
    kill "$server"
    [ "$(cat status)" = 500 ]
    grep -q 'the list is damaged' body
    [ "$(cat single)" = 500 ]
    grep -q 'umbel_list_damaged{list="bad"} 1' metrics
    asked=$(sed -n 's/^umbel_questions_total{list="bad"} //p' metrics) # a batch ends at the damage
    [ "$asked" -gt 2 ]
    grep -qx 'umbel_found_total{list="bad"} 0' metrics
    grep -qx "umbel_unanswered_total{list=\"bad\"} $asked" metrics
    grep -qx 'umbel_refused_total 0' metrics
    grep -q 'TEMP the list is damaged' map
    [ "$(cat others)" = $'false\nthe list is damaged' ]
}
