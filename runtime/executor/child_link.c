#include "executor/child_link.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/descriptor.h"
#include "platform/packet.h"

enum {
    RECEIVE_ROUNDS = 8,
    RECEIVE_GOES = 64 /* of so many rounds, for ends that are told: more than a channel holds */
};

void culex__child_link_close(struct culex_child_link *child)
{
    culex__descriptor_close(
        child->fd); /* which also ends the watch: no other descriptor leads there */
    child->fd = -1;
    child->is_deaf = true;
    culex__errand_desk_clear(&child->desk);
}

/* --- to the child ---------------------------------------------------------------------- */

/* For the zygote, which else would look through all of them. */
static void leases_count(struct culex_child_link *child)
{
    atomic_store_explicit(&child->mailbox->lease_count, child->window.live, memory_order_relaxed);
}

void culex__child_link_assign(struct culex_child_link *child, struct culex_run *run, bool is_last)
{
    struct culex_window_entry *entry = culex__window_add(&child->window, run);
    size_t index = culex__mailbox_index(entry->seq);
    atomic_store_explicit(&child->mailbox->cancelled[index],
                          atomic_load(&run->is_cancelled) ? entry->seq : 0, memory_order_relaxed);
    atomic_store(&child->mailbox->lease_ns[index], atomic_load(&run->lease_ns));
    leases_count(child);
    child->is_used = true;
    child->is_spent = child->is_spent || is_last;
}

/* A worker is granted runs of its own jobs alone. */
static uint32_t job_number(const struct culex_handler_config *config, const struct culex_run *run)
{
    uint32_t number = 0;
    while (number < config->job_count && config->jobs[number].type != run->job.type)
        number++;
    assert(number < config->job_count);
    return number;
}

/* Nothing of it is sent that was not written: what is between its parts neither. */
static size_t record_write(const struct culex_child_link *child,
                           const struct culex_window_entry *entry,
                           const struct culex_handler_config *config, char *out, size_t payload_len)
{
    const struct culex_run *run = entry->run;
    size_t len = sizeof(struct culex_record_run) + payload_len;
    struct culex_record record = {CULEX_RECORD_RUN, (uint32_t)len, entry->seq};
    struct culex_record_run head;
    memset(&head, 0, sizeof head);
    head.job = job_number(config, run);
    head.payload_len = (uint32_t)run->payload_len;
    head.facts = run->facts;
    head.terms = run->terms;
    head.is_last = child->is_spent;
    memcpy(out, &record, sizeof record);
    memcpy(out + sizeof record, &head, sizeof head);
    if (payload_len > 0)
        memcpy(out + sizeof record + sizeof head, run->payload, payload_len);
    memset(out + sizeof record + len, 0, culex__record_padded(len) - len);
    return sizeof record + culex__record_padded(len);
}

/* False when the channel takes no more now; a broken one shows when it is read. */
static bool packet_send(struct culex_child_link *child, const char *packet, size_t len)
{
    ssize_t put = send(child->fd, packet, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    child->is_blocked = put < 0 && errno == EAGAIN;
    return put >= 0;
}

/* As many whole runs as one packet takes, or the beginning of one that is larger. */
static bool runs_send(struct culex_child_link *child, const struct culex_handler_config *config,
                      char *out)
{
    const size_t head = sizeof(struct culex_record) + sizeof(struct culex_record_run);
    struct culex_window *window = &child->window;
    size_t len = 0;
    size_t payload_sent = 0;
    uint64_t seq = window->sent;
    while (seq < window->assigned && payload_sent == 0) {
        const struct culex_window_entry *entry = culex__window_find(window, seq + 1);
        size_t payload_len = entry->run->payload_len;
        size_t room = CULEX_PACKET_MAX - len;
        if (head + culex__record_padded(payload_len) + 8 > room) {
            if (len > 0)
                break;
            payload_sent = payload_len = (room - head - 8) & ~(size_t)7;
        }
        len += record_write(child, entry, config, out + len, payload_len);
        seq++;
    }
    if (!packet_send(child, out, len))
        return false;
    window->sent = seq;
    child->payload_sent = payload_sent;
    return true;
}

/* The next part of the payload of the run sent last, which cannot be taken back meanwhile. */
static bool payload_send(struct culex_child_link *child, char *out)
{
    const struct culex_window_entry *entry = culex__window_find(&child->window, child->window.sent);
    const struct culex_run *run = entry->run;
    size_t left = run->payload_len - child->payload_sent;
    size_t len = CULEX_PACKET_MAX - sizeof(struct culex_record);
    len = left < len ? left : len;
    struct culex_record record = {CULEX_RECORD_PAYLOAD, (uint32_t)len, entry->seq};
    memcpy(out, &record, sizeof record);
    memcpy(out + sizeof record, run->payload + child->payload_sent, len);
    if (!packet_send(child, out, sizeof record + len))
        return false;
    child->payload_sent = len == left ? 0 : child->payload_sent + len;
    return true;
}

/* Answers go before runs, as a handler waits for each. */
static bool answer_send(struct culex_child_link *child, char *out)
{
    size_t len = culex__errand_desk_write(&child->desk, out);
    if (!packet_send(child, out, len))
        return false;
    culex__errand_desk_sent(&child->desk, len);
    return true;
}

void culex__child_link_flush(struct culex_child_link *child,
                             const struct culex_handler_config *config,
                             struct culex_child_buffers *buffers)
{
    bool is_going = child->state == CULEX_CHILD_LIVE && !child->is_deaf && child->wrong == NULL;
    while (is_going) {
        if (culex__errand_desk_has_answer(&child->desk))
            is_going = answer_send(child, buffers->out);
        else if (child->payload_sent > 0)
            is_going = payload_send(child, buffers->out);
        else if (child->window.sent < child->window.assigned)
            is_going = runs_send(child, config, buffers->out);
        else
            return;
    }
}

/* --- from the child -------------------------------------------------------------------- */

static void packet_take(struct culex_child_link *child, const char *packet, size_t len,
                        const struct culex_child_sink *sink)
{
    struct culex_child_message message;
    child->wrong = culex__child_message_parse(packet, len, &message);
    if (child->wrong != NULL || message.type == CULEX_RECORD_WAKE)
        return;
    if (message.type == CULEX_RECORD_LOG)
        sink->line(sink->self, message.bytes, message.len);
    else if (message.type == CULEX_RECORD_READY)
        child->is_ready = true;
    else if (message.type == CULEX_RECORD_UNREADY) {
        child->is_unready = true;
        snprintf(child->unready, sizeof child->unready, "%.*s", (int)message.len, message.bytes);
    } else if (message.type == CULEX_RECORD_ERRAND)
        child->wrong = culex__errand_desk_take(&child->desk, &message);
    else
        child->wrong = culex__window_take(&child->window, &message);
}

/* Reads what came, at most CULEX_PACKETS_MAX packets. False when there is nothing more to read now.
 */
static bool packets_receive(struct culex_child_link *child, struct culex_child_buffers *buffers,
                            const struct culex_child_sink *sink)
{
    struct culex_packet packets[CULEX_PACKETS_MAX];
    for (size_t i = 0; i < CULEX_PACKETS_MAX; i++)
        packets[i] = (struct culex_packet){.bytes = buffers->in[i], .room = CULEX_PACKET_MAX};
    int count = culex__packets_receive(child->fd, packets, CULEX_PACKETS_MAX);
    /* A process that died before it had read everything resets its channel. That is told once, and
     * before what it had sent: its last words are still there. */
    if (count < 0 && errno == ECONNRESET && !child->is_reset) {
        child->is_reset = true;
        return true;
    }
    if (count < 0) {
        child->is_deaf = errno != EAGAIN && errno != EINTR && errno != ENOMEM && errno != ENOBUFS;
        return false;
    }
    for (int i = 0; i < count && child->wrong == NULL && !child->is_deaf; i++) {
        if (packets[i].is_cut)
            child->wrong = "a packet that is too long";
        else if (packets[i].len == 0)
            child->is_deaf = true;
        else
            packet_take(child, packets[i].bytes, packets[i].len, sink);
    }
    return count == CULEX_PACKETS_MAX && child->wrong == NULL && !child->is_deaf;
}

/* Reads each member once only: the child may write meanwhile. */
static struct culex_mailbox_end end_copy(const struct culex_mailbox *mailbox, uint64_t seq)
{
    const volatile struct culex_mailbox_end *shared = &mailbox->ends[culex__mailbox_index(seq)];
    struct culex_mailbox_end end = {
        .seq = shared->seq,
        .event = shared->event,
        .flags = shared->flags,
        .reports = shared->reports,
        .delay_ms = shared->delay_ms,
        .started_ns = shared->started_ns,
        .duration_ns = shared->duration_ns,
    };
    return end;
}

/* Takes the next end. False when there is none, or what was sent before it must be read first. */
static bool end_take(struct culex_child_link *child, bool is_drained,
                     const struct culex_child_sink *sink)
{
    struct culex_run *run = NULL;
    bool is_skipped = false;
    size_t index = culex__mailbox_index(child->window.finished + 1);
    struct culex_mailbox_end end = end_copy(child->mailbox, child->window.finished + 1);
    if (!is_drained && !(culex__window_is_complete(&child->window, &end) &&
                         culex__window_is_heard(&child->window, &end)))
        return false;
    child->wrong = culex__window_end(&child->window, &end, &run, &is_skipped);
    if (child->wrong != NULL)
        return false;
    atomic_store(&child->mailbox->lease_ns[index], 0);
    if ((end.flags & CULEX_END_LAST) != 0)
        child->is_spent = true;
    if (run != NULL && is_skipped)
        sink->returned(sink->self, run);
    else if (run != NULL)
        sink->ended(sink->self, run);
    return true;
}

/* Ends up to `finished` that have not been taken yet. */
static bool is_owed(const struct culex_child_link *child, uint64_t finished)
{
    return child->wrong == NULL && child->window.finished < finished;
}

static void started_look(struct culex_child_link *child, int64_t now_ns)
{
    uint64_t seq = culex__child_link_running(child);
    if (seq == 0 || seq == child->head_seq)
        return;
    child->head_seq = seq;
    child->head_ns = now_ns;
    struct culex_run *run = culex__window_find(&child->window, seq)->run;
    if (run != NULL && atomic_load_explicit(&run->started_ns, memory_order_relaxed) == 0)
        atomic_store_explicit(&run->started_ns, now_ns, memory_order_relaxed);
}

/* False when there is nothing more to read now. */
static bool rounds_receive(struct culex_child_link *child, struct culex_child_buffers *buffers,
                           const struct culex_child_sink *sink)
{
    bool is_more = true;
    for (int round = 0; is_more && round < RECEIVE_ROUNDS; round++)
        is_more = packets_receive(child, buffers, sink);
    return is_more;
}

/* `finished` is read before the messages: what an end refers to was sent before it. So it is read
 * on until all these ends are taken, and none is judged by what has not been read. */
void culex__child_link_receive(struct culex_child_link *child, struct culex_child_buffers *buffers,
                               const struct culex_child_sink *sink, int64_t now_ns)
{
    bool is_more = child->fd >= 0 && !child->is_deaf;
    if (child->wrong != NULL)
        return;
    uint64_t finished = atomic_load_explicit(&child->mailbox->finished, memory_order_acquire);
    if (finished < child->window.finished || finished > child->window.sent) {
        child->wrong = "ends of runs that it does not have";
        return;
    }
    for (int go = 0; go == 0 || (is_more && is_owed(child, finished) && go < RECEIVE_GOES); go++) {
        is_more = is_more && rounds_receive(child, buffers, sink);
        while (is_owed(child, finished) && end_take(child, !is_more, sink)) {
        }
    }
    leases_count(child);
    if (child->wrong == NULL)
        started_look(child, now_ns);
}

/* --- taking back ----------------------------------------------------------------------- */

uint64_t culex__child_link_running(const struct culex_child_link *child)
{
    uint64_t started = atomic_load(&child->mailbox->started);
    bool is_true = started > child->window.finished && started <= child->window.sent;
    return is_true ? started : 0;
}

/* Runs that the child knows of, and has not begun. See mailbox.h for the order of the two steps. */
static void known_take_back(struct culex_child_link *child, const struct culex_child_sink *sink)
{
    struct culex_window *window = &child->window;
    uint64_t last = child->payload_sent > 0 ? window->sent - 1 : window->sent;
    atomic_store(&child->mailbox->skip_until, last);
    uint64_t started = atomic_load(&child->mailbox->started);
    if (started > window->sent)
        return; /* a lie; the next look at the mailbox finds it */
    uint64_t first = started > window->finished ? started + 1 : window->finished + 1;
    for (uint64_t seq = last; seq >= first; seq--) {
        struct culex_window_entry *entry = culex__window_find(window, seq);
        if (entry == NULL || entry->run == NULL)
            continue;
        atomic_store(&child->mailbox->lease_ns[culex__mailbox_index(seq)], 0);
        sink->returned(sink->self, culex__window_remove(window, entry));
    }
}

void culex__child_link_take_back(struct culex_child_link *child,
                                 const struct culex_child_sink *sink)
{
    struct culex_window *window = &child->window;
    while (window->assigned > window->sent) {
        atomic_store(&child->mailbox->lease_ns[culex__mailbox_index(window->assigned)], 0);
        sink->returned(sink->self, culex__window_unassign(window));
    }
    if (window->sent > window->finished && child->wrong == NULL)
        known_take_back(child, sink);
    leases_count(child);
}

struct culex_run *culex__child_link_blame(struct culex_child_link *child)
{
    struct culex_window *window = &child->window;
    uint64_t started = atomic_load(&child->mailbox->started);
    bool is_lie = started > window->sent || started < window->finished || child->wrong != NULL;
    uint64_t seq = culex__child_link_running(child);
    struct culex_window_entry *entry = culex__window_find(window, seq);
    /* A broken mailbox does not tell which run it was: the oldest one is blamed. */
    for (seq = window->finished + 1; is_lie && entry == NULL && seq <= window->sent; seq++)
        entry = culex__window_find(window, seq);
    return entry != NULL ? culex__window_remove(window, entry) : NULL;
}
