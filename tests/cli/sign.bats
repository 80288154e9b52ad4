# SPDX-License-Identifier: MIT
# labels: asan
# umbel sign, and --key of check, verify and serve: with Debian's minisign on the other side.

load helper

prepare() {
    command -v minisign > /dev/null || skip "minisign is not installed (scripts/setup test)"
    # Without libsodium there is no signing, which is said (below).
    ! "$UMBEL" sign -s none x 2>&1 | grep -q "built without" || skip "this umbel was built without libsodium"
    urls 1 1000 > list.txt
    umbel build -q -p 1e-6 -o bad.umb list.txt
    umbel sign --generate --no-password -s a.key > a.pub
    minisign -G -W -p m.pub -s m.key > /dev/null
    one=$(head -1 list.txt)
}

teardown() {
    [ -z "${server:-}" ] || kill "$server" 2> /dev/null || true
}

@test "sign: minisign checks what umbel signs, and the other way round" {
    prepare
    umbel sign -q -s a.key bad.umb
    minisign -Vq -p a.pub -m bad.umb
    umbel sign -q -s m.key bad.umb
    minisign -Vq -H -p m.pub -m bad.umb
    umbel verify -q --key m.pub bad.umb
    for how in "" -l; do
        minisign -S $how -s a.key -m bad.umb > /dev/null
        umbel verify -q --key a.pub bad.umb
        umbel verify -q --key "$(tail -1 a.pub)" bad.umb
        minisign -S $how -s m.key -m bad.umb > /dev/null
        [ "$(umbel check --key m.pub bad.umb -e "$one")" = "$one" ]
    done
    run umbel check --key m.pub bad.umb -e nothing
    [ "$status" -eq 1 ]
    umbel verify -q --key a.pub --key m.pub bad.umb
}

@test "sign: keys with passwords, from a file, a descriptor and a terminal" {
    prepare
    echo 'correct horse' > password && chmod 600 password
    cp "$root/tests/golden/minisign/locked.key" . && chmod 600 locked.key
    umbel sign -q -s locked.key --password-file /dev/fd/3 bad.umb 3< password
    minisign -Vq -p "$root/tests/golden/minisign/locked.pub" -m bad.umb
    umbel sign --generate --password-file password -s own.key > own.pub
    minisign -S -s own.key -m bad.umb < password > /dev/null
    umbel verify -q --key own.pub bad.umb
    run python3 "$root/tests/support/type_on_terminal.py" $'correct house\n' "$UMBEL" sign -s own.key bad.umb
    [[ $output == *"own.key: wrong password for the key"* ]]
    refused "there is no terminal to ask on (--password-file FILE has the password)" \
        setsid "$UMBEL" sign -s own.key bad.umb < /dev/null
    : > empty
    refused "empty: there is no password" umbel sign --generate --password-file empty -s more.key
    [ ! -e more.key ]
}

@test "sign: a secret key is nobody else's, is never overwritten and never shown" {
    prepare
    [ "$(stat -c %a a.key)" = 600 ]
    refused "a.key: File exists" umbel sign --generate --no-password -s a.key
    refused "a.key: is a secret key, where the public one belongs" umbel verify --key a.key bad.umb
    refused "a.pub: is a public key, where the secret one belongs" umbel sign -s a.pub bad.umb
    [[ $stderr != *RW* ]]
    chmod 644 a.key
    run --separate-stderr umbel sign -s a.key bad.umb
    [ "$status" -eq 0 ]
    [[ $stderr == *"warning: everyone on this machine can read the secret"* ]]
    refused "as in -s list.key" umbel sign bad.umb
    refused "bad.txt: No such file or directory" umbel sign -q -s m.key bad.txt
    refused ".: is not a regular file" umbel sign -q -s m.key .
    refused "--number and --generate contradict" umbel sign --generate -s x.key --number 3
}

@test "sign: what is not signed by the key is refused, and says why" {
    prepare
    refused "bad.umb: is not signed, there is no .minisig file beside it" umbel check --key a.pub bad.umb -e x
    umbel sign -q -s m.key bad.umb
    refused "signed by another key" umbel check --key a.pub bad.umb -e x
    umbel sign -q -s a.key bad.umb
    sed -i 's/file:bad/file:sad/' bad.umb.minisig
    refused "the signature or its trusted comment was changed" umbel verify --key a.pub bad.umb
    umbel sign -q -s a.key bad.umb
    printf x >> bad.umb
    refused "the signature is not one of these bytes" umbel verify --key a.pub bad.umb
    echo nonsense > bad.umb.minisig
    refused "its signature is none of minisign's" umbel check --key a.pub bad.umb -e x
    head -c 100000 /dev/zero > bad.umb.minisig
    refused "too long for a signature" umbel check --key a.pub bad.umb -e x
    rm bad.umb.minisig && mkfifo bad.umb.minisig # nobody writes: it is empty, and nothing waits
    refused "its signature is none of minisign's" umbel check --key a.pub bad.umb -e x
    refused "standard input: is not a file" umbel check --key a.pub - -e x < bad.umb
    refused "(--key is a public key, or a file with one; -e KEY looks KEY up)" umbel check --key nothing bad.umb
    refused "--not-before needs --key" umbel check --not-before 3 bad.umb -e x
}

# The attack: bits cleared by a stranger, every checksum made right again.
@test "sign: bits cleared under right checksums are refused" {
    prepare
    umbel sign -q -s a.key bad.umb
    cp bad.umb.minisig kept
    head -500 list.txt > half.txt
    umbel build -q -f -n 1000 -p 1e-6 -o bad.umb half.txt # a subset of the bits, as good a file
    umbel verify -q bad.umb
    run umbel check -q bad.umb -e "$(tail -1 list.txt)"
    [ "$status" -eq 1 ] # lost, and nobody notices
    refused "the signature is not one of these bytes" umbel check --key a.pub bad.umb -e x
    [ "$(cmp kept bad.umb.minisig && echo same)" = same ]
}

@test "sign: numbers, and older editions that come back" {
    prepare
    umbel sign -q -s a.key --number 41 bad.umb
    umbel verify --key a.pub bad.umb --json | jq -e '.signed_by and .signed_number == 41 and (.signed_comment | test("number:41"))'
    umbel check -q --key a.pub --not-before 41 bad.umb -e "$one"
    refused "too small a number" umbel check --key a.pub --not-before 42 bad.umb -e x
    refused "too small a number" umbel verify --key a.pub --not-before 42 bad.umb
    umbel sign -q -s a.key bad.umb # the seconds since 1970
    umbel check -q --key a.pub --not-before 1700000000 bad.umb -e "$one"
    minisign -S -s a.key -m bad.umb > /dev/null # they are in minisign's own comment, too
    umbel check -q --key a.pub --not-before 1700000000 bad.umb -e "$one"
    minisign -S -s a.key -m bad.umb -t 'nothing' > /dev/null
    refused "too small a number" umbel check --key a.pub --not-before 1 bad.umb -e x
}

@test "sign: a comment cannot control the terminal" {
    prepare
    minisign -S -s a.key -m bad.umb -t "$(printf 'red \033[31m\tnext')" > /dev/null
    run umbel verify --key a.pub bad.umb
    [ "$status" -eq 0 ]
    [[ $output == *"red ?[31m next"* ]]
}

# A list of the lines 1 to 1000 in bad.umb, and what follows: N.umd has the lines N0+1 to N0+1000.
publish_deltas() {
    prepare
    umbel sign -q -s a.key --number 1 bad.umb
    cp bad.umb bad.umb.minisig "$1/"
    cp list.txt old.txt
    for i in 1 2 3; do
        urls "$((10 * i + 1))" "$((10 * i + 1000))" > new.txt
        umbel delta -q --from bad.umb -o "$i.umd" old.txt new.txt
        umbel sign -q -s a.key --number "1$i" "$i.umd"
        umbel apply -q bad.umb "$i.umd"
        mv new.txt old.txt
    done
}

@test "sign: whoever applies signed deltas can show who made them" {
    mkdir consumer mirror
    publish_deltas consumer
    cp bad.umb bad.umb.minisig mirror/
    cd consumer
    umbel apply -q --key ../a.pub bad.umb ../1.umd
    run umbel check --key ../a.pub bad.umb -e "$one"
    [ "$status" -eq 1 ] # it was taken out
    umbel apply -q bad.umb ../1.umd ../2.umd ../3.umd # without a key, signatures are kept as well
    new=$(tail -1 ../old.txt)
    [ "$(umbel check --key ../a.pub bad.umb -e "$new")" = "$new" ]
    cmp bad.umb.deltas ../bad.umb.deltas # the publisher's own, who need not sign it

    # Whoever was away fetches that file in place of the deltas, from anybody.
    cd ../mirror
    umbel apply -q --key ../a.pub bad.umb - < ../bad.umb.deltas
    cmp bad.umb.deltas ../bad.umb.deltas
    # --not-before speaks of the base and of every delta.
    umbel check -q --key ../a.pub --not-before 1 bad.umb -e "$new"
    refused "too small a number" umbel check --key ../a.pub --not-before 2 bad.umb -e "$new"
}

@test "sign: deltas that the key did not sign are refused" {
    mkdir consumer
    publish_deltas consumer
    cd consumer
    mv ../1.umd.minisig kept
    refused "1.umd: a delta is not signed" umbel apply --key ../a.pub bad.umb ../1.umd
    umbel sign -q -s ../m.key ../1.umd
    refused "1.umd: signed by another key" umbel apply --key ../a.pub bad.umb ../1.umd
    cp ../2.umd.minisig ../1.umd.minisig
    refused "1.umd: the signature is not one of these bytes" umbel apply --key ../a.pub bad.umb ../1.umd
    mv kept ../1.umd.minisig
    refused "1.umd: signed with too small a number" umbel apply --key ../a.pub --not-before 12 bad.umb ../1.umd
    [ ! -e bad.umb.deltas ]

    # What stands beside the list must be signed as well: a stranger's deltas would take names out.
    umbel apply -q --key ../a.pub bad.umb ../1.umd
    cp bad.umb.deltas signed
    umbel delta -q --from bad.umb -o own.umd --removed <(urls 500 500) --kept <(urls 11 499; urls 501 1010)
    umbel apply -q bad.umb own.umd
    refused "bad.umb: a delta is not signed" umbel check --key ../a.pub bad.umb -e x
    umbel sign -q -s ../m.key bad.umb.deltas # neither is a signature of the whole file
    refused "bad.umb: a delta is not signed" umbel check --key ../m.pub --key ../a.pub bad.umb -e x
    umbel sign -q -s ../m.key own.umd
    umbel apply -q bad.umb own.umd # the same delta, and now a signature
    refused "bad.umb: signed by another key" umbel check --key ../a.pub bad.umb -e x
    run umbel check --key ../a.pub --key ../m.pub bad.umb -e "$(urls 500 500)"
    [ "$status" -eq 1 ]
    cat ../1.umd ../2.umd > bad.umb.deltas
    refused "bad.umb: a delta is not signed" umbel check --key ../a.pub bad.umb -e x
    cp signed bad.umb.deltas
    [ "$(umbel check --key ../a.pub bad.umb -e "$(urls 500 500)")" = "$(urls 500 500)" ]
}

@test "sign: deltas are signed again when a key is replaced" {
    mkdir consumer
    publish_deltas consumer
    umbel sign -q -s m.key --number 20 bad.umb 1.umd 2.umd 3.umd
    cp bad.umb.minisig consumer/
    cd consumer
    umbel apply -q --key ../a.pub --key ../m.pub bad.umb - < ../bad.umb.deltas
    refused "bad.umb: signed by another key" umbel check --key ../m.pub bad.umb -e x
    umbel apply -q --key ../m.pub bad.umb ../1.umd ../2.umd ../3.umd
    run umbel check --key ../m.pub bad.umb -e "$one"
    [ "$status" -eq 1 ]
}

# publish FIRST LAST KEY NUMBER: as the guide says, the signature first.
publish() {
    urls "$1" "$2" > new.txt
    umbel build -q -f -p 1e-6 -o new.umb new.txt
    umbel sign -q -s "$3" --number "$4" new.umb
    mv new.umb.minisig bad.umb.minisig
    mv new.umb bad.umb
}

@test "sign: check --follow-filter uses what is signed, and nothing older" {
    prepare
    publish 1 1000 a.key 10
    mkfifo lines
    "$UMBEL" check --follow-filter --key a.pub bad.umb < lines > out 2> log 3>&- &
    server=$!
    exec 4> lines
    urls 1 1 >&4
    eventually [ -s out ]
    publish 2000 3000 m.key 11
    urls 1 1 >&4
    eventually grep -q "was replaced, but the old filter stays: signed by another key" log
    publish 2000 3000 a.key 9
    urls 1 1 >&4
    eventually grep -q "its number is smaller than that of the list in use" log
    umbel sign -q -s a.key --number 12 bad.umb # only the signature changes
    eventually sh -c 'echo x >&4; grep -q "using the new filter" log'
    urls 2000 2000 >&4
    exec 4>&-
    wait "$server"
    server=
    [ "$(wc -l < out)" -eq 4 ]
}

ask() {
    curl -s --unix-socket http.sock "http://umbel/$1"
}

metric() {
    ask metrics | grep -q "$1"
}

@test "sign: serve uses what is signed, and nothing older" {
    prepare
    refused "bad.umb: is not signed" umbel serve --http unix:http.sock --key a.pub bad.umb
    publish 1 1000 a.key 10
    "$UMBEL" serve --http unix:http.sock --key a.pub bad.umb 2> log 3>&- &
    server=$!
    eventually [ -S http.sock ]
    one=$(urls 1 1) two=$(urls 2000 2000)
    [ "$(ask "contains/bad?key=$one")" = true ]
    metric 'umbel_list_number{list="bad"} 10'
    publish 2000 3000 m.key 11
    kill -HUP "$server"
    eventually grep -q "not reloaded, the old filter still answers: signed by another key" log
    [ "$(ask "contains/bad?key=$one")" = true ]
    [ "$(ask "contains/bad?key=$two")" = false ]
    metric 'umbel_list_stale{list="bad"} 1'
    publish 2000 3000 a.key 9
    kill -HUP "$server"
    eventually grep -q "its number is smaller than that of the list in use" log
    sleep 2.5 # until the refusal is final
    umbel sign -q -s a.key --number 12 bad.umb # only the signature changes
    eventually metric 'umbel_list_number{list="bad"} 12'
    [ "$(ask "contains/bad?key=$two")" = true ]
    [ "$(ask "contains/bad?key=$one")" = false ]
    metric 'umbel_list_stale{list="bad"} 0'
}

@test "sign: serve takes signed deltas, no others, and none of them back" {
    mkdir consumer
    publish_deltas consumer
    cd consumer
    "$UMBEL" serve --http unix:http.sock --key ../a.pub bad.umb 2> log 3>&- &
    server=$!
    eventually [ -S http.sock ]
    [ "$(ask "contains/bad?key=$one")" = true ]
    umbel apply -q --key ../a.pub bad.umb ../1.umd
    cp bad.umb.deltas first
    umbel apply -q bad.umb ../2.umd
    eventually sh -c '[ "$(curl -s --unix-socket http.sock "http://umbel/contains/bad?key=$1")" = false ]' sh "$(urls 15 15)"
    cp first bad.umb.deltas # the second is withheld
    kill -HUP "$server"
    eventually grep -q "its number is smaller than that of the list in use" log
    [ "$(ask "contains/bad?key=$(urls 15 15)")" = false ]
    cat ../1.umd > bad.umb.deltas
    kill -HUP "$server"
    eventually grep -q "a delta is not signed" log
    umbel apply -q --key ../a.pub bad.umb ../1.umd ../2.umd ../3.umd
    kill -HUP "$server"
    eventually metric 'umbel_list_stale{list="bad"} 0'
    [ "$(ask "contains/bad?key=$(urls 25 25)")" = false ]
    [ "$(ask "contains/bad?key=$(urls 1030 1030)")" = true ]
}
