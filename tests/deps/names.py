#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""names.py LIBRARY - is every kind, format, type, verdict, error and variant called the same everywhere?

The library's own lists, asked for at run time, are compared with the enums of the headers, the types
of Python (__init__.pyi) and JavaScript (index.d.ts), the tables of the documents that become manual
pages.
"""
import ctypes
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def listed(library, function, first=0):
    """What the function answers from `first` until it answers NULL."""
    try:
        name = getattr(library, function)
    except AttributeError:
        sys.exit(f"{sys.argv[1]}: it does not export {function}, which tests/deps/names.py asks for names")
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.c_int]
    names = []
    while (text := name(first + len(names))) is not None:
        names.append(text.decode())
    return names


def read(path):
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except OSError as e:
        sys.exit(f"{path}: {e.strerror}, but tests/deps/names.py compares its names")


def only(path, pattern, what):
    """The part of the file that the pattern describes."""
    found = re.search(pattern, read(path), re.S | re.M)
    if not found:
        sys.exit(f"{path}: {what} is not there, or not written as tests/deps/names.py reads it: {pattern}")
    return found[1]


def in_header(header, enum, prefix):
    """Constants as names: UMBEL_PLAN_BAD_RATE is bad-rate."""
    body = only(f"include/{header}", rf"typedef enum {enum} {{(.*?)}} {enum};", f"the enum {enum}")
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    return [name.lower().replace("_", "-") for name in re.findall(rf"\b{prefix}(\w+) =", body)]


def in_python(name):
    return re.findall(r'"([^"]+)"', only("bindings/python/lib/umbel/__init__.pyi",
                                         rf"^{name} = Literal\[(.*?)\]", f"the type {name}"))


def in_javascript(name):
    return re.findall(r"'([^']+)'", only("bindings/js/index.d.ts", rf"^export type {name} =(.*?);", f"the type {name}"))


def in_table(path, cell):
    return re.findall(cell, read(path), re.M)


def compare(what, wanted, found, wrong, ordered=True):
    if (found if ordered else sorted(found)) != (wanted if ordered else sorted(wanted)):
        wrong.append(f"{what}: {' '.join(found)}, but the library has: {' '.join(wanted)}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        library, wrong = ctypes.CDLL(sys.argv[1]), []
    except OSError as e:
        sys.exit(f"it cannot be loaded: {e}")
    kinds = listed(library, "umbel_kind_name")
    formats = listed(library, "umbel_format_name", 1)
    types = listed(library, "umbel_type_name")
    verdicts = listed(library, "umbel_verdict_name")
    errors = listed(library, "umbel_err_name")
    variant = library.umbel_variant_name
    variant.restype, variant.argtypes = ctypes.c_char_p, [ctypes.c_int, ctypes.c_uint32]
    variants = [name.decode() for bit in range(32) if (name := variant(0, 1 << bit))]
    same = "umbel.h", "umbel_foreign.h", "umbel_plan.h"
    for what, wanted, found in (
            ("umbel_kind", kinds, in_header(same[0], "umbel_kind", "UMBEL_KIND_")),
            ("umbel_format", ["any", *formats], in_header(same[0], "umbel_format", "UMBEL_FMT_")),
            ("umbel_type", types, in_header(same[1], "umbel_type", "UMBEL_TYPE_")),
            ("umbel_verdict", verdicts, in_header(same[2], "umbel_verdict", "UMBEL_PLAN_")),
            ("umbel_err", [name.lower() for name in errors],
             in_header(same[0], "umbel_err", "UMBEL_")),
            (".pyi, _Kind", kinds, in_python("_Kind")),
            (".pyi, _Format", formats, in_python("_Format")),
            (".pyi, _Type", types, in_python("_Type")),
            (".pyi, _Verdict", verdicts, in_python("_Verdict")),
            (".pyi, _Code", errors, in_python("_Code")),
            (".pyi, _Variant", variants, in_python("_Variant")),
            ("index.d.ts, Variant", variants, in_javascript("Variant")),
            ("index.d.ts, Kind", kinds[1:], in_javascript("Kind")),
            ("index.d.ts, Format", formats, in_javascript("Format")),
            ("index.d.ts, ValueType", types, in_javascript("ValueType")),
            ("index.d.ts, Verdict", verdicts, in_javascript("Verdict")),
            ("index.d.ts, ErrorCode", errors, in_javascript("ErrorCode"))):
        compare(what, wanted, found, wrong)
    compare("docs/kinds.md", kinds[1:],
            in_table("docs/kinds.md", r"^\| `(\w+)` \| [^|]*\| [^|]*\| [^|]*\| (?:add|only)"), wrong, False)
    compare("docs/formats/README.md", [*formats[1:], "redis"],
            in_table("docs/formats/README.md", r"^\| \[(\w+)\]"), wrong, False)
    compare("--variant", [*variants, "v2"], only(
        "cli/options/option_list.h", r'"variant", "NAME", "([\w ]+)"', "--variant").split(), wrong, False)
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{sum(map(len, (kinds, formats, types, verdicts, errors, variants)))} names, the same everywhere")


main()
