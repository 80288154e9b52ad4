# SPDX-License-Identifier: MIT
"""Untrusted bytes: RESTORE, BF.LOADCHUNK and BF.LOAD of anything that can be sent.  Each time an
error, or a filter that works; the other keys unchanged, the server alive."""
import os
import random
import struct
from pathlib import Path

import pytest

import forms
import rdb
from conftest import umbel_read
from resp import Error, is_error, keys

pytestmark = pytest.mark.not_reloaded("thousands of dumps: minutes, and most are refused")

ITEMS = keys(400)
BAD_FORMAT = "ERR Bad data format"
BAD_DATA = "ERR received bad data"
ROOT = Path(__file__).parent.parent.parent


xxh3_64 = umbel_read().xxh3_64

MAKE = {
    "classic": ["LAYOUT", "classic"],
    "blocked": ["LAYOUT", "blocked"],
    "unreserved": ["LAYOUT", "blocked"],
    "counting": ["COUNTING"],
    "window": ["WINDOW", 3],
}


@pytest.fixture
def plain(server):
    """A bystander key exists, and payloads are written without compression."""
    server("CONFIG", "SET", "rdbcompression", "no")
    server("CONFIG", "SET", "bf.memory-limit", 50000000)
    server("BF.RESERVE", "bystander", 0.01, 100)
    server("BF.MADD", "bystander", *ITEMS)
    before = server("DEBUG", "DIGEST")
    yield server
    server("DEL", "f", "g")
    assert server("DEBUG", "DIGEST") == before
    assert server.alive()
    server("CONFIG", "SET", "rdbcompression", "yes")


def payload_of(server, kind, capacity=500):
    server("BF.RESERVE", "g", 0.01, 100 if kind == "unreserved" else capacity, *MAKE[kind])
    server("BF.MADD", "g", *ITEMS)
    payload = server("DUMP", "g")
    server("DEL", "g")
    return rdb.decode(payload)


def pushed_payload(name):
    """What a server saves of a filter with a native head: type, encoding and values."""
    parts, = (parts for called, _, *parts in forms.native_heads() if called == name)
    return "umbel-bf-", 2, parts


def use(server, key="f"):
    """Everything that can be done with a filter; the results do not matter."""
    for command in (["BF.MEXISTS", key, *ITEMS[:50]], ["BF.MADD", key, *keys(300, "other")],
                    ["BF.INFO", key], ["BF.STATS", key], ["BF.DEBUG", key], ["BF.CARD", key],
                    ["BF.COUNT", key, "k1"], ["BF.REMOVE", key, "k1"], ["MEMORY", "USAGE", key],
                    ["DEBUG", "DIGEST-VALUE", key], ["BF.SCANDUMP", key, 0],
                    ["BF.SCANDUMP", key, 1], ["COPY", key, "g"], ["BF.MERGE", "g", key],
                    ["DUMP", key], ["BF.CLEAR", key], ["DEL", key, "g"]):
        server(*command)


def restore(server, payload):
    """True if it was accepted; it is then used and deleted."""
    reply = server("RESTORE", "f", 0, payload)
    if is_error(reply):
        assert reply.startswith((BAD_FORMAT, "ERR DUMP payload version or checksum")), reply
        assert server("EXISTS", "f") == 0
        return False
    use(server)
    return True


def thrown():
    """The same random numbers in every run; UMBEL_TEST_SEED gives others."""
    seed = int(os.environ.get("UMBEL_TEST_SEED", 20240608))
    print("UMBEL_TEST_SEED", seed)
    return random.Random(seed)


# ---- RESTORE -----------------------------------------------------------------------------------

NUMBERS = [0, 1, 2, 3, 5, 8, 13, 15, 16, 63, 64, 65, 255, 256, 1000, 65535, 2**31 - 1, 2**31,
           2**32 - 1, 2**32, 2**32 + 1, 2**48, 2**53, 2**61, 2**63 - 1, 2**63, 2**64 - 1]
RATES = [0.0, -0.0, -1.0, 1.0, 1e-300, 5e-324, 0.9999999999999999, 2.0, 1e308, float("inf"),
         float("-inf"), float("nan"), 0.5, 11.0]


def changes(value):
    """Replaces one value with others."""
    if isinstance(value, float):
        return [v for v in RATES if v != value]
    if isinstance(value, int):
        return [v for v in NUMBERS + [value + 1, value - 1] if 0 <= v != value]
    return [b"", value[:-1], value + b"\0", value[:len(value) // 2], bytes(len(value)) + b"x" * 8]


@pytest.mark.parametrize("kind", MAKE)
def test_every_field_of_a_payload(plain, kind):
    name, encver, values = payload_of(plain, kind)
    assert restore(plain, rdb.encode(name, encver, values))
    taken = 0
    for i, value in enumerate(values):
        for other in changes(value):
            taken += restore(plain, rdb.encode(name, encver, values[:i] + [other] + values[i + 1:]))
        for other in (7, 0.5, b"seven"):  # of another type
            if type(other) is not type(value):
                assert not restore(plain, rdb.encode(name, encver,
                                                     values[:i] + [other] + values[i + 1:]))
        assert not restore(plain, rdb.encode(name, encver, values[:i] + values[i + 1:]))
        assert not restore(plain, rdb.encode(name, encver, values[:i]))
    assert not restore(plain, rdb.encode(name, encver, values + [1]))
    # Growth, entries and error of a chain may differ; nothing else may.
    assert kind == "classic" or taken == 0


def test_counts_of_links_that_lie(plain):
    name, encver, values = payload_of(plain, "classic")
    assert not restore(plain, rdb.encode(name, encver, [0, 0, 5, 2]))
    assert not restore(plain, rdb.encode(name, encver, [values[0], 2, *values[2:]]))
    twice = [values[0] * 2, 2, *values[2:], *values[4:]]
    assert restore(plain, rdb.encode(name, encver, twice))
    assert not restore(plain, rdb.encode(name, encver, [*twice[:-1], 2**64 - values[-1]]))


@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize("encver", [0, 1, 2, 3, 4, 5, 1023])
def test_encodings_that_are_not_these(plain, kind, encver):
    name, real, values = payload_of(plain, kind)
    if encver != real and not (encver == 1 and kind in ("counting", "window")):  # the same in 1
        assert not restore(plain, rdb.encode(name, encver, values))


def seal(header):
    """A native header with the right checksum."""
    return header[:-8] + struct.pack("<Q", xxh3_64(header[:-8]))


# offset, format: the fields of a native header
FIELDS = {"version": (8, "<H"), "zero": (10, "<H"), "length": (12, "<I"), "kind": (16, "<I"),
          "scheme": (20, "<I"), "hash": (24, "<I"), "hashes": (28, "<I"), "seed": (32, "<Q"),
          "fingerprint": (40, "<Q"), "bits": (48, "<Q"), "capacity": (56, "<Q"),
          "rate": (64, "<d"), "keys": (72, "<Q"), "treatment": (80, "<I"), "field": (84, "<I"),
          "delimiter": (88, "<B"), "payload offset": (96, "<Q"), "payload length": (104, "<Q"),
          "piece": (112, "<I"), "own": (116, "<I"), "meta": (120, "<I"), "error": (124, "<I")}


@pytest.mark.parametrize("kind", ["blocked", "counting", "window"])
@pytest.mark.parametrize("field", FIELDS)
def test_every_field_of_a_native_header(plain, kind, field):
    name, encver, (head, bits) = (pushed_payload("reserved") if kind == "blocked"
                                  else payload_of(plain, kind))
    offset, form = FIELDS[field]
    length, = struct.unpack_from("<I", head, 12)
    old, = struct.unpack_from(form, head, offset)
    for value in RATES if form == "<d" else NUMBERS:
        if form != "<d" and value >> 8 * struct.calcsize(form) or value == old:
            continue
        header = (head[:offset] + struct.pack(form, value)
                  + head[offset + struct.calcsize(form):length])
        taken = restore(plain, rdb.encode(name, encver, [seal(header) + head[length:], bits]))
        loaded = plain("BF.LOADCHUNK", "f", 1, seal(header) + head[length:])
        if isinstance(loaded, Error):
            assert loaded in (BAD_DATA, "ERR Insufficient memory to create filter",
                              "ERR could not create filter"), loaded
            assert plain("EXISTS", "f") == 0
        else:
            use(plain)
        # To a blocked filter, counters are as good as bits.
        if field not in ("capacity", "rate", "keys", "error", "treatment", "field", "seed", "hashes",
                         "bits", "delimiter", "kind"):
            assert not taken, (field, value)


PROPERTIES = {
    b"bf.layers": [b"0", b"2", b"64", b"65", b"-1", b"", b"1 ", b"1e3", b"99999999999999999999999"],
    b"bf.error": [b"0", b"1", b"-1", b"nan", b"inf", b"", b"0.01x", b"1e-400", b"0x1p-3000"],
    b"bf.tightening": [b"0", b"1", b"nan", b"-0.5", b""],
    b"bf.capacity": [b"0", b"-5", b"", b"72057594037927937"],
    b"bf.expansion": [b"32769", b"-1", b"", b"two"],
    b"bf.unknown": [b"", b"1"],
    b"bf.": [b""],
    b"bf." + b"x" * 200: [b"1"],
}


def with_meta(head, meta):
    """The same head with different metadata in its first header."""
    length, own = struct.unpack_from("<I", head, 12)[0], struct.unpack_from("<I", head, 116)[0]
    body = head[:128 + own] + b"".join(struct.pack("<HI", len(n), len(v)) + n + v
                                       for n, v in meta.items())
    size = len(body) - 128 - own
    body += bytes(-len(body) % 8) + bytes(8)
    body = body[:12] + struct.pack("<I", len(body)) + body[16:]
    body = body[:120] + struct.pack("<I", size) + body[124:]
    body = body[:96] + struct.pack("<Q", -(-len(body) // 4096) * 4096) + body[104:]
    return seal(body) + head[length:]


GOOD = {b"bf.layers": b"1", b"bf.error": b"0.01", b"bf.capacity": b"500", b"bf.expansion": b"2"}


@pytest.mark.parametrize("name", PROPERTIES, ids=lambda name: name[:16].decode())
def test_properties_of_a_chain_that_lie(plain, name):
    kind, encver, (head, bits) = pushed_payload("reserved")
    for value in PROPERTIES[name]:
        lying = with_meta(head, {**GOOD, name: value})
        assert not restore(plain, rdb.encode(kind, encver, [lying, bits])), value
        assert plain("BF.LOADCHUNK", "f", 1, lying) == BAD_DATA, value
        assert plain("BF.LOAD", "f", lying + bits) == BAD_DATA, value


def test_properties_that_others_wrote_are_kept(plain):
    kind, encver, (head, bits) = pushed_payload("reserved")
    other = with_meta(head, {**GOOD, b"made by": b"hand", b"bf": b"x"})
    assert plain("RESTORE", "f", 0, rdb.encode(kind, encver, [other, bits])) == "OK"
    assert b"made by" in plain("BF.SCANDUMP", "f", 0)[1]
    plain("DEL", "f")
    huge = with_meta(head, {**GOOD, **{b"%d" % i: b"x" * 500 for i in range(1000)}})
    assert restore(plain, rdb.encode(kind, encver, [huge, bits]))


def test_layers_that_do_not_go_together(plain):
    name, encver, (head, *bits) = pushed_payload("grown")
    lengths, at = [], 0
    for _ in bits:
        lengths.append(struct.unpack_from("<I", head, at + 12)[0])
        at += lengths[-1]
    first, second = head[:lengths[0]], head[lengths[0]:lengths[0] + lengths[1]]
    rest = head[lengths[0] + lengths[1]:]
    def with_second(header):
        return rdb.encode(name, encver, [first + header + rest, *bits])
    assert restore(plain, with_second(second))
    for offset, form, value in ((16, "<I", 3), (16, "<I", 4), (16, "<I", 5), (16, "<I", 6),
                                (32, "<Q", 1), (40, "<Q", 0), (40, "<Q", 1), (56, "<Q", 0),
                                (56, "<Q", 2**63), (72, "<Q", 2**63), (104, "<Q", 0)):
        size = struct.calcsize(form)
        other = second[:offset] + struct.pack(form, value) + second[offset + size:]
        assert not restore(plain, with_second(seal(other))), (offset, value)
    assert not restore(plain, rdb.encode(name, encver, [first + first + rest, *bits]))
    assert not restore(plain, rdb.encode(name, encver, [head[:-16], *bits]))  # no secret
    assert not restore(plain, rdb.encode(name, encver, [head[:-1] + b"X", *bits]))  # another secret
    assert not restore(plain, rdb.encode(name, encver, [head + b"X", *bits]))
    assert not restore(plain, rdb.encode(name, encver, [head, *bits[:-1]]))
    assert not restore(plain, rdb.encode(name, encver, [head, *bits, b""]))
    assert not restore(plain, rdb.encode(name, encver, [head, *reversed(bits)]))


@pytest.mark.parametrize("kind", MAKE)
def test_random_damage(plain, kind):
    dice = thrown()
    name, encver, values = payload_of(plain, kind, 50 if kind == "blocked" else 500)
    payload = rdb.encode(name, encver, values)
    for _ in range(400):
        body = bytearray(payload[:-8])
        for _ in range(dice.randrange(1, 6)):
            reach = min(len(body) - 2, dice.choice([40, 400, len(body)]))
            body[dice.randrange(9, reach)] = dice.randrange(256)
        if dice.randrange(4) == 0:
            del body[dice.randrange(9, len(body)):]
            body += b"\0\n\0"
        restore(plain, rdb.sign(bytes(body)))


def number(n):
    """As compact heads write it."""
    low = n & 127
    return bytes([low]) if n < 128 else bytes([low | 128]) + number(n >> 7)


def compact_head(layers, flags=0x86, error=b"\x01\x02", capacity=100, count=None):
    """UMBF, flags (always, auto, decimal), properties, and layers as (kind, words, hashes,
    capacity, keys, rate); without a rate where the format has none."""
    head = b"UMBF" + bytes([flags]) + error + number(capacity)
    head += number(len(layers) if count is None else count)
    for kind, words, hashes, room, keys_in, *rate in layers:
        head += bytes([kind]) + b"".join(map(number, (words, hashes, room, keys_in)))
        head += b"".join(struct.pack("<d", r) for r in rate)
    return head


BLOCKED, NARROW, LINE, PACKED = 1, 3, 5, 6  # 2 and 4 were those of other layers
FIRST, TABLE = (NARROW, 19, 9, 100, 100), (PACKED, 48, 25, 41, 0)
CAP = 2**56


def test_compact_heads_that_are_right(plain):
    payload = rdb.encode("umbel-bf-", 2, [compact_head([FIRST, TABLE]), b"\xff" * 152, bytes(384)])
    assert plain("RESTORE", "f", 0, payload) == "OK"
    assert plain("BF.CARD", "f") == 100 and plain("BF.INFO", "f", "CAPACITY") == [141]
    use(plain)
    one = rdb.encode("umbel-bf-", 2, [compact_head([(BLOCKED, 16, 8, 100, 5, 0.001)]), bytes(128)])
    assert plain("RESTORE", "f", 0, one) == "OK"
    use(plain)


@pytest.mark.parametrize("layers, words", [
    ([(NARROW, 0, 9, 100, 1)], 0), ([(NARROW, 19, 0, 100, 1)], 19),
    ([(NARROW, 19, 1025, 100, 1)], 19), ([(NARROW, 19, 9, 0, 1)], 19),
    ([(NARROW, 19, 9, CAP + 1, 1)], 19), ([(NARROW, 19, 9, 100, CAP + 1)], 19),
    ([(NARROW, 2**60, 9, 100, 1)], 19), ([(NARROW, 20, 9, 100, 1)], 19),
    ([(0, 19, 9, 100, 1)], 19), ([(5, 19, 9, 100, 1)], 19), ([(64, 19, 9, 100, 1)], 19),
    ([(BLOCKED, 15, 8, 100, 1, 0.001)], 15), ([(BLOCKED, 16, 7, 100, 1, 0.001)], 16),
    ([(BLOCKED, 16, 8, 100, 1, 2.0)], 16), ([(BLOCKED, 16, 8, 100, 1, float("nan"))], 16),
    ([(LINE, 12, 8, 100, 1, 0.001)], 12), ([(LINE, 16, 5, 100, 1, 0.001)], 16),
    ([(BLOCKED, 2**36, 8, 100, 1, 0.001)], 16), ([(LINE, 16, 8, 100, 1, -0.5)], 16),
    ([(2, 16, 8, 100, 1, 0.001)], 16), ([FIRST, (4, 48, 1, 41, 3)], 67),
    ([(PACKED, 2, 18, 100, 0)], 2), ([(PACKED, 48, 7, 100, 0)], 48), ([(PACKED, 48, 49, 100, 0)], 48),
    ([FIRST, (PACKED, 48, 25, 3073, 0)], 67),
])
def test_compact_heads_that_lie(plain, layers, words):
    sizes = [8 * layer[1] if layer[1] < 1000 else 8 for layer in layers]
    bits = [bytes(size) for size in sizes]
    if words and sum(sizes) != 8 * words:
        bits[-1] = bytes(8 * words)
    head = compact_head(layers)
    assert not restore(plain, rdb.encode("umbel-bf-", 2, [head, *bits]))
    assert plain("BF.LOADCHUNK", "f", 1, head) == BAD_DATA


@pytest.mark.parametrize("wrong", [
    {"flags": 0x06}, {"flags": 0xc6}, {"flags": 0x84}, {"flags": 0x82}, {"flags": 0x87},
    {"flags": 0x96}, {"flags": 0x8e}, {"error": b"\x00\x02"}, {"error": b"\x01\x00"},
    {"error": b"\x01\x0a"}, {"capacity": 0}, {"capacity": CAP + 1}, {"count": 0}, {"count": 2},
    {"count": 65}, {"flags": 0x84, "error": b"\x01\x02" + number(32769)}])
def test_properties_of_compact_heads_that_lie(plain, wrong):
    head = compact_head([FIRST], **wrong)
    assert not restore(plain, rdb.encode("umbel-bf-", 2, [head, bytes(152)]))


@pytest.mark.parametrize("layers, size", [([FIRST, TABLE], 384), ([(PACKED, 48, 25, 100, 0)], 384)])
def test_hashes_are_in_order_or_refused(plain, layers, size):
    """So no lookup or add takes longer than in a filter that was filled here."""
    dice = thrown()
    before = [bytes(152)] * (len(layers) - 1)
    for fill in b"\xff" * size, b"\1\0\0\0\0\0\0\0" * (size // 8), dice.randbytes(size):
        assert not restore(plain, rdb.encode("umbel-bf-", 2, [compact_head(layers), *before, fill]))
    payload = rdb.encode("umbel-bf-", 2, [compact_head(layers), *before, bytes(size)])
    assert plain("RESTORE", "f", 0, payload) == "OK"
    plain("BF.MADD", "f", *ITEMS)
    assert plain("BF.MEXISTS", "f", *ITEMS) == [1] * len(ITEMS)
    use(plain)


def test_layers_of_hashes_have_honest_sizes(plain):
    size = (16 << 20) + 8
    head = compact_head([FIRST, (PACKED, size // 8, 31, 1000, 0)])
    assert not restore(plain, rdb.encode("umbel-bf-", 2, [head, bytes(152), bytes(size)]))


def test_heads_for_clients_have_a_checksum(plain):
    plain("BF.RESERVE", "g", 0.01, 100)
    head = plain("BF.SCANDUMP", "g", 0)[1]
    assert head[:4] == b"UMBF" and struct.pack("<I", xxh3_64(head[:-4]) & 0xffffffff) == head[-4:]
    unsealed = head[:4] + bytes([head[4] & ~16]) + head[5:-4]
    assert plain("BF.LOADCHUNK", "f", 1, unsealed) == BAD_DATA
    assert plain("BF.LOADCHUNK", "f", 1, head) == "OK"
    plain("DEL", "f")
    assert restore(plain, rdb.encode("umbel-bf-", 2, [unsealed, bytes(24)]))


def test_random_bytes(plain):
    dice = thrown()
    for name, encver in ("MBbloom--", 4), ("umbel-bf-", 1), ("umbel-bf-", 2):
        start = rdb.encode(name, encver, [])[:10]
        for _ in range(300):
            body = start + dice.randbytes(dice.randrange(300)) + b"\0\n\0"
            assert not restore(plain, rdb.sign(body))


# ---- LOADCHUNK and LOAD ------------------------------------------------------------------------

def pieces_of(server, key):
    iterator, pieces = 0, []
    while True:
        iterator, piece = server("BF.SCANDUMP", key, iterator)
        if iterator == 0:
            return pieces
        pieces.append((iterator, piece))


@pytest.mark.parametrize("kind", MAKE)
def test_chunks_that_do_not_fit(plain, kind):
    plain("BF.RESERVE", "g", 0.01, 100 if kind in ("classic", "blocked") else 500, *MAKE[kind])
    plain("BF.MADD", "g", *ITEMS)
    head, *chunks = pieces_of(plain, "g")
    digest = plain("DEBUG", "DIGEST-VALUE", "g")
    end = chunks[-1][0]
    size = len(chunks[-1][1])
    assert plain("BF.LOADCHUNK", "f", *chunks[0]) == "ERR not found"
    assert plain("BF.LOADCHUNK", "g", *head) == BAD_DATA  # the filter already exists
    for iterator in 0, -1, -2**63, 2**63 - 1, 5, end + 1, end + size + 1:
        reply = plain("BF.LOADCHUNK", "g", iterator, b"x" * 20)
        assert reply in (BAD_DATA, "ERR invalid offset - no link found",
                         "ERR invalid chunk - Too big for current filter"), (iterator, reply)
    for iterator, chunk in chunks:
        assert plain("BF.LOADCHUNK", "g", iterator + 9, chunk + b"x" * 9
                     ) == "ERR invalid chunk - Too big for current filter"
    assert plain("BF.LOADCHUNK", "g", 2**63, b"x") == "ERR Second argument must be numeric"
    assert plain("DEBUG", "DIGEST-VALUE", "g") == digest
    # Out of order and twice is fine: each piece knows its place.
    assert plain("BF.LOADCHUNK", "f", *head) == "OK"
    for iterator, chunk in chunks[::-1] + chunks:
        assert plain("BF.LOADCHUNK", "f", iterator, chunk) == "OK"
    assert plain("DEBUG", "DIGEST-VALUE", "f") == digest
    # So are smaller ones, except of hashes, which come in order or not at all.
    if plain("BF.STATS", "g")[-1][0][1] == "packed":
        at, chunk = chunks[0]
        assert plain("BF.LOADCHUNK", "f", at - 8, chunk[:-8]) == BAD_DATA
        return
    plain("DEL", "f")
    plain("BF.LOADCHUNK", "f", *head)
    for iterator, chunk in chunks:
        start = iterator - len(chunk)
        for i in range(0, len(chunk), 7):
            part = chunk[i:i + 7]
            assert plain("BF.LOADCHUNK", "f", start + i + len(part), part) == "OK"
    assert plain("DEBUG", "DIGEST-VALUE", "f") == digest


@pytest.mark.parametrize("kind", MAKE)
def test_heads_and_blobs_that_are_cut_or_damaged(plain, kind):
    plain("BF.RESERVE", "g", 0.01, 500, *MAKE[kind])
    plain("BF.MADD", "g", *ITEMS)
    (_, head), *chunks = pieces_of(plain, "g")
    plain("DEL", "g")
    bits = b"".join(chunk for _, chunk in chunks)
    for cut in range(len(head)):
        assert plain("BF.LOADCHUNK", "f", 1, head[:cut]) == BAD_DATA
        assert plain("BF.LOAD", "f", head[:cut]) == BAD_DATA
    assert plain("BF.LOADCHUNK", "f", 1, head + b"\0") == BAD_DATA
    assert plain("BF.LOAD", "f", head) == BAD_DATA
    assert plain("BF.LOAD", "f", head + bits[:-1]) == BAD_DATA
    assert plain("BF.LOAD", "f", head + bits + b"\0") == BAD_DATA
    assert plain("EXISTS", "f") == 0
    for at in range(len(head)):
        for flip in 1, 128:
            other = head[:at] + bytes([head[at] ^ flip]) + head[at + 1:]
            for command in ["BF.LOADCHUNK", "f", 1, other], ["BF.LOAD", "f", other + bits]:
                reply = plain(*command)
                if isinstance(reply, Error):
                    assert reply == BAD_DATA or "memory" in reply, (at, reply)
                else:
                    assert kind == "classic"  # which has no checksum
                    use(plain)
    assert plain("BF.LOAD", "f", head + bits) == "OK"


@pytest.mark.parametrize("size", [2**31, 2**40, 2**55, 2**59])
def test_heads_that_promise_more_than_there_is(plain, size):
    """No memory beyond the limit, and none that the machine does not have."""
    each = 10.0
    classic = struct.pack("<QIIIQQQddIQB", 0, 1, 5, 2, size, 8 * size, 0, 0.01, each, 7, 10, 0)
    name, encver, (head, bits) = pushed_payload("reserved")
    length, = struct.unpack_from("<I", head, 12)
    header = (head[:48] + struct.pack("<Q", 8 * size) + head[56:104] + struct.pack("<Q", size) +
              head[112:length])
    blocked = seal(header) + head[length:]
    limits = [50000000] if size == 2**31 else [50000000, 0]
    for limit in limits:
        plain("CONFIG", "SET", "bf.memory-limit", limit)
        for head in classic, blocked:
            assert is_error(plain("BF.LOADCHUNK", "f", 1, head)), (limit, head)
            assert plain("EXISTS", "f") == 0
    values = [0, 1, 5, 2, 10, 0.01, 7, each, 8 * size, 0, b"few bits", 0]
    assert not restore(plain, rdb.encode("MBbloom--", 4, values))
    assert not restore(plain, rdb.encode(name, encver, [blocked, bits]))


def test_the_two_layouts_are_told_apart_by_their_heads(plain):
    for layout, other in ("blocked", "classic"), ("classic", "blocked"):
        plain("BF.RESERVE", "g", 0.01, 100, "LAYOUT", layout)
        plain("BF.MADD", "g", *ITEMS)
        pieces, digest = pieces_of(plain, "g"), plain("DEBUG", "DIGEST-VALUE", "g")
        plain("CONFIG", "SET", "bf.layout", other)
        for iterator, piece in pieces:
            assert plain("BF.LOADCHUNK", "f", iterator, piece) == "OK"
        assert plain("DEBUG", "DIGEST-VALUE", "f") == digest
        plain("DEL", "f", "g")


# ---- Items that collide ------------------------------------------------------------------------

def colliding_items(pairs=6):
    """2^pairs items that MurmurHash64A cannot tell apart, whatever its seed: the two blocks of a
    pair each change its state by 2^63, and together they cancel out."""
    items = [b""]
    for i in range(pairs):
        blocks = [2 * i + 1, 2 * i + 2]
        twins = [rdb.unmix(rdb.mix(b) ^ 1 << 63) for b in blocks]
        items = [item + b"".join(b.to_bytes(8, "little") for b in pair)
                 for item in items for pair in (blocks, twins)]
    return items


def test_crafted_items_collide_in_redisblooms_layout_alone(plain):
    """One item of 64 is added.  RedisBloom's layout, and so our classic one, then has all 64; a
    blocked filter has a secret and is not affected."""
    first, *others = colliding_items()
    assert len({first, *others}) == 64
    for seed in 0, 1, rdb.MURMUR:
        assert len({rdb.murmur64a(item, seed) for item in (first, *others)}) == 1
    plain("BF.RESERVE", "f", 1e-7, 1000000, "LAYOUT", "classic")
    plain("BF.RESERVE", "g", 1e-7, 1000000, "LAYOUT", "blocked")
    for key in "f", "g":
        plain("BF.ADD", key, first)
    assert plain("BF.MEXISTS", "f", *others) == [1] * 63
    assert plain("BF.MEXISTS", "g", *others) == [0] * 63
    assert plain("BF.MADD", "f", *others) == [0] * 63 and plain("BF.CARD", "f") == 1
    assert plain("BF.MADD", "g", *others) == [1] * 63 and plain("BF.CARD", "g") == 64
