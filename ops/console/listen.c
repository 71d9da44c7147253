#include "console/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "command/fail.h"

enum { BACKLOG = 256 };

/* ---- addresses --------------------------------------------------------------------------------
 */

/* Parts "HOST:PORT"; an IPv6 address stands in brackets. */
static bool where_split(const char *where, char *ret_host, size_t size, const char **ret_port)
{
    const char *colon = strrchr(where, ':');
    size_t len = colon != NULL ? (size_t)(colon - where) : 0;
    if (len == 0 || len >= size || colon[1] == '\0' ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1) || strlen(colon + 1) > 5 ||
        atoi(colon + 1) > 65535)
        return false;
    bool is_bracketed = where[0] == '[' && where[len - 1] == ']';
    memcpy(ret_host, where + is_bracketed, len - 2 * (size_t)is_bracketed);
    ret_host[len - 2 * (size_t)is_bracketed] = '\0';
    *ret_port = colon + 1;
    return true;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 ==
               127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static void name_make(struct listener *listener)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t len = sizeof address;
    char host[64], port[8];
    if (getsockname(listener->fd, (struct sockaddr *)&address, &len) == 0 &&
        getnameinfo((struct sockaddr *)&address, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        snprintf(listener->name, sizeof listener->name,
                 address.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

static bool address_open(const struct addrinfo *info, struct listener *listener)
{
    int yes = 1;
    listener->fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener->fd < 0)
        return false;
    setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener->fd, info->ai_addr, info->ai_addrlen) == 0 &&
        listen(listener->fd, BACKLOG) == 0) {
        listener->is_loopback = is_loopback(info->ai_addr);
        name_make(listener);
        return true;
    }
    int reason = errno;
    close(listener->fd);
    errno = reason;
    return false;
}

static culex_status network_open(const char *where, struct listener *listener, culex_error *error)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char host[64];
    const char *port;
    if (!where_split(where, host, sizeof host, &port))
        return ops_usage(error,
                         "--listen %.100s: write ADDRESS:PORT, as 127.0.0.1:7420, or "
                         "unix:PATH",
                         where);
    int reason = getaddrinfo(host, port, &hints, &found);
    if (reason != 0)
        return ops_usage(error, "--listen %.100s: %s", where, gai_strerror(reason));
    bool is_open = address_open(found, listener);
    freeaddrinfo(found);
    return is_open ? CULEX_OK
                   : ops_fail(error, CULEX_ECONNECT, "--listen %.100s: %s", where, strerror(errno));
}

/* ---- a path -----------------------------------------------------------------------------------
 */

/* A socket that nobody listens at was left by somebody who is gone. */
static bool is_left(const struct sockaddr_un *address)
{
    struct stat info;
    if (lstat(address->sun_path, &info) != 0 || !S_ISSOCK(info.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_refused = fd >= 0 &&
                      connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
                      errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return is_refused;
}

static culex_status path_open(const char *path, struct listener *listener, culex_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path || path[0] == '\0')
        return ops_usage(error, "--listen unix:%.100s: a path of 1 to %zu bytes", path,
                         sizeof address.sun_path - 1);
    strcpy(address.sun_path, path);
    if (is_left(&address))
        unlink(path);
    listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    mode_t before = umask(0177);
    bool is_open = listener->fd >= 0 &&
                   bind(listener->fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
                   listen(listener->fd, BACKLOG) == 0;
    int reason = errno;
    umask(before);
    if (!is_open)
        return ops_fail(error, CULEX_ECONNECT, "--listen unix:%.100s: %s", path, strerror(reason));
    listener->is_local = true;
    snprintf(listener->name, sizeof listener->name, "unix:%s", path);
    strcpy(listener->path, path);
    return CULEX_OK;
}

culex_status listener_open(const char *where, struct listener *ret_listener, culex_error *error)
{
    static const char prefix[] = "unix:";
    *ret_listener = (struct listener){.fd = -1};
    return strncmp(where, prefix, sizeof prefix - 1) == 0
               ? path_open(where + sizeof prefix - 1, ret_listener, error)
               : network_open(where, ret_listener, error);
}
