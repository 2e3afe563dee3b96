/* Skeletons: what the CPU's and the GPU's rows share. */
#include "operations/skeleton.h"

sk_rule sk_rule_of(const distmap_plan *plan) {
    const distmap_problem *p = &plan->problem;
    sk_rule rule = {.pruning = p->skeleton.pruning,
                    .gamma2 = p->skeleton.gamma * p->skeleton.gamma,
                    .border = p->border,
                    .pitch = INFINITY};
    for (int n = 0; n < DM_NDIM; n++) {
        if (!plan->measured[n])
            continue;
        rule.axis[rule.axes] = n;
        rule.length[rule.axes] = plan->shape[n];
        rule.w2[rule.axes++] = plan->w2f[n];
        rule.pitch = fmin(rule.pitch, sqrt(plan->w2f[n]));
    }
    if (rule.pruning == DISTMAP_PRUNING_CONSTANT) { /* a length; LINEAR's is a ratio */
        const double gamma = p->skeleton.gamma / plan->unit.high;
        rule.gamma2 = gamma * gamma;
    }
    rule.more = (rule.axes == 3 ? 1.5 : 1.0) * (rule.pitch * rule.pitch);
    return rule;
}

bool sk_is_narrow(const distmap_plan *plan) {
    bool narrow = true;
    for (int a = 0; a < plan->problem.ndim; a++)
        narrow &= plan->problem.shape[a] <= INT16_MAX;
    return narrow;
}
