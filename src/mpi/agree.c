/* One rank's error is everyone's: nobody waits for a rank that has left. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mpi/internal.h"

enum { TEXT = 512 }; /* as distmap_error_set() cuts it */

distmap_status dmm_mpi_status(int code, const char *call) {
    if (code == MPI_SUCCESS)
        return DISTMAP_OK;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, text, &length);
    return distmap_error_set(DISTMAP_ERROR_IO, "%.*s: %s", (int)strcspn(call, "("), call, text);
}

distmap_status dmm_agree(MPI_Comm comm, distmap_status status, unsigned *flags) {
    int rank, size;
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    TRY_MPI(MPI_Comm_size(comm, &size));
    /* The least of these is the first rank with an error, and of each flag's bit, negated, whether anyone has it. */
    const unsigned own = flags ? *flags : 0;
    int told[] = {status == DISTMAP_OK ? size : rank, -(int)(own & DISTMAP_FLAG_NO_SITE),
                  -(int)(own & DISTMAP_FLAG_NAN)};
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, told, 3, MPI_INT, MPI_MIN, comm));
    if (flags)
        *flags = (unsigned)-told[1] | (unsigned)-told[2];
    const int failed = told[0];
    if (failed == size)
        return DISTMAP_OK;
    struct {
        int status;
        char text[TEXT];
    } error = {.status = (int)status};
    if (rank == failed)
        snprintf(error.text, TEXT, "%s", distmap_error_text());
    TRY_MPI(MPI_Bcast(&error, (int)sizeof error, MPI_BYTE, failed, comm));
    return distmap_error_set((distmap_status)error.status, "rank %d: %s", failed, error.text);
}

/* ---- The same problem everywhere ---- */

enum { FIELDS = 40 };
struct field {
    const char *name;
    double value; /* exact: shapes are below 2^31 */
};

static int list_fields(const distmap_problem *p, const distmap_mpi_options *options, struct field *field) {
    static const char *const shapes[] = {"problem.shape[0]", "problem.shape[1]", "problem.shape[2]",
                                         "problem.shape[3]"};
    static const char *const spacings[] = {"problem.spacing[0]", "problem.spacing[1]", "problem.spacing[2]",
                                           "problem.spacing[3]"};
    int n = 0;
    field[n++] = (struct field){"problem.ndim", p->ndim};
    for (int a = 0; a < DISTMAP_MAX_NDIM; a++) {
        field[n++] = (struct field){shapes[a], (double)p->shape[a]};
        field[n++] = (struct field){spacings[a], p->spacing[a] == 0 ? 1 : p->spacing[a]};
    }
    field[n++] = (struct field){"problem.input", p->input};
    field[n++] = (struct field){"problem.dtype", p->dtype};
    field[n++] = (struct field){"problem.axes", p->axes};
    field[n++] = (struct field){"problem.sites.rule", p->sites.rule};
    field[n++] = (struct field){"problem.sites.lo", p->sites.lo};
    field[n++] = (struct field){"problem.sites.hi", p->sites.hi};
    field[n++] = (struct field){"problem.sign", p->sign};
    field[n++] = (struct field){"problem.surface", p->surface};
    field[n++] = (struct field){"problem.limit", p->limit};
    field[n++] = (struct field){"problem.border", p->border};
    field[n++] = (struct field){"problem.want.distance", p->want.distance};
    field[n++] = (struct field){"problem.want.squared", p->want.squared};
    field[n++] = (struct field){"problem.want.index", p->want.index};
    field[n++] = (struct field){"options.panel_bytes", (double)options->panel_bytes};
    field[n++] = (struct field){"options.near_ranks", options->near_ranks};
    return n;
}

distmap_status dmm_same(MPI_Comm comm, distmap_status own, const distmap_problem *problem,
                        const distmap_mpi_options *options) {
    struct field field[FIELDS];
    double first[FIELDS];
    const int count = list_fields(problem, options, field);
    for (int i = 0; i < count; i++)
        first[i] = field[i].value;
    TRY_MPI(MPI_Bcast(first, count, MPI_DOUBLE, 0, comm));
    TRY(own);
    for (int i = 0; i < count; i++)
        if (!(field[i].value == first[i] || (isnan(field[i].value) && isnan(first[i]))))
            return bad("%s is %.17g here and %.17g on rank 0: the ranks were given different problems", field[i].name,
                       field[i].value, first[i]);
    return DISTMAP_OK;
}
