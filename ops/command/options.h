/* ops/command/options.h - the options of culex(1), read from the command line. */
#ifndef OPS_COMMAND_OPTIONS_H
#define OPS_COMMAND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <culex/client.h>

/* At least as many as there are options; a few bytes more cost nothing. */
enum { OPS_OPTIONS_MAX = 128 };

/* What was given; {0} is nothing. Texts are those of the command line. */
struct ops_options {
    const char *url, *url_file, *prefix, *queue, *job, *tag, *error_part, *from, *by, *waiting_age,
        *dead_runs, *overdue, *no_worker, *full, *paused, *unoffered, *given_back, *schema, *key,
        *payload, *from_file, *traceparent, *keys, *listen, *base, *host, *tokens, *audit;
    culex_duration store_timeout, timeout, duration, delay, interval;
    culex_time since, before, at;
    uint64_t limit, priority, burst, hours, keep, bytes, connections;
    unsigned states; /* CULEX_LIST_STATE bits */
    bool wants_json, wants_help, wants_version, is_all, is_dry, is_sure, wants_params, is_of_dead,
        is_watching, is_following, is_repairing, with_ended, is_wide, is_once, is_verbose, is_move,
        is_copy, is_old, is_read_only, wants_openapi;
    bool is_given[OPS_OPTIONS_MAX]; /* by the row of the table: see ops_is_given */
};

/* Those of `culex console`, which another program reads. */
#define OPS_CONSOLE_OPTIONS "listen base host tokens read-only audit connections openapi"

/* Whether an option was given: ops_is_given(&options, "keep"). */
bool ops_is_given(const struct ops_options *options, const char *name);

/* Reads the options among argv[1..argc-1], wherever they stand, and moves the words that are left
 * to the front of argv: *ret_count of them, of which the first is the command. "--" ends the
 * options. Texts stay those of argv. Fails with CULEX_EUSAGE. */
culex_status ops_options_read(int argc, char **argv, struct ops_options *ret_options,
                              size_t *ret_count, culex_error *error);
/* CULEX_EUSAGE for one that was given and is not among `names`, which stand between blanks. */
culex_status ops_options_check(const struct ops_options *options, const char *command,
                               const char *names, culex_error *error);
/* Whether an option of this name, without its dashes, has a value. */
bool ops_option_has_value(const char *name);
/* A line for each option of `names`, and of all commands, that begins with `word`. */
void ops_options_offer(const char *names, const char *word);
/* A line for each of `names`, or for those that go with every command. */
void ops_options_help(FILE *out, const char *names);
void ops_options_help_global(FILE *out);

#endif
