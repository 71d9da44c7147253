/* store/redis/conn.h - one connection to a Redis server: requests out, replies in.
 *
 * Every exchange has one absolute deadline, so a server that drips bytes cannot hold us.
 * After any failure the connection is closed; the next exchange opens a new one. */
#ifndef CULEX_STORE_REDIS_CONN_H
#define CULEX_STORE_REDIS_CONN_H

#include "store/store.h"
#include "store/redis/reply.h"
#include "store/redis/request.h"
#include "store/redis/target.h"

struct culex__redis_conn {
    const struct culex_store *base; /* whose it is: knows until when it may wait */
    const struct culex_env *env;
    const struct culex__redis_target *target;
    int fd; /* -1 while closed */
    redisReader *reader;
    struct culex__redis_limits limits;
    size_t received;     /* bytes of the reply under way */
    uint64_t generation; /* of the connection: counts the ones that were made */
    bool is_owed;        /* a request was sent ahead, and its answer was not asked for yet */
    redisReply *kept;    /* that answer, when another exchange met it; NULL: it is to come */
};

void culex__redis_conn_init(struct culex__redis_conn *conn, const struct culex_store *base,
                            const struct culex__redis_target *target);
void culex__redis_conn_close(struct culex__redis_conn *conn);

/* A new connection in place of the one that there was, not greeted yet: see greeting.h. */
culex_status culex__redis_conn_connect(struct culex__redis_conn *conn, int64_t deadline_ns,
                                       culex_error *error);

/* Open, and silent: between exchanges nothing may arrive but the server's hanging up. */
bool culex__redis_conn_is_quiet(const struct culex__redis_conn *conn);

/* Sends `head` (NULL: none) and then the request. CULEX_ECONNECT: the server cannot have it. */
culex_status culex__redis_conn_send(struct culex__redis_conn *conn, const char *head,
                                    size_t head_len, struct culex__redis_request *request,
                                    int64_t deadline_ns, culex_error *error);

/* Waits for one reply, which freeReplyObject() frees; it may be an error of the server's.
 * CULEX_EUNKNOWN when none came. */
culex_status culex__redis_conn_receive(struct culex__redis_conn *conn, int64_t deadline_ns,
                                       redisReply **ret_reply, culex_error *error);

/* The answer to what was just sent is asked for later, by culex__redis_conn_collect. Another
 * exchange on the connection, which begins with culex__redis_conn_open, waits for it first and
 * keeps it. */
void culex__redis_conn_owe(struct culex__redis_conn *conn);

/* That answer, after waiting for it if need be; as culex__redis_conn_receive. CULEX_EUNKNOWN too
 * when the connection has ended meanwhile. */
culex_status culex__redis_conn_collect(struct culex__redis_conn *conn, int64_t deadline_ns,
                                       redisReply **ret_reply, culex_error *error);

/* Takes what has arrived without waiting; *ret_reply is NULL while the reply is incomplete. */
culex_status culex__redis_conn_take(struct culex__redis_conn *conn, redisReply **ret_reply,
                                    culex_error *error);

/* Sends the words of a small command and receives its reply; a refusal is a failure. */
culex_status culex__redis_conn_command(struct culex__redis_conn *conn, const char *const *words,
                                       size_t count, int64_t deadline_ns, redisReply **ret_reply,
                                       culex_error *error);

/* The server's refusal as a failure: "redis at HOST refused: TEXT; what to do". */
culex_status culex__redis_conn_refused(const struct culex__redis_conn *conn, const char *text,
                                       culex_error *error);

#endif
