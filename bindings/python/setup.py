# SPDX-License-Identifier: MIT
"""The wheel: one extension that has the whole library in it, for CPython 3.11 and later.

It is built from the repository, whose src/ and include/ lie next to this folder, or from a source
distribution, which carries them in library/; what is made on the way goes below build/python.
"""
import os
import re
import shutil
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.sdist import sdist

try:
    from setuptools.command.bdist_wheel import bdist_wheel  # from 70.1 on
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

os.chdir(Path(__file__).resolve().parent)
CARRIED = Path("library")
ROOT = CARRIED if CARRIED.is_dir() else Path("../..")
MADE = Path("build") if CARRIED.is_dir() else ROOT / "build" / "python"
MADE.mkdir(parents=True, exist_ok=True)


class CarryLibrary(sdist):
    """Adds what the repository has outside this folder."""

    def make_release_tree(self, base_dir, files):
        inside = [name for name in files if not name.startswith(os.pardir)]
        super().make_release_tree(base_dir, inside)
        base = Path(base_dir)
        for folder in ("src", "include"):
            shutil.copytree(ROOT / folder, base / CARRIED / folder, dirs_exist_ok=True)
        for name in ("LICENSE", "umbel.map"):
            (base / name).unlink(missing_ok=True)
            shutil.copyfile(name, base / name)
        shutil.copytree("ext", base / "ext", dirs_exist_ok=True)


class TaggedWheel(bdist_wheel):
    """Says which systems can load it: those whose glibc has the symbols that the extension uses (PEP 600)."""

    def get_tag(self):
        python, abi, platform = super().get_tag()
        used = [int(minor) for built in Path(self.bdist_dir).rglob("_umbel*.so")
                for minor in re.findall(rb"\0GLIBC_2\.(\d+)", built.read_bytes())]
        if used:
            platform = re.sub("^linux", f"manylinux_2_{max(used)}", platform)
        return python, abi, platform


header = (ROOT / "include" / "umbel.h").read_text()
version = re.search(r'^#define UMBEL_VERSION "(.*)"', header, re.M)[1]
sources = [*Path("ext").glob("*.c"), *(ROOT / "src").rglob("*.c")]
headers = [*Path("ext").glob("*.h"), *(ROOT / "src").rglob("*.h"), *(ROOT / "include").glob("*.h")]

setup(
    version=version,
    package_dir={"": "lib"},
    packages=["umbel"],
    package_data={"umbel": ["*.pyi", "py.typed"]},
    ext_modules=[Extension(
        "umbel._umbel",
        sources=sorted(map(str, sources)),
        depends=sorted(map(str, headers)) + ["umbel.map"],
        include_dirs=[str(ROOT / "include"), str(ROOT / "src"), "ext"],
        libraries=["m", "pthread"],
        define_macros=[("_FILE_OFFSET_BITS", "64")],
        # As in cmake/flags.cmake: sizes follow from doubles that are rounded after every operation.
        extra_compile_args=["-std=c11", "-O3", "-g0", "-ffp-contract=off", "-fvisibility=hidden",
                            "-Wall", "-Wextra", "-Wshadow"],
        extra_link_args=["-Wl,--version-script=umbel.map", "-Wl,--strip-all"],
        py_limited_api=True,
    )],
    cmdclass={"sdist": CarryLibrary, "bdist_wheel": TaggedWheel},
    options={
        "bdist_wheel": {"py_limited_api": "cp311"},
        "build": {"build_base": str(MADE / "obj"), "parallel": os.cpu_count()},
        "egg_info": {"egg_base": str(MADE)},
    },
)
