# A thin front for CMake. Every target does its own set-up first: tools/build.sh installs what Debian packages are missing,
# configures the preset under build/ and builds. `make demo` and `make test` work on a fresh checkout.
PREFIX ?= /usr/local
DISTMAP = build/release/distmap

.PHONY: help build demo test test-all test-frameworks test-peers interface bench bench-gpu install
.PHONY: check-large check-gpu fuzz fuzz-grow coverage clean

help:
	@echo 'make demo         distance maps, Voronoi maps and pictures of a real image and a real volume'
	@echo 'make test         build and run all tests, with one of twenty drawn cases (a fresh seed each time)'
	@echo 'make test-all     all drawn cases, and the long sweeps: faults and power cuts in every format'
	@echo 'make test-frameworks  the Python package beside PyTorch and MONAI, of which it downloads 3 GB once'
	@echo 'make test-peers   the own tests of other libraries, against distmap'
	@echo 'make interface    the record of what the libraries give out, anew (docs/compatibility.md)'
	@echo 'make build        the release build; the command is $(DISTMAP)'
	@echo 'make bench        the race against other libraries on this machine (needs pip and the network)'
	@echo 'make bench-gpu    times on an NVIDIA GPU, beside CuPy and the bandwidth of a copy'
	@echo 'make install      into PREFIX=$(PREFIX) (and DESTDIR)'
	@echo 'make check-large  images beyond 2^31 elements; needs 24 GB of memory and some minutes'
	@echo 'make check-gpu    all tests of the GPU part on a real one, under compute-sanitizer too; JOBS=1 at once'
	@echo 'make fuzz         every fuzz target for SECONDS=600 each, JOBS at once (clang)'
	@echo 'make fuzz-grow    what reached new branches, from there into tests/fuzz/corpus'
	@echo 'make coverage     branches and lines of io, core and the command that the tests reach; fails below LINES=, BRANCHES= per cent'

build:
	tools/build.sh release

demo: build
	tools/demo.sh $(DISTMAP)

test:
	tools/build.sh release --group test --group mpi
	tools/oracles.sh
	DISTMAP_TEST_SCALE="$${DISTMAP_TEST_SCALE:-0.05}" ctest --preset release -j "$${JOBS:-$$(nproc)}"

# All drawn cases, and the long sweeps, which are left out of it: half an hour.
test-all:
	tools/build.sh release --group test --group mpi
	tools/oracles.sh
	ctest --preset release -C all -j "$${JOBS:-$$(nproc)}"

test-frameworks:
	tools/build.sh release --group test
	tools/frameworks.sh build/release

test-peers:
	tools/build.sh release --group test
	tools/frameworks.sh build/release tests/peers/run.py

interface:
	tools/build.sh release --group test --target renew_interfaces
	git --no-pager diff --stat tests/abi

bench: build
	tools/bench.sh $(BENCH_OPTIONS)

bench-gpu: build
	tools/bench_gpu.sh $(BENCH_OPTIONS)

install: build
	cmake --install build/release --prefix '$(PREFIX)'
	test -n '$(DESTDIR)' || test "$$(id -u)" != 0 || ldconfig # so that programs find the libraries at once

check-large:
	tools/build.sh release --group test --target distmap_check_large --target distmap_command
	build/release/tests/large/distmap_check_large $(DISTMAP)

check-gpu:
	tools/build.sh release --group test
	tools/check_gpu.sh build/release $(JOBS)

fuzz:
	tools/build.sh fuzz --group test --group fuzz
	JOBS=$(JOBS) tools/fuzz.sh build/fuzz $(or $(SECONDS),600)

fuzz-grow:
	JOBS=$(JOBS) tools/fuzz.sh build/fuzz grow

# Whether tests pass is told by make test: without optimisation some run out of time. Counters of threads may be negative, and the
# processes that may not write theirs are to be quiet. The limits are what was reached, rounded down (docs/internals.md).
coverage:
	tools/build.sh coverage --group test --group coverage
	-GCOV_ERROR_FILE=/dev/null DISTMAP_TEST_SCALE="$${DISTMAP_TEST_SCALE:-0.05}" ctest --preset coverage -j "$${JOBS:-$$(nproc)}"
	gcovr --gcov-ignore-parse-errors --root . --filter src/io/ --filter src/core/ --filter cli/ --print-summary \
		--fail-under-line $(or $(LINES),90) --fail-under-branch $(or $(BRANCHES),78) build/coverage

clean:
	rm -rf build
