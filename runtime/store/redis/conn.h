/* store/redis/conn.h - one connection to a Redis server: requests out, replies in.
 *
 * Every exchange has one absolute deadline, so a server that drips bytes cannot hold us.
 * After any failure the connection is closed; the next exchange opens a new one. */
#ifndef CULEX_STORE_REDIS_CONN_H
#define CULEX_STORE_REDIS_CONN_H

#include "store/redis/reply.h"
#include "store/url.h"

/* Where to connect and who we are; shared by the connections of one store. */
struct culex__redis_target {
    struct culex__url url;
    struct culex_address address;
    const char *user;     /* NULL: the default user */
    const char *password; /* NULL: none */
    int database;
    bool is_eviction_accepted; /* connect even where the server may evict queues */
    char label[160];           /* for error texts: host and port, or the path */
};

/* CULEX_EURL says what is wrong and where, without the password. Which parameters there are, the
 * register has checked. */
culex_status culex__redis_target_parse(const char *url, struct culex__redis_target *ret_target,
                                       culex_error *error);
void culex__redis_target_release(struct culex__redis_target *target);

/* A request in the wire format, built argument by argument. `data` begins with
 * CULEX__REDIS_HEAD_ROOM bytes for what is known last: the count of arguments and the first ones.
 * So that a request leaves in one send: two would be two packets, and wake the server twice. */
struct culex__redis_request {
    char *data;
    size_t len, cap;  /* `len` counts the room too; 0 while there are no arguments */
    size_t count;     /* of arguments so far */
    bool is_too_long; /* or out of memory; reported when it is sent */
};

enum { CULEX__REDIS_REQUEST_BYTES_MAX = 256 * 1024 * 1024, CULEX__REDIS_HEAD_ROOM = 128 };

void culex__redis_request_reset(struct culex__redis_request *request);
void culex__redis_request_release(struct culex__redis_request *request);
void culex__redis_request_add(struct culex__redis_request *request, const void *bytes, size_t len);
void culex__redis_request_text(struct culex__redis_request *request, const char *text);
void culex__redis_request_int(struct culex__redis_request *request, int64_t value);

/* An argument made of `count` pieces. */
struct culex__redis_piece {
    const void *bytes;
    size_t len;
};
void culex__redis_request_join(struct culex__redis_request *request,
                               const struct culex__redis_piece *pieces, size_t count);

struct culex__redis_conn {
    const struct culex_store *base; /* whose it is: knows until when it may wait */
    const struct culex_env *env;
    const struct culex__redis_target *target;
    int fd; /* -1 while closed */
    redisReader *reader;
    struct culex__redis_limits limits;
    size_t received;     /* bytes of the reply under way */
    uint64_t generation; /* of the connection: counts the ones that were made */
};

void culex__redis_conn_init(struct culex__redis_conn *conn, const struct culex_store *base,
                            const struct culex__redis_target *target);
void culex__redis_conn_close(struct culex__redis_conn *conn);

/* Connected and greeted when it returns CULEX_OK. A connection that the server has closed in
 * the meantime is noticed here and replaced. */
culex_status culex__redis_conn_open(struct culex__redis_conn *conn, int64_t deadline_ns,
                                    culex_error *error);

/* Sends `head` (NULL: none) and then the request. CULEX_ECONNECT: the server cannot have it. */
culex_status culex__redis_conn_send(struct culex__redis_conn *conn, const char *head,
                                    size_t head_len, struct culex__redis_request *request,
                                    int64_t deadline_ns, culex_error *error);

/* Waits for one reply, which freeReplyObject() frees; it may be an error of the server's.
 * CULEX_EUNKNOWN when none came. */
culex_status culex__redis_conn_receive(struct culex__redis_conn *conn, int64_t deadline_ns,
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
