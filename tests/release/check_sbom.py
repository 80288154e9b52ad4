#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""check_sbom.py LIST.spdx.json FOLDER - the list of parts is SPDX 2.3, complete, and about the files in FOLDER

spdx-2.3.schema.json says what is demanded of each element, written from the specification. What a schema cannot say
is checked here: every element is named once and related to another, and sums are those of the files.
"""
import hashlib
import json
import sys
from pathlib import Path

import jsonschema

SCHEMA = json.loads((Path(__file__).resolve().parent / "spdx-2.3.schema.json").read_text())
APART = ("SHA256SUMS", "SHA256SUMS.minisig")  # made from the list and the rest


def names_and_relations(document):
    ids = [document["SPDXID"], *(package["SPDXID"] for package in document["packages"])]
    assert len(ids) == len(set(ids)), "an identifier twice"
    ends = set()
    for relation in document["relationships"]:
        assert {relation["spdxElementId"], relation["relatedSpdxElement"]} <= set(ids), relation
        ends |= {relation["spdxElementId"], relation["relatedSpdxElement"]}
    assert set(ids) == ends, f"related to nothing: {set(ids) - ends}"


def sums(document, folder, itself):
    listed = {package["packageFileName"]: package["checksums"][0] for package in document["packages"]
              if "packageFileName" in package}
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert set(listed) == files - {*APART, itself}, set(listed) ^ files
    for name, checksum in listed.items():
        assert checksum["algorithm"] == "SHA256", name
        assert checksum["checksumValue"] == hashlib.sha256((folder / name).read_bytes()).hexdigest(), name
    return len(listed)


def linked(document, pattern):
    """Names of the packages whose code is in the file."""
    names = {package["SPDXID"]: package["name"] for package in document["packages"]}
    return {names[r["relatedSpdxElement"]] for r in document["relationships"]
            if r["relationshipType"] == "STATIC_LINK" and names[r["spdxElementId"]].endswith(pattern)}


def main(path, folder):
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    jsonschema.Draft7Validator(SCHEMA).validate(document)
    # The schema can refuse.
    wrong = {**document, "spdxVersion": "SPDX-9.9"}
    assert not jsonschema.Draft7Validator(SCHEMA).is_valid(wrong)
    names_and_relations(document)
    count = sums(document, Path(folder), Path(path).name)
    for machine in "x86_64", "aarch64":
        parts = linked(document, f"-linux-{machine}.tar.gz")
        assert {"zlib1g-dev", "libzstd-dev", "liblzma-dev", "libxxhash-dev"} <= parts, (machine, parts)
    assert "wasi-libc" in linked(document, ".tgz")
    print(f"{count} files, {len(document['packages']) - count} packages inside them")


main(*sys.argv[1:])
