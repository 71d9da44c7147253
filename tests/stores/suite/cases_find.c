/* cases_find.c - LIST with a filter: which runs it takes, wherever a store keeps them. */
#include "suite.h"

#include "cases.h"

/* --- runs of all sorts ------------------------------------------------------------------------ */

enum { SORT_RUNS = 4, ZOO_MAX = 64 };

struct zoo {
    struct suite *suite;
    culex_uuid ids[ZOO_MAX];
    culex_run_info *infos[ZOO_MAX]; /* what GET tells of each, once all are there */
    size_t count;
    int64_t begin_ms;
};

static const char *const jobs[] = {"find.letter", "find.parcel"};
static const char *const tags[] = {"", "red", "blue,re-ddish", "blue,red"};

/* One of the next four: of both jobs, and over the sorts of all tags; each a little younger. */
static struct culex_new_run zoo_run(struct zoo *zoo)
{
    struct culex_new_run run = suite_run(zoo->suite);
    size_t serial = zoo->count;
    run.job = jobs[serial % 2];
    run.tags = tags[(serial + serial / SORT_RUNS) % 4];
    run.payload = "{\"note\":\"disk red find.letter\"}";
    run.payload_len = strlen(run.payload);
    zoo->suite->now_ms += 10;
    return run;
}

static void zoo_put(struct zoo *zoo, const struct culex_new_run *run)
{
    zoo->ids[zoo->count++] = suite_put_run(zoo->suite, run);
}

static void put_ordinary(struct zoo *zoo)
{
    for (int i = 0; i < SORT_RUNS; i++) {
        struct culex_new_run run = zoo_run(zoo);
        zoo_put(zoo, &run);
    }
}

/* More is wanted of them than of an ordinary run. */
static void put_expiring(struct zoo *zoo)
{
    for (int i = 0; i < SORT_RUNS; i++) {
        struct culex_new_run run = zoo_run(zoo);
        run.expires_ms = SUITE_MINUTE_MS;
        zoo_put(zoo, &run);
    }
}

static void put_urgent(struct zoo *zoo)
{
    for (int i = 0; i < SORT_RUNS; i++) {
        struct culex_new_run run = zoo_run(zoo);
        run.priority = 7;
        zoo_put(zoo, &run);
    }
}

/* Two are due before anybody looks. */
static void put_scheduled(struct zoo *zoo)
{
    for (int i = 0; i < SORT_RUNS; i++) {
        struct culex_new_run run = zoo_run(zoo);
        run.delay_ms = i < 2 ? 5 : SUITE_MINUTE_MS;
        zoo_put(zoo, &run);
    }
}

static void put_limited(struct zoo *zoo)
{
    const struct culex_run_limit limit = {CULEX_LIMIT_CONCURRENCY, "find:concurrency", "k",
                                          .count = 1};
    for (int i = 0; i < SORT_RUNS; i++) {
        struct culex_new_run run = zoo_run(zoo);
        run.limits = &limit;
        run.limit_count = 1;
        zoo_put(zoo, &run);
    }
}

static void newest_end(struct zoo *zoo, struct culex_ack ack)
{
    struct suite *suite = zoo->suite;
    assert_int_equal(suite_claim(suite, ANN, SORT_RUNS), SORT_RUNS);
    for (size_t i = zoo->count - SORT_RUNS; i < zoo->count; i++) {
        ack.id = zoo->ids[i];
        ack.attempt = 1;
        assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_OK);
    }
}

/* What is claimed is claimed at once, while nobody else waits. */
static void zoo_fill(struct zoo *zoo, struct suite *suite)
{
    *zoo = (struct zoo){.suite = suite, .begin_ms = suite->now_ms};
    put_ordinary(zoo);
    newest_end(zoo, (struct culex_ack){.event = CULEX_EVENT_DONE});
    put_expiring(zoo);
    newest_end(zoo, (struct culex_ack){.event = CULEX_EVENT_DONE});
    put_ordinary(zoo);
    newest_end(zoo, (struct culex_ack){.event = CULEX_EVENT_DISCARD, .text = "disk full: /var"});
    put_urgent(zoo);
    newest_end(zoo, (struct culex_ack){.event = CULEX_EVENT_FAIL,
                                       .delay_ms = SUITE_MINUTE_MS,
                                       .text = "no answer (disk?)"});
    put_ordinary(zoo);
    assert_int_equal(suite_claim(suite, ANN, SORT_RUNS), SORT_RUNS);
    put_expiring(zoo);
    assert_int_equal(suite_claim(suite, BOB, SORT_RUNS), SORT_RUNS);
    put_limited(zoo);
    assert_int_equal(suite_claim(suite, BOB, SORT_RUNS), 1);
    put_ordinary(zoo);
    for (size_t i = zoo->count - SORT_RUNS; i < zoo->count; i++)
        suite_cancel(suite, zoo->ids[i]);
    put_ordinary(zoo);
    put_expiring(zoo);
    put_urgent(zoo);
    put_scheduled(zoo);
    suite->now_ms += 10;
    for (size_t i = 0; i < zoo->count; i++)
        assert_ok(
            suite->store->ops->get(suite->store, suite->queue, zoo->ids[i], &zoo->infos[i], NULL));
}

static void zoo_end(struct zoo *zoo)
{
    for (size_t i = 0; i < zoo->count; i++)
        culex_run_info_free(zoo->infos[i]);
}

/* --- what is found ---------------------------------------------------------------------------- */

/* By what GET tells: the state that the filter wants, and so on. */
static bool is_wanted(const culex_list_filter *filter, const culex_run_info *run)
{
    char its_tags[256], tag[80];
    snprintf(its_tags, sizeof its_tags, ",%s,", run->tags);
    snprintf(tag, sizeof tag, ",%s,", filter->tag != NULL ? filter->tag : "");
    return (filter->states == 0 || (filter->states >> run->state & 1) == 1) &&
           (filter->job == NULL || strcmp(run->job, filter->job) == 0) &&
           (filter->tag == NULL || strstr(its_tags, tag) != NULL) &&
           (filter->error_part == NULL || strstr(run->error_text, filter->error_part) != NULL) &&
           (!filter->has_since || run->created_at_ms * CULEX_MILLISECOND >= filter->since) &&
           (!filter->has_before || run->created_at_ms * CULEX_MILLISECOND < filter->before);
}

/* One state alone: each is shown once, and no page has more than `limit`. */
static bool is_exact(const culex_list_filter *filter)
{
    return filter->states != 0 && (filter->states & (filter->states - 1)) == 0;
}

/* Shows all pages and counts for each of `ids` how often it came; how many pages there were. */
static int find_all(struct suite *suite, const culex_list_filter *filter, size_t limit,
                    const culex_uuid *ids, int *seen, size_t count, size_t *ret_found)
{
    culex_list_cursor cursor = CULEX_LIST_START;
    int pages = 0;
    *ret_found = 0;
    do {
        struct culex_list_reply page = {0};
        assert_ok(suite->store->ops->list(suite->store, suite->queue, filter, cursor, limit, &page,
                                          NULL));
        assert_true(page.count <= limit || !is_exact(filter));
        for (size_t i = 0; i < page.count; i++) {
            for (size_t j = 0; j < count; j++)
                seen[j] += suite_same_id(page.runs[i].id, ids[j]);
        }
        *ret_found += page.count;
        cursor = page.cursor;
        suite->store->ops->list_release(suite->store, &page);
        assert_true(++pages < 10000);
    } while (cursor.place != 0);
    return pages;
}

static size_t zoo_find(struct zoo *zoo, const culex_list_filter *filter, size_t limit)
{
    int seen[ZOO_MAX] = {0};
    size_t found, wanted = 0;
    find_all(zoo->suite, filter, limit, zoo->ids, seen, zoo->count, &found);
    for (size_t i = 0; i < zoo->count; i++) {
        bool is_it = is_wanted(filter, zoo->infos[i]);
        assert_true(is_it ? seen[i] >= 1 : seen[i] == 0);
        assert_true(seen[i] <= 1 || !is_exact(filter));
        wanted += is_it;
    }
    assert_true(found == wanted || (found > wanted && !is_exact(filter)));
    return wanted;
}

#define BIT(state) CULEX_LIST_STATE(CULEX_RUN_##state)
static const unsigned all_states[] = {0,
                                      BIT(SCHEDULED),
                                      BIT(WAITING),
                                      BIT(ACTIVE),
                                      BIT(DONE),
                                      BIT(DEAD),
                                      BIT(CANCELLED),
                                      BIT(SCHEDULED) | BIT(DEAD),
                                      BIT(WAITING) | BIT(ACTIVE) | BIT(DONE)};
enum { STATES = sizeof all_states / sizeof all_states[0] };

static const size_t limits[] = {1, 3, 100};

/* How many the filter takes, state by state and with pages of several sizes. */
static size_t found_in_all_states(struct zoo *zoo, culex_list_filter filter)
{
    size_t found = 0;
    for (size_t s = 0; s < STATES; s++) {
        filter.states = all_states[s];
        for (size_t l = 0; l < 3; l++)
            found += zoo_find(zoo, &filter, limits[l]);
    }
    return found;
}

void case_find__by_state(struct suite *suite)
{
    struct zoo zoo;
    zoo_fill(&zoo, suite);
    for (size_t s = 0; s < STATES; s++) {
        const culex_list_filter filter = {.states = all_states[s]};
        for (size_t l = 0; l < 3; l++)
            assert_true(zoo_find(&zoo, &filter, limits[l]) > 0);
    }
    zoo_end(&zoo);
}

void case_find__by_job(struct suite *suite)
{
    struct zoo zoo;
    zoo_fill(&zoo, suite);
    assert_true(found_in_all_states(&zoo, (culex_list_filter){.job = jobs[0]}) > 0);
    assert_true(found_in_all_states(&zoo, (culex_list_filter){.job = jobs[1]}) > 0);
    assert_int_equal(found_in_all_states(&zoo, (culex_list_filter){.job = "find.lette"}), 0);
    assert_int_equal(found_in_all_states(&zoo, (culex_list_filter){.job = "find.letters"}), 0);
    zoo_end(&zoo);
}

void case_find__by_tag(struct suite *suite)
{
    struct zoo zoo;
    zoo_fill(&zoo, suite);
    assert_true(found_in_all_states(&zoo, (culex_list_filter){.tag = "red"}) > 0);
    assert_true(found_in_all_states(&zoo, (culex_list_filter){.tag = "blue"}) > 0);
    assert_true(found_in_all_states(&zoo, (culex_list_filter){.tag = "re-ddish"}) > 0);
    assert_int_equal(found_in_all_states(&zoo, (culex_list_filter){.tag = "re-dd"}), 0);
    assert_int_equal(found_in_all_states(&zoo, (culex_list_filter){.tag = "Red"}), 0);
    assert_int_equal(found_in_all_states(&zoo, (culex_list_filter){.tag = "r.d"}), 0);
    zoo_end(&zoo);
}

/* Of the dead and of those that will be tried again; payloads have the word as well. */
void case_find__by_a_part_of_the_error(struct suite *suite)
{
    struct zoo zoo;
    zoo_fill(&zoo, suite);
    culex_list_filter filter = {.error_part = "disk"};
    assert_true(found_in_all_states(&zoo, filter) > 0);
    assert_int_equal(zoo_find(&zoo, &filter, 100), 2 * SORT_RUNS);
    filter.error_part = "disk full: /var";
    assert_int_equal(zoo_find(&zoo, &filter, 100), SORT_RUNS);
    filter.error_part = "r (disk?)";
    assert_int_equal(zoo_find(&zoo, &filter, 100), SORT_RUNS);
    filter.error_part = "Disk";
    assert_int_equal(zoo_find(&zoo, &filter, 100), 0);
    filter.error_part = "find.letter";
    assert_int_equal(zoo_find(&zoo, &filter, 100), 0);
    zoo_end(&zoo);
}

/* Whatever has become of them since. */
void case_find__by_the_time_of_the_enqueue(struct suite *suite)
{
    struct zoo zoo;
    zoo_fill(&zoo, suite);
    culex_time begin = zoo.begin_ms * CULEX_MILLISECOND, step = 10 * CULEX_MILLISECOND;
    for (culex_time i = 1; i <= (culex_time)zoo.count + 1; i += 5) {
        culex_list_filter since = {.has_since = true, .since = begin + i * step};
        culex_list_filter before = {.has_before = true, .before = begin + i * step};
        culex_list_filter one = {.has_since = true,
                                 .since = begin + i * step,
                                 .has_before = true,
                                 .before = begin + (i + 1) * step};
        assert_int_equal(zoo_find(&zoo, &since, 3), zoo.count + 1 - (size_t)i);
        assert_int_equal(zoo_find(&zoo, &before, 3), (size_t)i - 1);
        assert_int_equal(zoo_find(&zoo, &one, 3), (size_t)i <= zoo.count);
        since.since++;
        before.before++;
        assert_int_equal(zoo_find(&zoo, &since, 3),
                         zoo.count + 1 - (size_t)i - ((size_t)i <= zoo.count));
        assert_int_equal(zoo_find(&zoo, &before, 3), (size_t)i - 1 + ((size_t)i <= zoo.count));
    }
    found_in_all_states(&zoo, (culex_list_filter){.has_since = true, .since = begin + 15 * step});
    found_in_all_states(&zoo, (culex_list_filter){.has_before = true, .before = begin + 30 * step});
    zoo_end(&zoo);
}

void case_find__by_all_of_it_together(struct suite *suite)
{
    struct zoo zoo;
    zoo_fill(&zoo, suite);
    culex_time begin = zoo.begin_ms * CULEX_MILLISECOND;
    size_t found = 0;
    for (unsigned bits = 0; bits < 32; bits++) {
        culex_list_filter filter = {.job = bits & 1 ? jobs[0] : NULL,
                                    .tag = bits & 2 ? "red" : NULL,
                                    .error_part = bits & 4 ? "no answer" : NULL,
                                    .has_since = (bits & 8) != 0,
                                    .has_before = (bits & 16) != 0};
        filter.since = filter.has_since ? begin + 50 * CULEX_MILLISECOND : 0;
        filter.before = filter.has_before ? begin + 400 * CULEX_MILLISECOND : 0;
        filter.states = all_states[bits % STATES];
        found += zoo_find(&zoo, &filter, limits[bits % 3]);
        filter.states = 0;
        assert_true(zoo_find(&zoo, &filter, limits[bits % 3]) > 0);
    }
    assert_true(found > 0);
    zoo_end(&zoo);
}

/* --- while things change ---------------------------------------------------------------------- */

enum { CROWD = 50 };

/* Runs of both jobs, and which of them the filter has taken all the time. */
struct crowd {
    struct suite *suite;
    culex_uuid ids[CROWD];
    bool is_taken[CROWD];
    int seen[CROWD];
    unsigned random;
};

static unsigned crowd_draw(struct crowd *crowd, unsigned below)
{
    crowd->random = crowd->random * 1103515245u + 12345u;
    return (crowd->random >> 16) % below;
}

static struct culex_new_run crowd_run(struct crowd *crowd)
{
    struct culex_new_run run = suite_run(crowd->suite);
    run.job = jobs[crowd_draw(crowd, 2)];
    run.tags = tags[crowd_draw(crowd, 4)];
    run.expires_ms = crowd_draw(crowd, 3) == 0 ? 60 * SUITE_MINUTE_MS : 0;
    run.priority = crowd_draw(crowd, 5) == 0 ? 3 : run.priority;
    run.delay_ms = crowd_draw(crowd, 6) == 0 ? SUITE_MINUTE_MS : 0;
    return run;
}

static void crowd_look(struct crowd *crowd, const culex_list_filter *filter)
{
    for (size_t i = 0; i < CROWD; i++) {
        const culex_run_info *run = suite_get(crowd->suite, crowd->ids[i]);
        crowd->is_taken[i] &= run != NULL && is_wanted(filter, run);
    }
}

static void crowd_work(struct crowd *crowd)
{
    struct suite *suite = crowd->suite;
    static const enum culex_run_event events[] = {CULEX_EVENT_DONE, CULEX_EVENT_FAIL,
                                                  CULEX_EVENT_DISCARD, CULEX_EVENT_RELEASE};
    struct culex_run_facts held[2];
    size_t count = suite_claim(suite, ANN, 2);
    for (size_t i = 0; i < count; i++)
        held[i] = suite->reply.grants[i].facts;
    for (size_t i = 0; i < count; i++) {
        enum culex_run_event event = events[crowd_draw(crowd, 4)];
        const struct culex_ack ack = {.id = held[i].id,
                                      .attempt = held[i].attempt,
                                      .event = event,
                                      .text = event == CULEX_EVENT_DONE ? NULL : "disk full"};
        if (crowd_draw(crowd, 2) == 0)
            suite_ack(suite, ANN, ack);
    }
}

/* What anybody may do to one of them; what is refused changes nothing. */
static void crowd_change(struct crowd *crowd)
{
    struct suite *suite = crowd->suite;
    const struct culex_store_ops *ops = suite->store->ops;
    culex_uuid id = crowd->ids[crowd_draw(crowd, CROWD)];
    const struct culex_place place = {
        .has_time = true, .delay_ms = (int64_t)crowd_draw(crowd, 2) * 1000, .priority = -1};
    struct culex_new_run run = crowd_run(crowd);
    (void)ops->cancel(suite->store, suite->queue, id, &(culex_run_state){0}, NULL);
    id = crowd->ids[crowd_draw(crowd, CROWD)];
    (void)ops->forget(suite->store, suite->queue, id, NULL);
    id = crowd->ids[crowd_draw(crowd, CROWD)];
    (void)ops->retry(suite->store, suite->queue, id, NULL);
    suite_put_run(suite, &run);
    crowd_work(crowd);
    /* LIST may miss what is moved, wherever it stands then. */
    size_t moved = crowd_draw(crowd, CROWD);
    if (ops->move(suite->store, suite->queue, crowd->ids[moved], &place, NULL) == CULEX_OK)
        crowd->is_taken[moved] = false;
}

static void crowd_follow(struct crowd *crowd, const culex_list_filter *filter, size_t limit)
{
    struct suite *suite = crowd->suite;
    culex_list_cursor cursor = CULEX_LIST_START;
    int pages = 0;
    for (size_t i = 0; i < CROWD; i++) {
        crowd->is_taken[i] = true;
        crowd->seen[i] = 0;
    }
    do {
        struct culex_list_reply page = {0};
        crowd_look(crowd, filter);
        assert_ok(suite->store->ops->list(suite->store, suite->queue, filter, cursor, limit, &page,
                                          NULL));
        for (size_t i = 0; i < page.count; i++) {
            const culex_run_info *run = suite_get(suite, page.runs[i].id);
            assert_true(run != NULL && is_wanted(filter, run));
            for (size_t j = 0; j < CROWD; j++)
                crowd->seen[j] += suite_same_id(page.runs[i].id, crowd->ids[j]);
        }
        cursor = page.cursor;
        suite->store->ops->list_release(suite->store, &page);
        if (cursor.place != 0)
            crowd_change(crowd);
        assert_true(++pages < 10000);
    } while (cursor.place != 0);
    for (size_t i = 0; i < CROWD; i++)
        assert_true(crowd->seen[i] > 0 || !crowd->is_taken[i]);
}

void case_find__misses_none_that_it_takes_all_the_time(struct suite *suite)
{
    static const culex_list_filter filters[] = {{.states = BIT(WAITING), .job = "find.letter"},
                                                {.states = BIT(DEAD), .error_part = "full"},
                                                {.states = BIT(DONE), .tag = "blue"},
                                                {.states = BIT(ACTIVE), .job = "find.parcel"},
                                                {.states = BIT(SCHEDULED), .job = "find.parcel"},
                                                {.states = BIT(DEAD), .newest_first = true},
                                                {.states = BIT(CANCELLED), .newest_first = true},
                                                {.tag = "red"},
                                                {.states = BIT(DEAD) | BIT(WAITING), .tag = "red"}};
    for (size_t f = 0; f < sizeof filters / sizeof filters[0]; f++) {
        struct crowd crowd = {.suite = suite, .random = (unsigned)f};
        for (size_t i = 0; i < CROWD; i++) {
            struct culex_new_run run = crowd_run(&crowd);
            crowd.ids[i] = suite_put_run(suite, &run);
        }
        for (int i = 0; i < 20; i++)
            crowd_work(&crowd);
        for (size_t l = 0; l < 2; l++)
            crowd_follow(&crowd, &filters[f], limits[l]);
    }
}

/* --- few among many --------------------------------------------------------------------------- */

enum { MANY = 12, BATCH = 1000, FEW = 3 };

static void many_put(struct suite *suite, culex_uuid *few)
{
    static struct culex_new_run runs[BATCH];
    static struct culex_enqueue_result results[BATCH];
    for (size_t b = 0; b < MANY; b++) {
        for (size_t i = 0; i < BATCH; i++) {
            runs[i] = suite_run(suite);
            runs[i].job = jobs[0];
        }
        size_t rare = b % 4 == 3 ? b / 4 : FEW;
        if (rare < FEW)
            runs[b == 3 ? 0 : BATCH - 1].job = jobs[1];
        suite_put_many(suite, runs, BATCH, results);
        if (rare < FEW)
            few[rare] = results[b == 3 ? 0 : BATCH - 1].id;
    }
}

static void few_find(struct suite *suite, unsigned states, const culex_uuid *few)
{
    const culex_list_filter filter = {.states = states, .job = jobs[1]};
    int seen[FEW] = {0};
    size_t found;
    int pages = find_all(suite, &filter, 10, few, seen, FEW, &found);
    assert_true(found == FEW || (found > FEW && !is_exact(&filter)));
    for (size_t i = 0; i < FEW; i++)
        assert_true(seen[i] >= 1);
    /* The model looks at all in one call. */
    assert_true(pages > 1 || strcmp(suite->kind, "model") == 0);
}

void case_find__few_among_many_in_bounded_looks(struct suite *suite)
{
    culex_uuid few[FEW];
    many_put(suite, few);
    few_find(suite, BIT(WAITING), few);
    few_find(suite, 0, few);
    for (size_t b = 0; b < MANY; b++)
        assert_int_equal(suite_claim(suite, ANN, BATCH), BATCH);
    few_find(suite, BIT(ACTIVE), few);
}

/* --- the newest first ------------------------------------------------------------------------- */

enum { ENDS = 12 };

struct ends {
    culex_uuid ids[ENDS];
    culex_uuid shown[ENDS * 2];
    size_t count; /* shown */
};

/* A run that ends 5 ms after the one before; every third one is of the other job. */
static culex_uuid end_put(struct suite *suite, size_t i, bool is_dead)
{
    struct culex_new_run run = suite_run(suite);
    run.job = jobs[i % 3 == 0];
    run.keep_failure_ms = run.keep_success_ms = 10 * SUITE_MINUTE_MS;
    culex_uuid id = suite_put_run(suite, &run);
    suite->now_ms += 5;
    if (!is_dead) {
        suite_cancel(suite, id);
        return id;
    }
    assert_int_equal(suite_claim(suite, ANN, 1), 1);
    const struct culex_ack ack = {
        .id = id, .attempt = 1, .event = CULEX_EVENT_DISCARD, .text = "disk full"};
    assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_OK);
    return id;
}

static culex_list_filter newest(bool is_dead)
{
    return (culex_list_filter){.states = is_dead ? BIT(DEAD) : BIT(CANCELLED),
                               .newest_first = true};
}

static culex_list_cursor ends_page(struct suite *suite, struct ends *ends,
                                   const culex_list_filter *filter, culex_list_cursor cursor,
                                   size_t limit)
{
    struct culex_list_reply page = {0};
    assert_ok(
        suite->store->ops->list(suite->store, suite->queue, filter, cursor, limit, &page, NULL));
    assert_true(page.count <= limit);
    for (size_t i = 0; i < page.count; i++) {
        assert_true(ends->count < ENDS * 2);
        ends->shown[ends->count++] = page.runs[i].id;
    }
    cursor = page.cursor;
    suite->store->ops->list_release(suite->store, &page);
    return cursor;
}

static void ends_show(struct suite *suite, struct ends *ends, const culex_list_filter *filter,
                      size_t limit)
{
    culex_list_cursor cursor = CULEX_LIST_START;
    int pages = 0;
    ends->count = 0;
    do {
        cursor = ends_page(suite, ends, filter, cursor, limit);
        assert_true(++pages < 100);
    } while (cursor.place != 0);
}

void case_newest__what_ended_last_is_shown_first(struct suite *suite)
{
    for (int is_dead = 0; is_dead < 2; is_dead++) {
        struct ends ends = {.count = 0};
        culex_list_filter filter = newest(is_dead);
        for (size_t i = 0; i < ENDS; i++)
            ends.ids[i] = end_put(suite, i, is_dead);
        for (size_t l = 0; l < sizeof limits / sizeof limits[0]; l++) {
            ends_show(suite, &ends, &filter, limits[l]);
            assert_int_equal(ends.count, ENDS);
            for (size_t i = 0; i < ENDS; i++)
                assert_true(suite_same_id(ends.shown[i], ends.ids[ENDS - 1 - i]));
        }
    }
}

/* The order holds for what the rest of the filter leaves. */
void case_newest__goes_with_all_else_in_the_filter(struct suite *suite)
{
    struct ends ends = {.count = 0};
    culex_list_filter filter = newest(true);
    filter.job = jobs[1];
    filter.error_part = "full";
    for (size_t i = 0; i < ENDS; i++)
        ends.ids[i] = end_put(suite, i, true);
    for (size_t l = 0; l < sizeof limits / sizeof limits[0]; l++) {
        ends_show(suite, &ends, &filter, limits[l]);
        assert_int_equal(ends.count, ENDS / 3);
        for (size_t i = 0; i < ENDS / 3; i++)
            assert_true(suite_same_id(ends.shown[i], ends.ids[ENDS - 3 - 3 * i]));
    }
    filter.error_part = "no answer";
    ends_show(suite, &ends, &filter, 1);
    assert_int_equal(ends.count, 0);
}

/* Whoever is behind the cursor, be it gone meanwhile, and whatever comes in before it. */
void case_newest__pages_go_on_while_others_end_and_are_removed(struct suite *suite)
{
    for (int is_dead = 0; is_dead < 2; is_dead++) {
        struct ends ends = {.count = 0};
        culex_list_filter filter = newest(is_dead);
        for (size_t i = 0; i < ENDS; i++)
            ends.ids[i] = end_put(suite, i, is_dead);
        culex_list_cursor cursor = ends_page(suite, &ends, &filter, CULEX_LIST_START, 3);
        for (size_t i = 0; i < 3; i++)
            end_put(suite, i, is_dead);
        assert_ok(suite->store->ops->forget(suite->store, suite->queue, ends.ids[ENDS - 3], NULL));
        assert_ok(suite->store->ops->forget(suite->store, suite->queue, ends.ids[ENDS - 4], NULL));
        if (is_dead)
            assert_ok(
                suite->store->ops->retry(suite->store, suite->queue, ends.ids[ENDS - 1], NULL));
        for (int pages = 0; cursor.place != 0 && pages < 100; pages++)
            cursor = ends_page(suite, &ends, &filter, cursor, 2);
        assert_int_equal(ends.count, ENDS - 1);
        for (size_t i = 0; i < ENDS - 1; i++)
            assert_true(suite_same_id(ends.shown[i], ends.ids[ENDS - 1 - i - (i > 2)]));
    }
}

/* All in one ms: no order among them, and none is left out or shown twice. */
void case_newest__of_one_instant_each_is_shown_once(struct suite *suite)
{
    culex_list_filter filter = newest(false);
    struct ends ends = {.count = 0};
    for (size_t i = 0; i < ENDS; i++)
        ends.ids[i] = suite_put(suite);
    for (size_t i = 0; i < ENDS; i++)
        suite_cancel(suite, ends.ids[i]);
    for (size_t l = 0; l < sizeof limits / sizeof limits[0]; l++) {
        size_t found;
        int seen[ENDS] = {0};
        find_all(suite, &filter, limits[l], ends.ids, seen, ENDS, &found);
        assert_int_equal(found, ENDS);
        for (size_t i = 0; i < ENDS; i++)
            assert_int_equal(seen[i], 1);
    }
}

/* --- what cannot be --------------------------------------------------------------------------- */

void case_find__in_a_queue_that_nobody_has_used(struct suite *suite)
{
    struct culex_list_reply page;
    const culex_list_filter filter = {.job = jobs[0]};
    assert_int_equal(suite->store->ops->list(suite->store, "nobodys", &filter, CULEX_LIST_START, 10,
                                             &page, NULL),
                     CULEX_ENOTFOUND);
}

/* Some page, and an end. */
void case_find__goes_on_from_the_cursor_of_another_filter(struct suite *suite)
{
    struct zoo zoo;
    zoo_fill(&zoo, suite);
    for (size_t from = 0; from < STATES; from++) {
        for (size_t to = 0; to < STATES; to++) {
            const culex_list_filter first = {.states = all_states[from]},
                                    second = {.states = all_states[to], .tag = "red"};
            struct culex_list_reply page;
            culex_list_cursor cursor = CULEX_LIST_START;
            int pages = 0;
            do {
                assert_ok(suite->store->ops->list(suite->store, suite->queue,
                                                  pages == 0 ? &first : &second, cursor, 1, &page,
                                                  NULL));
                cursor = page.cursor;
                suite->store->ops->list_release(suite->store, &page);
                assert_true(++pages < 1000);
            } while (cursor.place != 0);
        }
    }
    zoo_end(&zoo);
}

static void refused(struct suite *suite, const culex_list_filter *filter, const char *words)
{
    culex_error error = {0};
    struct culex_list_reply page;
    assert_int_equal(suite->store->ops->list(suite->store, suite->queue, filter, CULEX_LIST_START,
                                             10, &page, &error),
                     CULEX_EINVAL);
    if (strstr(error.text, words) == NULL)
        fail_msg("'%s' is not in: %s", words, error.text);
}

void case_find__what_no_run_can_have_is_refused(struct suite *suite)
{
    char tag[CULEX_TAG_MAX + 2], part[CULEX_ERROR_TEXT_MAX + 2];
    culex_time now = suite->now_ms * CULEX_MILLISECOND;
    suite_put(suite);
    memset(tag, 'a', sizeof tag - 1);
    memset(part, 'a', sizeof part - 1);
    tag[sizeof tag - 1] = part[sizeof part - 1] = '\0';
    refused(suite, &(culex_list_filter){.states = 1u << CULEX_RUN_STATE_COUNT},
            "the bit of no state");
    for (size_t s = 0; s < STATES; s++) {
        if (all_states[s] != BIT(DEAD) && all_states[s] != BIT(CANCELLED))
            refused(suite, &(culex_list_filter){.states = all_states[s], .newest_first = true},
                    "filter.newest_first goes with one state");
    }
    refused(suite, &(culex_list_filter){.states = BIT(DEAD) | BIT(CANCELLED), .newest_first = true},
            "filter.newest_first goes with one state");
    refused(suite, &(culex_list_filter){.job = ""}, "the name of a job has 1 to");
    refused(suite, &(culex_list_filter){.job = "a|b"}, "the name of a job holds");
    refused(suite, &(culex_list_filter){.tag = ""}, "filter.tag");
    refused(suite, &(culex_list_filter){.tag = "a,b"}, "filter.tag");
    refused(suite, &(culex_list_filter){.tag = "a|b"}, "filter.tag");
    refused(suite, &(culex_list_filter){.tag = tag}, "filter.tag");
    refused(suite, &(culex_list_filter){.error_part = ""}, "filter.error_part");
    refused(suite, &(culex_list_filter){.error_part = part}, "filter.error_part");
    refused(suite, &(culex_list_filter){.since = now}, "filter.has_since is not");
    refused(suite, &(culex_list_filter){.before = now}, "filter.has_before is not");
    refused(suite, &(culex_list_filter){.has_since = true, .since = 1700000000}, "before 2001");
    refused(suite, &(culex_list_filter){.has_before = true, .before = 1700000000}, "before 2001");
    refused(
        suite,
        &(culex_list_filter){.has_since = true, .since = now, .has_before = true, .before = now},
        "filter.since is not before filter.before");
    tag[CULEX_TAG_MAX] = part[CULEX_ERROR_TEXT_MAX] = '\0';
    const culex_list_filter longest = {.tag = tag, .error_part = part};
    struct culex_list_reply page;
    assert_ok(suite->store->ops->list(suite->store, suite->queue, &longest, CULEX_LIST_START, 10,
                                      &page, NULL));
    assert_int_equal(page.count, 0);
    suite->store->ops->list_release(suite->store, &page);
}
