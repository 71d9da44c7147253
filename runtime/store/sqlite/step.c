/* store/sqlite/step.c - STEP: acks, beats, leases, what is forgotten, claims, in one transaction.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite/batch.h"
#include "store/sqlite/body.h"
#include "store/sqlite/claim.h"
#include "store/sqlite/error.h"
#include "store/sqlite/follow_up.h"
#include "store/sqlite/group.h"
#include "store/sqlite/lease.h"
#include "store/sqlite/log_rows.h"
#include "store/sqlite/memo.h"
#include "store/sqlite/admission.h"
#include "store/sqlite/event_notes.h"
#include "store/sqlite/retention.h"
#include "store/sqlite/run.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/verb.h"
#include "store/sqlite/verbs.h"
#include "store/argument.h"
#include "base/error.h"

/* --- acks and beats -------------------------------------------------------------------- */

/* The fence: only the session that was granted this very attempt is heard. */
static bool is_holder(const struct culex_sqlite_run *run, const char *session, uint32_t attempt)
{
    return run->attempt == attempt && strcmp(run->owner, session) == 0;
}

static enum culex_answer stale(struct culex_sqlite_queue *queue)
{
    queue->stale++;
    queue->is_changed = true;
    return CULEX_ANSWER_STALE;
}

static culex_status find(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                         culex_uuid id, struct culex_sqlite_run *ret_run, culex_error *error)
{
    return culex__sqlite_body_or_run(store, queue, id, ret_run, error);
}

/* What a failed find comes to. A row that cannot be read is put aside: its holder would send the
 * same step for ever. */
static culex_status found_nothing(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                  const struct culex_sqlite_run *run, culex_status status,
                                  culex_error *error)
{
    if (status == CULEX_ECORRUPT && !culex__run_state_is_final(run->state))
        return culex__sqlite_run_aside(store, queue, run->state, run->seq, error);
    return status == CULEX_ENOTFOUND || status == CULEX_ECORRUPT ? CULEX_OK : status;
}

/* Keeps the run's last report, if there is one. */
static culex_status progress_keep(struct culex_sqlite *store, const struct culex_sqlite_run *run,
                                  const char *progress, culex_error *error)
{
    if (progress == NULL || progress[0] == '\0')
        return CULEX_OK;
    return culex__sqlite_finish(
        store, SQL_BIND(store, RUN_PROGRESS, SQL_INT(run->seq), SQL_TEXT(progress)), error);
}

static culex_status ack_one(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                            const struct culex_step *step, const struct culex_ack *ack,
                            enum culex_answer *ret_answer, culex_error *error)
{
    struct culex_sqlite_run run;
    culex_status status = find(store, queue, ack->id, &run, error);
    if (status != CULEX_OK) {
        *ret_answer = CULEX_ANSWER_GONE;
        return found_nothing(store, queue, &run, status, error);
    }
    bool is_mine = is_holder(&run, step->session, ack->attempt);
    if (is_mine && run.state == CULEX_RUN_DONE && ack->event == CULEX_EVENT_DONE) {
        *ret_answer = CULEX_ANSWER_REPEATED;
        return CULEX_OK;
    }
    if (!is_mine || run.state != CULEX_RUN_ACTIVE) {
        *ret_answer = stale(queue);
        return CULEX_OK;
    }
    bool is_loss = ack->event == CULEX_EVENT_LOSS;
    struct culex_sqlite_move move = {.event = ack->event,
                                     .delay_ms = is_loss ? 0 : ack->delay_ms,
                                     .is_doubted = is_loss,
                                     .has_begun = ack->has_begun,
                                     .text = ack->text,
                                     .result = ack->result,
                                     .result_len = ack->result_len};
    *ret_answer = CULEX_ANSWER_OK;
    status = progress_keep(store, &run, ack->progress, error);
    if (status == CULEX_OK)
        status = culex__sqlite_log_add(store, queue, run.seq, &ack->log, error);
    return status == CULEX_OK ? culex__sqlite_run_move(store, queue, &run, &move, error) : status;
}

/* The queue remembers the longest lease that was ever given. */
static void lease_note(struct culex_sqlite_queue *queue, const struct culex_step *step)
{
    if (step->lease_ms <= queue->longest_lease_ms)
        return;
    queue->longest_lease_ms = step->lease_ms;
    queue->is_changed = true;
}

static culex_status beat_one(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             const struct culex_step *step, const struct culex_beat *beat,
                             enum culex_answer *ret_answer, culex_error *error)
{
    struct culex_sqlite_run run;
    culex_status status = find(store, queue, beat->id, &run, error);
    if (status != CULEX_OK) {
        *ret_answer = CULEX_ANSWER_GONE;
        return found_nothing(store, queue, &run, status, error);
    }
    if (run.state != CULEX_RUN_ACTIVE || !is_holder(&run, step->session, beat->attempt)) {
        *ret_answer = stale(queue);
        return CULEX_OK;
    }
    const char *progress =
        beat->progress != NULL && beat->progress[0] != '\0' ? beat->progress : NULL;
    int64_t at_ms = culex__sqlite_later(store->now_ms, step->lease_ms);
    int64_t limit_ms = culex__sqlite_later(store->now_ms, beat->extend_ms);
    limit_ms = culex__sqlite_later(limit_ms, CULEX_TIMEOUT_SLACK_MS);
    if (run.limit_ms == 0 || beat->extend_ms <= 0 || limit_ms < run.limit_ms)
        limit_ms = run.limit_ms;
    if (limit_ms != 0 && at_ms > limit_ms)
        at_ms = limit_ms;
    lease_note(queue, step);
    *ret_answer = run.is_cancel_requested ? CULEX_ANSWER_CANCEL : CULEX_ANSWER_OK;
    status = culex__sqlite_finish(
        store,
        SQL_BIND(store, RUN_EXTEND, SQL_INT(run.seq), SQL_INT(at_ms), SQL_INT(limit_ms),
                 SQL_TEXT(progress),
                 SQL_INT(beat->is_excused ? INT64_C(2) : (int64_t)beat->is_started)),
        error);
    return status == CULEX_OK ? culex__sqlite_log_add(store, queue, run.seq, &beat->log, error)
                              : status;
}

/* The acks from `from` on that can be settled together, or one. */
static culex_status acks_settle(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                const struct culex_step *step, size_t from,
                                enum culex_answer *answers, size_t *ret_count, culex_error *error)
{
    culex_status status = culex__sqlite_group_ack(store, queue, step, from, ret_count, error);
    for (size_t i = 0; i < *ret_count; i++)
        answers[from + i] = CULEX_ANSWER_OK;
    if (status != CULEX_OK || *ret_count > 0)
        return status;
    *ret_count = 1;
    return ack_one(store, queue, step, &step->acks[from], &answers[from], error);
}

static culex_status beats_settle(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                 const struct culex_step *step, size_t from,
                                 enum culex_answer *answers, size_t *ret_count, culex_error *error)
{
    culex_status status = culex__sqlite_group_beat(store, queue, step, from, ret_count, error);
    for (size_t i = 0; i < *ret_count; i++)
        answers[from + i] = CULEX_ANSWER_OK;
    if (*ret_count > 0)
        lease_note(queue, step);
    if (status != CULEX_OK || *ret_count > 0)
        return status;
    *ret_count = 1;
    return beat_one(store, queue, step, &step->beats[from], &answers[from], error);
}

static culex_status settle(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                           const struct culex_step *step, struct culex_step_reply *reply,
                           culex_error *error)
{
    culex_status status = CULEX_OK;
    size_t count;
    for (size_t i = 0; i < step->ack_count && status == CULEX_OK; i += count)
        status = acks_settle(store, queue, step, i, reply->acks, &count, error);
    for (size_t i = 0; i < step->beat_count && status == CULEX_OK; i += count)
        status = beats_settle(store, queue, step, i, reply->beats, &count, error);
    return status;
}

/* --- the reply ------------------------------------------------------------------------- */

static void sooner(const struct culex_sqlite *store, int64_t at_ms, int64_t *due_in_ms)
{
    int64_t in_ms = at_ms > store->now_ms ? at_ms - store->now_ms : 0;
    if (at_ms != INT64_MAX && (*due_in_ms < 0 || in_ms < *due_in_ms))
        *due_in_ms = in_ms;
}

static culex_status outlook(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                            struct culex_step_reply *reply, culex_error *error)
{
    int64_t lease = INT64_MAX, due = INT64_MAX, forget = INT64_MAX, look = INT64_MAX;
    int64_t resumes = culex__sqlite_queue_resumes_ms(store, queue);
    culex_status status = CULEX_OK;
    if (queue->kept[CULEX_RUN_ACTIVE] > 0)
        status = culex__sqlite_leases_next(store, queue, &lease, error);
    if (status == CULEX_OK && queue->kept[CULEX_RUN_WAITING] > 0)
        status = culex__sqlite_first_int(
            store, SQL_BIND(store, NEXT_DUE, SQL_INT(queue->key), SQL_INT(store->now_ms)),
            INT64_MAX, &due, error);
    if (status == CULEX_OK)
        status = culex__sqlite_admission_next(store, queue, &look, error);
    if (status == CULEX_OK)
        status = culex__sqlite_retention_next(store, queue, &forget, error);
    reply->now_ms = store->now_ms;
    reply->is_paused = culex__sqlite_queue_is_paused(store, queue);
    reply->is_empty = queue->kept[CULEX_RUN_WAITING] + queue->kept[CULEX_RUN_ACTIVE] == 0;
    reply->due_in_ms = -1;
    sooner(store, lease, &reply->due_in_ms);
    if (resumes < due)
        due = resumes;
    sooner(store, due, &reply->due_in_ms);
    sooner(store, look, &reply->due_in_ms);
    sooner(store, forget, &reply->due_in_ms);
    if (store->wake.known_due_ms <= store->now_ms)
        store->wake.known_due_ms = INT64_MAX;
    if (due < store->wake.known_due_ms)
        store->wake.known_due_ms = due;
    return status;
}

/* For good, whatever the clock does. */
static void pause_end(struct culex_sqlite *store, struct culex_sqlite_queue *queue)
{
    if (queue->paused_until_ms == 0 || culex__sqlite_queue_is_paused(store, queue))
        return;
    queue->paused_until_ms = 0;
    queue->is_changed = true;
    culex__sqlite_event(store, queue, CULEX_EVENTS_RESUMED, (culex_uuid){{0}}, 0, NULL);
}

static culex_status step_new(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             const struct culex_step *step, struct culex_step_reply *reply,
                             culex_error *error)
{
    bool is_cut = false;
    size_t budget = CULEX_ADMIT_MAX, moved;
    pause_end(store, queue);
    culex_status status = settle(store, queue, step, reply, error);
    if (status == CULEX_OK && queue->key != 0)
        status = culex__sqlite_leases_cut(store, queue, error);
    if (status == CULEX_OK && queue->key != 0)
        status = culex__sqlite_leases_reap(store, queue, error);
    if (status == CULEX_OK && queue->key != 0)
        status = culex__sqlite_retention_forget(store, queue, step->ack_count, error);
    if (status == CULEX_OK && queue->key != 0)
        status = culex__sqlite_admission_maintain(store, queue, step->want, error);
    if (status == CULEX_OK && queue->key != 0)
        status = culex__sqlite_admission_run(store, queue, &budget, &moved, error);
    if (status == CULEX_OK && queue->key != 0)
        status = culex__sqlite_claim(store, queue, step, reply, &budget, &is_cut, error);
    if (reply->grant_count > 0)
        lease_note(queue, step);
    for (size_t i = 0; i < reply->grant_count && status == CULEX_OK; i++)
        culex__sqlite_event(store, queue, CULEX_EVENTS_STARTED, reply->grants[i].facts.id,
                            reply->grants[i].facts.attempt, NULL);
    if (status == CULEX_OK)
        status = culex__sqlite_memo_keep(store, queue, step, reply, error);
    if (status == CULEX_OK)
        status = culex__sqlite_ledger_save(store, queue, error);
    /* What is left behind is for the next idle worker, who will wake one more. Runs that
     * this step both readied and claimed wake nobody. */
    if (step->want > 0)
        queue->has_new_work = is_cut;
    queue->has_new_work = queue->has_new_work && queue->kept[CULEX_RUN_WAITING] > 0;
    return status;
}

struct step_request {
    const struct culex_step *step;
    struct culex_step_reply *reply;
    bool is_repeat;
    bool has_calls; /* callbacks of batches are to be brought */
};

static culex_status step_all(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             void *user, culex_error *error)
{
    struct step_request *request = user;
    culex_status status = culex__sqlite_memo_recall(store, queue, request->step, request->reply,
                                                    &request->is_repeat, error);
    if (status == CULEX_OK && !request->is_repeat)
        status = step_new(store, queue, request->step, request->reply, error);
    if (status == CULEX_OK)
        status = culex__sqlite_batch_outlook(store, queue, &request->has_calls, error);
    return status == CULEX_OK ? outlook(store, queue, request->reply, error) : status;
}

/* Acks and beats share one block. */
static culex_status reply_alloc(const struct culex_step *step, struct culex_step_reply *reply,
                                culex_error *error)
{
    memset(reply, 0, sizeof *reply);
    reply->acks = calloc(step->ack_count + step->beat_count + 1, sizeof *reply->acks);
    if (reply->acks == NULL)
        return culex__sqlite_no_memory(error);
    reply->beats = reply->acks + step->ack_count;
    return CULEX_OK;
}

/* Nothing took place: the same nonce is a first try again. */
static void step_fail(struct culex_sqlite *store, struct culex_step_reply *reply)
{
    free(store->idle.queue);
    store->idle.queue = NULL;
    culex__sqlite_step_release(&store->base, reply);
}

/* *ret_refused as of culex__sqlite_follow_ups_write. */
static culex_status step_try(struct culex_sqlite *store, const struct culex_step *step,
                             struct culex_step_reply *ret_reply, const char **ret_refused,
                             culex_error *error)
{
    struct culex_step_reply reply;
    struct step_request request = {step, &reply, false, false};
    *ret_refused = NULL;
    culex_status status = reply_alloc(step, &reply, error);
    if (status != CULEX_OK)
        return status;
    if (culex__sqlite_has_follow_ups(step))
        status = culex__sqlite_follow_ups_write(store, step, step_all, &request, &reply,
                                                &request.is_repeat, ret_refused, error);
    else
        status = culex__sqlite_verb_write(store, step->queue, CULEX__SQLITE_ABSENT_EMPTY, step_all,
                                          &request, error);
    if (status == CULEX_OK && request.has_calls)
        culex__sqlite_batch_bring(store, step->queue, &reply);
    if (status == CULEX_OK)
        *ret_reply = reply;
    else
        step_fail(store, &reply);
    return status;
}

/* Without follow-ups into a queue that would refuse them for ever: their runs fail for that. So it
 * goes on until no queue does. */
static culex_status step_without(struct culex_sqlite *store, const struct culex_step *step,
                                 const char *refused, struct culex_step_reply *ret_reply,
                                 culex_error *error)
{
    culex_error why = *error;
    struct culex_ack *acks = calloc(step->ack_count, sizeof *acks);
    struct culex_step rest = *step;
    if (acks == NULL)
        return culex__sqlite_no_memory(error);
    rest.acks = acks;
    culex__sqlite_follow_ups_refuse(step, refused, why.text, acks);
    culex_status status = step_try(store, &rest, ret_reply, &refused, error);
    if (status != CULEX_OK && refused != NULL && culex__sqlite_refusal_lasts(status))
        status = step_without(store, &rest, refused, ret_reply, error);
    for (size_t i = 0; i < step->ack_count && status == CULEX_OK; i++) {
        if (acks[i].event != step->acks[i].event && ret_reply->acks[i] == CULEX_ANSWER_OK)
            ret_reply->acks[i] = CULEX_ANSWER_FAILED;
    }
    free(acks);
    if (status == CULEX_OK)
        ret_reply->follow_ups_left = why;
    return status;
}

culex_status culex__sqlite_step(struct culex_store *base, const struct culex_step *step,
                                struct culex_step_reply *ret_reply, culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    const char *refused;
    culex_error own = {0};
    assert(culex__argument_step(step, NULL) == CULEX_OK);
    if (error == NULL)
        error = &own;
    culex_status status = step_try(store, step, ret_reply, &refused, error);
    if (status != CULEX_OK && refused != NULL && culex__sqlite_refusal_lasts(status))
        status = step_without(store, step, refused, ret_reply, error);
    return status;
}

void culex__sqlite_step_release(struct culex_store *base, struct culex_step_reply *reply)
{
    (void)base;
    for (size_t i = 0; i < reply->grant_count; i++)
        free((void *)reply->grants[i].payload);
    free(reply->grants);
    free(reply->acks);
    memset(reply, 0, sizeof *reply);
}
