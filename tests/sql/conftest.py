# SPDX-License-Identifier: MIT
"""What the tests of SQL share: a server per run, a database per test, the command, the corpora.

UMBEL_POSTGRES and UMBEL_SQLITE name the extensions under test; where SQLite's was built with
AddressSanitizer, UMBEL_PRELOAD is its library.
"""
import os
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import xxhash

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
sys.dont_write_bytecode = True

from cluster import Cluster  # noqa: E402
from hang_limit import hang_limit  # noqa: E402,F401

POSTGRES = Path(os.environ.get("UMBEL_POSTGRES", ROOT / "build" / "postgres" / "umbel.so"))
SQLITE = Path(os.environ.get("UMBEL_SQLITE", ROOT / "build" / "sqlite" / "umbel.so"))
UMBEL = os.environ.get("UMBEL", str(ROOT / "build" / "umbel"))


CORPORA = sorted((ROOT / "tests" / "fuzz" / "corpus").glob("*.pack"))


def sealed(bytes_):
    """The native file that an input of decode_native stands for, with sums that are right: lengths
    and sums are what no fuzzer guesses (tests/fuzz/fuzz_decode_native.c)."""
    data = bytes_[1:]
    if len(data) < 128:
        return data
    own, meta = (int.from_bytes(data[at:at + 4], "little") for at in (116, 120))
    own = min(own, len(data) - 128)
    meta = min(meta, len(data) - 128 - own)
    used = 128 + own + meta
    header_len = (used + 7) // 8 * 8 + 8
    payload = data[used:]
    said = int.from_bytes(data[104:112], "little")
    if bytes_[0] & 4 and payload and said <= 1 << 20:  # by repetition
        payload = (payload * (said // len(payload) + 1))[:said]
    start = (header_len + 4095) // 4096 * 4096
    head = bytearray(data[:used].ljust(header_len - 8, b"\0"))
    if not bytes_[0] & 2:
        head[:10] = b"UMBEL\x1a\r\n\1\0"
        struct.pack_into("<I", head, 12, header_len)
        struct.pack_into("<QQIII", head, 96, start, len(payload), 1 << 20, own, meta)
    head_sum = xxhash.xxh3_64_intdigest(bytes(head), 0)
    sums = b"".join(struct.pack("<Q", xxhash.xxh3_64_intdigest(payload[at:at + (1 << 20)], i))
                    for i, at in enumerate(range(0, len(payload), 1 << 20)))
    return ((bytes(head) + struct.pack("<Q", head_sum)).ljust(start, b"\0") + payload + sums
            + struct.pack("<Q", xxhash.xxh3_64_intdigest(sums, head_sum)))


def inputs_of(pack):
    """Every input of a fuzz corpus, and what some slips make of it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, ROOT / "tests" / "fuzz" / "pack.py", "unpack", pack, folder],
                       check=True, stdout=subprocess.DEVNULL)
        inputs = [path.read_bytes() for path in sorted(Path(folder).iterdir())]
    chance = random.Random(7)
    for data in filter(None, inputs):
        changed = bytearray(data)
        for _ in range(chance.randint(1, 3)):
            changed[chance.randrange(min(len(data), 200))] = chance.choice((0, 1, 127, 255))
        for whole in (data, data[1:], data[:chance.randrange(len(data))], bytes(changed)):
            yield whole
        if pack.stem == "decode_native":
            yield sealed(data)
            yield sealed(bytes(changed))


def sanitizer():
    preload = os.environ.get("UMBEL_PRELOAD")
    # The programs are not built with it: what they never free is not our leak.
    return {"LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0"} if preload else {}


def new_cluster(settings=(), **more):
    return Cluster(POSTGRES, settings, **more)


@pytest.fixture(scope="session")
def cluster():
    server = new_cluster()
    yield server
    server.stop()


class Database:
    """A connection whose call returns rows; one() the only value."""

    def __init__(self, connection):
        self.connection = connection
        self.cursor = connection.cursor()

    def __call__(self, query, *values):
        self.cursor.execute(query, values or None)
        return self.cursor.fetchall() if self.cursor.description else None

    def one(self, query, *values):
        ((value,),) = self(query, *values)
        return value


@pytest.fixture
def connect(cluster, request):
    """connect(): another connection to a database of this test."""
    name = "t_" + "".join(c if c.isalnum() else "_" for c in request.node.name.lower())[:55]
    opened = []

    def another(server=cluster, **how):
        admin = server.connect()
        with admin.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_database WHERE datname = %s", (name,))
            if not cursor.fetchone()[0]:
                cursor.execute(f'CREATE DATABASE "{name}"')
        admin.close()
        database = Database(server.connect(name, **how))
        if how.get("user", "postgres") == "postgres":
            database("SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS umbel")
        opened.append(database)
        return database

    yield another
    for database in opened:
        database.connection.close()


@pytest.fixture
def db(connect):
    return connect()


@pytest.fixture
def umbel():
    """Runs the command; its standard output as bytes."""
    def run(*arguments, stdin=b""):
        done = subprocess.run([UMBEL, *map(str, arguments)], input=stdin, capture_output=True,
                              check=False)
        assert done.returncode in (0, 1), done.stderr.decode()
        return done.stdout
    return run
