/* culex/lines.h - log lines of handlers, and those that are kept with their run.
 *
 * A job with `keep log 100;` in its schema keeps the last 100 lines that its handler writes with
 * culex_run_log and culex_log, over all attempts of the run. Among them is what each attempt failed
 * by: "failed: TEXT", "crashed: TEXT" or "lost: TEXT", of CULEX_LOG_ERROR, when the worker gets to
 * say it. A job without `keep log` keeps these alone, the last eight. Lines are read as long as the
 * run's record is there (`keep success`, `keep failure`), and go with it.
 *
 * Clients, threads and errors are as in culex/client.h.
 */
#ifndef CULEX_LINES_H
#define CULEX_LINES_H

#include <culex/client.h>
#include <culex/worker.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As culex_worker_options.log_level counts them. */
typedef enum CULEX_INT_ENUM culex_log_level {
    CULEX_LOG_ERROR = 1,
    CULEX_LOG_WARNING = 2,
    CULEX_LOG_INFO = 3,
    CULEX_LOG_DEBUG = 4
} culex_log_level;

/* Writes one line that carries the run's job and id to the worker's log, if that takes lines of
 * this level, and keeps it with the run if its job says so, whatever the level: a worker that logs
 * errors alone still keeps the others. Printf rules; another level counts as CULEX_LOG_INFO, which
 * is that of culex_log.
 *
 * Of a line that is kept, time (this machine's), attempt, level and text remain: the text is cut at
 * 1000 bytes and made valid UTF-8, and control characters in it become '?', line ends and tabs a
 * blank. "[secret]" replaces values of [[secret]] params, and whoever shows the text escapes it, as
 * culex/worker.h says.
 *
 * The store gets the lines about once a second, and the last ones in the call that records the end
 * of the attempt: of one that has ended, be it by a crash of the handler or by its timeout, none is
 * missing. Where the worker dies, or is cut off from the store, those of the last second are lost:
 * the attempt's last line is then not the last that its handler wrote. A worker whose run was taken
 * from it adds none. A process that the handler forks keeps no lines. */
CULEX_API void culex_run_log(culex_run *run, culex_log_level level, const char *format, ...)
    CULEX_PRINTF(3, 4);

/* One line of a run. */
typedef struct culex_run_line {
    culex_time at;    /* when the handler wrote it, by its machine's clock, to the ms */
    uint32_t attempt; /* counted from 1 */
    culex_log_level level;
    const char *text; /* one line of valid UTF-8, at most 1000 bytes */
} culex_run_line;

typedef struct culex_run_lines {
    size_t count;
    culex_run_line *items; /* in the order in which they were written, the oldest first */
} culex_run_lines;

/* The lines that the run keeps: at most as many as its job says, and at most 262,144 bytes of them
 * with some 20 for each; the oldest are dropped. CULEX_ENOTFOUND as of culex_client_get. *ret_lines
 * is returned owned: free it with culex_run_lines_free. The client of a handler (culex_run_client)
 * cannot ask: CULEX_EUNSUPPORTED.
 */
CULEX_API CULEX_MUST_USE culex_status culex_client_run_log(culex_client *client, const char *queue,
                                                           culex_uuid id,
                                                           culex_run_lines **ret_lines,
                                                           culex_error *error);

/* Accepts NULL. */
CULEX_API void culex_run_lines_free(culex_run_lines *lines);

#ifdef __cplusplus
}
#endif
#endif
