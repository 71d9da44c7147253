/* suite/cases_metadata.c - what a job keeps from run to run, and who may set it. */
#include "suite.h"

#include "cases.h"
#include "store/metadata_list.h"

enum { MOST_BYTES = 16384, MOST_JOBS = 256 };

static culex_status set_bytes(struct suite *suite, struct culex_metadata_set set, const char *text)
{
    set.job = set.job != NULL ? set.job : "shop.sync";
    set.bytes = text;
    set.len = strlen(text);
    return suite->store->ops->metadata_set(suite->store, suite->queue, &set, NULL);
}

static culex_status set(struct suite *suite, uint64_t before, uint64_t version, const char *text)
{
    return set_bytes(suite, (struct culex_metadata_set){.before = before, .version = version},
                     text);
}

/* As whoever was given the run under this attempt. */
static culex_status set_by(struct suite *suite, culex_uuid id, uint32_t attempt,
                           const char *session, uint64_t before, uint64_t version)
{
    const struct culex_holder holder = {id, attempt, session};
    return set_bytes(
        suite, (struct culex_metadata_set){.before = before, .version = version, .holder = &holder},
        "by a run");
}

static struct culex_metadata_list list(struct suite *suite, const char *job)
{
    struct culex_metadata_list told = {.now_ms = -1};
    assert_ok(suite->store->ops->metadata(suite->store, suite->queue, job, &told, NULL));
    assert_int_equal(told.now_ms, suite->now_ms);
    return told;
}

/* NULL for `text`: nothing is kept. */
static void assert_kept(struct suite *suite, const char *job, uint64_t version, const char *text)
{
    struct culex_metadata_list told = list(suite, job);
    assert_int_equal(told.count, text != NULL);
    if (text != NULL) {
        assert_string_equal(told.rows[0].job, job);
        assert_int_equal(told.rows[0].version, version);
        assert_int_equal(told.rows[0].len, strlen(text));
        assert_memory_equal(told.rows[0].bytes, text, strlen(text));
    }
    culex__metadata_list_release(&told);
}

void case_metadata__nothing_is_kept_at_first(struct suite *suite)
{
    struct culex_metadata_list told = list(suite, NULL);
    assert_int_equal(told.count, 0);
    culex__metadata_list_release(&told);
    suite_put(suite);
    assert_kept(suite, "shop.sync", 0, NULL);
}

void case_metadata__what_was_set_last_is_told(struct suite *suite)
{
    suite_put(suite);
    assert_ok(set(suite, 0, 7, "{\"a\":1}"));
    assert_kept(suite, "shop.sync", 7, "{\"a\":1}");
    suite->now_ms += 5;
    assert_ok(set(suite, 7, 3, ""));
    assert_kept(suite, "shop.sync", 3, "");
    assert_ok(set(suite, 3, CULEX_METADATA_VERSION_MAX, "b"));
    struct culex_metadata_list told = list(suite, "shop.sync");
    assert_int_equal(told.rows[0].set_ms, suite->now_ms);
    assert_int_equal(told.rows[0].version, CULEX_METADATA_VERSION_MAX);
    culex__metadata_list_release(&told);
}

void case_metadata__outlives_runs_and_time(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_ok(set_by(suite, id, attempt, ANN, 0, 7));
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0);
    suite_pass(suite, INT64_C(400) * 86400000);
    assert_int_equal(suite_state(suite, id), CULEX_RUN_STATE_COUNT);
    assert_kept(suite, "shop.sync", 7, "by a run");
}

void case_metadata__of_another_version_is_a_conflict(struct suite *suite)
{
    suite_put(suite);
    assert_int_equal(set(suite, 5, 7, "a"), CULEX_ECONFLICT);
    assert_kept(suite, "shop.sync", 0, NULL);
    assert_ok(set(suite, 0, 7, "a"));
    assert_int_equal(set(suite, 0, 8, "b"), CULEX_ECONFLICT);
    assert_int_equal(set(suite, 6, 8, "b"), CULEX_ECONFLICT);
    assert_int_equal(set(suite, 6, 0, ""), CULEX_ECONFLICT);
    assert_kept(suite, "shop.sync", 7, "a");
    assert_ok(set(suite, 7, 8, "b"));
    assert_int_equal(set(suite, 7, 9, "c"), CULEX_ECONFLICT);
    assert_kept(suite, "shop.sync", 8, "b");
}

void case_metadata__repeat_is_known_by_its_version(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_ok(set_by(suite, id, attempt, ANN, 0, 7));
    assert_ok(set_by(suite, id, attempt, ANN, 0, 7));
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0);
    assert_ok(set_by(suite, id, attempt, ANN, 0, 7));
    assert_kept(suite, "shop.sync", 7, "by a run");
    assert_ok(set(suite, 7, 0, ""));
    assert_ok(set(suite, 7, 0, ""));
}

static void held_check(struct suite *suite, culex_uuid id)
{
    assert_int_equal(set_by(suite, id, 1, ANN, 0, 7), CULEX_ESTALE);
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_int_equal(set_by(suite, id, attempt, BOB, 0, 7), CULEX_ESTALE);
    assert_int_equal(set_by(suite, id, attempt + 1, ANN, 0, 7), CULEX_ESTALE);
    assert_int_equal(set_by(suite, suite_id(suite), attempt, ANN, 0, 7), CULEX_ESTALE);
    assert_kept(suite, "shop.sync", 0, NULL);
    assert_ok(set_by(suite, id, attempt, ANN, 0, 7));
    suite_pass(suite, SUITE_LEASE_MS + 1);
    assert_int_equal(set_by(suite, id, attempt, ANN, 7, 8), CULEX_ESTALE);
    uint32_t again = suite_take(suite, BOB, id);
    assert_int_equal(set_by(suite, id, attempt, ANN, 7, 8), CULEX_ESTALE);
    assert_kept(suite, "shop.sync", 7, "by a run");
    assert_ok(set_by(suite, id, again, BOB, 7, 8));
    suite_end(suite, BOB, id, again, CULEX_EVENT_DONE, 0);
    assert_int_equal(set_by(suite, id, again, BOB, 8, 9), CULEX_ESTALE);
}

void case_metadata__of_a_run_counts_while_it_is_held(struct suite *suite)
{
    held_check(suite, suite_put(suite));
}

void case_metadata__of_a_run_with_a_record_counts_while_it_is_held(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.unique_key = "ab";
    run.unique_while = CULEX_UNIQUE_LIVE;
    held_check(suite, suite_put_run(suite, &run));
}

void case_metadata__is_removed(struct suite *suite)
{
    suite_put(suite);
    assert_ok(set(suite, 0, 0, ""));
    assert_ok(set(suite, 0, 7, "a"));
    assert_ok(set(suite, 7, 0, ""));
    assert_kept(suite, "shop.sync", 0, NULL);
    assert_ok(set(suite, 0, 8, "b"));
    assert_kept(suite, "shop.sync", 8, "b");
}

void case_metadata__of_any_version_is_replaced(struct suite *suite)
{
    suite_put(suite);
    assert_ok(set(suite, CULEX_METADATA_ANY, 7, "a"));
    assert_ok(set(suite, CULEX_METADATA_ANY, 8, "b"));
    assert_kept(suite, "shop.sync", 8, "b");
    assert_ok(set(suite, CULEX_METADATA_ANY, 0, ""));
    assert_kept(suite, "shop.sync", 0, NULL);
}

void case_metadata__is_apart_by_job_and_queue(struct suite *suite)
{
    char first[sizeof suite->queue];
    suite_put(suite);
    assert_ok(set(suite, 0, 7, "a"));
    assert_ok(set_bytes(suite, (struct culex_metadata_set){.job = "shop", .version = 8}, "b"));
    strcpy(first, suite->queue);
    strcpy(suite->queue, "other");
    suite_put(suite);
    assert_kept(suite, "shop.sync", 0, NULL);
    assert_ok(set(suite, 0, 9, "c"));
    strcpy(suite->queue, first);
    assert_kept(suite, "shop.sync", 7, "a");
    assert_kept(suite, "shop", 8, "b");
}

void case_metadata__is_listed_by_name(struct suite *suite)
{
    static const char *const jobs[] = {"b", "a.z", "B", "a"};
    static const char *const sorted[] = {"B", "a", "a.z", "b"};
    suite_put(suite);
    for (size_t i = 0; i < 4; i++)
        assert_ok(set_bytes(suite, (struct culex_metadata_set){.job = jobs[i], .version = i + 1},
                            jobs[i]));
    struct culex_metadata_list told = list(suite, NULL);
    assert_int_equal(told.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(told.rows[i].job, sorted[i]);
        assert_memory_equal(told.rows[i].bytes, sorted[i], told.rows[i].len);
    }
    culex__metadata_list_release(&told);
}

void case_metadata__of_a_queue_that_nobody_used_is_refused(struct suite *suite)
{
    strcpy(suite->queue, "nobody");
    assert_int_equal(set(suite, 0, 7, "a"), CULEX_ENOTFOUND);
    assert_int_equal(set(suite, 0, 0, ""), CULEX_ENOTFOUND);
    assert_kept(suite, "shop.sync", 0, NULL);
}

void case_metadata__of_too_many_jobs_or_bytes_is_refused(struct suite *suite)
{
    static char bytes[MOST_BYTES + 1];
    char job[16];
    struct culex_metadata_set of = {.job = job, .version = 1, .bytes = bytes};
    suite_put(suite);
    memset(bytes, 'x', sizeof bytes);
    for (int i = 0; i <= MOST_JOBS; i++) {
        snprintf(job, sizeof job, "j%d", i);
        of.len = i == 0 ? MOST_BYTES : 1;
        assert_int_equal(suite->store->ops->metadata_set(suite->store, suite->queue, &of, NULL),
                         i < MOST_JOBS ? CULEX_OK : CULEX_ELIMIT);
    }
    strcpy(job, "j0");
    of.before = 1, of.version = 2, of.len = sizeof bytes;
    assert_int_equal(suite->store->ops->metadata_set(suite->store, suite->queue, &of, NULL),
                     CULEX_ELIMIT);
    struct culex_metadata_list told = list(suite, NULL);
    assert_int_equal(told.count, MOST_JOBS);
    assert_int_equal(told.rows[0].len, MOST_BYTES);
    culex__metadata_list_release(&told);
    of.len = 1;
    assert_ok(suite->store->ops->metadata_set(suite->store, suite->queue, &of, NULL));
}

void case_metadata__hostile_bytes_come_back_unchanged(struct suite *suite)
{
    static const char bytes[] = "7|8|\0|\xff\r\n$-1\r\n'%s";
    const struct culex_metadata_set of = {
        .job = "it's", .version = 7, .bytes = bytes, .len = sizeof bytes};
    suite_put(suite);
    assert_ok(suite->store->ops->metadata_set(suite->store, suite->queue, &of, NULL));
    struct culex_metadata_list told = list(suite, "it's");
    assert_int_equal(told.count, 1);
    assert_int_equal(told.rows[0].len, sizeof bytes);
    assert_memory_equal(told.rows[0].bytes, bytes, sizeof bytes);
    culex__metadata_list_release(&told);
}
