# bash completion for umbel; made by `umbel help --completion bash`
_umbel() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options=''
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W 'help --help --version plan build check add remove uniq info verify merge cmp fold intersect convert table push bench' -- "$cur"))
        return
    fi
    case ${COMP_WORDS[1]} in
    help)
        options='plan build check add remove uniq info verify merge cmp fold intersect convert table push bench'
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
        return ;;
    plan)
        case $prev in
        -n|--keys) return ;;
        -p|--fpr) return ;;
        -m|--bytes) return ;;
        --kind) COMPREPLY=($(compgen -W 'auto blocked classic static counting scalable window' -- "$cur")); return ;;
        --hashes) return ;;
        --format) COMPREPLY=($(compgen -W 'native leveldb corekv badger clickhouse gocrc32 guava parquet redisbloom dcso' -- "$cur")); return ;;
        --bits-per-key) return ;;
        --int) COMPREPLY=($(compgen -W '32 64' -- "$cur")); return ;;
        --strategy) COMPREPLY=($(compgen -W '32 64' -- "$cur")); return ;;
        --expansion) return ;;
        --variant) COMPREPLY=($(compgen -W 'guava2024 index numbers pre2024' -- "$cur")); return ;;
        esac
        options='--keys --fpr --bytes --kind --hashes --format --bits-per-key --int --strategy --expansion --nonscaling --variant --plot --json --help' ;;
    build)
        case $prev in
        -o|--output) compopt -o default; return ;;
        -n|--keys) return ;;
        -p|--fpr) return ;;
        -m|--bytes) return ;;
        --kind) COMPREPLY=($(compgen -W 'auto blocked classic static counting scalable window' -- "$cur")); return ;;
        --tmp) compopt -o default; return ;;
        --hashes) return ;;
        --seed) return ;;
        --secret-file) compopt -o default; return ;;
        --meta) return ;;
        --format) COMPREPLY=($(compgen -W 'native leveldb corekv badger clickhouse gocrc32 guava parquet redisbloom dcso' -- "$cur")); return ;;
        --bits-per-key) return ;;
        --int) COMPREPLY=($(compgen -W '32 64' -- "$cur")); return ;;
        --strategy) COMPREPLY=($(compgen -W '32 64' -- "$cur")); return ;;
        --funnel) COMPREPLY=($(compgen -W 'string bytes chars long int' -- "$cur")); return ;;
        --type) COMPREPLY=($(compgen -W 'string utf16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float double uint32be' -- "$cur")); return ;;
        --expansion) return ;;
        --variant) COMPREPLY=($(compgen -W 'guava2024 index numbers pre2024' -- "$cur")); return ;;
        -t|--delimiter) return ;;
        -k|--field) return ;;
        --max-line) return ;;
        -j|--threads) return ;;
        --max-memory) return ;;
        esac
        options='--output --force --keys --fpr --bytes --kind --tmp --hashes --seed --secret-file --meta --format --bits-per-key --int --strategy --funnel --type --expansion --nonscaling --variant --null --crlf --skip-empty --delimiter --field --trim --lower --upper --max-line --strict --threads --quiet --json --max-memory --help' ;;
    check)
        case $prev in
        --also) compopt -o default; return ;;
        --secret-file) compopt -o default; return ;;
        --format) COMPREPLY=($(compgen -W 'native leveldb corekv badger clickhouse gocrc32 guava parquet redisbloom dcso' -- "$cur")); return ;;
        -n|--keys) return ;;
        -p|--fpr) return ;;
        --hashes) return ;;
        --seed) return ;;
        --bits-per-key) return ;;
        --int) COMPREPLY=($(compgen -W '32 64' -- "$cur")); return ;;
        --variant) COMPREPLY=($(compgen -W 'guava2024 index numbers pre2024' -- "$cur")); return ;;
        --type) COMPREPLY=($(compgen -W 'string utf16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float double uint32be' -- "$cur")); return ;;
        --funnel) COMPREPLY=($(compgen -W 'string bytes chars long int' -- "$cur")); return ;;
        -t|--delimiter) return ;;
        -k|--field) return ;;
        --max-line) return ;;
        -j|--threads) return ;;
        --max-memory) return ;;
        esac
        options='--invert --count --quiet --also --annotate --secret-file --format --keys --fpr --hashes --seed --bits-per-key --int --variant --type --funnel --null --crlf --skip-empty --delimiter --field --trim --lower --upper --max-line --threads --max-memory --help' ;;
    add)
        case $prev in
        --secret-file) compopt -o default; return ;;
        --format) COMPREPLY=($(compgen -W 'native leveldb corekv badger clickhouse gocrc32 guava parquet redisbloom dcso' -- "$cur")); return ;;
        -n|--keys) return ;;
        -p|--fpr) return ;;
        --hashes) return ;;
        --seed) return ;;
        --bits-per-key) return ;;
        --int) COMPREPLY=($(compgen -W '32 64' -- "$cur")); return ;;
        --variant) COMPREPLY=($(compgen -W 'guava2024 index numbers pre2024' -- "$cur")); return ;;
        --type) COMPREPLY=($(compgen -W 'string utf16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float double uint32be' -- "$cur")); return ;;
        --funnel) COMPREPLY=($(compgen -W 'string bytes chars long int' -- "$cur")); return ;;
        -t|--delimiter) return ;;
        -k|--field) return ;;
        --max-line) return ;;
        -j|--threads) return ;;
        --max-memory) return ;;
        esac
        options='--strict --secret-file --format --keys --fpr --hashes --seed --bits-per-key --int --variant --type --funnel --null --crlf --skip-empty --delimiter --field --trim --lower --upper --max-line --threads --quiet --json --max-memory --help' ;;
    remove)
        case $prev in
        --secret-file) compopt -o default; return ;;
        -t|--delimiter) return ;;
        -k|--field) return ;;
        --max-line) return ;;
        --max-memory) return ;;
        esac
        options='--secret-file --null --crlf --skip-empty --delimiter --field --trim --lower --upper --max-line --quiet --json --max-memory --help' ;;
    uniq)
        case $prev in
        -n|--keys) return ;;
        -p|--fpr) return ;;
        -m|--bytes) return ;;
        --kind) COMPREPLY=($(compgen -W 'auto blocked classic static counting scalable window' -- "$cur")); return ;;
        --seed) return ;;
        --secret-file) compopt -o default; return ;;
        --state) compopt -o default; return ;;
        --window) return ;;
        -t|--delimiter) return ;;
        -k|--field) return ;;
        --max-line) return ;;
        -j|--threads) return ;;
        --max-memory) return ;;
        esac
        options='--keys --fpr --bytes --kind --seed --secret-file --state --window --repeated --strict --null --crlf --skip-empty --delimiter --field --trim --lower --upper --max-line --threads --quiet --max-memory --help' ;;
    info)
        case $prev in
        --secret-file) compopt -o default; return ;;
        --format) COMPREPLY=($(compgen -W 'native leveldb corekv badger clickhouse gocrc32 guava parquet redisbloom dcso' -- "$cur")); return ;;
        -n|--keys) return ;;
        -p|--fpr) return ;;
        --hashes) return ;;
        --seed) return ;;
        --bits-per-key) return ;;
        --int) COMPREPLY=($(compgen -W '32 64' -- "$cur")); return ;;
        --variant) COMPREPLY=($(compgen -W 'guava2024 index numbers pre2024' -- "$cur")); return ;;
        --max-memory) return ;;
        esac
        options='--secret-file --format --keys --fpr --hashes --seed --bits-per-key --int --variant --json --max-memory --help' ;;
    verify)
        case $prev in
        --present) compopt -o default; return ;;
        --absent) compopt -o default; return ;;
        --secret-file) compopt -o default; return ;;
        --format) COMPREPLY=($(compgen -W 'native leveldb corekv badger clickhouse gocrc32 guava parquet redisbloom dcso' -- "$cur")); return ;;
        -n|--keys) return ;;
        -p|--fpr) return ;;
        --hashes) return ;;
        --seed) return ;;
        --bits-per-key) return ;;
        --int) COMPREPLY=($(compgen -W '32 64' -- "$cur")); return ;;
        --variant) COMPREPLY=($(compgen -W 'guava2024 index numbers pre2024' -- "$cur")); return ;;
        --type) COMPREPLY=($(compgen -W 'string utf16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float double uint32be' -- "$cur")); return ;;
        --funnel) COMPREPLY=($(compgen -W 'string bytes chars long int' -- "$cur")); return ;;
        -t|--delimiter) return ;;
        -k|--field) return ;;
        --max-line) return ;;
        -j|--threads) return ;;
        --max-memory) return ;;
        esac
        options='--present --absent --secret-file --format --keys --fpr --hashes --seed --bits-per-key --int --variant --type --funnel --null --crlf --skip-empty --delimiter --field --trim --lower --upper --max-line --threads --quiet --json --max-memory --help' ;;
    merge)
        case $prev in
        -o|--output) compopt -o default; return ;;
        --secret-file) compopt -o default; return ;;
        --format) COMPREPLY=($(compgen -W 'native leveldb corekv badger clickhouse gocrc32 guava parquet redisbloom dcso' -- "$cur")); return ;;
        -n|--keys) return ;;
        -p|--fpr) return ;;
        --hashes) return ;;
        --seed) return ;;
        --bits-per-key) return ;;
        --int) COMPREPLY=($(compgen -W '32 64' -- "$cur")); return ;;
        --variant) COMPREPLY=($(compgen -W 'guava2024 index numbers pre2024' -- "$cur")); return ;;
        --max-memory) return ;;
        esac
        options='--output --force --secret-file --format --keys --fpr --hashes --seed --bits-per-key --int --variant --quiet --json --max-memory --help' ;;
    cmp)
        case $prev in
        --secret-file) compopt -o default; return ;;
        --format) COMPREPLY=($(compgen -W 'native leveldb corekv badger clickhouse gocrc32 guava parquet redisbloom dcso' -- "$cur")); return ;;
        -n|--keys) return ;;
        -p|--fpr) return ;;
        --hashes) return ;;
        --seed) return ;;
        --bits-per-key) return ;;
        --int) COMPREPLY=($(compgen -W '32 64' -- "$cur")); return ;;
        --variant) COMPREPLY=($(compgen -W 'guava2024 index numbers pre2024' -- "$cur")); return ;;
        --max-memory) return ;;
        esac
        options='--secret-file --format --keys --fpr --hashes --seed --bits-per-key --int --variant --quiet --json --max-memory --help' ;;
    fold)
        case $prev in
        -o|--output) compopt -o default; return ;;
        -p|--fpr) return ;;
        --secret-file) compopt -o default; return ;;
        --format) COMPREPLY=($(compgen -W 'native leveldb corekv badger clickhouse gocrc32 guava parquet redisbloom dcso' -- "$cur")); return ;;
        --max-memory) return ;;
        esac
        options='--output --force --fpr --secret-file --format --quiet --json --max-memory --help' ;;
    intersect)
        case $prev in
        -o|--output) compopt -o default; return ;;
        --secret-file) compopt -o default; return ;;
        --format) COMPREPLY=($(compgen -W 'native leveldb corekv badger clickhouse gocrc32 guava parquet redisbloom dcso' -- "$cur")); return ;;
        -n|--keys) return ;;
        -p|--fpr) return ;;
        --hashes) return ;;
        --seed) return ;;
        --bits-per-key) return ;;
        --int) COMPREPLY=($(compgen -W '32 64' -- "$cur")); return ;;
        --variant) COMPREPLY=($(compgen -W 'guava2024 index numbers pre2024' -- "$cur")); return ;;
        --max-memory) return ;;
        esac
        options='--output --force --secret-file --format --keys --fpr --hashes --seed --bits-per-key --int --variant --quiet --json --max-memory --help' ;;
    convert)
        case $prev in
        --from) COMPREPLY=($(compgen -W 'native leveldb corekv badger clickhouse gocrc32 guava parquet redisbloom dcso' -- "$cur")); return ;;
        --to) COMPREPLY=($(compgen -W 'native leveldb corekv badger clickhouse gocrc32 guava parquet redisbloom dcso' -- "$cur")); return ;;
        -o|--output) compopt -o default; return ;;
        --secret-file) compopt -o default; return ;;
        -n|--keys) return ;;
        -p|--fpr) return ;;
        --hashes) return ;;
        --seed) return ;;
        --bits-per-key) return ;;
        --int) COMPREPLY=($(compgen -W '32 64' -- "$cur")); return ;;
        --variant) COMPREPLY=($(compgen -W 'guava2024 index numbers pre2024' -- "$cur")); return ;;
        --max-memory) return ;;
        esac
        options='--from --to --output --force --secret-file --keys --fpr --hashes --seed --bits-per-key --int --variant --quiet --json --max-memory --help' ;;
    table)
        case $prev in
        --check) return ;;
        --column) return ;;
        --type) COMPREPLY=($(compgen -W 'string utf16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float double uint32be' -- "$cur")); return ;;
        --index) return ;;
        --columns) return ;;
        -p|--fpr) return ;;
        --max-memory) return ;;
        esac
        options='--check --column --type --index --columns --fpr --plot --quiet --json --max-memory --help' ;;
    push)
        case $prev in
        --redis) return ;;
        --key) return ;;
        --auth-file) compopt -o default; return ;;
        --secret-file) compopt -o default; return ;;
        --shards) return ;;
        -n|--keys) return ;;
        -p|--fpr) return ;;
        --meta) return ;;
        --kind) COMPREPLY=($(compgen -W 'auto blocked classic static counting scalable window' -- "$cur")); return ;;
        --format) COMPREPLY=($(compgen -W 'native leveldb corekv badger clickhouse gocrc32 guava parquet redisbloom dcso' -- "$cur")); return ;;
        -j|--threads) return ;;
        -t|--delimiter) return ;;
        -k|--field) return ;;
        --max-line) return ;;
        --max-memory) return ;;
        esac
        options='--redis --key --force --cluster --auth-file --secret-file --shards --keys --fpr --meta --kind --format --threads --null --crlf --skip-empty --delimiter --field --trim --lower --upper --max-line --quiet --max-memory --help' ;;
    bench)
        case $prev in
        -n|--keys) return ;;
        -p|--fpr) return ;;
        --kind) COMPREPLY=($(compgen -W 'auto blocked classic static counting scalable window' -- "$cur")); return ;;
        -j|--threads) return ;;
        --max-memory) return ;;
        esac
        options='--keys --fpr --kind --threads --json --max-memory --help' ;;
    esac
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
    else
        compopt -o default
    fi
}
complete -F _umbel umbel
