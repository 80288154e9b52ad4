#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py [PYTEST-ARGUMENT]... - builds the wheel and runs the tests on what is in it.

Everything is made below build/python.  Ends with one line, `N passed, M failed`.
"""
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
MADE = HERE.parents[1] / "build" / "python"
sys.dont_write_bytecode = True


def build_wheel():
    shutil.rmtree(MADE / "dist", ignore_errors=True)
    MADE.mkdir(parents=True, exist_ok=True)
    with open(MADE / "build.log", "w", encoding="utf-8") as log:
        failed = subprocess.call([sys.executable, "-m", "build", "--no-isolation", "--wheel",
                                  "--outdir", MADE / "dist", HERE], stdout=log, stderr=log)
    if failed:
        sys.exit("".join(open(MADE / "build.log", encoding="utf-8").readlines()[-40:]))
    return next((MADE / "dist").glob("*.whl"))


class Counter:
    passed = failed = 0

    def pytest_runtest_logreport(self, report):
        self.passed += report.when == "call" and report.passed
        self.failed += report.failed


def main():
    site = MADE / "site"
    shutil.rmtree(site, ignore_errors=True)
    zipfile.ZipFile(build_wheel()).extractall(site)
    sys.path.insert(0, str(site))
    os.environ["PYTHONPATH"] = str(site)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    counter = Counter()
    status = pytest.main(["-q", "-rs", "-p", "no:cacheprovider", str(HERE / "tests"), *sys.argv[1:]],
                         plugins=[counter])
    print(f"{counter.passed} passed, {counter.failed} failed")
    sys.exit(int(status))


main()
