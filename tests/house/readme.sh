#!/bin/bash
# tests/house/readme.sh README LIBRARY COMMAND
# The README's examples work when typed: its C program compiles, runs and prints the number in its comment; its commands run, and those
# of docs/.
set -euo pipefail
readme=$(realpath "$1")
library=$(realpath "$2")
source=$(dirname "$readme")
folder=$(dirname "$(realpath "$3")")
PATH=$folder:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_CACHE_HOME=$work/cache # what is tuned here is not for keeps
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
ln -s "$source/data" data

# block LANGUAGE FILE...: the lines between a fence of that language and its end.
block() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "${@:2}" | grep -v '^```'; }

block c "$readme" >example.c
want=$(sed -n 's|.*/\* \([0-9.]*\) \*/$|\1|p' example.c)
[[ -n $want ]] || { echo "readme: the C program does not say what it prints"; exit 1; }
cc -Wall -Wextra -Werror -I"$source/include" example.c "$library" -Wl,-rpath,"$(dirname "$library")" -o example
got=$(./example)
[[ $got == "$want" ]] || { echo "readme: the C program prints '$got', not '$want'"; exit 1; }

commands=0
while IFS= read -r line; do
    [[ -n $line ]] || continue
    [[ $line != mpirun* || -x $folder/distmap-mpi ]] || continue # a build without MPI
    bash -c "$line" >log 2>&1 </dev/null || { echo "readme: fails: $line"; cat log; exit 1; }
    commands=$((commands + 1))
    for file in $(grep -oE '(-o|--index|--preview) [^ ]+' <<<"$line" | cut -d' ' -f2); do
        [[ -s $file ]] || { echo "readme: no $file after: $line"; exit 1; }
    done
done < <(block sh "$readme" "$source"/docs/{command,scale}.md)
[[ $commands -ge 15 ]] || { echo "readme: only $commands commands found"; exit 1; }
echo "readme: the program and $commands commands work"
