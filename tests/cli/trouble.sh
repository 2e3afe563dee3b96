# A system that refuses: full disks, folders that cannot be written, closed pipes, signals.
source "$(dirname "$0")/checks.sh" "$@" || exit 1

# 512 x 512: the map takes 1 MiB, the mask is noise enough not to be compressed away.
{
    printf 'P5 512 512 255\n'
    cat "$data/retina.jpg" | head -c 262144
} >image.pgm
(($(stat -c %s image.pgm) == 262144 + 15)) || { echo "retina.jpg is too short"; exit 1; }

# A disk that is full, where this process may mount one: in a name space of its own, by a second run of this script.
if [[ ${3:-} == full ]]; then
    mount -t tmpfs -o size=600k tmpfs "$out" || { echo "skip: no right to mount"; exit 0; }
    for ending in npy tif nii; do
        "$distmap" edt image.pgm -o "out/d.$ending" --threshold 128 2>stderr
        check "full disk, $ending: status" equal "$?" 1
        check "full disk, $ending: one line" one_line "out/d.$ending: .*[Nn]o space"
        check "full disk, $ending: no file is left" equal "$(ls -A out)" ""
    done
    "$distmap" edt "$data/horse.png" --channel luma -o out/d.npy --threshold 128 --index out/i.npy 2>stderr
    check "full disk for the second output: status" equal "$?" 1
    check "full disk for the second output: one line" one_line "out/i.npy: .*[Nn]o space"
    check "full disk for the second output: no file is left" equal "$(ls -A out)" ""
    "$distmap" cvt "$data/coins.png" -o out/p.svg --points 20000 2>stderr
    check "full disk for a text: status" equal "$?" 1
    check "full disk for a text: one line" one_line "out/p.svg: cannot write: No space"
    check "full disk for a text: no file is left" equal "$(ls -A out)" ""
    umount "$out"
    finish
fi

# Folders that are none, or are not there, or take no files (root may write anywhere else).
refuses 1 "missing/d.npy: .*[Nn]o such file" edt image.pgm -o missing/d.npy
refuses 1 "image.pgm/d.npy: .*[Nn]ot a directory" edt image.pgm -o image.pgm/d.npy
refuses 1 "/proc/d.npy: " edt image.pgm -o /proc/d.npy
refuses 1 "/proc/i.npy: " edt image.pgm -o out/d.npy --index /proc/i.npy
refuses 1 "/proc/p.png: " edt image.pgm -o out/d.npy --index out/i.npy --preview /proc/p.png
refuses 1 "/proc/v.tif: " voronoi image.pgm -o /proc/v.tif
refuses 1 "/proc/b.json: " bench --sizes 8 --volumes 4 --patterns corner --quiet -o /proc/b.json
mkdir folder.npy
refuses 1 "folder.npy: " edt image.pgm -o folder.npy
check "the folder is still there, alone" equal "$(ls -d folder.npy*)" folder.npy

# Without the program that has MPI in it.
mkdir alone
cp "$distmap" alone
alone/distmap edt image.pgm -o out/d.npy --distributed 2>stderr
check "without distmap-mpi: status" equal "$?" 1
check "without distmap-mpi: one line" one_line "there is no .*/alone/distmap-mpi: this distmap was built without MPI"

# No room: a limit on the size of files does what a full disk does, in every format. What comes from a packed file would be packed.
"$distmap" edt "$data/coins.png" --threshold 128 -o coins.npy --quiet
for ending in npy tif nii; do
    largest_file=100
    refuses 1 "out/d.$ending: cannot write: File too large" edt image.pgm -o "out/d.$ending" --threshold 128
    refuses 1 "out/i.$ending: cannot write: File too large" \
        edt coins.npy -o out/d.nii.gz --threshold 1 --index "out/i.$ending"
done
largest_file=4
refuses 1 "out/d.nii.gz: cannot write: File too large" edt image.pgm -o out/d.nii.gz --threshold 128
largest_file=20
refuses 1 "out/p.png: cannot write: File too large" \
    edt "$data/coins.png" -o out/d.nii.gz --limit 1 --threshold 128 --preview out/p.png
largest_file=unlimited

# The full disk.
if unshare -m true 2>/dev/null; then
    check "a full disk" unshare -m bash "$script" "$distmap" "$project" full
else
    echo "skip a full disk: no right to mount one"
fi

# Standard output that takes nothing.
for arguments in "edt image.pgm -o -" "info image.pgm" "methods --json" "edt --help" "--version"; do
    "$distmap" $arguments --quiet >/dev/full 2>stderr || code=$?
    [[ $arguments == --version ]] && { "$distmap" $arguments >/dev/full 2>stderr; code=$?; }
    check "distmap $arguments >/dev/full: status" equal "$code" 1
    check "distmap $arguments >/dev/full: one line" one_line "standard output|-: "
done
"$distmap" edt image.pgm -o - --quiet 2>stderr | head -c 10 >/dev/null
check "a closed pipe: status" equal "${PIPESTATUS[0]}" 1
check "a closed pipe: one line" one_line "standard output|-: "

# Signals: a computation of minutes, ended after a moment.
slow="edt image.pgm -o out/d.npy --index out/i.tif --preview out/p.png --threshold 128 --method brute/cpu --threads 1"
{
    printf 'P5 700 700 255\n'
    yes | head -c 490000
} >slow.pgm
slow=${slow/image.pgm/slow.pgm}
slow=${slow/128/11}
for signal in INT:130 TERM:143 HUP:129; do
    rm -rf out
    mkdir out
    timeout --preserve-status -s "${signal%:*}" -k 60 0.7 "$distmap" $slow 2>stderr
    check "SIG${signal%:*}: status" equal "$?" "${signal#*:}"
    check "SIG${signal%:*}: no file is left" equal "$(ls -A out)" ""
    check "SIG${signal%:*}: nothing is said" equal "$(cat stderr)" ""
done

# A stalled pipe: somebody has it open and does not read. A signal ends the wait, also that of another thread.
mkfifo stalled
ln -s stalled stalled.npy
sleep 300 <>stalled &
reader=$!
{
    printf 'P5 2000 2000 255\n'
    yes | head -c 4000000
} >large.pgm
exec 9<>stalled
# LeakSanitizer stops all threads when a program ends, which the command's alarms disturb: one sanitized run in some hundred did not
# end within a second.
with_leaks=${ASAN_OPTIONS:-}
export ASAN_OPTIONS=$with_leaks:detect_leaks=0
for how in "edt slow.pgm -o -" "edt slow.pgm -o stalled.npy" "edt large.pgm -o - --memory 34M"; do
    for signal in INT:130 TERM:143; do
        began=$(date +%s%N)
        timeout --preserve-status -s "${signal%:*}" -k 5 0.5 "$distmap" $how --quiet >&9 2>stderr 9>&-
        code=$?
        took=$((($(date +%s%N) - began) / 1000000))
        check "a stalled pipe: $how: SIG${signal%:*}: status" equal "$code" "${signal#*:}"
        check "a stalled pipe: $how: SIG${signal%:*}: within a second" test $took -lt 1500
    done
done
export ASAN_OPTIONS=$with_leaks
exec 9>&-
kill $reader

# A progress bar on a terminal, and only there. (A terminal is what script(1) gives.)
if command -v script >/dev/null; then
    script -qec "timeout --preserve-status -s INT 1.5 '$distmap' $slow" /dev/null </dev/null >bar.txt 2>&1
    check "a bar on a terminal" grep -q 'computing *\[#* *\] *[0-9]*%' bar.txt
    script -qec "timeout --preserve-status -s INT 1.5 '$distmap' $slow --quiet" /dev/null </dev/null >bar.txt 2>&1
    check "no bar with --quiet" equal "$(cat bar.txt)" ""
fi

finish
