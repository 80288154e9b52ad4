#!/bin/sh
# SPDX-License-Identifier: MIT
# The workflows are YAML of the shape that the forge takes, and what they make the Makefile has; what .ci/run
# makes, they make as well, and CONTRIBUTING.md names it.
set -eu
cd "$(dirname "$0")/../.."
/usr/bin/python3 -c 'import yaml' 2>/dev/null ||
    { echo "skipped: python3-yaml is not installed (scripts/setup test)"; exit 77; }
/usr/bin/python3 - <<'P'
import pathlib
import re
import yaml

rules = re.findall(r"^([a-z -]+):(?!=)", pathlib.Path("Makefile").read_text(), re.M)
targets = set(" ".join(rules).split())
ours = set(re.findall(r"^(?:exec )?make ([a-z-]+)", pathlib.Path(".ci/run").read_text(), re.M))
explained = set(re.findall(r"`make ([a-z-]+)", pathlib.Path("CONTRIBUTING.md").read_text()))
assert len(ours) > 5 and ours <= explained, f"CONTRIBUTING.md does not say what .ci/run makes: {ours - explained}"
made_by_all = set()
for path in sorted(pathlib.Path(".github/workflows").glob("*.yml")):
    flow = yaml.safe_load(path.read_text())
    assert flow["name"] and flow["jobs"], path
    assert True in flow, f"{path}: no `on`"  # YAML 1.1 takes it for a boolean
    made = set()
    for name, job in flow["jobs"].items():
        assert set(job) <= {"name", "runs-on", "container", "timeout-minutes", "strategy", "env", "steps"}, job
        assert "runs-on" in job and job["timeout-minutes"] <= 360, name
        matrix = job.get("strategy", {}).get("matrix", {})
        for value in re.findall(r"\$\{\{ matrix\.([\w.]+) \}\}", path.read_text()):
            first, *rest = value.split(".")
            owners = [j for j in flow["jobs"].values() if first in j.get("strategy", {}).get("matrix", {})]
            assert owners, f"{path}: no matrix has {value}"
            assert all(rest[0] in entry for j in owners for entry in j["strategy"]["matrix"][first]
                       ) if rest else True, value
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step), step
            assert re.search(r"@[0-9a-f]{40}$", step.get("uses", "@" + 40 * "0")), f"by tag, not by commit: {step}"
            for goal in re.findall(r"^make (.*)", step.get("run", ""), re.M):
                words = [word for word in goal.split() if "=" not in word]
                wanted = matrix["target"] if goal == "${{ matrix.target }}" else words
                made |= set(wanted)
    assert made and made <= targets, f"{path}: the Makefile has no {made - targets}"
    made_by_all |= made
    print(f"{path}: {len(flow['jobs'])} jobs make {' '.join(sorted(made))}")
assert ours <= made_by_all, f"no workflow makes what .ci/run makes: {ours - made_by_all}"
P
