#include "base/buf.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

enum { CAP_MIN = 256 };

/* Sizes below can be doubled and added without a thought about overflow. */
#define LEN_MAX (SIZE_MAX / 4)

void culex_buf_init(culex_buf *buf, size_t max)
{
    size_t bound = max == 0 ? CULEX_PAYLOAD_MAX : max;
    if (buf == NULL)
        return;
    *buf = (culex_buf){.max = bound < LEN_MAX ? bound : LEN_MAX};
}

void culex_buf_release(culex_buf *buf)
{
    if (buf == NULL)
        return;
    free(buf->data);
    culex_buf_init(buf, buf->max);
}

/* Doubles, so that n appends copy O(n) bytes; never beyond the bound and its NUL. */
static size_t cap_next(const culex_buf *buf, size_t need)
{
    assert(need <= buf->max + 1);
    size_t cap = buf->cap < CAP_MIN ? CAP_MIN : buf->cap;
    while (cap < need && cap <= buf->max / 2)
        cap *= 2;
    return cap < need ? buf->max + 1 : cap;
}

culex_status culex__buf_reserve(culex_buf *buf, size_t more)
{
    if (buf->len > buf->max || more > buf->max - buf->len)
        return CULEX_ELIMIT;
    size_t need = buf->len + more + 1;
    if (need <= buf->cap)
        return CULEX_OK;
    size_t cap = cap_next(buf, need);
    char *data = realloc(buf->data, cap);
    if (data == NULL)
        return CULEX_ENOMEM;
    buf->data = data;
    buf->cap = cap;
    return CULEX_OK;
}

culex_status culex__buf_append(culex_buf *buf, const void *bytes, size_t len)
{
    assert(bytes != NULL || len == 0);
    culex_status status = culex__buf_reserve(buf, len);
    if (status != CULEX_OK)
        return status;
    if (len > 0)
        memcpy(buf->data + buf->len, bytes, len);
    culex__buf_cut(buf, buf->len + len);
    return CULEX_OK;
}

void culex__buf_cut(culex_buf *buf, size_t len)
{
    assert(len < buf->cap || len == 0);
    buf->len = len;
    if (buf->data != NULL)
        buf->data[len] = '\0';
}
