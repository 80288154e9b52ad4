# SPDX-License-Identifier: MIT
"""The blocks of docs/redis.md, run as they stand: sessions against a server, files of settings, and
code, except Go's one line.  Paths and ports are the only things replaced.  Figures of four and more
digits, and those with a decimal point, are what they were on the day of writing and are not
compared."""
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import rdb
from conftest import MODULE, SERVER, about, free_port, info, running
from resp import keys

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests/deps"))
import documents  # noqa: E402

CLI = str(Path(SERVER).with_name(Path(SERVER).name.replace("-server", "-cli")))
PATH_IN_DOCS = "/usr/local/lib/redis/modules/umbel.so"
BLOCKS = [(language, body)
          for _, language, body in documents.blocks_of((ROOT / "docs/redis.md").read_text())]


def blocks(language, start=""):
    return [body for of, body in BLOCKS if of == language and body.startswith(start)]


def test_no_block_is_forgotten():
    known = (blocks("", "$ ") + blocks("", "# ") + blocks("", "bf_") + blocks("python") +
             blocks("java") + blocks("go") + blocks("sh", "make install"))
    assert [body for _, body in BLOCKS if body not in known] == [] and len(known) == len(BLOCKS)


# ---- Sessions ----------------------------------------------------------------------------------

def two_nodes(new_server):
    """A cluster; the first node is one that does not have the key `urls`."""
    nodes = [new_server(port=free_port(), cluster_enabled="yes", cluster_port=free_port())
             for _ in range(2)]
    other = nodes[0]("CLUSTER", "KEYSLOT", "urls") < 8192
    for i, node in enumerate(nodes):
        first = 8192 * (i ^ other)
        assert node("CLUSTER", "ADDSLOTSRANGE", first, first + 8191) == "OK"
    bus = nodes[1].settings["cluster-port"]
    assert nodes[0]("CLUSTER", "MEET", "127.0.0.1", nodes[1].port, bus) == "OK"
    while b"cluster_state:ok" not in nodes[0]("CLUSTER", "INFO"):
        pass
    return nodes


def loosely(text):
    return re.sub(r"\d[\d,]{3,}|\d+\.\d+", "#", text).strip()


def test_sessions(new_server, tmp_path):
    """Every command of every session, and what it prints."""
    one = new_server(port=free_port())
    visitors = rdb.Bloom(1000, 0.01)
    for item in [b"ada", *(b"%d" % i for i in range(499))]:
        visitors.add(item)
    one("RESTORE", "visitors", 0, visitors.dump(rdb.OLDEST))
    (tmp_path / "urls.txt").write_text("".join(f"https://example.org/item/{i}\n"
                                               for i in range(1, 2_000_001)))
    sessions = blocks("", "$ ")
    assert len(sessions) >= 5
    ports = {"6379": one.port, "7001": two_nodes(new_server)[0].port}
    reader = documents.Reader(tmp_path, ports, CLI)
    try:
        for command, expected in (step for body in sessions for step in documents.commands_of(body)):
            printed, _ = reader.run(command)
            if "without hiredis" in printed:
                pytest.skip("umbel was built without hiredis")
            assert loosely(printed) == loosely("\n".join(expected)), command
    finally:
        reader.close()


def test_info_has_these_lines(new_server):
    server = new_server()
    server("BF.MADD", "seen", "ada", "grace")
    for body in blocks("", "bf_"):
        assert [line.split(":")[0] for line in body.split()] == [
            name for name in info(server, "bf") if name != "bf_defrag_moves"]


# ---- Settings ----------------------------------------------------------------------------------

def test_redis_conf(server, tmp_path):
    unprefixed = about(server).unprefixed
    for body in blocks("", "# redis.conf"):
        lines = dict(line.split(" ", 1) for line in body.splitlines()[1:])
        assert lines.pop("loadmodule") == PATH_IN_DOCS
        if not unprefixed:  # only Redis 8 has these names
            lines = {f"bf.{name}": value for name, value in lines.items()}
        with running(**lines) as eight:
            for name, value in lines.items():
                assert eight("CONFIG", "GET", name)[1].decode() == value


def test_two_modules_of_the_same_name(tmp_path):
    """As Redis 8 with its own and with umbel.so."""
    second = tmp_path / "redisbloom.so"
    shutil.copy(MODULE, second)
    said = [body.strip() for body in blocks("", "# Can't load")]
    assert len(said) == 1
    with pytest.raises(RuntimeError) as refusal:
        with running(module=second, loadmodule=Path(MODULE).resolve()):
            pass
    assert said[0].replace(PATH_IN_DOCS, str(second)) in str(refusal.value)
    with running(module=second) as server:  # in its place, and under its name
        assert server("BF.ADD", "f", "x") == 1


# ---- Code --------------------------------------------------------------------------------------

class Like:
    """Answers as redis.Redis does."""

    def __init__(self, server):
        self.server = server

    def execute_command(self, *words, **_):
        return self.server(*words)

    def get_node_from_key(self, _):
        return self.server


def test_code_in_python(new_server):
    old, new = new_server(), new_server()
    items = keys(5000)
    old("BF.RESERVE", "small", 0.01, 100, "LAYOUT", "classic")
    old("BF.MADD", "small", *items)
    old("BF.RESERVE", "large", 1e-6, 8_000_000)
    old("BF.MADD", "large", *items)
    ran = 0
    for body in blocks("python"):
        names = {"old": Like(old), "new": Like(new), "client": Like(new), "zlib": zlib, "N": 10,
                 "key": "written", "items": items, "item": b"123456789"}
        exec(compile(body, "docs/redis.md", "exec"), names)
        if "move" in names:
            for key in "small", "large":
                names["move"](key)
                assert new("BF.MEXISTS", key, *items) == [1] * 5000
                assert old("DEBUG", "DIGEST-VALUE", key) == new("DEBUG", "DIGEST-VALUE", key)
        elif "shard" in names:
            assert names["shard"] == 7 and names["found"] == 0
        else:
            assert new("BF.MEXISTS", "written", *items) == [1] * 5000
        ran += 1
    assert ran == 3


def test_code_in_java(tmp_path):
    if not shutil.which("java"):
        pytest.skip("no java (apt-get install default-jdk-headless)")
    body, = blocks("java")
    (tmp_path / "Shard.java").write_text(
        "import java.nio.charset.StandardCharsets;\nimport java.util.zip.CRC32;\n"
        "class Shard { public static void main(String[] a) { String item = \"123456789\"; "
        f"long N = 10;\n{body}\nSystem.out.println(shard); }} }}\n")
    done = subprocess.run(["java", tmp_path / "Shard.java"], capture_output=True, text=True,
                          check=True, stdin=subprocess.DEVNULL)
    assert done.stdout == "7\n"
