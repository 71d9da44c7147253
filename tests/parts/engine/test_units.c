/* Units that a worker offers: who has them, and that they come back however a run ends. On a driven
 * clock. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core/offer.h"
#include "store/worker_sheet.h"
#include "world.h"
#include "worker/units.h"

enum { HOLD_MS = 1000, TIMEOUT_MS = 300 };

static const culex_need one_gpu = {"gpu", 1};
static const culex_need two_gpus = {"gpu", 2};

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

static culex_job_type needy_type(const culex_need *need)
{
    culex_job_type type = number_type();
    type.needs = need;
    type.need_count = 1;
    type.retry.max = 0;
    return type;
}

static culex_outcome act_hold(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    (void)n;
    world->hang_ms = HOLD_MS;
    return CULEX_DONE;
}

static culex_outcome act_hold_and_fail(struct world *world, culex_run *run, int64_t n)
{
    (void)n;
    world->hang_ms = HOLD_MS;
    return culex_run_fail(run, "no such mailbox");
}

static culex_outcome act_hold_and_crash(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    (void)n;
    world->hang_ms = HOLD_MS;
    world->manner = WORLD_CRASHING;
    return CULEX_DONE;
}

static void work(struct world *world, const culex_job_type *type, const char *const *offers,
                 size_t count)
{
    const culex_worker_options options = {
        .concurrency = 8, .drain = true, .offers = offers, .offer_count = count};
    world_worker(world, options, type);
    culex__worker_set_executor(world->worker, executor_killing_create);
    world_run(world);
}

/* So many runs, of which two may be at work at a time, begin in pairs, `apart_ms` apart. */
static void expect_pairs(struct world *world, const culex_job_type *type, int64_t apart_ms,
                         culex_run_state state)
{
    static const char *const offers[] = {"gpu=2"};
    culex_uuid ids[6];
    for (int i = 0; i < 6; i++)
        ids[i] = world_enqueue(world, type, i);
    work(world, type, offers, 1);
    assert_int_equal(world->calls, 6);
    for (int i = 0; i < 6; i++) {
        assert_in_range(world->call_ms[i], (i / 2) * apart_ms, (i / 2) * (apart_ms + 60) + 20);
        assert_int_equal(world_state(world, ids[i]), state);
    }
}

static void test_units_come_back_with_a_success(void **state)
{
    struct world *world = *state;
    culex_job_type type = needy_type(&one_gpu);
    world->act = act_hold;
    expect_pairs(world, &type, HOLD_MS, CULEX_RUN_DONE);
}

static void test_units_come_back_with_a_failure(void **state)
{
    struct world *world = *state;
    culex_job_type type = needy_type(&one_gpu);
    world->act = act_hold_and_fail;
    expect_pairs(world, &type, HOLD_MS, CULEX_RUN_DEAD);
}

static void test_units_come_back_with_a_crash(void **state)
{
    struct world *world = *state;
    culex_job_type type = needy_type(&one_gpu);
    world->act = act_hold_and_crash;
    expect_pairs(world, &type, HOLD_MS, CULEX_RUN_DEAD);
}

/* When the handler is gone: one that goes on after its timeout still has them. */
static void test_units_come_back_when_a_timeout_has_ended_the_handler(void **state)
{
    struct world *world = *state;
    culex_job_type type = needy_type(&one_gpu);
    type.timeout_ms = TIMEOUT_MS;
    world->act = act_hold;
    world->manner = WORLD_OBEDIENT;
    expect_pairs(world, &type, TIMEOUT_MS + 100, CULEX_RUN_DEAD);
}

/* What it can run it runs; what is left is told, and stays for others. */
static void test_drain_ends_when_only_what_is_not_offered_is_left(void **state)
{
    static const char *const offers[] = {"gpu=1"};
    const culex_worker_options draining = {.drain = true, .offers = offers, .offer_count = 1};
    struct world *world = *state;
    culex_job_type large = needy_type(&two_gpus), small = needy_type(&one_gpu);
    culex_error error = {0};
    small.name = small.wire = "t.small";
    culex_uuid left = world_enqueue(world, &large, 1);
    culex_uuid done = world_enqueue(world, &small, 2);
    culex_worker *worker = world_worker(world, draining, &large);
    assert_int_equal(culex_worker_register(worker, &small, number_call, number_handler, world), 0);
    assert_int_equal(culex_worker_run(worker, &error), CULEX_ELEFT);
    assert_string_equal(error.text,
                        "nothing is left but 1 run that this worker lacks the offers for, of job "
                        "t.number");
    assert_true(world_ms(world) < 1000);
    assert_int_equal(world_state(world, done), CULEX_RUN_DONE);
    assert_int_equal(world_state(world, left), CULEX_RUN_WAITING);
    culex_worker_free(worker);
}

static void test_run_that_needs_all_units_runs_alone(void **state)
{
    static const char *const offers[] = {"gpu=3"};
    struct world *world = *state;
    culex_job_type type = needy_type(&two_gpus);
    world->act = act_hold;
    for (int i = 0; i < 3; i++)
        world_enqueue(world, &type, i);
    work(world, &type, offers, 1);
    for (int i = 0; i < 3; i++)
        assert_in_range(world->call_ms[i], i * HOLD_MS, i * (HOLD_MS + 60) + 20);
}

static void stop_worker(struct world *world)
{
    culex_worker_stop(world->worker);
}

/* A queue whose calls fail was offered all that is free, and would keep it for as long. */
static void test_queue_in_trouble_keeps_nothing_from_others(void **state)
{
    static const char *const offers[] = {"gpu=1"};
    struct world *world = *state;
    culex_job_type jammed = needy_type(&one_gpu), needy = needy_type(&one_gpu);
    jammed.queue = world->fault_queue = "jammed";
    jammed.name = jammed.wire = "t.jammed";
    world->fault = WORLD_TEAR;
    world->fault_count = UINT_MAX;
    world->then = stop_worker;
    world->then_ms = 5000;
    culex_uuid id = world_enqueue(world, &needy, 1);
    culex_worker *worker =
        world_worker(world, (culex_worker_options){.offers = offers, .offer_count = 1}, &jammed);
    assert_int_equal(culex_worker_register(worker, &needy, number_call, number_handler, world), 0);
    world_run(world);
    assert_int_equal(world->calls, 1);
    assert_in_range(world->call_ms[0], 0, 500);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
}

/* It says so at its start, and leaves the runs to others. */
static void test_worker_that_offers_too_little_says_so(void **state)
{
    static const char *const offers[] = {"gpu=1"};
    struct world *world = *state;
    culex_job_type type = needy_type(&two_gpus);
    culex_uuid id = world_enqueue(world, &type, 1);
    world->then = stop_worker;
    world->then_ms = 5000;
    world_worker(world, (culex_worker_options){.offers = offers, .offer_count = 1}, &type);
    world_run(world);
    assert_int_equal(world->calls, 0);
    assert_int_equal(world_state(world, id), CULEX_RUN_WAITING);
    assert_true(world_log_has(world, "job t.number needs gpu:2, and this worker offers gpu:1: it "
                                     "will never run it; begin one with --offer"));
}

/* As culex_client_workers reads it. */
static void test_registry_tells_what_a_worker_offers(void **state)
{
    static struct culex_sheet read;
    char sheet[CULEX_STORE_SHEET_MAX];
    culex_worker_info info = {
        .name = "n", .host = "h", .version = "v", .isolation = "none", .offers = "gpu:2,tape:1"};
    struct culex_worker_row row = {.id = "1", .sheet = sheet};
    (void)state;
    row.sheet_len = culex__sheet_write(&info, sheet);
    culex__sheet_read(&row, &read);
    assert_string_equal(read.info.offers, "gpu:2,tape:1");
    info.offers = "";
    row.sheet_len = culex__sheet_write(&info, sheet);
    culex__sheet_read(&row, &read);
    assert_string_equal(read.info.offers, "");
}

/* --- what may be offered -------------------------------------------------------------------- */

static void assert_offer_refused(struct culex_needs *offers, const char *text, const char *why)
{
    culex_error error = {0};
    assert_int_equal(culex__offer_add(offers, text, &error), CULEX_EUSAGE);
    if (strstr(error.text, why) == NULL)
        fail_msg("'%s': %s", text, error.text);
}

static void test_offer_out_of_form_is_refused_with_a_reason(void **state)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "does not say how many units: write NAME=UNITS, as gpu=2"},
        {"gpu", "offer 'gpu' does not say how many units"},
        {"gpu:2", "offer 'gpu:2' does not say how many units"},
        {"=2", "offer '=2': the name is 1 to 32 of a to z, 0 to 9, '_' and '-'"},
        {"GPU=2", "offer 'GPU=2': the name is 1 to 32"},
        {"abcdefghijklmnopqrstuvwxyz0123456=1", "the name is 1 to 32"},
        {"gpu=0", "'0' is not a whole number of units from 1 to 1000000; leave the offer out"},
        {"gpu=", "'' is not a whole number of units"},
        {"gpu=-1", "'-1' is not a whole number of units"},
        {"gpu=1.5", "'1.5' is not a whole number of units"},
        {"gpu=2 ", "'2 ' is not a whole number of units"},
        {"gpu=1000001", "'1000001' is not a whole number of units from 1 to 1000000"},
        {"gpu=99999999999999999999", "is not a whole number of units"},
    };
    struct culex_needs offers = {.count = 0};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_offer_refused(&offers, bad[i].text, bad[i].why);
    assert_int_equal(offers.count, 0);
    assert_int_equal(culex__offer_add(&offers, "gpu=1000000", NULL), CULEX_OK);
    assert_offer_refused(&offers, "gpu=1", "offer 'gpu' is there twice");
    for (char name[] = "a=1"; offers.count < CULEX_OFFERS_MAX; name[0]++)
        assert_int_equal(culex__offer_add(&offers, name, NULL), CULEX_OK);
    assert_offer_refused(&offers, "z=1", "offer 'z=1' is one too many: a worker has 16");
}

static void test_worker_refuses_such_offers(void **state)
{
    static const char *const twice[] = {"gpu=1", "gpu=2"};
    struct world *world = *state;
    culex_worker *worker = NULL;
    culex_error error = {0};
    const culex_worker_options options = {.offers = twice, .offer_count = 2};
    assert_int_equal(culex_worker_create(&options, &worker, &error), CULEX_EUSAGE);
    assert_non_null(strstr(error.text, "offer 'gpu' is there twice"));
    (void)world;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_units_come_back_with_a_success),
        TEST(test_units_come_back_with_a_failure),
        TEST(test_units_come_back_with_a_crash),
        TEST(test_units_come_back_when_a_timeout_has_ended_the_handler),
        TEST(test_drain_ends_when_only_what_is_not_offered_is_left),
        TEST(test_run_that_needs_all_units_runs_alone),
        TEST(test_queue_in_trouble_keeps_nothing_from_others),
        TEST(test_worker_that_offers_too_little_says_so),
        TEST(test_registry_tells_what_a_worker_offers),
        TEST(test_offer_out_of_form_is_refused_with_a_reason),
        TEST(test_worker_refuses_such_offers),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
