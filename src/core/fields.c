/* The fields that a problem may ask for: how they are called, and which members of a problem belong to one of them alone. */
#include <string.h>

#include "core/internal.h"

#define bad(...) dm_error(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

static const struct {
    const char *name, *computes;
} fields[] = {
    [DISTMAP_FIELD_DISTANCE] = {"DISTANCE", "computes distances"},
    [DISTMAP_FIELD_EDGE_STRENGTH] = {"EDGE_STRENGTH", "computes edge strengths"},
    [DISTMAP_FIELD_SKELETON] = {"SKELETON", "computes skeletons"},
    [DISTMAP_FIELD_MORPHOLOGY] = {"MORPHOLOGY", "computes ball morphology"},
    [DISTMAP_FIELD_COMPARISON] = {"COMPARISON", "compares two sets"},
    [DISTMAP_FIELD_THICKNESS] = {"THICKNESS", "computes local thickness"},
    [DISTMAP_FIELD_CVT] = {"CVT", "computes centroidal Voronoi diagrams"},
};

static const int count = sizeof fields / sizeof *fields;

const char *dm_field_computes(distmap_field field) { return fields[field].computes; }

bool dm_wants_any(distmap_outputs want) {
    static const distmap_outputs none;
    return memcmp(&want, &none, sizeof want) != 0; /* members of one type: no room between them */
}

distmap_status dm_field_check(const distmap_problem *p) {
    const distmap_esf *esf = &p->esf;
    const char *name = (int)p->field >= 0 && (int)p->field < count ? fields[p->field].name : NULL;
    if (!name)
        return bad("problem.field is %d, unknown", (int)p->field);
    for (int i = 0; i < (int)(sizeof p->want.reserved / sizeof *p->want.reserved); i++)
        if (p->want.reserved[i])
            return bad("problem.want.reserved[%d] is %d, must stay zero", i, (int)p->want.reserved[i]);
    if (p->field != DISTMAP_FIELD_EDGE_STRENGTH) {
        if (p->want.strength)
            return bad("problem.want.strength needs problem.field EDGE_STRENGTH");
        if (esf->rho != 0 || esf->dt != 0 || esf->steps != 0 || esf->tolerance != 0)
            return bad("problem.esf has no meaning for problem.field %s, must stay zero", name);
    }
    if (p->want.mask && p->field != DISTMAP_FIELD_SKELETON && p->field != DISTMAP_FIELD_MORPHOLOGY)
        return bad("problem.want.mask needs problem.field SKELETON or MORPHOLOGY");
    if (p->field != DISTMAP_FIELD_SKELETON) {
        if (p->skeleton.pruning != 0 || p->skeleton.gamma != 0)
            return bad("problem.skeleton has no meaning for problem.field %s, must stay zero", name);
    }
    if (p->field != DISTMAP_FIELD_DISTANCE && (p->sign != 0 || p->surface != 0))
        return bad("problem.sign and problem.surface have no meaning for problem.field %s, must stay zero", name);
    if (p->field != DISTMAP_FIELD_DISTANCE && (p->window.first != 0 || p->window.count != 0))
        return bad("problem.window has no meaning for problem.field %s, must stay zero", name);
    if (p->field != DISTMAP_FIELD_MORPHOLOGY &&
        (p->morphology.step != 0 || p->morphology.radius != 0 || p->morphology.outside))
        return bad("problem.morphology has no meaning for problem.field %s, must stay zero", name);
    const distmap_comparison *comparison = &p->comparison;
    if (p->field != DISTMAP_FIELD_COMPARISON && (comparison->other != 0 || comparison->points != 0 ||
                                                 comparison->tolerance != 0 || comparison->percentile_count != 0))
        return bad("problem.comparison has no meaning for problem.field %s, must stay zero", name);
    if (p->field != DISTMAP_FIELD_CVT) {
        const distmap_cvt *cvt = &p->cvt;
        if (p->want.sites || p->want.centroids || p->want.energies)
            return bad("problem.want.%s needs problem.field CVT", p->want.sites       ? "sites"
                                                                  : p->want.centroids ? "centroids"
                                                                                      : "energies");
        if (cvt->points != 0 || cvt->steps != 0 || cvt->omega != 0 || cvt->seed != 0 || cvt->grids != 0)
            return bad("problem.cvt has no meaning for problem.field %s, must stay zero", name);
    }
    return DISTMAP_OK;
}
