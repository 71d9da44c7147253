/* base/buf.h - writing into a culex_buf (culex/codec.h): a growing text with a bound. */
#ifndef CULEX_BASE_BUF_H
#define CULEX_BASE_BUF_H

#include <culex/codec.h>

/* Makes room for `more` bytes and a NUL behind `data[len]`, so that the caller may write there
 * and add to `len`. CULEX_ELIMIT when `len + more` passes `max`, CULEX_ENOMEM. */
culex_status culex__buf_reserve(culex_buf *buf, size_t more);

/* Appends `len` bytes. As above; on failure `buf` is as it was. */
culex_status culex__buf_append(culex_buf *buf, const void *bytes, size_t len);

/* Cuts the text to `len` bytes, at most those that it has. */
void culex__buf_cut(culex_buf *buf, size_t len);

#endif
