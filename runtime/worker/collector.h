/* worker/collector.h - a collector of OpenTelemetry that takes traces as OTLP/JSON over HTTP.
 *
 * As little of HTTP/1.1 as a POST takes: one request a connection, and of the answer its first
 * line counts. Without TLS: a collector beside the worker takes what has to leave the machine. */
#ifndef CULEX_WORKER_COLLECTOR_H
#define CULEX_WORKER_COLLECTOR_H

#include <stdbool.h>

#include "platform/env.h"

struct culex_collector {
    char host[256]; /* without brackets */
    bool is_v6;
    int port;
    char path[256];
};

/* Whether it is no name of a file. */
bool culex__collector_is_url(const char *text);

/* "http://HOST[:4318][/v1/traces]". CULEX_EUSAGE, with nothing of it in the text. */
culex_status culex__collector_read(const char *url, struct culex_collector *ret_collector,
                                   culex_error *error);

/* CULEX_OK: it has taken the request. Else `error` says why, or that nothing is known. */
culex_status culex__collector_post(const struct culex_collector *collector,
                                   const struct culex_env *env,
                                   const struct culex_deadline *deadline, const char *body,
                                   size_t len, culex_error *error);

#endif
