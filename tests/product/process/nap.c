/* process/nap.c - a worker and its producer for tests that kill processes.
 * nap batch COUNT            enqueues so many wink as a batch, with a clap for each that it tells
 * nap after COUNT            enqueues so many wink, with an echo after each
 * nap claps                  prints "claps N done N"
 * nap enqueue JOB [LENGTH]   enqueues one run; LENGTH in ms is for nap (60000), mule (0), wink (20)
 * nap schema JOB             prints the text of the schema of tell or wink
 * nap enqueue tell WORDS [TOKEN]
 * nap enqueue count LAST HOW
 * nap enqueue scribe LAST HOW [TOKEN]
 * nap forget                 deletes every run, all of which have ended
 * nap lines                  prints "ATTEMPT LEVEL TEXT" of each log line of every run
 * nap crowd COUNT            enqueues so many wink, some alone and some together, and prints their
 * ids nap cancel                 cancels every active run nap state                  prints "STATE
 * attempt N losses N failures N crashes N" of every run nap text                   prints the error
 * text of every run nap progress               prints "PERCENT TEXT" of every run nap stats prints
 * "stale N lost N crashed N" nap workers                prints "NAME concurrency N of N quiet N
 * stopping N pending N done N failed N runs N queues N told MILLISECONDS ID" of each worker that is
 *                            listed, and a line "run JOB in QUEUE" of each of its runs
 * nap figures                prints "JOB done N failed N crashed N dead N waited N ran N" of each
 * job, and "short" behind it when its runs took less than 20 ms nap order WHAT [ID]        orders
 * worker ID, or all: on, off (quiet), stop, or a concurrency nap OPTIONS                runs as a
 * worker; each start of a handler is one line on stdout: "start ATTEMPT PID MILLISECONDS"
 * $NAP_PROGRAM is a command that the handler of `look` runs. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "nap_job.h"

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void start_print(culex_run *run)
{
    printf("start %u %ld %lld\n", culex_run_attempt(run), (long)getpid(), (long long)now_ms());
    fflush(stdout);
}

static void tick_sleep(void)
{
    const struct timespec tick = {0, 10000000};
    nanosleep(&tick, NULL);
}

/* --- handlers -------------------------------------------------------------------------------- */

static void sleep_for(const culex_run *run, culex_duration length)
{
    int64_t end_ms = now_ms() + length / CULEX_MILLISECOND;
    while (now_ms() < end_ms && !culex_run_cancelled(run))
        tick_sleep();
}

static culex_outcome nap(culex_run *run, const nap_job *job, void *user)
{
    (void)user;
    start_print(run);
    if (culex_run_attempt(run) > 1)
        return CULEX_DONE;
    sleep_for(run, job->length);
    return culex_run_cancelled(run) ? culex_run_fail(run, "woken") : CULEX_DONE;
}

static culex_outcome never(culex_run *run, const never_job *job, void *user)
{
    (void)job;
    (void)user;
    start_print(run);
    return culex_run_fail(run, "as always");
}

static culex_outcome crash(culex_run *run, const crash_job *job, void *user)
{
    (void)job;
    (void)user;
    start_print(run);
    *(volatile int *)(uintptr_t)culex_run_failures(run) = 1;
    return CULEX_DONE;
}

static culex_outcome bomb(culex_run *run, const bomb_job *job, void *user)
{
    (void)job;
    (void)user;
    start_print(run);
    for (int i = 0; i < 1024; i++) {
        char *block = malloc(1024 * 1024);
        if (block == NULL)
            return culex_run_fail(run, "no more than %d MiB", i);
        memset(block, i, 1024 * 1024);
    }
    return CULEX_DONE;
}

static void stand_still(void)
{
    signal(SIGTERM, SIG_IGN);
    for (;;)
        tick_sleep();
}

static culex_outcome mule(culex_run *run, const mule_job *job, void *user)
{
    (void)user;
    start_print(run);
    culex_run_extend(run, job->extend);
    stand_still();
    return CULEX_DONE;
}

static culex_outcome ox(culex_run *run, const ox_job *job, void *user)
{
    (void)job;
    (void)user;
    start_print(run);
    if (culex_run_attempt(run) == 1)
        stand_still();
    return CULEX_DONE;
}

static culex_outcome clerk(culex_run *run, const clerk_job *job, void *user)
{
    (void)job;
    bool waits = culex_run_attempt(run) <= 3;
    if (waits && user == NULL)
        signal(SIGTERM, SIG_IGN); /* before the start is told, after which a stop may come */
    start_print(run);
    if (!waits)
        return CULEX_DONE;
    while (!culex_run_cancelled(run))
        tick_sleep();
    return culex_run_fail(run, "asked to stop");
}

/* The parent of process `pid`; 0 when it cannot be told. */
static pid_t parent_of(pid_t pid)
{
    char path[64];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *stat = fopen(path, "r");
    if (stat == NULL || fscanf(stat, "%*d %*s %*c %d", &parent) != 1)
        parent = 0;
    if (stat != NULL)
        fclose(stat);
    return parent;
}

static void kill_sure(pid_t victim)
{
    if (victim > 1)
        kill(victim, SIGKILL);
    for (;;)
        tick_sleep();
}

static culex_outcome poison(culex_run *run, const poison_job *job, void *user)
{
    (void)job;
    start_print(run);
    kill_sure(user != NULL ? getpid() : parent_of(getppid()));
    return CULEX_DONE;
}

static culex_outcome viper(culex_run *run, const viper_job *job, void *user)
{
    (void)job;
    (void)user;
    start_print(run);
    kill_sure(getppid());
    return CULEX_DONE;
}

static culex_outcome wink(culex_run *run, const wink_job *job, void *user)
{
    (void)user;
    start_print(run);
    sleep_for(run, job->length);
    return CULEX_DONE;
}

static culex_outcome clap(culex_run *run, const clap_job *job, void *user)
{
    culex_batch batch;
    culex_batch_info info;
    (void)user;
    if (!culex_batch_parse(job->batch, &batch) ||
        culex_batch_look(culex_run_client(run), &batch, &info, NULL) != CULEX_OK)
        return culex_run_fail(run, "no such batch");
    printf("clap %s %d of %d\n", job->what, (int)info.done, (int)info.added);
    fflush(stdout);
    return CULEX_DONE;
}

static culex_outcome echo(culex_run *run, const echo_job *job, void *user)
{
    (void)run, (void)user;
    printf("echo %d\n", (int)job->number);
    fflush(stdout);
    return CULEX_DONE;
}

static culex_outcome look(culex_run *run, const look_job *job, void *user)
{
    const char *url = getenv("CULEX_URL");
    const char *password = getenv("CULEX_PASSWORD");
    (void)job;
    (void)user;
    printf("dumpable %d url %s password %s\n", prctl(PR_GET_DUMPABLE), url != NULL ? url : "none",
           password != NULL && password[0] != '\0' ? password : "none");
    fflush(stdout);
    const char *program = getenv("NAP_PROGRAM");
    return program == NULL || system(program) == 0 ? CULEX_DONE
                                                   : culex_run_fail(run, "%s", program);
}

static culex_outcome ask(culex_run *run, const ask_job *job, void *user)
{
    const culex_uuid nobody = {{0}};
    (void)job;
    (void)user;
    start_print(run);
    while (!culex_run_cancelled(run)) {
        if (culex_client_cancel(culex_run_client(run), nap_job_type.queue, nobody, NULL, NULL) ==
            CULEX_OK)
            return culex_run_discard(run, "nobody was cancelled");
        tick_sleep();
    }
    return culex_run_fail(run, "told");
}

static culex_outcome count(culex_run *run, const count_job *job, void *user)
{
    (void)user;
    for (int i = 1; i <= job->last; i++)
        culex_run_progress(run, i * 100 / job->last, "%d of %d", i, job->last);
    if (strcmp(job->how, "crashes") == 0)
        raise(SIGKILL);
    return strcmp(job->how, "fails") == 0 ? CULEX_FAILED : CULEX_DONE;
}

static culex_outcome scribe(culex_run *run, const scribe_job *job, void *user)
{
    (void)user;
    for (int i = 1; i <= job->last; i++)
        culex_run_log(run, CULEX_LOG_DEBUG, "%d of %d\t%s\n", i, job->last, job->token);
    culex_run_log(run, CULEX_LOG_WARNING, "last words");
    if (strcmp(job->how, "crashes") == 0)
        raise(SIGSEGV);
    return strcmp(job->how, "fails") == 0 ? CULEX_FAILED : CULEX_DONE;
}

static culex_outcome tell(culex_run *run, const tell_job *job, void *user)
{
    (void)user;
    culex_log(run, "%s", job->words);
    culex_run_progress(run, 1, "%s", job->words);
    return culex_run_fail(run, "%s", job->words);
}

static int setup(culex_worker *worker, void *user)
{
    return nap_job_register(worker, nap, user) != CULEX_OK ||
           (getenv("NAP_WITHOUT_NEVER") == NULL &&
            never_job_register(worker, never, user) != CULEX_OK) ||
           crash_job_register(worker, crash, user) != CULEX_OK ||
           bomb_job_register(worker, bomb, user) != CULEX_OK ||
           mule_job_register(worker, mule, user) != CULEX_OK ||
           ox_job_register(worker, ox, user) != CULEX_OK ||
           clerk_job_register(worker, clerk, getenv("NAP_ALONE")) != CULEX_OK ||
           look_job_register(worker, look, user) != CULEX_OK ||
           ask_job_register(worker, ask, user) != CULEX_OK ||
           count_job_register(worker, count, user) != CULEX_OK ||
           scribe_job_register(worker, scribe, user) != CULEX_OK ||
           tell_job_register(worker, tell, user) != CULEX_OK ||
           poison_job_register(worker, poison, getenv("NAP_ALONE")) != CULEX_OK ||
           viper_job_register(worker, viper, user) != CULEX_OK ||
           wink_job_register(worker, wink, user) != CULEX_OK ||
           clap_job_register(worker, clap, user) != CULEX_OK ||
           echo_job_register(worker, echo, user) != CULEX_OK ||
           gone_job_register(worker, NULL, user) != CULEX_OK;
}

/* --- the producer's verbs -------------------------------------------------------------- */

static bool run_print(const culex_run_info *run, void *user)
{
    (void)user;
    printf("%s attempt %u losses %u failures %u crashes %u\n", culex_run_state_name(run->state),
           run->attempt, run->losses, run->failures, run->crashes);
    return true;
}

static bool text_print(const culex_run_info *run, void *user)
{
    culex_run_info *whole = NULL;
    if (culex_client_get(user, nap_job_type.queue, run->id, &whole, NULL) == CULEX_OK)
        printf("%s\n", whole->error_text);
    culex_run_info_free(whole);
    return true;
}

static bool progress_print(const culex_run_info *run, void *user)
{
    culex_run_info *whole = NULL;
    if (culex_client_get(user, nap_job_type.queue, run->id, &whole, NULL) == CULEX_OK)
        printf("%d %s\n", whole->progress, whole->progress_text);
    culex_run_info_free(whole);
    return true;
}

static bool lines_print(const culex_run_info *run, void *user)
{
    culex_run_lines *lines = NULL;
    culex_error error = {0};
    if (culex_client_run_log(user, nap_job_type.queue, run->id, &lines, &error) != CULEX_OK) {
        printf("%s\n", error.text);
        return true;
    }
    for (size_t i = 0; i < lines->count; i++) {
        const culex_run_line *line = &lines->items[i];
        bool is_of_now = line->at <= culex_time_now() + 60 * CULEX_SECOND &&
                         line->at >= culex_time_now() - 60 * CULEX_SECOND;
        printf("%u %d %s%s\n", line->attempt, (int)line->level, line->text,
               is_of_now ? "" : " at another time");
    }
    culex_run_lines_free(lines);
    return true;
}

static bool run_forget(const culex_run_info *run, void *user)
{
    return culex_client_delete(user, nap_job_type.queue, run->id, NULL) == CULEX_OK;
}

static bool run_cancel(const culex_run_info *run, void *user)
{
    return run->state != CULEX_RUN_ACTIVE ||
           culex_client_cancel(user, nap_job_type.queue, run->id, NULL, NULL) == CULEX_OK;
}

static culex_status each_run(culex_client *client, culex_run_visitor visit, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (int state = 0; state < CULEX_RUN_STATE_COUNT && status == CULEX_OK; state++) {
        culex_list_cursor cursor = {.place = 0};
        status = culex_client_list(client, nap_job_type.queue, (culex_run_state)state, &cursor,
                                   200000, visit, client, error);
    }
    return status;
}

static culex_status stats_print(culex_client *client, culex_error *error)
{
    culex_queue_stats stats;
    culex_status status = culex_client_stats(client, nap_job_type.queue, &stats, error);
    if (status == CULEX_OK)
        printf("stale %llu lost %llu crashed %llu\n", (unsigned long long)stats.stale,
               (unsigned long long)stats.lost, (unsigned long long)stats.crashed);
    return status;
}

static culex_status tell_enqueue(culex_client *client, char **words, culex_error *error)
{
    tell_job job = tell_job_make(words[0]);
    if (words[1] != NULL)
        job.token = words[1];
    return tell_job_enqueue(client, &job, NULL, NULL, error);
}

static culex_status scribe_enqueue(culex_client *client, char **arguments, const char *token,
                                   culex_error *error)
{
    scribe_job job = scribe_job_make((int32_t)atoi(arguments[0]));
    job.how = arguments[1];
    job.token = token;
    return scribe_job_enqueue(client, &job, NULL, NULL, error);
}

static culex_status count_enqueue(culex_client *client, char **words, culex_error *error)
{
    count_job job = count_job_make(atoi(words[0]));
    if (words[1] != NULL)
        job.how = words[1];
    return count_job_enqueue(client, &job, NULL, NULL, error);
}

static culex_status crowd_enqueue(culex_client *client, size_t count, culex_error *error)
{
    enum { TOGETHER = 100, ALONE = 50 };
    wink_job jobs[TOGETHER];
    culex_uuid ids[TOGETHER];
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < TOGETHER; i++)
        jobs[i] = wink_job_make();
    for (size_t made = 0, some = 1; made < count && status == CULEX_OK; made += some) {
        some = made < ALONE ? 1 : count - made < TOGETHER ? count - made : TOGETHER;
        status = some == 1 ? wink_job_enqueue(client, jobs, NULL, ids, error)
                           : wink_job_enqueue_many(client, jobs, some, NULL, ids, NULL, error);
        for (size_t i = 0; i < some && status == CULEX_OK; i++) {
            char text[CULEX_UUID_TEXT_SIZE];
            culex_uuid_format(ids[i], text);
            puts(text);
        }
    }
    return status;
}

static culex_status claps_enqueue(culex_client *client, const culex_batch *batch,
                                  culex_error *error)
{
    static const char *const words[] = {"", "complete", "success", "death"};
    char name[CULEX_BATCH_TEXT_SIZE];
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_status status = CULEX_OK;
    culex_batch_format(batch, name);
    options.batch = batch;
    for (int when = CULEX_BATCH_ON_COMPLETE; when <= CULEX_BATCH_ON_DEATH; when++) {
        clap_job job = clap_job_make(words[when], name);
        options.batch_when = (culex_batch_when)when;
        if (status == CULEX_OK)
            status = clap_job_enqueue(client, &job, &options, NULL, error);
    }
    return status;
}

static culex_status batch_enqueue(culex_client *client, size_t count, culex_error *error)
{
    enum { MOST = 200 };
    wink_job jobs[MOST];
    culex_batch batch;
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_status status = culex_batch_open(client, wink_job_type.queue, NULL, &batch, error);
    if (status == CULEX_OK)
        status = claps_enqueue(client, &batch, error);
    for (size_t i = 0; i < count && i < MOST; i++) {
        jobs[i] = wink_job_make();
        jobs[i].length = 100 * CULEX_MILLISECOND;
    }
    options.batch = &batch;
    if (status == CULEX_OK)
        status = wink_job_enqueue_many(client, jobs, count < MOST ? count : MOST, &options, NULL,
                                       NULL, error);
    return status == CULEX_OK ? culex_batch_close(client, &batch, error) : status;
}

static culex_status after_enqueue(culex_client *client, int count, culex_error *error)
{
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_status status = CULEX_OK;
    options.after_queue = wink_job_type.queue;
    for (int i = 0; i < count && status == CULEX_OK; i++) {
        wink_job first = wink_job_make();
        echo_job second = echo_job_make(i);
        culex_uuid id;
        status = wink_job_enqueue(client, &first, NULL, &id, error);
        options.after = &id;
        if (status == CULEX_OK)
            status = echo_job_enqueue(client, &second, &options, NULL, error);
    }
    return status;
}

static culex_status claps_print(culex_client *client, culex_error *error)
{
    culex_queue_stats stats;
    culex_status status = culex_client_stats(client, clap_job_type.queue, &stats, error);
    if (status == CULEX_OK)
        printf("claps %d done %d\n", (int)stats.enqueued, (int)stats.done);
    return status;
}

static culex_status enqueue(culex_client *client, const char *name, const char *length,
                            culex_error *error)
{
    static const culex_job_type *const types[] = {
        &never_job_type, &crash_job_type, &bomb_job_type,   &ox_job_type,    &look_job_type,
        &ask_job_type,   &gone_job_type,  &poison_job_type, &viper_job_type, &clerk_job_type};
    culex_duration ms = length != NULL ? atoll(length) * CULEX_MILLISECOND : 0;
    if (strcmp(name, "nap") == 0) {
        nap_job job = nap_job_make(length != NULL ? ms : 60 * CULEX_SECOND);
        return nap_job_enqueue(client, &job, NULL, NULL, error);
    }
    if (strcmp(name, "mule") == 0) {
        mule_job job = mule_job_make();
        job.extend = ms;
        return mule_job_enqueue(client, &job, NULL, NULL, error);
    }
    if (strcmp(name, "wink") == 0) {
        wink_job job = wink_job_make();
        if (length != NULL)
            job.length = ms;
        return wink_job_enqueue(client, &job, NULL, NULL, error);
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        static const never_job empty; /* as all of these */
        if (strcmp(name, types[i]->name) == 0)
            return culex_client_enqueue(client, types[i], &empty, NULL, NULL, error);
    }
    return CULEX_EINVAL;
}

static bool worker_print(const culex_worker_info *worker, void *user)
{
    (void)user;
    printf("%s concurrency %u of %u quiet %d stopping %d pending %d done %llu failed %llu runs %zu "
           "queues %zu told %lld %s\n",
           worker->name, worker->concurrency, worker->concurrency_max, worker->is_quiet,
           worker->is_stopping, worker->is_pending, (unsigned long long)worker->done,
           (unsigned long long)worker->failed, worker->runs_total, worker->queues_total,
           (long long)worker->told_ms, worker->id);
    for (size_t i = 0; i < worker->run_count; i++)
        printf("run %s in %s\n", worker->runs[i].job, worker->runs[i].queue);
    bool is_whole = worker->pid > 0 && worker->memory_bytes > 0 && worker->host[0] != '\0' &&
                    strcmp(worker->version, culex_version()) == 0 &&
                    worker->started_ms <= worker->told_ms && now_ms() - worker->told_ms < 60000 &&
                    worker->queue_count > 0 && strcmp(worker->queues[0].name, "naps") == 0;
    if (!is_whole)
        printf("something is missing\n");
    return true;
}

static bool figures_print(const culex_figures *figures, void *user)
{
    (void)user;
    printf("%s done %llu failed %llu crashed %llu dead %llu waited %llu ran %llu%s\n", figures->job,
           (unsigned long long)figures->done, (unsigned long long)figures->failed,
           (unsigned long long)figures->crashed, (unsigned long long)figures->dead,
           (unsigned long long)figures->wait.count, (unsigned long long)figures->run.count,
           figures->run.p50_us < 20000 ? " short" : "");
    return true;
}

static culex_status order_give(culex_client *client, const char *what, const char *id,
                               culex_error *error)
{
    culex_worker_order order = {.stop = strcmp(what, "stop") == 0};
    size_t count = 0;
    if (strcmp(what, "on") == 0)
        order.quiet = CULEX_SWITCH_ON;
    else if (strcmp(what, "off") == 0)
        order.quiet = CULEX_SWITCH_OFF;
    else
        order.concurrency = (unsigned)strtoul(what, NULL, 10);
    culex_status status = culex_client_worker_set(client, id, &order, &count, error);
    if (status == CULEX_OK)
        printf("for %zu\n", count);
    return status;
}

static culex_status verb_do(culex_client *client, int argc, char **argv, culex_error *error)
{
    if (strcmp(argv[1], "state") == 0)
        return each_run(client, run_print, error);
    if (strcmp(argv[1], "workers") == 0)
        return culex_client_workers(client, worker_print, NULL, error);
    if (strcmp(argv[1], "figures") == 0)
        return culex_client_figures_by_job(client, "naps", CULEX_FIGURES_HOURS_MAX, figures_print,
                                           NULL, error);
    if (strcmp(argv[1], "order") == 0)
        return order_give(client, argv[2], argc > 3 ? argv[3] : NULL, error);
    if (strcmp(argv[1], "text") == 0)
        return each_run(client, text_print, error);
    if (strcmp(argv[1], "progress") == 0)
        return each_run(client, progress_print, error);
    if (strcmp(argv[1], "lines") == 0)
        return each_run(client, lines_print, error);
    if (strcmp(argv[1], "forget") == 0)
        return each_run(client, run_forget, error);
    if (strcmp(argv[1], "cancel") == 0)
        return each_run(client, run_cancel, error);
    if (strcmp(argv[1], "stats") == 0)
        return stats_print(client, error);
    if (strcmp(argv[1], "claps") == 0)
        return claps_print(client, error);
    if (argc > 2 && strcmp(argv[1], "batch") == 0)
        return batch_enqueue(client, (size_t)atoll(argv[2]), error);
    if (argc > 2 && strcmp(argv[1], "after") == 0)
        return after_enqueue(client, atoi(argv[2]), error);
    if (argc > 2 && strcmp(argv[1], "crowd") == 0)
        return crowd_enqueue(client, (size_t)atoll(argv[2]), error);
    if (argc > 3 && strcmp(argv[2], "tell") == 0)
        return tell_enqueue(client, argv + 3, error);
    if (argc > 4 && strcmp(argv[2], "scribe") == 0)
        return scribe_enqueue(client, argv + 3, argc > 5 ? argv[5] : "", error);
    if (argc > 3 && strcmp(argv[2], "count") == 0)
        return count_enqueue(client, argv + 3, error);
    return enqueue(client, argc > 2 ? argv[2] : "nap", argc > 3 ? argv[3] : NULL, error);
}

static int schema_print(const char *job)
{
    char *text = NULL;
    size_t len;
    culex_error error = {0};
    const culex_job_type *type = strcmp(job, "tell") == 0 ? &tell_job_type : &wink_job_type;
    if (culex_schema_write(type, &text, &len, &error) != CULEX_OK) {
        fprintf(stderr, "nap: %s\n", error.text);
        return 1;
    }
    printf("%s", text);
    free(text);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "schema") == 0)
        return schema_print(argv[2]);
    if (argc < 2 || argv[1][0] == '-')
        return culex_worker_main(argc, argv, setup, NULL);
    culex_error error = {0};
    culex_client *client = NULL;
    culex_status status = culex_client_open(NULL, NULL, &client, &error);
    if (status == CULEX_OK)
        status = verb_do(client, argc, argv, &error);
    if (status != CULEX_OK)
        fprintf(stderr, "nap: %s\n", error.text);
    culex_client_close(client);
    return status == CULEX_OK ? 0 : 1;
}
