/* ops/command/source.h - a queue that runs are taken from, for export and import. */
#ifndef OPS_COMMAND_SOURCE_H
#define OPS_COMMAND_SOURCE_H

#include "command/find.h"
#include "command/record.h"

/* What is known of the queue beside its runs. */
struct ops_source {
    culex_client *client;
    const char *queue;
    culex_queue_stats stats;
    struct ops_source_limit {
        char *name; /* owned */
        culex_limit_kind kind;
        culex_limit_value declared, set; /* count 0: nobody has set it */
    } * limits;                          /* owned */
    size_t limit_count;
    uint64_t metadata;  /* jobs that keep some */
    uint64_t schedules; /* that are paused */
};

/* The names among those of the store that the arguments mean: all for none; one may be a pattern
 * with * and ?. CULEX_ENOTFOUND for one that means none. */
culex_status ops_source_names(struct ops *ops, culex_client *client, struct ops_names *ret_names,
                              culex_error *error);
/* Whether an argument of the command means this queue; each of them for none. */
bool ops_source_is_meant(const struct ops *ops, const char *queue);

/* `queue` is borrowed. ops_source_free in any case. */
culex_status ops_source_read(culex_client *client, const char *queue, struct ops_source *ret_source,
                             culex_error *error);
void ops_source_free(struct ops_source *source);

/* How many of its runs are in these states. */
uint64_t ops_source_count(const struct ops_source *source, unsigned states);

/* Reads a run, of which *ret_record borrows from *ret_info: culex_run_info_free. CULEX_ENOTFOUND
 * when it is gone by now. */
culex_status ops_source_run(struct ops_source *source, culex_uuid id, struct ops_record *ret_record,
                            culex_run_info **ret_info, culex_error *error);

/* Called with the ids of a page; CULEX_OK to go on. */
typedef culex_status (*ops_source_page)(void *user, const culex_uuid *ids, size_t count,
                                        culex_error *error);
/* All runs in `state`, page by page: as culex_client_list. */
culex_status ops_source_walk(const struct ops_source *source, culex_run_state state,
                             ops_source_page page, void *user, culex_error *error);

#endif
