#include "core/run_log.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "core/number.h"

/* --- one line ------------------------------------------------------------------------------ */

size_t culex__kept_line_write(char ret_bytes[CULEX_KEPT_LINE_SIZE],
                              const struct culex_kept_line *line)
{
    char text[CULEX_KEPT_LINE_MAX + 1];
    size_t len = culex__utf8_clean(text, sizeof text, line->text, line->len);
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\n' || text[i] == '\t')
            text[i] = ' ';
    }
    int head = snprintf(ret_bytes, CULEX_KEPT_LINE_SIZE, "%" PRId64 "|%" PRIu32 "|%d|",
                        line->ms > 0 ? line->ms : 0, line->attempt, line->level);
    assert(head > 0 && (size_t)head + len < CULEX_KEPT_LINE_SIZE);
    memcpy(ret_bytes + head, text, len);
    ret_bytes[(size_t)head + len] = '\n';
    return (size_t)head + len + 1;
}

size_t culex__failure_line_write(char ret_bytes[CULEX_KEPT_LINE_SIZE], int64_t ms, uint32_t attempt,
                                 enum culex_run_event event, const char *text)
{
    char words[CULEX_KEPT_LINE_MAX + 8]; /* more than a line keeps */
    const char *word = event == CULEX_EVENT_CRASH  ? ""
                       : event == CULEX_EVENT_LOSS ? "lost: "
                                                   : "failed: ";
    snprintf(words, sizeof words, "%s%s", word, text);
    const struct culex_kept_line line = {
        .ms = ms, .attempt = attempt, .level = 1, .text = words, .len = strlen(words)};
    return culex__kept_line_write(ret_bytes, &line);
}

/* A number, and the bar behind it; returns how many bytes that takes, 0 for anything else. */
static size_t number_read(const char *bytes, size_t len, int64_t most, int64_t *ret_number)
{
    const char *bar = memchr(bytes, '|', len < 24 ? len : 24);
    if (bar == NULL || !culex__int64_parse(bytes, (size_t)(bar - bytes), ret_number) ||
        *ret_number < 0 || *ret_number > most)
        return 0;
    return (size_t)(bar - bytes) + 1;
}

size_t culex__kept_line_read(const char *bytes, size_t len, struct culex_kept_line *ret_line)
{
    const int64_t most[] = {INT64_MAX / 1000000, UINT32_MAX, 4}; /* an instant in ns, too */
    int64_t numbers[3] = {0};
    const char *stop = len > 0 ? memchr(bytes, '\n', len) : NULL;
    size_t whole = stop != NULL ? (size_t)(stop - bytes) : 0, at = 0;
    for (int i = 0; i < 3; i++) {
        size_t used = number_read(bytes + at, whole - at, most[i], &numbers[i]);
        if (used == 0)
            return 0;
        at += used;
    }
    *ret_line = (struct culex_kept_line){.ms = numbers[0],
                                         .attempt = (uint32_t)numbers[1],
                                         .level = (int)numbers[2],
                                         .text = bytes + at,
                                         .len = whole - at};
    bool is_good = numbers[2] > 0 && ret_line->len <= CULEX_KEPT_LINE_MAX &&
                   culex__utf8_is_line(ret_line->text, ret_line->len);
    return is_good ? whole + 1 : 0;
}

/* --- several ------------------------------------------------------------------------------- */

bool culex__run_log_is_valid(const char *bytes, size_t len)
{
    struct culex_kept_line line;
    if (len > CULEX_RUN_LOG_BYTES_MAX)
        return false;
    for (size_t at = 0, used; at < len; at += used) {
        used = culex__kept_line_read(bytes + at, len - at, &line);
        if (used == 0)
            return false;
    }
    return true;
}

size_t culex__run_log_excess(const char *bytes, size_t len, uint32_t most)
{
    size_t lines = 0, from = len;
    while (from > 0) {
        size_t next = from - 1; /* at the newline of the line before those that stay */
        while (next > 0 && bytes[next - 1] != '\n')
            next--;
        if (lines == most || len - next > CULEX_RUN_LOG_BYTES_MAX)
            break;
        lines++;
        from = next;
    }
    return from;
}
