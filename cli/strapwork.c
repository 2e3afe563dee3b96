/* Strapwork: the outlines of interlaced straps, a crowded pattern of thin lines as on tiles.
 *
 * Straps run straight along the sides of two kinds of squares that repeat with period P: upright ones, |x|, |y| = P / 4, and,
 * turned by 45 degrees, |x + y|, |x - y| = P sqrt(2) / 4, with octagons between them. Of two straps that cross one goes over
 * the other, in turns along each, by the parity of their numbers; of the one below nothing is seen there. Sites are the
 * outlines of what is seen.
 */
#include <math.h>

#include "patterns.h"

static const double period = 80, half_width = 4, outline = 1.5;

struct strap {
    int64_t number;
    double off; /* from the middle */
    bool here;
};

/* The strap nearest to u among those at +-middle and everywhere `apart` from there. */
static struct strap nearest(double u, double middle, double apart) {
    struct strap best = {.off = HUGE_VAL};
    for (int side = 0; side < 2; side++) {
        const double first = side ? middle : -middle, turn = round((u - first) / apart);
        const double off = fabs(u - first - turn * apart);
        if (off < best.off)
            best = (struct strap){2 * (int64_t)turn + side, off, off <= half_width};
    }
    return best;
}

static bool is_site(double x, double y) {
    const double side = period / 4, root = sqrt(0.5);
    const struct strap straps[4] = {
        nearest(x, side, period),
        nearest((x + y) * root, side, period * root),
        nearest(y, side, period),
        nearest((x - y) * root, side, period * root),
    };
    int top = -1;
    for (int i = 0; i < 4; i++)
        if (straps[i].here && (top < 0 || ((straps[i].number + straps[top].number + i + top) & 1)))
            top = i;
    return top >= 0 && straps[top].off > half_width - outline;
}

void strapwork_row(const grid *g, int64_t z, int64_t y, uint8_t *row) {
    (void)z;
    for (int64_t x = 0; x < g->nx; x++)
        row[x] = is_site((double)x, (double)y) ? 0 : NONSITE;
}
