#include "store/sqlite/block.h"

#include <assert.h>
#include <string.h>

#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

/* --- bits ------------------------------------------------------------------------------------- */

int culex__sqlite_bits_low(int64_t bits)
{
    int low = 0;
    assert(bits > 0);
    while ((bits >> low & 1) == 0)
        low++;
    return low;
}

int culex__sqlite_bits_high(int64_t bits)
{
    int high = 0;
    assert(bits > 0);
    while (bits >> high > 1)
        high++;
    return high;
}

int culex__sqlite_bits_count(int64_t bits)
{
    int count = 0;
    assert(bits >= 0);
    for (; bits != 0; bits &= bits - 1)
        count++;
    return count;
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* What a damaged row holds is nobody's, and a block of nobody loses its lease as any other. */
static void session_read(sqlite3_stmt *row, int column,
                         char (*ret_session)[CULEX__SQLITE_SESSION_SIZE])
{
    const char *session = (const char *)sqlite3_column_text(row, column);
    bool is_good =
        session != NULL && sqlite3_column_bytes(row, column) < CULEX__SQLITE_SESSION_SIZE;
    strcpy(*ret_session, is_good ? session : "");
}

static int64_t bits_read(sqlite3_stmt *row, int column)
{
    int64_t bits = sqlite3_column_int64(row, column);
    return bits > 0 ? bits : 0;
}

static void block_read(sqlite3_stmt *row, struct culex_sqlite_block *ret_block)
{
    ret_block->first = sqlite3_column_int64(row, 0);
    ret_block->since_ms = sqlite3_column_int64(row, 1);
    ret_block->lease_ms = sqlite3_column_int64(row, 2);
    ret_block->timeout_ms = sqlite3_column_int64(row, 3);
    ret_block->held = bits_read(row, 4);
    ret_block->started = bits_read(row, 5);
    session_read(row, 6, &ret_block->session);
}

culex_status culex__sqlite_block_add(struct culex_sqlite *store,
                                     const struct culex_sqlite_queue *queue,
                                     const struct culex_sqlite_block *block, culex_error *error)
{
    return culex__sqlite_finish(
        store,
        SQL_BIND(store, BLOCK_ADD, SQL_INT(block->first), SQL_INT(queue->key),
                 SQL_TEXT(block->session), SQL_INT(block->since_ms), SQL_INT(block->lease_ms),
                 SQL_INT(block->timeout_ms), SQL_INT(block->held), SQL_INT(block->started)),
        error);
}

culex_status culex__sqlite_block_save(struct culex_sqlite *store,
                                      const struct culex_sqlite_block *block, culex_error *error)
{
    if (block->held == 0)
        return culex__sqlite_finish(store, SQL_BIND(store, BLOCK_DELETE, SQL_INT(block->first)),
                                    error);
    return culex__sqlite_finish(store,
                                SQL_BIND(store, BLOCK_SAVE, SQL_INT(block->first),
                                         SQL_INT(block->lease_ms), SQL_INT(block->held),
                                         SQL_INT(block->started)),
                                error);
}

culex_status culex__sqlite_block_one(struct culex_sqlite *store, sqlite3_stmt *statement,
                                     struct culex_sqlite_block *ret_block, culex_error *error)
{
    int has = culex__sqlite_next(store, statement, error);
    if (has > 0)
        block_read(statement, ret_block);
    culex__sqlite_end(statement);
    return has < 0 ? (culex_status)has : has == 0 ? CULEX_ENOTFOUND : CULEX_OK;
}

culex_status culex__sqlite_block_of(struct culex_sqlite *store, int64_t seq,
                                    struct culex_sqlite_block *ret_block, culex_error *error)
{
    return culex__sqlite_block_one(store, SQL_BIND(store, BLOCK_OF, SQL_INT(seq)), ret_block,
                                   error);
}

/* --- ends ------------------------------------------------------------------------------------- */

static void end_read(sqlite3_stmt *row, struct culex_sqlite_end *ret_end)
{
    ret_end->first = sqlite3_column_int64(row, 0);
    ret_end->until_ms = sqlite3_column_int64(row, 1);
    ret_end->runs = bits_read(row, 2);
    session_read(row, 3, &ret_end->session);
}

/* A block's runs that are done in one moment may have been told in several calls. */
culex_status culex__sqlite_end_add(struct culex_sqlite *store,
                                   const struct culex_sqlite_queue *queue,
                                   const struct culex_sqlite_end *end, culex_error *error)
{
    const struct culex_sqlite_value first = SQL_INT(end->first), runs = SQL_INT(end->runs);
    culex_status status =
        culex__sqlite_finish(store,
                             SQL_BIND(store, ENDED_ADD, first, SQL_INT(end->until_ms),
                                      SQL_INT(queue->key), SQL_TEXT(end->session), runs),
                             error);
    if (status != CULEX_OK)
        return status;
    return culex__sqlite_finish(store,
                                SQL_BIND(store, BODIES_STRIP, first,
                                         SQL_INT(culex__sqlite_bits_low(end->runs)),
                                         SQL_INT(culex__sqlite_bits_high(end->runs)), runs),
                                error);
}

culex_status culex__sqlite_end_save(struct culex_sqlite *store, const struct culex_sqlite_end *end,
                                    culex_error *error)
{
    const struct culex_sqlite_value first = SQL_INT(end->first), until = SQL_INT(end->until_ms);
    sqlite3_stmt *statement = end->runs == 0
                                  ? SQL_BIND(store, ENDED_DELETE, first, until)
                                  : SQL_BIND(store, ENDED_SAVE, first, until, SQL_INT(end->runs));
    return culex__sqlite_finish(store, statement, error);
}

culex_status culex__sqlite_end_one(struct culex_sqlite *store, sqlite3_stmt *statement,
                                   struct culex_sqlite_end *ret_end, culex_error *error)
{
    int has = culex__sqlite_next(store, statement, error);
    if (has > 0)
        end_read(statement, ret_end);
    culex__sqlite_end(statement);
    return has < 0 ? (culex_status)has : has == 0 ? CULEX_ENOTFOUND : CULEX_OK;
}

culex_status culex__sqlite_block_bodies_delete(struct culex_sqlite *store, int64_t first,
                                               int64_t bits, culex_error *error)
{
    return culex__sqlite_finish(store,
                                SQL_BIND(store, BODIES_DELETE, SQL_INT(first),
                                         SQL_INT(culex__sqlite_bits_low(bits)),
                                         SQL_INT(culex__sqlite_bits_high(bits)), SQL_INT(bits)),
                                error);
}

/* --- where a run stands ----------------------------------------------------------------------- */

culex_status culex__sqlite_stand_find(struct culex_sqlite *store, int64_t seq,
                                      struct culex_sqlite_stand *ret_stand, culex_error *error)
{
    ret_stand->state = CULEX_RUN_ACTIVE;
    culex_status status = culex__sqlite_block_of(store, seq, &ret_stand->block, error);
    if (status != CULEX_ENOTFOUND)
        return status;
    ret_stand->state = CULEX_RUN_DONE;
    status = culex__sqlite_end_one(store, SQL_BIND(store, ENDED_OF, SQL_INT(seq)), &ret_stand->end,
                                   error);
    if (status != CULEX_ENOTFOUND)
        return status;
    ret_stand->state = CULEX_RUN_WAITING;
    return CULEX_OK;
}

culex_status culex__sqlite_stand_leave(struct culex_sqlite *store, int64_t seq,
                                       struct culex_sqlite_stand *stand, culex_error *error)
{
    if (stand->state == CULEX_RUN_ACTIVE) {
        stand->block.held &= ~culex__sqlite_block_bit(stand->block.first, seq);
        return culex__sqlite_block_save(store, &stand->block, error);
    }
    if (stand->state == CULEX_RUN_DONE) {
        stand->end.runs &= ~culex__sqlite_block_bit(stand->end.first, seq);
        return culex__sqlite_end_save(store, &stand->end, error);
    }
    return CULEX_OK;
}

/* --- what is taken off a lane ----------------------------------------------------------------- */

/* Rows of a first key and bits, those of the last block first: its last bit. */
static culex_status last_bit(struct culex_sqlite *store, sqlite3_stmt *statement, int64_t *seq,
                             culex_error *error)
{
    int64_t first = INT64_MIN;
    int has;
    while ((has = culex__sqlite_next(store, statement, error)) > 0) {
        int64_t bits = bits_read(statement, 1);
        if (first != INT64_MIN && sqlite3_column_int64(statement, 0) != first)
            break;
        first = sqlite3_column_int64(statement, 0);
        int64_t last = bits > 0 ? first + culex__sqlite_bits_high(bits) : first;
        *seq = last > *seq ? last : *seq;
    }
    culex__sqlite_end(statement);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

culex_status culex__sqlite_lane_taken(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue, int64_t lane,
                                      int64_t *ret_seq, culex_error *error)
{
    *ret_seq = culex__sqlite_queue_lane(queue, lane);
    const struct culex_sqlite_value first = SQL_INT(*ret_seq);
    const struct culex_sqlite_value last = SQL_INT(culex__sqlite_queue_lane(queue, lane + 1) - 1);
    culex_status status = last_bit(store, SQL_BIND(store, BLOCK_LAST, first, last), ret_seq, error);
    if (status == CULEX_OK)
        status = last_bit(store, SQL_BIND(store, ENDED_LAST, first, last), ret_seq, error);
    return status;
}
