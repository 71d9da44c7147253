#include "store/sqlite/grant.h"

#include <stdlib.h>
#include <string.h>

#include "core/needs.h"
#include "store/sqlite/block.h"
#include "store/sqlite/error.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/run.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

/* Attempt `attempt` of the run. One block per grant: the payload, the job's name, and of its
 * limits, NULL for none, what it needs. */
static culex_status grant_copy(struct culex_grant *grant, const char *job, const char *limits,
                               const void *payload, size_t len, culex_error *error)
{
    size_t job_size = job != NULL ? strlen(job) + 1 : 0, needs_len = 0;
    const char *needs =
        limits != NULL ? culex__needs_among(limits, strlen(limits), &needs_len) : NULL;
    char *block = job != NULL ? malloc(len + job_size + needs_len + 1) : NULL;
    if (block == NULL)
        return culex__sqlite_no_memory(error);
    if (len > 0)
        memcpy(block, payload, len);
    if (needs != NULL) {
        memcpy(block + len + job_size, needs, needs_len);
        block[len + job_size + needs_len] = '\0';
        grant->needs = block + len + job_size;
    }
    grant->job = memcpy(block + len, job, job_size);
    grant->payload = block;
    grant->payload_len = len;
    return CULEX_OK;
}

/* By the row as it was before the claim. One with limits that had a date has taken its place then,
 * and counts from its enqueue. */
static int64_t due_of(sqlite3_stmt *row, int64_t created_at_ms)
{
    if (sqlite3_column_int(row, CULEX__SQLITE_COLUMN_is_delayed) != 0)
        return sqlite3_column_int64(row, CULEX__SQLITE_COLUMN_at_ms);
    return sqlite3_column_int64(row, CULEX__SQLITE_COLUMN_attempt) == 0 ? created_at_ms : 0;
}

culex_status culex__sqlite_grant_run(struct culex_grant *grant, sqlite3_stmt *statement,
                                     const struct culex_sqlite_run *run, uint32_t attempt,
                                     const void *payload, culex_error *error)
{
    const char *job = (const char *)sqlite3_column_text(statement, CULEX__SQLITE_COLUMN_job);
    int64_t created_at_ms = sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_created_at_ms);
    int64_t fingerprint = sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_fingerprint);
    *grant = (struct culex_grant){.facts = {.id = run->id,
                                            .attempt = attempt,
                                            .counters = run->counters,
                                            .created_at_ms = created_at_ms,
                                            .timeout_ms = run->timeout_ms,
                                            .expires_at_ms = run->expires_at_ms,
                                            .fingerprint = (uint64_t)fingerprint}};
    if (sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_attempt) < attempt)
        grant->facts.due_ms = due_of(statement, created_at_ms);
    const char *limits = (const char *)sqlite3_column_text(statement, CULEX__SQLITE_COLUMN_limits);
    return grant_copy(grant, job, limits, payload, (size_t)run->payload_len, error);
}

static bool body_is_intact(const struct culex_sqlite_queue *queue,
                           const struct culex_sqlite_kind *kind, sqlite3_stmt *row,
                           struct culex_sqlite_granted *body)
{
    uint64_t expected = (uint64_t)sqlite3_column_int64(row, CULEX__SQLITE_GRANTED_CHECKSUM);
    return kind->is_there &&
           sqlite3_column_type(row, CULEX__SQLITE_GRANTED_PAYLOAD) == SQLITE_BLOB &&
           culex__sqlite_queue_id_of(queue, body->seq, body->born_ms, &body->id) &&
           culex__sqlite_checksum(body->id, kind->job, body->payload, body->len) == expected;
}

culex_status culex__sqlite_granted_read(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, sqlite3_stmt *row,
                                        struct culex_sqlite_kind *kind,
                                        struct culex_sqlite_granted *ret_body, culex_error *error)
{
    culex_status status = culex__sqlite_kind_load(
        store, sqlite3_column_int64(row, CULEX__SQLITE_GRANTED_KIND), kind, error);
    if (status != CULEX_OK)
        return status;
    ret_body->seq = sqlite3_column_int64(row, CULEX__SQLITE_GRANTED_SEQ);
    ret_body->born_ms = sqlite3_column_int64(row, CULEX__SQLITE_GRANTED_BORN);
    ret_body->payload = sqlite3_column_blob(row, CULEX__SQLITE_GRANTED_PAYLOAD);
    ret_body->len = (size_t)sqlite3_column_bytes(row, CULEX__SQLITE_GRANTED_PAYLOAD);
    ret_body->is_intact = body_is_intact(queue, kind, row, ret_body);
    return CULEX_OK;
}

culex_status culex__sqlite_grant_body(struct culex_grant *grant,
                                      const struct culex_sqlite_kind *kind,
                                      const struct culex_sqlite_granted *body, culex_error *error)
{
    *grant = (struct culex_grant){.facts = {.id = body->id,
                                            .attempt = 1,
                                            .counters = {.attempts_max = kind->attempts_max},
                                            .created_at_ms = body->born_ms,
                                            .due_ms = body->born_ms,
                                            .timeout_ms = kind->timeout_ms,
                                            .fingerprint = kind->fingerprint}};
    return grant_copy(grant, kind->job, NULL, body->payload, body->len, error);
}

/* --- again ------------------------------------------------------------------------------------ */

static culex_status run_again(struct culex_sqlite *store, const struct culex_step *step,
                              sqlite3_stmt *statement, uint32_t attempt,
                              struct culex_step_reply *reply, culex_error *error)
{
    struct culex_sqlite_payload payload;
    struct culex_sqlite_run run;
    bool is_held = culex__sqlite_run_read(statement, &run) && run.state == CULEX_RUN_ACTIVE &&
                   run.attempt == attempt && strcmp(run.owner, step->session) == 0;
    if (!is_held)
        return CULEX_OK;
    culex_status status = culex__sqlite_payload_read(store, statement, &run, &payload, error);
    if (status == CULEX_OK && culex__sqlite_payload_is_intact(statement, &run, &payload)) {
        status = culex__sqlite_grant_run(&reply->grants[reply->grant_count], statement, &run,
                                         attempt, payload.bytes, error);
        reply->grant_count += status == CULEX_OK;
    }
    culex__sqlite_payload_end(&payload);
    return status;
}

static culex_status body_again(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               const struct culex_step *step, int64_t seq,
                               struct culex_step_reply *reply, culex_error *error)
{
    struct culex_sqlite_block block;
    struct culex_sqlite_kind kind = {.key = 0};
    struct culex_sqlite_granted body;
    culex_status status = culex__sqlite_block_of(store, seq, &block, error);
    if (status != CULEX_OK || strcmp(block.session, step->session) != 0)
        return status == CULEX_ENOTFOUND ? CULEX_OK : status;
    sqlite3_stmt *row = SQL_BIND(store, BODIES_CLAIM, SQL_INT(seq), SQL_INT(seq));
    int has = culex__sqlite_next(store, row, error);
    status = has < 0 ? (culex_status)has : CULEX_OK;
    if (has > 0)
        status = culex__sqlite_granted_read(store, queue, row, &kind, &body, error);
    if (has > 0 && status == CULEX_OK && body.is_intact) {
        status = culex__sqlite_grant_body(&reply->grants[reply->grant_count], &kind, &body, error);
        reply->grant_count += status == CULEX_OK;
    }
    culex__sqlite_end(row);
    return status;
}

culex_status culex__sqlite_grant_again(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue,
                                       const struct culex_step *step, int64_t seq, uint32_t attempt,
                                       struct culex_step_reply *reply, culex_error *error)
{
    sqlite3_stmt *statement = SQL_BIND(store, RUN_WHOLE_BY_SEQ, SQL_INT(seq));
    int has = culex__sqlite_next(store, statement, error);
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    if (has > 0)
        status = run_again(store, step, statement, attempt, reply, error);
    culex__sqlite_end(statement);
    if (status == CULEX_OK && has == 0 && attempt == 1)
        status = body_again(store, queue, step, seq, reply, error);
    return status;
}
