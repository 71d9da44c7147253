#include "child/outbox.h"

#include <assert.h>
#include <errno.h>
#include <sys/socket.h>

#include "base/utf8.h"

bool culex__outbox_send(const struct culex_outbox *outbox, enum culex_record_type type,
                        const void *head, size_t head_len, const void *bytes, size_t len)
{
    struct culex_record record = {(uint32_t)type, (uint32_t)(head_len + len), outbox->seq};
    struct iovec parts[3] = {{&record, sizeof record},
                             {(void *)(uintptr_t)head, head_len},
                             {(void *)(uintptr_t)bytes, len}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
    assert(sizeof record + head_len + len <= CULEX_PACKET_MAX);
    while (sendmsg(outbox->fd, &message, MSG_NOSIGNAL) < 0) {
        if (errno == ECONNRESET || errno == EPIPE)
            return false;
        if (errno != EINTR && errno != ENOBUFS && errno != ENOMEM)
            return true;
    }
    return true;
}

bool culex__outbox_send_text(const struct culex_outbox *outbox, enum culex_record_type type,
                             const char *text, size_t len)
{
    char clean[CULEX_ERROR_TEXT_MAX + 1];
    return culex__outbox_send(outbox, type, NULL, 0, clean,
                              culex__utf8_clean(clean, sizeof clean, text, len));
}

bool culex__outbox_send_parts(const struct culex_outbox *outbox, enum culex_record_type type,
                              const culex_buf *whole)
{
    const size_t room =
        CULEX_PACKET_MAX - sizeof(struct culex_record) - sizeof(struct culex_record_part);
    size_t offset = 0;
    bool is_heard;
    assert(whole->len <= UINT32_MAX);
    do {
        size_t left = whole->len - offset;
        size_t len = left < room ? left : room;
        struct culex_record_part part = {(uint32_t)whole->len, (uint32_t)offset};
        is_heard = culex__outbox_send(outbox, type, &part, sizeof part, whole->data + offset, len);
        offset += len;
    } while (is_heard && offset < whole->len);
    return is_heard;
}
