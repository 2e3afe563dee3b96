/* Turns elements into bits: one for each element of a row, 64 to a word; bits from the row's width on are zero. */

/* Bits of bytes that equal `value`, the others with `invert` all ones. */
static void pack_bytes(const mp_job *job, const uint8_t *bytes, uint8_t value, uint64_t invert, uint64_t *bits) {
    const size_t full = (size_t)job->width / 64, tail = (size_t)job->width % 64;
    for (size_t i = 0; i < full; i++)
        bits[i] = bytes_equal(bytes + 64 * i, value) ^ invert;
    if (tail) {
        uint8_t rest[64] = {0};
        memcpy(rest, bytes + 64 * full, tail);
        bits[full] = (bytes_equal(rest, value) ^ invert) & (((uint64_t)1 << tail) - 1);
    }
}

/* The sites of the row that begins at `at`. */
static void pack_sites(const mp_job *job, const int64_t at[DM_NDIM], uint64_t *bits, mp_worker *w) {
    const dm_array *in = &job->arrays->input;
    const distmap_sites_rule rule = job->plan->problem.sites.rule;
    if (distmap_dtype_size(in->dtype) == 1 && in->stride[DM_X] == 1 &&
        (rule == DISTMAP_SITES_ZERO || rule == DISTMAP_SITES_NONZERO)) {
        const uint8_t *bytes = (const uint8_t *)dm_row_address(in, at);
        pack_bytes(job, bytes, 0, rule == DISTMAP_SITES_NONZERO ? UINT64_MAX : 0, bits);
    } else {
        dm_row_sites(job->plan, in, at, job->width, w->bytes);
        pack_bytes(job, w->bytes, 1, 0, bits);
    }
}
