# SPDX-License-Identifier: MIT
"""Values are files: the command and an independent reader open them, and files become values."""
import subprocess
import sys

import psycopg2
import pytest

from conftest import ROOT


def lines(count, text="line {}"):
    return "".join(text.format(i) + "\n" for i in range(1, count + 1)).encode()


def test_the_command_reads_a_value(db, umbel, tmp_path):
    db("CREATE TABLE v AS SELECT 'line ' || i AS l FROM generate_series(1, 20000) i")
    file = tmp_path / "value.umb"
    file.write_bytes(bytes(db.one("SELECT umbel_agg(l, 20000, 0.01)::bytea FROM v")))
    assert umbel("check", "-c", file, stdin=lines(20000)).strip() == b"20000"
    assert umbel("verify", file) is not None
    # Bit for bit what the command builds.
    other = tmp_path / "command.umb"
    umbel("build", "-q", "-n", 20000, "-p", "1%", "-o", other, stdin=lines(20000))
    assert b"equal" in umbel("cmp", file, other)
    # And for a reader that shares no code with the library.
    found = subprocess.run([sys.executable, ROOT / "scripts" / "umbel-read", file], input=lines(500),
                           capture_output=True, check=False)
    assert found.stdout == lines(500), found.stderr


def test_integers_are_the_commands_int64(db, umbel, tmp_path):
    """Numbers of every width, as values here and as text there: the filter's recipe says what they are."""
    numbers = [0, 1, -1, 7, 32767, -32768, 2**31, -2**31, 2**63 - 1, -2**63, *range(1000, 3000, 7)]
    text = "".join(f"{n}\n" for n in numbers).encode()
    absent = "".join(f"{n}\n" for n in range(10**6, 10**6 + 3000)).encode()
    db("CREATE TABLE n AS SELECT unnest(%s::bigint[]) AS i", numbers)
    made = {"agg": "umbel_agg(i, 1000, 0.001)", "static": "umbel_build_agg(i, 0.001)",
            "text": "umbel_agg(i::text, 1000, 0.001, umbel_with(recipe => 'line type=int64'))"}
    for name, call in made.items():
        file = tmp_path / f"{name}.umb"
        file.write_bytes(bytes(db.one(f"SELECT {call}::bytea FROM n")))
        assert b"line type=int64" in umbel("info", file)
        assert umbel("check", "-c", file, stdin=text).strip() == str(len(numbers)).encode()
        assert int(umbel("check", "-c", file, stdin=absent)) < 20
    umbel("build", "-q", "-n", 1000, "-p", "0.1%", "--type", "int64", "-o", tmp_path / "command.umb", stdin=text)
    assert b"equal" in umbel("cmp", tmp_path / "agg.umb", tmp_path / "command.umb")
    db("CREATE TABLE f AS SELECT %s::umbel AS v", psycopg2.Binary((tmp_path / "command.umb").read_bytes()))
    assert db.one("SELECT bool_and(i <@ v AND i::text <@ v) FROM n, f")
    assert db.one("SELECT 7::smallint <@ v AND 7::int <@ v AND '7' <@ v FROM f")


@pytest.mark.parametrize("kind", ["blocked", "classic", "static", "counting", "scalable", "window",
                                  "tight", "line"])
def test_files_of_the_command_become_values(db, umbel, tmp_path, kind):
    file = tmp_path / f"{kind}.umb"
    umbel("build", "-q", "-n", 3000, "-p", "0.1%", "--kind", kind, "-o", file, stdin=lines(3000))
    db("CREATE TABLE f AS SELECT %s::umbel AS v", psycopg2.Binary(file.read_bytes()))
    assert db.one("SELECT count(*) FROM f, generate_series(1, 3000) i WHERE 'line ' || i <@ v") == 3000
    assert db.one("SELECT count(*) FROM f, generate_series(1, 3000) i WHERE 'no ' || i <@ v") < 30
    assert db.one("SELECT (umbel_info(v)).kind FROM f") == kind
    assert bytes(db.one("SELECT v::bytea FROM f")) == file.read_bytes()


def test_a_mapped_file(cluster, db, umbel):
    file = cluster.folder / "mapped.umb"
    umbel("build", "-q", "-n", 100000, "-p", "1%", "-o", file, stdin=lines(100000))
    file.chmod(0o644)
    ask = "SELECT count(*) FROM generate_series(1, 100000) i WHERE 'line ' || i <@ umbel_file(%s)"
    assert db.one(ask, str(file)) == 100000
    # Copied into a value, and through a subquery.
    db("CREATE TABLE f AS SELECT umbel_file(%s) AS v", str(file))
    assert bytes(db.one("SELECT v::bytea FROM f")) == file.read_bytes()
    assert db.one("SELECT umbel_file(%s) = v FROM f", str(file))
    assert db.one("SELECT 'line 7' <@ (SELECT umbel_file(%s))", str(file))
    # Replaced, as the command replaces files: the next query sees it.
    umbel("build", "-q", "-f", "-n", 10, "-p", "1%", "-o", file, stdin=b"new\n")
    file.chmod(0o644)
    assert db.one("SELECT 'new' <@ umbel_file(%s)", str(file))
    assert not db.one("SELECT 'line 7' <@ umbel_file(%s)", str(file))


def test_a_file_beyond_a_value(cluster, db, umbel):
    file = cluster.folder / "large.umb"
    umbel("build", "-q", "-n", 1000, "--bytes", "1100M", "--kind", "blocked", "-o", file, stdin=lines(1000))
    file.chmod(0o644)
    try:
        assert db.one("SELECT count(*) FROM generate_series(1, 2000) i "
                      "WHERE 'line ' || i <@ umbel_file(%s)", str(file)) == 1000
        assert db.one("SELECT (umbel_info(umbel_file(%s))).bytes", str(file)) > 2**30
        with pytest.raises(psycopg2.Error) as refused:
            db("SELECT umbel_file(%s)::bytea", str(file))
        assert refused.value.pgcode == "54000"
    finally:
        file.unlink()


def test_secrets_stay_on_the_server(cluster, db, connect, umbel, tmp_path):
    (cluster.secrets / "shop").write_bytes(bytes(range(128, 144)))
    (cluster.secrets / "other").write_text("00112233445566778899aabbccddeeff\n")
    for name in ("shop", "other"):
        (cluster.secrets / name).chmod(0o600)
        cluster.user.give(cluster.secrets / name)
    db("""CREATE TABLE s AS SELECT
              umbel_agg('k' || i, 1000, 0.001, umbel_with(secret => 'shop')) AS shop,
              umbel_agg('k' || i, 1000, 0.001, umbel_with(secret => 'other')) AS other,
              umbel_agg('k' || i, 1000, 0.001) AS plain FROM generate_series(1, 1000) i""")
    assert db("SELECT count(*) FILTER (WHERE 'k' || i <@ shop), count(*) FILTER (WHERE 'k' || i <@ other)"
              " FROM s, generate_series(1, 1000) i") == [(1000, 1000)]
    assert db.one("SELECT count(DISTINCT (umbel_info(f)).secret_fingerprint) FROM s,"
                  " LATERAL (VALUES (shop), (other)) x(f)") == 2
    for pair in ("shop, other", "shop, plain"):
        with pytest.raises(psycopg2.Error) as refused:
            db(f"SELECT umbel_union({pair}) FROM s")
        assert refused.value.pgcode == "22023"
    # The command needs the same secret.
    file, secret = tmp_path / "shop.umb", tmp_path / "secret"
    file.write_bytes(bytes(db.one("SELECT shop::bytea FROM s")))
    secret.write_bytes(bytes(range(128, 144)))
    secret.chmod(0o600)
    assert umbel("check", "-c", "--secret-file", secret, file, stdin=b"k1\nk2\n").strip() == b"2"
    # Gone: a session that has not decoded it cannot ask, one in parallel workers neither.
    (cluster.secrets / "shop").unlink()
    with pytest.raises(psycopg2.Error) as refused:
        connect()("SELECT 'k1' <@ shop FROM s")
    assert refused.value.pgcode == "55000" and "secret_directory" in refused.value.diag.message_hint
    # Open to others: refused.
    cluster.secrets.chmod(0o755)
    with pytest.raises(psycopg2.Error) as refused:
        connect()("SELECT 'k1' <@ other FROM s")
    cluster.secrets.chmod(0o700)
    assert refused.value.pgcode == "55000"
