/* A right that is withdrawn from a connection in use. What a user may is asked once a connection,
 * so a script can be refused in its middle: for each verb in each situation, and for each command
 * of its script, that command is taken away before the call and given back after it. Then no run
 * that was enqueued may be stranded or deleted, with nobody to repair anything. */
#include "fixture.h"

#include "commands.h"
#include "core/run.h"

#define BOB   "bob"
#define KEY   "abcdef"
#define STALL 13000 /* ms between the steps of somebody who only looks after the queue */

struct play {
    struct fixture *f;
    struct culex_store *bob;  /* whose right goes */
    struct culex_new_run run; /* the run that matters */
    culex_uuid id;            /* its id, once it is there */
    struct culex_ticket ticket;
    bool is_enqueued;
    bool is_damaged; /* its record: it cannot be executed, and must be put aside */
    bool is_executed;
    uint64_t others;          /* runs that bob holds and leaves to their fate */
    size_t granted;           /* by bob's last step */
    enum culex_answer answer; /* to the ack of that step */
    struct culex_step step;   /* bob's; the same again when it is repeated */
    struct culex_ack ack;
    struct culex_beat beat;
};

/* --- bob ------------------------------------------------------------------------------------- */

static void right_change(struct play *play, char sign, const char *command)
{
    char text[64];
    snprintf(text, sizeof text, "%c%s", sign, command);
    fixture_say(play->f, "ACL SETUSER " BOB " %s", text);
}

static void bob_enter(struct play *play)
{
    char url[192];
    fixture_say(play->f, "ACL SETUSER " BOB " reset on >%s ~* &* +@all", "pw");
    snprintf(url, sizeof url, "%s?user=" BOB "&password=pw", play->f->server.url);
    play->bob = fixture_open(play->f, url);
}

static culex_status bob_enqueue(struct play *play)
{
    struct culex_enqueue_result result;
    culex_status status =
        play->bob->ops->enqueue(play->bob, "q", &play->ticket, &play->run, 1, &result, NULL);
    if (status == CULEX_OK) {
        assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
        play->id = result.id;
    }
    return status;
}

static culex_status bob_enqueue_each(struct play *play)
{
    struct culex_enqueue_result result;
    culex_status status =
        play->bob->ops->enqueue_each(play->bob, "q", &play->ticket, &play->run, 1, &result, NULL);
    if (status == CULEX_OK) {
        assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
        play->id = result.id;
    }
    return status;
}

static culex_status bob_step(struct play *play)
{
    struct culex_step_reply reply;
    culex_status status = play->bob->ops->step(play->bob, &play->step, &reply, NULL);
    play->granted = status == CULEX_OK ? reply.grant_count : 0;
    if (status == CULEX_OK && play->step.ack_count > 0)
        play->answer = reply.acks[0];
    if (status == CULEX_OK)
        play->bob->ops->step_release(play->bob, &reply);
    return status;
}

static void bob_claims(struct play *play)
{
    play->step = fixture_step(play->f, SESSION_A, 1);
    assert_int_equal(bob_step(play), CULEX_OK);
    play->step = fixture_step(play->f, SESSION_A, 0);
}

static void bob_acks(struct play *play, enum culex_run_event event, int64_t delay_ms)
{
    play->ack = (struct culex_ack){
        .id = play->id, .attempt = 1, .event = event, .delay_ms = delay_ms, .text = "why"};
    play->step.acks = &play->ack;
    play->step.ack_count = 1;
}

/* --- situations ------------------------------------------------------------------------------ */

static void prepare_new(struct play *play)
{
    struct culex_new_run other = fixture_run();
    struct culex_enqueue_result result;
    play->run = fixture_run();
    play->ticket = fixture_ticket(play->f, 7);
    assert_ok(play->bob->ops->enqueue(play->bob, "q", NULL, &other, 1, &result, &call_error));
}

static void prepare_new_urgent(struct play *play)
{
    prepare_new(play);
    play->run.priority = 5;
}

static void prepare_new_later(struct play *play)
{
    prepare_new(play);
    play->run.delay_ms = 3000;
    play->run.unique_key = KEY;
    play->run.unique_while = CULEX_UNIQUE_LIVE;
}

static void prepare_new_for_once(struct play *play)
{
    prepare_new(play);
    play->run.idempotency_key = "once";
    play->run.window_ms = 60000;
}

static void prepare_enqueued(struct play *play, int priority, int64_t delay_ms)
{
    size_t released;
    int64_t now_ms;
    play->run = fixture_run();
    play->ticket = fixture_ticket(play->f, 7);
    play->run.priority = priority;
    play->run.delay_ms = delay_ms;
    play->run.unique_key = KEY;
    play->run.unique_while = CULEX_UNIQUE_LIVE;
    assert_ok(
        play->bob->ops->hello(play->bob, "q", "bob", SESSION_A, &released, &now_ms, &call_error));
    assert_int_equal(bob_enqueue(play), CULEX_OK);
    play->is_enqueued = true;
    play->step = fixture_step(play->f, SESSION_A, 1);
}

static void prepare_waiting(struct play *play)
{
    prepare_enqueued(play, 0, 0);
}

static void prepare_urgent(struct play *play)
{
    prepare_enqueued(play, 5, 0);
}

static void prepare_scheduled(struct play *play)
{
    prepare_enqueued(play, 0, 3000);
}

static void prepare_due(struct play *play)
{
    prepare_enqueued(play, 0, 3000);
    play->f->now_ms += 3000;
    play->step.want = 0;
}

static void prepare_due_urgent(struct play *play)
{
    prepare_enqueued(play, 5, 3000);
    play->f->now_ms += 3000;
    play->step.want = 0;
}

static void prepare_active(struct play *play)
{
    prepare_waiting(play);
    bob_claims(play);
}

static void prepare_done(struct play *play)
{
    prepare_active(play);
    bob_acks(play, CULEX_EVENT_DONE, 0);
    play->ack.text = NULL;
}

static void prepare_result(struct play *play)
{
    prepare_done(play);
    play->ack.result = "{}";
    play->ack.result_len = 2;
}

static void prepare_fail(struct play *play)
{
    prepare_active(play);
    bob_acks(play, CULEX_EVENT_FAIL, 2000);
}

static void prepare_release(struct play *play)
{
    prepare_active(play);
    bob_acks(play, CULEX_EVENT_RELEASE, 0);
}

static void prepare_release_urgent(struct play *play)
{
    prepare_urgent(play);
    bob_claims(play);
    bob_acks(play, CULEX_EVENT_RELEASE, 0);
}

static void prepare_discard(struct play *play)
{
    prepare_active(play);
    bob_acks(play, CULEX_EVENT_DISCARD, 0);
}

static void prepare_beat(struct play *play)
{
    prepare_active(play);
    play->beat = (struct culex_beat){.id = play->id, .attempt = 1, .progress = "10 on"};
    play->step.beats = &play->beat;
    play->step.beat_count = 1;
}

static void prepare_lost(struct play *play)
{
    prepare_active(play);
    play->f->now_ms += 1001;
}

static void prepare_dead(struct play *play)
{
    prepare_discard(play);
    assert_int_equal(bob_step(play), CULEX_OK);
    play->step = fixture_step(play->f, SESSION_A, 0);
}

static void prepare_dead_urgent(struct play *play)
{
    prepare_urgent(play);
    bob_claims(play);
    bob_acks(play, CULEX_EVENT_DISCARD, 0);
    assert_int_equal(bob_step(play), CULEX_OK);
}

static void prepare_forgotten(struct play *play)
{
    prepare_dead(play);
    play->f->now_ms += 60001;
}

static void prepare_expired(struct play *play)
{
    prepare_new(play);
    play->run.expires_ms = 1000;
    play->run.unique_key = KEY;
    play->run.unique_while = CULEX_UNIQUE_LIVE;
    assert_int_equal(bob_enqueue(play), CULEX_OK);
    play->is_enqueued = true;
    play->f->now_ms += 1001;
    play->step = fixture_step(play->f, SESSION_A, 2);
    assert_ok(play->bob->ops->pause(play->bob, "q", false, &call_error)); /* tries all commands */
}

/* An ordinary run, beside one that is not bob's affair. */
static void prepare_line(struct play *play)
{
    size_t released;
    int64_t now_ms;
    assert_ok(
        play->bob->ops->hello(play->bob, "q", "bob", SESSION_A, &released, &now_ms, &call_error));
    prepare_new(play);
    assert_int_equal(bob_enqueue(play), CULEX_OK);
    play->is_enqueued = true;
    play->step = fixture_step(play->f, SESSION_A, 2);
}

static void prepare_line_active(struct play *play)
{
    prepare_line(play);
    assert_int_equal(bob_step(play), CULEX_OK);
    assert_int_equal(play->granted, 2);
    play->others = 1;
    play->step = fixture_step(play->f, SESSION_A, 0);
}

static void prepare_line_lost(struct play *play)
{
    prepare_line_active(play);
    play->f->now_ms += 1001;
}

static void beat_add(struct play *play, const char *progress)
{
    play->beat = (struct culex_beat){.id = play->id, .attempt = 1, .progress = progress};
    play->step.beats = &play->beat;
    play->step.beat_count = 1;
}

static void prepare_line_report(struct play *play)
{
    prepare_line_active(play);
    beat_add(play, "10 on");
}

static void prepare_line_done(struct play *play)
{
    prepare_line_active(play);
    bob_acks(play, CULEX_EVENT_DONE, 0);
    play->ack.text = NULL;
}

/* The other one has ended: the block holds one run. */
static void prepare_line_beat(struct play *play)
{
    prepare_line_done(play);
    play->ack.id.b[15]--; /* the number before */
    assert_int_equal(bob_step(play), CULEX_OK);
    assert_int_equal(play->answer, CULEX_ANSWER_OK);
    play->step = fixture_step(play->f, SESSION_A, 0);
    beat_add(play, NULL);
}

static void prepare_line_result(struct play *play)
{
    prepare_line_done(play);
    play->ack.result = "{}";
    play->ack.result_len = 2;
}

static void prepare_line_fail(struct play *play)
{
    prepare_line_active(play);
    bob_acks(play, CULEX_EVENT_FAIL, 2000);
}

static void prepare_line_release(struct play *play)
{
    prepare_line_active(play);
    bob_acks(play, CULEX_EVENT_RELEASE, 0);
}

static void prepare_line_over(struct play *play)
{
    prepare_line_done(play);
    assert_int_equal(bob_step(play), CULEX_OK);
    play->step = fixture_step(play->f, SESSION_A, 0);
    play->f->now_ms += 60001;
}

/* A block of one run, which was enqueued with `payload` and is kept so long. */
static void prepare_line_of(struct play *play, int64_t keep_ms, const char *payload)
{
    size_t released;
    int64_t now_ms;
    assert_ok(
        play->bob->ops->hello(play->bob, "q", "bob", SESSION_A, &released, &now_ms, &call_error));
    play->run = fixture_run();
    play->run.keep_success_ms = keep_ms;
    play->run.payload = payload;
    play->run.payload_len = strlen(payload);
    play->ticket = fixture_ticket(play->f, 7);
    assert_int_equal(bob_enqueue(play), CULEX_OK);
    play->is_enqueued = true;
    bob_claims(play);
    bob_acks(play, CULEX_EVENT_DONE, 0);
    play->ack.text = NULL;
}

static void prepare_line_long(struct play *play)
{
    static char payload[1001];
    memset(payload, '1', sizeof payload - 1);
    prepare_line_of(play, 60000, payload);
}

static void prepare_line_bare(struct play *play)
{
    prepare_line_of(play, 0, "{}");
}

static void other_enqueue(const struct play *play)
{
    struct culex_enqueue_result result;
    assert_ok(play->bob->ops->enqueue(play->bob, "q", NULL, &play->run, 1, &result, &call_error));
}

static void line_begin(struct play *play, int64_t keep_ms)
{
    size_t released;
    int64_t now_ms;
    assert_ok(
        play->bob->ops->hello(play->bob, "q", "bob", SESSION_A, &released, &now_ms, &call_error));
    play->run = fixture_run();
    play->run.keep_success_ms = keep_ms;
    play->ticket = fixture_ticket(play->f, 7);
}

/* Bob claims `count` runs, and is told that all is calm and that the line has more: his next step
 * is a fast one. */
static void calm_down(struct play *play, uint32_t count)
{
    play->step = fixture_step(play->f, SESSION_A, count);
    assert_int_equal(bob_step(play), CULEX_OK);
    assert_int_equal(play->granted, count);
    play->step = fixture_step(play->f, SESSION_A, 0);
    assert_int_equal(bob_step(play), CULEX_OK);
    play->is_enqueued = true;
    play->step = fixture_step(play->f, SESSION_A, 1);
}

static void prepare_fast_claim(struct play *play)
{
    line_begin(play, 2000);
    other_enqueue(play);
    assert_int_equal(bob_enqueue(play), CULEX_OK);
    calm_down(play, 1);
    play->others = 1;
}

/* The first of the line ends, of `count` that are held, and another one is claimed. */
static void prepare_fast(struct play *play, int64_t keep_ms, uint32_t count)
{
    line_begin(play, keep_ms);
    assert_int_equal(bob_enqueue(play), CULEX_OK);
    for (uint32_t i = 0; i < count; i++)
        other_enqueue(play);
    calm_down(play, count);
    play->others = count;
    bob_acks(play, CULEX_EVENT_DONE, 0);
    play->ack.text = NULL;
    play->step.want = 1;
}

static void prepare_fast_done(struct play *play)
{
    prepare_fast(play, 2000, 1);
}

static void prepare_fast_part(struct play *play)
{
    prepare_fast(play, 2000, 2);
}

static void prepare_fast_bare(struct play *play)
{
    prepare_fast(play, 0, 1);
}

static void prepare_fast_bare_part(struct play *play)
{
    prepare_fast(play, 0, 2);
}

/* Looks like a waiting run's, so whoever leaves it as it is is found out. */
#define DAMAGE "8|W"

static void record_damage(struct play *play)
{
    redisReply *reply = redis_server_command(&play->f->server, "HSET culex:{q}:runs %b " DAMAGE,
                                             play->id.b, sizeof play->id.b);
    assert_non_null(reply);
    assert_int_equal(reply->type, REDIS_REPLY_INTEGER);
    freeReplyObject(reply);
    play->is_damaged = true;
}

static void prepare_damaged(struct play *play)
{
    prepare_waiting(play);
    record_damage(play);
}

static void prepare_damaged_urgent(struct play *play)
{
    prepare_urgent(play);
    record_damage(play);
}

static void prepare_damaged_due(struct play *play)
{
    prepare_due(play);
    record_damage(play);
}

static void prepare_damaged_due_urgent(struct play *play)
{
    prepare_due_urgent(play);
    record_damage(play);
}

static void prepare_damaged_lost(struct play *play)
{
    prepare_lost(play);
    record_damage(play);
}

/* Something for FSCK to do: another run has lost its entry, and one its record. */
static void prepare_disorder(struct play *play)
{
    prepare_waiting(play);
    prepare_new(play);
    assert_int_equal(bob_enqueue(play), CULEX_OK);
    fixture_say(play->f, "LPOP culex:{q}:%s", "ready");
    fixture_say(play->f, "HSET culex:{q}:runs 0123456789abcdef %s", "x");
}

/* --- verbs ----------------------------------------------------------------------------------- */

static culex_status act_hello(struct play *play)
{
    size_t released;
    int64_t now_ms;
    return play->bob->ops->hello(play->bob, "q", "bob", SESSION_B, &released, &now_ms, NULL);
}

/* Kept behind the mark. */
static culex_uuid ticked_id(const struct play *play)
{
    culex_uuid id;
    redisReply *reply = redis_server_command(&play->f->server, "HGET culex:{q}:schedules j");
    assert_non_null(reply);
    assert_int_equal(reply->type, REDIS_REPLY_STRING);
    /* Behind it stands the last one out of turn; there is no template. */
    memcpy(id.b, reply->str + reply->len - 2 * sizeof id.b, sizeof id.b);
    freeReplyObject(reply);
    return id;
}

static culex_status act_tick(struct play *play)
{
    struct culex_tick_reply reply;
    struct culex_tick tick = {.queue = "q", .schedule = "j", .interval_ms = 1, .run = &play->run};
    culex_status status = play->bob->ops->tick(play->bob, &tick, &reply, NULL);
    if (status == CULEX_OK)
        play->id = ticked_id(play);
    return status;
}

static culex_status act_cancel(struct play *play)
{
    culex_run_state state;
    return play->bob->ops->cancel(play->bob, "q", play->id, &state, NULL);
}

static culex_status act_retry(struct play *play)
{
    return play->bob->ops->retry(play->bob, "q", play->id, NULL);
}

static culex_status act_forget(struct play *play)
{
    return play->bob->ops->forget(play->bob, "q", play->id, NULL);
}

static culex_status act_purge_waiting(struct play *play)
{
    struct culex_purge_reply purged;
    return play->bob->ops->purge(play->bob, "q", CULEX_RUN_WAITING, 10, &purged, NULL);
}

static culex_status act_purge_scheduled(struct play *play)
{
    struct culex_purge_reply purged;
    return play->bob->ops->purge(play->bob, "q", CULEX_RUN_SCHEDULED, 10, &purged, NULL);
}

static culex_status act_fsck(struct play *play)
{
    struct culex_fsck_reply reply = {.cursor = 0};
    culex_status status;
    do
        status = play->bob->ops->fsck(play->bob, "q", reply.cursor, true, &reply, NULL);
    while (status == CULEX_OK && reply.cursor != 0);
    return status;
}

/* How the run may have ended by the verb: letters of states, '-' for "deleted". */
static const struct situation {
    const char *name;
    const struct culex__redis_script *script;
    void (*prepare)(struct play *play);
    culex_status (*act)(struct play *play);
    const char *ends;
} situations[] = {
    {"enqueue", &culex__redis_script_enqueue_plain, prepare_new, bob_enqueue, ""},
    {"enqueue urgent", &culex__redis_script_enqueue, prepare_new_urgent, bob_enqueue, ""},
    {"enqueue for later", &culex__redis_script_enqueue, prepare_new_later, bob_enqueue, ""},
    {"enqueue for once", &culex__redis_script_enqueue, prepare_new_for_once, bob_enqueue, ""},
    {"enqueue each", &culex__redis_script_enqueue_each_plain, prepare_new, bob_enqueue_each, ""},
    {"enqueue each urgent", &culex__redis_script_enqueue_each, prepare_new_urgent, bob_enqueue_each,
     ""},
    {"claim of the line", &culex__redis_script_step, prepare_line, bob_step, ""},
    {"fast claim", &culex__redis_script_step_fast, prepare_fast_claim, bob_step, ""},
    {"fast done", &culex__redis_script_step_fast, prepare_fast_done, bob_step, "D-"},
    {"fast done in part", &culex__redis_script_step_fast, prepare_fast_part, bob_step, "D-"},
    {"fast done for nothing", &culex__redis_script_step_fast, prepare_fast_bare, bob_step, "-"},
    {"fast done in part for nothing", &culex__redis_script_step_fast, prepare_fast_bare_part,
     bob_step, "-"},
    {"reap of a block", &culex__redis_script_step, prepare_line_lost, bob_step, ""},
    {"beat of a block", &culex__redis_script_step, prepare_line_beat, bob_step, ""},
    {"beat of one of a block", &culex__redis_script_step, prepare_line_report, bob_step, ""},
    {"done in a block", &culex__redis_script_step, prepare_line_done, bob_step, "D-"},
    {"done in a block of long ones", &culex__redis_script_step, prepare_line_long, bob_step, "D"},
    {"done in a block for nothing", &culex__redis_script_step, prepare_line_bare, bob_step, "-"},
    {"done with a result in a block", &culex__redis_script_step, prepare_line_result, bob_step,
     "D"},
    {"fail in a block", &culex__redis_script_step, prepare_line_fail, bob_step, ""},
    {"release in a block", &culex__redis_script_step, prepare_line_release, bob_step, ""},
    {"purge of a block by age", &culex__redis_script_step, prepare_line_over, bob_step, "D-"},
    {"hello, block", &culex__redis_script_hello, prepare_line_active, act_hello, ""},
    {"tick", &culex__redis_script_tick, prepare_new, act_tick, ""},
    {"claim", &culex__redis_script_step, prepare_waiting, bob_step, ""},
    {"claim urgent", &culex__redis_script_step, prepare_urgent, bob_step, ""},
    {"claim expired", &culex__redis_script_step, prepare_expired, bob_step, "X"},
    {"promote", &culex__redis_script_step, prepare_due, bob_step, ""},
    {"promote urgent", &culex__redis_script_step, prepare_due_urgent, bob_step, ""},
    {"reap", &culex__redis_script_step, prepare_lost, bob_step, ""},
    {"beat", &culex__redis_script_step, prepare_beat, bob_step, ""},
    {"done", &culex__redis_script_step, prepare_done, bob_step, "D"},
    {"done with a result", &culex__redis_script_step, prepare_result, bob_step, "D"},
    {"fail", &culex__redis_script_step, prepare_fail, bob_step, ""},
    {"release", &culex__redis_script_step, prepare_release, bob_step, ""},
    {"release urgent", &culex__redis_script_step, prepare_release_urgent, bob_step, ""},
    {"discard", &culex__redis_script_step, prepare_discard, bob_step, "X"},
    {"purge by age", &culex__redis_script_step, prepare_forgotten, bob_step, "-X"},
    {"put aside", &culex__redis_script_step, prepare_damaged, bob_step, "X"},
    {"put aside urgent", &culex__redis_script_step, prepare_damaged_urgent, bob_step, "X"},
    {"put aside due", &culex__redis_script_step, prepare_damaged_due, bob_step, "X"},
    {"put aside due urgent", &culex__redis_script_step, prepare_damaged_due_urgent, bob_step, "X"},
    {"put aside active", &culex__redis_script_step, prepare_damaged_lost, bob_step, "X"},
    {"hello", &culex__redis_script_hello, prepare_active, act_hello, ""},
    {"cancel waiting", &culex__redis_script_cancel, prepare_waiting, act_cancel, "C"},
    {"cancel urgent", &culex__redis_script_cancel, prepare_urgent, act_cancel, "C"},
    {"cancel scheduled", &culex__redis_script_cancel, prepare_scheduled, act_cancel, "C"},
    {"cancel active", &culex__redis_script_cancel, prepare_active, act_cancel, "C"},
    {"retry", &culex__redis_script_retry, prepare_dead, act_retry, "X"},
    {"retry urgent", &culex__redis_script_retry, prepare_dead_urgent, act_retry, "X"},
    {"forget", &culex__redis_script_forget, prepare_dead, act_forget, "X-"},
    {"purge waiting", &culex__redis_script_purge, prepare_waiting, act_purge_waiting, "-"},
    {"purge urgent", &culex__redis_script_purge, prepare_urgent, act_purge_waiting, "-"},
    {"purge scheduled", &culex__redis_script_purge, prepare_scheduled, act_purge_scheduled, "-"},
    {"fsck", &culex__redis_script_fsck, prepare_disorder, act_fsck, ""},
};
enum { SITUATIONS = sizeof situations / sizeof situations[0] };

/* --- afterwards ------------------------------------------------------------------------------ */

/* The letter in the run's record; of an ordinary run, the one that it would have; '-' when there is
 * none. */
static char letter_of(const struct play *play)
{
    redisReply *reply = redis_server_command(&play->f->server, "HGET culex:{q}:runs %b", play->id.b,
                                             sizeof play->id.b);
    assert_non_null(reply);
    char letter = reply->type == REDIS_REPLY_STRING ? reply->str[2] : '-';
    freeReplyObject(reply);
    culex_run_info *info;
    if (letter != '-' ||
        play->f->store->ops->get(play->f->store, "q", play->id, &info, NULL) != CULEX_OK)
        return letter;
    letter = culex__run_state_letter(info->state);
    culex__run_info_free(info);
    return letter;
}

/* Everything that the queue keeps, counted. */
static long long size_of(const struct play *play)
{
    static const char *const sizes[] = {
        "HLEN runs",       "HLEN payloads",         "LLEN ready",         "ZCARD urgent",
        "ZCARD scheduled", "ZCARD active",          "ZCARD done",         "ZCARD dead",
        "ZCARD cancelled", "HLEN errors",           "HLEN results",       "HLEN unique",
        "LLEN wake",       "HLEN sessions",         "HLEN keys",          "ZCARD keys_until",
        "HLEN producers",  "ZCARD producers_until", "EXISTS probe",       "HLEN bodies",
        "HLEN blocks",     "ZCARD spans",           "ZCARD block_leases", "ZCARD block_ends"};
    long long size = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char format[64];
        const char *key = strchr(sizes[i], ' ');
        snprintf(format, sizeof format, "%.*s culex:{q}:%%s", (int)(key - sizes[i]), sizes[i]);
        size += fixture_say(play->f, format, key + 1);
    }
    return size;
}

static void somebody_steps(struct play *play, uint32_t want)
{
    struct fixture *f = play->f;
    struct culex_step step = fixture_step(f, "cccccccccccccccc", want);
    struct culex_step_reply reply;
    fixture_run_step(f, &step, &reply);
    for (size_t i = 0; i < reply.grant_count; i++) {
        const struct culex_grant *grant = &reply.grants[i];
        play->is_executed |= memcmp(&grant->facts.id, &play->id, sizeof grant->facts.id) == 0;
        fixture_ack(f, "cccccccccccccccc", grant->facts.id, grant->facts.attempt, CULEX_EVENT_DONE);
    }
    f->store->ops->step_release(f->store, &reply);
}

/* First for longer than anything is kept, so that a live run which stands among final ones gets
 * deleted with them. */
static void time_passes(struct play *play)
{
    for (int i = 0; i < 6; i++) {
        play->f->now_ms += STALL;
        somebody_steps(play, 0);
    }
    for (int i = 0; i < 4; i++) {
        somebody_steps(play, 10);
        play->f->now_ms += STALL;
    }
}

/* What `format` says of the run; true unless it is 0 or nothing. */
static bool knows(const struct play *play, const char *format)
{
    redisReply *reply =
        redis_server_command(&play->f->server, format, play->id.b, sizeof play->id.b);
    assert_non_null(reply);
    bool is_known = reply->type == REDIS_REPLY_STRING || reply->integer > 0;
    freeReplyObject(reply);
    return is_known;
}

/* Its bytes are kept, it is found among the dead, and nothing else holds it. */
static void judge_aside(struct play *play, const struct situation *situation, const char *command)
{
    time_passes(play);
    if (letter_of(play) != 'X' || !knows(play, "ZSCORE culex:{q}:dead %b"))
        fail_msg("%s without %s: the record stays where nobody finds it (%c)", situation->name,
                 command, letter_of(play));
    if (!knows(play, "HEXISTS culex:{q}:damaged %b") || !knows(play, "HEXISTS culex:{q}:errors %b"))
        fail_msg("%s without %s: the bytes or the reason are lost", situation->name, command);
    if (knows(play, "ZSCORE culex:{q}:urgent %b") || knows(play, "ZSCORE culex:{q}:active %b") ||
        knows(play, "ZSCORE culex:{q}:scheduled %b") ||
        knows(play, "ZSCORE culex:{q}:scheduled_urgent %b"))
        fail_msg("%s without %s: an entry stays", situation->name, command);
}

/* `is_ended`: the verb said so in the end. */
static void judge(struct play *play, const struct situation *situation, const char *command,
                  bool is_ended)
{
    if (play->is_damaged) {
        judge_aside(play, situation, command);
        return;
    }
    char before = letter_of(play);
    bool has_ended = strchr("DXC-", before) != NULL;
    if (has_ended && play->is_enqueued && strchr(situation->ends, before) == NULL)
        fail_msg("%s without %s: the run is %c", situation->name, command, before);
    time_passes(play);
    bool may_never_start =
        play->run.expires_ms > 0 || (is_ended && strchr(situation->ends, 'C') != NULL);
    if (!has_ended && !play->is_executed && !may_never_start)
        fail_msg("%s without %s: the run was %c and never starts", situation->name, command,
                 before);
    if (strchr("SWA", letter_of(play)) != NULL)
        fail_msg("%s without %s: the run stays %c", situation->name, command, letter_of(play));
}

/* --- the tests ------------------------------------------------------------------------------- */

static struct commands commands_of(const struct situation *situation)
{
    struct commands commands = {.count = 0};
    commands_collect(&commands, situation->script);
    return commands;
}

static void play_begin(struct play *play, struct fixture *f, const struct situation *situation)
{
    fixture_say(f, "FLUSHALL %s", "SYNC");
    *play = (struct play){.f = f};
    bob_enter(play);
    situation->prepare(play);
}

static void play_end(struct play *play)
{
    play->bob->ops->close(play->bob);
}

/* Bob meets his refusal and is never seen again. */
static void test_withdrawn__nothing_is_stranded(void **state)
{
    unsigned refused = 0;
    for (size_t i = 0; i < SITUATIONS; i++) {
        struct commands commands = commands_of(&situations[i]);
        for (size_t k = 0; k < commands.count; k++) {
            struct play play;
            play_begin(&play, *state, &situations[i]);
            right_change(&play, '-', commands.names[k]);
            culex_status status = situations[i].act(&play);
            assert_true(status == CULEX_OK || status == CULEX_EDENIED);
            refused += status == CULEX_EDENIED;
            play.is_enqueued |= status == CULEX_OK;
            play_end(&play);
            if (play.is_enqueued)
                judge(&play, &situations[i], commands.names[k], status == CULEX_OK);
        }
    }
    printf("%u refusals\n", refused);
    assert_true(refused > 250);
}

/* Bob asks again and again while the right is gone, which leaves nothing more behind than the first
 * time, and once more when it is back. */
static void test_withdrawn__repeated_until_the_right_is_back(void **state)
{
    for (size_t i = 0; i < SITUATIONS; i++) {
        struct commands commands = commands_of(&situations[i]);
        for (size_t k = 0; k < commands.count; k++) {
            struct play play;
            play_begin(&play, *state, &situations[i]);
            right_change(&play, '-', commands.names[k]);
            bool is_refused = situations[i].act(&play) == CULEX_EDENIED;
            long long size = size_of(&play);
            for (int again = 0; is_refused && again < 3; again++)
                assert_int_equal(situations[i].act(&play), CULEX_EDENIED);
            if (is_refused && size_of(&play) != size)
                fail_msg("%s without %s: each refusal leaves something", situations[i].name,
                         commands.names[k]);
            right_change(&play, '+', commands.names[k]);
            culex_status status = is_refused ? situations[i].act(&play) : CULEX_OK;
            if (status != CULEX_OK && status != CULEX_ESTATE && status != CULEX_ENOTFOUND)
                fail_msg("%s after %s: %s", situations[i].name, commands.names[k],
                         culex_status_name(status));
            if (strncmp(situations[i].name, "claim", 5) == 0 && play.run.expires_ms == 0)
                assert_int_equal(play.granted, situations[i].prepare == prepare_line ? 2 : 1);
            play.is_enqueued = true;
            play_end(&play);
            judge(&play, &situations[i], commands.names[k], true);
        }
    }
}

/* The verb said in the end that the run is there: said again, it is that one, and the only one. */
static void test_withdrawn__repeated_enqueue_brings_one_run(void **state)
{
    for (size_t i = 0; i < SITUATIONS; i++) {
        struct commands commands = commands_of(&situations[i]);
        for (size_t k = 0; situations[i].act == bob_enqueue && k < commands.count; k++) {
            struct play play;
            play_begin(&play, *state, &situations[i]);
            right_change(&play, '-', commands.names[k]);
            culex_status status = bob_enqueue(&play);
            right_change(&play, '+', commands.names[k]);
            culex_uuid id = play.id;
            assert_int_equal(bob_enqueue(&play), CULEX_OK);
            if (status == CULEX_OK)
                assert_memory_equal(&play.id, &id, sizeof id);
            if (fixture_say(play.f, "HLEN culex:{q}:%s", "runs") +
                    fixture_say(play.f, "HLEN culex:{q}:%s", "bodies") !=
                2)
                fail_msg("%s without %s: more or less than one run", situations[i].name,
                         commands.names[k]);
            play_end(&play);
        }
    }
}

/* Not a command but one key is out of reach, which no probe finds out: the server refuses the whole
 * script, for it declares its keys. */
static void test_withdrawn__one_key_refused_leaves_no_half_enqueue(void **state)
{
    static const struct {
        const char *allow, *deny;
    } rows[] = {
        {"~culex:{q}:[^r]* ~culex:{q}:re* %s", "%R~culex:{q}:runs"},
        {"~culex:{q}:[^k]* ~culex:{q}:keys_until %s", "%R~culex:{q}:keys"},
        {"~culex:{q}:[^p]* ~culex:{q}:pa* ~culex:{q}:probe ~culex:{q}:producers_until %s",
         "%R~culex:{q}:producers"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct play play;
        char format[192];
        play_begin(&play, *state, &situations[0]);
        prepare_new_for_once(&play);
        snprintf(format, sizeof format, "ACL SETUSER " BOB " resetkeys ~culex:queues %s",
                 rows[i].allow);
        fixture_say(play.f, format, rows[i].deny);
        assert_int_equal(bob_enqueue(&play), CULEX_EDENIED);
        assert_int_equal(fixture_say(play.f, "HLEN culex:{q}:%s", "producers"), 0);
        assert_int_equal(fixture_say(play.f, "HLEN culex:{q}:%s", "keys"), 0);
        assert_int_equal(fixture_say(play.f, "HLEN culex:{q}:%s", "runs"), 0);
        fixture_say(play.f, "ACL SETUSER " BOB " %s", "~*");
        assert_int_equal(bob_enqueue(&play), CULEX_OK);
        assert_int_equal(fixture_say(play.f, "HLEN culex:{q}:%s", "runs"), 1);
        play_end(&play);
    }
}

/* These end what the ack has to write. Refused there, the run's record shows another end than the
 * one that the ack tells of, and nothing shows yet that it was this one. */
static bool is_amid_ack(const char *command)
{
    static const char *const commands[] = {"zadd", "zrem", "hdel", "hincrby"};
    bool is_amid = false;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        is_amid = is_amid || strcmp(command, commands[i]) == 0;
    return is_amid;
}

static void ack_repeat(struct play *play, const struct situation *situation, const char *command)
{
    culex_queue_stats stats;
    struct fixture *f = play->f;
    right_change(play, '-', command);
    bool is_refused = situation->act(play) == CULEX_EDENIED;
    right_change(play, '+', command);
    if (is_refused)
        assert_int_equal(situation->act(play), CULEX_OK);
    /* Of a success that is not kept nothing is left that could tell of it. */
    bool is_forgotten = play->run.keep_success_ms == 0 && play->answer == CULEX_ANSWER_GONE;
    if (play->answer != CULEX_ANSWER_OK && play->answer != CULEX_ANSWER_REPEATED && !is_forgotten &&
        !is_amid_ack(command))
        fail_msg("%s after %s: answered %d", situation->name, command, (int)play->answer);
    time_passes(play);
    assert_ok(f->store->ops->stats(f->store, "q", &stats, &call_error));
    if (stats.lost > play->others)
        fail_msg("%s after %s: charged with a loss", situation->name, command);
}

/* What bob has told in a step that was refused half-way counts when he asks again, and once: no run
 * is charged with a loss for it. */
static void test_withdrawn__repeated_ack_is_taken(void **state)
{
    for (size_t i = 0; i < SITUATIONS; i++) {
        struct commands commands = commands_of(&situations[i]);
        for (size_t k = 0; k < commands.count; k++) {
            struct play play;
            play_begin(&play, *state, &situations[i]);
            if (play.step.ack_count > 0 && situations[i].act == bob_step)
                ack_repeat(&play, &situations[i], commands.names[k]);
            play_end(&play);
        }
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_withdrawn__nothing_is_stranded),
        TEST(test_withdrawn__repeated_until_the_right_is_back),
        TEST(test_withdrawn__repeated_enqueue_brings_one_run),
        TEST(test_withdrawn__one_key_refused_leaves_no_half_enqueue),
        TEST(test_withdrawn__repeated_ack_is_taken),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
