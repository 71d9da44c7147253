#include "handler/kept_lines.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "core/run_log.h"

/* The room that many lines took is given back after the run. */
enum { KEEP_BYTES = 16 * 1024 };

void culex__kept_lines_init(struct culex_kept_lines *lines)
{
    culex_buf_init(&lines->bytes, 2 * CULEX_RUN_LOG_BYTES_MAX);
    lines->before = 0;
}

void culex__kept_lines_release(struct culex_kept_lines *lines)
{
    culex_buf_release(&lines->bytes);
}

void culex__kept_lines_reset(struct culex_kept_lines *lines)
{
    if (lines->bytes.cap > KEEP_BYTES)
        culex_buf_release(&lines->bytes);
    culex__buf_cut(&lines->bytes, 0);
    lines->before = 0;
}

static void front_cut(struct culex_kept_lines *lines, size_t len)
{
    assert(len <= lines->bytes.len);
    if (len == 0)
        return;
    memmove(lines->bytes.data, lines->bytes.data + len, lines->bytes.len - len);
    culex__buf_cut(&lines->bytes, lines->bytes.len - len);
    lines->before += len;
}

void culex__kept_lines_cut(struct culex_kept_lines *lines, uint32_t most)
{
    front_cut(lines, culex__run_log_excess(lines->bytes.data, lines->bytes.len, most));
}

size_t culex__kept_lines_fit(const struct culex_kept_lines *lines, size_t room)
{
    size_t len = lines->bytes.len < room ? lines->bytes.len : room;
    while (len > 0 && lines->bytes.data[len - 1] != '\n')
        len--;
    return len;
}

bool culex__kept_lines_is_line(const char *bytes, size_t len)
{
    struct culex_kept_line line;
    return len > 0 && culex__kept_line_read(bytes, len, &line) == len;
}

void culex__kept_lines_add(struct culex_kept_lines *lines, const char *line, size_t len)
{
    if (lines->bytes.len + len > lines->bytes.max)
        culex__kept_lines_cut(lines, CULEX_RUN_LINES_MAX);
    (void)culex__buf_append(&lines->bytes, line, len);
}

void culex__kept_lines_told(struct culex_kept_lines *lines, uint64_t end)
{
    uint64_t last = culex__kept_lines_end(lines);
    if (end > lines->before)
        front_cut(lines, (size_t)((end < last ? end : last) - lines->before));
}

void culex__kept_lines_move(struct culex_kept_lines *lines, struct culex_kept_lines *ret_lines)
{
    struct culex_kept_lines empty = *ret_lines;
    assert(ret_lines->bytes.len == 0);
    *ret_lines = *lines;
    *lines = empty;
    lines->before = culex__kept_lines_end(ret_lines);
}
