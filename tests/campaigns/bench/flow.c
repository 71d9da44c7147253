#include "flow.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_MS = 2, SETTLE_MS = 100 };

/* One of each, with a first run through both, so that all connections and children are there. */
struct flow {
    const struct side *side;
    const struct knobs *knobs;
    struct meter *meter;
    void *producer;
    pid_t consumer;
};

static void pause_s(double seconds)
{
    struct timespec wait = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    if (seconds > 0)
        nanosleep(&wait, NULL);
}

static void run_enqueue(struct flow *flow, const struct knobs *knobs, size_t first, size_t count)
{
    flow->side->producer.run(flow->producer, knobs, first, count);
    sem_post(&flow->meter->filled);
}

static pid_t consumer = -1; /* that must not outlive this process, which may give up */

static void consumer_kill(void)
{
    if (consumer > 0)
        kill(consumer, SIGKILL);
}

static pid_t consumer_start(const struct side *side, const struct knobs *knobs, struct meter *meter)
{
    consumer = fork();
    if (consumer == 0) {
        consumer = -1;
        side->consume(knobs, meter);
        exit(0);
    }
    atexit(consumer_kill);
    return consumer;
}

static void consumer_stop(pid_t pid)
{
    int status = 0;
    kill(pid, SIGTERM);
    consumer = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0 && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM))
        exit(1);
}

static struct flow flow_begin(const struct side *side, const struct knobs *knobs, size_t stamps)
{
    struct flow flow = {side, knobs, meter_make(stamps), NULL, -1};
    flow.consumer = consumer_start(side, knobs, flow.meter);
    flow.producer = side->producer.open(knobs);
    run_enqueue(&flow, knobs, 0, 1);
    meter_await(flow.meter, 1);
    return flow;
}

static void flow_end(struct flow *flow)
{
    consumer_stop(flow->consumer);
    flow->side->producer.close(flow->producer);
}

/* With a rate a call waits for its time. */
static void pace(const struct knobs *knobs, size_t sent, double begun)
{
    if (knobs->rate > 0)
        pause_s(begun + (double)sent / (double)knobs->rate - now_s());
}

double flow_run(const struct side *side, const struct knobs *knobs, size_t *ret_count)
{
    struct knobs calls = *knobs;
    calls.batch = knobs->bulk; /* of the producer; knobs->batch is the worker's */
    struct flow flow = flow_begin(side, knobs, 0);
    size_t window = knobs->window > 0 ? knobs->window : knobs->count, ahead = 0, sent = 0;
    double start = now_s();
    while (knobs->seconds > 0 ? now_s() - start < (double)knobs->seconds : sent < knobs->count) {
        pace(knobs, sent, start);
        size_t left = knobs->seconds > 0 ? knobs->bulk : knobs->count - sent;
        size_t some = left < knobs->bulk ? left : knobs->bulk;
        if (ahead + some > window) {
            meter_await(flow.meter, some);
            ahead -= some;
        }
        run_enqueue(&flow, &calls, 1 + sent, some);
        ahead += some;
        sent += some;
    }
    meter_await(flow.meter, ahead);
    double spent = now_s() - start;
    flow_end(&flow);
    *ret_count = sent;
    return spent;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Enqueues run `i` when its time has come; returns from when its start is counted. */
static double start_send(struct flow *flow, size_t i, double begun)
{
    const struct knobs *knobs = flow->knobs;
    struct knobs one = *knobs;
    one.batch = 1;
    double due = knobs->rate > 0 ? begun + (double)i / (double)knobs->rate : 0;
    double early = due - now_s();
    pause_s(knobs->rate > 0 ? early : PAUSE_MS / 1e3); /* the worker is to be idle by then */
    double sent = knobs->rate > 0 && early < 0 ? due : now_s();
    run_enqueue(flow, &one, i, 1);
    if (knobs->rate == 0)
        meter_await(flow->meter, 1);
    return sent;
}

double *flow_starts(const struct side *side, const struct knobs *knobs)
{
    struct flow flow = flow_begin(side, knobs, knobs->count + 1);
    double *spent_us = calloc(knobs->count, sizeof *spent_us);
    pause_s(SETTLE_MS / 1e3);
    double begun = now_s();
    for (size_t i = 1; i <= knobs->count; i++)
        spent_us[i - 1] = start_send(&flow, i, begun);
    if (knobs->rate > 0)
        meter_await(flow.meter, knobs->count);
    flow_end(&flow);
    for (size_t i = 1; i <= knobs->count; i++)
        spent_us[i - 1] = (flow.meter->starts_s[i] - spent_us[i - 1]) * 1e6;
    qsort(spent_us, knobs->count, sizeof *spent_us, compare);
    return spent_us;
}

void flow_idle(const struct side *side, const struct knobs *knobs)
{
    struct flow flow = flow_begin(side, knobs, 0);
    pause_s(SETTLE_MS / 1e3);
    printf("idle %d\n", (int)flow.consumer);
    fflush(stdout);
    pause_s((double)knobs->seconds);
    puts("over");
    fflush(stdout);
    while (getchar() != EOF) {
    }
    flow_end(&flow);
}
