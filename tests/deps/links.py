#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Links within the documents lead somewhere: the file exists and has the heading.  Every page of docs/ can be
reached from docs/README.md."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
LEFT_OUT = {"build", "dist", "node_modules", "target"}
HEADING = re.compile(r"^#+ +(.*)$", re.M)


def anchors(page):
    """The names that GitHub gives to the headings, and those that a page gives itself."""
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in HEADING.findall(text))
    names = {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in plain}
    return names | set(re.findall(r'<a id="([^"]+)"', text))


def links(page):
    """(where it leads, its #name) of every link that stays in the repository."""
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", page.read_text(encoding="utf-8"))):
        if not re.match(r"\w+:", target):
            name, _, anchor = target.partition("#")
            yield target, (page.parent / name).resolve() if name else page, anchor


def main():
    pages = [page for page in ROOT.rglob("*.md") if not LEFT_OUT & set(page.relative_to(ROOT).parts[:-1])]
    wrong, reached, count = [], {}, 0
    for page in pages:
        reached[page] = set()
        for target, to, anchor in links(page):
            count += 1
            reached[page].add(to)
            if not to.exists():
                wrong.append(f"{page.relative_to(ROOT)}: {target} is not there")
            elif anchor and to.suffix == ".md" and anchor not in anchors(to):
                wrong.append(f"{page.relative_to(ROOT)}: {target}: no such heading")
    seen, ahead = set(), [ROOT / "docs/README.md"]
    while ahead:
        page = ahead.pop()
        if page not in seen:
            seen.add(page)
            ahead += [to for to in reached.get(page, ()) if to.suffix == ".md"]
    wrong += [f"{page.relative_to(ROOT)} cannot be reached from docs/README.md"
              for page in pages if page.is_relative_to(ROOT / "docs") and page not in seen]
    print("".join(f"{line}\n" for line in wrong) + f"{count} links in {len(pages)} documents")
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
