/* suite/cases_figures.c - what workers count of runs: added up once, kept by hours, forgotten. */
#include "suite.h"

#include "core/figures.h"
#include "store/figure_list.h"

#include "cases.h"

static culex_status tell_of(struct suite *suite, const char *session, uint64_t number,
                            const char *job, const char *text)
{
    const struct culex_figure_row row = {.job = job, .text = text};
    return suite->store->ops->figures_add(suite->store, suite->queue, session, number, &row, 1,
                                          NULL);
}

static void tell(struct suite *suite, const char *session, uint64_t number, const char *text)
{
    assert_ok(tell_of(suite, session, number, "j", text));
}

static struct culex_figure_list page(struct suite *suite, const char *job, unsigned hours,
                                     const struct culex_figure_row *after, size_t most)
{
    struct culex_figure_list list = {.rows = NULL};
    assert_ok(suite->store->ops->figures(suite->store, suite->queue, job, hours, after, most, &list,
                                         NULL));
    return list;
}

/* "TEXT" of each row that there is of job j, "/" behind each. */
static void assert_rows(struct suite *suite, unsigned hours, const char *wanted)
{
    struct culex_figure_list list = page(suite, "j", hours, NULL, CULEX_STORE_FIGURES_MAX);
    char found[512] = "";
    for (size_t i = 0; i < list.count; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s/", list.rows[i].text);
    assert_string_equal(found, wanted);
    assert_int_equal(list.now_ms, suite->now_ms);
    culex__figure_list_release(&list);
}

/* To the first ms of an hour, so that a case knows when the next one begins. */
static void begin(struct suite *suite)
{
    suite->now_ms += CULEX_HOUR_MS - suite->now_ms % CULEX_HOUR_MS;
    suite_hello(suite, "ann", ANN);
}

void case_figures__add_up(struct suite *suite)
{
    begin(suite);
    tell(suite, ANN, 1, "1,2,0,0,1,0;3:1 40:2;7:3");
    tell(suite, ANN, 2, "10,0,3,4,0,5;40:5 41:1;0:1 7:4 207:1");
    assert_rows(suite, 1, "11,2,3,4,1,5;3:1 40:7 41:1;0:1 7:7 207:1/");
}

void case_figures__of_several_jobs(struct suite *suite)
{
    const struct culex_figure_row rows[] = {{.job = "b", .text = "1,0,0,0,0,0;;"},
                                            {.job = "a", .text = "0,2,0,0,0,0;;1:1"},
                                            {.job = "a b", .text = "0,0,3,0,0,0;2:2;"}};
    begin(suite);
    for (uint64_t i = 1; i <= 2; i++)
        assert_ok(
            suite->store->ops->figures_add(suite->store, suite->queue, ANN, i, rows, 3, NULL));
    struct culex_figure_list list = page(suite, NULL, 1, NULL, 64);
    assert_int_equal(list.count, 3);
    assert_string_equal(list.rows[0].job, "a");
    assert_string_equal(list.rows[0].text, "0,4,0,0,0,0;;1:2");
    assert_string_equal(list.rows[1].job, "a b");
    assert_string_equal(list.rows[1].text, "0,0,6,0,0,0;2:4;");
    assert_string_equal(list.rows[2].job, "b");
    assert_string_equal(list.rows[2].text, "2,0,0,0,0,0;;");
    culex__figure_list_release(&list);
}

/* A lost answer, and a call that comes late. */
void case_figures__call_counts_once(struct suite *suite)
{
    begin(suite);
    tell(suite, ANN, 7, "1,0,0,0,0,0;;");
    tell(suite, ANN, 7, "1,0,0,0,0,0;;");
    suite->now_ms += CULEX_FIGURES_REPEAT_MS;
    tell(suite, ANN, 7, "1,0,0,0,0,0;;");
    tell(suite, ANN, 6, "1,0,0,0,0,0;;");
    assert_rows(suite, 1, "1,0,0,0,0,0;;/");
    tell(suite, ANN, 8, "1,0,0,0,0,0;;");
    assert_rows(suite, 1, "2,0,0,0,0,0;;/");
}

void case_figures__of_sessions_are_apart(struct suite *suite)
{
    begin(suite);
    tell(suite, ANN, 7, "1,0,0,0,0,0;;");
    tell(suite, BOB, 1, "1,0,0,0,0,0;;");
    tell(suite, BOB, 1, "1,0,0,0,0,0;;");
    assert_rows(suite, 1, "2,0,0,0,0,0;;/");
}

void case_figures__are_kept_by_hours(struct suite *suite)
{
    begin(suite);
    tell(suite, ANN, 1, "1,0,0,0,0,0;;");
    suite->now_ms += CULEX_HOUR_MS - 1;
    tell(suite, ANN, 2, "1,0,0,0,0,0;;");
    assert_rows(suite, 1, "2,0,0,0,0,0;;/");
    suite->now_ms += 1;
    assert_rows(suite, 1, "");
    tell(suite, ANN, 3, "5,0,0,0,0,0;;");
    assert_rows(suite, 1, "5,0,0,0,0,0;;/");
    assert_rows(suite, 2, "2,0,0,0,0,0;;/5,0,0,0,0,0;;/");
    suite->now_ms += 46 * (int64_t)CULEX_HOUR_MS;
    assert_rows(suite, 48, "2,0,0,0,0,0;;/5,0,0,0,0,0;;/");
    assert_rows(suite, 47, "5,0,0,0,0,0;;/");
}

/* Sessions go on after that under the numbers that they like. */
void case_figures__are_forgotten(struct suite *suite)
{
    begin(suite);
    tell(suite, ANN, 9, "1,0,0,0,0,0;;");
    int64_t then_ms = suite->now_ms;
    suite->now_ms += 48 * (int64_t)CULEX_HOUR_MS;
    tell(suite, BOB, 1, "2,0,0,0,0,0;;");
    tell(suite, ANN, 1, "4,0,0,0,0,0;;");
    assert_rows(suite, 48, "6,0,0,0,0,0;;/");
    suite->now_ms = then_ms;
    assert_rows(suite, 48, "");
}

void case_figures__of_a_clock_that_was_ahead(struct suite *suite)
{
    begin(suite);
    int64_t then_ms = suite->now_ms;
    suite->now_ms += 48 * (int64_t)CULEX_HOUR_MS;
    tell(suite, ANN, 5, "1,0,0,0,0,0;;");
    suite->now_ms = then_ms;
    assert_rows(suite, 48, "");
    tell(suite, BOB, 1, "2,0,0,0,0,0;;");
    tell(suite, ANN, 1, "4,0,0,0,0,0;;");
    assert_rows(suite, 48, "6,0,0,0,0,0;;/");
    suite->now_ms += 47 * (int64_t)CULEX_HOUR_MS;
    tell(suite, ANN, 6, "1,0,0,0,0,0;;");
    suite->now_ms += CULEX_HOUR_MS;
    assert_rows(suite, 2, "1,0,0,0,0,0;;/");
}

void case_figures__come_in_pages(struct suite *suite)
{
    static const char *const jobs[] = {"a", "b", "b c", "c", "d"};
    struct culex_figure_list list = {.rows = NULL}, last = {.rows = NULL};
    size_t count = 0;
    begin(suite);
    for (uint64_t i = 0; i < 10; i++) {
        assert_ok(tell_of(suite, ANN, i + 1, jobs[i % 5], "1,0,0,0,0,0;;"));
        suite->now_ms += i == 4 ? CULEX_HOUR_MS : 0;
    }
    do {
        const struct culex_figure_row *after = last.count > 0 ? &last.rows[last.count - 1] : NULL;
        list = page(suite, NULL, 2, after, 3);
        assert_in_range(list.count, 1, 3);
        for (size_t i = 0; i < list.count; i++, count++) {
            assert_string_equal(list.rows[i].job, jobs[count % 5]);
            assert_int_equal(list.rows[i].hour, suite->now_ms / CULEX_HOUR_MS - (count < 5));
        }
        assert_int_equal(list.is_more, count < 10);
        culex__figure_list_release(&last);
        last = list;
    } while (list.is_more && count < 10);
    assert_int_equal(count, 10);
    culex__figure_list_release(&last);
    list = page(suite, "b", 2, NULL, 1);
    assert_true(list.count == 1 && list.is_more);
    last = page(suite, "b", 2, &list.rows[0], 1);
    assert_true(last.count == 1 && !last.is_more && last.rows[0].hour == list.rows[0].hour + 1);
    culex__figure_list_release(&list);
    culex__figure_list_release(&last);
}

void case_figures__beyond_the_rows_of_a_queue(struct suite *suite)
{
    enum { CALLS = CULEX_FIGURES_ROWS_MAX / CULEX_STORE_FIGURES_MAX };
    char names[CULEX_STORE_FIGURES_MAX][32];
    struct culex_figure_row rows[CULEX_STORE_FIGURES_MAX];
    begin(suite);
    for (uint64_t call = 0; call < CALLS; call++) {
        for (size_t i = 0; i < CULEX_STORE_FIGURES_MAX; i++) {
            snprintf(names[i], sizeof names[i], "job.%d.%d", (int)call, (int)i);
            rows[i] = (struct culex_figure_row){.job = names[i], .text = "1,0,0,0,0,0;;"};
        }
        assert_ok(suite->store->ops->figures_add(suite->store, suite->queue, ANN, call + 1, rows,
                                                 CULEX_STORE_FIGURES_MAX, NULL));
    }
    assert_ok(tell_of(suite, ANN, CALLS + 1, "one", "2,0,0,0,0,0;;"));
    assert_ok(tell_of(suite, ANN, CALLS + 2, "two", "3,0,0,0,0,0;1:1;"));
    assert_ok(tell_of(suite, ANN, CALLS + 3, "job.0.0", "1,0,0,0,0,0;;"));
    struct culex_figure_list list = page(suite, NULL, 1, NULL, 2);
    assert_string_equal(list.rows[0].job, "");
    assert_string_equal(list.rows[0].text, "5,0,0,0,0,0;1:1;");
    assert_string_equal(list.rows[1].text, "2,0,0,0,0,0;;");
    culex__figure_list_release(&list);
}

void case_figures__numbers_have_an_end(struct suite *suite)
{
    begin(suite);
    tell(suite, ANN, 1, "9007199254740991,0,0,0,0,0;5:9007199254740992;");
    tell(suite, ANN, 2, "2,0,0,0,0,0;5:1;");
    tell(suite, ANN, CULEX_FIGURE_MAX, "1,0,0,0,0,0;;");
    assert_rows(suite, 1, "9007199254740992,0,0,0,0,0;5:9007199254740992;/");
}

void case_figures__of_a_queue_that_nobody_has_used(struct suite *suite)
{
    assert_int_equal(tell_of(suite, ANN, 1, "j", "1,0,0,0,0,0;;"), CULEX_ENOTFOUND);
    assert_rows(suite, 48, "");
}

void case_figures__what_is_out_of_form_is_refused(struct suite *suite)
{
    static const char *const texts[] = {"",
                                        "1,0,0,0,0;;",
                                        "1,0,0,0,0,0;",
                                        "01,0,0,0,0,0;;",
                                        "-1,0,0,0,0,0;;",
                                        "1,0,0,0,0,0;;;",
                                        "1,0,0,0,0,0;1:0;",
                                        "1,0,0,0,0,0;208:1;",
                                        "1,0,0,0,0,0;2:1 1:1;",
                                        "1,0,0,0,0,0;1:1 1:1;",
                                        "1,0,0,0,0,0;1:1 ;",
                                        "1,0,0,0,0,0; 1:1;",
                                        "1,0,0,0,0,0;1;",
                                        "1,0,0,0,0,0;;1:1 ",
                                        "1,0,0,0,0,0;;1:9007199254740993"};
    const struct culex_figure_row twice[] = {{.job = "j", .text = "1,0,0,0,0,0;;"},
                                             {.job = "j", .text = "1,0,0,0,0,0;;"}};
    struct culex_figure_list list;
    const struct culex_store_ops *ops = suite->store->ops;
    begin(suite);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(tell_of(suite, ANN, 1, "j", texts[i]), CULEX_EINVAL);
    assert_int_equal(tell_of(suite, ANN, 0, "j", twice[0].text), CULEX_EINVAL);
    assert_int_equal(tell_of(suite, ANN, CULEX_FIGURE_MAX + 1, "j", twice[0].text), CULEX_EINVAL);
    assert_int_equal(tell_of(suite, "xyz", 1, "j", twice[0].text), CULEX_EINVAL);
    assert_int_equal(tell_of(suite, ANN, 1, "", twice[0].text), CULEX_EINVAL);
    assert_int_equal(tell_of(suite, ANN, 1, "a|b", twice[0].text), CULEX_EINVAL);
    assert_int_equal(ops->figures_add(suite->store, suite->queue, ANN, 1, twice, 2, NULL),
                     CULEX_EINVAL);
    assert_int_equal(ops->figures_add(suite->store, suite->queue, ANN, 1, twice, 0, NULL),
                     CULEX_ELIMIT);
    assert_int_equal(ops->figures(suite->store, suite->queue, NULL, 0, NULL, 1, &list, NULL),
                     CULEX_EINVAL);
    assert_int_equal(ops->figures(suite->store, suite->queue, NULL, 49, NULL, 1, &list, NULL),
                     CULEX_EINVAL);
    assert_int_equal(ops->figures(suite->store, suite->queue, NULL, 1, NULL, 0, &list, NULL),
                     CULEX_EINVAL);
    assert_int_equal(ops->figures(suite->store, suite->queue, NULL, 1, NULL, 65, &list, NULL),
                     CULEX_EINVAL);
    assert_int_equal(ops->figures(suite->store, suite->queue, "", 1, NULL, 1, &list, NULL),
                     CULEX_EINVAL);
    assert_rows(suite, 48, "");
}

static void assert_due(struct suite *suite, int64_t due_ms)
{
    if (strcmp(suite->kind, "model") == 0)
        return; /* has no opinion */
    assert_int_equal(suite->reply.grant_count, 1);
    assert_int_equal(suite->reply.grants[0].facts.due_ms, due_ms);
}

/* Since when a run waited: its enqueue, or its date. */
void case_figures__due_is_told_with_a_grant(struct suite *suite)
{
    struct culex_new_run later = suite_run(suite);
    int64_t then_ms = suite->now_ms;
    culex_uuid id = suite_put(suite);
    suite->now_ms += 500;
    suite_take(suite, ANN, id);
    assert_due(suite, then_ms);
    suite_end(suite, ANN, id, 1, CULEX_EVENT_FAIL, 1000);
    suite->now_ms += 3000;
    suite_take(suite, ANN, id);
    assert_due(suite, then_ms + 1500);
    suite_end(suite, ANN, id, 2, CULEX_EVENT_RELEASE, 0);
    suite_take(suite, ANN, id);
    assert_due(suite, 0);
    suite_end(suite, ANN, id, 3, CULEX_EVENT_DONE, 0);
    then_ms = suite->now_ms;
    later.delay_ms = 10000;
    id = suite_put_run(suite, &later);
    suite->now_ms += 12000;
    suite_take(suite, BOB, id);
    assert_due(suite, then_ms + 10000);
}
