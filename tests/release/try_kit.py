#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""try_kit.py KIT.tar.zst - the command that UMBEL names passes the conformance kit."""
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
READERS = Path(__file__).resolve().parent.parent / "readers"
sys.path.insert(0, str(READERS))
import kit  # noqa: E402


def main(archive):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "--zstd", "-xf", archive, "-C", folder], check=True)
        [unpacked] = Path(folder).iterdir()
        said = list(kit.run(unpacked, [sys.executable, str(READERS / "ask_umbel.py")]))
    wrong = [f"{name}: {what}" for name, what in said if what]
    if wrong or len(said) < 100:
        sys.exit(f"{len(said)} files, wrong: {wrong[:5]}")
    print(f"{len(said)} files as they should be")


main(sys.argv[1])
