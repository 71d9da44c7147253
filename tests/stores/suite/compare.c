#include "compare.h"

#include "base/limits.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool differs(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("difference: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return false;
}

static const char *text_of(culex_uuid id)
{
    static char text[33];
    for (int i = 0; i < 16; i++)
        snprintf(text + 2 * i, 3, "%02x", id.b[i]);
    return text;
}

/* --- STEP ------------------------------------------------------------------------------------- */

static bool same_answers(const char *what, const enum culex_answer *store,
                         const enum culex_answer *model, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (store[i] != model[i])
            return differs("%s %zu: store answers %d, model %d", what, i, (int)store[i],
                           (int)model[i]);
    }
    return true;
}

static bool is_waiting(const struct model_run *run, const char *queue)
{
    return !run->is_gone && run->state == CULEX_RUN_WAITING && strcmp(run->queue->name, queue) == 0;
}

/* `before` had to be granted before `run`, of the same priority. Where clock and order of
 * arrival disagree, and among those released at one instant, a store may follow either. Who came
 * due has its place by that, whenever a step has found it; where that time is still to come,
 * because the clock was set back, it may go before those that were enqueued. Who has a share stands
 * where it came in, which may have been by a clock that was set back since it became ready. */
static bool had_to_precede(const struct model *model, const struct model_run *before,
                           const struct model_run *run)
{
    if (before->was_put_in_front != run->was_put_in_front)
        return before->was_put_in_front;
    if ((before->place >= run->place && !before->was_promoted) || run->was_clock_behind)
        return false;
    if (before->was_put_in_front)
        return before->ready_ms > run->ready_ms;
    if (model_is_early(model, run) && !before->was_promoted)
        return false;
    return before->ready_ms < run->least_ms;
}

/* Of two runs that need something and have no other limit. */
static bool is_needs_first(const struct model *model, const struct model_session *session,
                           const struct model_run *other, const struct model_run *run)
{
    if (other->made.limit_count != 1 || model_needs(other)[0] == '\0' ||
        !model_fits(session, other))
        return false;
    if (model_needs(run)[0] == '\0')
        return true;
    if (other->made.priority != run->made.priority)
        return other->made.priority > run->made.priority;
    return had_to_precede(model, other, run);
}

/* No other run that could have been granted had the better claim. */
static bool is_first_in_line(const struct model *model, const struct culex_step *step,
                             const struct model_session *session, const struct model_run *run)
{
    for (size_t i = 0; i < model->run_count; i++) {
        const struct model_run *other = model->runs[i];
        if (other != run && is_waiting(other, step->queue) && !model_is_expired(model, other) &&
            !model_is_passed(model, step, other) && is_needs_first(model, session, other, run))
            return differs("%s was granted before one that needs what is free", text_of(run->id));
    }
    if (model_needs(run)[0] != '\0')
        return true;
    for (size_t i = 0; i < model->run_count; i++) {
        const struct model_run *other = model->runs[i];
        if (other == run || !is_waiting(other, step->queue) || model_is_expired(model, other) ||
            model_is_passed(model, step, other) || other->made.limit_count > 0)
            continue; /* those with limits are compared in the conformance suite */
        if (other->made.priority > run->made.priority)
            return differs("%s was granted before one of priority %d", text_of(run->id),
                           other->made.priority);
        if (other->made.priority == run->made.priority && had_to_precede(model, other, run))
            return differs("%s was granted out of order", text_of(run->id));
    }
    return true;
}

static bool same_grant(const struct culex_grant *grant, const struct model_run *run)
{
    const struct culex_run_counters *a = &grant->facts.counters, *b = &run->counters;
    if (grant->facts.attempt != run->attempt)
        return differs("grant of attempt %u, not %u", grant->facts.attempt, run->attempt);
    if (a->failures != b->failures || a->crashes != b->crashes || a->losses != b->losses ||
        a->crash_streak != b->crash_streak || a->attempts_max != b->attempts_max ||
        a->retry_for_ms != run->made.retry_for_ms)
        return differs("grant of %s has other counters", text_of(run->id));
    if (strcmp(grant->job, run->made.job) != 0 ||
        grant->facts.created_at_ms != run->created_at_ms ||
        grant->facts.timeout_ms != run->made.timeout_ms ||
        grant->facts.expires_at_ms != run->expires_at_ms ||
        grant->facts.fingerprint != run->made.fingerprint)
        return differs("grant of %s has another job, time or fingerprint", text_of(run->id));
    if (strcmp(grant->needs != NULL ? grant->needs : "", model_needs(run)) != 0)
        return differs("grant of %s needs %s", text_of(run->id), grant->needs);
    if (grant->payload_len != run->made.payload_len ||
        (grant->payload_len > 0 &&
         memcmp(grant->payload, run->made.payload, grant->payload_len) != 0))
        return differs("grant of %s has another payload", text_of(run->id));
    return true;
}

static bool take_grant(struct compare *compare, const struct culex_step *step,
                       struct model_session *session, const struct culex_step_reply *reply,
                       size_t index)
{
    const struct culex_grant *grant = &reply->grants[index];
    struct model_run *run = model_find(compare->model, step->queue, grant->facts.id);
    if (run == NULL || run->state != CULEX_RUN_WAITING)
        return differs("grant of %s, which is %s", text_of(grant->facts.id),
                       run == NULL ? "unknown" : culex_run_state_name(run->state));
    if (model_is_expired(compare->model, run))
        return differs("grant of %s, which has expired", text_of(run->id));
    if (model_is_suspect(run) && reply->grant_count > 1)
        return differs("grant of the suspect %s in company", text_of(run->id));
    if (model_is_passed(compare->model, step, run) || model_must_wait(step, run, index))
        return differs("grant %zu of %s, which had to wait", index, text_of(run->id));
    if (!model_has_room(compare->model, run) && !model_trust(compare->model, run))
        return differs("grant of %s, for which a limit has no room", text_of(run->id));
    if (!model_fits(session, run))
        return differs("grant of %s, which needs more than is free", text_of(run->id));
    if (!is_first_in_line(compare->model, step, session, run))
        return false;
    model_claim(compare->model, step, session, run);
    return same_grant(grant, run);
}

/* Whether a store may stop here although it was asked for more; *ret_is_held tells that it must say
 * that the next run has to wait. Which of several is the next one may be open. */
static bool may_stop(const struct compare *compare, const struct culex_step *step,
                     const struct culex_step_reply *reply, const struct model_session *session,
                     size_t bytes, bool *ret_is_held)
{
    int top = -1;
    bool may = false, may_hold = false, must_hold = false, is_left = false;
    size_t granted = reply->grant_count;
    bool has_passed = model_has_passed(compare->model, step, NULL);
    if (granted > 0 && model_is_suspect(model_find(compare->model, step->queue,
                                                   reply->grants[granted - 1].facts.id)))
        return !reply->is_held;
    for (size_t i = 0; i < compare->model->run_count; i++) {
        const struct model_run *run = compare->model->runs[i];
        if (!is_waiting(run, step->queue) || model_is_expired(compare->model, run) ||
            model_is_passed(compare->model, step, run) || run->made.priority < top ||
            run->made.limit_count > 0)
            continue;
        if (run->made.priority > top) {
            may = may_hold = false;
            must_hold = true;
        }
        top = run->made.priority;
        bool waits = model_must_wait(step, run, granted);
        may_hold = may_hold || waits;
        must_hold = must_hold && waits;
        may = may || (granted > 0 && bytes + run->made.payload_len > step->max_bytes);
    }
    *ret_is_held = must_hold;
    for (size_t i = 0; i < compare->model->run_count; i++) {
        const struct model_run *run = compare->model->runs[i];
        if (!is_waiting(run, step->queue) || run->made.limit_count == 0 ||
            model_is_expired(compare->model, run) || model_is_passed(compare->model, step, run) ||
            !(model_has_room(compare->model, run) || model_is_open(compare->model, run)) ||
            !model_fits(session, run))
            continue; /* of an open one only the store knows whether it has room */
        bool waits = model_must_wait(step, run, granted);
        may_hold = may_hold || waits;
        may = may || (granted > 0 && bytes + run->made.payload_len > step->max_bytes);
        is_left = is_left || (!waits && !model_is_open(compare->model, run));
        *ret_is_held = false; /* the claim may have ended at this one */
    }
    /* A suspect that was passed by takes a place of its keys. */
    if (is_left && !may && !reply->is_held && !has_passed)
        return false;
    return (top < 0 || may || may_hold) && (may_hold || !reply->is_held);
}

/* Told it must be where nothing else ended the claim, and may be of runs that a limit holds up. */
static bool check_short(const struct compare *compare, const struct culex_step *step,
                        const struct culex_step_reply *reply, const struct model_session *session)
{
    bool must = false, may = false;
    bool is_sure = step->want > 0 && reply->grant_count == 0 && !reply->is_held &&
                   !reply->has_passed && !reply->is_paused && reply->expired_count == 0;
    for (size_t i = 0; i < compare->model->run_count; i++) {
        const struct model_run *run = compare->model->runs[i];
        if (!is_waiting(run, step->queue) || !model_is_offered(session, run) ||
            model_fits(session, run))
            continue;
        may = true;
        must = must || (is_sure && run->made.limit_count == 1);
    }
    if (reply->is_short ? !may : must)
        return differs("is_short is %d", reply->is_short);
    return true;
}

static bool check_count(const struct compare *compare, const struct culex_step *step,
                        const struct culex_step_reply *reply, const struct model_session *session)
{
    size_t bytes = 0;
    if (reply->grant_count > step->want || (reply->is_paused && reply->grant_count > 0))
        return differs("%zu grants of %u wanted", reply->grant_count, step->want);
    for (size_t i = 1; i < reply->grant_count; i++)
        bytes += reply->grants[i].payload_len;
    if (bytes > step->max_bytes)
        return differs("%zu bytes granted beyond the first, not %u", bytes, step->max_bytes);
    bool is_held = false;
    if (reply->grant_count == step->want || reply->is_paused)
        return !reply->is_held || differs("a claim that came to its end is held");
    if (!may_stop(compare, step, reply, session, bytes, &is_held))
        return differs("only %zu grants of %u wanted, held %d", reply->grant_count, step->want,
                       reply->is_held);
    if (is_held && !reply->is_held)
        return differs("a claim was held and does not say so");
    return true;
}

/* Which of the expired runs a claim has met is the store's to say; none better than the
 * last grant may be left over, and none at all after a claim that came to the end. */
static bool take_expired(struct compare *compare, const struct culex_step *step,
                         const struct culex_step_reply *reply)
{
    struct model *model = compare->model;
    uint32_t expired_count = 0;
    int worst = 10;
    for (size_t i = 0; i < reply->grant_count; i++) {
        const struct model_run *run = model_find(model, step->queue, reply->grants[i].facts.id);
        if (run->made.priority < worst && model_needs(run)[0] == '\0')
            worst = run->made.priority; /* others come before all that needs nothing */
    }
    for (size_t i = 0; i < model->run_count; i++) {
        struct model_run *run = model->runs[i];
        culex_run_info *info = NULL;
        if (!is_waiting(run, step->queue) || !model_is_expired(model, run))
            continue;
        if (compare->store->ops->get(compare->store, step->queue, run->id, &info, NULL) != CULEX_OK)
            return differs("the expired run %s is lost", text_of(run->id));
        bool is_dead = info->state == CULEX_RUN_DEAD;
        culex_run_info_free(info);
        expired_count += is_dead;
        if (is_dead)
            model_expire(model, run);
        else if (run->made.limit_count == 0 &&
                 ((reply->grant_count == 0 && !reply->is_held) || run->made.priority > worst))
            return differs("the expired run %s was passed by", text_of(run->id));
    }
    if (reply->expired_count != expired_count &&
        !(compare->is_doubtful && reply->expired_count == 0))
        return differs("%u runs are said to have expired, not %u", reply->expired_count,
                       expired_count);
    return true;
}

/* A store may meet suspects behind the last grant, and must meet them all where it finds nobody
 * else. */
static bool check_passed(const struct compare *compare, const struct culex_step *step,
                         const struct culex_step_reply *reply)
{
    bool may_pass = step->want > 0 && model_has_passed(compare->model, step, NULL);
    bool has_limits = false; /* one with limits may be parked behind another */
    bool is_open = false;    /* one of its buckets was full, or the clock has left it in doubt */
    for (size_t i = 0; i < compare->model->run_count; i++) {
        const struct model_run *run = compare->model->runs[i];
        if (!is_waiting(run, step->queue) || run->made.limit_count == 0 || !model_is_suspect(run))
            continue;
        has_limits = true;
        is_open = is_open || (model_is_passed(compare->model, step, run) &&
                              model_is_open(compare->model, run));
    }
    bool must_pass =
        may_pass && !has_limits && reply->grant_count == 0 && !reply->is_held && !reply->is_paused;
    if (reply->has_passed ? !may_pass && !is_open : must_pass)
        return differs("suspects were passed by: %d", reply->has_passed);
    return true;
}

static bool take_claims(struct compare *compare, const struct culex_step *step,
                        const struct culex_step_reply *reply, struct model_session *session)
{
    if (!check_passed(compare, step, reply))
        return false;
    for (size_t i = 0; i < reply->grant_count; i++) {
        if (!take_grant(compare, step, session, reply, i))
            return false;
    }
    if (!check_count(compare, step, reply, session) || !check_short(compare, step, reply, session))
        return false;
    return step->want == 0 || reply->is_paused || take_expired(compare, step, reply);
}

/* A repeated step grants what it did before, as far as it is still held, in any order. */
static bool same_memory(struct compare *compare, const struct culex_step *step,
                        const struct culex_step_reply *reply, const struct model_session *session)
{
    size_t held = 0;
    for (size_t i = 0; i < session->grant_count; i++) {
        const struct model_run *run = model_find(compare->model, step->queue, session->ids[i]);
        if (run == NULL || run->state != CULEX_RUN_ACTIVE || run->attempt != session->attempts[i] ||
            strcmp(run->owner, session->name) != 0)
            continue;
        held++;
        size_t at = 0;
        while (at < reply->grant_count &&
               memcmp(&reply->grants[at].facts.id, &run->id, sizeof run->id) != 0)
            at++;
        if (at == reply->grant_count && run->is_cancel_requested) {
            held--;
            continue;
        }
        if (at == reply->grant_count)
            return differs("the repeated step does not grant %s again", text_of(run->id));
        if (!same_grant(&reply->grants[at], run))
            return false;
    }
    if (held != reply->grant_count)
        return differs("the repeated step grants %zu, not %zu", reply->grant_count, held);
    return true;
}

/* Too early does no harm, where it does not make a worker busy: while runs wait a step comes
 * anyhow, and once a second is what is kept looked at for. */
static bool is_harmless(const struct model *model, const struct culex_step *step, int64_t due_in_ms,
                        int64_t right_ms)
{
    if (due_in_ms <= 0 || (right_ms >= 0 && due_in_ms > right_ms))
        return false;
    bool is_calm = due_in_ms >= CULEX_FORGET_GAP_MS;
    for (size_t i = 0; i < model->run_count && !is_calm; i++)
        is_calm = is_waiting(model->runs[i], step->queue);
    return is_calm;
}

/* Limits are at play: a run that stands in the ready order has its next token told when a claim has
 * met it, and a bucket is forgotten when it is full. */
static bool is_of_limits(const struct model *model, const char *queue, int64_t due_in_ms)
{
    bool has_bucket = false, has_run = false;
    for (size_t i = 0; i < model->bucket_count; i++)
        has_bucket = has_bucket || strcmp(model->buckets[i]->limit->queue->name, queue) == 0;
    for (size_t i = 0; i < model->run_count; i++)
        has_run =
            has_run || (is_waiting(model->runs[i], queue) && model->runs[i]->made.limit_count > 0);
    return has_run || (has_bucket && due_in_ms >= 0);
}

static bool same_outlook(struct compare *compare, const struct culex_step *step,
                         const struct culex_step_reply *reply, const struct model_session *session,
                         bool is_repeat)
{
    struct culex_step_reply model = {.now_ms = reply->now_ms};
    model_outlook(compare->model, session->queue, &model);
    if (reply->is_paused != model_is_paused(compare->model, session->queue))
        return differs("is_paused is %d", reply->is_paused);
    if (reply->is_replaced != session->is_replaced)
        return differs("is_replaced is %d", reply->is_replaced);
    if (reply->is_late != session->is_late)
        return differs("is_late is %d", reply->is_late);
    bool may_be_followed = compare->is_followed && !reply->is_empty;
    if (reply->is_empty != model.is_empty && !may_be_followed)
        return differs("is_empty is %d", reply->is_empty);
    /* A repeat promotes nothing, so what is due may count or not. */
    if (!is_repeat && reply->due_in_ms != model.due_in_ms &&
        !(step->want > 0 && reply->due_in_ms == 0) &&
        !is_of_limits(compare->model, step->queue, reply->due_in_ms) &&
        !is_harmless(compare->model, step, reply->due_in_ms, model.due_in_ms))
        return differs("due_in_ms is %" PRId64 ", not %" PRId64, reply->due_in_ms, model.due_in_ms);
    return true;
}

bool compare_step(struct compare *compare, const struct culex_step *step,
                  const struct culex_step_reply *reply)
{
    bool is_repeat;
    struct model_session *session = model_step_settle(compare->model, step, &is_repeat);
    bool is_same = same_answers("ack", reply->acks, session->acks, step->ack_count) &&
                   same_answers("beat", reply->beats, session->beats, step->beat_count) &&
                   (is_repeat ? same_memory(compare, step, reply, session)
                              : take_claims(compare, step, reply, session));
    model_callbacks_bring(compare->model, session->queue);
    return is_same && same_outlook(compare, step, reply, session, is_repeat);
}

/* --- everything ------------------------------------------------------------------------ */

static bool same_bytes(culex_bytes bytes, const void *data, size_t len)
{
    return bytes.len == len && (len == 0 || memcmp(bytes.data, data, len) == 0);
}

/* Of a waiting run a store may not know when it was due: one with limits has a place of its own. */
static bool same_instant(const culex_run_info *info, const struct model_run *run)
{
    if (info->state != CULEX_RUN_WAITING)
        return info->at_ms == run->at_ms;
    return info->at_ms == 0 || run->state != CULEX_RUN_SCHEDULED || info->at_ms == run->at_ms;
}

static bool same_facts(const culex_run_info *info, const struct model_run *run)
{
    if (info->attempt != run->attempt || info->failures != run->counters.failures ||
        info->crashes != run->counters.crashes || info->losses != run->counters.losses ||
        info->attempts_max != run->counters.attempts_max)
        return differs("%s: attempt %u, counters %u %u %u; model %u, %u %u %u", text_of(run->id),
                       info->attempt, info->failures, info->crashes, info->losses, run->attempt,
                       run->counters.failures, run->counters.crashes, run->counters.losses);
    if (!same_instant(info, run))
        return differs("%s (%s): at %" PRId64 ", model %" PRId64, text_of(run->id),
                       culex_run_state_name(info->state), info->at_ms, run->at_ms);
    if (info->priority != run->made.priority || info->created_at_ms != run->created_at_ms ||
        info->expires_at_ms != run->expires_at_ms || info->fingerprint != run->made.fingerprint)
        return differs("%s: another priority, time or fingerprint", text_of(run->id));
    if (info->state <= CULEX_RUN_ACTIVE && info->cancel_requested != run->is_cancel_requested)
        return differs("%s: another cancel flag", text_of(run->id));
    if (strcmp(info->job, run->made.job) != 0 || strcmp(info->tags, run->made.tags) != 0)
        return differs("%s: another job or tags", text_of(run->id));
    return true;
}

/* As it went into the beat. */
static const char *progress_of(const culex_run_info *info)
{
    static char text[CULEX_PROGRESS_MAX + 8];
    if (info->progress < 0 && info->progress_text[0] == '\0')
        return "";
    snprintf(text, sizeof text, "%d %s", info->progress, info->progress_text);
    return text;
}

static bool same_log(struct compare *compare, const char *queue, const struct model_run *run)
{
    culex_buf lines;
    if (!compare->has_logs)
        return true;
    culex_buf_init(&lines, 0);
    bool is_same =
        compare->store->ops->run_log(compare->store, queue, run->id, &lines, NULL) == CULEX_OK;
    if (is_same && (lines.len != strlen(run->log) ||
                    memcmp(lines.data != NULL ? lines.data : "", run->log, lines.len) != 0))
        is_same = differs("%s: the lines '%.*s', not '%s'", text_of(run->id), (int)lines.len,
                          lines.data, run->log);
    culex_buf_release(&lines);
    return is_same || differs("%s: its log lines", text_of(run->id));
}

static bool same_run(struct compare *compare, const char *queue, const struct model_run *run)
{
    culex_run_info *info = NULL;
    bool is_same = true;
    if (compare->store->ops->get(compare->store, queue, run->id, &info, NULL) != CULEX_OK)
        return differs("%s (%s) is not in the store", text_of(run->id),
                       culex_run_state_name(run->state));
    culex_run_state state = model_state(compare->model, run);
    if (info->state != state)
        is_same = differs("%s is %s, in the model %s", text_of(run->id),
                          culex_run_state_name(info->state), culex_run_state_name(state));
    else if (!same_facts(info, run))
        is_same = false;
    else if (run->error_text[0] != '\0' && run->state != CULEX_RUN_DONE &&
             strcmp(info->error_text, run->error_text) != 0)
        is_same = differs("%s: error text '%s', not '%s'", text_of(run->id), info->error_text,
                          run->error_text);
    else if (strcmp(progress_of(info), run->progress) != 0)
        is_same = differs("%s: progress '%s', not '%s'", text_of(run->id), progress_of(info),
                          run->progress);
    else if (run->state == CULEX_RUN_DONE
                 ? info->payload.len != 0 || !same_bytes(info->result, run->result, run->result_len)
                 : !same_bytes(info->payload, run->made.payload, run->made.payload_len))
        is_same = differs("%s: another payload or result", text_of(run->id));
    culex_run_info_free(info);
    return is_same && same_log(compare, queue, run);
}

static bool same_list(struct compare *compare, const char *queue, culex_run_state state,
                      size_t page, uint64_t expected)
{
    culex_list_cursor cursor = CULEX_LIST_START;
    uint64_t listed = 0;
    for (int pages = 0; pages < 10000; pages++) {
        struct culex_list_reply reply = {0};
        if (compare->store->ops->list(compare->store, queue, CULEX_LIST_OF(state), cursor, page,
                                      &reply, NULL) != CULEX_OK)
            return differs("LIST %s failed", culex_run_state_name(state));
        for (size_t i = 0; i < reply.count; i++) {
            const struct model_run *run = model_find(compare->model, queue, reply.runs[i].id);
            if (run == NULL || model_state(compare->model, run) != state ||
                !same_facts(&reply.runs[i], run))
                return differs("LIST %s shows %s", culex_run_state_name(state),
                               text_of(reply.runs[i].id));
        }
        listed += reply.count;
        cursor = reply.cursor;
        compare->store->ops->list_release(compare->store, &reply);
        if (cursor.place == 0)
            break;
    }
    return listed == expected || differs("LIST %s shows %" PRIu64 " runs, not %" PRIu64,
                                         culex_run_state_name(state), listed, expected);
}

static bool same_stats(const culex_queue_stats *store, const culex_queue_stats *model)
{
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        if (store->count[state] != model->count[state])
            return differs("%" PRIu64 " runs %s, not %" PRIu64, store->count[state],
                           culex_run_state_name((culex_run_state)state), model->count[state]);
    }
#define SAME(field)                                                                                \
    if (store->field != model->field)                                                              \
        return differs("stats.%s is %" PRIu64 ", not %" PRIu64, #field, (uint64_t)store->field,    \
                       (uint64_t)model->field);
    SAME(enqueued)
    SAME(done)
    SAME(failed)
    SAME(crashed)
    SAME(lost)
    SAME(dead)
    SAME(cancelled)
    SAME(stale)
    SAME(now_ms)
    SAME(paused)
    SAME(limit)
#undef SAME
    return true;
}

bool compare_queue(struct compare *compare, const char *queue, size_t page)
{
    culex_queue_stats store, model;
    struct culex_store *reference = &compare->model->base;
    culex_status status = compare->store->ops->stats(compare->store, queue, &store, NULL);
    culex_status expected = reference->ops->stats(reference, queue, &model, NULL);
    if (status != expected)
        return differs("STATS: status %d, model %d", (int)status, (int)expected);
    if (status != CULEX_OK)
        return true; /* nobody has used the queue */
    for (size_t i = 0; i < compare->model->run_count; i++) {
        const struct model_run *run = compare->model->runs[i];
        if (!run->is_gone && strcmp(run->queue->name, queue) == 0 && !same_run(compare, queue, run))
            return false;
    }
    if (!same_stats(&store, &model))
        return false;
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        if (!same_list(compare, queue, (culex_run_state)state, page, model.count[state]))
            return false;
    }
    return true;
}
