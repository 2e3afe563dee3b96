/* skeleton/cpu: sites from linear indices to coordinates. A template: define T, the coordinates' type, I, the indices', and
 * SPLIT, the function's name. Plain loops that compilers make vectors of.
 *
 * Quotients by the reciprocal in FP64: (i + 1/2) / n is 1/(2n) away from whole numbers, and i of 32 bits round by less. Of
 * wider i the quotient may be off by one, which the remainder tells. */
static void SPLIT(const sk_split *p) {
    enum { BLOCK = 512 };
    I rest[BLOCK];
    for (int64_t done = 0; done < p->n; done += BLOCK) {
        const int count = p->n - done < BLOCK ? (int)(p->n - done) : BLOCK;
        const I *index = (const I *)p->index + done;
        for (int i = 0; i < count; i++)
            rest[i] = index[i];
        for (int a = DM_X; a >= 0; a--) {
            const I n = (I)p->shape[a];
            const double inverse = 1.0 / (double)n;
            T *to = p->to[a] ? (T *)p->to[a] + done : NULL;
            if (n == 1 && !to)
                continue;
            INDEPENDENT
            for (int i = 0; i < count; i++) {
                I quotient = (I)(((double)rest[i] + 0.5) * inverse), left = rest[i] - quotient * n;
                if (sizeof(I) > 4) {
                    const I more = left < 0 ? -1 : left >= n ? 1 : 0;
                    quotient += more;
                    left -= more * n;
                }
                rest[i] = quotient;
                if (to)
                    to[i] = (T)(index[i] < 0 ? index[i] : left);
            }
        }
    }
}
