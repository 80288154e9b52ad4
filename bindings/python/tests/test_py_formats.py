# SPDX-License-Identifier: MIT
"""Filters that other systems wrote, read and made again bit for bit; what the command writes."""
import gzip
import os
import pickle
import subprocess
from pathlib import Path

import pytest

import umbel

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests" / "golden"
COMMAND = Path(os.environ.get("UMBEL", ROOT / "build" / "umbel"))


def rows(path, skip=1):
    lines = [line for line in (GOLDEN / path).read_text().split("\n") if line and line[0] != "#"]
    return [line.split("\t") for line in lines[skip:]]


def same_everywhere(f, data, **how):
    """These are the filter's bytes, and every way of reading them gives the same filter."""
    assert f.to_bytes() == data
    umbel.verify(data, **how)
    again = [umbel.Filter.from_bytes(data, **how), pickle.loads(pickle.dumps(f)), f.copy()]
    if f.info.format == "guava":
        with pytest.raises(umbel.UnsupportedError, match="big-endian"):
            umbel.Filter.view(data, **how)
    else:
        again.append(umbel.Filter.view(data, **how))
    for g in again:
        assert g == f and g.to_bytes() == data


# ---- golden files -------------------------------------------------------------------------------

def native_files():
    for table in ("filters.tsv", "tight.tsv"):
        for row in (GOLDEN / "native" / table).read_text().splitlines()[1:]:
            name, *_, data = row.split("\t")
            yield pytest.param(name, bytes.fromhex(data), id=name)


@pytest.mark.parametrize("name, data", native_files())
def test_native(name, data, tmp_path):
    secret = b"sixteen bytes it" if name.startswith("keyed") else None
    path = tmp_path / name
    path.write_bytes(data)
    umbel.verify(data)
    umbel.verify_file(path)
    for f in (umbel.Filter.load(path, secret=secret), umbel.Filter.open(path, secret=secret),
              umbel.Filter.from_bytes(data, secret=secret), umbel.Filter.view(data, secret=secret)):
        assert f.to_bytes() == data
    if name == "ada":
        assert "ada" in f and "grace" not in f
    if name in ("blocked_7", "classic_4096", "keyed_blocked", "keyed_classic"):
        keys = [bytes.fromhex(line) for line in (GOLDEN / "native/keys.hex").read_text().split("\n")[:-1]]
        assert all(f.contains_many(keys))
    if name == "blocked_meta":
        assert f.meta["source"] == "Blüten" and f.recipe == "field=2 delimiter=comma trim lower"


def guava_keys(text, funnel):
    if funnel in ("int", "long"):
        first, last = map(int, text.split(".."))
        return list(range(first, last + 1))
    if ".." in text:
        return [f"key{i}" for i in range(int(text.split("key")[2]) + 1)]
    return text.split(",")


@pytest.mark.parametrize("row", rows("guava/filters.tsv"), ids=lambda r: f"{r[0]}-{r[6]}-{r[1]}-{r[2]}")
def test_guava(row):
    kind = {"string": None, "unencoded": "utf16", "int": "int32", "long": "int64"}[row[6]]
    variant = "mitz32" if row[0] == "0" else None
    f = umbel.Filter.foreign("guava", int(row[1]) or 1, float(row[2]), variant=variant)
    assert f.info.bits == int(row[4]) and f.info.hashes == int(row[5])
    assert sum(f.add_many(guava_keys(row[7], row[6]), type=kind)) == int(row[8])
    if row[11]:
        same_everywhere(f, bytes.fromhex(row[11]), format="guava")


@pytest.mark.parametrize("name,n", [("mitz32_str_1000_0.01.bin", 1000), ("mitz64_str_100_0.03.bin", 100)])
def test_guava_files(name, n):
    f = umbel.Filter.load(GOLDEN / "guava" / name, "guava")
    assert f.info.format == "guava" and not f.info.frozen
    assert all(f.contains_many([f"key{i}" for i in range(n)])) and "absent" not in f


LEVELDB = {"empty": [], "hello_world": ["hello", "world"], "one_empty_key": [""], "one_a": ["a"],
           "utf8": ["布隆过滤器", "é"], "binary_high": [b"\xff\xfe\xfd", b"\x80", b"\0\1", b"\xe3\x99\x40\0"],
           "fixed32le_0_99": [i.to_bytes(4, "little") for i in range(100)],
           "key%d_0_999": [f"key{i}" for i in range(1000)], "a_repeat_0_99": ["a" * i for i in range(100)]}


@pytest.mark.parametrize("row", [r for r in rows("leveldb/filters.tsv") if int(r[1]) and int(r[2])],
                         ids=lambda r: f"{r[0]}-{r[2]}")
def test_leveldb(row):
    f = umbel.Filter.foreign("leveldb", int(row[1]), bits_per_key=int(row[2]))
    f.update(LEVELDB[row[0]])
    same_everywhere(f, bytes.fromhex(row[3]), format="leveldb")
    assert f.contains_many([f"probe{i}" for i in range(200)]) == bytes(map(int, row[4]))


@pytest.mark.parametrize("row", [r for r in rows("corekv/filters.tsv")
                                 if r[0] in ("one_0", "range_0_99") and int(r[2]) > 0],
                         ids=lambda r: f"{r[0]}-{r[2]}")
def test_corekv(row):
    f = umbel.Filter.foreign("corekv", int(row[1]), bits_per_key=int(row[2]))
    f.update(range(int(row[1])), type="uint32be")
    same_everywhere(f, bytes.fromhex(row[4]), format="corekv")
    absent = range(2**30, 2**30 + 10_000)
    assert sum(f.contains_many(absent, type="uint32be")) == int(row[8])


def test_badger():
    f = umbel.Filter.foreign("badger", 100, bits_per_key=10)
    f.update(range(1, 101), type="uint32")
    assert all(f.contains_many(range(1, 101), type="uint32"))
    same_everywhere(f, f.to_bytes(), format="badger")
    with pytest.raises(umbel.InvalidError):
        f.add("five!")


@pytest.mark.parametrize("path,variant", [("gocrc32/int64.tsv", None), ("gocrc32/int32.tsv", "int32")])
def test_gocrc32(path, variant):
    for row in rows(path):
        how = {"capacity": int(row[0]), "fpr": float(row[1]), "variant": variant}
        f = umbel.Filter.foreign("gocrc32", **how)
        f.update(str(i) for i in range(int(row[5])))
        assert f.text() == row[4]
        assert f.contains_many([str(i) for i in range(200)]) == bytes(map(int, row[7]))
        if row[6]:
            same_everywhere(f, bytes.fromhex(row[6]), format="gocrc32", **how)


@pytest.mark.parametrize("row", rows("parquet/filters.tsv"), ids=lambda r: r[0])
def test_parquet(row):
    n, kind = int(row[5]), row[4]
    values = {"string": lambda i: f"val{i}", "int32": int, "int64": int}.get(kind, lambda i: i / 4)
    f = umbel.Filter.foreign("parquet", n, 0.01)
    f.update([values(i) for i in range(n)], type=kind)
    data = bytes.fromhex(row[3] + row[6])
    same_everywhere(f, data)
    at = int(row[1])
    assert (GOLDEN / "parquet/duckdb_t.parquet").read_bytes()[at:at + len(data)] == data


@pytest.mark.parametrize("row", rows("redisbloom/filters.tsv"), ids=["growing", "nonscaling"])
def test_redisbloom(row):
    f = umbel.Filter.foreign("redisbloom", int(row[1]), float(row[2]), nonscaling=row[3] == "13")
    flags = f.add_many([f"key{i}" for i in range(100)])
    assert sum(flags) == int(row[5])
    data = f.to_bytes()
    assert bytes.fromhex(row[6]) in data and bytes.fromhex(row[8]) in data
    same_everywhere(f, data)


def test_redisbloom_that_may_not_grow():
    f = umbel.Filter.foreign("redisbloom", 100, 0.01, nonscaling=True)
    keys = [f"key{i}" for i in range(1000)]
    with pytest.raises(umbel.FullError) as caught:
        f.add_many(keys)
    assert 100 <= caught.value.done < 110 and all(f.contains_many(keys[:caught.value.done]))


def test_dcso():
    f = umbel.Filter.load(GOLDEN / "dcso/a.bloom")
    assert f.info.format == "dcso" and all(f.contains_many([f"key{i}" for i in range(50)]))
    g = umbel.Filter.foreign("dcso", 100, 0.01)
    g.update(f"key{i}" for i in range(50))
    same_everywhere(g, (GOLDEN / "dcso/a.bloom").read_bytes())
    c = umbel.Filter.load(GOLDEN / "dcso/c.bloom")
    assert c.data.startswith(b"meta-data!") and "" in c
    c.data = b"other"
    assert umbel.Filter.from_bytes(c.to_bytes()).data == b"other"
    del c.data
    assert c.data == b""
    packed = gzip.compress((GOLDEN / "dcso/a.bloom").read_bytes())
    with pytest.raises(umbel.VersionError, match="decompress it first"):
        umbel.Filter.from_bytes(packed)


CLICKHOUSE_ROWS = rows("clickhouse/rows.tsv")


@pytest.mark.parametrize("row", rows("clickhouse/streams.tsv"), ids=lambda r: r[0])
def test_clickhouse(row):
    column, kind, how, stream, at = int(row[1]), row[2], row[3], bytes.fromhex(row[5]), 0
    for first in range(0, 150, 64):
        texts = [r[column] for r in CLICKHOUSE_ROWS[first:first + 64]]
        if how in ("token", "ngram4"):
            size, hashes, seed = map(int, row[4].split())
            made = {"bytes": size, "hashes": hashes, "seed": seed}
            keys = [token for text in texts
                    for token in umbel.clickhouse_tokens(text, 4 if how == "ngram4" else 0)]
            f, like = umbel.Filter.foreign("clickhouse", **made), made
        else:
            if how == "array":
                texts = [part for text in texts for part in text.split(",") if text]
            convert = str if kind == "string" else float if kind == "double" else int
            keys = list(dict.fromkeys(umbel.typed(convert(text), kind) for text in texts))
            like = {"fpr": float(row[4]),
                    "variant": ["index"] if kind == "string" else ["index", "numbers"]}
            f = umbel.Filter.foreign("clickhouse", len(keys), **like)
        f.update(keys)
        data = stream[at:at + len(f.to_bytes())]
        same_everywhere(f, data, format="clickhouse", **like)
        at += len(data)
    assert at == len(stream)


# ---- the command --------------------------------------------------------------------------------

KEYS = [f"https://example.org/{i}" for i in range(3000)]


@pytest.mark.skipif(not COMMAND.exists(), reason="no command: it is neither $UMBEL nor build/umbel")
@pytest.mark.parametrize("options,make", [
    (["-n", "5000"], lambda: umbel.Filter(5000)),
    (["-n", "5000", "-p", "0.001", "--seed", "7"], lambda: umbel.Filter(5000, 0.001, seed=7)),
    (["-n", "5000", "--kind", "classic"], lambda: umbel.Filter(5000, kind="classic")),
    (["-n", "5000", "--kind", "counting"], lambda: umbel.Filter(5000, kind="counting")),
    (["--kind", "static", "-p", "0.001"], lambda: umbel.build(KEYS, 0.001)),
    (["-n", "5000", "--format", "guava", "-p", "0.01"],
     lambda: umbel.Filter.foreign("guava", 5000, 0.01)),
    (["-n", "5000", "--format", "parquet", "-p", "0.01"],
     lambda: umbel.Filter.foreign("parquet", 5000, 0.01)),
    (["-n", "5000", "--format", "leveldb", "--bits-per-key", "10"],
     lambda: umbel.Filter.foreign("leveldb", 5000, bits_per_key=10)),
    (["-n", "5000", "--format", "dcso", "-p", "0.01"],
     lambda: umbel.Filter.foreign("dcso", 5000, 0.01)),
], ids=lambda x: " ".join(x) if isinstance(x, list) else "")
def test_the_command_writes_the_same_bytes(options, make, tmp_path):
    (tmp_path / "keys").write_text("".join(key + "\n" for key in KEYS))
    path = tmp_path / "out"
    subprocess.run([COMMAND, "build", *options, "-o", path, tmp_path / "keys"], check=True)
    f = make()
    if not f.info.frozen:
        f.update(KEYS)
    assert f.to_bytes() == path.read_bytes()
    f.save(tmp_path / "mine")
    assert (tmp_path / "mine").read_bytes() == path.read_bytes()
