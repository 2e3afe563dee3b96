"""The GPU as a stopwatch: events on one stream, around one call each, with the L2 cache overwritten before every one.

Calls are enqueued ahead of the GPU, so that what the host needs to launch them does not count as long as the GPU has
work; a captured graph shows what is left when it needs nothing.
"""

import statistics
import time

import cupy as cp

FLUSH_BYTES = 256 << 20  # several times the L2 of any GPU
COPY_BYTES = 4 << 30
WARM_UP = 0.03  # seconds: a GPU that was idle has a lower clock for a while


class Stopwatch:
    def __init__(self, ordinal, repeat):
        self.device = cp.cuda.Device(ordinal)
        self.device.use()
        self.stream = cp.cuda.Stream(non_blocking=True)
        self.stream.use()  # everything CuPy does from now on
        self.least = repeat
        self.cache = cp.zeros(FLUSH_BYTES, cp.uint8)

    def flush(self):
        self.cache.data.memset_async(0, FLUSH_BYTES, self.stream)

    def wait(self):
        self.stream.synchronize()

    def once(self, run):
        """The two events around one call."""
        start, end = cp.cuda.Event(), cp.cuda.Event()
        self.flush()
        start.record(self.stream)
        run()
        end.record(self.stream)
        return start, end

    def turns(self, calls):
        """{name: [ms, ...]}: after a warm-up everybody is called in turns, for about 0.1 s and at least `repeat` times;
        three times where one takes more than 0.2 s."""
        until, rounds = time.perf_counter() + WARM_UP, 0
        while rounds < 2 or time.perf_counter() < until:  # the first may load kernels, or compile them
            pairs = [self.once(run) for run in calls.values()]
            self.wait()
            rounds += 1
            slowest = max(0.001, *(cp.cuda.get_elapsed_time(*pair) for pair in pairs))
        count = 3 if slowest > 200 else max(self.least, min(51, int(100 / slowest)))
        events = {name: [] for name in calls}
        for _ in range(count):
            for name, run in calls.items():
                events[name].append(self.once(run))
        self.wait()
        return {name: [cp.cuda.get_elapsed_time(*pair) for pair in pairs] for name, pairs in events.items()}

    def host_turns(self, calls):
        """The same by the host's clock, for calls that end when all is done."""
        times = {name: [] for name in calls}
        for i in range(-1, self.least):
            for name, run in calls.items():
                start = time.perf_counter()
                run()
                self.wait()
                if i >= 0:  # the first round warms up
                    times[name].append((time.perf_counter() - start) * 1e3)
        return times

    def capture(self, run):
        """A call that launches what `run` enqueues as one CUDA graph."""
        self.stream.begin_capture()
        try:
            run()
        finally:
            graph = self.stream.end_capture()
        return lambda: graph.launch(self.stream)

    def copy_bandwidth(self):
        """GB/s of a copy within device memory, counting bytes read and written; the best of nine."""
        free, _ = self.device.mem_info
        size = min(COPY_BYTES, free // 4)
        source, target = cp.zeros(size, cp.uint8), cp.zeros(size, cp.uint8)
        copy = lambda: target.data.copy_from_device_async(source.data, size, self.stream)  # noqa: E731
        pairs = [self.once(copy) for _ in range(9)]
        self.wait()
        return 2 * size / min(cp.cuda.get_elapsed_time(*pair) for pair in pairs) / 1e6


def summary(times):
    """What stands in a result of some times."""
    low, _, high = statistics.quantiles(times, n=4, method="inclusive")
    return {"ms": statistics.median(times), "least": min(times), "most": max(times), "quartiles": [low, high],
            "repetitions": len(times)}
