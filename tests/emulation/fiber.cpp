#include "fiber.h"

#include <stdint.h>
#include <sys/mman.h>

#include "include/emulation/types.h" /* EMULATION_ASAN */

#ifdef EMULATION_ASAN
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(fake, stack, bytes) ((void)(fake), (void)(stack), (void)(bytes))
#define __sanitizer_finish_switch_fiber(fake, stack, bytes) ((void)(fake), (void)(stack), (void)(bytes))
#endif

/* Saves what the calling convention says a function keeps, on the stack that is left, whose pointer goes to *save; takes
 * the same from the stack that `load` points into, and returns there. */
extern "C" void emulation_switch(void **save, void *load);

#if defined(__x86_64__)
enum { SAVED_WORDS = 8, RETURN_WORD = 6 }; /* six registers, where to return, and a word of alignment */
__asm__(".text\n"
        ".globl emulation_switch\n"
        ".hidden emulation_switch\n"
        ".type emulation_switch, @function\n"
        "emulation_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    popq %rcx\n" /* as a ret, which would be predicted to go back to the caller */
        "    jmpq *%rcx\n"
        ".size emulation_switch, . - emulation_switch\n");
#elif defined(__aarch64__)
enum { SAVED_WORDS = 20, RETURN_WORD = 11 }; /* x19 to x30, d8 to d15 */
__asm__(".text\n"
        ".globl emulation_switch\n"
        ".hidden emulation_switch\n"
        ".type emulation_switch, %function\n"
        "emulation_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size emulation_switch, . - emulation_switch\n");
#else
#error "the switch of fibers is written for x86-64 and AArch64"
#endif

static fiber scheduler; /* what entered the fiber that runs */
static const void *scheduler_stack;
static size_t scheduler_stack_bytes;
static fiber *running;

bool fiber_create(fiber *own, void (*function)(void)) {
    const size_t guard = 64 << 10; /* a multiple of any page */
    char *memory = (char *)mmap(NULL, guard + FIBER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    mprotect(memory, guard, PROT_NONE);
    own->stack = memory + guard;
    void **sp = (void **)(own->stack + FIBER_STACK) - SAVED_WORDS;
    sp[RETURN_WORD] = (void *)function;
    own->sp = sp;
    return true;
}

void fiber_enter(fiber *to) {
    running = to;
    __sanitizer_start_switch_fiber(&scheduler.fake_stack, to->stack, FIBER_STACK);
    emulation_switch(&scheduler.sp, to->sp);
    __sanitizer_finish_switch_fiber(scheduler.fake_stack, NULL, NULL);
}

void fiber_started(void) { __sanitizer_finish_switch_fiber(NULL, &scheduler_stack, &scheduler_stack_bytes); }

void fiber_leave(void) {
    fiber *const own = running;
    __sanitizer_start_switch_fiber(&own->fake_stack, scheduler_stack, scheduler_stack_bytes);
    emulation_switch(&own->sp, scheduler.sp);
    __sanitizer_finish_switch_fiber(own->fake_stack, &scheduler_stack, &scheduler_stack_bytes);
}
