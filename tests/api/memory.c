/* Memory: every allocation may fail, all are released, scratch is as large as stated and stays inside, executing allocates
 * nothing. */
#include "api.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

/* What this program defines in place of a library's function must be seen by the libraries. */
#define SEEN __attribute__((visibility("default")))

/* An absurd size is to come back as an error here too, not to end the program. */
SEEN const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
SEEN const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

/* ---- The C library's allocator, counted; sanitizers bring their own and are left alone ---- */

#if defined(__GLIBC__) && !defined(SANITIZED)
#define COUNTS_MALLOC 1
#include <stdatomic.h>

static atomic_int armed, counted;
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static void count(void) { counted += armed; }
SEEN void *malloc(size_t bytes) { return count(), __libc_malloc(bytes); }
SEEN void *calloc(size_t n, size_t bytes) { return count(), __libc_calloc(n, bytes); }
SEEN void *realloc(void *memory, size_t bytes) { return count(), __libc_realloc(memory, bytes); }
SEEN void *aligned_alloc(size_t alignment, size_t bytes) { return count(), __libc_memalign(alignment, bytes); }
SEEN int posix_memalign(void **memory, size_t alignment, size_t bytes) {
    count();
    *memory = __libc_memalign(alignment, bytes);
    return *memory ? 0 : 12;
}
#endif

/* ---- An allocator that keeps books and can fail ---- */

struct books {
    int calls, fail_at; /* the call that fails, counted from 0; -1: none */
    size_t held;
    int live;
};

static void *keep_allocate(void *user, size_t bytes, size_t alignment) {
    struct books *b = user;
    if (b->calls++ == b->fail_at)
        return NULL;
    void *memory = NULL;
    if (posix_memalign(&memory, alignment, bytes))
        return NULL;
    memset(memory, 0xcc, bytes);
    b->held += bytes;
    b->live++;
    return memory;
}

static void keep_release(void *user, void *memory, size_t bytes) {
    struct books *b = user;
    assert_non_null(memory);
    b->held -= bytes;
    b->live--;
    free(memory);
}

static uint8_t mask[PIXELS];
static float distance[PIXELS], first[PIXELS];

/* Context, plan, execute, with allocation number `fail_at` failing. */
static distmap_status whole_run(struct books *b, int threads) {
    const distmap_context_options options = {.threads = threads, .allocator = {keep_allocate, keep_release, b}};
    const distmap_problem p = small_problem();
    const distmap_arrays a = small_arrays(mask, distance);
    distmap_context *context = NULL;
    distmap_plan *plan = NULL;
    distmap_status status = distmap_context_create(&options, &context);
    if (status == DISTMAP_OK)
        status = distmap_plan_create(context, &p, NULL, &plan);
    const int before = b->calls;
    if (status == DISTMAP_OK)
        status = distmap_plan_execute(plan, &a);
    assert_int_equal(b->calls, before);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
    return status;
}

static void test_every_allocation_fails(void **state) {
    (void)state;
    paint(mask, PIXELS, 20, 1);
    for (int threads = 1; threads <= 2; threads++) {
        struct books all = {.fail_at = -1};
        assert_int_equal(whole_run(&all, threads), DISTMAP_OK);
        assert_int_equal(all.live, 0);
        assert_int_equal(all.held, 0);
        assert_true(all.calls >= 2);
        for (int k = 0; k < all.calls; k++) {
            struct books b = {.fail_at = k};
            assert_int_equal(whole_run(&b, threads), DISTMAP_ERROR_MEMORY);
            assert_non_null(strstr(distmap_error_text(), "allocate"));
            assert_int_equal(b.live, 0);
            assert_int_equal(b.held, 0);
        }
    }
}

/* More than any machine has: an error, not a crash. */
static void test_absurd_size(void **state) {
    (void)state;
    distmap_context *context = NULL;
    distmap_plan *plan = NULL;
    distmap_problem p = small_problem();
    p.ndim = 3;
    p.shape[0] = p.shape[1] = p.shape[2] = (int64_t)1 << 18;
    size_t bytes = 0;
    assert_int_equal(distmap_context_create(&(distmap_context_options){.threads = 1}, &context), DISTMAP_OK);
    for (size_t m = cpu_method(0); distmap_method_get(m); m = cpu_method(m + 1)) {
        const distmap_plan_options options = {.method = distmap_method_get(m)->name};
        if (distmap_scratch_bytes(context, &p, &options, &bytes) == DISTMAP_ERROR_UNSUPPORTED || bytes < (size_t)1
                                                                                                             << 47)
            continue;
        assert_int_equal(distmap_plan_create(context, &p, &options, &plan), DISTMAP_ERROR_MEMORY);
        assert_null(plan);
    }
    distmap_context_destroy(&context);
}

/* The caller's scratch: exactly as large as stated, full of rubbish, between guards. */
static void test_scratch(void **state) {
    (void)state;
    enum { GUARD = 256 };
    bool known = false;
    paint(mask, PIXELS, 50, 2);
    for (int threads = 1; threads <= 2; threads++)
        for (size_t m = cpu_method(0); distmap_method_get(m); m = cpu_method(m + 1))
            for (int sites = 0; sites < 2; sites++) {
                distmap_context *context = NULL;
                distmap_plan *plan = NULL;
                static int32_t index[PIXELS];
                distmap_problem p = small_problem();
                distmap_arrays a = small_arrays(mask, distance);
                if (sites) {
                    p.want.index = DISTMAP_INT32;
                    a.index = distmap_view_make(index, DISTMAP_INT32, 2, small_shape);
                }
                distmap_plan_options options = {.method = distmap_method_get(m)->name};
                assert_int_equal(distmap_context_create(&(distmap_context_options){.threads = threads}, &context),
                                 DISTMAP_OK);
                size_t bytes = 0;
                if (distmap_scratch_bytes(context, &p, &options, &bytes) == DISTMAP_ERROR_UNSUPPORTED) {
                    distmap_context_destroy(&context);
                    continue;
                }
                const size_t all = (bytes + 63) / 64 * 64 + 2 * GUARD;
                unsigned char *memory = aligned_alloc(64, all);
                assert_non_null(memory);
                memset(memory, 0xe7, all);
                options.scratch = memory + GUARD;
                options.scratch_bytes = bytes;
                assert_int_equal(distmap_plan_create(context, &p, &options, &plan), DISTMAP_OK);
                distmap_description d;
                distmap_plan_describe(plan, &d);
                assert_int_equal(d.scratch_bytes, bytes);
                for (int run = 0; run < 2; run++) {
                    assert_int_equal(distmap_plan_execute(plan, &a), DISTMAP_OK);
                    if (!known)
                        memcpy(first, distance, sizeof first);
                    known = true;
                    assert_memory_equal(first, distance, sizeof first);
                    memset(options.scratch, 0x3c, bytes);
                }
                distmap_plan_destroy(&plan);
                distmap_context_destroy(&context);
                for (size_t i = 0; i < all; i++)
                    if (i < GUARD || i >= GUARD + bytes)
                        assert_int_equal(memory[i], 0xe7);
                free(memory);
            }
}

#ifdef COUNTS_MALLOC
static void test_execute_allocates_nothing(void **state) {
    (void)state;
    paint(mask, PIXELS, 30, 3);
    for (int threads = 1; threads <= 2; threads++)
        for (size_t m = cpu_method(0); distmap_method_get(m); m = cpu_method(m + 1)) {
            distmap_context *context = NULL;
            distmap_plan *plan = NULL;
            const distmap_problem p = small_problem();
            const distmap_arrays a = small_arrays(mask, distance);
            const distmap_plan_options options = {.method = distmap_method_get(m)->name, .timed = threads == 2};
            assert_int_equal(distmap_context_create(&(distmap_context_options){.threads = threads}, &context),
                             DISTMAP_OK);
            counted = 0;
            armed = 1;
            const distmap_status made = distmap_plan_create(context, &p, &options, &plan);
            const int before = counted;
            const distmap_status status = plan ? distmap_plan_execute(plan, &a) : DISTMAP_OK;
            const int after = counted;
            armed = 0;
            if (made != DISTMAP_ERROR_UNSUPPORTED) {
                assert_int_equal(made, DISTMAP_OK);
                assert_int_equal(status, DISTMAP_OK);
                assert_true(before > 0); /* a plan needs memory, so the counter counts what the library asks for */
                assert_int_equal(after, before);
            }
            distmap_plan_destroy(&plan);
            distmap_context_destroy(&context);
        }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_absurd_size),
        cmocka_unit_test(test_scratch),
#ifdef COUNTS_MALLOC
        cmocka_unit_test(test_execute_allocates_nothing),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
