#include "store/sqlite/rear.h"

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

void culex__sqlite_last_write(const struct culex_sqlite_last *last,
                              unsigned char ret_bytes[CULEX__SQLITE_LAST_BYTES])
{
    unsigned char *at = ret_bytes;
#define WRITE(member) at = number_write(last->member, at);
    LAST_MEMBERS(WRITE)
#undef WRITE
}

bool culex__sqlite_last_read(const unsigned char *bytes, size_t len,
                             struct culex_sqlite_last *ret_last)
{
    if (bytes == NULL || len != CULEX__SQLITE_LAST_BYTES)
        return false;
#define READ(member) bytes = number_read(bytes, &ret_last->member);
    LAST_MEMBERS(READ)
#undef READ
    return true;
}

bool culex__sqlite_rear_is_same(const struct culex_sqlite_rear *one,
                                const struct culex_sqlite_rear *other)
{
#define SAME(member) one->last.member == other->last.member &&
    return LAST_MEMBERS(SAME) one->arrived == other->arrived &&
           one->newest_ms == other->newest_ms && one->number == other->number;
#undef SAME
}
