#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_tight.py - writes the golden files of tight filters, independently of the library.

Written from docs/formats/native-kinds.md; hashes and checks are those of scripts/umbel-read.  Each
file has the keys key0, key1 and so on.  Equations are whole numbers here, of one bit per slot.
"""
import math
import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from make import HERE, reader

M = 2**64 - 1
THRESHOLDS = (0, 24, 48, 192)


def mix(x):
    return reader.shift(reader.shift(reader.shift(x, 32) * reader.MIX, 32) * reader.MIX, 32)


class Table:
    """The equations of one table: pivots[slot] = (row, print), the row's lowest bit being slot."""

    def __init__(self, blocks):
        self.places, self.pivots = 64 * blocks - 63, {}

    def place(self, inner):
        return inner * self.places >> 64

    def insert(self, inner):
        """The slot that it took, or None."""
        x = mix(inner)
        row, value = (x | 1) << self.place(inner), (x * 0xA0761D6478BD642F & M) >> 32
        while row:
            slot = (row & -row).bit_length() - 1
            if slot not in self.pivots:
                self.pivots[slot] = row, value
                return slot
            row, value = row ^ self.pivots[slot][0], value ^ self.pivots[slot][1]
        return None

    def insert_all(self, inners):
        """All of them, or none."""
        taken = []
        for inner in inners:
            taken.append(self.insert(inner))
            if taken[-1] is None:
                for slot in taken[:-1]:
                    del self.pivots[slot]
                return False
        return True

    def bucket(self, inners, first):
        """The least code with which the rest fits, for the sorted keys of one bucket."""
        for code in (3, 2, 1):
            low, high = (first + THRESHOLDS[c] for c in (code - 1, code))
            if not self.insert_all([x for x in reversed(inners) if low <= self.place(x) < high]):
                return code
        return 0

    def words(self, r, narrow):
        blocks = self.places // 64 + 1
        columns = []
        for i in range(32):
            column = 0
            for slot in range(64 * blocks - 1, -1, -1):
                if i >= r and slot < 64 * narrow:
                    break
                row, value = self.pivots.get(slot, (0, 0))
                bit = (row & column).bit_count() + (value >> i) & 1
                column |= bit << slot
            columns.append(column)
        return b"".join(struct.pack("<Q", columns[i] >> 64 * block & M) for block in range(blocks)
                        for i in range(r + (block >= narrow)))


def divide(keys):
    """Blocks of each level, all of one shard."""
    while keys > 4096:
        blocks = keys * 96 // 100 // 64
        slots = 64 * blocks
        yield blocks
        keys = int(keys - slots + 0.0016 * slots + 31 + 2.5 * math.sqrt(170 + 0.036 * slots))
    yield (2 * keys + 124) // 125


def build(hashes, r, wide):
    """Parameters and payload; `wide` blocks of the first level have a bit more."""
    sizes = list(divide(len(hashes)))
    marks, words, levels, xs = b"", b"", [], hashes
    for i, blocks in enumerate(sizes):
        narrow = blocks - -(-wide * blocks // sizes[0])
        for seed in range(256):
            table = Table(blocks)
            inners = sorted(x * (1 + seed * 0x9E3779B97F4A7C16) & M for x in xs)
            if i + 1 == len(sizes):
                bumped, fits = [], table.insert_all(inners)
            else:
                codes, bumped, fits = [], [], True
                for first in range(0, table.places, 192):
                    here = [x for x in inners if first <= table.place(x) < first + 192]
                    codes.append(table.bucket(here, first))
                    bumped += [mix(x) for x in here
                               if table.place(x) < first + THRESHOLDS[codes[-1]]]
                number = sum(code << 2 * j for j, code in enumerate(codes))
                marks += number.to_bytes(-(-len(codes) // 4), "little")
            if fits:
                break
        words += table.words(r, narrow)
        levels.append(struct.pack("<2BI", 0, seed, blocks))
        xs = bumped
    own = struct.pack("<2BI", r, len(levels), wide) + b"".join(levels)
    return own, marks.ljust(-(-len(marks) // 8) * 8, b"\0") + words


def file_bytes(keys, seed, fpr, r, wide):
    own, payload = build([reader.xxh3_64(b"key%d" % i, seed) for i in range(keys)], r, wide)
    end = 128 + -(-len(own) // 8) * 8
    header = reader.FIELDS.pack(b"UMBEL\x1a\r\n", 1, 0, end + 8, 7, 1, 1, 1, seed, 0, 8 * len(payload),
                                keys, fpr, keys, 0, 0, 0, bytes(7), 4096, len(payload), 1 << 20,
                                len(own), 0, 0)
    header = (header + own).ljust(end, b"\0")
    total = reader.xxh3_64(header)
    sums = struct.pack("<Q", reader.xxh3_64(payload, 0))
    return ((header + struct.pack("<Q", total)).ljust(4096, b"\0") + payload + sums
            + struct.pack("<Q", reader.xxh3_64(sums, total)))


if __name__ == "__main__":
    (HERE / "tight.tsv").write_text("keys\tseed\trate\tfile\n" + "".join(
        f"{keys}\t{seed}\t{fpr}\t{file_bytes(keys, seed, fpr, r, wide).hex()}\n"
        for keys, seed, fpr, r, wide in ((1, 0, 0.5, 1, 0), (200, 5, 0.03, 5, 2), (4500, 77, 0.05, 4, 29))))
