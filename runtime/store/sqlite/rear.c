#include "store/sqlite/rear.h"

#include <string.h>

enum { NUMBER_BYTES = 8, BYTE_BITS = 8 };

/* In the order of schema.sql. */
#define LAST_MEMBERS(MEMBER)                                                                       \
    MEMBER(producer)                                                                               \
    MEMBER(sequence)                                                                               \
    MEMBER(digest)                                                                                 \
    MEMBER(made_ms)                                                                                \
    MEMBER(number)

static unsigned char *number_write(int64_t number, unsigned char *at)
{
    uint64_t left = (uint64_t)number;
    for (int i = NUMBER_BYTES; i-- > 0; left >>= BYTE_BITS)
        at[i] = (unsigned char)left;
    return at + NUMBER_BYTES;
}

static const unsigned char *number_read(const unsigned char *at, int64_t *ret_number)
{
    uint64_t number = 0;
    for (int i = 0; i < NUMBER_BYTES; i++)
        number = number << BYTE_BITS | at[i];
    *ret_number = (int64_t)number;
    return at + NUMBER_BYTES;
}

static unsigned char *last_write(const struct culex_sqlite_last *last, unsigned char *at)
{
#define WRITE(member) at = number_write(last->member, at);
    LAST_MEMBERS(WRITE)
#undef WRITE
    return at;
}

static const unsigned char *last_read(const unsigned char *at, struct culex_sqlite_last *ret_last)
{
#define READ(member) at = number_read(at, &ret_last->member);
    LAST_MEMBERS(READ)
#undef READ
    return at;
}

size_t culex__sqlite_rear_write(
    const struct culex_sqlite_rear *rear,
    unsigned char ret_bytes[CULEX__SQLITE_LAST_BYTES * CULEX__SQLITE_LASTS_MAX])
{
    unsigned char *at = ret_bytes;
    for (size_t i = 0; i < rear->last_count; i++)
        at = last_write(&rear->lasts[i], at);
    return (size_t)(at - ret_bytes);
}

bool culex__sqlite_rear_read(const unsigned char *bytes, size_t len,
                             struct culex_sqlite_rear *ret_rear)
{
    ret_rear->last_count = len / CULEX__SQLITE_LAST_BYTES;
    if (len % CULEX__SQLITE_LAST_BYTES != 0 || ret_rear->last_count > CULEX__SQLITE_LASTS_MAX)
        return false;
    for (size_t i = 0; i < ret_rear->last_count; i++)
        bytes = last_read(bytes, &ret_rear->lasts[i]);
    return true;
}

bool culex__sqlite_rear_is_same(const struct culex_sqlite_rear *one,
                                const struct culex_sqlite_rear *other)
{
    return one->arrived == other->arrived && one->newest_ms == other->newest_ms &&
           one->number == other->number && one->last_count == other->last_count &&
           memcmp(one->lasts, other->lasts, one->last_count * sizeof one->lasts[0]) == 0;
}

/* --- calls -------------------------------------------------------------------------------- */

/* last_count when it is not there. */
static size_t place_of(const struct culex_sqlite_rear *rear, int64_t producer)
{
    size_t at = 0;
    while (at < rear->last_count && rear->lasts[at].producer != producer)
        at++;
    return at;
}

const struct culex_sqlite_last *culex__sqlite_rear_find(const struct culex_sqlite_rear *rear,
                                                        int64_t producer)
{
    size_t at = place_of(rear, producer);
    return at < rear->last_count ? &rear->lasts[at] : NULL;
}

void culex__sqlite_rear_put(struct culex_sqlite_rear *rear, const struct culex_sqlite_last *last)
{
    size_t at = place_of(rear, last->producer);
    if (at == rear->last_count && at < CULEX__SQLITE_LASTS_MAX)
        rear->last_count++;
    else if (at == rear->last_count)
        at--;
    memmove(&rear->lasts[1], &rear->lasts[0], at * sizeof rear->lasts[0]);
    rear->lasts[0] = *last;
}

void culex__sqlite_rear_drop(struct culex_sqlite_rear *rear, int64_t producer)
{
    size_t at = place_of(rear, producer);
    if (at == rear->last_count)
        return;
    rear->last_count--;
    memmove(&rear->lasts[at], &rear->lasts[at + 1],
            (rear->last_count - at) * sizeof rear->lasts[0]);
}
