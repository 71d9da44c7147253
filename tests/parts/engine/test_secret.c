/* What a handler says holds none of the secrets of its params and of its result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/secret.h"
#include "handler/execution.h"

/* --- texts ----------------------------------------------------------------------------------- */

struct inner {
    const char *name;
};

struct params {
    const char *open;
    const char *token;
    culex_bytes key;
    culex_uuid id;
    int64_t pin;
    double share;
    culex_time birth;
    const char *const *codes;
    size_t codes_len;
    struct inner owner;
    bool has_spare;
    const char *spare;
    bool flag;
};

#define FIELD(member, which, more)                                                                 \
    {                                                                                              \
        .name = #member, .wire = #member, .kind = CULEX_KIND_##which,                              \
        .offset = offsetof(struct params, member), .flags = CULEX_FIELD_SECRET | (more)            \
    }

static const culex_field inner_fields[] = {
    {.name = "name", .wire = "name", .kind = CULEX_KIND_STRING, .offset = 0}};
static const culex_struct_type inner_type = {"inner", sizeof(struct inner), inner_fields, 1};

static const culex_field fields[] = {
    {.name = "open",
     .wire = "open",
     .kind = CULEX_KIND_STRING,
     .offset = offsetof(struct params, open)},
    FIELD(token, STRING, 0),
    FIELD(key, BYTES, 0),
    FIELD(id, UUID, 0),
    {.name = "pin",
     .wire = "pin",
     .kind = CULEX_KIND_INT64,
     .flags = CULEX_FIELD_SECRET,
     .offset = offsetof(struct params, pin),
     .min = INT64_MIN,
     .max = INT64_MAX},
    FIELD(share, FLOAT64, 0),
    {.name = "birth",
     .wire = "birth",
     .kind = CULEX_KIND_TIMESTAMP,
     .flags = CULEX_FIELD_SECRET,
     .offset = offsetof(struct params, birth)},
    {.name = "codes",
     .wire = "codes",
     .kind = CULEX_KIND_STRING,
     .shape = CULEX_SHAPE_LIST,
     .flags = CULEX_FIELD_SECRET,
     .offset = offsetof(struct params, codes),
     .len_offset = offsetof(struct params, codes_len)},
    {.name = "owner",
     .wire = "owner",
     .kind = CULEX_KIND_STRUCT,
     .flags = CULEX_FIELD_SECRET,
     .offset = offsetof(struct params, owner),
     .struct_type = &inner_type},
    {.name = "spare",
     .wire = "spare",
     .kind = CULEX_KIND_STRING,
     .flags = CULEX_FIELD_SECRET | CULEX_FIELD_OPTIONAL,
     .offset = offsetof(struct params, spare),
     .has_offset = offsetof(struct params, has_spare)},
    FIELD(flag, BOOL, 0),
};
static const culex_struct_type params_type = {"t.params", sizeof(struct params), fields,
                                              sizeof fields / sizeof fields[0]};

static struct params params_make(void)
{
    static const char *const codes[] = {"abcd", "abcdefgh", "gh12345", "xyz"};
    static const uint8_t key[] = {'r', 'a', 'w', '-', 0xfe, '!'};
    return (struct params){.open = "public",
                           .token = "hunter2\"x",
                           .key = {key, sizeof key},
                           .id = {{0x01, 0x92, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 1}},
                           .pin = -98765,
                           .share = 0.125,
                           .birth = INT64_C(1000000000000000000),
                           .codes = codes,
                           .codes_len = 4,
                           .owner = {"Ann Example"},
                           .spare = "never there",
                           .flag = true};
}

static void test_scrub__each_kind_as_it_is_and_as_in_the_payload(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"nothing of it: public, true", "nothing of it: public, true"},
        {"token hunter2\"x.", "token [secret]."},
        {"as JSON hunter2\\\"x.", "as JSON [secret]."},
        {"key raw-\xfe!", "key [secret]"},
        {"key cmF3Lf4h", "key [secret]"},
        {"id 01920000-0000-7000-8000-000000000001", "id [secret]"},
        {"pin -98765", "pin [secret]"},
        {"share 0.125", "share [secret]"},
        {"born 2001-09-09T01:46:40Z", "born [secret]"},
        {"owner Ann Example", "owner [secret]"},
        {"absent never there", "absent never there"},
        {"short xyz", "short xyz"},
        {"longest abcdefgh", "longest [secret]"},
        {"overlapping abcdefgh12345", "overlapping [secret]"},
        {"twice abcdabcd", "twice [secret][secret]"},
        {"part hunter", "part hunter"},
        {"", ""},
    };
    const struct params params = params_make();
    culex_buf secrets;
    culex_buf_init(&secrets, 0);
    assert_true(culex__secrets_collect(&params_type, &params, &secrets));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        size_t len = culex__secrets_scrub(&secrets, rows[i][0], strlen(rows[i][0]), false, text,
                                          sizeof text);
        assert_string_equal(text, rows[i][1]);
        assert_int_equal(len, strlen(rows[i][1]));
    }
    culex_buf_release(&secrets);
}

static void test_scrub__a_value_that_the_text_breaks_off_goes_too(void **state)
{
    (void)state;
    const struct params params = params_make();
    culex_buf secrets;
    char text[64];
    culex_buf_init(&secrets, 0);
    assert_true(culex__secrets_collect(&params_type, &params, &secrets));
    culex__secrets_scrub(&secrets, "it is hunter", 12, true, text, sizeof text);
    assert_string_equal(text, "it is [secret]");
    culex__secrets_scrub(&secrets, "it is hun", 9, true, text, sizeof text);
    assert_string_equal(text, "it is hun");
    culex__secrets_scrub(&secrets, "it is abcd", 10, false, text, 9);
    assert_string_equal(text, "it is [s");
    culex_buf_release(&secrets);
}

/* --- runs --------------------------------------------------------------------------------------
 */

static char written[65536];
static size_t written_len;

static void sink_write(void *self, const char *line, size_t len)
{
    (void)self;
    memcpy(written + written_len, line, len);
    written_len += len;
    written[written_len] = '\0';
}

struct one {
    const char *token;
};
static const culex_field one_fields[] = {
    {.name = "token", .wire = "token", .kind = CULEX_KIND_STRING, .flags = CULEX_FIELD_SECRET}};
static const culex_struct_type one_type = {"t.one", sizeof(struct one), one_fields, 1};
static const culex_struct_type none_type = {"t.none", 1, NULL, 0};
static const culex_job_type job_type = {.name = "t.one", .wire = "t.one", .params = &one_type};
static const culex_job_type maker_type = {
    .name = "t.maker", .wire = "t.maker", .params = &none_type, .result = &one_type};

static culex_outcome blab(culex_run *run, culex_handler_fn handler, const void *params, void *user)
{
    const struct one *one = params;
    (void)handler;
    culex_log(run, "log %s", one->token);
    culex_run_progress(run, 5, "progress %s", one->token);
    return *(bool *)user ? culex_run_discard(run, "discard %4090s %s", "", one->token)
                         : culex_run_fail(run, "fail %s", one->token);
}

/* Says what it has in its result. */
static culex_outcome make(culex_run *run, culex_handler_fn handler, const void *params, void *user)
{
    const struct one first = {"hunter2"}, second = {"correct horse"};
    (void)handler;
    (void)params;
    (void)user;
    for (int i = 0; i < 1000; i++)
        assert_int_equal(culex_run_set_result(run, &one_type, &first, NULL), CULEX_OK);
    culex_run_progress(run, 5, "%s", first.token);
    assert_int_equal(culex_run_set_result(run, &one_type, &second, NULL), CULEX_OK);
    return culex_run_fail(run, "fail %s", second.token);
}

static void blab_run(bool is_long, const char *payload, struct culex_run *run)
{
    const struct culex_log log = {
        .sink = {.write = sink_write}, .env = culex__env_system(), .level = CULEX_LOG_INFO};
    culex_arena *arena = culex_arena_create();
    written_len = 0;
    run->job = (struct culex_job){.type = &job_type, .call = blab, .user = &is_long};
    run->log = &log;
    assert_true(culex__run_set_payload(run, payload, strlen(payload)));
    culex__run_execute(run, arena, culex__env_system());
    assert_non_null(strstr(written, "started"));
    culex_arena_free(arena);
}

static void test_run__secrets_leave_in_no_text(void **state)
{
    (void)state;
    struct culex_run *run = culex__run_create();
    char progress[CULEX_PROGRESS_MAX + 1];
    blab_run(false, "{\"token\":\"hunter2\"}", run);
    assert_non_null(strstr(written, "log [secret]\n"));
    culex__news_take_progress(&run->news, 0, progress);
    assert_string_equal(progress, "5 progress [secret]");
    assert_string_equal(run->end.text, "fail [secret]");
    assert_null(strstr(written, "hunter2"));

    /* At the very end of the longest text. */
    blab_run(true, "{\"token\":\"hunter2hunter2\"}", run);
    assert_null(strstr(run->end.text, "hun"));

    /* The next run has its own. */
    blab_run(false, "{\"token\":\"fail log\"}", run);
    assert_string_equal(run->end.text, "fail [secret]");
    culex__run_free(run);
}

static void test_run__secrets_of_its_result_leave_in_no_text(void **state)
{
    (void)state;
    struct culex_run *run = culex__run_create();
    char progress[CULEX_PROGRESS_MAX + 1];
    const struct culex_log log = {
        .sink = {.write = sink_write}, .env = culex__env_system(), .level = CULEX_LOG_INFO};
    culex_arena *arena = culex_arena_create();
    written_len = 0;
    run->job = (struct culex_job){.type = &maker_type, .call = make};
    run->log = &log;
    assert_true(culex__run_set_payload(run, "{}", 2));
    culex__run_execute(run, arena, culex__env_system());
    culex_arena_free(arena);
    culex__news_take_progress(&run->news, 0, progress);
    assert_string_equal(progress, "5 [secret]");
    assert_string_equal(run->end.text, "fail [secret]");
    assert_true(run->secrets.cap < 1000); /* the last result's */
    culex__run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scrub__each_kind_as_it_is_and_as_in_the_payload),
        cmocka_unit_test(test_scrub__a_value_that_the_text_breaks_off_goes_too),
        cmocka_unit_test(test_run__secrets_leave_in_no_text),
        cmocka_unit_test(test_run__secrets_of_its_result_leave_in_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
