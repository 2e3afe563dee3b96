/* All kernels of esf/cpu for one instruction set. An esf_ISA.c defines ESF_TABLE, the name of its table, and includes
 * this; CMake gives that file its compiler flags. */
#include <math.h>
#include <string.h>

#include "cpu/independent.h"
#include "methods/esf/esf_cpu.h"

#define T float
#define BITS uint32_t
#define BELOW_ONE 0x1.fffffep-1f
#define NAME(operation) operation##_f32
#include "methods/esf/kernel_rest.h"
#include "methods/esf/kernel_step.h"
#undef T
#undef BITS
#undef BELOW_ONE
#undef NAME

#define T double
#define BITS uint64_t
#define BELOW_ONE 0x1.fffffffffffffp-1
#define NAME(operation) operation##_f64
#include "methods/esf/kernel_rest.h"
#include "methods/esf/kernel_step.h"
#undef T
#undef BITS
#undef BELOW_ONE
#undef NAME

const esf_kernels ESF_TABLE[ESF_TYPES] = {
    [ESF_F32] = {from_sites_f32, step_f32, is_zero_f32, emit_f32, relax_f32, residual_f32, pins_f32, coarser_f32,
                 add_f32, finer_f32},
    [ESF_F64] = {from_sites_f64, step_f64, is_zero_f64, emit_f64, relax_f64, residual_f64, pins_f64, coarser_f64,
                 add_f64, finer_f64},
};
