/* output.h - puts files in place. */
#ifndef CULEXC_OUTPUT_H
#define CULEXC_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Writes `content` as `path`: to a temporary file beside it, then by rename, so that
 * a reader sees the old file or the new one. Nothing is touched when the content is
 * the same. A symbolic link at `path` is replaced and never followed. False with
 * errno set; the temporary file is gone then. */
bool output_write(const char *path, const char *content, size_t len);

/* The same for a path that somebody spelled: a device, a pipe, or what a link leads to, as
 * /dev/stdout does, is written in place, and stays what it is. */
bool output_send(const char *path, const char *content, size_t len);

/* The same for a file that exists and that its user wrote: it keeps its mode and owner, and a
 * symbolic link at `path` stays; what it leads to is replaced. A file that may not be written is
 * left alone. */
bool output_replace(const char *path, const char *content, size_t len);
/* Whether `path` is a file with just this content. */
bool output_is_same(const char *path, const char *content, size_t len);

#endif
