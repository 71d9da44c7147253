/* suite/cases_workers.c - the registry of workers, and what is wished of them. */
#include "suite.h"

#include "cases.h"
#include "store/worker_list.h"

enum { GONE_MS = 30000 };

static struct culex_worker_wish tell_as(struct suite *suite, struct culex_worker_tell tell)
{
    struct culex_worker_wish wish = {.number = 99};
    if (tell.concurrency == 0)
        tell.concurrency = 8;
    assert_ok(suite->store->ops->worker_tell(suite->store, &tell, &wish, NULL));
    return wish;
}

static struct culex_worker_wish tell(struct suite *suite, const char *id)
{
    return tell_as(suite, (struct culex_worker_tell){.id = id});
}

static struct culex_worker_list list_all(struct suite *suite)
{
    struct culex_worker_list list = {.now_ms = -1};
    assert_ok(suite->store->ops->workers(suite->store, &list, NULL));
    assert_int_equal(list.now_ms, suite->now_ms);
    return list;
}

static size_t count_all(struct suite *suite)
{
    struct culex_worker_list list = list_all(suite);
    size_t count = list.count;
    culex__worker_list_release(&list);
    return count;
}

static size_t set(struct suite *suite, const char *id, struct culex_worker_wish wish)
{
    size_t count = 99;
    assert_ok(suite->store->ops->worker_set(suite->store, id, &wish, &count, NULL));
    return count;
}

static culex_status set_fails(struct suite *suite, const char *id, struct culex_worker_wish wish,
                              const char *words)
{
    size_t count = 99;
    culex_error error = {0};
    culex_status status = suite->store->ops->worker_set(suite->store, id, &wish, &count, &error);
    if (strstr(error.text, words) == NULL)
        fail_msg("'%s' instead of '%s'", error.text, words);
    return status;
}

static const struct culex_worker_wish quiet = {.quiet = CULEX_SWITCH_ON};

void case_workers__what_was_told_last_is_listed(struct suite *suite)
{
    static const char sheet[] = "n one|\n\0\xff|2";
    tell(suite, "a1");
    suite->now_ms += 5;
    tell_as(suite, (struct culex_worker_tell){.id = "a1",
                                              .heard = 7,
                                              .concurrency = 1024,
                                              .sheet = sheet,
                                              .sheet_len = sizeof sheet});
    tell(suite, "00b2");
    struct culex_worker_list list = list_all(suite);
    assert_int_equal(list.count, 2);
    const struct culex_worker_row *row = culex__worker_list_find(&list, "a1");
    assert_non_null(row);
    assert_int_equal(row->told_ms, suite->now_ms);
    assert_int_equal(row->heard, 7);
    assert_int_equal(row->concurrency, 1024);
    assert_int_equal(row->wish.number, 0);
    assert_int_equal(row->sheet_len, sizeof sheet);
    assert_memory_equal(row->sheet, sheet, sizeof sheet);
    assert_int_equal(culex__worker_list_find(&list, "00b2")->sheet_len, 0);
    culex__worker_list_release(&list);
}

static int64_t told_ms(struct suite *suite, const char *id)
{
    struct culex_worker_list list = list_all(suite);
    const struct culex_worker_row *row = culex__worker_list_find(&list, id);
    int64_t told = row != NULL ? row->told_ms : -1;
    culex__worker_list_release(&list);
    return told;
}

/* It hears what is wished of it all the same. What it says anew is there at once. */
void case_workers__one_that_says_the_same_is_left_for_10_s(struct suite *suite)
{
    int64_t first_ms = suite->now_ms;
    tell(suite, "a1");
    set(suite, "a1", quiet);
    suite->now_ms += 9999;
    assert_int_equal(tell(suite, "a1").quiet, CULEX_SWITCH_ON);
    assert_int_equal(told_ms(suite, "a1"), first_ms);
    suite->now_ms += 1;
    tell(suite, "a1");
    assert_int_equal(told_ms(suite, "a1"), suite->now_ms);
    suite->now_ms += 1;
    tell_as(suite, (struct culex_worker_tell){.id = "a1", .heard = 7, .concurrency = 4});
    assert_int_equal(told_ms(suite, "a1"), suite->now_ms);
    suite->now_ms -= 1;
    tell_as(suite, (struct culex_worker_tell){.id = "a1", .heard = 7, .concurrency = 4});
    assert_int_equal(told_ms(suite, "a1"), suite->now_ms);
}

void case_workers__one_that_leaves_is_not_listed(struct suite *suite)
{
    tell(suite, "a1");
    tell(suite, "b2");
    set(suite, "a1", quiet);
    struct culex_worker_wish wish =
        tell_as(suite, (struct culex_worker_tell){.id = "a1", .is_leaving = true});
    assert_int_equal(wish.number, 0);
    assert_int_equal(count_all(suite), 1);
    tell_as(suite, (struct culex_worker_tell){.id = "a1", .is_leaving = true});
    assert_int_equal(set_fails(suite, "a1", quiet, "no worker 'a1' is at work"), CULEX_ENOTFOUND);
    assert_int_equal(tell(suite, "a1").number, 0);
}

void case_workers__silent_one_is_gone_after_30_s_with_its_wish(struct suite *suite)
{
    tell(suite, "a1");
    set(suite, "a1", quiet);
    suite->now_ms += GONE_MS;
    assert_int_equal(count_all(suite), 1);
    suite->now_ms += 1;
    assert_int_equal(count_all(suite), 0);
    assert_int_equal(set_fails(suite, "a1", quiet, "no worker 'a1'"), CULEX_ENOTFOUND);
    assert_int_equal(set(suite, NULL, quiet), 0);
    assert_int_equal(tell(suite, "a1").number, 0);
    assert_int_equal(count_all(suite), 1);
}

void case_workers__clock_set_back_keeps_nobody(struct suite *suite)
{
    tell(suite, "a1");
    suite->now_ms -= GONE_MS;
    assert_int_equal(count_all(suite), 1);
    suite->now_ms -= 1;
    assert_int_equal(count_all(suite), 0);
    tell(suite, "b2");
    assert_int_equal(count_all(suite), 1);
}

void case_workers__wish_is_told_until_another_one_is(struct suite *suite)
{
    tell(suite, "a1");
    tell(suite, "b2");
    assert_int_equal(set(suite, "a1", quiet), 1);
    struct culex_worker_wish first = tell(suite, "a1"), again = tell(suite, "a1");
    assert_true(first.number > 0);
    assert_int_equal(first.quiet, CULEX_SWITCH_ON);
    assert_false(first.is_stop);
    assert_int_equal(first.concurrency, 0);
    assert_true(again.number == first.number && again.quiet == first.quiet);
    assert_true(again.is_stop == first.is_stop && again.concurrency == first.concurrency);
    assert_int_equal(tell(suite, "b2").number, 0);
    set(suite, "a1", (struct culex_worker_wish){.concurrency = 3, .is_stop = true});
    struct culex_worker_wish both = tell(suite, "a1");
    assert_true(both.number > first.number);
    assert_int_equal(both.quiet, CULEX_SWITCH_ON);
    assert_int_equal(both.concurrency, 3);
    assert_true(both.is_stop);
    set(suite, "a1", (struct culex_worker_wish){.quiet = CULEX_SWITCH_OFF});
    assert_int_equal(tell(suite, "a1").quiet, CULEX_SWITCH_OFF);
}

/* So the repeat of a call whose answer was lost is nothing new. */
void case_workers__same_wish_again_keeps_its_number(struct suite *suite)
{
    tell(suite, "a1");
    set(suite, "a1", quiet);
    uint64_t number = tell(suite, "a1").number;
    suite->now_ms += 1000;
    assert_int_equal(set(suite, "a1", quiet), 1);
    assert_int_equal(tell(suite, "a1").number, number);
}

/* Else a worker whose entry was lost meanwhile would take it for one that it has done. */
void case_workers__new_wish_has_a_greater_number_than_was_heard(struct suite *suite)
{
    uint64_t heard = (uint64_t)suite->now_ms + 500;
    tell_as(suite, (struct culex_worker_tell){.id = "a1", .heard = heard});
    set(suite, "a1", quiet);
    struct culex_worker_wish wish =
        tell_as(suite, (struct culex_worker_tell){.id = "a1", .heard = heard});
    assert_int_equal(wish.number, heard + 1);
    tell(suite, "b2");
    set(suite, "b2", quiet);
    assert_int_equal(tell(suite, "b2").number, suite->now_ms);
}

void case_workers__wish_of_all_is_for_each(struct suite *suite)
{
    tell_as(suite, (struct culex_worker_tell){.id = "a1", .concurrency = 2});
    tell_as(suite, (struct culex_worker_tell){.id = "b2", .concurrency = 20});
    assert_int_equal(set(suite, NULL, (struct culex_worker_wish){.concurrency = 5}), 2);
    assert_int_equal(
        tell_as(suite, (struct culex_worker_tell){.id = "a1", .concurrency = 2}).concurrency, 2);
    assert_int_equal(
        tell_as(suite, (struct culex_worker_tell){.id = "b2", .concurrency = 20}).concurrency, 5);
}

void case_workers__concurrency_beyond_its_most_is_refused(struct suite *suite)
{
    tell_as(suite, (struct culex_worker_tell){.id = "a1", .concurrency = 2});
    assert_int_equal(set_fails(suite, "a1", (struct culex_worker_wish){.concurrency = 3},
                               "worker 'a1' was started for at most 2 runs at a time"),
                     CULEX_EINVAL);
    assert_int_equal(tell(suite, "a1").number, 0);
    assert_int_equal(set(suite, "a1", (struct culex_worker_wish){.concurrency = 2}), 1);
}

void case_workers__registry_is_bounded_and_empties_itself(struct suite *suite)
{
    char id[16];
    struct culex_worker_wish wish;
    culex_error error = {0};
    for (int i = 0; i < CULEX_STORE_WORKERS_MAX; i++) {
        snprintf(id, sizeof id, "%x", i);
        tell(suite, id);
    }
    const struct culex_worker_tell one_more = {.id = "ffffff", .concurrency = 1};
    assert_int_equal(suite->store->ops->worker_tell(suite->store, &one_more, &wish, &error),
                     CULEX_ELIMIT);
    assert_non_null(strstr(error.text, "at most 2048 workers"));
    tell(suite, "0");
    assert_int_equal(count_all(suite), CULEX_STORE_WORKERS_MAX);
    assert_int_equal(set(suite, NULL, quiet), CULEX_STORE_WORKERS_MAX);
    suite->now_ms += GONE_MS + 1;
    tell(suite, "ffffff");
    assert_int_equal(count_all(suite), 1);
}

void case_workers__what_is_out_of_form_is_refused(struct suite *suite)
{
    static char sheet[CULEX_STORE_SHEET_MAX + 1];
    struct culex_worker_wish wish;
    const struct culex_worker_tell wrong[] = {
        {.id = "xyz", .concurrency = 1},
        {.id = "", .concurrency = 1},
        {.concurrency = 1},
        {.id = "000000000000000000000000000000000", .concurrency = 1},
        {.id = "a1"},
        {.id = "a1", .concurrency = 1025},
        {.id = "a1", .concurrency = 1, .heard = UINT64_MAX},
        {.id = "a1", .concurrency = 1, .sheet = sheet, .sheet_len = sizeof sheet},
        {.id = "a1", .concurrency = 1, .sheet_len = 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_not_equal(suite->store->ops->worker_tell(suite->store, &wrong[i], &wish, NULL),
                             CULEX_OK);
    assert_int_equal(count_all(suite), 0);
    tell(suite, "a1");
    assert_int_equal(set_fails(suite, "a1", (struct culex_worker_wish){.number = 1},
                               "the order leaves the worker as it is"),
                     CULEX_EINVAL);
    assert_int_equal(
        set_fails(suite, "a1", (struct culex_worker_wish){.quiet = (culex_switch)3}, "quiet is"),
        CULEX_EINVAL);
    assert_int_equal(set_fails(suite, "a1", (struct culex_worker_wish){.concurrency = 1025},
                               "concurrency is 1 to 1024"),
                     CULEX_EINVAL);
    assert_int_equal(set_fails(suite, "a 1", quiet, "the id of a worker"), CULEX_EINVAL);
    tell_as(suite, (struct culex_worker_tell){
                       .id = "b2", .sheet = sheet, .sheet_len = CULEX_STORE_SHEET_MAX});
    assert_int_equal(tell(suite, "a1").number, 0);
}
