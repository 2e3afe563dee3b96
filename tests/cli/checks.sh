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

# These functions start no program but the command where they can: there are thousands of checks, and a program takes a millisecond.
is_empty() { # folder; names that begin with a dot count
    local names=("$1"/* "$1"/.[!.]* "$1"/..?*) name
    for name in "${names[@]}"; do
        [[ ! -e $name && ! -L $name ]] || { echo "     there is $name"; return 1; }
    done
    [[ -d $1 ]]
}

run() { # runs the command; status, stdout and stderr go to $status, $work/stdout, $work/stderr
    is_empty "$out" >/dev/null || { rm -rf "$out" && mkdir "$out"; }
    (ulimit -f "$largest_file" && exec "$distmap" "$@") >"$work/stdout" 2>"$work/stderr"
    status=$?
}

complains_not() { # lines, none of which is an error's
    local line
    for line; do
        [[ $line != distmap:* ]] || { echo "     said: $line"; return 1; }
    done
}

works() { # what; then arguments: status 0, nothing on stdout
    local what=$1 said
    shift
    run "$@"
    mapfile -t said <"$work/stderr"
    check "$what: status" equal "$status" 0
    check "$what: no complaint" complains_not "${said[@]}"
    check "$what: nothing on stdout" test ! -s "$work/stdout"
}

one_line() { # exactly one line on stderr, of the command, matching the pattern; no control characters
    local said
    mapfile said <"$work/stderr"
    [[ ${#said[@]} == 1 && ${said[0]} == *$'\n' ]] && matches "${said[0]%$'\n'}" "^distmap: .*($1)" && return 0
    cat "$work/stderr"
    return 1
}

refuses() { # wanted status, pattern of the one line; then arguments
    local want=$1 pattern=$2
    shift 2
    run "$@"
    check "distmap $*: status $want" equal "$status" "$want"
    check "distmap $*: one line, ${pattern}" one_line "$pattern"
    check "distmap $*: stdout is empty" test ! -s "$work/stdout"
    check "distmap $*: no file is left" is_empty "$out"
}

npy_values() { # file, od type (f4, f8, d4, u1, ...): the elements on one line
    local header
    header=$(od -An -tu2 -j8 -N2 "$1")
    echo $(od -An -v -w8 -t"$2" -j$((10 + header)) "$1")
}

npy_header() { head -c 128 "$1" | tr -d '\0' | grep -ao "{.*}"; }

make_npy() { # file, descr, shape, then the data's bytes as printf escapes
    local header="{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header" >"$1"
    printf "$4" >>"$1"
}

# Labels of 1, 2, 4 or 8 bytes: runs of three of them, of drawn lengths, over and over; wide ones differ in the first byte and in the last.
make_labels() { # file, shape, elements
    local bytes=$((1 << RANDOM % 4)) run=$((RANDOM % 40 + 1)) pieces=() label
    for label in '\0' '\1' '\2'; do
        local first=$label last=$label
        ((bytes > 1 && RANDOM % 2)) && last='\0'
        ((bytes > 1)) && [[ $last == $label ]] && first='\0'
        local middle=
        while ((${#middle} < 2 * (bytes - 2))); do middle+='\0'; done
        ((bytes > 1)) && pieces+=("$first$middle$last") || pieces+=("$label")
    done
    make_npy "$1" "$([[ $bytes == 1 ]] && echo '|' || echo '<')u$bytes" "$2" ''
    local i k piece all=
    for ((k = 0; k < 300; k++)); do
        piece=${pieces[RANDOM % 3]}
        for ((i = RANDOM % run; i >= 0; i--)); do all+=$piece; done
    done
    printf "$all" >piece
    while cat piece; do :; done 2>/dev/null | head -c $(($3 * bytes)) >>"$1"
}

finish() {
    echo "$checks checks, $failures failed"
    [[ $failures == 0 && $checks -gt 0 ]]
    exit
}
