/* worker/spans.h - what a worker writes of its attempts for whoever follows traces (`--traces`).
 *
 * One span for each attempt that has begun here of a run whose trace is recorded, made by the
 * supervisor: so a handler that crashes has one, too. The loop puts them into a bounded text; a
 * thread of its own appends that to the file once a second, a request of OTLP/JSON a line, as the
 * file exporter of OpenTelemetry's collector does and its receiver `otlpjsonfile` reads; or sends
 * it to a collector. What finds
 * no room, or a disk that takes nothing, is dropped, counted and told in the log: no run waits for
 * any of it. The file is opened anew for each line, so who rotates it just moves it away. */
#ifndef CULEX_WORKER_SPANS_H
#define CULEX_WORKER_SPANS_H

#include <stdbool.h>

#include <culex/worker.h>

#include "worker/metrics.h"

struct culex_flight;
struct culex_spans;

/* Whether the options name a place that could be one. */
culex_status culex__spans_check(const culex_worker_options *options, culex_error *error);

/* Does nothing where the options name no file. CULEX_EUSAGE: it cannot be one. Behind the children,
 * which so do not know it. */
culex_status culex__spans_begin(culex_worker *worker, culex_error *error);

/* The attempt has ended so, as far as this worker is concerned. Of one that has not begun, and
 * without spans, it does nothing. */
void culex__spans_note(const struct culex_flight *flight, enum culex_metric_end end, bool is_dead);

/* Writes what is left. Does nothing without spans. */
void culex__spans_end(culex_worker *worker);

#endif
