/* handler/kept_lines.h - log lines of one attempt that the run is to keep, on their way to the
 * store: those that it has not been told of.
 *
 * A beat takes a copy along; once it is granted they are told, and go. What is then left goes with
 * the run's end. So each line comes to the store once: both are parts of a step, which is repeated
 * as it was. */
#ifndef CULEX_HANDLER_KEPT_LINES_H
#define CULEX_HANDLER_KEPT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <culex/codec.h>

struct culex_kept_lines {
    culex_buf bytes; /* as core/run_log.h has them */
    uint64_t before; /* bytes of the attempt before these: told, or too old to be kept */
};

void culex__kept_lines_init(struct culex_kept_lines *lines);
void culex__kept_lines_release(struct culex_kept_lines *lines);

/* Another attempt begins. */
void culex__kept_lines_reset(struct culex_kept_lines *lines);

/* Whether the bytes are one line and nothing else. */
bool culex__kept_lines_is_line(const char *bytes, size_t len);

/* Puts a line behind the others. One for which there is no memory is left out. */
void culex__kept_lines_add(struct culex_kept_lines *lines, const char *line, size_t len);

/* Cuts them to what a run may keep that keeps at most `most` lines. */
void culex__kept_lines_cut(struct culex_kept_lines *lines, uint32_t most);

/* How many bytes the first lines have that fit into `room` bytes. */
size_t culex__kept_lines_fit(const struct culex_kept_lines *lines, size_t room);

/* Where they end, for culex__kept_lines_told. */
static inline uint64_t culex__kept_lines_end(const struct culex_kept_lines *lines)
{
    return lines->before + lines->bytes.len;
}

/* The store has all up to `end`. */
void culex__kept_lines_told(struct culex_kept_lines *lines, uint64_t end);

/* Hands them over to `ret_lines`, which had none. */
void culex__kept_lines_move(struct culex_kept_lines *lines, struct culex_kept_lines *ret_lines);

#endif
