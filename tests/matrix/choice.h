/* What the command line of a matrix program asks for, and the command that repeats one run:
 *
 *     PROGRAM [GROUP] [--case N] [--method NAME] [--isa NAME] [--threads N] [--param NAME=VALUE]...
 *
 * Without options everything runs. DISTMAP_TEST_SEED gives the seed, DISTMAP_TEST_SCALE the share of the drawn cases. DISTMAP_ISA is
 * read as --isa.
 */
#ifndef TESTS_MATRIX_CHOICE_H
#define TESTS_MATRIX_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include <distmap.h>

/* Reads the options; exits with status 2 and one line where they are wrong. `usage` is what follows the program's name. Returns the
 * group, or NULL. */
const char *choice_read(int argc, char **argv, const char *usage);

/* Whether one case alone is wanted; it then runs whatever share of the cases was asked for. */
bool choice_is_one_case(void);
/* Whether a case is to run. Of a group with cases 0 to count - 1; exits where --case is not among them. */
void choice_check_case(const char *group, int count);
bool choice_takes_case(int number);
/* Whether anything is left out: then a method may find no case that it takes. */
bool choice_is_partial(void);

bool choice_takes_method(const char *method);
bool choice_takes_context(const distmap_context *context);
/* Puts the values of --param in place of drawn ones. */
void choice_set_params(const distmap_method_info *method, distmap_param *params);

/* Prints to stderr "  again: DISTMAP_TEST_SEED=5 matrix 2d --case 17 --method ...", for the run that failed. `group` may be NULL. */
void choice_print_command(const char *group, int number, uint64_t seed, const char *method,
                          const distmap_context *context, const distmap_param *params, size_t param_count);

#endif
