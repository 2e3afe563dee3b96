# A thin front for CMake. Every target does its own set-up first: tools/build.sh installs what Debian packages are missing,
# configures the preset under build/ and builds. `make demo` and `make test` work on a fresh checkout.
PREFIX ?= /usr/local
DISTMAP = build/release/distmap

.PHONY: help build demo test test-all interface bench bench-gpu install check-large check-gpu fuzz coverage clean

help:
	@echo 'make demo         distance maps, Voronoi maps and pictures of a real image and a real volume'
	@echo 'make test         build and run all tests'
	@echo 'make test-all     and the long sweeps: faults and power cuts in every format'
	@echo 'make interface    the record of what the libraries give out, anew (docs/compatibility.md)'
	@echo 'make build        the release build; the command is $(DISTMAP)'
	@echo 'make bench        the race against other libraries on this machine (needs pip and the network)'
	@echo 'make bench-gpu    times on an NVIDIA GPU, beside CuPy and the bandwidth of a copy'
	@echo 'make install      into PREFIX=$(PREFIX) (and DESTDIR)'
	@echo 'make check-large  images beyond 2^31 elements; needs 24 GB of memory and some minutes'
	@echo 'make check-gpu    all tests of the GPU part on a real one, under compute-sanitizer too; JOBS=1 at once'
	@echo 'make fuzz         every fuzz target for SECONDS=60 each (clang)'
	@echo 'make coverage     line coverage of the tests'

build:
	tools/build.sh release

demo: build
	tools/demo.sh $(DISTMAP)

test:
	tools/build.sh release --group test --group mpi
	tools/oracles.sh
	ctest --preset release -j "$${JOBS:-$$(nproc)}"

# And the long sweeps, which are left out of it: some ten minutes.
test-all:
	tools/build.sh release --group test --group mpi
	tools/oracles.sh
	ctest --preset release -C all -j "$${JOBS:-$$(nproc)}"

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
	tools/fuzz.sh build/fuzz $(or $(SECONDS),60)

coverage:
	tools/build.sh coverage --group test --group coverage
	ctest --preset coverage
	gcovr --root . --filter src/ --filter cli/ build/coverage

clean:
	rm -rf build
