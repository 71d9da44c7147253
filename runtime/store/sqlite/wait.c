/* store/sqlite/wait.c - WAIT, which tells states and notes who waits for the ends.
 *
 * Who is waited for is a run of its own from then on (sqlite/body.h), so that blocks and the steps
 * on them know nothing of waits. A note has the address of the handle's door (sqlite/wake.c); what
 * becomes of it is in sqlite/waiters.c. */
#include <assert.h>

#include "store/argument.h"
#include "store/sqlite/body.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/verb.h"
#include "store/sqlite/verbs.h"
#include "store/sqlite/waiters.h"
#include "store/sqlite/wake.h"

/* --- WAIT --------------------------------------------------------------------------------- */

struct wait_request {
    const culex_uuid *ids;
    size_t count;
    int64_t note_ms; /* 0: nothing is noted */
    culex_run_state *states;
};

static culex_status note_write(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               int64_t seq, int64_t note_ms, const char *address,
                               culex_error *error)
{
    int64_t until_ms;
    bool has_place = true;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, WAIT_UNTIL, SQL_INT(seq), SQL_TEXT(address)), 0, &until_ms, error);
    if (status == CULEX_OK && until_ms == 0)
        status = culex__sqlite_waiters_make_place(store, seq, &has_place, error);
    if (status != CULEX_OK || !has_place || until_ms > store->now_ms + note_ms / 2)
        return status;
    if (queue->waits == 0) {
        queue->waits = 1;
        queue->is_changed = true;
    }
    return culex__sqlite_finish(store,
                                SQL_BIND(store, WAIT_SET, SQL_INT(queue->key), SQL_INT(seq),
                                         SQL_TEXT(address), SQL_INT(store->now_ms + note_ms)),
                                error);
}

static culex_status wait_all(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             void *user, culex_error *error)
{
    const struct wait_request *request = user;
    const char *address = culex__sqlite_wake_address(store);
    bool is_noted = request->note_ms > 0 && address != NULL;
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < request->count && status == CULEX_OK; i++) {
        culex_run_state *state = &request->states[i];
        *state = CULEX_RUN_STATE_COUNT;
        if (queue->key == 0)
            continue;
        status = culex__sqlite_state_find(store, queue, request->ids[i], is_noted, state, error);
        bool is_there = status == CULEX_OK;
        if (status == CULEX_ENOTFOUND)
            status = CULEX_OK;
        if (is_there && is_noted && !culex__run_state_is_final(*state))
            status = note_write(store, queue, culex__sqlite_queue_seq(queue, request->ids[i]),
                                request->note_ms, address, error);
    }
    return status;
}

culex_status culex__sqlite_wait(struct culex_store *base, const char *queue, const culex_uuid *ids,
                                size_t count, int64_t note_ms, culex_run_state *ret_states,
                                culex_error *error)
{
    struct wait_request request = {ids, count, note_ms, ret_states};
    assert(culex__argument_wait(queue, count, note_ms, NULL) == CULEX_OK);
    if (note_ms == 0)
        return culex__sqlite_verb_read(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_EMPTY,
                                       wait_all, &request, error);
    return culex__sqlite_verb_write(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_EMPTY,
                                    wait_all, &request, error);
}
