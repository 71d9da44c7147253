/* log/log_line.h - a line in the making, in which nothing foreign can do harm.
 *
 * Texts that are not ours (job names, error texts, URLs) become valid UTF-8; what steers a terminal
 * or is not seen becomes visible, so that a line is one line and reads as what it is. In JSON
 * controls have the standard escape: "\u001b". The others, which nobody who shows a parsed text
 * expects either, are spelt out in both formats: \u{202E}. */
#ifndef CULEX_LOG_LOG_LINE_H
#define CULEX_LOG_LOG_LINE_H

#include <stddef.h>
#include <stdint.h>

#include <culex/worker.h>

#include "base/limits.h"

/* A foreign byte takes at most six, and a line has at most one text, an error and names. */
enum {
    CULEX_LOG_TEXT_MAX = 4608,
    CULEX_LOG_LINE_SIZE = 6 * (CULEX_LOG_TEXT_MAX + CULEX_ERROR_TEXT_MAX + CULEX_JOB_NAME_MAX +
                               CULEX_QUEUE_NAME_MAX) +
                          1024
};

/* What does not fit is left out; the last byte is kept for the newline. Begin with len = 0. */
struct culex_log_line {
    char text[CULEX_LOG_LINE_SIZE];
    size_t len;
};

/* Text of our own, as it is. */
void culex__log_line_put(struct culex_log_line *line, const char *text);

/* Foreign text, of which at most `most` bytes are looked at. */
void culex__log_line_put_foreign(struct culex_log_line *line, const char *text, size_t most,
                                 culex_log_format format);

/* A member of a JSON object, `,"name":"..."`; nothing for NULL. */
void culex__log_line_put_member(struct culex_log_line *line, const char *name, const char *text,
                                size_t most);

#endif
