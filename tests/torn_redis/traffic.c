#include "traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const sessions[] = {"00000000000000aa", "00000000000000bb", "00000000000000cc",
                                       "00000000000000dd"};

static void need(culex_status status, const char *verb, const culex_error *error)
{
    if (status == CULEX_OK)
        return;
    fprintf(stderr, "traffic: %s: %s\n", verb, error->text);
    exit(1);
}

uint64_t traffic_draw(uint64_t *seed, uint64_t limit)
{
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = (*seed ^ *seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % limit;
}

static uint64_t draw(struct traffic *traffic, uint64_t limit)
{
    return traffic_draw(&traffic->seed, limit);
}

static int64_t driven_clock(void *self)
{
    return ((const struct traffic *)self)->now_ms;
}

void traffic_open(struct traffic *traffic, const char *url, uint64_t seed)
{
    const struct culex_backend_options options = {.prefix = TRAFFIC_PREFIX};
    culex_error error = {0};
    memset(traffic, 0, sizeof *traffic);
    traffic->env = *culex__env_system();
    traffic->env.self = traffic;
    traffic->env.store_clock_ms = driven_clock;
    traffic->now_ms = INT64_C(1800000000000);
    traffic->seed = seed;
    need(culex__backend_open(url, &options, &traffic->env, &traffic->backend, &error), "open",
         &error);
}

void traffic_close(struct traffic *traffic)
{
    traffic->backend->ops->close(traffic->backend);
    traffic->backend = NULL;
}

/* --- enqueue --------------------------------------------------------------------------- */

static culex_uuid id_make(struct traffic *traffic)
{
    culex_uuid id = {{0}};
    uint64_t serial = ++traffic->serial;
    for (int i = 0; i < 6; i++)
        id.b[i] = (uint8_t)(traffic->now_ms >> (40 - 8 * i));
    id.b[6] = 0x70;
    id.b[8] = 0x80;
    for (int i = 0; i < 7; i++)
        id.b[15 - i] = (uint8_t)(serial >> 8 * i);
    return id;
}

struct culex_new_run traffic_run(struct traffic *traffic)
{
    struct culex_new_run run = {.id = id_make(traffic),
                                .job = "shop.send_email",
                                .attempts_max = 3,
                                .keep_success_ms = 20000,
                                .keep_failure_ms = 40000,
                                .fingerprint = 1,
                                .content = traffic->serial,
                                .tags = "",
                                .payload = "{\"to\":1}",
                                .payload_len = 8};
    return run;
}

void traffic_put(struct traffic *traffic, const struct culex_new_run *runs, size_t count)
{
    struct culex_enqueue_result results[TRAFFIC_BATCH_MAX];
    culex_error error = {0};
    need(traffic->backend->ops->enqueue(traffic->backend, TRAFFIC_QUEUE, runs, count, results,
                                        &error),
         "enqueue", &error);
    for (size_t i = 0; i < count; i++) {
        if (results[i].outcome == CULEX_ENQUEUED_NEW)
            traffic->newest = runs[i].id;
        else if (results[i].outcome != CULEX_ENQUEUED_UNIQUE_TAKEN)
            need(CULEX_ESTATE, "enqueue refused", &error);
    }
}

static void operate_enqueue(struct traffic *traffic)
{
    static const char *const keys[] = {"a1", "a2", "a3"};
    struct culex_new_run runs[4];
    size_t count = 1 + draw(traffic, 4);
    for (size_t i = 0; i < count; i++) {
        runs[i] = traffic_run(traffic);
        runs[i].priority = draw(traffic, 3) == 0 ? (int)draw(traffic, 10) : 0;
        runs[i].delay_ms = draw(traffic, 4) == 0 ? (int64_t)draw(traffic, 20000) : 0;
        runs[i].expires_ms = draw(traffic, 8) == 0 ? 5000 : 0;
        runs[i].unique_key = draw(traffic, 5) == 0 ? keys[draw(traffic, 3)] : NULL;
    }
    traffic_put(traffic, runs, count);
}

/* --- step ------------------------------------------------------------------------------ */

struct culex_step traffic_step_make(struct traffic *traffic, int session, uint32_t want)
{
    return (struct culex_step){.queue = TRAFFIC_QUEUE,
                               .session = sessions[session],
                               .nonce = ++traffic->serial,
                               .want = want,
                               .max_bytes = 1 << 20,
                               .lease_ms = TRAFFIC_LEASE_MS};
}

struct culex_step_reply traffic_step(struct traffic *traffic, const struct culex_step *step)
{
    struct culex_step_reply reply = {.now_ms = 0};
    culex_error error = {0};
    need(traffic->backend->ops->step(traffic->backend, step, &reply, &error), "step", &error);
    return reply;
}

static struct culex_ack ack_make(struct traffic *traffic, const struct traffic_held *held)
{
    static const enum culex_run_event events[] = {
        CULEX_EVENT_DONE,  CULEX_EVENT_DONE,    CULEX_EVENT_DONE,   CULEX_EVENT_FAIL,
        CULEX_EVENT_CRASH, CULEX_EVENT_RELEASE, CULEX_EVENT_DISCARD};
    struct culex_ack ack = {.id = held->id, .attempt = held->attempt, .text = "not today"};
    ack.event = events[draw(traffic, sizeof events / sizeof events[0])];
    ack.delay_ms = draw(traffic, 2) == 0 ? (int64_t)draw(traffic, 9000) : 0;
    if (ack.event == CULEX_EVENT_DONE && draw(traffic, 2) == 0) {
        ack.result = "42";
        ack.result_len = 2;
    }
    return ack;
}

/* Ends some of what the session holds, beats for some, and leaves the rest to time. */
static void held_settle(struct traffic *traffic, struct culex_step *step, int session,
                        struct culex_ack *acks, struct culex_beat *beats)
{
    size_t kept = 0;
    for (size_t i = 0; i < traffic->held_count; i++) {
        const struct traffic_held *held = &traffic->held[i];
        uint64_t fate = held->session == session ? draw(traffic, 10) : 9;
        if (fate < 6)
            acks[step->ack_count++] = ack_make(traffic, held);
        else if (fate < 8)
            beats[step->beat_count++] = (struct culex_beat){
                .id = held->id, .attempt = held->attempt, .progress = "40 halfway"};
        if (fate > 6)
            traffic->held[kept++] = *held;
    }
    traffic->held_count = kept;
    step->acks = acks;
    step->beats = beats;
}

static void operate_step(struct traffic *traffic)
{
    struct culex_ack acks[TRAFFIC_HELD_MAX];
    struct culex_beat beats[TRAFFIC_HELD_MAX];
    int session = (int)draw(traffic, 4);
    struct culex_step step = traffic_step_make(traffic, session, (uint32_t)draw(traffic, 5));
    held_settle(traffic, &step, session, acks, beats);
    struct culex_step_reply reply = traffic_step(traffic, &step);
    for (size_t i = 0; i < reply.grant_count && traffic->held_count < TRAFFIC_HELD_MAX; i++)
        traffic->held[traffic->held_count++] = (struct traffic_held){
            .id = reply.grants[i].id, .attempt = reply.grants[i].attempt, .session = session};
    traffic->backend->ops->step_release(traffic->backend, &reply);
}

/* --- the rest -------------------------------------------------------------------------- */

static void operate_manage(struct traffic *traffic)
{
    struct culex_backend *backend = traffic->backend;
    culex_run_state state;
    size_t count;
    int64_t now_ms;
    /* Whether the newest run is in a state that allows it is left to chance. */
    switch (draw(traffic, 5)) {
    case 0:
    case 1:
        backend->ops->cancel(backend, TRAFFIC_QUEUE, traffic->newest, &state, NULL);
        break;
    case 2:
        backend->ops->retry(backend, TRAFFIC_QUEUE, traffic->newest, NULL);
        break;
    case 3:
        backend->ops->forget(backend, TRAFFIC_QUEUE, traffic->newest, NULL);
        break;
    default:
        backend->ops->hello(backend, TRAFFIC_QUEUE, "ann", sessions[draw(traffic, 4)], &count,
                            &now_ms, NULL);
    }
}

void traffic_operate(struct traffic *traffic)
{
    uint64_t pick = draw(traffic, 100);
    traffic->now_ms += (int64_t)draw(traffic, 400);
    if (pick < 35)
        operate_enqueue(traffic);
    else if (pick < 88)
        operate_step(traffic);
    else
        operate_manage(traffic);
}

bool traffic_drain(struct traffic *traffic)
{
    struct culex_ack acks[TRAFFIC_BATCH_MAX];
    size_t count = 0;
    for (int round = 0; round < 200; round++) {
        struct culex_step step = traffic_step_make(traffic, 0, TRAFFIC_BATCH_MAX);
        step.acks = acks;
        step.ack_count = count;
        struct culex_step_reply reply = traffic_step(traffic, &step);
        bool is_empty = reply.is_empty;
        count = reply.grant_count;
        for (size_t i = 0; i < count; i++)
            acks[i] = (struct culex_ack){.id = reply.grants[i].id,
                                         .attempt = reply.grants[i].attempt,
                                         .event = CULEX_EVENT_DONE};
        traffic->backend->ops->step_release(traffic->backend, &reply);
        if (is_empty)
            return true;
        traffic->now_ms += 2000;
    }
    return false;
}
