#include "platform/listening.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/secret_name.h"
#include "platform/descriptor.h"

enum { BACKLOG = 64 };

/* Of whatever family. */
union place {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un file;
};

static_assert(sizeof((struct sockaddr_un *)0)->sun_path ==
                  sizeof((struct culex_listening *)0)->path,
              "a path fits into the other");

/* --- the text ------------------------------------------------------------------------ */

static culex_status address_fail(const char *address, const char *why, culex_error *error)
{
    return culex__fail(error, CULEX_EUSAGE,
                       "'%s' is no address to listen at: %s; write PORT, HOST:PORT or [V6]:PORT "
                       "with numbers, or unix:PATH",
                       culex__text_shown(address), why);
}

static bool port_read(const char *text, in_port_t *ret_port)
{
    size_t len = strlen(text);
    if (len == 0 || len > 5 || strspn(text, "0123456789") != len || atol(text) > 65535)
        return false;
    *ret_port = htons((in_port_t)atol(text));
    return true;
}

static culex_status path_read(const char *address, const char *path, union place *ret_place,
                              culex_error *error)
{
    size_t len = strlen(path);
    if (len == 0)
        return address_fail(address, "the path is empty", error);
    if (len >= sizeof ret_place->file.sun_path)
        return address_fail(address, "the path is longer than 107 bytes", error);
    ret_place->file.sun_family = AF_UNIX;
    memcpy(ret_place->file.sun_path, path, len + 1);
    return CULEX_OK;
}

static culex_status v6_read(const char *address, union place *ret_place, culex_error *error)
{
    char host[INET6_ADDRSTRLEN];
    const char *end = strchr(address, ']');
    size_t len = end != NULL ? (size_t)(end - address - 1) : sizeof host;
    if (len >= sizeof host)
        return address_fail(address, "there is no IPv6 address in the brackets", error);
    memcpy(host, address + 1, len);
    host[len] = '\0';
    ret_place->v6.sin6_family = AF_INET6;
    if (inet_pton(AF_INET6, host, &ret_place->v6.sin6_addr) != 1)
        return address_fail(address, "there is no IPv6 address in the brackets", error);
    if (end[1] != ':' || !port_read(end + 2, &ret_place->v6.sin6_port))
        return address_fail(address, "the port is no number from 0 to 65535", error);
    return CULEX_OK;
}

static culex_status v4_read(const char *address, union place *ret_place, culex_error *error)
{
    char host[64];
    const char *colon = strrchr(address, ':');
    size_t len = colon != NULL ? (size_t)(colon - address) : 0;
    if (len >= sizeof host)
        return address_fail(address, "the host is no IPv4 address", error);
    memcpy(host, address, len);
    host[len] = '\0';
    bool is_local = len == 0 || strcmp(host, "localhost") == 0;
    ret_place->v4.sin_family = AF_INET;
    if (inet_pton(AF_INET, is_local ? "127.0.0.1" : host, &ret_place->v4.sin_addr) != 1)
        return address_fail(address, "the host is no IPv4 address", error);
    if (!port_read(colon != NULL ? colon + 1 : address, &ret_place->v4.sin_port))
        return address_fail(address, "the port is no number from 0 to 65535", error);
    return CULEX_OK;
}

static culex_status address_read(const char *address, union place *ret_place, culex_error *error)
{
    memset(ret_place, 0, sizeof *ret_place);
    if (strncmp(address, "unix:", 5) == 0)
        return path_read(address, address + 5, ret_place, error);
    return address[0] == '[' ? v6_read(address, ret_place, error)
                             : v4_read(address, ret_place, error);
}

culex_status culex__listening_check(const char *address, culex_error *error)
{
    union place place;
    return address_read(address, &place, error);
}

/* --- the socket ---------------------------------------------------------------------- */

static socklen_t place_size(const union place *place)
{
    return place->any.sa_family == AF_UNIX   ? sizeof place->file
           : place->any.sa_family == AF_INET ? sizeof place->v4
                                             : sizeof place->v6;
}

static int socket_of(const union place *place)
{
    int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    return culex__descriptor_own(socket(place->any.sa_family, type, 0));
}

/* What a process that was killed has left there. Of anything but a socket, and of one that is
 * listened at, nothing is removed. */
static void stale_file_remove(const union place *place)
{
    struct stat facts;
    if (lstat(place->file.sun_path, &facts) < 0 || !S_ISSOCK(facts.st_mode))
        return;
    int fd = socket_of(place);
    if (fd >= 0 && connect(fd, &place->any, place_size(place)) < 0 && errno == ECONNREFUSED)
        unlink(place->file.sun_path);
    culex__descriptor_close(fd);
}

static bool socket_bind(int fd, const union place *place)
{
    int on = 1;
    if (place->any.sa_family == AF_UNIX)
        stale_file_remove(place);
    else if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0)
        return false;
    return bind(fd, &place->any, place_size(place)) == 0 && listen(fd, BACKLOG) == 0;
}

static void shown_write(struct culex_listening *listening)
{
    union place place;
    socklen_t size = sizeof place;
    char host[INET6_ADDRSTRLEN] = "";
    memset(&place, 0, sizeof place);
    getsockname(listening->fd, &place.any, &size);
    if (place.any.sa_family == AF_INET) {
        inet_ntop(AF_INET, &place.v4.sin_addr, host, sizeof host);
        snprintf(listening->shown, sizeof listening->shown, "%s:%d", host,
                 ntohs(place.v4.sin_port));
    } else if (place.any.sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &place.v6.sin6_addr, host, sizeof host);
        snprintf(listening->shown, sizeof listening->shown, "[%s]:%d", host,
                 ntohs(place.v6.sin6_port));
    } else
        snprintf(listening->shown, sizeof listening->shown, "unix:%s", listening->path);
}

static culex_status open_fail(const char *address, int reason, culex_error *error)
{
    return culex__fail(error, CULEX_EUSAGE, "cannot listen at %s: %s%s", culex__text_shown(address),
                       strerror(reason),
                       reason == EADDRINUSE
                           ? "; another program does, so choose another address or end that one"
                           : "");
}

culex_status culex__listening_foresee(const char *address, culex_error *error)
{
    union place place;
    char folder[sizeof place.file.sun_path + 2];
    culex_status status = address_read(address, &place, error);
    if (status != CULEX_OK || place.any.sa_family != AF_UNIX)
        return status;
    const char *slash = strrchr(place.file.sun_path, '/');
    int len = slash != NULL ? (int)(slash - place.file.sun_path) : 0;
    snprintf(folder, sizeof folder, "%.*s/.", len, place.file.sun_path);
    const char *looked = slash != NULL ? folder : ".";
    return access(looked, W_OK | X_OK) == 0 ? CULEX_OK : open_fail(address, errno, error);
}

culex_status culex__listening_open(const char *address, struct culex_listening *ret_listening,
                                   culex_error *error)
{
    union place place;
    struct culex_listening listening = {.fd = -1};
    culex_status status = address_read(address, &place, error);
    if (status != CULEX_OK)
        return status;
    listening.fd = socket_of(&place);
    if (listening.fd < 0 || !socket_bind(listening.fd, &place)) {
        status = open_fail(address, errno, error);
        culex__descriptor_close(listening.fd);
        return status;
    }
    if (place.any.sa_family == AF_UNIX)
        memcpy(listening.path, place.file.sun_path, sizeof listening.path);
    shown_write(&listening);
    *ret_listening = listening;
    return CULEX_OK;
}

void culex__listening_close(struct culex_listening *listening, bool is_closed)
{
    if (listening->fd < 0)
        return;
    if (listening->path[0] != '\0')
        unlink(listening->path);
    if (is_closed)
        culex__descriptor_forget(listening->fd);
    else
        culex__descriptor_close(listening->fd);
    listening->fd = -1;
}
