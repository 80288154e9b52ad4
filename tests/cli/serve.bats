# SPDX-License-Identifier: MIT
# labels: asan
# umbel serve: Squid, socketmap and HTTP, with good clients and bad ones.

load helper

prepare() {
    printf 'bad.example\nads.test\n' > names
    "$UMBEL" build -q --kind tight -p 1e-9 -o bad.umb names
    server=
}

teardown() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
}

start() {
    "$UMBEL" serve "$@" 2> log 3>&- &
    server=$!
    for _ in $(seq 200); do
        [ ! -S http.sock ] && [ ! -S map.sock ] || return 0
        kill -0 "$server"
        sleep 0.05
    done
    return 1
}

# ask PYTHON: with `client(path)` for a connected socket and `text(socket)` for all it sends.
ask() {
    python3 -c "
import socket, sys, time
def client(path='map.sock'):
    s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(path); return s
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
for i in range(100):
    s.sendall(b'12:bad new.test,'); a = s.recv(99)
    if a == b'9:OK REJECT,': break
    time.sleep(0.05)
print(a.decode())"
    [ "$output" = "9:OK REJECT," ]
    echo nonsense > bad.umb
    kill -HUP "$server"
    for _ in $(seq 100); do ! grep -q 'still answers' log || break; sleep 0.05; done
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
held.pop().close(); time.sleep(0.3)
s = client(); s.sendall(b'12:bad ads.test,'); print(s.recv(99).decode())"
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
c = socket.socket(socket.AF_UNIX); c.settimeout(20); c.connect('map.sock'); c.sendall(b'12:bad ads.test,')
print(c.recv(99).decode()); os.kill(pid, 15); print(os.waitpid(pid, 0)[1])"
    [ "${lines[0]}" = "9:OK REJECT," ]
    [ "${lines[1]}" = 0 ]
}

@test "what serve refuses" {
    prepare
    run "$UMBEL" serve bad.umb
    [ "$status" -eq 2 ]
    [[ "$output" == *"there is nothing to listen on"* ]]
    run "$UMBEL" serve --http 0.0.0.0:0 bad.umb
    [ "$status" -eq 2 ]
    [[ "$output" == *"--anywhere"* ]]
    run "$UMBEL" serve --squid bad.umb ./bad.umb
    [ "$status" -eq 2 ]
    [[ "$output" == *"two lists called 'bad'"* ]]
    run "$UMBEL" serve --squid names
    [ "$status" -eq 2 ]
    touch file.sock
    run "$UMBEL" serve --socketmap unix:file.sock bad.umb
    [ "$status" -eq 2 ]
    [[ "$output" == *"not a socket"* ]]
}
