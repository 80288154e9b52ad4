#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make.py - writes the golden table of recipes: what other programs take for the key of a record.

Needs cut, awk, jq, miller (Debian: miller) and openssl; uses nothing of umbel.  A row is

  recipe  use  header  record  state  key  by

use is record, key or digest; header, record and key are hexadecimal, "-" for none; state is key,
nothing or malformed; `by` is the program that said so, or "hand" where the rule is umbel's own.
"""
import csv
import io
import json
import re
import struct
import subprocess
import hashlib
import ipaddress
import uuid
from datetime import date, datetime, timezone
from decimal import Decimal, getcontext
from pathlib import Path

HERE = Path(__file__).resolve().parent
WHITE = b" \t\n\v\f\r"
ENV = {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
rows = []


def run(*args, stdin):
    return subprocess.run(args, input=stdin, capture_output=True, check=True, env=ENV).stdout


def row(recipe, record, key, by, state=None, use="record", header=None):
    state = state or ("nothing" if key is None else "key")
    shown = [b.hex() or "empty" if b is not None else "-" for b in (header, record, key)]
    rows.append((recipe, use, shown[0], shown[1], state, shown[2], by))


def write(name):
    text = "recipe\tuse\theader\trecord\tstate\tkey\tby\n" + "".join("\t".join(r) + "\n" for r in rows)
    (HERE / name).write_text(text, encoding="utf-8")
    print(f"{name}: {len(rows)}")
    rows.clear()


def numbers(text, fields):
    """The fields that a list names among so many, from 1; None: it names one that is missing."""
    found = []
    for part in text.split(","):
        match = re.fullmatch(r"(-?\d+)(-?)(\d*)", part)
        first = int(match[1])
        first = fields + 1 + first if first < 0 else first
        last = int(match[3]) if match[3] else fields if match[2] else first
        if first < 1 or first > fields or last > fields:
            return None
        found += range(first, last + 1)
    return found


# ---- Fields ----

def delimited():
    lines = [b"a,b,c", b"a,,c", b",", b"", b"one", b" a , B ,c ", b"x,y,z,u,v", b"a,b\r", b'"a,b",c',
             b"\xff\xfe,\x80,\xc3\xa9", b"a;b,c\td", b"nul\0nul,b\0,c"]
    for text in ("1", "2", "3", "5", "1,3", "2-3", "2-", "1-", "1,2", "1,4"):
        for line in lines:
            fields = int(run("awk", "-F,", "{print NF}", stdin=line.replace(b"\0", b"N") + b"\n"))
            fields = max(fields, 1)  # the empty line is one empty field to cut
            wanted = numbers(text, fields)
            if wanted is None:
                row(f"field={text} delimiter=comma", line, None, "awk")
                continue
            cut = run("cut", "-d,", f"-f{text}", stdin=line + b"\n")
            row(f"field={text} delimiter=comma", line, cut[:-1], "cut")
    for text, code in (("-1", "$NF"), ("-2", "$(NF-1)"), ("3,1", '$3","$1'), ("-1,1", '$NF","$1'),
                       ("2,2", '$2","$2')):
        for line in lines[:2] + lines[6:7]:
            out = run("awk", "-F,", f"{{print {code}}}", stdin=line + b"\n")
            row(f"field={text} delimiter=comma", line, out[:-1], "awk")
    for delimiter, name in ((b"\t", "tab"), (b" ", "space"), (b";", ";"), (b":", ":"), (b"|", "|"), (b"\xa7", "0xa7"),
                            (b"=", "="), (b'"', "0x22"), (b"\\", "\\")):
        line = delimiter.join((b"one", b"Two two", b"three" + delimiter))
        for text in ("2", "1,3", "2-"):
            out = run("cut", b"-d" + delimiter, f"-f{text}", stdin=line + b"\n")
            row(f"field={text} delimiter={name}", line, out[:-1], "cut")


def spaced():
    lines = [b"a b c", b"  a\t b  c ", b"", b" ", b"one", b"x y z u v w q r", b"\ta\t", b"\xff \x80 \xc3\xa9"]
    for text, code in (("1", "$1"), ("2", "$2"), ("3", "$3"), ("7", "$7"), ("-1", "$NF"), ("-2", "$(NF-1)"),
                       ("1,3", "$1,$3"), ("1-3", "$1,$2,$3"), ("3,1", "$3,$1"), ("1,7", "$1,$7"),
                       ("-1,1", "$NF,$1")):
        for line in lines:
            fields = int(run("awk", "{print NF}", stdin=line + b"\n"))
            if numbers(text, fields) is None:
                row(f"field={text}", line, None, "awk")
            else:
                row(f"field={text}", line, run("awk", f"{{print {code}}}", stdin=line + b"\n")[:-1], "awk")
    for line in lines + [b"a\vb\fc\rd", b"a b\r", b"\r"]:
        fields = line.split()  # as isspace in the C locale
        row("field=2-", line, b" ".join(fields[1:]) if len(fields) > 1 else None, "python")
        row("field=1 missing=empty", line, fields[0] if fields else b"", "python")
        row("field=2,3 missing=empty", line, b" ".join((fields + [b"", b"", b""])[1:3]), "python")


def normalised():
    lines = [b"", b" ", b"Ada", b"  Ada LOVELACE\t", b"\r", b"a\r", b"a\r\r", b"\xc3\x84\xe9Z\xffaz@[`{", b"\0A\0 "]
    for line in lines:
        row("line", line, line, "python")
        row("line trim", line, line.strip(WHITE), "python")
        row("line lower", line, line.lower(), "python")
        row("line upper", line, line.upper(), "python")
        row("line trim lower", line, line.strip(WHITE).lower(), "python")
        row("line crlf", line, line[:-1] if line.endswith(b"\r") else line, "python")
        row("line crlf", line, line, "python", use="key")
        row("field=2 delimiter=tab trim upper", line, line.strip(WHITE).upper(), "python", use="key")
    row("field=1,2 delimiter=comma trim lower", b" A ,\tB ,c", b"a,b", "hand")
    row("field=2 delimiter=comma trim", b"x,  ,y", b"", "hand")
    row("field=2 delimiter=comma crlf", b"x,y\r", b"y", "hand")
    row("field=2 delimiter=comma crlf", b"x\r,y", b"y", "hand")
    row("field=2-4 delimiter=comma missing=empty", b"a,b", b"b,,", "hand")
    row("field=-3 missing=empty", b"a b", b"", "hand")


# ---- CSV ----

def csv_records():
    return [b"a,b,c", b'"a","b","c"', b'"a,x",b,"c ""q"""', b'a,"b\nc",d', b",,", b'"",x,""', b'a,"b', b'a"b,c,d',
            b'"a"b,c,d', b'"a\nb"c,d,e', b"", b'a,b,c\r', b'a,b,"c"\r', b' "a",b,c', b'x,"""",y', b'x,"a\rb",y',
            b"\xff,\xc3\xa9,z", b"one", b'"o,n,e"', b'a,"b""', b'"a\nb",c,d']


def parse_csv(record, delimiter=","):
    """Python's fields, None if a quote does not close; records without a separator."""
    if record.endswith(b"\r"):
        record = record[:-1]
    text = record.decode("latin-1")
    try:
        found = list(csv.reader(io.StringIO(text, newline=""), strict=False, delimiter=delimiter))
        list(csv.reader(io.StringIO(text + "\n", newline=""), strict=True, delimiter=delimiter))
    except csv.Error as error:
        if "unexpected end" in str(error):
            return None
    return [field.encode("latin-1") for field in found[0]] if found else [b""]


def write_csv(fields, delimiter=","):
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n", delimiter=delimiter).writerow([f.decode("latin-1") for f in fields])
    return out.getvalue()[:-2].encode("latin-1")


def csv_table():
    for record in csv_records():
        fields = parse_csv(record)
        broken = record == b'"a\nb"c,d,e'  # Python takes it; the quote may as well be a stray one
        for text in ("1", "2", "3", "-1", "1,3", "2,1", "2-", "4"):
            recipe = f"csv field={text}"
            if fields is None or broken:
                row(recipe, record, None, "hand" if broken else "python", state="malformed")
                continue
            wanted = numbers(text, len(fields))
            if wanted is None:
                row(recipe, record, None, "python")
            elif re.fullmatch(r"-?\d", text):
                row(recipe, record, fields[wanted[0] - 1], "python")
            else:
                row(recipe, record, write_csv([fields[n - 1] for n in wanted]), "python")
    for record in (b'a;"b;c";d', b"a,b;c;d", b'"x""y";z'):
        fields = parse_csv(record, ";")
        row("csv field=2 delimiter=;", record, fields[1], "python")
        row("csv field=2,1 delimiter=;", record, write_csv([fields[1], fields[0]], ";"), "python")
    row("csv field=3 missing=empty", b"a,b", b"", "hand")
    row("csv field=1,3 missing=empty lower", b"A,b", b"a,", "hand")


def columns():
    header = b'id,"e-mail address",Name,id'
    records = [b"1,ada@example.org,Ada,2", b'2,"a,b@example.org","Lovelace, Ada",3', b'3,"x ""y""",,4', b"4,,Z,5"]
    for record in records:
        for names in (["id"], ["e-mail address"], ["Name"], ["Name", "e-mail address"], ["e-mail address", "id"]):
            once = header.replace(b",id", b",other")  # miller would take the last of two equal names
            text = run("mlr", "--icsv", "--ojson", "cut", "-o", "-f", ",".join(names), stdin=once + b"\n" + record + b"\n")
            member = json.loads(text, parse_int=str, parse_float=str)[0]
            values = [member[name].encode() for name in names]
            recipe = "csv column=" + ",".join(f'"{n}"' if re.search(r'[ ,"=]', n) else n for n in names)
            row(recipe, record, values[0] if len(names) == 1 else write_csv(values), "miller", header=header)
    row("csv column=Name", b"1,2", None, "hand", header=header)
    row("csv column=Name missing=empty", b"1,2", b"", "hand", header=header)
    row("csv column=Name", b'1,"2,3', None, "hand", state="malformed", header=header)
    row("csv column=id", b"7,8", b"7", "hand", header=b"\xef\xbb\xbfid,x\r")
    row('csv column="a ""b" lower'.replace('""', '\\"'), b"X,Y", b"y", "hand", header=b'x,"a ""b"')
    row("column=user delimiter=tab", b"1\tada\t3", b"ada", "hand", header=b"id\tuser\tx")
    row("column=user", b"1  ada 3", b"ada", "hand", header=b"id  user x")
    row("column=user,id delimiter=;", b"1;ada;3", b"ada;1", "hand", header=b"id;user;x")


# ---- JSON ----

JSON = [
    '{"a":"x","b":2}', '{"b":{"a":1},"a":"y"}', ' { "a" : "spaced" , "b" : [ 1 , 2 ] } ', '{"a":""}', '{"a":null}', '{}',
    '{"a":"caf\\u00e9 \\ud83d\\ude00"}', '{"a":"tab\\tquote\\"slash\\/back\\\\"}', '{"a":"é😀"}', '{"a":true}', '{"a":false,"b":[]}',
    '{"a":0}', '{"a":-12}', '{"a":12345678901234567}', '{"x":[[[{"a":1}]]],"a":"deep"}', '{"\\u0061":"escaped name"}',
    '{"a":"with, comma"}', '{"a":"with \\"quote\\""}', '{"a":"line\\nbreak"}', '{"a":"nul\\u0000"}',
    '{"x":"}","y":"]","z":"\\"","a":"brackets"}', '{"A":1,"aa":2,"":3,"a":"exact"}',
]
NOT_JSON = [
    "{", '{"a"', '{"a":}', '{"a":1', '{"a":1,}', "{a:1}", '{"a":01}', '{"a":1.}', '{"a":.5}', '{"a":+1}', '{"a":1e}', '{"a":tru}',
    '{"a":NaN}', '{"a":Infinity}', '{"a":1} x', '{"a":1}{}', '{"a":"x}', '{"a":"\\x"}', '{"a":"\\u12"}', "{\"a\":'x'}", "]", "x",
    '{"a":1,"b":[1 2]}', '{"a":1,"b":[1,]}', '{"a":"\t"}', '{"a" 1}', '{"a":1 "b":2}', '{,"a":1}', '{"a":-}', '{"a":0x1}', "//",
]


def refuse_constant(name):
    raise ValueError(name)


def loads(text):
    return json.loads(text, parse_int=str, parse_float=str, parse_constant=refuse_constant)


def json_table():
    for text in JSON:
        value = loads(text)
        found = value.get("a")
        if isinstance(found, bool):
            found = "true" if found else "false"
        want = run("jq", "-j", ".a | if . == null then error else . end", stdin=text.encode()) if found is not None and \
            "12345678901234567" not in text and "\\u0000" not in text else found and found.encode()
        assert found is None or want == found.encode(), text  # jq and Python agree
        row("json=.a", text.encode(), want, "jq" if found is not None else "python")
        if found is not None:
            row("json=.a lower trim", text.encode(), want.strip(WHITE).lower(), "jq")
            row("json=.a sha1", text.encode(), hashlib.sha1(want).hexdigest().upper().encode(), "jq")
        else:
            row("json=.a missing=empty", text.encode(), b"", "python")
    for text in NOT_JSON:
        try:
            loads(text)
            raise SystemExit(f"make.py: {text} is JSON")
        except ValueError:
            row("json=.a", text.encode(), None, "python", state="malformed")
    for raw in (b'{"a":"\xff"}', b'{"a":1,"\x80":2}', b'{"a":"\xed\xa0\x80"}', b'{"a":"\xc0\xaf"}', b'{"a":"\xf5\x80\x80\x80"}'):
        try:
            raw.decode()
            raise SystemExit("make.py: not UTF-8")
        except UnicodeDecodeError:
            row("json=.a", raw, None, "python", state="malformed")
    paths = [
        ('{"user":{"email":"a@b","id":7},"l":[{"n":"x"},{"n":"y"}],"odd name":"o","m":[[1,2],[3,4]]}',
         [".user.email", ".user.id", ".l[0].n", ".l[1].n", '."odd name"', ".m[1][0]", ".user.none", ".l[2].n", ".none.x"]),
        ('[10,[20,30],{"k":"v"}]', [".[0]", ".[1][1]", ".[2].k", ".[3]"]),
        ('"whole"', ["."]), ("17", ["."]), ("null", ["."]), ('{"é":"accent","a.b":"dot"}', ['."é"', '."a.b"']),
    ]
    for text, asked in paths:
        for path in asked:
            out = run("jq", "-r", path, stdin=text.encode())[:-1]
            row(f"json={path}", text.encode(), None if out == b"null" else out, "jq")
    text = '{"a":"x, y","b":{"c":2},"d":"q\\"","e":""}'
    for asked in ([".a", ".b.c"], [".b.c", ".d"], [".e", ".e"], [".d", ".a", ".e"]):
        out = run("jq", "-c", "[" + ",".join(asked) + "]", stdin=text.encode())
        values = [v.encode() for v in json.loads(out, parse_int=str)]
        row("json=" + ",".join(asked), text.encode(), write_csv(values), "jq, python")
    row("json=.a,.none", text.encode(), None, "jq")
    row("json=.a,.none missing=empty", text.encode(), b'"x, y",', "hand")
    for text, key in (('{"a":1.50}', b"1.50"), ('{"a":1E+2}', b"1E+2"), ('{"a":-0.0}', b"-0.0"), ('{"a":1,"a":2}', b"1"),
                      ('{"a":{"x":1},"a":2}', "malformed"), ('{"a":[1]}', "malformed"), ('{"a":"\\ud800"}', "malformed"),
                      ('{"a":"\\udc00\\ud800"}', "malformed"), ("", None), ("   ", None), ("[1]", None), ("7", None)):
        malformed = key == "malformed"
        row("json=.a", text.encode(), None if malformed else key, "hand", state="malformed" if malformed else None)
    row("json=.a", b"\xef\xbb\xbf" + b'{"a":1}', b"1", "hand")
    row("json=.a", b'{"a":1}\r', b"1", "hand")
    deep = "[" * 255 + "]" * 255
    row("json=.a", f'{{"a":1,"b":{deep}}}'.encode(), b"1", "hand")
    row("json=.a", f'{{"a":1,"b":[{deep}]}}'.encode(), None, "hand", state="malformed")


# ---- Meanings ----

def md4(data):
    out = run("openssl", "dgst", "-md4", "-provider", "legacy", "-provider", "default", "-r", stdin=data)
    return out.split()[0].upper()


def sql_values():
    """Values of SQL as Python's library reads them; tests/sql compares many more in PostgreSQL."""
    def rows_of(name, valid, wrong):
        for text, key in valid:
            row(f"line type={name}", text.encode(), key, "python")
        for text in wrong:
            row(f"line type={name}", text.encode(), None, "python", state="malformed")

    def days(d):
        return struct.pack("<i", d.toordinal() - date(1970, 1, 1).toordinal())

    dates = ("1970-01-01", "2026-11-19", "1969-12-31", "2000-02-29", "1600-02-29", "0001-01-01", "9999-12-31")
    rows_of("date", [(text, days(date.fromisoformat(text))) for text in dates],
            ["", "2026-02-29", "1900-02-29", "2026-13-01", "2026-00-01", "2026-01-00", "2026-1-1", "0000-01-01", "26-01-01",
             "2026-01-01 00:00", "01/02/2026", "today", "2026-01-01 ", " 2026-01-01", "20260101", "2026-01-01 bc"])
    # Python has none before year 1 and after 9999: days of Julian numbers 1721425, 1721119, 0 and -1, and of the
    # last one in PostgreSQL, 2147483493.
    for text, day in (("0001-12-31 BC", 1721425), ("0001-02-29 BC", 1721119), ("4714-11-24 BC", 0),
                      ("5874897-12-31", 2147483493)):
        row("line type=date", text.encode(), struct.pack("<i", day - 2440588), "hand")
    row("line type=date", b"infinity", struct.pack("<i", 2**31 - 1), "hand")
    row("line type=date", b"-infinity", struct.pack("<i", -2**31), "hand")

    def micros(text):
        moment = datetime.fromisoformat(text)
        since = (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)) - datetime(1970, 1, 1, tzinfo=timezone.utc)
        return struct.pack("<q", (since.days * 86400 + since.seconds) * 10**6 + since.microseconds)

    clocks = ("1970-01-01 00:00:00", "2026-11-19 12:30:05.25", "2026-11-19T12:30:05.000001", "1969-12-31 23:59:59.999999",
              "2026-11-19 12:30", "0001-01-01 00:00:00", "9999-12-31 23:59:59")
    wrong = ("", "2026-11-19 24:00:00", "2026-11-19 12:60", "2026-11-19 12:30:60", "2026-11-19 12", "2026-11-19  12:30",
             "2026-11-19 12:30:05.", "2026-11-19 12:30:05.1234567", "2026-02-30 00:00:00", "now", "294248-01-01 00:00:00")
    rows_of("timestamp", [(text, micros(text)) for text in (*clocks, "2026-11-19")],
            [*wrong, "2026-11-19 12:30:05Z", "2026-11-19 12:30:05+00"])
    zones = ("Z", "+00", "+02", "-0330", "+05:30", " +0100", "+00:53:28", "-15:59")
    spelled = {"Z": "+00:00", "+00": "+00:00", "+02": "+02:00", "-0330": "-03:30", " +0100": "+01:00"}
    rows_of("timestamptz",
            [(text + zone, micros(text + spelled.get(zone, zone))) for text in clocks[:5] for zone in zones],
            [*[text + "+00" for text in wrong], *clocks, "2026-11-19", "2026-11-19+00", "2026-11-19 12:30:05 UTC",
             "2026-11-19 12:30:05+16", "2026-11-19 12:30:05+0", "2026-11-19 12:30:05+012", "2026-11-19 12:30:05+00:60"])
    for name in ("timestamp", "timestamptz"):
        row(f"line type={name}", b"infinity", struct.pack("<q", 2**63 - 1), "hand")
        row(f"line type={name}", b"-infinity", struct.pack("<q", -2**63), "hand")

    addresses = ("192.0.2.1", "0.0.0.0", "255.255.255.255", "::", "::1", "2001:db8::1", "2001:DB8:0:0:0:0:0:1",
                 "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "::ffff:192.0.2.1", "1:2:3:4:5:6:192.0.2.1", "fe80::")
    networks = ("10.0.0.0/8", "192.0.2.1/24", "0.0.0.0/0", "2001:db8::/32", "::/0", "192.0.2.1/32", "::1/128")
    packed = [(text, ipaddress.ip_address(text).packed) for text in addresses]
    for text in networks:
        interface = ipaddress.ip_interface(text)
        length = interface.network.prefixlen
        packed.append((text, interface.ip.packed + (bytes([length]) if length < interface.max_prefixlen else b"")))
    wrong = ("", "192.0.2", "192.0.2.1.", "192.0.2.256", "192.0.2.01", "192.0.2.1/33", "192.0.2.1/", "192.0.2.1:80", "a.b.c.d", ":",
             ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "1:2:3:4:5:6:7:8::", "::1.2.3.4.5", "12345::", "::g",
             "1:", ":1", "::1/129", "192.0.2.1 ", "1:2:3:4:5:6:7:192.0.2.1", "::192.0.2")
    for text in wrong:
        try:
            ipaddress.ip_interface(text)
        except ValueError:
            continue
        raise AssertionError(text)
    # The zone of an address is the host's own, and "/024" is not what anybody prints.
    rows_of("inet", packed, [*wrong, "fe80::1%eth0", "192.0.2.1/024"])

    getcontext().prec = 1000
    numbers = ("0", "-0", "0.00", "1", "1.5", "1.50", "+1.5", "15e-1", "0.015E+2", "-100", "1e2", ".5", "5.", "00100.00100",
               "123456789012345678901234567890.123456789", "9" * 300, "1e-300", "NaN", "Infinity", "-Infinity")
    canonical = []
    for text in numbers:
        number = Decimal(text)
        sign, digits, power = number.normalize().as_tuple()
        key = text if not number.is_finite() else "0e0" if not number else "-" * sign + "".join(map(str, digits)) + f"e{power}"
        canonical.append((text, key.encode()))
    rows_of("numeric", canonical, ["", "-", ".", "e5", "1e", "1e+", "1.2.3", "1,5", " 1", "1 ", "x", "1_000", "0x10", "1e1000000"])


def meanings():
    words = ["", "password", "Passw0rd!", "häßlich", "日本語", "😀", "x" * 55, "x" * 56, "x" * 64, "x" * 200]
    for word in words:
        data = word.encode()
        sha1 = run("openssl", "dgst", "-sha1", "-r", stdin=data).split()[0].upper()
        assert sha1.decode() == hashlib.sha1(data).hexdigest().upper()
        ntlm = md4(word.encode("utf-16-le"))
        for use in ("record", "key"):
            row("line sha1", data, sha1, "openssl", use=use)
            row("line ntlm", data, ntlm, "openssl", use=use)
        row("field=2 delimiter=: sha1", b"user:" + data, sha1, "openssl")
        row("field=1 delimiter=: sha1", sha1.lower() + b":42", sha1, "openssl", use="digest")
        row("line ntlm", ntlm.lower(), ntlm, "openssl", use="digest")
    row("line ntlm", b"\xff", None, "hand", state="malformed")
    for wrong in (b"", b"5BAA6", b"G" * 40, b"0" * 41):
        row("line sha1", wrong, None, "hand", state="malformed", use="digest")
    for name, form, low, high in (("int8", "<b", -2**7, 2**7 - 1), ("int16", "<h", -2**15, 2**15 - 1),
                                  ("int32", "<i", -2**31, 2**31 - 1), ("int64", "<q", -2**63, 2**63 - 1),
                                  ("uint8", "<B", 0, 2**8 - 1), ("uint16", "<H", 0, 2**16 - 1),
                                  ("uint32", "<I", 0, 2**32 - 1), ("uint64", "<Q", 0, 2**64 - 1),
                                  ("uint32be", ">I", 0, 2**32 - 1)):
        for value in (low, high, 42):
            row(f"line type={name}", str(value).encode(), struct.pack(form, value), "python")
        for wrong in (str(high + 1), str(low - 1), "", "x", "1.5", " 1"):
            row(f"line type={name}", wrong.encode(), None, "python", state="malformed")
    for value in ("1.5", "-0.25", "1e10"):
        row("line type=float", value.encode(), struct.pack("<f", float(value)), "python")
        row("line type=double", value.encode(), struct.pack("<d", float(value)), "python")
    row("line type=utf16", "é😀".encode(), "é😀".encode("utf-16-le"), "python")
    for text in ("c4ca4238-a0b9-2382-0dcc-509a6f75849b", "C4CA4238A0B923820DCC509A6F75849B",
                 "{c4ca4238-a0b9-2382-0dcc-509a6f75849b}"):
        row("line type=uuid", text.encode(), uuid.UUID(text).bytes, "python")
    for text in ("", "c4ca4238", "c4ca4238-a0b9-2382-0dcc-509a6f75849b0", "g4ca4238-a0b9-2382-0dcc-509a6f75849b"):
        row("line type=uuid", text.encode(), None, "python", state="malformed")
    # Checked in PostgreSQL 15: SELECT TEXT::bytea (tests/sql compares many more there).
    for text, key in ((b"\\x6b6579", b"key"), (b"\\x6B 65\t79", b"key"), (b"key", b"key"), (b"k\\145y", b"key"),
                      (b"\\\\x", b"\\x"), (b"\\x", b""), (b"", b""), (b"\\x6", None), (b"\\x6 b", None),
                      (b"\\", None), (b"\\400", None), (b"\\18", None)):
        row("line type=bytea", text, key, "postgresql", state="malformed" if key is None else None)
    sql_values()
    row("field=2 type=int64", b"a 42", struct.pack("<q", 42), "python", use="record")
    row("field=2 type=int64", b"42", struct.pack("<q", 42), "python", use="key")
    row("field=2 type=int64", b"a", None, "hand")
    for name, key in ((b"example.com", b"example.com"), (b"  WWW.Example.COM.\r", b"www.example.com"), (b"com", b"com"),
                      (b"", None), (b" ", None), (b"\xc3\xa9.example", b"\xc3\xa9.example")):
        row("domain", name, key, "hand")
        row("line domain", name, key, "hand", use="key")
    for wrong in (b".", b"a..b", b"a b", b"a" * 254, b"a..", b"||a.b^$script", b"a/b", b"0.0.0.0 a.b c.d"):
        row("domain", wrong, None, "hand", state="malformed")
    row("domain", b"a" * 253, b"a" * 253, "hand")
    for line, key in ((b".a", b"a"), (b"*.a.B", b"a.b"), (b"0.0.0.0 Ads.example", b"ads.example"),
                      (b"||ads.example^", b"ads.example"), (b"ads.example CNAME .", b"ads.example"),
                      (b"address=/ads.example/0.0.0.0", b"ads.example"), (b"# ads.example", None),
                      (b"https://ads.example:8/x", b"ads.example"), (b"@@||ads.example^", None)):
        row("domain", line, key, "hand")
    for text, key in ((b"https://u@Ads.example:8/x", b"ads.example"), (b"ads.example:443", b"ads.example")):
        row("domain", text, key, "hand", use="key")
    row("field=2 delimiter=tab domain", b"0.0.0.0\tAds.Example.", b"ads.example", "hand")


delimited()
spaced()
normalised()
write("fields.tsv")
csv_table()
columns()
write("csv.tsv")
json_table()
write("json.tsv")
meanings()
write("meanings.tsv")
