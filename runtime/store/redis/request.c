#include "store/redis/request.h"

#include <stdlib.h>
#include <string.h>

void culex__redis_request_reset(struct culex__redis_request *request)
{
    enum { KEPT_MAX = 1024 * 1024 };
    if (request->cap > KEPT_MAX)
        culex__redis_request_release(request); /* one huge batch must not cost memory for ever */
    request->len = request->count = 0;
    request->is_too_long = false;
}

void culex__redis_request_release(struct culex__redis_request *request)
{
    free(request->data);
    memset(request, 0, sizeof *request);
}

/* Room for `len` more bytes; NULL, and the request spoilt, when there is none. */
static char *request_grow(struct culex__redis_request *request, size_t len)
{
    if (request->len < CULEX__REDIS_HEAD_ROOM)
        request->len = CULEX__REDIS_HEAD_ROOM;
    if (request->is_too_long || len > CULEX__REDIS_REQUEST_BYTES_MAX - request->len) {
        request->is_too_long = true;
        return NULL;
    }
    size_t cap = request->cap == 0 ? 4096 : request->cap;
    while (cap < request->len + len)
        cap *= 2;
    if (cap != request->cap) {
        char *data = realloc(request->data, cap);
        if (data == NULL) {
            request->is_too_long = true;
            return NULL;
        }
        request->data = data;
        request->cap = cap;
    }
    return request->data + request->len;
}

/* Decimal digits of `value`, written backwards to end at `end`; returns the first. */
static char *digits_before(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return end;
}

void culex__redis_request_join(struct culex__redis_request *request,
                               const struct culex__redis_piece *pieces, size_t count)
{
    enum { FRAME_MAX = 32 }; /* '$', the length, two line ends */
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].len > CULEX__REDIS_REQUEST_BYTES_MAX - len) {
            request->is_too_long = true;
            return;
        }
        len += pieces[i].len;
    }
    char *to = request_grow(request, len + FRAME_MAX);
    if (to == NULL)
        return;
    char digits[24], *end = digits + sizeof digits, *first = digits_before(end, len);
    *to++ = '$';
    memcpy(to, first, (size_t)(end - first));
    to += end - first;
    *to++ = '\r';
    *to++ = '\n';
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].len > 0)
            memcpy(to, pieces[i].bytes, pieces[i].len);
        to += pieces[i].len;
    }
    *to++ = '\r';
    *to++ = '\n';
    request->len = (size_t)(to - request->data);
    request->count++;
}

void culex__redis_request_add(struct culex__redis_request *request, const void *bytes, size_t len)
{
    struct culex__redis_piece piece = {bytes, len};
    culex__redis_request_join(request, &piece, 1);
}

void culex__redis_request_text(struct culex__redis_request *request, const char *text)
{
    culex__redis_request_add(request, text, strlen(text));
}

void culex__redis_request_int(struct culex__redis_request *request, int64_t value)
{
    char digits[24], *end = digits + sizeof digits;
    char *first = digits_before(end, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    if (value < 0)
        *--first = '-';
    culex__redis_request_add(request, first, (size_t)(end - first));
}
