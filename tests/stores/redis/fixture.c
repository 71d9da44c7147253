#include "fixture.h"

#include "core/run_id.h"
#include "platform/env.h"

/* Long after 1970 and not on a border of anything. */
static const int64_t start_ms = 1750000123456;

static int64_t fixture_clock(void *self)
{
    const struct fixture *fixture = self;
    return fixture->now_ms;
}

/* The system's members take no state, so a fixture can stand in as their `self`. */
int fixture_group_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    if (fixture == NULL || !redis_server_start(&fixture->server, NULL)) {
        free(fixture);
        fprintf(stderr, "no redis-server\n");
        return -1;
    }
    fixture->env = *culex__env_system();
    fixture->env.self = fixture;
    fixture->env.store_clock_ms = fixture_clock;
    *state = fixture;
    return 0;
}

int fixture_group_teardown(void **state)
{
    struct fixture *fixture = *state;
    redis_server_stop(&fixture->server);
    free(fixture);
    return 0;
}

struct culex_store *fixture_open(struct fixture *fixture, const char *url)
{
    struct culex_store *store = NULL;
    assert_ok(culex__store_open(url, NULL, &fixture->env, &store, &call_error));
    return store;
}

int fixture_setup(void **state)
{
    struct fixture *fixture = *state;
    if (fixture->server.pid == 0 && !redis_server_restart(&fixture->server))
        return -1;
    fixture_say(fixture, "FLUSHALL %s", "SYNC");
    fixture->now_ms = start_ms;
    fixture->sequence = 0;
    fixture->env.store_clock_ms = fixture_clock;
    fixture->store = fixture_open(fixture, fixture->server.url);
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    if (fixture->store != NULL)
        fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
    return 0;
}

culex_uuid fixture_stranger(struct fixture *fixture)
{
    return culex__run_id_make((struct culex_run_id_parts){
        .ms = fixture->now_ms, .salt = 1, .lane = CULEX_RUN_LANE_MAX, .number = ++fixture->serial});
}

struct culex_ticket fixture_ticket(struct fixture *fixture, uint64_t producer)
{
    struct culex_ticket last = {producer, fixture->sequence};
    struct culex_ticket ticket = culex__ticket_next(&last, fixture->now_ms);
    fixture->sequence = ticket.sequence;
    return ticket;
}

struct culex_new_run fixture_run(void)
{
    return (struct culex_new_run){
        .job = "shop.send_email",
        .attempts_max = 3,
        .keep_success_ms = 2000,
        .keep_failure_ms = 60000,
        .fingerprint = 0x1122334455667788,
        .content = 0xfeed,
        .tags = "",
        .payload = "{\"to\":\"x\"}",
        .payload_len = 10,
    };
}

struct culex_enqueue_result fixture_offer(struct fixture *fixture,
                                          const struct culex_ticket *ticket,
                                          const struct culex_new_run *run)
{
    struct culex_enqueue_result result;
    assert_ok(
        fixture->store->ops->enqueue(fixture->store, "q", ticket, run, 1, &result, &call_error));
    return result;
}

culex_uuid fixture_enqueue(struct fixture *fixture, const struct culex_new_run *run)
{
    struct culex_enqueue_result result = fixture_offer(fixture, NULL, run);
    assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
    return result.id;
}

struct culex_step fixture_step(struct fixture *fixture, const char *session, uint32_t want)
{
    return (struct culex_step){
        .queue = "q",
        .session = session,
        .nonce = ++fixture->nonce,
        .want = want,
        .max_bytes = 1000000,
        .lease_ms = 1000,
    };
}

void fixture_run_step(struct fixture *fixture, const struct culex_step *step,
                      struct culex_step_reply *ret_reply)
{
    assert_ok(fixture->store->ops->step(fixture->store, step, ret_reply, &call_error));
}

uint32_t fixture_claim(struct fixture *fixture, culex_uuid id)
{
    struct culex_step step = fixture_step(fixture, SESSION_A, 1);
    struct culex_step_reply reply;
    fixture_run_step(fixture, &step, &reply);
    assert_int_equal(reply.grant_count, 1);
    assert_memory_equal(&reply.grants[0].facts.id, &id, sizeof id);
    uint32_t attempt = reply.grants[0].facts.attempt;
    fixture->store->ops->step_release(fixture->store, &reply);
    return attempt;
}

enum culex_answer fixture_ack(struct fixture *fixture, const char *session, culex_uuid id,
                              uint32_t attempt, enum culex_run_event event)
{
    struct culex_ack ack = {.id = id, .attempt = attempt, .event = event};
    struct culex_step step = fixture_step(fixture, session, 0);
    struct culex_step_reply reply;
    step.acks = &ack;
    step.ack_count = 1;
    fixture_run_step(fixture, &step, &reply);
    enum culex_answer answer = reply.acks[0];
    fixture->store->ops->step_release(fixture->store, &reply);
    return answer;
}

culex_run_state fixture_state(struct fixture *fixture, culex_uuid id)
{
    culex_run_state letter = CULEX_RUN_STATE_COUNT;
    struct culex_list_reply reply;
    /* By listing, so that the index is checked along with the record. */
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        assert_ok(fixture->store->ops->list(fixture->store, "q",
                                            CULEX_LIST_OF((culex_run_state)state), CULEX_LIST_START,
                                            1000, &reply, &call_error));
        for (size_t i = 0; i < reply.count; i++) {
            if (memcmp(&reply.runs[i].id, &id, sizeof id) != 0)
                continue;
            assert_int_equal(letter, CULEX_RUN_STATE_COUNT); /* in one index only */
            letter = reply.runs[i].state;
        }
        fixture->store->ops->list_release(fixture->store, &reply);
    }
    assert_int_not_equal(letter, CULEX_RUN_STATE_COUNT);
    return letter;
}

long long fixture_say(struct fixture *fixture, const char *format, const char *argument)
{
    redisReply *reply = redis_server_command(&fixture->server, format, argument);
    assert_non_null(reply);
    if (reply->type == REDIS_REPLY_ERROR)
        fail_msg("%s", reply->str);
    long long value = reply->integer;
    freeReplyObject(reply);
    return value;
}
