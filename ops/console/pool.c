#include "console/pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "command/print.h"
#include "console/clock.h"

enum { SLOTS = 4, RETRY_MS = 1000 };

struct slot {
    pthread_mutex_t lock;
    culex_client *client; /* NULL: not open */
    unsigned users;
    bool is_stale;        /* its file is another one now: opened anew when nobody uses it */
    int64_t next_open_ms; /* before which it is not tried again, as it could not be opened */
    culex_error what;     /* was wrong then */
};

struct pool {
    const char *url;
    const culex_client_options *options;
    struct slot slots[SLOTS];
};

struct pool *pool_make(const char *url, const culex_client_options *options)
{
    struct pool *pool = ops_alloc(NULL, sizeof *pool);
    *pool = (struct pool){.url = url, .options = options};
    for (size_t i = 0; i < SLOTS; i++)
        pthread_mutex_init(&pool->slots[i].lock, NULL);
    return pool;
}

/* The slot is locked. */
static culex_status slot_open(const struct pool *pool, struct slot *slot, culex_error *error)
{
    if (ms_now() < slot->next_open_ms) {
        *error = slot->what;
        return error->code;
    }
    culex_status status = culex_client_open(pool->url, pool->options, &slot->client, error);
    if (status != CULEX_OK) {
        slot->next_open_ms = ms_now() + RETRY_MS;
        slot->what = *error;
    }
    return status;
}

static culex_status slot_take(const struct pool *pool, struct slot *slot, culex_client **ret_client,
                              culex_error *error)
{
    culex_status status = CULEX_OK;
    pthread_mutex_lock(&slot->lock);
    if (slot->is_stale && slot->users == 0) {
        culex_client_close(slot->client);
        slot->client = NULL;
        slot->is_stale = false;
    }
    if (slot->client == NULL)
        status = slot_open(pool, slot, error);
    if (status == CULEX_OK) {
        slot->users++;
        *ret_client = slot->client;
    }
    pthread_mutex_unlock(&slot->lock);
    return status;
}

/* Of those for all else, the one that fewest use. What it reads is a guess, which is enough. */
static struct slot *slot_choose(struct pool *pool, enum pool_use use)
{
    struct slot *best = &pool->slots[use];
    unsigned least = 0;
    for (size_t i = POOL_OTHER; i < SLOTS && use == POOL_OTHER; i++) {
        pthread_mutex_lock(&pool->slots[i].lock);
        unsigned users = pool->slots[i].users;
        pthread_mutex_unlock(&pool->slots[i].lock);
        if (i == POOL_OTHER || users < least) {
            best = &pool->slots[i];
            least = users;
        }
    }
    return best;
}

culex_status pool_take(struct pool *pool, enum pool_use use, culex_client **ret_client,
                       culex_error *error)
{
    *ret_client = NULL;
    return slot_take(pool, slot_choose(pool, use), ret_client, error);
}

void pool_give(struct pool *pool, culex_client *client, culex_status status)
{
    for (size_t i = 0; i < SLOTS && client != NULL; i++) {
        struct slot *slot = &pool->slots[i];
        pthread_mutex_lock(&slot->lock);
        bool is_its = slot->client == client;
        slot->users -= is_its;
        slot->is_stale |= is_its && status == CULEX_EMOVED;
        pthread_mutex_unlock(&slot->lock);
        if (is_its)
            return;
    }
}

void pool_free(struct pool *pool)
{
    for (size_t i = 0; i < SLOTS; i++) {
        culex_client_close(pool->slots[i].client);
        pthread_mutex_destroy(&pool->slots[i].lock);
    }
    free(pool);
}
