/* ops/command/find.h - queues and runs by what the user wrote. */
#ifndef OPS_COMMAND_FIND_H
#define OPS_COMMAND_FIND_H

#include "command/command.h"
#include "command/print.h"
#include "command/value.h"

/* The names of all queues, in alphabetical order. */
struct ops_names {
    char **of; /* owned */
    size_t count;
};

culex_status ops_names_read(struct ops *ops, struct ops_names *ret_names, culex_error *error);
void ops_names_free(struct ops_names *names);

/* Adds to the table what it has of the queue, or prints it as JSON. */
typedef culex_status (*ops_queue_add)(struct ops *ops, const char *queue, struct ops_table *table,
                                      culex_error *error);

/* A table of the queues that the arguments name, or of all, as far as they can be read. */
culex_status ops_queues_print(struct ops *ops, const char *const *heads, ops_queue_add add,
                              culex_error *error);

/* Which runs the options mean. */
culex_list_filter ops_filter_make(const struct ops_options *options);

/* CULEX_EUSAGE for times with nothing between them, and such as no run can have. */
culex_status ops_filter_check(const struct ops_options *options, culex_error *error);

/* A run that the user named. */
struct ops_run {
    char queue[OPS_QUEUE_SIZE];
    culex_uuid id;
};

/* Finds its queue, where neither the text nor --queue tells it. CULEX_ENOTFOUND when no queue has
 * the run. */
culex_status ops_run_find(struct ops *ops, const char *text, struct ops_run *ret_run,
                          culex_error *error);
/* Whether all arguments are written as runs are, before the first is touched. */
culex_status ops_runs_check(const struct ops *ops, culex_error *error);
/* Of several runs, one that the store refuses is told on standard error, and the next one is tried:
 * CULEX_OK, and ops->code. Any other failure is the same status, named. */
culex_status ops_go_on(struct ops *ops, culex_status status, const char *text, culex_error *error);
/* As ops_run_find, and reads it: culex_run_info_free. */
culex_status ops_run_read(struct ops *ops, const char *text, struct ops_run *ret_run,
                          culex_run_info **ret_info, culex_error *error);

#endif
