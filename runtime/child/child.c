#include "base/sanitizer.h"
#include "child/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/utf8.h"
#include "platform/cgroup.h"
#include "child/child_message.h"
#include "child/crash_report.h"
#include "child/inbox.h"
#include "handler/loan.h"
#include "child/offspring.h"
#include "child/surroundings.h"
#include "platform/descriptor.h"

enum {
    ANNOUNCE_COUNT = 16,
    ANNOUNCE_NS = 500000,
    LOOK_COUNT = 64,        /* short runs between two looks at our own size and surroundings */
    LOOK_NS = 1000000,      /* a run this long is worth a look at once */
    RUNS_MAX = 10000,       /* then the child is replaced */
    FORK_NS = 10000,        /* no run that is shorter has started a process */
    TIDY_NS = 250000,       /* after a run this long everything is put back, else what is cheap */
    PAUSE_NS = 1000000,     /* when nothing comes for as long, everything too */
    GROWN_BYTES = 128 << 20 /* as is one that is left so much larger than it began */
};

struct child {
    const struct culex_executor_config *config;
    struct culex_mailbox *mailbox;
    struct culex_inbox inbox;
    struct culex_loan loan;
    void *process;    /* what the program's set-up returned */
    const char *home; /* a byte that is 0 in processes that the handler forks; NULL: unknown */
    pid_t pid;
    int channel_fd; /* at a high number, away from the handlers' own */
    struct culex_log log;
    struct culex_run *run;
    culex_arena *arena;
    uint64_t seq;             /* of the run at hand */
    _Atomic uint64_t reports; /* of progress, in it */
    size_t unannounced;       /* ends that the supervisor was not told of */
    int64_t announced_ns;
    int64_t began_data; /* memory that counts for the limit, before any run */
    int64_t began_rss;
    int64_t began_unshared; /* of began_rss: what writing may copy into our group */
    int64_t limit_bytes;    /* memory limit set now, 0 for none */
    size_t runs;
    bool is_leaving;                         /* skips what is left */
    bool is_tidy;                            /* everything was put back since the last run */
    struct culex_surroundings *surroundings; /* before any run */
    struct culex_offspring offspring;
    struct culex_cgroup_member group;
    size_t packet_len;
    char packet[CULEX_PACKET_MAX];
    char out[CULEX_PACKET_MAX];
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

/* Between runs. The supervisor may not wait for our last words before it closes the channel. */
static void packet_send(const void *packet, size_t len)
{
    while (send(self->channel_fd, packet, len, MSG_NOSIGNAL) < 0) {
        if (errno == ECONNRESET || errno == EPIPE)
            child_end(self);
        if (errno != EINTR && errno != ENOBUFS && errno != ENOMEM)
            return; /* the handler did something to our channel: the mailbox still tells */
    }
}

/* One packet from one record; any thread. */
static void record_send(enum culex_record_type type, const void *head, size_t head_len,
                        const void *bytes, size_t len)
{
    struct culex_record record = {(uint32_t)type, (uint32_t)(head_len + len), self->seq};
    struct iovec parts[3] = {{&record, sizeof record},
                             {(void *)(uintptr_t)head, head_len},
                             {(void *)(uintptr_t)bytes, len}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
    while (sendmsg(self->channel_fd, &message, MSG_NOSIGNAL) < 0) {
        if (errno == ECONNRESET || errno == EPIPE)
            _exit(0);
        if (errno != EINTR && errno != ENOBUFS && errno != ENOMEM)
            return;
    }
}

static void log_send(void *context, const char *line, size_t len)
{
    (void)context;
    if (len <= CULEX_PACKET_MAX - sizeof(struct culex_record))
        record_send(CULEX_RECORD_LOG, NULL, 0, line, len);
}

static void result_send(const culex_buf *result)
{
    const size_t room =
        CULEX_PACKET_MAX - sizeof(struct culex_record) - sizeof(struct culex_record_part);
    size_t offset = 0;
    do {
        size_t len = result->len - offset < room ? result->len - offset : room;
        struct culex_record_part part = {(uint32_t)result->len, (uint32_t)offset};
        record_send(CULEX_RECORD_RESULT, &part, sizeof part, result->data + offset, len);
        offset += len;
    } while (offset < result->len);
}

static void child_announce(struct child *child)
{
    struct culex_record wake = {CULEX_RECORD_WAKE, 0, child->seq};
    child->unannounced = 0;
    packet_send(&wake, sizeof wake);
}

/* --- what the handler asks and says ---------------------------------------------------- */

/* A page that forks find empty: getpid() would cost a handler that asks in a long loop a system
 * call each time. */
static const char *home_make(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return NULL;
    if (madvise(page, size, MADV_WIPEONFORK) != 0) {
        munmap(page, size);
        return NULL;
    }
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
    uint64_t seq = self->seq;
    return is_at_home() &&
           atomic_load_explicit(&self->mailbox->cancelled[culex__mailbox_index(seq)],
                                memory_order_relaxed) == seq;
}

static void port_progress(struct culex_run *run, const char *text)
{
    (void)run;
    atomic_fetch_add(&self->reports, 1);
    record_send(CULEX_RECORD_PROGRESS, NULL, 0, text, strnlen(text, CULEX_PROGRESS_MAX));
}

static void port_extend(struct culex_run *run, int64_t extend_ms)
{
    (void)run;
    struct culex_record_extend extend = {extend_ms > 0 ? extend_ms : 0};
    record_send(CULEX_RECORD_EXTEND, &extend, sizeof extend, NULL, 0);
}

static const struct culex_run_port child_port = {port_is_cancelled, port_progress, port_extend};

/* --- memory ---------------------------------------------------------------------------- */

/* Resident pages, those of them that no file is behind, and those that RLIMIT_DATA counts, in
 * bytes; false when unknown. */
static bool memory_look(int64_t *ret_rss, int64_t *ret_unshared, int64_t *ret_data)
{
    char text[256];
    long total, resident, shared, code, library, data;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    if (sscanf(text, "%ld %ld %ld %ld %ld %ld", &total, &resident, &shared, &code, &library,
               &data) != 6)
        return false;
    int64_t page = sysconf(_SC_PAGESIZE);
    *ret_rss = resident * page;
    *ret_unshared = (resident - shared) * page;
    *ret_data = data * page;
    return true;
}

/* The job's limit counts from what the program has before it runs any handler. RLIMIT_DATA, not
 * RLIMIT_AS: reserved address space (arenas, libraries) is no memory. It bounds each process of the
 * run; the group, where there is one, bounds them together. */
static void memory_limit(struct child *child, int64_t limit_bytes)
{
    if (!CULEX_HAS_ASAN)
        culex__cgroup_member_bound(&child->group, limit_bytes, child->began_unshared);
    if (CULEX_HAS_ASAN || limit_bytes == child->limit_bytes)
        return;
    struct rlimit limit;
    getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_cur = limit_bytes > 0 ? (rlim_t)(child->began_data + limit_bytes) : limit.rlim_max;
    if (setrlimit(RLIMIT_DATA, &limit) == 0)
        child->limit_bytes = limit_bytes;
}

/* The run left us so large that the next ones should have a new process. */
static bool is_grown(const struct child *child)
{
    int64_t rss = 0, unshared = 0, data = 0;
    if (!memory_look(&rss, &unshared, &data))
        return false;
    if (rss - child->began_rss > GROWN_BYTES)
        return true;
    return child->limit_bytes > 0 && data - child->began_data > child->limit_bytes / 2;
}

static bool wants_to_leave(const struct child *child, int64_t duration_ns)
{
    if (child->runs >= RUNS_MAX)
        return true;
    bool is_time = duration_ns >= LOOK_NS || child->runs % LOOK_COUNT == 0;
    return is_time && is_grown(child);
}

/* A handler that reports a failure while errno says ENOMEM most likely ran into its limit. */
static void memory_blame(const struct child *child, struct culex_run *run, int error_number)
{
    if (child->limit_bytes == 0 || error_number != ENOMEM || run->end.event != CULEX_EVENT_FAIL)
        return;
    char before[CULEX_ERROR_TEXT_MAX + 1];
    snprintf(before, sizeof before, "%s", run->end.text != NULL ? run->end.text : "failed");
    culex__run_set_text(run, "%.3900s (out of memory: the job's limit is %lld bytes)", before,
                        (long long)child->limit_bytes);
}

/* --- a run ----------------------------------------------------------------------------- */

static void strays_tell(const struct child *child, size_t count, bool is_left)
{
    if (count == 0 && !is_left)
        return;
    struct culex_log_subject subject = culex__run_subject(child->run);
    culex__log_write(&child->log, CULEX_LOG_WARNING, &subject,
                     "processes that the handler left behind were killed: %zu%s", count,
                     is_left ? ", and there are others" : "");
}

/* What a handler started ends with its run, daemons too: nobody else would know of them. */
static void offspring_end(struct child *child)
{
    bool is_left = false;
    if (child->run->end.duration_ns < FORK_NS)
        return;
    size_t count = culex__offspring_end(&child->offspring, &is_left);
    child->is_leaving = child->is_leaving || is_left;
    strays_tell(child, count, is_left);
}

/* What came from us and is no child of ours. */
static void strangers_end(struct child *child)
{
    bool is_left = false;
    size_t count = culex__cgroup_member_clear(&child->group, &is_left);
    child->is_leaving = child->is_leaving || is_left;
    strays_tell(child, count, is_left);
}

/* Puts back what the run has changed of its process, for the next one. All of it includes the limit
 * of its memory. */
static void child_tidy(struct child *child, bool is_all)
{
    if (is_all) {
        child->limit_bytes = 0;
        strangers_end(child);
    }
    bool is_same = is_all ? culex__surroundings_restore(child->surroundings)
                          : culex__surroundings_glance(child->surroundings);
    child->is_leaving = child->is_leaving || !is_same;
    child->is_tidy = is_all;
}

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
    return flags;
}

static void end_publish(struct child *child, uint32_t flags)
{
    const struct culex_run *run = child->run;
    struct culex_mailbox_end *end = &child->mailbox->ends[culex__mailbox_index(child->seq)];
    end->seq = child->seq;
    end->event = (uint32_t)run->end.event;
    end->flags = flags;
    end->reports = atomic_load(&child->reports);
    end->delay_ms = run->end.delay_ms;
    end->started_ns = atomic_load_explicit(&run->started_ns, memory_order_relaxed);
    end->duration_ns = run->end.duration_ns;
    atomic_store_explicit(&child->mailbox->finished, child->seq, memory_order_release);
    child->unannounced++;
}

static void end_tell(struct child *child)
{
    struct culex_run *run = child->run;
    uint32_t flags = end_flags(run);
    if ((flags & CULEX_END_TEXT) != 0) {
        char clean[CULEX_ERROR_TEXT_MAX + 1];
        size_t len = culex__utf8_clean(clean, sizeof clean, run->end.text, strlen(run->end.text));
        record_send(CULEX_RECORD_TEXT, NULL, 0, clean, len);
    }
    if ((flags & CULEX_END_RESULT) != 0)
        result_send(&run->result);
    if (child->is_leaving)
        flags |= CULEX_END_LAST;
    end_publish(child, flags);
}

static void run_fill(struct child *child, const struct culex_record_run *record)
{
    struct culex_run *run = child->run;
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
    atomic_store_explicit(&run->lease_ns,
                          atomic_load(&child->mailbox->lease_ns[culex__mailbox_index(child->seq)]),
                          memory_order_relaxed);
    atomic_store_explicit(&run->is_cancelled, port_is_cancelled(run), memory_order_relaxed);
}

/* Whether the run's bound can be set: what earlier runs left in this process and its group may be
 * more, and then the run should have a new one. */
static bool has_room(const struct child *child)
{
    return CULEX_HAS_ASAN || child->runs == 0 ||
           culex__cgroup_member_fits(&child->group, child->run->job.type->memory_bytes,
                                     child->began_unshared);
}

static void run_execute(struct child *child, bool has_payload)
{
    struct culex_run *run = child->run;
    if (child->arena == NULL)
        child->arena = culex_arena_create();
    memory_limit(child, run->job.type->memory_bytes);
    culex__loan_give(&child->loan);
    errno = 0;
    culex__run_execute(run, has_payload ? child->arena : NULL, child->config->env);
    int error_number = errno;
    culex__loan_withhold(&child->loan);
    fflush(NULL); /* this process may be killed before it comes to exit() */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL); /* whatever the handler left blocked */
    memory_blame(child, run, error_number);
    offspring_end(child);
    child->runs++;
    child->is_leaving = child->is_leaving || wants_to_leave(child, run->end.duration_ns);
    child_tidy(child, run->end.duration_ns >= TIDY_NS || child->runs % LOOK_COUNT == 0);
    end_tell(child);
}

/* Copies the payload's first bytes and awaits the others. False when there is no memory. */
static bool payload_receive(struct child *child, const char *bytes, size_t len, size_t total);

static void run_take(struct child *child, uint64_t seq, const char *bytes, size_t len)
{
    struct culex_record_run record;
    memcpy(&record, bytes, sizeof record);
    child->seq = seq;
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
    run_execute(child, has_payload);
}

/* --- the loop -------------------------------------------------------------------------- */

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

static bool payload_receive(struct child *child, const char *bytes, size_t len, size_t total)
{
    struct culex_run *run = child->run;
    if (len == total)
        return culex__run_set_payload(run, bytes, len);
    /* Room for all of it first, so that the parts only need copying. */
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
    if (!child->is_tidy && !child->is_leaving && culex__inbox_is_quiet(&child->inbox, PAUSE_NS))
        child_tidy(child, true);
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
        run_take(child, record.seq, child->packet + at, record.len);
        at += culex__record_padded(record.len);
        if (at < child->packet_len)
            announce_if_due(child);
    }
    child_announce(child);
}

static void mailbox_keep(const struct culex_zygote_config *config, size_t slot)
{
    char *mine = config->mailboxes + slot * config->stride;
    char *end = config->mailboxes + config->slot_count * config->stride;
    if (slot > 0)
        munmap(config->mailboxes, slot * config->stride);
    if (mine + config->stride < end)
        munmap(mine + config->stride, (size_t)(end - mine) - config->stride);
    madvise(mine, config->stride, MADV_DONTFORK);
}

static void child_prepare(const struct culex_zygote_config *config, size_t slot, int channel_fd,
                          pid_t zygote_pid)
{
    setpgid(0, 0);
    prctl(PR_SET_NAME, "culex-handler");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != zygote_pid)
        _exit(0);
    culex__descriptors_drop(channel_fd);
    mailbox_keep(config, slot);
    culex__crash_report_install(culex__zygote_mailbox(config, slot), zygote_pid);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The program's set-up, once. Without it the process is of no use. */
static void child_open(struct child *child)
{
    const struct culex_process_hooks *hooks = &child->config->hooks;
    char clean[CULEX_ERROR_TEXT_SIZE];
    culex_error error = {0};
    if (hooks->open == NULL)
        return;
    if (culex__process_hooks_open(hooks, &child->process, &error) == CULEX_OK) {
        struct culex_record ready = {CULEX_RECORD_READY, 0, 0};
        packet_send(&ready, sizeof ready);
        return;
    }
    size_t len =
        culex__utf8_clean(clean, sizeof clean, error.text, strnlen(error.text, sizeof error.text));
    fflush(NULL);
    record_send(CULEX_RECORD_UNREADY, NULL, 0, clean, len);
    _exit(0);
}

static void group_enter(struct child *child)
{
    if (culex__cgroup_member_enter(&child->group) || errno == ENOENT)
        return; /* the supervisor has told that there is none */
    culex__log_write(&child->log, CULEX_LOG_WARNING, NULL,
                     "cannot enter control group %s/%zu: %s: the processes of a run are bounded "
                     "each by itself only",
                     child->group.group->path, child->group.slot, strerror(errno));
}

_Noreturn void culex__child_main(const struct culex_zygote_config *config, size_t slot,
                                 int channel_fd, pid_t zygote_pid)
{
    static struct child child;
    child_prepare(config, slot, channel_fd, zygote_pid);
    child.channel_fd = culex__descriptor_raise(channel_fd);
    child.config = config->executor;
    child.home = home_make();
    child.pid = getpid();
    child.mailbox = culex__zygote_mailbox(config, slot);
    child.log = *config->executor->log;
    child.log.sink = (struct culex_log_sink){log_send, NULL, NULL};
    child.inbox = (struct culex_inbox){.env = child.config->env, .fd = child.channel_fd};
    culex__loan_init(&child.loan, (struct culex_errand_way){culex__inbox_exchange, &child.inbox},
                     child.config->store_timeout_ms, child.config->env);
    culex__home_store_settle(&child.config->home);
    child.run = culex__run_create();
    self = &child;
    culex__cgroup_member_open(&child.group, config->cgroup, slot);
    child_open(&child);
    group_enter(&child);
    child.is_tidy = true;
    child.surroundings = culex__surroundings_note();
    culex__offspring_adopt(&child.offspring);
    if (child.run == NULL || child.surroundings == NULL ||
        !memory_look(&child.began_rss, &child.began_unshared, &child.began_data))
        _exit(0);
    for (;;)
        packet_run(&child);
}
