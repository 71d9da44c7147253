/* Generated descriptors and the real codec: what a producer encodes, a handler gets.
 * The parts of the runtime that need a store stand below as functions that only fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "defaults_job.h"
#include "enums_job.h"
#include "essay_job.h"
#include "own_types_job.h"
#include "structs_job.h"

culex_status culex_client_enqueue(culex_client *client, const culex_job_type *type,
                                  const void *params, const culex_enqueue_options *options,
                                  culex_uuid *ret_id, culex_error *error)
{
    (void)client, (void)type, (void)params, (void)options, (void)ret_id, (void)error;
    return CULEX_EUNSUPPORTED;
}

culex_status culex_client_enqueue_many(culex_client *client, const culex_job_type *type,
                                       const void *params, size_t stride, size_t count,
                                       const culex_enqueue_options *options, culex_uuid *ret_ids,
                                       size_t *ret_enqueued, culex_error *error)
{
    (void)client, (void)type, (void)params, (void)stride, (void)count, (void)options;
    (void)ret_ids, (void)ret_enqueued, (void)error;
    return CULEX_EUNSUPPORTED;
}

culex_status culex_worker_register(culex_worker *worker, const culex_job_type *type,
                                   culex_handler_call call, culex_handler_fn handler, void *user)
{
    (void)worker, (void)type, (void)call, (void)handler, (void)user;
    return CULEX_EUNSUPPORTED;
}

culex_status culex_run_set_result(culex_run *run, const culex_struct_type *type, const void *value,
                                  culex_error *error)
{
    (void)run, (void)type, (void)value, (void)error;
    return CULEX_EUNSUPPORTED;
}

culex_status culex_run_enqueue(culex_run *run, const culex_job_type *type, const void *params,
                               const culex_enqueue_options *options, culex_error *error)
{
    (void)run, (void)type, (void)params, (void)options, (void)error;
    return CULEX_EUNSUPPORTED;
}

culex_status culex_client_wait_result(culex_client *client, const culex_job_type *type,
                                      culex_uuid id, culex_duration timeout, culex_arena *arena,
                                      culex_wait_end *ret_end, const void **ret_result,
                                      culex_error *error)
{
    (void)client, (void)type, (void)id, (void)timeout, (void)arena, (void)ret_end;
    (void)ret_result, (void)error;
    return CULEX_EUNSUPPORTED;
}

/* What every test starts with and gives back. */
struct bench {
    culex_arena *arena;
    culex_buf text;
    culex_error error;
};

static int setup(void **state)
{
    static struct bench bench;
    bench.arena = culex_arena_create();
    culex_buf_init(&bench.text, 0);
    *state = &bench;
    return bench.arena == NULL;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    culex_buf_release(&bench->text);
    culex_arena_free(bench->arena);
    return 0;
}

static void assert_defaults(const fill_job *job)
{
    fill_job made = fill_job_make();

    assert_true(job->yes && job->letter == 'x' && job->zero_char == 0);
    assert_int_equal(job->last_char, made.last_char);
    assert_true(job->int64_low == INT64_MIN && job->uint64_high == UINT64_MAX);
    assert_true(job->int128_low.hi == INT64_MIN && job->int128_low.lo == 0);
    /* The casts drop what an x87 keeps of a constant beyond its type. */
    assert_true(job->f32_2 == (float)0.17f && job->f64_2 == (double)0.17 && isnan(job->f64_8));
    assert_true(isinf(job->f32_10) && job->f32_10 < 0 && signbit(job->f64_1));
    assert_string_equal(job->text, made.text);
    assert_int_equal(job->some_bytes.len, made.some_bytes.len);
    assert_memory_equal(job->some_bytes.data, made.some_bytes.data, made.some_bytes.len);
    assert_memory_equal(&job->some_uuid, &made.some_uuid, sizeof made.some_uuid);
    assert_true(job->first_time == INT64_MIN && job->back == -1500000000);
    assert_true(job->colour == WIDE_TOP);
}

static void test_roundtrip__every_default_survives(void **state)
{
    struct bench *bench = *state;
    fill_job job = fill_job_make();
    const fill_job *decoded = NULL;

    assert_int_equal(fill_job_encode(&job, &bench->text, &bench->error), CULEX_OK);
    assert_int_equal(
        fill_job_decode(bench->arena, bench->text.data, bench->text.len, &decoded, &bench->error),
        CULEX_OK);
    assert_defaults(decoded);
}

static void test_decode__takes_missing_params_from_the_descriptor(void **state)
{
    struct bench *bench = *state;
    const fill_job *decoded = NULL;

    assert_int_equal(fill_job_decode(bench->arena, "{}", 2, &decoded, &bench->error), CULEX_OK);
    assert_defaults(decoded);
}

/* Beyond one literal of C: generated as an array of characters. */
static void test_roundtrip__default_of_4900_bytes_survives(void **state)
{
    struct bench *bench = *state;
    publish_job job = publish_job_make();
    const publish_job *decoded = NULL;

    assert_int_equal(publish_job_encode(&job, &bench->text, &bench->error), CULEX_OK);
    assert_int_equal(publish_job_decode(bench->arena, bench->text.data, bench->text.len, &decoded,
                                        &bench->error),
                     CULEX_OK);
    assert_string_equal(decoded->text, job.text);
    assert_int_equal(publish_job_decode(bench->arena, "{}", 2, &decoded, &bench->error), CULEX_OK);
    assert_string_equal(decoded->text, job.text);
}

static void test_roundtrip__structs_arrays_and_lists_survive(void **state)
{
    struct bench *bench = *state;
    const line lines[2] = {line_make(money_make(1, "EUR")), line_make(money_make(2, "USD"))};
    ship_job job = ship_job_make(order_make(money_make(3, "GBP"), lines));
    node child = node_make("child");
    const ship_job *decoded = NULL;

    node root = node_make("root");
    node_set_children(&root, &child, 1);
    ship_job_set_tree(&job, root);
    assert_int_equal(ship_job_encode(&job, &bench->text, &bench->error), CULEX_OK);
    assert_int_equal(
        ship_job_decode(bench->arena, bench->text.data, bench->text.len, &decoded, &bench->error),
        CULEX_OK);
    assert_string_equal(decoded->order.total.currency, "GBP");
    assert_int_equal(decoded->order.lines[1].money.minor, 2);
    assert_false(decoded->order.lines[1].has_also);
    assert_true(decoded->has_tree);
    assert_int_equal(decoded->tree.children_len, 1);
    assert_string_equal(decoded->tree.children[0].name, "child");
}

static void test_encode__obeys_the_limits_of_the_schema(void **state)
{
    struct bench *bench = *state;
    ship_job job;
    line lines[2] = {line_make(money_make(1, "EUR")), line_make(money_make(2, "dollars"))};

    job = ship_job_make(order_make(money_make(3, "GBP"), lines));
    assert_int_equal(ship_job_encode(&job, &bench->text, &bench->error), CULEX_EENCODE);
    assert_string_equal(bench->error.field, "order.lines[1].money.currency");
}

static void test_roundtrip__types_of_the_user_survive(void **state)
{
    struct bench *bench = *state;
    const shop_own_money range[] = {{0, "EUR"}, {999, "EUR"}}, parts[] = {{1, "USD"}};
    const shop_own_line lines[] = {shop_own_line_make("tea", range[1])};
    const shop_own_charge_job *decoded = NULL;
    shop_own_charge_job job =
        shop_own_charge_job_make((shop_own_money){1250, "EUR"}, range, (shop_own_money){7, "GBP"});
    shop_own_charge_job_set_tip(&job, (shop_own_money){10, "EUR"});
    shop_own_charge_job_set_parts(&job, parts, 1);
    shop_own_charge_job_set_lines(&job, lines, 1);
    assert_int_equal(shop_own_charge_job_encode(&job, &bench->text, &bench->error), CULEX_OK);
    assert_string_equal(bench->text.data,
                        "{\"total\":\"12.50 EUR\",\"tip\":\"0.10 EUR\",\"parts\":[\"0.01 USD\"],"
                        "\"range\":[\"0.00 EUR\",\"9.99 EUR\"],\"budget\":\"0.07 GBP\","
                        "\"lines\":[{\"what\":\"tea\",\"price\":\"9.99 EUR\"}]}");
    assert_int_equal(shop_own_charge_job_decode(bench->arena, bench->text.data, bench->text.len,
                                                &decoded, &bench->error),
                     CULEX_OK);
    assert_int_equal(decoded->total.minor, 1250);
    assert_string_equal(decoded->range[1].currency, "EUR");
    assert_true(decoded->has_tip && !decoded->has_money && decoded->parts[0].minor == 1);
    assert_int_equal(decoded->lines[0].price.minor, 999);
    job.lines = &(shop_own_line){"tea", {-1, "EUR"}};
    assert_int_equal(shop_own_charge_job_encode(&job, &bench->text, &bench->error), CULEX_EENCODE);
    assert_string_equal(bench->error.field, "lines[0].price");
}

static void test_decode__obeys_the_limits_of_the_schema(void **state)
{
    struct bench *bench = *state;
    const char *text = "{\"lang\":\"LANG_XX\",\"other\":\"LANG_EN\"}";
    const use_enums_job *decoded = NULL;

    assert_int_equal(
        use_enums_job_decode(bench->arena, text, strlen(text), &decoded, &bench->error),
        CULEX_EUNDERSTAND);
    assert_string_equal(bench->error.field, "lang");
    assert_null(decoded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_roundtrip__every_default_survives, setup, teardown),
        cmocka_unit_test_setup_teardown(test_roundtrip__default_of_4900_bytes_survives, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_decode__takes_missing_params_from_the_descriptor,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_roundtrip__structs_arrays_and_lists_survive, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_roundtrip__types_of_the_user_survive, setup, teardown),
        cmocka_unit_test_setup_teardown(test_encode__obeys_the_limits_of_the_schema, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_decode__obeys_the_limits_of_the_schema, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
