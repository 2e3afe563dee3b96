# What is written about the command is true: the examples run, the manual and the completion know every option.
source "$(dirname "$0")/checks.sh" "$@" || exit 1

ln -s "$data" data
mkdir bin
ln -s "$distmap" bin/distmap
PATH=$work/bin:$PATH
manual=$project/docs/man/distmap.1
plain_manual=$(sed 's/\\-/-/g; s/\\f.//g' "$manual")

subcommands=$(distmap --help | sed -n '/^Subcommands/,/^$/s/^  \([a-z]*\) .*/\1/p')
check "subcommands are listed" matches "$(echo $subcommands)" "^edt voronoi skeleton thickness morph compare cvt esf pass info methods devices bench tune report$"
for subcommand in $subcommands; do
    text=$(distmap "$subcommand" --help)
    check "manual: a line of its own in the synopsis for $subcommand" equal \
        "$(sed -n '/^.SH SYNOPSIS/,/^.SH DESC/p' <<<"$plain_manual" | grep -x -B1 ".B distmap $subcommand" | head -1 |
            grep -xE '\.br|\.SH SYNOPSIS' | wc -l)" 1
    check "manual: a paragraph of its own for $subcommand" equal \
        "$(sed -n '/^.SH SUBCOMMANDS/,/^.SH OPTIONS/p' <<<"$plain_manual" | grep -x -B1 ".B $subcommand" | head -1)" .TP
    check "$subcommand --help: usage" matches "$text" "^Usage: distmap $subcommand "
    check "$subcommand -h is the same" equal "$(distmap "$subcommand" -h)" "$text"
    example=$(sed -n '/^Example:/,$s/^  distmap/distmap/p' <<<"$text")
    check "$subcommand --help: there is an example" matches "$example" "^distmap $subcommand "
    (eval "$example") >stdout 2>stderr
    check "$subcommand: the example runs: $example" equal "$?" 0
    for file in $(grep -oE '(-o|--index|--preview) [^ ]+' <<<"$example" | cut -d' ' -f2); do
        check "$subcommand: the example makes $file" test -s "$file"
    done
    for option in $(grep -oE '^ +(-.,)? *--[a-z]+' <<<"$text" | grep -oE '\-\-[a-z]+'); do
        check "manual: $option" grep -qE -- "$option" <<<"$plain_manual"
    done
done

# The manual's examples, which stand between .nf and .fi.
make_npy mask.npy '|u1' '2, 2' '\1\1\0\1'
count=0
# Open MPI wants to be told that it may start more than there are processors, and as root; and leaks at its end.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
while read -r line; do
    [[ $line != mpirun* || -x $(dirname "$distmap")/distmap-mpi ]] || continue # a build without MPI
    [[ $line != mpirun* ]] || line="ASAN_OPTIONS=detect_leaks=0 $line"
    (eval "$line") >stdout 2>stderr </dev/null
    check "manual: the example runs: $line" equal "$?" 0
    count=$((count + 1))
done < <(sed -n '/^\.nf/,/^\.fi/{/^\./d;p}' <<<"$plain_manual")
check "manual: examples were found" test "$count" -ge 3
check "manual: squared distances went through the pipe" equal "$(npy_values squared.npy u4)" "1 2 0 1"
if command -v groff >/dev/null; then
    check "manual: groff has nothing to say" equal "$(groff -man -Tutf8 -ww "$manual" 2>&1 >/dev/null)" ""
fi

# Bash completion.
source "$project/cli/completion/distmap.bash"
compopt() { :; } # which works during a completion alone
complete_line() { # words; the last one is being typed: what is offered
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _distmap distmap "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    echo "${COMPREPLY[@]}"
}
check "completion: subcommands" equal "$(complete_line distmap v)" voronoi
check "completion: options" equal "$(complete_line distmap edt --thr)" "--threshold --threads"
check "completion: options of that subcommand alone" equal "$(complete_line distmap info --thr)" ""
check "completion: methods" equal "$(complete_line distmap edt --method brute/cp)" brute/cpu
check "completion: lists" equal "$(complete_line distmap bench --patterns corner,bl)" corner,blobs
check "completion: files" equal "$(complete_line distmap edt mask.n)" mask.npy

finish
