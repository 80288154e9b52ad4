# SPDX-License-Identifier: MIT
"""Bytes, files, maps, views and pickles; what is refused, and how."""
import gc
import mmap
import os
import pickle
import subprocess
import sys
import weakref
from multiprocessing import shared_memory

import pytest

import umbel

KEYS = [f"key{i}" for i in range(1000)]
SECRET = b"0123456789abcdef"


@pytest.fixture
def full():
    f = umbel.Filter(1000)
    f.update(KEYS)
    return f


# ---- files --------------------------------------------------------------------------------------

def test_save_load_open(full, tmp_path):
    path = tmp_path / "f.umb"
    for name in (path, str(path), os.fsencode(path)):
        full.save(name)
        assert path.read_bytes() == full.to_bytes()
        loaded, mapped = umbel.Filter.load(name), umbel.Filter.open(name)
        assert loaded == full == mapped
        assert loaded.add("new") and not loaded.info.frozen
        with pytest.raises(umbel.FrozenError):
            mapped.add("new")
        with pytest.raises(umbel.FrozenError):
            mapped.update(["new"])
        mapped.copy().add("new")
    assert os.listdir(tmp_path) == ["f.umb"]


def test_a_map_outlives_the_name(full, tmp_path):
    path = tmp_path / "f.umb"
    full.save(path)
    mapped = umbel.Filter.open(path)
    os.unlink(path)
    assert all(mapped.contains_many(KEYS))


def test_files_that_are_not_there(full, tmp_path):
    for use in (umbel.Filter.open, umbel.Filter.load, umbel.verify_file):
        with pytest.raises(FileNotFoundError) as caught:
            use(tmp_path / "none")
        assert isinstance(caught.value, umbel.FileError) and isinstance(caught.value, umbel.Error)
        assert caught.value.errno == 2 and caught.value.code == "EIO"
        assert caught.value.filename == tmp_path / "none"
        with pytest.raises(OSError):
            use(tmp_path)
        with pytest.raises(TypeError):
            use(None)
        with pytest.raises(ValueError):
            use("a\0b")
    with pytest.raises(umbel.FileError):
        full.save(tmp_path / "no" / "such" / "folder")


def test_a_hole_in_a_mapped_file(tmp_path):
    """Zeros in the middle, as an interrupted rsync --inplace leaves them: an error, never a "no"."""
    path, keys = tmp_path / "hole.umb", [f"key{i}" for i in range(20000)]
    f = umbel.Filter(2000000, 0.0001)
    f.update(keys)
    f.save(path)
    assert umbel.Filter.open(path).contains_many(keys) == b"\1" * len(keys)
    with open(path, "r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(bytes(1 << 20))
    opened = umbel.Filter.open(path)
    asked = iter(keys)
    with pytest.raises(umbel.CorruptError, match="payload checksum"):
        while next(asked) in opened:
            pass
    assert next(asked, None) is not None  # it came before the end, and nothing was missing
    for ask in (lambda f: f.contains_many(keys), lambda f: [f.contains(k) for k in keys],
                lambda f: [f.count(k) for k in keys], lambda f: f.find_lines("\n".join(keys).encode()),
                lambda f: f.contains_hashes(f.hash_many(keys)), lambda f: f.copy(),
                lambda f: f.to_bytes(), lambda f: f.save(tmp_path / "laundered.umb")):
        with pytest.raises(umbel.CorruptError):
            ask(umbel.Filter.open(path))
    assert not (tmp_path / "laundered.umb").exists()


def test_damage(full, tmp_path):
    data = bytearray(full.to_bytes())
    data[5000] ^= 1
    for use in (umbel.verify, umbel.Filter.from_bytes):
        with pytest.raises(umbel.CorruptError) as caught:
            use(data)
        assert isinstance(caught.value, ValueError)
        assert caught.value.code == "ECORRUPT" and caught.value.offset == 4096
        assert str(caught.value).endswith("at byte 4096")
    path = tmp_path / "f"
    path.write_bytes(data)
    with pytest.raises(umbel.CorruptError):
        umbel.verify_file(path)
    with pytest.raises(umbel.CorruptError):
        umbel.Filter.view(data)  # one piece, which is read at once
    for cut in (0, 1, 8, 100, 4096, len(data) - 1):
        with pytest.raises(umbel.Error):
            umbel.Filter.from_bytes(data[:cut])
    with pytest.raises(umbel.UnknownFormatError):
        umbel.Filter.from_bytes(b"what is this?")


def test_limits(full):
    with pytest.raises(umbel.LimitError) as caught:
        umbel.Filter(10**9, max_bytes=1000)
    assert caught.value.need > 10**9
    with pytest.raises(umbel.LimitError):
        umbel.Filter.from_bytes(full.to_bytes(), max_bytes=100)


# ---- secrets ------------------------------------------------------------------------------------

def test_secrets(tmp_path):
    f = umbel.Filter(1000, secret=SECRET)
    f.update(KEYS)
    assert f.info.fingerprint and SECRET not in f.to_bytes()
    f.save(tmp_path / "f")
    assert umbel.Filter.open(tmp_path / "f", secret=bytearray(SECRET)) == f
    for wrong in (None, b"x" * 16):
        with pytest.raises(umbel.SecretError):
            umbel.Filter.load(tmp_path / "f", secret=wrong)
    umbel.verify_file(tmp_path / "f")
    for bad, error in ((b"short", umbel.InvalidError), ("text", TypeError), (7, TypeError)):
        with pytest.raises(error):
            umbel.Filter(10, secret=bad)
    assert umbel.build(KEYS, secret=SECRET) != umbel.build(KEYS)


def test_a_secret_is_never_pickled():
    with pytest.raises(umbel.SecretError, match="never pickled"):
        pickle.dumps(umbel.Filter(10, secret=SECRET))


# ---- pickles ------------------------------------------------------------------------------------

@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("kind", [k for k in umbel.KINDS if k != "auto"])
def test_pickles(kind, protocol):
    f = umbel.build(KEYS, kind=kind)
    f.set_meta("a", "b") if not f.info.frozen else None
    g = pickle.loads(pickle.dumps(f, protocol))
    assert g == f and g.to_bytes() == f.to_bytes() and g.meta == f.meta


def test_pickles_keep_the_options():
    f = umbel.Filter(1000, concurrent=True, threads=2)
    assert pickle.loads(pickle.dumps(f)).info.concurrent
    for record in (f.info, f.measure(), umbel.plan(10, 0.01)):
        assert pickle.loads(pickle.dumps(record)) == record
    error = pickle.loads(pickle.dumps(umbel.InvalidError("x")))
    assert isinstance(error, umbel.InvalidError)


def test_pickles_in_another_process(full, tmp_path):
    (tmp_path / "p").write_bytes(pickle.dumps(full))
    code = "import pickle,sys; f = pickle.load(open(sys.argv[1], 'rb')); print('key7' in f, 'x' in f)"
    out = subprocess.run([sys.executable, "-c", code, tmp_path / "p"], check=True, text=True,
                         stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    assert out.stdout == "True False\n"


# ---- views --------------------------------------------------------------------------------------

def test_a_view_keeps_its_buffer(full):
    data = bytearray(full.to_bytes())
    view = umbel.Filter.view(data)
    with pytest.raises(BufferError):
        data += b"x"
    assert view == full and view.info.frozen
    with pytest.raises(umbel.FrozenError):
        view.add("x")
    del view
    data += b"x"


def test_a_view_is_the_last_owner(full):
    class Owner(bytearray):
        pass
    data = Owner(full.to_bytes())
    gone = weakref.ref(data)
    view = umbel.Filter.view(data)
    del data
    gc.collect()
    assert gone() is not None and all(view.contains_many(KEYS))
    del view
    gc.collect()
    assert gone() is None


def test_refused_views_release_their_buffer(full):
    data = bytearray(full.to_bytes())
    data[0] ^= 1
    for use in (umbel.Filter.view, umbel.Filter.from_bytes, umbel.verify):
        with pytest.raises(umbel.Error):
            use(data)
    data += b"x"


def test_views_over_maps_and_shared_memory(full, tmp_path):
    full.save(tmp_path / "f")
    with open(tmp_path / "f", "rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            view = umbel.Filter.view(mapped)
            assert view == full
            with pytest.raises(BufferError):
                mapped.close()
            del view
    data = full.to_bytes()
    shared = shared_memory.SharedMemory(create=True, size=len(data))
    try:
        shared.buf[:len(data)] = data
        with shared.buf[:len(data)] as part:
            view = umbel.Filter.view(part)
            assert view == full
            del view
    finally:
        shared.close()
        shared.unlink()


# ---- what is refused ----------------------------------------------------------------------------

@pytest.mark.parametrize("make,field", [
    (lambda: umbel.Filter(10, 0), "fpr"), (lambda: umbel.Filter(10, 1.5), "fpr"),
    (lambda: umbel.Filter(10, float("nan")), "fpr"), (lambda: umbel.Filter(-1), "capacity"),
    (lambda: umbel.Filter(1 << 64), "capacity"), (lambda: umbel.Filter(10, kind="round"), "kind"),
    (lambda: umbel.Filter(10, generations=1 << 32), "generations"),
    (lambda: umbel.Filter(10, kind="blocked", max_layers=3), "max_layers"),
    (lambda: umbel.Filter.foreign("guava", 10, 0.01, hashes=3), "hashes"),
    (lambda: umbel.Filter.foreign("guava", 10, 0.01, variant="index"), "variant"),
    (lambda: umbel.Filter.foreign("guava", 10, 0.01, variant=["mitz64"]), "variant"),
    (lambda: umbel.Filter.foreign("xml", 10), "format"),
    (lambda: umbel.Filter.foreign("native", 10), "format"),
])
def test_parameters(make, field):
    with pytest.raises(umbel.InvalidError) as caught:
        make()
    assert caught.value.field == field and caught.value.code == "EINVAL"
    assert str(caught.value).startswith(field + ": ")


@pytest.mark.parametrize("do,says", [
    (lambda: umbel.Filter(10, kind="tight"), "kind: is built once, from all the keys: umbel.build(keys, fpr, kind=...)"),
    (lambda: umbel.Filter(10, max_bytes=31), "max_bytes: must allow a filter of this size; 32 would be enough"),
    (lambda: umbel.Filter(10, threads=2000), "threads: must be at most 1024"),
    (lambda: umbel.Filter(10).remove("ada"), "only counting filters can remove keys"),
    (lambda: umbel.Filter(10).advance(), "only windows advance"),
    (lambda: umbel.Filter(10).snapshot(), "only counting filters have snapshots"),
    (lambda: umbel.Filter(10, kind="classic").hash("ada"), "filters of this kind take no hashes"),
    (lambda: umbel.Filter.foreign("guava", 10, 0.1).hash_many(["ada"]), "filters of this kind take no hashes"),
    (lambda: umbel.Filter(10).set_meta("recipe", "lower"), "recipe: not metadata, but the recipe of the filter"),
    (lambda: umbel.Filter.foreign("native", 10), "format: native is not another system's"),
])
def test_errors_have_the_names_of_python(do, says):
    with pytest.raises(umbel.Error) as caught:
        do()
    assert str(caught.value) == says
    assert caught.value.field == (says.split(": ")[0] if ": " in says else "")


@pytest.mark.parametrize("make", [
    lambda: umbel.Filter("10"), lambda: umbel.Filter([1]), lambda: umbel.Filter(10, "x"),
    lambda: umbel.Filter(10, kind=3), lambda: umbel.Filter(10, 0.01, "blocked"),
    lambda: umbel.Filter(10, capacity=3), lambda: umbel.Filter(10, cap=3), umbel.build,
    lambda: umbel.Filter.foreign(), lambda: umbel.Filter(10).add(),
    lambda: umbel.Filter(10).add("a", "b"), lambda: umbel.Filter(10).add("a", kind="x"),
    lambda: umbel.Filter(10).contains_many(), lambda: umbel.Filter.from_bytes("text"),
    lambda: umbel.Filter.from_bytes(None), lambda: umbel.Filter(10).fold("x"),
    lambda: umbel.Filter.foreign("guava", 10, 0.1, variant=3),
])
def test_wrong_types(make):
    with pytest.raises(TypeError):
        make()


def test_formats_that_cannot_hold_it(full, tmp_path):
    with pytest.raises(umbel.MismatchError):
        full.to_bytes("guava")
    with pytest.raises(umbel.MismatchError):
        full.save(tmp_path / "f", "guava")
    with pytest.raises(umbel.UnsupportedError):
        full.text()
    assert not (tmp_path / "f").exists()


def test_every_error_has_its_attributes():
    for name in dir(umbel):
        kind = getattr(umbel, name)
        if isinstance(kind, type) and issubclass(kind, umbel.Error):
            error = kind("x")
            assert (error.field, error.offset, error.need, error.done) == ("", 0, 0, 0)
            assert isinstance(error.code, str) and kind.__doc__ and kind.__module__ == "umbel"
