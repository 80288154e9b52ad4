# SPDX-License-Identifier: MIT
"""A real cluster: three primaries, three replicas, a cluster-aware client, a failover.

labels: slow
"""
import functools
import os
import shutil
import subprocess
import tempfile
import threading
import time
import zlib
from pathlib import Path

import pytest

import conftest
from conftest import PATIENCE, SERVER, Server, about, free_port, info
from resp import as_dict, is_error

redis = pytest.importorskip("redis", reason="no redis-py (apt-get install python3-redis)")
cluster = pytest.importorskip("redis.cluster", reason="redis-py is too old for clusters")

UMBEL = str(Path(os.environ.get("UMBEL", "build/umbel")).resolve())
CLI = str(Path(SERVER).with_name(Path(SERVER).name.replace("-server", "-cli")))
FILTERS = [f"filter{i}" for i in range(12)]
until = functools.partial(conftest.until, ignored=(OSError, redis.RedisError))


class Cluster:
    def __init__(self):
        self.nodes, self.client = [], None

    def start(self):
        for _ in range(6):
            directory = tempfile.mkdtemp(prefix="umbel-")
            node = Server(directory, port=free_port(), cluster_enabled="yes",
                          cluster_port=free_port(), cluster_node_timeout=5000,
                          cluster_config_file="nodes.conf")
            self.nodes.append(node)
            node.start()
        done = subprocess.run(
            [CLI, "--cluster", "create", *(f"127.0.0.1:{n.port}" for n in self.nodes),
             "--cluster-replicas", "1", "--cluster-yes"], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        for node in self.nodes:
            until(lambda n=node: self.state(n)["cluster_state"] == "ok", "the cluster is not ready")
        until(lambda: sum(info(n, "replication").get("master_link_status") == "up"
                          for n in self.nodes) == 3, "a replica does not follow")
        self.client = cluster.RedisCluster(host="127.0.0.1", port=self.nodes[0].port,
                                           cluster_error_retry_attempts=10)

    @staticmethod
    def state(node):
        text = node("CLUSTER", "INFO").decode()
        return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)

    def __call__(self, *args):
        return self.client.execute_command(*args)

    def owner(self, key):
        """The server that is the primary of the key's slot."""
        port = self.client.get_node_from_key(key).port
        return next(n for n in self.nodes if n.port == port)

    def wait(self, key):
        """How many replicas have received what this client wrote to the key's node."""
        node = self.client.get_node_from_key(key)
        return self.client.execute_command("WAIT", 1, 10000, target_nodes=node)

    def stop(self):
        for node in self.nodes:
            node.stop()
            shutil.rmtree(node.directory, ignore_errors=True)


@pytest.fixture(scope="module")
def six():
    nodes = Cluster()
    try:
        nodes.start()
        yield nodes
    finally:
        nodes.stop()


def items_of(key):
    return [f"{key}:{i}" for i in range(300)]


def test_commands_go_to_the_node_of_the_key(six):
    for key in FILTERS:
        assert six("BF.RESERVE", key, 0.001, 1000) == b"OK"
        assert six("BF.MADD", key, *items_of(key)).count(1) >= 290
    assert len({six.owner(key).port for key in FILTERS}) == 3
    for key in FILTERS:
        assert six("BF.MEXISTS", key, *items_of(key)) == [1] * 300
        assert six("BF.CARD", key) == six("BF.INFO", key, "ITEMS")[0]
    with pytest.raises(redis.exceptions.RedisClusterException):  # two slots, as the client sees
        six("BF.MERGE", FILTERS[0], *(k for k in FILTERS if six.owner(k) != six.owner(FILTERS[0])))


def shard_of(key, shards):
    return zlib.crc32(key.encode()) * shards >> 32


def push(six, *args):
    done = subprocess.run([UMBEL, "push", "--redis", f"127.0.0.1:{six.nodes[0].port}",
                           *map(str, args)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    if "without hiredis" in done.stderr:
        pytest.skip("umbel was built without hiredis")
    return done


def test_push_follows_to_the_node(six, tmp_path):
    lines, path = tmp_path / "lines", tmp_path / "f.umb"
    keys = [f"key{i}" for i in range(3000)]
    lines.write_text("\n".join(keys) + "\n")
    subprocess.run([UMBEL, "build", "-q", "-o", path, lines], check=True)
    away = next(f"pushed{i}" for i in range(100) if six.owner(f"pushed{i}") != six.nodes[0])
    done = push(six, path, "--key", away)
    assert done.returncode == 2 and "--cluster follows" in done.stderr
    for name in (away, "{tag}pushed", "odd}pushed"):
        done = push(six, path, "--key", name, "--cluster")
        assert done.returncode == 0, done.stderr
        assert six("BF.MEXISTS", name, *keys) == [1] * 3000

    done = push(six, lines, "--key", "many", "--shards", 8, "--cluster")
    assert done.returncode == 0, done.stderr
    names = [f"many:{{{i}}}" for i in range(8)]
    assert len({six.owner(name).port for name in names}) == 3
    for i, name in enumerate(names):
        own = [key for key in keys if shard_of(key, 8) == i]
        assert six("BF.MEXISTS", name, *own) == [1] * len(own)
    filters = len(FILTERS) + 3 + 8
    until(lambda: sum(n("DBSIZE") for n in six.nodes) == 2 * filters,
          "there is more or less than the filters, each twice")


class Writer(threading.Thread):
    """Adds items to filters for as long as it is wanted, and knows which were acknowledged."""

    def __init__(self, six, names):
        super().__init__(daemon=True)
        self.client = cluster.RedisCluster(host="127.0.0.1", port=six.nodes[0].port,
                                           cluster_error_retry_attempts=10)
        self.acknowledged = {name: [] for name in names}
        self.batches, self.over = 0, threading.Event()
        self.start()

    def run(self):
        while not self.over.is_set():
            for name, done in self.acknowledged.items():
                items = [f"{name}:{self.batches}-{i}" for i in range(20)]
                try:
                    self.client.execute_command("BF.MADD", name, *items)
                except (redis.RedisError, OSError):
                    continue
                done += items
            self.batches += 1

    def batch(self):
        """Waits until all filters have got one more."""
        now = self.batches
        until(lambda: self.batches > now + 1, "nothing is written any more")

    def end(self):
        self.over.set()
        self.join()


class Maker(Writer):
    """Makes classic filters in the slots of others for as long as it is wanted."""

    def run(self):
        while not self.over.is_set():
            for name, done in self.acknowledged.items():
                key = f"{{{name}}}:{self.batches}"
                try:
                    self.client.execute_command("BF.INSERT", key, "LAYOUT", "classic", "CAPACITY",
                                                5, "NONSCALING", "ITEMS", *"abcde")
                except (redis.RedisError, OSError):
                    continue
                done.append(key)
            self.batches += 1


def begin_move(source, target, slot):
    """From now on new keys are made at the target."""
    here, there = (n("CLUSTER", "MYID") for n in (source, target))
    assert target("CLUSTER", "SETSLOT", slot, "IMPORTING", here) == "OK"
    assert source("CLUSTER", "SETSLOT", slot, "MIGRATING", there) == "OK"


def end_move(source, target, slot):
    """Moves the old ones; clients may be faster and delete or rename them."""
    there = target("CLUSTER", "MYID")
    while names := source("CLUSTER", "GETKEYSINSLOT", slot, 100):
        for key in names:
            assert source("MIGRATE", "127.0.0.1", target.port, key, 0, 60000) in ("OK", "NOKEY")
    for node in target, source:
        assert node("CLUSTER", "SETSLOT", slot, "NODE", there) == "OK"


def move_by_key(source, target, slots):
    """As redis-cli --cluster reshard does."""
    for slot in slots:
        begin_move(source, target, slot)
        end_move(source, target, slot)


def move_in_valkey(source, target, slots):
    ranges = [x for slot in slots for x in (slot, slot)]
    assert source("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", *ranges, "NODE",
                  target("CLUSTER", "MYID")) == "OK"
    until(lambda: as_dict(source("CLUSTER", "GETSLOTMIGRATIONS")[0])[b"state"] == b"success",
          "the slots do not move")


def move_in_redis(source, target, slots):
    ranges = [x for slot in slots for x in (slot, slot)]
    task = target("CLUSTER", "MIGRATION", "IMPORT", *ranges)
    until(lambda: as_dict(target("CLUSTER", "MIGRATION", "STATUS", "ID", task)[0])[b"state"]
          == b"completed", "the slots do not move")


ATOMIC = {"MIGRATESLOTS": move_in_valkey, "MIGRATION": move_in_redis}


def test_slots_move_while_keys_come(six):
    source, target = (six.owner(key) for key in FILTERS[:2])
    names = [name for name in (f"moved{i}" for i in range(100)) if six.owner(name) is source][:8]
    for i, name in enumerate(names):
        six("BF.RESERVE", name, 1e-6, 100_000 if i % 4 < 2 else 100,
            "LAYOUT", ("blocked", "classic")[i % 2])
    slots = sorted({six.client.keyslot(name) for name in names})
    atomic = ATOMIC.get(about(source).migration)
    writer = Writer(six, names)
    for move in [move_by_key, *([atomic] if atomic else [])]:
        writer.batch()
        before, moves = writer.batches, 0
        while writer.batches == before:  # a move may be over before a batch is
            assert (moves := moves + 1) <= 50, "keys do not come while slots move"
            move(source, target, slots)
            source, target = target, source
        writer.batch()
    writer.end()
    follower = next(n for n in six.nodes if info(n, "replication").get("master_port")
                    == str(source.port))  # where the slots are now
    assert follower("READONLY") == "OK"
    for node in source, follower:
        for name, items in writer.acknowledged.items():
            assert len(items) > 100
            until(lambda n=node, k=name, a=items: n("BF.MEXISTS", k, *a) == [1] * len(a),
                  f"{name} lost keys")
    assert sum(n("CLUSTER", "COUNTKEYSINSLOT", s) for n in six.nodes for s in slots) == 16
    for name in names:
        six("DEL", name)


def test_slots_move_while_filters_come(six):
    """The stream of such a move names no layout for classic filters, as that of a primary."""
    source, target = (six.owner(key) for key in FILTERS[:2])
    move = ATOMIC.get(about(source).migration)
    if not move:
        pytest.skip("this server moves slots key by key")
    names = [name for name in (f"moved{i}" for i in range(100)) if six.owner(name) is source][:4]
    slots = sorted({six.client.keyslot(name) for name in names})
    maker = Maker(six, names)
    for _ in range(4):
        maker.batch()
        move(source, target, slots)
        maker.batch()
        source, target = target, source
    maker.end()
    made = [key for done in maker.acknowledged.values() for key in done]
    assert {source("TYPE", key) for key in made} == {"MBbloom--"}
    assert {tuple(source("BF.MEXISTS", key, *"abcde")) for key in made} == {(1,) * 5}
    for key in made:
        six("DEL", key)


def test_filters_above_the_servers_limit(six):
    """docs/redis.md, Limits, with 20 MB in the place of 512."""
    name, items = "large", [f"item{i}" for i in range(1000)]
    source, target = two_primaries(six, name)
    slot = six.client.keyslot(name)
    for node in source, target:
        node("CONFIG", "SET", "rdbcompression", "no")  # it is almost empty
    for layout in "blocked", "classic":
        six("BF.RESERVE", name, 1e-6, 8_000_000, "NONSCALING", "LAYOUT", layout)
        assert six("MEMORY", "USAGE", name) > 25 << 20
        six("BF.MADD", name, *items)
        assert target("CONFIG", "SET", "proto-max-bulk-len", 20 << 20) == "OK"
        begin_move(source, target, slot)
        failed = source("MIGRATE", "127.0.0.1", target.port, name, 0, 60000)
        assert is_error(failed, "IOERR"), failed
        assert source("BF.MEXISTS", name, *items) == [1] * 1000
        target("CONFIG", "SET", "proto-max-bulk-len", 512 << 20)
        end_move(source, target, slot)
        assert target("BF.MEXISTS", name, *items) == [1] * 1000
        atomic = ATOMIC.get(about(source).migration)
        source("CONFIG", "SET", "proto-max-bulk-len", 20 << 20)
        if atomic:
            atomic(target, source, [slot])
            assert source("BF.MEXISTS", name, *items) == [1] * 1000
            target, source = source, target
        for node in source, target:
            node("CONFIG", "SET", "proto-max-bulk-len", 512 << 20)
        source, target = target, source
        source("DEL", name)


PUSHED = [f"key{i}" for i in range(3000)]


def filter_file(directory, *how):
    lines, path = directory / "lines", directory / "f.umb"
    lines.write_text("\n".join(PUSHED) + "\n")
    subprocess.run([UMBEL, "build", "-qf", *how, "-o", path, lines], check=True)
    return path


def two_primaries(six, name):
    """The one that has the name, and another."""
    source = six.owner(name)
    return source, next(six.owner(key) for key in FILTERS if six.owner(key) is not source)


def test_push_waits_for_a_slot_that_moves(six, tmp_path):
    path, name = filter_file(tmp_path), "half here"
    source, target = two_primaries(six, name)
    slot = six.client.keyslot(name)
    begin_move(source, target, slot)
    done = push(six, path, "--key", name, "--cluster", "--wait", 1)
    assert done.returncode == 2 and ("the key's slot is moving to another node (--wait waits longer; "
                                     "run it again") in done.stderr, done.stderr
    assert target("CLUSTER", "COUNTKEYSINSLOT", slot) == 2  # all but the renaming can be done
    end_move(source, target, slot)
    done = push(six, path, "--key", name, "--cluster")
    assert done.returncode == 0 and "of it sent by an earlier run" in done.stderr, done.stderr
    assert six("BF.MEXISTS", name, *PUSHED) == [1] * 3000

    # And back; what is replaced is here when the new one arrives there.
    source, target = target, source
    begin_move(source, target, slot)
    running = subprocess.Popen(
        [UMBEL, "push", path, "--redis", f"127.0.0.1:{source.port}", "--cluster", "--key", name,
         "-f"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until(lambda: target("CLUSTER", "COUNTKEYSINSLOT", slot) == 2, "nothing is sent")
    time.sleep(0.5)
    assert running.poll() is None and source("CLUSTER", "COUNTKEYSINSLOT", slot) == 1
    end_move(source, target, slot)
    text = running.communicate(timeout=PATIENCE)[1]
    # It names the owner of the slot, which at that moment may still be the source.
    owners = [f"127.0.0.1:{node.port}" for node in (source, target)]
    assert running.returncode == 0 and any(owner in text for owner in owners), text
    assert target("BF.MEXISTS", name, *PUSHED) == [1] * 3000
    assert target("CLUSTER", "GETKEYSINSLOT", slot, 9) == [name.encode()]
    assert target("TTL", name) == -1
    six("DEL", name)


class Shuttle(threading.Thread):
    """Moves a slot to and fro for as long as it is wanted: key by key and, where the server can do
    that, as a whole."""

    def __init__(self, source, target, slot):
        super().__init__(daemon=True)
        atomic = ATOMIC.get(about(source).migration)
        self.ways = [self.by_key, atomic or self.by_key]
        self.nodes = [self.other_client(n) for n in (source, target)]
        self.slot, self.moves, self.wrong, self.over = slot, 0, None, threading.Event()
        self.start()

    @staticmethod
    def other_client(node):
        client = node.client()
        client.port = node.port
        return client

    @staticmethod
    def by_key(source, target, slots):
        begin_move(source, target, slots[0])
        time.sleep(0.05)
        end_move(source, target, slots[0])

    def run(self):
        try:
            while not self.over.is_set() or self.moves % 2:
                source, target = self.nodes[self.moves % 2], self.nodes[1 - self.moves % 2]
                self.ways[self.moves // 2 % 2](source, target, [self.slot])
                time.sleep(0.05)
                self.moves += 1
        except (AssertionError, OSError) as e:
            self.wrong = e

    def end(self):
        self.over.set()
        self.join()
        assert self.wrong is None, self.wrong


@pytest.mark.parametrize("how", [["-n", 9200000], ["-n", 9200000, "--format", "redisbloom"]],
                         ids=["native", "redisbloom"])
def test_push_while_its_slot_moves_to_and_fro(six, tmp_path, how):
    path, name = filter_file(tmp_path, *map(str, how)), "to and fro"
    source, target = two_primaries(six, name)
    shuttle = Shuttle(source, target, six.client.keyslot(name))
    absent = [f"absent{i}" for i in range(1000)]
    turn = 0
    while turn < 12 or (shuttle.moves < 6 and not shuttle.wrong):
        done = push(six, path, "--key", name, "--cluster", *(["-f"] if turn else []))
        turn += 1
        assert done.returncode == 0, done.stderr
        asked = until(lambda: six("BF.MEXISTS", name, *PUSHED, *absent), "no answer")
        assert asked[:3000] == [1] * 3000 and sum(asked[3000:]) < 20
    shuttle.end()
    assert sum(n("CLUSTER", "COUNTKEYSINSLOT", shuttle.slot) for n in (source, target)) == 1
    six("DEL", name)


def test_push_over_tls_follows_to_the_node(new_server, tmp_path):
    """Two nodes that speak TLS only.  Redirections name addresses, as their certificate does."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl (apt-get install openssl)")
    key, cert = tmp_path / "key", tmp_path / "cert"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", cert, "-subj",
                    "/CN=any", "-addext", "subjectAltName=IP:127.0.0.1"], check=True,
                   stdin=subprocess.DEVNULL, capture_output=True)
    ports, buses, nodes = [free_port(), free_port()], [free_port(), free_port()], []
    for i, port in enumerate(ports):
        nodes.append(new_server(cluster_enabled="yes", cluster_port=buses[i], tls_port=port,
                                tls_cluster="yes", tls_replication="yes", tls_cert_file=cert,
                                tls_key_file=key, tls_ca_cert_file=cert, tls_auth_clients="no"))
        nodes[i]("CLUSTER", "ADDSLOTSRANGE", 8192 * i, 8192 * i + 8191)
    assert nodes[0]("CLUSTER", "MEET", "127.0.0.1", ports[1], buses[1]) == "OK"
    for node in nodes:
        until(lambda n=node: Cluster.state(n)["cluster_state"] == "ok", "the cluster is not ready")
    path, url = filter_file(tmp_path), f"rediss://127.0.0.1:{ports[0]}"
    for name in (f"tls{i}" for i in range(6)):
        done = subprocess.run([UMBEL, "push", path, "--redis", url, "--cluster", "--cacert", cert,
                               "--key", name], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE)
        if "without" in done.stderr:
            pytest.skip("umbel was built without hiredis or TLS")
        there = nodes[0]("CLUSTER", "KEYSLOT", name) // 8192
        assert done.returncode == 0 and f"127.0.0.1:{ports[there]}" in done.stderr, done.stderr
        assert nodes[there]("BF.MEXISTS", name, *PUSHED) == [1] * 3000
    assert all(n("DBSIZE") for n in nodes)


def test_failover_loses_no_acknowledged_key(six):
    victim = six.owner(FILTERS[0])
    acknowledged = {key: [] for key in FILTERS}
    for turn in range(5):
        for key in FILTERS:
            items = [f"{key}:late{turn}-{i}" for i in range(40)]
            six("BF.MADD", key, *items)
            if six.wait(key) >= 1:
                acknowledged[key] += items
    assert all(len(items) == 200 for items in acknowledged.values())
    mine = [key for key in FILTERS if six.owner(key) is victim]
    victim.process.kill()
    victim.process.wait()
    rest = [n for n in six.nodes if n is not victim]

    def taken_over():
        states = [Cluster.state(n) for n in rest]
        roles = sum(info(n, "replication")["role"] == "master" for n in rest)
        return all(s["cluster_state"] == "ok" for s in states) and roles == 3

    until(taken_over, "nobody took over")
    for key in FILTERS:
        asked = items_of(key) + acknowledged[key]
        found = until(lambda k=key, a=asked: six("BF.MEXISTS", k, *a), f"{key} is not answered")
        assert found == [1] * len(asked), key
    for key in mine:
        assert six.owner(key) is not victim
        six("BF.ADD", key, "after")
        assert six("BF.EXISTS", key, "after") == 1
