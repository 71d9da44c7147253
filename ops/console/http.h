/* ops/console/http.h - the server itself, by libmicrohttpd: connections, their bounds, headers.
 *
 * Each connection has a thread: calls of the store block, those that enqueue at the same time go
 * to it together, and whoever waits for an end costs a stack. What a connection may cost is
 * bounded: their number, the bytes of a request and of all bodies, and the time for each part of a
 * request, however slowly its bytes come. */
#ifndef OPS_CONSOLE_HTTP_H
#define OPS_CONSOLE_HTTP_H

#include "console/request.h"

struct http;

/* Serves whoever connects to `fd`, which listens and becomes the server's. NULL when it cannot. */
struct http *http_start(int fd, struct console *console);
/* Takes in nobody more, lets those at work finish for some seconds, and closes all. */
void http_stop(struct http *http);

#endif
