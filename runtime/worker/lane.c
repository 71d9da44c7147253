#include "worker/lane.h"

#include <assert.h>

#include "worker/acks.h"
#include "worker/appetite.h"
#include "worker/beats.h"
#include "worker/pace.h"
#include "worker/flight.h"
#include "worker/grants.h"
#include "worker/metrics.h"
#include "worker/order.h"
#include "worker/outage.h"
#include "worker/solitude.h"
#include "worker/worker_private.h"

enum {
    CLAIM_BYTES = 4 * 1024 * 1024, /* of payload in one step */
    GATHER_NS = 1000000            /* how long results may wait for company */
};
#define EXPIRED_LOG_NS    INT64_C(60000000000) /* between lines about runs that expire */
#define FOLLOW_UPS_LOG_NS INT64_C(60000000000) /* about follow-ups that wait */
#define LINES_LOG_NS      INT64_C(60000000000) /* about log lines that are not kept */

/* --- what to send --------------------------------------------------------------------------- */

/* Handlers that are idle, less those that the grants of unanswered steps will take. */
static uint32_t free_handlers(const culex_worker *worker)
{
    size_t busy = worker->crew.count;
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct culex_lane_step *step = &worker->lanes[i].step;
        busy += step->is_pending ? step->want - step->ahead : 0;
        busy += worker->lanes[i].granted;
    }
    size_t handlers = culex__crew_capacity(worker);
    return busy < handlers ? (uint32_t)(handlers - busy) : 0;
}

/* Runs to ask for. A lane that was held wants a free handler, and would be held again without one.
 */
static size_t lane_room(const struct culex_lane *lane)
{
    const culex_worker *worker = lane->worker;
    if (worker->phases.current != CULEX_WORKER_RUNNING || worker->presence.is_quiet ||
        !culex__solitude_lets_claim(lane) || (lane->is_held && free_handlers(worker) == 0))
        return 0;
    return culex__order_room(lane, culex__appetite_room(lane));
}

/* The most that pays to be claimed, or told, at once. */
static size_t lane_batch(const struct culex_lane *lane)
{
    size_t batch = culex__appetite_batch(lane), most = lane->share.most;
    return most > 0 && most < batch ? most : batch;
}

/* Short runs end by the dozen. While the handlers have more of them to do, it pays to wait for half
 * a batch of ends, or of room for what the store may have, before the next step. */
static bool lane_should_gather(const struct culex_lane *lane, size_t queued, int64_t now_ns)
{
    const culex_worker *worker = lane->worker;
    size_t half = (lane_batch(lane) + 1) / 2;
    bool has_room = now_ns >= culex__outlook_next_ns(lane) && lane_room(lane) >= half;
    return worker->phases.current == CULEX_WORKER_RUNNING && culex__appetite_is_quick(lane) &&
           queued > 0 && worker->pace.careful_count == 0 && !has_room &&
           lane->acks.ends.count < half &&
           (lane->acks.ends.count == 0 || now_ns - lane->acks.since_ns < GATHER_NS);
}

/* When the lane has something to send that does not wait for company. */
static int64_t urgent_ns(const struct culex_lane *lane)
{
    if (lane->step.is_pending || lane->outlook.is_hinting)
        return 0;
    return lane->flight_count > 0 ? lane->beat_ns : INT64_MAX;
}

/* When it has ends to send, or runs to claim, which may gather. */
static int64_t batch_ns(const struct culex_lane *lane)
{
    if (lane->acks.ends.count > 0)
        return 0;
    if (lane_room(lane) == 0)
        return INT64_MAX;
    return culex__outlook_next_ns(lane);
}

int64_t culex__lane_next_ns(const struct culex_lane *lane)
{
    int64_t next_ns = culex__min_ns(urgent_ns(lane), batch_ns(lane));
    int64_t call_ns = culex__outage_call_ns(lane);
    if (!lane->greeting.is_done)
        return INT64_MAX;
    return next_ns > call_ns ? next_ns : call_ns;
}

bool culex__lane_wants_step(const struct culex_lane *lane, size_t queued, int64_t now_ns)
{
    if (now_ns < culex__lane_next_ns(lane))
        return false;
    return now_ns >= urgent_ns(lane) || !lane_should_gather(lane, queued, now_ns);
}

/* Call it before the step is pending, which would count its own claims as taken, and after its acks
 * were added, as a suspect waits for those. */
static void step_add_claims(struct culex_lane *lane, int64_t now_ns)
{
    struct culex_lane_step *step = &lane->step;
    uint32_t starts = free_handlers(lane->worker);
    step->want = (uint32_t)lane_room(lane);
    step->ahead = step->want > starts ? step->want - starts : 0;
    culex__units_offer(lane, now_ns, step->offers);
}

/* The lower half is left for counting up. */
void culex__nonce_choose(culex_worker *worker)
{
    worker->nonce = (culex__env_random(worker->env) & UINT32_MAX) << 20 | 1;
}

static void step_prepare(struct culex_lane *lane, int64_t now_ns)
{
    culex_worker *worker = lane->worker;
    struct culex_lane_step *step = &lane->step;
    assert(!step->is_pending); /* or its acks would be forgotten, and its grants be lost */
    step->nonce = worker->nonce++;
    step->may_be_applied = false;
    culex__acks_add(lane);
    step_add_claims(lane, now_ns);
    culex__beats_add(lane, now_ns);
    step->is_pending = true;
}

/* --- what the answers mean ------------------------------------------------------------- */

/* More runs may be waiting: the list of grants ended at a bound of the step. */
static bool step_was_cut(const struct culex_lane_step *step, const struct culex_step_reply *reply)
{
    size_t bytes = 0;
    if (reply->grant_count == 0)
        return false;
    for (size_t i = 0; i < reply->grant_count; i++)
        bytes += reply->grants[i].payload_len;
    return reply->grant_count >= step->want || bytes >= CLAIM_BYTES / 4;
}

/* Once a minute at most: a backlog expires by the thousand. */
static void lane_tell_expired(struct culex_lane *lane, uint32_t count, int64_t now_ns)
{
    const struct culex_log_subject subject = {.queue = lane->name};
    culex__tally_add(lane->worker, CULEX_TALLY_EXPIRED, count);
    culex__metrics_note_expired(lane, count);
    lane->expired_untold += count;
    if (lane->expired_untold == 0 ||
        (lane->expired_told_ns != 0 && now_ns - lane->expired_told_ns < EXPIRED_LOG_NS))
        return;
    culex__log_write(&lane->worker->log, CULEX_LOG_WARNING, &subject,
                     "queue %s: %llu runs expired before a worker came for them and are dead",
                     lane->name, (unsigned long long)lane->expired_untold);
    lane->expired_untold = 0;
    lane->expired_told_ns = now_ns;
}

/* Once a minute at most. Nothing is lost: the queue's steps go on trying, or the runs fail. */
static void lane_tell_follow_ups(struct culex_lane *lane, const culex_error *why, int64_t now_ns)
{
    const struct culex_log_subject subject = {.queue = lane->name};
    if (why->code == CULEX_OK ||
        (lane->follow_ups_told_ns != 0 && now_ns - lane->follow_ups_told_ns < FOLLOW_UPS_LOG_NS))
        return;
    culex__log_write(&lane->worker->log, CULEX_LOG_WARNING, &subject,
                     "queue %s: follow-ups cannot come in: %s", lane->name, why->text);
    lane->follow_ups_told_ns = now_ns;
}

/* Once a minute at most. */
static void lane_tell_lines(struct culex_lane *lane, bool are_left, int64_t now_ns)
{
    const struct culex_log_subject subject = {.queue = lane->name};
    if (!are_left || (lane->lines_told_ns != 0 && now_ns - lane->lines_told_ns < LINES_LOG_NS))
        return;
    culex__log_write(&lane->worker->log, CULEX_LOG_WARNING, &subject,
                     "queue %s: log lines of its runs are not kept: the store is short of room; "
                     "results are recorded",
                     lane->name);
    lane->lines_told_ns = now_ns;
}

/* All but the grants. */
static void answer_take(struct culex_lane *lane, const struct culex_step_reply *reply,
                        int64_t now_ns)
{
    culex_worker *worker = lane->worker;
    struct culex_lane_step *step = &lane->step;
    assert(step->is_pending && reply->grant_count <= step->want);
    culex__worker_learn_clock(worker, reply->now_ms, step->sent_ns);
    culex__worker_learn_room(worker, reply->room);
    step->is_pending = false;
    if (step->want > 0)
        culex__pace_set_held(lane, reply->is_held);
    culex__units_take_reply(lane, step->want, reply);
    culex__outlook_take(lane, reply, step_was_cut(step, reply), now_ns);
    culex__acks_take(lane, reply->acks);
    culex__beats_take(lane, reply->beats, reply->lines_left);
    lane_tell_lines(lane, reply->lines_left, now_ns);
    lane_tell_expired(lane, reply->expired_count, now_ns);
    lane->has_follow_ups = reply->follow_ups_left.code != CULEX_OK;
    lane_tell_follow_ups(lane, &reply->follow_ups_left, now_ns);
    if (reply->has_brought)
        atomic_store(&worker->is_fed, true);
    if (reply->is_replaced) {
        culex__greeting_repeat(lane);
        culex__flight_lose_all(lane);
    }
}

/* --- calls ----------------------------------------------------------------------------- */

static struct culex_step step_make(const struct culex_lane *lane)
{
    return (struct culex_step){.queue = lane->name,
                               .session = lane->greeting.session,
                               .nonce = lane->step.nonce,
                               .want = lane->step.want,
                               .ahead = lane->step.ahead,
                               .offers = lane->step.offers,
                               .in_company = !culex__solitude_is_reached(lane),
                               .max_bytes = CLAIM_BYTES,
                               .lease_ms = lane->worker->options.lease_ms,
                               .acks = lane->acks.sent,
                               .ack_count = lane->acks.count,
                               .beats = lane->beats.sent,
                               .beat_count = lane->beats.count};
}

/* What they need is free until they are worked up: the next step would offer it again. */
static bool grants_need(const struct culex_step_reply *reply)
{
    bool need = false;
    for (size_t i = 0; i < reply->grant_count; i++)
        need = need || reply->grants[i].needs != NULL;
    return need;
}

/* Nothing is out of the ordinary, and there will be work here while the store has the next step. */
static bool may_send_ahead(const struct culex_lane *lane, const struct culex_step_reply *reply)
{
    const culex_worker *worker = lane->worker;
    return worker->store->sends_ahead && reply->grant_count > 0 &&
           reply->room == CULEX_ROOM_ENOUGH && culex__appetite_is_quick(lane) &&
           !grants_need(reply);
}

/* The next step, when it is wanted already, before the grants of this one's answer are worked up.
 * What has ended while the answer was awaited goes along: a drain is slower by a tenth without. */
static void send_ahead(struct culex_lane *lane, const struct culex_step_reply *reply)
{
    culex_worker *worker = lane->worker;
    if (!may_send_ahead(lane, reply))
        return;
    culex__flight_collect(worker);
    lane->granted = reply->grant_count;
    int64_t now_ns = culex__worker_now_ns(worker);
    if (culex__lane_wants_step(lane, culex__crew_queued(worker) + lane->granted, now_ns)) {
        step_prepare(lane, now_ns);
        struct culex_step step = step_make(lane);
        lane->step.sent_ns = now_ns;
        lane->step.may_be_applied = worker->store->ops->step_send(worker->store, &step);
    }
    lane->granted = 0;
}

static void step_take_reply(struct culex_lane *lane, const struct culex_step_reply *reply)
{
    int64_t sent_ns = lane->step.sent_ns;
    answer_take(lane, reply, culex__worker_now_ns(lane->worker));
    culex__order_note_grants(lane, reply->grant_count);
    culex__grants_forget_twins(lane, reply->grants, reply->grant_count);
    send_ahead(lane, reply);
    lane->was_fed = culex__grants_take(lane, reply->grants, reply->grant_count, sent_ns);
}

static culex_status lane_send(struct culex_lane *lane, culex_error *error)
{
    culex_worker *worker = lane->worker;
    struct culex_lane_step *state = &lane->step;
    int64_t now_ns = culex__worker_now_ns(worker);
    if (!state->is_pending)
        step_prepare(lane, now_ns);
    else
        culex__units_offer(lane, now_ns, state->offers);
    if (!state->may_be_applied)
        state->sent_ns = now_ns;
    struct culex_step step = step_make(lane);
    struct culex_step_reply reply = {0};
    culex_status status = worker->store->ops->step(worker->store, &step, &reply, error);
    if (status != CULEX_OK) {
        state->may_be_applied |= culex__call_may_be_applied(worker->store, status);
        return status;
    }
    int64_t took_ns = culex__worker_now_ns(worker) - state->sent_ns;
    culex__appetite_learn_step(lane, took_ns);
    culex__metrics_note_step(worker, took_ns);
    step_take_reply(lane, &reply);
    worker->store->ops->step_release(worker->store, &reply);
    return CULEX_OK;
}

culex_status culex__lane_step(struct culex_lane *lane, culex_error *error)
{
    assert(
        lane->greeting.is_done); /* the store counts nothing of a session that it does not know */
    lane->was_fed = false;
    culex_status status = lane_send(lane, error);
    if (status == CULEX_OK) {
        culex__worker_call_succeeded(lane->worker, &lane->trouble);
        return CULEX_OK;
    }
    if (status == CULEX_EMOVED)
        return status;
    culex__worker_call_failed(lane->worker, lane, &lane->trouble, status, error);
    return CULEX_OK;
}
