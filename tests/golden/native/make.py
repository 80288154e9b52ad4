#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make.py - writes the golden native files, independently of the library.

The hash, the positions and the checks are those of scripts/umbel-read; this adds the writer.
  make.py files     filters.tsv, recipes.tsv, heads.tsv and keys.hex, into this folder
  make.py vectors   xxh3.tsv, made by the xxhash module (Debian: python3-xxhash)
  make.py check     the reader's own XXH3 gives what xxh3.tsv says, its SipHash what OpenSSL says
"""
import importlib.machinery
import importlib.util
import random
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("umbel_read", str(HERE / "../../../scripts/umbel-read"))
reader = importlib.util.module_from_spec(importlib.util.spec_from_loader("umbel_read", loader))
loader.exec_module(reader)

# One of every length that XXH3 handles separately, and their neighbours.
LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 97, 127, 128, 129,
           143, 144, 160, 191, 192, 239, 240, 241, 255, 256, 257, 511, 1023, 1024, 1025, 1088, 2049)
SECRET = b"sixteen bytes it"
SEEDS = (0, 1, 0x9E3779B97F4A7C15, 2**64 - 1)


def patterned(length):
    """Reproducible bytes: byte i is (i * 167 + length) % 256."""
    return bytes((i * 167 + length) % 256 for i in range(length))


def filter_bytes(kind, bits, hashes, keys, seed=0, capacity=0, fpr=0.0, flags=0, field=0,
                 delimiter=0, meta=(), secret=None, never=(), outdated=0):
    """A native file holding these keys."""
    shape = {"kind": kind, "bits": bits, "hashes": hashes, "seed": seed,
             "hash": 2 if secret else 1, "secret": secret and reader.secret_from(secret)}
    fingerprint = reader.fingerprint(shape["secret"]) if secret else 0
    payload, added = bytearray((bits + 7) // 8), 0
    for key in keys:
        positions = list(reader.positions(shape, key))
        added += any(not payload[p >> 3] >> (p & 7) & 1 for p in positions)
        for p in positions:
            payload[p >> 3] |= 1 << (p & 7)
    entries = b"".join(struct.pack("<HI", len(n), len(v)) + n + v for n, v in meta)
    hidden = sorted({reader.hash64(shape, key) for key in never})
    first = 128 + -(-len(entries) // 8) * 8
    end = first + 8 * len(hidden)
    at = -(-(end + 8) // 4096) * 4096
    header = reader.FIELDS.pack(b"UMBEL\x1a\r\n", 1 + bool(hidden), 0, end + 8, kind, 1, shape["hash"], hashes, seed,
                                fingerprint, bits, capacity, fpr, added, flags, field, delimiter, outdated, 0,
                                len(hidden), at,
                                len(payload), 1 << 20, 0, len(entries), 0)
    header = (header + entries).ljust(first, b"\0") + struct.pack(f"<{len(hidden)}Q", *hidden)
    header_sum = reader.xxh3_64(header)
    sums = b"".join(struct.pack("<Q", reader.xxh3_64(payload[i << 20:i + 1 << 20], i))
                    for i in range(-(-len(payload) >> 20)))
    return ((header + struct.pack("<Q", header_sum)).ljust(at, b"\0") + payload + sums
            + struct.pack("<Q", reader.xxh3_64(sums, header_sum)))


def found(keys, kind, bits, hashes, added, seed=0):
    """Those of the other keys that a filter of the first ones finds by mistake."""
    h, payload = reader.read(filter_bytes(kind, bits, hashes, keys[:added], seed))
    members = set(keys[:added])
    wrong = [key for key in keys[added:] if key not in members and reader.contains(h, payload, key)]
    assert wrong
    return wrong


def golden_keys():
    some = random.Random(1).randbytes
    return [patterned(n) for n in LENGTHS] + [some(1 + i % 40) for i in range(160)]


def golden_filters(keys):
    """Arguments of filter_bytes by name."""
    return {
        "ada": dict(kind=1, bits=256, hashes=8, keys=[b"ada"]),
        "blocked_empty": dict(kind=1, bits=256, hashes=8, keys=[]),
        "blocked_1": dict(kind=1, bits=256, hashes=8, keys=keys[:8], seed=7),
        "blocked_7": dict(kind=1, bits=7 * 256, hashes=8, keys=keys),
        "blocked_64": dict(kind=1, bits=64 * 256, hashes=8, keys=keys, seed=2**64 - 1,
                           capacity=1000, fpr=0.01),
        "blocked_meta": dict(
            kind=1, bits=3 * 256, hashes=8, keys=keys[:20], seed=5, flags=3, field=2,
            delimiter=ord(","), capacity=20, fpr=0.001,
            meta=((b"recipe", b"field=2 delimiter=comma trim lower"),
                  (b"source", "Bl\u00fcten".encode()), (b"empty", b""), (b"n" * 255, b"v" * 5000))),
        "classic_1": dict(kind=2, bits=1, hashes=1, keys=[]),
        "classic_64": dict(kind=2, bits=64, hashes=3, keys=keys[:5]),
        "classic_1001": dict(kind=2, bits=1001, hashes=5, keys=keys[:100], seed=3),
        "classic_4096": dict(kind=2, bits=4096, hashes=14, keys=keys, seed=2**63 + 1,
                             capacity=202, fpr=6.1e-05, flags=5,
                             meta=((b"recipe", b"line trim upper"),)),
        "classic_1024hashes": dict(kind=2, bits=65536, hashes=1024, keys=keys[:50]),
        "keyed_blocked": dict(kind=1, bits=64 * 256, hashes=8, keys=keys, seed=2**64 - 1,
                              capacity=1000, fpr=0.01, secret=SECRET),
        "line_4": dict(kind=8, bits=5 * 512, hashes=4, keys=keys, seed=11),
        "line_8": dict(kind=8, bits=9 * 512, hashes=8, keys=keys, capacity=400, fpr=0.02),
        "line_16": dict(kind=8, bits=512, hashes=16, keys=keys[:12], seed=2**64 - 1),
        "keyed_line": dict(kind=8, bits=12 * 512, hashes=16, keys=keys, secret=SECRET),
        "never_blocked": dict(kind=1, bits=512, hashes=8, keys=keys[:100],
                              never=found(keys, 1, 512, 8, 100)),
        "never_line": dict(kind=8, bits=512, hashes=4, keys=keys[:60], seed=9, outdated=1,
                           meta=((b"odd", b"length"),), never=found(keys, 8, 512, 4, 60, 9)),
        "never_classic": dict(kind=2, bits=301, hashes=3, keys=keys[:100],
                              never=found(keys, 2, 301, 3, 100)),
        "keyed_classic": dict(kind=2, bits=4097, hashes=14, keys=keys, secret=SECRET),
    }


def make_files():
    keys = golden_keys()
    (HERE / "keys.hex").write_text("".join(key.hex() + "\n" for key in keys))
    # Recipes, and what 0.2 wrote in their place.
    rule = dict(field=2, delimiter=ord(","), flags=3)
    recipes = {
        "recipe_csv": dict(flags=8, meta=((b"recipe", b'csv column="e-mail address" lower'), (b"x", b"y"))),
        "recipe_json": dict(flags=8, meta=((b"recipe", b"json=.user.email"),)),
        "recipe_crlf": dict(flags=8, meta=((b"recipe", b"line crlf"),)),
        "recipe_later": dict(flags=8, meta=((b"recipe", b"line fnord=7"),)),
        "old_rule": dict(**rule),
        "old_csv": dict(field=3, meta=((b"a", b"b"), (b"key.csv", b"yes"))),
        "old_column": dict(flags=2, meta=((b"key.delimiter", b";"), (b"key.csv", b"yes"),
                                          (b"key.column", b'the "name"'), (b"key.missing", b"empty"))),
        "old_own": dict(**rule, meta=((b"recipe", b"lasagne"), (b"key.note", b"n"))),
        "old_odd": dict(meta=((b"key.csv", b"yes"),)),
        "bad_missing": dict(flags=8),
        "bad_both": dict(flags=10, meta=((b"recipe", b"line lower"),)),
        "bad_flag": dict(flags=8, meta=((b"recipe", b"line lower"),)),
        "bad_rule": dict(**rule, meta=((b"recipe", b"field=2 delimiter=comma lower"),)),
        "bad_zero": dict(meta=((b"recipe", b"line lower"),)),
        "bad_unsaid": dict(meta=((b"recipe", b"json=.a"),)),
    }
    recipes = {name: dict(kind=1, bits=256, hashes=8, keys=[b"ada"], **more) for name, more in recipes.items()}
    for path, files in ("filters.tsv", golden_filters(keys)), ("recipes.tsv", recipes):
        (HERE / path).write_text("name\tfile\n" + "".join(
            f"{name}\t{filter_bytes(**arguments).hex()}\n" for name, arguments in files.items()))
    make_heads()


def head_and_bits(layers, properties):
    """A value of the server as docs/formats/redis.md describes it: native headers, then the secret;
    and the bits of each layer."""
    head, bits = b"", []
    for i, layer in enumerate(layers):
        file = filter_bytes(**layer, secret=SECRET, meta=() if i else [
            (b"bf." + name, value) for name, value in properties.items()])
        at, length = struct.unpack_from("<QQ", file, 96)
        head += file[:struct.unpack_from("<I", file, 12)[0]]
        bits.append(file[at:at + length])
    return head + SECRET, bits


def make_heads():
    """Filters that were pushed to grow, and one that was not."""
    keys = [b"k%d" % i for i in range(400)]

    def layer(kind, blocks, capacity, fpr, part):
        return dict(kind=kind, bits=blocks * (256 if kind == 1 else 512), hashes=8, keys=part,
                    capacity=capacity, fpr=fpr)
    rows = {
        "reserved": (400, [layer(1, 48, 500, 0.005, keys)],
                     {b"layers": b"1", b"error": b"0.01", b"capacity": b"500", b"expansion": b"2"}),
        "grown": (250, [layer(1, 10, 100, 0.005, keys[:100]), layer(8, 16, 200, 0.001, keys[100:250])],
                  {b"layers": b"2", b"error": b"0.01", b"capacity": b"100", b"expansion": b"2"}),
        "nonscaling": (30, [layer(8, 4, 100, 0.01, keys[:30])], {}),
        "steps": (200, [layer(1, 14, 150, 0.005, keys[:150]), layer(1, 64, 450, 0.0025, keys[150:200])],
                  {b"layers": b"2", b"error": b"0.01", b"capacity": b"150", b"expansion": b"3",
                   b"tightening": b"0.5"}),
    }
    lines = ["name\titems\thead and bits"]
    for name, (count, layers, properties) in rows.items():
        head, bits = head_and_bits(layers, properties)
        lines.append("\t".join([name, str(count), *(part.hex() for part in (head, *bits))]))
    (HERE / "heads.tsv").write_text("\n".join(lines) + "\n")


def make_vectors():
    import xxhash
    with open(HERE / "xxh3.tsv", "w", encoding="ascii") as out:
        out.write(f"# libxxhash {xxhash.XXHASH_VERSION}: length, seed, XXH3-64, XXH3-128 high, low\n")
        for n in LENGTHS:
            for seed in SEEDS:
                key = patterned(n)
                wide = xxhash.xxh3_128_intdigest(key, seed)
                out.write(f"{n}\t{seed:016x}\t{xxhash.xxh3_64_intdigest(key, seed):016x}\t"
                          f"{wide >> 64:016x}\t{wide & 2**64 - 1:016x}\n")


def check():
    key = reader.secret_from(bytes(range(16)))
    siphash = (HERE / "../siphash/siphash13.tsv").read_text().splitlines()[1:]
    for message, *want in (line.split("\t") for line in siphash):
        message = bytes.fromhex(message)
        words = reader.siphash13(message, *key), *reader.siphash13(message, *key, 0xEE)
        if [struct.pack("<Q", words[0]).hex(), struct.pack("<2Q", *words[1:]).hex()] != want:
            sys.exit(f"make.py: SipHash-1-3 of {len(message)} bytes is wrong")
    if len(siphash) != 64:
        sys.exit("make.py: siphash13.tsv is not whole")
    rows = [line.split() for line in (HERE / "xxh3.tsv").read_text().splitlines()[1:]]
    for n, *words in rows:
        seed, want, high, low = (int(word, 16) for word in words)
        key = patterned(int(n))
        got = reader.xxh3_64(key, seed), *reader.xxh3_128(key, seed)
        if got != (want, low, high):
            sys.exit(f"make.py: XXH3 of {n} bytes with seed {seed:x} is wrong")
    if len(rows) != len(LENGTHS) * len(SEEDS):
        sys.exit("make.py: xxh3.tsv is not whole")


if __name__ == "__main__":
    {"files": make_files, "vectors": make_vectors, "check": check}[sys.argv[1]]()
