# SPDX-License-Identifier: MIT
"""What the module can be told when it is loaded and by CONFIG SET."""


def test_it_is_loaded_under_redisblooms_name(server):
    modules = [dict(zip(m[::2], m[1::2])) for m in server("MODULE", "LIST")]
    assert [m[b"name"] for m in modules] == [b"bf"]
