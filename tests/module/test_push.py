# SPDX-License-Identifier: MIT
"""umbel push: filters built offline become keys of a real server."""
import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time
import zlib
from pathlib import Path

import pytest

from conftest import free_port
from resp import Error, encode

UMBEL = str(Path(os.environ.get("UMBEL", "build/umbel")).resolve())
MIB = 1 << 20


def umbel(*args, cwd=None):
    return subprocess.run([UMBEL, *map(str, args)], cwd=cwd, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False, timeout=300)


def build(directory, *args, keys=5000, name="f.umb"):
    lines = Path(directory) / "lines"
    lines.write_text("".join(f"key{i}\n" for i in range(keys)))
    path = Path(directory) / name
    done = umbel("build", "-qf", "-o", path, *args, lines)
    assert done.returncode == 0, done.stderr
    return path


def push(server, *args, **how):
    done = umbel("push", "--redis", server.socket_path, *args, **how)
    if "without hiredis" in done.stderr:
        pytest.skip("umbel was built without hiredis")
    return done


def refused(done, words):
    assert done.returncode == 2 and done.stdout == "", done
    assert done.stderr.startswith("umbel: ") and words in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


def pushed(done):
    assert done.returncode == 0 and done.stdout == "", done.stderr
    return done.stderr


def has_all(server, key, items):
    return all(server("BF.MEXISTS", key, *items[at:at + 1000]) == [1] * len(items[at:at + 1000])
               for at in range(0, len(items), 1000))


ITEMS = [f"key{i}" for i in range(5000)]
ABSENT = [f"other{i}" for i in range(5000)]


@pytest.mark.parametrize("how", [[], ["--kind", "classic"], ["--kind", "static"],
                                 ["--kind", "counting", "-n", "6000"],
                                 ["--kind", "window", "-n", "6000"],
                                 ["--kind", "scalable", "-n", "1000"],
                                 ["--format", "redisbloom"],
                                 ["--format", "redisbloom", "-n", "300"]],
                         ids=["blocked", "classic", "static", "counting", "window", "scalable",
                              "redisbloom", "redisbloom-chain"])
def test_filter_arrives(server, tmp_path, how):
    path = build(tmp_path, *how)
    text = pushed(push(server, path, "--key", "f"))
    assert text.startswith(f"f at {server.socket_path}: ")
    assert has_all(server, "f", ITEMS)
    assert sum(server("BF.MEXISTS", "f", *ABSENT)) < 150  # 1% would be 50
    assert server("KEYS", "*") == [b"f"]
    assert server("TTL", "f") == -1
    added = server("BF.ADD", "f", "one more")
    assert isinstance(added, Error) if "static" in how else added == 1


@pytest.mark.parametrize("kind", ["blocked", "line", "classic", "static", "tight", "counting", "window", "scalable"])
def test_exceptions_arrive(server, tmp_path, kind):
    """Good keys stay unfound: in the server, after a restart, in a copy by DUMP; and no member is hidden."""
    good = tmp_path / "good"
    good.write_text("".join(f"{item}\n" for item in ABSENT))
    count = [] if kind in ("static", "tight") else ["-n", "6000"]
    path = build(tmp_path, "--kind", kind, "-p", "0.05", "--never", good, *count)
    bare = build(tmp_path, "--kind", kind, "-p", "0.05", *count, name="bare.umb")
    pushed(push(server, path, "--key", "f"))
    pushed(push(server, bare, "--key", "bare"))
    caught = [item for item, hit in zip(ABSENT, server("BF.MEXISTS", "bare", *ABSENT)) if hit]
    assert caught or kind == "scalable"
    assert server("RESTORE", "copy", 0, server("DUMP", "f")) == "OK"
    assert server("DEBUG", "RELOAD") == "OK"
    for key in ("f", "copy"):
        assert has_all(server, key, ITEMS)
        assert sum(server("BF.MEXISTS", key, *ABSENT)) == 0
        assert server("BF.INFO", key, "EXCEPTIONS") == [len(caught)]
    assert server("BF.INFO", "bare", "EXCEPTIONS") == [0]
    shown = server("BF.STATS", "f")
    assert shown[shown.index("Exceptions") + 1] == len(caught)
    if caught and kind not in ("static", "tight"):
        server("BF.ADD", "f", caught[0])
        assert server("BF.EXISTS", "f", caught[0]) == 1
        assert sum(server("BF.MEXISTS", "f", *caught[1:])) == 0


def test_redisbloom_arrives_bit_for_bit(server, tmp_path):
    path = build(tmp_path, "--format", "redisbloom", "-n", "300")
    pushed(push(server, path, "--key", "f"))
    head = server("BF.SCANDUMP", "f", 0)
    bits, at = b"", head[0]
    while True:
        at, piece = server("BF.SCANDUMP", "f", at)
        if at == 0:
            break
        bits += piece
    file = path.read_bytes()
    assert file[:8] == b"UMBRBLM1"
    assert file[16:] == head[1] + bits


def test_key_that_is_there(server, tmp_path):
    path = build(tmp_path)
    server("BF.ADD", "f", "old")
    refused(push(server, path, "--key", "f"), "f: already exists (-f replaces it)")
    assert server("BF.EXISTS", "f", "old") == 1 and server("BF.CARD", "f") == 1
    pushed(push(server, path, "--key", "f", "-f"))
    assert server("BF.EXISTS", "f", "old") == 0 and has_all(server, "f", ITEMS)
    server("SET", "s", "text")
    for force in ([], ["-f"]):
        refused(push(server, path, "--key", "s", *force), "s: is not a filter")
    assert server("GET", "s") == b"text"


def test_damaged_and_foreign_files(server, tmp_path):
    path = build(tmp_path)
    damaged = bytearray(path.read_bytes())
    damaged[5000] ^= 1
    (tmp_path / "damaged.umb").write_bytes(damaged)
    refused(push(server, tmp_path / "damaged.umb", "--key", "f"), "damaged.umb: ")
    (tmp_path / "text").write_text("no filter\n")
    refused(push(server, tmp_path / "text", "--key", "f"), "text: is not a filter that can be recognised")
    (tmp_path / "empty").write_bytes(b"")
    refused(push(server, tmp_path / "empty", "--key", "f"), "empty: the file is empty")
    assert server("DBSIZE") == 0


def test_server_without_the_module(new_server, tmp_path):
    plain = new_server(module=None)
    refused(push(plain, build(tmp_path), "--key", "f"),
            "has no Bloom filter module loaded (redis-server --loadmodule umbel.so, or MODULE LOAD)")
    assert plain("DBSIZE") == 0


def test_a_cluster_node_that_sends_the_password_elsewhere(tmp_path):
    """AUTH has no slot: a server that answers it with MOVED is not followed in circles."""
    path, secret = build(tmp_path), tmp_path / "secret"
    secret.write_text("sesame\n")
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{listener.getsockname()[1]}"
    visits = []

    def answer():
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with client:
                visits.append(client.recv(1 << 16))
                client.sendall(f"-MOVED 1 {address}\r\n".encode())

    threading.Thread(target=answer, daemon=True).start()
    done = umbel("push", "--redis", address, "--cluster", "--key", "f", "--auth-file", secret, path)
    listener.close()
    if "without hiredis" in done.stderr:
        pytest.skip("umbel was built without hiredis")
    refused(done, "is on another node of the cluster")
    assert len(visits) == 1


def test_passwords(new_server, tmp_path):
    path, secret = build(tmp_path), tmp_path / "secret"
    locked = new_server()
    # The commands that docs/redis.md says are needed, and no others.
    needed = "BF.LOADCHUNK BF.CARD BF.INFO EXISTS GET SET EXPIRE PERSIST UNLINK MULTI EXEC RENAMENX"
    locked("ACL", "SETUSER", "loader", "on", ">pass word", "~g", "~{g}:push:*", "-@all",
           *(f"+{command}" for command in needed.split()))
    locked("CONFIG", "SET", "requirepass", "sesame")
    refused(push(locked, path, "--key", "f"), "--auth-file F")
    secret.write_text("wrong\n")
    refused(push(locked, path, "--key", "f", "--auth-file", secret), "WRONGPASS")
    for name, text in (("f", "sesame\n"), ("g", "loader\npass word\n"), ("h", "default\r\nsesame")):
        secret.write_text(text)
        pushed(push(locked, path, "--key", name, "--auth-file", secret))
    assert locked("AUTH", "sesame") == "OK"
    assert locked("BF.CARD", "f") == locked("BF.CARD", "g") == locked("BF.CARD", "h") > 4000


def test_refusals_say_what_to_do(new_server, tmp_path):
    path, secret, server = build(tmp_path), tmp_path / "secret", new_server()
    server("ACL", "SETUSER", "loader", "on", ">pw", "~f", "+@all")
    secret.write_text("loader\npw\n")
    refused(push(server, path, "--key", "f", "--auth-file", secret), "NAME and {NAME}:push:*")
    server("CONFIG", "SET", "bf.memory-limit", "1kb")
    refused(push(server, path, "--key", "f"), "CONFIG SET bf.memory-limit")
    assert server("DBSIZE") == 0


def test_the_summary_says_what_build_says(server, tmp_path):
    """How many keys a Bloom filter has is an estimate, and a static one knows."""
    for kind in "blocked", "static":
        lines = tmp_path / "lines"
        lines.write_text("\n".join(ITEMS) + "\n")
        built = umbel("build", "--kind", kind, "-fo", tmp_path / "f.umb", lines).stderr
        keys = re.search(r"lines, (.* keys) in", built)[1]
        assert keys.startswith("about ") == (kind == "blocked")
        assert f": {keys}, " in pushed(push(server, tmp_path / "f.umb", "--key", kind))
    text = pushed(push(server, lines, "--key", "many", "--shards", 3))
    assert text.startswith("3 shards: about ")


def test_keyed_filters(server, tmp_path):
    secret, other = tmp_path / "secret", tmp_path / "other"
    secret.write_bytes(bytes(range(16)))
    other.write_bytes(bytes(range(1, 17)))
    secret.chmod(0o600)
    other.chmod(0o600)
    path = build(tmp_path, "--secret-file", secret)
    refused(push(server, path, "--key", "f"), "--secret-file FILE opens it")
    refused(push(server, path, "--key", "f", "--secret-file", other), "f.umb: ")
    pushed(push(server, path, "--key", "f", "--secret-file", secret))
    assert has_all(server, "f", ITEMS) and sum(server("BF.MEXISTS", "f", *ABSENT)) < 150
    plain = build(tmp_path, name="plain.umb")
    refused(push(server, plain, "--key", "g", "--secret-file", secret), "plain.umb: ")
    chain = build(tmp_path, "--format", "redisbloom", name="chain")
    refused(push(server, chain, "--key", "g", "--secret-file", secret), "this format has none")
    pushed(push(server, tmp_path / "lines", "--key", "k", "--shards", 2, "--secret-file", secret))
    for i in range(2):
        assert has_all(server, f"k:{{{i}}}", [item for item in ITEMS if shard_of(item, 2) == i])
    assert server("KEYS", "g*") == []


class Cutter:
    """A connection to the server that breaks after this many bytes."""

    def __init__(self, server, room, port=None):
        self.server, self.room, self.port = server, room, port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        client, _ = self.listener.accept()
        if self.port:
            there = socket.create_connection(("127.0.0.1", self.port))
        else:
            there = socket.socket(socket.AF_UNIX)
            there.connect(self.server.socket_path)
        back = threading.Thread(target=self.copy, args=(there, client), daemon=True)
        back.start()
        while self.room > 0:
            data = client.recv(min(65536, self.room))
            if not data:
                break
            there.sendall(data)
            self.room -= len(data)
        for s in (there, client):
            s.shutdown(socket.SHUT_RDWR)
        back.join()
        for s in (there, client, self.listener):
            s.close()

    @staticmethod
    def copy(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass


@pytest.mark.parametrize("how", [[], ["--format", "redisbloom"]], ids=["native", "redisbloom"])
def test_interrupted_run_goes_on(server, tmp_path, how):
    # 11 MB in pieces of 4 MiB: the second is interrupted.
    path = build(tmp_path, "-n", "9200000", *how)
    cutter = Cutter(server, 6 * MIB)
    done = umbel("push", path, "--redis", cutter.address, "--key", "f")
    cutter.thread.join()
    if "without hiredis" in done.stderr:
        pytest.skip("umbel was built without hiredis")
    refused(done, "run it again: it resumes where it stopped")
    assert server("EXISTS", "f") == 0 and server("DBSIZE") == 2
    assert all(0 < server("TTL", key) <= 86400 for key in server("KEYS", "*"))

    text = pushed(push(server, path, "--key", "f"))
    assert ", 4 MiB of it sent by an earlier run" in text
    assert has_all(server, "f", ITEMS) and not any(server("BF.MEXISTS", "f", *ABSENT[:100]))
    assert server("KEYS", "*") == [b"f"]


def test_interrupted_run_does_not_mix_filters(server, tmp_path):
    """Of the same shape and with as many keys, but different ones."""
    first = build(tmp_path, "-n", "9200000")
    cutter = Cutter(server, 6 * MIB)
    umbel("push", first, "--redis", cutter.address, "--key", "f")
    cutter.thread.join()
    (tmp_path / "others").write_text("".join(f"other{i}\n" for i in range(5000)))
    second = tmp_path / "second.umb"
    assert umbel("build", "-q", "-n", "9200000", "-o", second, tmp_path / "others").returncode == 0
    text = pushed(push(server, second, "--key", "f"))
    assert "earlier" not in text
    assert has_all(server, "f", ABSENT) and sum(server("BF.MEXISTS", "f", *ITEMS)) < 20


def test_what_was_sent_has_gone(server, tmp_path):
    path = build(tmp_path, "-n", "9200000")
    cutter = Cutter(server, 6 * MIB)
    umbel("push", path, "--redis", cutter.address, "--key", "f")
    cutter.thread.join()
    for key in server("KEYS", "*"):
        if server("TYPE", key) != "string":
            server("DEL", key)  # evicted; its note is still there
    text = pushed(push(server, path, "--key", "f"))
    assert "earlier" not in text and has_all(server, "f", ITEMS)


class Between:
    """A node that forwards what it receives, unless `before`, which sees the words first, answers
    in its place."""

    def __init__(self, server, before):
        self.server, self.before = server, before
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        client, _ = self.listener.accept()
        there = socket.socket(socket.AF_UNIX)
        there.connect(self.server.socket_path)
        asked = client.makefile("rb")
        threading.Thread(target=Cutter.copy, args=(there, client), daemon=True).start()
        while line := asked.readline():
            words = []
            for _ in range(int(line[1:])):
                words.append(asked.read(int(asked.readline()[1:]) + 2)[:-2])
            answer = self.before(words)
            if answer:
                client.sendall(answer)
            else:
                there.sendall(encode(*words))


def moved_at(command, turn, to):
    """Redirects the client from when this command comes for the n-th time."""
    seen = []

    def before(words):
        queued = seen[-1:] == [b"-"]
        seen.append(words[0])
        if seen.count(command) < turn:
            return None
        seen.append(b"-")
        if words[0] == b"EXEC" and queued:
            return b"-EXECABORT Transaction discarded because of previous errors.\r\n"
        return b"-MOVED 1 127.0.0.1:%d\r\n" % to.port
    return before


@pytest.mark.parametrize("command, turn", [(b"BF.LOADCHUNK", 3), (b"SET", 4), (b"BF.CARD", 2),
                                           (b"PERSIST", 1), (b"RENAMENX", 1), (b"EXEC", 2)])
def test_another_node_takes_over_without_the_last_pieces(new_server, tmp_path, command, turn):
    """Whenever that is: while pieces are sent, after the last one, or as it gets its name."""
    path = build(tmp_path, "-n", "9200000")
    first, second = new_server(), new_server(port=free_port())
    cutter = Cutter(second, MIB)  # has the head, and nothing of the bits
    umbel("push", path, "--redis", cutter.address, "--key", "f")
    cutter.thread.join()
    assert second("DBSIZE") == 2
    node = Between(first, moved_at(command, turn, second))
    done = umbel("push", path, "--redis", node.address, "--key", "f", "--cluster")
    if "without hiredis" in done.stderr:
        pytest.skip("umbel was built without hiredis")
    assert f"f at 127.0.0.1:{second.port}" in pushed(done)
    assert has_all(second, "f", ITEMS) and not any(second("BF.MEXISTS", "f", *ABSENT[:100]))
    assert second("KEYS", "*") == [b"f"] and second("TTL", "f") == -1


def test_another_node_takes_over_before_the_first_piece(new_server, tmp_path):
    path = build(tmp_path)
    first, second = new_server(), new_server(port=free_port())
    for turn, command in enumerate([b"GET", b"UNLINK", b"MULTI", b"BF.LOADCHUNK", b"EXPIRE", b"EXEC"]):
        node = Between(first, moved_at(command, 1, second))
        done = push_to(node.address, path, "--key", f"f{turn}", "--cluster")
        if command == b"MULTI":  # has no slot, so no server answers like that
            refused(done, "is on another node")
            continue
        pushed(done)
        assert has_all(second, f"f{turn}", ITEMS)
    assert second("DBSIZE") == 5


def shard_of(key, shards):
    """What docs/redis.md tells clients."""
    return zlib.crc32(key.encode()) * shards >> 32


def test_shards(server, tmp_path):
    lines = tmp_path / "lines"
    lines.write_text("".join(f"{item}\n" for item in ITEMS))
    text = pushed(push(server, lines, "--key", "k", "--shards", 7, "-p", "0.1%"))
    assert text.startswith("7 shards: ")
    assert sorted(server("KEYS", "*")) == [f"k:{{{i}}}".encode() for i in range(7)]
    own = [[item for item in ITEMS if shard_of(item, 7) == i] for i in range(7)]
    wrong = 0
    for i in range(7):
        assert has_all(server, f"k:{{{i}}}", own[i])
        absent = [item for item in ABSENT if shard_of(item, 7) == i]
        wrong += sum(server("BF.MEXISTS", f"k:{{{i}}}", *absent))
    assert wrong < 30  # 0.1 % are 5
    refused(push(server, lines, "--key", "k", "--shards", 7), "k:{0}: already exists")
    server("DEL", "k:{0}")
    refused(push(server, lines, "--key", "k", "--shards", 7), "k:{1}: already exists")
    pushed(push(server, lines, "--key", "k", "--shards", 7, "-f", "--format", "redisbloom"))
    assert all(has_all(server, f"k:{{{i}}}", own[i]) for i in range(7))


def test_shards_go_on_too(server, tmp_path):
    lines = tmp_path / "lines"
    lines.write_text("".join(f"key{i}\n" for i in range(20000)))
    cutter = Cutter(server, 30000)
    umbel("push", lines, "--redis", cutter.address, "--key", "k", "--shards", 3, "-p", "1e-6")
    cutter.thread.join()
    assert not any(server("EXISTS", f"k:{{{i}}}") for i in range(3))  # all or none
    text = pushed(push(server, lines, "--key", "k", "--shards", 3, "-p", "1e-6"))
    assert "of it sent by an earlier run" in text
    assert sorted(server("KEYS", "*")) == [f"k:{{{i}}}".encode() for i in range(3)]
    for i in range(3):
        own = [f"key{n}" for n in range(20000) if shard_of(f"key{n}", 3) == i]
        assert has_all(server, f"k:{{{i}}}", own)


def test_shards_take_lines_as_build_does(server, tmp_path):
    (tmp_path / "csv").write_text("1, ADA \n2,bob\n")
    fields = (tmp_path / "csv", "--key", "k", "--shards", 2, "-t", ",", "-k", 2)
    for change in ("--trim", "--lower", "--upper"):
        refused(push(server, *fields, change), f"{change}: the server does not apply it")
    assert server("KEYS", "*") == []
    pushed(push(server, *fields, "--trim", "--lower", "--same-rule"))
    for name in ("ada", "bob"):
        assert server("BF.EXISTS", f"k:{{{shard_of(name, 2)}}}", name) == 1


def test_room_for_more(server, tmp_path):
    path = build(tmp_path)
    pushed(push(server, path, "--key", "f"))
    assert isinstance(server("BF.MADD", "f", *ABSENT)[-1], Error)  # planned for what was in it
    pushed(push(server, build(tmp_path, "-n", 20000), "--key", "f", "-f"))
    assert len(server("BF.MADD", "f", *ABSENT)) == 5000
    growing = build(tmp_path, "--meta", "bf.expansion=2", "--meta", "bf.error=0.02")
    pushed(push(server, growing, "--key", "f", "-f"))
    more = [f"more{i}" for i in range(20000)]
    for at in range(0, 20000, 1000):
        server("BF.MADD", "f", *more[at:at + 1000])
    assert has_all(server, "f", more) and has_all(server, "f", ITEMS)
    assert server("BF.INFO", "f", "FILTERS")[0] > 1
    assert sum(server("BF.MEXISTS", "f", *ABSENT)) < 160  # 2% would be 100

    (tmp_path / "lines").write_text("".join(f"{item}\n" for item in ITEMS))
    pushed(push(server, tmp_path / "lines", "--key", "k", "--shards", 2, "-n", 12000))
    for i in range(2):
        assert 6000 <= server("BF.INFO", f"k:{{{i}}}", "CAPACITY")[0] < 6600


def test_over_tcp(new_server, tmp_path):
    port = free_port()
    there = new_server(port=port)
    done = umbel("push", build(tmp_path), "--redis", f"127.0.0.1:{port}", "--key", "f", "-q")
    if "without hiredis" in done.stderr:
        pytest.skip("umbel was built without hiredis")
    assert pushed(done) == "" and has_all(there, "f", ITEMS)


# ---- URLs and databases ------------------------------------------------------------------------

def push_to(url, *args):
    done = umbel("push", "--redis", url, *args)
    if "without hiredis" in done.stderr:
        pytest.skip("umbel was built without hiredis")
    return done


def test_urls(new_server, tmp_path):
    path, port = build(tmp_path), free_port()
    there = new_server(port=port)
    there("ACL", "SETUSER", "lo@der", "on", ">p:a/s%s w?rd#", "allkeys", "allcommands")
    there("CONFIG", "SET", "requirepass", "sesame")
    assert there("AUTH", "sesame") == "OK"
    login = "lo%40der:p:a%2fs%25s%20w%3Frd%23"
    for i, url in enumerate([f"redis://:sesame@127.0.0.1:{port}", f"redis://{login}@127.0.0.1:{port}/",
                             f"redis://default:sesame@localhost:{port}/0"]):
        text = pushed(push_to(url, path, "--key", f"f{i}"))
        assert text.startswith(f"f{i} at ") and f":{port}: about 4,9" in text
        assert has_all(there, f"f{i}", ITEMS)
    secret = tmp_path / "secret"
    secret.write_text("p:a/s%s w?rd#\n")
    pushed(push_to(f"redis://lo%40der@127.0.0.1:{port}", path, "--key", "g", "--auth-file", secret))
    refused(push_to(f"redis://:wrong@127.0.0.1:{port}", path, "--key", "h"), "WRONGPASS")
    refused(push_to(f"redis://127.0.0.1:{port}", path, "--key", "h"), "NOAUTH")
    assert there("DBSIZE") == 4


def test_databases(new_server, tmp_path):
    path, port = build(tmp_path), free_port()
    there = new_server(port=port)
    pushed(push_to(f"redis://127.0.0.1:{port}/3", path, "--key", "f"))
    pushed(push(there, path, "--key", "f", "--db", 5))
    assert there("DBSIZE") == 0
    done = push(there, path, "--key", "f", "--db", 5, "-f", "--json")
    assert done.returncode == 0 and done.stderr == ""
    said = json.loads(done.stdout)
    assert said.pop("keys") > 4900 and said.pop("bytes") > 5000
    assert said == {"command": "push", "key": "f", "server": there.socket_path, "database": 5, "resumed_bytes": 0,
                    "warnings": [], "errors": [], "status": 0}
    lines = tmp_path / "lines"
    done = push(there, lines, "--key", "k", "--shards", 2, "--db", 7, "--json")
    said = json.loads(done.stdout)
    assert (said["key"], said["database"], said["shards"]) == ("k", 7, 2) and "server" not in said
    for database in (3, 5):
        assert there("SELECT", database) == "OK" and there("KEYS", "*") == [b"f"]
        assert has_all(there, "f", ITEMS)
    assert there("SELECT", 7) == "OK" and there("DBSIZE") == 2
    refused(push(there, path, "--key", "f", "--db", 99), "DB index is out of range")


def test_passwords_are_not_shown(tmp_path):
    """Neither by ps, once the command runs, nor in any message."""
    path = build(tmp_path)
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    running = subprocess.Popen([UMBEL, "push", path, "--key", "f",
                                f"--redis=redis://ada:sesame@127.0.0.1:{port}/0"],
                               stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        listener.settimeout(300)
        client, _ = listener.accept()
        client.recv(100)  # the password itself, over the wire
        shown = Path(f"/proc/{running.pid}/cmdline").read_bytes()
        client.close()
        text = running.stderr.read().decode()
    except TimeoutError:
        pytest.skip("umbel was built without hiredis")
    finally:
        running.kill()
        running.wait()
    assert b"redis://ada:******@127.0.0.1" in shown and b"sesame" not in shown
    assert "connection lost" in text and "sesame" not in text
    h = "127.0.0.1"
    wrong = [f"redis://ada:sesame@{h}:port", f"redis://ada:ses/ame@{h}:1", f"redis://:sesame@{h}:1/x",
             f"redis://:sesame@{h}?db=1", f"redis://:ses%ame@{h}", f"rediss://:sesame%00@{h}",
             f"redis://:sesame@{h}:1", f"redis://:sesame@{h}/99999999999"]
    refusals = [["--redis", url] for url in [*wrong, f"ada:sesame@{h}:x", f"http://:sesame@{h}"]]
    for url in wrong:
        refusals += [[f"--redi={url}"], ["--redis", f"{h}:1", url], ["--redis", url, url]]
    for args in refusals:
        done = umbel("push", path, "--key", "f", *args)
        assert done.returncode == 2 and "ame@" not in done.stderr and "ses" not in done.stderr, args


# ---- TLS ---------------------------------------------------------------------------------------

class Authority:
    """Certificates, all of one key."""

    def __init__(self, directory, name):
        self.directory, self.name = directory, name
        self.file, self.key = directory / f"{name}.crt", directory / f"{name}.key"
        self.openssl("req", "-x509", "-subj", f"/CN={name}", "-days", 30, "-out", self.file,
                     *self.new_key())

    def new_key(self):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.key]

    @staticmethod
    def openssl(*args):
        subprocess.run(["openssl", *map(str, args)], stdin=subprocess.DEVNULL, capture_output=True,
                       check=True)

    def sign(self, name, names, days=30):
        """A certificate for these names, or addresses."""
        request, out = self.directory / "request", self.directory / f"{self.name}-{name}.crt"
        extensions = self.directory / "extensions"
        extensions.write_text(f"subjectAltName={names}\n")
        self.openssl("req", "-new", "-key", self.key, "-subj", f"/CN={name}", "-out", request)
        self.openssl("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self.key,
                     "-CAcreateserial", "-extfile", extensions, "-days", days, "-out", out)
        return out


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    if not shutil.which("openssl"):
        pytest.skip("no openssl (apt-get install openssl)")
    return Authority(tmp_path_factory.mktemp("tls"), "ca")


@pytest.fixture
def tls(new_server, authority):
    """A server that speaks nothing but TLS, except on its socket."""
    port = free_port()
    try:
        server = new_server(tls_port=port, tls_auth_clients="no", tls_key_file=authority.key,
                            tls_cert_file=authority.sign("good", "DNS:localhost,IP:127.0.0.1"),
                            tls_ca_cert_file=authority.file)
    except RuntimeError as e:
        if "Bad directive" in str(e):
            pytest.skip("this server was built without TLS")
        raise
    server.tls_port = port
    return server


def push_secure(server, host, *args):
    done = push_to(f"rediss://{host}:{server.tls_port}", *args)
    if "without TLS" in done.stderr:
        pytest.skip("umbel was built without TLS")
    return done


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_tls(tls, authority, tmp_path, host):
    # More than one piece, and more than one record of TLS each.
    path = build(tmp_path, "-n", "5000000")
    text = pushed(push_secure(tls, host, path, "--key", "f", "--cacert", authority.file))
    assert text.startswith(f"f at {host}:{tls.tls_port}: ")
    assert has_all(tls, "f", ITEMS) and sum(tls("BF.MEXISTS", "f", *ABSENT)) < 20
    assert tls("KEYS", "*") == [b"f"]


def test_tls_that_is_interrupted_goes_on(tls, authority, tmp_path):
    path, cacert = build(tmp_path, "-n", "9200000"), ["--cacert", authority.file]
    cutter = Cutter(tls, 6 * MIB, tls.tls_port)
    done = push_to(f"rediss://{cutter.address}", path, "--key", "f", *cacert)
    if "without TLS" in done.stderr:
        pytest.skip("umbel was built without TLS")
    cutter.thread.join()
    refused(done, "run it again: it resumes where it stopped")
    assert "connection lost: " in done.stderr
    text = pushed(push_secure(tls, "localhost", path, "--key", "f", *cacert))
    assert ", 4 MiB of it sent by an earlier run" in text and has_all(tls, "f", ITEMS)


def test_tls_with_password_and_database(tls, authority, tmp_path):
    path = build(tmp_path)
    tls("CONFIG", "SET", "requirepass", "sesame")
    done = push_to(f"rediss://:sesame@localhost:{tls.tls_port}/2", path, "--key", "f", "--cacert",
                   authority.file)
    if "without TLS" in done.stderr:
        pytest.skip("umbel was built without TLS")
    pushed(done)
    assert tls("AUTH", "sesame") == tls("SELECT", 2) == "OK" and has_all(tls, "f", ITEMS)


def test_certificates_that_are_refused(tls, authority, tmp_path):
    path, cacert = build(tmp_path), ["--cacert", authority.file]
    other = Authority(authority.directory, "other")
    words = "its certificate is not signed by a trusted authority (--cacert F"
    refused(push_secure(tls, "localhost", path, "--key", "f"), words)
    refused(push_secure(tls, "localhost", path, "--key", "f", "--cacert", other.file), words)
    for names, days, words in [
            ("DNS:redis.example,IP:127.0.0.2", 30, "its certificate is not for {host} (--sni NAME"),
            ("DNS:localhost.example", 30, "its certificate is not for {host} (--sni NAME"),
            ("DNS:localhost,IP:127.0.0.1", -1, "its certificate: certificate has expired")]:
        tls("CONFIG", "SET", "tls-cert-file", authority.sign("bad", names, days))
        for host in ("localhost", "127.0.0.1"):
            refused(push_secure(tls, host, path, "--key", "f", *cacert), words.format(host=host))
    # It has one name, and is reached by another, as through a tunnel.
    tls("CONFIG", "SET", "tls-cert-file", authority.sign("far", "DNS:redis.example"))
    refused(push_secure(tls, "localhost", path, "--key", "f", *cacert, "--sni", "redis.examples"),
            "its certificate is not for redis.examples")
    assert tls("DBSIZE") == 0
    pushed(push_secure(tls, "localhost", path, "--key", "f", *cacert, "--sni", "redis.example"))
    assert has_all(tls, "f", ITEMS)


def test_a_self_signed_certificate_is_its_own_authority(tls, authority, tmp_path):
    path = build(tmp_path)
    tls("CONFIG", "SET", "tls-cert-file", authority.file)
    refused(push_secure(tls, "localhost", path, "--key", "f"), "is not signed by a trusted authority")
    pushed(push_secure(tls, "localhost", path, "--key", "f", "--cacert", authority.file, "--sni", "ca"))


def test_certificates_of_clients(tls, authority, tmp_path):
    path, cacert = build(tmp_path), ["--cacert", authority.file]
    tls("CONFIG", "SET", "tls-auth-clients", "yes")
    refused(push_secure(tls, "localhost", path, "--key", "f", *cacert), "(does it want a certificate? "
            "--cert F, --cert-key F)")
    mine = authority.sign("client", "DNS:client")
    refused(push_secure(tls, "localhost", path, "--key", "f", *cacert, "--cert", mine), ".crt: is not "
            "the key of")
    pushed(push_secure(tls, "localhost", path, "--key", "f", *cacert, "--cert", mine, "--cert-key",
                       authority.key))
    both = tmp_path / "both.pem"
    both.write_text(mine.read_text() + authority.key.read_text())
    pushed(push_secure(tls, "localhost", path, "--key", "g", *cacert, "--cert", both))
    assert has_all(tls, "f", ITEMS) and has_all(tls, "g", ITEMS)


def test_tls_where_there_is_none(tls, new_server, authority, tmp_path):
    path, port = build(tmp_path), free_port()
    plain = new_server(port=port)
    refused(push_to(f"redis://localhost:{tls.tls_port}", path, "--key", "f"), "(rediss:// if it speaks "
            "TLS)")
    done = push_to(f"rediss://localhost:{port}", path, "--key", "f", "--cacert", authority.file)
    refused(done, "redis://")
    assert tls("DBSIZE") == plain("DBSIZE") == 0
    refused(push(plain, path, "--key", "f", "--cacert", authority.file), "--cacert: applies to TLS only")
    refused(push_secure(tls, "localhost", path, "--key", "f", "--cacert", path), "contains no certificate")
    refused(push_secure(tls, "localhost", path, "--key", "f", "--cacert", "none"), "none: No such file")


# ---- Waiting and growing -----------------------------------------------------------------------

def test_a_server_that_loads_its_data(new_server, tmp_path):
    path = build(tmp_path)
    slow = new_server(loading_process_events_interval_bytes=1024)
    for i in range(200):
        slow("SET", f"k{i}", "x" * 2000)
    slow("CONFIG", "SET", "key-load-delay", 300000)  # microseconds: a minute, which is cut short
    client = slow.client()
    reload = threading.Thread(target=client, args=("DEBUG", "RELOAD"))
    reload.start()
    while not isinstance(slow("GET", "k1"), Error):
        time.sleep(0.01)
    refused(push(slow, path, "--key", "f", "--wait", 0), "LOADING")
    slow("CONFIG", "SET", "key-load-delay", 10000)
    pushed(push(slow, path, "--key", "f"))
    reload.join()
    assert has_all(slow, "f", ITEMS)


def test_filters_that_grow(server, tmp_path):
    path = build(tmp_path, "-p", "0.5%")
    more = [f"more{i}" for i in range(20000)]
    for kind in ([], ["--kind", "line"]):
        for rate, args in ((0.01, []), (0.02, ["-p", "2%"])):
            pushed(push(server, build(tmp_path, "-p", "0.5%", *kind), "--key", "f", "-f",
                        "--expansion", 3, *args))
            assert server("BF.INFO", "f", "EXPANSION") == [3]
            for at in range(0, 20000, 1000):
                assert len(server("BF.MADD", "f", *more[at:at + 1000])) == 1000
            assert has_all(server, "f", more) and has_all(server, "f", ITEMS)
            wrong = sum(server("BF.MEXISTS", "f", *ABSENT))
            assert wrong < 5000 * rate + 5 * (5000 * rate) ** 0.5
    refused(push(server, path, "--key", "f", "-f", "--expansion", 2, "-p", "0.5%"),
            "-p: must be above 0.5%, the filter's own rate")
    refused(push(server, path, "--key", "f", "-f", "-p", "0.5%"), "has its rate already")
    refused(push(server, path, "--key", "f", "-f", "--expansion", 40000), "at most 32768")
    for kind in ("classic", "static", "counting", "window"):
        refused(push(server, build(tmp_path, "--kind", kind, "-n", 6000), "--key", "f", "-f",
                     "--expansion", 2), f"{kind} filters do not grow there")
    refused(push(server, build(tmp_path, "--format", "redisbloom", name="rb"), "--key", "f", "-f",
                 "--expansion", 2), "grows as it was built to")
    refused(push(server, build(tmp_path, "--kind", "scalable"), "--key", "f", "-f", "--expansion", 2),
            "it grows by itself")


@pytest.mark.parametrize("how", [[], ["--kind", "scalable"], ["--format", "redisbloom"]],
                         ids=["native", "scalable", "redisbloom"])
def test_shards_that_grow(server, tmp_path, how):
    build(tmp_path)
    pushed(push(server, tmp_path / "lines", "--key", "k", "--shards", 2, "--expansion", 4, "-p", "1%",
                *how))
    for i in range(2):
        name, more = f"k:{{{i}}}", [f"more{n}" for n in range(20000)]
        for at in range(0, 20000, 1000):
            assert len(server("BF.MADD", name, *more[at:at + 1000])) == 1000
        assert has_all(server, name, more)
        assert has_all(server, name, [item for item in ITEMS if shard_of(item, 2) == i])
        assert sum(server("BF.MEXISTS", name, *ABSENT)) < 85  # 1% would be 50


def test_a_name_that_is_taken_meanwhile(server, tmp_path):
    """What was sent stays for a day, not forever."""
    path, other = build(tmp_path), server.client()

    def before(words):
        if words[0] == b"RENAMENX":
            other("BF.ADD", "f", "x")
    refused(push_to(Between(server, before).address, path, "--key", "f"),
            "f: was created in the meantime (-f replaces it)")
    assert server("BF.CARD", "f") == 1
    rest = [key for key in server("KEYS", "*") if key != b"f"]
    assert len(rest) == 2 and all(0 < server("TTL", key) <= 86400 for key in rest)
