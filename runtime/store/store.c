/* store/store.c - the verbs as callers have them: arguments are checked before a store is asked,
 * and a file that may not grow is an error and no signal. */
#include "store/store.h"

#include <assert.h>

#include "store/argument.h"
#include "base/error.h"
#include "core/queue_name.h"
#include "platform/file_limit.h"

static culex_status lacking(const struct culex_store *store, culex_error *error)
{
    const char *words = store->table->lacks;
    return culex__fail(error, CULEX_EUNSUPPORTED, "%s",
                       words != NULL ? words : "this store cannot do that");
}

#define VERB_OF_PRODUCERS(name, effect, parameters, arguments, check)                              \
    static culex_status checked_##name parameters                                                  \
    {                                                                                              \
        culex_status status = check;                                                               \
        if (status != CULEX_OK)                                                                    \
            return status;                                                                         \
        if (store->table->name == NULL)                                                            \
            return lacking(store, error);                                                          \
        struct culex_file_limit held = culex__file_limit_enter();                                  \
        status = store->table->name arguments;                                                     \
        culex__file_limit_leave(held);                                                             \
        return status;                                                                             \
    }
#ifdef CULEX_PRODUCER_ONLY /* what a producer lacks is not checked either */
#define VERB(name, effect, parameters, arguments, check)                                           \
    static culex_status checked_##name parameters                                                  \
    {                                                                                              \
        (void)sizeof(store->table->name arguments);                                                \
        return lacking(store, error);                                                              \
    }
#else
#define VERB VERB_OF_PRODUCERS
#endif
#include "store/verbs.def"
#undef VERB

#ifndef CULEX_PRODUCER_ONLY
static bool step_send(struct culex_store *store, const struct culex_step *step)
{
    return store->table->step_send != NULL && culex__argument_step(step, NULL) == CULEX_OK &&
           store->table->step_send(store, step);
}
#endif

static void step_release(struct culex_store *store, struct culex_step_reply *reply)
{
    store->table->step_release(store, reply);
}

static void list_release(struct culex_store *store, struct culex_list_reply *reply)
{
    store->table->list_release(store, reply);
}

static void wake_disarm(struct culex_store *store)
{
    struct culex_file_limit held = culex__file_limit_enter();
    store->table->wake_disarm(store);
    culex__file_limit_leave(held);
}

static void store_close(struct culex_store *store)
{
    struct culex_file_limit held = culex__file_limit_enter();
    store->table->close(store);
    culex__file_limit_leave(held);
}

static void store_abandon(struct culex_store *store)
{
    if (store->table->abandon != NULL)
        store->table->abandon(store);
    else
        store->table->close(store);
}

void culex__store_init(struct culex_store *store, const struct culex_store_ops *table,
                       const struct culex_env *env, const atomic_int_fast64_t *until_ns)
{
    static const struct culex_store_ops checked = {
#define VERB(name, effect, parameters, arguments, check) .name = checked_##name,
#include "store/verbs.def"
#undef VERB
#ifndef CULEX_PRODUCER_ONLY
        .step_send = step_send,
#endif
        .step_release = step_release,
        .list_release = list_release,
        .wake_disarm = wake_disarm,
        .close = store_close,
        .abandon = store_abandon,
    };
    assert(table->now != NULL && table->close != NULL); /* what no store may leave out */
    /* What a verb needs beside it, callers do not look for again. */
    assert(table->step == NULL || table->step_release != NULL);
    assert(table->list == NULL || table->list_release != NULL);
    assert(table->wake_arm == NULL || (table->wake_take != NULL && table->wake_disarm != NULL));
    assert(table->wait_arm == NULL || (table->wake_take != NULL && table->wake_disarm != NULL));
    *store = (struct culex_store){.ops = &checked,
                                  .table = table,
                                  .env = env,
                                  .until_ns = until_ns,
                                  .sends_ahead = table->step_send != NULL};
}

void culex__store_abandon(struct culex_store *store)
{
    if (store->ops->abandon != NULL)
        store->ops->abandon(store);
    else
        store->ops->close(store);
}

void culex__store_place_tell(const struct culex_store *store, char *ret_text, size_t size)
{
    ret_text[0] = '\0';
    if (store->table->place_tell != NULL)
        store->table->place_tell(store, ret_text, size);
}
