#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# inputs.bats - files that are given as lines and may be something else: tests/golden/inputs
load helper

# Each file of the table, by name and through a pipe, to each command that reads lines.
@test "inputs: every file of the golden table is read, or refused by its name" {
    UMBEL=$UMBEL python3 - "$root" <<'P'
import os, pathlib, subprocess, sys
golden = pathlib.Path(sys.argv[1]) / "tests/golden/inputs"
umbel = os.environ["UMBEL"]
open("few", "w").write("ada\n")
made = subprocess.run([umbel, "build", "-qq", "-n", "100", "-o", "few.umb", "few"])
assert made.returncode == 0
UNPACKED = {"gzip", "zstd"}
TEXTS = {"returns": "in a carriage return", "marks": "begins with a byte-order mark", "nuls": "the first lines have NULs"}
rows = [line.split("\t") for line in (golden / "inputs.tsv").read_text().splitlines()]
assert len(rows) > 30
for row in rows[1:]:
    row = dict(zip(rows[0], row))
    path = golden / (row["file"] + ".list")
    name = row["inside"] if row["is"] in UNPACKED else row["is"]
    for command in (["count"], ["build", "-n", "9", "-f", "-o", "out.umb"], ["add", "few.umb"], ["uniq"], ["check", "-c", "few.umb"]):
        for piped in (False, True):
            args = [umbel, *command] + ([] if piped else [path])
            done = subprocess.run(args, input=path.read_bytes() if piped else None, capture_output=True)
            said = done.stderr.decode()
            about = (row["file"], command, piped, done.returncode, said)
            if name != "lines":
                assert done.returncode == 2 and name in said and "is " in said, about
                continue
            assert done.returncode in (0, 1), about
            for column, text in TEXTS.items():
                assert (text in said) == (row[column] != "0"), about
            if row["returns"] != "0":
                assert f"warning: {row['returns']} lines end in a carriage return" in said, about
            if command == ["count"]:
                assert f"count: {row['lines']} line" in said, about
P
}
