#include "engine/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/utf8.h"
#include "engine/storeurl.h"

enum { TEXT_SIZE = 4608, LINE_SIZE = 6 * TEXT_SIZE + 1024 };

/* A line in the making. What does not fit is left out; the last byte is kept for the newline. */
struct line {
    char text[LINE_SIZE];
    size_t len;
};

static void line_put(struct line *line, const char *text, size_t len)
{
    if (len > LINE_SIZE - 1 - line->len)
        len = LINE_SIZE - 1 - line->len;
    memcpy(line->text + line->len, text, len);
    line->len += len;
}

static void line_puts(struct line *line, const char *text)
{
    line_put(line, text, strlen(text));
}

static void line_put_escape(struct line *line, unsigned char byte, culex_log_format format)
{
    char text[8];
    int len = snprintf(text, sizeof text, format == CULEX_LOG_JSON ? "\\u%04x" : "\\x%02x", byte);
    line_put(line, text, (size_t)len);
}

/* Control characters, and C1 ones (0xC2 0x80..0x9F), steer terminals and break lines. */
static bool char_is_control(const unsigned char *at, size_t len)
{
    return (len == 1 && (at[0] < 0x20 || at[0] == 0x7f)) ||
           (len == 2 && at[0] == 0xc2 && at[1] < 0xa0);
}

static void line_put_hostile(struct line *line, const char *text, culex_log_format format)
{
    size_t left = strlen(text);
    while (left > 0) {
        size_t len = culex__utf8_char(text, left);
        const unsigned char *at = (const unsigned char *)text;
        if (len == 0)
            line_puts(line, "?");
        else if (char_is_control(at, len))
            line_put_escape(line, at[len - 1], format);
        else {
            if (format == CULEX_LOG_JSON && (*text == '"' || *text == '\\'))
                line_puts(line, "\\");
            line_put(line, text, len);
        }
        text += len > 0 ? len : 1;
        left -= len > 0 ? len : 1;
    }
}

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

static void line_put_text(struct line *line, const char *time, int level,
                          const struct culex_log_subject *subject, const char *text)
{
    char part[96];
    snprintf(part, sizeof part, "%s %-5s ", time, level_name(level));
    line_puts(line, part);
    if (subject != NULL && subject->job != NULL) {
        line_put_hostile(line, subject->job, CULEX_LOG_TEXT);
        line_puts(line, " ");
    }
    if (subject != NULL && subject->id != NULL) {
        char id[CULEX_UUID_TEXT_SIZE];
        culex_uuid_format(*subject->id, id);
        snprintf(part, sizeof part, "%s attempt %u ", id, (unsigned)subject->attempt);
        line_puts(line, part);
    }
    line_put_hostile(line, text, CULEX_LOG_TEXT);
}

static void line_put_json(struct line *line, const char *time, int level,
                          const struct culex_log_subject *subject, const char *text)
{
    char part[128];
    snprintf(part, sizeof part, "{\"time\":\"%s\",\"level\":\"%s\"", time, level_name(level));
    line_puts(line, part);
    if (subject != NULL && subject->job != NULL) {
        line_puts(line, ",\"job\":\"");
        line_put_hostile(line, subject->job, CULEX_LOG_JSON);
        line_puts(line, "\"");
    }
    if (subject != NULL && subject->id != NULL) {
        char id[CULEX_UUID_TEXT_SIZE];
        culex_uuid_format(*subject->id, id);
        snprintf(part, sizeof part, ",\"run\":\"%s\",\"attempt\":%u", id,
                 (unsigned)subject->attempt);
        line_puts(line, part);
    }
    line_puts(line, ",\"message\":\"");
    line_put_hostile(line, text, CULEX_LOG_JSON);
    line_puts(line, "\"}");
}

void culex__log_write_list(const struct culex_log *log, int level,
                           const struct culex_log_subject *subject, const char *format,
                           va_list list)
{
    if (!culex__log_wants(log, level))
        return;
    char time[CULEX_LOG_TIME_SIZE];
    char text[TEXT_SIZE];
    struct line line;
    line.len = 0;
    culex__log_format_time(culex__env_clock_ms(log->env), time);
    if (vsnprintf(text, sizeof text, format, list) < 0)
        text[0] = '\0';
    if (log->format == CULEX_LOG_JSON)
        line_put_json(&line, time, level, subject, text);
    else
        line_put_text(&line, time, level, subject, text);
    line.text[line.len++] = '\n';
    log->sink.write(log->sink.self, line.text, line.len);
}

void culex__log_write(const struct culex_log *log, int level,
                      const struct culex_log_subject *subject, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    culex__log_write_list(log, level, subject, format, list);
    va_end(list);
}

/* A log line that cannot be written is lost: there is nobody to tell. */
static void stderr_write(void *self, const char *line, size_t len)
{
    (void)self;
    while (len > 0) {
        ssize_t put = write(STDERR_FILENO, line, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return;
        line += put;
        len -= (size_t)put;
    }
}

struct culex_log_sink culex__log_stderr(void)
{
    return (struct culex_log_sink){stderr_write, NULL};
}

void culex__log_mask_url(const char *url, char *ret_text, size_t size)
{
    size_t at = 0, len;
    const char *from = url;
    for (const char *secret;
         at < size && (secret = culex__store_url_secret(url, from, &len)) != NULL;
         from = secret + len)
        at += (size_t)snprintf(ret_text + at, size - at, "%.*s***", (int)(secret - from), from);
    if (at < size)
        snprintf(ret_text + at, size - at, "%s", from);
}
