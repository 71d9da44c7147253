#include "rpc.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "limits.h"

enum { CHUNK_BYTES = 64 * 1024 };

/* Appends what comes next. False at the end of the input. */
static bool input_fill(struct rpc *rpc)
{
    char chunk[CHUNK_BYTES];
    ssize_t got;
    do
        got = read(rpc->in, chunk, sizeof(chunk));
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return false;
    buf_append(&rpc->input, chunk, (size_t)got);
    return true;
}

static size_t input_left(const struct rpc *rpc)
{
    return rpc->input.len - rpc->taken;
}

/* Makes room: what one large message took is given back. */
static void input_drop(struct rpc *rpc)
{
    struct buf rest = {0};
    if (rpc->taken < CHUNK_BYTES)
        return;
    buf_append(&rest, rpc->input.data + rpc->taken, input_left(rpc));
    buf_release(&rpc->input);
    rpc->input = rest;
    rpc->taken = 0;
}

/* The length behind "Content-Length:"; false when it is no number or out of all reason. */
static bool length_read(const char *text, const char *end, size_t *ret_len)
{
    size_t len = 0;
    while (text < end && *text == ' ')
        text++;
    if (text == end)
        return false;
    for (; text < end && *text >= '0' && *text <= '9'; text++) {
        len = len * 10 + (size_t)(*text - '0');
        if (len > LIMIT_MESSAGE_SKIP)
            return false;
    }
    *ret_len = len;
    return text == end;
}

/* All lines of a header, each with its line end. */
static bool header_parse(const char *text, const char *end, size_t *ret_len)
{
    static const char name[] = "Content-Length:";
    bool has_length = false;
    while (text < end) {
        const char *stop = memchr(text, '\r', (size_t)(end - text));
        if (stop == NULL || stop + 1 == end || stop[1] != '\n')
            return false;
        if (strncasecmp(text, name, sizeof(name) - 1) == 0) {
            if (has_length || !length_read(text + sizeof(name) - 1, stop, ret_len))
                return false;
            has_length = true;
        }
        text = stop + 2;
    }
    return has_length;
}

/* Where the text behind the header starts, 0 while the header has no end. */
static size_t header_end(const struct rpc *rpc)
{
    if (input_left(rpc) == 0)
        return 0;
    const char *start = rpc->input.data + rpc->taken;
    const char *found = memmem(start, input_left(rpc), "\r\n\r\n", 4);
    return found == NULL ? 0 : (size_t)(found - start) + 4;
}

static enum rpc_status header_read(struct rpc *rpc, size_t *ret_len)
{
    size_t end;
    while ((end = header_end(rpc)) == 0) {
        if (input_left(rpc) > LIMIT_HEADER_BYTES)
            return RPC_BROKEN;
        if (!input_fill(rpc))
            return input_left(rpc) == 0 ? RPC_END : RPC_BROKEN;
    }
    const char *start = rpc->input.data + rpc->taken;
    rpc->taken += end;
    return end <= LIMIT_HEADER_BYTES && header_parse(start, start + end - 2, ret_len) ? RPC_MESSAGE
                                                                                      : RPC_BROKEN;
}

static enum rpc_status message_skip(struct rpc *rpc, size_t len)
{
    while (len > input_left(rpc)) {
        len -= input_left(rpc);
        rpc->taken = rpc->input.len = 0;
        if (!input_fill(rpc))
            return RPC_BROKEN;
    }
    rpc->taken += len;
    return RPC_TOO_LARGE;
}

enum rpc_status rpc_read(struct rpc *rpc, const char **ret_text, size_t *ret_len)
{
    size_t len = 0; /* gcc 13 does not see that a message has one */
    input_drop(rpc);
    enum rpc_status status = header_read(rpc, &len);
    if (status != RPC_MESSAGE)
        return status;
    if (len > LIMIT_MESSAGE_BYTES)
        return message_skip(rpc, len);
    while (input_left(rpc) < len) {
        if (!input_fill(rpc))
            return RPC_BROKEN;
    }
    *ret_text = rpc->input.data + rpc->taken;
    *ret_len = len;
    rpc->taken += len;
    return RPC_MESSAGE;
}

bool rpc_is_idle(const struct rpc *rpc)
{
    struct pollfd wait = {.fd = rpc->in, .events = POLLIN};
    return input_left(rpc) == 0 && poll(&wait, 1, 0) == 0;
}

static bool bytes_write(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t put = write(fd, bytes, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        bytes += put;
        len -= (size_t)put;
    }
    return true;
}

bool rpc_write(const struct rpc *rpc, const char *text, size_t len)
{
    char header[64];
    int size = snprintf(header, sizeof(header), "Content-Length: %zu\r\n\r\n", len);
    return bytes_write(rpc->out, header, (size_t)size) && bytes_write(rpc->out, text, len);
}

void rpc_release(struct rpc *rpc)
{
    buf_release(&rpc->input);
}
