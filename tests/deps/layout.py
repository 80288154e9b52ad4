#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""layout.py [--write] - has anything moved that programs compiled against the headers rely on?

Every struct and enum of include/*.h goes into a table: sizes, offsets and numbers, as the compiler
sees them where pointers have 64 bits.  The table is compared with the kept one, layout.txt, which is
written again (--write) only together with a new soname, or when something came that nobody had.  The
rules of umbel.h are checked as well: structs end in reserved words unless they are named as final,
and every number of an enum is written down.
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = Path(__file__).with_name("layout.txt")
HEADERS = sorted((ROOT / "include").glob("*.h"))
STRUCT = re.compile(r"(?:typedef )?struct (\w+) \{(.*?)\n\}", re.S)
ENUM = re.compile(r"typedef enum (\w+) \{(.*?)\}", re.S)
INNER = re.compile(r"struct \{(.*?)\} (\w+);", re.S)
MEMBER = re.compile(r"(\w+)(?:\[[^]]*\])?(?=[,;])|\(\*(\w+)\)\(")


def members(body):
    """Names as offsetof takes them, in order."""
    inner = [(m.start(), m[2], members(m[1])) for m in INNER.finditer(body)]
    plain = INNER.sub(lambda m: " " * len(m[0]), body)
    found = [(place, f"{name}.{part}") for place, name, parts in inner for part in parts]
    for statement in re.finditer(r"[^;]+;", plain):
        pointer = re.search(r"\(\*(\w+)\)\(", statement[0])
        names = [pointer[1]] if pointer else [m[1] for m in MEMBER.finditer(statement[0])]
        found += [(statement.start(), name) for name in names]
    return [name for _, name in sorted(found, key=lambda pair: pair[0])]


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def read():
    """Structs with their members, enums with their numbers, and what breaks a rule."""
    structs, enums, wrong = {}, {}, []
    final = set(re.findall(r"\bumbel_\w+", re.search(
        r"Final structs: ([^.]*)\.", (ROOT / "include/umbel.h").read_text(encoding="utf-8"))[1]))
    for header in HEADERS:
        text = without_comments(header.read_text(encoding="utf-8"))
        for name, body in STRUCT.findall(text):
            structs[name] = members(body)
            ends = re.search(r"uint64_t reserved\[\d+\];\s*$", body)
            if name in final and ends:
                wrong.append(f"{header.name}: {name} is final and has reserved words")
            if name not in final and not ends:
                wrong.append(f"{header.name}: {name} does not end in reserved words")
        for name, body in ENUM.findall(text):
            enums[name] = []
            for item in filter(None, map(str.strip, body.split(","))):
                constant = re.fullmatch(r"(\w+) = [-\w <]+", item)
                if not constant:
                    wrong.append(f"{header.name}: {item} has no explicit number")
                enums[name].append(item.split()[0])
    wrong += [f"umbel.h: {name}, named as final, is not a struct" for name in final - structs.keys()]
    return structs, enums, wrong


def program(structs, enums):
    lines = ["#include <stdio.h>", "typedef struct leveldb_filterpolicy_t leveldb_filterpolicy_t;"]
    lines += [f'#include "{header.name}"' for header in HEADERS if header.name != "umbel_leveldb.h"]
    lines += ["int main(void) {"]
    for name, parts in sorted(structs.items()):
        lines.append(f'printf("struct {name} %zu\\n", sizeof(struct {name}));')
        lines += [f'printf("    %zu %zu {part}\\n", offsetof(struct {name}, {part}), '
                  f"sizeof(((struct {name} *)0)->{part}));" for part in parts]
    for name, constants in sorted(enums.items()):
        lines.append(f'printf("enum {name} %zu\\n", sizeof({name}));')
        lines += [f'printf("    %ld {constant}\\n", (long){constant});' for constant in constants]
    return "\n".join([*lines, "return 0;", "}", ""])


def table(structs, enums):
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "layout.c"), Path(folder, "layout")
        source.write_text(program(structs, enums), encoding="utf-8")
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", f"-I{ROOT / 'include'}",
                        str(source), "-o", str(binary)], check=True)
        return subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout


def main():
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(__doc__)
    structs, enums, wrong = read()
    if len(structs) < 10 or len(enums) < 8:
        sys.exit(f"only {len(structs)} structs and {len(enums)} enums were found in the headers")
    now = table(structs, enums)
    if sys.argv[1:]:
        KEPT.write_text(now, encoding="utf-8")
    else:
        kept = KEPT.read_text(encoding="utf-8")
        moved = [line for line in difflib.unified_diff(
            kept.splitlines(), now.splitlines(), "kept", "now", lineterm="", n=0)]
        wrong += moved + ["If something only came: tests/deps/layout.py --write"] * bool(moved)
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(structs)} structs and {len(enums)} enums, all in place")


main()
