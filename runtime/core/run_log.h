/* core/run_log.h - log lines that a run keeps, as stores have them: one after the other, the oldest
 * first, each "MS|ATTEMPT|LEVEL|TEXT" and a newline.
 *
 * MS is the time at which it was written, in ms since 1970 by the handler's clock; LEVEL a digit of
 * culex_log_level; TEXT valid UTF-8 without control characters, at most CULEX_KEPT_LINE_MAX bytes.
 */
#ifndef CULEX_CORE_RUN_LOG_H
#define CULEX_CORE_RUN_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "core/run.h"

enum { CULEX_KEPT_LINE_SIZE = CULEX_KEPT_LINE_MAX + 48 };

struct culex_kept_line {
    int64_t ms; /* not negative */
    uint32_t attempt;
    int level;        /* culex_log_level */
    const char *text; /* not ended by a NUL */
    size_t len;
};

/* Lines on their way to the store, with what the run's job says of their number. */
struct culex_log_lines {
    const char *bytes; /* as above; may be NULL when there are none */
    size_t len;        /* at most CULEX_RUN_LOG_BYTES_MAX */
    uint32_t most;     /* of the run's lines stay, the last ones: 1 to CULEX_RUN_LINES_MAX */
};

/* Writes the line, whose text may be anything: what does no good in a line becomes '?', and what is
 * too long is cut between characters. Returns its length with the newline; no NUL is written. */
size_t culex__kept_line_write(char ret_bytes[CULEX_KEPT_LINE_SIZE],
                              const struct culex_kept_line *line);

/* The same of the line that tells what an attempt failed by: "failed: ", "lost: ", or, as the text
 * of a crash says that it is one, the text alone. */
size_t culex__failure_line_write(char ret_bytes[CULEX_KEPT_LINE_SIZE], int64_t ms, uint32_t attempt,
                                 enum culex_run_event event, const char *text);

/* How many lines stay with a run whose job keeps so many. */
static inline uint32_t culex__kept_lines_most(int64_t keep_log)
{
    return keep_log > 0 ? (uint32_t)keep_log : CULEX_RUN_FAILURES_MAX;
}

/* Reads the line that `bytes` begin with; ret_line->text points into them. Returns its length with
 * the newline, 0 for what is no line. */
size_t culex__kept_line_read(const char *bytes, size_t len, struct culex_kept_line *ret_line);

/* Nothing but lines, and no more bytes than may be. */
bool culex__run_log_is_valid(const char *bytes, size_t len);

/* How many bytes go at the beginning, so that at most `most` lines and CULEX_RUN_LOG_BYTES_MAX
 * stay. */
size_t culex__run_log_excess(const char *bytes, size_t len, uint32_t most);

#endif
