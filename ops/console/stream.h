/* ops/console/stream.h - /api/v1/stream: the queues' figures, once a second, to whoever listens.
 *
 * One reading is made for all: by the listener that first finds the last one to be a second old,
 * while the others wait for it. So nothing is read while nobody listens. A listener who takes his
 * readings slowly gets the newest one when he has taken what he was given; none is kept for him. */
#ifndef OPS_CONSOLE_STREAM_H
#define OPS_CONSOLE_STREAM_H

#include <sys/types.h>

#include "console/request.h"

struct streams;
struct stream;

enum { STREAMS_MAX = 1000 };

struct streams *streams_make(struct console *console);
void streams_free(struct streams *streams);

/* NULL: there are STREAMS_MAX, or as many as three of four connections; but there may always be
 * one. */
struct stream *stream_open(struct streams *streams);
/* The next bytes of text/event-stream; waits for them. 0: the server ends. Without a reading for
 * ten seconds it is a comment. */
size_t stream_next(struct stream *stream, char *ret_text, size_t size);
void stream_close(struct stream *stream);

#endif
