"""What a result must say of the machine and the build for its figures to mean something."""

import os
import platform
import re
import subprocess
import time

import numpy as np

from package import distmap


def output_of(*command, cwd=None):
    try:
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def lscpu():
    lines = output_of("lscpu").splitlines()
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}


def slug():
    """A file name for this kind of machine: its processor, number of cores and best instruction set."""
    cpu = lscpu()
    flags = cpu.get("Flags", "").split()
    simd = next((f for f in ("avx512bw", "avx2", "sse4_1") if f in flags), platform.machine())
    words = f"{cpu.get('Model name', 'cpu')} family {cpu.get('CPU family', 0)} model {cpu.get('Model', 0)} {os.cpu_count()}core {simd}"
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def copy_bandwidth():
    """GB/s of a plain copy of 512 MB by one thread, counting bytes read and written; the best of five."""
    source = np.ones(1 << 28, np.uint8)
    target = np.zeros_like(source)
    best = 0.0
    for _ in range(5):
        start = time.perf_counter()
        np.copyto(target, source)
        best = max(best, 2 * source.size / (time.perf_counter() - start) / 1e9)
    return best


def describe(root, library):
    cpu = lscpu()
    flags = set(cpu.get("Flags", "").split())
    cache = {}
    for parent in library.resolve().parents:
        if (parent / "CMakeCache.txt").exists():
            cache = dict(re.findall(r"^(CMAKE_C_COMPILER|CMAKE_BUILD_TYPE|CMAKE_C_FLAGS\w*):\w+=(.*)$",
                                    (parent / "CMakeCache.txt").read_text(), re.M))
            break
    build = cache.get("CMAKE_BUILD_TYPE", "")
    return {
        "cpu": cpu.get("Model name", platform.processor()), "cores": os.cpu_count(),
        "family": cpu.get("CPU family"), "model": cpu.get("Model"), "stepping": cpu.get("Stepping"),
        "caches": {key: cpu[key] for key in cpu if re.match(r"L\d", key)},
        "simd": sorted(f for f in flags if f.startswith(("sse4", "avx"))),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": platform.platform(), "copy_gb_s": copy_bandwidth(),
        "compiler": output_of(cache.get("CMAKE_C_COMPILER", "cc"), "--version").partition("\n")[0],
        "build": f"{build} {cache.get('CMAKE_C_FLAGS', '')} {cache.get('CMAKE_C_FLAGS_' + build.upper(), '')}".split(),
        "distmap": distmap.version(), "isa": distmap.Context().isa,
        "commit": output_of("git", "describe", "--always", "--dirty", cwd=root),
    }
