#include "platform/stack.h"

#include <assert.h>
#include <string.h>
#include <ucontext.h>

#ifdef __GLIBC__
#include <execinfo.h>
#else
/* Other C libraries neither walk the stack nor have short names of signals. */
static int backtrace(void **ret_frames, int max)
{
    (void)ret_frames, (void)max;
    return 0;
}

static const char *sigabbrev_np(int signal)
{
    (void)signal;
    return NULL;
}
#endif

void culex__stack_prepare(void)
{
    void *frames[4];
    backtrace(frames, 4);
}

void culex__stack_registers(const void *context, uint64_t *ret_pc, uint64_t *ret_sp)
{
#if defined(__x86_64__)
    const ucontext_t *at = context;
    *ret_pc = (uint64_t)at->uc_mcontext.gregs[REG_RIP];
    *ret_sp = (uint64_t)at->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    const ucontext_t *at = context;
    *ret_pc = at->uc_mcontext.pc;
    *ret_sp = at->uc_mcontext.sp;
#else
    (void)context, (void)ret_pc, (void)ret_sp;
#endif
}

/* The first frame is this function's own. */
__attribute__((noinline)) size_t culex__stack_frames(uint64_t *ret_frames, size_t max)
{
    enum { FRAMES_MAX = 64 };
    void *found[FRAMES_MAX];
    assert(max < FRAMES_MAX);
    int count = backtrace(found, (int)max + 1);
    for (int i = 1; i < count; i++)
        ret_frames[i - 1] = (uint64_t)(uintptr_t)found[i];
    return count > 0 ? (size_t)count - 1 : 0;
}

const char *culex__stack_signal_name(int signal)
{
    return sigabbrev_np(signal);
}
