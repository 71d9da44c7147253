#include "platform/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

bool culex__notify_takes(const char *address)
{
    const struct sockaddr_un *room = NULL;
    bool is_spoken = address[0] == '/' || (address[0] == '@' && address[1] != '\0');
    return is_spoken && strlen(address) < sizeof room->sun_path;
}

/* An abstract name begins with a NUL and has none behind it. */
static socklen_t address_fill(const char *text, struct sockaddr_un *ret_address)
{
    size_t len = strlen(text);
    *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(ret_address->sun_path, text, len);
    if (text[0] == '@')
        ret_address->sun_path[0] = '\0';
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (text[0] != '@'));
}

bool culex__notify_send(const char *address, const char *text)
{
    struct sockaddr_un to;
    if (!culex__notify_takes(address)) {
        errno = EINVAL;
        return false;
    }
    socklen_t len = address_fill(address, &to);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    bool is_sent = sendto(fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&to,
                          len) == (ssize_t)strlen(text);
    int reason = errno;
    close(fd);
    errno = reason;
    return is_sent;
}

bool culex__notify_send_reloading(const char *address)
{
    char text[80];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
             (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    return culex__notify_send(address, text);
}
