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

static int64_t driven_clock(void *self)
{
    return ((const struct traffic *)self)->now_ms;
}

void traffic_open(struct traffic *traffic, const char *url)
{
    const struct culex_store_options options = {.prefix = TRAFFIC_PREFIX};
    culex_error error = {0};
    memset(traffic, 0, sizeof *traffic);
    traffic->env = *culex__env_system();
    traffic->env.self = traffic;
    traffic->env.store_clock_ms = driven_clock;
    traffic->now_ms = INT64_C(1800000000000);
    traffic->ticket.producer = 1;
    need(culex__store_open(url, &options, &traffic->env, &traffic->store, &error), "open", &error);
}

void traffic_close(struct traffic *traffic)
{
    traffic->store->ops->close(traffic->store);
    traffic->store = NULL;
}

struct culex_new_run traffic_run(struct traffic *traffic)
{
    struct culex_new_run run = {.job = "shop.send_email",
                                .attempts_max = 3,
                                .keep_success_ms = 20000,
                                .keep_failure_ms = 40000,
                                .fingerprint = 1,
                                .content = ++traffic->serial,
                                .tags = "",
                                .payload = "{\"to\":1}",
                                .payload_len = 8};
    return run;
}

void traffic_put(struct traffic *traffic, const struct culex_new_run *runs, size_t count)
{
    struct culex_enqueue_result results[TRAFFIC_BATCH_MAX];
    culex_error error = {0};
    culex__ticket_next(&traffic->ticket, traffic->now_ms);
    need(traffic->store->ops->enqueue(traffic->store, TRAFFIC_QUEUE, &traffic->ticket, runs, count,
                                      results, &error),
         "enqueue", &error);
    for (size_t i = 0; i < count; i++) {
        if (results[i].outcome != CULEX_ENQUEUED_NEW)
            need(CULEX_ESTATE, "enqueue refused", &error);
        traffic->newest = results[i].id;
    }
}

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
    need(traffic->store->ops->step(traffic->store, step, &reply, &error), "step", &error);
    return reply;
}
