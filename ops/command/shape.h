/* ops/command/shape.h - what is told of queues, workers, schedules, schemas, limits and figures as
 * JSON: one shape each, for --json and for HTTP. */
#ifndef OPS_COMMAND_SHAPE_H
#define OPS_COMMAND_SHAPE_H

#include <culex/client.h>
#include <culex/figures.h>
#include <culex/limits.h>
#include <culex/maintain.h>
#include <culex/schedules.h>
#include <culex/schemas.h>
#include <culex/workers.h>

#include "command/print.h"

/* Runs that have not ended, as the store bounds them. */
uint64_t ops_queue_open(const culex_queue_stats *stats);
/* No more runs are taken in: it has as many as its bound. */
bool ops_queue_is_full(const culex_queue_stats *stats);
/* The members of a queue; `json` is within its object. `parked` as ops_parked_read counts them. */
void ops_queue_json(struct ops_json *json, const char *queue, const culex_queue_stats *stats,
                    uint64_t parked);
/* The others are objects without a name. */
void ops_worker_json(struct ops_json *json, const culex_worker_info *worker);

bool ops_schedule_has_run(const culex_schedule_info *schedule);
void ops_schedule_json(struct ops_json *json, const culex_schedule_info *schedule);
/* The fingerprint is a text: JSON has no numbers of 64 bits that all readers take. */
void ops_schema_json(struct ops_json *json, const char *queue, const culex_schema_info *schema);

/* Runs that one version of a schema has encoded. */
void ops_live_json(struct ops_json *json, const culex_live_schema *schema, bool with_ended);
const char *ops_limit_kind(culex_limit_kind kind);
void ops_limit_json(struct ops_json *json, const culex_limit_info *limit);
void ops_limit_key_json(struct ops_json *json, const culex_limit_key_info *key);
/* The member `name`, or an object without one. */
void ops_figures_json(struct ops_json *json, const char *name, const char *queue,
                      const culex_figures *figures);

void ops_enqueued_json(struct ops_json *json, culex_uuid id, const char *queue, const char *job,
                       culex_enqueue_outcome outcome);

#endif
