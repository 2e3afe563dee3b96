"""The trials of those on the CPU (trials.py)."""

import sys
from pathlib import Path

import contestants
import trials
from package import use

NAMES = ("distmap", *(name for name in contestants.PEERS if name != "scipy-indices"))


def resident(what):
    """VmRSS or VmHWM of this process in bytes."""
    with open("/proc/self/status") as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith(what))


def start_meter():
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")  # the peak starts anew
    before = resident("VmRSS")
    return lambda: resident("VmHWM") - before


def rows(library, groups):
    return trials.rows(Path(__file__), NAMES, library, groups)


if __name__ == "__main__":
    name, first, library = sys.argv[1:]
    use(library)
    trials.answer(contestants.ours if name == "distmap" else contestants.PEERS[name][0], int(first), start_meter)
