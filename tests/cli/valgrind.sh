# The command under valgrind: no use of memory that nothing wrote, no access outside of it. One run; with
# DISTMAP_TEST_ALL each format, and all of outputs.sh.
source "$(dirname "$0")/checks.sh" "$@" || exit 1
command -v valgrind >/dev/null || { echo "SKIPPED: no valgrind"; exit 77; }

# A finding is status 99 and one line in findings/.
mkdir findings
cat >under <<END
#!/bin/bash
exec valgrind --quiet --error-exitcode=99 --leak-check=no --log-file='$work/findings/%p' '$distmap' "\$@"
END
chmod +x under

clean() { # what; then arguments
    ./under "${@:2}" >stdout 2>stderr
    check "$1: status" equal "$?" 0
    check "$1: nothing found" equal "$(cat findings/*)" ""
}
make_npy mask.npy '|u1' '3, 4' '\1\1\0\1\1\1\1\1\1\1\1\1'
clean "edt" edt mask.npy -o out/d.npy --index out/i.npy --threads 2
[[ ${DISTMAP_TEST_ALL:-} ]] || finish

for ending in png tif nii nrrd mha zarr h5; do
    "$distmap" --help | grep -q "[ .]$ending\b" && clean "edt to $ending" edt mask.npy -o "out/d.$ending"
done
bash "${script%/*}/outputs.sh" "$work/under" "$project" >outputs.log 2>&1
check "outputs.sh: status" equal "$?" 0
check "outputs.sh: nothing found" equal "$(cat findings/* | head -n 20)" ""
finish
