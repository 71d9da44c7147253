/* store/redis/reply.h - a server's answers, read as if an enemy had written them. */
#ifndef CULEX_STORE_REDIS_REPLY_H
#define CULEX_STORE_REDIS_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include "store/store.h"

enum {
    CULEX__REDIS_REPLY_BYTES_MAX = 64 * 1024 * 1024,
    CULEX__REDIS_REPLY_LINE_MAX = 64 * 1024,  /* of an error, a status, a number, a length */
    CULEX__REDIS_REPLY_ITEMS_MAX = 16 * 1024, /* of all arrays in one reply together */
    CULEX__REDIS_REPLY_DEPTH_MAX = 3          /* arrays within arrays; ours have two */
};

/* What a reader still lets one reply take; see culex__redis_reader_create. */
struct culex__redis_limits {
    redisReplyObjectFunctions functions;
    const redisReplyObjectFunctions *own; /* the library's */
    size_t items_left;
};

/* A reader that refuses arrays beyond the limits above before it reserves memory for them: a
 * header of seven bytes could ask for gigabytes, and nested ones for that many times more.
 * `limits` belongs to the reader and must live as long. NULL when out of memory. Free with
 * redisReaderFree. */
redisReader *culex__redis_reader_create(struct culex__redis_limits *limits);

/* An array of nothing: how scripts say that what they were asked about is not there. */
static inline bool culex__redis_is_empty(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_ARRAY && reply->elements == 0;
}

/* Element `at` of an array, when it has the wanted type. False otherwise. */
bool culex__redis_reply_int(const redisReply *array, size_t at, int64_t *ret_value);
bool culex__redis_reply_text(const redisReply *array, size_t at, const char **ret_text,
                             size_t *ret_len);

/* The value of line `name` in the text of INFO, cut to fit; "" when absent. */
void culex__redis_info_value(const redisReply *info, const char *name, char *ret_value,
                             size_t size);

/* What a refusal of the server means. */
struct culex__redis_refusal {
    const char *token; /* as the server's text has it */
    culex_status status;
    bool is_elsewhere;  /* another server may be the one to talk to: connect anew */
    const char *advice; /* what to do about it */
};

/* The meaning of a refusal by its text; CULEX_ESTORE and no advice for an unknown one. */
const struct culex__redis_refusal *culex__redis_refusal_find(const char *text);

static inline culex_status culex__redis_refusal_status(const char *text)
{
    return culex__redis_refusal_find(text)->status;
}

/* Whether `text`, or the error of a command inside a script that it quotes, begins with `token`. */
bool culex__redis_refusal_is(const char *text, const char *token);

/* The answer of STEP as its grants and answers; see redis/step.lua. Both are the reply's own
 * storage. CULEX_ECORRUPT when it is not what a step of this request can answer. Takes no
 * ownership of `reply`, which must outlive the grants. */
culex_status culex__redis_step_read(const redisReply *reply, const struct culex_step *step,
                                    struct culex_step_reply *ret_reply, culex_error *error);

/* The answer of LIST; see redis/list.lua. */
culex_status culex__redis_list_read(const redisReply *reply, const char *queue, size_t limit,
                                    struct culex_list_reply *ret_reply, culex_error *error);

/* The answer of GET; NULL record: CULEX_ENOTFOUND. *ret_run is owned by the caller. */
culex_status culex__redis_get_read(const redisReply *reply, const char *queue, culex_uuid id,
                                   culex_run_info **ret_run, culex_error *error);

#endif
