#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""documents.py [--update] [FILE...] - runs the commands in README and docs, and compares what they
print.

A block marked `console` has commands after "$ ", each followed by what it prints; a block marked
`sh` is a script that must succeed.  The blocks of one document run in its own empty folder, one
after the other, as a reader would paste them; `build`, `tests` and `contrib` there
are those of the clone, `redis-cli` and
`redis-server` use a separate port, which stands where the document says 6379.  In what is
expected, a line "..." stands for any lines.  A comment `<!-- not run: reason -->` before a block
leaves it out.  With --update, what commands print now is written into the documents, also for a lone "...".

tests/module/test_docs.py reads and runs the pages about servers by the same functions.
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("UMBEL") or ROOT / "build" / "umbel").resolve().parent
DOCUMENTS = ["README.md", "README.zh-CN.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.S | re.M)
NOT_RUN = re.compile(r"<!-- not run: [^>]+ -->\s*$")
END = "-- end of output, status "


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def found(program):
    return shutil.which(program) or "false"


class Reader:
    """A shell in an empty folder: what one reader of one document has.

    `ports` says which stand for those in the document; `cli` is what redis-cli runs.
    """

    def __init__(self, folder, ports=None, cli=None):
        self.ports = ports or {"6379": free_port()}
        port = self.ports["6379"]
        for name, target in (("build", BUILD), ("tests", ROOT / "tests"), ("contrib", ROOT / "contrib")):
            (folder / name).symlink_to(target)
        tools = folder / ".tools"
        tools.mkdir()
        cli = cli or f"{found('redis-cli')} --no-raw"
        for name, line in (("redis-cli", f'{cli} -p {port} "$@"'),
                           ("redis-server", f"{found('redis-server')} \"$@\" --port {port} --save '' >/dev/null")):
            (tools / name).write_text(f"#!/bin/sh\nexec {line}\n")
            (tools / name).chmod(0o755)
        self.shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace", start_new_session=True,
            env={**os.environ, "PATH": f"{tools}:{BUILD}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
                 "COLUMNS": "80", "HOME": str(folder)})

    def run(self, command):
        """What it prints, and its exit status."""
        # A server in the background needs a moment before it answers.
        wait = "; sleep 1" if command.rstrip().endswith("&") else ""
        for said, port in self.ports.items():
            command = command.replace(said, str(port))
        self.shell.stdin.write(f"{{ {command}\n}} </dev/null; status=$?{wait}\necho; echo '{END}'$status\n")
        self.shell.stdin.flush()
        lines = []
        for line in self.shell.stdout:
            if line.startswith(END):
                text = "".join(lines)[:-1]  # echo has ended the last line if the command had not
                for said, port in self.ports.items():
                    text = text.replace(str(port), said)
                return text, int(line[len(END):])
            lines.append(line)
        raise RuntimeError(f"the shell ended: {command}")

    def close(self):
        os.killpg(self.shell.pid, signal.SIGKILL)
        self.shell.wait()


def blocks_of(text, languages=None):
    """(match, language, body without its indentation) of the blocks that are to be run."""
    for block in BLOCK.finditer(text):
        indent, language, body = block.groups()
        if (languages is None or language in languages) and not NOT_RUN.search(text[:block.start()]):
            yield block, language, re.sub(f"^{indent}", "", body, flags=re.M)


def commands_of(block):
    """[(command, expected lines)] of a console block."""
    found = []
    for line in block.split("\n")[:-1]:
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif found and not found[-1][1] and found[-1][0].endswith("\\"):
            found[-1][0] += "\n" + line
        else:
            found[-1][1].append(line)
    return found


def matches(expected, printed):
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in expected)
    return re.fullmatch(pattern, printed if printed.endswith("\n") or not printed else printed + "\n")


def check(name, update):
    text = (ROOT / name).read_text(encoding="utf-8")
    count, faults, pieces, last = 0, [], [], 0
    with tempfile.TemporaryDirectory(prefix="umbel-doc-") as folder:
        reader = Reader(Path(folder))
        try:
            for block, language, body in blocks_of(text, ("console", "sh")):
                if language == "sh":
                    printed, status = reader.run(f"( set -e\n{body})")
                    count += 1
                    if status:
                        faults.append(f"exit status {status} of\n{body}{printed}")
                    continue
                new = ""
                for command, expected in commands_of(body):
                    printed, _ = reader.run(command)
                    count += 1
                    if not matches(expected, printed) or update and expected == ["..."]:
                        faults.append(f"$ {command}\nexpected:\n" + "\n".join(expected) + f"\nprinted:\n{printed}")
                        expected = printed.rstrip("\n").split("\n") if printed else []
                    new += "\n".join([f"$ {command}", *expected]) + "\n"
                new = re.sub(r"^(?=.)", block[1], new, flags=re.M)
                pieces += [text[last:block.start(3)], new]
                last = block.end(3)
        finally:
            reader.close()
    if update and faults:
        (ROOT / name).write_text("".join(pieces) + text[last:], encoding="utf-8")
    return count, faults


def main():
    update = "--update" in sys.argv
    names = [word for word in sys.argv[1:] if word != "--update"] or [n for n in DOCUMENTS if (ROOT / n).exists()]
    bad, number = False, 0
    for name in names:
        count, faults = check(name, update)
        if not count:
            continue
        number += 1
        print(f"{'not ok' if faults else 'ok'} {number} - {name}: {count} commands", flush=True)
        for fault in faults:
            print("\n".join("# " + line for line in fault.split("\n")))
        bad = bad or bool(faults)
    print(f"1..{number}")
    return 1 if bad and not update else 0


if __name__ == "__main__":
    sys.exit(main())
