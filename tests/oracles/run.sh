#!/bin/bash
# run.sh SCRIPT COMMAND PROJECT: runs a script in a folder of its own, by the first Python that has what it imports: $DISTMAP_ORACLES,
# that of tools/oracles.sh, the one on the PATH, Debian's. 77, which is "skipped", where none has.
set -euo pipefail
script=$(realpath "$1") command=$(realpath "$2") project=$(realpath "$3")
imports=$(sed -n 's/^# needs: //p' "$script")
for python in ${DISTMAP_ORACLES:-} "$project/build/oracles/bin/python" python3 /usr/bin/python3; do
    "$python" -c "import $imports" 2>/dev/null || continue
    work=$(mktemp -d /tmp/distmap-oracle-XXXXXX)
    trap 'rm -rf "$work"' EXIT
    cd "$work"
    "$python" -B "$script" "$command" "$project"
    exit
done
echo "SKIPPED: no Python with $imports; tools/oracles.sh installs them"
exit 77
