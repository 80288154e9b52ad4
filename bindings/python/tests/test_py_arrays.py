# SPDX-License-Identifier: MIT
"""Keys in arrays: NumPy's, pandas', Arrow's C data interface; sizes that would overflow; streams."""
import ctypes
import ctypes.util
import gzip
import io
import itertools
import resource
import signal
import sys
import threading

import numpy as np
import pytest

import umbel

TEXTS = ["ada", "Grüße", "布隆过滤器", "𝔘", "", "x" * 300]


def filter_of(keys):
    f = umbel.Filter(1000, 1e-6)
    f.update(keys)
    return f


# ---- sizes --------------------------------------------------------------------------------------

@pytest.mark.parametrize("n", [2**61 + 1, 2**60, 2**62 + 5])
def test_lengths_whose_products_wrap(n):
    f = umbel.Filter(10)
    huge = np.broadcast_to(np.array([b"a"], "S1"), (n,))
    for use in (f.hash_many, f.contains_many, f.add_many):
        with pytest.raises(MemoryError):
            use(huge)
    if n == 2**61 + 1:  # 8 bytes, if a product may wrap
        with pytest.raises((MemoryError, umbel.SpaceError)):
            f.hash_many(huge, out=np.zeros(1, np.uint64))


@pytest.fixture
def interrupts():
    """Programs that a shell starts in the background ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_batch_without_end_can_be_stopped(interrupts):
    f = umbel.Filter(10)
    huge = np.broadcast_to(np.array([b"a"], "S1"), (2**61,))
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        f.update(huge)
    timer.join()
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        f.update(itertools.repeat("a"))
    timer.join()
    assert "a" in f


# ---- NumPy --------------------------------------------------------------------------------------

def test_arrays_of_texts():
    want = filter_of(TEXTS)
    for array in (np.array(TEXTS), np.array(TEXTS, object), np.array(TEXTS * 2)[::-1],
                  np.array(TEXTS, "U1000"), np.repeat(np.array(TEXTS), 3)[::3]):
        assert filter_of(array) == want, array.dtype
        assert want.contains_many(array) == b"\1" * len(array)
    assert filter_of(np.array([t.encode() for t in TEXTS])) == want
    f = umbel.Filter(100)
    assert f.hash_many(np.array(TEXTS)).tolist() == f.hash_many(TEXTS).tolist()
    assert umbel.build(np.array(TEXTS)) == umbel.build(TEXTS)
    wide = umbel.Filter(10)
    wide.update(np.array(["é"]), type="utf16")
    assert wide.contains("é", type="utf16")


def test_padding_of_texts_is_not_in_the_key():
    f = filter_of(np.array(["a", "abc", "a\0b"]))
    assert f == filter_of(["a", "abc", "a\0b"])


@pytest.mark.parametrize("bad", ["\ud800", "\udfff"])
def test_arrays_of_texts_that_are_none(bad):
    f = umbel.Filter(10)
    with pytest.raises(ValueError) as caught:
        f.update(np.array(["a", "b", bad, "c"]))
    assert caught.value.index == 2
    point = np.array([0x41, 0x110000], np.uint32).view("U1")
    with pytest.raises(ValueError) as caught:
        f.contains_many(point)
    assert caught.value.index == 1


@pytest.mark.parametrize("dtype,name", [("i1", "int8"), ("i2", "int16"), ("i4", "int32"), ("i8", "int64"),
                                        ("u1", "uint8"), ("u2", "uint16"), ("u4", "uint32"), ("u8", "uint64"),
                                        ("u4", "uint32be"), ("f4", "float"), ("f8", "double")])
def test_arrays_of_numbers(dtype, name):
    numbers = [0, 1, 7, 100]
    f, g = umbel.Filter(10, 1e-6), umbel.Filter(10, 1e-6)
    f.update(np.array(numbers, dtype), type=name)
    g.update(numbers, type=name)
    assert f == g
    with pytest.raises(TypeError, match="name their type|one key"):
        f.update(np.array(numbers, dtype))
    with pytest.raises(TypeError, match="astype"):
        f.update(np.array(numbers, "c16"), type=name)


# ---- which one is wrong --------------------------------------------------------------------------

@pytest.mark.parametrize("keys,index", [(["a", None], 1), (["a"] * 5000 + [7], 5000), ([b"a", "\ud800"], 1),
                                        (["a", float("nan")], 1), ((str(i) if i < 9000 else i for i in range(9999)), 9000)])
def test_errors_say_which_key(keys, index):
    for use in (umbel.Filter(10).update, umbel.Filter(10_000).update):
        keys, again = itertools.tee(keys)
        with pytest.raises((TypeError, ValueError)) as caught:
            use(again)
        assert caught.value.index == index
        assert str(index) in str(caught.value) + "".join(getattr(caught.value, "__notes__", []))


def test_errors_of_numbers_say_which_key():
    for use in (umbel.Filter(10).update, umbel.Filter(10).contains_many):
        with pytest.raises(OverflowError, match="key 2: .*int8") as caught:
            use([1, 2, 300], type="int8")
        assert caught.value.index == 2
    with pytest.raises(TypeError, match="key 1: nan is not a key"):
        umbel.build(["a", float("nan")])


# ---- pandas -------------------------------------------------------------------------------------

def test_columns_of_pandas():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed (scripts/setup python)")
    want = filter_of(TEXTS)
    series = pandas.Series(TEXTS)
    for column in (series, series.astype("string"), series.astype("category"), pandas.Index(TEXTS),
                   pandas.DataFrame({"k": TEXTS})["k"], series[::-1]):
        assert filter_of(column) == want, column.dtype
        assert want.contains_many(column) == b"\1" * len(TEXTS)
    f, g = umbel.Filter(100), umbel.Filter(100)
    f.update(pandas.Series([1, 2, 3]), type="int64")
    g.update([1, 2, 3], type="int64")
    assert f == g
    for missing in (pandas.Series(["a", None]), pandas.Series(["a", float("nan")]),
                    pandas.Series(["a", None], dtype="string")):
        with pytest.raises(TypeError, match="key 1") as caught:
            f.update(missing)
        assert caught.value.index == 1
    for table in (pandas.DataFrame({"k": TEXTS}), pandas.DataFrame({"a": [1], "b": [2]}, dtype="int8")):
        with pytest.raises(TypeError, match="one column"):
            f.update(table)


# ---- Arrow --------------------------------------------------------------------------------------
# Debian has no pyarrow: the structs of the interface's specification, by ctypes.

class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))
Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                   ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
                   ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
                   ("dictionary", ctypes.POINTER(Schema)), ("release", RELEASE_SCHEMA),
                   ("private", ctypes.c_void_p)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                  ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                  ("buffers", ctypes.POINTER(ctypes.c_void_p)),
                  ("children", ctypes.POINTER(ctypes.POINTER(Array))),
                  ("dictionary", ctypes.POINTER(Array)), ("release", RELEASE_ARRAY),
                  ("private", ctypes.c_void_p)]
GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
GET_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Stream))
RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))
Stream._fields_ = [("get_schema", GET_SCHEMA), ("get_next", GET_NEXT), ("get_last_error", GET_ERROR),
                   ("release", RELEASE_STREAM), ("private", ctypes.c_void_p)]

capsule = ctypes.pythonapi.PyCapsule_New
capsule.restype = ctypes.py_object
capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Released:
    """Counts arrays that were released, which happens exactly once each."""

    def __init__(self):
        self.arrays = 0
        self.kept = []

        @RELEASE_SCHEMA
        def schema(pointer):
            pointer.contents.release = RELEASE_SCHEMA(0)

        @RELEASE_ARRAY
        def array(pointer):
            self.arrays += 1
            pointer.contents.release = RELEASE_ARRAY(0)

        self.schema, self.array = schema, array

    def make_schema(self, format, children=()):
        made = Schema(format=format.encode(), release=self.schema, n_children=len(children))
        made.children = (ctypes.POINTER(Schema) * max(1, len(children)))(*map(ctypes.pointer, children))
        self.kept.append((made, children))
        return made

    def make_array(self, length, buffers, offset=0, nulls=0, children=()):
        pointers = [None if b is None else ctypes.addressof(ctypes.c_char.from_buffer(b)) for b in buffers]
        made = Array(length=length, offset=offset, null_count=nulls, n_buffers=len(buffers), release=self.array,
                     n_children=len(children))
        made.buffers = (ctypes.c_void_p * max(1, len(buffers)))(*pointers)
        made.children = (ctypes.POINTER(Array) * max(1, len(children)))(*map(ctypes.pointer, children))
        self.kept.append((made, buffers, children))
        return made

    def texts(self, texts, width=4, **kwargs):
        raw = [t.encode() for t in texts]
        ends = np.cumsum([0] + [len(r) for r in raw]).astype("i4" if width == 4 else "i8")
        data = bytearray(b"".join(raw) or b"\0")
        return self.make_array(len(texts), [kwargs.pop("valid", None), bytearray(ends.tobytes()), data], **kwargs)


class Column:
    def __init__(self, schema, array):
        self.schema, self.array = schema, array

    def __arrow_c_array__(self, requested_schema=None):
        return (capsule(ctypes.addressof(self.schema), b"arrow_schema", None),
                capsule(ctypes.addressof(self.array), b"arrow_array", None))


class Chunked:
    def __init__(self, schema, arrays, fail=False):
        self.stream = Stream()
        rest = iter(arrays)

        @GET_SCHEMA
        def get_schema(_, out):
            out[0] = schema
            return 0

        @GET_NEXT
        def get_next(_, out):
            array = next(rest, None)
            if array is None and fail:
                return 5
            out[0] = array if array is not None else Array()
            return 0

        message = ctypes.create_string_buffer(b"the disk is on fire")
        self.keep = (get_schema, get_next, GET_ERROR(lambda _: ctypes.addressof(message)), RELEASE_STREAM(lambda _: None))
        self.stream.get_schema, self.stream.get_next, self.stream.get_last_error, self.stream.release = self.keep

    def __arrow_c_stream__(self, requested_schema=None):
        return capsule(ctypes.addressof(self.stream), b"arrow_array_stream", None)


@pytest.mark.parametrize("format,width", [("u", 4), ("U", 8), ("z", 4), ("Z", 8)])
def test_arrow_texts(format, width):
    r = Released()
    f = filter_of(Column(r.make_schema(format), r.texts(TEXTS, width)))
    assert f == filter_of(TEXTS) and r.arrays == 1
    array = r.texts(["no", *TEXTS[:3], "no"], width)
    array.offset, array.length = 1, 3
    assert filter_of(Column(r.make_schema(format), array)) == filter_of(TEXTS[:3]) and r.arrays == 2
    chunks = Chunked(r.make_schema(format), [r.texts(TEXTS[:2], width), r.texts([], width), r.texts(TEXTS[2:], width)])
    assert f.contains_many(chunks) == b"\1" * len(TEXTS) and r.arrays == 5


def test_arrow_tables_of_one_column():
    r = Released()
    schema = r.make_schema("+s", [r.make_schema("u")])
    column = r.texts(["no", *TEXTS])
    table = r.make_array(len(TEXTS), [None], offset=1, children=[column])
    assert filter_of(Chunked(schema, [table])) == filter_of(TEXTS)
    two = r.make_schema("+s", [r.make_schema("u"), r.make_schema("u")])
    with pytest.raises(TypeError, match="one column"):
        filter_of(Column(two, r.make_array(1, [None], children=[r.texts(["a"]), r.texts(["b"])])))
    assert r.arrays == 2  # the tables; columns go with them


def test_arrow_numbers_and_fixed_width():
    r = Released()
    f, g = umbel.Filter(100), umbel.Filter(100)
    numbers = np.array([1, 2, 300], "i8")
    f.update(Column(r.make_schema("l"), r.make_array(3, [None, bytearray(numbers.tobytes())])), type="int64")
    g.update([1, 2, 300], type="int64")
    assert f == g
    digests = bytearray(b"0123456789abcdef" * 3)
    assert filter_of(Column(r.make_schema("w:16"), r.make_array(2, [None, digests], offset=1))) == \
        filter_of([bytes(digests[:16])])
    for format, message in (("l", "name their type"), ("tsu:", "cast it"), ("vu", "cast it"), ("w:", "not valid")):
        with pytest.raises(TypeError, match=message):
            f.update(Column(r.make_schema(format), r.make_array(1, [None, bytearray(64)])))
    with pytest.raises(TypeError, match="int32"):
        f.update(Column(r.make_schema("l"), r.make_array(1, [None, bytearray(8)])), type="int32")


def test_arrow_nulls_are_no_keys():
    r = Released()
    valid = bytearray([0b11011])
    for keys in (Column(r.make_schema("u"), r.texts(list("abcde"), valid=valid, nulls=1)),
                 Chunked(r.make_schema("u"), [r.texts(["x"] * 2), r.texts(list("abcde"), valid=valid, nulls=-1)])):
        with pytest.raises(TypeError, match="null") as caught:
            umbel.Filter(10).update(keys)
        assert caught.value.index == (2 if isinstance(keys, Column) else 4)


def test_arrow_that_lies():
    r = Released()
    falling = r.make_array(2, [None, bytearray(np.array([0, 3, 1], "i4").tobytes()), bytearray(b"abc")])
    for array in (falling, r.texts(["a"], offset=-1), r.make_array(-1, [None, None, None]),
                  r.make_array(2**62, [None, None, None]), r.make_array(1, [None])):
        with pytest.raises(TypeError):
            umbel.Filter(10).update(Column(r.make_schema("u"), array))
    with pytest.raises(RuntimeError, match="on fire"):
        umbel.Filter(10).update(Chunked(r.make_schema("u"), [r.texts(["a"])], fail=True))
    assert r.arrays == 6
    used = r.texts(["a"])
    used.release = RELEASE_ARRAY(0)
    with pytest.raises(TypeError, match="released"):
        umbel.Filter(10).update(Column(r.make_schema("u"), used))

    class Odd:
        def __arrow_c_array__(self, requested_schema=None):
            return 7
    with pytest.raises(TypeError, match="capsules"):
        umbel.Filter(10).update(Odd())


def test_arrow_of_another_maker(tmp_path):
    """GDAL writes Arrow's structs itself; its text column comes out as the file's lines."""
    ogr = pytest.importorskip("osgeo.ogr", reason="GDAL is not installed (python3-gdal)")
    from osgeo import gdal as gdal_module
    gdal = ctypes.CDLL(ctypes.util.find_library("gdal") or "libgdal.so.32")
    table = tmp_path / "t.csv"
    words = [f"word{i}" for i in range(70_000)]
    table.write_text("k,n\n" + "".join(f"{word},1\n" for word in words))
    data = gdal_module.OpenEx(str(table), gdal_module.OF_VECTOR)
    layer = data.GetLayer(0)
    assert layer.SetIgnoredFields(["OGR_GEOMETRY", "n"]) == ogr.OGRERR_NONE
    stream = Stream()
    options = (ctypes.c_char_p * 2)(b"INCLUDE_FID=NO", None)
    gdal.OGR_L_GetArrowStream.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    assert gdal.OGR_L_GetArrowStream(int(layer.this), ctypes.addressof(stream), options)

    class FromGdal:
        def __arrow_c_stream__(self, requested_schema=None):
            return capsule(ctypes.addressof(stream), b"arrow_array_stream", None)
    f = umbel.Filter(100_000)
    f.update(FromGdal())
    g = umbel.Filter(100_000)
    g.update(words)
    assert f == g


# ---- streams ------------------------------------------------------------------------------------

def test_streams_of_keys():
    f = umbel.Filter(200_000)
    done = f.update_from((str(i % 150_000) for i in range(200_000)), batch=1000)
    assert done.records == 200_000 and abs(done.new - 150_000) < 500 and done.missing == done.malformed == 0
    assert "149999" in f
    assert f.update_from(["x"], batch=1).new == 1 and f.update_from(np.array(["y"])).records == 1
    assert f.update_from(iter(range(5)), type="int64").records == 5
    for wrong in ("abc", b"abc", 5, None):
        with pytest.raises(TypeError):
            f.update_from(wrong)
    with pytest.raises(umbel.InvalidError, match="recipe"):
        f.update_from(["a"], recipe="line")
    with pytest.raises(umbel.InvalidError, match="batch"):
        f.update_from(["a"], batch=1 << 30)
    small = umbel.Filter(100, kind="scalable", expansion=2, max_layers=2)
    with pytest.raises(umbel.FullError) as caught:
        small.update_from(str(i) for i in range(100_000))
    assert 300 < caught.value.done < 100_000


def test_streams_are_not_gathered():
    """Memory stays small however long the stream is."""
    f = umbel.Filter(1000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert f.update_from((b"%d" % (i % 9) for i in range(3_000_000)), batch=4096).records == 3_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


def test_files(tmp_path):
    path = tmp_path / "keys.csv"
    rows = "mail,id\n" + "".join(f"User{i}@example.org,{i}\n" for i in range(50_000)) + '"un\nusual",7\nshort'
    path.write_text(rows)
    with gzip.open(tmp_path / "keys.csv.gz", "wt") as out:
        out.write(rows)
    want = umbel.Filter(60_000, recipe="csv column=mail lower")
    assert want.add_lines(rows.encode()).records == 50_002
    for opened in (path.open("rb"), path.open(encoding="utf-8"), gzip.open(tmp_path / "keys.csv.gz"),
                   io.BytesIO(rows.encode()), io.StringIO(rows), path.open("rb", buffering=0)):
        with opened as file:
            f = umbel.Filter(60_000, recipe="csv column=mail lower")
            done = f.update_from(file)
            assert done.records == 50_002 and done.new > 49_900 and f == want
    with path.open("rb") as file:
        assert umbel.Filter(60_000, recipe="line").update_from(file, recipe="csv column=mail lower").records == 50_002
    with path.open("rb") as file:
        assert len(want.find_lines(file)) == 50_002
    with path.open("rb") as file:
        static = umbel.build(file, 1e-6, recipe="csv column=mail lower")
    assert static.recipe == "csv column=mail lower" and static.info.kind == "static"
    assert "user7@example.org" in static and "un\nusual" in static and "User7@example.org" not in static
    with path.open("rb") as file, pytest.raises(umbel.InvalidError, match="capacity"):
        umbel.build(file, kind="blocked")
    with path.open("rb") as file, pytest.raises(umbel.InvalidError, match="type"):
        want.update_from(file, type="int64")


def test_files_that_fail():
    class Broken(io.RawIOBase):
        def read(self, n=-1):
            raise OSError(5, "gone")

    class Nothing:
        def read(self, n):
            return None

    class Wrong:
        def read(self, n):
            return 5
    f = umbel.Filter(10)
    references = sys.getrefcount(f)
    with pytest.raises(OSError, match="gone"):
        f.update_from(Broken())
    with pytest.raises(BlockingIOError):
        f.update_from(Nothing())
    with pytest.raises(TypeError):
        f.update_from(Wrong())
    assert sys.getrefcount(f) == references
