/* CUDA emulation: what nvcc's cuda_runtime.h gives, for host compilers. C sources see the runtime API; C++ sources, which
 * .cu files are here, also see what kernels use. The two differ from CUDA in a launch (emulation_launch, block.h) and in
 * dynamic shared memory (emulation_dynamic_shared, block.h), which is why sources write both through a macro. */
#ifndef EMULATION_CUDA_RUNTIME_H
#define EMULATION_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"

#ifdef __cplusplus

/* Hopper, and so DPX; -D__CUDA_ARCH__=750 runs what older devices run. */
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 900
#endif

#include "emulation/block.h"
#include "emulation/warp.h"
#include "emulation/memory.h"
#include "emulation/bits.h"
#include "emulation/floats.h"
#include "emulation/texture.h"
#include "emulation/simd.h"
#include "emulation/dpx.h"
#include "emulation/api.h"

#endif
#endif
