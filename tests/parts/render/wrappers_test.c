/* Generated code at work: what the constructors set, what the descriptors say and what
 * the wrappers hand on to the runtime. The runtime itself is played by the functions
 * at the top, which note how they were called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "bare_job.h"
#include "defaults_job.h"
#include "enums_job.h"
#include "essay_job.h"
#include "hello_job.h"
#include "kinds_array_job.h"
#include "kinds_list_job.h"
#include "kinds_optional_job.h"
#include "limits_job.h"
#include "policies_job.h"
#include "structs_job.h"

/* The last call of the runtime. */
static struct {
    const culex_job_type *type;
    const culex_struct_type *record;
    const void *value;
    size_t stride;
    size_t count;
    bool has_options;
    culex_enqueue_options options;
    void *ret;
    culex_handler_call handler_call;
    culex_handler_fn handler;
    void *user;
    bool is_retired;
    culex_status status; /* what the next call returns */
} called;

static int setup(void **state)
{
    (void)state;
    memset(&called, 0, sizeof called);
    return 0;
}

static void note_options(const culex_enqueue_options *options)
{
    called.has_options = options != NULL;
    if (options != NULL)
        called.options = *options;
}

culex_status culex_client_enqueue(culex_client *client, const culex_job_type *type,
                                  const void *params, const culex_enqueue_options *options,
                                  culex_uuid *ret_id, culex_error *error)
{
    (void)client;
    (void)error;
    called.type = type;
    called.value = params;
    called.ret = ret_id;
    note_options(options);
    return called.status;
}

culex_status culex_client_enqueue_many(culex_client *client, const culex_job_type *type,
                                       const void *params, size_t stride, size_t count,
                                       const culex_enqueue_options *options, culex_uuid *ret_ids,
                                       size_t *ret_enqueued, culex_error *error)
{
    (void)client;
    (void)error;
    called.type = type;
    called.value = params;
    called.stride = stride;
    called.count = count;
    called.ret = ret_ids;
    note_options(options);
    *ret_enqueued = count;
    return called.status;
}

culex_status culex_worker_register(culex_worker *worker, const culex_job_type *type,
                                   culex_handler_call call, culex_handler_fn handler, void *user)
{
    (void)worker;
    called.type = type;
    called.handler_call = call;
    called.handler = handler;
    called.user = user;
    return called.status;
}

culex_status culex_worker_retire(culex_worker *worker, const culex_job_type *type)
{
    (void)worker;
    called.type = type;
    called.is_retired = true;
    return called.status;
}

culex_status culex_run_enqueue(culex_run *run, const culex_job_type *type, const void *params,
                               const culex_enqueue_options *options, culex_error *error)
{
    (void)run;
    (void)error;
    called.type = type;
    called.value = params;
    note_options(options);
    return called.status;
}

culex_status culex_client_wait_result(culex_client *client, const culex_job_type *type,
                                      culex_uuid id, culex_duration timeout, culex_arena *arena,
                                      culex_wait_end *ret_end, const void **ret_result,
                                      culex_error *error)
{
    (void)client;
    (void)error;
    called.type = type;
    called.count = id.b[0];
    called.options.delay = timeout;
    called.user = arena;
    called.ret = ret_end;
    if (called.status == CULEX_OK)
        *ret_result = called.value;
    return called.status;
}

culex_status culex_run_set_result(culex_run *run, const culex_struct_type *type, const void *value,
                                  culex_error *error)
{
    (void)run;
    (void)error;
    called.record = type;
    called.value = value;
    return called.status;
}

culex_status culex_encode(const culex_struct_type *type, const void *value, culex_buf *ret_text,
                          culex_error *error)
{
    (void)error;
    called.record = type;
    called.value = value;
    called.ret = ret_text;
    return called.status;
}

culex_status culex_decode(const culex_struct_type *type, culex_arena *arena, const void *text,
                          size_t len, const void **ret_value, culex_error *error)
{
    (void)arena;
    (void)error;
    called.record = type;
    called.count = len;
    if (ret_value == NULL)
        return CULEX_EINVAL;
    if (called.status == CULEX_OK)
        *ret_value = text;
    return called.status;
}

/* The wrappers. */

static void test_enqueue__hands_everything_on(void **state)
{
    (void)state;
    greet_job job = greet_job_make("Ann");
    culex_uuid id;

    assert_int_equal(greet_job_enqueue(NULL, &job, NULL, &id, NULL), CULEX_OK);
    assert_ptr_equal(called.type, &greet_job_type);
    assert_ptr_equal(called.value, &job);
    assert_ptr_equal(called.ret, &id);
    assert_false(called.has_options);

    called.status = CULEX_EBUSY;
    assert_int_equal(greet_job_enqueue(NULL, &job, NULL, NULL, NULL), CULEX_EBUSY);
}

static void test_enqueue_in__sets_only_the_delay(void **state)
{
    (void)state;
    greet_job job = greet_job_make("Ann");
    culex_enqueue_options expected = culex_enqueue_options_make();
    expected.has_delay = true;
    expected.delay = 90 * CULEX_SECOND;

    assert_int_equal(greet_job_enqueue_in(NULL, &job, 90 * CULEX_SECOND, NULL, NULL), CULEX_OK);
    assert_true(called.has_options);
    assert_true(called.options.has_delay && !called.options.has_at && !called.options.has_ticket);
    assert_int_equal(called.options.delay, expected.delay);
}

static void test_arguments__are_evaluated_once(void **state)
{
    (void)state;
    greet_job jobs[2] = {greet_job_make("Ann"), greet_job_make("Bob")};
    const greet_job *next = jobs;
    int names = 0;

    greet_job made = greet_job_make((names++, "Cid"));
    assert_string_equal(made.who, "Cid");
    assert_int_equal(names, 1);
    assert_int_equal(greet_job_enqueue(NULL, next++, NULL, NULL, NULL), CULEX_OK);
    assert_ptr_equal(called.value, jobs);
    assert_ptr_equal(next, jobs + 1);
}

static void test_enqueue_at__sets_only_the_time(void **state)
{
    (void)state;
    greet_job job = greet_job_make("Ann");

    assert_int_equal(greet_job_enqueue_at(NULL, &job, 12345, NULL, NULL), CULEX_OK);
    assert_true(called.options.has_at && !called.options.has_delay && !called.options.has_ticket);
    assert_int_equal(called.options.at, 12345);
}

static void test_enqueue_from__is_of_the_run(void **state)
{
    (void)state;
    greet_job job = greet_job_make("Ann");
    culex_enqueue_options options = culex_enqueue_options_make();
    options.priority = 7;
    called.status = CULEX_ELIMIT;
    assert_int_equal(greet_job_enqueue_from(NULL, &job, &options, NULL), CULEX_ELIMIT);
    assert_ptr_equal(called.type, &greet_job_type);
    assert_ptr_equal(called.value, &job);
    assert_int_equal(called.options.priority, 7);
}

static void test_enqueue_many__tells_the_stride(void **state)
{
    (void)state;
    greet_job jobs[3] = {greet_job_make("A"), greet_job_make("B"), greet_job_make("C")};
    culex_uuid ids[3];
    size_t enqueued = 0;

    assert_int_equal(greet_job_enqueue_many(NULL, jobs, 3, NULL, ids, &enqueued, NULL), CULEX_OK);
    assert_int_equal(called.stride, sizeof(greet_job));
    assert_int_equal(called.count, 3);
    assert_int_equal(enqueued, 3);
    assert_ptr_equal(called.value, jobs);
    assert_ptr_equal(called.ret, ids);
}

static culex_outcome snooze(culex_run *run, const greet_job *job, void *user)
{
    (void)run;
    called.value = job;
    return user == &called ? CULEX_SNOOZED : CULEX_FAILED;
}

static void test_register__reaches_the_typed_handler(void **state)
{
    (void)state;
    greet_job job = greet_job_make("Ann");

    assert_int_equal(greet_job_register(NULL, snooze, &called), CULEX_OK);
    assert_ptr_equal(called.type, &greet_job_type);
    assert_ptr_equal(called.user, &called);
    assert_int_equal(called.handler_call(NULL, called.handler, &job, called.user), CULEX_SNOOZED);
    assert_ptr_equal(called.value, &job);
}

static culex_outcome drain(culex_run *run, const constant_job *job, void *user)
{
    (void)run;
    (void)job;
    (void)user;
    return CULEX_DONE;
}

static void test_register__retires_a_retired_job_without_a_handler(void **state)
{
    (void)state;
    assert_int_equal(constant_job_register(NULL, drain, NULL), CULEX_OK);
    assert_false(called.is_retired);
    assert_int_equal(constant_job_register(NULL, NULL, NULL), CULEX_OK);
    assert_true(called.is_retired);
    assert_ptr_equal(called.type, &constant_job_type);
}

static void test_wait__hands_on_what_it_was_told(void **state)
{
    (void)state;
    const ship_result expected = {0}, *result = NULL;
    culex_wait_end end;
    char arena;
    called.value = &expected;
    assert_int_equal(ship_job_wait(NULL, (culex_uuid){{7}}, culex_seconds(3),
                                   (culex_arena *)(void *)&arena, &end, &result, NULL),
                     CULEX_OK);
    assert_ptr_equal(called.type, &ship_job_type);
    assert_int_equal(called.count, 7);
    assert_int_equal(called.options.delay, culex_seconds(3));
    assert_ptr_equal(called.user, &arena);
    assert_ptr_equal(called.ret, &end);
    assert_ptr_equal(result, &expected);
    called.status = CULEX_ESTATE;
    result = NULL;
    assert_int_equal(ship_job_wait(NULL, (culex_uuid){{7}}, 0, NULL, NULL, &result, NULL),
                     CULEX_ESTATE);
    assert_null(result);
}

static void test_encode_decode_set_result__use_their_descriptors(void **state)
{
    (void)state;
    greet_job job = greet_job_make("Ann");
    const greet_job *decoded = NULL;
    ship_result result;
    culex_buf text;

    assert_int_equal(greet_job_encode(&job, &text, NULL), CULEX_OK);
    assert_ptr_equal(called.record, greet_job_type.params);
    assert_ptr_equal(called.ret, &text);

    assert_int_equal(greet_job_decode(NULL, &job, 7, NULL, NULL), CULEX_EINVAL);
    assert_int_equal(greet_job_decode(NULL, &job, 7, &decoded, NULL), CULEX_OK);
    assert_ptr_equal(decoded, &job);
    assert_int_equal(called.count, 7);

    memset(&result, 0, sizeof result);
    assert_int_equal(ship_job_set_result(NULL, &result, NULL), CULEX_OK);
    assert_ptr_equal(called.record, ship_job_type.result);
    assert_ptr_equal(called.value, &result);
}

static void test_decode__leaves_the_output_alone_on_failure(void **state)
{
    (void)state;
    const greet_job *decoded = (const greet_job *)&called;
    called.status = CULEX_EDECODE;
    assert_int_equal(greet_job_decode(NULL, "", 0, &decoded, NULL), CULEX_EDECODE);
    assert_ptr_equal(decoded, &called);
}

/* The constructors. */

static void assert_same(const culex_field *field, const void *left, const void *right, size_t size)
{
    if (field->kind == CULEX_KIND_STRING) {
        assert_string_equal(*(const char *const *)left, *(const char *const *)right);
    } else if (field->kind == CULEX_KIND_BYTES) {
        const culex_bytes *a = left, *b = right;
        assert_int_equal(a->len, b->len);
        if (a->len > 0)
            assert_memory_equal(a->data, b->data, a->len);
    } else {
        assert_memory_equal(left, right, size);
    }
}

static size_t kind_size(culex_kind kind)
{
    static const size_t sizes[CULEX_KIND_COUNT] = {
        [CULEX_KIND_BOOL] = sizeof(bool),
        [CULEX_KIND_CHAR] = 1,
        [CULEX_KIND_INT8] = 1,
        [CULEX_KIND_INT16] = 2,
        [CULEX_KIND_INT32] = 4,
        [CULEX_KIND_INT64] = 8,
        [CULEX_KIND_INT128] = 16,
        [CULEX_KIND_UINT8] = 1,
        [CULEX_KIND_UINT16] = 2,
        [CULEX_KIND_UINT32] = 4,
        [CULEX_KIND_UINT64] = 8,
        [CULEX_KIND_UINT128] = 16,
        [CULEX_KIND_FLOAT32] = 4,
        [CULEX_KIND_FLOAT64] = 8,
        [CULEX_KIND_STRING] = sizeof(char *),
        [CULEX_KIND_BYTES] = sizeof(culex_bytes),
        [CULEX_KIND_UUID] = 16,
        [CULEX_KIND_TIMESTAMP] = 8,
        [CULEX_KIND_DURATION] = 8,
    };
    return sizes[kind];
}

static void test_make__sets_what_the_descriptor_calls_the_default(void **state)
{
    (void)state;
    preset made = preset_make();

    assert_int_equal(preset_type.size, sizeof made);
    assert_true(preset_type.field_count > 50);
    for (size_t i = 0; i < preset_type.field_count; i++) {
        const culex_field *field = &preset_type.fields[i];
        size_t size = field->kind == CULEX_KIND_ENUM ? kind_size(field->enum_type->base)
                                                     : kind_size(field->kind);
        assert_non_null(field->def);
        assert_int_equal(field->flags, 0);
        assert_same(field, (const char *)&made + field->offset, field->def, size);
    }
}

static void assert_essay(const char *text)
{
    enum { TIMES = 700, PART_LEN = 7 };
    assert_int_equal(strlen(text), TIMES * PART_LEN);
    for (size_t i = 0; i < TIMES; i++)
        assert_memory_equal(text + i * PART_LEN, "long \xc3\xa9", PART_LEN);
}

static void test_make__default_beyond_one_literal_is_whole(void **state)
{
    (void)state;
    assert_essay(publish_job_make().text);
    assert_essay(page_make().text);
    assert_essay(*(const char *const *)publish_job_type.params->fields[0].def);
    assert_essay(*(const char *const *)page_type.fields[0].def);
}

static void test_make__has_exact_defaults(void **state)
{
    (void)state;
    fill_job job = fill_job_make();
    const uint8_t uuid[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                              0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

    assert_true(job.yes && job.letter == 'x' && job.quote == '\'' && job.zero_char == 0);
    assert_int_equal((unsigned char)job.last_char, 255);
    assert_true(job.int64_low == INT64_MIN && job.int64_high == INT64_MAX);
    assert_true(job.int32_low == INT32_MIN && job.uint32_high == UINT32_MAX);
    assert_true(job.int128_low.hi == INT64_MIN && job.int128_low.lo == 0);
    assert_true(job.int128_high.hi == INT64_MAX && job.int128_high.lo == UINT64_MAX);
    assert_true(job.uint128_high.hi == UINT64_MAX && job.uint128_high.lo == UINT64_MAX);
    assert_true(job.f32_2 == 0.17f && job.f64_2 == 0.17 && job.f32_6 == FLT_MAX);
    assert_true(signbit(job.f32_1) && signbit(job.f64_1) && job.f64_max == DBL_MAX);
    assert_true(isnan(job.f32_8) && isnan(job.f64_8) && isinf(job.f64_10) && job.f64_10 < 0);
    assert_memory_equal(job.some_uuid.b, uuid, sizeof uuid);
    assert_string_equal(job.text, "7\x01"
                                  "7 caf\xc3\xa9 \"\?\?/\\\n%d");
    assert_string_equal(job.no_text, "");
    assert_int_equal(job.some_bytes.len, 36);
    assert_memory_equal(job.some_bytes.data + 32, "\x00\xff\x7f\x80", 4);
    assert_int_equal(job.no_bytes.len, 0);
    assert_true(job.first_time == INT64_MIN && job.back == -1500000000);
    assert_true(job.colour == UINT64_MAX);
}

static void test_make__takes_lists_and_arrays(void **state)
{
    (void)state;
    const uint16_t needed[2] = {7, 8};
    const line lines[2] = {line_make(money_make(1, "EUR")), line_make(money_make(2, "USD"))};
    lists_job list = lists_job_make(needed, 2);
    order whole = order_make(money_make(3, "GBP"), lines);

    assert_ptr_equal(list.needed, needed);
    assert_true(list.needed_len == 2 && list.bounded == NULL && list.bounded_len == 0);
    assert_int_equal(whole.lines[1].money.minor, 2);
    assert_false(whole.lines[1].has_also);
    assert_string_equal(whole.total.currency, "GBP");
}

static void test_make__leaves_no_byte_unset(void **state)
{
    (void)state;
    tick_job job = tick_job_make();
    blank empty = blank_make();
    assert_true(job.culex_unused_ == 0 && empty.culex_unused_ == 0);
    assert_true(tick_job_type.params->field_count == 0 && tick_job_type.params->fields == NULL);
}

/* The descriptors. */

static const culex_field *field_of(const culex_job_type *type, const char *name)
{
    for (size_t i = 0; i < type->params->field_count; i++) {
        if (strcmp(type->params->fields[i].name, name) == 0)
            return &type->params->fields[i];
    }
    fail_msg("no field %s", name);
    return NULL;
}

static void test_descriptor__points_into_the_struct(void **state)
{
    (void)state;
    const culex_field *list = field_of(&all_list_job_type, "a_colour");
    const culex_field *optional = field_of(&all_optional_job_type, "a_point");
    const culex_field *array = field_of(&all_array_job_type, "a_string");

    assert_int_equal(list->shape, CULEX_SHAPE_LIST);
    assert_int_equal(list->offset, offsetof(all_list_job, a_colour));
    assert_int_equal(list->len_offset, offsetof(all_list_job, a_colour_len));
    assert_ptr_equal(list->enum_type, &colour_type);
    assert_int_equal(optional->flags, CULEX_FIELD_OPTIONAL);
    assert_int_equal(optional->has_offset, offsetof(all_optional_job, has_a_point));
    assert_ptr_equal(optional->struct_type, &point_type);
    assert_int_equal(array->shape, CULEX_SHAPE_ARRAY);
    assert_int_equal(array->count, 3);
    assert_int_equal(field_of(&lists_job_type, "bounded")->count, 50);
}

static void test_descriptor__has_the_limits(void **state)
{
    (void)state;
    const culex_field *low = field_of(&limited_job_type, "int64_");
    const culex_field *large = field_of(&limited_job_type, "uint64_");
    const culex_field *raw = field_of(&limited_job_type, "raw");

    assert_true(low->min == INT64_MIN && low->max == INT64_MAX);
    assert_true((uint64_t)large->min == 0 && (uint64_t)large->max == UINT64_MAX);
    assert_int_equal(large->flags, CULEX_FIELD_REQUIRED | CULEX_FIELD_MIN | CULEX_FIELD_MAX);
    assert_string_equal(raw->wire, "old_raw");
    assert_int_equal(raw->flags, CULEX_FIELD_REQUIRED | CULEX_FIELD_MUST_UNDERSTAND);
    assert_int_equal(raw->max_len, 1048576);
    assert_int_equal(field_of(&limited_job_type, "code")->flags,
                     CULEX_FIELD_OPTIONAL | CULEX_FIELD_DEPRECATED);
    assert_int_equal(field_of(&limited_job_type, "name")->min_len, 1);
}

static void test_descriptor__has_the_policy_in_milliseconds(void **state)
{
    (void)state;
    const culex_retry_policy *steps = &steps_job_type.retry;
    const culex_retry_policy *ratio = &ratio_job_type.retry;

    assert_int_equal(tick_job_type.schedule.every_ms, 60000);
    assert_int_equal(tick_job_type.schedule.jitter_ms, 1); /* half of one, and 0 would mean none */
    assert_int_equal(steps->step_count, 3);
    assert_int_equal(steps->steps_ms[0], 60000);
    assert_int_equal(steps->steps_ms[1], 1);
    assert_int_equal(steps->steps_ms[2], 3600000000);
    assert_int_equal(steps_job_type.tag_count, 2);
    assert_string_equal(steps_job_type.tags[1], "night \"shift\"");
    assert_true(ratio->max == UINT32_MAX && ratio->factor == 1.5 && ratio->jitter_ratio == 0.25);
    assert_int_equal(ratio->jitter, CULEX_JITTER_RATIO);
    assert_int_equal(ratio->cap_ms, 3600000);
    assert_true(ratio_job_type.expires_ms == INT64_MAX / 1000000 + 1);
    assert_int_equal(ratio_job_type.memory_bytes, 512 << 20);
    assert_int_equal(linear_job_type.retry.for_ms, 172800000);
    assert_int_equal(ratio->for_ms, 0);
    assert_string_equal(linear_job_type.wire, "old_linear");
    assert_true(linear_job_type.fingerprint == 0x0123456789abcdef);
    assert_int_equal(linear_job_type.descriptor_version, CULEX_DESCRIPTOR_VERSION);
}

static void test_enum__names_its_values(void **state)
{
    (void)state;
    assert_string_equal(lang_name(1), "LANG_EN");
    assert_null(lang_name(9));
    assert_string_equal(big_name(INT64_MIN), "BIG_LOW");
    assert_string_equal(word_name(UINT32_MAX), "WORD_TOP");
    assert_string_equal(alias_name(1), "ALIAS_ONE");
    assert_int_equal(alias_type.value_count, 2);
    assert_true(big_type.values[1].bits == UINT64_MAX);
    assert_true(delta_type.values[0].bits == (uint64_t)-128);
    assert_null(nothing_name(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_enqueue__hands_everything_on, setup),
        cmocka_unit_test_setup(test_enqueue_in__sets_only_the_delay, setup),
        cmocka_unit_test_setup(test_arguments__are_evaluated_once, setup),
        cmocka_unit_test_setup(test_enqueue_at__sets_only_the_time, setup),
        cmocka_unit_test_setup(test_enqueue_many__tells_the_stride, setup),
        cmocka_unit_test_setup(test_enqueue_from__is_of_the_run, setup),
        cmocka_unit_test_setup(test_register__reaches_the_typed_handler, setup),
        cmocka_unit_test_setup(test_register__retires_a_retired_job_without_a_handler, setup),
        cmocka_unit_test_setup(test_wait__hands_on_what_it_was_told, setup),
        cmocka_unit_test_setup(test_encode_decode_set_result__use_their_descriptors, setup),
        cmocka_unit_test_setup(test_decode__leaves_the_output_alone_on_failure, setup),
        cmocka_unit_test(test_make__sets_what_the_descriptor_calls_the_default),
        cmocka_unit_test(test_make__default_beyond_one_literal_is_whole),
        cmocka_unit_test(test_make__has_exact_defaults),
        cmocka_unit_test(test_make__takes_lists_and_arrays),
        cmocka_unit_test(test_make__leaves_no_byte_unset),
        cmocka_unit_test(test_descriptor__points_into_the_struct),
        cmocka_unit_test(test_descriptor__has_the_limits),
        cmocka_unit_test(test_descriptor__has_the_policy_in_milliseconds),
        cmocka_unit_test(test_enum__names_its_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
