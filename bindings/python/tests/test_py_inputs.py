# SPDX-License-Identifier: MIT
"""Files that are given as lines and may be something else: every row of the golden table."""
import bz2
import gzip
import io
import lzma
import warnings
from pathlib import Path

import pytest
import umbel

GOLDEN = Path(__file__).resolve().parents[3] / "tests" / "golden" / "inputs"
TABLE = [line.split("\t") for line in (GOLDEN / "inputs.tsv").read_text().splitlines()]
ROWS = [dict(zip(TABLE[0], row)) for row in TABLE[1:]]
UNPACKED = {"gzip", "bzip2", "xz"}
try:
    import compression.zstd  # noqa: F401
    UNPACKED.add("zstd")
except ImportError:
    pass
WORDS = {"returns": "carriage return", "marks": "byte-order mark", "nuls": "NULs"}


class Pipe(io.RawIOBase):
    """A file that cannot be rewound and gives three bytes at a time, after a first piece."""

    def __init__(self, data):
        self._pieces = [data[:4096]] + [data[i:i + 3] for i in range(4096, len(data), 3)]

    def read(self, size=-1):
        return self._pieces.pop(0) if self._pieces else b""


def readers(path):
    """What reads lines, and whether it says how many there were."""
    data = path.read_bytes()
    filter = umbel.Filter(1000)
    yield lambda: umbel.Filter(1000).add_lines(data)
    yield lambda: umbel.Filter(1000).update_from(path.open("rb"))
    yield lambda: umbel.Filter(1000).update_from(Pipe(data))
    yield lambda: umbel.build(path.open("rb"), 0.01)
    yield lambda: filter.find_lines(path.open("rb"))


@pytest.mark.parametrize("row", ROWS, ids=[row["file"] for row in ROWS])
def test_every_reader_of_lines(row):
    path = GOLDEN / (row["file"] + ".list")
    name = row["inside"] if row["is"] in UNPACKED else row["is"]
    for read in readers(path):
        if name != "lines":
            with pytest.raises(umbel.UnsupportedError, match=name):
                read()
            continue
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            done = read()
        said = " ".join(str(one.message) for one in said if one.category is UserWarning)
        for column, word in WORDS.items():
            assert (word in said) == (row[column] != "0"), (word, said)
        if row["returns"] != "0":
            assert f"keys: {row['returns']} (crlf" in said
        if isinstance(done, umbel.Lines):
            assert done.records == int(row["lines"])


def test_large_compressed_files():
    lines = b"".join(b"%d\n" % i for i in range(400000))
    for module in (gzip, bz2, lzma):
        packed = module.compress(lines)
        assert umbel.Filter(500000).update_from(io.BytesIO(packed)).records == 400000
        with pytest.raises(EOFError):
            umbel.Filter(500000).update_from(io.BytesIO(packed[:-9]))


def test_a_warning_that_is_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="carriage return"):
            umbel.Filter(10).add_lines(b"a\r\n")
        assert umbel.Filter(10, recipe="line crlf").add_lines(b"a\r\nb\n").records == 2


def test_text_becomes_a_key_by_the_recipe():
    """The same file and text give one answer here and in the command: check -e."""
    f = umbel.Filter(10, recipe="line lower")
    f.add_lines(b"Ada@x.org\n")
    assert "recipe 'line lower'" in repr(f) and "recipe" not in repr(umbel.Filter(10))
    assert "Ada@x.org" not in f  # a key, not a text
    state, key = umbel.record_key(f.recipe, "Ada@x.org", use="key")
    assert state == "key" and key in f
    assert f.find_lines(b"Ada@x.org\n") == [b"Ada@x.org"]
