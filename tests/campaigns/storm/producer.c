/* storm/producer.c - enqueues runs until SIGTERM, and notes what it was promised.
 * usage: storm_producer URL FOLDER SEED RUNS-A-SECOND none|process|job
 *
 *   intend ORDER JOB ACT TIMES      before the call: the run may be in the store from now on
 *   acked ORDER ID                  after CULEX_OK: from now on it must not be lost
 *   refused ORDER                   a refusal that no repetition cures: never in a storm
 *
 * The order's number is in the params, so that handlers tell of which order a run is. Whatever
 * fails is repeated until the store says yes: what may have been done with its ticket, perhaps by
 * another client. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dice.h"
#include "ledger.h"
#include "storm_job.h"

enum {
    BATCH_MAX = 20,
    TIMEOUT_MS = 400,
    TRIES_MAX = 2000,
    LOOK_EVERY = 50,    /* runs between looks at the backlog */
    BACKLOG_MAX = 600,  /* runs not yet ended, above which the producer rests */
    TIMES_FOREVER = 99, /* more than any policy allows */
};

static volatile sig_atomic_t is_stopping;

struct producer {
    const char *url, *folder;
    struct dice dice;
    long rate;
    bool is_wild;   /* handlers run in processes of their own, and may break them */
    uint64_t order; /* the newest */
    culex_client *client;
};

static void stop(int number)
{
    (void)number;
    is_stopping = 1;
}

static void rest(int64_t length_ms)
{
    const struct timespec length = {length_ms / 1000, length_ms % 1000 * 1000000};
    nanosleep(&length, NULL);
}

/* Worth repeating: the store was away, slow or full. */
static bool is_passing(culex_status status)
{
    return status != CULEX_EINVAL && status != CULEX_ECONFLICT && status != CULEX_EEXPIRED &&
           status != CULEX_EENCODE && status != CULEX_ECORRUPT && status != CULEX_EVERSION;
}

static void store_open(struct producer *producer)
{
    const culex_client_options options = {.timeout_ms = TIMEOUT_MS};
    culex_error error = {0};
    for (int i = 0; i < TRIES_MAX; i++) {
        culex_status status = culex_client_open(producer->url, &options, &producer->client, &error);
        if (status == CULEX_OK)
            return;
        if (!is_passing(status))
            break;
        rest(5);
    }
    fprintf(stderr, "storm_producer: %s\n", error.text);
    exit(1);
}

/* By the clock and the process: never the same twice, whoever makes it. */
static uint64_t order_new(struct producer *producer)
{
    uint64_t number = (uint64_t)ledger_now_us() << 22 | (uint64_t)getpid();
    producer->order = number > producer->order ? number : producer->order + (UINT64_C(1) << 22);
    return producer->order;
}

static void ticket_take(struct producer *producer, culex_enqueue_options *options)
{
    culex_error error = {0};
    for (int i = 0; i < TRIES_MAX; i++) {
        options->has_ticket =
            culex_client_new_ticket(producer->client, &options->ticket, &error) == CULEX_OK;
        if (options->has_ticket)
            return;
        rest(5);
    }
    fprintf(stderr, "storm_producer: no ticket: %s\n", error.text);
    exit(1);
}

static void client_change(struct producer *producer)
{
    culex_client_close(producer->client);
    producer->client = NULL;
    store_open(producer);
}

/* What is to be enqueued: one deed, or plain runs. */
struct order {
    storm_plain_job plain[BATCH_MAX];
    storm_deed_job deed;
    bool is_deed;
    size_t count, acked;
    culex_enqueue_options options;
};

static void order_intend(const struct producer *producer, const struct order *order)
{
    if (order->is_deed)
        ledger_write(producer->folder, LEDGER_PRODUCERS, "intend %llu deed %s %u",
                     (unsigned long long)order->deed.order, storm_act_name(order->deed.act),
                     order->deed.times);
    for (size_t i = 0; i < order->count && !order->is_deed; i++) {
        storm_act act = order->plain[i].length > 0 ? STORM_ACT_NAP : STORM_ACT_PLAIN;
        ledger_write(producer->folder, LEDGER_PRODUCERS, "intend %llu plain %s 0",
                     (unsigned long long)order->plain[i].order, storm_act_name(act));
    }
}

static uint64_t order_number(const struct order *order, size_t index)
{
    return order->is_deed ? order->deed.order : order->plain[index].order;
}

static void order_ack(const struct producer *producer, const struct order *order,
                      const culex_uuid *ids, size_t count)
{
    char id[CULEX_UUID_TEXT_SIZE];
    for (size_t i = 0; i < count; i++) {
        culex_uuid_format(ids[i], id);
        ledger_write(producer->folder, LEDGER_PRODUCERS, "acked %llu %s",
                     (unsigned long long)order_number(order, order->acked + i), id);
    }
}

/* Whatever is not acknowledged yet. After CULEX_EUNKNOWN a ticket stands behind the ids. */
static culex_status order_try(struct producer *producer, struct order *order, culex_uuid *ids,
                              size_t *ret_count, culex_error *error)
{
    size_t left = order->count - order->acked;
    *ret_count = 0;
    if (!order->is_deed && order->count > 1)
        return storm_plain_job_enqueue_many(producer->client, order->plain + order->acked, left,
                                            &order->options, ids, ret_count, error);
    culex_status status =
        order->is_deed
            ? storm_deed_job_enqueue(producer->client, &order->deed, &order->options, ids, error)
            : storm_plain_job_enqueue(producer->client, order->plain, &order->options, ids, error);
    *ret_count = status == CULEX_OK;
    return status;
}

/* Until the store says yes. */
static void order_send(struct producer *producer, struct order *order)
{
    culex_error error = {0};
    culex_uuid ids[BATCH_MAX];
    size_t count;
    for (int i = 0; i < TRIES_MAX; i++) {
        culex_status status = order_try(producer, order, ids, &count, &error);
        order_ack(producer, order, ids, count);
        order->acked += count;
        order->options.has_ticket = order->options.has_ticket && count == 0;
        if (status == CULEX_OK)
            return;
        if (status == CULEX_EUNKNOWN) {
            order->options.has_ticket = true;
            order->options.ticket = ids[count];
            if (dice_roll(&producer->dice, 3) == 0)
                client_change(producer);
        }
        if (!is_passing(status))
            break;
        rest(5);
    }
    ledger_write(producer->folder, LEDGER_PRODUCERS, "refused %llu",
                 (unsigned long long)order_number(order, order->acked));
    fprintf(stderr, "storm_producer: refused: %s\n", error.text);
    exit(1);
}

static void plain_options(struct producer *producer, culex_enqueue_options *ret_options)
{
    *ret_options = culex_enqueue_options_make();
    if (dice_roll(&producer->dice, 3) == 0)
        ret_options->queue = "calm2";
    if (dice_roll(&producer->dice, 4) == 0) {
        ret_options->has_priority = true;
        ret_options->priority = (int)dice_roll(&producer->dice, 10);
    }
    if (dice_roll(&producer->dice, 6) == 0) {
        ret_options->has_delay = true;
        ret_options->delay = dice_roll(&producer->dice, 500) * CULEX_MILLISECOND;
    }
}

/* Mostly instant; some sleep for long enough to need heartbeats. */
static storm_plain_job plain_make(struct producer *producer)
{
    storm_plain_job job = storm_plain_job_make(0);
    uint32_t chance = dice_roll(&producer->dice, 100);
    if (chance < 10)
        job.length = (1 + dice_roll(&producer->dice, 30)) * CULEX_MILLISECOND;
    else if (chance < 12)
        job.length = (100 + dice_roll(&producer->dice, 400)) * CULEX_MILLISECOND;
    return job;
}

static storm_deed_job deed_make(struct producer *producer)
{
    struct dice *dice = &producer->dice;
    uint32_t chance = dice_roll(dice, 100);
    uint32_t times = dice_roll(dice, 4) == 0 ? TIMES_FOREVER : 1 + dice_roll(dice, 2);
    if (producer->is_wild && chance < 20)
        return storm_deed_job_make(STORM_ACT_CRASH, times, 0);
    if (producer->is_wild && chance < 30)
        return storm_deed_job_make(STORM_ACT_EXIT, times, 0);
    if (producer->is_wild && chance < 32)
        return storm_deed_job_make(STORM_ACT_STUBBORN, 1, 0);
    if (producer->is_wild && chance < 34)
        return storm_deed_job_make(STORM_ACT_FORK, 1, 0);
    if (producer->is_wild && chance < 38) /* what it makes is alive when a worker is killed */
        return storm_deed_job_make(STORM_ACT_HERD, 1, 0);
    if (chance < 70)
        return storm_deed_job_make(STORM_ACT_FAIL, times, 0);
    if (chance < 85)
        return storm_deed_job_make(STORM_ACT_DISCARD, 1, 0);
    if (chance < 97)
        return storm_deed_job_make(STORM_ACT_SNOOZE, 1 + dice_roll(dice, 2), 0);
    return storm_deed_job_make(STORM_ACT_EXTEND, 1, 0);
}

/* With a ticket of its own it is good for more than one try. Out of forgetfulness it is made once
 * more: its run is the same. */
static void ticketed_send(struct producer *producer, struct order *order)
{
    ticket_take(producer, &order->options);
    struct order again = *order;
    order_send(producer, order);
    if (dice_roll(&producer->dice, 4) == 0)
        order_send(producer, &again);
}

static size_t single_send(struct producer *producer)
{
    struct order order = {.count = 1, .options = culex_enqueue_options_make()};
    order.is_deed = dice_roll(&producer->dice, 5) == 0;
    if (order.is_deed) {
        order.deed = deed_make(producer);
        order.deed.order = order_new(producer);
    } else {
        order.plain[0] = plain_make(producer);
        order.plain[0].order = order_new(producer);
        plain_options(producer, &order.options);
    }
    order_intend(producer, &order);
    if (dice_roll(&producer->dice, 2) == 0)
        ticketed_send(producer, &order);
    else
        order_send(producer, &order);
    return 1;
}

static size_t batch_send(struct producer *producer)
{
    struct order order = {.count = 2 + dice_roll(&producer->dice, BATCH_MAX - 1)};
    for (size_t i = 0; i < order.count; i++) {
        order.plain[i] = storm_plain_job_make(0);
        order.plain[i].order = order_new(producer);
    }
    plain_options(producer, &order.options);
    order_intend(producer, &order);
    order_send(producer, &order);
    return order.count;
}

/* Runs not yet ended in `queue`; 0 when the store does not say. */
static uint64_t backlog(struct producer *producer, const char *queue)
{
    culex_queue_stats stats;
    if (culex_client_stats(producer->client, queue, &stats, NULL) != CULEX_OK)
        return 0;
    return stats.count[CULEX_RUN_WAITING] + stats.count[CULEX_RUN_SCHEDULED] +
           stats.count[CULEX_RUN_ACTIVE];
}

static bool is_ahead(struct producer *producer)
{
    return backlog(producer, "calm") + backlog(producer, "calm2") > BACKLOG_MAX ||
           backlog(producer, "wild") > BACKLOG_MAX / 10;
}

static void produce(struct producer *producer)
{
    size_t since_look = LOOK_EVERY;
    while (!is_stopping) {
        if (since_look >= LOOK_EVERY && is_ahead(producer)) {
            rest(50);
            continue;
        }
        since_look = since_look >= LOOK_EVERY ? 0 : since_look;
        size_t count =
            dice_roll(&producer->dice, 12) == 0 ? batch_send(producer) : single_send(producer);
        since_look += count;
        rest(1000 * (int64_t)count / producer->rate);
    }
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fputs("usage: storm_producer URL FOLDER SEED RUNS-A-SECOND none|process|job\n", stderr);
        return 2;
    }
    struct producer producer = {.url = argv[1],
                                .folder = argv[2],
                                .dice = {strtoull(argv[3], NULL, 10)},
                                .rate = strtol(argv[4], NULL, 10),
                                .is_wild = strcmp(argv[5], "none") != 0};
    const struct sigaction action = {.sa_handler = stop};
    sigaction(SIGTERM, &action, NULL);
    if (producer.rate < 1)
        return 2;
    store_open(&producer);
    produce(&producer);
    culex_client_close(producer.client);
    return 0;
}
