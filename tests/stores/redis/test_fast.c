/* The fast step against the full one: the same random history on two queues of one server, in one
 * of which each step is the full one. Every answer is the same, but for a time to come back that
 * may be earlier, and so is every key, but for `calm`.
 *
 *   test_redis_fast [SEED [OPERATIONS]] */
#include "fixture.h"

#include <inttypes.h>

#include "core/run_id.h"
#include "redis_check.h"
#include "store/redis/redis.h"
#include "store/redis/scripts.h"

enum { WAYS = 2, SESSIONS = 3, HELD_MAX = 48, BATCH_MAX = 90, IDS = 64, LIVE_MAX = 400 };

enum { FAST, FULL };

struct held {
    culex_uuid id;
    uint32_t attempt;
    int64_t claim_ms;
};

struct worker {
    char session[17];
    struct held held[HELD_MAX];
    size_t held_count;
    struct culex_step last; /* 0 acks and beats: nothing to repeat */
    struct culex_ack acks[HELD_MAX];
    struct culex_beat beats[HELD_MAX];
    bool has_last;
};

struct history {
    struct fixture *f;
    struct culex_env env[WAYS];
    struct way {
        struct history *history;
        uint64_t random; /* what the store draws: the same on both ways */
    } ways[WAYS];
    struct culex_store *stores[WAYS];
    struct worker workers[SESSIONS];
    culex_uuid ids[IDS];
    size_t id_count;
    uint64_t random, nonce, sequence;
    uint64_t tried, fast, steps; /* calls of the fast script, and those that it refused */
    uint64_t refused;
    uint64_t lean;    /* steps by redis/lib_lean.lua, as far as `calm` shows it */
    bool is_told;     /* the queues keep events */
    bool is_declared; /* the runs have unique keys and limits */
    unsigned long op;
};

static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int64_t below(struct history *h, int64_t limit)
{
    return (int64_t)(draw(&h->random) % (uint64_t)limit);
}

static bool chance(struct history *h, int percent)
{
    return below(h, 100) < percent;
}

/* --- the world of a store ------------------------------------------------------------------------
 */

static void way_random(void *self, void *ret_bytes, size_t len)
{
    struct way *way = self;
    for (size_t i = 0; i < len; i++)
        ((unsigned char *)ret_bytes)[i] = (unsigned char)draw(&way->random);
}

static int64_t way_clock(void *self)
{
    return ((struct way *)self)->history->f->now_ms;
}

/* It stands while the machine is busy, or steps would come too late to be tried fast. */
static int64_t way_boottime(void *self)
{
    return way_clock(self) * 1000000;
}

/* Counts the fast steps by what is sent. */
static ssize_t way_send(void *self, int fd, const void *bytes, size_t len)
{
    struct way *way = self;
    const char *digest = culex__redis_script_step_fast.digest;
    if (memmem(bytes, len, digest, strlen(digest)) != NULL)
        way->history->tried++;
    return culex__env_system()->send(NULL, fd, bytes, len);
}

static ssize_t way_recv(void *self, int fd, void *ret_bytes, size_t len, int timeout_ms)
{
    static const char refusal[] = "*1\r\n$1\r\nF\r\n";
    struct way *way = self;
    ssize_t got = culex__env_system()->recv(NULL, fd, ret_bytes, len, timeout_ms);
    if (got == sizeof refusal - 1 && memcmp(ret_bytes, refusal, sizeof refusal - 1) == 0)
        way->history->refused++;
    return got;
}

static void way_open(struct history *h, int at)
{
    struct culex_store_options options = {.prefix = at == FAST ? "fast" : "full"};
    h->ways[at] = (struct way){h, 7};
    h->env[at] = *culex__env_system();
    h->env[at].self = &h->ways[at];
    h->env[at].random = way_random;
    h->env[at].store_clock_ms = way_clock;
    h->env[at].boottime_ns = way_boottime;
    h->env[at].send = way_send;
    h->env[at].recv = way_recv;
    assert_ok(
        culex__store_open(h->f->server.url, &options, &h->env[at], &h->stores[at], &call_error));
    culex__redis_of(h->stores[at])->is_never_fast = at == FULL;
}

static void session_begin(struct history *h, struct worker *worker)
{
    uint64_t name = draw(&h->random);
    memset(worker, 0, sizeof *worker);
    snprintf(worker->session, sizeof worker->session, "%016" PRIx64, name);
}

/* --- what the two ways must agree on
 * --------------------------------------------------------------- */

/* All keys of a prefix with all they hold, without the prefix, and without counts of the line that
 * are 0: the fast script writes them. ARGV[1]: the prefix. */
static const char dump_script[] =
    "local function pairs_of(t) local p = {} for i = 1, #t, 2 do if t[i] ~= 'calm' and not ((t[i] "
    "== 'held' or t[i] == 'taken') and t[i+1] == '0') then "
    "p[#p+1] = t[i]..'='..t[i+1] end end table.sort(p) return table.concat(p, ' ') end "
    "local out = {} local keys = redis.call('KEYS', ARGV[1]..':{*') table.sort(keys) "
    "for _, k in ipairs(keys) do local t = redis.call('TYPE', k).ok "
    "out[#out+1] = string.sub(k, #ARGV[1] + 1)..': '..("
    "t == 'hash' and pairs_of(redis.call('HGETALL', k)) "
    "or t == 'list' and table.concat(redis.call('LRANGE', k, 0, -1), ' ') "
    "or t == 'zset' and table.concat(redis.call('ZRANGE', k, 0, -1, 'WITHSCORES'), ' ') or t) end "
    "return table.concat(out, '\\n')";

static redisReply *dump(struct history *h, int at)
{
    redisReply *reply = redis_server_command(&h->f->server, "EVAL %s 0 %s", dump_script,
                                             at == FAST ? "fast" : "full");
    assert_non_null(reply);
    assert_int_equal(reply->type, REDIS_REPLY_STRING);
    return reply;
}

/* The line of `text` in which byte `at` lies, with what is no text as dots. */
static void line_print(const char *whose, const redisReply *text, size_t at)
{
    size_t first = at < text->len ? at : text->len;
    while (first > 0 && text->str[first - 1] != '\n')
        first--;
    fprintf(stderr, "%s: ", whose);
    for (size_t i = first; i < text->len && text->str[i] != '\n'; i++)
        fputc(text->str[i] >= ' ' && text->str[i] <= '~' ? text->str[i] : '.', stderr);
    fputc('\n', stderr);
}

static void keys_compare(struct history *h)
{
    redisReply *fast = dump(h, FAST), *full = dump(h, FULL);
    if (fast->len != full->len || memcmp(fast->str, full->str, fast->len) != 0) {
        size_t at = 0;
        while (at < fast->len && fast->str[at] == full->str[at])
            at++;
        line_print("fast", fast, at);
        line_print("full", full, at);
        fail_msg("operation %lu: the keys differ", h->op);
    }
    freeReplyObject(fast);
    freeReplyObject(full);
}

static void grants_compare(struct history *h, const struct culex_step_reply *fast,
                           const struct culex_step_reply *full)
{
    if (fast->grant_count != full->grant_count)
        fail_msg("operation %lu: %zu grants, of the full step %zu", h->op, fast->grant_count,
                 full->grant_count);
    for (size_t i = 0; i < fast->grant_count; i++) {
        const struct culex_grant *a = &fast->grants[i], *b = &full->grants[i];
        assert_memory_equal(&a->facts.id, &b->facts.id, sizeof a->facts.id);
        assert_memory_equal(&a->facts.counters, &b->facts.counters, sizeof a->facts.counters);
        assert_int_equal(a->facts.attempt, b->facts.attempt);
        assert_int_equal(a->facts.created_at_ms, b->facts.created_at_ms);
        assert_int_equal(a->facts.timeout_ms, b->facts.timeout_ms);
        assert_int_equal(a->facts.fingerprint, b->facts.fingerprint);
        assert_string_equal(a->job, b->job);
        assert_int_equal(a->payload_len, b->payload_len);
        assert_memory_equal(a->payload, b->payload, a->payload_len);
    }
}

static void replies_compare(struct history *h, const struct culex_step *step,
                            const struct culex_step_reply *fast,
                            const struct culex_step_reply *full)
{
    assert_int_equal(fast->now_ms, full->now_ms);
    assert_int_equal(fast->is_paused, full->is_paused);
    assert_int_equal(fast->is_empty, full->is_empty);
    assert_int_equal(fast->is_held, full->is_held);
    assert_int_equal(fast->has_passed, full->has_passed);
    assert_int_equal(fast->is_replaced, full->is_replaced);
    assert_int_equal(fast->is_late, full->is_late);
    assert_int_equal(fast->expired_count, full->expired_count);
    if (full->due_in_ms >= 0 && (fast->due_in_ms < 0 || fast->due_in_ms > full->due_in_ms))
        fail_msg("operation %lu: due in %" PRId64 ", of the full step %" PRId64, h->op,
                 fast->due_in_ms, full->due_in_ms);
    for (size_t i = 0; i < step->ack_count; i++)
        assert_int_equal(fast->acks[i], full->acks[i]);
    for (size_t i = 0; i < step->beat_count; i++)
        assert_int_equal(fast->beats[i], full->beats[i]);
    grants_compare(h, fast, full);
}

static bool is_rough(const struct history *h)
{
    return h->op / 60 % 3 == 0;
}

/* --- operations ----------------------------------------------------------------------------------
 */

static const char text_of_payloads[400] = "{\"to\":\"x\"}";

/* Mostly of one sort; a batch has long payloads or kept runs as a whole, or they would all mix. */
static struct culex_new_run run_make(struct history *h, int64_t keep_ms, bool is_long)
{
    struct culex_new_run run = fixture_run();
    run.keep_success_ms = chance(h, 1) ? 700 : keep_ms;
    run.timeout_ms = chance(h, 1) ? 30000 : 0;
    run.job = chance(h, 10) ? "shop.sweep" : run.job;
    run.payload = text_of_payloads;
    run.payload_len = (size_t)(is_long ? 257 + below(h, 100) : below(h, 257));
    return run;
}

static void run_make_odd(struct history *h, struct culex_new_run *run)
{
    if (chance(h, 40))
        run->delay_ms = below(h, 3000);
    else if (chance(h, 50))
        run->priority = 1 + (int)below(h, 9);
    else
        run->expires_ms = 1 + below(h, 3000);
}

/* What is declared of a run: mostly nothing that holds one back. */
struct declared {
    char key[24];
    struct culex_run_limit limits[2];
};

static void run_declare(struct history *h, struct culex_new_run *run, struct declared *ret_declared)
{
    static const char *const keys[] = {"x", "y", "z"};
    bool is_tight = is_rough(h) && chance(h, 10);
    uint32_t count = is_tight ? 2 : 500;
    struct culex_run_limit limits[2] = {{.kind = CULEX_LIMIT_CONCURRENCY,
                                         .name = is_tight ? "j:tight" : "j:c",
                                         .key = keys[below(h, 3)],
                                         .count = count},
                                        {.kind = CULEX_LIMIT_RATE,
                                         .name = is_tight ? "j:slow" : "j:r",
                                         .key = keys[below(h, 2)],
                                         .count = count * 100,
                                         .per_ms = 1000,
                                         .burst = count}};
    if (is_rough(h) && chance(h, 10))
        limits[1] = (struct culex_run_limit){.kind = CULEX_LIMIT_FAIR, .name = "j:f", .key = "x"};
    memcpy(ret_declared->limits, limits, sizeof limits);
    run->limits = ret_declared->limits;
    run->limit_count = is_rough(h) ? (size_t)below(h, 3) : h->op / 200 % 4 == 0 ? 1 : 2;
    if (is_rough(h) && chance(h, 10))
        return;
    uint64_t name = is_rough(h) ? (uint64_t)below(h, 600) : draw(&h->random);
    snprintf(ret_declared->key, sizeof ret_declared->key, "%016" PRIx64, name);
    run->unique_key = ret_declared->key;
    run->unique_while =
        1u << CULEX_RUN_WAITING | (is_rough(h) && chance(h, 20) ? 0 : 1u << CULEX_RUN_ACTIVE);
}

static size_t live_count(struct history *h)
{
    culex_queue_stats stats = {.count = {0}};
    h->stores[FULL]->ops->stats(h->stores[FULL], "q", &stats, NULL);
    return (size_t)(stats.count[CULEX_RUN_WAITING] + stats.count[CULEX_RUN_ACTIVE]);
}

static void ids_note(struct history *h, const struct culex_enqueue_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (results[i].outcome == CULEX_ENQUEUED_NEW)
            h->ids[h->id_count++ % IDS] = results[i].id;
    }
}

static void op_enqueue(struct history *h)
{
    static const int64_t keeps[] = {0, 600, 60000};
    struct culex_new_run runs[BATCH_MAX];
    struct declared declared[BATCH_MAX];
    struct culex_enqueue_result results[WAYS][BATCH_MAX];
    size_t count = h->is_declared && chance(h, 50) ? 1 : 1 + (size_t)below(h, BATCH_MAX);
    /* One for some time, or nearly all blocks would mix them. */
    int64_t keep_ms = keeps[h->op / 200 % 3];
    bool is_long = chance(h, 10), is_odd = is_rough(h) && chance(h, 20);
    if (live_count(h) > LIVE_MAX)
        return;
    for (size_t i = 0; i < count; i++)
        runs[i] = run_make(h, keep_ms, is_long);
    for (size_t i = 0; i < count && h->is_declared; i++)
        run_declare(h, &runs[i], &declared[i]);
    if (is_odd)
        run_make_odd(h, &runs[below(h, (int64_t)count)]);
    struct culex_ticket last = {1 + (uint64_t)below(h, 2), h->sequence};
    struct culex_ticket ticket = culex__ticket_next(&last, h->f->now_ms);
    h->sequence = ticket.sequence;
    for (int at = 0; at < WAYS; at++)
        assert_ok(h->stores[at]->ops->enqueue(h->stores[at], "q", &ticket, runs, count, results[at],
                                              &call_error));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(results[FAST][i].outcome, results[FULL][i].outcome);
        if (results[FULL][i].outcome == CULEX_ENQUEUED_UNIQUE_TAKEN)
            continue;
        assert_memory_equal(&results[FAST][i].id, &results[FULL][i].id, sizeof(culex_uuid));
    }
    ids_note(h, results[FULL], count);
}

/* Whether the step, which claims, was one of few commands: a full one asks twice how many are in
 * `urgent`. */
static bool is_lean(struct history *h)
{
    return fixture_say(h->f, "EVAL %s 0",
                       "local t = redis.call('INFO', 'commandstats') "
                       "local n = string.match(t, 'cmdstat_zcard:calls=(%d+),') or '0' "
                       "return tonumber(n) < 2 and string.find(t, 'cmdstat_zadd') and 1 or 0") != 0;
}

static void step_both(struct history *h, const struct culex_step *step, struct worker *worker,
                      bool is_granted)
{
    struct culex_step_reply replies[WAYS];
    h->steps++;
    if (h->is_declared) {
        fixture_say(h->f, "HDEL full:{q}:meta %s", "calm");
        fixture_say(h->f, "CONFIG %s", "RESETSTAT");
    }
    for (int at = 0; at < WAYS; at++) {
        assert_ok(h->stores[at]->ops->step(h->stores[at], step, &replies[at], &call_error));
        if (h->is_declared && at == FAST && step->want > 0)
            h->lean += is_lean(h);
    }
    replies_compare(h, step, &replies[FAST], &replies[FULL]);
    for (size_t i = 0; i < replies[FULL].grant_count && is_granted; i++) {
        const struct culex_run_facts *facts = &replies[FULL].grants[i].facts;
        assert_true(worker->held_count < HELD_MAX);
        worker->held[worker->held_count++] =
            (struct held){facts->id, facts->attempt, facts->claim_ms};
    }
    for (int at = 0; at < WAYS; at++)
        h->stores[at]->ops->step_release(h->stores[at], &replies[at]);
}

static struct culex_ack ack_make(struct history *h, const struct held *held)
{
    static const enum culex_run_event odd[] = {CULEX_EVENT_FAIL, CULEX_EVENT_RELEASE,
                                               CULEX_EVENT_CRASH, CULEX_EVENT_DONE};
    struct culex_ack ack = {.id = held->id,
                            .attempt = held->attempt,
                            .claim_ms = held->claim_ms,
                            .event = CULEX_EVENT_DONE};
    if (!is_rough(h) || !chance(h, 5))
        return ack;
    ack.event = odd[below(h, 4)];
    ack.text = "no";
    ack.result = "yes";
    ack.result_len = 3;
    ack.delay_ms = ack.event == CULEX_EVENT_FAIL ? below(h, 2000) : 0;
    return ack;
}

/* Takes what is acked out of the worker's hands: all, the first ones, or some here and there. */
static void acks_make(struct history *h, struct worker *worker)
{
    size_t kept = 0, count = worker->held_count;
    size_t most = chance(h, 50) ? count : (size_t)below(h, (int64_t)count + 1);
    bool is_scattered = chance(h, 20), is_of_unknown_claims = chance(h, 10);
    for (size_t i = 0; i < count; i++) {
        bool is_ended = i < most && !(is_scattered && chance(h, 30));
        if (is_ended)
            worker->acks[worker->last.ack_count++] = ack_make(h, &worker->held[i]);
        else
            worker->held[kept++] = worker->held[i];
        if (is_ended && is_of_unknown_claims)
            worker->acks[worker->last.ack_count - 1].claim_ms = 0;
    }
    worker->held_count = kept;
}

static void beats_make(struct history *h, struct worker *worker)
{
    bool is_whole = chance(h, 70);
    for (size_t i = 0; i < worker->held_count; i++) {
        if (is_whole || chance(h, 50))
            worker->beats[worker->last.beat_count++] =
                (struct culex_beat){.id = worker->held[i].id,
                                    .attempt = worker->held[i].attempt,
                                    .is_started = chance(h, 80)};
    }
}

static void op_step(struct history *h)
{
    struct worker *worker = &h->workers[chance(h, 60) ? 0 : below(h, SESSIONS)];
    worker->last = (struct culex_step){.queue = "q",
                                       .session = worker->session,
                                       .nonce = ++h->nonce,
                                       .max_bytes = chance(h, 95) ? 1 << 20 : 600,
                                       .in_company = chance(h, 20),
                                       .lease_ms = chance(h, 90) ? 3000 : below(h, 4000),
                                       .acks = worker->acks,
                                       .beats = worker->beats};
    acks_make(h, worker);
    if (chance(h, is_rough(h) ? 10 : 2))
        beats_make(h, worker);
    worker->last.want = (uint32_t)below(h, (int64_t)(HELD_MAX - worker->held_count) / 2 + 1);
    worker->last.ahead = chance(h, 40) ? (uint32_t)below(h, (int64_t)worker->last.want + 1) : 0;
    worker->has_last = true;
    step_both(h, &worker->last, worker, true);
}

/* As after a lost reply. */
static void op_repeat(struct history *h)
{
    struct worker *worker = &h->workers[below(h, SESSIONS)];
    if (worker->has_last)
        step_both(h, &worker->last, worker, false);
}

/* As from a connection that was closed. */
static void op_late(struct history *h)
{
    struct worker *worker = &h->workers[below(h, SESSIONS)];
    struct culex_step step = {.queue = "q",
                              .session = worker->session,
                              .nonce = h->nonce > 50 ? h->nonce - 50 : 1,
                              .want = 3,
                              .max_bytes = 100,
                              .lease_ms = 1000};
    if (worker->has_last && step.nonce < worker->last.nonce)
        step_both(h, &step, worker, false);
}

static void op_hello(struct history *h)
{
    int at_worker = (int)below(h, SESSIONS);
    struct worker *worker = &h->workers[at_worker];
    char name[16];
    size_t released[WAYS];
    int64_t now_ms;
    if (chance(h, 60))
        session_begin(h, worker);
    snprintf(name, sizeof name, "host/%d", at_worker);
    for (int at = 0; at < WAYS; at++)
        assert_ok(h->stores[at]->ops->hello(h->stores[at], "q", name, worker->session,
                                            &released[at], &now_ms, &call_error));
    assert_int_equal(released[FAST], released[FULL]);
}

static culex_uuid id_pick(struct history *h)
{
    size_t known = h->id_count < IDS ? h->id_count : IDS;
    return known > 0 ? h->ids[below(h, (int64_t)known)] : fixture_stranger(h->f);
}

static void op_operate(struct history *h)
{
    culex_uuid id = id_pick(h);
    int64_t verb = below(h, 11), for_ms = 1 + below(h, 60);
    bool is_paused = chance(h, 20);
    struct culex_place place = {
        .has_time = chance(h, 50), .delay_ms = below(h, 100), .priority = (int)below(h, 3)};
    uint64_t limit = chance(h, 30) ? (uint64_t)below(h, 300) : 0;
    culex_status statuses[WAYS];
    for (int at = 0; at < WAYS; at++) {
        struct culex_store *store = h->stores[at];
        struct culex_purge_reply purged;
        culex_run_state state;
        statuses[at] = verb < 3    ? store->ops->cancel(store, "q", id, &state, NULL)
                       : verb == 3 ? store->ops->retry(store, "q", id, NULL)
                       : verb == 4 ? store->ops->forget(store, "q", id, NULL)
                       : verb == 5 ? store->ops->limit(store, "q", limit, NULL)
                       : verb == 6
                           ? store->ops->purge(store, "q", CULEX_RUN_DONE, 20, &purged, NULL)
                       : verb == 7 ? store->ops->pause_for(store, "q", for_ms, NULL)
                       : verb >= 9 ? store->ops->move(store, "q", id, &place, NULL)
                                   : store->ops->pause(store, "q", is_paused, NULL);
    }
    assert_int_equal(statuses[FAST], statuses[FULL]);
}

static void op_clock(struct history *h)
{
    int64_t by_ms = !is_rough(h)    ? below(h, chance(h, 70) ? 60 : 400)
                    : chance(h, 80) ? below(h, 60)
                    : chance(h, 60) ? below(h, 1500)
                    : chance(h, 50) ? below(h, 8000)
                    : chance(h, 60) ? -below(h, 3000)
                                    : below(h, 100000);
    h->f->now_ms += by_ms;
    if (chance(h, 40)) /* somebody takes the token of the wake list */
        fixture_say(h->f, "DEL fast:{q}:wake full:{q}:%s", "wake");
}

/* In long spells nothing but work is done, or all would be out of the ordinary always. */
static void operate(struct history *h)
{
    static const struct {
        int weight;
        void (*run)(struct history *h);
    } ops[] = {{25, op_enqueue}, {100, op_step}, {20, op_clock}, {2, op_repeat},
               {1, op_late},     {1, op_hello},  {3, op_operate}};
    enum { CALM_WEIGHT = 145, WEIGHT = 152 };
    int64_t pick = below(h, is_rough(h) ? WEIGHT : CALM_WEIGHT);
    size_t at = 0;
    while (pick >= ops[at].weight)
        pick -= ops[at++].weight;
    ops[at].run(h);
}

/* --- what is out of the ordinary, one by one ---------------------------------------------------
 */

enum { CALM_HELD = 4 /* of the queue of which all is calm: 1 to 4 are held, 5 to 20 wait */ };

#define BODY_5                                                                                     \
    "redis.call('HSET', 'fast:{q}:bodies', '5', '1750000123456|60000|0|3|shop.send_email|"

/* What is changed behind the back of a handle that has been told that all is calm. */
static const struct oddity {
    const char *name, *command; /* or a script; NULL: nothing but the step */
    uint32_t want, max_bytes;
    int64_t lease_ms;
    int ended; /* so many of what is held */
} oddities[] = {
    {"another layout", "HSET fast:{q}:meta layout 2", 2, 9999, 3000, 0},
    {"not calm", "HDEL fast:{q}:meta calm", 2, 9999, 3000, 0},
    {"calm is over", "HSET fast:{q}:meta calm 1750000123456", 2, 9999, 3000, 0},
    {"calm is no number", "HSET fast:{q}:meta calm x", 2, 9999, 3000, 0},
    {"never looked", "HDEL fast:{q}:meta looked", 2, 9999, 3000, 0},
    {"looked a second ago", "HSET fast:{q}:meta looked 1750000122456", 2, 9999, 3000, 0},
    {"looked by a clock ahead", "HSET fast:{q}:meta looked 1750000123457", 2, 9999, 3000, 0},
    {"a longer lease", NULL, 2, 9999, 3001, 0},
    {"no lease known", "HDEL fast:{q}:meta lease", 2, 9999, 3000, 0},
    {"no salt", "HDEL fast:{q}:meta salt", 2, 9999, 3000, 0},
    {"another salt", "HSET fast:{q}:meta salt 77", 0, 9999, 3000, 2},
    {"taken is no number", "HSET fast:{q}:meta taken x", 2, 9999, 3000, 0},
    {"held is no number", "HSET fast:{q}:meta held x", 2, 9999, 3000, 0},
    {"kept is no number", "HSET fast:{q}:meta kept x", 2, 9999, 3000, 0},
    {"done is no number", "HSET fast:{q}:meta done x", 2, 9999, 3000, 0},
    {"no memory of the session", "HDEL fast:{q}:sessions " SESSION_A, 2, 9999, 3000, 0},
    {"seen long ago", "HSET fast:{q}:sessions " SESSION_A " 1|1750000063455|||", 2, 9999, 3000, 0},
    {"seen by a clock ahead", "HSET fast:{q}:sessions " SESSION_A " 1|1750000123457|||", 2, 9999,
     3000, 0},
    {"a later step", "HSET fast:{q}:sessions " SESSION_A " 9999999|1750000123456|||", 2, 9999, 3000,
     0},
    {"a later step of as many digits", "HSET fast:{q}:sessions " SESSION_A " 9999|1750000123456|||",
     2, 9999, 3000, 0},
    {"a claim that was stopped", "HSET fast:{q}:blocks 5 " SESSION_A "|1750000123456|60000|0|0|11|",
     2, 9999, 3000, 0},
    {"another claim", "HSET fast:{q}:blocks 1 " SESSION_A "|1750000123455|60000|0|0|1111|", 2, 9999,
     3000, 2},
    {"another's block", "HSET fast:{q}:blocks 1 " SESSION_B "|1750000123456|60000|0|0|1111|", 2,
     9999, 3000, 2},
    {"a block of mixed times", "HSET fast:{q}:blocks 1 " SESSION_A "|1750000123456|||0|1111|", 2,
     9999, 3000, 2},
    {"a block of long payloads",
     "HSET fast:{q}:blocks 1 " SESSION_A "|1750000123456|60000|0|1|1111|", 2, 9999, 3000, 2},
    {"a block that cannot be read", "HSET fast:{q}:blocks 1 x", 2, 9999, 3000, 2},
    {"ended already",
     "HSET fast:{q}:blocks 1 " SESSION_A "|1750000123456|60000|0|0|a111|1750000199999", 2, 9999,
     3000, 2},
    {"ended beyond the first",
     "HSET fast:{q}:blocks 1 " SESSION_A "|1750000123456|60000|0|0|1a11|1750000199999", 2, 9999,
     3000, 2},
    {"no block behind", "HSET fast:{q}:blocks 1 " SESSION_A "|1750000123456|60000|0|0|1|", 2, 9999,
     3000, 2},
    {"no block", "HDEL fast:{q}:blocks 1", 2, 9999, 3000, 2},
    {"a hole in the line", "HDEL fast:{q}:bodies 6", 2, 9999, 3000, 0},
    {"a body that cannot be read", "HSET fast:{q}:bodies 6 1750000123456|x", 2, 9999, 3000, 0},
    {"the first body cannot be read", "HSET fast:{q}:bodies 5 x", 2, 9999, 3000, 0},
    {"nothing waits", "HSET fast:{q}:meta taken 20", 2, 9999, 3000, 0},
    {"a payload that is too long", BODY_5 "60000|1122334455667788|\\n'..string.rep('x', 1048577))",
     2, 9999, 3000, 0},
    {"a head that is too long", BODY_5 "60000|1122334455667788|'..string.rep('x', 1900)..'\\n{}')",
     2, 9999, 3000, 0},
    {"as many ends as a block has letters",
     "redis.call('HSET', 'fast:{q}:blocks', '1', '" SESSION_A "|1750000123456|60000|0|0|1111"
     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ|'..string.rep('1750000199999,', 51)"
     "..'1750000199999')",
     0, 9999, 3000, 2},
};

/* An empty queue, then one of which all is calm, by two full steps and a fast one. */
static struct history *calm_make(void **state, int64_t keep_ms, struct culex_ack *acks)
{
    static struct history h;
    struct culex_new_run run = fixture_run();
    struct culex_enqueue_result result;
    run.keep_success_ms = keep_ms;
    memset(&h, 0, sizeof h);
    h.f = *state;
    fixture_say(h.f, "FLUSHALL %s", "SYNC");
    way_open(&h, FAST);
    for (int i = 0; i < 20; i++)
        assert_ok(
            h.stores[FAST]->ops->enqueue(h.stores[FAST], "q", NULL, &run, 1, &result, &call_error));
    h.ids[0] = result.id;
    for (uint32_t i = 0, at = 0; i < 3; i++) {
        struct culex_step step = {.queue = "q",
                                  .session = SESSION_A,
                                  .nonce = ++h.nonce + 0x1000,
                                  .want = i == 0 ? CALM_HELD : 0,
                                  .max_bytes = 9999,
                                  .lease_ms = 3000};
        struct culex_step_reply reply;
        assert_ok(h.stores[FAST]->ops->step(h.stores[FAST], &step, &reply, &call_error));
        for (size_t grant = 0; grant < reply.grant_count; grant++)
            acks[at++] = (struct culex_ack){.id = reply.grants[grant].facts.id,
                                            .attempt = 1,
                                            .claim_ms = reply.grants[grant].facts.claim_ms,
                                            .event = CULEX_EVENT_DONE};
        h.stores[FAST]->ops->step_release(h.stores[FAST], &reply);
    }
    assert_int_equal(h.tried, 0);
    return &h;
}

/* Whether the step says that all is over. */
static bool calm_step(struct history *h, const struct oddity *odd, const struct culex_ack *acks)
{
    struct culex_step_reply reply = {.is_empty = false};
    struct culex_step step = {.queue = "q",
                              .session = SESSION_A,
                              .nonce = ++h->nonce + 0x1000,
                              .want = odd->want,
                              .max_bytes = odd->max_bytes,
                              .lease_ms = odd->lease_ms,
                              .acks = acks,
                              .ack_count = (size_t)odd->ended};
    if (h->stores[FAST]->ops->step(h->stores[FAST], &step, &reply, NULL) != CULEX_OK)
        return false;
    bool is_empty = reply.is_empty;
    h->stores[FAST]->ops->step_release(h->stores[FAST], &reply);
    return is_empty;
}

static void test_step__oddities_are_left_to_the_full_one(void **state)
{
    struct culex_ack acks[CALM_HELD];
    for (size_t i = 0; i < sizeof oddities / sizeof oddities[0]; i++) {
        struct history *h = calm_make(state, 60000, acks);
        const char *command = oddities[i].command;
        if (command != NULL && strncmp(command, "redis.call", 10) == 0)
            fixture_say(h->f, "EVAL %s 0", command);
        else if (command != NULL)
            fixture_say(h->f, command, NULL);
        calm_step(h, &oddities[i], acks);
        if (h->tried != 1 || h->refused != 1)
            fail_msg("%s: tried %" PRIu64 " times, refused %" PRIu64, oddities[i].name, h->tried,
                     h->refused);
        h->stores[FAST]->ops->close(h->stores[FAST]);
    }
}

/* Who was told of the calm a second ago would ask in vain. */
static void test_step__late_ones_are_not_tried_fast(void **state)
{
    static const struct oddity none = {.want = 2, .max_bytes = 9999, .lease_ms = 3000};
    struct culex_ack acks[CALM_HELD];
    struct history *h = calm_make(state, 60000, acks);
    h->f->now_ms += 900;
    calm_step(h, &none, acks);
    assert_int_equal(h->tried, 0);
    calm_step(h, &none, acks);
    assert_int_equal(h->tried, 1);
    h->stores[FAST]->ops->close(h->stores[FAST]);
}

/* The same without anything odd, or the test above would show nothing. */
static void test_step__ordinary_ones_are_fast(void **state)
{
    static const struct oddity none[] = {{.want = 2, .max_bytes = 9999, .lease_ms = 3000},
                                         {.max_bytes = 9999, .lease_ms = 3000, .ended = 2},
                                         {.want = 2, .max_bytes = 10, .lease_ms = 2999, .ended = 4},
                                         {.want = 2, .max_bytes = 9, .lease_ms = 3000},
                                         {.max_bytes = 9999, .lease_ms = 3000, .ended = CALM_HELD}};
    struct culex_ack acks[CALM_HELD];
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct history *h = calm_make(state, 60000, acks);
        calm_step(h, &none[i], acks);
        assert_int_equal(h->tried, 1);
        assert_int_equal(h->refused, 0);
        assert_true(redis_check(&h->f->server, "fast", "q"));
        h->stores[FAST]->ops->close(h->stores[FAST]);
    }
}

static int64_t meta_number(struct history *h, const char *script)
{
    return fixture_say(h->f, "EVAL %s 0", script);
}

/* A worker that tells of two claims at once: their numbers follow each other. */
static void test_step__ends_of_two_claims_are_fast(void **state)
{
    struct culex_ack acks[CALM_HELD + 2];
    struct history *h = calm_make(state, 60000, acks);
    struct culex_run_id_parts parts;
    calm_step(h, &(struct oddity){.want = 2, .max_bytes = 9999, .lease_ms = 3000}, acks);
    assert_true(culex__run_id_read(h->ids[0], &parts));
    for (int i = CALM_HELD; i < CALM_HELD + 2; i++) {
        parts.number = (uint64_t)i + 1;
        acks[i] = (struct culex_ack){.id = culex__run_id_make(parts),
                                     .attempt = 1,
                                     .claim_ms = acks[0].claim_ms,
                                     .event = CULEX_EVENT_DONE};
    }
    calm_step(
        h, &(struct oddity){.want = 1, .max_bytes = 9999, .lease_ms = 3000, .ended = CALM_HELD + 2},
        acks);
    assert_int_equal(h->tried, 2);
    assert_int_equal(h->refused, 0);
    assert_int_equal(meta_number(h, "return tonumber(redis.call('HGET', 'fast:{q}:meta', 'done'))"),
                     CALM_HELD + 2);
    assert_true(redis_check(&h->f->server, "fast", "q"));
    h->stores[FAST]->ops->close(h->stores[FAST]);
}

/* What ends is kept for less than all was said to be calm. */
static void test_step__an_end_that_is_over_soon_ends_the_calm(void **state)
{
    struct culex_ack acks[CALM_HELD];
    struct history *h = calm_make(state, 300, acks);
    calm_step(h, &(struct oddity){.max_bytes = 9999, .lease_ms = 3000, .ended = 2}, acks);
    assert_int_equal(h->tried - h->refused, 1);
    assert_int_equal(meta_number(h, "return tonumber(redis.call('HGET', 'fast:{q}:meta', 'calm'))"),
                     h->f->now_ms + 300);
    h->stores[FAST]->ops->close(h->stores[FAST]);
}

/* A token is left for work, and not for numbers of which the runs are gone. */
static void test_step__holes_wake_nobody(void **state)
{
    struct culex_ack acks[CALM_HELD];
    struct history *h = calm_make(state, 60000, acks);
    struct culex_run_id_parts parts;
    culex_run_state after;
    assert_true(culex__run_id_read(h->ids[0], &parts));
    for (parts.number = 7; parts.number <= 20; parts.number++)
        assert_ok(h->stores[FAST]->ops->cancel(h->stores[FAST], "q", culex__run_id_make(parts),
                                               &after, &call_error));
    calm_step(h, &(struct oddity){.max_bytes = 9999, .lease_ms = 3000}, acks);
    h->tried = h->refused = 0;
    fixture_say(h->f, "DEL fast:{q}:%s", "wake");
    calm_step(h, &(struct oddity){.want = 2, .max_bytes = 9999, .lease_ms = 3000}, acks);
    assert_int_equal(h->tried - h->refused, 1);
    assert_int_equal(fixture_say(h->f, "LLEN fast:{q}:%s", "wake"), 0);
    h->stores[FAST]->ops->close(h->stores[FAST]);
}

/* Runs that are neither in the line any more nor in a block, as a restored file may have them: a
 * drain that is told that all is over would leave them behind without a word. */
static void test_step__what_no_block_holds_is_not_over(void **state)
{
    static const struct oddity last = {.max_bytes = 9999, .lease_ms = 3000, .ended = CALM_HELD};
    struct culex_ack acks[CALM_HELD];
    for (int i = 0; i < 2; i++) {
        struct history *h = calm_make(state, 60000, acks);
        fixture_say(h->f, "HSET fast:{q}:meta taken %s", "20");
        if (i > 0)
            fixture_say(h->f, "EVAL %s 0",
                        "for n = 5, 20 do redis.call('HDEL', 'fast:{q}:bodies', n) end");
        assert_int_equal(calm_step(h, &last, acks), i > 0);
        assert_int_equal(h->tried - h->refused, 1);
        h->stores[FAST]->ops->close(h->stores[FAST]);
    }
}

/* A server without memory takes what has ended. */
static void test_step__fast_ends_need_no_memory(void **state)
{
    static const int64_t keeps[] = {0, 60000};
    struct culex_ack acks[CALM_HELD];
    for (int i = 0; i < 2; i++) {
        struct history *h = calm_make(state, keeps[i], acks);
        fixture_say(h->f, "CONFIG SET maxmemory %s", "1");
        calm_step(h, &(struct oddity){.max_bytes = 9999, .lease_ms = 3000, .ended = 2}, acks);
        fixture_say(h->f, "CONFIG SET maxmemory %s", "0");
        assert_int_equal(h->tried - h->refused, 1);
        assert_int_equal(
            meta_number(h, "return tonumber(redis.call('HGET', 'fast:{q}:meta', 'held'))"), 2);
        h->stores[FAST]->ops->close(h->stores[FAST]);
    }
}

/* Whoever tells of more than ends of one life of the queue is not sent to the fast script at all.
 */
static void test_step__beats_and_strangers_are_not_tried_fast(void **state)
{
    struct culex_ack acks[CALM_HELD];
    struct history *h = calm_make(state, 60000, acks);
    struct culex_run_id_parts parts;
    struct culex_step_reply reply;
    struct culex_beat beat = {.id = acks[3].id, .attempt = 1};
    struct culex_step step = {.queue = "q",
                              .session = SESSION_A,
                              .nonce = 0x2000,
                              .want = 1,
                              .max_bytes = 9999,
                              .lease_ms = 3000,
                              .beats = &beat,
                              .beat_count = 1};
    assert_ok(h->stores[FAST]->ops->step(h->stores[FAST], &step, &reply, &call_error));
    assert_int_equal(reply.beats[0], CULEX_ANSWER_OK);
    h->stores[FAST]->ops->step_release(h->stores[FAST], &reply);
    assert_true(culex__run_id_read(acks[1].id, &parts));
    parts.salt = parts.salt == CULEX_RUN_SALT_MAX ? 0 : CULEX_RUN_SALT_MAX;
    acks[1].id = culex__run_id_make(parts);
    step.beat_count = 0;
    step.acks = acks;
    step.ack_count = 2;
    step.nonce++;
    assert_ok(h->stores[FAST]->ops->step(h->stores[FAST], &step, &reply, &call_error));
    assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
    assert_int_equal(reply.acks[1], CULEX_ANSWER_GONE);
    h->stores[FAST]->ops->step_release(h->stores[FAST], &reply);
    assert_int_equal(h->tried, 0);
    h->stores[FAST]->ops->close(h->stores[FAST]);
}

/* A queue of runs with limits and keys, of which all is plain: 4 are held, 16 wait. What is changed
 * of it. */
static const struct plain {
    const char *name, *command; /* NULL: nothing */
    size_t ended;               /* of what is held */
    bool is_apart, is_lean;     /* those that are held have a gate of their own */
    unsigned states;            /* that keep the keys */
} plains[] = {
    {"nothing", NULL, 0, false, true, 6},
    {"ends", NULL, 4, false, true, 6},
    {"some are left at their gate", NULL, 2, false, true, 7},
    {"nobody is left at a gate", NULL, 4, true, false, 6},
    {"keys that only workers keep", NULL, 0, false, false, 4},
    {"a lease is over", "ZADD fast:{q}:active 1 1234567890123456", 0, false, false, 6},
    {"no room for all", "HSET fast:{q}:limits j:c C|500|0|0|5|0|0", 0, false, false, 6},
    {"room for all", "HSET fast:{q}:limits j:c C|500|0|0|6|0|0", 0, false, true, 6},
    {"no tokens for all", "HSET fast:{q}:limits j:r R|500|1000|500|500|1000|5", 0, false, false, 6},
    {"tokens for all", "HSET fast:{q}:limits j:r R|500|1000|500|500|1000|6", 0, false, true, 6},
    {"a limit that cannot be read", "HSET fast:{q}:limits j:c x", 0, false, false, 6},
    {"not calm", "HDEL fast:{q}:meta calm", 0, false, false, 6},
    {"calm is over", "HSET fast:{q}:meta calm 1750000123456|0|0", 0, false, false, 6},
    {"limits of a clock ahead", "HSET fast:{q}:meta limits 1750000123457", 0, false, false, 6},
    {"something in the line", "HSET fast:{q}:meta line 1", 0, false, false, 6},
    {"no memory of the session", "HDEL fast:{q}:sessions " SESSION_A, 0, false, false, 6},
};

static bool plain_step(struct history *h, const struct culex_ack *acks, size_t ended, uint32_t want,
                       struct culex_ack *ret_acks)
{
    struct culex_step_reply reply;
    struct culex_step step = {.queue = "q",
                              .session = SESSION_A,
                              .nonce = ++h->nonce + 0x1000,
                              .want = want,
                              .max_bytes = 9999,
                              .lease_ms = 3000,
                              .acks = acks,
                              .ack_count = ended};
    fixture_say(h->f, "CONFIG %s", "RESETSTAT");
    assert_ok(h->stores[FAST]->ops->step(h->stores[FAST], &step, &reply, &call_error));
    bool is = is_lean(h);
    for (size_t i = 0; i < reply.grant_count && ret_acks != NULL; i++)
        ret_acks[i] = (struct culex_ack){.id = reply.grants[i].facts.id,
                                         .attempt = 1,
                                         .claim_ms = reply.grants[i].facts.claim_ms,
                                         .event = CULEX_EVENT_DONE};
    h->stores[FAST]->ops->step_release(h->stores[FAST], &reply);
    return is;
}

static void plain_make(struct history *h, const struct plain *plain, struct culex_ack *ret_acks)
{
    for (int i = 0; i < 20; i++) {
        char key[24];
        struct culex_run_limit limits[] = {
            {.kind = CULEX_LIMIT_CONCURRENCY,
             .name = "j:c",
             .key = plain->is_apart && i < CALM_HELD ? "y" : "x",
             .count = 500},
            {.kind = CULEX_LIMIT_RATE, .name = "j:r", .count = 500, .per_ms = 1000, .burst = 500}};
        struct culex_new_run run = fixture_run();
        struct culex_enqueue_result result;
        snprintf(key, sizeof key, "%016x", (unsigned)i);
        run.unique_key = key;
        run.unique_while = plain->states;
        run.limits = limits;
        run.limit_count = 2;
        assert_ok(h->stores[FAST]->ops->enqueue(h->stores[FAST], "q", NULL, &run, 1, &result,
                                                &call_error));
    }
    /* The first step knows of no lease yet, so that the second one looks at them. */
    assert_false(plain_step(h, NULL, 0, CALM_HELD, ret_acks));
    plain_step(h, NULL, 0, 0, NULL);
}

static void test_step__what_is_not_plain_is_left_to_the_full_one(void **state)
{
    for (size_t i = 0; i < sizeof plains / sizeof plains[0]; i++) {
        struct culex_ack acks[CALM_HELD];
        struct history h = {.f = *state};
        fixture_say(h.f, "FLUSHALL %s", "SYNC");
        way_open(&h, FAST);
        plain_make(&h, &plains[i], acks);
        if (plains[i].command != NULL)
            fixture_say(h.f, plains[i].command, NULL);
        if (plain_step(&h, acks, plains[i].ended, 2, NULL) != plains[i].is_lean)
            fail_msg("%s: a lean step, or none", plains[i].name);
        h.stores[FAST]->ops->close(h.stores[FAST]);
    }
}

static uint64_t seed = 1;
static unsigned long operations = 2500;

/* `h` has how many of its steps were fast ones. */
static void history_play(struct history *h)
{
    for (int at = 0; at < WAYS; at++)
        way_open(h, at);
    for (int i = 0; i < SESSIONS; i++)
        session_begin(h, &h->workers[i]);
    for (int at = 0; at < WAYS && h->is_told; at++) {
        size_t released;
        int64_t now_ms;
        assert_ok(h->stores[at]->ops->hello(h->stores[at], "q", "first", h->workers[0].session,
                                            &released, &now_ms, &call_error));
        assert_ok(h->stores[at]->ops->events_keep(h->stores[at], "q", 500, &call_error));
    }
    for (h->op = 1; h->op <= operations; h->op++) {
        operate(h);
        if (h->op % 4 == 0)
            keys_compare(h);
        if (h->op % 40 == 0)
            assert_true(redis_check(&h->f->server, "fast", "q"));
    }
    for (int at = 0; at < WAYS; at++)
        h->stores[at]->ops->close(h->stores[at]);
}

static void test_step__fast_and_full_agree(void **state)
{
    struct history h = {.f = *state, .random = seed};
    history_play(&h);
    printf("seed %" PRIu64 ": %" PRIu64 " steps, %" PRIu64 " tried fast, %" PRIu64 " refused\n",
           seed, h.steps, h.tried, h.refused);
    /* Or it proves nothing. */
    assert_true(h.tried - h.refused > h.steps / 10);
    assert_true(h.refused > 0);
}

/* The same entries too, and the same of them are dropped. */
static void test_step__fast_and_full_tell_the_same_events(void **state)
{
    struct history h = {.f = *state, .random = seed, .is_told = true};
    fixture_say(h.f, "FLUSHALL %s", "SYNC");
    history_play(&h);
    printf("seed %" PRIu64 ": %" PRIu64 " steps, %" PRIu64 " tried fast, %" PRIu64 " refused\n",
           seed, h.steps, h.tried, h.refused);
    /* Or it proves nothing. */
    assert_true(h.tried - h.refused > h.steps / 10);
    assert_true(fixture_say(h.f, "ZCARD fast:{q}:%s", "events") > 0);
}

static void test_step__lean_and_full_agree(void **state)
{
    struct history h = {.f = *state, .random = seed, .is_declared = true};
    fixture_say(h.f, "FLUSHALL %s", "SYNC");
    history_play(&h);
    printf("seed %" PRIu64 ": %" PRIu64 " steps, %" PRIu64 " lean\n", seed, h.steps, h.lean);
    /* Or it proves nothing. */
    assert_true(h.lean > h.steps / 20);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        seed = strtoull(argv[1], NULL, 0);
    if (argc > 2)
        operations = strtoul(argv[2], NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_step__ordinary_ones_are_fast, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_step__oddities_are_left_to_the_full_one, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_step__ends_of_two_claims_are_fast, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_step__an_end_that_is_over_soon_ends_the_calm,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_step__late_ones_are_not_tried_fast, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_step__holes_wake_nobody, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_step__what_no_block_holds_is_not_over, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_step__fast_ends_need_no_memory, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_step__beats_and_strangers_are_not_tried_fast,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_step__fast_and_full_agree, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_step__fast_and_full_tell_the_same_events,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_step__what_is_not_plain_is_left_to_the_full_one,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_step__lean_and_full_agree, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
