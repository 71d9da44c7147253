#include "console/request.h"

#include <microhttpd.h>
#include <poll.h>

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

bool request_is_deserted(const struct request *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd polled = {.fd = info != NULL ? info->connect_fd : -1, .events = POLLRDHUP};
    return poll(&polled, 1, 0) > 0 && (polled.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}
