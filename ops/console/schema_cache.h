/* ops/console/schema_cache.h - schemas of jobs that were asked for, for a moment: an enqueue takes
 * one, and most enqueues are of few jobs. */
#ifndef OPS_CONSOLE_SCHEMA_CACHE_H
#define OPS_CONSOLE_SCHEMA_CACHE_H

#include "command/schema_find.h"

struct schema_cache;

/* One that is held. */
struct schema_entry {
    char queue[OPS_QUEUE_SIZE];
    char job[256];
    struct ops_schema schema;
    int64_t read_at_ms;
    unsigned users; /* the cache is one of them while it has the entry */
};

struct schema_cache *schema_cache_make(void);
/* As ops_schema_of_job, of the queue in ops->options, or of two seconds ago at the most. */
culex_status schema_cache_take(struct schema_cache *cache, struct ops *ops, const char *job,
                               struct schema_entry **ret_entry, culex_error *error);
void schema_cache_give(struct schema_cache *cache, struct schema_entry *entry);
void schema_cache_free(struct schema_cache *cache);

#endif
