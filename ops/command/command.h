/* ops/command/command.h - a command of culex(1), and what it is given.
 *
 * Each command is one function that calls the client's public functions and prints; main.c finds
 * it, reads its options and opens the store. */
#ifndef OPS_COMMAND_COMMAND_H
#define OPS_COMMAND_COMMAND_H

#include <culex/culex.h>

#include "command/end.h"
#include "command/fail.h"
#include "command/options.h"

struct ops_command;

/* One call of the program. */
struct ops {
    const struct ops_command *command;
    struct ops_options options;
    const char *const *arguments;
    size_t argument_count;
    culex_client *client; /* NULL for a command that opens the store itself */
    int code;             /* of the program's end, when the command is CULEX_OK */
    char *job;            /* owned: options.job as the store has it, NULL: as it was given */
    char **words;         /* of the command line, as they were given; ends with NULL */
};

/* What of `error` is told on standard error, when that is not CULEX_OK. CULEX_EUSAGE for what the
 * user has to write otherwise. */
typedef culex_status (*ops_command_fn)(struct ops *ops, culex_error *error);

struct ops_command {
    const char *name;
    const char *arguments; /* as the help shows them */
    const char *summary;   /* one line */
    const char *details;   /* more of them, or NULL */
    const char *options;   /* names of those that it takes, between blanks */
    size_t least, most;    /* arguments */
    bool is_storeless;
    ops_command_fn run;
};

/* All of them, in the order of the help; the last one has no name. */
extern const struct ops_command ops_commands[];

/* --- the commands, by their files --------------------------------------------------------------
 */

culex_status ops_queues(struct ops *ops, culex_error *error);
culex_status ops_runs(struct ops *ops, culex_error *error);
culex_status ops_show(struct ops *ops, culex_error *error);
culex_status ops_wait(struct ops *ops, culex_error *error);
culex_status ops_enqueue(struct ops *ops, culex_error *error);
culex_status ops_retry(struct ops *ops, culex_error *error);
culex_status ops_cancel(struct ops *ops, culex_error *error);
culex_status ops_delete(struct ops *ops, culex_error *error);
culex_status ops_purge(struct ops *ops, culex_error *error);
culex_status ops_move(struct ops *ops, culex_error *error);
culex_status ops_pause(struct ops *ops, culex_error *error);
culex_status ops_resume(struct ops *ops, culex_error *error);
culex_status ops_capacity(struct ops *ops, culex_error *error);
culex_status ops_limit(struct ops *ops, culex_error *error);
culex_status ops_schedules(struct ops *ops, culex_error *error);
culex_status ops_schemas(struct ops *ops, culex_error *error);
culex_status ops_schema(struct ops *ops, culex_error *error);
culex_status ops_workers(struct ops *ops, culex_error *error);
culex_status ops_stats(struct ops *ops, culex_error *error);
culex_status ops_events(struct ops *ops, culex_error *error);
culex_status ops_doctor(struct ops *ops, culex_error *error);
culex_status ops_fsck(struct ops *ops, culex_error *error);
culex_status ops_live(struct ops *ops, culex_error *error);
culex_status ops_export(struct ops *ops, culex_error *error);
culex_status ops_import(struct ops *ops, culex_error *error);
culex_status ops_check(struct ops *ops, culex_error *error);
culex_status ops_bench(struct ops *ops, culex_error *error);
culex_status ops_top(struct ops *ops, culex_error *error);
culex_status ops_console(struct ops *ops, culex_error *error);

/* Prints what a failure is to a monitor, and returns the exit status for that. */
int ops_check_failed(culex_status status, const culex_error *error, bool is_json);

#endif
