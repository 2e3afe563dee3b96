# What the tests of the command share. A test script sources this file, says what it expects by the functions below, and
# ends with `finish`. $1 is the command, $2 the project's folder.
#
# Every run goes into an empty folder $out, so that what a run leaves behind, temporary files included, is seen.
set -u
LC_ALL=C
export LC_ALL
script=$(realpath "$0")
distmap=$(realpath "$1")
project=$(realpath "$2")
data=$project/data
work=$(TMPDIR=${TMPDIR:-$([[ -w /dev/shm ]] && echo /dev/shm || echo /tmp)} mktemp -d) # in memory where that can be: nothing is to wait for a disk
out=$work/out
trap 'rm -rf "$work"' EXIT
mkdir "$out"
cd "$work"
export XDG_CACHE_HOME=$work/cache # so that nothing is taken from what was tuned here
checks=0 failures=0

check() { # what is expected; then a command that must succeed
    local what=$1
    shift
    checks=$((checks + 1))
    if "$@"; then
        echo "ok   $what"
    else
        failures=$((failures + 1))
        echo "FAIL $what"
        echo "     checked by: $*"
    fi
}

equal() { # got, want
    [[ $1 == "$2" ]] && return 0
    echo "     got:  $1"
    echo "     want: $2"
    return 1
}

matches() { # text, extended regular expression
    [[ $1 =~ $2 ]] && return 0
    echo "     got:     $1"
    echo "     pattern: $2"
    return 1
}

largest_file=unlimited # KiB that the command may write into one file

run() { # runs the command; status, stdout and stderr go to $status, $work/stdout, $work/stderr
    rm -rf "$out"
    mkdir "$out"
    (ulimit -f "$largest_file" && exec "$distmap" "$@") >"$work/stdout" 2>"$work/stderr"
    status=$?
}

works() { # what; then arguments: status 0, nothing on stdout
    local what=$1
    shift
    run "$@"
    check "$what: status" equal "$status $(cat "$work/stderr" | grep -c '^distmap:')" "0 0"
    check "$what: nothing on stdout" equal "$(head -c 200 "$work/stdout" | tr -d '\0')" ""
}

one_line() { # exactly one line on stderr, of the command, matching the pattern; no control characters
    [[ $(wc -l <"$work/stderr") == 1 ]] && matches "$(cat "$work/stderr")" "^distmap: .*($1)" && return 0
    cat "$work/stderr"
    return 1
}

refuses() { # wanted status, pattern of the one line; then arguments
    local want=$1 pattern=$2
    shift 2
    run "$@"
    check "distmap $*: status $want" equal "$status" "$want"
    check "distmap $*: one line, ${pattern}" one_line "$pattern"
    check "distmap $*: stdout is empty" equal "$(wc -c <"$work/stdout")" 0
    check "distmap $*: no file is left" equal "$(ls -A "$out")" ""
}

npy_values() { # file, od type (f4, f8, d4, u1, ...): the elements on one line
    local header
    header=$(od -An -tu2 -j8 -N2 "$1")
    od -An -v -w8 -t"$2" -j$((10 + header)) "$1" | xargs
}

npy_header() { head -c 128 "$1" | tr -d '\0' | grep -ao "{.*}"; }

make_npy() { # file, descr, shape, then the data's bytes as printf escapes
    local header="{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header" >"$1"
    printf "$4" >>"$1"
}

finish() {
    echo "$checks checks, $failures failed"
    [[ $failures == 0 && $checks -gt 0 ]]
    exit
}
