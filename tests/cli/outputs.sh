# What is at an output's name: files of earlier runs, links, pipes, devices, modes, other runs, what killed runs left.
source "$(dirname "$0")/checks.sh" "$@" || exit 1

"$distmap" edt "$data/coins.png" --threshold 100 -o coins.npy --quiet # not packed: so no output is that can be otherwise
edt() { "$distmap" edt coins.npy --threshold 1 --quiet "$@" 2>stderr; }
mode() { stat -c %a "$1"; }
edt -o want.npy --index want_index.npy

# All or none: the second output fails at the last moment, and an earlier good one is as it was. (A limit on the size of files does
# what a full disk does.)
for second in i.npy i.tif i.pgm; do
    rm -f out/*
    printf 'an earlier result' >out/d.nii.gz
    chmod 600 out/d.nii.gz
    before=$(stat -c '%i %Y %a' out/d.nii.gz)
    (ulimit -f 100 && edt -o out/d.nii.gz --index "out/$second" --limit 1)
    check "second output $second fails: status" equal "$?" 1
    check "second output $second fails: the first is as it was" \
        equal "$(cat out/d.nii.gz) $(stat -c '%i %Y %a' out/d.nii.gz)" "an earlier result $before"
    check "second output $second fails: nothing is left" equal "$(ls -A out)" d.nii.gz
done
ln -s /dev/full out/full.npy
printf 'an earlier result' >out/d.npy
edt -o out/d.npy --index out/full.npy
check "a full device: status" equal "$?" 1
check "a full device: the first is as it was" equal "$(cat out/d.npy)" "an earlier result"

# The mode of what is replaced stays, that of a new file is the umask's; a file that may not be written is refused, of root too.
rm -f out/*
touch out/d.npy out/i.npy
chmod 600 out/d.npy
chmod 640 out/i.npy
edt -o out/d.npy --index out/i.npy
check "modes are kept" equal "$? $(mode out/d.npy) $(mode out/i.npy)" "0 600 640"
check "and the files are new" cmp out/d.npy want.npy
if [[ $(id -u) == 0 ]]; then
    chown 1234:4321 out/d.npy
    edt -o out/d.npy
    check "the owner is kept" equal "$(stat -c %u:%g out/d.npy)" 1234:4321
fi
# So do its access list and the user's attributes, where the file system has them; a folder's list is none of its.
cat >lists.py <<'END'
import os, struct, sys
act, path = sys.argv[1:]
entry = struct.Struct("<HHI").pack
NOBODY = 0xffffffff
access = struct.pack("<I", 2) + entry(1, 6, NOBODY) + entry(2, 6, 1234) + entry(4, 4, NOBODY) + entry(16, 6, NOBODY) + entry(32, 0, NOBODY)
lists = {"user.note": b"kept", "system.posix_acl_access": access}
if act == "folder":
    os.setxattr(path, "system.posix_acl_default", access)
for name, value in lists.items() if act in ("set", "show") else ():
    try:
        if act == "set":
            os.setxattr(path, name, value)
        elif os.getxattr(path, name) == value:
            print(name)
    except OSError:
        pass
if act == "none":
    print(len(os.listxattr(path)))
END
python3 lists.py set out/i.npy
lists=$(python3 lists.py show out/i.npy)
edt -o out/d.npy --index out/i.npy
check "attributes and the access list are kept ($(echo $lists))" equal "$(python3 lists.py show out/i.npy)" "$lists"
check "and nothing else of the file" cmp out/i.npy want_index.npy
mkdir out/listed
touch out/listed/d.npy
if python3 lists.py folder out/listed 2>/dev/null; then
    edt -o out/listed/d.npy
    check "a folder's access list is not the replaced file's" equal "$(python3 lists.py none out/listed/d.npy)" 0
fi
rm -rf out/listed
printf 'kept' >out/r.npy
chmod 444 out/r.npy
for arguments in "-o out/r.npy" "-o out/n.npy --index out/r.npy"; do
    edt $arguments
    check "read-only, $arguments: status" equal "$?" 1
    check "read-only, $arguments: one line" one_line "out/r.npy: is read-only, and is not replaced"
    check "read-only, $arguments: it is as it was" equal "$(cat out/r.npy) $(ls out/n.npy 2>/dev/null)" "kept "
done
"$distmap" cvt "$data/coins.png" --points 20 --quiet -o out/r.csv 2>stderr
chmod 400 out/r.csv
"$distmap" cvt "$data/coins.png" --points 20 --quiet -o out/r.csv 2>stderr
check "read-only text: status" equal "$?" 1
check "read-only text: one line" one_line "out/r.csv: is read-only"

# Links are followed, also to where nothing is yet, and stay.
rm -rf out
mkdir -p out/far
printf old >out/far/old.npy
ln -s far/old.npy out/d.npy
ln -s far/new.npy out/i.npy
ln -s far/new.csv out/p.csv
edt -o out/d.npy --index out/i.npy
check "links: status" equal "$?" 0
check "links stay" equal "$(readlink out/d.npy out/i.npy | xargs)" "far/old.npy far/new.npy"
check "links are followed" cmp out/far/old.npy want.npy
check "links are followed to a new file" cmp out/far/new.npy want_index.npy
"$distmap" cvt "$data/coins.png" --points 20 --quiet -o out/p.csv
check "a text's link" equal "$(readlink out/p.csv) $(wc -l <out/far/new.csv)" "far/new.csv 21"
ln -s loop.npy out/loop.npy
edt -o out/loop.npy
check "a link to itself" one_line "out/loop.npy: .*symbolic links"
check "nothing else is there" equal "$(ls -A out out/far | xargs)" \
    "out: d.npy far i.npy loop.npy p.csv out/far: new.csv new.npy old.npy"

# Pipes, devices and descriptors are written through, by every subcommand, and stay what they are.
rm -rf out/*
bench=(bench --sizes 8 --volumes 4 --patterns corner --methods minplus/cpu --repeat 1 --quiet)
mkfifo out/pipe.npy out/pipe.csv out/pipe.json
cat out/pipe.npy >got.npy &
edt -o out/pipe.npy
check "a pipe: status" equal "$?" 0
cat out/pipe.csv >got.csv &
"$distmap" cvt "$data/coins.png" --points 20 --quiet -o out/pipe.csv
check "a pipe, text: status" equal "$?" 0
cat out/pipe.json >got.json &
"$distmap" "${bench[@]}" -o out/pipe.json
check "a pipe, bench: status" equal "$?" 0
wait
check "a pipe: the same" cmp got.npy want.npy
check "a pipe, text: all of it" equal "$(wc -l <got.csv)" 21
check "a pipe, bench: all of it" equal "$(tail -c 2 got.json | tr -d '\n')" "}"
check "pipes stay" equal "$(stat -c %F out/pipe.npy out/pipe.csv out/pipe.json | sort -u)" fifo
ln -s /dev/null out/null.npy
ln -s /dev/null out/null.csv
null=$(stat -c '%F %t %T' /dev/null)
edt -o out/null.npy && "$distmap" cvt "$data/coins.png" --points 20 --quiet -o out/null.csv
check "/dev/null: status, and what it is" equal "$? $(stat -c '%F %t %T' /dev/null)" "0 $null"
{
    echo before
    "$distmap" "${bench[@]}" -o /dev/stdout
    echo after
} >got.txt
check "/dev/stdout, which is a file" equal "$(sed -n '1p;$p' got.txt | xargs) $(grep -c seed got.txt)" "before after 1"
check "nothing else is there" equal "$(ls -A out | xargs)" "null.csv null.npy pipe.csv pipe.json pipe.npy"

# What killed runs left goes with the next run in the folder; what a living one has stays.
rm -rf out/*
{
    printf 'P5 700 700 255\n'
    yes | head -c 490000
} >slow.pgm
slow=(edt slow.pgm --threshold 11 --threads 1 --method brute/cpu --quiet)
"$distmap" "${slow[@]}" -o out/killed.npy --index out/killed.zarr 2>/dev/null &
killed=$!
"$distmap" "${slow[@]}" -o out/living.npy 2>/dev/null &
living=$!
while (($(ls -A out | wc -l) < 3)); do sleep 0.01; done
kill -KILL $killed
wait $killed 2>/dev/null
check "two files and a folder that grow" equal "$(ls -A out | grep -c '^.distmap-')" 3
edt -o out/d.npy
check "those of the dead are gone, that of the living is there" equal "$(ls -A out | grep -c '^.distmap-')" 1
kill -TERM $living
wait $living 2>/dev/null
check "and goes with it" equal "$(ls -A out)" d.npy

# Many runs with the same two outputs at once: at the end both are of one of them.
rm -rf out/*
for t in 90 100 110 120; do
    "$distmap" edt "$data/coins.png" --threshold $t --quiet -o want$t.npy --index want_i$t.npy
done
for round in 1 2; do
    for t in 90 100 110 120; do
        "$distmap" edt "$data/coins.png" --threshold $t --threads 1 --quiet --no-sync -o out/d.npy --index out/i.npy &
    done
    wait
    same=none
    for t in 90 100 110 120; do
        cmp -s out/d.npy want$t.npy && cmp -s out/i.npy want_i$t.npy && same=one
    done
    check "round $round of four runs at once: both outputs of one" equal "$same $(ls -A out | xargs)" "one d.npy i.npy"
done

# Six at once add to one HDF5 file, which is not there at first.
if "$distmap" --help | grep -q '\.h5'; then
    rm -rf out/*
    for p in 1 2 3 4 5 6; do
        (for k in 1 2 3; do edt --threads 1 --no-sync -o "out/all.h5:/p$p/d$k" || echo failed; done) >>failed.txt &
    done
    wait
    there=0
    for p in 1 2 3 4 5 6; do
        for k in 1 2 3; do
            "$distmap" info "out/all.h5:/p$p/d$k" >/dev/null 2>&1 && there=$((there + 1))
        done
    done
    check "six add to one .h5: none fails, all are there" equal "$there of $((18 - $(wc -l <failed.txt)))" "18 of 18"
    check "and nothing else" equal "$(ls -A out)" all.h5
fi

# An input that is cut short after its header was read and before its elements are, which waits at a pipe that nobody opens.
make_npy long.npy '|u1' '1000, 1000' ''
head -c 1000000 /dev/zero | tr '\0' '\1' >>long.npy
rm -rf out/*
mkfifo pipe.npy
"$distmap" edt long.npy -o pipe.npy --index out/i.npy --preview out/p.png --quiet 2>stderr &
cut=$!
sleep 0.5
truncate -s 4096 long.npy
timeout 20 cat pipe.npy >/dev/null
wait $cut
check "cut short: status" equal "$?" 1
check "cut short: one line" one_line "long.npy: was cut short"
check "cut short: nothing is left" equal "$(ls -A out)" ""

finish
