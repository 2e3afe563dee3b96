/* A fiber: a stack of its own, and a switch to it and back that makes no system call. Fibers live as long as the process:
 * their function is started once, and comes back by switching, never by returning. */
#ifndef EMULATION_FIBER_H
#define EMULATION_FIBER_H

#include <stddef.h>

struct fiber {
    void *sp;         /* its stack pointer while it does not run; NULL: it was never started */
    char *stack;      /* lowest address */
    void *fake_stack; /* the address sanitizer's */
};

enum : size_t { FIBER_STACK = 128 << 10 };

/* Makes the fiber ready to start; false: no memory. Below its stack lies a page that faults. */
bool fiber_create(fiber *own, void (*function)(void));
/* From the scheduler into a fiber, and from the fiber that runs back into the scheduler. */
void fiber_enter(fiber *to);
void fiber_leave(void);
/* To be called first in a fiber's function. */
void fiber_started(void);

#endif
