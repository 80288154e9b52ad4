# SPDX-License-Identifier: MIT
"""umbel push: filters built offline become keys of a real server."""
import os
import socket
import subprocess
import threading
import zlib
from pathlib import Path

import pytest

from conftest import free_port
from resp import Error, encode

UMBEL = str(Path(os.environ.get("UMBEL", "build/umbel")).resolve())
MIB = 1 << 20


def umbel(*args, cwd=None):
    return subprocess.run([UMBEL, *map(str, args)], cwd=cwd, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)


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
    refused(push(server, tmp_path / "text", "--key", "f"), "text: format: not recognised")
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
    locked("ACL", "SETUSER", "loader", "on", ">pass word", "allkeys", "-@all",
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

    def __init__(self, server, room):
        self.server, self.room = server, room
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        client, _ = self.listener.accept()
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


class TakenOver:
    """A node that forwards what it receives, and redirects the client at the third LOADCHUNK."""

    def __init__(self, server, to):
        self.server, self.to = server, to
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        client, _ = self.listener.accept()
        there = socket.socket(socket.AF_UNIX)
        there.connect(self.server.socket_path)
        asked, loads = client.makefile("rb"), 0
        threading.Thread(target=Cutter.copy, args=(there, client), daemon=True).start()
        while line := asked.readline():
            words = []
            for _ in range(int(line[1:])):
                words.append(asked.read(int(asked.readline()[1:]) + 2)[:-2])
            loads += words[0] == b"BF.LOADCHUNK"
            if loads == 3:
                client.sendall(b"-MOVED 1 127.0.0.1:%d\r\n" % self.to.port)
                return
            there.sendall(encode(*words))


def test_another_node_takes_over_without_the_last_pieces(new_server, tmp_path):
    path = build(tmp_path, "-n", "9200000")
    first, second = new_server(), new_server(port=free_port())
    cutter = Cutter(second, MIB)  # has the head, and nothing of the bits
    umbel("push", path, "--redis", cutter.address, "--key", "f")
    cutter.thread.join()
    assert second("DBSIZE") == 2
    done = umbel("push", path, "--redis", TakenOver(first, second).address, "--key", "f",
                 "--cluster")
    if "without hiredis" in done.stderr:
        pytest.skip("umbel was built without hiredis")
    assert f"f at 127.0.0.1:{second.port}" in pushed(done)
    assert has_all(second, "f", ITEMS) and not any(second("BF.MEXISTS", "f", *ABSENT[:100]))


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
