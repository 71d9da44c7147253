/* What a spool sends, and what it makes of the answers: each run once, at its time, and what
 * cannot be told stands aside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sqlite3.h>
#include <time.h>
#include <unistd.h>

#include "client/client_private.h"
#include "client/spooling.h"
#include "proxy.h"
#include "spool_scene.h"

enum { MANY = 1500 };

static uint64_t count_in(culex_client *client, const char *queue, culex_run_state state)
{
    culex_queue_stats stats;
    culex_error error = {0};
    if (culex_client_stats(client, queue, &stats, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return stats.count[state];
}

static bool due_note(const culex_run_info *run, void *user)
{
    *(int64_t *)user = run->at_ms;
    return false;
}

/* When the first scheduled one is due. */
static int64_t first_due_ms(culex_client *client, const char *queue)
{
    int64_t due_ms = 0;
    culex_list_cursor cursor = {0};
    assert_int_equal(
        culex_client_list(client, queue, CULEX_RUN_SCHEDULED, &cursor, 1, due_note, &due_ms, NULL),
        CULEX_OK);
    return due_ms;
}

/* --- its keys -------------------------------------------------------------------------------- */

static void file_copy(const char *from, const char *to)
{
    char bytes[4096];
    size_t len;
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    assert_non_null(in);
    assert_non_null(out);
    while ((len = fread(bytes, 1, sizeof bytes, in)) > 0)
        assert_int_equal(fwrite(bytes, 1, len, out), len);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* As by an image of a machine, or a backup that was put back. */
static void test_what_comes_into_a_copy_is_no_repeat(void **state)
{
    struct scene *scene = *state;
    char copy[128], original[128];
    redis_server_kill(&scene->server);
    culex_client_close(client_open(scene, 0));
    snprintf(original, sizeof original, "%s", scene->spool);
    snprintf(copy, sizeof copy, "%s/copy", scene->server.folder);
    file_copy(original, copy);
    scene->client = client_open(scene, 0);
    snprintf(scene->spool, sizeof scene->spool, "%s", copy);
    culex_client *other = client_open(scene, 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_SPOOLED);
    number_add(other, 0, CULEX_ENQUEUE_SPOOLED);
    assert_true(redis_server_restart(&scene->server));
    forward_all(scene->client);
    forward_all(other);
    assert_int_equal(stats_of(other).aside, 0);
    assert_int_equal(count_in(other, "q", CULEX_RUN_WAITING), 2);
    culex_client_close(other);
}

/* --- several jobs in a call ------------------------------------------------------------------ */

/* Three runs, the second with a key of its own, the third with the params of the first. */
static void items_add(culex_client *client, const culex_job_type *types)
{
    static const struct number numbers[] = {{1}, {2}, {1}};
    culex_enqueue_options plain = culex_enqueue_options_make(), keyed = plain;
    plain.queue = keyed.queue = "q";
    keyed.idempotency_key = "order 7";
    culex_enqueue_item items[] = {culex_enqueue_item_make(&types[0], &numbers[0], &plain),
                                  culex_enqueue_item_make(&types[1], &numbers[1], &keyed),
                                  culex_enqueue_item_make(&types[2], &numbers[2], &plain)};
    culex_error error = {0};
    if (culex_client_enqueue_all(client, items, 3, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < 3; i++)
        assert_int_equal(items[i].outcome, CULEX_ENQUEUE_SPOOLED);
}

/* As numbers_add_unheard. */
static void items_bring(struct scene *scene, bool arrives)
{
    const culex_job_type types[3] = {number_type(), number_type(), number_type()};
    culex_client *hasty;
    culex_uuid ticket;
    scene->client = client_open(scene, 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_NEW);
    hasty = client_open_for(scene, HASTY_MS, 0);
    if (arrives)
        number_add(hasty, 1, CULEX_ENQUEUE_NEW);
    else
        assert_int_equal(culex_client_new_ticket(hasty, &ticket, NULL), CULEX_OK);
    assert_int_equal(kill(scene->server.pid, SIGSTOP), 0);
    items_add(hasty, types);
    assert_int_equal(kill(scene->server.pid, SIGCONT), 0);
    culex_client_close(hasty);
    forward_all(scene->client);
    assert_int_equal(stats_of(scene->client).aside, 0);
    assert_int_equal(count_in(scene->client, "q", CULEX_RUN_WAITING), 4 + arrives);
}

static void test_several_that_came_in_unheard_come_once(void **state)
{
    items_bring(*state, true);
}

static void test_several_that_did_not_come_in_come_once(void **state)
{
    items_bring(*state, false);
}

/* Whichever of them is the first. */
static void test_each_of_several_stands_aside_as_its_job_says(void **state)
{
    struct scene *scene = *state;
    culex_job_type types[3] = {number_type(), number_type(), number_type()};
    const culex_unique unique = {.is_unique = true, .while_states = 1u << CULEX_RUN_WAITING};
    const struct number taken = {1};
    culex_enqueue_options options = culex_enqueue_options_make();
    options.queue = "q";
    types[0].unique = types[2].unique = unique;
    types[2].unique.on_conflict = CULEX_ON_CONFLICT_ERROR;
    scene->client = client_open(scene, 0);
    assert_int_equal(culex_client_enqueue(scene->client, &types[0], &taken, &options, NULL, NULL),
                     CULEX_OK);
    redis_server_kill(&scene->server);
    items_add(scene->client, types);
    assert_true(redis_server_restart(&scene->server));
    forward_all(scene->client);
    assert_int_equal(stats_of(scene->client).aside, 1);
    assert_int_equal(count_in(scene->client, "q", CULEX_RUN_WAITING), 2);
}

/* --- calls without an answer ----------------------------------------------------------------- */

static void numbers_add(culex_client *client, int64_t first, size_t count)
{
    const culex_job_type type = number_type();
    struct number numbers[8];
    culex_enqueue_outcome outcomes[8];
    culex_error error = {0};
    culex_enqueue_options options = culex_enqueue_options_make();
    options.queue = "q";
    options.ret_outcomes = outcomes;
    for (size_t i = 0; i < count; i++)
        numbers[i].n = first + (int64_t)i;
    if (culex_client_enqueue_many(client, &type, numbers, sizeof *numbers, count, &options, NULL,
                                  NULL, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(outcomes[count - 1], CULEX_ENQUEUE_SPOOLED);
}

/* Enqueues while the server does not answer, which then finds the call, and carries it out when it
 * `arrives`: the first run tells the server of the queue then, and is answered. Otherwise that it
 * is told so is all that it finds. */
static void numbers_add_unheard(struct scene *scene, int64_t first, size_t count, bool arrives)
{
    culex_client *hasty = client_open_for(scene, HASTY_MS, 0);
    culex_uuid ticket;
    if (arrives)
        number_add(hasty, first, CULEX_ENQUEUE_NEW);
    else
        assert_int_equal(culex_client_new_ticket(hasty, &ticket, NULL), CULEX_OK);
    assert_int_equal(kill(scene->server.pid, SIGSTOP), 0);
    numbers_add(hasty, first + arrives, count - arrives);
    assert_int_equal(kill(scene->server.pid, SIGCONT), 0);
    culex_client_close(hasty);
}

static void part_bring(struct scene *scene, bool arrives)
{
    culex_forward_counts counts;
    scene->client = client_open(scene, 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_NEW);
    assert_int_equal(culex_client_limit(scene->client, "q", 3, NULL), CULEX_OK);
    numbers_add_unheard(scene, 1, 4, arrives);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(culex_client_forward(scene->client, 0, &counts, NULL), CULEX_EFULL);
        assert_int_equal(counts.forwarded, i == 0 ? 2 - arrives : 0);
        assert_int_equal(counts.left, 2);
        assert_int_equal(counts.aside, 0);
    }
    assert_int_equal(culex_client_limit(scene->client, "q", 0, NULL), CULEX_OK);
    forward_all(scene->client);
    claims_expect(scene, "q", 0, 5);
}

static void test_a_call_of_which_a_part_came_in_brings_the_rest(void **state)
{
    part_bring(*state, true);
}

static void test_a_call_of_which_a_part_comes_in_brings_the_rest(void **state)
{
    part_bring(*state, false);
}

/* A call that brought nothing is not remembered: it goes as the call that it was. */
static void test_a_call_of_which_nothing_came_in_brings_all(void **state)
{
    struct scene *scene = *state;
    culex_forward_counts counts;
    scene->client = client_open(scene, 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_NEW);
    assert_int_equal(culex_client_limit(scene->client, "q", 1, NULL), CULEX_OK);
    numbers_add_unheard(scene, 1, 4, false);
    assert_int_equal(culex_client_forward(scene->client, 0, &counts, NULL), CULEX_EFULL);
    assert_int_equal(counts.left, 4);
    assert_int_equal(culex_client_limit(scene->client, "q", 0, NULL), CULEX_OK);
    forward_all(scene->client);
    claims_expect(scene, "q", 0, 5);
}

/* --- times ----------------------------------------------------------------------------------- */

/* Changes what stands in the file. */
static void file_change(const struct scene *scene, const char *format, long long number)
{
    char text[200];
    sqlite3 *db = NULL;
    snprintf(text, sizeof text, format, number);
    assert_int_equal(sqlite3_open(scene->spool, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Spools a run, which has waited for `age_ms` when it is forwarded. */
static void waiting_forward(struct scene *scene, culex_enqueue_options options, int64_t age_ms)
{
    const culex_job_type type = number_type();
    const struct number number = {0};
    culex_error error = {0};
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 0);
    options.queue = "q";
    if (culex_client_enqueue(scene->client, &type, &number, &options, NULL, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(stats_of(scene->client).runs, 1);
    file_change(scene, "UPDATE entry SET asked_ms = asked_ms - %lld", age_ms);
    assert_true(redis_server_restart(&scene->server));
    forward_all(scene->client);
    assert_int_equal(stats_of(scene->client).aside, 0);
}

/* As one that goes to the store at once, it expires so long after it is enqueued. */
static void test_an_expiry_counts_from_the_call_not_from_a_time_before(void **state)
{
    struct scene *scene = *state;
    culex_enqueue_options options = culex_enqueue_options_make();
    options.has_at = true;
    options.at = culex_time_from_unix((int64_t)time(NULL) - 7200);
    options.has_expires = true;
    options.expires = culex_hours(1);
    waiting_forward(scene, options, 0);
    claims_expect(scene, "q", 0, 1);
}

static void test_who_waited_beyond_its_expiry_is_dead(void **state)
{
    struct scene *scene = *state;
    culex_enqueue_options options = culex_enqueue_options_make();
    options.has_expires = true;
    options.expires = culex_hours(1);
    waiting_forward(scene, options, 3600000);
    claims_expect(scene, "q", 0, 0);
    assert_int_equal(count_in(scene->client, "q", CULEX_RUN_DEAD), 1);
}

static void test_an_expiry_counts_from_when_it_would_have_been_due(void **state)
{
    struct scene *scene = *state;
    culex_enqueue_options options = culex_enqueue_options_make();
    options.has_delay = true;
    options.delay = culex_hours(2);
    options.has_expires = true;
    options.expires = culex_hours(2);
    waiting_forward(scene, options, 3 * 3600000);
    claims_expect(scene, "q", 0, 1);
}

static void test_a_delay_counts_from_the_call(void **state)
{
    struct scene *scene = *state;
    culex_enqueue_options options = culex_enqueue_options_make();
    options.has_delay = true;
    options.delay = culex_hours(2);
    waiting_forward(scene, options, 3600000);
    assert_int_equal(count_in(scene->client, "q", CULEX_RUN_SCHEDULED), 1);
    redisReply *ahead = redis_server_command(&scene->server, "TIME");
    assert_non_null(ahead);
    int64_t now_ms = strtoll(ahead->element[0]->str, NULL, 10) * 1000;
    freeReplyObject(ahead);
    int64_t due_ms = first_due_ms(scene->client, "q");
    assert_in_range(due_ms, now_ms + 3600000 - 60000, now_ms + 3600000 + 1000);
}

static void test_a_time_to_begin_is_what_it_was(void **state)
{
    struct scene *scene = *state;
    culex_enqueue_options options = culex_enqueue_options_make();
    int64_t at_s = (int64_t)time(NULL) + 7200;
    options.has_at = true;
    options.at = culex_time_from_unix(at_s);
    waiting_forward(scene, options, 3600000);
    assert_int_equal(first_due_ms(scene->client, "q"), at_s * 1000);
}

/* --- the program's keys ---------------------------------------------------------------------- */

/* Of a key with a window of an hour. */
static void keyed_spool(struct scene *scene, int64_t n)
{
    const culex_job_type type = number_type();
    const struct number number = {n};
    culex_error error = {0};
    culex_enqueue_options options = culex_enqueue_options_make();
    options.queue = "q";
    options.idempotency_key = "hourly";
    options.has_idempotency_window = true;
    options.idempotency_window = culex_hours(1);
    if (culex_client_enqueue(scene->client, &type, &number, &options, NULL, &error) != CULEX_OK)
        fail_msg("%s", error.text);
}

static bool reason_note(const culex_spool_run *run, void *user)
{
    snprintf(user, CULEX_ERROR_TEXT_SIZE, "%s", run->reason);
    return true;
}

/* Sent late, the first of two that are an hour and more apart would make the second its repeat. */
static void test_a_key_whose_window_is_over_stands_aside(void **state)
{
    struct scene *scene = *state;
    char reason[CULEX_ERROR_TEXT_SIZE] = "";
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 0);
    keyed_spool(scene, 0);
    file_change(scene, "UPDATE entry SET asked_ms = asked_ms - %lld", 3600000);
    keyed_spool(scene, 0);
    assert_true(redis_server_restart(&scene->server));
    forward_all(scene->client);
    assert_int_equal(count_in(scene->client, "q", CULEX_RUN_WAITING), 1);
    assert_int_equal(stats_of(scene->client).aside, 1);
    assert_int_equal(culex_client_spool_aside(scene->client, reason_note, reason, NULL), CULEX_OK);
    assert_non_null(strstr(reason, "window"));
    redisReply *reply = redis_server_command(&scene->server, "FLUSHALL");
    freeReplyObject(reply);
    assert_int_equal(culex_client_spool_again(scene->client, 0, NULL, NULL), CULEX_OK);
    forward_all(scene->client);
    assert_int_equal(stats_of(scene->client).aside, 0);
    assert_int_equal(count_in(scene->client, "q", CULEX_RUN_WAITING), 1);
}

static void test_a_key_comes_once_within_its_window(void **state)
{
    struct scene *scene = *state;
    scene->client = client_open(scene, 0);
    keyed_spool(scene, 0);
    redis_server_kill(&scene->server);
    keyed_spool(scene, 0);
    file_change(scene, "UPDATE entry SET asked_ms = asked_ms - %lld", 3000000);
    keyed_spool(scene, 0);
    assert_int_equal(stats_of(scene->client).runs, 2);
    assert_true(redis_server_restart(&scene->server));
    forward_all(scene->client);
    assert_int_equal(stats_of(scene->client).aside, 0);
    claims_expect(scene, "q", 0, 1);
}

/* --- what the store answers ------------------------------------------------------------------ */

static culex_client *client_open_by(struct scene *scene, struct proxy *proxy)
{
    culex_client *client = NULL;
    culex_error error = {0};
    const culex_client_options options = {.timeout_ms = PATIENT_MS, .spool = scene->spool};
    if (culex_client_open(proxy_url(proxy), &options, &client, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return client;
}

/* A node that the queue has left, or that a client was given by mistake. */
static void test_who_is_sent_to_another_node_keeps_its_runs(void **state)
{
    struct scene *scene = *state;
    culex_forward_counts counts;
    culex_error error = {0};
    struct proxy *proxy = proxy_start(scene->server.socket);
    redis_server_kill(&scene->server);
    scene->client = client_open_by(scene, proxy);
    for (int64_t n = 0; n < 3; n++)
        number_add(scene->client, n, CULEX_ENQUEUE_SPOOLED);
    assert_true(redis_server_restart(&scene->server));
    proxy_set(proxy, &(struct proxy_fault){.action = PROXY_ANSWER,
                                           .match = "EVALSHA",
                                           .text = "-MOVED 1 127.0.0.1:7001\r\n"});
    assert_int_equal(culex_client_forward(scene->client, 0, &counts, &error), CULEX_EUNSUPPORTED);
    assert_non_null(strstr(error.text, "MOVED"));
    assert_int_equal(counts.left, 3);
    assert_int_equal(counts.aside, 0);
    proxy_set(proxy, NULL);
    forward_all(scene->client);
    claims_expect(scene, "q", 0, 3);
    culex_client_close(scene->client);
    scene->client = NULL;
    proxy_stop(proxy);
}

static int64_t number_in_file(const struct scene *scene, const char *text)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open(scene->spool, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(statement, 0);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return number;
}

/* What it did before it answered so is not known. */
static void test_an_answer_that_makes_no_sense_leaves_it_open(void **state)
{
    struct scene *scene = *state;
    struct proxy *proxy = proxy_start(scene->server.socket);
    redis_server_kill(&scene->server);
    scene->client = client_open_by(scene, proxy);
    number_add(scene->client, 0, CULEX_ENQUEUE_SPOOLED);
    assert_true(redis_server_restart(&scene->server));
    proxy_set(proxy,
              &(struct proxy_fault){
                  .action = PROXY_ANSWER, .match = "culex-spool:", .text = "$5\r\nabcde\r\n"});
    assert_int_equal(culex_client_forward(scene->client, 0, NULL, NULL), CULEX_ECORRUPT);
    assert_true(number_in_file(scene, "SELECT tried_ms FROM entry") != 0);
    proxy_set(proxy,
              &(struct proxy_fault){
                  .action = PROXY_ANSWER, .match = "culex-spool:", .text = "-OOM no memory\r\n"});
    file_change(scene, "UPDATE entry SET tried_ms = %lld", 0);
    assert_int_equal(culex_client_forward(scene->client, 0, NULL, NULL), CULEX_EFULL);
    assert_int_equal(number_in_file(scene, "SELECT tried_ms FROM entry"), 0);
    proxy_set(proxy, NULL);
    forward_all(scene->client);
    claims_expect(scene, "q", 0, 1);
    culex_client_close(scene->client);
    scene->client = NULL;
    proxy_stop(proxy);
}

/* Judged when the run reaches the store, as the job that asked wanted it. */
static void test_a_unique_key_that_is_taken_stands_aside_where_it_is_an_error(void **state)
{
    struct scene *scene = *state;
    static const culex_on_conflict manners[] = {CULEX_ON_CONFLICT_KEEP, CULEX_ON_CONFLICT_ERROR};
    char reason[CULEX_ERROR_TEXT_SIZE] = "";
    culex_job_type type = number_type();
    const struct number number = {0};
    culex_enqueue_options options = culex_enqueue_options_make();
    options.queue = "q";
    type.unique = (culex_unique){.is_unique = true, .while_states = 1u << CULEX_RUN_WAITING};
    scene->client = client_open(scene, 0);
    assert_int_equal(culex_client_enqueue(scene->client, &type, &number, &options, NULL, NULL),
                     CULEX_OK);
    redis_server_kill(&scene->server);
    for (size_t i = 0; i < 2; i++) {
        type.unique.on_conflict = manners[i];
        assert_int_equal(culex_client_enqueue(scene->client, &type, &number, &options, NULL, NULL),
                         CULEX_OK);
    }
    assert_int_equal(stats_of(scene->client).runs, 2);
    assert_true(redis_server_restart(&scene->server));
    forward_all(scene->client);
    assert_int_equal(stats_of(scene->client).aside, 1);
    assert_int_equal(culex_client_spool_aside(scene->client, reason_note, reason, NULL), CULEX_OK);
    assert_non_null(strstr(reason, "holds this unique key"));
    claims_expect(scene, "q", 0, 1);
}

/* What came in before the connection broke is not spooled. */
static void test_many_of_which_some_went_at_once_come_in_order(void **state)
{
    struct scene *scene = *state;
    const culex_job_type type = number_type();
    static struct number numbers[MANY];
    static culex_enqueue_outcome outcomes[MANY];
    struct proxy *proxy = proxy_start(scene->server.socket);
    culex_enqueue_options options = culex_enqueue_options_make();
    options.queue = "q";
    options.ret_outcomes = outcomes;
    for (int64_t n = 0; n < MANY; n++)
        numbers[n].n = n + 1;
    scene->client = client_open_by(scene, proxy);
    number_add(scene->client, 0, CULEX_ENQUEUE_NEW); /* the server has the scripts from it */
    proxy_set(proxy, &(struct proxy_fault){
                         .action = PROXY_CUT, .direction = PROXY_REQUEST, .after = 40000});
    assert_int_equal(culex_client_enqueue_many(scene->client, &type, numbers, sizeof *numbers, MANY,
                                               &options, NULL, NULL, NULL),
                     CULEX_OK);
    assert_int_equal(outcomes[0], CULEX_ENQUEUE_NEW);
    assert_int_equal(outcomes[MANY - 1], CULEX_ENQUEUE_SPOOLED);
    proxy_set(proxy, NULL);
    forward_all(scene->client);
    assert_int_equal(stats_of(scene->client).aside, 0);
    claims_expect(scene, "q", 0, MANY + 1);
    culex_client_close(scene->client);
    scene->client = NULL;
    proxy_stop(proxy);
}

static void test_who_looks_into_the_spool_connects_to_nothing(void **state)
{
    struct scene *scene = *state;
    struct proxy *proxy = proxy_start(scene->server.socket);
    const culex_client_options options = {.timeout_ms = PATIENT_MS, .spool = scene->spool};
    uint64_t count = 1;
    assert_int_equal(culex__client_open_spool(proxy_url(proxy), &options, &scene->client, NULL),
                     CULEX_OK);
    assert_int_equal(stats_of(scene->client).runs, 0);
    assert_int_equal(culex_client_spool_drop(scene->client, 0, &count, NULL), CULEX_OK);
    assert_int_equal(count, 0);
    assert_int_equal(proxy_connections(proxy), 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_NEW);
    culex_client_close(scene->client);
    scene->client = NULL;
    proxy_stop(proxy);
}

/* The server is asked for its time first, and answers. */
static void test_who_gets_no_answer_is_told_that_the_store_is_away(void **state)
{
    struct scene *scene = *state;
    struct proxy *proxy = proxy_start(scene->server.socket);
    culex_forward_counts counts;
    redis_server_kill(&scene->server);
    scene->client = client_open_by(scene, proxy);
    number_add(scene->client, 0, CULEX_ENQUEUE_SPOOLED);
    assert_true(redis_server_restart(&scene->server));
    proxy_set(proxy,
              &(struct proxy_fault){
                  .action = PROXY_ANSWER, .match = "culex-spool:", .text = "*1\r\n$5\r\nab"});
    assert_int_equal(culex_client_forward(scene->client, 0, &counts, NULL), CULEX_ECONNECT);
    assert_int_equal(counts.left, 1);
    assert_true(number_in_file(scene, "SELECT tried_ms FROM entry") != 0);
    proxy_set(proxy, NULL);
    forward_all(scene->client);
    claims_expect(scene, "q", 0, 1);
    culex_client_close(scene->client);
    scene->client = NULL;
    proxy_stop(proxy);
}

/* One that nobody can read says nothing: with a key of the spool's own the run might come twice. */
static void test_a_damaged_ticket_stands_aside(void **state)
{
    static const char *const damages[] = {"UPDATE entry SET ticket = zeroblob(%lld)",
                                          "UPDATE entry SET ticket = zeroblob(%lld + 13)"};
    struct scene *scene = *state;
    scene->client = client_open(scene, 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_NEW);
    for (uint64_t i = 0; i < 2; i++) {
        numbers_add_unheard(scene, 1 + 2 * (int64_t)i, 2, true);
        file_change(scene, damages[i], 3);
        assert_int_equal(culex_client_forward(scene->client, 0, NULL, NULL), CULEX_OK);
        assert_int_equal(stats_of(scene->client).aside, i + 1);
    }
    claims_expect(scene, "q", 0, 5);
}

/* The store tells that it knows the ticket of other runs: nothing of this is too late. */
static void test_a_call_that_is_not_as_it_was_says_so(void **state)
{
    struct scene *scene = *state;
    char reason[CULEX_ERROR_TEXT_SIZE] = "";
    scene->client = client_open(scene, 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_NEW);
    numbers_add_unheard(scene, 1, 3, true);
    file_change(scene, "DELETE FROM entry WHERE number = (SELECT max(number) FROM entry) + %lld",
                0);
    assert_int_equal(culex_client_forward(scene->client, 0, NULL, NULL), CULEX_OK);
    assert_int_equal(stats_of(scene->client).aside, 1);
    assert_int_equal(culex_client_spool_aside(scene->client, reason_note, reason, NULL), CULEX_OK);
    assert_non_null(strstr(reason, "the ticket came with other runs before"));
    claims_expect(scene, "q", 0, 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_begin, scene_end)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_comes_into_a_copy_is_no_repeat),
        TEST(test_several_that_came_in_unheard_come_once),
        TEST(test_several_that_did_not_come_in_come_once),
        TEST(test_each_of_several_stands_aside_as_its_job_says),
        TEST(test_a_call_of_which_a_part_came_in_brings_the_rest),
        TEST(test_a_call_of_which_a_part_comes_in_brings_the_rest),
        TEST(test_a_call_of_which_nothing_came_in_brings_all),
        TEST(test_an_expiry_counts_from_the_call_not_from_a_time_before),
        TEST(test_who_waited_beyond_its_expiry_is_dead),
        TEST(test_an_expiry_counts_from_when_it_would_have_been_due),
        TEST(test_a_delay_counts_from_the_call),
        TEST(test_a_time_to_begin_is_what_it_was),
        TEST(test_a_key_whose_window_is_over_stands_aside),
        TEST(test_a_key_comes_once_within_its_window),
        TEST(test_who_is_sent_to_another_node_keeps_its_runs),
        TEST(test_an_answer_that_makes_no_sense_leaves_it_open),
        TEST(test_who_gets_no_answer_is_told_that_the_store_is_away),
        TEST(test_a_unique_key_that_is_taken_stands_aside_where_it_is_an_error),
        TEST(test_many_of_which_some_went_at_once_come_in_order),
        TEST(test_who_looks_into_the_spool_connects_to_nothing),
        TEST(test_a_damaged_ticket_stands_aside),
        TEST(test_a_call_that_is_not_as_it_was_says_so),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
