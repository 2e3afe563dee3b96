/* counts: the arithmetic beyond 2^31, with no memory behind it: datatypes of boxes in views that nobody reads, shares, panels and
 * messages of images of up to 2^56 elements; and, of small ones, that the parts of all panels are all of the image, once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../matrix/random.h"
#include "../require.h"
#include "mpi/internal.h"

static struct dms_layout layout_of(int ndim, const int64_t *shape, unsigned axes, int size, size_t bytes, size_t each) {
    distmap_problem p = {.ndim = ndim, .axes = axes};
    struct dms_layout l = {0};
    memcpy(p.shape, shape, (size_t)ndim * sizeof *shape);
    dms_layout_make(&p, size, &l);
    dms_layout_panels(&l, bytes, each);
    l.slabs = calloc((size_t)size, sizeof *l.slabs);
    REQUIRE(l.slabs);
    for (int r = 0; r < size; r++)
        l.slabs[r] = dms_share(l.shape[l.axis], size, r);
    REQUIRE(dms_slabs_check(&l) == DISTMAP_OK);
    return l;
}

/* Bytes, and the addresses of the first and last byte. */
static void expect_type(const struct dms_layout *l, const struct dmm_views *views, const struct dms_box *box,
                        int64_t bytes, MPI_Aint first, MPI_Aint last) {
    MPI_Datatype type;
    int count;
    MPI_Count size, low, extent;
    REQUIRE(dmm_type_make(l, views, box, &type, &count) == DISTMAP_OK);
    REQUIRE(count == 1);
    MPI_Type_size_x(type, &size);
    MPI_Type_get_true_extent_x(type, &low, &extent);
    REQUIRE(size == bytes);
    REQUIRE(low == first);
    REQUIRE(low + extent == last + 1);
    MPI_Type_free(&type);
}

static void test_types(void) {
    char *const nowhere = (char *)((uintptr_t)1 << 40);
    const int64_t shape[] = {1 << 10, 1 << 13, 1 << 14}; /* 2^37 elements, 2^39 bytes */
    const struct dms_layout l = layout_of(3, shape, 7, 4, (size_t)1 << 30, 8);
    distmap_view view = distmap_view_make(nowhere, DISTMAP_FLOAT32, 3, shape), other = view;
    struct dms_box box = {.lo = {0, 1, 2}, .hi = {1 << 10, 1 << 13, 1 << 14}};
    struct dmm_views views = {.view = {&view}, .count = 1};
    const int64_t elements = dms_box_elements(&l, &box), row = 4LL << 14, slice = row << 13;
    REQUIRE(elements == (1LL << 10) * ((1LL << 13) - 1) * ((1LL << 14) - 2));
    expect_type(&l, &views, &box, 4 * elements, (MPI_Aint)(nowhere + row + 8), (MPI_Aint)(nowhere + (slice << 10) - 1));
    /* The same from a slab that begins later; and with a view above it. */
    views.origin[0] = box.lo[0] = 1000;
    box.hi[0] = 1024;
    view.data = nowhere;
    expect_type(&l, &views, &box, 4 * dms_box_elements(&l, &box), (MPI_Aint)(nowhere + row + 8),
                (MPI_Aint)(nowhere + 24 * slice - 1));
    other.data = nowhere + (slice << 10);
    views = (struct dmm_views){.view = {&view, &other}, .count = 2, .origin = {1000}};
    expect_type(&l, &views, &box, 8 * dms_box_elements(&l, &box), (MPI_Aint)(nowhere + row + 8),
                (MPI_Aint)(nowhere + (slice << 10) + 24 * slice - 1));
    /* Backwards along the slowest axis. */
    view.strides[0] = -slice;
    views = (struct dmm_views){.view = {&view}, .count = 1};
    box = (struct dms_box){.hi = {1024, 1, 1}};
    expect_type(&l, &views, &box, 4096, (MPI_Aint)(nowhere - 1023 * slice), (MPI_Aint)(nowhere + 3));
    /* Nothing. */
    MPI_Datatype type;
    int count = 1;
    box.hi[1] = 0;
    REQUIRE(dmm_type_make(&l, &views, &box, &type, &count) == DISTMAP_OK && count == 0 && type == MPI_BYTE);
    free(l.slabs);
}

static void test_large(void) {
    /* 2^56 elements on 64 ranks: no message passes 1 GiB, and sites keep all of their bits. */
    const int64_t shape[] = {1 << 18, 1 << 19, 1 << 19};
    const struct dms_layout l = layout_of(3, shape, 7, 1 << 12, (size_t)32 << 20, 20);
    const int64_t at[4] = {0};
    REQUIRE(l.axis == 0 && l.cut == 1 && l.width == 1 && l.panels == 1 << 7);
    const struct dms_box last = dms_panel_part(&l, l.panels - 1, l.size - 1);
    REQUIRE(last.lo[1] == (1 << 19) - 1 && last.hi[1] == 1 << 19 && dms_box_elements(&l, &last) == 1LL << 37);
    const struct dms_box message = dms_box_in_slab(&l, last, 5);
    REQUIRE(dms_box_elements(&l, &message) * 16 <= 1 << 30);
    REQUIRE(dms_index_shift(&l, l.size - 1, at) == ((1LL << 18) - (1 << 6)) << 38);
    free(l.slabs);
}

/* Boxes of all panels and ranks, in all slabs, count each element once; sites in slabs are shifted to their places. */
static void test_partition(struct rng *r) {
    int64_t shape[4];
    const int ndim = (int)rng_range(r, 1, 4), size = (int)rng_range(r, 1, 9);
    int64_t elements = 1, stride[4];
    for (int a = 0; a < ndim; a++)
        elements *= shape[a] = rng_range(r, 0, 9);
    const unsigned axes = (unsigned)rng_range(r, 0, (1 << ndim) - 1);
    struct dms_layout l =
        layout_of(ndim, shape, axes, size, (size_t)rng_range(r, 1, 3000), (size_t)rng_range(r, 4, 24));
    int64_t step = 1;
    for (int a = l.ndim - 1; a >= 0; a--) {
        stride[a] = step;
        step *= l.shape[a];
    }
    int *seen = calloc((size_t)elements + 1, sizeof *seen);
    REQUIRE(seen);
    for (int64_t panel = 0; panel < l.panels; panel++)
        for (int owner = 0; owner < size; owner++) {
            const struct dms_box part = dms_panel_part(&l, panel, owner);
            REQUIRE(part.hi[l.cut] - part.lo[l.cut] <= l.width);
            for (int holder = 0; holder < size; holder++) {
                const struct dms_box box = dms_box_in_slab(&l, part, holder);
                if (dms_box_elements(&l, &box) == 0)
                    continue;
                int64_t at[4];
                memcpy(at, box.lo, sizeof at);
                do {
                    int64_t whole = 0, own = 0; /* linear indices */
                    for (int a = 0; a < l.ndim; a++) {
                        const int64_t length = a == l.axis ? l.slabs[holder].count : l.shape[a];
                        whole += at[a] * stride[a];
                        own = own * length + at[a] - (a == l.axis ? l.slabs[holder].first : 0);
                    }
                    seen[whole]++;
                    REQUIRE(own + dms_index_shift(&l, holder, at) == whole);
                } while (dms_box_next(&box, l.ndim, at));
            }
        }
    for (int64_t i = 0; i < elements; i++)
        REQUIRE(seen[i] == 1);
    REQUIRE(elements > 0 || l.panels == 0);
    free(seen);
    free(l.slabs);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    test_types();
    test_large();
    struct rng r = {2026};
    for (int i = 0; i < 3000; i++)
        test_partition(&r);
    REQUIRE(dmm_mpi_status(MPI_SUCCESS, "MPI_Send(x)") == DISTMAP_OK);
    REQUIRE(dmm_mpi_status(MPI_ERR_COUNT, "MPI_Send(x)") == DISTMAP_ERROR_IO);
    REQUIRE(strstr(distmap_error_text(), "MPI_Send: ") == distmap_error_text());
    MPI_Finalize();
    printf("counts: right\n");
    return 0;
}
