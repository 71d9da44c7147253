#include "platform/packet.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "platform/descriptor.h"

/* Room for one descriptor beside a packet, aligned as the kernel wants it. */
union luggage {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
};

ssize_t culex__packet_send(int socket_fd, const void *bytes, size_t len, int fd)
{
    union luggage luggage;
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = len};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        memset(&luggage, 0, sizeof luggage);
        message.msg_control = &luggage;
        message.msg_controllen = sizeof luggage.room;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(head), &fd, sizeof fd);
    }
    return sendmsg(socket_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int message_fd(struct msghdr *message)
{
    struct cmsghdr *head = CMSG_FIRSTHDR(message);
    int fd = -1;
    if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(head), sizeof fd);
    return fd;
}

ssize_t culex__packet_receive(int socket_fd, void *ret_bytes, size_t len, int *ret_fd)
{
    union luggage luggage;
    struct iovec part = {.iov_base = ret_bytes, .iov_len = len};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &luggage,
                             .msg_controllen = sizeof luggage};
    ssize_t got = recvmsg(socket_fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    *ret_fd = got >= 0 ? culex__descriptor_own(message_fd(&message)) : -1;
    return got;
}

int culex__packets_receive(int socket_fd, struct culex_packet *packets, size_t count)
{
    struct iovec parts[CULEX_PACKETS_MAX];
    struct mmsghdr heads[CULEX_PACKETS_MAX];
    assert(count <= CULEX_PACKETS_MAX);
    memset(heads, 0, sizeof heads);
    for (size_t i = 0; i < count; i++) {
        parts[i] = (struct iovec){packets[i].bytes, packets[i].room};
        heads[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
    }
    int came = recvmmsg(socket_fd, heads, (unsigned)count, MSG_DONTWAIT, NULL);
    for (int i = 0; i < came; i++) {
        packets[i].len = heads[i].msg_len;
        packets[i].is_cut = (heads[i].msg_hdr.msg_flags & MSG_TRUNC) != 0;
    }
    return came;
}
