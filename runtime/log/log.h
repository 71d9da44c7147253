/* log/log.h - one line per event, for people (text) or programs (JSON).
 *
 *   2026-11-21T04:00:00.123Z info  shop.send_email 0192...-... attempt 1 done in 12.3 ms
 *   {"time":"2026-11-21T04:00:00.123Z","level":"info","queue":"mail","job":"shop.send_email",
 *    "run":"0192...","attempt":1,"outcome":"done","duration_ms":12.345,
 *    "message":"done in 12.3 ms"}          (one line)
 *
 * docs/operating.md, "Log lines", lists the members. Everything that is not ours (error texts,
 * names) is made valid UTF-8 and visible (log_line.h), so that a line is always one line. A line
 * goes to the sink whole, from whichever thread wrote it. */
#ifndef CULEX_LOG_LOG_H
#define CULEX_LOG_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include <culex/lines.h>
#include <culex/types.h>
#include <culex/worker.h>

#include "platform/env.h"

/* Where lines go. `write` gets one line with its newline and must bear several threads.
 * `take_dropped` (may be NULL) says how many lines were lost since it was asked last, once there is
 * hope that another one is not: that line is then preceded by one that tells. */
struct culex_log_sink {
    void (*write)(void *self, const char *line, size_t len);
    void *self;
    uint64_t (*take_dropped)(void *self);
    bool has_priority; /* lines begin with "<N>", as the journal takes a line's level (sd-daemon(3))
                        */
};

struct culex_log {
    struct culex_log_sink sink;
    const struct culex_env *env; /* for the time */
    culex_log_format format;
    _Atomic int level; /* lines above it are dropped; it may change at work */
};

/* What a line is about; NULL or zero members are left out. Queue and how it ended stand in JSON
 * only: the text of the line tells them in words. */
struct culex_log_subject {
    const char *queue;
    const char *job;
    const culex_uuid *id;
    uint32_t attempt;
    const char *outcome; /* how the attempt ended: a word of that list */
    int64_t duration_ns; /* of the handler */
    const char *error;   /* the error text, without what the line says around it */
    int64_t next_ms;     /* when the run is offered again: store's clock, ms since 1970 */
};

/* Writes each line to file descriptor 2, and drops it when that is blocked (log/stderr.h). With
 * priorities where that is the journal by now. */
struct culex_log_sink culex__log_stderr(void);

static inline bool culex__log_wants(const struct culex_log *log, int level)
{
    return level <= log->level;
}

/* Writes a line about `subject` (NULL: about the worker), printf rules. Very long texts are cut. */
void culex__log_write(const struct culex_log *log, int level,
                      const struct culex_log_subject *subject, const char *format, ...)
    CULEX_PRINTF(4, 5);

/* `ms` since 1970 as "2026-11-21T04:00:00.123Z"; years 0 to 9999, others clamp. */
enum { CULEX_LOG_TIME_SIZE = 25 };
void culex__log_format_time(int64_t ms, char ret_text[CULEX_LOG_TIME_SIZE]);

/* `ms` for people: "15ms", "2s", "1.5s", "3m", "2h", "4d". */
enum { CULEX_LOG_SPAN_SIZE = 32 };
void culex__log_format_span(int64_t ms, char ret_text[CULEX_LOG_SPAN_SIZE]);

#endif
