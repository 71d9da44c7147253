/* duration.h - a duration as the language writes it: "1h30m". */
#ifndef CULEXC_DURATION_H
#define CULEXC_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"

/* "1h30m" in nanoseconds, below zero when it stands behind a minus. On failure returns a
 * sentence that says what is wrong. */
const char *duration_read(const char *text, size_t len, bool is_negative, int64_t *ret_ns);

/* The other way round, for what is not negative. */
const char *duration_format(struct arena *arena, int64_t ns);

#endif
