#include "child/crash_report.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "platform/self.h"
#include "platform/stack.h"
#include "platform/symbols.h"

enum { ALT_STACK = 64 * 1024, SHOWN_FRAMES = 6, STACK_REACH = 64 * 1024 };

/* --- in the child ---------------------------------------------------------------------- */

/* A signal handler has no other way to know. */
static struct culex_mailbox *crash_mailbox;
static pid_t crash_zygote;
static volatile sig_atomic_t crash_handling;

/* malloc has just failed, or the next one would. */
static bool memory_is_at_limit(int error_number)
{
    struct rlimit limit;
    struct culex_memory_use use = {0};
    if (getrlimit(RLIMIT_DATA, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    return error_number == ENOMEM ||
           (culex__self_memory(&use) && (rlim_t)use.data > limit.rlim_cur - limit.rlim_cur / 8);
}

static void report_store(int number, const siginfo_t *info, const void *context, int error_number)
{
    struct culex_crash_report *report = &crash_mailbox->crash;
    report->signal = number;
    report->code = info->si_code;
    report->address =
        info->si_code > 0 ? (uint64_t)(uintptr_t)info->si_addr : (uint64_t)(unsigned)info->si_pid;
    culex__stack_registers(context, &report->pc, &report->sp);
    report->is_at_limit = memory_is_at_limit(error_number);
    atomic_store(&report->stage, 1);
    report->frame_count = (uint32_t)culex__stack_frames(report->frames, CULEX_CRASH_FRAMES);
    atomic_store(&report->stage, 2);
}

/* Reports once, however many threads crash, and leaves the rest to the default action. */
static void crash_die(int number, const siginfo_t *info, const void *context)
{
    static atomic_flag is_taken = ATOMIC_FLAG_INIT;
    int error_number = errno;
    if (!atomic_flag_test_and_set(&is_taken))
        report_store(number, info, context, error_number);
    signal(number, SIG_DFL);
    raise(number); /* blocked until we return */
}

static void crash_caught(int number, siginfo_t *info, void *context)
{
    crash_die(number, info, context);
}

static void term_caught(int number, siginfo_t *info, void *context)
{
    if (info->si_code <= 0 && info->si_pid == crash_zygote && crash_handling != 0)
        crash_die(number, info, context);
}

void culex__crash_report_handling(bool is_at_work)
{
    crash_handling = is_at_work;
}

void culex__crash_report_install(struct culex_mailbox *mailbox, pid_t zygote_pid)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL, SIGABRT,
                                 SIGTRAP, SIGSYS, SIGXCPU, SIGXFSZ};
    assert(mailbox != NULL && zygote_pid > 0); /* what the signal handlers go by */
    crash_mailbox = mailbox;
    crash_zygote = zygote_pid;
    stack_t stack = {.ss_size = ALT_STACK};
    stack.ss_sp = mmap(NULL, ALT_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack.ss_sp != MAP_FAILED)
        sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = crash_caught;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigaction(faults[i], &action, NULL);
    action.sa_flags |= SA_RESTART;
    action.sa_sigaction = term_caught;
    sigaction(SIGTERM, &action, NULL);
}

/* --- in the supervisor ----------------------------------------------------------------- */

/* Text that grows up to a bound. */
struct phrase {
    char *text;
    size_t size;
    size_t len;
};

static void phrase_add(struct phrase *phrase, const char *format, ...) CULEX_PRINTF(2, 3);

static void phrase_add(struct phrase *phrase, const char *format, ...)
{
    va_list list;
    assert(phrase->len < phrase->size);
    va_start(list, format);
    int len = vsnprintf(phrase->text + phrase->len, phrase->size - phrase->len, format, list);
    va_end(list);
    if (len > 0)
        phrase->len += (size_t)len;
    if (phrase->len >= phrase->size)
        phrase->len = phrase->size - 1;
}

static void phrase_add_signal(struct phrase *phrase, int number)
{
    const char *name = culex__stack_signal_name(number);
    if (name != NULL)
        phrase_add(phrase, "SIG%s", name);
    else
        phrase_add(phrase, "signal %d", number);
}

static const char *cause_of(const struct culex_crash_report *report)
{
    static const struct {
        int signal, code;
        const char *cause;
    } causes[] = {
        {SIGSEGV, SEGV_MAPERR, "address not mapped"},
        {SIGSEGV, SEGV_ACCERR, "access not permitted"},
        {SIGSEGV, SI_KERNEL, "address not canonical"},
        {SIGBUS, BUS_ADRALN, "address not aligned"},
        {SIGBUS, BUS_ADRERR, "no memory behind the address"},
        {SIGBUS, BUS_OBJERR, "hardware error"},
        {SIGFPE, FPE_INTDIV, "integer divided by zero"},
        {SIGFPE, FPE_INTOVF, "integer overflow"},
        {SIGXFSZ, SI_USER, "a file beyond the limit of its size"}, /* the kernel sends it so */
        {SIGILL, ILL_ILLOPC, "illegal instruction"},
        {SIGILL, ILL_ILLOPN, "illegal instruction"},
    };
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        if (causes[i].signal == report->signal && causes[i].code == report->code)
            return causes[i].cause;
    }
    return NULL;
}

static bool is_stack_overflow(const struct culex_crash_report *report)
{
    uint64_t low = report->sp > STACK_REACH ? report->sp - STACK_REACH : 0;
    return report->signal == SIGSEGV && report->code > 0 && report->sp != 0 &&
           report->address >= low && report->address < report->sp + STACK_REACH;
}

static void phrase_add_cause(struct phrase *phrase, const struct culex_crash_report *report)
{
    const char *cause = cause_of(report);
    bool has_address = report->code > 0 && report->code != SI_KERNEL &&
                       (report->signal == SIGSEGV || report->signal == SIGBUS);
    if (is_stack_overflow(report))
        phrase_add(phrase, " (stack overflow)");
    else if (cause != NULL)
        phrase_add(phrase, " (%s)", cause);
    else if (report->code <= 0 && report->signal != SIGABRT && report->signal != SIGTERM)
        phrase_add(phrase, " (sent by process %u)", (unsigned)report->address);
    if (has_address && !is_stack_overflow(report))
        phrase_add(phrase, " at 0x%llx", (unsigned long long)report->address);
}

/* The frames begin with those of the signal handler itself: the first of interest is where the
 * signal struck. */
static size_t frames_begin(const struct culex_crash_report *report)
{
    for (size_t i = 0; i < report->frame_count; i++) {
        if (report->frames[i] == report->pc)
            return i + 1;
    }
    return report->frame_count < 3 ? report->frame_count : 3;
}

/* Below the handler's own frames there are only ours, the same for everybody. A compiler may have
 * added to a name; no function of the program begins with one. */
static bool is_ours(const char *name)
{
    static const char *const ours[] = {
        "culex::guard<",      "culex_next_call",      "culex__run_hook",  "culex__run_call",
        "culex__run_execute", "culex__child_execute", "culex__child_main"};
    bool is_found = false;
    for (size_t i = 0; i < sizeof ours / sizeof ours[0] && !is_found; i++)
        is_found = strncmp(name, ours[i], strlen(ours[i])) == 0;
    return is_found;
}

/* Frames of libraries without a name (the inside of abort, of malloc) say nothing to anybody, as
 * long as there are others. */
static void phrase_add_frames(struct phrase *phrase, const struct culex_crash_report *report,
                              struct culex_symbols *symbols)
{
    char name[256];
    size_t shown = 0;
    if (culex__symbols_describe(symbols, report->pc, name, sizeof name)) {
        phrase_add(phrase, " in %s", name);
        shown++;
    }
    for (size_t i = frames_begin(report); i < report->frame_count && shown < SHOWN_FRAMES; i++) {
        /* A return address may lie behind the function that never returns. */
        if (!culex__symbols_describe(symbols, report->frames[i] - 1, name, sizeof name))
            continue;
        if (is_ours(name))
            break;
        phrase_add(phrase, shown++ == 0 ? " in %s" : ", called from %s", name);
    }
    if (shown > 0)
        return;
    culex__symbols_describe(symbols, report->pc, name, sizeof name);
    phrase_add(phrase, " in %s", name);
}

static void phrase_add_memory(struct phrase *phrase, const struct culex_crash_report *report,
                              const struct culex_run *run)
{
    int64_t limit = run->job.type != NULL ? run->job.type->memory_bytes : 0;
    if (limit > 0 && report->is_at_limit != 0)
        phrase_add(phrase, " (out of memory: the job's limit is %lld bytes)", (long long)limit);
}

static void phrase_add_signal_death(struct phrase *phrase, const struct culex_crash_report *report,
                                    int number, const char *killed_why, const struct culex_run *run,
                                    struct culex_symbols *symbols)
{
    bool has_report = report->stage > 0 && report->signal == number;
    phrase_add(phrase, "killed by ");
    phrase_add_signal(phrase, number);
    if (has_report)
        phrase_add_cause(phrase, report);
    if (killed_why != NULL)
        phrase_add(phrase, " (%s)", killed_why);
    else if (number == SIGKILL)
        phrase_add(phrase, " (not by us: kill -9 or the kernel's memory killer)");
    if (!has_report)
        return;
    phrase_add_memory(phrase, report, run);
    phrase_add_frames(phrase, report, symbols);
}

/* The child may have written anything there. */
static struct culex_crash_report report_copy(const struct culex_crash_report *shared)
{
    struct culex_crash_report report;
    memset(&report, 0, sizeof report);
    uint32_t stage = atomic_load(&shared->stage);
    if (stage != 1 && stage != 2)
        return report;
    memcpy(&report, shared, sizeof report);
    report.stage = stage;
    if (stage == 1 || report.frame_count > CULEX_CRASH_FRAMES)
        report.frame_count = 0;
    return report;
}

void culex__crash_report_describe(const struct culex_crash_report *shared,
                                  const struct culex_child_exit *exit, const char *killed_why,
                                  const struct culex_run *run, struct culex_symbols *symbols,
                                  char *ret_text, size_t size)
{
    struct culex_crash_report report = report_copy(shared);
    struct phrase phrase = {ret_text, size, 0};
    ret_text[0] = '\0';
    if (exit->code == CLD_EXITED)
        phrase_add(&phrase, "the handler called exit(%d)", exit->status);
    else
        phrase_add_signal_death(&phrase, &report, exit->status, killed_why, run, symbols);
}
