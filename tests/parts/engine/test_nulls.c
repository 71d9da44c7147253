/* A NULL that a program passes by mistake does no harm: see culex/error.h. Each pointer of each
 * public function, one at a time; tests/tools/check_nulls.py knows who is missing here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <culex/culex.h>
#include <culex/maintain.h>
#include <culex/sqlite.h>

#include "world.h"

/* Refused, with a text. */
#define REFUSED(call)                                                                              \
    do {                                                                                           \
        culex_error error = {0};                                                                   \
        assert_int_equal(call, CULEX_EINVAL);                                                      \
        assert_int_equal(error.code, CULEX_EINVAL);                                                \
        assert_string_not_equal(error.text, "");                                                   \
    } while (0)

/* Refused in these words. */
#define REFUSED_AS(words, call)                                                                    \
    do {                                                                                           \
        culex_error error = {0};                                                                   \
        assert_int_equal(call, CULEX_EINVAL);                                                      \
        assert_string_equal(error.text, words);                                                    \
    } while (0)

static const culex_uuid no_id;
static const culex_move to_now = {.has_delay = true};
static const culex_bulk retry = {.action = CULEX_BULK_RETRY};
static culex_bulk_cursor start;
static culex_job_type type;

/* --- types and codec ---------------------------------------------------------------------- */

static void test_ids_ignore_or_refuse_each_null(void **state)
{
    culex_uuid id = no_id;
    (void)state;
    culex_uuid_format(id, NULL);
    assert_false(culex_uuid_parse(NULL, &id));
    assert_false(culex_uuid_parse("00000000-0000-0000-0000-000000000000", NULL));
}

static void test_arenas_and_texts_ignore_each_null(void **state)
{
    (void)state;
    culex_arena_free(NULL);
    culex_arena_reset(NULL);
    assert_null(culex_arena_alloc(NULL, 8));
    culex_buf_init(NULL, 0);
    culex_buf_release(NULL);
}

static void test_codec_refuses_each_null(void **state)
{
    const struct number value = {7};
    const void *decoded;
    culex_arena *arena = culex_arena_create();
    culex_buf text;
    (void)state;
    culex_buf_init(&text, 0);
    REFUSED(culex_encode(NULL, &value, &text, &error));
    REFUSED(culex_encode(&number_struct, NULL, &text, &error));
    REFUSED(culex_encode(&number_struct, &value, NULL, &error));
    assert_int_equal(culex_encode(&number_struct, NULL, &text, NULL), CULEX_EINVAL);
    REFUSED(culex_decode(NULL, arena, "{}", 2, &decoded, &error));
    REFUSED(culex_decode(&number_struct, NULL, "{}", 2, &decoded, &error));
    REFUSED(culex_decode(&number_struct, arena, NULL, 2, &decoded, &error));
    REFUSED(culex_decode(&number_struct, arena, "{}", 2, NULL, &error));
    assert_int_equal(text.len, 0);
    culex_buf_release(&text);
    culex_arena_free(arena);
}

/* --- client ------------------------------------------------------------------------------- */

static void test_schemas_refuse_each_null(void **state)
{
    culex_schema *schema = NULL;
    char *text = NULL;
    size_t len;
    (void)state;
    REFUSED(culex_schema_write(NULL, &text, &len, &error));
    REFUSED(culex_schema_write(&type, NULL, &len, &error));
    REFUSED(culex_schema_write(&type, &text, NULL, &error));
    REFUSED(culex_schema_read(NULL, 1, &schema, &error));
    REFUSED(culex_schema_read("{}", 2, NULL, &error));
    assert_int_equal(culex_schema_read("{}", 2, &schema, NULL), CULEX_EDECODE);
    REFUSED(culex_schema_hide(NULL, schema, &error));
    assert_null(culex_schema_type(NULL));
    assert_false(culex_schema_is_retired(NULL));
    assert_false(culex_schema_default_is_withheld(NULL));
    assert_int_equal(culex_schema_value_size(NULL), 0);
    culex_schema_free(NULL);
}

static bool run_seen(const culex_run_info *run, void *user)
{
    (void)run, (void)user;
    return true;
}

static bool spooled_seen(const culex_spool_run *run, void *user)
{
    (void)run;
    (void)user;
    return true;
}

static bool queue_seen(const char *queue, void *user)
{
    (void)queue, (void)user;
    return true;
}

static bool schema_seen(const culex_live_schema *schema, void *user)
{
    (void)schema, (void)user;
    return true;
}

static bool limit_seen(const culex_limit_info *limit, void *user)
{
    (void)limit, (void)user;
    return true;
}

static bool limit_key_seen(const culex_limit_key_info *key, void *user)
{
    (void)key, (void)user;
    return true;
}

static void test_null_for_a_limit_is_refused(void **state)
{
    culex_client *client = NULL;
    (void)state;
    REFUSED(culex_client_limits(NULL, "q", limit_seen, NULL, &error));
    REFUSED(culex_client_limit_keys(NULL, "q", "n", NULL, limit_key_seen, NULL, &error));
    REFUSED(culex_client_limit_set(NULL, "q", "n", NULL, &error));
    assert_int_equal(culex_client_open("memory:", NULL, &client, NULL), CULEX_OK);
    REFUSED(culex_client_limits(client, NULL, limit_seen, NULL, &error));
    REFUSED_AS("no visitor", culex_client_limits(client, "q", NULL, NULL, &error));
    REFUSED(culex_client_limit_keys(client, NULL, "n", NULL, limit_key_seen, NULL, &error));
    REFUSED_AS("no limit",
               culex_client_limit_keys(client, "q", NULL, NULL, limit_key_seen, NULL, &error));
    REFUSED_AS("no visitor", culex_client_limit_keys(client, "q", "n", NULL, NULL, NULL, &error));
    REFUSED(culex_client_limit_set(client, NULL, "n", NULL, &error));
    REFUSED_AS("no limit", culex_client_limit_set(client, "q", NULL, NULL, &error));
    culex_client_close(client);
}

static bool metadata_seen(const culex_metadata_info *metadata, void *user)
{
    (void)metadata, (void)user;
    return true;
}

static void test_null_for_metadata_is_refused(void **state)
{
    culex_client *client = NULL;
    const culex_job_type job = number_type();
    culex_job_type keeper = job;
    struct number value = {7};
    uint64_t version = 0;
    culex_arena *arena = culex_arena_create();
    (void)state;
    keeper.metadata = &number_struct;
    REFUSED(culex_client_metadata_read(NULL, &keeper, arena, &value, &version, &error));
    REFUSED(culex_client_metadata_write(NULL, &keeper, &value, &version, &error));
    REFUSED(culex_client_metadata(NULL, "q", metadata_seen, NULL, &error));
    REFUSED(culex_client_metadata_delete(NULL, "q", "j", &error));
    assert_int_equal(culex_client_open("memory:", NULL, &client, NULL), CULEX_OK);
    REFUSED_AS("no job", culex_client_metadata_read(client, NULL, arena, &value, &version, &error));
    REFUSED(culex_client_metadata_read(client, &job, arena, &value, &version, &error));
    REFUSED(culex_client_metadata_read(client, &keeper, NULL, &value, &version, &error));
    REFUSED(culex_client_metadata_read(client, &keeper, arena, NULL, &version, &error));
    REFUSED(culex_client_metadata_read(client, &keeper, arena, &value, NULL, &error));
    REFUSED_AS("no job", culex_client_metadata_write(client, NULL, &value, &version, &error));
    REFUSED(culex_client_metadata_write(client, &job, &value, &version, &error));
    REFUSED(culex_client_metadata_write(client, &keeper, NULL, &version, &error));
    REFUSED(culex_client_metadata_write(client, &keeper, &value, NULL, &error));
    REFUSED(culex_client_metadata(client, NULL, metadata_seen, NULL, &error));
    REFUSED_AS("no visitor", culex_client_metadata(client, "q", NULL, NULL, &error));
    REFUSED(culex_client_metadata_delete(client, NULL, "j", &error));
    REFUSED_AS("no job", culex_client_metadata_delete(client, "q", NULL, &error));
    culex_client_close(client);
    culex_arena_free(arena);
}

static void test_null_for_events_is_refused(void **state)
{
    culex_client *client = NULL;
    culex_events *events;
    (void)state;
    REFUSED(culex_client_events_keep(NULL, "q", 1, &error));
    REFUSED(culex_client_events(NULL, "q", 0, 1, 0, &events, &error));
    culex_events_free(NULL);
    assert_int_equal(culex_client_open("memory:", NULL, &client, NULL), CULEX_OK);
    REFUSED(culex_client_events_keep(client, NULL, 1, &error));
    REFUSED(culex_client_events(client, NULL, 0, 1, 0, &events, &error));
    REFUSED_AS("no place for the events", culex_client_events(client, "q", 0, 1, 0, NULL, &error));
    culex_client_close(client);
}

static void test_null_for_claims_is_refused(void **state)
{
    static const char token[] =
        "c1.01a1ee57-0e80-7cd1-bfc4-00000000000b.1.00000000000000aa.0.0.30000.numbers";
    const culex_claim_options no_job = {.jobs = (const char *const[]){NULL}, .job_count = 1};
    culex_client *client = NULL;
    culex_claim *claim = NULL;
    const culex_claim empty = {.queue = "q", .job = "j"};
    culex_claim_pulse pulse;
    char *text;
    (void)state;
    REFUSED(culex_client_claim(NULL, "q", NULL, &claim, &error));
    REFUSED(culex_claim_heartbeat(NULL, token, NULL, &pulse, &error));
    REFUSED(culex_claim_complete(NULL, token, NULL, 0, &error));
    REFUSED(culex_claim_fail(NULL, token, NULL, &error));
    REFUSED(culex_claim_release(NULL, token, 0, &error));
    culex_claim_free(NULL);
    assert_int_equal(culex_client_open("memory:", NULL, &client, NULL), CULEX_OK);
    REFUSED(culex_client_claim(client, NULL, NULL, &claim, &error));
    REFUSED_AS("no place for the claim", culex_client_claim(client, "q", NULL, NULL, &error));
    REFUSED(culex_client_claim(client, "q", &no_job, &claim, &error));
    REFUSED_AS("no claim", culex_claim_params(client, NULL, &text, NULL, &error));
    REFUSED(culex_claim_params(NULL, &empty, &text, NULL, &error));
    REFUSED_AS("no place for the params", culex_claim_params(client, &empty, NULL, NULL, &error));
    REFUSED(culex_claim_heartbeat(client, NULL, NULL, &pulse, &error));
    REFUSED_AS("no place for the pulse", culex_claim_heartbeat(client, token, NULL, NULL, &error));
    REFUSED(culex_claim_complete(client, NULL, NULL, 0, &error));
    REFUSED(culex_claim_fail(client, NULL, NULL, &error));
    REFUSED(culex_claim_release(client, NULL, 0, &error));
    culex_client_close(client);
}

static bool figures_seen(const culex_figures *figures, void *user)
{
    (void)figures, (void)user;
    return true;
}

static void test_null_for_figures_is_refused(void **state)
{
    culex_client *client = NULL;
    culex_figures figures;
    (void)state;
    REFUSED(culex_client_figures(NULL, "q", NULL, 1, &figures, &error));
    REFUSED(culex_client_figures_by_job(NULL, "q", 1, figures_seen, NULL, &error));
    assert_int_equal(culex_client_open("memory:", NULL, &client, NULL), CULEX_OK);
    REFUSED(culex_client_figures(client, NULL, NULL, 1, &figures, &error));
    REFUSED_AS("no place for the figures",
               culex_client_figures(client, "q", NULL, 1, NULL, &error));
    REFUSED(culex_client_figures_by_job(client, NULL, 1, figures_seen, NULL, &error));
    REFUSED_AS("no visitor", culex_client_figures_by_job(client, "q", 1, NULL, NULL, &error));
    culex_client_close(client);
}

static void test_null_for_log_lines_is_refused(void **state)
{
    culex_client *client = NULL;
    culex_run_lines *lines = NULL;
    const culex_uuid id = {{0}};
    (void)state;
    REFUSED(culex_client_run_log(NULL, "q", id, &lines, &error));
    assert_int_equal(culex_client_open("memory:", NULL, &client, NULL), CULEX_OK);
    REFUSED(culex_client_run_log(client, NULL, id, &lines, &error));
    REFUSED_AS("no place for the lines", culex_client_run_log(client, "q", id, NULL, &error));
    culex_run_lines_free(NULL);
    culex_client_close(client);
}

static void test_null_for_a_transfer_is_refused(void **state)
{
    culex_client *client = NULL;
    culex_transfer_run run = {.key = NULL};
    size_t done;
    (void)state;
    REFUSED(culex_client_transfer(NULL, "q", &run, 1, CULEX_DAY, &done, &error));
    assert_int_equal(culex_client_open("memory:", NULL, &client, NULL), CULEX_OK);
    REFUSED(culex_client_transfer(client, NULL, &run, 1, CULEX_DAY, &done, &error));
    REFUSED_AS("no runs", culex_client_transfer(client, "q", NULL, 1, CULEX_DAY, &done, &error));
    REFUSED_AS("a run without an idempotency key could come twice",
               culex_client_transfer(client, "q", &run, 1, CULEX_DAY, NULL, &error));
    run.key = "k";
    REFUSED_AS("no job", culex_client_transfer(client, "q", &run, 1, CULEX_DAY, NULL, &error));
    culex_client_close(client);
}

static void test_null_for_a_schema_is_refused(void **state)
{
    culex_client *client = NULL;
    culex_schemas *schemas = NULL;
    char *text = NULL;
    size_t len = 0;
    (void)state;
    REFUSED(culex_client_schemas(NULL, "q", &schemas, &error));
    REFUSED(culex_client_schema_text(NULL, "q", "j", 1, 0, &text, &len, &error));
    assert_int_equal(culex_client_open("memory:", NULL, &client, NULL), CULEX_OK);
    REFUSED(culex_client_schemas(client, NULL, &schemas, &error));
    REFUSED_AS("no place for the schemas", culex_client_schemas(client, "q", NULL, &error));
    REFUSED(culex_client_schema_text(client, NULL, "j", 1, 0, &text, &len, &error));
    REFUSED_AS("no job", culex_client_schema_text(client, "q", NULL, 1, 0, &text, &len, &error));
    REFUSED_AS("no place for the text",
               culex_client_schema_text(client, "q", "j", 1, 0, NULL, &len, &error));
    culex_schemas_free(NULL);
    culex_client_close(client);
}

static bool schedule_seen(const culex_schedule_info *schedule, void *user)
{
    (void)schedule, (void)user;
    return true;
}

static void test_null_for_a_schedule_is_refused(void **state)
{
    culex_client *client = NULL;
    (void)state;
    REFUSED(culex_client_schedules(NULL, "q", schedule_seen, NULL, &error));
    REFUSED(culex_client_schedule_pause(NULL, "q", "j", &error));
    REFUSED(culex_client_schedule_resume(NULL, "q", "j", &error));
    REFUSED(culex_client_schedule_run(NULL, "q", "j", NULL, &error));
    REFUSED(culex_client_schedule_delete(NULL, "q", "j", &error));
    assert_int_equal(culex_client_open("memory:", NULL, &client, NULL), CULEX_OK);
    REFUSED(culex_client_schedules(client, NULL, schedule_seen, NULL, &error));
    REFUSED_AS("no visitor", culex_client_schedules(client, "q", NULL, NULL, &error));
    REFUSED(culex_client_schedule_pause(client, NULL, "j", &error));
    REFUSED(culex_client_schedule_pause(client, "q", NULL, &error));
    REFUSED(culex_client_schedule_resume(client, NULL, "j", &error));
    REFUSED(culex_client_schedule_resume(client, "q", NULL, &error));
    REFUSED(culex_client_schedule_run(client, NULL, "j", NULL, &error));
    REFUSED_AS("no schedule", culex_client_schedule_run(client, "q", NULL, NULL, &error));
    REFUSED(culex_client_schedule_delete(client, NULL, "j", &error));
    REFUSED(culex_client_schedule_delete(client, "q", NULL, &error));
    culex_client_close(client);
}

static bool worker_seen(const culex_worker_info *worker, void *user)
{
    (void)worker, (void)user;
    return true;
}

static void test_null_for_the_workers_is_refused(void **state)
{
    const culex_worker_order order = {.stop = true}, nothing = {0};
    culex_client *client = NULL;
    size_t count = 0;
    (void)state;
    REFUSED(culex_client_workers(NULL, worker_seen, NULL, &error));
    count = 7;
    REFUSED(culex_client_worker_set(NULL, "a1", &order, &count, &error));
    assert_int_equal(count, 0);
    assert_int_equal(culex_client_open("memory:", NULL, &client, NULL), CULEX_OK);
    REFUSED_AS("no visitor", culex_client_workers(client, NULL, NULL, &error));
    REFUSED_AS("no order", culex_client_worker_set(client, "a1", NULL, &count, &error));
    count = 7;
    assert_int_equal(culex_client_worker_set(client, "a1", &order, &count, NULL), CULEX_ENOTFOUND);
    assert_int_equal(count, 0);
    REFUSED_AS("the order leaves the worker as it is: set order.quiet, order.stop or "
               "order.concurrency",
               culex_client_worker_set(client, "a1", &nothing, NULL, &error));
    assert_int_equal(culex_client_worker_set(client, NULL, &order, NULL, NULL), CULEX_OK);
    culex_client_close(client);
}

static void test_null_for_a_client_is_refused(void **state)
{
    const struct number params = {7};
    culex_enqueue_item item = culex_enqueue_item_make(&type, &params, NULL);
    culex_uuid id;
    culex_run_info *run;
    culex_queue_stats stats;
    culex_spool_stats spooled;
    culex_fsck_counts counts;
    culex_doctor_report *report;
    culex_list_cursor cursor = {.place = 0};
    (void)state;
    REFUSED(culex_client_open("memory:", NULL, NULL, &error));
    culex_client_close(NULL);
    culex_run_info_free(NULL);
    REFUSED(culex_client_new_ticket(NULL, &id, &error));
    REFUSED(culex_client_enqueue(NULL, &type, &params, NULL, &id, &error));
    REFUSED(culex_client_enqueue_many(NULL, &type, &params, 8, 1, NULL, &id, NULL, &error));
    REFUSED_AS("no client", culex_client_enqueue_all(NULL, &item, 1, &error));
    REFUSED_AS("no chain", culex_chain_enqueue(NULL, NULL, &params, NULL, &id, &error));
    REFUSED(culex_client_get(NULL, "q", no_id, &run, &error));
    REFUSED(culex_client_list(NULL, "q", CULEX_RUN_DONE, &cursor, 0, run_seen, NULL, &error));
    REFUSED(culex_client_find(NULL, "q", NULL, &cursor, 0, run_seen, NULL, &error));
    REFUSED(culex_client_cancel(NULL, "q", no_id, NULL, &error));
    REFUSED(culex_client_retry(NULL, "q", no_id, &error));
    REFUSED(culex_client_delete(NULL, "q", no_id, &error));
    REFUSED(culex_client_move(NULL, "q", no_id, &to_now, &error));
    REFUSED(culex_client_bulk(NULL, "q", &retry, &start, 0, NULL, NULL, NULL, &error));
    REFUSED_AS("no client", culex_client_spool_stats(NULL, &spooled, &error));
    REFUSED_AS("no client", culex_client_forward(NULL, 0, NULL, &error));
    REFUSED_AS("no client", culex_client_spool_aside(NULL, spooled_seen, NULL, &error));
    REFUSED_AS("no client", culex_client_spool_again(NULL, 0, NULL, &error));
    REFUSED_AS("no client", culex_client_spool_drop(NULL, 0, NULL, &error));
    REFUSED(culex_client_pause(NULL, "q", &error));
    REFUSED(culex_client_pause_for(NULL, "q", CULEX_SECOND, &error));
    REFUSED(culex_client_resume(NULL, "q", &error));
    REFUSED(culex_client_limit(NULL, "q", 1, &error));
    REFUSED(culex_client_dead_limit(NULL, "q", 1, &error));
    REFUSED(culex_client_purge(NULL, "q", CULEX_RUN_DONE, 1, NULL, &error));
    REFUSED(culex_client_stats(NULL, "q", &stats, &error));
    REFUSED(culex_client_queues(NULL, queue_seen, NULL, &error));
    REFUSED(culex_client_doctor(NULL, &report, &error));
    REFUSED(culex_client_fsck(NULL, "q", false, &counts, &error));
    REFUSED(culex_client_live(NULL, NULL, false, schema_seen, NULL, &error));
    REFUSED(culex_sqlite_enqueue(NULL, NULL, &type, &params, NULL, NULL, &error));
    REFUSED(culex_doctor("memory:", NULL, NULL, &error));
    culex_doctor_report_free(NULL);
    assert_null(culex_doctor_report_text(NULL));
}

static void test_null_for_a_batch_is_refused(void **state)
{
    culex_client *client = NULL;
    culex_batch batch = {.queue = "q"};
    culex_batch_info info;
    char text[CULEX_BATCH_TEXT_SIZE] = "x";
    (void)state;
    assert_int_equal(culex_client_open("memory:", NULL, &client, NULL), CULEX_OK);
    REFUSED(culex_batch_open(NULL, "q", NULL, &batch, &error));
    REFUSED(culex_batch_open(client, "q", NULL, NULL, &error));
    REFUSED(culex_batch_open(client, NULL, NULL, &batch, &error));
    REFUSED(culex_batch_close(NULL, &batch, &error));
    REFUSED(culex_batch_close(client, NULL, &error));
    REFUSED(culex_batch_look(NULL, &batch, &info, &error));
    REFUSED(culex_batch_look(client, NULL, &info, &error));
    REFUSED(culex_batch_look(client, &batch, NULL, &error));
    REFUSED(culex_batch_look(client, &batch, &info, &error)); /* as the open that failed left it */
    batch = (culex_batch){.queue = "q"};
    assert_int_equal(culex_batch_look(client, &batch, &info, NULL), CULEX_ENOTFOUND);
    culex_batch_format(NULL, text);
    assert_string_equal(text, "");
    culex_batch_format(&batch, NULL);
    assert_false(culex_batch_parse(NULL, &batch));
    assert_false(culex_batch_parse("q/00000000-0000-0000-0000-000000000000", NULL));
    culex_client_close(client);
}

static void test_null_for_a_wait_is_refused(void **state)
{
    culex_job_type returning = number_type();
    culex_wait wait = {.queue = NULL};
    culex_client *client = NULL;
    culex_arena *arena = culex_arena_create();
    const void *result = NULL;
    (void)state;
    returning.result = &number_struct;
    assert_int_equal(culex_client_open("memory:", NULL, &client, NULL), CULEX_OK);
    REFUSED(culex_client_wait(NULL, &wait, 1, 1, 0, &error));
    REFUSED(culex_client_wait(client, &wait, 1, 1, 0, &error));
    REFUSED_AS("nothing to wait for", culex_client_wait(client, NULL, 1, 1, 0, &error));
    REFUSED(culex_client_wait_result(NULL, &returning, no_id, 0, arena, NULL, &result, &error));
    REFUSED_AS("no job",
               culex_client_wait_result(client, NULL, no_id, 0, arena, NULL, &result, &error));
    REFUSED(culex_client_wait_result(client, &returning, no_id, 0, NULL, NULL, &result, &error));
    REFUSED(culex_client_wait_result(client, &returning, no_id, 0, arena, NULL, NULL, &error));
    assert_int_equal(
        culex_client_wait_result(client, &returning, no_id, 0, arena, NULL, &result, NULL),
        CULEX_ENOTFOUND);
    REFUSED(culex_client_decode_params(NULL, &returning, arena, "{}", 2, &result, &error));
    REFUSED(culex_client_decode_params(client, NULL, arena, "{}", 2, &result, &error));
    REFUSED(culex_client_decode_params(client, &returning, NULL, "{}", 2, &result, &error));
    REFUSED(culex_client_decode_params(client, &returning, arena, NULL, 2, &result, &error));
    REFUSED(culex_client_decode_params(client, &returning, arena, "{}", 2, NULL, &error));
    REFUSED(culex_client_decode_result(NULL, &returning, arena, "{}", 2, &result, &error));
    REFUSED(culex_client_decode_result(client, NULL, arena, "{}", 2, &result, &error));
    REFUSED(culex_client_decode_result(client, &returning, NULL, "{}", 2, &result, &error));
    REFUSED(culex_client_decode_result(client, &returning, arena, NULL, 2, &result, &error));
    REFUSED(culex_client_decode_result(client, &returning, arena, "{}", 2, NULL, &error));
    culex_arena_free(arena);
    culex_client_close(client);
}

static void test_null_beside_a_client_is_refused(void **state)
{
    const struct number params = {7};
    const culex_enqueue_options no_tags = {.tag_count = 2};
    culex_enqueue_item no_type = culex_enqueue_item_make(NULL, &params, NULL);
    culex_enqueue_item no_params = culex_enqueue_item_make(&type, NULL, NULL);
    culex_client *client = NULL;
    culex_fsck_counts counts;
    culex_list_cursor cursor = {.place = 0};
    (void)state;
    assert_int_equal(culex_client_open("memory:", NULL, &client, NULL), CULEX_OK);
    REFUSED(culex_client_new_ticket(client, NULL, &error));
    REFUSED(culex_client_enqueue(client, NULL, &params, NULL, NULL, &error));
    REFUSED(culex_client_enqueue(client, &type, NULL, NULL, NULL, &error));
    REFUSED(culex_client_enqueue(client, &type, &params, &no_tags, NULL, &error));
    REFUSED(culex_client_enqueue_many(client, NULL, &params, 8, 1, NULL, NULL, NULL, &error));
    REFUSED(culex_client_enqueue_many(client, &type, NULL, 8, 1, NULL, NULL, NULL, &error));
    REFUSED_AS("no items", culex_client_enqueue_all(client, NULL, 1, &error));
    REFUSED(culex_client_enqueue_all(client, &no_type, 1, &error));
    REFUSED(culex_client_enqueue_all(client, &no_params, 1, &error));
    assert_int_equal(culex_client_enqueue(client, &type, &params, NULL, NULL, NULL), CULEX_OK);
    REFUSED(culex_client_get(client, NULL, no_id, NULL, &error));
    REFUSED(culex_client_get(client, "q", no_id, NULL, &error));
    REFUSED(culex_client_list(client, NULL, CULEX_RUN_DONE, &cursor, 0, run_seen, NULL, &error));
    REFUSED_AS("no cursor",
               culex_client_list(client, "q", CULEX_RUN_DONE, NULL, 0, run_seen, NULL, &error));
    REFUSED_AS("no visitor",
               culex_client_list(client, "q", CULEX_RUN_DONE, &cursor, 0, NULL, NULL, &error));
    REFUSED_AS("no such state of runs", culex_client_list(client, "q", CULEX_RUN_STATE_COUNT,
                                                          &cursor, 0, run_seen, NULL, &error));
    REFUSED(culex_client_find(client, NULL, NULL, &cursor, 0, run_seen, NULL, &error));
    REFUSED_AS("no cursor", culex_client_find(client, "q", NULL, NULL, 0, run_seen, NULL, &error));
    REFUSED_AS("no visitor", culex_client_find(client, "q", NULL, &cursor, 0, NULL, NULL, &error));
    REFUSED(culex_client_cancel(client, NULL, no_id, NULL, &error));
    REFUSED(culex_client_retry(client, NULL, no_id, &error));
    REFUSED(culex_client_delete(client, NULL, no_id, &error));
    REFUSED(culex_client_move(client, NULL, no_id, &to_now, &error));
    REFUSED_AS("no place to move the run to", culex_client_move(client, "q", no_id, NULL, &error));
    REFUSED(culex_client_bulk(client, NULL, &retry, &start, 0, NULL, NULL, NULL, &error));
    REFUSED_AS("nothing is said of what to do",
               culex_client_bulk(client, "q", NULL, &start, 0, NULL, NULL, NULL, &error));
    REFUSED_AS("no cursor",
               culex_client_bulk(client, "q", &retry, NULL, 0, NULL, NULL, NULL, &error));
    REFUSED_AS("no place for the figures", culex_client_spool_stats(client, NULL, &error));
    REFUSED_AS("no visitor", culex_client_spool_aside(client, NULL, NULL, &error));
    REFUSED(culex_client_pause(client, NULL, &error));
    REFUSED(culex_client_pause_for(client, NULL, CULEX_SECOND, &error));
    REFUSED(culex_client_resume(client, NULL, &error));
    REFUSED(culex_client_limit(client, NULL, 1, &error));
    REFUSED(culex_client_dead_limit(client, NULL, 1, &error));
    REFUSED(culex_client_purge(client, NULL, CULEX_RUN_DONE, 1, NULL, &error));
    REFUSED(culex_client_stats(client, NULL, NULL, &error));
    REFUSED(culex_client_stats(client, "q", NULL, &error));
    REFUSED_AS("no visitor", culex_client_queues(client, NULL, NULL, &error));
    REFUSED(culex_client_doctor(client, NULL, &error));
    REFUSED(culex_client_fsck(client, NULL, false, &counts, &error));
    REFUSED(culex_client_fsck(client, "q", false, NULL, &error));
    REFUSED(culex_client_live(client, NULL, false, NULL, NULL, &error));
    culex_client_close(client);
}

/* --- worker ------------------------------------------------------------------------------- */

static culex_status process_open(void *user, void **ret_process, culex_error *error)
{
    (void)user, (void)ret_process, (void)error;
    return CULEX_OK;
}

static void test_null_for_a_worker_is_refused(void **state)
{
    (void)state;
    REFUSED(culex_worker_create(NULL, NULL, &error));
    culex_worker_free(NULL);
    culex_worker_stop(NULL);
    assert_int_equal(culex_worker_register(NULL, &type, number_call, number_handler, NULL),
                     CULEX_EINVAL);
    assert_int_equal(culex_worker_retire(NULL, &type), CULEX_EINVAL);
    assert_int_equal(culex_worker_register_chain(NULL, NULL), CULEX_EINVAL);
    assert_int_equal(culex_worker_on_process(NULL, process_open, NULL, NULL), CULEX_EINVAL);
    assert_int_equal(culex_worker_on_process_by(NULL, NULL, NULL, process_open, NULL, NULL),
                     CULEX_EINVAL);
    assert_int_equal(culex_worker_add_hook(NULL, NULL, &(culex_hook){.name = "h"}), CULEX_EINVAL);
    assert_int_equal(culex_worker_add_hook_by(NULL, NULL, &(culex_hook){.name = "h"}, NULL),
                     CULEX_EINVAL);
    assert_int_equal(culex_worker_on_enqueue(NULL, NULL, NULL), CULEX_EINVAL);
    assert_int_equal(culex_worker_on_enqueue_by(NULL, NULL, NULL, NULL), CULEX_EINVAL);
    REFUSED(culex_client_on_enqueue(NULL, NULL, NULL, &error));
    REFUSED(culex_client_on_enqueue_by(NULL, NULL, NULL, NULL, &error));
    REFUSED(culex_enqueue_tag(NULL, "t", &error));
    assert_int_equal(culex_next_call(NULL), CULEX_FAILED);
    assert_int_equal(culex_worker_setup_failed(NULL, "%s", "why"), 1);
    assert_string_equal(culex_worker_setup_reason(NULL), "");
    REFUSED(culex_worker_run(NULL, &error));
    REFUSED(culex_worker_start(NULL, &error));
    REFUSED(culex_worker_process(NULL, 0, &error));
    assert_int_equal(culex_worker_fd(NULL), -1);
}

/* What a setup would end with. */
static void expect_reason(culex_worker *worker, const char *reason)
{
    assert_int_equal(worker->setup_error.code, CULEX_EINVAL);
    assert_non_null(strstr(culex_worker_setup_reason(worker), reason));
}

static void test_null_beside_a_worker_is_refused(void **state)
{
    const culex_worker_options no_queues = {.queue_count = 2};
    const char *none = NULL;
    culex_worker *worker = NULL;
    culex_error error = {0};
    (void)state;
    assert_int_equal(culex_worker_create(&no_queues, &worker, &error), CULEX_EUSAGE);
    assert_string_equal(error.text, "a queue_count of 2, and no queues");
    const char *const mails[] = {"mails"};
    const culex_worker_options no_count = {.queues = mails};
    assert_int_equal(culex_worker_create(&no_count, &worker, &error), CULEX_EUSAGE);
    assert_non_null(strstr(error.text, "say how many there are"));
    assert_int_equal(culex_worker_create(NULL, &worker, NULL), CULEX_OK);
    assert_string_equal(culex_worker_setup_reason(worker), "");
    assert_int_equal(culex_worker_register(worker, NULL, number_call, number_handler, NULL),
                     CULEX_EINVAL);
    expect_reason(worker, "no job type");
    assert_int_equal(culex_worker_register_chain(worker, NULL), CULEX_EINVAL);
    expect_reason(worker, "no worker, or no chain to register");
    assert_int_equal(culex_worker_register(worker, &type, number_call, NULL, NULL), CULEX_EINVAL);
    expect_reason(worker, "job t.number is registered without a handler");
    assert_int_equal(culex_worker_register(worker, &type, NULL, number_handler, NULL),
                     CULEX_EINVAL);
    assert_int_equal(culex_worker_retire(worker, NULL), CULEX_EINVAL);
    expect_reason(worker, "no job type");
    assert_int_equal(culex_worker_on_process(worker, NULL, NULL, NULL), CULEX_EINVAL);
    expect_reason(worker, "no function that sets up a child process");
    assert_int_equal(culex_worker_setup_failed(worker, none, 0), 1);
    culex_worker_free(worker);
    assert_int_equal(culex_worker_main(1, NULL, NULL, NULL), 1);
}

/* --- handlers ------------------------------------------------------------------------------ */

static void test_null_for_a_run_is_survived(void **state)
{
    struct number kept;
    uint64_t version = 0;
    const culex_job_type job = number_type();
    const struct number value = {7};
    const culex_uuid id = culex_run_id(NULL);
    (void)state;
    assert_memory_equal(&id, &no_id, sizeof id);
    assert_int_equal(culex_run_attempt(NULL), 0);
    assert_int_equal(culex_run_failures(NULL), 0);
    assert_string_equal(culex_run_job(NULL), "");
    assert_string_equal(culex_run_queue(NULL), "");
    assert_string_equal(culex_run_fence(NULL), "");
    assert_string_equal(culex_run_traceparent(NULL), "");
    assert_string_equal(culex_run_tracestate(NULL), "");
    assert_int_equal(culex_run_enqueued_at(NULL), 0);
    assert_false(culex_run_cancelled(NULL));
    culex_run_extend(NULL, CULEX_SECOND);
    culex_run_progress(NULL, 50, "half");
    assert_int_equal(culex_run_fail(NULL, "no"), CULEX_FAILED);
    assert_int_equal(culex_run_discard(NULL, "no"), CULEX_DISCARDED);
    assert_int_equal(culex_run_snooze(NULL, CULEX_SECOND), CULEX_SNOOZED);
    REFUSED(culex_run_set_result(NULL, &number_struct, &value, &error));
    REFUSED(culex_run_metadata_get(NULL, &number_struct, &kept, &version, &error));
    REFUSED(culex_run_metadata_set(NULL, &number_struct, &value, &version, &error));
    REFUSED(culex_run_enqueue(NULL, &job, &value, NULL, &error));
    culex_log(NULL, "nobody hears");
    culex_run_log(NULL, CULEX_LOG_INFO, "nobody hears");
    assert_null(culex_run_client(NULL));
    assert_null(culex_run_alloc(NULL, 8));
    assert_null(culex_run_process(NULL));
}

static culex_outcome act_carelessly(struct world *world, culex_run *run, int64_t n)
{
    const char *none = NULL;
    const struct number value = {7};
    const culex_job_type job = number_type();
    struct number kept;
    uint64_t version = 0;
    (void)world;
    culex_run_progress(run, 50, none, 0);
    culex_log(run, none, 0);
    culex_run_log(run, CULEX_LOG_ERROR, none, 0);
    REFUSED(culex_run_enqueue(run, NULL, &value, NULL, &error));
    REFUSED(culex_run_enqueue(run, &job, NULL, NULL, &error));
    REFUSED(culex_run_set_result(run, NULL, &value, &error));
    REFUSED(culex_run_metadata_get(run, NULL, &kept, &version, &error));
    REFUSED(culex_run_metadata_get(run, &number_struct, &kept, &version, &error));
    REFUSED(culex_run_metadata_set(run, NULL, &value, &version, &error));
    REFUSED(culex_run_set_result(run, &number_struct, NULL, &error));
    assert_int_equal(culex_run_fail(run, "first thought"), CULEX_FAILED);
    return n == 1 ? culex_run_fail(run, none, 0) : culex_run_discard(run, none, 0);
}

static void test_null_beside_a_run_is_survived(void **state)
{
    struct world *world = world_open();
    culex_job_type once = type;
    once.result = &number_struct;
    (void)state;
    once.retry.max = 0;
    world->act = act_carelessly;
    for (int64_t n = 1; n <= 2; n++) {
        culex_uuid id = world_enqueue(world, &once, n);
        world_worker(world, (culex_worker_options){.drain = true}, &once);
        world_run(world);
        culex_run_info *run = world_get(world, id);
        assert_int_equal(run->state, CULEX_RUN_DEAD);
        assert_string_equal(run->error_text, "the handler gave no reason");
        assert_int_equal(run->progress, 50);
        assert_string_equal(run->progress_text, "");
        culex_run_info_free(run);
    }
    world_close(world);
}

/* A page, say, that was freed before the call stood there. */
static void test_what_would_be_owned_is_null_after_a_failure(void **state)
{
    char old;
    culex_client *client = (void *)&old;
    culex_worker *worker = (void *)&old;
    culex_run_info *run = (void *)&old;
    culex_events *events = (void *)&old;
    culex_run_lines *lines = (void *)&old;
    culex_schemas *schemas = (void *)&old;
    char *text = (void *)&old;
    culex_doctor_report *report = (void *)&old;
    const culex_worker_options wrong = {.concurrency = 1000000};
    (void)state;
    assert_int_equal(culex_client_open("nonsense:", NULL, &client, NULL), CULEX_EURL);
    assert_null(client);
    assert_int_not_equal(culex_worker_create(&wrong, &worker, NULL), CULEX_OK);
    assert_null(worker);
    assert_int_equal(culex_client_doctor(NULL, &report, NULL), CULEX_EINVAL);
    assert_null(report);
    assert_int_equal(culex_client_open("memory:", NULL, &client, NULL), CULEX_OK);
    assert_int_equal(culex_client_get(client, "q", no_id, &run, NULL), CULEX_ENOTFOUND);
    assert_null(run);
    assert_int_equal(culex_client_events(client, "q", 0, 1, 0, &events, NULL), CULEX_ENOTFOUND);
    assert_null(events);
    assert_int_equal(culex_client_run_log(client, "q", no_id, &lines, NULL), CULEX_ENOTFOUND);
    assert_null(lines);
    assert_int_equal(culex_client_schemas(client, "q", &schemas, NULL), CULEX_OK);
    assert_int_equal(schemas->count, 0);
    culex_schemas_free(schemas);
    assert_int_equal(culex_client_schema_text(client, "q", "j", 0, 0, &text, NULL, NULL),
                     CULEX_ENOTFOUND);
    assert_null(text);
    culex_client_close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_ignore_or_refuse_each_null),
        cmocka_unit_test(test_arenas_and_texts_ignore_each_null),
        cmocka_unit_test(test_codec_refuses_each_null),
        cmocka_unit_test(test_schemas_refuse_each_null),
        cmocka_unit_test(test_null_for_the_workers_is_refused),
        cmocka_unit_test(test_null_for_a_limit_is_refused),
        cmocka_unit_test(test_null_for_a_schedule_is_refused),
        cmocka_unit_test(test_null_for_a_transfer_is_refused),
        cmocka_unit_test(test_null_for_a_schema_is_refused),
        cmocka_unit_test(test_null_for_metadata_is_refused),
        cmocka_unit_test(test_null_for_a_client_is_refused),
        cmocka_unit_test(test_null_for_a_batch_is_refused),
        cmocka_unit_test(test_null_for_a_wait_is_refused),
        cmocka_unit_test(test_null_for_events_is_refused),
        cmocka_unit_test(test_null_for_claims_is_refused),
        cmocka_unit_test(test_null_for_figures_is_refused),
        cmocka_unit_test(test_null_for_log_lines_is_refused),
        cmocka_unit_test(test_null_beside_a_client_is_refused),
        cmocka_unit_test(test_null_for_a_worker_is_refused),
        cmocka_unit_test(test_null_beside_a_worker_is_refused),
        cmocka_unit_test(test_what_would_be_owned_is_null_after_a_failure),
        cmocka_unit_test(test_null_for_a_run_is_survived),
        cmocka_unit_test(test_null_beside_a_run_is_survived),
    };
    type = number_type();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
