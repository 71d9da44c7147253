/* bench/product_worker.c - the product's side: its worker, and the table of this side. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <culex/events.h>

#include "product.h"
#include "side.h"

/* What a handler does with a run. */
typedef culex_outcome (*product_handler)(culex_run *run, const void *params, void *user);

/* What the handlers of one worker share, in whichever processes. */
struct hand {
    size_t fail_percent, stop_after, follow;
    culex_worker *worker;
    atomic_size_t begun, called;
    atomic_llong
        last_ns; /* when the last one was at its end: a drain then waits a while for more */
};

/* The run at hand, as any handler of this file gets it. */
struct call {
    product_handler handler;
    void *user;
};

static culex_outcome handler_call(culex_run *run, culex_handler_fn function, const void *params,
                                  void *user)
{
    const struct call *call = user;
    (void)function;
    return call->handler(run, params, call->user);
}

static void handler_stand_in(void)
{
}

/* Stops by itself if `is_drain`. */
static culex_worker *worker_make(const struct knobs *knobs, bool is_drain, product_handler handler,
                                 void *user)
{
    culex_error error;
    culex_worker *worker = NULL;
    culex_worker_options options = {.url = knobs->url,
                                    .concurrency = (unsigned)knobs->handlers,
                                    .batch = (unsigned)knobs->batch,
                                    .drain = is_drain,
                                    .uncounted = knobs->is_uncounted,
                                    .isolation = knobs->isolation,
                                    .log_level = 1,
                                    .store_timeout_ms = 60000,
                                    .synchronous = knobs->synchronous};
    struct call *call = malloc(sizeof *call); /* lives as long as the program */
    culex_job_type *type = malloc(sizeof *type);
    *call = (struct call){handler, user};
    *type = product_type(knobs);
    if (culex_worker_create(&options, &worker, &error) != CULEX_OK ||
        culex_worker_register(worker, type, handler_call, handler_stand_in, call) != CULEX_OK)
        product_die("worker", &error);
    return worker;
}

/* One more, which has none. */
static void follow_up(culex_run *run, const bench_job *job, size_t how)
{
    culex_error error;
    bench_job next = *job;
    next.number = -1;
    culex_status status = how == 1
                              ? bench_job_enqueue_from(run, &next, NULL, &error)
                              : bench_job_enqueue(culex_run_client(run), &next, NULL, NULL, &error);
    if (status != CULEX_OK)
        product_die("follow-up", &error);
}

static culex_outcome handle_drained(culex_run *run, const void *params, void *user)
{
    struct hand *hand = user;
    const bench_job *job = params;
    if (job->number == PRODUCT_CALLBACK)
        atomic_fetch_add(&hand->called, 1);
    if (hand->follow > 0 && job->number >= 0)
        follow_up(run, job, hand->follow);
    atomic_store(&hand->last_ns, (long long)(now_s() * 1e9));
    if (hand->stop_after > 0 && atomic_fetch_add(&hand->begun, 1) + 1 == hand->stop_after)
        culex_worker_stop(hand->worker);
    if (hand->fail_percent > 0 && culex_run_attempt(run) == 1 &&
        (size_t)job->number % 100 < hand->fail_percent)
        return culex_run_fail(run, "as it was told");
    return CULEX_DONE;
}

static void events_keep(const struct knobs *knobs)
{
    culex_error error;
    culex_client *client = product_client(knobs);
    if (culex_client_events_keep(client, "bench", knobs->events, &error) != CULEX_OK)
        product_die("events", &error);
    culex_client_close(client);
}

static void *drainer_open(const struct knobs *knobs)
{
    struct hand *hand = shared_memory(sizeof *hand);
    hand->fail_percent = knobs->fail_percent;
    hand->stop_after = knobs->stop_after;
    hand->follow = knobs->follow;
    if (knobs->events > 0)
        events_keep(knobs);
    hand->worker = worker_make(knobs, true, handle_drained, hand);
    return hand;
}

static double drainer_run(void *user, const struct knobs *knobs, size_t first, size_t count)
{
    struct hand *hand = user;
    culex_error error;
    (void)first;
    (void)count;
    if (culex_worker_run(hand->worker, &error) != CULEX_OK)
        product_die("drain", &error);
    if (atomic_load(&hand->called) != knobs->in_batch) {
        fprintf(stderr, "bench: %zu callbacks\n", atomic_load(&hand->called));
        exit(1);
    }
    return (double)atomic_load(&hand->last_ns) / 1e9;
}

static void drainer_close(void *user)
{
    struct hand *hand = user;
    culex_worker_free(hand->worker);
}

/* --- consume ----------------------------------------------------------------------------- */

static culex_worker *consumer; /* of this process, for the signal */

static void consumer_stop(int signal)
{
    (void)signal;
    culex_worker_stop(consumer);
}

static culex_outcome handle_metered(culex_run *run, const void *params, void *user)
{
    (void)run;
    meter_start(user, (size_t)((const bench_job *)params)->number);
    return CULEX_DONE;
}

static void product_consume(const struct knobs *knobs, struct meter *meter)
{
    culex_error error;
    consumer = worker_make(knobs, false, handle_metered, meter);
    signal(SIGTERM, consumer_stop);
    if (culex_worker_run(consumer, &error) != CULEX_OK)
        product_die("worker", &error);
    culex_worker_free(consumer);
}

/* --- the side ---------------------------------------------------------------------------- */

static void *producer_open(const struct knobs *knobs)
{
    return product_client(knobs);
}

static double producer_run(void *client, const struct knobs *knobs, size_t first, size_t count)
{
    product_enqueue(client, knobs, first, count);
    return now_s();
}

static void producer_close(void *client)
{
    culex_client_close(client);
}

const struct side product_side = {{producer_open, producer_run, producer_close, true},
                                  {drainer_open, drainer_run, drainer_close, false},
                                  product_consume,
                                  product_codec};
