/* The number of the filter in hdf5_filter.c: one of those that anybody may use for tests. */
enum { TEST_FILTER = 300 };
