#include "store/redis/greeting.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* A command whose reply says no more than that it worked. */
static culex_status say(struct culex__redis_conn *conn, const char *const *words, size_t count,
                        int64_t deadline_ns, culex_error *error)
{
    redisReply *reply = NULL;
    culex_status status = culex__redis_conn_command(conn, words, count, deadline_ns, &reply, error);
    if (status == CULEX_OK)
        freeReplyObject(reply);
    return status;
}

/* Servers that do not know AUTH quote its arguments. */
static void secret_hide(const struct culex__redis_conn *conn, culex_error *error)
{
    const char *password = conn->target->password;
    if (password[0] != '\0' && strstr(error->text, password) != NULL)
        culex__fail(error, error->code, "redis at %s refused the login", conn->target->label);
}

static culex_status authenticate(struct culex__redis_conn *conn, int64_t deadline_ns,
                                 culex_error *error)
{
    const struct culex__redis_target *target = conn->target;
    if (target->password == NULL)
        return CULEX_OK;
    const char *with_user[] = {"AUTH", target->user, target->password};
    const char *without[] = {"AUTH", target->password};
    culex_status status = target->user != NULL ? say(conn, with_user, 3, deadline_ns, error)
                                               : say(conn, without, 2, deadline_ns, error);
    if (status == CULEX_ESTORE)
        status = error->code = CULEX_EDENIED;
    if (status != CULEX_OK)
        secret_hide(conn, error);
    return status;
}

static culex_status database_select(struct culex__redis_conn *conn, int64_t deadline_ns,
                                    culex_error *error)
{
    char number[16];
    snprintf(number, sizeof number, "%d", conn->target->database);
    const char *words[] = {"SELECT", number};
    return conn->target->database == 0 ? CULEX_OK : say(conn, words, 2, deadline_ns, error);
}

static culex_status version_check(const struct culex__redis_conn *conn, const redisReply *reply,
                                  culex_error *error)
{
    char version[32];
    unsigned major, minor;
    culex__redis_info_value(reply, "redis_version", version, sizeof version);
    if (sscanf(version, "%3u.%3u", &major, &minor) == 2 && major * 100 + minor < 602)
        return culex__fail(error, CULEX_EUNSUPPORTED,
                           "redis at %s is version %s; Culex needs 6.2 or newer",
                           conn->target->label, version);
    return CULEX_OK;
}

static culex_status eviction_check(const struct culex__redis_conn *conn, const redisReply *reply,
                                   culex_error *error)
{
    char policy[32];
    culex__redis_info_value(reply, "maxmemory_policy", policy, sizeof policy);
    if (strncmp(policy, "allkeys-", 8) == 0 && !conn->target->is_eviction_accepted)
        return culex__fail(error, CULEX_EUNSUPPORTED,
                           "redis at %s may evict queues (maxmemory-policy %s); set it to "
                           "noeviction or to a volatile policy, or put accept-eviction=1 into the "
                           "URL if losing runs is acceptable",
                           conn->target->label, policy);
    return CULEX_OK;
}

/* A user without INFO is not kept out for that: the checks are advice, not safety. */
static culex_status info_check(struct culex__redis_conn *conn, const char *section,
                               culex_status (*check)(const struct culex__redis_conn *conn,
                                                     const redisReply *reply, culex_error *error),
                               int64_t deadline_ns, culex_error *error)
{
    const char *words[] = {"INFO", section};
    redisReply *reply = NULL;
    culex_status status = culex__redis_conn_command(conn, words, 2, deadline_ns, &reply, error);
    if (status == CULEX_EDENIED && culex__redis_refusal_is(error->text, "NOPERM"))
        return CULEX_OK;
    if (status != CULEX_OK)
        return status;
    status = check(conn, reply, error);
    freeReplyObject(reply);
    return status;
}

static culex_status greet(struct culex__redis_conn *conn, int64_t deadline_ns, culex_error *error)
{
    static const char *const name[] = {"CLIENT", "SETNAME", "culex"};
    culex_error ignored;
    culex_status status = authenticate(conn, deadline_ns, error);
    if (status == CULEX_OK)
        status = database_select(conn, deadline_ns, error);
    if (status == CULEX_OK)
        status = info_check(conn, "server", version_check, deadline_ns, error);
    if (status == CULEX_OK)
        status = info_check(conn, "memory", eviction_check, deadline_ns, error);
    if (status == CULEX_OK) /* only helps whoever reads CLIENT LIST */
        say(conn, name, 3, deadline_ns, &ignored);
    return status;
}

culex_status culex__redis_conn_open(struct culex__redis_conn *conn, int64_t deadline_ns,
                                    culex_error *error)
{
    culex_error scratch;
    /* Without it, a new connection is made below: its caller learns that when he asks. */
    if (conn->is_owed && conn->kept == NULL)
        culex__redis_conn_receive(conn, deadline_ns, &conn->kept, NULL);
    if (culex__redis_conn_is_quiet(conn))
        return CULEX_OK;
    if (error == NULL) /* the greeting reads its own errors */
        error = &scratch;
    culex_status status = culex__redis_conn_connect(conn, deadline_ns, error);
    if (status != CULEX_OK)
        return status;
    status = greet(conn, deadline_ns, error);
    if (status != CULEX_OK)
        culex__redis_conn_close(conn);
    /* No request of the caller's was sent yet, so nothing is unknown. */
    if (status == CULEX_EUNKNOWN)
        status = error->code = CULEX_ECONNECT;
    if (status == CULEX_OK && conn->fd < 0)
        return culex__fail(error, CULEX_ECONNECT, "redis at %s hung up", conn->target->label);
    return status;
}
