/* text.h - reads whole files other than schemas. */
#ifndef CULEXC_TEXT_H
#define CULEXC_TEXT_H

#include "buf.h"

/* Appends what is in `path` ("-": standard input). NULL, or why it cannot be read or is more than
 * `limit` bytes. */
const char *text_read(const char *path, size_t limit, struct buf *buf);

/* The same of an open file. */
const char *text_read_fd(int fd, size_t limit, struct buf *buf);

#endif
