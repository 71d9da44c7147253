#include "store/sqlite/group.h"

#include <string.h>

#include "store/sqlite/block.h"
#include "store/sqlite/event_notes.h"
#include "store/sqlite/kind.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

/* Runs of a block that stand together in a request. */
struct group {
    struct culex_sqlite_block block;
    size_t count;
    int order[CULEX__SQLITE_BLOCK_MAX]; /* the bits, as they come in the request */
    int64_t bits;
    /* By bit: */
    const culex_uuid *ids[CULEX__SQLITE_BLOCK_MAX];
    int64_t keep_ms[CULEX__SQLITE_BLOCK_MAX]; /* -1: no such run, for all that its key tells */
};

static bool is_text(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* The group of the run `id`, if its block is the session's. CULEX_ENOTFOUND otherwise. */
static culex_status group_begin(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                const struct culex_step *step, culex_uuid id,
                                struct group *ret_group, culex_error *error)
{
    culex_status status =
        culex__sqlite_block_of(store, culex__sqlite_queue_seq(queue, id), &ret_group->block, error);
    ret_group->count = 0;
    ret_group->bits = 0;
    if (status == CULEX_OK && strcmp(ret_group->block.session, step->session) != 0)
        return CULEX_ENOTFOUND;
    return status;
}

/* False when the run is not one that its block holds, or is there already. */
static bool group_add(struct group *group, const struct culex_sqlite_queue *queue,
                      const culex_uuid *id)
{
    int64_t seq = culex__sqlite_queue_seq(queue, *id);
    int64_t bit = culex__sqlite_block_bit(group->block.first, seq) & group->block.held;
    if (bit == 0 || (group->bits & bit) != 0)
        return false;
    int at = (int)(seq - group->block.first);
    group->bits |= bit;
    group->ids[at] = id;
    group->keep_ms[at] = -1;
    group->order[group->count++] = at;
    return true;
}

/* A key alone does not tell a run: its id has its time in it as well. */
static bool is_wanted(const struct group *group, const struct culex_sqlite_queue *queue,
                      sqlite3_stmt *row, int64_t at)
{
    culex_uuid id;
    return (group->bits >> at & 1) != 0 &&
           culex__sqlite_queue_id_of(queue, group->block.first + at, sqlite3_column_int64(row, 1),
                                     &id) &&
           memcmp(&id, group->ids[at], sizeof id) == 0;
}

static culex_status body_confirm(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                 struct group *group, struct culex_sqlite_kind *kind,
                                 sqlite3_stmt *row, culex_error *error)
{
    int64_t at = sqlite3_column_int64(row, 0) - group->block.first;
    if (!is_wanted(group, queue, row, at))
        return CULEX_OK;
    culex_status status = culex__sqlite_kind_load(store, sqlite3_column_int64(row, 2), kind, error);
    if (status == CULEX_OK && kind->is_there)
        group->keep_ms[at] = kind->keep_success_ms > 0 ? kind->keep_success_ms : 0;
    return status;
}

static culex_status group_confirm(struct culex_sqlite *store,
                                  const struct culex_sqlite_queue *queue, struct group *group,
                                  culex_error *error)
{
    int64_t first = group->block.first;
    struct culex_sqlite_kind kind = {.key = 0};
    sqlite3_stmt *row =
        SQL_BIND(store, BODIES_KEPT, SQL_INT(first + culex__sqlite_bits_low(group->bits)),
                 SQL_INT(first + culex__sqlite_bits_high(group->bits)));
    int has = 0;
    culex_status status = CULEX_OK;
    while (status == CULEX_OK && (has = culex__sqlite_next(store, row, error)) > 0)
        status = body_confirm(store, queue, group, &kind, row, error);
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : status;
}

/* Only the first ones are left, up to one that is none or is kept for another time. */
static void group_cut(struct group *group)
{
    int64_t keep_ms = group->keep_ms[group->order[0]];
    size_t count = 0;
    group->bits = 0;
    while (keep_ms >= 0 && count < group->count && group->keep_ms[group->order[count]] == keep_ms)
        group->bits |= INT64_C(1) << group->order[count++];
    group->count = count;
}

/* --- acks ------------------------------------------------------------------------------------- */

static bool is_plain_ack(const struct culex_ack *ack)
{
    return ack->event == CULEX_EVENT_DONE && ack->attempt == 1 && ack->result_len == 0 &&
           !is_text(ack->progress) && ack->log.len == 0;
}

static culex_status group_leave(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                struct group *group, int64_t keep_ms, culex_error *error)
{
    struct culex_sqlite_block *block = &group->block;
    culex_status status;
    if (keep_ms > 0) {
        struct culex_sqlite_end end = {.first = block->first,
                                       .until_ms = culex__sqlite_later(store->now_ms, keep_ms),
                                       .runs = group->bits};
        memcpy(end.session, block->session, sizeof end.session);
        status = culex__sqlite_end_add(store, queue, &end, error);
    } else {
        status = culex__sqlite_block_bodies_delete(store, block->first, group->bits, error);
    }
    block->held &= ~group->bits;
    return status == CULEX_OK ? culex__sqlite_block_save(store, block, error) : status;
}

static void group_count(struct culex_sqlite_queue *queue, const struct group *group, bool is_kept)
{
    int64_t count = (int64_t)group->count;
    queue->kept[CULEX_RUN_ACTIVE] -= count;
    queue->kept[CULEX_RUN_DONE] += is_kept ? count : 0;
    queue->done += count;
    queue->is_changed = true;
}

culex_status culex__sqlite_group_ack(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                     const struct culex_step *step, size_t from, size_t *ret_count,
                                     culex_error *error)
{
    struct group group;
    *ret_count = 0;
    if (!is_plain_ack(&step->acks[from]))
        return CULEX_OK;
    culex_status status = group_begin(store, queue, step, step->acks[from].id, &group, error);
    if (status != CULEX_OK)
        return status == CULEX_ENOTFOUND ? CULEX_OK : status;
    for (size_t i = from; i < step->ack_count && is_plain_ack(&step->acks[i]); i++) {
        if (!group_add(&group, queue, &step->acks[i].id))
            break;
    }
    status = group_confirm(store, queue, &group, error);
    group_cut(&group);
    *ret_count = group.count;
    if (status != CULEX_OK || group.count == 0)
        return status;
    int64_t keep_ms = group.keep_ms[group.order[0]];
    group_count(queue, &group, keep_ms > 0);
    for (size_t i = 0; i < group.count; i++)
        culex__sqlite_event(store, queue, CULEX_EVENTS_DONE, *group.ids[group.order[i]], 1, NULL);
    return group_leave(store, queue, &group, keep_ms, error);
}

/* --- beats ------------------------------------------------------------------------------------ */

static bool is_plain_beat(const struct culex_beat *beat, const struct culex_sqlite_block *block)
{
    return beat->attempt == 1 && !is_text(beat->progress) && beat->log.len == 0 &&
           (beat->extend_ms <= 0 || block->timeout_ms == 0);
}

/* Would a run's own limit end its lease sooner? */
static bool is_limited(const struct culex_sqlite_block *block, int64_t lease_ms)
{
    int64_t limit_ms = culex__sqlite_later(block->since_ms, block->timeout_ms);
    return block->timeout_ms > 0 &&
           lease_ms > culex__sqlite_later(limit_ms, CULEX_TIMEOUT_SLACK_MS);
}

static void group_start(struct group *group, const struct culex_beat *beats)
{
    for (size_t i = 0; i < group->count; i++) {
        int64_t bit = INT64_C(1) << group->order[i];
        if (beats[i].is_excused)
            group->block.started &= ~bit;
        else if (beats[i].is_started)
            group->block.started |= bit;
    }
}

/* Is every run that the block holds in the group? */
static culex_status group_is_whole(struct culex_sqlite *store,
                                   const struct culex_sqlite_queue *queue, struct group *group,
                                   bool *ret_is_whole, culex_error *error)
{
    culex_status status = CULEX_OK;
    *ret_is_whole = group->bits == group->block.held;
    if (*ret_is_whole)
        status = group_confirm(store, queue, group, error);
    for (size_t i = 0; i < group->count && *ret_is_whole; i++)
        *ret_is_whole = group->keep_ms[group->order[i]] >= 0;
    return status;
}

culex_status culex__sqlite_group_beat(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue,
                                      const struct culex_step *step, size_t from, size_t *ret_count,
                                      culex_error *error)
{
    struct group group;
    bool is_whole;
    *ret_count = 0;
    int64_t lease_ms = culex__sqlite_later(store->now_ms, step->lease_ms);
    culex_status status = group_begin(store, queue, step, step->beats[from].id, &group, error);
    if (status != CULEX_OK || is_limited(&group.block, lease_ms))
        return status == CULEX_ENOTFOUND ? CULEX_OK : status;
    for (size_t i = from; i < step->beat_count; i++) {
        if (!is_plain_beat(&step->beats[i], &group.block) ||
            !group_add(&group, queue, &step->beats[i].id))
            break;
    }
    status = group_is_whole(store, queue, &group, &is_whole, error);
    if (status != CULEX_OK || !is_whole)
        return status;
    group_start(&group, &step->beats[from]);
    group.block.lease_ms = lease_ms;
    *ret_count = group.count;
    return culex__sqlite_block_save(store, &group.block, error);
}
