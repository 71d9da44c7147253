#include "platform/door.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "platform/descriptor.h"

_Static_assert(CULEX_DOOR_ADDRESS_SIZE == sizeof((struct sockaddr_un *)NULL)->sun_path,
               "an address fits a socket");

/* A name that needs no file begins with a NUL here, and has none at its end. */
static bool address_fill(const char *address, struct sockaddr_un *ret_address, socklen_t *ret_len)
{
    size_t len = strlen(address);
    if (len == 0 || len >= sizeof ret_address->sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    memset(ret_address, 0, sizeof *ret_address);
    ret_address->sun_family = AF_UNIX;
    memcpy(ret_address->sun_path, address, len);
    if (address[0] == '@')
        ret_address->sun_path[0] = '\0';
    *ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    return true;
}

int culex__door_open(void)
{
    return culex__descriptor_own(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

bool culex__door_place(int door_fd, const char *address)
{
    struct sockaddr_un at;
    socklen_t len;
    return address_fill(address, &at, &len) && bind(door_fd, (struct sockaddr *)&at, len) == 0;
}

void culex__door_become_busy(int door_fd, const char *address)
{
    struct sockaddr_un at;
    socklen_t len;
    if (address_fill(address, &at, &len))
        connect(door_fd, (struct sockaddr *)&at, len);
}

void culex__door_become_idle(int door_fd)
{
    struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    connect(door_fd, &nobody, sizeof nobody);
}

enum culex_knock culex__door_knock(int door_fd, const char *address)
{
    struct sockaddr_un at;
    socklen_t len;
    if (!address_fill(address, &at, &len))
        return CULEX_KNOCK_UNHEARD;
    if (sendto(door_fd, "", 1, MSG_NOSIGNAL, (struct sockaddr *)&at, len) == 1 || errno == EAGAIN)
        return CULEX_KNOCK_HEARD;
    return errno == ECONNREFUSED || errno == ENOENT ? CULEX_KNOCK_DEAD : CULEX_KNOCK_UNHEARD;
}

void culex__door_remove(const char *address)
{
    if (address[0] != '@')
        unlink(address);
}
