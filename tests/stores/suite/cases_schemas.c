/* suite/cases_schemas.c - the texts of schemas: told, listed, read, and which of them make room. */
#include "suite.h"

#include "cases.h"

#include "base/buf.h"
#include "store/schema_list.h"

enum {
    MOST_BYTES = 65536,
    MOST_SCHEMAS = 512,
    MINUTE_MS = 60000,
    HOUR_MS = 60 * MINUTE_MS,
    DAY_MS = 24 * HOUR_MS
};

static culex_status publish(struct suite *suite, const char *job, uint64_t fingerprint,
                            const char *text)
{
    const struct culex_schema_text schema = {
        {job, fingerprint, culex__schema_digest(text, strlen(text))}, text, strlen(text)};
    return suite->store->ops->schema_publish(suite->store, suite->queue, &schema, NULL);
}

static struct culex_schema_list list(struct suite *suite)
{
    struct culex_schema_list told = {.now_ms = -1};
    assert_ok(suite->store->ops->schemas(suite->store, suite->queue, &told, NULL));
    assert_int_equal(told.now_ms, suite->now_ms);
    return told;
}

static void assert_count(struct suite *suite, size_t count)
{
    struct culex_schema_list told = list(suite);
    assert_int_equal(told.count, count);
    culex__schema_list_release(&told);
}

static void assert_row(const struct culex_schema_row *row, const char *job, uint64_t fingerprint,
                       int64_t told_ms, size_t len)
{
    assert_string_equal(row->id.job, job);
    assert_int_equal(row->id.fingerprint, fingerprint);
    assert_int_equal(row->told_ms, told_ms);
    assert_int_equal(row->len, len);
}

/* NULL for `text`: there is none. */
static void assert_text_of(struct suite *suite, const struct culex_schema_id *id, const char *text)
{
    culex_buf told;
    culex_buf_init(&told, 0);
    assert_int_equal(suite->store->ops->schema_text(suite->store, suite->queue, id, &told, NULL),
                     text != NULL ? CULEX_OK : CULEX_ENOTFOUND);
    assert_int_equal(told.len, text != NULL ? strlen(text) : 0);
    if (text != NULL)
        assert_memory_equal(told.data, text, told.len);
    culex_buf_release(&told);
}

static void assert_text(struct suite *suite, const char *job, uint64_t fingerprint,
                        const char *text)
{
    assert_text_of(suite, &(struct culex_schema_id){job, fingerprint, 0}, text);
}

void case_schemas__none_are_there_at_first(struct suite *suite)
{
    assert_count(suite, 0);
    suite_put(suite);
    assert_count(suite, 0);
    assert_text(suite, "shop.send", 7, NULL);
    assert_text(suite, "shop.send", 0, NULL);
}

void case_schemas__are_told_as_they_were_published(struct suite *suite)
{
    static const char text[] = "{\"job\":\"it's\",\"|\":\"\xe2\x82\xac\r\n%s\"}";
    suite_put(suite);
    assert_ok(publish(suite, "it's", UINT64_MAX, text));
    struct culex_schema_list told = list(suite);
    assert_int_equal(told.count, 1);
    assert_row(&told.rows[0], "it's", UINT64_MAX, suite->now_ms, strlen(text));
    culex__schema_list_release(&told);
    assert_text(suite, "it's", UINT64_MAX, text);
    assert_text(suite, "it's", 0, text);
    assert_text(suite, "it's", 1, NULL);
    assert_text(suite, "its", 0, NULL);
}

void case_schemas__are_listed_by_job_the_newest_told_first(struct suite *suite)
{
    int64_t first = suite->now_ms;
    suite_put(suite);
    assert_ok(publish(suite, "b", 9, "b9"));
    assert_ok(publish(suite, "a", 3, "a3"));
    assert_ok(publish(suite, "a", UINT64_MAX, "top"));
    suite->now_ms += 1;
    assert_ok(publish(suite, "b", 0x8000000000000000, "middle"));
    struct culex_schema_list told = list(suite);
    assert_int_equal(told.count, 4);
    assert_row(&told.rows[0], "a", 3, first, 2);
    assert_row(&told.rows[1], "a", UINT64_MAX, first, 3);
    assert_row(&told.rows[2], "b", 0x8000000000000000, first + 1, 6);
    assert_row(&told.rows[3], "b", 9, first, 2);
    culex__schema_list_release(&told);
    assert_text(suite, "a", 0, "a3");
    assert_text(suite, "b", 0, "middle");
}

static void assert_told(struct suite *suite, int64_t told_ms)
{
    struct culex_schema_list told = list(suite);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.rows[0].told_ms, told_ms);
    culex__schema_list_release(&told);
}

void case_schemas__that_are_told_again_soon_stay_as_they_are(struct suite *suite)
{
    int64_t first = suite->now_ms;
    suite_put(suite);
    assert_ok(publish(suite, "a", 3, "text"));
    suite->now_ms = first + MINUTE_MS - 1;
    assert_ok(publish(suite, "a", 3, "text"));
    assert_told(suite, first);
    suite->now_ms = first + MINUTE_MS;
    assert_ok(publish(suite, "a", 3, "text"));
    assert_told(suite, first + MINUTE_MS);
    suite->now_ms = first; /* the clock was set back */
    assert_ok(publish(suite, "a", 3, "text"));
    assert_told(suite, first);
}

/* A version that is rolled back is what is enqueued by, from its first worker's start on. */
void case_schemas__that_come_back_soon_are_the_newest_again(struct suite *suite)
{
    suite_put(suite);
    assert_ok(publish(suite, "a", 3, "old"));
    suite->now_ms += 1000;
    assert_ok(publish(suite, "a", 4, "new"));
    assert_text(suite, "a", 0, "new");
    suite->now_ms += 1000;
    assert_ok(publish(suite, "b", 5, "of another job"));
    assert_ok(publish(suite, "a", 3, "old"));
    assert_text(suite, "a", 0, "old");
    suite->now_ms += 1000;
    assert_ok(publish(suite, "a", 4, "new"));
    assert_text(suite, "a", 0, "new");
    assert_count(suite, 3);
}

void case_schemas__of_another_text_stand_beside_each_other(struct suite *suite)
{
    struct culex_schema_id id = {"a", 3, culex__schema_digest("text", 4)};
    suite_put(suite);
    assert_ok(publish(suite, "a", 3, "text"));
    suite->now_ms += 1;
    assert_ok(publish(suite, "a", 3, "TEXT"));
    assert_count(suite, 2);
    assert_text(suite, "a", 3, "TEXT");
    assert_text_of(suite, &id, "text");
    id.fingerprint = 0;
    assert_text_of(suite, &id, "text");
    id.fingerprint = 4;
    assert_text_of(suite, &id, NULL);
    id = (struct culex_schema_id){"a", 3, id.digest + 1};
    assert_text_of(suite, &id, NULL);
    suite->now_ms += MINUTE_MS;
    assert_ok(publish(suite, "a", 3, "text"));
    assert_count(suite, 2);
    assert_text(suite, "a", 0, "text");
}

void case_schemas__told_at_one_time_are_in_the_order_of_their_digests(struct suite *suite)
{
    static const uint64_t digests[] = {UINT64_MAX, 1, 0x8000000000000000};
    suite_put(suite);
    for (size_t i = 0; i < sizeof digests / sizeof digests[0]; i++) {
        const struct culex_schema_text schema = {{"a", 3, digests[i]}, &"text"[i], 4 - i};
        assert_ok(suite->store->ops->schema_publish(suite->store, suite->queue, &schema, NULL));
    }
    struct culex_schema_list told = list(suite);
    assert_int_equal(told.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(told.rows[i].id.digest, digests[(i + 1) % 3]);
    assert_row(&told.rows[1], "a", 3, suite->now_ms, 2);
    culex__schema_list_release(&told);
    assert_text(suite, "a", 3, "ext");
}

void case_schemas__are_apart_by_queue(struct suite *suite)
{
    suite_put(suite);
    assert_ok(publish(suite, "a", 3, "text"));
    strcpy(suite->queue, "other");
    suite_put(suite);
    assert_count(suite, 0);
    assert_text(suite, "a", 3, NULL);
    assert_ok(publish(suite, "a", 3, "of other"));
    assert_text(suite, "a", 3, "of other");
}

void case_schemas__of_a_queue_that_nobody_used_are_refused(struct suite *suite)
{
    strcpy(suite->queue, "nobody");
    assert_int_equal(publish(suite, "a", 3, "text"), CULEX_ENOTFOUND);
    assert_count(suite, 0);
}

void case_schemas__out_of_form_are_refused(struct suite *suite)
{
    static char text[MOST_BYTES + 2];
    suite_put(suite);
    memset(text, 'x', MOST_BYTES + 1);
    assert_int_equal(publish(suite, "a", 3, text), CULEX_ELIMIT);
    assert_int_equal(publish(suite, "a", 3, ""), CULEX_ELIMIT);
    assert_int_equal(publish(suite, "a", 0, "text"), CULEX_EINVAL);
    assert_int_equal(publish(suite, "", 3, "text"), CULEX_EINVAL);
    assert_int_equal(publish(suite, "a|b", 3, "text"), CULEX_EINVAL);
    assert_int_equal(publish(suite, "a", 3, "\xff"), CULEX_EINVAL);
    const struct culex_schema_text schema = {{"a", 3, 0}, "text", 4};
    assert_int_equal(suite->store->ops->schema_publish(suite->store, suite->queue, &schema, NULL),
                     CULEX_EINVAL);
    assert_count(suite, 0);
    text[MOST_BYTES] = '\0';
    assert_ok(publish(suite, "a", 3, text));
    assert_text(suite, "a", 3, text);
}

void case_schemas__that_are_too_many_are_refused_for_a_day(struct suite *suite)
{
    int64_t first = suite->now_ms;
    suite_put(suite);
    assert_ok(publish(suite, "z", 1, "told first"));
    suite->now_ms += 1;
    for (uint64_t i = 1; i < MOST_SCHEMAS; i++)
        assert_ok(publish(suite, "a", i, "text"));
    suite->now_ms = first + DAY_MS - 1;
    assert_int_equal(publish(suite, "b", 1, "text"), CULEX_ELIMIT);
    assert_count(suite, MOST_SCHEMAS);
    assert_ok(publish(suite, "a", 1, "text"));
    assert_int_equal(publish(suite, "a", 1, "another"), CULEX_ELIMIT);
    suite->now_ms = first + DAY_MS;
    assert_ok(publish(suite, "b", 1, "text"));
    assert_count(suite, MOST_SCHEMAS);
    assert_text(suite, "z", 1, NULL);
    assert_text(suite, "b", 1, "text");
    assert_int_equal(publish(suite, "b", 2, "text"), CULEX_ELIMIT);
}

static struct culex_schema_list sweep(struct suite *suite, uint64_t *ret_arrivals)
{
    struct culex_schema_list stale = {.now_ms = -1};
    assert_ok(
        suite->store->ops->schema_sweep(suite->store, suite->queue, &stale, ret_arrivals, NULL));
    return stale;
}

static void assert_swept(struct suite *suite, size_t count)
{
    uint64_t arrivals;
    struct culex_schema_list stale = sweep(suite, &arrivals);
    assert_int_equal(stale.count, count);
    culex__schema_list_release(&stale);
}

void case_schemas__that_nobody_tells_are_swept_once_an_hour(struct suite *suite)
{
    uint64_t arrivals;
    int64_t first = suite->now_ms;
    suite_put(suite);
    assert_ok(publish(suite, "b", 1, "text"));
    assert_ok(publish(suite, "a", 2, "text"));
    suite->now_ms = first + HOUR_MS;
    assert_ok(publish(suite, "c", 3, "told later"));
    suite->now_ms = first + DAY_MS - 1;
    assert_swept(suite, 0);
    suite->now_ms = first + DAY_MS;
    struct culex_schema_list stale = sweep(suite, &arrivals);
    assert_int_equal(stale.now_ms, suite->now_ms);
    assert_int_equal(stale.count, 2);
    assert_row(&stale.rows[0], "a", 2, first, 4);
    assert_row(&stale.rows[1], "b", 1, first, 4);
    culex__schema_list_release(&stale);
    suite->now_ms += HOUR_MS - 1;
    assert_swept(suite, 0);
    suite->now_ms += 1;
    assert_swept(suite, 3);
    assert_count(suite, 3);
}

/* A schema that nobody has told for a day, as a sweep knows it. */
static struct culex_schema_drop stale_make(struct suite *suite)
{
    uint64_t arrivals;
    assert_ok(publish(suite, "a", 7, "text"));
    suite->now_ms += DAY_MS;
    struct culex_schema_list stale = sweep(suite, &arrivals);
    assert_int_equal(stale.count, 1);
    const struct culex_schema_drop drop = {
        {"a", 7, culex__schema_digest("text", 4)}, stale.now_ms, arrivals};
    culex__schema_list_release(&stale);
    return drop;
}

static void assert_dropped(struct suite *suite, const struct culex_schema_drop *drop, bool is_gone)
{
    assert_ok(suite->store->ops->schema_drop(suite->store, suite->queue, drop, NULL));
    assert_count(suite, is_gone ? 0 : 1);
    assert_text(suite, "a", 7, is_gone ? NULL : "text");
}

void case_schemas__that_were_swept_are_dropped(struct suite *suite)
{
    suite_put(suite);
    struct culex_schema_drop drop = stale_make(suite), other = drop;
    other.id.fingerprint++;
    assert_dropped(suite, &other, false);
    other = drop;
    other.id.digest++;
    assert_dropped(suite, &other, false);
    other = drop;
    other.looked_ms--;
    assert_dropped(suite, &other, false);
    suite->now_ms += 1;
    assert_dropped(suite, &drop, true);
    assert_dropped(suite, &drop, true);
    assert_ok(publish(suite, "a", 7, "text"));
    assert_count(suite, 1);
    strcpy(suite->queue, "nobody");
    assert_int_equal(suite->store->ops->schema_drop(suite->store, suite->queue, &drop, NULL),
                     CULEX_ENOTFOUND);
}

void case_schemas__that_are_told_again_are_not_dropped(struct suite *suite)
{
    suite_put(suite);
    struct culex_schema_drop drop = stale_make(suite);
    assert_ok(publish(suite, "a", 7, "text"));
    assert_dropped(suite, &drop, false);
}

void case_schemas__are_not_dropped_when_a_run_has_come(struct suite *suite)
{
    suite_put(suite);
    struct culex_schema_drop drop = stale_make(suite);
    suite_put(suite);
    assert_dropped(suite, &drop, false);
}

void case_schemas__are_not_dropped_when_a_run_was_replaced(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.unique_key = "abc";
    run.unique_while = CULEX_UNIQUE_LIVE;
    run.unique_replaces = true;
    suite_put_run(suite, &run);
    struct culex_schema_drop drop = stale_make(suite);
    run.job = "a";
    run.fingerprint = 7;
    assert_int_equal(suite_enqueue(suite, &run), CULEX_ENQUEUED_REPLACED);
    assert_dropped(suite, &drop, false);
}
