#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# labels: asan
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
UNPACKED = {"gzip", "zstd", "bzip2", "xz", "lz4"}
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

@test "inputs: of many files one is broken: it is said, and the others are read" {
    printf 'id,email\n1,a\n2,b\n' > one.csv
    printf 'id,mail\n3,c\n' > other.csv
    (echo id,email; for i in $(seq 60000); do echo "$i,u$i@example.org"; done) > large.csv
    head -c 3000 /dev/urandom | gzip > cut.gz && truncate -s 100 cut.gz
    umbel build -q -n 9 -o f.umb -e x
    umbel build -q -o k.umb --csv -k email one.csv
    for j in 1 3; do
        run --separate-stderr umbel check -v --csv -k email -j $j f.umb large.csv other.csv none.csv one.csv cut.gz k.umb one.csv
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 60005 ]
        [ "${lines[60004]}" = 2,b ]
        [[ $stderr == *"umbel: other.csv: has no column 'email' in its first line (names are compared exactly)"*"none.csv: No such file"*"cut.gz: the gzip data is truncated"*"k.umb: is a filter, but lines are expected"* ]]
        run --separate-stderr umbel uniq -q --csv -k email -j $j large.csv other.csv one.csv
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 60003 ]
    done
    [ "$(umbel count -q --csv -k email one.csv other.csv one.csv 2> /dev/null)" = 2 ]
    refused "other.csv: has no column 'email'" umbel build -o x.umb --csv -k email one.csv other.csv
}

@test "inputs: files with other columns are not mixed under one header without a word" {
    printf 'id,email\n1,a\n' > one.csv
    printf 'email,id\r\nb,2\r\n' > other.csv
    printf 'id,email\r\n3,c\r\n' > dos.csv
    umbel build -q -n 9 -o f.umb -e x
    for command in "uniq" "uniq -c" "check -v f.umb" "check --mark f.umb"; do
        set -- $command
        run --separate-stderr umbel "$@" --csv --crlf -k email one.csv dos.csv other.csv
        [ "$status" -eq 3 ]
        [[ $stderr == *"other.csv: warning: has other columns than the header that was printed"* ]]
        run --separate-stderr umbel "$@" --csv --crlf -k email one.csv dos.csv
        [ "$status" -ne 3 ]
        [[ $stderr != *warning* ]]
    done
    run --separate-stderr umbel check -c -v f.umb --csv -k email one.csv other.csv # nothing is mixed
    [[ $status -eq 0 && $output = 2 && $stderr != *"other columns"* ]]
}
