# SPDX-License-Identifier: MIT
"""pg_regress: tests/sql/regress/sql/NAME.sql against expected/NAME.out."""
import shutil
import subprocess

import pytest

from cluster import pg_config
from conftest import ROOT

FILES = ROOT / "tests" / "sql" / "regress"


@pytest.mark.parametrize("name", sorted(p.stem for p in (FILES / "sql").glob("*.sql")))
def test_regress(cluster, name):
    out = cluster.folder / f"regress-{name}"
    out.mkdir()
    cluster.user.give(out)
    # The server's user may not be able to read where we are.
    files = cluster.folder / f"regress-{name}-input"
    shutil.copytree(FILES, files)
    done = subprocess.run(
        cluster.user.command([
            str(pg_config("pgxs").parent.parent / "test" / "regress" / "pg_regress"),
            f"--inputdir={files}", f"--outputdir={out}", f"--bindir={pg_config('bindir')}",
            f"--host={cluster.socket}", "--user=postgres", f"--dbname=regress_{name}", name]),
        env=cluster.environment, cwd=out, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)
    diffs = out / "regression.diffs"
    assert done.returncode == 0, diffs.read_text() if diffs.exists() else done.stdout
