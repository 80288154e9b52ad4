# SPDX-License-Identifier: MIT
"""What is a key and what is not; typed keys; batches in every form, and where answers go."""
import array
import datetime
import decimal
import ipaddress
import struct
import sys
import uuid

import numpy as np
import pytest

import umbel

WORDS = ["ada", "grace", "", "Grüße", "布隆过滤器", "x" * 1000, "a\0b"]
KEYS = [f"key{i}" for i in range(10_000)]


@pytest.fixture
def full():
    f = umbel.Filter(20_000)
    f.update(KEYS)
    return f


# ---- one key ------------------------------------------------------------------------------------

@pytest.mark.parametrize("key", WORDS)
def test_texts_and_bytes(key):
    f = umbel.Filter(100)
    f.add(key)
    raw = key.encode()
    for same in (key, raw, bytearray(raw), memoryview(raw), np.frombuffer(raw, np.uint8),
                 array.array("B", raw), np.str_(key)):
        assert same in f and f.contains(same) and not f.add(same)


@pytest.mark.parametrize("bad", [3, 2.5, True, None, ["a"], ("a", "b"), object(), np.int64(5), np.float64(1),
                                 np.uint8(1), np.arange(3), memoryview(b"abcd").cast("i")])
def test_other_things_are_no_keys(bad):
    f = umbel.Filter(100)
    for use in (f.__contains__, f.add, f.count, f.hash, f.contains):
        with pytest.raises(TypeError):
            use(bad)
    with pytest.raises(TypeError):
        f.update(["a", bad])
    with pytest.raises(TypeError):
        f.contains_many([bad])


def test_a_number_without_a_type_says_what_to_do():
    with pytest.raises(TypeError, match=r'umbel.typed\(3, "int64"\)'):
        3 in umbel.Filter(10)


def test_lone_surrogates_have_no_utf8():
    f = umbel.Filter(10)
    with pytest.raises(UnicodeEncodeError):
        "\ud800" in f
    with pytest.raises(UnicodeEncodeError):
        f.update(["a", "\ud800"])


# ---- typed keys ---------------------------------------------------------------------------------

@pytest.mark.parametrize("name,value,layout", [
    ("int8", -5, "<b"), ("int16", -5, "<h"), ("int32", -5, "<i"), ("int64", -5, "<q"),
    ("uint8", 250, "<B"), ("uint16", 65535, "<H"), ("uint32", 2**32 - 1, "<I"),
    ("uint64", 2**64 - 1, "<Q"), ("uint32be", 0x01020304, ">I"), ("float", 1.5, "<f"),
    ("double", -2.25, "<d")])
def test_numbers(name, value, layout):
    want = struct.pack(layout, value)
    assert umbel.typed(value, name) == want
    f = umbel.Filter(100)
    assert f.add(value, type=name) and want in f
    assert f.contains(value, type=name) and f.count(value, type=name) == 1
    assert f.hash(value, type=name) == f.hash(want)
    assert list(f.contains_many([value, 1], type=name)) == [1, want == umbel.typed(1, name)]
    with pytest.raises(TypeError):
        umbel.typed("7", name)
    with pytest.raises(TypeError):
        umbel.typed(None, name)


@pytest.mark.parametrize("name,bits,signed", [("int8", 8, 1), ("int16", 16, 1), ("int32", 32, 1),
                                              ("int64", 64, 1), ("uint8", 8, 0), ("uint16", 16, 0),
                                              ("uint32", 32, 0), ("uint64", 64, 0), ("uint32be", 32, 0)])
def test_ranges(name, bits, signed):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    assert len(umbel.typed(low, name)) == len(umbel.typed(high, name)) == bits // 8
    for wrong in (low - 1, high + 1, 1 << 200, -(1 << 200)):
        with pytest.raises(OverflowError):
            umbel.typed(wrong, name)
    with pytest.raises(TypeError):
        umbel.typed(1.0, name)


def test_values_of_sql():
    """As texts and as Python's own objects, which are written as such texts."""
    for name, text, value, key in (
            ("uuid", "00112233445566778899AABBCCDDEEFF", uuid.UUID(int=0x00112233445566778899aabbccddeeff),
             bytes(range(0, 256, 17))),
            ("date", "1970-01-02", datetime.date(1970, 1, 2), b"\1\0\0\0"),
            ("timestamp", "1970-01-01 00:00:00.000001", datetime.datetime(1970, 1, 1, 0, 0, 0, 1), b"\1" + bytes(7)),
            ("timestamptz", "1970-01-01 01:00:00+01", datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc), bytes(8)),
            ("inet", "::0001", ipaddress.ip_address("::1"), bytes(15) + b"\1"),
            ("numeric", "1.50", decimal.Decimal("1.5"), b"15e-1")):
        assert umbel.typed(text, name) == umbel.typed(value, name) == key
        f = umbel.Filter(10, 1e-6)
        f.update([text, value], type=name)
        f.recipe = f"line type={name}"
        assert key in f and f.contains(value, type=name)
        for wrong in ("", "x", object(), None):
            with pytest.raises(ValueError):
                umbel.typed(wrong, name)


def test_text_types():
    assert umbel.typed("é布", "utf16") == "é布".encode("utf-16-le")
    assert umbel.typed("é布", "string") == "é布".encode()
    with pytest.raises(umbel.InvalidError):
        umbel.typed("x", "int128")
    f = umbel.Filter(10)
    f.update(["é", "b"], type="utf16")
    assert "é".encode("utf-16-le") in f and list(f.contains_many(["é", "c"], type="utf16")) == [1, 0]


# ---- batches ------------------------------------------------------------------------------------

def forms_of(keys):
    raw = [key.encode() for key in keys]
    data, ends = b"".join(raw), np.cumsum([0, *map(len, raw)])
    yield "list", list(keys)
    yield "tuple", tuple(keys)
    yield "bytes", raw
    yield "bytearrays", [bytearray(key) for key in raw]
    yield "views", [memoryview(key) for key in raw]
    yield "mixed", [(key, key.encode(), bytearray(key.encode()))[i % 3] for i, key in enumerate(keys)]
    yield "generator", (key for key in keys)
    yield "dict", dict.fromkeys(keys)
    yield "objects", np.array(keys, dtype=object)
    yield "int32 offsets", (data, ends.astype(np.int32))
    yield "int64 offsets", (np.frombuffer(data, np.uint8), ends.astype(np.int64))
    yield "array of offsets", (data, array.array("i", ends.tolist()))
    yield "raw offsets", (data, memoryview(ends.astype(np.int32).tobytes()).cast("i"))
    yield "S", np.array(raw, "S8")
    yield "S, every second", np.array([k for key in raw for k in (key, b"no")], "S8")[::2]


@pytest.mark.parametrize("n", [0, 1, 3, 255, 256, 4095, 4096, 4097, 10_000])
def test_every_form(n):
    keys = KEYS[:n]
    one_by_one = umbel.Filter(20_000)
    for key in keys:
        one_by_one.add(key)
    for name, batch in forms_of(keys):
        f = umbel.Filter(20_000)
        f.update(batch)
        assert f == one_by_one, name
    for name, batch in forms_of(keys):
        f = umbel.Filter(20_000)
        flags = f.add_many(batch)
        assert type(flags) is bytes and len(flags) == n and f == one_by_one, name
        assert sum(flags) == f.info.keys_added
    for name, batch in forms_of(keys):
        assert one_by_one.contains_many(batch) == b"\1" * n, name
    hashes = [one_by_one.hash(key) for key in keys]
    for name, batch in forms_of(keys):
        assert one_by_one.hash_many(batch).tolist() == hashes, name
    static = umbel.build(keys)
    for name, batch in forms_of(keys):
        assert umbel.build(batch) == static, name


def test_answers_are_in_order(full):
    mixed = [key for i in range(10_000) for key in (f"key{i}", f"absent{i}")]
    want = bytes(key in full for key in mixed)
    assert full.contains_many(mixed) == want
    assert 10_000 <= sum(want) < 10_400


def test_rows_of_one_width():
    digests = np.random.default_rng(1).integers(0, 256, (1000, 16), np.uint8)
    f = umbel.Filter(2000)
    f.update(digests)
    assert all(row.tobytes() in f for row in digests)
    assert all(f.contains_many(digests.view("V16")[:, 0]))
    assert all(f.contains_many([row.tobytes() for row in digests]))
    assert f.contains_many(digests[::-2]) == b"\1" * 500


def test_s_arrays_lose_the_padding_that_numpy_hides():
    f = umbel.Filter(10)
    f.update(np.array([b"ab", b"abcde"]))
    assert b"ab" in f and b"abcde" in f and b"ab\0\0\0" not in f


@pytest.mark.parametrize("name,dtype", [("int8", "i1"), ("int16", "i2"), ("int32", "i4"), ("int64", "i8"),
                                        ("uint8", "u1"), ("uint16", "u2"), ("uint32", "u4"),
                                        ("uint64", "u8"), ("float", "f4"), ("double", "f8"),
                                        ("uint32be", "u4")])
def test_arrays_of_numbers(name, dtype):
    values = np.arange(100).astype(dtype)
    f, g = umbel.Filter(1000), umbel.Filter(1000)
    f.update(values, type=name)
    g.update(values.tolist(), type=name)
    assert f == g and all(f.contains_many(values, type=name))
    assert umbel.build(values, type=name) == umbel.build(values.tolist(), type=name)
    with pytest.raises(TypeError, match="type" if values.itemsize > 1 else "one key"):
        f.update(values)
    with pytest.raises(TypeError):
        f.update(values.astype("c16"), type=name)
    with pytest.raises(TypeError):
        f.update(values, type="int8" if name != "int8" else "uint8")


def test_numpy_scalars_with_a_type():
    f = umbel.Filter(10)
    f.add(np.int32(7), type="int64")
    f.add(np.float32(1.5), type="double")
    assert f.contains(7, type="int64") and f.contains(1.5, type="double")


@pytest.mark.parametrize("bad", ["text", b"bytes", bytearray(b"x"), memoryview(b"xyz"), 7, None,
                                 np.array([1+2j]), np.zeros(3, "?"), np.zeros(3, "i4,i4"),
                                 np.zeros((2, 2), "S3"), np.zeros((2, 2, 2), "u1"), np.int64(3)])
def test_no_batch(bad):
    f = umbel.Filter(10)
    for use in (f.update, f.contains_many, f.add_many, f.hash_many, umbel.build):
        with pytest.raises(TypeError):
            use(bad)
    assert not f


def test_pairs_of_keys_are_keys():
    f = umbel.Filter(10)
    f.update(("a", "b"))
    f.update((b"c", b"d"))
    assert all(f.contains_many(["a", "b", "c", "d"]))


@pytest.mark.parametrize("offsets", [[0, 4], [-1, 2], [0, 2, 1], [2, 1], [0, 2**31 - 1]])
def test_bad_offsets(offsets):
    with pytest.raises(umbel.InvalidError, match="offsets"):
        umbel.Filter(10).update((b"abc", array.array("i", offsets)))


def test_slices_of_arrow_arrays():
    f = umbel.Filter(10)
    f.update((b"__abcde_", array.array("q", [2, 3, 3, 7])))
    assert all(f.contains_many(["a", "", "bcde"]))
    assert f.contains_many((b"abc", array.array("i"))) == b""


def test_a_list_that_shrinks_is_noticed(full):
    class Cutting:
        def __index__(self):
            del batch[100:]
            return 1

    batch = [1] * 50 + [Cutting()] + [1] * 500
    with pytest.raises(RuntimeError, match="shorter"):
        full.contains_many(batch, type="int8")
    assert full.contains_many(batch, type="int8") == b"\0" * 100


def test_errors_in_iterators_come_through(full):
    def broken():
        yield "key1"
        raise ZeroDivisionError
    for use in (full.contains_many, full.update, full.add_many, umbel.build):
        with pytest.raises(ZeroDivisionError):
            use(broken())


# ---- where answers go ---------------------------------------------------------------------------

@pytest.mark.parametrize("make", [bytearray, lambda n: np.zeros(n, bool), lambda n: np.zeros(n, np.uint8),
                                  lambda n: array.array("B", bytes(n)),
                                  lambda n: memoryview(bytearray(n))])
def test_out(full, make):
    batch = ["key1", "absent", "key2"]
    want = full.contains_many(batch)
    out = make(3)
    assert full.contains_many(batch, out=out) is out and bytes(out) == want
    out = make(3)
    assert umbel.Filter(10).add_many(["a", "a", "b"], out=out) is out and bytes(out) == b"\1\0\1"
    out = make(3)
    hashes = full.hash_many(batch)
    assert full.contains_hashes(hashes, out=out) is out and bytes(out) == want


@pytest.mark.parametrize("bad,error", [(bytearray(2), umbel.SpaceError), (bytearray(4), umbel.SpaceError),
                                       (np.zeros(3, np.int32), umbel.SpaceError), (b"abc", BufferError),
                                       ("abc", TypeError), (np.zeros(6, bool)[::2], (ValueError, BufferError)),
                                       (7, TypeError)])
def test_bad_out(full, bad, error):
    with pytest.raises(error):
        full.contains_many(["a", "b", "c"], out=bad)


def test_hashes(full):
    batch = ["key1", "absent", "key2"]
    hashes = full.hash_many(batch)
    assert hashes.format == "Q" and np.asarray(hashes).dtype == np.uint64
    out = np.zeros(3, np.uint64)
    assert full.hash_many(batch, out=out) is out and out.tolist() == hashes.tolist()
    assert full.contains_hashes(hashes) == full.contains_many(batch)
    f = umbel.Filter(20_000)
    assert f.add_hashes(hashes) == b"\1\1\1" and all(f.contains_many(batch))
    assert f.contains_hashes(array.array("Q")) == b""
    for bad in (np.zeros(3, np.int64), b"12345678", [1, 2], "x", None):
        with pytest.raises(TypeError):
            f.contains_hashes(bad)
    assert umbel.mix(0) != 0 and umbel.mix(1) != umbel.mix(2)


def test_classic_takes_no_hashes():
    f = umbel.Filter(10, kind="classic")
    assert not f.takes_hashes and umbel.Filter(10).takes_hashes
    for use in (f.contains_hashes, f.add_hashes):
        with pytest.raises(umbel.UnsupportedError):
            use(array.array("Q", [1]))
    with pytest.raises(umbel.UnsupportedError):
        f.hash_many(["a"])


def test_buffers_are_released(full):
    data, offsets, out = bytearray(b"abc"), array.array("i", [0, 3]), bytearray(1)
    key = bytearray(b"key1")
    for _ in range(3):
        full.contains_many((data, offsets), out=out)
        key in full
        full.contains_many([key])
        full.contains_hashes(array.array("Q", [1]), out=out)
        with pytest.raises(umbel.Error):
            full.contains_many((data, array.array("i", [0, 9])))
        with pytest.raises(umbel.Error):
            full.contains_many((data, offsets), out=bytearray(7))
        for released in (data, key, out):
            released += b"x"  # BufferError while somebody holds it
            del released[-1:]
        offsets.append(3)
        offsets.pop()


def test_references_are_given_back(full):
    word, raw, view = "".join(["un", "usual"]), bytes(bytearray(b"raw")), memoryview(b"view")
    before = [sys.getrefcount(x) for x in (word, raw, view)]
    for _ in range(10):
        full.contains_many([word, raw, view] * 2000)
        full.update((word, raw, view))
        full.hash_many([word, raw])
        with pytest.raises(TypeError):
            full.contains_many([word, raw, view, 3] * 500)
    assert [sys.getrefcount(x) for x in (word, raw, view)] == before
