#include "store/sqlite/verb.h"

#include <assert.h>

#include "store/sqlite/event_notes.h"
#include "store/sqlite/ledger.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/transaction.h"
#include "store/sqlite/wake.h"
#include "store/refusal.h"
#include "core/queue_name.h"

static culex_status load(struct culex_sqlite *store, const char *name,
                         enum culex_sqlite_absent absent, struct culex_sqlite_queue *ret_queue,
                         culex_error *error)
{
    assert(culex__queue_check(name, NULL) == CULEX_OK);
    culex_status status = culex__sqlite_queue_load(store, name, absent == CULEX__SQLITE_ABSENT_MADE,
                                                   ret_queue, error);
    if (status == CULEX_OK && ret_queue->key == 0 && absent == CULEX__SQLITE_ABSENT_REFUSED)
        return culex__refuse_queue(name, error);
    return status;
}

/* As verb_within, leaving the row in *queue. */
static culex_status run(struct culex_sqlite *store, const char *name,
                        enum culex_sqlite_absent absent, culex_sqlite_verb_fn verb, void *request,
                        struct culex_sqlite_queue *queue, culex_error *error)
{
    culex_status status = load(store, name, absent, queue, error);
    culex__sqlite_events_clear(store);
    if (status == CULEX_OK)
        status = verb(store, queue, request, error);
    if (status == CULEX_OK)
        status = culex__sqlite_ledger_save(store, queue, error);
    culex__sqlite_ledger_clear(store);
    if (status == CULEX_OK)
        status = culex__sqlite_events_save(store, queue, error);
    culex__sqlite_events_clear(store);
    return status == CULEX_OK ? culex__sqlite_queue_save(store, queue, error) : status;
}

culex_status culex__sqlite_verb_within(struct culex_sqlite *store, const char *name,
                                       enum culex_sqlite_absent absent, culex_sqlite_verb_fn verb,
                                       void *request, culex_error *error)
{
    struct culex_sqlite_queue queue;
    return run(store, name, absent, verb, request, &queue, error);
}

/* As verb_within. When it has made work, those are aimed at who are to be told. */
static culex_status run_and_aim(struct culex_sqlite *store, const char *name,
                                enum culex_sqlite_absent absent, culex_sqlite_verb_fn verb,
                                void *request, bool *ret_has_work, culex_error *error)
{
    struct culex_sqlite_queue queue;
    store->wake.bells.count = 0;
    culex_status status = run(store, name, absent, verb, request, &queue, error);
    bool is_paused = culex__sqlite_queue_is_paused(store, &queue);
    bool is_ready = queue.has_news || (queue.has_new_work && !is_paused);
    bool is_told = is_ready || (store->wake.bells.count > 0 && !is_paused);
    *ret_has_work = status == CULEX_OK && is_told;
    return *ret_has_work ? culex__sqlite_wake_aim(store, name, is_ready, error) : status;
}

culex_status culex__sqlite_verb_part(struct culex_sqlite *store, const char *name,
                                     enum culex_sqlite_absent absent, culex_sqlite_verb_fn verb,
                                     void *request, struct culex_sqlite_aim *ret_aim,
                                     culex_error *error)
{
    bool has_work;
    culex_status status = run_and_aim(store, name, absent, verb, request, &has_work, error);
    if (status == CULEX_OK && has_work)
        culex__sqlite_wake_put_off(store, ret_aim);
    else
        ret_aim->target_count = ret_aim->bells.count = 0;
    return status;
}

culex_status culex__sqlite_verb_write(struct culex_sqlite *store, const char *name,
                                      enum culex_sqlite_absent absent, culex_sqlite_verb_fn verb,
                                      void *request, culex_error *error)
{
    bool has_work;
    culex_status status = culex__sqlite_begin(store, error);
    if (status != CULEX_OK)
        return status;
    status = run_and_aim(store, name, absent, verb, request, &has_work, error);
    status = culex__sqlite_end_transaction(store, status, error);
    if (status == CULEX_OK && has_work)
        culex__sqlite_wake_send(store);
    culex__sqlite_wake_tell(store, status == CULEX_OK);
    return status;
}

culex_status culex__sqlite_verb_read(struct culex_sqlite *store, const char *name,
                                     enum culex_sqlite_absent absent, culex_sqlite_verb_fn verb,
                                     void *request, culex_error *error)
{
    struct culex_sqlite_queue queue;
    culex_status status = culex__sqlite_begin_read(store, error);
    if (status != CULEX_OK)
        return status;
    status = load(store, name, absent, &queue, error);
    if (status == CULEX_OK)
        status = verb(store, &queue, request, error);
    return culex__sqlite_end_transaction(store, status, error);
}
