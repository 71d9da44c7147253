#include "store/redis/target.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

static culex_status database_read(struct culex__redis_target *target, bool is_socket,
                                  culex_error *error)
{
    const char *text = is_socket ? culex__url_param(&target->url, "db") : target->url.path;
    if (text == NULL || strcmp(text, "") == 0 || (!is_socket && strcmp(text, "/") == 0))
        return CULEX_OK;
    return culex__url_number("the database", is_socket ? text : text + 1, 0, 999999,
                             &target->database, error);
}

static culex_status eviction_read(struct culex__redis_target *target, culex_error *error)
{
    const char *text = culex__url_param(&target->url, "accept-eviction");
    int value = 0;
    culex_status status = CULEX_OK;
    if (text != NULL)
        status = culex__url_number("accept-eviction", text, 0, 1, &value, error);
    target->is_eviction_accepted = value == 1;
    return status;
}

/* Without a password nobody logs in: the server would go on with the default user. */
static culex_status identity_read(struct culex__redis_target *target, bool is_socket,
                                  culex_error *error)
{
    const char *user = culex__url_param(&target->url, "user");
    const char *password = culex__url_param(&target->url, "password");
    target->user = user != NULL ? user : target->url.user;
    target->password = password != NULL ? password : target->url.password;
    if (target->user != NULL && target->password == NULL)
        return culex__fail(error, CULEX_EURL, "store URL: a user without a password; write %s",
                           is_socket ? "?user=USER&password=PASSWORD" : "user:password@host");
    return CULEX_OK;
}

static culex_status address_read(struct culex__redis_target *target, bool is_socket,
                                 culex_error *error)
{
    const struct culex__url *url = &target->url;
    if (is_socket && (url->host[0] != '\0' || url->path[0] == '\0'))
        return culex__fail(
            error, CULEX_EURL,
            "store URL: a socket is written as redis+unix:///PATH, with three slashes");
    if (is_socket) {
        target->address.path = url->path;
        snprintf(target->label, sizeof target->label, "%s", url->path);
        return CULEX_OK;
    }
    target->address.host = url->host[0] != '\0' ? url->host : "127.0.0.1";
    target->address.port = url->port != 0 ? url->port : 6379;
    snprintf(target->label, sizeof target->label, "%.128s port %d", target->address.host,
             target->address.port);
    return CULEX_OK;
}

culex_status culex__redis_target_parse(const char *url, struct culex__redis_target *ret_target,
                                       culex_error *error)
{
    struct culex__redis_target target = {.database = 0};
    culex_status status = culex__url_parse(url, &target.url, error);
    if (status != CULEX_OK)
        return status;
    bool is_socket = strcmp(target.url.scheme, "redis+unix") == 0;
    status = address_read(&target, is_socket, error);
    if (status == CULEX_OK)
        status = database_read(&target, is_socket, error);
    if (status == CULEX_OK)
        status = eviction_read(&target, error);
    if (status == CULEX_OK)
        status = identity_read(&target, is_socket, error);
    if (status != CULEX_OK) {
        culex__url_release(&target.url);
        return status;
    }
    *ret_target = target;
    return CULEX_OK;
}

void culex__redis_target_release(struct culex__redis_target *target)
{
    culex__url_release(&target->url);
}
