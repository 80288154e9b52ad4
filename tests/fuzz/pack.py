#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pack.py pack PACK FOLDER      - writes the inputs in FOLDER to the file PACK
pack.py add PACK FILE...      - adds these inputs to PACK
pack.py unpack PACK FOLDER    - writes the inputs in PACK to files in FOLDER

A pack holds the corpus of one fuzz target, so that hundreds of small inputs are one file.  It starts
with the line "inputs COUNT"; each input follows as a line "NAME LENGTH", its bytes and a newline.
Names have no blanks and inputs are sorted by name, so the same inputs are always the same bytes.
replay.c reads packs as well.
"""
import sys
from pathlib import Path

LONGEST_NAME = 100  # replay.c has room for this many characters


def write(path, inputs):
    """inputs: {name: bytes}"""
    records = [b"inputs %d\n" % len(inputs)]
    for name, data in sorted(inputs.items()):
        if len(name) > LONGEST_NAME or len(name.split()) != 1 or name != name.strip():
            sys.exit(f"pack.py: {name}: a name has at most {LONGEST_NAME} characters and no blanks")
        records.append(b"%s %d\n%s\n" % (name.encode(), len(data), data))
    path.write_bytes(b"".join(records))
    return len(inputs)


def pack(path, folder):
    return write(path, {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()})


def add(path, *files):
    return write(path, dict(read(path)) | {file.name: file.read_bytes() for file in files})


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
            raise ValueError("continues after its last input")


def read(path):
    try:
        return list(records_of(path))
    except ValueError as error:
        sys.exit(f"pack.py: {path} is not a pack: {error}")


def unpack(path, folder):
    folder.mkdir(parents=True, exist_ok=True)
    records = read(path)
    for name, data in records:
        (folder / name).write_bytes(data)
    return len(records)


def main():
    actions = {"pack": pack, "add": add, "unpack": unpack}
    if len(sys.argv) < 4 or sys.argv[1] not in actions or (len(sys.argv) > 4 and sys.argv[1] != "add"):
        sys.exit(__doc__)
    count = actions[sys.argv[1]](*map(Path, sys.argv[2:]))
    print(f"{sys.argv[2]}: {count} inputs")


main()
