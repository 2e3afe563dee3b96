/* chamfer/cpu's row operations for one lane, written as plain loops that compilers make vectors of. A template: define LANE,
 * the unsigned type, and NAME(x), a name of its own for each lane; included for u16, u32 and u64. */

static inline LANE NAME(least)(LANE a, LANE b) { return a < b ? a : b; }

static void NAME(straight)(void *to, const void *by, size_t n, uint64_t cost) {
    LANE *row = to;
    const LANE *from = by, straight = (LANE)cost;
    INDEPENDENT
    for (size_t x = 0; x < n; x++)
        row[x] = NAME(least)(row[x], (LANE)(from[x] + straight));
}

static void NAME(diagonal)(void *to, const void *by, size_t n, uint64_t straight_cost, uint64_t diagonal_cost) {
    LANE *row = to;
    const LANE *from = by, straight = (LANE)straight_cost, diagonal = (LANE)diagonal_cost;
    INDEPENDENT
    for (size_t x = 0; x < n; x++) {
        const LANE side = NAME(least)(from[(ptrdiff_t)x - 1], from[x + 1]);
        const LANE either = NAME(least)((LANE)(side + diagonal), (LANE)(from[x] + straight));
        row[x] = NAME(least)(row[x], either);
    }
}

static void NAME(knights)(void *to, const void *by_one, const void *by_two, size_t n, uint64_t cost) {
    LANE *row = to;
    const LANE *one = by_one, *two = by_two, knight = (LANE)cost;
    INDEPENDENT
    for (size_t x = 0; x < n; x++) {
        const LANE near = NAME(least)(one[(ptrdiff_t)x - 2], one[x + 2]);
        const LANE far = NAME(least)(two[(ptrdiff_t)x - 1], two[x + 1]);
        row[x] = NAME(least)(row[x], (LANE)(NAME(least)(near, far) + knight));
    }
}

static void NAME(pad)(LANE *row, size_t n, LANE cap) {
    for (size_t i = 0; i < CH_PAD; i++)
        row[(ptrdiff_t)i - CH_PAD] = row[n + i] = cap;
}
