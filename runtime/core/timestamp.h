/* core/timestamp.h - RFC 3339 text of a culex_time. */
#ifndef CULEX_CORE_TIMESTAMP_H
#define CULEX_CORE_TIMESTAMP_H

#include <culex/types.h>

/* Room for the longest text, without a NUL. */
enum { CULEX_TIMESTAMP_TEXT_MAX = 30 };

/* Writes "2026-11-21T04:20:00.5Z", at most nine decimals and no trailing zeros among them, no
 * NUL; returns the length. */
size_t culex__timestamp_format(culex_time time, char *ret_text);

/* Reads date, 'T', time to the second, up to nine decimals, and 'Z' or an offset like "+02:00".
 * False for anything else, dates that do not exist, leap seconds, and times outside the range. */
bool culex__timestamp_parse(const char *text, size_t len, culex_time *ret_time);

#endif
