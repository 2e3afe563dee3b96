#include "choice.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMS = 16 };

static struct {
    const char *program, *method, *isa;
    int number, threads; /* number -1: every case; threads 0: every count */
    const char *params[MOST_PARAMS]; /* "NAME=VALUE" */
    int param_count;
} choice = {.number = -1};

static void stop(const char *rule, const char *value) {
    fprintf(stderr, "%s: %s: %s\n", choice.program, value, rule);
    exit(2);
}

static int64_t read_integer(const char *text, const char *rule) {
    char *end;
    const int64_t value = strtoll(text, &end, 10);
    if (end == text || *end || value < 0)
        stop(rule, text);
    return value;
}

static void check_method(const char *name) {
    for (size_t m = 0; distmap_method_get(m); m++)
        if (strcmp(distmap_method_get(m)->name, name) == 0)
            return;
    stop("no such method; 'distmap methods' lists them", name);
}

const char *choice_read(int argc, char **argv, const char *usage) {
    static const struct option options[] = {
        {"case", required_argument, NULL, 'c'},   {"method", required_argument, NULL, 'm'},
        {"isa", required_argument, NULL, 'i'},    {"threads", required_argument, NULL, 't'},
        {"param", required_argument, NULL, 'p'},  {NULL, 0, NULL, 0},
    };
    choice.program = argv[0];
    const char *isa = getenv("DISTMAP_ISA"); /* contexts of every instruction set are made by changing it: a copy */
    choice.isa = isa ? strdup(isa) : NULL;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'c': choice.number = (int)read_integer(optarg, "a case is a number, 0 or more"); break;
        case 'm': check_method(choice.method = optarg); break;
        case 'i': choice.isa = optarg; break;
        case 't': choice.threads = (int)read_integer(optarg, "a count of threads is a number"); break;
        case 'p':
            if (!strchr(optarg, '=') || choice.param_count == MOST_PARAMS)
                stop("a parameter is NAME=VALUE", optarg);
            choice.params[choice.param_count++] = optarg;
            break;
        default: fprintf(stderr, "usage: %s %s\n", argv[0], usage); exit(2);
        }
    }
    if (choice.param_count && !choice.method)
        stop("a parameter belongs to a method: give --method too", choice.params[0]);
    return argv[optind];
}

bool choice_is_one_case(void) { return choice.number >= 0; }

void choice_check_case(const char *group, int count) {
    if (choice.number < count)
        return;
    fprintf(stderr, "%s: --case %d is out of range: %s has cases 0 to %d\n", choice.program, choice.number, group, count - 1);
    exit(2);
}

bool choice_takes_case(int number) { return choice.number < 0 || choice.number == number; }

bool choice_is_partial(void) { return choice.number >= 0 || choice.method || choice.isa || choice.threads; }

bool choice_takes_method(const char *method) { return !choice.method || strcmp(choice.method, method) == 0; }

bool choice_takes_context(const distmap_context *context) {
    return (!choice.isa || strcmp(choice.isa, distmap_context_isa(context)) == 0) &&
           (!choice.threads || choice.threads == distmap_context_threads(context));
}

/* A number, or the name of a choice. */
static int64_t read_value(const distmap_param_info *info, const char *text) {
    for (int64_t v = info->lowest; info->names && v <= info->highest; v++)
        if (strcmp(info->names[v - info->lowest], text) == 0)
            return v;
    return read_integer(text, "the value of a parameter is a number or one of its names");
}

void choice_set_params(const distmap_method_info *method, distmap_param *params) {
    for (int i = 0; i < choice.param_count; i++) {
        const char *const equals = strchr(choice.params[i], '=');
        const size_t length = (size_t)(equals - choice.params[i]);
        size_t k = 0;
        while (k < method->param_count && (strlen(method->params[k].name) != length ||
                                           strncmp(method->params[k].name, choice.params[i], length) != 0))
            k++;
        if (k == method->param_count)
            stop("the method has no such parameter", choice.params[i]);
        params[k].value = read_value(&method->params[k], equals + 1);
    }
}

void choice_print_command(const char *group, int number, uint64_t seed, const char *method,
                          const distmap_context *context, const distmap_param *params, size_t param_count) {
    fprintf(stderr, "  again: DISTMAP_TEST_SEED=%" PRIu64 " %s%s%s --case %d --method %s --isa %s --threads %d", seed,
            choice.program, group ? " " : "", group ? group : "", number, method, distmap_context_isa(context),
            distmap_context_threads(context));
    for (size_t k = 0; k < param_count; k++)
        fprintf(stderr, " --param %s=%" PRId64, params[k].name, params[k].value);
    fputc('\n', stderr);
}
