/* A disk that is really full: a small tmpfs in a mount namespace of this test's own. Acks, beats
 * and releases go on, enqueues are refused, and when there is room again all goes on by itself. */
#include "disk.h"
#include "fixture.h"

#include <culex/worker.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/sqlite/checkpoint.h"

#define ONE "aaaaaaaaaaaaaaaa"
#define TWO "bbbbbbbbbbbbbbbb"

enum {
    GUARDED = 3040001,
    MIB = 1024 * 1024,
    DISK_MIB = 22,
    LONG_BYTES = 100000,
    BATCH_MAX = 80,
    SKIPPED = 77 /* to meson */
};

static bool may_mount;

/* --- the disk -------------------------------------------------------------------------- */

static int64_t reserve_size(struct fixture *fixture)
{
    struct stat info;
    char path[128];
    snprintf(path, sizeof path, "%s-reserve", fixture->path);
    return stat(path, &info) == 0 ? info.st_size : -1;
}

static void reserve_set(struct fixture *fixture, int64_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s-reserve", fixture->path);
    assert_int_equal(truncate(path, size), 0);
}

/* --- runs ------------------------------------------------------------------------------ */

static const char payload[LONG_BYTES];

static culex_status try_run(struct culex_store *store, struct culex_new_run run, culex_error *error)
{
    struct culex_enqueue_result result;
    run.keep_success_ms = 86400000;
    return store->ops->enqueue(store, "q", NULL, &run, 1, &result, error);
}

static culex_status try_enqueue(struct culex_store *store, size_t len, culex_error *error)
{
    return try_run(store, fixture_run(payload, len), error);
}

static int64_t enqueue_some(struct culex_store *store, int most)
{
    culex_error error = {.text = ""};
    int64_t stored = 0;
    culex_status status = CULEX_OK;
    for (int i = 0; i < most && status == CULEX_OK; i++) {
        status = try_enqueue(store, i % 2 == 0 ? 700 : 20, &error);
        stored += status == CULEX_OK;
    }
    if (status != CULEX_OK && status != CULEX_EFULL)
        fail_msg("enqueue: %s", error.text);
    return stored;
}

/* Claims up to eight and settles them as `event`: how many there were. */
static size_t work_off(struct culex_store *store, const char *session, enum culex_run_event event)
{
    struct culex_ack acks[8];
    struct culex_step_reply reply = fixture_step(store, "q", session, 8, NULL, 0);
    size_t count = reply.grant_count;
    for (size_t i = 0; i < count; i++)
        acks[i] = (struct culex_ack){.id = reply.grants[i].facts.id,
                                     .attempt = reply.grants[i].facts.attempt,
                                     .event = event};
    store->ops->step_release(store, &reply);
    reply = fixture_step(store, "q", session, 0, acks, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(reply.acks[i], CULEX_ANSWER_OK);
    store->ops->step_release(store, &reply);
    return count;
}

/* --- one process ----------------------------------------------------------------------- */

static void beat_and_release(struct culex_store *store)
{
    struct culex_step_reply reply = fixture_step(store, "q", TWO, 1, NULL, 0);
    assert_int_equal(reply.grant_count, 1);
    struct culex_beat beat = {.id = reply.grants[0].facts.id,
                              .attempt = reply.grants[0].facts.attempt};
    struct culex_ack ack = {.id = beat.id, .attempt = beat.attempt, .event = CULEX_EVENT_RELEASE};
    store->ops->step_release(store, &reply);
    struct culex_step step = {.queue = "q",
                              .session = TWO,
                              .nonce = fixture_nonce(),
                              .lease_ms = 60000,
                              .beats = &beat,
                              .beat_count = 1};
    culex_error error = {.text = ""};
    if (store->ops->step(store, &step, &reply, &error) != CULEX_OK)
        fail_msg("beat: %s", error.text);
    assert_int_equal(reply.beats[0], CULEX_ANSWER_OK);
    store->ops->step_release(store, &reply);
    reply = fixture_step(store, "q", TWO, 0, &ack, 1);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
    store->ops->step_release(store, &reply);
}

static void drain_on_full_disk(struct fixture *fixture, int version)
{
    culex_error error;
    fixture->store = fixture_open(fixture, version);
    struct culex_store *store = fixture->store;
    assert_int_equal(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES);
    int64_t stored = enqueue_some(store, 600);
    assert_int_equal(stored, 600);
    disk_fill(fixture);
    stored += enqueue_some(store, 5000);
    assert_int_equal(reserve_size(fixture),
                     CULEX__SQLITE_RESERVE_BYTES); /* no producer spends it */
    int64_t done = 0;
    for (int i = 0; i < 30; i++) {
        beat_and_release(store);
        done += (int64_t)work_off(store, ONE, CULEX_EVENT_DONE);
    }
    assert_int_equal(done, 240);
    reserve_set(fixture, CULEX__SQLITE_RESERVE_BYTES / 2);
    disk_fill(fixture);
    assert_int_equal(try_enqueue(store, 20, &error), CULEX_EFULL);
    assert_non_null(strstr(error.text, "reserve of 8 MiB"));
    assert_non_null(strstr(error.text, "q.db"));
    disk_relieve(fixture);
    assert_int_equal(try_enqueue(store, 20, &error), CULEX_OK);
    assert_int_equal(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), stored + 1);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs WHERE state = 'D'"), done);
    assert_sound(fixture);
}

static culex_status call(struct culex_store *store, uint64_t producer, int64_t ms, uint64_t content,
                         culex_uuid *ret_id)
{
    const struct culex_ticket ticket = {producer, (uint64_t)ms << 12};
    struct culex_new_run run = fixture_run("x", 1);
    struct culex_enqueue_result result = {.outcome = CULEX_ENQUEUED_NEW};
    run.content = content;
    culex_status status = store->ops->enqueue(store, "q", &ticket, &run, 1, &result, NULL);
    assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
    *ret_id = result.id;
    return status;
}

/* What was done while there was room is answered without any; nothing else is. */
static void assert_known(struct fixture *fixture, const culex_uuid ids[2])
{
    culex_uuid id;
    for (uint64_t i = 0; i < 2; i++) {
        assert_int_equal(call(fixture->store, 1 + i, fixture->now_ms, 7, &id), CULEX_OK);
        assert_memory_equal(&id, &ids[i], sizeof id);
        assert_int_not_equal(call(fixture->store, 1 + i, fixture->now_ms, 8, &id), CULEX_OK);
    }
    assert_int_equal(call(fixture->store, 3, fixture->now_ms, 7, &id), CULEX_EFULL);
}

/* A long run of another kind needs more pages than a short one: where it was refused, some of those
 * have room still. */
static int64_t last_pages_fill(const struct fixture *fixture)
{
    culex_uuid id;
    uint64_t stored = 0;
    while (call(fixture->store, 100 + stored, fixture->now_ms, 7, &id) == CULEX_OK)
        assert_true(++stored < 100);
    return (int64_t)stored;
}

static void test_disk_full__repeat_of_what_was_done_is_answered(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid ids[2];
    fixture->store = fixture_open(fixture, GUARDED);
    for (uint64_t i = 0; i < 2; i++)
        assert_int_equal(call(fixture->store, 1 + i, fixture->now_ms, 7, &ids[i]), CULEX_OK);
    disk_fill(fixture);
    int64_t stored = 2 + enqueue_some(fixture->store, 5000);
    stored += last_pages_fill(fixture);
    assert_int_equal(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES);
    assert_known(fixture, ids);
    assert_int_equal(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES);
    reserve_set(fixture, CULEX__SQLITE_RESERVE_BYTES / 2);
    disk_fill(fixture);
    assert_known(fixture, ids);
    reserve_set(fixture, 0);
    disk_fill(fixture);
    assert_known(fixture, ids);
    disk_relieve(fixture);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), stored);
}

static void test_disk_full__workers_drain_and_enqueues_go_on_after_relief(void **state)
{
    drain_on_full_disk(*state, GUARDED);
}

static void test_disk_full__workers_drain_with_checkpoints_by_sqlite(void **state)
{
    drain_on_full_disk(*state, CULEX__SQLITE_WAL_RESET_FIXED);
}

static sqlite3 *reader_open(struct fixture *fixture)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN; SELECT count(*) FROM run", NULL, NULL, NULL),
                     SQLITE_OK);
    return db;
}

/* A reader keeps the log from being used again, and it can grow by a few pages only. What runs may
 * still report, nothing new is begun, and the worker is told. */
static void test_disk_full__without_room_for_claims_results_are_recorded(void **state)
{
    struct fixture *fixture = *state;
    fixture->store = fixture_open(fixture, GUARDED);
    struct culex_store *store = fixture->store;
    for (int i = 0; i < 200; i++) /* whose claims write more than those of ordinary runs */
        assert_int_equal(try_run(store, fixture_own_run(payload, 360), NULL), CULEX_OK);
    struct culex_step_reply reply = fixture_step(store, "q", ONE, 1, NULL, 0);
    assert_int_equal(reply.grant_count, 1);
    assert_int_equal(reply.room, CULEX_ROOM_ENOUGH);
    struct culex_ack ack = {
        .id = reply.grants[0].facts.id, .attempt = 1, .event = CULEX_EVENT_DONE};
    store->ops->step_release(store, &reply);
    sqlite3 *reader = reader_open(fixture);
    reserve_set(fixture, 0);
    disk_fill(fixture);
    disk_free(fixture, 64 * 1024);
    reply = fixture_step(store, "q", ONE, 150, &ack, 1);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
    assert_int_equal(reply.grant_count, 0);
    assert_int_equal(reply.room, CULEX_ROOM_NONE);
    store->ops->step_release(store, &reply);
    sqlite3_close(reader);
    disk_relieve(fixture);
    reply = fixture_step(store, "q", ONE, 150, NULL, 0);
    assert_int_equal(reply.grant_count, 150);
    assert_int_equal(reply.room, CULEX_ROOM_ENOUGH);
    store->ops->step_release(store, &reply);
    assert_int_equal(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES);
}

/* Lines of eight runs that take all of the reserve would leave none for the ends of others. */
static void test_disk_full__ends_are_recorded_without_their_log_lines(void **state)
{
    enum { RUNS = 100, LINES = 250, LINE_BYTES = 1007 };
    struct fixture *fixture = *state;
    fixture->store = fixture_open(fixture, GUARDED);
    struct culex_store *store = fixture->store;
    char *text = calloc(LINES, LINE_BYTES + 1);
    assert_non_null(text);
    for (size_t i = 0; i < LINES; i++)
        snprintf(text + i * LINE_BYTES, LINE_BYTES + 1, "1|1|3|%01000zu\n", i);
    for (int i = 0; i < RUNS; i++)
        assert_int_equal(try_run(store, fixture_own_run(payload, 20), NULL), CULEX_OK);
    struct culex_step_reply granted = fixture_step(store, "q", ONE, RUNS, NULL, 0);
    assert_int_equal(granted.grant_count, RUNS);
    disk_fill(fixture);
    size_t left = 0;
    for (size_t i = 0; i < RUNS; i++) {
        struct culex_ack ack = {.id = granted.grants[i].facts.id,
                                .attempt = 1,
                                .event = CULEX_EVENT_DONE,
                                .log = {text, LINES * LINE_BYTES, 1000}};
        struct culex_step_reply reply = fixture_step(store, "q", ONE, 0, &ack, 1);
        assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
        left += reply.lines_left;
        store->ops->step_release(store, &reply);
    }
    store->ops->step_release(store, &granted);
    free(text);
    assert_in_range(left, RUNS - 8, RUNS);
    assert_in_range(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES / 2,
                    CULEX__SQLITE_RESERVE_BYTES);
    disk_relieve(fixture);
}

/* --- what may use half of the reserve --------------------------------------------------- */

enum { SPARE_RUNS = 64 }; /* waiting, one for each try */

struct spender {
    struct culex_store *store;
    culex_uuid ids[SPARE_RUNS];
};

typedef culex_status (*spend_fn)(const struct spender *spender, int number, culex_error *error);

static culex_status spend_by_hello(const struct spender *spender, int number, culex_error *error)
{
    size_t released;
    int64_t now_ms;
    return spender->store->ops->hello(spender->store, "q", "worker", number % 2 == 0 ? ONE : TWO,
                                      &released, &now_ms, error);
}

static culex_status spend_by_pause(const struct spender *spender, int number, culex_error *error)
{
    return spender->store->ops->pause(spender->store, "q", number % 2 == 0, error);
}

static culex_status spend_by_move(const struct spender *spender, int number, culex_error *error)
{
    struct culex_place place = {.has_time = true, .delay_ms = 60000 + number, .priority = -1};
    return spender->store->ops->move(spender->store, "q", spender->ids[number % SPARE_RUNS], &place,
                                     error);
}

static culex_status spend_by_pause_for(const struct spender *spender, int number,
                                       culex_error *error)
{
    return spender->store->ops->pause_for(spender->store, "q", 1000 + number, error);
}

static culex_status spend_by_limit(const struct spender *spender, int number, culex_error *error)
{
    return spender->store->ops->limit(spender->store, "q", 1000000 + (uint64_t)number, error);
}

static culex_status spend_by_dead_limit(const struct spender *spender, int number,
                                        culex_error *error)
{
    return spender->store->ops->dead_limit(spender->store, "q", 1000 + (uint64_t)number, error);
}

static culex_status spend_by_events_keep(const struct spender *spender, int number,
                                         culex_error *error)
{
    return spender->store->ops->events_keep(spender->store, "q", 1000 + (uint64_t)number, error);
}

static culex_status spend_by_schedule(const struct spender *spender, int number, culex_error *error)
{
    enum culex_schedule_act act = number % 2 == 0 ? CULEX_SCHEDULE_PAUSE : CULEX_SCHEDULE_RESUME;
    return spender->store->ops->schedule_set(spender->store, "q", "sweep", act, error);
}

static culex_status spend_by_metadata(const struct spender *spender, int number, culex_error *error)
{
    char bytes[4096];
    const struct culex_metadata_set set = {.job = "job",
                                           .before = CULEX_METADATA_ANY,
                                           .version = 1 + (uint64_t)number,
                                           .bytes = bytes,
                                           .len = sizeof bytes};
    memset(bytes, 'a' + number % 26, sizeof bytes);
    return spender->store->ops->metadata_set(spender->store, "q", &set, error);
}

static culex_status spend_by_limit_set(const struct spender *spender, int number,
                                       culex_error *error)
{
    const culex_limit_value value = {.count = 1000 + (uint32_t)number};
    return spender->store->ops->limit_set(spender->store, "q", "job:concurrency", &value, error);
}

/* Of a run that is far away. */
static void begun_limit(struct spender *spender)
{
    const struct culex_run_limit limit = {CULEX_LIMIT_CONCURRENCY, "job:concurrency", "", 1, 0, 0};
    const struct culex_new_run run = {.job = "job",
                                      .attempts_max = 1,
                                      .delay_ms = INT64_C(31536000000),
                                      .tags = "",
                                      .payload = "{}",
                                      .payload_len = 2,
                                      .limits = &limit,
                                      .limit_count = 1};
    struct culex_enqueue_result result;
    assert_int_equal(
        spender->store->ops->enqueue(spender->store, "q", NULL, &run, 1, &result, NULL), CULEX_OK);
}

static void begun_schedule(struct spender *spender)
{
    struct culex_tick tick = {
        .queue = "q", .schedule = "sweep", .interval_ms = 1, .is_of_calendar = true};
    struct culex_tick_reply reply;
    assert_int_equal(spender->store->ops->tick(spender->store, &tick, &reply, NULL), CULEX_OK);
}

static culex_status spend_by_worker(const struct spender *spender, int number, culex_error *error)
{
    char sheet[4096];
    struct culex_worker_wish wish;
    const struct culex_worker_tell tell = {
        .id = "a1", .concurrency = 1, .sheet = sheet, .sheet_len = sizeof sheet};
    memset(sheet, 'a' + number % 26, sizeof sheet);
    return spender->store->ops->worker_tell(spender->store, &tell, &wish, error);
}

static culex_status spend_by_wish(const struct spender *spender, int number, culex_error *error)
{
    const struct culex_worker_wish wish = {.quiet = number % 2 == 0 ? CULEX_SWITCH_ON
                                                                    : CULEX_SWITCH_OFF};
    size_t count;
    return spender->store->ops->worker_set(spender->store, "a1", &wish, &count, error);
}

static void told_worker(struct spender *spender)
{
    assert_int_equal(spend_by_worker(spender, 0, NULL), CULEX_OK);
}

static culex_status spend_by_cancel(const struct spender *spender, int number, culex_error *error)
{
    culex_run_state state;
    return spender->store->ops->cancel(spender->store, "q", spender->ids[number], &state, error);
}

static culex_status spend_by_forget(const struct spender *spender, int number, culex_error *error)
{
    return spender->store->ops->forget(spender->store, "q", spender->ids[number], error);
}

static culex_status spend_by_purge(const struct spender *spender, int number, culex_error *error)
{
    struct culex_purge_reply purged;
    (void)number;
    return spender->store->ops->purge(spender->store, "q", CULEX_RUN_WAITING, 1, &purged, error);
}

static void spare_runs(struct spender *spender)
{
    for (int i = 0; i < SPARE_RUNS; i++) {
        struct culex_new_run run = fixture_run("", 0);
        spender->ids[i] = fixture_put(spender->store, "q", &run);
    }
}

/* The disk was relieved: the next calls that write make the reserve whole again. */
static void reserve_comes_back(struct fixture *fixture, const struct spender *spender)
{
    culex_error error;
    assert_int_equal(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES / 2);
    disk_relieve(fixture);
    assert_int_equal(spend_by_pause(spender, 0, &error), CULEX_OK);
    assert_int_equal(spend_by_pause(spender, 1, &error), CULEX_OK);
    assert_int_equal(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES);
}

static void log_cut_off(const struct spender *spender)
{
    assert_int_equal(culex__sqlite_checkpoint(culex__sqlite_of(spender->store), true),
                     CULEX__SQLITE_WRITTEN_BACK);
}

/* On a full disk, with a short log that a reader keeps from being written back: the verb goes on
 * working, and one of its calls takes half of the reserve. */
static void spends_half_beside_reader(struct fixture *fixture, const struct spender *spender,
                                      spend_fn spend)
{
    culex_error error = {.text = ""};
    log_cut_off(spender);
    assert_int_equal(spend_by_limit(spender, 0, &error), CULEX_OK);
    sqlite3 *reader = reader_open(fixture);
    assert_int_equal(spend_by_limit(spender, 1, &error), CULEX_OK);
    disk_fill(fixture);
    assert_int_equal(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES);
    int tries = 0;
    while (tries < SPARE_RUNS && reserve_size(fixture) == CULEX__SQLITE_RESERVE_BYTES) {
        if (spend(spender, tries++, &error) != CULEX_OK)
            fail_msg("try %d: %s", tries, error.text);
    }
    sqlite3_close(reader);
    reserve_comes_back(fixture, spender);
}

/* On a full disk, with a log of no bytes: there is nothing to write back, and so no room from that;
 * the first call of the verb takes half of the reserve. */
static void spends_half_on_empty_log(struct fixture *fixture, const struct spender *spender,
                                     spend_fn spend)
{
    culex_error error = {.text = ""};
    log_cut_off(spender);
    disk_fill(fixture);
    assert_int_equal(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES);
    if (spend(spender, 0, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    reserve_comes_back(fixture, spender);
}

static void cancelled_runs(struct spender *spender)
{
    culex_error error;
    spare_runs(spender);
    for (int i = 0; i < SPARE_RUNS; i++)
        assert_int_equal(spend_by_cancel(spender, i, &error), CULEX_OK);
}

/* The verbs of store/verbs.def that manage. */
enum {
#define COUNT_READS                                      +0
#define COUNT_MANAGES                                    +1
#define COUNT_ADDS                                       +0
#define VERB(name, effect, parameters, arguments, check) COUNT_##effect
    MANAGING = 0
#include "store/verbs.def"
#undef VERB
};

/* All verbs that may spend half of the reserve, each of them by `spends_half`. */
static void all_spend_half(struct fixture *fixture, int version,
                           void (*spends_half)(struct fixture *fixture,
                                               const struct spender *spender, spend_fn spend))
{
    static const struct {
        spend_fn spend;
        void (*prepare)(struct spender *spender);
    } cases[] = {{spend_by_hello, spare_runs},
                 {spend_by_pause, NULL},
                 {spend_by_pause_for, NULL},
                 {spend_by_move, spare_runs},
                 {spend_by_limit, NULL},
                 {spend_by_schedule, begun_schedule},
                 {spend_by_limit_set, begun_limit},
                 {spend_by_metadata, NULL},
                 {spend_by_cancel, spare_runs},
                 {spend_by_forget, cancelled_runs},
                 {spend_by_purge, spare_runs},
                 {spend_by_dead_limit, NULL},
                 {spend_by_events_keep, NULL},
                 {spend_by_worker, NULL},
                 {spend_by_wish, told_worker}};
    _Static_assert(sizeof cases / sizeof cases[0] == MANAGING, "a case for each verb that manages");
    struct spender spender = {.store = fixture->store = fixture_open(fixture, version)};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].prepare != NULL)
            cases[i].prepare(&spender);
        spends_half(fixture, &spender, cases[i].spend);
    }
    assert_sound(fixture);
}

static void test_disk_full__hello_and_operators_use_half_of_the_reserve(void **state)
{
    all_spend_half(*state, GUARDED, spends_half_beside_reader);
}

static void test_disk_full__they_use_it_at_once_on_an_empty_log(void **state)
{
    all_spend_half(*state, GUARDED, spends_half_on_empty_log);
}

static void test_disk_full__they_use_it_at_once_with_checkpoints_by_sqlite(void **state)
{
    all_spend_half(*state, CULEX__SQLITE_WAL_RESET_FIXED, spends_half_on_empty_log);
}

/* Producers stop while what the log holds can still be brought into the file, once the reader that
 * keeps it back has gone. */
static void log_of_a_reader_is_worked_off(struct fixture *fixture, int version)
{
    fixture->store = fixture_open(fixture, version);
    struct culex_store *store = fixture->store;
    culex_error error = {.text = ""};
    int64_t stored = enqueue_some(store, 10), done = 0, part;
    sqlite3 *reader = reader_open(fixture);
    while (try_enqueue(store, LONG_BYTES, &error) == CULEX_OK)
        stored++;
    assert_non_null(strstr(error.text, "cannot be written back"));
    sqlite3_close(reader);
    while ((part = (int64_t)work_off(store, ONE, CULEX_EVENT_DONE)) > 0)
        done += part;
    assert_int_equal(done, stored);
    assert_sound(fixture);
}

static void test_disk_full__log_that_a_reader_kept_back_is_worked_off(void **state)
{
    log_of_a_reader_is_worked_off(*state, GUARDED);
}

static void test_disk_full__log_is_worked_off_with_checkpoints_by_sqlite(void **state)
{
    log_of_a_reader_is_worked_off(*state, CULEX__SQLITE_WAL_RESET_FIXED);
}

static culex_status try_batch(struct culex_store *store, size_t count, culex_error *error)
{
    struct culex_new_run runs[BATCH_MAX];
    struct culex_enqueue_result results[BATCH_MAX];
    for (size_t i = 0; i < count; i++)
        runs[i] = fixture_run(payload, LONG_BYTES);
    return store->ops->enqueue(store, "q", NULL, runs, count, results, error);
}

/* While the reserve is in use, enqueues go into the pages that ended runs have left, and no
 * further: nobody could bring into the file what makes it grow. */
static void test_disk_full__file_does_not_grow_from_enqueues(void **state)
{
    enum { ENDED = 50 };
    struct fixture *fixture = *state;
    culex_error error = {.text = ""};
    fixture->store = fixture_open(fixture, GUARDED);
    struct culex_store *store = fixture->store;
    assert_int_equal(try_batch(store, ENDED, &error), CULEX_OK);
    for (int left = ENDED; left > 0; left -= 8)
        work_off(store, ONE, CULEX_EVENT_DONE);
    assert_int_equal(culex__sqlite_checkpoint(culex__sqlite_of(store), true),
                     CULEX__SQLITE_WRITTEN_BACK);
    reserve_set(fixture, CULEX__SQLITE_RESERVE_BYTES / 2);
    disk_fill(fixture);
    disk_free(fixture, 7 * MIB); /* for the log, but not for a whole reserve as well */
    int64_t pages = fixture_ask(fixture, "PRAGMA page_count");
    assert_int_equal(try_batch(store, ENDED + 6, &error), CULEX_EFULL);
    assert_int_equal(fixture_ask(fixture, "PRAGMA page_count"), pages);
    assert_int_equal(try_batch(store, ENDED / 2, &error), CULEX_OK);
    assert_int_equal(fixture_ask(fixture, "PRAGMA page_count"), pages);
    assert_int_equal(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES / 2);
}

/* --- several processes ----------------------------------------------------------------- */

/* Works until nothing is left; tells over `out` how many were done. */
static void work_in_child(struct fixture *fixture, int number, int in, int out)
{
    char session[17], go;
    snprintf(session, sizeof session, "%016d", number);
    struct culex_store *store = fixture_open(fixture, GUARDED);
    int64_t done = 0;
    size_t count = 0;
    if (read(in, &go, 1) != 1)
        _exit(2);
    do {
        count = work_off(store, session, CULEX_EVENT_DONE);
        done += (int64_t)count;
    } while (count > 0);
    if (write(out, &done, sizeof done) != (ssize_t)sizeof done)
        _exit(3);
    store->ops->close(store);
    _exit(0);
}

static void test_disk_full__several_processes_lose_nothing(void **state)
{
    enum { WORKERS = 3 };
    struct fixture *fixture = *state;
    int in[2], out[2];
    pid_t children[WORKERS];
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    for (int i = 0; i < WORKERS; i++) {
        children[i] = fixture_fork();
        if (children[i] == 0)
            work_in_child(fixture, i, in[0], out[1]);
    }
    fixture->store = fixture_open(fixture, GUARDED);
    int64_t stored = enqueue_some(fixture->store, 400);
    disk_fill(fixture);
    stored += enqueue_some(fixture->store, 5000);
    assert_int_equal(write(in[1], "123", WORKERS), WORKERS);
    int64_t done = 0, part = 0;
    for (int i = 0; i < WORKERS; i++) {
        int how;
        assert_int_equal(waitpid(children[i], &how, 0), children[i]);
        assert_int_equal(how, 0);
        assert_int_equal(read(out[0], &part, sizeof part), sizeof part);
        done += part;
    }
    for (int i = 0; i < 2; i++) {
        close(in[i]);
        close(out[i]);
    }
    assert_int_equal(done, stored);
    disk_relieve(fixture);
    culex_error error;
    assert_int_equal(try_enqueue(fixture->store, 20, &error), CULEX_OK);
    assert_int_equal(
        fixture_ask(fixture, "SELECT count(*) FROM runs WHERE state = 'D' AND attempt = 1"),
        stored);
    assert_sound(fixture);
}

/* --- a whole worker -------------------------------------------------------------------- */

struct parcel {
    int64_t n; /* below zero: the worker is to stop */
};

static const culex_field parcel_fields[] = {{.name = "n",
                                             .wire = "n",
                                             .kind = CULEX_KIND_INT64,
                                             .flags = CULEX_FIELD_REQUIRED,
                                             .offset = offsetof(struct parcel, n)}};
static const culex_struct_type parcel_struct = {"t.parcel", sizeof(struct parcel), parcel_fields,
                                                1};
static const culex_job_type parcel_type = {.descriptor_version = CULEX_DESCRIPTOR_VERSION,
                                           .name = "t.parcel",
                                           .wire = "t.parcel",
                                           .queue = "q",
                                           .params = &parcel_struct,
                                           .fingerprint = 1,
                                           .priority = 5,
                                           .keep_success_ms = 86400000,
                                           .keep_failure_ms = 86400000};

/* A handler says that it has begun, and waits until it may end. */
struct gate {
    culex_worker *worker;
    int begun, may_end;
};

static void parcel_handler(void)
{
}

static culex_outcome parcel_call(culex_run *run, culex_handler_fn handler, const void *params,
                                 void *user)
{
    const struct gate *gate = user;
    char byte = 0;
    (void)handler;
    if (((const struct parcel *)params)->n < 0) {
        culex_worker_stop(gate->worker);
        return CULEX_DONE;
    }
    if (write(gate->begun, &byte, 1) != 1 || read(gate->may_end, &byte, 1) < 0)
        return culex_run_fail(run, "the pipes are closed");
    return CULEX_DONE;
}

static void worker_in_child(const char *url, int begun, int may_end)
{
    culex_error error = {.text = ""};
    culex_worker_options options = {.url = url,
                                    .concurrency = 4,
                                    .batch = 4,
                                    .isolation = CULEX_ISOLATION_NONE,
                                    .lease_ms = 3000,
                                    .log_level = 1};
    struct gate gate = {.begun = begun, .may_end = may_end};
    if (culex_worker_create(&options, &gate.worker, &error) == CULEX_OK &&
        culex_worker_register(gate.worker, &parcel_type, parcel_call, parcel_handler, &gate) ==
            CULEX_OK &&
        culex_worker_run(gate.worker, &error) == CULEX_OK) {
        culex_worker_free(gate.worker);
        _exit(0);
    }
    fprintf(stderr, "worker: %s\n", error.text);
    _exit(2);
}

static culex_status send_parcel(culex_client *client, int64_t n, culex_error *error)
{
    struct parcel parcel = {n};
    return culex_client_enqueue(client, &parcel_type, &parcel, NULL, NULL, error);
}

static culex_queue_stats wait_until_done(culex_client *client, uint64_t count)
{
    culex_queue_stats stats = {.done = 0};
    culex_error error = {.text = ""};
    for (int i = 0; i < 6000 && stats.done < count; i++) {
        if (culex_client_stats(client, "q", &stats, &error) != CULEX_OK)
            fail_msg("stats: %s", error.text);
        if (stats.done < count)
            poll(NULL, 0, 10);
    }
    assert_true(stats.done >= count);
    return stats;
}

/* Four handlers run when the disk becomes full; they come to their end on it, and when there is
 * room the same producer and worker go on. */
static void test_disk_full__worker_reports_all_and_goes_on_after_relief(void **state)
{
    struct fixture *fixture = *state;
    int begun[2], may_end[2];
    char url[128], bytes[4];
    culex_client *client = NULL;
    culex_error error = {.text = ""};
    uint64_t sent = 0;
    snprintf(url, sizeof url, "sqlite:%s", fixture->path);
    assert_int_equal(pipe(begun), 0);
    assert_int_equal(pipe(may_end), 0);
    pid_t child = fixture_fork();
    if (child == 0) {
        close(may_end[1]);
        worker_in_child(url, begun[1], may_end[0]);
    }
    assert_int_equal(culex_client_open(url, NULL, &client, &error), CULEX_OK);
    for (; sent < 4; sent++)
        assert_int_equal(send_parcel(client, 1, &error), CULEX_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(read(begun[0], bytes, 1), 1);
    disk_fill(fixture);
    culex_status status;
    while ((status = send_parcel(client, 1, &error)) == CULEX_OK && sent < 5000)
        sent++;
    assert_int_equal(status, CULEX_EFULL);
    close(may_end[1]); /* all may end */
    wait_until_done(client, 4);
    disk_relieve(fixture);
    /* The worker may be at it in the same moment. */
    for (int i = 0; i < 1000 && (status = send_parcel(client, 1, &error)) == CULEX_EFULL; i++)
        poll(NULL, 0, 10);
    assert_int_equal(status, CULEX_OK);
    culex_queue_stats stats = wait_until_done(client, sent + 1);
    assert_int_equal(stats.done, sent + 1);
    assert_int_equal(stats.failed, 0);
    assert_int_equal(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES);
    assert_int_equal(send_parcel(client, -1, &error), CULEX_OK);
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    culex_client_close(client);
    close(begun[0]);
    close(begun[1]);
    close(may_end[0]);
    assert_sound(fixture);
}

/* --- without a full disk --------------------------------------------------------------- */

static void test_reserve__deleted_file_is_made_again(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    snprintf(path, sizeof path, "%s-reserve", fixture->path);
    fixture->store = fixture_open(fixture, GUARDED);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(enqueue_some(fixture->store, 1), 1);
    assert_int_equal(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES);
}

static void test_reserve__none_when_told_so(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store *store;
    culex_error error = {.text = ""};
    char url[128];
    snprintf(url, sizeof url, "%s?reserve=0", fixture->path);
    assert_int_equal(culex__sqlite_open(url, false, NULL, &fixture->env, &store, &error), CULEX_OK);
    store->ops->close(store);
    assert_int_equal(reserve_size(fixture), -1);
    snprintf(url, sizeof url, "%s?reserve=3", fixture->path);
    assert_int_equal(culex__sqlite_open(url, false, NULL, &fixture->env, &store, &error),
                     CULEX_EURL);
    assert_non_null(strstr(error.text, "reserve must be a number of 0 to 1"));
}

/* --- runner ---------------------------------------------------------------------------- */

static int setup_disk(void **state)
{
    fixture_setup(state);
    struct fixture *fixture = *state;
    if (may_mount && disk_mount(fixture, DISK_TMPFS, DISK_MIB))
        return 0;
    fprintf(stderr, "no disk of our own may be mounted here: %s\n", strerror(errno));
    fixture_release(fixture);
    free(fixture);
    *state = NULL;
    return -1;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    if (fixture == NULL)
        return 0;
    if (fixture->store != NULL)
        fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
    disk_unmount(fixture);
    fixture_release(fixture);
    free(fixture);
    return 0;
}

#define ON_DISK(name) cmocka_unit_test_setup_teardown(name, setup_disk, teardown)
#define TEST(name)    cmocka_unit_test_setup_teardown(name, fixture_setup, teardown)

int main(void)
{
    const struct CMUnitTest everywhere[] = {
        TEST(test_reserve__deleted_file_is_made_again),
        TEST(test_reserve__none_when_told_so),
    };
    const struct CMUnitTest on_disk[] = {
        ON_DISK(test_disk_full__workers_drain_and_enqueues_go_on_after_relief),
        ON_DISK(test_disk_full__workers_drain_with_checkpoints_by_sqlite),
        ON_DISK(test_disk_full__without_room_for_claims_results_are_recorded),
        ON_DISK(test_disk_full__ends_are_recorded_without_their_log_lines),
        ON_DISK(test_disk_full__repeat_of_what_was_done_is_answered),
        ON_DISK(test_disk_full__hello_and_operators_use_half_of_the_reserve),
        ON_DISK(test_disk_full__they_use_it_at_once_on_an_empty_log),
        ON_DISK(test_disk_full__they_use_it_at_once_with_checkpoints_by_sqlite),
        ON_DISK(test_disk_full__file_does_not_grow_from_enqueues),
        ON_DISK(test_disk_full__log_that_a_reader_kept_back_is_worked_off),
        ON_DISK(test_disk_full__log_is_worked_off_with_checkpoints_by_sqlite),
        ON_DISK(test_disk_full__several_processes_lose_nothing),
        ON_DISK(test_disk_full__worker_reports_all_and_goes_on_after_relief),
    };
    int failed = cmocka_run_group_tests(everywhere, NULL, NULL);
    may_mount = disk_begin();
    if (!may_mount) {
        fprintf(stderr, "nothing may be mounted here (%s): full disks are not tested\n",
                strerror(errno));
        return failed != 0 ? failed : SKIPPED;
    }
    return failed + cmocka_run_group_tests(on_disk, NULL, NULL);
}
