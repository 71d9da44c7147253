#include "child/inbox.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "child/child_message.h"

struct culex_inbox_packet {
    struct culex_inbox_packet *next;
    size_t len;
    char bytes[CULEX_PACKET_MAX];
};

/* --- packets ------------------------------------------------------------------------------- */

static bool packet_is_answer(const void *packet, ssize_t len)
{
    struct culex_record record;
    if (len < (ssize_t)sizeof record)
        return false;
    memcpy(&record, packet, sizeof record);
    return record.type == CULEX_RECORD_ANSWER;
}

static void packet_keep(struct culex_inbox *inbox, size_t len)
{
    struct culex_inbox_packet *packet = inbox->spare;
    assert(packet != NULL && len <= sizeof packet->bytes);
    inbox->spare = NULL;
    packet->len = len;
    packet->next = NULL;
    if (inbox->first == NULL)
        inbox->first = packet;
    else
        inbox->last->next = packet;
    inbox->last = packet;
}

static ssize_t kept_take(struct culex_inbox *inbox, void *ret_packet, size_t size)
{
    struct culex_inbox_packet *packet = inbox->first;
    size_t len = packet->len;
    assert(len <= size);
    (void)size;
    memcpy(ret_packet, packet->bytes, len);
    inbox->first = packet->next;
    free(packet);
    return (ssize_t)len;
}

ssize_t culex__inbox_receive(struct culex_inbox *inbox, void *ret_packet, size_t size)
{
    ssize_t got;
    if (inbox->first != NULL)
        return kept_take(inbox, ret_packet, size);
    do
        got = recv(inbox->fd, ret_packet, size, 0);
    while (got > 0 && packet_is_answer(ret_packet, got)); /* it came too late */
    return got;
}

/* --- the errand ------------------------------------------------------------------------------ */

/* True when the channel is ready; false when the time is up. */
static bool channel_await(const struct culex_inbox *inbox, short events, int64_t deadline_ns)
{
    struct pollfd watched = {.fd = inbox->fd, .events = events};
    for (;;) {
        int64_t left_ns = deadline_ns - culex__env_boottime_ns(inbox->env);
        int64_t left_ms = (left_ns + 999999) / 1000000;
        if (left_ns <= 0)
            return false;
        int ready = poll(&watched, 1, left_ms < 60000 ? (int)left_ms : 60000);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
    }
}

bool culex__inbox_is_quiet(const struct culex_inbox *inbox, int64_t span_ns)
{
    int64_t until_ns = culex__env_boottime_ns(inbox->env) + span_ns;
    return inbox->first == NULL && !channel_await(inbox, POLLIN, until_ns);
}

static bool part_send(const struct culex_inbox *inbox, struct msghdr *message, int64_t deadline_ns)
{
    while (sendmsg(inbox->fd, message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        bool is_passing = errno == EAGAIN || errno == EINTR || errno == ENOBUFS || errno == ENOMEM;
        if (!is_passing || !channel_await(inbox, POLLOUT, deadline_ns))
            return false;
    }
    return true;
}

static bool errand_send(const struct culex_inbox *inbox, const culex_buf *errand,
                        int64_t deadline_ns)
{
    bool is_sent = true;
    for (size_t offset = 0; is_sent && offset < errand->len;) {
        size_t left = errand->len - offset;
        size_t len = left < CULEX_ERRAND_PART_MAX ? left : CULEX_ERRAND_PART_MAX;
        struct culex_record_errand part = {inbox->number, (uint32_t)errand->len, (uint32_t)offset};
        struct culex_record record = {CULEX_RECORD_ERRAND, (uint32_t)(sizeof part + len), 0};
        struct iovec pieces[3] = {
            {&record, sizeof record}, {&part, sizeof part}, {errand->data + offset, len}};
        struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 3};
        is_sent = part_send(inbox, &message, deadline_ns);
        offset += len;
    }
    return is_sent;
}

/* A channel that the handler has closed does not open again, which it is told at once. */
static culex_status unsent_tell(int error_number, culex_error *error)
{
    if (error_number == EBADF || error_number == ENOTSOCK)
        return culex__fail(error, CULEX_EINVAL,
                           "the handler has closed the channel to its worker: a descriptor that it "
                           "did not open");
    return culex__fail(error, CULEX_ECONNECT, "the worker takes no requests");
}

/* --- the answer ------------------------------------------------------------------------------ */

/* True when it is whole. Parts of an answer to an earlier errand are passed over. */
static bool answer_take(const struct culex_inbox *inbox, const char *packet, size_t len,
                        culex_buf *answer)
{
    const size_t head = sizeof(struct culex_record) + sizeof(struct culex_record_errand);
    struct culex_record_errand part;
    if (len < head)
        return false;
    memcpy(&part, packet + sizeof(struct culex_record), sizeof part);
    if (part.number != inbox->number || part.offset != answer->len ||
        culex__buf_append(answer, packet + head, len - head) != CULEX_OK)
        return false;
    return answer->len == part.total;
}

static culex_status answer_await(struct culex_inbox *inbox, int64_t deadline_ns, culex_buf *answer,
                                 culex_error *error)
{
    for (;;) {
        if (inbox->spare == NULL)
            inbox->spare = malloc(sizeof *inbox->spare);
        if (inbox->spare == NULL)
            return culex__fail(error, CULEX_EUNKNOWN, "no memory for the worker's answer");
        if (!channel_await(inbox, POLLIN, deadline_ns))
            return culex__fail(error, CULEX_EUNKNOWN, "the worker has not answered in time");
        ssize_t got = recv(inbox->fd, inbox->spare->bytes, CULEX_PACKET_MAX, MSG_DONTWAIT);
        if (got == 0 ||
            (got < 0 && errno != EAGAIN && errno != EINTR && errno != ENOMEM && errno != ENOBUFS))
            return culex__fail(error, CULEX_EUNKNOWN, "the worker is gone");
        if (got < 0)
            continue;
        if (!packet_is_answer(inbox->spare->bytes, got))
            packet_keep(inbox, (size_t)got);
        else if (answer_take(inbox, inbox->spare->bytes, (size_t)got, answer))
            return CULEX_OK;
    }
}

culex_status culex__inbox_exchange(void *self, const culex_buf *errand, int64_t deadline_ns,
                                   culex_buf *answer, culex_error *error)
{
    struct culex_inbox *inbox = self;
    assert(errand->len > 0 && errand->len <= CULEX_ERRAND_MAX && answer->len == 0);
    inbox->number++;
    if (!errand_send(inbox, errand, deadline_ns))
        return unsent_tell(errno, error);
    return answer_await(inbox, deadline_ns, answer, error);
}
