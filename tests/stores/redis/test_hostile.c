/* Replies as an enemy would write them: no crash, no wait beyond the deadline, no memory worth
 * mentioning, and the next call works. The replies are injected by the proxy. */
#include "fixture.h"

#include <errno.h>
#include <stdatomic.h>

#include "store/redis/conn.h"
#include "proxy.h"

static const char *const hostile[] = {
    "*1000000000\r\n",
    "*16385\r\n",
    "*2147483648\r\n",
    "*9223372036854775807\r\n",
    "*-2\r\n",
    "*16000\r\n*16000\r\n*16000\r\n*16000\r\n",
    "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
    "$9223372036854775807\r\n",
    "$9000000000000000000\r\nabc",
    "$-2\r\n",
    "$18446744073709551615\r\n",
    "$4\r\nabcdefgh\r\n",
    ":99999999999999999999999\r\n",
    ":1\r\n:2\r\n",
    "+OK\r\n+OK\r\n",
    "HTTP/1.1 400 Bad Request\r\n\r\n",
    "%1\r\n+a\r\n+b\r\n",
    "\r\n",
    /* Well-formed, and not what any of our scripts answers. */
    "+OK\r\n",
    ":-1\r\n",
    "$-1\r\n",
    "*-1\r\n",
    "*0\r\n",
    "*1\r\n$-1\r\n",
    "*3\r\n:1\r\n:-9\r\n:99\r\n",
    "*5\r\n:1\r\n:1\r\n:0\r\n$3\r\nOOO\r\n$0\r\n\r\n",
    "*6\r\n:1\r\n:1\r\n:0\r\n$0\r\n\r\n$0\r\n\r\n$4\r\nxxxx\r\n",
    "*8\r\n:1\r\n:1\r\n:0\r\n$0\r\n\r\n$0\r\n\r\n$16\r\n0123456789abcdef\r\n$1\r\n|\r\n$1\r\nx\r\n",
    "*2\r\n*0\r\n*0\r\n",
    "*2\r\n$1\r\n0\r\n*2\r\n:1\r\n*0\r\n",
    "-\r\n",
    "-ERR \xff\xfe\r\n",
};

enum verb {
    ENQUEUE,
    STEP,
    HELLO,
    GET,
    LIST,
    STATS,
    QUEUES,
    CANCEL,
    PURGE,
    PAUSE,
    LIMIT,
    NOW,
    VERBS
};

static culex_status verb_call(struct fixture *f, struct culex_store *store, enum verb verb,
                              culex_error *error)
{
    struct culex_new_run run = fixture_run();
    struct culex_ticket ticket = fixture_ticket(f, 7);
    culex_uuid id = fixture_stranger(f);
    struct culex_enqueue_result result;
    struct culex_step step = fixture_step(f, SESSION_A, 1);
    struct culex_step_reply reply;
    struct culex_list_reply page;
    culex_run_info *info = NULL;
    culex_queue_stats stats;
    culex_run_state state;
    char **names = NULL;
    struct culex_purge_reply purged;
    size_t count;
    int64_t now_ms;
    culex_status status;
    switch (verb) {
    case ENQUEUE:
        return store->ops->enqueue(store, "q", &ticket, &run, 1, &result, error);
    case STEP:
        status = store->ops->step(store, &step, &reply, error);
        if (status == CULEX_OK)
            store->ops->step_release(store, &reply);
        return status;
    case HELLO:
        return store->ops->hello(store, "q", "w", SESSION_A, &count, &now_ms, error);
    case GET:
        status = store->ops->get(store, "q", id, &info, error);
        culex_run_info_free(info);
        return status;
    case LIST:
        status = store->ops->list(store, "q", CULEX_LIST_OF(CULEX_RUN_WAITING), CULEX_LIST_START,
                                  100, &page, error);
        if (status == CULEX_OK)
            store->ops->list_release(store, &page);
        return status;
    case STATS:
        return store->ops->stats(store, "q", &stats, error);
    case QUEUES:
        status = store->ops->queues(store, &names, error);
        free(names);
        return status;
    case CANCEL:
        return store->ops->cancel(store, "q", id, &state, error);
    case PURGE:
        return store->ops->purge(store, "q", CULEX_RUN_DEAD, 10, &purged, error);
    case PAUSE:
        return store->ops->pause(store, "q", false, error);
    case LIMIT:
        return store->ops->limit(store, "q", 1000000, error);
    default: {
        int64_t (*clock)(void *) = f->env.store_clock_ms;
        f->env.store_clock_ms = NULL; /* so that the server is asked */
        status = store->ops->now(store, &now_ms, error);
        f->env.store_clock_ms = clock;
        return status;
    }
    }
}

/* A store with time enough for all but the one call that is to meet the reply. */
struct patient {
    struct culex_store *store;
    atomic_int_fast64_t until_ns; /* 0: none */
};

static void patient_open(struct fixture *f, struct patient *patient, const char *url)
{
    atomic_init(&patient->until_ns, 0);
    const struct culex_store_options options = {.timeout_ms = 20000,
                                                .until_ns = &patient->until_ns};
    culex_error error = {.text = ""};
    if (culex__store_open(url, &options, &f->env, &patient->store, &error) != CULEX_OK)
        fail_msg("%s", error.text);
}

/* So that the answer meets the verb and not the greeting or the probe. */
static void greet(struct fixture *f, struct culex_store *store)
{
    int tries = 0;
    while (verb_call(f, store, ENQUEUE, NULL) != CULEX_OK ||
           verb_call(f, store, HELLO, NULL) != CULEX_OK)
        assert_true(++tries < 100);
}

/* What the verb says to the reply. Where its 20 ms were over before the reply came: once more. */
static culex_status reply_meet(struct fixture *f, struct patient *patient, struct proxy *proxy,
                               const char *text, enum verb verb)
{
    const struct proxy_fault fault = {
        .action = PROXY_ANSWER, .text = text, .text_len = strlen(text), .times = 1};
    for (int tries = 0; tries < 100; tries++) {
        culex_error error = {.code = CULEX_OK};
        greet(f, patient->store);
        proxy_set(proxy, &fault);
        atomic_store(&patient->until_ns, culex__env_boottime_ns(&f->env) + 20000000);
        culex_status status = verb_call(f, patient->store, verb, &error);
        atomic_store(&patient->until_ns, 0);
        bool has_met = proxy_hits(proxy) == 1;
        proxy_set(proxy, NULL);
        if (has_met)
            return status;
    }
    fail_msg("reply %s never met verb %d", text, (int)verb);
    return CULEX_OK;
}

static void test_hostile_reply_costs_one_call(void **state)
{
    struct fixture *f = *state;
    struct proxy *proxy = proxy_start(f->server.socket);
    struct patient patient;
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        patient_open(f, &patient, proxy_url(proxy));
        for (int verb = 0; verb < VERBS; verb++) {
            culex_status status = reply_meet(f, &patient, proxy, hostile[i], (enum verb)verb);
            if (status == CULEX_OK && i < 18)
                fail_msg("verb %d took reply %d", verb, (int)i);
        }
        greet(f, patient.store);
        patient.store->ops->close(patient.store);
    }
    proxy_stop(proxy);
}

#define GRANT                                                                                      \
    ":0\r\n$16\r\n0123456789abcdef\r\n$167\r\n8|A|2|aaaaaaaaaaaaaaaa|1750000001000|"               \
    "1750000000000|1|1|1750000060000|1|1|0|0|0|1749999999999|1000|30000|5|shop.mail|86400000|"     \
    "00000000000000ff|red,green|abc123|9|0|7|0|\r\n$2\r\n{}\r\n"

/* What asked for `want` runs has room for as many. */
static culex_status step_answered(struct fixture *f, struct proxy *proxy, struct culex_store *store,
                                  const char *answer, uint32_t want, culex_error *error)
{
    struct culex_step step = fixture_step(f, SESSION_A, want);
    struct culex_step_reply reply;
    proxy_set(proxy,
              &(struct proxy_fault){
                  .action = PROXY_ANSWER, .text = answer, .text_len = strlen(answer), .times = 1});
    culex_status status = store->ops->step(store, &step, &reply, error);
    assert_int_equal(proxy_hits(proxy), 1);
    proxy_set(proxy, NULL);
    if (status == CULEX_OK) {
        assert_int_equal(reply.grant_count, want);
        store->ops->step_release(store, &reply);
    }
    return status;
}

static void test_more_grants_than_were_wanted_are_refused(void **state)
{
    static const char two[] =
        "*17\r\n:1\r\n:-1\r\n:0\r\n$0\r\n\r\n$0\r\n\r\n:5\r\n:0\r\n:1\r\n*0\r\n" GRANT GRANT;
    struct fixture *f = *state;
    struct proxy *proxy = proxy_start(f->server.socket);
    const struct culex_store_options options = {.timeout_ms = 2000};
    struct culex_store *store = NULL;
    assert_ok(culex__store_open(proxy_url(proxy), &options, &f->env, &store, NULL));
    assert_ok(verb_call(f, store, HELLO, &call_error)); /* so that it meets no greeting or probe */
    assert_ok(step_answered(f, proxy, store, two, 2, &call_error));
    assert_int_equal(step_answered(f, proxy, store, two, 1, NULL), CULEX_ECORRUPT);
    store->ops->close(store);
    proxy_stop(proxy);
}

/* Each share says where to go on, and none is the last. */
static void test_hello_without_end_is_unknown(void **state)
{
    static const char share[] = "*4\r\n:1750000000000\r\n:2\r\n:1750000001000\r\n:0\r\n";
    struct fixture *f = *state;
    struct proxy *proxy = proxy_start(f->server.socket);
    struct culex_store *store = fixture_open(f, proxy_url(proxy));
    culex_error error = {.code = CULEX_OK};
    char taken_back[64];
    assert_ok(verb_call(f, store, HELLO, &call_error)); /* so that it meets no greeting or probe */
    proxy_set(proxy, &(struct proxy_fault){.action = PROXY_ANSWER, .text = share});
    assert_int_equal(verb_call(f, store, HELLO, &error), CULEX_EUNKNOWN);
    assert_int_equal(error.code, CULEX_EUNKNOWN);
    snprintf(taken_back, sizeof taken_back, "took back %u runs", 2 * proxy_hits(proxy));
    assert_non_null(strstr(error.text, taken_back));
    assert_non_null(strstr(error.text, "does not count yet"));
    proxy_set(proxy, NULL);
    assert_ok(verb_call(f, store, HELLO, &call_error));
    store->ops->close(store);
    proxy_stop(proxy);
}

/* Each header of seven bytes would take 128 KiB of pointers, nested ones that times 16000. */
static void test_nested_arrays_share_one_budget(void **state)
{
    (void)state;
    static const char headers[] = "*16000\r\n*16000\r\n";
    struct culex__redis_limits limits;
    redisReader *reader = culex__redis_reader_create(&limits);
    void *reply = NULL;
    assert_int_equal(redisReaderFeed(reader, headers, strlen(headers)), REDIS_OK);
    assert_int_equal(redisReaderGetReply(reader, &reply), REDIS_ERR);
    redisReaderFree(reader);
    /* The budget is a reply's own: the next one has it anew. */
    reader = culex__redis_reader_create(&limits);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(redisReaderFeed(reader, "*2\r\n*1\r\n:1\r\n:2\r\n", 16), REDIS_OK);
        assert_int_equal(redisReaderGetReply(reader, &reply), REDIS_OK);
        assert_non_null(reply);
        freeReplyObject(reply);
    }
    assert_int_equal(limits.items_left, CULEX__REDIS_REPLY_ITEMS_MAX - 3);
    redisReaderFree(reader);
}

/* --- a server in memory ---------------------------------------------------------------------- */

/* An environment whose socket never ends, and whose time passes only in recv(). */
struct drip {
    struct culex_env env;
    int64_t now_ns;
    int64_t step_ns; /* a recv takes this long */
    size_t piece;    /* and brings so many bytes */
    char byte;
    uint64_t received;
};

static int64_t drip_boottime(void *self)
{
    return ((struct drip *)self)->now_ns;
}

static ssize_t drip_recv(void *self, int fd, void *ret_bytes, size_t len, int timeout_ms)
{
    struct drip *drip = self;
    (void)fd;
    if (drip->step_ns > timeout_ms * INT64_C(1000000)) {
        drip->now_ns += timeout_ms * INT64_C(1000000);
        errno = EAGAIN;
        return -1;
    }
    drip->now_ns += drip->step_ns;
    len = len < drip->piece ? len : drip->piece;
    memset(ret_bytes, drip->byte, len);
    drip->received += len;
    return (ssize_t)len;
}

static void drip_close(void *self, int fd)
{
    (void)self;
    (void)fd;
}

static culex_status drip_receive(struct drip *drip, int64_t limit_ms, culex_error *error)
{
    struct culex__redis_target target = {.label = "drip"};
    struct culex__redis_conn conn;
    redisReply *reply = NULL;
    drip->env = *culex__env_system();
    drip->env.self = drip;
    drip->env.boottime_ns = drip_boottime;
    drip->env.recv = drip_recv;
    drip->env.close = drip_close;
    const struct culex_store store = {.env = &drip->env};
    culex__redis_conn_init(&conn, &store, &target);
    conn.fd = 1000;
    conn.reader = culex__redis_reader_create(&conn.limits);
    culex_status status =
        culex__redis_conn_receive(&conn, drip->now_ns + limit_ms * 1000000, &reply, error);
    assert_int_equal(conn.fd, -1); /* never used again */
    return status;
}

static void test_slow_drip_ends_at_the_deadline(void **state)
{
    (void)state;
    struct drip drip = {.step_ns = 9000000, .piece = 1, .byte = '+'};
    culex_error error;
    assert_int_equal(drip_receive(&drip, 100, &error), CULEX_EUNKNOWN);
    assert_non_null(strstr(error.text, "timed out"));
    assert_int_equal(drip.now_ns, 100 * 1000000);
    assert_int_equal(drip.received, 11);
}

static void test_black_hole_ends_at_the_deadline(void **state)
{
    (void)state;
    struct drip drip = {.step_ns = INT64_MAX, .piece = 1, .byte = '+'};
    culex_error error;
    assert_int_equal(drip_receive(&drip, 100, &error), CULEX_EUNKNOWN);
    assert_int_equal(drip.now_ns, 100 * 1000000);
}

/* The deadline is looked at although there is always more to read. */
static void test_endless_flood_ends_at_the_deadline(void **state)
{
    (void)state;
    struct drip drip = {.step_ns = 1000000, .piece = 64, .byte = '$'};
    culex_error error;
    drip.byte = '+';
    assert_int_equal(drip_receive(&drip, 100, &error), CULEX_EUNKNOWN);
    assert_int_equal(drip.now_ns, 100 * 1000000);
    assert_int_equal(drip.received, 6400);
}

static void test_endless_line_is_cut_short(void **state)
{
    (void)state;
    struct drip drip = {.step_ns = 1, .piece = SIZE_MAX, .byte = '-'};
    culex_error error;
    assert_int_equal(drip_receive(&drip, 1000000, &error), CULEX_EUNKNOWN);
    assert_non_null(strstr(error.text, "64 KiB"));
    assert_true(drip.received <= 3 * CULEX__REDIS_REPLY_LINE_MAX);
}

/* --- words of the server that could tell ---------------------------------------------------- */

static void test_injected_refusal_of_auth_never_shows_the_password(void **state)
{
    struct fixture *f = *state;
    struct proxy *proxy = proxy_start(f->server.socket);
    char url[192];
    culex_error error;
    struct culex_store *store = NULL;
    snprintf(url, sizeof url, "%s?user=ann&password=hunter2", proxy_url(proxy));
    proxy_set(proxy, &(struct proxy_fault){
                         .action = PROXY_ANSWER,
                         .match = "AUTH",
                         .text = "-ERR unknown command 'AUTH', with args beginning with: 'ann' "
                                 "'hunter2'\r\n"});
    assert_int_equal(culex__store_open(url, NULL, &f->env, &store, &error), CULEX_EDENIED);
    assert_null(strstr(error.text, "hunter2"));
    assert_non_null(strstr(error.text, "login"));
    proxy_stop(proxy);
}

/* The server says why, and hangs up before it has read a word. */
static void test_injected_last_words_are_heard(void **state)
{
    struct fixture *f = *state;
    struct proxy *proxy = proxy_start(f->server.socket);
    const char *urls[] = {proxy_url(proxy), proxy_tcp_url(proxy)};
    proxy_set(proxy, &(struct proxy_fault){.action = PROXY_REFUSE,
                                           .text = "-ERR max number of clients reached\r\n"});
    for (int i = 0; i < 100; i++) {
        culex_error error;
        struct culex_store *store = NULL;
        assert_int_equal(culex__store_open(urls[i % 2], NULL, &f->env, &store, &error),
                         CULEX_EBUSY);
        assert_non_null(strstr(error.text, "raise maxclients"));
    }
    proxy_set(proxy,
              &(struct proxy_fault){.action = PROXY_REFUSE,
                                    .text = "-DENIED Redis is running in protected mode\r\n"});
    culex_error error;
    struct culex_store *store = NULL;
    assert_int_equal(culex__store_open(urls[0], NULL, &f->env, &store, &error), CULEX_EDENIED);
    assert_non_null(strstr(error.text, "bind address"));
    proxy_stop(proxy);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_hostile_reply_costs_one_call),
        TEST(test_more_grants_than_were_wanted_are_refused),
        TEST(test_hello_without_end_is_unknown),
        cmocka_unit_test(test_nested_arrays_share_one_budget),
        cmocka_unit_test(test_slow_drip_ends_at_the_deadline),
        cmocka_unit_test(test_black_hole_ends_at_the_deadline),
        cmocka_unit_test(test_endless_flood_ends_at_the_deadline),
        cmocka_unit_test(test_endless_line_is_cut_short),
        TEST(test_injected_refusal_of_auth_never_shows_the_password),
        TEST(test_injected_last_words_are_heard),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
