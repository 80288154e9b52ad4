# SPDX-License-Identifier: MIT
"""Runs the conformance kit (docs/formats/vectors.md) with programs that follow its protocol."""
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def index_of(kit):
    """Path, what is expected, why."""
    for line in (Path(kit) / "index.tsv").read_text().splitlines()[1:]:
        name, expect, reason = line.split("\t")
        yield Path(kit) / name, expect, reason


def keys_of(path):
    """Hexadecimal keys and whether they may be in the filter."""
    rows = [line.split("\t") for line in path.with_suffix(".keys").read_text().splitlines()]
    return [key for _, key in rows], [sort != "out" for sort, _ in rows]


def wrong_about(program, path, expect):
    """What the program does with a file that it should not, or nothing."""
    keys, wanted = keys_of(path) if expect != "refuse" else (["", "00", "616263"], [])
    said = subprocess.run([*program, str(path)], input="".join(key + "\n" for key in keys), capture_output=True,
                          text=True, errors="replace", check=False)
    if said.returncode == 2:
        if not said.stderr.strip() or said.stdout:
            return "refused without a reason, or after answers"
        return f"refused: {said.stderr.strip()}" if expect == "answer" else None
    if said.returncode != 0:
        return f"exit status {said.returncode}: {said.stderr.strip()[-300:]}"
    if expect == "refuse":
        return "not refused"
    answers = [{"yes": True, "no": False}.get(line) for line in said.stdout.splitlines()]
    if len(answers) != len(wanted):
        return f"{len(answers)} answers to {len(wanted)} keys"
    wrong = [key for key, want, got in zip(keys, wanted, answers) if want is not got]
    return f"wrong about {len(wrong)} keys, first {wrong[0] or 'the empty one'}" if wrong else None


def run(kit, program, skip=lambda path: False):
    """Names of the files, each with what is wrong about it; as many programs at a time as there are processors."""
    files = [(path, expect) for path, expect, _ in index_of(kit) if not skip(path)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = pool.map(lambda file: wrong_about(program, *file), files)
        yield from zip((path.stem for path, _ in files), wrong)
