#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""ask_umbel.py FILE - the command as a program of the kit (docs/formats/vectors.md); UMBEL names it."""
import os
import subprocess
import sys


def refusal(command, path):
    """Why the command does not answer, or nothing."""
    for question in (["verify", path], ["check", path, "-e", ""]):
        said = subprocess.run([command, *question], capture_output=True, stdin=subprocess.DEVNULL, check=False)
        if said.returncode == 2:
            return said.stderr.decode().removeprefix(f"umbel: {path}: ").splitlines()[0]
    return None


def ask(command, path, texts):
    """A yes or no for each text. One with a NUL byte cannot be an argument, but its digits can."""
    return {**asked(command, path, [(text, text) for text in texts if b"\0" not in text]),
            **asked(command, path, [(text, b"\\x" + text.hex().encode()) for text in texts if b"\0" in text],
                    "--type", "bytea")}


def asked(command, path, texts, *options):
    if not texts:
        return {}
    words = [word for _, argument in texts for word in (b"-e", argument)]
    said = subprocess.run([command, "check", "-0", "--mark", *options, path, "-e", "", *words], capture_output=True,
                          stdin=subprocess.DEVNULL, check=False)
    marks = [record.split(b"\t")[0] for record in said.stdout.split(b"\0")[1:-1]]
    if said.returncode == 2 or len(marks) != len(texts) or not set(marks) <= {b"yes", b"no"}:
        raise ValueError(f"umbel check: {said.stderr.decode()}")
    return {text: mark == b"yes" for (text, _), mark in zip(texts, marks)}


def main(path):
    command = os.environ.get("UMBEL", "umbel")
    reason = refusal(command, path)
    if reason:
        print(reason, file=sys.stderr)
        return 2
    texts = [bytes.fromhex(line) for line in sys.stdin]
    answers = ask(command, path, texts)
    for text in texts:
        print("yes" if answers[text] else "no")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
