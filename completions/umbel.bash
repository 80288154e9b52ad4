# bash completion for umbel; made by `umbel help --completion bash`
_umbel() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options=''
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W 'help --help --version plan build check add uniq info verify merge cmp fold intersect convert bench' -- "$cur"))
        return
    fi
    case ${COMP_WORDS[1]} in
    help)
        options='plan build check add uniq info verify merge cmp fold intersect convert bench'
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
        return ;;
    plan)
        case $prev in
        -n|--keys) return ;;
        -p|--fpr) return ;;
        -m|--bytes) return ;;
        --kind) COMPREPLY=($(compgen -W 'auto blocked classic' -- "$cur")); return ;;
        --hashes) return ;;
        esac
        options='--keys --fpr --bytes --kind --hashes --plot --json --help' ;;
    build)
        case $prev in
        -o|--output) compopt -o default; return ;;
        -n|--keys) return ;;
        -p|--fpr) return ;;
        -m|--bytes) return ;;
        --kind) COMPREPLY=($(compgen -W 'auto blocked classic' -- "$cur")); return ;;
        --hashes) return ;;
        --seed) return ;;
        --meta) return ;;
        --format) COMPREPLY=($(compgen -W 'native' -- "$cur")); return ;;
        -t|--delimiter) return ;;
        -k|--field) return ;;
        --max-line) return ;;
        -j|--threads) return ;;
        esac
        options='--output --force --keys --fpr --bytes --kind --hashes --seed --meta --format --null --crlf --skip-empty --delimiter --field --trim --lower --upper --max-line --strict --threads --quiet --json --help' ;;
    check)
        case $prev in
        --also) compopt -o default; return ;;
        --format) COMPREPLY=($(compgen -W 'native' -- "$cur")); return ;;
        -t|--delimiter) return ;;
        -k|--field) return ;;
        --max-line) return ;;
        -j|--threads) return ;;
        esac
        options='--invert --count --quiet --also --annotate --format --null --crlf --skip-empty --delimiter --field --trim --lower --upper --max-line --threads --help' ;;
    add)
        case $prev in
        --format) COMPREPLY=($(compgen -W 'native' -- "$cur")); return ;;
        -t|--delimiter) return ;;
        -k|--field) return ;;
        --max-line) return ;;
        -j|--threads) return ;;
        esac
        options='--strict --format --null --crlf --skip-empty --delimiter --field --trim --lower --upper --max-line --threads --quiet --json --help' ;;
    uniq)
        case $prev in
        -n|--keys) return ;;
        -p|--fpr) return ;;
        -m|--bytes) return ;;
        --kind) COMPREPLY=($(compgen -W 'auto blocked classic' -- "$cur")); return ;;
        --seed) return ;;
        --state) compopt -o default; return ;;
        -t|--delimiter) return ;;
        -k|--field) return ;;
        --max-line) return ;;
        -j|--threads) return ;;
        esac
        options='--keys --fpr --bytes --kind --seed --state --repeated --strict --null --crlf --skip-empty --delimiter --field --trim --lower --upper --max-line --threads --quiet --help' ;;
    info)
        case $prev in
        --format) COMPREPLY=($(compgen -W 'native' -- "$cur")); return ;;
        esac
        options='--format --json --help' ;;
    verify)
        case $prev in
        --present) compopt -o default; return ;;
        --absent) compopt -o default; return ;;
        --format) COMPREPLY=($(compgen -W 'native' -- "$cur")); return ;;
        -t|--delimiter) return ;;
        -k|--field) return ;;
        --max-line) return ;;
        -j|--threads) return ;;
        esac
        options='--present --absent --format --null --crlf --skip-empty --delimiter --field --trim --lower --upper --max-line --threads --quiet --json --help' ;;
    merge)
        case $prev in
        -o|--output) compopt -o default; return ;;
        --format) COMPREPLY=($(compgen -W 'native' -- "$cur")); return ;;
        esac
        options='--output --force --format --quiet --json --help' ;;
    cmp)
        case $prev in
        --format) COMPREPLY=($(compgen -W 'native' -- "$cur")); return ;;
        esac
        options='--format --quiet --json --help' ;;
    fold)
        case $prev in
        -o|--output) compopt -o default; return ;;
        -p|--fpr) return ;;
        --format) COMPREPLY=($(compgen -W 'native' -- "$cur")); return ;;
        esac
        options='--output --force --fpr --format --quiet --json --help' ;;
    intersect)
        case $prev in
        -o|--output) compopt -o default; return ;;
        --format) COMPREPLY=($(compgen -W 'native' -- "$cur")); return ;;
        esac
        options='--output --force --format --quiet --json --help' ;;
    convert)
        case $prev in
        --from) COMPREPLY=($(compgen -W 'native' -- "$cur")); return ;;
        --to) COMPREPLY=($(compgen -W 'native' -- "$cur")); return ;;
        -o|--output) compopt -o default; return ;;
        --seed) return ;;
        esac
        options='--from --to --output --force --seed --quiet --json --help' ;;
    bench)
        case $prev in
        -n|--keys) return ;;
        -p|--fpr) return ;;
        --kind) COMPREPLY=($(compgen -W 'auto blocked classic' -- "$cur")); return ;;
        -j|--threads) return ;;
        esac
        options='--keys --fpr --kind --threads --json --help' ;;
    esac
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
    else
        compopt -o default
    fi
}
complete -F _umbel umbel
