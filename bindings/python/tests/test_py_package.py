# SPDX-License-Identifier: MIT
"""The package: types for mypy, one file for every later Python, the wheel in an empty environment."""
import inspect
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import umbel

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
WHEELS = sorted((ROOT / "build" / "python" / "dist").glob("umbel-*.whl"))
PACKAGE = Path(umbel.__file__).parent


def run(*command, **kwargs):
    return subprocess.run(list(map(str, command)), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **kwargs)


def mypy(*args):
    try:
        import mypy  # noqa: F401
    except ImportError:
        pytest.skip("mypy is not installed (scripts/setup python)")
    return run(sys.executable, "-m", "mypy", "--strict", "--cache-dir", ROOT / "build/python/mypy",
               *args, env={"PATH": "/usr/bin:/bin", "MYPYPATH": str(PACKAGE.parent)})


def test_version_is_the_headers():
    header = (ROOT / "include" / "umbel.h").read_text()
    assert umbel.__version__ == re.search(r'define UMBEL_VERSION "(.*)"', header)[1]


def test_types_of_everything():
    out = mypy(HERE / "typed_usage.py")
    assert out.returncode == 0, out.stdout
    run(sys.executable, HERE / "typed_usage.py", check=True)


def test_types_by_pyright():
    """Its newest version, in strict mode: what tests/js/npm locks (scripts/setup web)."""
    program = ROOT / "build/js-npm/node_modules/pyright/index.js"
    if not program.exists():
        pytest.skip("pyright is not installed (scripts/setup web)")
    folder = ROOT / "build/python/pyright"
    folder.mkdir(exist_ok=True)
    shutil.copy(HERE / "typed_usage.py", folder)
    config = folder / "pyrightconfig.json"
    config.write_text(json.dumps({"typeCheckingMode": "strict", "pythonVersion": "3.11", "include": ["typed_usage.py"],
                                  "extraPaths": [str(PACKAGE.parent)]}))
    out = run("node", program, "-p", config)
    assert out.returncode == 0 and "0 errors, 0 warnings" in out.stdout, out.stdout


def test_types_refuse_what_is_wrong():
    path = HERE / "wrong_usage.py"
    out = mypy(path)
    found = {int(line) for line in re.findall(r"wrong_usage.py:(\d+): error", out.stdout)}
    lines = path.read_text().splitlines()
    assert found == {i for i, line in enumerate(lines, 1) if line.endswith("# wrong")}, out.stdout


def test_stubs_name_what_there_is():
    stub = (PACKAGE / "__init__.pyi").read_text()
    for name in umbel.__all__:
        assert re.search(rf"^(class |def )?{name}\b", stub, re.M), name
    turned = ["__module__", "__rand__", "__ror__"]
    for name in sorted({*dir(umbel.Filter)} - {*dir(object), *turned}):
        assert re.search(rf"^    (def )?{name}\b", stub, re.M), name
    for kind in ("Info", "Measurement", "Plan", "Lines"):
        body = stub.split(f"class {kind}:")[1].split("@final")[0]
        fields = [name for name in dir(getattr(umbel, kind)) if not name.startswith("__")]
        assert sorted(fields) == sorted(re.findall(r"def (\w+)\(self", body))


def test_stubs_say_what_the_calls_take():
    """mypy's stubtest compares each signature of the module with the stub's."""
    try:
        import mypy.stubtest  # noqa: F401
    except ImportError:
        pytest.skip("mypy is not installed (scripts/setup python)")
    allowed = ROOT / "build/python/stubtest.allowed"
    # Private helpers, the submodule that needs dask, and what CPython itself says of every type.
    allowed.write_text("umbel\\._umbel.*\numbel\\.dask.*\n.*\\.__class_getitem__\n")
    out = run(sys.executable, "-m", "mypy.stubtest", "--allowlist", allowed, "--ignore-unused-allowlist",
              "umbel", cwd=ROOT / "build/python",
              env={"PATH": "/usr/bin:/bin", "MYPYPATH": str(PACKAGE.parent), "PYTHONPATH": str(PACKAGE.parent)})
    assert out.returncode == 0, out.stdout


def public_calls():
    for name in umbel.__all__:
        thing = getattr(umbel, name)
        if not isinstance(thing, type) and callable(thing):
            yield name, thing
    for kind in (umbel.Filter, umbel.Info, umbel.Measurement, umbel.Plan, umbel.Lines):
        for name in dir(kind):
            if callable(getattr(kind, name)) and (not name.startswith("_") or name in ("__sizeof__", "__copy__")):
                yield f"{kind.__name__}.{name}", getattr(kind, name)


def test_signatures():
    names = [name for name, thing in public_calls() if inspect.signature(thing)]
    assert len(names) > 45 and "Filter.update_from" in names and "Plan.rate_at" in names
    assert list(inspect.signature(umbel.Filter).parameters)[:3] == ["capacity", "fpr", "kind"]
    assert inspect.signature(umbel.Filter.load).parameters["seed"].default == 0
    assert str(inspect.signature(umbel.Filter.add)) == "(self, key, /, *, type=None)"
    for name, thing in public_calls():
        assert thing.__doc__ and not thing.__doc__.startswith(name.split(".")[-1] + "("), name


def test_everything_is_explained():
    for name in umbel.__all__:
        if name not in ("KINDS", "FORMATS", "TYPES", "VARIANTS"):
            assert getattr(umbel, name).__doc__, name
    for name in dir(umbel.Filter):
        if not name.startswith("_"):
            assert getattr(umbel.Filter, name).__doc__, name


def test_only_the_entry_is_exported():
    library = next(PACKAGE.glob("_umbel*.so"))
    assert library.name == "_umbel.abi3.so"
    symbols = run("nm", "-D", "--defined-only", library, check=True).stdout
    assert [line.split()[-1] for line in symbols.splitlines()] == ["PyInit__umbel"]


@pytest.mark.skipif(not WHEELS, reason="no wheel has been built (make python)")
def test_the_wheel_in_an_empty_environment(tmp_path):
    wheel = WHEELS[-1]
    assert re.fullmatch(r"umbel-[0-9.]+-cp311-abi3-manylinux_2_\d+_\w+\.whl", wheel.name)
    names = zipfile.ZipFile(wheel).namelist()
    for part in ("umbel/__init__.py", "umbel/__init__.pyi", "umbel/py.typed", "umbel/_umbel.abi3.so"):
        assert part in names
    run("/usr/bin/python3", "-m", "venv", tmp_path / "venv", check=True)
    python = tmp_path / "venv" / "bin" / "python"
    out = run(python, "-I", "-m", "pip", "install", "--no-index", wheel)
    assert out.returncode == 0, out.stdout
    code = "import umbel; f = umbel.Filter(10); f.add('a'); print('a' in f, umbel.__file__)"
    out = run(python, "-I", "-c", code, cwd=tmp_path)
    assert out.stdout.startswith(f"True {tmp_path}"), out.stdout
    run(python, "-I", HERE / "typed_usage.py", check=True)


def metadata_of(archive):
    wheel = zipfile.ZipFile(archive)
    name = next(n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
    return wheel.namelist(), wheel.read(name).decode()


@pytest.mark.skipif(not WHEELS, reason="no wheel was built here (make python)")
def test_wheel_could_be_uploaded():
    names, metadata = metadata_of(WHEELS[-1])
    assert any(name.endswith("LICENSE") for name in names)
    assert "Classifier: License :: OSI Approved :: MIT License" in metadata
    assert "Description-Content-Type: text/markdown" in metadata
    assert "a set whose \"no\" is never wrong" in metadata
    sections = run("readelf", "-S", "--wide", next(PACKAGE.glob("_umbel*.so")), check=True).stdout
    assert ".debug_info" not in sections and ".symtab" not in sections


@pytest.mark.skipif(not WHEELS, reason="no wheel was built here (make python)")
def test_the_tag_is_true(tmp_path):
    """What auditwheel looks at: the libraries that are needed, and the versions of glibc's symbols."""
    wheel = zipfile.ZipFile(WHEELS[-1])
    said = int(re.search(r"-manylinux_2_(\d+)_", WHEELS[-1].name)[1])
    name = next(n for n in wheel.namelist() if n.endswith(".dist-info/WHEEL"))
    assert f"Tag: {WHEELS[-1].stem.split('-', 2)[2]}\n" in wheel.read(name).decode()
    library = wheel.extract("umbel/_umbel.abi3.so", tmp_path)
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", library, check=True).stdout))
    # The loader itself serves variables of threads; auditwheel leaves it out, too.
    needed = {name for name in needed if not name.startswith("ld-linux")}
    assert needed and needed <= {"libc.so.6", "libm.so.6", "libpthread.so.0"}
    used = re.findall(r"\bName: (\w+?)_([0-9.]+)", run("readelf", "-V", "--wide", library, check=True).stdout)
    assert {of for of, _ in used} == {"GLIBC"}
    assert max(tuple(map(int, version.split("."))) for _, version in used)[:2] == (2, said)


@pytest.mark.skipif(not WHEELS, reason="no wheel was built here (make python)")
def test_source_distribution_carries_the_library(tmp_path):
    built = run(sys.executable, "-m", "build", "--no-isolation", "--sdist", "--outdir", tmp_path,
                ROOT / "bindings" / "python")
    assert built.returncode == 0, built.stdout[-2000:]
    assert not (ROOT / "bindings" / "python" / "src").exists() and not (ROOT / "bindings" / "python" / "build").exists()
    archive = next(tmp_path.glob("umbel-*.tar.gz"))
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path)
    unpacked = tmp_path / archive.name.removesuffix(".tar.gz")
    assert (unpacked / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    ours = {p.relative_to(ROOT) for folder in ("src", "include") for p in (ROOT / folder).rglob("*.[ch]")}
    carried = {p.relative_to(unpacked / "library") for p in (unpacked / "library").rglob("*.[ch]")}
    assert carried == ours
    # Far from the repository: one source that includes headers of both folders compiles.
    one = unpacked / "ext" / "py_module.c"
    include = run(sys.executable, "-c", "import sysconfig; print(sysconfig.get_path('include'))").stdout.strip()
    run("cc", "-fsyntax-only", f"-I{include}", "-Ilibrary/include", "-Ilibrary/src", "-Iext", one,
        check=True, cwd=unpacked)
