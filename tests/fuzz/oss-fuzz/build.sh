#!/bin/bash -eu
# What OSS-Fuzz runs in the project's folder. It sets CC, CXX, CFLAGS and CXXFLAGS (with the sanitizer and the fuzzer's coverage),
# LIB_FUZZING_ENGINE (how to link the engine), WORK (a folder to build in) and OUT (a folder for targets, seeds and libraries).
build=$WORK/distmap
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DDISTMAP_FUZZ=ON -DDISTMAP_FUZZING_ENGINE="$LIB_FUZZING_ENGINE" \
    -DDISTMAP_CUDA=OFF -DDISTMAP_MPI=OFF -DDISTMAP_BENCH=OFF -DDISTMAP_HARDENED=OFF \
    -DCMAKE_EXE_LINKER_FLAGS='-Wl,-rpath,$ORIGIN/lib'
targets=()
for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    # libhdf5 forgets memory and crashes by itself, which is why a child process reads it; tools/fuzz.sh tells its findings from ours.
    [[ $name == fuzz_read_hdf5 ]] || targets+=("$name")
done
ninja -C "$build" "${targets[@]}"
mkdir -p "$OUT/lib"
for name in "${targets[@]}"; do
    cp "$build/tests/fuzz/$name" "$OUT/"
    seeds=tests/fuzz/corpus/${name#fuzz_}
    [[ ! -d $seeds ]] || zip -qj "$OUT/${name}_seed_corpus.zip" "$seeds"/*
    # The machine that runs the targets has none of the formats' libraries.
    ldd "$build/tests/fuzz/$name" | sed -n 's/.* => \(\/[^ ]*\).*/\1/p' | grep -vE '/(libc|libm|libdl|librt|libpthread)\.so' |
        xargs -r cp -n -t "$OUT/lib"
done
