/* store/redis/request.h - a request to a Redis server in the wire format. */
#ifndef CULEX_STORE_REDIS_REQUEST_H
#define CULEX_STORE_REDIS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Built argument by argument. `data` begins with
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

#endif
