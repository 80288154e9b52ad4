# SPDX-License-Identifier: MIT
# labels: asan
# Names, metadata and servers cannot command the terminal of who reads the messages.
load helper

# What each of them brings along: ESC, C1 controls (CSI, OSC) as UTF-8 and as a bare byte, an override
# of the direction of text, an isolate, a line separator.
column=$'b\302\233c\302\235d\342\200\256e\342\201\246f\342\200\250g'
evil=$'a\033[2J'$column$'\233h'
safe='a?[2Jb?c?d?e?f?g?h'

clean() { # TEXT: nothing of it is left, and what is shown is UTF-8
    if LC_ALL=C grep -q -P '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xaf]' <<< "$1"; then
        echo "not safe: $(od -c <<< "$1" | head)" >&2
        return 1
    fi
    iconv -f UTF-8 -t UTF-8 <<< "$1" > /dev/null
}

@test "safe text: metadata and recipes" {
    seq 9 | umbel build -q -n 9 -o k.umb --meta "$evil=$evil"
    run umbel info k.umb
    [ "$status" -eq 0 ]
    clean "$output"
    [[ $output == *"meta $safe"*"$safe"* ]]
    printf '%s\nx\n' "$column" | umbel build -q -n 9 --csv -k "$column" -o c.umb
    run umbel info c.umb
    clean "$output"
    [[ $output == *'b?c?d?e?f?g'* ]]
}

@test "safe text: ordinary names of all scripts are shown as they are" {
    name=$'Grüße-名前-\u0645\u06cc\u200c\u062e-\U1F600'
    refused "umbel: $name: No such file" umbel info "$name"
    seq 9 | umbel build -q -n 9 -o "$name"
    refused "umbel: $name: already exists" umbel build -q -n 9 -o "$name"
}

@test "safe text: names of files in every message" {
    for command in "info" "verify" "check -e x" "add" "push --redis 127.0.0.1:1 --key k" "table"; do
        run --separate-stderr umbel ${command%% *} "$evil" $(cut -s -d' ' -f2- <<< "$command") < /dev/null
        [ "$status" -eq 2 ]
        clean "$stderr"
        [[ $stderr == *"umbel: $safe: "* ]] || { echo "$command: $stderr" >&2; false; }
    done
    seq 20 > lines
    run --separate-stderr umbel build -n 9 -o "$evil" lines # the summary and a warning
    [ "$status" -eq 3 ]
    clean "$stderr"
    [[ $stderr == *"$safe: 20 lines"* ]]
    run --separate-stderr umbel check --nonsense "$evil"
    clean "$stderr"
    run --separate-stderr umbel "$evil"
    clean "$stderr"
}

@test "safe text: JSON on a terminal is ASCII, elsewhere it is data" {
    command -v script > /dev/null || skip "no script(1)"
    seq 9 | umbel build -q -n 9 -o k.umb --meta "from=$column"
    umbel info --json k.umb > info.json
    run script -qec "'$UMBEL' info --json k.umb" /dev/null < /dev/null
    clean "${output//$'\r'/}"
    python3 - "${output//$'\r'/}" << 'EOF'
import json, sys
assert json.loads(sys.argv[1]) == json.load(open("info.json"))
EOF
}

@test "safe text: lines that were not understood" {
    printf 'example.org\n' > list
    printf '%s = = =\n' "$evil" >> list
    run --separate-stderr umbel build --domains -n 9 -o d.umb list
    clean "$stderr"
    [[ $stderr == *"not understood: $safe"* ]]
}

@test "safe text: what a server says" {
    seq 9 | umbel build -q -n 9 -o k.umb
    run umbel push k.umb --redis 127.0.0.1:1 --key k
    [[ $output != *"without hiredis"* ]] || skip "built without hiredis"
    python3 - "$evil" << 'EOF' &
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind("s.sock")
s.listen()
s.settimeout(300)
c, _ = s.accept()
c.recv(4096)
c.sendall(b"-ERR " + os.fsencode(sys.argv[1]) + b"\r\n")
c.recv(4096)
EOF
    eventually [ -S s.sock ]
    run --separate-stderr umbel push k.umb --redis "$PWD/s.sock" --key k
    wait $! || :
    [ "$status" -eq 2 ]
    clean "$stderr"
    [[ $stderr == *"$safe"* ]]
}
