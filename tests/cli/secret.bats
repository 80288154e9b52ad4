# SPDX-License-Identifier: MIT
# labels: asan
# --secret-file: keyed filters
load helper

# secret FILE TEXT: a different secret for each text, readable only by its owner
secret() {
    (umask 077 && md5sum <<< "$2" | cut -c1-32 > "$1")
}

keyed() { # keyed FIRST LAST FILE [KIND [OPTION...]]
    seq "$1" "$2" | umbel build -q -n 2000 -p 1e-6 --kind "${4:-blocked}" -o "$3" --secret-file key "${@:5}"
}

@test "secret: 16 bytes, or 32 digits in either case, are the same secret" {
    (
        umask 077
        printf '\001\043\105\147\211\253\315\357\376\334\272\230\166\124\062\020' > raw
        printf 0123456789abcdeffedcba9876543210 > bare
        printf '0123456789ABCDEFFEDCBA9876543210\n' > line
        printf '0123456789abcdefFEDCBA9876543210\r\n' > crlf
    )
    for file in raw bare line crlf; do
        seq 100 | umbel build -q -n 100 -o $file.umb --secret-file $file
        cmp raw.umb $file.umb
    done
    run -0 --separate-stderr umbel check -c raw.umb --secret-file <(cat line) <(seq 100)
    [ "$output" = 100 ]
    [ -z "$stderr" ]
}

@test "secret: anything else is refused with how to make one" {
    umask 077
    how='umask 077; head -c16 /dev/urandom > FILE'
    refused "$how" umbel build -n 9 -o k.umb --secret-file missing
    for text in '' short 0123456789abcdef0123456789abcde 0123456789abcdef0123456789abcdefa \
        0123456789abcdef0123456789abcdeg 'a text of 16 by'; do
        printf '%s\n' "$text" > bad
        refused "$how" umbel build -n 9 -o k.umb --secret-file bad < /dev/null
    done
    printf '0123456789abcdef0123456789abcdef\n\n' > bad
    refused "$how" umbel build -n 9 -o k.umb --secret-file bad < /dev/null
    head -c 1000000 /dev/zero > bad
    refused "$how" umbel build -n 9 -o k.umb --secret-file bad < /dev/null
    refused "umbel: .: " umbel build -n 9 -o k.umb --secret-file . < /dev/null
    refused "unknown option" umbel plan -n 9 -p 1% --secret-file bad
    [ ! -e k.umb ]
}

@test "secret: a secret that everyone can read causes a warning" {
    secret key a
    chmod 644 key
    run -0 --separate-stderr umbel build -n 9 -o k.umb --secret-file key < /dev/null
    [[ $stderr == *"umbel: key: warning: everyone"*"chmod 600"* ]]
    run -0 --separate-stderr umbel build -qq -f -n 9 -o k.umb --secret-file key < /dev/null
    [ -z "$stderr" ]
    chmod 640 key
    run -0 --separate-stderr umbel info --secret-file key k.umb
    [ -z "$stderr" ]
}

@test "secret: every kind opens with its secret and only with it" {
    secret key a
    secret other b
    seq 1000 > in
    for kind in blocked classic static counting scalable window; do
        keyed 1 1000 $kind.umb $kind
        [ "$(umbel check -c $kind.umb --secret-file key in)" = 1000 ]
        run ! umbel check -q $kind.umb --secret-file key <(seq 5001 5100)
        refused "the filter has a secret, but none was given (--secret-file FILE opens it)" \
            umbel check $kind.umb in
        refused "not the secret that the filter was made with" \
            umbel check $kind.umb --secret-file other in
        umbel verify -q $kind.umb
        umbel verify -q $kind.umb --secret-file key --present in
        refused "--secret-file FILE opens it" umbel verify $kind.umb --present in
        refused "not the secret" umbel verify $kind.umb --secret-file other
    done
}

@test "secret: another secret, or none, gives other bits" {
    secret key a
    secret other b
    keyed 1 100 a.umb
    seq 100 | umbel build -q -n 2000 -p 1e-6 --kind blocked -o b.umb --secret-file other
    seq 100 | umbel build -q -n 2000 -p 1e-6 --kind blocked -o plain.umb
    tail -c +4097 a.umb > a.bits
    for file in b plain; do
        tail -c +4097 $file.umb > $file.bits
        run ! cmp -s a.bits $file.bits
    done
    run ! grep -qF "$(cat key)" a.umb
}

@test "secret: a filter without a secret accepts none" {
    secret key a
    seq 100 | umbel build -q -n 100 -o plain.umb
    refused "none of the filters is keyed (leave it out)" \
        umbel check plain.umb --secret-file key <(seq 3)
    hint="a secret was given, but the filter has none (it opens without --secret-file)"
    refused "$hint" umbel info plain.umb --secret-file key
    refused "$hint" umbel verify plain.umb --secret-file key
    cp plain.umb before.umb
    refused "$hint" umbel add plain.umb --secret-file key <(seq 3)
    refused "$hint" umbel uniq --state plain.umb --secret-file key <(seq 3)
    cmp plain.umb before.umb
}

@test "secret: info identifies the secret without revealing it" {
    secret key a
    keyed 1 10 k.umb
    run -0 umbel info k.umb --secret-file key
    [[ $output == *"layout             blocked/siphash13"*"keyed, fingerprint "* ]]
    print=$(sed -n 's/^keyed, fingerprint *//p' <<< "$output")
    [[ $print =~ ^[0-9a-f]{16}$ && $output != *"$(cat key)"* ]]
    umbel info --json k.umb --secret-file key > k.json
    seq 3 | umbel build -q -n 9 -o plain.umb
    umbel info --json plain.umb > plain.json
    run -0 umbel info plain.umb
    [[ $output != *keyed* ]]
    python3 - "$print" <<'P'
import json, sys
k, plain = (json.load(open(f)) for f in ("k.json", "plain.json"))
assert k["keyed"] is True and k["fingerprint"] == sys.argv[1], k
assert plain["keyed"] is False and "fingerprint" not in plain, plain
P
    refused "--secret-file FILE opens it" umbel info k.umb
}

@test "secret: keys can be added and removed; a wrong secret changes nothing" {
    secret key a
    secret other b
    keyed 1 1000 k.umb counting
    umbel add -q k.umb --secret-file key <(seq 1001 1100)
    [ "$(umbel check -c k.umb --secret-file key <(seq 1100))" = 1100 ]
    umbel remove -q k.umb --secret-file key <(seq 1 500)
    [ "$(umbel check -c k.umb --secret-file key <(seq 1100))" = 600 ]
    cp k.umb before.umb
    refused "not the secret" umbel add k.umb --secret-file other <(seq 3)
    refused "not the secret" umbel remove k.umb --secret-file other <(seq 600 700)
    refused "--secret-file FILE opens it" umbel add k.umb <(seq 3)
    cmp k.umb before.umb
}

@test "secret: merge, intersect, cmp, fold and convert" {
    secret key a
    keyed 1 600 a.umb
    keyed 401 1000 b.umb
    umbel merge -q -o both.umb a.umb b.umb --secret-file key
    umbel intersect -q -o common.umb a.umb b.umb --secret-file key
    [ "$(umbel check -c both.umb --secret-file key <(seq 1100))" = 1000 ]
    [ "$(umbel check -c common.umb --secret-file key <(seq 401 600))" = 200 ]
    run -1 umbel cmp a.umb both.umb --secret-file key
    [[ $output == *"relation           subset"* ]]
    seq 1000 | umbel build -q -n 1000 -m 32KiB --kind blocked -o large.umb --secret-file key
    umbel fold -q -p 10% -o small.umb large.umb --secret-file key
    [ "$(stat -c %s small.umb)" -lt "$(stat -c %s large.umb)" ]
    umbel verify -q small.umb --present <(seq 1000) --secret-file key
    umbel convert -q -o copy.umb a.umb --secret-file key
    cmp a.umb copy.umb
    for command in merge intersect; do
        refused "--secret-file FILE opens it" umbel $command -o x.umb a.umb b.umb
    done
    refused "--secret-file FILE opens it" umbel cmp a.umb b.umb
    seq 9 | umbel build -q -n 2000 -p 1e-6 --kind blocked -o plain.umb
    refused "plain.umb: a secret was given" umbel merge -o x.umb a.umb plain.umb --secret-file key
    refused "a secret was given" umbel cmp plain.umb a.umb --secret-file key
    [ ! -e x.umb ]
}

@test "secret: uniq remembers with its secret" {
    secret key a
    secret other b
    run -0 --separate-stderr umbel uniq -q --secret-file key <(seq 10; seq 10)
    [ "$output" = "$(seq 10)" ]
    for window in "" "--window 1000" "--window 1d/1h -n 1000"; do
        rm -f s.umb
        # shellcheck disable=SC2086 # words
        run -0 umbel uniq -q $window --state s.umb --secret-file key <(seq 10)
        # shellcheck disable=SC2086
        run -0 umbel uniq -q $window --state s.umb --secret-file key <(seq 5 20)
        [ "$output" = "$(seq 11 20)" ]
        cp s.umb before.umb
        refused "not the secret" umbel uniq --state s.umb --secret-file other <(seq 30)
        refused "--secret-file FILE opens it" umbel uniq --state s.umb <(seq 30)
        cmp s.umb before.umb
    done
}

@test "secret: check looks in filters with a secret, without one and with other seeds" {
    secret key a
    keyed 1 100 a.umb
    keyed 101 200 b.umb blocked --seed 7
    keyed 201 300 c.umb counting
    seq 301 400 | umbel build -q -n 2000 -p 1e-6 --kind blocked -o plain.umb
    seq 401 500 | umbel build -q -n 2000 -p 1e-6 -o list.bloom --format dcso
    for first in a b c plain; do
        also=()
        for name in a b c plain; do [ $name = $first ] || also+=(--also $name.umb); done
        umbel check $first.umb "${also[@]}" --also list.bloom --annotate --secret-file key \
            <(seq 600) > out
        {
            seq 100 | sed 's/^/a.umb\t/'
            seq 101 200 | sed 's/^/b.umb\t/'
            seq 201 300 | sed 's/^/c.umb\t/'
            seq 301 400 | sed 's/^/plain.umb\t/'
            seq 401 500 | sed 's/^/list.bloom\t/'
        } | diff - out
    done
    secret other b
    seq 10 | umbel build -q -n 10 -o d.umb --secret-file other
    refused "d.umb: not the secret" umbel check a.umb --also d.umb --secret-file key <(seq 3)
    refused "a.umb: the filter has a secret" umbel check plain.umb --also a.umb <(seq 3)
}

@test "secret: other systems' formats have no secret" {
    secret key a
    for format in leveldb guava redisbloom dcso parquet; do
        refused "$format filters do not use a secret" \
            umbel build --format $format -n 100 -o x --secret-file key <(seq 9)
    done
    seq 9 | umbel build -q --format dcso -n 100 -o d.bloom
    refused "a secret was given, but this format has none (it opens without --secret-file)" \
        umbel info d.bloom --secret-file key
    refused "dcso filters do not use a secret" \
        umbel info --format dcso d.bloom --secret-file key
    refused "dcso filters do not use a secret" \
        umbel convert --from dcso -o x d.bloom --secret-file key
    keyed 1 9 k.umb
    refused "uses a different hash" umbel convert --to dcso -o x k.umb --secret-file key
    [ ! -e x ]
}
