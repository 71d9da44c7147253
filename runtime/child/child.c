#include "child/child.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/child_message.h"
#include "child/crash_report.h"
#include "child/inbox.h"
#include "child/outbox.h"
#include "child/traces.h"
#include "handler/loan.h"
#include "platform/descriptor.h"
#include "platform/pages.h"
#include "platform/self.h"

enum {
    ANNOUNCE_COUNT = 16,
    ANNOUNCE_NS = 500000,
    LOOK_COUNT = 64,   /* short runs between two looks at our own size and surroundings */
    LOOK_NS = 1000000, /* a run this long is worth a look at once */
    RUNS_MAX = 10000,  /* then the child is replaced */
    TIDY_NS = 250000,  /* after a run this long everything is put back, else what is cheap */
    PAUSE_NS = 1000000 /* when nothing comes for as long, everything too */
};

struct child {
    const struct culex_handler_config *config;
    struct culex_mailbox *mailbox;
    struct culex_inbox inbox;
    struct culex_loan loan;
    void *process;    /* what the program's set-up returned */
    const char *home; /* a byte that is 0 in processes that the handler forks; NULL: unknown */
    pid_t pid;
    struct culex_outbox outbox;
    struct culex_log log;
    struct culex_run *run;
    culex_arena *arena;
    _Atomic uint64_t reports; /* of progress, and lines to keep, in the run at hand */
    size_t unannounced;       /* ends that the supervisor was not told of */
    int64_t announced_ns;
    size_t runs;
    bool is_leaving; /* skips what is left */
    struct culex_traces traces;
    size_t packet_len;
    char packet[CULEX_PACKET_MAX];
};

/* The handler reaches its child through run->port, which has no room for more than the run. */
static struct child *self;

/* --- to the supervisor ----------------------------------------------------------------- */

/* The supervisor has closed the channel: there is nothing to run for. */
static _Noreturn void child_end(struct child *child)
{
    const struct culex_process_hooks *hooks = &child->config->hooks;
    if (hooks->open != NULL && hooks->close != NULL) {
        culex__process_hooks_close(hooks, child->process);
        fflush(NULL);
    }
    _exit(0);
}

/* While a handler runs, from any of its threads. */
static void handler_send(enum culex_record_type type, const void *head, size_t head_len,
                         const void *bytes, size_t len)
{
    if (!culex__outbox_send(&self->outbox, type, head, head_len, bytes, len))
        _exit(0);
}

static void log_send(void *context, const char *line, size_t len)
{
    (void)context;
    if (len <= CULEX_PACKET_MAX - sizeof(struct culex_record))
        handler_send(CULEX_RECORD_LOG, NULL, 0, line, len);
}

/* Between runs. The supervisor may have closed the channel by now, without waiting for this. */
static void child_announce(struct child *child)
{
    child->unannounced = 0;
    if (!culex__outbox_send(&child->outbox, CULEX_RECORD_WAKE, NULL, 0, NULL, 0))
        child_end(child);
}

/* --- what the handler asks and says ---------------------------------------------------- */

/* A page that forks find empty. To compare getpid() instead would cost a handler that asks in a
 * long loop whether it is cancelled a system call each time. */
static const char *home_make(void)
{
    char *page = culex__pages_keep((size_t)sysconf(_SC_PAGESIZE));
    if (page != NULL)
        *page = 1;
    return page;
}

/* A process that the handler has forked has no mailbox. */
static bool is_at_home(void)
{
    return self->home != NULL ? *(const volatile char *)self->home != 0 : self->pid == getpid();
}

static bool port_is_cancelled(const struct culex_run *run)
{
    (void)run;
    uint64_t seq = self->outbox.seq;
    return is_at_home() &&
           atomic_load_explicit(&self->mailbox->cancelled[culex__mailbox_index(seq)],
                                memory_order_relaxed) == seq;
}

static void port_progress(struct culex_run *run, const char *text)
{
    (void)run;
    atomic_fetch_add(&self->reports, 1);
    handler_send(CULEX_RECORD_PROGRESS, NULL, 0, text, strnlen(text, CULEX_PROGRESS_MAX));
}

static void port_extend(struct culex_run *run, int64_t extend_ms)
{
    (void)run;
    struct culex_record_extend extend = {extend_ms > 0 ? extend_ms : 0};
    handler_send(CULEX_RECORD_EXTEND, &extend, sizeof extend, NULL, 0);
}

static void port_keep_line(struct culex_run *run, const char *line, size_t len)
{
    (void)run;
    atomic_fetch_add(&self->reports, 1);
    handler_send(CULEX_RECORD_KEPT, NULL, 0, line, len);
}

static const struct culex_run_port child_port = {port_is_cancelled, port_progress, port_extend,
                                                 port_keep_line};

/* --- from the supervisor ---------------------------------------------------------------- */

/* The next packet. Ends the process when the supervisor wants no more of it. */
static void packet_receive(struct child *child)
{
    for (;;) {
        ssize_t got = culex__inbox_receive(&child->inbox, child->packet, sizeof child->packet);
        if (got > 0) {
            child->packet_len = (size_t)got;
            return;
        }
        if (got == 0 || (errno != EINTR && errno != ENOMEM && errno != ENOBUFS))
            child_end(child);
    }
}

/* Copies the payload's first bytes and awaits the others. False when there is no memory for it. */
static bool payload_receive(struct child *child, const char *bytes, size_t len, size_t total)
{
    struct culex_run *run = child->run;
    assert(len <= total);
    bool has_room = culex__run_make_room(run, total);
    if (has_room && len > 0)
        memcpy(run->payload, bytes, len);
    while (len < total) {
        packet_receive(child);
        size_t more = child->packet_len - sizeof(struct culex_record);
        if (more > total - len)
            _exit(0); /* not our supervisor's words */
        if (has_room)
            memcpy(run->payload + len, child->packet + sizeof(struct culex_record), more);
        len += more;
        child->packet_len = 0;
    }
    return has_room;
}

/* --- how it ended ------------------------------------------------------------------------ */

static uint32_t end_flags(const struct culex_run *run)
{
    const struct culex_execution_end *end = &run->end;
    uint32_t flags = 0;
    if (end->is_snoozed)
        flags |= CULEX_END_SNOOZED;
    if (end->is_not_understood)
        flags |= CULEX_END_NOT_UNDERSTOOD;
    if (end->text != NULL)
        flags |= CULEX_END_TEXT;
    if (run->has_result && end->event == CULEX_EVENT_DONE)
        flags |= CULEX_END_RESULT;
    if (run->follow_ups.len > 0 && end->event == CULEX_EVENT_DONE)
        flags |= CULEX_END_FOLLOW_UPS;
    return flags;
}

static void end_publish(struct child *child, uint32_t flags)
{
    const struct culex_run *run = child->run;
    struct culex_mailbox_end *end = &child->mailbox->ends[culex__mailbox_index(child->outbox.seq)];
    end->seq = child->outbox.seq;
    end->event = (uint32_t)run->end.event;
    end->flags = flags;
    end->reports = atomic_load(&child->reports);
    end->delay_ms = run->end.delay_ms;
    end->started_ns = atomic_load_explicit(&run->started_ns, memory_order_relaxed);
    end->duration_ns = run->end.duration_ns;
    atomic_store_explicit(&child->mailbox->finished, child->outbox.seq, memory_order_release);
    child->unannounced++;
}

static void end_tell(struct child *child)
{
    const struct culex_run *run = child->run;
    uint32_t flags = end_flags(run);
    const struct culex_outbox *outbox = &child->outbox;
    bool is_heard = true;
    if ((flags & CULEX_END_TEXT) != 0)
        is_heard = culex__outbox_send_text(outbox, CULEX_RECORD_TEXT, run->end.text,
                                           strlen(run->end.text));
    if (is_heard && (flags & CULEX_END_RESULT) != 0)
        is_heard = culex__outbox_send_parts(outbox, CULEX_RECORD_RESULT, &run->result);
    if (is_heard && (flags & CULEX_END_FOLLOW_UPS) != 0)
        is_heard = culex__outbox_send_parts(outbox, CULEX_RECORD_FOLLOW_UPS, &run->follow_ups);
    if (!is_heard)
        _exit(0);
    if (child->is_leaving)
        flags |= CULEX_END_LAST;
    end_publish(child, flags);
}

/* --- a run ------------------------------------------------------------------------------- */

static void run_fill(struct child *child, const struct culex_record_run *record)
{
    struct culex_run *run = child->run;
    assert(record->job < child->config->job_count);
    run->job = child->config->jobs[record->job];
    run->facts = record->facts;
    run->terms = record->terms;
    if (record->terms.store_timeout_ms > 0)
        child->loan.timeout_ms = record->terms.store_timeout_ms;
    run->log = &child->log;
    run->loan = &child->loan;
    run->process = child->process;
    run->port = &child_port;
    run->end = (struct culex_execution_end){0};
    atomic_store_explicit(&run->started_ns, 0, memory_order_relaxed);
    atomic_store_explicit(
        &run->lease_ns,
        atomic_load(&child->mailbox->lease_ns[culex__mailbox_index(child->outbox.seq)]),
        memory_order_relaxed);
    atomic_store_explicit(&run->is_cancelled, port_is_cancelled(run), memory_order_relaxed);
}

static bool wants_to_leave(const struct child *child, int64_t duration_ns)
{
    if (child->runs >= RUNS_MAX)
        return true;
    bool is_time = duration_ns >= LOOK_NS || child->runs % LOOK_COUNT == 0;
    return is_time && culex__allowance_is_outgrown(&child->traces.allowance);
}

/* Undoes what the run has left behind. Where that cannot be done the child leaves. */
static void run_clear(struct child *child)
{
    const struct culex_run *run = child->run;
    int64_t duration_ns = run->end.duration_ns;
    bool is_all = duration_ns >= TIDY_NS || child->runs % LOOK_COUNT == 0;
    child->is_leaving |= !culex__traces_end_offspring(&child->traces, run);
    child->is_leaving = child->is_leaving || wants_to_leave(child, duration_ns);
    child->is_leaving |= !culex__traces_tidy(&child->traces, run, is_all);
}

static void culex__child_execute(struct child *child, bool has_payload)
{
    struct culex_run *run = child->run;
    if (child->arena == NULL)
        child->arena = culex_arena_create();
    culex__allowance_set(&child->traces.allowance, run->job.type->memory_bytes);
    culex__loan_give(&child->loan);
    culex__crash_report_handling(true);
    errno = 0;
    culex__run_execute(run, has_payload ? child->arena : NULL, child->config->env);
    int error_number = errno;
    culex__crash_report_handling(false);
    culex__loan_withhold(&child->loan);
    fflush(NULL); /* this process may be killed before it comes to exit() */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL); /* whatever the handler left blocked */
    culex__allowance_blame(&child->traces.allowance, run, error_number);
    child->runs++;
    run_clear(child);
    end_tell(child);
}

/* The first run is bounded in any case. */
static bool has_room(const struct child *child)
{
    return child->runs == 0 ||
           culex__allowance_has_room(&child->traces.allowance, child->run->job.type->memory_bytes);
}

static void run_take(struct child *child, uint64_t seq, const char *bytes, size_t len)
{
    struct culex_record_run record;
    memcpy(&record, bytes, sizeof record);
    assert(seq == child->outbox.seq + 1); /* what the places in the mailbox rely on */
    child->outbox.seq = seq;
    atomic_store(&child->reports, 0);
    run_fill(child, &record);
    bool has_payload =
        payload_receive(child, bytes + sizeof record, len - sizeof record, record.payload_len);
    child->is_leaving = child->is_leaving || !has_room(child);
    atomic_store(&child->mailbox->started, seq);
    if (child->is_leaving || atomic_load(&child->mailbox->skip_until) >= seq) {
        end_publish(child, CULEX_END_SKIPPED | (child->is_leaving ? CULEX_END_LAST : 0u));
        return;
    }
    child->is_leaving = record.is_last;
    culex__child_execute(child, has_payload);
}

/* --- the loop -------------------------------------------------------------------------- */

static void announce_if_due(struct child *child)
{
    int64_t now_ns = culex__env_boottime_ns(child->config->env);
    if (child->unannounced < ANNOUNCE_COUNT && now_ns - child->announced_ns < ANNOUNCE_NS)
        return;
    child->announced_ns = now_ns;
    child_announce(child);
}

/* Short runs follow each other with only a glance at what they changed; the rest is put back as
 * soon as there is a pause. */
static void pause_use(struct child *child)
{
    if (!child->traces.is_tidy && !child->is_leaving &&
        culex__inbox_is_quiet(&child->inbox, PAUSE_NS))
        child->is_leaving = !culex__traces_tidy(&child->traces, child->run, true);
}

/* Ends are told when the packet is done, and between its runs only now and then: each word costs
 * the supervisor a wake-up, and it looks in by itself. */
static void packet_run(struct child *child)
{
    size_t at = 0;
    pause_use(child);
    packet_receive(child);
    while (at < child->packet_len) {
        struct culex_record record;
        memcpy(&record, child->packet + at, sizeof record);
        at += sizeof record;
        if (record.type != CULEX_RECORD_RUN || record.len < sizeof(struct culex_record_run))
            _exit(0); /* something that a handler left behind reads from our channel, too */
        assert(at + record.len <= child->packet_len);
        run_take(child, record.seq, child->packet + at, record.len);
        at += culex__record_padded(record.len);
        if (at < child->packet_len)
            announce_if_due(child);
    }
    child_announce(child);
}

/* --- before the first run ----------------------------------------------------------------- */

/* Unmaps the mailboxes of the other children; what a handler forks does not get ours either. */
static void mailbox_keep(const struct culex_mailboxes *all, size_t slot)
{
    char *mine = all->bytes + slot * all->stride;
    char *end = all->bytes + all->count * all->stride;
    culex__pages_free(all->bytes, slot * all->stride);
    culex__pages_free(mine + all->stride, (size_t)(end - mine) - all->stride);
    culex__pages_withhold(mine, all->stride);
}

static void child_prepare(const struct culex_child_start *start)
{
    setpgid(0, 0);
    culex__self_rename("culex-handler");
    culex__self_follow_parent(SIGKILL);
    if (getppid() != start->zygote_pid)
        _exit(0);
    culex__descriptors_drop(start->channel_fd);
    mailbox_keep(start->mailboxes, start->slot);
    culex__crash_report_install(culex__mailbox_of(start->mailboxes, start->slot),
                                start->zygote_pid);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The program's set-up, once. Without it the process is of no use. */
static void child_open(struct child *child)
{
    const struct culex_process_hooks *hooks = &child->config->hooks;
    culex_error error = {0};
    if (hooks->open == NULL)
        return;
    if (culex__process_hooks_open(hooks, &child->process, &error) == CULEX_OK) {
        if (!culex__outbox_send(&child->outbox, CULEX_RECORD_READY, NULL, 0, NULL, 0))
            child_end(child);
        return;
    }
    fflush(NULL);
    culex__outbox_send_text(&child->outbox, CULEX_RECORD_UNREADY, error.text,
                            strnlen(error.text, sizeof error.text));
    _exit(0);
}

/* Others are given runs unheard. */
static void trial_tell(struct child *child)
{
    bool is_told = child->config->hooks.open != NULL; /* by its set-up */
    if (is_told || !atomic_load_explicit(&child->mailbox->is_trial, memory_order_relaxed))
        return;
    if (!culex__outbox_send(&child->outbox, CULEX_RECORD_READY, NULL, 0, NULL, 0))
        child_end(child);
}

_Noreturn void culex__child_main(const struct culex_child_start *start)
{
    static struct child child;
    child_prepare(start);
    child.outbox.fd = culex__descriptor_raise(start->channel_fd);
    child.config = start->handler;
    child.home = home_make();
    child.pid = getpid();
    child.mailbox = culex__mailbox_of(start->mailboxes, start->slot);
    child.log = *start->handler->log;
    child.log.sink.write = log_send;
    child.log.sink.take_dropped = NULL;
    child.inbox = (struct culex_inbox){.env = child.config->env, .fd = child.outbox.fd};
    culex__loan_init(&child.loan, (struct culex_errand_way){culex__inbox_exchange, &child.inbox},
                     child.config->store_timeout_ms, child.config->env);
    culex__loan_set_gate(&child.loan, child.config->gate, child.config->keys);
    child.loan.chains = child.config->chains;
    child.loan.tracing = child.config->tracing;
    culex__home_store_adopt(&child.config->home);
    child.run = culex__run_create();
    self = &child;
    culex__traces_open(&child.traces, start->cgroup, start->slot);
    child_open(&child);
    if (child.run == NULL || !culex__traces_begin(&child.traces, &child.log))
        _exit(0);
    trial_tell(&child);
    for (;;)
        packet_run(&child);
}
