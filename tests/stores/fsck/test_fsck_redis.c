/* fsck/test_fsck_redis.c - FSCK of a Redis queue with one thing wrong at a time.
 *
 * Each test seeds a queue with runs in every state, does one damage by hand, and holds a report to
 * the figures and to writing nothing, then a repair to a second report of nothing, to the offline
 * checker, and to a drain that ends every live run once. */
#include "look.h"

#include "base/buf.h"
#include "core/run_id.h"
#include "store/event_entry.h"

#include "redis_check.h"

enum {
    WAITING_A,
    WAITING_B,
    WAITING_C,
    URGENT_A,
    URGENT_B,
    SCHEDULED_A,
    SCHEDULED_B,
    ACTIVE_A,
    ACTIVE_B,
    DONE_A,
    DONE_B,
    DEAD_A,
    CANCELLED_A,
    CANCELLED_B,
    SEED_COUNT,
    LIVE_COUNT = 9,
    WORDS_MAX = 8
};

static culex_uuid ids[SEED_COUNT], stranger;

/* --- the queue that is damaged ---------------------------------------------------------- */

/* No ordinary run, but for nothing that a test goes by. */
static struct culex_new_run odd_run(void)
{
    struct culex_new_run run = fixture_run();
    run.expires_ms = INT64_C(1000000000);
    return run;
}

static void seed_put(struct fixture *fixture, int which, int priority, int64_t delay_ms)
{
    struct culex_new_run run = odd_run();
    run.priority = priority;
    run.delay_ms = delay_ms;
    run.unique_key = which == URGENT_B   ? "aa"
                     : which == ACTIVE_B ? "bb"
                     : which == DEAD_A   ? "dd"
                                         : NULL;
    run.unique_while = CULEX_UNIQUE_LIVE;
    if (run.unique_key != NULL)
        run.expires_ms = 0; /* what is over holds no key */
    run.attempts_max = 5;
    ids[which] = fixture_enqueue(fixture, &run);
}

static void seed_end(struct fixture *fixture, int which, enum culex_run_event event)
{
    struct culex_ack ack = {.id = ids[which], .attempt = 1, .event = event};
    struct culex_step step = fixture_step(fixture, SESSION_A, 0);
    struct culex_step_reply reply;
    ack.text = event == CULEX_EVENT_DISCARD ? "no" : NULL;
    ack.result = event == CULEX_EVENT_DONE ? "1" : NULL;
    ack.result_len = event == CULEX_EVENT_DONE;
    step.acks = &ack;
    step.ack_count = 1;
    fixture_run_step(fixture, &step, &reply);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
    fixture->store->ops->step_release(fixture->store, &reply);
}

static void seed_cancel(struct fixture *fixture, int which)
{
    culex_run_state state;
    assert_ok(fixture->store->ops->cancel(fixture->store, "q", ids[which], &state, &call_error));
}

static void seed_schedule(struct fixture *fixture)
{
    struct culex_tick tick = {
        .queue = "q", .schedule = "shop.sweep", .interval_ms = 1, .is_of_calendar = true};
    struct culex_tick_reply reply;
    assert_ok(fixture->store->ops->tick(fixture->store, &tick, &reply, &call_error));
}

static void seed(struct fixture *fixture)
{
    struct culex_new_run run = fixture_run();
    struct culex_ticket ticket = fixture_ticket(fixture, 7);
    run.idempotency_key = "once";
    run.window_ms = 3600000;
    culex_uuid gone = fixture_offer(fixture, &ticket, &run).id;
    fixture_claim(fixture, gone);
    fixture_ack(fixture, SESSION_A, gone, 1, CULEX_EVENT_DONE);
    assert_ok(fixture->store->ops->forget(fixture->store, "q", gone, &call_error));
    for (int which = ACTIVE_A; which <= DEAD_A; which++) {
        seed_put(fixture, which, 0, 0);
        fixture_claim(fixture, ids[which]);
    }
    seed_end(fixture, DONE_A, CULEX_EVENT_DONE);
    seed_end(fixture, DONE_B, CULEX_EVENT_DONE);
    seed_end(fixture, DEAD_A, CULEX_EVENT_DISCARD);
    for (int which = WAITING_A; which <= SCHEDULED_B; which++)
        seed_put(fixture, which,
                 which == URGENT_A      ? 5
                 : which == URGENT_B    ? 9
                 : which == SCHEDULED_B ? 3
                                        : 0,
                 which >= SCHEDULED_A ? 5000 : 0);
    seed_put(fixture, CANCELLED_A, 0, 5000);
    seed_put(fixture, CANCELLED_B, 0, 0);
    seed_cancel(fixture, CANCELLED_A);
    seed_cancel(fixture, CANCELLED_B); /* leaves a ghost */
    seed_schedule(fixture);
    stranger = fixture_stranger(fixture);
    assert_true(redis_check(&fixture->server, "culex", "q"));
}

/* --- tests ------------------------------------------------------------------------------ */

static void test_sound_queue_counts_nothing(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(look_report(fixture).records, 0);
    seed(fixture);
    assert_int_equal(look_report(fixture).records, SEED_COUNT);
    look_expect_and_drain(fixture, 0, 0, LIVE_COUNT);
}

/* An index, how many runs are in it, one of them. */
static const struct {
    const char *name;
    int members, member;
} sets[] = {{"scheduled", 2, SCHEDULED_A},
            {"active", 2, ACTIVE_A},
            {"done", 2, DONE_A},
            {"dead", 1, DEAD_A},
            {"urgent", 2, URGENT_B},
            {"cancelled", 2, CANCELLED_B},
            {"scheduled_urgent", 1, SCHEDULED_B}};
enum { SETS = sizeof sets / sizeof sets[0] };

static void again(struct fixture *fixture)
{
    void *state = fixture;
    assert_int_equal(fixture_teardown(&state), 0);
    assert_int_equal(fixture_setup(&state), 0);
    seed(fixture);
}

static void test_lost_index_is_rebuilt(void **state)
{
    for (size_t i = 0; i < SETS; i++) {
        again(*state);
        look_damage(*state, "DEL", sets[i].name, "", stranger);
        look_expect_and_drain(*state, (uint64_t)sets[i].members, 0, LIVE_COUNT);
    }
}

static void test_lost_entry_is_put_back(void **state)
{
    for (size_t i = 0; i < SETS; i++) {
        again(*state);
        look_damage(*state, "ZREM", sets[i].name, "%b", ids[sets[i].member]);
        look_expect_and_drain(*state, 1, 0, LIVE_COUNT);
    }
}

static void test_strange_entry_is_removed(void **state)
{
    for (size_t i = 0; i < SETS; i++) {
        again(*state);
        look_damage(*state, "ZADD", sets[i].name, "1 %b", stranger);
        look_damage(*state, "ZADD", sets[i].name, "7 short", stranger);
        look_expect_and_drain(*state, 2, 0, LIVE_COUNT);
    }
}

/* In the index of another state: a claim or a reaper would find it there. */
static void test_run_in_two_indexes_is_taken_from_the_wrong_one(void **state)
{
    for (size_t i = 0; i < SETS; i++) {
        again(*state);
        bool is_urgent = sets[i].member == URGENT_B;
        look_damage(*state, "ZADD", sets[i].name, "1 %b", ids[is_urgent ? SCHEDULED_A : WAITING_A]);
        look_damage(*state, "ZADD", sets[i].name, "1 %b",
                    ids[sets[i].member == DEAD_A ? ACTIVE_B : DEAD_A]);
        look_expect_and_drain(*state, 2, 0, LIVE_COUNT);
    }
}

/* Whichever leads to it first; the other is a ghost. */
static void test_waiting_run_in_set_and_list_is_granted_once(void **state)
{
    again(*state);
    look_damage(*state, "ZADD", "urgent", "1 %b", ids[WAITING_A]);
    look_expect_and_drain(*state, 1, 0, LIVE_COUNT);
}

/* Neither another priority nor no time at all: nobody would come to it in its turn. */
static void test_waiting_run_in_a_foreign_band_goes_to_its_own(void **state)
{
    static const char *const scores[] = {"99999999999999 %b", "-17592186044415 %b"};
    for (size_t i = 0; i < sizeof scores / sizeof scores[0]; i++) {
        again(*state);
        look_damage(*state, "LREM", "ready", "0 %b0", ids[WAITING_B]);
        look_damage(*state, "ZADD", "urgent", scores[i], ids[WAITING_B]);
        look_expect_and_drain(*state, 1, 0, LIVE_COUNT);
    }
}

static void test_wrong_time_of_an_entry_is_set_right(void **state)
{
    for (size_t i = 0; i < SETS; i++) {
        again(*state);
        look_damage(*state, "ZADD", sets[i].name, "12345 %b", ids[sets[i].member]);
        look_expect_and_drain(*state, 1, 0, LIVE_COUNT);
    }
}

static void test_lost_ready_list_is_rebuilt(void **state)
{
    again(*state);
    look_damage(*state, "DEL", "ready", "", stranger);
    assert_int_equal(look_report(*state).wrong, 3);
    assert_int_equal(look_fsck(*state, true).wrong, 4); /* the ghost that was counted is gone too */
    look_expect_and_drain(*state, 0, 0, LIVE_COUNT);
}

static void test_lost_ready_entry_is_put_back(void **state)
{
    for (int which = WAITING_A; which <= WAITING_C; which++) {
        again(*state);
        look_damage(*state, "LREM", "ready", "0 %b0", ids[which]);
        look_expect_and_drain(*state, 1, 0, LIVE_COUNT);
    }
}

static void test_strange_or_doubled_ready_entries_count_as_ghosts(void **state)
{
    const culex_uuid *entries[] = {&stranger, &ids[WAITING_A], &ids[DONE_A], &ids[URGENT_A]};
    for (int at = 0; at < 8; at++) {
        again(*state);
        look_damage(*state, at % 2 == 0 ? "LPUSH" : "RPUSH", "ready", "%b0", *entries[at / 2]);
        look_expect_and_drain(*state, 1, 0, LIVE_COUNT);
    }
}

/* Its entry in the list is no place for a run that was moved out of it. */
static void test_moved_run_whose_entry_is_lost_is_put_back(void **state)
{
    struct fixture *fixture = *state;
    const struct culex_place there = {.has_time = true, .delay_ms = 1000, .priority = -1};
    const struct culex_place back = {.has_time = true, .priority = -1};
    again(fixture);
    assert_ok(fixture->store->ops->move(fixture->store, "q", ids[WAITING_A], &there, &call_error));
    assert_ok(fixture->store->ops->move(fixture->store, "q", ids[WAITING_A], &back, &call_error));
    assert_int_equal(look_report(fixture).wrong, 0);
    look_damage(fixture, "ZREM", "urgent", "%b", ids[WAITING_A]);
    look_expect_and_drain(fixture, 1, 0, LIVE_COUNT);
}

/* What is missing and what is too much do not make up for each other. */
static void test_lost_entry_beside_a_strange_one_is_put_back(void **state)
{
    again(*state);
    look_damage(*state, "LREM", "ready", "0 %b0", ids[WAITING_B]);
    look_damage(*state, "LPUSH", "ready", "%b0", stranger);
    assert_int_equal(look_report(*state).wrong, 1);
    assert_int_equal(look_fsck(*state, true).wrong, 2);
    look_expect_and_drain(*state, 0, 0, LIVE_COUNT);
}

/* It does not tell behind which of the line's runs it comes. */
static void test_ready_entry_of_no_place_is_replaced(void **state)
{
    static const char *const entries[] = {"%b", "%bx", "%b1x", "%b-1"};
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        again(*state);
        look_damage(*state, "LREM", "ready", "0 %b0", ids[WAITING_B]);
        look_damage(*state, "LPUSH", "ready", entries[i], ids[WAITING_B]);
        assert_int_equal(look_report(*state).wrong, 1);
        assert_int_equal(look_fsck(*state, true).wrong, 2);
        look_expect_and_drain(*state, 0, 0, LIVE_COUNT);
    }
}

static void test_miscounted_ghosts_are_set_right(void **state)
{
    static const char *const counts[] = {"0", "2", "-7", "x"};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        char words[32];
        again(*state);
        snprintf(words, sizeof words, "ghosts %s", counts[i]);
        look_damage(*state, "HSET", "meta", words, stranger);
        look_expect_and_drain(*state, 1, 0, LIVE_COUNT);
    }
}

static void test_lost_order_numbers_are_set_right(void **state)
{
    again(*state);
    look_damage(*state, "HDEL", "meta", "back", stranger);
    look_expect(*state, 0, 0); /* every enqueue sets it anew */
    struct fixture *fixture = *state;
    struct culex_new_run run = odd_run();
    run.priority = 9;
    fixture_enqueue(fixture, &run);
    look_damage(fixture, "HSET", "meta", "back 99999999999999999", stranger);
    fixture_enqueue(fixture, &run);
    look_expect(fixture, 0, 0);
    fixture_claim(fixture, ids[URGENT_B]); /* still first of its priority */
    fixture_ack(fixture, SESSION_A, ids[URGENT_B], 1, CULEX_EVENT_RELEASE);
    look_damage(fixture, "HDEL", "meta", "front", stranger);
    look_expect(fixture, 1, 0);
}

static void test_unique_keys_follow_their_runs(void **state)
{
    again(*state);
    look_damage(*state, "DEL", "unique", "", stranger);
    look_expect_and_drain(*state, 2, 0, LIVE_COUNT);
    again(*state);
    look_damage(*state, "HDEL", "unique", "aa", stranger);
    look_expect_and_drain(*state, 1, 0, LIVE_COUNT);
    again(*state);
    look_damage(*state, "HSET", "unique", "cc %b", stranger);
    look_damage(*state, "HSET", "unique", "dd %b", ids[DEAD_A]);
    look_damage(*state, "HSET", "unique", "ee %b", ids[WAITING_B]);
    look_expect_and_drain(*state, 3, 0, LIVE_COUNT);
    again(*state);
    look_damage(*state, "HSET", "unique", "aa %b", stranger);
    assert_int_equal(look_report(*state).wrong, 2); /* its run holds no key, and a stranger does */
    assert_int_equal(look_fsck(*state, true).wrong, 1);
    look_expect_and_drain(*state, 0, 0, LIVE_COUNT);
}

static void test_second_holder_of_a_key_loses_it(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run run = fixture_run();
    seed(fixture);
    look_damage(fixture, "HDEL", "unique", "aa", stranger);
    run.unique_key = "aa";
    run.unique_while = CULEX_UNIQUE_LIVE;
    fixture_enqueue(fixture, &run);
    look_expect(fixture, 1, 0);
    assert_int_equal(fixture_offer(fixture, NULL, &run).outcome, CULEX_ENQUEUED_UNIQUE_TAKEN);
    assert_int_equal(look_drain(fixture), LIVE_COUNT + 1);
}

static void test_bytes_without_a_run_are_removed(void **state)
{
    static const char *const hashes[] = {"payloads", "results", "errors", "progress", "logs"};
    for (size_t i = 0; i < sizeof hashes / sizeof hashes[0]; i++) {
        again(*state);
        look_damage(*state, "HSET", hashes[i], "%b x", stranger);
        look_expect_and_drain(*state, 1, 0, LIVE_COUNT);
    }
    again(*state);
    look_damage(*state, "HSET", "payloads", "%b x", ids[DONE_A]);
    look_damage(*state, "HSET", "results", "%b x", ids[WAITING_A]);
    look_expect_and_drain(*state, 2, 0, LIVE_COUNT);
}

/* Five lines in three chunks, of which the run keeps four; the first ones went. */
static void seed_log(struct fixture *fixture, culex_uuid id)
{
    look_damage(fixture, "HSET", "logs", "%b 3|5|5|40|4", id);
    look_damage(fixture, "HSET", "logs", "%b3 1|1|3|a\n1|1|3|b\n", id);
    look_damage(fixture, "HSET", "logs", "%b4 1|1|3|c\n", id);
    look_damage(fixture, "HSET", "logs", "%b5 1|1|3|d\n1|1|3|e\n", id);
}

static void assert_log(struct fixture *fixture, culex_uuid id, const char *text)
{
    culex_buf lines;
    culex_buf_init(&lines, 0);
    assert_ok(fixture->store->ops->run_log(fixture->store, "q", id, &lines, &call_error));
    assert_string_equal(lines.len > 0 ? lines.data : "", text);
    culex_buf_release(&lines);
}

static void test_log_lines_agree_with_their_head(void **state)
{
    static const char all[] = "1|1|3|b\n1|1|3|c\n1|1|3|d\n1|1|3|e\n";
    static const struct {
        const char *verb, *words;
        unsigned wrong;
        const char *left;
    } damages[] = {
        {"HDEL", "%bx", 0, all},
        {"HSET", "%b2 1|1|3|x\n", 1, all},
        {"HSET", "%b6 1|1|3|x\n", 1, all},
        {"HSET", "%b03 1|1|3|x\n", 1, all},
        {"HSET", "%bx 1|1|3|x\n", 1, all},
        {"HSET", "%b 3|5|6|40|4", 1, all},
        {"HSET", "%b 3|5|5|41|4", 1, all},
        {"HSET", "%b 3|5|5|40|6", 1, "1|1|3|a\n1|1|3|b\n1|1|3|c\n1|1|3|d\n1|1|3|e\n"},
        {"HSET", "%b 3|4|3|24|3", 1, "1|1|3|a\n1|1|3|b\n1|1|3|c\n"},
        {"HSET", "%b 3|6|5|40|4", 1, ""},
        {"HSET", "%b 3|5|5|40|", 4, ""},
        {"HSET", "%b 3|999999999|5|40|4", 4, ""},
        {"HDEL", "%b", 3, ""},
        {"HDEL", "%b4", 1, "1|1|3|d\n1|1|3|e\n"},
        {"HDEL", "%b5", 1, ""},
        {"HSET", "%b4 1|1|3|c", 1, "1|1|3|d\n1|1|3|e\n"},
    };
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        again(*state);
        seed_log(*state, ids[DEAD_A]);
        seed_log(*state, ids[WAITING_A]);
        look_expect(*state, 0, 0);
        look_damage(*state, damages[i].verb, "logs", damages[i].words, ids[DEAD_A]);
        look_expect_and_drain(*state, damages[i].wrong, 0, LIVE_COUNT);
        assert_log(*state, ids[DEAD_A], damages[i].left);
        assert_log(*state, ids[WAITING_A], all);
    }
}

static void test_log_lines_without_a_run_are_removed(void **state)
{
    seed(*state);
    seed_log(*state, ids[WAITING_A]);
    seed_log(*state, stranger);
    look_expect_and_drain(*state, 4, 0, LIVE_COUNT);
}

static void assert_dead_with(struct fixture *fixture, culex_uuid id, const char *text)
{
    culex_run_info *run = NULL;
    assert_int_equal(fixture_state(fixture, id), CULEX_RUN_DEAD);
    assert_ok(fixture->store->ops->get(fixture->store, "q", id, &run, &call_error));
    assert_memory_equal(run->error_text, text, strlen(text));
    culex_run_info_free(run);
}

static void test_run_without_payload_is_dead(void **state)
{
    static const int victims[] = {WAITING_A, WAITING_B, URGENT_A, SCHEDULED_B};
    for (size_t i = 0; i < sizeof victims / sizeof victims[0]; i++) {
        again(*state);
        look_damage(*state, "HDEL", "payloads", "%b", ids[victims[i]]);
        look_expect(*state, 0, 1);
        assert_dead_with(*state, ids[victims[i]], "the payload is missing");
        assert_int_equal(look_drain(*state), LIVE_COUNT - 1);
    }
}

static void test_final_run_without_payload_says_so(void **state)
{
    again(*state);
    look_damage(*state, "HDEL", "payloads", "%b", ids[DEAD_A]);
    look_damage(*state, "HDEL", "payloads", "%b", ids[CANCELLED_A]);
    look_expect(*state, 0, 2);
    assert_dead_with(*state, ids[DEAD_A], "the payload is missing");
    assert_int_equal(look_drain(*state), LIVE_COUNT);
}

/* Its handler has the payload, and its result counts. */
static void test_active_run_without_payload_may_finish(void **state)
{
    again(*state);
    look_damage(*state, "HDEL", "payloads", "%b", ids[ACTIVE_A]);
    assert_int_equal(look_fsck(*state, true).damaged, 0);
    assert_int_equal(fixture_ack(*state, SESSION_A, ids[ACTIVE_A], 1, CULEX_EVENT_DONE),
                     CULEX_ANSWER_OK);
    look_expect_and_drain(*state, 0, 0, LIVE_COUNT - 1);
}

/* Every class of damage to a record's text: a field of a sound one with another value. A field
 * without one is left out, and "text" stands for the whole. */
static const struct {
    const char *field, *value;
} spoils[] = {{"text", ""},
              {"text", "x"},
              {"version", "1"},
              {"state", "Q"},
              {"attempt", "00"},
              {"attempt", "4294967296"},
              {"attempt", "-1"},
              {"cancel", "2"},
              {"priority", "10"},
              {"priority", "x"},
              {"attempts_max", ""},
              {"keep_failure_ms", "-1"},
              {"keep_success_ms", "1e3"},
              {"at_ms", "1000000000000000000"},
              {"fingerprint", "00000000000000fF"},
              {"fingerprint", "00000000000000f"},
              {"tags", NULL},
              {"tags", "a|b"},
              {"tags", "\xff"},
              {"tags", "\xc0\x80"},
              {"job", "shop\n"},
              {"job", "\xed\xa0\x80"},
              {"behind", "1"},
              {"behind", "10"},
              {"limits", "a=b"},
              {"limits", "ab"}};
enum { SPOILS = sizeof spoils / sizeof spoils[0] };

static void field_add(char *text, const char *name, const char *value, size_t spoil)
{
    if (spoil < SPOILS && strcmp(spoils[spoil].field, name) == 0)
        value = spoils[spoil].value;
    if (value == NULL)
        return;
    if (text[0] != '\0')
        strcat(text, "|");
    strcat(text, value);
}

/* A record of a waiting run, sound when there is no such spoil. */
static const char *record_make(size_t spoil)
{
    static const char letter[] = "W", integer[] = "0", hex[] = "00000000000000ff", name[] = "a,b";
    static char text[512];
    text[0] = '\0';
    if (spoil < SPOILS && strcmp(spoils[spoil].field, "text") == 0)
        return spoils[spoil].value;
    field_add(text, "version", "8", spoil);
#define RECORD_FIELD(field, kind)                                                                  \
    field_add(text, #field, strcmp(#field, "limits") == 0 ? "" : record_##kind, spoil);
    const char *const record_letter = letter, *const record_int = integer, *const record_hex = hex,
                      *const record_name = name;
#include "core/run_rules.def"
    return text;
}

static void record_put(struct fixture *fixture, culex_uuid id, const char *text)
{
    redisReply *reply = redis_server_command(&fixture->server, "HSET culex:{q}:runs %b %b", &id,
                                             sizeof id, text, strlen(text));
    assert_non_null(reply);
    freeReplyObject(reply);
}

static void assert_kept(struct fixture *fixture, culex_uuid id, const char *text)
{
    redisReply *reply =
        redis_server_command(&fixture->server, "HGET culex:{q}:damaged %b", &id, sizeof id);
    assert_non_null(reply);
    assert_int_equal(reply->type, REDIS_REPLY_STRING);
    assert_string_equal(reply->str, text);
    freeReplyObject(reply);
}

static void test_damaged_record_is_put_aside(void **state)
{
    for (int which = 0; which < SEED_COUNT; which++) {
        const char *text = record_make((size_t)which % SPOILS);
        again(*state);
        record_put(*state, ids[which], text);
        look_expect(*state, 0, 1);
        assert_kept(*state, ids[which], text);
        assert_dead_with(*state, ids[which], "the record was damaged");
        assert_int_equal(look_drain(*state), LIVE_COUNT - (which < LIVE_COUNT));
        assert_kept(*state, ids[which], text);
        assert_dead_with(*state, ids[which], "the record was damaged");
    }
}

static void test_every_kind_of_damage_to_a_record_is_seen(void **state)
{
    again(*state);
    look_damage(*state, "LREM", "ready", "0 %b0", ids[WAITING_A]);
    for (size_t i = 0; i <= SPOILS; i++) {
        record_put(*state, ids[WAITING_A], record_make(i));
        culex_fsck_counts counts = look_report(*state);
        assert_int_equal(counts.damaged, i < SPOILS);
        /* The sound one is missed where it waits. Its states may have cost it its key. */
        assert_int_equal(counts.wrong, i < SPOILS ? 0 : 1);
    }
}

/* Nobody has called FSCK yet: the others go on, and it never runs. */
static void test_damaged_record_stops_nobody_else(void **state)
{
    static const int victims[] = {WAITING_A, URGENT_A, SCHEDULED_A, ACTIVE_A};
    for (size_t i = 0; i < 4 * SPOILS; i++) {
        again(*state);
        record_put(*state, ids[victims[i % 4]], record_make(i / 4));
        size_t done = look_live_on(*state);
        if (done != LIVE_COUNT - 1)
            fail_msg("%s '%s': %zu runs were done", spoils[i / 4].field,
                     spoils[i / 4].value != NULL ? spoils[i / 4].value : "", done);
    }
}

/* STEP meets the record first, sets it aside for a day and leaves its text. */
static void test_record_that_a_claim_set_aside_is_kept(void **state)
{
    again(*state);
    record_put(*state, ids[WAITING_A], "x");
    assert_int_equal(look_drain(*state), LIVE_COUNT - 1);
    look_expect(*state, 0, 0);
    assert_kept(*state, ids[WAITING_A], "x");
}

static void test_field_that_is_no_id_is_put_aside(void **state)
{
    again(*state);
    char words[600];
    snprintf(words, sizeof words, "short %s", record_make(SPOILS));
    look_damage(*state, "HSET", "runs", words, stranger);
    assert_int_equal(look_report(*state).damaged, 1);
    assert_int_equal(look_fsck(*state, true).damaged, 1);
    struct fixture *fixture = *state;
    assert_int_equal(fixture_say(fixture, "HEXISTS culex:{q}:damaged %s", "short"), 1);
    assert_int_equal(look_report(*state).damaged, 0);
    assert_true(redis_check(&fixture->server, "culex", "q"));
}

static void test_time_to_live_is_lifted(void **state)
{
    static const char *const names[] = {
        "runs", "payloads",   "ready",         "urgent",           "scheduled", "active",
        "done", "dead",       "cancelled",     "errors",           "results",   "unique",
        "meta", "sessions",   "sessions_seen", "scheduled_urgent", "producers", "producers_until",
        "keys", "keys_until", "schedules"};
    struct fixture *fixture = *state;
    again(fixture);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        look_damage(fixture, "EXPIRE", names[i], "1000", stranger);
    look_expect(fixture, sizeof names / sizeof names[0], 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char key[64];
        snprintf(key, sizeof key, "culex:{q}:%s", names[i]);
        assert_int_equal(fixture_say(fixture, "TTL %s", key), -1);
    }
    assert_int_equal(look_drain(fixture), LIVE_COUNT);
}

static void test_schedules_have_their_form(void **state)
{
    static const char *const bad[] = {"shop.other nonsense", "shop.other 1|2|3|c|short",
                                      "shop.other -1|2|3|c|0123456789abcdef",
                                      "shop.other 1|2|0123456789abcdef"};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        again(fixture);
        assert_int_equal(fixture_say(fixture, "HLEN culex:{q}:%s", "schedules"), 1);
        look_damage(fixture, "HSET", "schedules", bad[i], stranger);
        look_expect(fixture, 1, 0);
        assert_int_equal(fixture_say(fixture, "HLEN culex:{q}:%s", "schedules"), 1);
        assert_int_equal(look_drain(fixture), LIVE_COUNT);
    }
}

static const char schema_field[] = "0000000000000007|0000000000000009|shop.send";

static void schema_damage(struct fixture *fixture, const char *command, const char *key,
                          const char *rest)
{
    char words[128];
    snprintf(words, sizeof words, "%s%s", schema_field, rest);
    look_damage(fixture, command, key, words, stranger);
}

/* How many fields have it: 3 when it is whole. */
static long schema_places(struct fixture *fixture)
{
    return fixture_say(fixture, "HLEN culex:{q}:%s", "schemas") +
           fixture_say(fixture, "HLEN culex:{q}:%s", "schema_texts") +
           fixture_say(fixture, "ZCARD culex:{q}:%s", "schemas_told");
}

static void test_schemas_agree_with_their_texts(void **state)
{
    static const struct {
        const char *command, *key, *rest;
        long places_left;
    } bad[] = {{"HDEL", "schemas", "", 3},           {"HSET", "schemas", " nonsense", 3},
               {"HSET", "schemas", " 12|0|999", 3},  {"ZREM", "schemas_told", "", 3},
               {"HDEL", "schema_texts", "", 0},      {"HSET", "schemas", "2 12|0|4", 3},
               {"HSET", "schema_texts", "2 text", 6}};
    const struct culex_schema_text schema = {{"shop.send", 7, 9}, "text", 4};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        again(fixture);
        assert_int_equal(fixture->store->ops->schema_publish(fixture->store, "q", &schema, NULL),
                         CULEX_OK);
        look_expect(fixture, 0, 0);
        schema_damage(fixture, bad[i].command, bad[i].key, bad[i].rest);
        assert_int_not_equal(look_fsck(fixture, true).wrong, 0);
        look_expect(fixture, 0, 0);
        assert_int_equal(schema_places(fixture), bad[i].places_left);
    }
}

/* An entry of 257 events, as they would be told behind the first 247 of them. */
static struct culex_event_list events_put(struct fixture *fixture, const char *entry)
{
    struct culex_event_list list = {.of = NULL};
    again(fixture);
    assert_int_equal(fixture->store->ops->events_keep(fixture->store, "q", 10, NULL), CULEX_OK);
    assert_int_equal(fixture_say(fixture, "ZADD culex:{q}:events 257 %s", entry), 1);
    assert_int_equal(fixture_say(fixture, "HSET culex:{q}:meta event %s", "257"), 1);
    assert_int_equal(fixture->store->ops->events(fixture->store, "q", 0, 5, &list, NULL), CULEX_OK);
    return list;
}

/* What a follower would be told as missing for as long as it is kept. The last two bytes are how
 * many runs a span has. */
static void test_events_have_their_form(void **state)
{
    static const char *const bad[] = {"257|5|257\nP|0|257|\n0123456789abcde\1\1",
                                      "257|5|258\nP|0|257|\n0123456789abcdef\1\1",
                                      "258|5|257\nP|0|257|\n0123456789abcdef\1\1",
                                      "257|5|257\nW|0|257|\n0123456789abcdef\1\1",
                                      "257|5|257\nP|0|257|\n0123456789abcdef\1\2",
                                      "257|5|257\nP|0|256|\n0123456789abcdef\1\1",
                                      "257|5|257\nP|0|257|\n0123456789ab\xff\xff\xff\xff\1\1",
                                      "nonsense"};
    struct fixture *fixture = *state;
    struct culex_event_list list = events_put(fixture, "257|5|257\nP|0|257|\n0123456789abcdef\1\1");
    assert_int_equal(list.count, 5);
    assert_memory_equal(list.of[0].id.b, "0123456789abcdf\x5d", 16); /* 'ef' and 247 */
    culex__event_list_release(&list);
    look_expect(fixture, 0, 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        list = events_put(fixture, bad[i]);
        assert_int_equal(list.count, 0);
        assert_true(list.is_gap);
        assert_int_equal(list.position, 257);
        look_expect(fixture, 1, 0);
        assert_int_equal(fixture_say(fixture, "ZCARD culex:{q}:%s", "events"), 0);
    }
}

static void test_figures_have_their_form(void **state)
{
    static const char *const bad[][3] = {{"HSET", "figures", "00000001|j nonsense"},
                                         {"HSET", "figures", "00000001|j 1,0,0,0,0;;"},
                                         {"HSET", "figures", "00000001|j 1,0,0,0,0,0;2:1:3;"},
                                         {"HSET", "figures", "00000001|j 1,0,0,0,0,0;208:1;"},
                                         {"HSET", "figures", "00000001|k 1,0,0,0,0,0;;"},
                                         {"HSET", "figures", "1|j 1,0,0,0,0,0;;"},
                                         {"HSET", "figures", "@bb 7"},
                                         {"HSET", "figures", "@aa x"},
                                         {"ZADD", "figures_rows", "0 00000001|k"},
                                         {"ZREM", "figures_rows", "00000001|j"},
                                         {"ZADD", "figures_calls", "1 bb"},
                                         {"ZREM", "figures_calls", "aa"}};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        again(fixture);
        fixture_say(fixture, "HSET culex:{q}:figures 00000001|j 1,0,0,0,0,0;2:1;3:1 %s 5", "@aa");
        fixture_say(fixture, "ZADD culex:{q}:figures_rows 0 %s", "00000001|j");
        fixture_say(fixture, "ZADD culex:{q}:figures_calls 1 %s", "aa");
        look_damage(fixture, bad[i][0], bad[i][1], bad[i][2], stranger);
        look_expect(fixture, 1, 0);
        assert_int_equal(look_drain(fixture), LIVE_COUNT);
    }
}

/* What is remembered of the call in seed() and its times, each rebuilt or dropped by the other. */
static void test_remembered_calls_are_in_order(void **state)
{
    static const char *const pairs[][2] = {{"producers", "producers_until"},
                                           {"keys", "keys_until"}};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < 2; i++) {
        const char *hash = pairs[i][0], *times = pairs[i][1];
        char key[64];
        again(fixture);
        look_damage(fixture, "DEL", times, "", stranger);
        look_expect(fixture, 1, 0);
        snprintf(key, sizeof key, "culex:{q}:%s", times);
        assert_int_equal(fixture_say(fixture, "ZCARD %s", key), 1);
        look_damage(fixture, "ZADD", times, i == 0 ? "1 0000000000000007" : "1 once", stranger);
        look_expect(fixture, 1, 0);
        again(fixture);
        look_damage(fixture, "DEL", hash, "", stranger);
        look_expect(fixture, 1, 0);
        again(fixture);
        look_damage(fixture, "HSET", hash, "somebody nonsense", stranger);
        look_expect(fixture, 1, 0);
        snprintf(key, sizeof key, "culex:{q}:%s", hash);
        assert_int_equal(fixture_say(fixture, "HLEN %s", key), 1);
        assert_int_equal(look_drain(fixture), LIVE_COUNT);
    }
}

static uint64_t number_of_next(struct fixture *fixture)
{
    struct culex_new_run run = odd_run();
    struct culex_run_id_parts parts;
    assert_true(culex__run_id_read(fixture_enqueue(fixture, &run), &parts));
    return parts.number;
}

/* The seed has given SEED_COUNT + 1 numbers, the greatest one to a run that is there. */
static void test_numbers_of_runs_go_on_behind_the_greatest(void **state)
{
    static const char *const numbers[] = {"number 3", "number abc", "number 99999999999999",
                                          "number -7"};
    again(*state);
    look_damage(*state, "HDEL", "meta", "number", stranger);
    look_expect(*state, 1, 0);
    assert_int_equal(number_of_next(*state), SEED_COUNT + 2);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        again(*state);
        look_damage(*state, "HSET", "meta", numbers[i], stranger);
        look_expect(*state, 1, 0);
        assert_int_equal(number_of_next(*state), SEED_COUNT + 2);
    }
}

/* An open queue has its salt twice. */
static void test_salt_that_is_none_is_that_of_the_open_queue(void **state)
{
    static const char *const salts[] = {"salt abc", "salt 67108864"};
    for (size_t i = 0; i <= sizeof salts / sizeof salts[0]; i++) {
        again(*state);
        long long salt = fixture_say(*state, "HINCRBY culex:{q}:meta %s 0", "salt");
        if (i == 0)
            look_damage(*state, "HDEL", "meta", "salt", stranger);
        else
            look_damage(*state, "HSET", "meta", salts[i - 1], stranger);
        look_expect(*state, 1, 0);
        assert_int_equal(fixture_say(*state, "HINCRBY culex:{q}:meta %s 0", "salt"), salt);
    }
}

static void test_queue_that_is_not_open_is_not_called_so(void **state)
{
    static const char *const facts[] = {"layout 8|9", "layout 8|abc", "layout 8|67108864",
                                        "limit 100", "paused 1"};
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        again(*state);
        assert_true(fixture_say(*state, "HSTRLEN culex:{q}:meta %s", "layout") > 1);
        look_damage(*state, "HSET", "meta", facts[i], stranger);
        look_expect(*state, 1, 0);
        assert_int_equal(fixture_say(*state, "HSTRLEN culex:{q}:meta %s", "layout"), 1);
    }
    again(*state);
    look_damage(*state, "HSET", "meta", "salt 67108864 layout 8|67108864", stranger);
    look_expect(*state, 2, 0);
}

static void test_salt_that_is_none_is_replaced(void **state)
{
    static const char *const salts[] = {"salt abc", "salt -1", "salt 67108864", "salt 1.5"};
    for (size_t i = 0; i < sizeof salts / sizeof salts[0]; i++) {
        again(*state);
        look_damage(*state, "HSET", "meta", "layout 8", stranger);
        look_damage(*state, "HSET", "meta", salts[i], stranger);
        look_expect(*state, 1, 0);
        number_of_next(*state);
        assert_int_equal(fixture_say(*state, "HEXISTS culex:{q}:meta %s", "salt"), 1);
        look_expect_and_drain(*state, 0, 0, LIVE_COUNT + 1);
    }
}

static void test_sessions_are_in_order(void **state)
{
    again(*state);
    look_damage(*state, "DEL", "sessions_seen", "", stranger);
    look_expect(*state, 1, 0);
    again(*state);
    look_damage(*state, "DEL", "sessions", "", stranger);
    look_expect_and_drain(*state, 1, 0, LIVE_COUNT);
}

static void test_lost_records_leave_nothing_behind(void **state)
{
    struct fixture *fixture = *state;
    again(fixture);
    look_damage(fixture, "DEL", "runs", "", stranger);
    assert_int_equal(look_report(fixture).records, 0);
    assert_true(look_fsck(fixture, true).wrong > SEED_COUNT);
    assert_int_equal(look_fsck(fixture, false).wrong, 0);
    assert_true(redis_check(&fixture->server, "culex", "q"));
    assert_int_equal(look_drain(fixture), 0);
}

/* Runs with records in batches, some of them urgent or delayed when `is_mixed`. */
static void fill(struct fixture *fixture, int count, bool is_mixed)
{
    enum { BATCH = 500 };
    static struct culex_new_run runs[BATCH];
    static struct culex_enqueue_result results[BATCH];
    for (int i = 0; i < count; i++) {
        runs[i % BATCH] = odd_run();
        runs[i % BATCH].priority = is_mixed && i % 5 == 0 ? 3 : 0;
        runs[i % BATCH].delay_ms = is_mixed && i % 7 == 0 ? 1 + 5 * i : 0;
        if (i % BATCH == BATCH - 1 || i == count - 1)
            assert_ok(fixture->store->ops->enqueue(fixture->store, "q", NULL, runs,
                                                   (size_t)(i % BATCH) + 1, results, &call_error));
    }
}

/* Goes on in a report up to the share of that number, 0 for the end; nothing may be wrong. */
static void report_until(struct fixture *fixture, uint64_t *cursor, unsigned share)
{
    struct culex_fsck_reply reply = {.cursor = *cursor};
    do {
        assert_ok(fixture->store->ops->fsck(fixture->store, "q", reply.cursor, false, &reply,
                                            &call_error));
        assert_int_equal(reply.counts.wrong + reply.counts.damaged, 0);
    } while (reply.cursor != 0 && reply.cursor >> 56 != share);
    assert_int_equal(reply.cursor >> 56, share);
    *cursor = reply.cursor;
}

/* Claims take runs from the head of the list between two shares of the walk. */
static void test_walk_passes_nobody_by(void **state)
{
    enum { WALK = 9, PAGES = 4 };
    struct fixture *fixture = *state;
    struct culex_fsck_reply reply = {.cursor = 0};
    fill(fixture, PAGES * 1000, false);
    report_until(fixture, &reply.cursor, WALK);
    for (int page = 0; page < PAGES; page++) {
        struct culex_step step = fixture_step(fixture, SESSION_A, 20);
        struct culex_step_reply grants;
        assert_ok(fixture->store->ops->fsck(fixture->store, "q", reply.cursor, false, &reply,
                                            &call_error));
        fixture_run_step(fixture, &step, &grants);
        assert_int_equal(grants.grant_count, 20);
        fixture->store->ops->step_release(fixture->store, &grants);
        fill(fixture, 30, false);
    }
    report_until(fixture, &reply.cursor, 0);
}

/* Away while the list is walked, back before those that were not met are looked at again. */
static void test_runs_that_left_and_came_back_are_not_missing(void **state)
{
    enum { WALK = 9, VERIFY = 10, AWAY = 5 };
    struct fixture *fixture = *state;
    struct culex_new_run mortal = fixture_run();
    struct culex_step_reply grants;
    uint64_t cursor = 0;
    mortal.expires_ms = 50;
    culex_uuid mortal_id = fixture_enqueue(fixture, &mortal);
    fill(fixture, 3000, false);
    report_until(fixture, &cursor, WALK);
    fixture->now_ms += 100;
    struct culex_step step = fixture_step(fixture, SESSION_A, AWAY);
    fixture_run_step(fixture, &step, &grants);
    assert_int_equal(grants.grant_count, AWAY);
    assert_int_equal(fixture_state(fixture, mortal_id), CULEX_RUN_DEAD);
    report_until(fixture, &cursor, VERIFY);
    for (int i = 0; i < AWAY; i++)
        fixture_ack(fixture, SESSION_A, grants.grants[i].facts.id, 1, CULEX_EVENT_RELEASE);
    fixture->store->ops->step_release(fixture->store, &grants);
    assert_ok(fixture->store->ops->retry(fixture->store, "q", mortal_id, &call_error));
    fill(fixture, 1200, false);
    report_until(fixture, &cursor, 0);
}

/* As after a lost reply: what the first call put back is not put there again. */
static void test_repeated_repair_puts_back_once(void **state)
{
    struct fixture *fixture = *state;
    struct culex_fsck_reply reply = {.cursor = 0};
    again(fixture);
    look_damage(fixture, "DEL", "ready", "", stranger);
    uint64_t found = 0, cursor = 0;
    do {
        for (int times = 0; times < 2; times++) {
            assert_ok(
                fixture->store->ops->fsck(fixture->store, "q", cursor, true, &reply, &call_error));
            found += reply.counts.wrong;
        }
        cursor = reply.cursor;
    } while (cursor != 0 && cursor >> 56 < 28);
    assert_int_equal(found, 3);
    assert_int_equal(fixture_say(fixture, "ZCARD %s", "culex:{q}:urgent"), 5);
}

/* More than one share of everything, and a list that moves between the shares. */
static void test_runs_that_move_meanwhile_are_not_wrong(void **state)
{
    enum { RUNS = 6000, ROUNDS = 40 };
    struct fixture *fixture = *state;
    fill(fixture, RUNS, true);
    struct culex_fsck_reply reply = {.cursor = 0};
    struct culex_store *other = fixture_open(fixture, fixture->server.url);
    uint64_t records = 0;
    int calls = 0;
    do {
        assert_ok(fixture->store->ops->fsck(fixture->store, "q", reply.cursor, calls % 2 == 0,
                                            &reply, &call_error));
        assert_int_equal(reply.counts.wrong, 0);
        assert_int_equal(reply.counts.damaged, 0);
        records += reply.counts.records;
        struct culex_step step = fixture_step(fixture, SESSION_A, 20);
        struct culex_step_reply grants;
        fixture->now_ms += 100;
        assert_ok(other->ops->step(other, &step, &grants, &call_error));
        for (size_t i = 0; i < grants.grant_count; i++)
            fixture_ack(fixture, SESSION_A, grants.grants[i].facts.id,
                        grants.grants[i].facts.attempt,
                        i % 3 == 0   ? CULEX_EVENT_DONE
                        : i % 3 == 1 ? CULEX_EVENT_RELEASE
                                     : CULEX_EVENT_FAIL);
        if (grants.grant_count > 4) {
            culex_run_state state_now;
            other->ops->cancel(other, "q", grants.grants[1].facts.id, &state_now, NULL);
        }
        other->ops->step_release(other, &grants);
        struct culex_new_run run = fixture_run();
        fixture_enqueue(fixture, &run);
        assert_true(++calls < 10000);
    } while (reply.cursor != 0);
    assert_true(calls > ROUNDS && records > RUNS / 2);
    other->ops->close(other);
    assert_true(redis_check(&fixture->server, "culex", "q"));
    look_expect(fixture, 0, 0);
}

static void test_large_lost_list_is_rebuilt(void **state)
{
    enum { RUNS = 2500 };
    struct fixture *fixture = *state;
    fill(fixture, RUNS, false);
    assert_int_equal(look_report(fixture).records, RUNS);
    look_damage(fixture, "LTRIM", "ready", "900 1999", stranger);
    look_expect_and_drain(fixture, RUNS - 1100, 0, RUNS);
}

static void test_cursor_of_nobody_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct culex_fsck_reply reply;
    culex_error error;
    assert_int_equal(fixture->store->ops->fsck(fixture->store, "q", 77, true, &reply, &error),
                     CULEX_EINVAL);
    assert_ok(fixture->store->ops->fsck(fixture->store, "q", 0, true, &reply, &call_error));
    assert_int_equal(
        fixture->store->ops->fsck(fixture->store, "q", UINT64_MAX, true, &reply, &error),
        CULEX_EINVAL);
    assert_int_equal(
        fixture->store->ops->fsck(fixture->store, "r", reply.cursor, true, &reply, &error),
        CULEX_EINVAL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_sound_queue_counts_nothing),
        TEST(test_lost_index_is_rebuilt),
        TEST(test_lost_entry_is_put_back),
        TEST(test_strange_entry_is_removed),
        TEST(test_run_in_two_indexes_is_taken_from_the_wrong_one),
        TEST(test_waiting_run_in_set_and_list_is_granted_once),
        TEST(test_waiting_run_in_a_foreign_band_goes_to_its_own),
        TEST(test_wrong_time_of_an_entry_is_set_right),
        TEST(test_lost_ready_list_is_rebuilt),
        TEST(test_lost_ready_entry_is_put_back),
        TEST(test_strange_or_doubled_ready_entries_count_as_ghosts),
        TEST(test_moved_run_whose_entry_is_lost_is_put_back),
        TEST(test_lost_entry_beside_a_strange_one_is_put_back),
        TEST(test_ready_entry_of_no_place_is_replaced),
        TEST(test_miscounted_ghosts_are_set_right),
        TEST(test_lost_order_numbers_are_set_right),
        TEST(test_unique_keys_follow_their_runs),
        TEST(test_second_holder_of_a_key_loses_it),
        TEST(test_bytes_without_a_run_are_removed),
        TEST(test_log_lines_agree_with_their_head),
        TEST(test_log_lines_without_a_run_are_removed),
        TEST(test_run_without_payload_is_dead),
        TEST(test_final_run_without_payload_says_so),
        TEST(test_active_run_without_payload_may_finish),
        TEST(test_damaged_record_is_put_aside),
        TEST(test_every_kind_of_damage_to_a_record_is_seen),
        TEST(test_damaged_record_stops_nobody_else),
        TEST(test_record_that_a_claim_set_aside_is_kept),
        TEST(test_field_that_is_no_id_is_put_aside),
        TEST(test_time_to_live_is_lifted),
        TEST(test_schedules_have_their_form),
        TEST(test_schemas_agree_with_their_texts),
        TEST(test_events_have_their_form),
        TEST(test_figures_have_their_form),
        TEST(test_remembered_calls_are_in_order),
        TEST(test_numbers_of_runs_go_on_behind_the_greatest),
        TEST(test_salt_that_is_none_is_that_of_the_open_queue),
        TEST(test_queue_that_is_not_open_is_not_called_so),
        TEST(test_salt_that_is_none_is_replaced),
        TEST(test_sessions_are_in_order),
        TEST(test_lost_records_leave_nothing_behind),
        TEST(test_walk_passes_nobody_by),
        TEST(test_runs_that_left_and_came_back_are_not_missing),
        TEST(test_repeated_repair_puts_back_once),
        TEST(test_runs_that_move_meanwhile_are_not_wrong),
        TEST(test_large_lost_list_is_rebuilt),
        TEST(test_cursor_of_nobody_is_refused),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
