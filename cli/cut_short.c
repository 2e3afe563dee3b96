/* A mapped input that is cut short while it is read: the pages that are gone are a SIGBUS to whoever looks at them.
 *
 * Reading instead of mapping would cost a copy of every input, and what is computed in a mapping cannot stop in the middle. So the
 * page is replaced by one of zeros, and the work goes on until it next asks whether it was cancelled; what it has made of zeros is
 * thrown away, and the run ends as after any error, with one line and nothing left behind. mmap() is one system call that takes no
 * lock of this process, so that a handler may use it.
 */
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli.h"

static volatile sig_atomic_t happened;
static uintptr_t page_bytes;
static const char *inputs[2];

static void replace_page(int number, siginfo_t *info, void *context) {
    (void)context;
    void *page = (void *)((uintptr_t)info->si_addr & ~(page_bytes - 1));
    if (info->si_code == BUS_ADRERR &&
        mmap(page, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
        happened = 1;
    else
        signal(number, SIG_DFL); /* which comes again at once */
}

void cut_short_watch(const char *input, const char *other) {
    inputs[0] = input;
    inputs[1] = other;
    struct sigaction action = {.sa_sigaction = replace_page, .sa_flags = SA_SIGINFO};
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

bool cut_short(void) { return happened != 0; }

/* Which of two it was, the size tells: pages are gone where there are none. */
const char *cut_short_name(void) {
    distmap_reader *reader = NULL;
    if (!inputs[1] || distmap_reader_open(inputs[0], &reader))
        return inputs[0] ? inputs[0] : "a file";
    distmap_reader_close(&reader);
    return inputs[1];
}
