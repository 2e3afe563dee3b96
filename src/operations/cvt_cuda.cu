/* cvt/cuda's kernels, but for the sums over cells (cvt_cuda_gather.cu): grids, places, moves, results. See cvt_cuda.c. */
#include "operations/cvt_cuda.cuh"

/* ---- Grids ---- */

/* The image: its weight, elements with weight, and T. A thread for each element, in turns. Reads the input. */
static __global__ void __launch_bounds__(CV_THREADS) measure(const __grid_constant__ cv_args a) {
    uint64_t total = 0, weighted = 0;
    cv_wide square[CV_AXES] = {0, 0, 0};
    CV_EACH(i, a.grid.elements) {
        int64_t at[CV_AXES];
        cv_split(&a.grid, i, at);
        const uint64_t w = cv_weight(&a.grid, &a.input, at);
        total += w;
        weighted += w != 0;
        for (int k = 0; k < CV_AXES; k++)
            square[k] += (cv_wide)(w * (uint64_t)at[k]) * (uint64_t)at[k]; /* w is of 32 bits here */
    }
    total = cv_warp_sum(total);
    weighted = cv_warp_sum(weighted);
    if (threadIdx.x % 32 == 0) {
        cv_add(&a.own.totals->total, total);
        cv_add(&a.own.totals->weighted[0], weighted);
    }
    for (int k = 0; k < CV_AXES; k++)
        cv_add_wide(&a.own.totals->square[k], square[k]);
}

cudaError_t cv_launch_measure(const cv_args *args, cudaStream_t stream) {
    const cv_args a = *args;
    DM_LAUNCH(measure, dm_blocks(a.grid.elements, CV_THREADS, 1024), CV_THREADS, 0, stream, a);
    return cudaGetLastError();
}

/* A thread for each element of the coarser grid, in turns. Reads the finer one, writes 8 bytes for each 2, 4 or 8 of its
 * elements. */
static __global__ void __launch_bounds__(CV_THREADS) coarsen(const __grid_constant__ cv_args a) {
    uint64_t weighted = 0;
    CV_EACH(i, a.grid.elements) {
        int64_t at[CV_AXES], from[CV_AXES];
        uint64_t sum = 0;
        cv_split(&a.grid, i, at);
        for (int child = 0; child < 8; child++) {
            bool inside = true;
            for (int k = 0; k < CV_AXES; k++) {
                from[k] = 2 * at[k] + (child >> k & 1);
                inside &= from[k] < a.finer.shape[k];
            }
            sum += inside ? cv_weight(&a.finer, &a.input, from) : 0;
        }
        a.grid.weight[i] = sum;
        weighted += sum != 0;
    }
    weighted = cv_warp_sum(weighted);
    if (threadIdx.x % 32 == 0)
        cv_add(&a.own.totals->weighted[a.number], weighted);
}

cudaError_t cv_launch_coarsen(const cv_args *args, cudaStream_t stream) {
    const cv_args a = *args;
    DM_LAUNCH(coarsen, cv_blocks(a.grid.elements), CV_THREADS, 0, stream, a);
    return cudaGetLastError();
}

/* `count` weights from the element `first` on. */
static __global__ void __launch_bounds__(CV_THREADS) weights(const __grid_constant__ cv_args a) {
    CV_EACH(i, a.count) {
        int64_t at[CV_AXES];
        cv_split(&a.grid, a.first + i, at);
        a.own.chunk[i] = cv_weight(&a.grid, &a.input, at);
    }
}

cudaError_t cv_launch_weights(const cv_args *args, cudaStream_t stream) {
    const cv_args a = *args;
    DM_LAUNCH(weights, cv_blocks(a.count), CV_THREADS, 0, stream, a);
    return cudaGetLastError();
}

/* ---- Places: a thread for each point, in turns ---- */

static __global__ void __launch_bounds__(CV_THREADS) occupy(const __grid_constant__ cv_args a) {
    CV_EACH(i, a.points) a.stand[cv_linear(&a.grid, &a.place[i])] = (int32_t)(i + 1);
}

cudaError_t cv_launch_occupy(const cv_args *args, cudaStream_t stream) {
    const cv_args a = *args;
    DM_LAUNCH(occupy, cv_blocks(a.points), CV_THREADS, 0, stream, a);
    return cudaGetLastError();
}

static __global__ void __launch_bounds__(CV_THREADS) refine(const __grid_constant__ cv_args a) {
    CV_EACH(i, a.points)
    for (int k = 0; k < CV_AXES; k++)
        a.place[i].at[k] *= 2;
}

cudaError_t cv_launch_refine(const cv_args *args, cudaStream_t stream) {
    const cv_args a = *args;
    DM_LAUNCH(refine, cv_blocks(a.points), CV_THREADS, 0, stream, a);
    return cudaGetLastError();
}

/* ---- Moves ----
 *
 * Nearest-site maps were read by now, so an element's index takes the claims on it: the lowest number that is bound for it. */

DM_DEVICE int32_t *claim_on(const cv_args &a, int64_t element) { return (int32_t *)a.index + element; }

/* Where the points are bound for, and what they take from the energy. Reads and writes some 100 bytes for each. */
static __global__ void __launch_bounds__(CV_THREADS) aim(const __grid_constant__ cv_args a) {
    cv_wide taken[CV_AXES] = {0, 0, 0};
    CV_EACH(i, a.points) {
        const cv_sums s = a.sums[i];
        const cv_place p = a.place[i];
        int64_t target = 0;
        for (int k = 0; k < CV_AXES; k++) {
            taken[k] += cv_taken(s.weight, s.moment[k], p.at[k]);
            target += (p.at[k] + cv_step(s.weight, s.moment[k], p.at[k], a.grid.shape[k], a.omega)) * a.grid.linear[k];
        }
        target = !a.moves || a.stand[target] ? -1 : target; /* its own element among them */
        a.target[i] = target;
        if (target >= 0)
            *claim_on(a, target) = INT32_MAX;
    }
    if (a.number == 0)
        for (int k = 0; k < CV_AXES; k++)
            cv_add_wide(&a.own.taken[a.step * CV_AXES + k], taken[k]);
}

static __global__ void __launch_bounds__(CV_THREADS) claim(const __grid_constant__ cv_args a) {
    CV_EACH(i, a.points) if (a.target[i] >= 0) atomicMin(claim_on(a, a.target[i]), (int32_t)i);
}

static __global__ void __launch_bounds__(CV_THREADS) go(const __grid_constant__ cv_args a) {
    CV_EACH(i, a.points) {
        const int64_t target = a.target[i];
        if (target < 0 || *claim_on(a, target) != (int32_t)i)
            continue;
        int64_t at[CV_AXES];
        cv_split(&a.grid, target, at);
        a.stand[cv_linear(&a.grid, &a.place[i])] = 0;
        a.stand[target] = (int32_t)(i + 1);
        for (int k = 0; k < CV_AXES; k++)
            a.place[i].at[k] = (int32_t)at[k];
    }
}

cudaError_t cv_launch_advance(const cv_args *args, cudaStream_t stream) {
    const cv_args a = *args;
    DM_LAUNCH(aim, cv_blocks(a.points), CV_THREADS, 0, stream, a);
    if (a.moves) {
        DM_LAUNCH(claim, cv_blocks(a.points), CV_THREADS, 0, stream, a);
        DM_LAUNCH(go, cv_blocks(a.points), CV_THREADS, 0, stream, a);
    }
    return cudaGetLastError();
}

/* ---- Results ---- */

static __global__ void __launch_bounds__(CV_THREADS) emit_points(const __grid_constant__ cv_args a) {
    const dm_array *sites = &a.own.sites, *centroids = &a.own.centroids;
    CV_EACH(i, a.points)
    for (int axis = 0; axis < a.ndim; axis++) {
        const int k = axis + CV_AXES - a.ndim;
        char *site = sites->data + i * sites->stride[2] + axis * sites->stride[DM_X];
        if (sites->dtype == DISTMAP_INT32)
            *(int32_t *)site = a.place[i].at[k];
        else if (sites->dtype == DISTMAP_INT64)
            *(int64_t *)site = a.place[i].at[k];
        if (centroids->data)
            *(double *)(centroids->data + i * centroids->stride[2] + axis * centroids->stride[DM_X]) =
                cv_centroid(&a.sums[i], &a.place[i], k);
    }
}

static __global__ void __launch_bounds__(CV_THREADS) emit_energies(const __grid_constant__ cv_args a) {
    CV_EACH(step, a.steps + 1) {
        cv_wide q[CV_AXES];
        for (int k = 0; k < CV_AXES; k++)
            q[k] = cv_wide_of(&a.own.totals->square[k]) - cv_wide_of(&a.own.taken[step * CV_AXES + k]);
        *(double *)(a.own.energies.data + step * a.own.energies.stride[DM_X]) = cv_energy(&a.units, q);
    }
}

/* A thread for each element, in turns. Reads 4 or 8 bytes of it, and where its site stands, which caches have. */
static __global__ void __launch_bounds__(CV_THREADS) emit_labels(const __grid_constant__ cv_args a) {
    CV_EACH(i, a.grid.elements) {
        int64_t at[CV_AXES];
        cv_split(&a.grid, i, at);
        char *to = cv_address(&a.label, at);
        const int32_t number = a.stand[cv_nearest(a, i)] - 1;
        switch (a.label.dtype) {
        case DISTMAP_BOOL:
        case DISTMAP_INT8:
        case DISTMAP_UINT8: *(uint8_t *)to = (uint8_t)number; break;
        case DISTMAP_INT16:
        case DISTMAP_UINT16: *(uint16_t *)to = (uint16_t)number; break;
        case DISTMAP_INT32:
        case DISTMAP_UINT32: *(int32_t *)to = number; break;
        default: *(int64_t *)to = number;
        }
    }
}

cudaError_t cv_launch_emit(const cv_args *args, cudaStream_t stream) {
    const cv_args a = *args;
    if (a.own.sites.data || a.own.centroids.data)
        DM_LAUNCH(emit_points, cv_blocks(a.points), CV_THREADS, 0, stream, a);
    if (a.own.energies.data)
        DM_LAUNCH(emit_energies, cv_blocks(a.steps + 1), CV_THREADS, 0, stream, a);
    if (a.label.data)
        DM_LAUNCH(emit_labels, cv_blocks(a.grid.elements), CV_THREADS, 0, stream, a);
    return cudaGetLastError();
}
