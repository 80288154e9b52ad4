#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pack.py pack PACK FOLDER      - writes the inputs in FOLDER to the file PACK
pack.py unpack PACK FOLDER    - writes the inputs in PACK to files in FOLDER

A pack holds the corpus of one fuzz target, so that hundreds of small inputs are one file.  It starts
with the line "inputs COUNT"; each input follows as a line "NAME LENGTH", its bytes and a newline.
Names have no blanks and inputs are sorted by name, so the same inputs are always the same bytes.
replay.c reads packs as well.

Files named mended_* are left out of a pack: they are regression tests and stay single files.
"""
import sys
from pathlib import Path

MENDED = "mended_"
LONGEST_NAME = 100  # replay.c has room for this many characters


def pack(path, folder):
    inputs = sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith(MENDED))
    records = [b"inputs %d\n" % len(inputs)]
    for file in inputs:
        name = file.name.encode()
        if len(name) > LONGEST_NAME or len(name.split()) != 1 or name != name.strip():
            sys.exit(f"pack.py: {file}: a name has at most {LONGEST_NAME} characters and no blanks")
        data = file.read_bytes()
        records.append(b"%s %d\n%s\n" % (name, len(data), data))
    path.write_bytes(b"".join(records))
    return len(inputs)


def records_of(path):
    """Names and bytes; anything that differs from what pack() writes is an error."""
    with path.open("rb") as file:
        word, count = file.readline().split()
        if word != b"inputs":
            raise ValueError("does not start with the number of inputs")
        for _ in range(int(count)):
            name, length = file.readline().split()
            data = file.read(int(length))
            if len(data) != int(length) or file.read(1) != b"\n" or b"/" in name:
                raise ValueError(f"{name.decode()} is damaged")
            yield name.decode(), data
        if file.read(1):
            raise ValueError("goes on after its last input")


def unpack(path, folder):
    folder.mkdir(parents=True, exist_ok=True)
    try:
        records = list(records_of(path))
    except ValueError as error:
        sys.exit(f"pack.py: {path} is no pack: {error}")
    for name, data in records:
        (folder / name).write_bytes(data)
    return len(records)


def main():
    actions = {"pack": pack, "unpack": unpack}
    if len(sys.argv) != 4 or sys.argv[1] not in actions:
        sys.exit(__doc__)
    count = actions[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
    print(f"{sys.argv[2]}: {count} inputs")


main()
