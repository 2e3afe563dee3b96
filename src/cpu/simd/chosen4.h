/* Row `mask` of this table moves the 4-byte lanes whose bits are set to the front of a 16-byte vector, as a byte shuffle;
 * what comes after them is lane 0. SSE4.2 and NEON compress by it. */
#define LANE(i) 4 * (i), 4 * (i) + 1, 4 * (i) + 2, 4 * (i) + 3
#define ROW(a, b, c, d) \
    { LANE(a), LANE(b), LANE(c), LANE(d) }
static const uint8_t chosen_lanes[16][16] = {
    ROW(0, 0, 0, 0), ROW(0, 0, 0, 0), ROW(1, 0, 0, 0), ROW(0, 1, 0, 0), ROW(2, 0, 0, 0), ROW(0, 2, 0, 0),
    ROW(1, 2, 0, 0), ROW(0, 1, 2, 0), ROW(3, 0, 0, 0), ROW(0, 3, 0, 0), ROW(1, 3, 0, 0), ROW(0, 1, 3, 0),
    ROW(2, 3, 0, 0), ROW(0, 2, 3, 0), ROW(1, 2, 3, 0), ROW(0, 1, 2, 3),
};
#undef LANE
#undef ROW
