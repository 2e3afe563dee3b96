# What the tests of edt --distributed share: tests/cli/checks.sh, and runs over ranks.
#   SCRIPT COMMAND PROJECT MPIEXEC OPTION_FOR_THE_NUMBER
source "$(dirname "${BASH_SOURCE[0]}")/../cli/checks.sh" "$@" || exit 1
mpiexec=("$3" "$4")

over() { # ranks; then arguments
    local ranks=$1
    shift
    rm -rf "$out"
    mkdir "$out"
    "${mpiexec[@]}" "$ranks" "$distmap" edt "$@" --distributed >"$work/stdout" 2>"$work/stderr"
    status=$?
}
said() { # of the command one line, matching the pattern; what mpiexec adds is its own affair
    equal "$(grep -c '^distmap: ' "$work/stderr")" 1 && matches "$(grep '^distmap: ' "$work/stderr")" "^distmap: ($1)" && return
    cat "$work/stderr"
    return 1
}
fails() { # what, wanted status, pattern of the line
    check "$1: status" equal "$status" "$2"
    check "$1: said once: $3" said "$3"
    check "$1: no file is left" equal "$(ls -A "$out")" ""
}
over_fails() { # ranks, wanted status, pattern; then arguments
    over "$1" "${@:4}"
    fails "$1 ranks, ${*:4}" "$2" "$3"
}

# Random bytes: JPEG data, from a drawn place on, over and over.
make_volume() { # file, shape, bytes
    make_npy "$1" '|u1' "$2" ''
    while tail -c +$((RANDOM % 9000 + 1000)) "$data/retina.jpg"; do :; done 2>/dev/null | head -c "$3" >>"$1"
}
