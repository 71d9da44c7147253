#include "store/sqlite/body.h"

#include <assert.h>
#include <string.h>

#include "store/sqlite/error.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "core/run_id.h"
#include "base/limits.h"

/* --- coming in ---------------------------------------------------------------------------- */

/* No producer of ours brings a longer one; such a run is granted as it is, and the worker tells
 * what is wrong with it. */
static bool kind_has_room_for(const char *job)
{
    return strnlen(job, CULEX_JOB_NAME_MAX + 1) <= CULEX_JOB_NAME_MAX;
}

bool culex__sqlite_body_fits(const struct culex_sqlite *store,
                             const struct culex_sqlite_queue *queue,
                             const struct culex_new_run *run)
{
    bool has_key = run->unique_key != NULL && run->unique_key[0] != '\0';
    return run->delay_ms <= 0 && run->at_ms == 0 && run->expires_ms <= 0 &&
           run->retry_for_ms <= 0 && !has_key && run->limit_count == 0 && !run->has_batch &&
           run->payload_len <= CULEX__SQLITE_INLINE_MAX && kind_has_room_for(run->job) &&
           store->now_ms >= queue->rear.newest_ms;
}

culex_status culex__sqlite_body_add(struct culex_sqlite *store,
                                    const struct culex_sqlite_queue *queue, culex_uuid id,
                                    int64_t kind, const struct culex_new_run *run,
                                    culex_error *error)
{
    const void *payload = run->payload_len > 0 ? run->payload : "";
    uint64_t checksum = culex__sqlite_checksum(id, run->job, payload, run->payload_len);
    return culex__sqlite_finish(store,
                                SQL_BIND(store, BODY_ADD,
                                         SQL_INT(culex__sqlite_queue_seq(queue, id)), SQL_INT(kind),
                                         SQL_INT(store->now_ms), SQL_INT((int64_t)checksum),
                                         SQL_BYTES(payload, run->payload_len)),
                                error);
}

/* --- one of them ---------------------------------------------------------------------------- */

/* CULEX_ENOTFOUND, without a text, when there is none. */
static culex_status body_id(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                            int64_t seq, culex_uuid *ret_id, culex_error *error)
{
    int64_t born_ms;
    culex_status status = culex__sqlite_first_int(store, SQL_BIND(store, BODY_BORN, SQL_INT(seq)),
                                                  INT64_MIN, &born_ms, error);
    if (status != CULEX_OK || born_ms == INT64_MIN)
        return status != CULEX_OK ? status : CULEX_ENOTFOUND;
    return culex__sqlite_queue_id_of(queue, seq, born_ms, ret_id)
               ? CULEX_OK
               : culex__sqlite_bad_row(store, error);
}

/* CULEX_ENOTFOUND too when its id is another one. */
static culex_status body_find(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                              culex_uuid id, culex_error *error)
{
    culex_uuid found;
    culex_status status = body_id(store, queue, culex__sqlite_queue_seq(queue, id), &found, error);
    if (status == CULEX_OK && memcmp(&found, &id, sizeof id) != 0)
        return CULEX_ENOTFOUND;
    return status;
}

culex_status culex__sqlite_body_state(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue, culex_uuid id,
                                      culex_run_state *ret_state, culex_error *error)
{
    struct culex_sqlite_stand stand;
    culex_status status = body_find(store, queue, id, error);
    if (status == CULEX_OK)
        status = culex__sqlite_stand_find(store, culex__sqlite_queue_seq(queue, id), &stand, error);
    if (status == CULEX_OK)
        *ret_state = stand.state;
    return status;
}

culex_status culex__sqlite_body_is_live(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, culex_uuid id,
                                        bool *ret_is_live, culex_error *error)
{
    culex_run_state state;
    culex_status status = culex__sqlite_body_state(store, queue, id, &state, error);
    *ret_is_live = status == CULEX_OK && !culex__run_state_is_final(state);
    return status == CULEX_ENOTFOUND ? CULEX_OK : status;
}

culex_status culex__sqlite_body_forget(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       int64_t seq, culex_error *error)
{
    queue->kept[CULEX_RUN_WAITING]--;
    queue->is_changed = true;
    return culex__sqlite_finish(store, SQL_BIND(store, BODY_DELETE, SQL_INT(seq)), error);
}

static culex_status body_own(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                             int64_t seq, const culex_uuid *id,
                             const struct culex_sqlite_stand *stand, culex_error *error)
{
    const struct culex_sqlite_block *block = &stand->block;
    bool is_held = stand->state == CULEX_RUN_ACTIVE, is_done = stand->state == CULEX_RUN_DONE;
    bool is_started = is_held && (block->started & culex__sqlite_block_bit(block->first, seq)) != 0;
    const char *owner = is_held ? block->session : is_done ? stand->end.session : "";
    int64_t at_ms = is_held ? block->lease_ms : stand->end.until_ms;
    int64_t since_ms = is_held ? block->since_ms + CULEX_TIMEOUT_SLACK_MS : 0;
    const struct culex_sqlite_value place =
        is_held || is_done ? SQL_INT(at_ms) : SQL_BYTES(NULL, 0);
    return culex__sqlite_finish(
        store,
        SQL_BIND(store, BODY_OWN, SQL_INT(seq), SQL_INT(queue->key), SQL_ID(id),
                 SQL_TEXT(culex__sqlite_state_text(stand->state)), SQL_INT(since_ms), place,
                 SQL_TEXT(owner), SQL_INT(is_started)),
        error);
}

culex_status culex__sqlite_body_adopt(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue, int64_t seq,
                                      culex_error *error)
{
    culex_uuid id;
    struct culex_sqlite_stand stand = {.state = CULEX_RUN_WAITING};
    culex_status status = body_id(store, queue, seq, &id, error);
    if (status == CULEX_OK)
        status = culex__sqlite_stand_find(store, seq, &stand, error);
    if (status == CULEX_OK)
        status = body_own(store, queue, seq, &id, &stand, error);
    if (status == CULEX_OK)
        status = culex__sqlite_finish(store, SQL_BIND(store, BODY_DELETE, SQL_INT(seq)), error);
    return status == CULEX_OK ? culex__sqlite_stand_leave(store, seq, &stand, error) : status;
}

/* The block's row is true again afterwards. */
static culex_status held_adopt(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               struct culex_sqlite_block *block, culex_error *error)
{
    int bit = culex__sqlite_bits_low(block->held);
    block->held &= block->held - 1;
    culex_status status = culex__sqlite_body_adopt(store, queue, block->first + bit, error);
    if (status != CULEX_ENOTFOUND)
        return status;
    queue->kept[CULEX_RUN_ACTIVE]--;
    queue->is_changed = true;
    return culex__sqlite_block_save(store, block, error);
}

culex_status culex__sqlite_block_adopt(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       struct culex_sqlite_block *block, size_t most,
                                       size_t *ret_count, culex_error *error)
{
    culex_status status = CULEX_OK;
    *ret_count = 0;
    if (block->held == 0) /* a damaged row */
        return culex__sqlite_block_save(store, block, error);
    while (status == CULEX_OK && block->held != 0 && *ret_count < most) {
        status = held_adopt(store, queue, block, error);
        ++*ret_count;
    }
    return status;
}

culex_status culex__sqlite_body_or_run(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue, culex_uuid id,
                                       struct culex_sqlite_run *ret_run, culex_error *error)
{
    int64_t seq = culex__sqlite_queue_seq(queue, id);
    const struct culex_sqlite_value key = SQL_INT(seq), name = SQL_ID(&id);
    culex_status status =
        culex__sqlite_run_one(store, SQL_BIND(store, RUN_FIND, key, name), ret_run, error);
    if (status != CULEX_ENOTFOUND)
        return status;
    status = body_find(store, queue, id, error);
    if (status == CULEX_OK)
        status = culex__sqlite_body_adopt(store, queue, seq, error);
    if (status == CULEX_OK)
        status = culex__sqlite_run_one(store, SQL_BIND(store, RUN_FIND, key, name), ret_run, error);
    return status;
}

culex_status culex__sqlite_state_find(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue, culex_uuid id,
                                      bool is_adopting, culex_run_state *ret_state,
                                      culex_error *error)
{
    struct culex_sqlite_run run;
    int64_t seq = culex__sqlite_queue_seq(queue, id);
    culex_status status = culex__sqlite_run_one(
        store, SQL_BIND(store, RUN_FIND, SQL_INT(seq), SQL_ID(&id)), &run, error);
    if (status == CULEX_OK)
        *ret_state = culex__sqlite_run_state(store, &run);
    if (status != CULEX_ENOTFOUND)
        return status;
    status = culex__sqlite_body_state(store, queue, id, ret_state, error);
    if (status == CULEX_OK && is_adopting && !culex__run_state_is_final(*ret_state))
        status = culex__sqlite_body_adopt(store, queue, seq, error);
    return status;
}

/* --- those of a lane -------------------------------------------------------------------------- */

culex_status culex__sqlite_bodies_find(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue, int64_t *lane,
                                       int64_t *ret_first, culex_error *error)
{
    const struct culex_sqlite_value first = SQL_INT(culex__sqlite_queue_first(queue));
    for (;;) {
        int64_t seq, taken = 0;
        int64_t last = culex__sqlite_queue_lane(queue, *lane) - 1;
        culex_status status = culex__sqlite_first_int(
            store, SQL_BIND(store, BODY_LAST, first, SQL_INT(last)), -1, &seq, error);
        *lane = seq < 0 ? -1 : (seq >> CULEX__SQLITE_LANE_SHIFT & CULEX_RUN_LANE_MAX);
        if (status == CULEX_OK && seq >= 0)
            status = culex__sqlite_lane_taken(store, queue, *lane, &taken, error);
        *ret_first = taken + 1;
        if (status != CULEX_OK || seq < 0 || seq > taken)
            return status;
    }
}

/* --- as runs -------------------------------------------------------------------------------- */

static bool is_body(sqlite3_stmt *statement)
{
    return sqlite3_column_type(statement, CULEX__SQLITE_COLUMN_id) == SQLITE_NULL;
}

static bool id_make(const struct culex_sqlite_queue *queue, sqlite3_stmt *statement,
                    culex_uuid *ret_id)
{
    int64_t seq = sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_seq);
    int64_t born_ms = sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_created_at_ms);
    return culex__sqlite_queue_id_of(queue, seq, born_ms, ret_id);
}

bool culex__sqlite_body_read(const struct culex_sqlite_queue *queue, sqlite3_stmt *statement,
                             struct culex_sqlite_run *ret_run, bool *ret_is_body)
{
    *ret_is_body = is_body(statement);
    return culex__sqlite_run_read(statement, ret_run) &&
           (!*ret_is_body || id_make(queue, statement, &ret_run->id));
}

void culex__sqlite_body_stands(struct culex_sqlite_run *run, const struct culex_sqlite_stand *stand)
{
    run->state = stand->state;
    if (stand->state == CULEX_RUN_WAITING)
        return;
    run->attempt = 1;
    run->at_ms = stand->state == CULEX_RUN_ACTIVE ? stand->block.lease_ms : stand->end.until_ms;
    if (stand->state == CULEX_RUN_DONE)
        run->payload_len = 0;
}

bool culex__sqlite_body_is(const struct culex_sqlite_queue *queue, sqlite3_stmt *statement,
                           culex_uuid id)
{
    culex_uuid made;
    return !is_body(statement) ||
           (id_make(queue, statement, &made) && memcmp(&made, &id, sizeof id) == 0);
}
