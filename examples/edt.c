/* The everyday case: the distance of every element of a mask to the nearest zero, in one call.
 *
 * cc edt.c $(pkg-config --cflags --libs distmap) && ./a.out
 */
#include <stdio.h>

#include <distmap.h>

int main(void) {
    /* A 4 x 6 image, row by row; its only site is the zero in the second row. */
    const uint8_t mask[4][6] = {
        {1, 1, 1, 1, 1, 1},
        {1, 0, 1, 1, 1, 1},
        {1, 1, 1, 1, 1, 1},
        {1, 1, 1, 1, 1, 1},
    };
    const int64_t shape[] = {4, 6}; /* slowest axis first: rows, then columns */
    float distance[4][6];

    if (distmap_edt(&mask[0][0], 2, shape, &distance[0][0]) != DISTMAP_OK) {
        fprintf(stderr, "edt: %s\n", distmap_error_text());
        return 1;
    }
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 6; x++)
            printf("%.3f%c", distance[y][x], x < 5 ? ' ' : '\n');
    return distance[3][4] != 3.60555124f; /* two rows down and three columns on: sqrt(13) */
}
