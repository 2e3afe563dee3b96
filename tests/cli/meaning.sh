# What elements mean, said and not guessed: sites and signs, warnings, elements without data, samples of pictures.
source "$(dirname "$0")/checks.sh" "$@" || exit 1

# ---- Sites by default, and signs ----

make_npy sides.npy '|u1' '5,' '\0\0\1\1\1'
signed() { # what; values; what is said to be positive; then options
    works "$1" edt sides.npy -o out/d.npy "${@:4}"
    check "$1: values" equal "$(npy_values out/d.npy f4)" "$2"
    check "$1: which side is positive" matches "$(cat stderr)" "; positive $3$"
}
signed "signed" "-2 -1 1 2 3" "inside the objects, negative outside" --signed
signed "signed inside" "-2 -1 1 2 3" "inside the objects, negative outside" --signed inside
signed "signed outside: negative inside" "2 1 -1 -2 -3" "outside the objects, negative inside" --signed outside
signed "signed=outside" "2 1 -1 -2 -3" "outside the objects, negative inside" --signed=outside
signed "the sites are the objects" "2 1 -1 -2 -3" "outside the objects, negative inside" --signed outside --sites nonzero
signed "the sites are the objects, inside" "-2 -1 1 2 3" "inside the objects, negative outside" --signed inside --sites nonzero
signed "the sites are the objects, off the sites" "2 1 -1 -2 -3" "outside the objects, negative inside" --signed --sites nonzero
signed "a threshold" "2 1 -1 -2 -3" "outside the objects, negative inside" --signed outside --threshold 1
refuses 2 "--signed=left: option does not take an argument" edt sides.npy -o out/d.npy --signed=left
refuses 2 "takes one input, but got" edt sides.npy -o out/d.npy --signed left
refuses 2 "--signed is given twice" edt sides.npy -o out/d.npy --signed --signed outside

lines() { tr -s ' ' | sed 's/^ *//; s/ *$//'; }
"$distmap" --help | sed -n '/^Sites by default/,/^$/{/^  /p}' | lines >table
check "the table of sites has a line for each" equal "$(wc -l <table)" 9
sed 's/^ \* *//' "$project/include/distmap.h" | lines >header
sed 's/\\-/-/g' "$project/docs/man/distmap.1" | lines >manual
lines <"$project/README.md" >readme
lines <"$project/python/distmap/__init__.py" >package
for text in header manual readme package; do
    check "the $text has the table" equal "$(grep -xFf table "$text")" "$(cat table)"
done
for subcommand in edt voronoi skeleton thickness morph compare esf pass; do
    check "$subcommand --help has it" equal "$("$distmap" $subcommand --help | lines | grep -xFf table)" "$(cat table)"
done

finish
