/* Many processes claim the runs of one queue, on real stores; some are killed. A ledger has what
 * each of them was given, and which ends the store took. */
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <culex/claims.h>
#include <culex/maintain.h>

#include "redis_server.h"
#include "world.h"

enum {
    RUNS = 600,
    RUNS_KILLED = 80,
    RUNS_LIMITED = 100,
    CLAIMERS = 4,
    FINISHERS = 2,
    LATEST_S = 120
};

/* --- a place on a real store ----------------------------------------------------------------- */

struct place {
    struct redis_server server;
    char folder[40];
    char url[160];
    int ledger;    /* entries of all processes, each written at once */
    int tokens[2]; /* a pipe from claimers to those who finish for them */
};

static int place_setup(void **state, bool is_redis)
{
    struct place *place = calloc(1, sizeof *place);
    char path[64];
    assert_non_null(place);
    *state = place;
    strcpy(place->folder, "/tmp/culex-claims-XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    snprintf(place->url, sizeof place->url, "sqlite:%s/w.db?synchronous=normal", place->folder);
    snprintf(path, sizeof path, "%s/ledger", place->folder);
    place->ledger = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(place->ledger >= 0);
    assert_int_equal(pipe2(place->tokens, O_CLOEXEC), 0);
    if (is_redis) {
        if (!redis_server_start(&place->server, NULL))
            skip();
        snprintf(place->url, sizeof place->url, "%s", place->server.url);
    }
    return 0;
}

static int setup_sqlite(void **state)
{
    return place_setup(state, false);
}

static int setup_redis(void **state)
{
    return place_setup(state, true);
}

static int teardown(void **state)
{
    struct place *place = *state;
    char command[64];
    redis_server_stop(&place->server);
    close(place->ledger);
    close(place->tokens[0]);
    close(place->tokens[1]);
    snprintf(command, sizeof command, "rm -rf %s", place->folder);
    assert_int_equal(system(command), 0);
    free(place);
    return 0;
}

static culex_client *client_open(const struct place *place)
{
    culex_client *client = NULL;
    culex_error error = {0};
    const culex_client_options patient = {.timeout_ms = 60000};
    if (culex_client_open(place->url, &patient, &client, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return client;
}

/* No client stays open: SQLite's locks are not inherited by those who are forked. */
static void runs_of_type_put(const struct place *place, const culex_job_type *type, int count)
{
    culex_client *client = client_open(place);
    struct number numbers[RUNS];
    for (int i = 0; i < count; i++)
        numbers[i].n = i;
    assert_int_equal(culex_client_enqueue_many(client, type, numbers, sizeof numbers[0],
                                               (size_t)count, NULL, NULL, NULL, NULL),
                     CULEX_OK);
    culex_client_close(client);
}

static void runs_put(const struct place *place, int count)
{
    const culex_job_type type = number_type();
    runs_of_type_put(place, &type, count);
}

static culex_queue_stats stats_of(const struct place *place)
{
    culex_queue_stats stats;
    culex_client *client = client_open(place);
    assert_int_equal(culex_client_stats(client, "numbers", &stats, NULL), CULEX_OK);
    culex_client_close(client);
    return stats;
}

static void fsck_finds_nothing(const struct place *place)
{
    culex_fsck_counts counts;
    culex_client *client = client_open(place);
    assert_int_equal(culex_client_fsck(client, "numbers", false, &counts, NULL), CULEX_OK);
    assert_int_equal(counts.wrong + counts.damaged, 0);
    culex_client_close(client);
}

/* --- the ledger ------------------------------------------------------------------------------ */

enum act { GIVEN, ENDING, DONE, REFUSED };

struct entry {
    int64_t n;
    enum act act;
    uint32_t attempt;
};

static void note(const struct place *place, int64_t n, enum act act, uint32_t attempt)
{
    const struct entry entry = {n, act, attempt};
    if (write(place->ledger, &entry, sizeof entry) != sizeof entry)
        _exit(3);
}

struct sums {
    int given[RUNS], done[RUNS], refused;
};

static struct sums sums_read(const struct place *place)
{
    struct sums sums = {.refused = 0};
    struct entry entry;
    assert_int_equal(lseek(place->ledger, 0, SEEK_SET), 0);
    while (read(place->ledger, &entry, sizeof entry) == sizeof entry) {
        assert_in_range(entry.n, 0, RUNS - 1);
        sums.given[entry.n] += entry.act == GIVEN;
        sums.done[entry.n] += entry.act == DONE;
        sums.refused += entry.act == REFUSED;
    }
    return sums;
}

/* --- those who work -------------------------------------------------------------------------- */

struct job {
    char token[CULEX_CLAIM_TOKEN_SIZE];
    culex_uuid id;
    int64_t n;
    uint32_t attempt;
};

static void die_of(const culex_error *error)
{
    fprintf(stderr, "%s\n", error->text);
    _exit(4);
}

static void finish(const struct place *place, culex_client *client, const struct job *job)
{
    culex_error error = {0};
    culex_status status = culex_claim_complete(client, job->token, NULL, 0, &error);
    if (status == CULEX_OK)
        note(place, job->n, DONE, job->attempt);
    else if (status == CULEX_ESTALE)
        note(place, job->n, REFUSED, job->attempt);
    else
        die_of(&error);
}

static struct job job_of(const culex_claim *claim)
{
    struct job job = {.id = claim->id, .attempt = claim->attempt};
    strcpy(job.token, claim->token);
    if (sscanf((const char *)claim->payload.data, "{\"n\":%" SCNd64 "}", &job.n) != 1)
        _exit(5);
    return job;
}

/* False: there was nothing to claim. */
static bool claim_next(const struct place *place, culex_client *client, int64_t lease_ms,
                       struct job *ret_job)
{
    const culex_claim_options options = {.lease = culex_milliseconds(lease_ms),
                                         .wait = culex_milliseconds(300)};
    culex_claim *claim;
    culex_error error = {0};
    if (culex_client_claim(client, "numbers", &options, &claim, &error) != CULEX_OK)
        die_of(&error);
    if (claim == NULL)
        return false;
    *ret_job = job_of(claim);
    note(place, ret_job->n, GIVEN, ret_job->attempt);
    culex_claim_free(claim);
    return true;
}

/* A process that does this and ends; the test waits for it. */
static pid_t spawn(const struct place *place, void (*live)(const struct place *, culex_client *))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    alarm(LATEST_S);
    culex_client *client = NULL;
    const culex_client_options patient = {.timeout_ms = 60000};
    culex_error error = {0};
    if (culex_client_open(place->url, &patient, &client, &error) != CULEX_OK)
        die_of(&error);
    live(place, client);
    culex_client_close(client);
    _exit(0);
}

static void await(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Every other run is finished by another process, as behind a balancer. */
static void claimer_live(const struct place *place, culex_client *client)
{
    struct job job;
    for (unsigned i = 0; claim_next(place, client, 60000, &job); i++) {
        if (i % 2 == 0)
            finish(place, client, &job);
        else if (write(place->tokens[1], &job, sizeof job) != sizeof job)
            _exit(6);
    }
}

/* Until all who write are gone. */
static void finisher_live(const struct place *place, culex_client *client)
{
    struct job job;
    culex_claim_pulse pulse;
    culex_error error = {0};
    close(place->tokens[1]);
    while (read(place->tokens[0], &job, sizeof job) == sizeof job) {
        if (culex_claim_heartbeat(client, job.token, NULL, &pulse, &error) != CULEX_OK)
            die_of(&error);
        finish(place, client, &job);
    }
}

static void each_is_done_once(const struct place *place, int count)
{
    struct sums sums = sums_read(place);
    culex_queue_stats stats = stats_of(place);
    for (int i = 0; i < count; i++) {
        assert_int_equal(sums.given[i], 1);
        assert_int_equal(sums.done[i], 1);
    }
    assert_int_equal(sums.refused, 0);
    assert_int_equal(stats.done, count);
    assert_int_equal(stats.lost + stats.stale, 0);
    fsck_finds_nothing(place);
}

static void test_each_run_is_claimed_and_done_once(void **state)
{
    struct place *place = *state;
    pid_t pids[CLAIMERS + FINISHERS];
    runs_put(place, RUNS);
    for (int i = 0; i < CLAIMERS + FINISHERS; i++)
        pids[i] = spawn(place, i < CLAIMERS ? claimer_live : finisher_live);
    for (int i = 0; i < CLAIMERS; i++)
        await(pids[i]);
    close(place->tokens[1]);
    for (int i = CLAIMERS; i < CLAIMERS + FINISHERS; i++)
        await(pids[i]);
    place->tokens[1] = dup(place->tokens[0]); /* for the teardown */
    each_is_done_once(place, RUNS);
}

/* --- limits ---------------------------------------------------------------------------------- */

static void limited_live(const struct place *place, culex_client *client)
{
    struct job job;
    while (claim_next(place, client, 60000, &job)) {
        usleep(2000);
        note(place, job.n, ENDING, job.attempt);
        finish(place, client, &job);
    }
}

/* The most that were claimed at a time, and of one run. What is being ended is not counted, for
 * others may have its place before that is noted. */
static void most_read(const struct place *place, int *ret_most, int *ret_most_of_one)
{
    int held[RUNS] = {0}, all = 0;
    struct entry entry;
    *ret_most = *ret_most_of_one = 0;
    assert_int_equal(lseek(place->ledger, 0, SEEK_SET), 0);
    while (read(place->ledger, &entry, sizeof entry) == sizeof entry) {
        int change = entry.act == GIVEN ? 1 : entry.act == ENDING ? -1 : 0;
        held[entry.n] += change;
        all += change;
        *ret_most = all > *ret_most ? all : *ret_most;
        *ret_most_of_one = held[entry.n] > *ret_most_of_one ? held[entry.n] : *ret_most_of_one;
    }
}

static void test_limit_holds_among_claimers(void **state)
{
    struct place *place = *state;
    const culex_limit two = {.kind = CULEX_LIMIT_CONCURRENCY, .name = "t.number:two", .count = 2};
    culex_job_type type = number_type();
    pid_t pids[CLAIMERS];
    int most, most_of_one;
    type.limits = &two;
    type.limit_count = 1;
    runs_of_type_put(place, &type, RUNS_LIMITED);
    for (int i = 0; i < CLAIMERS; i++)
        pids[i] = spawn(place, limited_live);
    for (int i = 0; i < CLAIMERS; i++)
        await(pids[i]);
    for (int i = 0; i < 20 && stats_of(place).done < RUNS_LIMITED; i++)
        await(spawn(place, limited_live)); /* none was left to the others for a while */
    most_read(place, &most, &most_of_one);
    assert_in_range(most, 1, 2);
    assert_int_equal(most_of_one, 1);
    each_is_done_once(place, RUNS_LIMITED);
}

/* --- beside workers -------------------------------------------------------------------------- */

static const struct place *worker_place;

static culex_outcome work(culex_run *run, culex_handler_fn handler, const void *params, void *user)
{
    int64_t n = ((const struct number *)params)->n;
    (void)handler, (void)user;
    note(worker_place, n, GIVEN, culex_run_attempt(run));
    note(worker_place, n, DONE, culex_run_attempt(run));
    return CULEX_DONE;
}

static pid_t worker_start(const struct place *place)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    alarm(LATEST_S);
    worker_place = place;
    const char *queues[] = {"numbers"};
    culex_worker_options options = {.url = place->url,
                                    .queues = queues,
                                    .queue_count = 1,
                                    .concurrency = 2,
                                    .drain = true,
                                    .log_level = 1};
    culex_job_type type = number_type();
    culex_worker *worker = NULL;
    if (culex_worker_create(&options, &worker, NULL) != CULEX_OK ||
        culex_worker_register(worker, &type, work, number_handler, NULL) != CULEX_OK)
        _exit(1);
    _exit(culex_worker_run(worker, NULL) == CULEX_OK ? 0 : 1);
}

static void lone_claimer_live(const struct place *place, culex_client *client)
{
    struct job job;
    while (claim_next(place, client, 60000, &job)) {
        usleep(1000);
        finish(place, client, &job);
    }
}

static void test_workers_are_at_the_same_queue(void **state)
{
    struct place *place = *state;
    runs_put(place, RUNS);
    pid_t claimers[2] = {spawn(place, lone_claimer_live), spawn(place, lone_claimer_live)};
    pid_t worker = worker_start(place);
    await(claimers[0]);
    await(claimers[1]);
    await(worker);
    each_is_done_once(place, RUNS);
}

/* --- deaths ---------------------------------------------------------------------------------- */

enum { SHORT_LEASE_MS = 300 };

static void mortal_live(const struct place *place, culex_client *client)
{
    struct job job;
    while (claim_next(place, client, SHORT_LEASE_MS, &job)) {
        usleep(5000);
        finish(place, client, &job);
    }
}

static bool is_held(culex_client *client, const struct job *job)
{
    culex_run_info *run = NULL;
    if (culex_client_get(client, "numbers", job->id, &run, NULL) != CULEX_OK)
        _exit(8);
    bool is_held = run->state == CULEX_RUN_ACTIVE && run->attempt == job->attempt;
    culex_run_info_free(run);
    return is_held;
}

/* With its first run it is late: it has been given back. */
static void slow_live(const struct place *place, culex_client *client)
{
    struct job job;
    if (!claim_next(place, client, SHORT_LEASE_MS, &job))
        _exit(9);
    while (is_held(client, &job))
        usleep(10000);
    finish(place, client, &job);
}

/* Whatever happens to who holds it, each run is executed, and one end of it counts. */
static void test_killed_claimers_lose_no_run(void **state)
{
    struct place *place = *state;
    pid_t pids[CLAIMERS];
    runs_put(place, RUNS_KILLED);
    pids[0] = spawn(place, slow_live);
    for (int i = 0; i < 10000 && lseek(place->ledger, 0, SEEK_END) == 0; i++)
        usleep(1000); /* it shall have a run */
    for (int i = 1; i < CLAIMERS; i++)
        pids[i] = spawn(place, mortal_live);
    for (int kills = 0; kills < 24; kills++) {
        int status, victim = 1 + kills % (CLAIMERS - 1);
        usleep(30000 + (useconds_t)kills * 1000);
        kill(pids[victim], SIGKILL);
        assert_int_equal(waitpid(pids[victim], &status, 0), pids[victim]);
        pids[victim] = spawn(place, mortal_live);
    }
    for (int i = 1; i < CLAIMERS; i++)
        await(pids[i]);
    for (int i = 0; i < 20 && stats_of(place).done < RUNS_KILLED; i++)
        await(spawn(place, mortal_live)); /* what waited for the end of its lease */
    await(pids[0]);
    struct sums sums = sums_read(place);
    culex_queue_stats stats = stats_of(place);
    assert_int_equal(stats.done, RUNS_KILLED);
    assert_true(stats.lost > 0);
    assert_true(sums.refused > 0);
    for (int i = 0; i < RUNS_KILLED; i++) {
        assert_true(sums.given[i] >= 1);
        assert_in_range(sums.done[i], 0, 1);
    }
    fsck_finds_nothing(place);
}

/* Claims one, tells its token, and holds it until it is killed. */
static void holder_live(const struct place *place, culex_client *client)
{
    struct job job;
    if (!claim_next(place, client, 500, &job) ||
        write(place->tokens[1], &job, sizeof job) != sizeof job)
        _exit(7);
    for (;;)
        pause();
}

static struct job holder_kill(const struct place *place, pid_t holder)
{
    struct job job;
    int status;
    assert_int_equal(read(place->tokens[0], &job, sizeof job), sizeof job);
    kill(holder, SIGKILL);
    assert_int_equal(waitpid(holder, &status, 0), holder);
    return job;
}

static void test_token_outlives_its_claimer(void **state)
{
    struct place *place = *state;
    runs_put(place, 1);
    struct job job = holder_kill(place, spawn(place, holder_live));
    culex_client *client = client_open(place);
    assert_int_equal(culex_claim_complete(client, job.token, NULL, 0, NULL), CULEX_OK);
    culex_client_close(client);
    assert_int_equal(stats_of(place).done, 1);
}

static void test_killed_claimers_run_is_claimed_again(void **state)
{
    struct place *place = *state;
    const culex_claim_options patient = {.wait = culex_seconds(30)};
    culex_claim *claim = NULL;
    culex_error error = {0};
    runs_put(place, 1);
    struct job job = holder_kill(place, spawn(place, holder_live));
    culex_client *client = client_open(place);
    assert_int_equal(culex_client_claim(client, "numbers", &patient, &claim, NULL), CULEX_OK);
    assert_non_null(claim);
    assert_int_equal(claim->attempt, 2);
    assert_int_equal(claim->losses, 1);
    assert_int_equal(culex_claim_complete(client, job.token, NULL, 0, &error), CULEX_ESTALE);
    assert_non_null(strstr(error.text, "attempt 1"));
    assert_int_equal(culex_claim_complete(client, claim->token, NULL, 0, NULL), CULEX_OK);
    culex_claim_free(claim);
    culex_client_close(client);
    assert_int_equal(stats_of(place).stale, 1);
}

int main(void)
{
#define ON(store, name)                                                                            \
    {                                                                                              \
#name " on " #store, name, setup_##store, teardown, NULL                                   \
    }
    const struct CMUnitTest tests[] = {
        ON(sqlite, test_each_run_is_claimed_and_done_once),
        ON(redis, test_each_run_is_claimed_and_done_once),
        ON(sqlite, test_limit_holds_among_claimers),
        ON(redis, test_limit_holds_among_claimers),
        ON(sqlite, test_workers_are_at_the_same_queue),
        ON(redis, test_workers_are_at_the_same_queue),
        ON(sqlite, test_killed_claimers_lose_no_run),
        ON(redis, test_killed_claimers_lose_no_run),
        ON(sqlite, test_token_outlives_its_claimer),
        ON(redis, test_token_outlives_its_claimer),
        ON(sqlite, test_killed_claimers_run_is_claimed_again),
        ON(redis, test_killed_claimers_run_is_claimed_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
