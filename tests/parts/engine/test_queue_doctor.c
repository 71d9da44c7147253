/* What the doctor tells of waiting runs that no worker takes, in a driven world. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <culex/claims.h>

#include "base/error.h"
#include "client/queue_doctor.h"
#include "world.h"

enum { LEASE_MS = 60000 };

static int setup(void **state)
{
    *state = world_open();
    return 0;
}

static int teardown(void **state)
{
    world_close(*state);
    return 0;
}

static culex_doctor_report *examine(struct world *world)
{
    struct culex_report *report = culex__report_create();
    assert_non_null(report);
    culex__report_promise(report, "Nothing is promised here.");
    culex__queues_examine(&world->base, report);
    culex_doctor_report *finished = culex__report_finish(report);
    assert_non_null(finished);
    return finished;
}

static size_t findings_count(const culex_doctor_report *report, const char *id)
{
    size_t count = 0;
    for (size_t i = 0; i < report->finding_count; i++)
        count += strcmp(report->findings[i].id, id) == 0;
    return count;
}

/* It is the only finding. */
static void expect(struct world *world, const char *id, culex_severity severity, const char *text)
{
    culex_doctor_report *report = examine(world);
    assert_int_equal(report->finding_count, 1);
    const culex_finding *finding = &report->findings[0];
    assert_string_equal(finding->id, id);
    assert_string_equal(finding->text, text);
    assert_int_equal(finding->severity, severity);
    assert_int_equal(finding->advice[0] == '\0', severity == CULEX_SEVERITY_OK);
    culex_doctor_report_free(report);
}

/* Past all checks, as a program that is not ours writes. */
static culex_uuid enqueue_raw(struct world *world, const char *queue, const char *job,
                              int64_t delay_ms)
{
    struct culex_enqueue_result result;
    struct culex_new_run run = {.job = job,
                                .attempts_max = 5,
                                .delay_ms = delay_ms,
                                .keep_failure_ms = 3600000,
                                .keep_success_ms = 3600000,
                                .tags = "",
                                .payload = "{}",
                                .payload_len = 2};
    assert_int_equal(
        world->store->table->enqueue(world->store, queue, NULL, &run, 1, &result, NULL), CULEX_OK);
    return result.id;
}

/* A worker that does nothing else claims one run; gives it back, when `text` is not NULL, so that
 * it is due a second later. */
static void claim(struct world *world, const char *queue, const char *text)
{
    static uint64_t nonce;
    struct culex_step_reply reply;
    struct culex_ack ack = {.event = CULEX_EVENT_RELEASE, .delay_ms = 1000, .text = text};
    struct culex_step step = {.queue = queue,
                              .session = "00000000000000aa",
                              .nonce = ++nonce,
                              .want = 1,
                              .max_bytes = 1000,
                              .lease_ms = LEASE_MS};
    assert_int_equal(world->store->ops->step(world->store, &step, &reply, NULL), CULEX_OK);
    assert_int_equal(reply.grant_count, 1);
    ack.id = reply.grants[0].facts.id;
    ack.attempt = reply.grants[0].facts.attempt;
    world->store->ops->step_release(world->store, &reply);
    if (text == NULL)
        return;
    step.nonce = ++nonce;
    step.want = 0;
    step.acks = &ack;
    step.ack_count = 1;
    assert_int_equal(world->store->ops->step(world->store, &step, &reply, NULL), CULEX_OK);
    world->store->ops->step_release(world->store, &reply);
}

static const char unknown[] = "no handler is registered for this job";

/* --- served or not ------------------------------------------------------------------------- */

static void test_runs_that_nobody_takes_are_told(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    for (int i = 0; i < 3; i++)
        world_enqueue(world, &type, i);
    int64_t before_ms = world_ms(world);
    expect(world, "queue-unserved", CULEX_SEVERITY_WARNING,
           "queue numbers: 3 runs wait, none is at work, and no worker took one within 1000 ms");
    assert_in_range(world_ms(world) - before_ms, 1000, 1100);
}

static void test_run_that_is_due_and_was_moved_by_nobody_is_told(void **state)
{
    struct world *world = *state;
    enqueue_raw(world, "mail", "shop.send", 5000);
    expect(world, "queues", CULEX_SEVERITY_OK,
           "no run waits in 1 queue; whether workers serve it is not known");
    world_pass(world, 5000);
    expect(world, "queue-unserved", CULEX_SEVERITY_WARNING,
           "queue mail: 1 run waits, none is at work, and no worker took one within 1000 ms");
}

/* A new name makes a new queue, a mistyped one as well. */
static void test_queue_with_a_mistyped_name_is_told_with_the_one_that_was_meant(void **state)
{
    struct world *world = *state;
    enqueue_raw(world, "mail", "shop.send", 0);
    enqueue_raw(world, "reports", "shop.send", 0);
    claim(world, "mail", NULL);
    claim(world, "reports", NULL);
    enqueue_raw(world, "mial", "shop.send", 0);
    expect(world, "queue-unserved", CULEX_SEVERITY_WARNING,
           "queue mial: 1 run waits, none is at work, and no worker took one within 1000 ms; was "
           "mail meant?");
}

static void claim_one(struct world *world)
{
    claim(world, "numbers", NULL);
}

static void test_queue_with_a_worker_is_no_finding(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world_enqueue(world, &type, 1);
    world_enqueue(world, &type, 2);
    world->then = claim_one; /* half a second later: it was busy */
    world->then_ms = world_ms(world) + 500;
    expect(world, "queues", CULEX_SEVERITY_OK, "workers take the waiting runs of 1 queue");
    assert_null(world->then);
    int64_t before_ms = world_ms(world);
    expect(world, "queues", CULEX_SEVERITY_OK,
           "runs of 1 queue are at work, as far as their leases tell");
    assert_int_equal(world_ms(world), before_ms); /* nothing to watch */
}

/* What is at work by its lease may be left by a worker that was killed: nobody was seen to take
 * what waits behind it. */
static void test_queue_with_a_lease_is_not_said_to_be_served(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world_enqueue(world, &type, 1);
    world_enqueue(world, &type, 2);
    claim(world, "numbers", NULL);
    enqueue_raw(world, "mail", "shop.send", 0);
    claim(world, "mail", NULL);
    enqueue_raw(world, "news", "shop.send", 5000);
    expect(world, "queues", CULEX_SEVERITY_OK,
           "runs of 2 queues are at work, as far as their leases tell; no run waits in 1 queue");
}

/* Its only worker was killed: a run that is active for good hides no queue. */
static void test_run_past_its_lease_waits_too(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world_enqueue(world, &type, 1);
    claim(world, "numbers", NULL);
    world_pass(world, LEASE_MS + 900);
    expect(world, "queues", CULEX_SEVERITY_OK,
           "runs of 1 queue are at work, as far as their leases tell");
    world_pass(world, 100);
    expect(world, "queue-unserved", CULEX_SEVERITY_WARNING,
           "queue numbers: 1 run waits (1 left by a worker that is gone), none is at work, and no "
           "worker took one within 1000 ms");
    world_enqueue(world, &type, 2);
    expect(world, "queue-unserved", CULEX_SEVERITY_WARNING,
           "queue numbers: 2 runs wait (1 left by a worker that is gone), none is at work, and no "
           "worker took one within 1000 ms");
}

static void test_worker_that_takes_back_what_another_left_is_no_finding(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world_enqueue(world, &type, 1);
    claim(world, "numbers", NULL);
    world_pass(world, LEASE_MS + 1000);
    world->then = claim_one;
    world->then_ms = world_ms(world) + 500;
    expect(world, "queues", CULEX_SEVERITY_OK, "workers take the waiting runs of 1 queue");
    assert_null(world->then);
}

static void test_queues_without_runs_are_told_apart(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    enqueue_raw(world, "mail", "shop.send", 5000);
    enqueue_raw(world, "news", "shop.send", 0);
    claim(world, "news", NULL);
    world_enqueue(world, &type, 1);
    world->then = claim_one;
    world->then_ms = world_ms(world) + 500;
    expect(world, "queues", CULEX_SEVERITY_OK,
           "workers take the waiting runs of 1 queue; runs of 1 queue are at work, as far as their "
           "leases tell; no run waits in 1 queue");
}

static void test_paused_queue_is_a_warning_once_it_holds_runs(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world_enqueue(world, &type, 1);
    claim(world, "numbers", NULL);
    assert_int_equal(culex_client_pause(world->client, "numbers", NULL), CULEX_OK);
    expect(world, "queue-paused", CULEX_SEVERITY_NOTE,
           "queue numbers is paused: 0 runs wait for the end of that");
    enqueue_raw(world, "numbers", "shop.send", 100 * LEASE_MS);
    expect(world, "queue-paused", CULEX_SEVERITY_WARNING,
           "queue numbers is paused: 0 runs wait for the end of that, 1 is scheduled");
    world_enqueue(world, &type, 2);
    expect(world, "queue-paused", CULEX_SEVERITY_WARNING,
           "queue numbers is paused: 1 run waits for the end of that, 1 is scheduled");
    world_pass(world, LEASE_MS + 1000);
    expect(world, "queue-paused", CULEX_SEVERITY_WARNING,
           "queue numbers is paused: 2 runs wait (1 left by a worker that is gone) for the end of "
           "that, 1 is scheduled");
    assert_int_equal(culex_client_pause_for(world->client, "numbers", culex_minutes(2), NULL),
                     CULEX_OK);
    expect(world, "queue-paused", CULEX_SEVERITY_WARNING,
           "queue numbers is paused for another 120 s: 2 runs wait (1 left by a worker that is "
           "gone) for the end of that, 1 is scheduled");
}

static void test_many_paused_queues_are_told_as_the_worst_of_them(void **state)
{
    struct world *world = *state;
    char name[32];
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "q%03d", i);
        enqueue_raw(world, name, "shop.send", 0);
        assert_int_equal(culex_client_pause(world->client, name, NULL), CULEX_OK);
        if (i < 9)
            assert_int_equal(
                culex_client_purge(world->client, name, CULEX_RUN_WAITING, 10, NULL, NULL),
                CULEX_OK);
    }
    culex_doctor_report *report = examine(world);
    assert_int_equal(report->finding_count, 9);
    assert_int_equal(report->findings[0].severity, CULEX_SEVERITY_NOTE);
    assert_int_equal(report->findings[8].severity, CULEX_SEVERITY_WARNING);
    assert_string_equal(report->findings[8].text, "2 more like these");
    culex_doctor_report_free(report);
}

/* --- unknown jobs -------------------------------------------------------------------------- */

static void test_runs_of_a_job_that_no_worker_knows_are_told(void **state)
{
    struct world *world = *state;
    enqueue_raw(world, "mail", "shop.newer", 0);
    claim(world, "mail", unknown);
    expect(world, "queue-unknown-job", CULEX_SEVERITY_NOTE,
           "queue mail: 1 run of job shop.newer given back by workers that have no handler for it, "
           "up to 1 time");
    for (int i = 0; i < 2; i++) {
        world_pass(world, 1000);
        claim(world, "mail", unknown);
    }
    enqueue_raw(world, "mail", "shop.newer", 0);
    claim(world, "mail", unknown);
    expect(
        world, "queue-unknown-job", CULEX_SEVERITY_WARNING,
        "queue mail: 2 runs of job shop.newer given back by workers that have no handler for it, "
        "up to 3 times");
}

/* Two findings of one queue: that nobody takes its runs, and that workers give them back. Who has
 * done that is gone, and is not told as if it were at work. */
static void test_runs_that_were_given_back_by_who_is_gone(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    enqueue_raw(world, "mail", "shop.newer", 0);
    claim(world, "mail", unknown);
    world_enqueue(world, &type, 1);
    claim(world, "numbers", "not understood: n: too large");
    world_pass(world, 1000);
    culex_doctor_report *report = examine(world);
    assert_int_equal(report->finding_count, 4);
    assert_string_equal(
        report->findings[0].text,
        "queue mail: 1 run waits, none is at work, and no worker took one within 1000 ms");
    assert_string_equal(report->findings[2].text,
                        "queue mail: 1 run of job shop.newer given back by former workers that had "
                        "no handler for it, up to 1 time");
    assert_non_null(
        strstr(report->findings[3].text, " by former workers that could not read it, "));
    culex_doctor_report_free(report);
}

/* Each version of a job for itself: the snoozes of one do not hide that no worker reads another. */
static void test_runs_that_no_worker_understands_are_told(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world_enqueue(world, &type, 1);
    for (int i = 0; i < 4; i++) {
        claim(world, "numbers", "");
        world_pass(world, 1000);
    }
    claim(world, "numbers", "");
    type.fingerprint = UINT64_C(0x9c1f0e7ab2d44e10);
    world_enqueue(world, &type, 2);
    claim(world, "numbers", "not understood: n: too \x1b large");
    expect(world, "queue-not-understood", CULEX_SEVERITY_NOTE,
           "queue numbers: 1 run of job t.number given back by workers that cannot read it, up to "
           "1 time "
           "(version 9c1f0e7ab2d44e10: n: too \\x1b large)");
}

/* Not for want of a newer program. */
static void test_runs_that_lack_a_key_are_told(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.fingerprint = UINT64_C(0x9c1f0e7ab2d44e10);
    world_enqueue(world, &type, 1);
    claim(world, "numbers", "not understood: no key: n: sealed by key 'old', which is not there");
    expect(world, "queue-no-key", CULEX_SEVERITY_NOTE,
           "queue numbers: 1 run of job t.number given back by workers that do not have its key, "
           "up to 1 time (version 9c1f0e7ab2d44e10: n: sealed by key 'old', which is not there)");
}

static void test_snoozed_run_is_not_of_an_unknown_job(void **state)
{
    struct world *world = *state;
    enqueue_raw(world, "mail", "shop.send", 0);
    claim(world, "mail", "");
    expect(world, "queues", CULEX_SEVERITY_OK,
           "no run waits in 1 queue; whether workers serve it is not known");
}

/* Nobody knows whether a worker has its job: who claims wants another one. */
static void test_run_that_claims_pass_by_is_not_of_an_unknown_job(void **state)
{
    struct world *world = *state;
    const char *const jobs[] = {"shop.other"};
    const culex_claim_options options = {.jobs = jobs, .job_count = 1};
    culex_claim *none;
    enqueue_raw(world, "mail", "shop.send", 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(culex_client_claim(world->client, "mail", &options, &none, NULL),
                         CULEX_OK);
        assert_null(none);
        world_pass(world, i < 3 ? 1100 : 0);
    }
    expect(world, "queues", CULEX_SEVERITY_OK,
           "no run waits in 1 queue; whether workers serve it is not known");
}

static void test_name_of_a_job_does_nothing_to_a_terminal(void **state)
{
    struct world *world = *state;
    enqueue_raw(world, "mail", "\x1b[2J\xe2\x80\xae", 0);
    claim(world, "mail", unknown);
    culex_doctor_report *report = examine(world);
    char *text = culex_doctor_report_text(report);
    assert_int_equal(findings_count(report, "queue-unknown-job"), 1);
    assert_null(strchr(text, '\x1b'));
    assert_null(strstr(text, "\xe2\x80\xae"));
    free(text);
    culex_doctor_report_free(report);
}

/* --- bounds -------------------------------------------------------------------------------- */

static void test_many_queues_are_told_together(void **state)
{
    struct world *world = *state;
    char name[32];
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "q%03d", i);
        enqueue_raw(world, name, "shop.send", 0);
    }
    culex_doctor_report *report = examine(world);
    assert_int_equal(findings_count(report, "queue-unserved"), 9);
    assert_string_equal(report->findings[8].text, "248 more like these");
    assert_int_equal(report->finding_count, 10);
    assert_string_equal(report->findings[9].text, "the first 256 of 300 queues were looked at");
    culex_doctor_report_free(report);
}

/* --- a store in trouble ---------------------------------------------------------------------- */

static unsigned answers_left;
static culex_status refusal = CULEX_EDENIED;

static culex_status stats_refused(struct culex_store *base, const char *queue,
                                  culex_queue_stats *ret_stats, culex_error *error)
{
    struct culex_store *store = ((struct world *)base)->store;
    if (answers_left == 0)
        return culex__fail(error, refusal, "refused");
    answers_left--;
    return store->ops->stats(store, queue, ret_stats, error);
}

/* Never that all is well, nor that nobody comes. */
static void test_store_that_refuses_midway_is_a_note(void **state)
{
    struct world *world = *state;
    static struct culex_store_ops ops;
    const struct culex_store_ops *sound = world->base.ops;
    culex_job_type type = number_type();
    world_enqueue(world, &type, 1);
    ops = *sound;
    ops.stats = stats_refused;
    world->base.ops = &ops;
    for (unsigned answers = 0; answers < 10; answers++) {
        answers_left = answers;
        expect(world, "queues", CULEX_SEVERITY_NOTE,
               "not all that waits in the queues is known: refused");
    }
    world->base.ops = sound;
}

/* Who reads is not at fault for everything. */
static void test_advice_is_about_what_the_store_refused(void **state)
{
    struct world *world = *state;
    static const struct {
        culex_status refusal;
        const char *advice;
    } rows[] = {{CULEX_EDENIED, "ask again, as a user that may read them"},
                {CULEX_EVERSION, "let programs of that version empty the queue"},
                {CULEX_EBUSY, "ask again"}};
    static struct culex_store_ops ops;
    const struct culex_store_ops *sound = world->base.ops;
    culex_job_type type = number_type();
    world_enqueue(world, &type, 1);
    ops = *sound;
    ops.stats = stats_refused;
    world->base.ops = &ops;
    answers_left = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        refusal = rows[i].refusal;
        culex_doctor_report *report = examine(world);
        assert_string_equal(report->findings[0].text,
                            "not all that waits in the queues is known: refused");
        assert_string_equal(report->findings[0].advice, rows[i].advice);
        culex_doctor_report_free(report);
    }
    refusal = CULEX_EDENIED;
    world->base.ops = sound;
}

/* --- batches --------------------------------------------------------------------------------- */

static void batch_order(struct world *world, const char *queue, uint8_t which,
                        enum culex_batch_act act)
{
    const struct culex_follow_up call = {
        "away",
        {.job = "shop.sum", .attempts_max = 1, .tags = "", .payload = "{}", .payload_len = 2}};
    const struct culex_batch_order order = {.act = act,
                                            .queue = queue,
                                            .id = {{which}},
                                            .open_ms = 86400000,
                                            .keep_ms = 86400000,
                                            .when = CULEX_BATCH_ON_COMPLETE,
                                            .call = &call};
    assert_int_equal(world->store->ops->batch(world->store, &order, NULL), CULEX_OK);
}

static void step(struct world *world, const char *queue)
{
    struct culex_step_reply reply;
    struct culex_step step = {
        .queue = queue, .session = "00000000000000bb", .nonce = 1, .lease_ms = LEASE_MS};
    assert_int_equal(world->store->ops->step(world->store, &step, &reply, NULL), CULEX_OK);
    world->store->ops->step_release(world->store, &reply);
}

/* The batch's own queue has nothing left to do, and nobody would think of a worker for it. */
static void test_callback_that_waits_for_a_worker_of_the_batchs_queue_is_told(void **state)
{
    struct world *world = *state;
    batch_order(world, "net", 1, CULEX_BATCH_OPEN);
    batch_order(world, "net", 1, CULEX_BATCH_CALL);
    expect(world, "queues", CULEX_SEVERITY_OK,
           "no run waits in 1 queue; whether workers serve it is not known");
    batch_order(world, "net", 1, CULEX_BATCH_CLOSE);
    int64_t before_ms = world_ms(world);
    expect(world, "queue-callbacks", CULEX_SEVERITY_WARNING,
           "queue net: 1 callback of a batch or follow-up is to be brought in by a worker of this "
           "queue, and none did within 1000 ms");
    assert_in_range(world_ms(world) - before_ms, 1000, 1100);
    batch_order(world, "net", 2, CULEX_BATCH_OPEN);
    batch_order(world, "net", 2, CULEX_BATCH_CALL);
    batch_order(world, "net", 2, CULEX_BATCH_CLOSE);
    expect(world, "queue-callbacks", CULEX_SEVERITY_WARNING,
           "queue net: 2 callbacks of batches or follow-ups are to be brought in by a worker of "
           "this queue, and none did within 1000 ms");
    step(world, "net");
    culex_doctor_report *report = examine(world);
    assert_int_equal(findings_count(report, "queue-callbacks"), 0);
    culex_doctor_report_free(report);
}

/* While the doctor watches. */
static culex_status step_first(struct culex_store *store, const char *queue,
                               struct culex_batch_review *ret_review, culex_error *error)
{
    static unsigned looks;
    struct world *world = (struct world *)store;
    if (++looks == 2)
        step(world, queue);
    return world->store->ops->batch_review(world->store, queue, ret_review, error);
}

static void test_callback_that_is_brought_in_time_is_no_finding(void **state)
{
    struct world *world = *state;
    static struct culex_store_ops ops;
    const struct culex_store_ops *sound = world->base.ops;
    batch_order(world, "away", 1, CULEX_BATCH_OPEN);
    batch_order(world, "away", 1, CULEX_BATCH_CALL);
    batch_order(world, "away", 1, CULEX_BATCH_CLOSE);
    ops = *sound;
    ops.batch_review = step_first;
    world->base.ops = &ops;
    culex_doctor_report *report = examine(world);
    world->base.ops = sound;
    assert_int_equal(findings_count(report, "queue-callbacks"), 0);
    culex_doctor_report_free(report);
}

static void test_batch_that_nobody_closes_is_told_after_an_hour(void **state)
{
    struct world *world = *state;
    batch_order(world, "net", 1, CULEX_BATCH_OPEN);
    batch_order(world, "net", 2, CULEX_BATCH_OPEN);
    batch_order(world, "net", 2, CULEX_BATCH_CLOSE);
    world_pass(world, 3599999);
    expect(world, "queues", CULEX_SEVERITY_OK,
           "no run waits in 1 queue; whether workers serve it is not known");
    world_pass(world, 1);
    expect(world, "queue-batches", CULEX_SEVERITY_WARNING,
           "queue net: 1 batch is open, and has been for 1 hour: was culex_batch_close forgotten, "
           "or did a program die before it?");
    world_pass(world, 2 * 3600000);
    batch_order(world, "net", 3, CULEX_BATCH_OPEN);
    expect(world, "queue-batches", CULEX_SEVERITY_WARNING,
           "queue net: 2 batches are open, the oldest for 3 hours: was culex_batch_close "
           "forgotten, or did a program die before it?");
    batch_order(world, "net", 1, CULEX_BATCH_CLOSE);
    expect(world, "queues", CULEX_SEVERITY_OK,
           "no run waits in 1 queue; whether workers serve it is not known");
}

static void test_empty_store_is_in_order(void **state)
{
    expect(*state, "queues", CULEX_SEVERITY_OK, "no queue has been used so far");
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(test_runs_that_nobody_takes_are_told),
        UNIT(test_run_that_is_due_and_was_moved_by_nobody_is_told),
        UNIT(test_queue_with_a_mistyped_name_is_told_with_the_one_that_was_meant),
        UNIT(test_queue_with_a_worker_is_no_finding),
        UNIT(test_queue_with_a_lease_is_not_said_to_be_served),
        UNIT(test_run_past_its_lease_waits_too),
        UNIT(test_worker_that_takes_back_what_another_left_is_no_finding),
        UNIT(test_queues_without_runs_are_told_apart),
        UNIT(test_paused_queue_is_a_warning_once_it_holds_runs),
        UNIT(test_many_paused_queues_are_told_as_the_worst_of_them),
        UNIT(test_runs_of_a_job_that_no_worker_knows_are_told),
        UNIT(test_runs_that_were_given_back_by_who_is_gone),
        UNIT(test_runs_that_no_worker_understands_are_told),
        UNIT(test_runs_that_lack_a_key_are_told),
        UNIT(test_snoozed_run_is_not_of_an_unknown_job),
        UNIT(test_run_that_claims_pass_by_is_not_of_an_unknown_job),
        UNIT(test_name_of_a_job_does_nothing_to_a_terminal),
        UNIT(test_many_queues_are_told_together),
        UNIT(test_store_that_refuses_midway_is_a_note),
        UNIT(test_advice_is_about_what_the_store_refused),
        UNIT(test_callback_that_waits_for_a_worker_of_the_batchs_queue_is_told),
        UNIT(test_callback_that_is_brought_in_time_is_no_finding),
        UNIT(test_batch_that_nobody_closes_is_told_after_an_hour),
        UNIT(test_empty_store_is_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
