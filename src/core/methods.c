/* The method table. A new method is its folder under methods/, a declaration and a line here, and the build list; so is an
 * operation, in operations/. */
#include <string.h>

#include "core/internal.h"

extern const dm_method dm_minplus_cpu;
extern const dm_method dm_envelope_cpu;
extern const dm_method dm_chamfer_cpu;
extern const dm_method dm_raster_cpu;
extern const dm_method dm_edm_cpu;
extern const dm_method dm_lz_cpu;
extern const dm_method dm_eggers_cpu;
extern const dm_method dm_psds_cpu;
extern const dm_method dm_erosion_cpu;
extern const dm_method dm_esf_cpu;
extern const dm_method dm_brute_cpu;
extern const dm_method dm_skeleton_cpu;
extern const dm_method dm_morphology_cpu;
extern const dm_method dm_comparison_cpu;
extern const dm_method dm_thickness_cpu;
extern const dm_method dm_cvt_cpu;
#ifdef DISTMAP_HAVE_CUDA
extern const dm_method dm_minplus_cuda;
extern const dm_method dm_envelope_cuda;
extern const dm_method dm_chamfer_cuda;
extern const dm_method dm_pba_cuda;
extern const dm_method dm_edm_cuda;
extern const dm_method dm_psds_cuda;
extern const dm_method dm_erosion_cuda;
extern const dm_method dm_esf_cuda;
extern const dm_method dm_brute_cuda;
extern const dm_method dm_skeleton_cuda;
extern const dm_method dm_morphology_cuda;
extern const dm_method dm_comparison_cuda;
extern const dm_method dm_thickness_cuda;
extern const dm_method dm_cvt_cuda;
#endif

/* Fastest first: without a name, the first exact one of the device that accepts the problem is taken. */
const dm_method *const dm_methods[] = {
    &dm_minplus_cpu,
    &dm_envelope_cpu,
    &dm_chamfer_cpu,
    &dm_raster_cpu,
    &dm_edm_cpu,
    &dm_lz_cpu,
    &dm_eggers_cpu,
    &dm_psds_cpu,
    &dm_erosion_cpu,
    &dm_brute_cpu,
    &dm_esf_cpu,
    &dm_skeleton_cpu,
    &dm_morphology_cpu,
    &dm_comparison_cpu,
    &dm_thickness_cpu,
    &dm_cvt_cpu,
#ifdef DISTMAP_HAVE_CUDA
    &dm_minplus_cuda,
    &dm_envelope_cuda,
    &dm_chamfer_cuda,
    &dm_pba_cuda,
    &dm_edm_cuda,
    &dm_psds_cuda,
    &dm_erosion_cuda,
    &dm_brute_cuda,
    &dm_esf_cuda,
    &dm_skeleton_cuda,
    &dm_morphology_cuda,
    &dm_comparison_cuda,
    &dm_thickness_cuda,
    &dm_cvt_cuda,
#endif
    NULL,
};

const distmap_method_info *distmap_method_get(size_t row) {
    return row < sizeof dm_methods / sizeof *dm_methods - 1 ? &dm_methods[row]->info : NULL;
}

const distmap_method_info *distmap_method_find(const char *name) {
    for (size_t i = 0; name && dm_methods[i]; i++)
        if (strcmp(name, dm_methods[i]->info.name) == 0)
            return &dm_methods[i]->info;
    return NULL;
}
