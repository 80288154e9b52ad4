# SPDX-License-Identifier: MIT
"""What mypy has to refuse: one mistake per line that ends in `# wrong`."""
import umbel

f = umbel.Filter(1000)
f.add(42)  # wrong
42 in f  # wrong
f.add("a", type="int128")  # wrong
umbel.Filter(1000, kind="round")  # wrong
umbel.Filter.foreign("xml")  # wrong
umbel.Filter("1000")  # wrong
f | {"a"}  # wrong
f.contains_many(b"abc")  # wrong
f.contains_many([1, 2])  # wrong
umbel.build([1])  # wrong
f.has_text(7)  # wrong
f.has_texts(b"abc")  # wrong
f.info.size  # wrong
f.info.bits = 3  # wrong
