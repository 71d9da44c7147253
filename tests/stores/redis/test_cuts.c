/* A session of producers, workers and operators in which the connection breaks at every byte of
 * every request and of every reply. After each break the call is repeated by the product's own
 * rules; the store must then be as if nothing had happened, and the answers too.
 *
 * Snapshots of the store are kept in databases of the server, so that one cut costs one call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <poll.h>
#include <sys/time.h>

#include "client/client_private.h"
#include "core/run_id.h"
#include "proxy.h"
#include "redis_server.h"
#include "world.h"

#define SESSION   "aaaaaaaaaaaaaaaa"
#define SUCCESSOR "bbbbbbbbbbbbbbbb"

enum { RUNS = 8, TRIES_MAX = 10, ANSWER_SIZE = 1024 };

struct session {
    struct redis_server server;
    struct proxy *proxy;
    redisContext *direct; /* past the proxy */
    struct culex_env env;
    int64_t now_ms;
    struct culex_store *worker;
    culex_client *client;
    char answer[ANSWER_SIZE]; /* of the newest call, as text */
    unsigned tries;           /* that it took */
};

/* --- a world without chance ---------------------------------------------------------------- */

static int64_t fixed_clock(void *self)
{
    return ((struct session *)self)->now_ms;
}

/* Producers differ, for each client is another; salts are all 0. */
static void high_random(void *self, void *ret_bytes, size_t len)
{
    static uint64_t count;
    uint64_t bits = ++count << 32;
    (void)self;
    memset(ret_bytes, 0, len);
    memcpy(ret_bytes, &bits, len < sizeof bits ? len : sizeof bits);
}

/* Waits between tries are skipped, waits for the server are not. */
static int quick_poll(void *self, struct pollfd *fds, nfds_t count, int timeout_ms)
{
    (void)self;
    return count == 0 ? 0 : poll(fds, count, timeout_ms);
}

/* Of the n-th run of the queue. */
static culex_uuid id_of(const struct session *s, unsigned n)
{
    return culex__run_id_make((struct culex_run_id_parts){.ms = s->now_ms, .number = n});
}

__attribute__((format(printf, 2, 3))) static void tell(struct session *s, const char *format, ...)
{
    size_t len = strlen(s->answer);
    va_list list;
    va_start(list, format);
    vsnprintf(s->answer + len, sizeof s->answer - len, format, list);
    va_end(list);
}

/* --- handles ------------------------------------------------------------------------------- */

static void handles_close(struct session *s)
{
    if (s->worker != NULL)
        s->worker->ops->close(s->worker);
    culex_client_close(s->client);
    s->worker = NULL;
    s->client = NULL;
}

static bool is_passing(culex_status status)
{
    return status == CULEX_EUNKNOWN || status == CULEX_ECONNECT || status == CULEX_EBUSY;
}

/* As the worker's loop repeats a call: the very same one, while the store is in trouble. */
#define REPEAT(s, call)                                                                            \
    do {                                                                                           \
        culex_error error = {.code = CULEX_OK};                                                    \
        culex_status status;                                                                       \
        (s)->tries = 0;                                                                            \
        do                                                                                         \
            status = (call);                                                                       \
        while (is_passing(status) && ++(s)->tries < TRIES_MAX);                                    \
        if (status != CULEX_OK)                                                                    \
            fail_msg("%s: %s", culex_status_name(status), error.text);                             \
    } while (0)

static void worker_open(struct session *s)
{
    struct culex_store_options options = {.timeout_ms = 20000};
    REPEAT(s, culex__store_open(proxy_url(s->proxy), &options, &s->env, &s->worker, &error));
}

static void client_open(struct session *s)
{
    struct culex_store_options options = {.timeout_ms = 20000};
    struct culex_store *store = NULL;
    REPEAT(s, culex__store_open(proxy_url(s->proxy), &options, &s->env, &store, &error));
    REPEAT(s, culex__client_create(store, 60000, &s->env, &s->client, &error));
}

/* The client repeats by itself: it must succeed at once. */
#define CLIENT_OK(call)                                                                            \
    do {                                                                                           \
        culex_error error = {.code = CULEX_OK};                                                    \
        if ((call) != CULEX_OK)                                                                    \
            fail_msg("%s: %s", culex_status_name(error.code), error.text);                         \
    } while (0)

/* --- the session --------------------------------------------------------------------------- */

static void enqueue(struct session *s, unsigned n, culex_enqueue_options options)
{
    const culex_job_type type = number_type();
    const struct number params = {n};
    culex_uuid id;
    CLIENT_OK(culex_client_enqueue(s->client, &type, &params, &options, &id, &error));
    culex_uuid expected = id_of(s, n);
    assert_memory_equal(&id, &expected, sizeof id);
}

static void op_enqueue(struct session *s)
{
    for (unsigned n = 1; n <= 4; n++)
        enqueue(s, n, culex_enqueue_options_make());
}

static void op_enqueue_urgent(struct session *s)
{
    culex_enqueue_options options = culex_enqueue_options_make();
    options.has_priority = true;
    options.priority = 7;
    enqueue(s, 5, options);
}

static void op_enqueue_late(struct session *s)
{
    culex_enqueue_options options = culex_enqueue_options_make();
    options.has_delay = true;
    options.delay = CULEX_HOUR;
    enqueue(s, 6, options);
}

static void op_hello(struct session *s)
{
    size_t released;
    int64_t now_ms;
    REPEAT(s,
           s->worker->ops->hello(s->worker, "numbers", "w", SESSION, &released, &now_ms, &error));
}

static void op_hello_successor(struct session *s)
{
    size_t released;
    int64_t now_ms;
    REPEAT(s,
           s->worker->ops->hello(s->worker, "numbers", "w", SUCCESSOR, &released, &now_ms, &error));
}

static void step(struct session *s, struct culex_step step)
{
    struct culex_step_reply reply;
    step.queue = "numbers";
    step.max_bytes = 1000000;
    step.lease_ms = 15000;
    REPEAT(s, s->worker->ops->step(s->worker, &step, &reply, &error));
    for (size_t i = 0; i < step.ack_count; i++)
        tell(s, "ack %d ", (int)reply.acks[i]);
    for (size_t i = 0; i < step.beat_count; i++)
        tell(s, "beat %d ", (int)reply.beats[i]);
    for (size_t i = 0; i < reply.grant_count; i++) {
        const struct culex_grant *grant = &reply.grants[i];
        assert_int_equal(grant->facts.attempt, 1); /* no break charges an attempt */
        tell(s, "grant %d %.*s ", grant->facts.id.b[15], (int)grant->payload_len,
             (const char *)grant->payload);
    }
    tell(s, "due %lld %d%d", (long long)reply.due_in_ms, reply.is_paused, reply.is_empty);
    s->worker->ops->step_release(s->worker, &reply);
}

static void op_claim(struct session *s)
{
    step(s, (struct culex_step){.session = SESSION, .nonce = 1, .want = 4});
}

static void op_settle(struct session *s)
{
    struct culex_ack acks[] = {
        {.id = id_of(s, 5),
         .attempt = 1,
         .event = CULEX_EVENT_DONE,
         .result = "42",
         .result_len = 2},
        {.id = id_of(s, 1),
         .attempt = 1,
         .event = CULEX_EVENT_FAIL,
         .delay_ms = 5000,
         .text = "no luck"},
        {.id = id_of(s, 2), .attempt = 1, .event = CULEX_EVENT_DISCARD, .text = "pointless"}};
    struct culex_beat beat = {.id = id_of(s, 3), .attempt = 1};
    step(s, (struct culex_step){.session = SESSION,
                                .nonce = 2,
                                .want = 1,
                                .acks = acks,
                                .ack_count = 3,
                                .beats = &beat,
                                .beat_count = 1});
}

static void op_release(struct session *s)
{
    struct culex_ack ack = {.id = id_of(s, 4), .attempt = 1, .event = CULEX_EVENT_RELEASE};
    step(s, (struct culex_step){.session = SESSION, .nonce = 3, .acks = &ack, .ack_count = 1});
}

static void op_tick(struct session *s)
{
    struct culex_new_run run = {.job = "t.number",
                                .attempts_max = 3,
                                .keep_success_ms = 60000,
                                .keep_failure_ms = 60000,
                                .content = 7,
                                .tags = "",
                                .payload = "{}",
                                .payload_len = 2};
    struct culex_tick tick = {
        .queue = "numbers", .schedule = "t.number", .interval_ms = 1000, .run = &run};
    struct culex_tick_reply reply;
    REPEAT(s, s->worker->ops->tick(s->worker, &tick, &reply, &error));
    tell(s, "mark %lld", (long long)reply.mark_ms);
}

static void op_cancel(struct session *s)
{
    culex_run_state state;
    CLIENT_OK(culex_client_cancel(s->client, "numbers", id_of(s, 6), &state, &error));
    tell(s, "%s", culex_run_state_name(state));
}

static void op_cancel_active(struct session *s)
{
    culex_run_state state;
    CLIENT_OK(culex_client_cancel(s->client, "numbers", id_of(s, 3), &state, &error));
    tell(s, "%s", culex_run_state_name(state));
}

static void op_get(struct session *s)
{
    culex_run_info *run = NULL;
    CLIENT_OK(culex_client_get(s->client, "numbers", id_of(s, 5), &run, &error));
    tell(s, "%s %u %.*s", culex_run_state_name(run->state), (unsigned)run->attempt,
         (int)run->result.len, (const char *)run->result.data);
    culex_run_info_free(run);
}

static bool visit_run(const culex_run_info *run, void *user)
{
    tell(user, "%d ", run->id.b[15]);
    return true;
}

static void op_list(struct session *s)
{
    culex_list_cursor cursor = {.place = 0};
    CLIENT_OK(culex_client_list(s->client, "numbers", CULEX_RUN_WAITING, &cursor, 0, visit_run, s,
                                &error));
}

static void op_stats(struct session *s)
{
    culex_queue_stats stats;
    CLIENT_OK(culex_client_stats(s->client, "numbers", &stats, &error));
    for (int i = 0; i < CULEX_RUN_STATE_COUNT; i++)
        tell(s, "%d ", (int)stats.count[i]);
    tell(s, "enqueued %d stale %d", (int)stats.enqueued, (int)stats.stale);
}

static bool visit_queue(const char *name, void *user)
{
    tell(user, "%s ", name);
    return true;
}

static void op_queues(struct session *s)
{
    CLIENT_OK(culex_client_queues(s->client, visit_queue, s, &error));
}

static void op_retry(struct session *s)
{
    CLIENT_OK(culex_client_retry(s->client, "numbers", id_of(s, 2), &error));
}

static void op_pause(struct session *s)
{
    CLIENT_OK(culex_client_pause(s->client, "numbers", &error));
}

static void op_resume(struct session *s)
{
    CLIENT_OK(culex_client_resume(s->client, "numbers", &error));
}

static void op_delete(struct session *s)
{
    CLIENT_OK(culex_client_delete(s->client, "numbers", id_of(s, 5), &error));
}

/* The one call that the client does not repeat after a lost reply: so the count of the second one
 * is no answer to compare. */
static void op_purge(struct session *s)
{
    size_t deleted;
    culex_status status =
        culex_client_purge(s->client, "numbers", CULEX_RUN_CANCELLED, 100, &deleted, NULL);
    if (status == CULEX_OK)
        return;
    assert_int_equal(status, CULEX_EUNKNOWN);
    assert_int_equal(deleted, 0);
    CLIENT_OK(culex_client_purge(s->client, "numbers", CULEX_RUN_CANCELLED, 100, &deleted, &error));
}

/* As a client's threads: one try together, and without an answer each by itself. */
static void op_enqueue_each(struct session *s)
{
    struct culex_ticket tickets[2] = {{0}};
    struct culex_new_run runs[2];
    struct culex_enqueue_result results[2];
    for (size_t i = 0; i < 2; i++) {
        tickets[i].producer = culex__env_random(&s->env) & CULEX_TICKET_PRODUCER_MAX;
        culex__ticket_next(&tickets[i], s->now_ms);
        runs[i] = (struct culex_new_run){.job = "t.number",
                                         .attempts_max = 1,
                                         .keep_failure_ms = CULEX_HOUR / CULEX_MILLISECOND,
                                         .content = i,
                                         .payload = "{}",
                                         .payload_len = 2};
    }
    culex_status answer =
        s->worker->ops->enqueue_each(s->worker, "numbers", tickets, runs, 2, results, NULL);
    assert_true(answer == CULEX_OK || is_passing(answer));
    for (size_t i = 0; i < 2 && answer != CULEX_OK; i++)
        REPEAT(s, s->worker->ops->enqueue(s->worker, "numbers", &tickets[i], &runs[i], 1,
                                          &results[i], &error));
    assert_int_equal(results[0].outcome, CULEX_ENQUEUED_NEW);
    assert_int_equal(results[1].outcome, CULEX_ENQUEUED_NEW);
    assert_memory_not_equal(&results[0].id, &results[1].id, sizeof results[0].id);
}

static void op_now(struct session *s)
{
    int64_t now_ms;
    REPEAT(s, s->worker->ops->now(s->worker, &now_ms, &error));
}

/* A broken wait is armed again. Its token may be lost, and then waits end without one: that is
 * what a hint may do. The first of two takes without a token may have met half an answer. */
static void op_wake(struct session *s)
{
    static const char *const queues[] = {"numbers"};
    bool is_woken = false;
    for (int takes = 0, idle = 0; !is_woken && idle < 2; takes++) {
        int fd = -1;
        assert_true(takes < TRIES_MAX);
        if (s->worker->ops->wake_arm(s->worker, queues, 1, 1, &fd, NULL) != CULEX_OK)
            continue;
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&wait, 1, 20000), 1);
        bool is_taken = s->worker->ops->wake_take(s->worker, &is_woken, NULL) == CULEX_OK;
        idle = is_taken ? idle + 1 : 0;
    }
}

/* TIME goes to the server although the test has a clock of its own. */
static void now_direct(struct session *s)
{
    s->env.store_clock_ms = NULL;
    op_now(s);
    s->env.store_clock_ms = fixed_clock;
}

static const struct op {
    const char *name;
    void (*call)(struct session *session);
    bool is_fresh; /* with handles that were just opened: it says its first words too */
    bool is_hint;  /* leaves the wake list as it likes */
} ops[] = {
    {"first enqueue", op_enqueue, true, false},
    {"enqueue urgent", op_enqueue_urgent, false, false},
    {"enqueue late", op_enqueue_late, false, false},
    {"first hello", op_hello, true, false},
    {"wake", op_wake, false, true},
    {"claim", op_claim, false, false},
    {"settle", op_settle, false, false},
    {"release", op_release, false, false},
    {"tick", op_tick, false, false},
    {"cancel", op_cancel, false, false},
    {"cancel active", op_cancel_active, false, false},
    {"get", op_get, false, false},
    {"list", op_list, false, false},
    {"stats", op_stats, false, false},
    {"queues", op_queues, false, false},
    {"retry", op_retry, false, false},
    {"pause", op_pause, false, false},
    {"resume", op_resume, false, false},
    {"delete", op_delete, false, false},
    {"purge", op_purge, false, false},
    {"enqueue each", op_enqueue_each, false, false},
    {"now", now_direct, false, false},
    {"hello of a successor", op_hello_successor, false, false},
};
enum { OPS = sizeof ops / sizeof ops[0] };

/* --- snapshots ------------------------------------------------------------------------------- */

/* All keys of database 0 with all they hold, in one order. KEYS: none. ARGV[1]: a key to skip. Of
 * producers only what they were answered: who they are and when they call is another each time. */
static const char dump_script[] =
    "local function sorted(t) table.sort(t) return table.concat(t, ' ') end "
    "local function pairs_of(t) local p = {} for i = 1, #t, 2 do p[#p+1] = t[i]..'='..t[i+1] end "
    "return sorted(p) end "
    "local function calls(k) local p = redis.call('HVALS', k) for i = 1, #p do "
    "p[i] = string.gsub(p[i], '^%d+|%d+|', '') end return sorted(p) end "
    "redis.call('SELECT', 0) local out = {} local keys = redis.call('KEYS', '*') table.sort(keys) "
    "for _, k in ipairs(keys) do local t = redis.call('TYPE', k).ok "
    "if k ~= ARGV[1] then out[#out+1] = k..': '.."
    "(k == 'culex:{numbers}:producers' and calls(k) "
    "or k == 'culex:{numbers}:producers_until' and redis.call('ZCARD', k) "
    "or t == 'hash' and pairs_of(redis.call('HGETALL', k)) "
    "or t == 'list' and table.concat(redis.call('LRANGE', k, 0, -1), ' ') "
    "or t == 'zset' and table.concat(redis.call('ZRANGE', k, 0, -1, 'WITHSCORES'), ' ') "
    "or t == 'set' and sorted(redis.call('SMEMBERS', k)) or t) end end "
    "return table.concat(out, '\\n')";

/* Database ARGV[1] becomes what ARGV[2] is. */
static const char copy_script[] =
    "redis.call('SELECT', ARGV[1]) redis.call('FLUSHDB') redis.call('SELECT', ARGV[2]) "
    "for _, k in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', k, k, 'DB', ARGV[1]) end "
    "return 1";

static redisReply *direct(struct session *s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    redisReply *reply = redisvCommand(s->direct, format, list);
    va_end(list);
    assert_non_null(reply);
    if (reply->type == REDIS_REPLY_ERROR)
        fail_msg("%s", reply->str);
    return reply;
}

static void copy(struct session *s, size_t to, size_t from)
{
    freeReplyObject(direct(s, "EVAL %s 0 %d %d", copy_script, (int)to, (int)from));
}

static redisReply *dump(struct session *s, const struct op *op)
{
    return direct(s, "EVAL %s 0 %s", dump_script, op->is_hint ? "culex:{numbers}:wake" : "");
}

/* --- the campaign ---------------------------------------------------------------------------- */

/* The uncut course of one call. */
struct course {
    uint64_t bytes[2]; /* of its requests and of its replies */
    char answer[ANSWER_SIZE];
    redisReply *after;
};

static void call(struct session *s, const struct op *op)
{
    s->answer[0] = '\0';
    op->call(s);
}

static void handles_renew(struct session *s)
{
    handles_close(s);
    worker_open(s);
    client_open(s);
}

/* Before a call on a fresh handle, and after each of its cuts, everything is opened anew. */
static void prepare(struct session *s, const struct op *op, size_t from)
{
    copy(s, 0, from);
    if (op->is_fresh || s->client == NULL)
        handles_renew(s);
}

static void course_take(struct session *s, size_t at, struct course *ret_course)
{
    prepare(s, &ops[at], at + 1);
    call(s, &ops[at]); /* the server has the scripts from now on */
    prepare(s, &ops[at], at + 1);
    proxy_set(s->proxy, NULL);
    call(s, &ops[at]);
    ret_course->bytes[0] = proxy_bytes(s->proxy, PROXY_REQUEST);
    ret_course->bytes[1] = proxy_bytes(s->proxy, PROXY_REPLY);
    strcpy(ret_course->answer, s->answer);
    ret_course->after = dump(s, &ops[at]);
    copy(s, at + 2, 0);
}

static void cut_once(struct session *s, size_t at, const struct course *course,
                     enum proxy_direction direction, uint64_t k)
{
    const struct op *op = &ops[at];
    prepare(s, op, at + 1);
    proxy_set(s->proxy, &(struct proxy_fault){
                            .action = PROXY_CUT, .direction = direction, .after = k, .times = 1});
    call(s, op);
    if (proxy_hits(s->proxy) != 1)
        fail_msg("%s: no cut at byte %d", op->name, (int)k);
    redisReply *after = dump(s, op);
    if (strcmp(s->answer, course->answer) != 0 || strcmp(after->str, course->after->str) != 0)
        fail_msg("%s, cut in the %s after byte %d: answered '%s' instead of '%s', and left\n%s\n"
                 "instead of\n%s",
                 op->name, direction == PROXY_REQUEST ? "request" : "reply", (int)k, s->answer,
                 course->answer, after->str, course->after->str);
    freeReplyObject(after);
}

/* Bytes that another reply to the same call may lack: the microseconds of the server's clock are a
 * number of one to six digits. */
static uint64_t spare_of(const struct op *op, enum proxy_direction direction)
{
    return op->call == now_direct && direction == PROXY_REPLY ? 5 : 0;
}

static void campaign(struct session *s, enum proxy_direction direction)
{
    uint64_t cuts = 0;
    for (size_t at = 0; at < OPS; at++) {
        struct course course;
        course_take(s, at, &course);
        assert_true(course.bytes[direction] > 0);
        uint64_t bytes = course.bytes[direction] - spare_of(&ops[at], direction);
        for (uint64_t k = 0; k < bytes; k++)
            cut_once(s, at, &course, direction, k);
        cuts += bytes;
        freeReplyObject(course.after);
        copy(s, 0, at + 2);
    }
    printf("%d calls, %llu cuts\n", OPS, (unsigned long long)cuts);
}

static void test_cut_request_is_repeated_and_nothing_is_doubled(void **state)
{
    campaign(*state, PROXY_REQUEST);
}

static void test_cut_reply_is_recovered_and_no_attempt_is_charged(void **state)
{
    campaign(*state, PROXY_REPLY);
}

/* One opening whose greeting is cut after that many bytes; false when that was behind its end. */
static bool greeting_cut(struct session *s, enum proxy_direction direction, uint64_t after)
{
    culex_error error;
    proxy_set(s->proxy,
              &(struct proxy_fault){
                  .action = PROXY_CUT, .direction = direction, .after = after, .times = 1});
    culex_status status = culex__store_open(proxy_url(s->proxy), NULL, &s->env, &s->worker, &error);
    if (status == CULEX_OK) {
        handles_close(s);
        return false;
    }
    assert_int_equal(status, CULEX_ECONNECT);
    assert_non_null(strstr(error.text, "proxy.sock"));
    assert_int_equal(proxy_hits(s->proxy), 1);
    return true;
}

/* The greeting: opening fails as a whole, names the host, and the next one works. Its reply holds
 * figures of the server (uptime, memory), so one greeting is some bytes longer than the next: each
 * is cut further back until a cut falls behind its end. */
static void test_cut_greeting_fails_the_opening_and_the_next_one_works(void **state)
{
    static const struct {
        enum proxy_direction direction;
        uint64_t varies_by;
    } sides[] = {{PROXY_REQUEST, 1}, /* cut right behind the last byte, it loses the reply */
                 {PROXY_REPLY, 100}};
    struct session *s = *state;
    handles_close(s);
    for (int i = 0; i < 2; i++) {
        proxy_set(s->proxy, NULL);
        worker_open(s);
        handles_close(s);
        uint64_t bytes = proxy_bytes(s->proxy, sides[i].direction);
        assert_true(bytes > sides[i].varies_by + 20);
        uint64_t cuts = 0;
        while (greeting_cut(s, sides[i].direction, cuts))
            cuts++;
        assert_in_range(cuts, bytes - sides[i].varies_by, bytes + sides[i].varies_by);
        worker_open(s);
        handles_close(s);
    }
}

/* --- HELLO in several shares ----------------------------------------------------------------- */

static void claim_many(struct session *s, unsigned count, uint64_t nonce)
{
    struct culex_step_reply reply;
    struct culex_step step = {.queue = "numbers",
                              .session = SESSION,
                              .nonce = nonce,
                              .want = count,
                              .max_bytes = 1000000,
                              .lease_ms = 15000};
    assert_int_equal(s->worker->ops->step(s->worker, &step, &reply, NULL), CULEX_OK);
    assert_int_equal(reply.grant_count, count);
    s->worker->ops->step_release(s->worker, &reply);
}

/* More leases than one share of HELLO takes back. */
static void leases_make(struct session *s, unsigned steps, unsigned each)
{
    const culex_job_type type = number_type();
    static struct number many[1000];
    handles_renew(s);
    CLIENT_OK(culex_client_enqueue_many(s->client, &type, many, sizeof many[0],
                                        (size_t)steps * each, NULL, NULL, NULL, &error));
    op_hello(s);
    for (unsigned i = 0; i < steps; i++)
        claim_many(s, each, i + 1);
}

/* Its caller then knows that it does not know how many runs were taken back. */
static void test_hello_that_breaks_off_after_its_first_share_is_unknown(void **state)
{
    struct session *s = *state;
    size_t released = 0;
    int64_t now_ms;
    char lease_end[32];
    culex_error error;
    leases_make(s, 5, 100);
    snprintf(lease_end, sizeof lease_end, "%lld", (long long)s->now_ms + 15000);
    /* Only the second share says from which lease it goes on. */
    proxy_set(s->proxy, &(struct proxy_fault){.action = PROXY_ANSWER,
                                              .match = lease_end,
                                              .text = "-LOADING injected\r\n"});
    assert_int_equal(
        s->worker->ops->hello(s->worker, "numbers", "w", SUCCESSOR, &released, &now_ms, &error),
        CULEX_EUNKNOWN);
    assert_int_equal(error.code, CULEX_EUNKNOWN);
    assert_int_equal(proxy_hits(s->proxy), 1);
    proxy_set(s->proxy, NULL);
    assert_int_equal(
        s->worker->ops->hello(s->worker, "numbers", "w", SUCCESSOR, &released, &now_ms, &error),
        CULEX_OK);
    assert_int_equal(released, 100); /* the rest of 500 */
}

/* --- life ------------------------------------------------------------------------------------ */

static int session_open(void **state)
{
    static const char *const words[] = {"--databases", "64", NULL};
    struct session *s = calloc(1, sizeof *s);
    const struct timeval limit = {.tv_sec = 20};
    *state = s;
    if (!redis_server_start(&s->server, words))
        return -1;
    s->proxy = proxy_start(s->server.socket);
    s->direct = redisConnectUnixWithTimeout(s->server.socket, limit);
    s->env = *culex__env_system();
    s->env.self = s;
    s->env.store_clock_ms = fixed_clock;
    s->env.random = high_random;
    s->env.poll = quick_poll;
    s->now_ms = 1750000123456;
    return s->proxy != NULL && s->direct != NULL && s->direct->err == 0 ? 0 : -1;
}

static int session_close(void **state)
{
    struct session *s = *state;
    handles_close(s);
    if (s->direct != NULL)
        redisFree(s->direct);
    proxy_stop(s->proxy);
    redis_server_stop(&s->server);
    free(s);
    return 0;
}

/* Without an argument all; or "request", "reply", "greeting", "shares", so that they can share the
 * processors. */
int main(int argc, char **argv)
{
    const struct {
        const char *word;
        struct CMUnitTest test;
    } parts[] = {
        {"request",
         cmocka_unit_test_setup_teardown(test_cut_request_is_repeated_and_nothing_is_doubled,
                                         session_open, session_close)},
        {"reply",
         cmocka_unit_test_setup_teardown(test_cut_reply_is_recovered_and_no_attempt_is_charged,
                                         session_open, session_close)},
        {"greeting",
         cmocka_unit_test_setup_teardown(test_cut_greeting_fails_the_opening_and_the_next_one_works,
                                         session_open, session_close)},
        {"shares", cmocka_unit_test_setup_teardown(
                       test_hello_that_breaks_off_after_its_first_share_is_unknown, session_open,
                       session_close)},
    };
    int failures = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const struct CMUnitTest one[] = {parts[i].test};
        if (argc < 2 || strcmp(argv[1], parts[i].word) == 0)
            failures += cmocka_run_group_tests(one, NULL, NULL);
    }
    return failures;
}
