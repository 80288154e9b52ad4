# SPDX-License-Identifier: MIT
"""corpus_files(PACK) - the files that the inputs of tests/fuzz/fuzz_decode_native.c stand for."""
import importlib.util
import struct
from importlib.machinery import SourceFileLoader
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
AS_IT_IS, OTHER_LENGTHS, REPEATED, OTHER_SUMS = 1, 2, 4, 8
FIXED, PIECE = 128, 1 << 20


def module(path):
    loader = SourceFileLoader(path.stem.replace("-", "_"), str(path))
    found = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(found)
    return found


reader = module(ROOT / "scripts/umbel-read")


def expand(choices, data):
    """As the target does it; keyed files are the same without a secret to try."""
    own, meta = struct.unpack_from("<2I", data, 116)
    own = min(own, len(data) - FIXED)
    meta = min(meta, len(data) - FIXED - own)
    used = FIXED + own + meta
    rest, said = data[used:], struct.unpack_from("<Q", data, 104)[0]
    if choices & REPEATED and rest and said <= PIECE * 5 // 4:
        rest = (rest * (said // len(rest) + 1))[:said]
    length = -(-used // 8) * 8 + 8
    at = -(-length // 4096) * 4096
    head = bytearray(data[:used].ljust(length - 8, b"\0"))
    if not choices & OTHER_LENGTHS:
        head[:10] = b"UMBEL\x1a\r\n\1\0"
        struct.pack_into("<I", head, 12, length)
        struct.pack_into("<2Q3I", head, 96, at, len(rest), PIECE, own, meta)
    sealed = not choices & OTHER_SUMS
    total = reader.xxh3_64(bytes(head)) if sealed else 0
    sums = b"".join(struct.pack("<Q", reader.xxh3_64(rest[i:i + PIECE], i // PIECE) if sealed else 0)
                    for i in range(0, len(rest), PIECE))
    last = reader.xxh3_64(sums, total) if sealed else 0
    return (bytes(head) + struct.pack("<Q", total)).ljust(at, b"\0") + rest + sums + struct.pack("<Q", last)


def inputs(pack):
    """Names and bytes; tests/fuzz/pack.py documents the format."""
    with open(pack, "rb") as file:
        for _ in range(int(file.readline().split()[1])):
            name, length = file.readline().split()
            yield name.decode(), file.read(int(length) + 1)[:-1]


def corpus_files(pack):
    for name, data in inputs(pack):
        choices, data = data[0] if data else AS_IT_IS, data[1:]
        yield name, data if choices & AS_IT_IS or len(data) < FIXED else expand(choices, data)
