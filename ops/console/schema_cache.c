#include "console/schema_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "command/print.h"
#include "console/clock.h"

enum { ENTRIES = 64, FRESH_MS = 2000 };

struct schema_cache {
    pthread_mutex_t lock;
    struct schema_entry *of[ENTRIES]; /* those that are free are NULL */
};

struct schema_cache *schema_cache_make(void)
{
    struct schema_cache *cache = ops_alloc(NULL, sizeof *cache);
    memset(cache, 0, sizeof *cache);
    pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

/* The cache is locked. */
static void entry_leave(struct schema_entry *entry)
{
    if (entry == NULL || --entry->users > 0)
        return;
    ops_schema_release(&entry->schema);
    free(entry);
}

static struct schema_entry *entry_find(struct schema_cache *cache, const char *queue,
                                       const char *job)
{
    struct schema_entry *found = NULL;
    pthread_mutex_lock(&cache->lock);
    for (size_t i = 0; i < ENTRIES && found == NULL; i++) {
        struct schema_entry *entry = cache->of[i];
        if (entry != NULL && strcmp(entry->queue, queue) == 0 && strcmp(entry->job, job) == 0 &&
            ms_now() - entry->read_at_ms < FRESH_MS)
            found = entry;
    }
    if (found != NULL)
        found->users++;
    pthread_mutex_unlock(&cache->lock);
    return found;
}

static bool is_of(const struct schema_entry *entry, const struct schema_entry *other)
{
    return entry == NULL ||
           (strcmp(entry->queue, other->queue) == 0 && strcmp(entry->job, other->job) == 0);
}

/* In the place of the one before it, else in a free one, else in that of the oldest. */
static void entry_keep(struct schema_cache *cache, struct schema_entry *entry)
{
    size_t place = 0;
    pthread_mutex_lock(&cache->lock);
    for (size_t i = 0; i < ENTRIES; i++) {
        if (is_of(cache->of[i], entry)) {
            place = i;
            break;
        }
        if (cache->of[i]->read_at_ms < cache->of[place]->read_at_ms)
            place = i;
    }
    entry_leave(cache->of[place]);
    cache->of[place] = entry;
    entry->users++;
    pthread_mutex_unlock(&cache->lock);
}

culex_status schema_cache_take(struct schema_cache *cache, struct ops *ops, const char *job,
                               struct schema_entry **ret_entry, culex_error *error)
{
    const char *queue = ops->options.queue;
    *ret_entry = entry_find(cache, queue, job);
    if (*ret_entry != NULL)
        return CULEX_OK;
    struct schema_entry *entry = ops_alloc(NULL, sizeof *entry);
    *entry = (struct schema_entry){.read_at_ms = ms_now(), .users = 1};
    culex_status status = ops_schema_of_job(ops, job, &entry->schema, error);
    if (status != CULEX_OK) {
        free(entry);
        return status;
    }
    snprintf(entry->queue, sizeof entry->queue, "%s", queue);
    snprintf(entry->job, sizeof entry->job, "%s", job);
    entry_keep(cache, entry);
    *ret_entry = entry;
    return CULEX_OK;
}

void schema_cache_give(struct schema_cache *cache, struct schema_entry *entry)
{
    pthread_mutex_lock(&cache->lock);
    entry_leave(entry);
    pthread_mutex_unlock(&cache->lock);
}

void schema_cache_free(struct schema_cache *cache)
{
    for (size_t i = 0; i < ENTRIES; i++)
        entry_leave(cache->of[i]);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}
