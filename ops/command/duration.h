/* ops/command/duration.h - times as schemas write them: 90s, 1h30m, 100us; and 0.1h, -5m. */
#ifndef OPS_COMMAND_DURATION_H
#define OPS_COMMAND_DURATION_H

#include <stdbool.h>
#include <stddef.h>

#include <culex/types.h>

/* What the units are, for messages. */
#define OPS_DURATION_UNITS "w, d, h, m, s, ms, us or ns"

/* Numbers with units, from large to small and each once, at most INT64_MAX nanoseconds; a number
 * may have decimals, of which nothing below a nanosecond is left. */
bool ops_duration_read(const char *text, size_t len, culex_duration *ret_duration);
/* "1h30m", "0s", as the language would write it. */
enum { OPS_DURATION_SIZE = 96 };
const char *ops_duration_format(culex_duration duration, char ret_text[OPS_DURATION_SIZE]);

#endif
