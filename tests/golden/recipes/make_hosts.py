#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_hosts.py - writes hosts.tsv, the golden table of hosts; make.py has the format and the other tables.

Needs node (its URL is the WHATWG's standard); uses nothing of umbel.  The last column says where a key comes from:

  node+urllib   Node's URL and Python's urllib.parse agree
  node          Node's URL, where urllib (RFC 3986) sees no host or another one
  hand          umbel's own rule: Node refuses the text, translates the name, or the text is no URL

"key lookup" rows are what is asked about, "key" rows what is added, "record" rows lines of a list, and "host lookup"
rows hosts from DNS and mail.  A row whose text is refused, or has no host, says so in its state.
"""
import json
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

HERE = Path(__file__).resolve().parent
NODE = """
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(texts.map((t) => { try { return new URL(t).hostname } catch { return null } })));
"""
rows = []


def row(use, text, key, by, state=None):
    state = state or ("key" if key else "malformed")
    text = text.encode() if isinstance(text, str) else text
    key = key.encode() if isinstance(key, str) else key
    rows.append(("domain", use, "-", text.hex() or "empty", state, key.hex() if key else "-", by))


def of_urllib(text):
    try:
        return urlsplit(text).hostname or ""
    except ValueError:
        return None


# ---- URLs that Node reads ----

SCHEMES = ["http", "https", "ws", "wss", "ftp", "HTTP", "hTTpS"]
AUTHORITIES = ["evil.com", "EVIL.Com", "evil.com:80", "evil.com:8443", "evil.com:", "user@evil.com", "user:pass@evil.com",
               ":@evil.com", "@evil.com", "a@b@evil.com", "user:p%40ss@evil.com:8080", "good.net:80@evil.com",
               "good.net%2f@evil.com", "xn--bcher-kva.example", "a.b.c.d.evil.com", "a_b.evil.com", "a-.evil.com",
               "1.2.3.4", "1.2.3.4:99", "evil", "evil.com.", "evil.com.:80", "[::1]", "[::1]:80", "[2001:db8::a]",
               "u@[2001:db8::a]:443", "EVIL.com:0", "evil.com:65535"]
TAILS = ["/", "", "?", "#", "/a/b", "?q=1", "#top", "/?u=http://good.net/", "/login?next=https://www.paypal.com/",
         "?u=http://good.net/", "#http://good.net/", "/@good.net", "?@good.net", "#@good.net", "/a:80", "/http://good.net",
         "/;a", "//good.net", "/%2e%2e/good.net", "/a?b#c@good.net", "?x=//user@good.net:80/#y"]
ODD = [  # browsers' rules
    "http:evil.com", "http:/evil.com", "http:///evil.com", "http://///evil.com", "http:\\\\evil.com", "http:\\evil.com",
    "http:/\\evil.com/x", "https:evil.com:80", "https:user@evil.com", "http://evil.com\\x", "http://evil.com\\@good.net",
    "http://evil.com\\.good.net", "https://evil.com\\..\\x", "ftp:\\/evil.com", "ws:evil.com", "wss:///evil.com/x",
    " http://evil.com", "http://evil.com ", "\thttp://evil.com\n", "\x00http://evil.com\x1f", "\r\n http://evil.com/ \t",
    "ht\ttp://evil.com", "http:\n//evil.com", "http:/\r/evil.com", "http://ev\til.com", "http://evil\n.com/",
    "http://evil.com\t:80/", "http://us\ter@evil.com/", "h\nt\nt\np\n:evil.com",
    "http://%65vil.com/", "http://%65%76%69%6c.com", "http://evil%2ecom/", "http://EVIL%2EC%4fm:80/", "http://u@%65vil.com",
    "http://e%76il%2Ecom%2e/", "https://www%2eevil%2ecom", "ftp://%65vil.com", "ws://%65vil.com:1",
    "http://evil.com/%2f", "http://good.net%40evil.com@evil.org/", "file://evil.com/share", "file:\\\\evil.com\\x",
    "file://%65vil.com/x", "file:///etc/hosts", "file:/etc/hosts", "file:evil.com",
    "foo://evil.com", "foo://EVIL.com/x".lower(), "foo://user@evil.com:70000/x".replace("70000", "7000"), "git+ssh://evil.com/x",
    "foo://evil.com?x", "foo://evil.com#x", "a.b-c+d://evil.com/", "foo://[::1]:1/", "foo:///x", "redis://:pw@evil.com:6379/0",
    "https://evil.com:443@evil.org", "http://a:b:c@evil.com", "http://a/b@evil.com", "http://a?b@evil.com",
    "http://a#b@evil.com", "http://-evil.com", "http://evil.com/\u00e9", "http://user\u00e9@evil.com/",
]

# ---- What Node refuses, translates, or does not call a URL: umbel's rules ----

BY_HAND = [
    # Without a scheme: a host, with what may stand around it.
    ("evil.com", "evil.com"), ("evil.com/login?next=https://www.paypal.com/", "evil.com"),
    ("evil.com/?u=http://good.net/", "evil.com"), ("evil.com?u=http://good.net/", "evil.com"),
    ("evil.com#http://good.net/", "evil.com"), ("evil.com:8080/x", "evil.com"), ("evil.com:443", "evil.com"),
    ("evil.com:", "evil.com"), ("user@evil.com", "evil.com"), ("a@b@evil.com", "evil.com"), ("user@evil.com/x", "evil.com"),
    ("evil.com/user@good.net", "evil.com"), ("mailto:x@evil.com", "evil.com"), ("<x@evil.com>", "evil.com"),
    ("<http://evil.com/>", "evil.com"), ("user:pw@evil.com:80", "evil.com"), ("EVIL.COM.", "evil.com"),
    ("EVIL.COM.:80", "evil.com"), ("[2001:db8::a]:80", "2001:db8::a"), ("2001:db8::a", "2001:db8::a"), ("::1", "::1"),
    ("[::1]", "::1"), ("evil.com:80:80", "evil.com"), ("\x00evil.com \t", "evil.com"), ("%65vil.com/", "%65vil.com"),
    # Two slashes are a URL without its scheme.
    ("//evil.com", "evil.com"), ("//evil.com/x", "evil.com"), ("\\\\evil.com\\x", "evil.com"), ("/\\evil.com", "evil.com"),
    ("//user@evil.com:80?x", "evil.com"), ("//%65vil.com/", "evil.com"), ("///evil.com", "evil.com"),
    # No Punycode, as it stands.
    ("http://b\u00fccher.example/", "b\u00fccher.example"), ("http://B%C3%BCcher.example/", "b\u00fccher.example"),
    ("http://\u4f8b\u3048.jp", "\u4f8b\u3048.jp"), ("http://0x7f.1/", "0x7f.1"), ("http://2130706433/", "2130706433"),
    # Node refuses these; whoever asks may not.
    ("http://evil.com:99999/", "evil.com"), ("http://evil.com:80:80/", "evil.com"), ("http://a b.evil.com/", "evil.com"),
    ("http://%00a.evil.com/", "evil.com"), ("http://a^b.evil.com/", "a^b.evil.com"), ("http://a%2fb.evil.com/", "a/b.evil.com"),
    ("http://a%20b.evil.com", "evil.com"), ("http://%zz.evil.com/", "%zz.evil.com"), ("http://%.evil.com", "%.evil.com"),
    ("http://evil.com%", "evil.com%"), ("foo://a b.evil.com", "evil.com"), ("foo://%65vil.com", "%65vil.com"),
    # Names that are none: what is left of them from the right.
    ("a b.evil.com", "evil.com"), ("a\tb.evil.com", "evil.com"), ("a\x00b.evil.com", "evil.com"), (".evil.com", "evil.com"),
    ("evil.com..", "evil.com"), ("a..evil.com", "evil.com"), ("..a..evil.com..", "evil.com"), ("a.b c.d.evil.com", "d.evil.com"),
    ("a\\032b.evil.com", "a\\032b.evil.com"), ("\x7f.evil.com", "evil.com"), ("http://.evil.com/", "evil.com"),
    ("http://a..evil.com/", "evil.com"), ("http://evil.com../", "evil.com"),
    ("x" * 63 + ".evil.com", "x" * 63 + ".evil.com"), ("\x01" * 63 + ".evil.com", "evil.com"), ("x" * 244 + ".evil.com", "x" * 244 + ".evil.com"),
    ("x" * 245 + ".evil.com", "evil.com"), ("x" * 300 + ".evil.com", "evil.com"), ("\\001" * 63 + ".a.evil.com", "a.evil.com"),
    ("x." * 126 + "x", "x." * 126 + "x"), ("x." * 127 + "x", "x." * 126 + "x"),
    (" ", None), ("", None), (".", None), ("..", None), ("a b", None), ("evil.c m", None), ("http://", None), ("http:///", None),
    ("//", None), ("<>", None), ("http:// /", None), ("@", None), (":80", None), ("file:///", None), ("foo:///", None),
]
NOTHING = {" ", "", "http://", "http:///", "//", "<>", "@", ":80", "file:///", "foo:///", "http:// /", "file:///etc/hosts",
           "file:/etc/hosts", "file:evil.com", "foo:///x"}

HOSTS = [  # of DNS and mail: nothing but the last @ and a port is not the name's
    ("a/b.evil.com", "a/b.evil.com"), ("a?b.evil.com", "a?b.evil.com"), ("a#b.evil.com", "a#b.evil.com"),
    ("http://x/.evil.com", "http://x/.evil.com"), ("//x/.evil.com", "//x/.evil.com"), ("[x].evil.com", "[x].evil.com"),
    ("[x.evil.com", "[x.evil.com"), ("a:b.evil.com:80", "a:b.evil.com"), ("evil.com:80", "evil.com"), ("evil.com::", "evil.com"),
    ("x/y@evil.com", "evil.com"), ("x?y@evil.com", "evil.com"), ('"a b@c"@evil.com', "evil.com"), ("<x#y@evil.com>", "evil.com"),
    ("%65vil.com", "%65vil.com"), ("a b.evil.com", "evil.com"), ("\x00.evil.com.", "evil.com"), ("[::1]:80", "::1"),
    ("0/25.2.0.192.in-addr.arpa", "0/25.2.0.192.in-addr.arpa"), ("<>", None), ("", None), ("a b", None),
]

LINES = [  # of a list; None: not understood
    ("http://evil.com/x", "evil.com"), ("https://EVIL.com:8443/login?next=https://www.paypal.com/", "evil.com"),
    ("evil.com/login?next=https://www.paypal.com/", "evil.com"), ("evil.com/?u=http://good.net/", "evil.com"),
    ("evil.com?u=http://good.net/", "evil.com"), ("evil.com:8080/x", "evil.com"), ("evil.com:443", "evil.com"),
    ("evil.com:/", "evil.com"), ("http://evil.com:/", "evil.com"), ("http://%65vil.com/", "evil.com"), ("http://evil.com\\x", "evil.com"),
    ("http:\\\\evil.com", "evil.com"), ("https://user@evil.com/x", "evil.com"), ("http://evil.com#x", "evil.com"),
    ("http://evil.com?x", "evil.com"), ("http:evil.com", "evil.com"), ("ftp://evil.com # seen", "evil.com"), ("http://1.2.3.4/x", "1.2.3.4"),
    ("http://evil.com/?u=http://good.net/ ; seen", "evil.com"), ("foo://evil.com/x", "evil.com"),
    ("http://b\u00fccher.example/", "b\u00fccher.example"), ("http://B%C3%BCcher.example/", "b\u00fccher.example"),
    ("http://" + "%78" * 249 + ".evil.com".replace("evil.", ""), "x" * 249 + ".com"),
    # An address is a person's, a path of an ad blocker's rule is not a host's, two slashes may begin a comment.
    ("user@evil.com", None), ("user@evil.com/x", None), ("evil.com##.banner", None), ("evil.com#@#.banner", None), ("evil.com/ads/*", None),
    ("evil.com/x^", None), ("evil.com/x|", None), ("evil.com/x$third-party", None), ("banner/468x60", None), (".com/ads/", None),
    ("//evil.com/x", None), ("/banner/", None), ("evil.com:x", None), ("http://a b.evil.com/", None), ("http://a%20b.evil.com/", None),
    ("http://%00.evil.com", None), ("a\tb.evil.com", None), (".evil.com.", "evil.com"), ("evil.com..", None), ("..evil.com", None),
    ("http://evil.com..", None), ("http://[::1]/", None), ("mailto:x@evil.com", None), ("http://", None), ("file:///etc/hosts", None),
    ("http://" + "%78" * 251 + ".com", None), ("javascript:alert(1)", None),
    # Ad blockers' options: these do not narrow a rule down, others do.
    ("||evil.com^", "evil.com"), ("||evil.com^$all", "evil.com"), ("||evil.com^$important", "evil.com"), ("||evil.com^$ALL", "evil.com"),
    ("||evil.com^$third-party", None), ("||evil.com^$all,script", None), ("||evil.com^$allx", None), ("||evil.com", None),
    ("||evil.com/x^", None), ("||evil.com^*", None),
    ("0.0.0.0 evil.com#x", None), ("0.0.0.0 evil.com #x", "evil.com"), ("::1 evil.com", "evil.com"), ("0.0.0.0\tevil.com\t", "evil.com"),
    ("1.2.3.4", "1.2.3.4"), ("::1", None), ("fe80::1%lo0 evil.com", "evil.com"), ("0.0.0.0 evil.com good.net", None),
]
ASKED = [  # the same lines and others, as lookups: what is no entry is a text as it is typed
    ("0.0.0.0 evil.com", "evil.com"), ("||evil.com^", "evil.com"), ("||evil.com^$script", None), ("0.0.0.0 a.example evil.com", None),
    ("a b.evil.com", "evil.com"), ("a\tb.evil.com", "evil.com"), ("x\x00.evil.com", "evil.com"), ("user@evil.com", "evil.com"),
    ("//evil.com/x", "evil.com"), ("evil.com..", "evil.com"), ("..evil.com", "evil.com"), ("http://a b.evil.com/", "evil.com"),
    ("\x01" * 63 + ".evil.com", "evil.com"), ("x" * 300 + ".evil.com", "evil.com"), ("http://ev\til.com/", "evil.com"),
    ("address=/evil.com/good.net/0.0.0.0", None), ("a b", None), ("@@||evil.com^$x", None),
]


def urls():
    texts = [f"{s}://evil.com{t}" for s in SCHEMES for t in TAILS[:3]]
    texts += [f"http://{a}{t}" for a in AUTHORITIES for t in ("", "/x")]
    texts += [f"{s}://evil.com{t}" for s in ("http", "https") for t in TAILS] + ODD
    texts = list(dict.fromkeys(texts))
    answers = json.loads(subprocess.run(["node", "-e", NODE], input=json.dumps(texts), capture_output=True, text=True,
                                        check=True).stdout)
    for text, node in zip(texts, answers):
        assert node is not None, f"Node refuses {text!r}: a row by hand"
        by = "node+urllib" if node.strip("[]") == of_urllib(text) else "node"
        key = node.strip("[]").removesuffix(".")  # umbel's keys have neither
        row("key lookup", text, key or None, by, None if key else "nothing")


urls()
for asked, name in BY_HAND:
    row("key lookup", asked, name, "hand", None if name else "nothing" if asked in NOTHING else "malformed")
for added, name in (("a b.evil.com", None), ("evil.com..", None), (".evil.com", None), ("x" * 300 + ".evil.com", None),
                    ("a\x00b.evil.com", None), ("http://%65vil.com:/", "evil.com"), ("user@evil.com", "evil.com")):
    row("key", added, name, "hand")
for asked, name in HOSTS:
    row("host lookup", asked, name, "hand", None if name else "nothing" if asked in ("", "<>") else "malformed")
for line, name in LINES:
    row("record", line, name, "hand")
for line, name in ASKED:
    row("record lookup", line, name, "hand")
table = "recipe\tuse\theader\trecord\tstate\tkey\tby\n" + "".join("\t".join(r) + "\n" for r in rows)
(HERE / "hosts.tsv").write_text(table, encoding="utf-8")
count = {by: sum(r[-1] == by for r in rows) for by in ("node+urllib", "node", "hand")}
print(f"hosts.tsv: {len(rows)}, {count}")
