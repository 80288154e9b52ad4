# SPDX-License-Identifier: MIT
# labels: asan
# Lists of leaked passwords, made by Python and OpenSSL, and passwords that are typed on a terminal

load helper

# 100,000 made-up passwords, as public lists have them: sorted, upper case, `HASH:COUNT`.  MD4 is
# only in OpenSSL's legacy provider, which its configuration switches on.
setup_file() {
    printf '%s\n' 'openssl_conf = i' '[i]' 'providers = p' '[p]' 'default = a' 'legacy = a' '[a]' 'activate = 1' \
        > "$BATS_FILE_TMPDIR/legacy.cnf"
    OPENSSL_CONF=$BATS_FILE_TMPDIR/legacy.cnf python3 - "$BATS_FILE_TMPDIR" << 'EOT'
import hashlib, os, random, sys
os.chdir(sys.argv[1])
some = random.Random(28)
words = sorted({"".join(some.choice("abcdefghijkmnopqrstuvwxyzäöß€😀0123456789!") for _ in range(some.randint(4, 14)))
                for _ in range(100200)})
leaked, good = words[:100000], words[100000:]
def lines(name, digest):
    with open(name, "w") as out:
        for h in sorted(digest(w).hexdigest().upper() for w in leaked):
            out.write(f"{h}:{some.randint(1, 99999)}\n")
lines("leaked-sha1.txt", lambda w: hashlib.sha1(w.encode()))
lines("leaked-ntlm.txt", lambda w: hashlib.new("md4", w.encode("utf-16-le")))
open("leaked.txt", "w").write("".join(f"{w}\n" for w in leaked))
open("good.txt", "w").write("".join(f"{w}\n" for w in good))
some.shuffle(leaked)
open("candidates.txt", "w").write("".join(f"{w}\n" for w in good[:3] + leaked[:3]))
with open("accounts.txt", "w") as out:
    for i, w in enumerate(leaked[:50] + good[:50]):
        out.write(f"user{i}:{hashlib.new('md4', w.encode('utf-16-le')).hexdigest()}\n")
EOT
}

# guide NUMBER: the commands of a block of the guide, so that they are what is tested
guide() {
    awk -v n="$1" '/^```/ { i += /^```sh$/; on = !on; next } on && i == n && /^umbel/' "$root/docs/guides/passwords.md"
}

typed() {
    run python3 "$root/tests/support/type_on_terminal.py" "$@"
    [ "$status" -eq 0 ]
}

@test "passwords: the guide's lists, from digests to answers" {
    cp "$BATS_FILE_TMPDIR"/*.txt .
    guide 1 > commands
    [ "$(grep -c '^umbel build' commands)" -eq 2 ]
    . ./commands
    umbel info leaked.umb | grep -q '^recipe  *field=1 delimiter=: sha1$'
    umbel info leaked-ntlm.umb | grep -q '^recipe  *field=1 delimiter=: ntlm$'
    [ "$(umbel check -c --digests leaked.umb leaked-sha1.txt)" -eq 100000 ]
    [ "$(umbel check -c --digests leaked-ntlm.umb leaked-ntlm.txt)" -eq 100000 ]
    for name in sha1:leaked ntlm:leaked-ntlm; do
        asked=(umbel check -c --recipe "line ${name%:*}" "${name#*:}.umb")
        [ "$("${asked[@]}" leaked.txt)" -eq 100000 ]
        # 200 others, of which 0.78% may be caught: more than 8 happens once in 10,000 lists
        [ "$("${asked[@]}" good.txt || true)" -le 8 ]
    done
    guide 2 | tail -n +2 > commands
    [ "$(grep -c '^umbel check' commands)" -eq 2 ]
    . ./commands > answers
    for i in $(seq 0 49); do grep -q "^user$i:" answers; done
    [ "$(wc -l < answers)" -le 58 ]
    head -3 candidates.txt | while read -r word; do grep -qxF "$word" answers; done
    ! grep -qxF "$(tail -1 candidates.txt)" answers
}

@test "passwords: what is typed is not shown, and the exit status is check's" {
    printf 'letmein\nmot de passe\n' | umbel build -q --sha1 -p 1e-9 -o leaked.umb
    guide 2 | head -1 > commands
    [ "$(cat commands)" = "umbel check --ask leaked.umb" ]
    for text in $'letmein\n:0:probably' $'mot de passe\n:0:probably' $'other\n:1:certainly not' $'letmeix\x7fn\n:0:probably'; do
        IFS=: read -r -d '' word code verdict <<< "$text" || true
        typed "$word" "$UMBEL" check --ask leaked.umb
        [ "${lines[0]}" = "terminal='Key (not shown): \\r\\n'" ]
        [ "${lines[1]}" = echo=True,False,True ]
        [ "${lines[2]}" = "status=$code" ]
        [ "${lines[3]}" = "out='leaked.umb: ${verdict%$'\n'} in it\\n'" ]
        [ "${lines[4]}" = "err=''" ]
    done
    typed $'letmein\n' "$UMBEL" check -q --ask leaked.umb
    [ "${lines[2]} ${lines[3]}" = "status=0 out=''" ]
    typed $'other\n' "$UMBEL" check -c --ask leaked.umb
    [ "${lines[2]} ${lines[3]}" = "status=1 out='0\\n'" ]
    printf 'other\n' | umbel build -q --sha1 -p 1e-9 -o more.umb
    typed $'other\n' "$UMBEL" check --ask --also more.umb leaked.umb
    [ "${lines[3]}" = "out='leaked.umb: certainly not in it\\nmore.umb: probably in it\\n'" ]
}

@test "passwords: the terminal is as before after ^C, a signal and an error" {
    printf 'letmein\n' | umbel build -q --sha1 -p 1e-9 -o leaked.umb
    typed $'letme\x03' "$UMBEL" check --ask leaked.umb
    [ "${lines[1]} ${lines[2]}" = "echo=True,False,True status=-2" ]
    typed SIGTERM "$UMBEL" check --ask leaked.umb
    [ "${lines[1]} ${lines[2]}" = "echo=True,False,True status=-15" ]
    for text in $'\n' $'\x04'; do
        typed "$text" "$UMBEL" check --ask leaked.umb
        [ "${lines[1]} ${lines[2]}" = "echo=True,False,True status=2" ]
        [ "${lines[4]}" = "err='umbel: --ask: nothing was typed\\n'" ]
    done
    typed "$(printf 'x%.0s' {1..4200})"$'\n' "$UMBEL" check --ask leaked.umb
    [ "${lines[1]} ${lines[2]}" = "echo=True,False,True status=2" ]
    [[ ${lines[4]} == *"longer than a terminal can read"* ]]
    # Keys that would suspend or abort do neither: they would leave the terminal without echo.
    typed $'\x1a\x1cletmein\n' "$UMBEL" check --ask leaked.umb
    [ "${lines[1]} ${lines[2]}" = "echo=True,False,True status=1" ]
}

@test "passwords: no terminal, no question" {
    printf 'letmein\n' | umbel build -q --sha1 -p 1e-9 -o leaked.umb
    refused "--ask: there is no terminal to ask on" setsid -w "$UMBEL" check --ask leaked.umb
    refused "--text and --ask contradict" umbel check --ask -e x leaked.umb
    refused "--digests and --ask contradict" umbel check --ask --digests leaked.umb
    refused "--ask: looks up one key" umbel check --ask leaked.umb lines
}
