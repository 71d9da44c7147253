#include "bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sim_bytes_add(struct sim_bytes *bytes, const void *data, size_t len)
{
    if (bytes->len + len > bytes->cap) {
        size_t cap = bytes->cap == 0 ? 256 : bytes->cap;
        while (cap < bytes->len + len)
            cap *= 2;
        bytes->data = realloc(bytes->data, cap);
        if (bytes->data == NULL)
            abort();
        bytes->cap = cap;
    }
    if (len > 0)
        memcpy(bytes->data + bytes->len, data, len);
    bytes->len += len;
}

void sim_bytes_cut(struct sim_bytes *bytes, size_t from_front)
{
    bytes->len -= from_front;
    if (bytes->len > 0)
        memmove(bytes->data, bytes->data + from_front, bytes->len);
}

void sim_bytes_free(struct sim_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct sim_bytes){0};
}

static void line_add(struct sim_bytes *reply, char kind, const char *text)
{
    sim_bytes_add(reply, &kind, 1);
    sim_bytes_add(reply, text, strlen(text));
    sim_bytes_add(reply, "\r\n", 2);
}

static void number_add(struct sim_bytes *reply, char kind, int64_t value)
{
    char digits[32], *end = digits + sizeof digits, *at = end;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    *--at = '\n';
    *--at = '\r';
    do
        *--at = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        *--at = '-';
    *--at = kind;
    sim_bytes_add(reply, at, (size_t)(end - at));
}

void sim_reply_status(struct sim_bytes *reply, const char *text)
{
    line_add(reply, '+', text);
}

void sim_reply_error(struct sim_bytes *reply, const char *text)
{
    line_add(reply, '-', text);
}

void sim_reply_int(struct sim_bytes *reply, int64_t value)
{
    number_add(reply, ':', value);
}

void sim_reply_bulk(struct sim_bytes *reply, const void *data, size_t len)
{
    number_add(reply, '$', (int64_t)len);
    sim_bytes_add(reply, data, len);
    sim_bytes_add(reply, "\r\n", 2);
}

void sim_reply_text(struct sim_bytes *reply, const char *text)
{
    sim_reply_bulk(reply, text, strlen(text));
}

void sim_reply_score(struct sim_bytes *reply, double score)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", score);
    sim_reply_text(reply, text);
}

void sim_reply_nil(struct sim_bytes *reply)
{
    sim_bytes_add(reply, "$-1\r\n", 5);
}

void sim_reply_nil_array(struct sim_bytes *reply)
{
    sim_bytes_add(reply, "*-1\r\n", 5);
}

void sim_reply_array(struct sim_bytes *reply, size_t count)
{
    number_add(reply, '*', (int64_t)count);
}
