/* culex/types.h - the C types that params may have beside the language's own. */
#ifndef CULEX_TYPES_H
#define CULEX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <culex/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that somebody else owns. `data` may be NULL only when `len` is 0. */
typedef struct culex_bytes {
    const uint8_t *data;
    size_t len;
} culex_bytes;

/* RFC 9562 UUID, bytes in the order in which they are printed. */
typedef struct culex_uuid {
    uint8_t b[16];
} culex_uuid;

/* 128-bit integers in one layout on every target; two's complement. */
typedef struct culex_int128 {
    uint64_t lo;
    int64_t hi;
} culex_int128;

typedef struct culex_uint128 {
    uint64_t lo;
    uint64_t hi;
} culex_uint128;

/* Nanoseconds since 1970-01-01T00:00:00Z, leap seconds ignored: years 1678 to 2262. From seconds:
 * culex_time_from_unix. */
typedef int64_t culex_time;

/* Nanoseconds, negative allowed. From seconds: culex_seconds. */
typedef int64_t culex_duration;

#define CULEX_NANOSECOND  INT64_C(1)
#define CULEX_MICROSECOND INT64_C(1000)
#define CULEX_MILLISECOND INT64_C(1000000)
#define CULEX_SECOND      INT64_C(1000000000)
#define CULEX_MINUTE      (60 * CULEX_SECOND)
#define CULEX_HOUR        (60 * CULEX_MINUTE)
#define CULEX_DAY         (24 * CULEX_HOUR)

/* `count` units, at most what 64 bits hold: 292 years in either direction. */
static inline culex_duration culex_duration_of(int64_t count, culex_duration unit)
{
    if (count > INT64_MAX / unit)
        return INT64_MAX;
    return count < INT64_MIN / unit ? INT64_MIN : count * unit;
}

/* A duration of so many ms, no longer than 292 years. */
static inline culex_duration culex_milliseconds(int64_t count)
{
    return culex_duration_of(count, CULEX_MILLISECOND);
}

/* A duration of so many seconds, no longer than 292 years. */
static inline culex_duration culex_seconds(int64_t count)
{
    return culex_duration_of(count, CULEX_SECOND);
}

/* A duration of so many minutes, no longer than 292 years. */
static inline culex_duration culex_minutes(int64_t count)
{
    return culex_duration_of(count, CULEX_MINUTE);
}

/* A duration of so many hours, no longer than 292 years. */
static inline culex_duration culex_hours(int64_t count)
{
    return culex_duration_of(count, CULEX_HOUR);
}

/* A duration of so many days of 24 hours, no longer than 292 years. */
static inline culex_duration culex_days(int64_t count)
{
    return culex_duration_of(count, CULEX_DAY);
}

/* The instant that time() and databases call `seconds`; one before 1678 or after 2262 becomes the
 * first or the last instant that a culex_time can hold. */
static inline culex_time culex_time_from_unix(int64_t seconds)
{
    return culex_duration_of(seconds, CULEX_SECOND);
}

/* Now, to the ms, by this machine's clock. A store goes by its own. */
CULEX_API culex_time culex_time_now(void);

/* A cast between numbers that is quiet under -Wold-style-cast in C++. */
#ifdef __cplusplus
#define CULEX_CAST(type, value) static_cast<type>(value)
#else
#define CULEX_CAST(type, value) ((type)(value))
#endif

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 culex_native_int128;
__extension__ typedef unsigned __int128 culex_native_uint128;

/* The same value in the compiler's own 128-bit type, where it has one. */
static inline culex_native_int128 culex_int128_native(culex_int128 value)
{
    culex_native_uint128 high = CULEX_CAST(uint64_t, value.hi);
    return CULEX_CAST(culex_native_int128, high << 64 | value.lo);
}

/* The same value in the layout that params have. */
static inline culex_int128 culex_int128_make(culex_native_int128 value)
{
    culex_int128 made;
    made.lo = CULEX_CAST(uint64_t, value);
    made.hi = CULEX_CAST(int64_t, value >> 64);
    return made;
}

/* The same value in the compiler's own 128-bit type, where it has one. */
static inline culex_native_uint128 culex_uint128_native(culex_uint128 value)
{
    culex_native_uint128 high = value.hi;
    return high << 64 | value.lo;
}

/* The same value in the layout that params have. */
static inline culex_uint128 culex_uint128_make(culex_native_uint128 value)
{
    culex_uint128 made;
    made.lo = CULEX_CAST(uint64_t, value);
    made.hi = CULEX_CAST(uint64_t, value >> 64);
    return made;
}
#endif

/* Room for the text of a UUID, its NUL included. */
enum { CULEX_UUID_TEXT_SIZE = 37 };

/* Writes the 36 lower-case characters of `id` and a NUL into `ret_text`. */
CULEX_API void culex_uuid_format(culex_uuid id, char ret_text[CULEX_UUID_TEXT_SIZE]);

/* Reads 36 characters, either case. False, and *ret_id untouched, when `text`
 * (NUL-ended) is anything else. */
CULEX_API bool culex_uuid_parse(const char *text, culex_uuid *ret_id);

#ifdef __cplusplus
}
#endif
#endif
