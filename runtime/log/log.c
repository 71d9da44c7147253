#include "log/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "log/log_line.h"
#include "log/stderr.h"

static const char *level_name(int level)
{
    switch (level) {
    case CULEX_LOG_ERROR:
        return "error";
    case CULEX_LOG_WARNING:
        return "warn";
    case CULEX_LOG_INFO:
        return "info";
    default:
        return "debug";
    }
}

void culex__log_format_time(int64_t ms, char ret_text[CULEX_LOG_TIME_SIZE])
{
    const int64_t ms_min = INT64_C(-62167219200000); /* begin of year 0 */
    const int64_t ms_max = INT64_C(253402300799999); /* end of 9999 */
    ms = ms < ms_min ? ms_min : ms > ms_max ? ms_max : ms;
    int64_t rest = (ms % 1000 + 1000) % 1000;
    time_t seconds = (time_t)((ms - rest) / 1000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    char after_year[CULEX_LOG_TIME_SIZE];
    strftime(after_year, sizeof after_year, "-%m-%dT%H:%M:%S", &utc);
    snprintf(ret_text, CULEX_LOG_TIME_SIZE, "%04u%.15s.%03uZ",
             (unsigned)(utc.tm_year + 1900) % 10000, after_year, (unsigned)rest % 1000);
}

void culex__log_format_span(int64_t ms, char ret_text[CULEX_LOG_SPAN_SIZE])
{
    static const struct {
        int64_t ms;
        const char *unit;
    } units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (ms >= units[i].ms && ms % units[i].ms == 0) {
            snprintf(ret_text, CULEX_LOG_SPAN_SIZE, "%lld%s", (long long)(ms / units[i].ms),
                     units[i].unit);
            return;
        }
    }
    if (ms >= 1000)
        snprintf(ret_text, CULEX_LOG_SPAN_SIZE, "%.1fs", (double)ms / 1000);
    else
        snprintf(ret_text, CULEX_LOG_SPAN_SIZE, "%lldms", (long long)ms);
}

static void line_make_text(struct culex_log_line *line, const char *time, int level,
                           const struct culex_log_subject *subject, const char *text)
{
    char part[96];
    snprintf(part, sizeof part, "%s %-5s ", time, level_name(level));
    culex__log_line_put(line, part);
    if (subject->job != NULL) {
        culex__log_line_put_foreign(line, subject->job, CULEX_JOB_NAME_MAX, CULEX_LOG_TEXT);
        culex__log_line_put(line, " ");
    }
    if (subject->id != NULL) {
        char id[CULEX_UUID_TEXT_SIZE];
        culex_uuid_format(*subject->id, id);
        snprintf(part, sizeof part, "%s attempt %u ", id, (unsigned)subject->attempt);
        culex__log_line_put(line, part);
    }
    culex__log_line_put_foreign(line, text, CULEX_LOG_TEXT_MAX, CULEX_LOG_TEXT);
}

static void json_put_run(struct culex_log_line *line, const struct culex_log_subject *subject)
{
    char part[32], id[CULEX_UUID_TEXT_SIZE];
    if (subject->id == NULL)
        return;
    culex_uuid_format(*subject->id, id);
    culex__log_line_put_member(line, "run", id, sizeof id);
    snprintf(part, sizeof part, ",\"attempt\":%u", (unsigned)subject->attempt);
    culex__log_line_put(line, part);
}

/* By whole numbers: a program's locale may have another decimal point than JSON. */
static void json_put_duration(struct culex_log_line *line, int64_t duration_ns)
{
    char part[48];
    if (duration_ns <= 0)
        return;
    snprintf(part, sizeof part, ",\"duration_ms\":%lld.%03d", (long long)(duration_ns / 1000000),
             (int)(duration_ns / 1000 % 1000));
    culex__log_line_put(line, part);
}

static void json_put_next(struct culex_log_line *line, int64_t next_ms)
{
    char at[CULEX_LOG_TIME_SIZE];
    if (next_ms == 0)
        return;
    culex__log_format_time(next_ms, at);
    culex__log_line_put_member(line, "next_at", at, sizeof at);
}

static void line_make_json(struct culex_log_line *line, const char *time, int level,
                           const struct culex_log_subject *subject, const char *text)
{
    culex__log_line_put(line, "{\"time\":\"");
    culex__log_line_put(line, time);
    culex__log_line_put(line, "\"");
    culex__log_line_put_member(line, "level", level_name(level), SIZE_MAX);
    culex__log_line_put_member(line, "queue", subject->queue, CULEX_QUEUE_NAME_MAX);
    culex__log_line_put_member(line, "job", subject->job, CULEX_JOB_NAME_MAX);
    json_put_run(line, subject);
    culex__log_line_put_member(line, "outcome", subject->outcome, SIZE_MAX);
    json_put_duration(line, subject->duration_ns);
    culex__log_line_put_member(line, "error", subject->error, CULEX_ERROR_TEXT_MAX);
    json_put_next(line, subject->next_ms);
    culex__log_line_put_member(line, "message", text, CULEX_LOG_TEXT_MAX);
    culex__log_line_put(line, "}");
}

/* As syslog(3) numbers them. */
static const char *level_priority(int level)
{
    switch (level) {
    case CULEX_LOG_ERROR:
        return "<3>";
    case CULEX_LOG_WARNING:
        return "<4>";
    case CULEX_LOG_INFO:
        return "<6>";
    default:
        return "<7>";
    }
}

static void line_write(const struct culex_log *log, int level,
                       const struct culex_log_subject *subject, const char *text)
{
    static const struct culex_log_subject nothing = {0};
    if (subject == NULL)
        subject = &nothing;
    char time[CULEX_LOG_TIME_SIZE];
    struct culex_log_line line;
    line.len = 0;
    if (log->sink.has_priority)
        culex__log_line_put(&line, level_priority(level));
    culex__log_format_time(culex__env_clock_ms(log->env), time);
    if (log->format == CULEX_LOG_JSON)
        line_make_json(&line, time, level, subject, text);
    else
        line_make_text(&line, time, level, subject, text);
    line.text[line.len++] = '\n';
    log->sink.write(log->sink.self, line.text, line.len);
}

static void dropped_tell(const struct culex_log *log)
{
    char text[96];
    uint64_t count = log->sink.take_dropped != NULL ? log->sink.take_dropped(log->sink.self) : 0;
    if (count == 0)
        return;
    snprintf(text, sizeof text, "%llu lines of this log were dropped: nobody took them in time",
             (unsigned long long)count);
    line_write(log, CULEX_LOG_WARNING, NULL, text);
}

void culex__log_write(const struct culex_log *log, int level,
                      const struct culex_log_subject *subject, const char *format, ...)
{
    char text[CULEX_LOG_TEXT_MAX];
    va_list list;
    if (!culex__log_wants(log, level))
        return;
    va_start(list, format);
    if (vsnprintf(text, sizeof text, format, list) < 0)
        text[0] = '\0';
    va_end(list);
    dropped_tell(log);
    line_write(log, level, subject, text);
}

static void stderr_write(void *self, const char *line, size_t len)
{
    (void)self;
    culex__stderr_write(line, len);
}

static uint64_t stderr_take_dropped(void *self)
{
    (void)self;
    return culex__stderr_take_dropped();
}

struct culex_log_sink culex__log_stderr(void)
{
    return (struct culex_log_sink){.write = stderr_write,
                                   .take_dropped = stderr_take_dropped,
                                   .has_priority = culex__stderr_is_journal()};
}
