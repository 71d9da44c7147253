/* What runs are unique by and counted by: the keys of given values, which no version may change;
 * what a client hands to a store, which is a fake one, and what it tells of the answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "client/client_private.h"
#include "client/run_key.h"

/* --- a store that answers as it is told --------------------------------------------------------
 */

enum { RUNS_MAX = 8 };

struct fake {
    struct culex_store base;
    struct culex_new_run runs[RUNS_MAX]; /* of the newest call; what they borrow is gone */
    char unique[RUNS_MAX][CULEX_STORE_KEY_MAX + 1];
    char keys[RUNS_MAX][CULEX_RUN_LIMITS_MAX][CULEX_LIMIT_KEY_MAX + 1];
    struct culex_run_limit limits[RUNS_MAX][CULEX_RUN_LIMITS_MAX];
    size_t count;
    enum culex_enqueued outcomes[RUNS_MAX]; /* of its answers */
    unsigned losses;                        /* so many answers to come are lost */
};

static culex_uuid id_of(size_t index)
{
    return (culex_uuid){{1, (uint8_t)index}};
}

static culex_status fake_now(struct culex_store *store, int64_t *ret_now_ms, culex_error *error)
{
    (void)store;
    (void)error;
    *ret_now_ms = 1750000000000;
    return CULEX_OK;
}

static void run_take(struct fake *fake, size_t index, const struct culex_new_run *run)
{
    fake->runs[index] = *run;
    snprintf(fake->unique[index], sizeof fake->unique[index], "%s", run->unique_key);
    for (size_t i = 0; i < run->limit_count; i++) {
        fake->limits[index][i] = run->limits[i];
        snprintf(fake->keys[index][i], sizeof fake->keys[index][i], "%s", run->limits[i].key);
    }
}

static culex_status fake_enqueue(struct culex_store *store, const char *queue,
                                 const struct culex_ticket *ticket,
                                 const struct culex_new_run *runs, size_t count,
                                 struct culex_enqueue_result *results, culex_error *error)
{
    struct fake *fake = (struct fake *)store;
    (void)queue;
    (void)ticket;
    assert_true(count <= RUNS_MAX);
    fake->count = count;
    for (size_t i = 0; i < count; i++) {
        run_take(fake, i, &runs[i]);
        results[i] = (struct culex_enqueue_result){fake->outcomes[i], id_of(i)};
    }
    if (fake->losses == 0)
        return CULEX_OK;
    fake->losses--;
    if (error != NULL)
        *error = (culex_error){.code = CULEX_EUNKNOWN};
    return CULEX_EUNKNOWN;
}

static void fake_close(struct culex_store *store)
{
    (void)store;
}

static const struct culex_store_ops fake_table = {
    .name = "fake", .now = fake_now, .enqueue = fake_enqueue, .close = fake_close};

struct bench {
    struct fake fake;
    culex_client *client;
};

static int setup(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    const struct culex_env *env = culex__env_system();
    culex__store_init(&bench->fake.base, &fake_table, env, NULL);
    *state = bench;
    return culex__client_create(&bench->fake.base, 1000, env, &bench->client, NULL);
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    culex_client_close(bench->client);
    free(bench);
    return 0;
}

/* --- a job -------------------------------------------------------------------------------------
 */

struct page {
    const char *tenant;
    uint32_t number;
    bool has_note;
    const char *note;
};

#define PAGE_FIELD(member, its_name, its_wire, of_kind, of_flags)                                  \
    {                                                                                              \
        .name = its_name, .wire = its_wire, .kind = of_kind, .flags = of_flags,                    \
        .offset = offsetof(struct page, member), .has_offset = offsetof(struct page, has_note)     \
    }

static const culex_field page_fields[] = {
    PAGE_FIELD(tenant, "customer", "tenant", CULEX_KIND_STRING, CULEX_FIELD_REQUIRED),
    PAGE_FIELD(number, "number", "number", CULEX_KIND_UINT32, CULEX_FIELD_REQUIRED),
    PAGE_FIELD(note, "note", "note", CULEX_KIND_STRING, CULEX_FIELD_OPTIONAL)};
static const culex_struct_type page_type = {"shop.page", sizeof(struct page), page_fields, 3};
static const uint16_t by_both[] = {1, 0}, by_tenant[] = {0}, by_all[] = {2, 1, 0};

/* As a later version may have it: another order, another name, a mark. */
static const culex_field later_fields[] = {
    PAGE_FIELD(number, "number", "number", CULEX_KIND_UINT32,
               CULEX_FIELD_REQUIRED | CULEX_FIELD_MUST_UNDERSTAND),
    PAGE_FIELD(note, "note", "note", CULEX_KIND_STRING, CULEX_FIELD_OPTIONAL),
    PAGE_FIELD(tenant, "buyer", "tenant", CULEX_KIND_STRING, 0)};
static const culex_struct_type later_type = {"shop.page", sizeof(struct page), later_fields, 3};
static const uint16_t later_both[] = {0, 2}, later_tenant[] = {2};

static const culex_limit page_limits[] = {
    {CULEX_LIMIT_CONCURRENCY, "shop.page:concurrency", 100, 0, 0, NULL, 0},
    {CULEX_LIMIT_RATE, "shop.page:rate_by_tenant", 1000, 60000, 50, by_tenant, 1},
    {CULEX_LIMIT_FAIR, "shop.page:fair_by_number.tenant", 0, 0, 0, by_both, 2}};

static culex_job_type page_job(void)
{
    return (culex_job_type){.descriptor_version = CULEX_DESCRIPTOR_VERSION,
                            .name = "shop.page",
                            .wire = "shop.page",
                            .queue = "pages",
                            .params = &page_type,
                            .unique = {.is_unique = true,
                                       .by = by_both,
                                       .by_count = 2,
                                       .while_states = CULEX_UNIQUE_LIVE},
                            .limits = page_limits,
                            .limit_count = 3};
}

static void keys_make(const culex_job_type *type, const struct page *page,
                      struct culex_run_keys *ret_keys)
{
    struct culex_new_run run = {0};
    culex_buf scratch;
    culex_buf_init(&scratch, CULEX_PAYLOAD_MAX);
    assert_int_equal(culex__run_keys_make(type, page, &scratch, ret_keys, &run, NULL), CULEX_OK);
    assert_int_equal(scratch.len, 0);
    culex_buf_release(&scratch);
}

static void unique_assert(const culex_job_type *type, const char *tenant, uint32_t number,
                          const char *note, const char *key)
{
    struct culex_run_keys keys;
    const struct page page = {tenant, number, note != NULL, note};
    keys_make(type, &page, &keys);
    assert_string_equal(keys.unique, key);
}

/* --- keys ----------------------------------------------------------------------------------------
 */

/* Also computed by hashlib, of "number\0" "7\0" "tenant\0" "\"acme\"\0" "shop.page" for the first.
 */
#define KEY_ACME_7     "9c5f789464ff02503645fac3d098b925da25fcd2"
#define KEY_ACME_7_ALL "296f471de339bbb197efe7f73ecca8abd1904bd0"
#define KEY_EMPTY_NOTE "1091226eb12a6d4ca32cec5d590d251830cdf696"
#define KEY_OF_THE_JOB "307726cccb95fbdca82230165628152e8017cffc"

static void test_keys_are_these_for_ever(void **state)
{
    (void)state;
    culex_job_type type = page_job();
    unique_assert(&type, "acme", 7, NULL, KEY_ACME_7);
    unique_assert(&type, "acme", 7, "no part of it", KEY_ACME_7);
    type.unique.by = by_all;
    type.unique.by_count = 3;
    unique_assert(&type, "acme", 7, NULL, KEY_ACME_7_ALL);
    unique_assert(&type, "acme", 7, "", KEY_EMPTY_NOTE);
    type.unique.by = NULL;
    type.unique.by_count = 0;
    unique_assert(&type, "acme", 7, NULL, KEY_OF_THE_JOB);
    unique_assert(&type, "other", 8, "x", KEY_OF_THE_JOB);
}

static void test_versions_of_a_schema_agree(void **state)
{
    (void)state;
    struct culex_run_keys keys;
    const struct page page = {"acme", 7, false, NULL};
    culex_limit limit = page_limits[1];
    culex_job_type type = page_job();
    limit.by = later_tenant;
    type.name = "shop.sheet";
    type.params = &later_type;
    type.unique.by = later_both;
    type.limits = &limit;
    type.limit_count = 1;
    keys_make(&type, &page, &keys);
    assert_string_equal(keys.unique, KEY_ACME_7);
    assert_string_equal(keys.limits[0].key, "acme");
    type.wire = "shop.sheet";
    keys_make(&type, &page, &keys);
    assert_string_not_equal(keys.unique, KEY_ACME_7);
}

static void parts_add(struct culex_key_maker *maker, const char *const *parts)
{
    culex__key_begin(maker);
    for (; *parts != NULL; parts += 2)
        culex__key_add(maker, parts[0], parts[1], strlen(parts[1]));
}

static void unique_of(const char *job, const char *const *parts, char *ret_key)
{
    struct culex_key_maker maker;
    parts_add(&maker, parts);
    culex__key_end_unique(&maker, job, ret_key);
}

/* Whatever is moved from one place to the next. */
static void test_values_do_not_run_into_each_other(void **state)
{
    (void)state;
    static const struct {
        const char *job, *parts[7];
    } rows[] = {{"j", {"a", "\"b\"", "c", "1", NULL}},
                {"j", {"a", "\"b\"", "c", "11", NULL}},
                {"j", {"a", "\"bc\"", "", "1", NULL}},
                {"j", {"ab", "\"\"", "c", "1", NULL}},
                {"c", {"a", "\"b\"", NULL}},
                {"1j", {"a", "\"b\"", "c", "", NULL}},
                {"j", {"a", "\"b\"", NULL}},
                {"j", {NULL}},
                {"j", {"a", "", NULL}},
                {"a", {"j", "", NULL}}};
    enum { COUNT = sizeof rows / sizeof rows[0] };
    char keys[COUNT][CULEX_UNIQUE_KEY_LEN + 1];
    for (size_t i = 0; i < COUNT; i++) {
        unique_of(rows[i].job, rows[i].parts, keys[i]);
        assert_int_equal(strspn(keys[i], "0123456789abcdef"), CULEX_UNIQUE_KEY_LEN);
        for (size_t other = 0; other < i; other++)
            assert_string_not_equal(keys[i], keys[other]);
    }
}

static void limit_assert(const char *const *parts, const char *key)
{
    char made[CULEX_LIMIT_KEY_MAX + 1];
    struct culex_key_maker maker;
    parts_add(&maker, parts);
    culex__key_end_limit(&maker, made);
    if (key != NULL) {
        assert_string_equal(made, key);
        return;
    }
    assert_int_equal(made[0], '#');
    assert_int_equal(strspn(made + 1, "0123456789abcdef"), CULEX_UNIQUE_KEY_LEN);
    assert_int_equal(strlen(made), 1 + CULEX_UNIQUE_KEY_LEN);
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define TEXT_16    "0123456789abcdef"
#define TEXT_64    TEXT_16 TEXT_16 TEXT_16 TEXT_16

static void test_key_of_a_limit_can_be_read(void **state)
{
    (void)state;
    limit_assert(PARTS(NULL), "");
    limit_assert(PARTS("n", "-7"), "-7");
    limit_assert(PARTS("n", "true"), "true");
    limit_assert(PARTS("a", "\"acme.com/eu:1\"", "b", "12"), "acme.com/eu:1+12");
    limit_assert(PARTS("t", "\"" TEXT_64 "\""), TEXT_64);
}

static void test_key_of_a_limit_that_cannot_be_shown_is_a_digest(void **state)
{
    (void)state;
    limit_assert(PARTS("t", "\"" TEXT_64 "x\""), NULL);
    limit_assert(PARTS("t", "\"" TEXT_64 "\"", "n", "1"), NULL);
    static const char *const texts[] = {
        "\"\"",    "",         "\"a b\"",  "\"a+b\"",       "\"a|b\"", "\"a;b\"",   "\"a=b\"",
        "\"#ab\"", "\"a\\n\"", "\"\\\"\"", "\"m\xc3\xbc\"", "[1,2]",   "{\"a\":1}", "\"a,b\""};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        limit_assert(PARTS("t", texts[i]), NULL);
}

static void test_value_of_10_kb_is_no_error(void **state)
{
    (void)state;
    enum { LEN = 10000 };
    char text[LEN + 1];
    struct culex_run_keys keys;
    culex_job_type type = page_job();
    memset(text, 'x', LEN);
    text[LEN] = '\0';
    keys_make(&type, &(struct page){text, 7, false, NULL}, &keys);
    assert_int_equal(strlen(keys.unique), CULEX_UNIQUE_KEY_LEN);
    assert_string_equal(keys.limits[0].key, "");
    assert_string_equal(keys.limits[1].key, "#4897b658fbb88c7dbf08b6a34511de6b232d4f52");
}

/* --- what a store is given -----------------------------------------------------------------------
 */

static void enqueue(struct bench *bench, const culex_job_type *type,
                    const culex_enqueue_options *options)
{
    culex_error error = {0};
    const struct page page = {"acme", 7, false, NULL};
    if (culex_client_enqueue(bench->client, type, &page, options, NULL, &error) != CULEX_OK)
        fail_msg("%s", error.text);
}

static void test_store_gets_key_and_limits(void **state)
{
    struct bench *bench = *state;
    struct fake *fake = &bench->fake;
    culex_job_type type = page_job();
    type.unique.for_ms = 600000;
    enqueue(bench, &type, NULL);
    assert_string_equal(fake->unique[0], KEY_ACME_7);
    assert_int_equal(fake->runs[0].unique_while, CULEX_UNIQUE_LIVE);
    assert_int_equal(fake->runs[0].unique_for_ms, 600000);
    assert_false(fake->runs[0].unique_replaces);
    assert_int_equal(fake->runs[0].limit_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct culex_run_limit *limit = &fake->limits[0][i];
        assert_int_equal(limit->kind, page_limits[i].kind);
        assert_string_equal(limit->name, page_limits[i].name);
        assert_int_equal(limit->count, page_limits[i].count);
        assert_int_equal(limit->per_ms, page_limits[i].per_ms);
        assert_int_equal(limit->burst, page_limits[i].burst);
    }
    assert_string_equal(fake->keys[0][0], "");
    assert_string_equal(fake->keys[0][1], "acme");
    assert_string_equal(fake->keys[0][2], "7+acme");
    type.unique.on_conflict = CULEX_ON_CONFLICT_REPLACE;
    enqueue(bench, &type, NULL);
    assert_true(fake->runs[0].unique_replaces);
}

static void test_job_without_any_has_none(void **state)
{
    struct bench *bench = *state;
    culex_job_type type = page_job();
    type.unique = (culex_unique){0};
    type.limits = NULL;
    type.limit_count = 0;
    enqueue(bench, &type, NULL);
    assert_string_equal(bench->fake.unique[0], "");
    assert_int_equal(bench->fake.runs[0].unique_while, 0);
    assert_int_equal(bench->fake.runs[0].limit_count, 0);
    type.limits = page_limits;
    type.limit_count = 1;
    enqueue(bench, &type, NULL);
    assert_string_equal(bench->fake.unique[0], "");
    assert_int_equal(bench->fake.runs[0].limit_count, 1);
}

static void test_runs_of_a_batch_have_keys_of_their_own(void **state)
{
    struct bench *bench = *state;
    culex_job_type type = page_job();
    const struct page pages[3] = {
        {"acme", 7, false, NULL}, {"acme", 8, false, NULL}, {"b c", 7, false, NULL}};
    assert_int_equal(culex_client_enqueue_many(bench->client, &type, pages, sizeof pages[0], 3,
                                               NULL, NULL, NULL, NULL),
                     CULEX_OK);
    assert_string_equal(bench->fake.unique[0], KEY_ACME_7);
    assert_string_not_equal(bench->fake.unique[1], KEY_ACME_7);
    assert_string_equal(bench->fake.keys[1][2], "8+acme");
    assert_int_equal(bench->fake.keys[2][1][0], '#');
}

static void test_debounce_delays_what_has_neither_delay_nor_time(void **state)
{
    struct bench *bench = *state;
    culex_job_type type = page_job();
    culex_enqueue_options options = culex_enqueue_options_make();
    type.unique.delay_ms = 5000;
    enqueue(bench, &type, NULL);
    assert_int_equal(bench->fake.runs[0].delay_ms, 5000);
    enqueue(bench, &type, &options);
    assert_int_equal(bench->fake.runs[0].delay_ms, 5000);
    options.has_delay = true;
    enqueue(bench, &type, &options);
    assert_int_equal(bench->fake.runs[0].delay_ms, 0);
    options.delay = culex_seconds(1);
    enqueue(bench, &type, &options);
    assert_int_equal(bench->fake.runs[0].delay_ms, 1000);
    options = culex_enqueue_options_make();
    options.has_at = true;
    options.at = culex_time_from_unix(1900000000);
    enqueue(bench, &type, &options);
    assert_int_equal(bench->fake.runs[0].delay_ms, 0);
    assert_int_equal(bench->fake.runs[0].at_ms, 1900000000000);
}

static void test_value_that_cannot_be_stored_is_an_error(void **state)
{
    struct bench *bench = *state;
    culex_error error = {0};
    culex_job_type type = page_job();
    const struct page page = {NULL, 7, false, NULL};
    assert_int_equal(culex_client_enqueue(bench->client, &type, &page, NULL, NULL, &error),
                     CULEX_EENCODE);
    assert_non_null(strstr(error.text, "customer"));
    assert_int_equal(bench->fake.count, 0);
}

static void test_descriptor_with_too_many_limits_is_refused(void **state)
{
    struct bench *bench = *state;
    culex_job_type type = page_job();
    type.limit_count = CULEX_RUN_LIMITS_MAX + 1;
    const struct page page = {"acme", 7, false, NULL};
    assert_int_equal(culex_client_enqueue(bench->client, &type, &page, NULL, NULL, NULL),
                     CULEX_EINVAL);
}

/* --- what the caller is told ---------------------------------------------------------------------
 */

static culex_status outcome_of(struct bench *bench, culex_on_conflict on_conflict,
                               enum culex_enqueued answer, culex_enqueue_outcome *ret_outcome,
                               culex_error *error)
{
    const culex_uuid expected = id_of(0);
    culex_uuid id = {{0}};
    culex_job_type type = page_job();
    const struct page page = {"acme", 7, false, NULL};
    culex_enqueue_options options = culex_enqueue_options_make();
    options.ret_outcomes = ret_outcome;
    type.unique.on_conflict = on_conflict;
    bench->fake.outcomes[0] = answer;
    culex_status status = culex_client_enqueue(bench->client, &type, &page, &options, &id, error);
    assert_memory_equal(&id, &expected, sizeof id);
    return status;
}

static void test_caller_learns_what_became_of_it(void **state)
{
    struct bench *bench = *state;
    static const struct {
        enum culex_enqueued answer;
        culex_enqueue_outcome outcome;
    } rows[] = {{CULEX_ENQUEUED_NEW, CULEX_ENQUEUE_NEW},
                {CULEX_ENQUEUED_DUPLICATE, CULEX_ENQUEUE_DUPLICATE},
                {CULEX_ENQUEUED_UNIQUE_TAKEN, CULEX_ENQUEUE_KEPT},
                {CULEX_ENQUEUED_REPLACED, CULEX_ENQUEUE_REPLACED}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        culex_enqueue_outcome outcome = (culex_enqueue_outcome)99;
        assert_int_equal(
            outcome_of(bench, CULEX_ON_CONFLICT_REPLACE, rows[i].answer, &outcome, NULL), CULEX_OK);
        assert_int_equal(outcome, rows[i].outcome);
        assert_int_equal(outcome_of(bench, CULEX_ON_CONFLICT_KEEP, rows[i].answer, NULL, NULL),
                         CULEX_OK);
    }
}

static void test_error_has_the_id_of_the_run_that_is_there(void **state)
{
    struct bench *bench = *state;
    culex_error error = {0};
    culex_enqueue_outcome outcome = CULEX_ENQUEUE_NEW;
    assert_int_equal(
        outcome_of(bench, CULEX_ON_CONFLICT_ERROR, CULEX_ENQUEUED_UNIQUE_TAKEN, &outcome, &error),
        CULEX_EUNIQUE);
    assert_int_equal(outcome, CULEX_ENQUEUE_KEPT);
    char id[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(id_of(0), id);
    assert_non_null(strstr(error.text, id));
}

static void test_batch_tells_of_each(void **state)
{
    struct bench *bench = *state;
    culex_job_type type = page_job();
    const struct page pages[4] = {
        {"a", 1, false, NULL}, {"a", 2, false, NULL}, {"a", 3, false, NULL}, {"a", 4, false, NULL}};
    culex_uuid ids[4] = {{{0}}};
    culex_enqueue_outcome outcomes[4];
    culex_enqueue_options options = culex_enqueue_options_make();
    options.ret_outcomes = outcomes;
    bench->fake.outcomes[1] = CULEX_ENQUEUED_UNIQUE_TAKEN;
    bench->fake.outcomes[2] = CULEX_ENQUEUED_REPLACED;
    size_t enqueued = 0;
    assert_int_equal(culex_client_enqueue_many(bench->client, &type, pages, sizeof pages[0], 4,
                                               &options, ids, &enqueued, NULL),
                     CULEX_OK);
    static const culex_enqueue_outcome told[] = {CULEX_ENQUEUE_NEW, CULEX_ENQUEUE_KEPT,
                                                 CULEX_ENQUEUE_REPLACED, CULEX_ENQUEUE_NEW};
    assert_int_equal(enqueued, 4);
    assert_memory_equal(outcomes, told, sizeof told);
    type.unique.on_conflict = CULEX_ON_CONFLICT_ERROR;
    memset(ids, 0, sizeof ids);
    assert_int_equal(culex_client_enqueue_many(bench->client, &type, pages, sizeof pages[0], 4,
                                               &options, ids, &enqueued, NULL),
                     CULEX_EUNIQUE);
    const culex_uuid expected[4] = {id_of(0), id_of(1), {{0}}, {{0}}};
    assert_int_equal(enqueued, 1);
    assert_memory_equal(ids, expected, sizeof ids);
}

/* The try without an answer may bring its run as soon as nobody has the key any more. */
static void test_kept_behind_a_lost_answer_is_unknown(void **state)
{
    struct bench *bench = *state;
    culex_error error = {0};
    culex_uuid id;
    culex_job_type type = page_job();
    const struct page page = {"acme", 7, false, NULL};
    bench->fake.outcomes[0] = CULEX_ENQUEUED_UNIQUE_TAKEN;
    bench->fake.losses = 1;
    assert_int_equal(culex_client_enqueue(bench->client, &type, &page, NULL, &id, &error),
                     CULEX_EUNKNOWN);
    assert_int_equal(error.code, CULEX_EUNKNOWN);
    bench->fake.outcomes[0] = CULEX_ENQUEUED_REPLACED;
    bench->fake.losses = 1;
    assert_int_equal(culex_client_enqueue(bench->client, &type, &page, NULL, &id, &error),
                     CULEX_OK);
}

/* --- the digest ----------------------------------------------------------------------------------
 */

static void digest_assert(const char *text, size_t len, size_t piece, const char *hex)
{
    struct culex_sha256 hash;
    unsigned char digest[CULEX_SHA256_BYTES];
    char shown[2 * CULEX_SHA256_BYTES + 1];
    culex__sha256_begin(&hash);
    for (size_t at = 0; at < len; at += piece)
        culex__sha256_add(&hash, text + at, len - at < piece ? len - at : piece);
    culex__sha256_end(&hash, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(shown + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(shown, hex);
}

/* The first three are of FIPS 180-4's examples, the rest of other programs. */
static void test_digest_is_sha256(void **state)
{
    (void)state;
    enum { MILLION = 1000000 };
    char *many = malloc(MILLION);
    assert_non_null(many);
    memset(many, 'a', MILLION);
    digest_assert("abc", 3, 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_assert("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, 56,
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    digest_assert(many, MILLION, 997,
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    digest_assert("", 0, 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_assert(many, 55, 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    digest_assert(many, 63, 1, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
    digest_assert(many, 64, 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    digest_assert(many, 119, 64,
                  "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_are_these_for_ever),
        cmocka_unit_test(test_versions_of_a_schema_agree),
        cmocka_unit_test(test_values_do_not_run_into_each_other),
        cmocka_unit_test(test_key_of_a_limit_can_be_read),
        cmocka_unit_test(test_key_of_a_limit_that_cannot_be_shown_is_a_digest),
        cmocka_unit_test(test_value_of_10_kb_is_no_error),
        cmocka_unit_test_setup_teardown(test_store_gets_key_and_limits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_job_without_any_has_none, setup, teardown),
        cmocka_unit_test_setup_teardown(test_runs_of_a_batch_have_keys_of_their_own, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_debounce_delays_what_has_neither_delay_nor_time, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_value_that_cannot_be_stored_is_an_error, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_descriptor_with_too_many_limits_is_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_caller_learns_what_became_of_it, setup, teardown),
        cmocka_unit_test_setup_teardown(test_error_has_the_id_of_the_run_that_is_there, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_batch_tells_of_each, setup, teardown),
        cmocka_unit_test_setup_teardown(test_kept_behind_a_lost_answer_is_unknown, setup, teardown),
        cmocka_unit_test(test_digest_is_sha256),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
