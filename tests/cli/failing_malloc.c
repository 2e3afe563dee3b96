/* To be preloaded: allocation number DISTMAP_FAIL_AT of the process fails, and with DISTMAP_FAIL_ON all that follow; the same in each of
 * its children. Where DISTMAP_COUNT_TO names a file, the largest count of a process is in its first eight bytes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

int posix_memalign(void **memory, size_t alignment, size_t bytes);

static atomic_long count;
static long fail_at = -1; /* before main: none */
static int goes_on;
static atomic_long *most; /* shared by the processes; NULL: nobody wants to know */

static int refuses(void) {
    const long n = ++count;
    for (long before = most ? *most : n; before < n && !atomic_compare_exchange_weak(most, &before, n);)
        ;
    if (fail_at < 1 || (goes_on ? n < fail_at : n != fail_at))
        return 0;
    errno = ENOMEM;
    return 1;
}

__attribute__((visibility("default"))) void *malloc(size_t bytes) { return refuses() ? NULL : __libc_malloc(bytes); }
__attribute__((visibility("default"))) void *calloc(size_t n, size_t bytes) {
    return refuses() ? NULL : __libc_calloc(n, bytes);
}
__attribute__((visibility("default"))) void *realloc(void *memory, size_t bytes) {
    return refuses() ? NULL : __libc_realloc(memory, bytes);
}
__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t bytes) {
    return refuses() ? NULL : __libc_memalign(alignment, bytes);
}
__attribute__((visibility("default"))) void *memalign(size_t alignment, size_t bytes) {
    return refuses() ? NULL : __libc_memalign(alignment, bytes);
}
__attribute__((visibility("default"))) int posix_memalign(void **memory, size_t alignment, size_t bytes) {
    *memory = refuses() ? NULL : __libc_memalign(alignment, bytes);
    return *memory ? 0 : ENOMEM;
}

/* For a process that lets only some of its calls fail (tests/python/allocations.py): number `at` from now on, 0: none. How many there
 * were. */
long failing_malloc_from(long at);
__attribute__((visibility("default"))) long failing_malloc_from(long at) {
    const long before = count;
    fail_at = -1;
    count = 0;
    fail_at = at;
    return before;
}

static void begin(void) {
    const char *at = getenv("DISTMAP_FAIL_AT");
    count = 0;
    goes_on = getenv("DISTMAP_FAIL_ON") != NULL;
    fail_at = at ? atol(at) : -1;
    const char *path = getenv("DISTMAP_COUNT_TO");
    const int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        return;
    if (ftruncate(fd, sizeof *most))
        _exit(9);
    most = mmap(NULL, sizeof *most, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
}

/* Constructors, those of CUDA's runtime among them, come before main() and are not ours to test. */
typedef int program(int argc, char **argv, char **environment);
static program *main_of_program;

static int begin_and_run(int argc, char **argv, char **environment) {
    begin();
    return main_of_program(argc, argv, environment);
}

int __libc_start_main(program *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*loader)(void), void *stack);

__attribute__((visibility("default"))) int __libc_start_main(program *main, int argc, char **argv, void (*init)(void),
                                                             void (*fini)(void), void (*loader)(void), void *stack) {
    int (*const start)(program *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *) =
        (int (*)(program *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *))dlsym(
            RTLD_NEXT, "__libc_start_main");
    main_of_program = main;
    return start(begin_and_run, argc, argv, init, fini, loader, stack);
}
