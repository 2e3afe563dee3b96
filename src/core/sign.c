/* Signed maps: checks distmap_problem.sign and surface. Methods compute the distance to the nearest element of the other side, as for
 * two labels; rows get their signs when they are stored. */
#include "core/internal.h"

#define bad(...) dm_error(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

distmap_status dm_sign_check(distmap_plan *plan) {
    const distmap_problem *p = &plan->problem;
    const bool is_signed = p->sign != DISTMAP_SIGN_NONE;
    if (p->sign != DISTMAP_SIGN_NONE && p->sign != DISTMAP_SIGN_OUTSIDE && p->sign != DISTMAP_SIGN_INSIDE)
        return bad("problem.sign is %d, must be NONE, OUTSIDE or INSIDE", (int)p->sign);
    if (p->surface != DISTMAP_SURFACE_CENTRE && p->surface != DISTMAP_SURFACE_HALF)
        return bad("problem.surface is %d, must be CENTRE or HALF", (int)p->surface);
    if (p->surface && !is_signed)
        return bad("problem.surface has no meaning without problem.sign, must stay zero");
    if (!is_signed)
        return DISTMAP_OK;
    if (p->input != DISTMAP_INPUT_MASK)
        return bad("problem.sign needs a mask input");
    if (!dm_is_euclidean(&plan->chamfer))
        return bad("problem.sign needs the Euclidean metric");
    if (p->want.squared && p->want.squared != DISTMAP_FLOAT32 && p->want.squared != DISTMAP_FLOAT64)
        return bad("problem.want.squared must be float32 or float64 where problem.sign is set: integers have no sign");
    if (p->want.squared && p->surface)
        return bad("problem.want.squared needs problem.surface CENTRE: ask for distance");
    for (int a = 0; p->surface && a < p->ndim; a++)
        if (p->axes >> a & 1 && (plan->surface == 0 || p->spacing[a] / 2 < plan->surface))
            plan->surface = p->spacing[a] / 2;
    return DISTMAP_OK;
}
