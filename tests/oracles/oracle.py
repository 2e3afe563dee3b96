"""What the scripts of this folder share: the command, random numbers by a seed that is printed, checks that end with it, programs that run."""
import os
import subprocess
import sys
import time

import numpy as np

command, project = sys.argv[1:]
convert = os.environ.get("DISTMAP_CONVERT")
seed = int(os.environ.get("DISTMAP_TEST_SEED") or time.time_ns() % 2**32)
print("seed", seed)
rng = np.random.default_rng(seed)


def check(condition, what):
    if not condition:
        sys.exit(f"seed {seed}: {what}")


def run(*arguments, status=0):
    """A program's output, or where it is to fail what it says."""
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True)
    check(done.returncode == status, f"{arguments}: {done.returncode} {done.stderr}")
    return done.stderr if status else done.stdout
