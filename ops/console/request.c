#include "console/request.h"

#include <microhttpd.h>
#include <poll.h>
#include <strings.h>

const char *request_query(const struct request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

struct name_walk {
    void (*see)(const char *name, void *user);
    void *user;
};

static enum MHD_Result name_see(void *user, enum MHD_ValueKind kind, const char *name,
                                const char *value)
{
    const struct name_walk *walk = user;
    (void)kind;
    (void)value;
    walk->see(name, walk->user);
    return MHD_YES;
}

void request_query_each(const struct request *request, void (*see)(const char *name, void *user),
                        void *user)
{
    struct name_walk walk = {see, user};
    MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, name_see, &walk);
}

const char *request_header(const struct request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

struct header_walk {
    const char *name;
    void (*see)(const char *value, void *user);
    void *user;
};

static enum MHD_Result header_see(void *user, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    const struct header_walk *walk = user;
    (void)kind;
    if (strcasecmp(name, walk->name) == 0)
        walk->see(value != NULL ? value : "", walk->user);
    return MHD_YES;
}

void request_header_each(const struct request *request, const char *name,
                         void (*see)(const char *value, void *user), void *user)
{
    struct header_walk walk = {name, see, user};
    MHD_get_connection_values(request->connection, MHD_HEADER_KIND, header_see, &walk);
}

static void header_count(const char *value, void *user)
{
    unsigned *count = user;
    (void)value;
    *count += 1;
}

unsigned request_header_count(const struct request *request, const char *name)
{
    unsigned count = 0;
    request_header_each(request, name, header_count, &count);
    return count;
}

bool request_is_deserted(const struct request *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd polled = {.fd = info != NULL ? info->connect_fd : -1, .events = POLLRDHUP};
    return poll(&polled, 1, 0) > 0 && (polled.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}
