# SPDX-License-Identifier: MIT
# labels: asan
# umbel serve: Squid, socketmap and HTTP, with good clients and bad ones.

load helper

prepare() {
    printf 'bad.example\nads.test\n' > names
    "$UMBEL" build -q --kind tight -p 1e-9 -o bad.umb names
    server=
    place=
}

teardown() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -z "$place" ] || rm -r "$place"
}

start() {
    "$UMBEL" serve "$@" 2> log 3>&- &
    server=$!
    for _ in $(seq 6000); do
        [ ! -S http.sock ] && [ ! -S map.sock ] || return 0
        kill -0 "$server"
        sleep 0.05
    done
    return 1
}

until_made() {
    eventually [ -S http.sock ]
    eventually [ -S map.sock ]
}

# ask PYTHON: with `client(path)` for a connected socket and `text(socket)` for all it sends.
ask() {
    python3 -c "
import socket, sys, time
def client(path='map.sock'):
    s = socket.socket(socket.AF_UNIX); s.settimeout(300); s.connect(path); return s
def text(s):
    out = b''
    while True:
        piece = s.recv(65536)
        if not piece: return out.decode()
        out += piece
$1"
}

@test "squid: OK and ERR, with and without a channel" {
    prepare
    run bash -c "printf 'bad.example\n3 ads.test\n4 good.test\n5 ads%%2Etest more\n\n9999 x\n' | '$UMBEL' serve --squid bad.umb"
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "OK tag=bad" ]
    [ "${lines[1]}" = "3 OK tag=bad" ]
    [ "${lines[2]}" = "4 ERR" ]
    [ "${lines[3]}" = "5 OK tag=bad" ]
    [ "${lines[4]}" = 'BH message="no key"' ]
    [ "${lines[5]}" = "9999 ERR" ]
}

@test "squid: a line without end is refused, and the next one answered" {
    prepare
    run bash -c "{ printf '7 '; head -c 100000 /dev/zero | tr '\0' x; printf '\n8 ads.test\n'; } | '$UMBEL' serve --squid bad.umb"
    [ "${lines[0]}" = '7 BH message="the key is too long"' ]
    [ "${lines[1]}" = "8 OK tag=bad" ]
    [ "${#lines[@]}" -eq 2 ]
}

@test "squid: rewriting" {
    prepare
    run bash -c "printf '1 ads.test 10.0.0.1/- - GET\n2 x.test 10.0.0.1/- - GET\n' | '$UMBEL' serve --squid --rewrite http://no/ bad.umb"
    [ "${lines[0]}" = '1 OK rewrite-url="http://no/"' ]
    [ "${lines[1]}" = "2 ERR" ]
}

@test "socketmap: found, not found, no such list, several together" {
    prepare
    start --socketmap unix:map.sock bad.umb
    run ask "
s = client(); s.sendall(b'12:bad ads.test,10:bad x.test,4:no x,3:bad,'); s.shutdown(1); print(text(s))"
    [[ "$output" = "9:OK REJECT,9:NOTFOUND ,26:PERM there is no such list,"* ]]
}

@test "squid: percent-encoding up to the last byte of a key" {
    prepare
    printf 'ads.test%%\nads.test%%7\nads.test%%7g\nads.test%%g7\n' | "$UMBEL" build -q -p 1e-9 -o odd.umb
    run bash -c "printf '1 ads.tes%%74 -\nads.tes%%74\n%%61ds.test\nads.tes%%7\n' | '$UMBEL' serve --squid bad.umb"
    [ "$output" = $'1 OK tag=bad\nOK tag=bad\nOK tag=bad\nERR' ]
    run bash -c "printf 'ads.test%%\nads.test%%7\nads.test%%7g\nads.test%%g7\n' | '$UMBEL' serve --squid odd.umb"
    [ "$output" = $'OK tag=odd\nOK tag=odd\nOK tag=odd\nOK tag=odd' ]
}

@test "socketmap: a length has no leading zero, and may be zero" {
    prepare
    start --socketmap unix:map.sock bad.umb
    run ask "
for sent in (b'0:,12:bad ads.test,', b'00:,12:bad ads.test,', b'012:bad ads.test,12:bad ads.test,'):
    s = client(); s.sendall(sent); s.shutdown(1); print(text(s))"
    [[ "${lines[0]}" == [0-9]*":PERM the request is not a name and a key,9:OK REJECT," ]]
    [[ "${lines[1]}" == [0-9]*":PERM not a netstring," ]]
    [[ "${lines[2]}" == [0-9]*":PERM not a netstring," ]]
}

@test "socketmap: an address is looked up by its domain, and the empty sender is in no list" {
    printf 'listed.example\n' > names
    "$UMBEL" build -q --domains -p 1e-9 -o bad.umb names
    "$UMBEL" build -q -p 1e-9 -o exact.umb <(echo x@listed.example)
    server=
    start --socketmap unix:map.sock bad.umb exact.umb
    run ask "
s = client()
for key in ('x@listed.example', 'x@a.b.LISTED.example', 'a/b@listed.example', '\"a b@c.example\"@listed.example',
            'x@other.example', 'x@listed.example.org', '<>', '', 'listed.example@other.example'):
    body = 'bad ' + key
    s.sendall(f'{len(body)}:{body},'.encode()); print(s.recv(99).decode())
for key in ('x@listed.example', 'y@listed.example', '<>'):
    body = 'exact ' + key
    s.sendall(f'{len(body)}:{body},'.encode()); print(s.recv(99).decode())"
    [ "$(printf '%s\n' "${lines[@]}" | tr -d '0-9:, ' | tr '\n' ' ')" = \
      "OKREJECT OKREJECT OKREJECT OKREJECT NOTFOUND NOTFOUND NOTFOUND NOTFOUND NOTFOUND OKREJECT NOTFOUND NOTFOUND " ]
}

@test "socketmap: broken netstrings end their own connection only" {
    prepare
    start --socketmap unix:map.sock --answer "550 no" bad.umb
    run ask "
good = client()
for wrong in (b'x', b'12bad ads.test,', b'12:bad ads.test;', b'99999999:', b'9000:', b'012:bad ads.test,'):
    s = client(); s.sendall(wrong); print(text(s))
good.sendall(b'12:bad ads'); time.sleep(0.2); good.sendall(b'.test,'); print(good.recv(99).decode())"
    [ "$(grep -c PERM <<< "$output")" -eq 6 ]
    [ "${lines[6]}" = "9:OK 550 no," ]
}

# metric: the number in /metrics; begin(lines, more): a client that has sent a batch but `more` bytes.
batches='
def metric(name):
    s = client("http.sock"); s.sendall(b"GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    return next(int(line.split()[1]) for line in text(s).splitlines() if line.startswith("umbel_" + name + " "))
def until(true):
    for _ in range(30000):
        if true(): return
        time.sleep(0.01)
    sys.exit("waited in vain")
def begin(lines, more):
    s = client("http.sock")
    s.sendall(b"POST /contains/bad HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
              % (len(lines) + more))
    try: s.sendall(lines)
    except OSError: pass
    return s
def finish(s, rest):
    try: s.sendall(rest); return text(s).split("\r\n\r\n", 1)
    except OSError: return ["HTTP/1.1 503", ""]
'

@test "http: a batch takes a bit per line, whatever its lines are" {
    prepare
    start --http unix:http.sock bad.umb
    run ask "$batches
s = begin(b'\n' * (8 << 20), 9)
until(lambda: metric('questions_total{list=\"bad\"}') == 8 << 20)
print(1 << 20 <= metric('request_bytes') <= (1 << 20) + 16384)
head, answers = finish(s, b'ads.test\n')
print(head.startswith('HTTP/1.1 200'), answers == '0\n' * (8 << 20) + '1\n')
until(lambda: metric('request_bytes') == 0)
print(metric('turned_away_total'))"
    echo "$output"
    [ "$output" = $'True\nTrue True\n0' ]
}

@test "http: --request-memory bounds what many batches take together" {
    prepare
    start --http unix:http.sock --request-memory 1MiB bad.umb
    # 40 clients, none of which ends: seven at most can have 128 KiB of answers each.
    run ask "$batches
clients = [begin(b'\n' * (1 << 20), 9) for _ in range(40)]
held = []
def enough():
    held.append(metric('request_bytes'))
    return metric('turned_away_total') >= 33
until(enough)
print(max(held) <= metric('request_bytes_max') == 1 << 20)
until(lambda: metric('questions_total{list=\"bad\"}') >= 1 << 20)
away = metric('turned_away_total')
replies = [finish(s, b'ads.test\n') for s in clients]
good = [body for head, body in replies if head.startswith('HTTP/1.1 200')]
bad = [body for head, body in replies if head.startswith('HTTP/1.1 503')]
print(len(good) >= 1, len(good) + len(bad) == 40, len(bad) == metric('turned_away_total') >= away)
print(set(good) == {'0\n' * (1 << 20) + '1\n'})
until(lambda: metric('request_bytes') == 0)
print(finish(begin(b'', 9), b'ads.test\n')[1].strip(), metric('refused_total'))"
    echo "$output"
    [ "$output" = $'True\nTrue True True\nTrue\n1 0' ]
}

@test "sockets are for every user, whatever the umask, unless --socket-mode says otherwise" {
    prepare
    modes() { stat -c %a http.sock map.sock | tr '\n' ' '; }
    finish() {
        kill "$server"
        wait "$server"
        server=
    }
    for mask in 000 022 077; do
        (umask $mask && exec "$UMBEL" serve --http unix:http.sock --socketmap unix:map.sock bad.umb) 2> log 3>&- &
        server=$!
        until_made
        [ "$(modes)" = "666 666 " ]
        finish
    done
    start --http unix:http.sock --socketmap unix:map.sock --socket-mode 660 bad.umb
    until_made
    [ "$(modes)" = "660 660 " ]
    finish
}

@test "another user may ask, unless --socket-mode says otherwise" {
    prepare
    [ "$(id -u)" -eq 0 ] || skip "only root can ask as another user"
    place=$(mktemp -d /tmp/umbel-serve-XXXXXX)
    chmod 755 "$place"
    cp bad.umb "$place"
    cd "$place"
    ask_as_nobody() {
        python3 -c "
import os, socket
os.setgroups([]); os.setgid(65534); os.setuid(65534)
s = socket.socket(socket.AF_UNIX); s.settimeout(300); s.connect('map.sock')
s.sendall(b'12:bad ads.test,'); print(s.recv(99).decode())"
    }
    start --socketmap unix:map.sock bad.umb
    [ "$(ask_as_nobody)" = "9:OK REJECT," ]
    kill "$server"
    wait "$server"
    start --socketmap unix:map.sock --socket-mode 660 bad.umb
    run ask_as_nobody
    [ "$status" -ne 0 ]
    [[ "$output" == *PermissionError* ]]
}

@test "sockets are removed at the end, and those of others stay" {
    prepare
    for signal in TERM INT; do
        start --http unix:http.sock --socketmap unix:map.sock bad.umb
        until_made
        kill -$signal "$server"
        wait "$server"
        [ ! -e http.sock ] && [ ! -e map.sock ]
    done
    run "$UMBEL" serve --socketmap unix:map.sock --http 99999 bad.umb
    run "$UMBEL" serve --socketmap unix:map.sock --socketmap unix:no/such/place bad.umb
    [ "$status" -eq 2 ]
    [ ! -e map.sock ]
    start --socketmap unix:map.sock bad.umb
    rm map.sock
    python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('map.sock')"
    kill "$server"
    wait "$server"
    server=
    [ -S map.sock ]
}

@test "a signal that comes as soon as there is a socket ends the server and removes it" {
    prepare
    # Nobody ignores a signal of strace's, and a shell's background ignores SIGINT: both must end it.
    for signal in TERM INT; do
        for ignored in "" $signal; do
            (
                [ -z "$ignored" ] || trap "" "$ignored"
                ASAN_OPTIONS=detect_leaks=0 strace -qq -o /dev/null -e trace=bind \
                    -e "inject=bind:signal=$signal:when=1" "$UMBEL" serve --socketmap unix:map.sock bad.umb
            )
            [ ! -e map.sock ]
        done
    done
}

@test "http: what is not understood of a question is refused, not ignored" {
    prepare
    start --http unix:http.sock bad.umb
    status() { curl -s -o reply -w '%{http_code}' --unix-socket http.sock "http://umbel/contains/bad?$1"; }
    for key in ads.test x.test; do
        for found in 4O3 403x 40 0403 199 600 999 -40 '' '%20403' '403%00'; do
            [ "$(status "key=$key&found=$found")" = 400 ] || { echo "found=$found"; false; }
            grep -q 'found: not a status from 200 to 599' reply
        done
        [ "$(status "key=$key&found")" = 400 ]
        [ "$(status "key=$key&fuond=403")" = 400 ]
        [ "$(status "key=$key&found=403&found=200")" = 400 ]
        [ "$(status "key=$key&key=x.test&found=403")" = 400 ]
        [ "$(status "found=403&key=$key&rest")" = 400 ]
    done
    [ "$(status 'key=ads.test&found=200')" = 200 ]
    [ "$(status 'found=599&key=ads.test')" = 599 ]
    [ "$(status 'key=x.test&found=599')" = 200 ]
    [ "$(status 'key=&found=403')" = 200 ]
    [ "$(status 'key&found=403')" = 400 ]
}

@test "http: questions, batches, statuses" {
    prepare
    run timeout 1 "$UMBEL" serve --http unix:try.sock list=bad.umb
    [[ $output != *"without libmicrohttpd"* ]] || skip "no libmicrohttpd"
    start --http unix:http.sock list=bad.umb
    get() { curl -s --unix-socket http.sock "http://umbel$1" "${@:2}"; }
    [ "$(get '/contains/list?key=ads.test')" = true ]
    [ "$(get '/contains/list?key=ads%2Etest')" = true ]
    [ "$(get '/contains/list?key=x.test')" = false ]
    [ "$(get '/contains/list?key=ads.test&found=403' -o /dev/null -w '%{http_code}')" = 403 ]
    [ "$(get '/contains/list?key=x.test&found=403' -o /dev/null -w '%{http_code}')" = 200 ]
    [ "$(get '/contains/none?key=x' -o /dev/null -w '%{http_code}')" = 404 ]
    [ "$(get '/contains/list' -o /dev/null -w '%{http_code}')" = 400 ]
    [ "$(get /nothing -o /dev/null -w '%{http_code}')" = 404 ]
    [ "$(get /contains/list -X DELETE -o /dev/null -w '%{http_code}')" = 405 ]
    [ "$(get /contains/list --data-binary $'ads.test\nx\r\nbad.example\r\nlast' | tr '\n' ' ')" = "1 0 1 0 " ]
    { seq 100000; cat names; } > many
    get /contains/list --data-binary @many > answers
    [ "$(wc -l < answers)" -eq 100002 ]
    [ "$(tail -2 answers | tr -d '\n')" = 11 ]
    head -c 20000 /dev/zero | tr '\0' x > long
    [ "$(get /contains/list --data-binary @long -o /dev/null -w '%{http_code}')" = 413 ]
    [ "$(get /health)" = ok ]
    get /metrics | grep -qx 'umbel_found_total{list="list"} 7'
}

@test "a new file answers after SIGHUP, nonsense does not" {
    prepare
    start --socketmap unix:map.sock bad.umb
    echo new.test > names
    "$UMBEL" build -qf --kind tight -p 1e-9 -o bad.umb names
    kill -HUP "$server"
    run ask "
s = client()
for i in range(6000):
    s.sendall(b'12:bad new.test,'); a = s.recv(99)
    if a == b'9:OK REJECT,': break
    time.sleep(0.05)
print(a.decode())"
    [ "$output" = "9:OK REJECT," ]
    echo nonsense > bad.umb
    kill -HUP "$server"
    for _ in $(seq 6000); do ! grep -q 'still answers' log || break; sleep 0.05; done
    grep -q 'still answers' log
    run ask "s = client(); s.sendall(b'12:bad new.test,'); print(s.recv(99).decode())"
    [ "$output" = "9:OK REJECT," ]
}

@test "more connections than allowed are turned away, the others served" {
    prepare
    start --socketmap unix:map.sock --max-connections 50 bad.umb
    run ask "
held = [client() for _ in range(50)]
for s in held: s.sendall(b'12:bad ads.test,')
print(sum(s.recv(99) == b'9:OK REJECT,' for s in held))
print(text(client()))
held.pop().close()
for _ in range(6000): # until it has noticed
    s = client()
    try: s.sendall(b'12:bad ads.test,'); a = s.recv(99)
    except OSError: a = b''
    if a == b'9:OK REJECT,': break
    time.sleep(0.05)
print(a.decode())"
    [ "${lines[0]}" = 50 ]
    [ "${lines[1]}" = "25:TEMP too many connections," ]
    [ "${lines[2]}" = "9:OK REJECT," ]
}

@test "sockets from systemd" {
    prepare
    run python3 -c "
import os, socket, subprocess, sys
s = socket.socket(socket.AF_UNIX); s.bind('map.sock'); s.listen()
os.dup2(s.fileno(), 3)
pid = os.fork()
if pid == 0:
    os.environ.update(LISTEN_FDS='1', LISTEN_FDNAMES='socketmap', LISTEN_PID=str(os.getpid()))
    os.execv('$UMBEL', ['umbel', 'serve', 'bad.umb'])
c = socket.socket(socket.AF_UNIX); c.settimeout(300); c.connect('map.sock'); c.sendall(b'12:bad ads.test,')
print(c.recv(99).decode()); os.kill(pid, 15); print(os.waitpid(pid, 0)[1])"
    [ "${lines[0]}" = "9:OK REJECT," ]
    [ "${lines[1]}" = 0 ]
}

@test "what serve refuses" {
    prepare
    run "$UMBEL" serve bad.umb
    [ "$status" -eq 2 ]
    [[ "$output" == *"there is nothing to listen on"* ]]
    run "$UMBEL" serve --http 0.0.0.0:8080 bad.umb
    [ "$status" -eq 2 ]
    [[ "$output" == *"--anywhere"* ]]
    run "$UMBEL" serve --squid bad.umb ./bad.umb
    [ "$status" -eq 2 ]
    [[ "$output" == *"two lists called 'bad'"* ]]
    run "$UMBEL" serve --squid names
    [ "$status" -eq 2 ]
    # What would break a line of Squid's or of /metrics.
    for name in 'a b' 'a"b' 'a\b' 'a%20b' $'a\nb' $'a\tb' $'a\x7fb'; do
        refused "the name of a list has no spaces" timeout 300 "$UMBEL" serve --squid "$name=bad.umb"
        cp bad.umb "$name.umb"
        refused "NAME=FILE gives it another" timeout 300 "$UMBEL" serve --squid "$name.umb"
    done
    [ "$(echo ads.test | "$UMBEL" serve --squid 'ü.b-c_d=a b.umb')" = "OK tag=ü.b-c_d" ]
    touch file.sock
    run "$UMBEL" serve --socketmap unix:file.sock bad.umb
    [ "$status" -eq 2 ]
    [[ "$output" == *"not a socket"* ]]
    for port in 99999 65536 0 -1 +0 '' 4294967297 99999999999999999999; do
        for address in "$port" "127.0.0.1:$port" "[::1]:$port"; do
            refused "'$port' is not a port" timeout 300 "$UMBEL" serve --http "$address" bad.umb
        done
    done
    for mode in 0 66 1777 888 u=rw 660x '' -660 00660 0x1b; do
        refused "--socket-mode: '$mode' is not a mode" timeout 300 \
            "$UMBEL" serve --http unix:http.sock --socket-mode "$mode" bad.umb
    done
    refused "--socket-mode: with 444 nobody could connect" timeout 300 \
        "$UMBEL" serve --http unix:http.sock --socket-mode 444 bad.umb
    refused "--socket-mode: applies to unix:PATH only" timeout 300 \
        "$UMBEL" serve --http 127.0.0.1:8080 --socket-mode 660 bad.umb
}
