/* Part of the library to preload (shim.c): with FAULTS_SERVE a program is loaded once, and each request runs it in a forked child. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void faults_begin(void); /* shim.c */

typedef int program(int argc, char **argv, char **environment);
static program *served;

static bool take(void *to, size_t bytes) {
    for (size_t got = 0; got < bytes;) {
        const ssize_t n = syscall(SYS_read, STDIN_FILENO, (char *)to + got, bytes - got);
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    return true;
}

/* Runs in the child. `text`: the arguments and variables, strings one behind the other. Messages go to `said`. */
static int run(char *text, const uint32_t counts[2], int said, char **argv) {
    const int nothing = open("/dev/null", O_RDWR);
    for (uint32_t i = 0; i < counts[0] + counts[1]; i++, text += strlen(text) + 1)
        if (i < counts[0])
            argv[i] = text;
        else
            putenv(text);
    unsetenv("FAULTS_SERVE");
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(said, STDERR_FILENO);
    close(nothing);
    close(said);
    faults_begin();
    return served((int)counts[0], argv, environ);
}

/* A request: how many arguments and how many variables, how many bytes these have, all uint32; the bytes. The answer: the status as of
 * waitpid(), how many bytes were said, and these. */
static int serve(int argc, char **argv, char **environment) {
    (void)argc, (void)argv, (void)environment;
    static char answer[1 << 16];
    uint32_t request[3], head[2];
    while (take(request, sizeof request)) {
        char *text = malloc(request[2] + 1), **words = calloc(request[0] + 1, sizeof *words);
        int ends[2], status;
        if (!text || !words || !take(text, request[2]) || pipe2(ends, O_CLOEXEC))
            return 1;
        const pid_t child = fork();
        if (!child)
            return run(text, request, ends[1], words);
        close(ends[1]);
        head[1] = 0;
        for (ssize_t n; (n = syscall(SYS_read, ends[0], answer + head[1], sizeof answer - head[1])) > 0;)
            head[1] += (uint32_t)n;
        close(ends[0]);
        waitpid(child, &status, 0);
        head[0] = (uint32_t)status;
        syscall(SYS_write, STDOUT_FILENO, head, sizeof head);
        syscall(SYS_write, STDOUT_FILENO, answer, (size_t)head[1]);
        free(text);
        free(words);
    }
    return 0;
}

typedef int starter(program *main, int argc, char **argv, void (*init)(void), void (*end)(void), void (*loader)(void),
                    void *stack);
starter __libc_start_main;

int __libc_start_main(program *main, int argc, char **argv, void (*init)(void), void (*end)(void), void (*loader)(void),
                      void *stack) {
    served = main;
    return ((starter *)dlsym(RTLD_NEXT, "__libc_start_main"))(getenv("FAULTS_SERVE") ? serve : main, argc, argv, init,
                                                              end, loader, stack);
}
