/* ops/command/value.h - what stands behind an option, or as an argument. `name` is what a message
 * calls it. All fail with CULEX_EUSAGE. */
#ifndef OPS_COMMAND_VALUE_H
#define OPS_COMMAND_VALUE_H

#include <culex/client.h>

/* 0 to 2^63 - 1. */
culex_status ops_value_count(const char *name, const char *text, uint64_t *ret_count,
                             culex_error *error);
/* As ops_duration_read, and not less than 0. */
culex_status ops_value_duration(const char *name, const char *text, culex_duration *ret_duration,
                                culex_error *error);
/* A duration, which means so long ago; or a day, with or without a time in UTC. */
culex_status ops_value_time(const char *name, const char *text, culex_time *ret_time,
                            culex_error *error);
/* The latter alone, and to come. */
culex_status ops_value_instant(const char *name, const char *text, culex_time *ret_time,
                               culex_error *error);
/* Names of states with commas between them, as CULEX_LIST_STATE bits. */
culex_status ops_value_states(const char *name, const char *text, unsigned *ret_states,
                              culex_error *error);
/* A queue's name, as far as its length goes; which letters it has is the library's. */
enum { OPS_QUEUE_SIZE = 65 };
culex_status ops_value_queue(const char *name, const char *text, char ret_queue[OPS_QUEUE_SIZE],
                             culex_error *error);
/* "ID" or "QUEUE/ID"; `ret_queue` is "" without one. */
culex_status ops_value_run(const char *text, char ret_queue[OPS_QUEUE_SIZE], culex_uuid *ret_id,
                           culex_error *error);

#endif
