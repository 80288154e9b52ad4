# SPDX-License-Identifier: MIT
"""DUMP payloads of module values, written and read as the RDB format says; and RedisBloom's filters
in them, made from their description alone.  Nothing here uses the module."""
import functools
import math
import operator
import re
import struct

MODULE_2, END, UINT, DOUBLE, STRING = 7, 0, 2, 4, 5
NAME = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
M64 = (1 << 64) - 1


# ---- Payloads ----------------------------------------------------------------------------------

def crc64_table():
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x95AC9329AC4BC9B5 if crc & 1 else 0)  # Jones, bits reversed
        table.append(crc)
    return table


CRC64 = crc64_table()


def crc64(data):
    """Byte by byte, except that long runs of zeros are skipped."""
    crc = at = 0
    for run in re.finditer(rb"\0{4096,}", data):
        crc = after_zeros(after(crc, data[at:run.start()]), run.end() - run.start())
        at = run.end()
    return after(crc, data[at:])


def after(crc, data):
    for byte in data:
        crc = CRC64[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def after_zeros(crc, count):
    """A zero maps each bit of the remainder to a word, and so do 2, 4, 8 ... of them."""
    words = [after(1 << bit, b"\0") for bit in range(64)]
    while count:
        if count & 1:
            crc = mapped(crc, words)
        words = [mapped(word, words) for word in words]
        count >>= 1
    return crc


def mapped(crc, words):
    return functools.reduce(operator.xor, (words[bit] for bit in range(64) if crc >> bit & 1), 0)


def length(n):
    if n < 1 << 6:
        return bytes([n])
    if n < 1 << 14:
        return struct.pack(">H", n | 0x4000)
    return struct.pack(">BI", 0x80, n) if n < 1 << 32 else struct.pack(">BQ", 0x81, n)


def type_id(name, encver):
    number = 0
    for char in name.encode():
        number = number << 6 | NAME.index(char)
    return number << 10 | encver


OLDEST = 10  # the RDB version of Redis 7.0


def encode(name, encver, values, version=OLDEST):
    """A payload: ints, floats and bytes one after the other, each with its opcode.  Servers load
    that of every older version and write their own."""
    body = bytes([MODULE_2]) + length(type_id(name, encver))
    for value in values:
        if isinstance(value, float):
            body += length(DOUBLE) + struct.pack("<d", value)
        elif isinstance(value, int):
            body += length(UINT) + length(value)
        else:
            body += length(STRING) + length(len(value)) + value
    return sign(body + length(END) + struct.pack("<H", version))


def sign(body):
    return body + struct.pack("<Q", crc64(body))


def file(payloads):
    """An RDB file of these keys."""
    body = b"REDIS%04d\xfe\x00" % OLDEST
    for name, payload in payloads.items():
        value = payload[:-10]  # without version and checksum
        body += value[:1] + length(len(name)) + name + value[1:]
    return sign(body + b"\xff")


def decode(payload):
    """Name, encver and values; the server must not compress."""
    assert crc64(payload[:-8]) == struct.unpack("<Q", payload[-8:])[0]
    at = 1

    def take(n):
        nonlocal at
        at += n
        return payload[at - n:at]

    def take_length():
        first = take(1)[0]
        if first < 0x40:
            return first
        if first < 0x80:
            return (first & 0x3F) << 8 | take(1)[0]
        assert first in (0x80, 0x81), "an encoded string"
        return int.from_bytes(take(4 if first == 0x80 else 8), "big")

    number, values = take_length(), []
    name = "".join(chr(NAME[number >> 10 + 6 * i & 63]) for i in reversed(range(9)))
    while opcode := take_length():
        if opcode == UINT:
            values.append(take_length())
        elif opcode == DOUBLE:
            values.append(struct.unpack("<d", take(8))[0])
        else:
            values.append(take(take_length()))
    assert at == len(payload) - 10
    return name, number & 1023, values


# ---- RedisBloom --------------------------------------------------------------------------------

MURMUR = 0xC6A4A7935BD1E995


def murmur64a(data, seed):
    h = seed ^ len(data) * MURMUR & M64
    whole = len(data) & ~7
    for i in range(0, whole, 8):
        h = (h ^ mix(int.from_bytes(data[i:i + 8], "little"))) * MURMUR & M64
    if whole < len(data):
        h = (h ^ int.from_bytes(data[whole:], "little")) * MURMUR & M64
    h = (h ^ h >> 47) * MURMUR & M64
    return h ^ h >> 47


def mix(k):
    k = k * MURMUR & M64
    return (k ^ k >> 47) * MURMUR & M64


def unmix(k):
    inverse = pow(MURMUR, -1, 1 << 64)
    k = k * inverse & M64
    return (k ^ k >> 47) * inverse & M64


class Bloom:
    """RedisBloom's chain; growth 0 is NONSCALING, in whose header the growth is the usual one unless
    `said` is another."""

    def __init__(self, capacity, error, growth=2, said=2):
        self.options, self.growth, self.links = (5 if growth else 13), growth or said, []
        self.add_link(capacity, error * (0.5 if growth else 1))

    def add_link(self, entries, error):
        each = -math.log(error) / 0.480453013918201
        size = (max(int(entries * each), 1) + 63) // 64 * 8
        self.links.append({"entries": entries, "error": error, "each": each, "items": 0,
                           "hashes": math.ceil(0.693147180559945 * each), "bits": bytearray(size)})

    @staticmethod
    def positions(link, item):
        a = murmur64a(item, MURMUR)
        b = murmur64a(item, a)
        return [(a + i * b & M64) % (8 * len(link["bits"])) for i in range(link["hashes"])]

    def has(self, item):
        return any(all(link["bits"][p >> 3] >> (p & 7) & 1 for p in self.positions(link, item))
                   for link in self.links)

    def add(self, item):
        """False: it is full."""
        if self.has(item):
            return True
        last = self.links[-1]
        if last["items"] >= last["entries"]:
            if self.options & 8:
                return False
            self.add_link(last["entries"] * self.growth, last["error"] * 0.5)
        for p in self.positions(self.links[-1], item):
            self.links[-1]["bits"][p >> 3] |= 1 << (p & 7)
        self.links[-1]["items"] += 1
        return True

    def values(self):
        out = [sum(x["items"] for x in self.links), len(self.links), self.options, self.growth]
        for x in self.links:
            out += [x["entries"], x["error"], x["hashes"], x["each"], 8 * len(x["bits"]), 0,
                    bytes(x["bits"]), x["items"]]
        return out

    def dump(self, version):
        return encode("MBbloom--", 4, self.values(), version)
