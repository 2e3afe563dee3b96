/* distmap/sized.h: how a program tells the library which structs it was compiled with. Part of distmap.h, which includes it.
 *
 * Later versions of the library add members to the ends of these structs, and to no others:
 *
 *     given     distmap_context_options, distmap_problem, distmap_arrays, distmap_plan_options
 *     filled    distmap_device_info, distmap_description, distmap_phase, distmap_convergence, distmap_agreement
 *     lent      distmap_method_info, which is the library's own and is looked at by its address
 *
 * Each function that is given such structs, or fills them, is compiled into the program, and calls the library by the name that ends
 * in _sized, with the size of each struct behind its address. So nobody can forget or mistake a size, and:
 *
 *   - of a struct that is given the library reads as many bytes, and takes members that are missing for zeros, their defaults.
 *     Where it is larger than the library's own, as in a program that is newer than its library, what is beyond must be zeros, or
 *     the call is DISTMAP_ERROR_ARGUMENT;
 *   - of a struct that is filled it writes as many bytes; members that it does not know are zeros;
 *   - a size of 0 is DISTMAP_ERROR_ARGUMENT.
 *
 * C and C++ programs use the functions of distmap.h. Other languages, which load the library at run time, call these. */
#ifndef DISTMAP_SIZED_H
#define DISTMAP_SIZED_H

#include "../distmap.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The size of a public struct in the library that is running, by its name ("distmap_problem"); 0 if it has no struct of that name. A
 * binding compares it with its own size when it is loaded. */
DISTMAP_API size_t distmap_struct_bytes(const char *name);

/* The functions of distmap.h, with the size of each struct. */
DISTMAP_API distmap_status distmap_device_describe_sized(distmap_device device, int ordinal, distmap_device_info *info,
                                                         size_t info_bytes);
DISTMAP_API distmap_status distmap_context_create_sized(const distmap_context_options *options, size_t options_bytes,
                                                        distmap_context **context);
DISTMAP_API distmap_status distmap_problem_unit_sized(const distmap_problem *problem, size_t problem_bytes,
                                                      double *unit, int64_t multiples[DISTMAP_MAX_AXES]);
DISTMAP_API distmap_status distmap_scratch_bytes_sized(const distmap_context *context, const distmap_problem *problem,
                                                       size_t problem_bytes, const distmap_plan_options *options,
                                                       size_t options_bytes, size_t *bytes);
DISTMAP_API distmap_status distmap_arrays_check_sized(const distmap_context *context, const distmap_problem *problem,
                                                      size_t problem_bytes, const distmap_plan_options *options,
                                                      size_t options_bytes, const distmap_arrays *arrays,
                                                      size_t arrays_bytes);
DISTMAP_API distmap_status distmap_plan_create_sized(distmap_context *context, const distmap_problem *problem,
                                                     size_t problem_bytes, const distmap_plan_options *options,
                                                     size_t options_bytes, distmap_plan **plan);
DISTMAP_API distmap_status distmap_plan_execute_sized(distmap_plan *plan, const distmap_arrays *arrays,
                                                      size_t arrays_bytes);
/* `slabs_bytes` is the size of one of them. */
DISTMAP_API distmap_status distmap_plan_execute_slabs_sized(distmap_plan *plan, const distmap_arrays *slabs,
                                                            size_t slabs_bytes);
DISTMAP_API void distmap_plan_describe_sized(const distmap_plan *plan, distmap_description *description,
                                             size_t description_bytes);
DISTMAP_API distmap_status distmap_plan_phase_get_sized(const distmap_plan *plan, size_t i, distmap_phase *phase,
                                                        size_t phase_bytes);
DISTMAP_API distmap_status distmap_plan_convergence_sized(distmap_plan *plan, distmap_convergence *convergence,
                                                          size_t convergence_bytes);
DISTMAP_API distmap_status distmap_plan_agreement_sized(distmap_plan *plan, distmap_agreement *agreement,
                                                        size_t agreement_bytes);
DISTMAP_API distmap_status distmap_transform_sized(const distmap_problem *problem, size_t problem_bytes,
                                                   const distmap_arrays *arrays, size_t arrays_bytes, unsigned *flags);

/* For satellite libraries, whose structs grow by the same rules. A struct of `bytes` was given, as the argument `name`, and the library
 * knows it with `known` of them: *taken is the struct itself where it has as many, else a copy in `room`; NULL where it is NULL. */
DISTMAP_API distmap_status distmap_sized_take(const char *name, const void *given, size_t bytes, void *room,
                                              size_t known, const void **taken);
/* The same in a function that is given `name` and name_bytes, and returns the status: from here on `name` is what was taken. */
#define DISTMAP_SIZED_TAKE(name, room)                                                          \
    do {                                                                                        \
        const void *sized_taken;                                                                \
        const distmap_status sized_status =                                                     \
            distmap_sized_take(#name, name, name##_bytes, &(room), sizeof(room), &sized_taken); \
        if (sized_status != DISTMAP_OK)                                                         \
            return sized_status;                                                                \
        name = sized_taken;                                                                     \
    } while (0)
/* Fills such a struct from the library's own. */
DISTMAP_API distmap_status distmap_sized_fill(const char *name, void *filled, size_t bytes, const void *own,
                                              size_t known);

DISTMAP_SIZED distmap_status distmap_device_describe(distmap_device device, int ordinal, distmap_device_info *info) {
    return distmap_device_describe_sized(device, ordinal, info, sizeof *info);
}

DISTMAP_SIZED distmap_status distmap_context_create(const distmap_context_options *options, distmap_context **context) {
    return distmap_context_create_sized(options, sizeof *options, context);
}

DISTMAP_SIZED distmap_status distmap_problem_unit(const distmap_problem *problem, double *unit,
                                                  int64_t multiples[DISTMAP_MAX_AXES]) {
    return distmap_problem_unit_sized(problem, sizeof *problem, unit, multiples);
}

DISTMAP_SIZED distmap_status distmap_scratch_bytes(const distmap_context *context, const distmap_problem *problem,
                                                   const distmap_plan_options *options, size_t *bytes) {
    return distmap_scratch_bytes_sized(context, problem, sizeof *problem, options, sizeof *options, bytes);
}

DISTMAP_SIZED distmap_status distmap_arrays_check(const distmap_context *context, const distmap_problem *problem,
                                                  const distmap_plan_options *options, const distmap_arrays *arrays) {
    return distmap_arrays_check_sized(context, problem, sizeof *problem, options, sizeof *options, arrays,
                                      sizeof *arrays);
}

DISTMAP_SIZED distmap_status distmap_plan_create(distmap_context *context, const distmap_problem *problem,
                                                 const distmap_plan_options *options, distmap_plan **plan) {
    return distmap_plan_create_sized(context, problem, sizeof *problem, options, sizeof *options, plan);
}

DISTMAP_SIZED distmap_status distmap_plan_execute(distmap_plan *plan, const distmap_arrays *arrays) {
    return distmap_plan_execute_sized(plan, arrays, sizeof *arrays);
}

DISTMAP_SIZED distmap_status distmap_plan_execute_slabs(distmap_plan *plan, const distmap_arrays *slabs) {
    return distmap_plan_execute_slabs_sized(plan, slabs, sizeof *slabs);
}

DISTMAP_SIZED void distmap_plan_describe(const distmap_plan *plan, distmap_description *description) {
    distmap_plan_describe_sized(plan, description, sizeof *description);
}

DISTMAP_SIZED distmap_status distmap_plan_phase_get(const distmap_plan *plan, size_t i, distmap_phase *phase) {
    return distmap_plan_phase_get_sized(plan, i, phase, sizeof *phase);
}

DISTMAP_SIZED distmap_status distmap_plan_convergence(distmap_plan *plan, distmap_convergence *convergence) {
    return distmap_plan_convergence_sized(plan, convergence, sizeof *convergence);
}

DISTMAP_SIZED distmap_status distmap_plan_agreement(distmap_plan *plan, distmap_agreement *agreement) {
    return distmap_plan_agreement_sized(plan, agreement, sizeof *agreement);
}

DISTMAP_SIZED distmap_status distmap_transform(const distmap_problem *problem, const distmap_arrays *arrays,
                                               unsigned *flags) {
    return distmap_transform_sized(problem, sizeof *problem, arrays, sizeof *arrays, flags);
}

#ifdef __cplusplus
}
#endif
#endif
