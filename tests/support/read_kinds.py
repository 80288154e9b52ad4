#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""read_kinds.py FILE N [SECRET] - looks up the keys key0 .. key(N-1) in a native file of kind 3 to
7, or 9, and prints one line of 0s and 1s.  Written from docs/formats/native-kinds.md alone; the envelope
is scripts/umbel-read's."""
import importlib.machinery
import importlib.util
import struct
import sys

loader = importlib.machinery.SourceFileLoader("umbel_read", "scripts/umbel-read")
reader = importlib.util.module_from_spec(importlib.util.spec_from_loader("umbel_read", loader))
loader.exec_module(reader)

M = 2**64 - 1
SALT = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31]
raw = open(sys.argv[1], "rb").read()
kind, scheme, hash_number, a = struct.unpack_from("<4I", raw, 16)
seed, = struct.unpack_from("<Q", raw, 32)
at, length = struct.unpack_from("<2Q", raw, 96)
own = raw[128:128 + struct.unpack_from("<I", raw, 116)[0]]
data = raw[at:at + length]
secret = struct.unpack("<2Q", bytes.fromhex(sys.argv[3])) if len(sys.argv) > 3 else None
assert scheme in (1, 2 if kind == 5 else 1) and hash_number == (2 if secret else 1)
shape = {"hash": hash_number, "seed": seed, "secret": secret}


def bits(h):
    return [(h * salt & 0xffffffff) >> 27 for salt in SALT]


def in_blocked(start, z, h):
    lanes = struct.unpack_from("<8I", data, start + 32 * ((h >> 32) * z >> 32))
    return all(lane >> bit & 1 for lane, bit in zip(lanes, bits(h)))


def in_static(h):
    return reader.in_static(shape, data, h)


def in_counting(h):
    block = 128 * ((h >> 32) * (length // 128) >> 32)
    return all(data[block + 16 * i + b // 2] >> 4 * (b % 2) & 15 for i, b in enumerate(bits(h)))


def in_packed(start, size, b, h):
    c, value = size // 256, h >> 64 - b
    chunk = value * c >> b
    value -= -((-chunk << b) // c)
    best = None
    for low in range(1, b):
        uppers = ((2**b - 1) // c >> low) + 1
        slots = max(0, min((2032 - uppers) // (low + 1), 496 - uppers))
        if best and slots + 1 < best[0]:
            break
        if not best or slots > best[0]:
            best = slots, low, uppers
    slots, low, uppers = best
    bits = int.from_bytes(data[start + 256 * chunk:start + 256 * chunk + 256], "little")
    unary, upper, index = bits >> 16, 0, 0
    while upper <= value >> low:
        if unary & 1:
            here = bits >> 16 + slots + uppers + index * low & (1 << low) - 1
            if upper << low | here == value:
                return True
            index += 1
        else:
            upper += 1
        unary >>= 1
    return False


def in_kept(start, size, b, h):
    x = (h >> 64 - b) * 0x9e3779b97f4a7c15 & M
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93 & M
    return in_blocked(start, size // 32, x ^ x >> 32)


def in_scalable(h):
    count, start, found = struct.unpack_from("<I", own, 8)[0], 0, False
    for i in range(count):
        if scheme == 1:
            size, b, kept = 32 * struct.unpack_from("<Q", own, 16 + 24 * i)[0], 0, 0
        else:
            size, b, kept = struct.unpack_from("<Q16x2I", own, 16 + 32 * i)
        found = found or (in_kept(start, size, b, h) if kept else in_packed(start, size, b, h) if b
                          else in_blocked(start, size // 32, h))
        start += size
    return found


def in_window(h):
    each = length // struct.unpack_from("<I", own)[0]
    return any(in_blocked(start, each // 32, h) for start in range(0, length, each))


def in_tight(h):
    return reader.in_tight(shape, data, h)


def in_exact(h):
    return reader.in_exact(shape, data, h)


shape["hashes"] = a
if kind == 3:
    shape["static"] = reader.static(own, a, length)
if kind == 9:
    shape["exact"] = reader.exact(own, length)
if kind == 7:
    shape["tight"] = reader.tight(own, length)
ask = {7: in_tight, 9: in_exact, 3: in_static, 4: in_counting, 5: in_scalable, 6: in_window}[kind]
print("".join(str(int(ask(reader.hash64(shape, b"key%d" % i)))) for i in range(int(sys.argv[2]))))
