/* bounds/bounds.c - what one script costs at most beside very many runs.
 *
 *     bounds_redis [RUNS]
 *
 * With RUNS only what limits and unique keys cost beside so many. A queue of 100000 runs in each of
 * several shapes; on each every verb is called once, while MONITOR tells what the scripts do.
 * Counted are commands and their words, which are the runs they name: never time. Commands that
 * answer with a whole key are refused whatever they cost. */
#include "redis_server.h"
#include "traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 100000, GHOSTS = 5000, SPAN_MAX = 1000, LONG_MS = 1000000000 };

static struct redis_server server;
static struct traffic traffic;
static redisContext *monitor;
static const char *shape, *verb;

static void need(bool is_good, const char *what, const char *detail)
{
    if (is_good)
        return;
    fprintf(stderr, "bounds: %s, %s: %s %.300s\n", shape, verb, what, detail);
    redis_server_stop(&server);
    exit(1);
}

/* --- what MONITOR says ----------------------------------------------------------------- */

/* Of the script that runs, and the most of any. */
struct cost {
    long commands, words;
};

static struct cost script, worst;

static const char *command_of(const char *line)
{
    const char *at = strchr(line, '"');
    return at != NULL ? at : "";
}

static bool is_command(const char *line, const char *name)
{
    size_t len = strlen(name);
    const char *at = command_of(line);
    return at[0] == '"' && strncasecmp(at + 1, name, len) == 0 && at[len + 1] == '"';
}

static long words_count(const char *line)
{
    long quotes = 0;
    for (const char *at = line; *at != '\0'; at++) {
        if (*at == '\\' && at[1] != '\0')
            at++;
        else
            quotes += *at == '"';
    }
    return quotes / 2;
}

/* The word `index`, 0 for the command; numbers and keywords only. "" when there is none. */
static const char *word_at(const char *line, int index)
{
    int quotes = 0;
    for (const char *at = line; *at != '\0'; at++) {
        if (*at == '\\' && at[1] != '\0')
            at++;
        else if (*at == '"' && quotes++ == 2 * index)
            return at + 1;
    }
    return "";
}

static void span_check(const char *line)
{
    long from = strtol(word_at(line, 2), NULL, 10), to = strtol(word_at(line, 3), NULL, 10);
    need((from < 0) == (to < 0) && to - from < SPAN_MAX, "a range without an end:", line);
}

static void command_check(const char *line)
{
    static const char *const whole[] = {
        "HGETALL", "HKEYS", "HVALS", "SMEMBERS",         "KEYS",
        "LREM",    "SORT",  "DEL",   "ZREMRANGEBYSCORE", "ZUNIONSTORE"};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        need(!is_command(line, whole[i]), "a command on a whole key:", line);
    if (strstr(line, ":probe\"") != NULL)
        return; /* permissions are tried on a key of one entry */
    if (is_command(line, "LRANGE") || is_command(line, "ZRANGE"))
        span_check(line);
    if (is_command(line, "LPOS"))
        need(strstr(line, "\"MAXLEN\"") != NULL, "a search without an end:", line);
    if (is_command(line, "ZRANGEBYSCORE") || is_command(line, "ZRANGEBYLEX"))
        need(strstr(line, "\"LIMIT\"") != NULL, "a range without a limit:", line);
    if (is_command(line, "LPOS"))
        need(strstr(line, "\"MAXLEN\"") != NULL, "a search without an end:", line);
    if (is_command(line, "LPOP"))
        need(strtol(word_at(line, 2), NULL, 10) <= SPAN_MAX, "too many popped:", line);
}

static void line_take(const char *line)
{
    if (strstr(line, " lua] ") == NULL) {
        script = (struct cost){0, 0};
        return;
    }
    command_check(line);
    script.commands++;
    script.words += words_count(line);
    if (script.commands > worst.commands)
        worst.commands = script.commands;
    if (script.words > worst.words)
        worst.words = script.words;
}

static redisReply *monitor_next(void)
{
    redisReply *reply = NULL;
    need(redisGetReply(monitor, (void **)&reply) == REDIS_OK && reply != NULL, "no MONITOR",
         monitor->errstr);
    return reply;
}

static void measure_begin(const char *name)
{
    verb = name;
    worst = script = (struct cost){0, 0};
    monitor = redisConnectUnix(server.socket);
    need(monitor != NULL && monitor->err == 0 && redisAppendCommand(monitor, "MONITOR") == REDIS_OK,
         "no connection", "");
    freeReplyObject(monitor_next());
}

/* `most`: somewhat more than is needed now, and far less than one a run. */
static void measure_end(struct cost most)
{
    char detail[64];
    bool is_over = false;
    freeReplyObject(redis_server_command(&server, "ECHO over-and-out"));
    while (!is_over) {
        redisReply *reply = monitor_next();
        is_over = strstr(reply->str, "over-and-out") != NULL;
        line_take(reply->str);
        freeReplyObject(reply);
    }
    redisFree(monitor);
    snprintf(detail, sizeof detail, "%ld commands, %ld words", worst.commands, worst.words);
    need(worst.commands > 0, "no script was seen", "");
    need(worst.commands <= most.commands && worst.words <= most.words, "too much:", detail);
    printf("%-24s %-10s at most %s\n", shape, verb, detail);
}

/* --- every verb once ------------------------------------------------------------------- */

static void step_once(void)
{
    struct culex_step step = traffic_step_make(&traffic, 3, 10);
    struct culex_step_reply reply = traffic_step(&traffic, &step);
    traffic.store->ops->step_release(traffic.store, &reply);
}

static void enqueue_once(void)
{
    struct culex_new_run runs[4];
    for (int i = 0; i < 4; i++) {
        runs[i] = traffic_run(&traffic);
        runs[i].unique_key = i == 0 ? "abc" : NULL;
        runs[i].unique_while = CULEX_UNIQUE_LIVE;
        runs[i].priority = i == 1 ? 5 : 0;
    }
    traffic_put(&traffic, runs, 4);
}

/* Of producers that the store knows, and of one that it does not. */
static void enqueue_each_once(void)
{
    static struct culex_ticket tickets[4];
    struct culex_new_run runs[4];
    struct culex_enqueue_result results[4];
    tickets[3] = (struct culex_ticket){0};
    for (uint64_t i = 0; i < 4; i++) {
        tickets[i].producer = i < 3 ? i + 100 : ++traffic.serial + 1000;
        culex__ticket_next(&tickets[i], traffic.now_ms);
        runs[i] = traffic_run(&traffic);
    }
    need(traffic.store->ops->enqueue_each(traffic.store, TRAFFIC_QUEUE, tickets, runs, 4, results,
                                          NULL) == CULEX_OK,
         "failed", "");
}

static void tick_once(void)
{
    struct culex_new_run run = traffic_run(&traffic);
    struct culex_tick tick = {
        .queue = TRAFFIC_QUEUE, .schedule = "nightly", .interval_ms = 1000, .run = &run};
    struct culex_tick_reply reply;
    need(traffic.store->ops->tick(traffic.store, &tick, &reply, NULL) == CULEX_OK, "failed", "");
}

static culex_list_cursor page_look(culex_run_state state, culex_list_cursor cursor)
{
    struct culex_list_reply list;
    struct culex_store *store = traffic.store;
    need(store->ops->list(store, TRAFFIC_QUEUE, CULEX_LIST_OF(state), cursor, 100, &list, NULL) ==
             CULEX_OK,
         "list", "");
    cursor = list.cursor;
    store->ops->list_release(store, &list);
    return cursor;
}

static void look_once(void)
{
    struct culex_store *store = traffic.store;
    culex_queue_stats stats;
    culex_run_info *info = NULL;
    need(store->ops->stats(store, TRAFFIC_QUEUE, &stats, NULL) == CULEX_OK, "stats", "");
    need(store->ops->get(store, TRAFFIC_QUEUE, traffic.newest, &info, NULL) == CULEX_OK, "get", "");
    culex_run_info_free(info);
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        culex_list_cursor second = page_look((culex_run_state)state, CULEX_LIST_START);
        if (second.place != 0)
            page_look((culex_run_state)state, second);
    }
}

static void manage_once(void)
{
    static const struct culex_place later = {.has_time = true, .delay_ms = 60000, .priority = -1};
    static const struct culex_place sooner = {.has_time = true, .priority = 0};
    static const struct culex_place higher = {.priority = 5};
    struct culex_store *store = traffic.store;
    culex_run_state state;
    store->ops->cancel(store, TRAFFIC_QUEUE, traffic.newest, &state, NULL);
    store->ops->retry(store, TRAFFIC_QUEUE, traffic.newest, NULL);
    store->ops->forget(store, TRAFFIC_QUEUE, traffic.newest, NULL);
    store->ops->pause(store, TRAFFIC_QUEUE, true, NULL);
    store->ops->move(store, TRAFFIC_QUEUE, traffic.newest, &later, NULL);
    store->ops->move(store, TRAFFIC_QUEUE, traffic.newest, &higher, NULL);
    store->ops->move(store, TRAFFIC_QUEUE, traffic.newest, &sooner, NULL);
    store->ops->pause_for(store, TRAFFIC_QUEUE, 1000, NULL);
    store->ops->pause(store, TRAFFIC_QUEUE, false, NULL);
}

static void purge_once(void)
{
    static const culex_run_state states[] = {CULEX_RUN_SCHEDULED, CULEX_RUN_WAITING, CULEX_RUN_DONE,
                                             CULEX_RUN_DEAD, CULEX_RUN_CANCELLED};
    struct culex_purge_reply purged;
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        need(traffic.store->ops->purge(traffic.store, TRAFFIC_QUEUE, states[i],
                                       CULEX_STORE_PURGE_MAX, &purged, NULL) == CULEX_OK,
             "failed", "");
}

/* Session 0 holds whatever is held. */
static void hello_once(void)
{
    size_t released;
    int64_t now_ms;
    need(traffic.store->ops->hello(traffic.store, TRAFFIC_QUEUE, "ann", "00000000000000ff",
                                   &released, &now_ms, NULL) == CULEX_OK,
         "failed", "");
}

/* The queue is sound, so it finds nothing. */
static void fsck_once(void)
{
    struct culex_fsck_reply reply = {.cursor = 0};
    do {
        need(traffic.store->ops->fsck(traffic.store, TRAFFIC_QUEUE, reply.cursor, true, &reply,
                                      NULL) == CULEX_OK,
             "failed", "");
        need(reply.counts.wrong + reply.counts.damaged == 0, "something is wrong", "");
    } while (reply.cursor != 0);
}

static void verbs_measure(const char *name)
{
    static const struct {
        const char *name;
        void (*call)(void);
        struct cost most;
    } verbs[] = {{"STEP", step_once, {200, 3000}},        {"ENQUEUE", enqueue_once, {200, 150}},
                 {"EACH", enqueue_each_once, {200, 150}}, {"TICK", tick_once, {200, 100}},
                 {"look", look_once, {200, 250}},         {"manage", manage_once, {200, 100}},
                 {"PURGE", purge_once, {200, 6500}},      {"HELLO", hello_once, {200, 6000}}};
    shape = name;
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        measure_begin(verbs[i].name);
        verbs[i].call();
        measure_end(verbs[i].most);
    }
}

/* FSCK sees every run, so not beside every shape. */
static void fsck_measure(void)
{
    measure_begin("FSCK");
    fsck_once();
    measure_end((struct cost){500, 1500});
}

/* --- shapes ---------------------------------------------------------------------------- */

static void shape_begin(void)
{
    size_t released;
    int64_t now_ms;
    shape = verb = "setting up";
    freeReplyObject(redis_server_command(&server, "FLUSHALL ASYNC"));
    need(traffic.store->ops->hello(traffic.store, TRAFFIC_QUEUE, "ann", "00000000000000aa",
                                   &released, &now_ms, NULL) == CULEX_OK,
         "no hello", "");
}

static void put_many(int64_t delay_ms, int64_t expires_ms, int priority)
{
    struct culex_new_run runs[200];
    for (int n = 0; n < RUNS / 200; n++) {
        for (int i = 0; i < 200; i++) {
            runs[i] = traffic_run(&traffic);
            runs[i].delay_ms = delay_ms;
            runs[i].expires_ms = expires_ms;
            runs[i].priority = priority;
        }
        traffic_put(&traffic, runs, 200);
    }
}

/* Claims all, and with an event reports it of all. */
static void take_many(const enum culex_run_event *event)
{
    struct culex_ack acks[TRAFFIC_BATCH_MAX];
    size_t count = 0;
    do {
        struct culex_step step = traffic_step_make(&traffic, 0, TRAFFIC_BATCH_MAX);
        step.acks = acks;
        step.ack_count = event != NULL ? count : 0;
        struct culex_step_reply reply = traffic_step(&traffic, &step);
        count = reply.grant_count;
        for (size_t i = 0; i < count && event != NULL; i++)
            acks[i] = (struct culex_ack){.id = reply.grants[i].facts.id,
                                         .attempt = reply.grants[i].facts.attempt,
                                         .event = *event};
        traffic.store->ops->step_release(traffic.store, &reply);
    } while (count > 0);
}

/* Of runs with records; of ordinary ones that leaves holes in the line. */
static void ghosts_make(int64_t expires_ms)
{
    for (int i = 0; i < GHOSTS; i++) {
        struct culex_new_run run = traffic_run(&traffic);
        culex_run_state state;
        run.expires_ms = expires_ms;
        traffic_put(&traffic, &run, 1);
        need(traffic.store->ops->cancel(traffic.store, TRAFFIC_QUEUE, traffic.newest, &state,
                                        NULL) == CULEX_OK,
             "no cancel", "");
    }
}

static void put_limited(const struct culex_run_limit *limit, long count)
{
    struct culex_new_run runs[200];
    for (long done = 0; done < count;) {
        size_t part = 0;
        for (; part < 200 && done < count; part++, done++) {
            runs[part] = traffic_run(&traffic);
            runs[part].limits = limit;
            runs[part].limit_count = 1;
        }
        traffic_put(&traffic, runs, part);
    }
}

/* So many with one limit of one, so that all but one are parked. */
static void parked_make(void)
{
    static const struct culex_run_limit limit = {
        CULEX_LIMIT_CONCURRENCY, "job:concurrency", "a", 1, 0, 0};
    put_limited(&limit, RUNS);
}

/* --- beside very many of one key --------------------------------------------------------- */

enum { STEP_WANT = 16, FAIR_PLACES = 16 };

/* How many it has granted; *ret_at is the place of `id` among them, from 1 on, 0: it is not there.
 */
static size_t step_claim(culex_uuid id, size_t *ret_at)
{
    struct culex_step step = traffic_step_make(&traffic, 3, STEP_WANT);
    struct culex_step_reply reply = traffic_step(&traffic, &step);
    size_t count = reply.grant_count;
    *ret_at = 0;
    for (size_t i = 0; i < count; i++) {
        if (memcmp(&reply.grants[i].facts.id, &id, sizeof id) == 0)
            *ret_at = i + 1;
    }
    traffic.store->ops->step_release(traffic.store, &reply);
    return count;
}

/* The script that was measured costs no more than beside few. */
static void same_cost(struct cost usual)
{
    char detail[64];
    snprintf(detail, sizeof detail, "%ld commands beside few, %ld beside many", usual.commands,
             worst.commands);
    need(worst.commands <= usual.commands && worst.words <= usual.words, "dearer:", detail);
}

/* A STEP that finds work of another key beside `parked` runs behind a limit. */
static struct cost free_work_measure(long parked)
{
    static const struct culex_run_limit busy = {
        CULEX_LIMIT_CONCURRENCY, "job:concurrency", "busy", STEP_WANT, 0, 0};
    struct culex_run_limit other = busy;
    size_t at;
    other.key = "other";
    shape_begin();
    put_limited(&busy, STEP_WANT + parked);
    need(step_claim(traffic.newest, &at) == STEP_WANT, "not all were granted", "");
    put_limited(&other, STEP_WANT);
    shape = "parked behind a limit";
    measure_begin("STEP");
    need(step_claim(traffic.newest, &at) == STEP_WANT && at == STEP_WANT, "no free work", "");
    measure_end((struct cost){200, 3000});
    return worst;
}

/* A STEP of another's work beside so many runs that nobody serves, and one that comes with what
 * they need. */
static struct cost needs_measure(long waiting)
{
    static const struct culex_run_limit fpga = {CULEX_LIMIT_NEEDS, "needs fpga:1", NULL, 0, 0, 0};
    static const struct culex_run_limit gpu = {CULEX_LIMIT_NEEDS, "needs gpu:1", NULL, 0, 0, 0};
    struct culex_step_reply reply;
    shape_begin();
    put_limited(&fpga, STEP_WANT + waiting);
    put_limited(&gpu, STEP_WANT);
    shape = "that nobody serves";
    measure_begin("STEP");
    for (int i = 0; i < 2; i++) {
        struct culex_step step = traffic_step_make(&traffic, 3, STEP_WANT);
        step.offers = i == 0 ? "gpu:16" : "fpga:16";
        reply = traffic_step(&traffic, &step);
        need(reply.grant_count == STEP_WANT, "not all were granted", "");
        traffic.store->ops->step_release(traffic.store, &reply);
    }
    measure_end((struct cost){400, 6000});
    return worst;
}

/* After how many runs the first one of another tenant is granted. */
static void fair_measure(long runs)
{
    static const struct culex_run_limit busy = {CULEX_LIMIT_FAIR, "job:fair", "busy", 0, 0, 0};
    struct culex_run_limit other = busy;
    size_t granted = 0, at = 0, steps = 0;
    char detail[64];
    other.key = "other";
    shape_begin();
    put_limited(&busy, runs);
    put_limited(&other, 1);
    shape = "parked of another tenant";
    measure_begin("STEP");
    for (; at == 0 && steps < 10; steps++)
        granted += step_claim(traffic.newest, &at);
    measure_end((struct cost){400, 3000});
    snprintf(detail, sizeof detail, "%zu steps, %zu runs", steps, granted);
    need(steps <= 2 && granted <= (size_t)2 * FAIR_PLACES, "the first run is late:", detail);
}

/* Each with a key of its own. */
static void put_unique(long count)
{
    static char keys[200][24];
    struct culex_new_run runs[200];
    for (long done = 0; done < count;) {
        size_t part = 0;
        for (; part < 200 && done < count; part++, done++) {
            runs[part] = traffic_run(&traffic);
            snprintf(keys[part], sizeof keys[part], "%016llx", (unsigned long long)traffic.serial);
            runs[part].unique_key = keys[part];
            runs[part].unique_while = CULEX_UNIQUE_LIVE;
        }
        traffic_put(&traffic, runs, part);
    }
}

static struct cost unique_measure(long held)
{
    shape_begin();
    put_unique(held);
    shape = "unique keys held";
    measure_begin("ENQUEUE");
    put_unique(4);
    measure_end((struct cost){200, 150});
    return worst;
}

static void keys_measure(long runs)
{
    struct cost usual = free_work_measure(200);
    free_work_measure(runs);
    same_cost(usual);
    fair_measure(runs);
    usual = needs_measure(200);
    needs_measure(runs);
    same_cost(usual);
    usual = unique_measure(200);
    unique_measure(runs);
    same_cost(usual);
}

/* Many that wait, leased ones, and ones that have ended: ordinary runs, or such with records. */
static void shapes_of(int64_t expires_ms, const char *const names[4])
{
    static const enum culex_run_event done = CULEX_EVENT_DONE;
    shape_begin();
    put_many(0, expires_ms, 0);
    verbs_measure(names[0]);
    fsck_measure();
    shape_begin();
    put_many(0, expires_ms, 0);
    take_many(NULL);
    verbs_measure(names[1]);
    fsck_measure();
    shape_begin();
    put_many(0, expires_ms, 0);
    take_many(NULL);
    traffic.now_ms += 60000;
    verbs_measure(names[2]);
    shape_begin();
    put_many(0, expires_ms, 0);
    take_many(&done);
    traffic.now_ms += 60000;
    verbs_measure(names[3]);
}

/* A full step of runs that come due here and there among very many that wait, and one of as many at
 * once: neither looks at those that wait. */
static void dues_measure(int apart_ms, const char *name)
{
    shape_begin();
    for (int i = 0; i < 64; i++) {
        struct culex_new_run run = traffic_run(&traffic);
        run.delay_ms = RUNS / 400 + (i - 32) * apart_ms;
        traffic_put(&traffic, &run, 1);
    }
    struct culex_new_run runs[200];
    for (int n = 0; n < RUNS / 200; n++, traffic.now_ms++) {
        for (int i = 0; i < 200; i++)
            runs[i] = traffic_run(&traffic);
        traffic_put(&traffic, runs, 200);
    }
    shape = name;
    measure_begin("STEP");
    step_once();
    measure_end((struct cost){60, 1000});
}

static void shapes_measure(void)
{
    static const enum culex_run_event discard = CULEX_EVENT_DISCARD;
    static const char *const ordinary[] = {"waiting", "all leased", "all leases over",
                                           "all done, time over"};
    static const char *const odd[] = {"waiting, odd", "all leased, odd", "all leases over, odd",
                                      "all done, time over, odd"};
    shapes_of(0, ordinary);
    shapes_of(LONG_MS, odd);
    shape_begin();
    put_many(0, 0, 3);
    verbs_measure("waiting, urgent");
    shape_begin();
    put_many(1000, 0, 0);
    traffic.now_ms += 2000;
    verbs_measure("all due at once");
    shape_begin();
    put_many(0, 1000, 0);
    traffic.now_ms += 2000;
    verbs_measure("all expired");
    shape_begin();
    put_many(0, 0, 0);
    take_many(&discard);
    traffic.now_ms += 60000;
    verbs_measure("all dead, time over");
    fsck_measure();
    shape_begin();
    ghosts_make(LONG_MS);
    verbs_measure("ghosts first");
    shape_begin();
    ghosts_make(0);
    verbs_measure("holes first");
    shape_begin();
    parked_make();
    verbs_measure("parked behind one");
    dues_measure(0, "due at once in the line");
    dues_measure(7, "due all over the line");
}

int main(int argc, char **argv)
{
    long runs = argc < 2 ? RUNS : strtol(argv[1], NULL, 10);
    if (argc > 2 || runs < 1) {
        fprintf(stderr, "usage: bounds_redis [RUNS]\n");
        return 2;
    }
    if (!redis_server_start(&server, NULL)) {
        fprintf(stderr, "skipped: no redis-server can be started here\n");
        return 77;
    }
    traffic_open(&traffic, server.url);
    if (argc < 2)
        shapes_measure();
    keys_measure(runs);
    traffic_close(&traffic);
    redis_server_stop(&server);
    return 0;
}
