# SPDX-License-Identifier: MIT
# usability.bats - what people try first, as they know it from grep and sort
load helper

@test "check: -e looks up keys from the command line, with grep's exit status" {
    seq 1000 > keys
    umbel build -q -p 1e-9 -o k.umb keys
    run --separate-stderr umbel check k.umb -e 5 -e none -e 7
    [ "$status" -eq 0 ]
    [ "$output" = "$(printf '5\n7')" ]
    run --separate-stderr umbel check k.umb -e none
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    run umbel check -q k.umb --text=5
    [ "$status" -eq 0 ]
    [ "$(umbel check -c k.umb -e 5 keys)" = 1001 ]
    [ "$(umbel check -v k.umb -e 5 -e none)" = none ]
    [ "$(umbel check --annotate --also k.umb k.umb -e 5)" = "$(printf 'k.umb,k.umb\t5')" ]
    # The key itself: its case is changed as the filter says, but there is no field to select.
    printf 'x Ada\n' | umbel build -q -n 10 -p 1e-9 -k 2 --lower -o f.umb
    [ "$(umbel check f.umb -e ADA)" = ADA ]
}

@test "filters may come from standard input" {
    seq 1000 > keys
    umbel build -q -p 1e-9 -o k.umb keys
    [ "$(umbel check - -e 5 < k.umb)" = 5 ]
    [ "$(cat k.umb | umbel check -c - keys)" = 1000 ]
    [[ $(umbel info - < k.umb) == "file               standard input"* ]]
    umbel verify -q - < k.umb
    umbel verify -q --present keys - < k.umb
    umbel merge -q -o m.umb - k.umb < k.umb
    umbel cmp -q m.umb k.umb
    head -c 500 k.umb > cut.umb
    refused "standard input: " umbel verify - < cut.umb
    refused "standard input: cannot be both the filter and the lines" umbel check - < k.umb
    refused "standard input: cannot be both" umbel check k.umb --also - < k.umb
    refused "a filter in a pipe cannot be changed" umbel add - keys < k.umb
    umbel build -q -n 5000000 -o large.umb <(seq 9)
    umbel check -q - -e 7 < large.umb
    refused "standard input: needs 6.29 MiB, more than --max-memory allows" umbel info --max-memory 1 - < large.umb
    enough=$(sed 's/.*(--max-memory \([0-9]*\) is enough)$/\1/' <<< "$stderr")
    umbel info --max-memory "$enough" - < large.umb > out
}

@test "check: a file that cannot be read is skipped, and the exit status is 2" {
    seq 1000 > keys
    umbel build -q -p 1e-9 -o k.umb keys
    for j in 1 3; do
        run --separate-stderr umbel check -j $j k.umb missing keys . 
        [ "$status" -eq 2 ]
        [ "$output" = "$(seq 1000)" ]
        [ "${stderr_lines[0]}" = "umbel: missing: No such file or directory (-e KEY looks up a key)" ]
        [ "${stderr_lines[1]}" = "umbel: .: is a directory" ]
    done
    run --separate-stderr umbel check -q k.umb missing keys
    [ "$status" -eq 0 ] # as grep -q
}

@test "mistyped commands and options get a suggestion" {
    refused "(did you mean 'build'?)" umbel buld
    refused "(did you mean 'check'?)" umbel chekc
    refused "(did you mean '--count'?)" umbel check --cuont k.umb
    refused "(did you mean '--max-memory'?)" umbel check --max-mem=5 k.umb
    refused "(umbel --help lists them)" umbel frobnicate
    refused "(umbel check --help lists its options)" umbel check --frobnicate
}

@test "an option that is given twice is refused by name, unless it adds up" {
    python3 - "$UMBEL" <<'P'
import re, subprocess, sys
umbel = sys.argv[1]
run = lambda *args: subprocess.run([umbel, *args], capture_output=True, text=True)
values = {"KEYS": "5", "RATE": "1%", "SIZE": "1M", "KIND": "blocked", "FORMAT": "native", "TYPE": "int64",
          "N": "3", "K": "3", "S": "3", "C": ",", "N|DURATION/STEP": "5", "N|DURATION": "5", "SECONDS": "1",
          "NAME=VALUE": "a=b"}
adds_up = {"-k", "--json-key", "--http", "--socketmap", "-e", "--also", "--meta", "--variant", "--never", "--universe", "--key",
           "--added", "--removed", "--kept"}
commands = re.findall(r"^  (\w+) ", run("help").stdout.split("Commands")[1].split("Options")[0], re.M)
seen = set()
for command in commands:
    for letter, name, argument in re.findall(r"^  (-\w, |    )(--[\w-]+) (\S+)", run("help", command, "--all").stdout, re.M):
        shown = letter[:2] if letter.strip() else name
        if not argument[0].isupper():
            continue
        value = "2" if shown == "-k" else values.get(argument, "x")
        said = run(command, shown, value, shown, value).stderr
        seen.add(shown)
        if shown in adds_up and argument != "KEYS" and (shown, argument) != ("--key", "NAME"):
            assert "given twice" not in said, (command, shown, said)
        else:
            assert said == f"umbel: {shown}: was given twice (give it once)\n", (command, shown, said)
assert len(seen) > 40 and adds_up < seen, seen
P
    seq 3 | umbel uniq -q -q > /dev/null # flags have no value to lose
}

@test "help: values are listed, rare options come last" {
    help=$(umbel help build --all | tr -s ' \n' ' ')
    [[ $help == *"one of auto, blocked, classic, static, counting, scalable, window, tight, line, exact, smallest"* ]]
    [[ $help == *"Options -o, --output"*"How lines become keys"*"Filters of other systems --format FORMAT"*"redisbloom, dcso"* ]]
    umbel help --man check > page
    grep -q '^.SS Filters of other systems' page
    grep -q 'one of native, leveldb' page
    # On one screen: what it is for, and the options that nine of ten need.
    umbel check --help | head -36 | grep -q -e --quiet
}

@test "--json: check, uniq and several filters" {
    seq 1000 > keys
    umbel build -q -p 1e-9 -o k.umb keys
    run --separate-stderr umbel check --json-lines --also k.umb k.umb -e 5 -e none -e $'a\xff'
    [ "$output" = '{"line": "5", "filters": ["k.umb", "k.umb"]}' ]
    [ "$(umbel check -v --json-lines k.umb -e $'a\xff')" = '{"line": {"bytes": "Yf8="}, "filters": []}' ]
    [ "$(umbel check -c --json k.umb -e 5 -e none | jq -c '[.lines, .selected]')" = '[2,1]' ]
    run --separate-stderr umbel uniq --json=report -n 1000 -p 1% keys keys
    python3 - "$(< report)" <<'P'
import json, sys
o = json.loads(sys.argv[1])
assert o["lines"] == 2000 and 980 < o["new"] <= 1000, o
assert o["fpr"] == 0.01 and 0 < o["fpr_now"] < 0.01 and 0 < o["lost_estimated"] < 10, o
P
    [ "$(umbel info k.umb k.umb | grep -c '^file  *k.umb')" = 2 ]
    umbel info --json k.umb k.umb > two
    python3 - <<'P'
import json
text, at, count = open("two").read(), 0, 0
while at < len(text):
    o, at = json.JSONDecoder().raw_decode(text, at)
    assert o["file"] == "k.umb"
    at, count = at + 1, count + 1
assert count == 2
P
}

@test "input: bzip2, xz and lz4 are read, lzip and older lz4 are refused, not taken for lines" {
    umbel build -q -n 10 -o k.umb < /dev/null
    printf '\x02\x21\x4c\x18\n' > old.lz4
    printf 'LZIP\x01\x0c\n' > a.lz
    refused "old.lz4: the LZ4 data is" umbel build -q -o b.umb old.lz4
    refused "a.lz: is compressed with lzip" umbel build -q -o b.umb a.lz
    refused "standard input: is compressed with lzip" umbel uniq --strict -n 9 < a.lz
    [ "$(printf 'BZh9\n' | umbel check -v k.umb)" = BZh9 ] # text
    urls 1 200000 > plain
    for tool in bzip2 xz lz4; do
        head -n 50000 plain | $tool -c > packed
        tail -n +50001 plain | $tool -c >> packed # two members
        umbel uniq -q packed | cmp - plain
        umbel uniq -q -j 3 < packed | cmp - plain
        cat packed | umbel uniq -q -c | wc -l | grep -qx 200000
        : | $tool -c > nothing
        [ "$(umbel count -q nothing)" = 0 ]
        # Cut off, or with another byte: said, and the other file is read.
        head -c 70000 packed > cut
        run --separate-stderr umbel check -v k.umb cut <(echo other)
        [ "$status" -eq 2 ]
        [[ $output == *other && $stderr == "umbel: cut: the "*" data is truncated" ]]
        head -n $((${#lines[@]} - 1)) plain | cmp - <(head -n -1 <<< "$output") # whole lines
        printf 'X' | dd of=packed bs=1 seek=60000 conv=notrunc status=none
        refused "data is damaged" umbel build -n 300000 -o b.umb packed
    done
    # xz pads with zeros, and says how much memory it needs.
    (seq 9 | xz -c; head -c 8 /dev/zero; seq 10 19 | xz -c) > padded
    seq 19 | cmp - <(umbel uniq -q padded)
    head -c 3000000 /dev/urandom | base64 | xz -9 -c > large.xz
    refused "needs more memory than --max-memory allows" umbel build -n 9 -o b.umb --max-memory 64MiB large.xz
}

@test "input: a byte-order mark, carriage returns and NULs cause a warning with their number" {
    printf '\xef\xbb\xbfa\r\nb\r\n' > dos
    printf 'a\n' > unix
    run --separate-stderr umbel build -n 10 -o k.umb unix dos
    [ "$status" -eq 0 ]
    [[ $stderr == "umbel: dos: warning: begins with a byte-order mark"*"umbel: dos: warning: 2 lines end in a carriage return, which becomes part of the key (--crlf removes it)"* ]]
    # Wherever they are, each file by itself, and not where they are no part of a key.
    (seq 100000; printf 'x\r\n') > late
    run --separate-stderr umbel count unix late dos
    [[ $stderr == *"late: warning: 1 line ends in a carriage return"*"dos: warning: begins"*"dos: warning: 2 lines end in"* ]]
    run --separate-stderr umbel build -n 10 -o two.umb --format native -k 1 -t , <(printf 'a,1\r\nb,2\r\n')
    [[ $stderr != *warning* ]]
    printf 'a\0b\nc\n\0\0\n' > nul
    run --separate-stderr umbel count nul
    [[ $stderr == "umbel: nul: warning: the first lines have NULs, which become part of the keys (-0 if lines end in NUL)"* ]]
    run --separate-stderr umbel count -0 nul
    [[ $stderr != *warning* ]]
    run --separate-stderr umbel build --crlf -f -o k.umb dos
    [ "$(grep -c warning <<< "$stderr")" = 1 ] # the file is read twice
    run --separate-stderr umbel build -qq -f -o k.umb dos
    [ -z "$stderr" ]
    run --separate-stderr umbel check k.umb unix
    [[ $stderr != *warning* ]]
}

@test "check: swapped arguments are noticed" {
    seq 9 > words.txt
    umbel build -q -o a.umb words.txt
    refused "words.txt: is not a filter (did you mean umbel check a.umb words.txt?)" umbel check words.txt a.umb
    refused "words.txt: is not a filter (did you mean umbel add a.umb words.txt?)" umbel add words.txt a.umb
    refused "words.txt: is not a filter that can be recognised (--format is needed" umbel check words.txt words.txt
    # All arguments of these are filters: there is nothing to swap.
    for command in "merge -o x" cmp info; do
        refused "words.txt: is not a filter that can be recognised (--format is needed" umbel $command words.txt a.umb
    done
    refused "words.txt: is not a filter that can be recognised (--from is needed" umbel convert -o x words.txt
    refused "words.txt: is not a filter that can be recognised" umbel remove words.txt -e 1
    [[ $stderr != *--format* ]] # remove has no such option
}

@test "a filter where lines are expected is refused" {
    seq 9 > words.txt
    umbel build -q -o a.umb words.txt
    for command in "count a.umb" "diff a.umb words.txt" "diff words.txt a.umb" "uniq a.umb" \
        "check a.umb a.umb" "build -o x a.umb" "count --csv -k 1 a.umb"; do
        refused "a.umb: is a filter, but lines are expected (umbel check looks lines up in it)" umbel $command
    done
    gzip -k a.umb
    refused "a.umb.gz: is a filter, but lines are expected" umbel count a.umb.gz
    for command in "count" "count -0" "uniq" "diff - words.txt" "build -n 9 -o x"; do
        refused "standard input: is a filter, but lines are expected" bash -c "cat a.umb | $UMBEL $command"
        refused "standard input: is a filter, but lines are expected" bash -c "$UMBEL $command < a.umb"
    done
}

@test "numbers for people: no digits that say nothing" {
    seq 9 > words.txt
    run --separate-stderr umbel build -n 1M -o big.umb words.txt
    [[ $stderr == *" (1,172,366 bits per key)"* ]]
    umbel info big.umb | grep -q '^bits per key  *1,172,366$'
    umbel info --json big.umb | grep -q '"bits_per_key": 1172366.2'
    run --separate-stderr umbel uniq words.txt
    [[ $stderr == *"; fewer than 0.01 new lines mistaken for repeated, in "* ]]
}

@test "messages name options, not the library's parameters" {
    seq 9 > words
    refused "build: --bits-per-key: " umbel build --format guava --bits-per-key 9 -o x words
    refused "plan: --bits-per-key: " umbel plan --format leveldb -n 1000
    umbel build -q -n 9 -o /dev/null words # keeps nothing, so there is nothing to overwrite
    [ -c /dev/null ]
}

@test "plan: --format prints one row below its header, and nothing else" {
    for f in guava redisbloom dcso; do
        umbel plan --format $f -n 1000 -p 1% > table || true
        [ "$(head -1 table | tr -s ' ')" = "format keys size bits/key hashes rate" ]
        [ "$(sed -n 2p table | wc -w)" -eq 7 ]
        [ "$(head -1 table | wc -c)" = "$(sed -n 2p table | wc -c)" ] # columns are below their names
    done
}

@test "--json: bytes that are not UTF-8 come as base64" {
    printf 'caf\351\nok\n' > latin1
    umbel build -q -n 9 -o l.umb latin1
    umbel check --json-lines l.umb latin1 | python3 -c '
import base64, json, sys
first, second = (json.loads(line) for line in sys.stdin)
assert base64.b64decode(first["line"]["bytes"]) == b"caf\xe9", first
assert second["line"] == "ok", second'
}

@test "hints say what would work" {
    seq 1000 > keys
    umbel build -q -o k.umb keys
    refused "field=0: fields are numbers from 1, ranges such as 2-4" umbel check -k 0 k.umb
    refused "fewer keys or a higher rate (umbel plan" umbel build -p 1% -m 1k -n 1e9 -o x keys
    run umbel plan -m 10 -p 1e-9
    [[ $output != *fpr* ]]
    refused "more keys than the 10 planned (nothing was saved" umbel build -q --kind static --strict -n 10 -o s.umb keys
    [ ! -e s.umb ]
    cp k.umb bad.umb
    printf '\xff' | dd of=bad.umb bs=1 seek=900 conv=notrunc status=none
    run umbel verify bad.umb
    [[ $output != *--format* ]]
    umbel convert -q -o c.umb k.umb # to its own format
    cmp c.umb k.umb
    refused "umbel: --to leveldb: the format uses a different hash; build the filter again from its keys" \
        umbel convert --to leveldb -o l.bin k.umb
}

@test "out of memory: says how much was needed" {
    ! grep -q __asan_init "$UMBEL" || skip "a sanitizer needs more address space than the limit"
    run bash -c 'ulimit -v 1000000; "$UMBEL" build -q -n 1e12 -o big.umb < /dev/null'
    [ "$status" -eq 2 ]
    [[ $output == "umbel: build: out of memory: the filter needs 1.09 TiB (umbel plan shows what is possible)" ]]
}

@test "fields: a line without the field has no key" {
    printf 'a b\nc\nd e\n\n' > text
    run --separate-stderr umbel build -n 10 -p 1e-9 -k 2 -o k.umb text
    [ "$status" -eq 3 ]
    [[ $stderr == "k.umb: 4 lines, 2 of them without the field and skipped, 2 keys in "* ]]
    [[ $stderr == *"umbel: text: warning: 2 lines do not have the field: skipped; the first is line 2" ]]
    run -3 --separate-stderr umbel check k.umb text
    [ "$output" = "$(printf 'a b\nd e')" ]
    [[ $stderr == "umbel: text: warning: 2 lines do not have the field: not looked up; the first is line 2" ]]
    { umbel check -v k.umb text || [ $? -eq 3 ]; } | cmp - <(printf 'c\n\n') # in no filter
    run -3 --separate-stderr umbel check -c k.umb text
    [ "$output" = 2 ]
    umbel check -q k.umb text # a match is an answer
    run -0 umbel check -c --skip-empty k.umb <(printf 'a b\n\n') # an empty line that is skipped is not missed
    printf 'a,\nb\n' > commas # an empty field is an empty key
    run -3 umbel build -q -n 10 -p 1e-9 -t , -k 2 -o e.umb commas
    run -3 --separate-stderr umbel check e.umb commas
    [ "$output" = a, ]
    run -3 --separate-stderr umbel check --also k.umb -k 2 e.umb text
    [ "$output" = "$(printf 'a b\nd e')" ]
    run -3 --separate-stderr umbel build --json -k 2 -f -o k.umb text
    grep -q '"lines": 4,' <<< "$output"
    grep -q '"lines_without_field": 2,' <<< "$output"
    grep -q '"first_without_field": 2,' <<< "$output"
    # As it was, and remembered.
    umbel build -q -n 10 -p 1e-9 -k 2 --missing-empty -f -o k.umb text
    umbel check k.umb text | cmp - text
    refused "no field is selected" umbel build -q --missing-empty -f -o k.umb text
    # uniq never drops what it cannot compare.
    for j in 1 3; do
        printf 'a 1\nx\nb 1\nx\nc 2\n' > some
        run -3 --separate-stderr umbel uniq -q -j $j -k 2 some
        echo "$output" > out
        printf 'a 1\nx\nx\nc 2\n' | cmp - out
    done
    printf 'x\na 1\nx\nb 2\nx\nc 3\n' > many
    run --separate-stderr umbel uniq -q --strict -n 2 -p 1e-9 -k 2 many
    [ "$status" -eq 2 ]
    [ "$output" = "$(printf 'x\na 1\nx\nb 2\nx')" ]
}

@test "fields: --csv knows quotes, --header names" {
    printf 'id,name,"e ""mail"""\r\n1,"Lovelace, Ada",ADA@x\r\n2,"say ""hi""",\r\n3\r\n' > people.csv
    run --separate-stderr umbel build --csv --header -k name -n 10 -p 1e-9 -o n.umb people.csv
    [ "$status" -eq 3 ]
    [[ $stderr == "n.umb: 3 lines, 1 of them without the field and skipped, 2 keys in "* ]]
    [[ $stderr == *"people.csv: warning: 1 line does not have the field: skipped; the first is line 4" ]]
    [ "$(umbel check n.umb -e 'Lovelace, Ada' -e 'say "hi"' -e name -e Lovelace)" = "$(printf 'Lovelace, Ada\nsay "hi"')" ]
    # The recipe travels: header, quotes and carriage returns need not be said again.
    run -3 --separate-stderr umbel check n.umb people.csv
    printf '%s\n' "$output" | cmp - <(head -3 people.csv)
    # The columns are elsewhere in this file; the name is stored with the filter.
    printf 'name,id\n"Lovelace, Ada",7\nname,8\n' > other.csv
    for j in 1 3; do
        [ "$(umbel check -j $j n.umb other.csv)" = "$(printf 'name,id\n"Lovelace, Ada",7')" ]
    done
    [ "$(umbel check --header n.umb < other.csv)" = "$(printf 'name,id\n"Lovelace, Ada",7')" ]
    run -3 --separate-stderr umbel check n.umb other.csv people.csv # one header, two lines of people
    [ "${#lines[@]}" = 4 ]
    umbel info n.umb | grep -q '^recipe  *csv column=name$'
    run -3 umbel build -q --csv --header -k 'e "mail"' --lower -n 10 -p 1e-9 -o e.umb people.csv
    [ "$(umbel check e.umb -e ada@x -e '')" = "$(printf 'ada@x\n')" ]
    [ "$(umbel uniq -q --csv --header -k id people.csv people.csv | wc -l)" = 4 ] # one header in all
    run --separate-stderr umbel uniq --csv --header -k id people.csv people.csv
    [[ $stderr == "uniq: 6 lines, 3 of them new;"* ]] # and it is not a line
    refused "has no column 'nobody' in its first line" umbel check --header -k nobody n.umb people.csv
    refused "-k: '2' and 'name' are a number and a name" umbel check -k 2 -k name n.umb people.csv
    printf 'a\n"open\nnever\n' > open.csv
    run -3 --separate-stderr umbel check --csv -k 1 n.umb open.csv
    [[ $stderr == *"open.csv: warning: 1 line is not "*": not looked up; the first is line 2" ]]
    # Names between tabs and between blanks.
    printf 'a b\tc\n1 2\t3\n' > tabs
    [ "$(umbel uniq -q -t '\t' --header -k c tabs)" = "$(cat tabs)" ]
    umbel build -q -n 9 -p 1e-9 -t '\t' --header -k c -o t.umb tabs
    umbel check -q t.umb -e 3
    [ "$(printf 'c\tx y\n3\t1\n4\t3\n' | umbel check t.umb)" = "$(printf 'c\tx y\n3\t1')" ]
    umbel build -q -n 9 -p 1e-9 --header -k b -o w.umb tabs
    umbel check -q w.umb -e 2
    # Twenty thousand lines, in ranges that several threads read.
    { echo 'n,text'; seq 20000 | awk '{ printf "%d,\"a, %d\"\n", $1, $1 }'; } > big.csv
    umbel build -q -j 4 --csv --header -k text -p 1e-9 -o b.umb big.csv
    [ "$(umbel check -c -j 4 --header b.umb big.csv)" = 20000 ]
    [ "$(umbel check -c b.umb -e 'a, 20000' -e text)" = 1 ]
    umbel help build --all | tr -s ' \n' ' ' | grep -q 'separated by the character C, which quotes do not protect'
}

# Python's reader decides what the fields are; the blocks of the pipeline are 256 KiB.
@test "fields: --csv and line breaks in quotes, from files, pipes and packed, in blocks of any length" {
    python3 - <<'P'
import csv, random
random.seed(12)
parts = ["a", "b c", ",", "\n", "\r\n", '"', '""', "7\n", "\n\n", ""]
rows = [["id", "text, of two words", "more"]]
for i in range(30000):
    rows.append([str(i), "".join(random.choices(parts, k=random.randrange(6))) + f"-{i}",
                 random.choice(["", "x", "x\ny"])])
rows[9000][2] = "long\n" * 80000  # more than a block
with open("rows.csv", "w", newline="") as out:
    csv.writer(out).writerows(rows)
with open("texts", "w", newline="") as out:
    out.write("".join(row[1] + "\0" for row in rows[1:]))
P
    gzip -k rows.csv
    umbel build -q -0 -n 30000 -p 1e-9 -o model.umb texts
    for j in 1 3; do
        umbel build -q -j $j --csv --header -k 'text, of two words' -n 30000 -p 1e-9 -f -o rows.umb rows.csv
        umbel cmp -q rows.umb model.umb
        umbel build -q -j $j --csv --header -k 2 -n 30000 -p 1e-9 -f -o rows.umb rows.csv.gz
        umbel cmp -q rows.umb model.umb
        [ "$(umbel check -c -j $j --header rows.umb < <(cat rows.csv))" = 30000 ]
        umbel check -j $j --csv --header -k 2 rows.umb rows.csv | cmp - rows.csv
    done
    # A quote within a field does not quote; a stray one is noticed, and what never ends is bounded.
    [ "$(printf '5" disk,1\n"5"" disk",2\n' | umbel uniq -q --csv -k 1)" = '5" disk,1' ]
    printf 'a,"b\nc,"d",e\n' > stray.csv
    run -3 --separate-stderr umbel uniq -q --csv -k 1 stray.csv
    [[ $stderr == *"stray.csv: warning: 1 line is not "* ]]
    { echo 'a,"b'; yes 'c,d' | head -c 20000000; } > open.csv
    refused "open.csv: has a line of more than 16 MiB: line 1 (a quote may be missing; --max-line" umbel uniq -q --csv -k 1 open.csv
    run -3 umbel uniq -q --csv -k 2 --max-line 1GiB open.csv
}

@test "fields: filters with keys in different columns are looked up together, those of other records are not" {
    printf 'a,b\n1,2\n' > ab.csv
    umbel build -q --csv --header -k a -p 1e-9 -o a.umb ab.csv
    umbel build -q --csv --header -k b -p 1e-9 -o b.umb ab.csv
    seq 9 | umbel build -q -n 9 -o plain.umb
    printf 'b,x,a\n2,x,1\n3,x,1\n2,x,3\n1,x,2\n' > other.csv
    [ "$(umbel check --annotate a.umb --also b.umb other.csv)" = "$(printf 'a.umb,b.umb\t2,x,1\na.umb\t3,x,1\nb.umb\t2,x,3')" ]
    refused "b.umb: its recipe splits the input differently from that of the first filter: csv column=b" \
        umbel check plain.umb --also b.umb ab.csv
    [ "$(umbel check --annotate a.umb --also b.umb -e 2)" = "$(printf 'b.umb\t2')" ]
}

@test "fields: compound keys, ranges, from the end, and -k that adds up" {
    printf 'a b c d\na b x d\ny b c d\nz z z z\n' > text
    for k in "-k 1,2" "-k 1 -k 2" "-k 1-2"; do
        [ "$(umbel uniq -q $k text)" = "$(printf 'a b c d\ny b c d\nz z z z')" ]
    done
    [ "$(umbel uniq -q -k -1 text)" = "$(printf 'a b c d\nz z z z')" ]
    [ "$(umbel uniq -q -k 2- text)" = "$(printf 'a b c d\na b x d\nz z z z')" ]
    umbel build -q -p 1e-9 -k 2,-1 -o k.umb text
    umbel info k.umb | grep -q '^recipe  *field=2,-1$'
    [ "$(umbel check k.umb -e 'b d' -e 'd b' -e bd)" = 'b d' ]
    # 199,997 of 200,000 pairs are different; each field alone has far fewer values.
    seq 200000 | awk '{ print $1 % 1000, "x", int($1 / 1000) }' > pairs
    [ "$(umbel uniq -q -p 1e-9 -k 1 -k 3 pairs | wc -l)" -eq 200000 ]
}

@test "fields: members of JSON, domains, digests" {
    printf '%s\n' '{"user":{"email":"Ada@x"},"n":[1,{"b":"two"}]}' '{"user":{}}' 'nope' '{"user":{"email":"b\u00f6b"}}' > log
    run -3 --separate-stderr umbel build --json-key .user.email --lower -n 9 -p 1e-9 -o j.umb log
    [[ $stderr == "j.umb: 4 lines, 1 of them without the field and skipped, 1 of them malformed and skipped, 2 keys in "* ]]
    [[ $stderr == *"log: warning: 1 line does not have the member: skipped; the first is line 2"* ]]
    [[ $stderr == *"log: warning: 1 line is not JSON"*": skipped; the first is line 3"* ]]
    umbel info --json j.umb | grep -q '"recipe": "json=.user.email lower"'
    [ "$(umbel check j.umb -e ADA@X -e 'b\u00f6b' -e böb)" = "$(printf 'ADA@X\nböb')" ]
    [ "$(umbel check -c --json-key '.n[1].b' j.umb <<< '{"n":[0,{"b":"ada@x"}]}')" = 1 ]
    printf 'example.com\nEVIL.org.\n' | umbel build -q --domains -n 9 -p 1e-9 -o d.umb
    umbel info d.umb | grep -q '^recipe  *domain$'
    printf '%s\n' a.b.Example.COM example.com. com notexample.com x.evil.org example.org > hosts
    for j in 1 3; do
        [ "$(umbel check -j $j d.umb hosts)" = "$(printf '%s\n' a.b.Example.COM example.com. x.evil.org)" ]
        [ "$(umbel check -j $j --also j.umb -k 1 --annotate d.umb hosts | cut -f1 | sort | uniq -c | tr -s ' ')" = ' 3 d.umb' ]
    done
    [ "$(umbel check d.umb -e www.evil.org -e org)" = www.evil.org ]
    printf 'password\nletmein\n' | umbel build -q --sha1 -n 9 -p 1e-9 -o s.umb
    printf '%s:7\n' $(printf password | sha1sum | cut -c1-40) 0123 $(printf other | sha1sum | cut -c1-40) > list
    run -3 --separate-stderr umbel check --digests -t : -k 1 s.umb list
    [ "$output" = "$(head -1 list)" ]
    [[ $stderr == *"1 line is not "*"; the first is line 2" ]]
    [ "$(umbel check s.umb -e letmein -e LETMEIN)" = letmein ]
    refused "--digests: keys are not digests" umbel build --digests -f -o x.umb list
    refused "--sha1 and --ntlm contradict" umbel build --sha1 --ntlm -f -o x.umb list
    refused "the filter's keys are made differently: sha1" umbel check --ntlm s.umb list
}

@test "fields: --recipe, and what it refuses" {
    printf 'id;mail\n1;Ada@x\n' > people
    umbel build -q --recipe 'column=mail delimiter=; lower' -p 1e-9 -o r.umb people
    umbel build -q -t ';' -k mail --lower -p 1e-9 -o o.umb people
    cmp r.umb o.umb
    [ "$(umbel check r.umb people)" = "$(cat people)" ]
    refused "--recipe: frob: " umbel build --recipe 'line frob' -o x.umb people
    refused "at byte 8" umbel build --recipe 'field=2 frob' -o x.umb people
    refused "--recipe and --trim contradict" umbel build --recipe line --trim -o x.umb people
}

@test "push: a filter whose keys are not the lines is refused without --same-rule" {
    "$UMBEL" push x --redis 127.0.0.1:1 --key k 2>&1 | grep -q 'without hiredis' && skip "no hiredis"
    for rule in --lower --upper --trim "-k 1"; do
        echo ada | umbel build -q -n 10 $rule -f -o k.umb
        refused "its keys are not the lines themselves" umbel push k.umb --redis 127.0.0.1:1 --key k
        refused "refused" umbel push --same-rule k.umb --redis 127.0.0.1:1 --key k
    done
}

@test "make demo's script plans, builds, checks and keeps its promise" {
    export UMBEL
    run "$root/contrib/demo.sh"
    [ "$status" -eq 0 ]
    [[ $output == *"1,000,000 keys, none missing"*"promise            kept"* ]]
}

@test "usability: messages speak of options, not of the library's parameters" {
    seq 100 > few
    umbel build -q --kind tight -o t.umb few
    umbel build -q --kind counting -n 100 -o c.umb few
    umbel build -qq --format badger -n 100 -p 0.1% -o b.bin few
    for c in "build -f --format badger -n 100 -p 0.1% -o x few" "plan --format badger -n 100 -p 0.1%" "fold -p 1% -f -o x c.umb" \
        "uniq --kind tight few" "add t.umb few" "merge -f -o x t.umb c.umb" "build -f --kind static --hashes 3 -o x few" \
        "build -f --format leveldb -n 100 -p 1% --hashes 3 -o x few" "check --format gocrc32 b.bin few" \
        "build -f --format rocksdb -n 9 -p 1% --bits-per-key 3 -o x few"; do
        run umbel $c
        [[ $output != *umbel_* && $output != *bits_per_key* && $output != *snapshot* && $output != *fpr:* && $output != *capacity:* ]] ||
            { echo "$c: $output" >&2; return 1; }
    done
    refused "--hashes: follows from the rate in this kind" umbel build -f --kind static --hashes 3 -o x few
}
