/* store/redis/unpack.c - the texts of scripts in a library for producers, which has them packed.
 *
 * packing.py says how. They are of the build: nothing here is checked. */
#include "store/redis/redis.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 4, MOST = 127, PLAIN = 128 }; /* ORDER PACKING: as packing.py has them */

static size_t number_read(const unsigned char **at)
{
    size_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned byte = *(*at)++;
        value |= (size_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
}

/* What is copied may be what the copy writes. */
static size_t earlier_copy(char *text, size_t done, size_t len, const unsigned char **at)
{
    size_t count = *(*at)++ - PLAIN;
    if (count == MOST)
        count += number_read(at);
    count += LEAST;
    size_t distance = number_read(at);
    for (; count > 0 && done < len; count--, done++)
        text[done] = text[done - distance];
    return done;
}

static size_t plain_copy(char *text, size_t done, size_t len, const unsigned char **at)
{
    size_t count = (size_t) * (*at)++ + 1, left = len - done;
    memcpy(text + done, *at, count < left ? count : left);
    *at += count;
    return count < left ? done + count : len;
}

char *culex__redis_unpack(size_t len)
{
    const unsigned char *at = culex__redis_packed, *end = at + culex__redis_packed_len;
    char *text = malloc(len);
    size_t done = 0;
    while (text != NULL && done < len && at < end)
        done = (*at < PLAIN ? plain_copy : earlier_copy)(text, done, len, &at);
    return text;
}
