#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""seeds.py FOLDER - writes golden files as inputs of the fuzz targets, to FOLDER/TARGET/.

The comment at the top of fuzz_TARGET.c says how a target interprets its bytes.
"""
import re
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests/golden"
FORMATS = dict((name.lower(), int(number)) for name, number in
               re.findall(r"UMBEL_FMT_(\w+) = (\d+)", (ROOT / "include/umbel.h").read_text()))
RATES = ["0", "0.01", "0.5", "0.9", "0.025", "1e-6", "0.999999"]
LONGEST = 5000


class Folder:
    """Numbered inputs of one target; those too long for a fuzzer are left out."""

    def __init__(self, root, target):
        self.path = root / target
        self.path.mkdir(parents=True, exist_ok=True)
        self.count = 0

    def put(self, name, data):
        if len(data) <= LONGEST:
            self.count += 1
            (self.path / f"{name}_{self.count:03}").write_bytes(data)


def rows(path):
    for line in (GOLDEN / path).read_text().splitlines():
        if not line.startswith("#"):
            yield line.split("\t")


def from_hex(text):
    try:
        return bytes.fromhex(text)
    except ValueError:
        return None


def compact(file):
    """A native file without the zeros and sums that fuzz_decode_native puts back."""
    header, = struct.unpack_from("<I", file, 12)
    at, length = struct.unpack_from("<QQ", file, 96)
    own, meta = struct.unpack_from("<II", file, 116)
    assert header <= at <= len(file)
    return file[:128 + own + meta] + file[at:at + length]


def native(root):
    folder = Folder(root, "decode_native")
    for name, *_, file in [*rows("native/filters.tsv"), *rows("native/tight.tsv"), *rows("native/exact.tsv")]:
        file = from_hex(file)
        if file is not None:
            folder.put(name, b"\0" + compact(file))
            folder.put(name, b"\1" + file)


def head(name, keys=0, rate="0", variant=0, bits_per_key=0, hashes=0, seed=0, flags=0):
    return struct.pack("<BBHBBBBQ", FORMATS[name], flags, keys,
                       RATES.index(rate), variant, bits_per_key, hashes, seed)


def foreign(root):
    folder = Folder(root, "decode_foreign")
    for name, path, column in (("leveldb", "leveldb/filters.tsv", 3), ("leveldb", "leveldb/odd.tsv", 0),
                               ("corekv", "corekv/filters.tsv", 4), ("badger", "corekv/filters.tsv", 4),
                               ("guava", "guava/filters.tsv", -1)):
        for row in rows(path):
            data = from_hex(row[column])
            if data is not None:
                folder.put(name, head(name) + data)
    for path in sorted((GOLDEN / "guava").glob("*.bin")):
        folder.put("guava", head("guava") + path.read_bytes())
    for row in list(rows("rocksdb/filters.tsv"))[1:]:
        folder.put("rocksdb", head("rocksdb") + from_hex(row[4]))
    for path in sorted((GOLDEN / "datasketches").glob("*.sk")):
        folder.put("datasketches", head("datasketches") + path.read_bytes())
    for path in sorted((GOLDEN / "spark").glob("*.bin")):
        folder.put("spark", head("spark") + path.read_bytes())
    for path in sorted((GOLDEN / "dcso").glob("*.bloom")):
        folder.put("dcso", head("dcso") + path.read_bytes())
        folder.put("dcso_gzip", head("any", flags=2) + path.read_bytes())
    for row in list(rows("parquet/filters.tsv"))[1:]:
        folder.put("parquet", head("parquet") + from_hex(row[3]) + from_hex(row[6]))
    for row in list(rows("redisbloom/filters.tsv"))[1:]:
        header, chunk = from_hex(row[6]), from_hex(row[8])
        file = b"UMBRBLM1" + struct.pack("<Q", len(header)) + header + chunk
        folder.put("redisbloom", head("redisbloom") + file)
        folder.put("redisbloom", head("redisbloom", flags=1) + file)
    for variant, path in (0, "gocrc32/int64.tsv"), (1, "gocrc32/int32.tsv"):
        for row in list(rows(path))[1:]:
            if row[1] in RATES and int(row[0]) < 65536:
                known = head("gocrc32", int(row[0]), row[1], variant)
                folder.put("gocrc32", known + from_hex(row[6]))
    for index, _, kind, how, parameters, stream in list(rows("clickhouse/streams.tsv"))[1:]:
        numbers, data = parameters.split(), from_hex(stream)
        if how in ("token", "ngram"):
            size, hashes, seed = map(int, numbers[-3:])
            folder.put(index, head("clickhouse", hashes=hashes, seed=seed) + data[:size])
        else:
            variant = 8 if kind == "string" else 24
            rate = numbers[0] if numbers[0] in RATES else "0.025"
            folder.put(index, head("clickhouse", 0, rate, variant) + data)


def tables(root):
    folder = Folder(root, "table_rocksdb")
    for path in sorted((GOLDEN / "rocksdb").glob("*.sst")):
        folder.put(path.stem, path.read_bytes())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = Path(sys.argv[1])
    native(root)
    foreign(root)
    tables(root)


main()
