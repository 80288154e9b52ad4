# SPDX-License-Identifier: MIT
# labels: asan
# Other systems' filters through the command; bytes made by the systems themselves are in
# tests/golden.
load helper

# Every format but umbel's own, as listed by the command's error message.
formats() {
    umbel info --format none x 2>&1 | sed 's/.*(//; s/)$//; s/,//g' | tr ' ' '\n' | grep -v native
}

# The options that build, and every later command, needs beyond the name.
to_build() {
    case $1 in
    clickhouse) printf '%s ' -m 8192 --hashes 4 --seed 3 ;;
    *) printf '%s ' -p 1% ;;
    esac
}
to_read() {
    case $1 in
    clickhouse) printf '%s ' --hashes 4 --seed 3 ;;
    gocrc32) printf '%s ' --keys 3000 -p 1% ;;
    esac
}

@test "formats: each is built, checked, verified, shown and added to" {
    seq 1 3000 > keys
    seq 3001 3100 > more
    [ "$(formats | wc -l)" -ge 7 ]
    for f in $(formats); do
        echo "$f"
        umbel build -q -f --format $f $(to_build $f) -o f.bin keys
        [ "$(umbel check -c --format $f $(to_read $f) f.bin keys)" -eq 3000 ]
        umbel verify -q --format $f $(to_read $f) f.bin --present keys
        umbel info --json --format $f $(to_read $f) f.bin | grep -q "\"format\": \"$f\""
        umbel add -q --format $f $(to_read $f) f.bin more || [ $? -eq 3 ] # beyond the plan of some
        umbel verify -q --format $f $(to_read $f) f.bin --present keys
        umbel verify -q --format $f $(to_read $f) f.bin --present more
        [ "$(umbel check -c --format $f $(to_read $f) f.bin <(seq 100000 109999))" -lt 800 ]
    done
}

@test "formats: read and written again byte for byte" {
    seq 1 3000 > keys
    for f in $(formats); do
        echo "$f"
        umbel build -q -f --format $f $(to_build $f) -o f.bin keys
        umbel convert -q -f --from $f --to $f $(to_read $f) -o again.bin f.bin
        cmp f.bin again.bin
    done
}

@test "formats: a different hash is refused with a reason" {
    seq 1 300 | umbel build -q -n 300 -o native.umb
    for f in leveldb guava gocrc32; do
        refused "the format uses a different hash; build the filter again from its keys" \
            umbel convert --to $f -o x.bin native.umb
        [ ! -e x.bin ]
    done
}

@test "formats: LevelDB's own bytes" {
    row() { awk -F '\t' -v set="$1" -v bits="$2" '$1 == set && $3 == bits { print $4 }' \
        "$root/tests/golden/leveldb/filters.tsv"; }
    printf 'hello\nworld\n' > keys
    golden=$(row hello_world 14)
    [ -n "$golden" ]
    umbel build -q --format leveldb --bits-per-key 14 -o f.bin keys
    [ "$(od -An -v -tx1 f.bin | tr -d ' \n')" = "$golden" ]
    seq 0 999 | sed 's/^/key/' > many
    golden=$(row 'key%d_0_999' 10)
    [ -n "$golden" ]
    umbel build -q -f --format leveldb --bits-per-key 10 -o f.bin many
    [ "$(od -An -v -tx1 f.bin | tr -d ' \n')" = "$golden" ]
}

@test "formats: files with a magic number are recognised, and keep their format" {
    seq 1 200 > keys
    for f in dcso redisbloom; do
        umbel build -q -f --format $f -n 1000 -p 1% -o f.bin keys
        [ "$(umbel check -c f.bin keys)" -eq 200 ]
        umbel add -q f.bin <(seq 201 300)
        umbel verify -q --format $f f.bin --present <(seq 300)
    done
}

@test "formats: DCSO's own files, and its program reads ours" {
    [ "$(umbel check -c "$root/tests/golden/dcso/a.bloom" <(seq 0 49 | sed 's/^/key/'))" -eq 50 ]
    [ "$(umbel check "$root/tests/golden/dcso/c.bloom" <(printf 'hello\nworld\n'))" = "$(printf 'hello\nworld')" ]
    command -v bloom > /dev/null || skip "no bloom (golang-github-dcso-bloom-cli)"
    urls 1 500 > keys
    umbel build -q --format dcso -n 500 -p 1e-6 -o f.bloom keys
    bloom check f.bloom < keys | cmp - keys
}

@test "formats: gzipped files of DCSO are unpacked, by every command" {
    plain=$root/tests/golden/dcso/a.bloom
    seq 0 49 | sed 's/^/key/' > keys
    gzip -c "$plain" > a.gz
    for format in "" "--format dcso"; do
        [ "$(umbel check $format -c a.gz keys)" -eq 50 ]
        umbel info $format --json a.gz > packed.json
        umbel info $format --json "$plain" | sed "s|$plain|a.gz|" | cmp - packed.json
        umbel verify -q $format a.gz --present keys
        umbel cmp -q $format a.gz "$plain"
        umbel merge -q $format -f -o merged.bloom a.gz a.gz
        [ "$(umbel check -c merged.bloom keys)" -eq 50 ]
    done
    umbel check -c --also a.gz "$plain" keys | grep -qx 50
    umbel convert -q --to dcso -o b.bloom a.gz
    cmp b.bloom "$plain"
    umbel convert -q -f --from dcso --to dcso -o b.bloom a.gz
    cmp b.bloom "$plain"
    cp a.gz grows.gz
    umbel add -q grows.gz <(echo another) # and is a plain file from then on
    umbel check -q grows.gz <(echo another)
    [ "$(umbel check -c grows.gz keys)" -eq 50 ]
    [ "$(od -An -tx1 -N1 grows.gz | tr -d ' ')" = 01 ]
}

@test "formats: gzipped files of DCSO in several members, damaged, cut, followed by something" {
    head -c 50 "$root/tests/golden/dcso/a.bloom" | gzip > two.gz
    first=$(wc -c < two.gz)
    tail -c +51 "$root/tests/golden/dcso/a.bloom" | gzip >> two.gz
    whole=$(wc -c < two.gz)
    umbel verify -q two.gz
    umbel convert -q --to dcso -o back.bloom two.gz
    cmp back.bloom "$root/tests/golden/dcso/a.bloom"
    head -c $((whole - 1)) two.gz > cut.gz
    head -c $first two.gz > half.gz
    (cat two.gz && printf x) > tail.gz
    cp two.gz bad.gz
    printf '\377' | dd of=bad.gz bs=1 seek=$((first + 30)) conv=notrunc status=none
    for command in info verify "check -c"; do
        refused "cut.gz: the gzip data is truncated" umbel $command cut.gz
        refused "half.gz: m: more bits than the file has" umbel $command half.gz
        refused "tail.gz: the gzip data is " umbel $command tail.gz
        refused "bad.gz: the gzip data is damaged" umbel $command bad.gz
    done
    printf '\037\213\010\0\0\0\0\0\0\0zz' > none.gz
    refused "none.gz: the gzip data is " umbel info none.gz
    gzip -c two.gz > twice.gz
    refused "twice.gz: gzip-compressed" umbel info twice.gz
}

@test "formats: every filter may be compressed, or come from a pipe of any name" {
    seq 100 > keys
    umbel build -q -o f.umb keys
    umbel build -q --format guava -p 1% -o f.guava keys
    gzip -c f.umb > f.gz
    zstd -q f.umb -o f.zst
    gzip -c f.guava > guava.gz
    for f in f.gz f.zst; do
        [ "$(umbel check -c $f keys)" = 100 ]
        umbel verify -q $f
        [ "$(umbel info $f | tail -n +2)" = "$(umbel info f.umb | tail -n +2)" ]
    done
    [ "$(umbel check -c --format guava guava.gz keys)" = 100 ]
    refused "f.gz: " umbel info --format guava f.gz
    # <(...) and FIFOs, several of them, read once.
    [ "$(umbel check -c <(cat f.umb) keys)" = 100 ]
    [ "$(umbel check -c --also <(cat f.gz) <(cat f.umb) keys)" = 100 ]
    mkfifo pipe
    cat f.umb > pipe &
    [ "$(timeout 300 "$UMBEL" check -c pipe keys)" = 100 ]
    wait $!
    umbel verify -q <(gzip -c f.umb)
    umbel info <(cat f.umb) | grep -q '^kind '
    refused "a filter in a pipe cannot be changed" umbel add <(cat f.umb) keys
    umbel merge -q -o m.umb <(cat f.umb) f.gz
    cmp m.umb <(umbel merge -q -o - f.umb f.umb)
    # Neither a filter nor text becomes one by being packed, however much there is of it.
    head -c 100000000 /dev/zero | gzip > zeros.gz
    # A sanitizer needs more address space than the limit.
    (grep -q __asan_init "$UMBEL" || ulimit -v 1000000; refused "zeros.gz: " umbel info zeros.gz)
}

@test "formats: Guava's own file" {
    seq 0 99 | sed 's/^/key/' > keys
    umbel build -q --format guava -p 0.03 -o f.bin keys
    cmp f.bin "$root/tests/golden/guava/mitz64_str_100_0.03.bin"
    seq 0 999 | sed 's/^/key/' > keys
    umbel build -q -f --format guava -p 0.01 --variant mitz32 -o f.bin keys
    cmp f.bin "$root/tests/golden/guava/mitz32_str_1000_0.01.bin"
}

@test "formats: the article's Go filter describes itself" {
    seq 100 | umbel build -q --format gocrc32 -n 100 -p 1% -o f.bin
    run umbel info --format gocrc32 -n 100 -p 1% f.bin
    [[ $output == *"as text            bitsSize: 958, hashFuncSize: 6"* ]]
    refused "f.bin: " umbel info --format gocrc32 f.bin
    refused "(--format is needed" umbel info f.bin
}

@test "formats: keys of types other than text" {
    seq -5 1000 > numbers
    umbel build -q --format guava -p 1% --type int64 -o long.bin numbers
    [ "$(umbel check -c --format guava --type int64 long.bin numbers)" -eq 1006 ]
    [ "$(umbel check -c --format guava long.bin numbers || true)" -lt 60 ]
    printf 'abc\n7\n1e3\n' > mixed
    run --separate-stderr umbel check --format guava --type int64 long.bin mixed
    [ "$status" -eq 3 ]
    [ "$output" = 7 ]
    [[ $stderr == "umbel: mixed: warning: 2 lines are not a valid int64: not looked up; the first is line 1" ]]
    refused "unknown option --funnel (now --type string, utf16, int64 or int32)" \
        umbel check --format guava --funnel long long.bin numbers
    refused "unknown option --strategy (now --variant mitz32" umbel plan --format guava --strategy 32
    refused "unknown option --int (now --variant int32" umbel info --format gocrc32 --int 32 long.bin
    refused "unknown type 'int65'" umbel check --format guava --type int65 long.bin numbers
    refused "unknown variant 'x'" umbel build --format guava --variant x -n 5 -o x.bin numbers
}

@test "formats: a rate that a system cannot keep causes a warning" {
    run umbel plan --format leveldb -n 1000 -p 1%
    [ "$status" -eq 0 ]
    [[ $output == *leveldb*"1,000"*"10.00"* ]]
    refused "32-bit hash" umbel plan --format leveldb -n 2e9 -p 1%
    run --separate-stderr bash -c 'seq 1000 | "$UMBEL" build --format badger -n 1000 -p 1% -o f.bin'
    [ "$status" -eq 0 ]
    [[ $stderr == *"f.bin: warning: the false-positive rate will be "* ]]
}

@test "formats: RedisBloom's chains grow, and build, add and info agree about it" {
    umbel build -q --format redisbloom -n 100 -p 1% -o f.rb <(seq 100)
    umbel add --strict f.rb <(seq 101 5000) 2> err # beyond the plan of the first link, within the promise
    run ! grep -q "more keys than" err
    umbel info f.rb | grep -Eq "^kind +scalable"
    [ "$(umbel info --json f.rb | python3 -c 'import json, sys; i = json.load(sys.stdin); print(i["layers"] > 4, i["grows"])')" = "True True" ]
    umbel build -q --format redisbloom --nonscaling -n 100 -p 1% -o n.rb <(seq 90)
    [ "$(umbel info --json n.rb | python3 -c 'import json, sys; print(json.load(sys.stdin)["grows"])')" = False ]
    run ! umbel add -q n.rb <(seq 91 5000)
}

@test "formats: RocksDB's and Spark's filters, as an independent reader in Python reads them" {
    golden=$root/tests/golden
    seq -f 'key%09.0f' 150 800 > keys
    seq -f 'key-%.0f' 900 1500 >> keys
    for length in 1 2 3 7 8 15 31 40 100 130 200 240 300 1100; do
        printf "%${length}s\\n" é | tr ' ' 'x' >> keys
    done
    for name in v2 v5_zstd v6_ribbon; do
        umbel table -q "$golden/rocksdb/$name.sst" --filter 0 -o "$name"
        umbel check --format rocksdb "$name" keys > ours || true
        python3 "$root/scripts/umbel-read" --format=rocksdb "$name" < keys > theirs || true
        cmp ours theirs
        [ "$(wc -l < ours)" -gt 49 ]
    done
    sed 's/$/x/' keys > absent
    umbel build -q --format rocksdb -n 3000 --bits-per-key 7 -o f keys
    diff <(umbel check --format rocksdb f absent) <(python3 "$root/scripts/umbel-read" --format=rocksdb f < absent)
    [ "$(python3 "$root/scripts/umbel-read" --format=rocksdb f < keys | wc -l)" -eq "$(wc -l < keys)" ]
    for name in V1_s0_str1000_p0.001 V2_s42_bytes256_m2048; do
        diff <(umbel check "$golden/spark/$name.bin" keys) \
            <(python3 "$root/scripts/umbel-read" --format=spark "$golden/spark/$name.bin" < keys)
    done
    for variant in v1 v2; do
        umbel build -q -f --format spark --variant "$variant" -n 100 -o f keys || [ $? -eq 3 ] # so that it finds some of the others
        diff <(umbel check f absent) <(python3 "$root/scripts/umbel-read" --format=spark f < absent)
    done
}

@test "formats: DataSketches' filters, its seeds, its empty key and an independent reader" {
    golden=$root/tests/golden/datasketches
    read_it() { python3 "$root/scripts/umbel-read" --format=datasketches "$@"; }
    seq -f 'key%.0f' 0 3000 > keys
    for length in 1 3 4 7 8 12 31 32 33 64 100 300; do
        printf "%${length}s\\n" é | tr ' ' 'x' >> keys
    done
    for name in strings long_strings counted many_hashes empty n10000_h5_java; do
        [ "$(umbel info --json "$golden/$name.sk" | jq -r .format)" = datasketches ] # it is recognised
        umbel verify "$golden/$name.sk" > out
        grep -q '^checksums  *none in this format' out
        diff <(umbel check "$golden/$name.sk" keys) <(read_it "$golden/$name.sk" < keys)
    done
    umbel build -q --format datasketches --seed -5 -n 3100 -p 1% -o f.sk keys
    [ "$(read_it f.sk < keys | wc -l)" -eq "$(wc -l < keys)" ]
    umbel build -q --format datasketches --seed 18446744073709551611 -n 3100 -p 1% -o g.sk keys
    cmp f.sk g.sk
    printf 'a\n\nb\n' > with_empty
    refused "a key's length does not fit the datasketches format (--skip-empty" umbel add f.sk with_empty
    refused "a key's length does not fit the badger format" umbel build --format badger --type string -n 9 --bits-per-key 10 -o b with_empty
    umbel add -q --skip-empty f.sk with_empty
    run umbel check "$golden/full.sk" --text ''
    [ "$status" -eq 1 ]
    umbel convert "$golden/counted.sk" --to datasketches -o h.sk
    cmp h.sk "$golden/counted.sk"
    refused "hash" umbel convert "$golden/counted.sk" --to guava -o i.bin
}

@test "formats: who makes a filter of 512 MiB for DataSketches hears what C++ does with it" {
    umbel plan --format datasketches -n 448126080 -p 1% > out
    grep -q "C++ misreads" out
    umbel plan --json --format datasketches -n 448126080 -p 1% | jq -e '.. | .caution? // empty' > /dev/null
    umbel plan --format datasketches -n 1000000 -p 1% > out
    run ! grep -q "misreads" out
    printf '\3\1\25\4\3\0\0\0%016d' 0 | head -c 16 > big.sk # empty, and 8 GiB large
    printf '\0\0\0\100\0\0\0\0' >> big.sk
    refused "max-memory" umbel info big.sk
}

@test "formats: exactly the planned number of keys raises no alarm, twice as many do" {
    for f in dcso guava parquet spark datasketches gocrc32; do
        for n in 1 7 100 30000; do
            seq $n > keys
            for p in 1% 0.1% 1e-5; do
                run --separate-stderr umbel build -q -f --format $f -n $n -p $p -o f.bin keys
                [ "$status" -eq 0 ] || { echo "$f $n $p: $stderr" >&2; return 1; }
                [[ -z $stderr || $stderr == *"the false-positive rate will be"* ]] || { echo "$f $n $p: $stderr" >&2; return 1; }
            done
        done
        run --separate-stderr umbel build -q -f --format $f -n 15000 -p 1% -o f.bin keys
        [ "$status" -eq 3 ]
        [[ $stderr == *"keys"*"plan"* ]]
    done
}

@test "formats: info shows the rate of keys that dcso's hash hardly tells apart" {
    seq 100 | sed 's|.*|user&@dom&.example.org/0|' > form
    umbel build -qq --format dcso -n 100 -p 1e-5 -o even.bloom form
    umbel info even.bloom > out
    grep -q '^rate of like keys  1.21%$' out
    grep -q "^warning  *the format's hash hardly tells keys like those in it apart$" out
    [ "$(umbel info --json even.bloom | jq '.fpr_alike > 1000 * .fpr')" = true ]
    umbel build -qq --format dcso -n 108 -p 1e-5 -o odd.bloom form
    ! umbel info odd.bloom | grep -q 'like keys\|warning'
    ! umbel info --json odd.bloom | grep -q fpr_alike
}

@test "formats: spark's seed is an int, other formats have none below 0" {
    seq 9 | umbel build -q --format spark --seed -7 -n 9 -o signed.bin
    seq 9 | umbel build -q --format spark --seed 4294967289 -n 9 -o unsigned.bin
    cmp signed.bin unsigned.bin
    refused "32 bits" umbel build --format spark --seed -2147483649 -n 9 -o no.bin /dev/null
    refused "must be 0 or more" umbel build --seed -7 -o no.umb /dev/null
    refused "must be 0 or more" umbel uniq --seed -7 /dev/null
}

@test "a live rate that no try has met is said to be below a bound, in text and JSON" {
    seq 3 > keys
    run umbel build --format redisbloom -n 100 -p 1e-7 -o few.bin keys
    [[ $output == *"false-positive rate below 1 in "*", asked for 1 in 10,000,000"* ]]
    run umbel info --format redisbloom few.bin
    [[ $output == *"rate now           below 1 in "* ]]
    [[ $output != *warning* ]]
    umbel info --format redisbloom --json few.bin |
        jq -e '.fpr < .fpr_now and .fpr_now < .fpr_below and .fpr_below < 1e-5 and (.overfull | not)'
    echo absent > absent
    run umbel verify --format redisbloom --absent absent few.bin
    [[ $output == *"rate expected      below 1 in "* ]]
    # Keys enough to meet some.
    seq 100 | umbel build -q --format redisbloom -n 100 -p 1% -o some.bin
    umbel info --format redisbloom --json some.bin | jq -e '.fpr_now > 0 and .fpr_below == null'
}
