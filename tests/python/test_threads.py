"""Threads, forks, and the end of the interpreter."""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import distmap
import numpy as np
from oracle import SEED

RNG = np.random.default_rng(SEED)
MASKS = [(RNG.random((50 + 30 * k, 211)) < 0.97).astype(np.uint8) for k in range(8)]
WANT = [distmap.edt(mask) for mask in MASKS]


def right(k):
    return np.array_equal(distmap.edt(MASKS[k], threads=1 + k % 3), WANT[k])


def test_many_threads_at_once():
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(right, list(range(8)) * 20))


def test_one_context_from_many_threads():
    """They take turns."""
    context = distmap.Context(threads=2)
    plans = [distmap.Plan(mask.shape, mask.dtype, {"distance": np.float32}, context=context) for mask in MASKS]

    def run(k):
        out = np.empty(MASKS[k].shape, np.float32)
        plans[k](MASKS[k], distance=out)
        return np.array_equal(out, WANT[k])
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, list(range(8)) * 10))


def test_other_threads_run_meanwhile():
    """While one thread computes, another one counts: the global lock is released."""
    big = np.ones((300, 300, 60), np.uint8)
    big[0, 0, 0] = 0
    counted, done = [], threading.Event()

    def count():
        while not done.is_set():
            counted.append(time.perf_counter())
            time.sleep(0.0005)
    counter = threading.Thread(target=count)
    counter.start()
    time.sleep(0.01)
    start = time.perf_counter()
    distmap.edt(big, method="envelope/cpu", threads=1)
    end = time.perf_counter()
    done.set()
    counter.join()
    inside = [t for t in counted if start < t < end]
    assert len(inside) >= 5 and end - start > 0.01, (len(inside), end - start)


def test_contexts_end_with_their_threads():
    before = count_threads()
    for _ in range(5):
        thread = threading.Thread(target=right, args=(4,))
        thread.start()
        thread.join()
    gc.collect()
    assert count_threads() <= before


def count_threads():
    return len(os.listdir("/proc/self/task"))


def test_pool_of_forked_processes():
    assert right(1)  # the parent's context, with its threads, is there already
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert all(pool.map(right, list(range(8)) * 3))
    assert right(2)


def test_fork_while_other_threads_compute():
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            right(7)
    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                os._exit(0 if right(1) and right(2) else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def plan_asking(progress):
    """By one thread, which so has all the tasks after which it asks."""
    mask = np.ones((400, 400), np.uint8)
    mask[0, ::2] = 0
    context = distmap.Context(threads=1, progress=progress)
    plan = distmap.Plan(mask.shape, mask.dtype, {"distance": np.float32}, context=context)
    return context, plan, mask


def test_fork_amid_an_execution_of_the_same_context():
    """In the child nobody has the context, whose lock another thread held when it was forked."""
    inside, go_on = threading.Event(), threading.Event()

    def progress(_):
        inside.set()
        return not go_on.wait(60)
    context, plan, mask = plan_asking(progress)
    other = distmap.Plan(mask.shape, mask.dtype, {"squared": np.uint32}, context=context)
    thread = threading.Thread(target=lambda: plan(mask, distance=np.empty(mask.shape, np.float32)))
    thread.start()
    assert inside.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # a hang becomes a signal
        go_on.set()
        squared = np.empty(mask.shape, np.uint32)
        other(mask, squared=squared)
        os._exit(0 if squared[5, 0] == 25 else 1)
    assert os.waitpid(child, 0)[1] == 0
    go_on.set()
    thread.join()


def test_a_progress_function_that_uses_its_own_context():
    told = []

    def progress(_):
        try:
            plan(mask, distance=np.empty(mask.shape, np.float32))
        except RuntimeError as error:
            told.append(str(error))
        return False
    context, plan, mask = plan_asking(progress)
    plan(mask, distance=np.empty(mask.shape, np.float32))
    assert told and all("in use by the execution that calls the progress function" in text for text in told)


INTERRUPTED = """
import distmap, numpy as np, os, signal, sys, threading, time
mask = np.ones((700, 700), np.uint8)
mask[::2] = 0
threading.Timer(float(sys.argv[1]), os.kill, (os.getpid(), signal.SIGINT)).start()
began = time.monotonic()
try:
    distmap.transform(mask, want={"distance": np.float32}, method="brute/cpu", threads=1, progress=lambda fraction: %s)
except KeyboardInterrupt:
    sys.exit(0 if time.monotonic() - began < 20 else 3)
sys.exit(4)
"""


def test_an_interrupt_is_not_lost():
    """Wherever it comes: mostly while C computes, and is met at the beginning of what the callback does."""
    for k in range(6):
        text = INTERRUPTED % ("None", "time.sleep(0.01)")[k % 2]
        done = subprocess.run([sys.executable, "-c", text, str(0.05 + 0.01 * k)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and not done.stderr, (k, done)


END = """
import distmap, numpy as np, sys
mask = np.ones((30, 40), np.uint8)
out = np.empty(mask.shape, np.float32)
class Ring: pass
ring = Ring()  # a cycle that only the collector, or the end, frees: the context is found before its plan
ring.context = distmap.Context(threads=3)
ring.plan = distmap.Plan(mask.shape, mask.dtype, {"distance": np.float32}, context=ring.context)
ring.run = ring.plan.bind(mask, distance=out)
ring.self = ring.context.ring = ring.plan.ring = ring
ring.run()
distmap.edt(mask)
%s
"""

# Executes from before the end until after it, on a context of its own.
DAEMON = """
import threading
large, begun = np.ones((3000, 3000), np.uint8), threading.Event()
def work():
    context = distmap.Context(threads=2)
    plan = distmap.Plan(large.shape, large.dtype, {"distance": np.float32}, context=context)
    begun.set()
    while True:
        plan(large, distance=np.empty(large.shape, np.float32))
threading.Thread(target=work, daemon=True).start()
begun.wait()
"""


def test_the_end_in_any_order():
    for last in ("del ring; import gc; gc.collect()", "sys.exit(0)",
                 "keep = sys.modules; del sys.modules['distmap'], distmap",
                 DAEMON):
        done = subprocess.run([sys.executable, "-c", END % last], capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, (last, done)
