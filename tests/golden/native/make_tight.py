#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_tight.py - writes the golden files of tight and exact filters, independently of the library.

Written from docs/formats/native-kinds.md; hashes and checks are those of scripts/umbel-read.  Each
file has the keys key0, key1 and so on; exact filters know other0, other1 and so on as well.  Equations
are whole numbers here, of one bit per slot.
"""
import math
import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from make import HERE, reader

M = 2**64 - 1
THRESHOLDS = {1: (0, 24, 48, 192), 2: (0, 48, 96, 640)}


def mix(x):
    return reader.shift(reader.shift(reader.shift(x, 32) * reader.MIX, 32) * reader.MIX, 32)


def number(x):
    return bytes([x]) if x < 128 else bytes([x % 128 + 128]) + number(x >> 7)


class Table:
    """The equations of one table: pivots[slot] = (row, value), the row's lowest bit being slot.  The value is the print, or,
    if `carried` is 1, the lowest bit of the key's number."""

    def __init__(self, blocks, window, carried):
        self.blocks, self.window, self.carried = blocks, window, carried
        self.places, self.pivots = 64 * (blocks - window) + 1, {}

    def place(self, inner):
        return (inner & ~self.carried) * self.places >> 64

    def insert(self, inner):
        """The slot that it took, or None."""
        x = mix(inner & ~self.carried)
        row, value = x | 1, inner & 1 if self.carried else (x * 0xA0761D6478BD642F & M) >> 32
        if self.window == 2:
            product = x * 0x9E3779B97F4A7C15
            row |= (product >> 64 ^ product & M) << 64
        row <<= self.place(inner)
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
            low, high = (first + THRESHOLDS[self.window][c] for c in (code - 1, code))
            if not self.insert_all([x for x in reversed(inners) if low <= self.place(x) < high]):
                return code
        return 0

    def words(self, r, narrow):
        columns = []
        for i in range(32):
            column = 0
            for slot in range(64 * self.blocks - 1, -1, -1):
                if i >= r and slot < 64 * narrow:
                    break
                row, value = self.pivots.get(slot, (0, 0))
                bit = (row & column).bit_count() + (value >> i) & 1
                column |= bit << slot
            columns.append(column)
        return b"".join(struct.pack("<Q", columns[i] >> 64 * block & M) for block in range(self.blocks)
                        for i in range(r + (block >= narrow)))


def divide(keys, bits, deviations):
    """The window where slots have so many bits, and the blocks of each level, all of one shard."""
    window = 2 if keys > 4096 and bits <= 2 else 1
    load, empty, empties, vary, varies = ((96, 0.0016, 31, 0.036, 170),
                                          (97, 0.0002, 50, 0.006, 450))[window - 1]
    sizes = []
    while keys > 4096:
        sizes.append(keys * load // 100 // 64)
        slots = 64 * sizes[-1]
        keys = int(keys - slots + empty * slots + empties + deviations * math.sqrt(varies + vary * slots))
    sizes.append(-(-2 * keys // 125) if window == 1 else -(-(keys + keys // 100 + 12) // 64))
    return window, sizes


def build(hashes, r, wide, carried=0, deviations=2.5):
    """Parameters, thresholds and tables; `wide` blocks of the first level have a bit more."""
    window, sizes = divide(len(hashes), r + (wide > 0), deviations)
    thresholds, marks, words, own, xs = THRESHOLDS[window], b"", b"", bytes([r]) + number(wide), hashes
    for i, blocks in enumerate(sizes):
        narrow = blocks - -(-wide * blocks // sizes[0])
        for seed in range(256):
            table = Table(blocks, window, carried)
            odd = 1 + seed * 0x9E3779B97F4A7C16
            inners = sorted(((x & ~carried) * odd & M & ~carried) | x & carried for x in xs)
            if i + 1 == len(sizes):
                bumped, fits = [], table.insert_all(inners)
            else:
                codes, bumped, fits = [], [], True
                for first in range(0, table.places, thresholds[3]):
                    here = [x for x in inners if first <= table.place(x) < first + thresholds[3]]
                    codes.append(table.bucket(here, first))
                    bumped += [mix(x & ~carried) & ~carried | x & carried for x in here
                               if table.place(x) < first + thresholds[codes[-1]]]
                code = sum(code << 2 * j for j, code in enumerate(codes))
                marks += code.to_bytes(-(-len(codes) // 4), "little")
            if fits:
                break
        assert fits  # else all levels had to be built again
        words += table.words(r, narrow)
        own += bytes([0] * (i > 0)) + number(blocks) + bytes([seed])
        xs = bumped
    return own, marks.ljust(-(-len(marks) // 8) * 8, b"\0"), words


def tight(keys, seed, r, wide):
    own, marks, words = build(hashes(b"key%d", keys, seed), r, wide)
    return own, marks + words


def exact(keys, others, seed, e=0):
    """As the writer does, which takes e = 0 unless two keys collide: who is found among the others is asked of
    scripts/umbel-read."""
    members, known = hashes(b"key%d", keys, seed), hashes(b"other%d", others, seed)
    r = next(r for r in range(keys < 64, 33) if others / 2**(r + 1) <= keys)
    prints = build(members, r, 0, deviations=1) if r else (b"", b"", b"")
    asked = {"tight": reader.tight(prints[0], len(prints[1] + prints[2]))}
    found = [x for x in known if not r or reader.in_tight(asked, prints[1] + prints[2], x)]
    verdict = lambda x, bit: mix(x + (e + 1) * 0x9E3779B97F4A7C15 & M) & ~1 | bit
    second = build([verdict(x, 1) for x in members] + [verdict(x, 0) for x in found], 1, 0, 1, 1)
    own = number(others) + bytes([e, len(prints[0])]) + prints[0] + second[0]
    return own, prints[1] + second[1] + prints[2] + second[2], 2.0**-r / (1 if keys < 64 else 2)


def hashes(form, n, seed):
    return [reader.xxh3_64(form % i, seed) for i in range(n)]


def file_bytes(kind, keys, seed, fpr, own, payload):
    end = 128 + -(-len(own) // 8) * 8
    header = reader.FIELDS.pack(b"UMBEL\x1a\r\n", 1, 0, end + 8, kind, 1, 1, 1, seed, 0, 8 * len(payload),
                                keys, fpr, keys, 0, 0, 0, 0, 0, 0, 4096, len(payload), 1 << 20,
                                len(own), 0, 0)
    header = (header + own).ljust(end, b"\0")
    total = reader.xxh3_64(header)
    sums = struct.pack("<Q", reader.xxh3_64(payload, 0))
    return ((header + struct.pack("<Q", total)).ljust(4096, b"\0") + payload + sums
            + struct.pack("<Q", reader.xxh3_64(sums, total)))


if __name__ == "__main__":
    (HERE / "tight.tsv").write_text("keys\tseed\trate\tfile\n" + "".join(
        f"{keys}\t{seed}\t{fpr}\t{file_bytes(7, keys, seed, fpr, *tight(keys, seed, r, wide)).hex()}\n"
        for keys, seed, fpr, r, wide in ((1, 0, 0.5, 1, 0), (200, 5, 0.03, 5, 2), (4500, 77, 0.05, 4, 29), (5000, 9, 0.4, 1, 33))))
    (HERE / "exact.tsv").write_text("keys\tothers\tseed\tfile\n" + "".join(
        f"{keys}\t{others}\t{seed}\t{file_bytes(9, keys, seed, rate, own, payload).hex()}\n"
        for keys, others, seed in ((1, 30, 0), (200, 3000, 5), (300, 100, 8), (3000, 50000, 4), (5000, 20000, 9))
        for own, payload, rate in [exact(keys, others, seed)]))
