/* process/relay.c - chains of three jobs in two queues, for tests that kill workers.
 * relay race COUNT [HOW]   enqueues so many; HOW is "mute": begin sets no result
 * relay count              prints "QUEUE ENQUEUED done N dead N" of both queues
 * relay text               prints the error text of each dead run of the first queue
 * relay retry              has each of them tried again
 * relay OPTIONS            runs as a worker, which prints "JOB ID NUMBER ..." at each start
 * With RELAY_STRANGER the worker knows no chain, with RELAY_SPEAKS nobody is mute. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "relay_job.h"

static const char *const queues[] = {"relay.one", "relay.two"};

static void say(const culex_run *run, const char *job, const char *rest)
{
    char id[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(culex_run_id(run), id);
    printf("%s %s %s\n", job, id, rest);
    fflush(stdout);
}

/* The work of a step: nobody waits here for anything, but whoever kills the worker shall find it.
 */
static void rest_a_while(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

static culex_outcome begin(culex_run *run, const relay_begin_job *job, void *user)
{
    char words[64];
    culex_error error = {0};
    (void)user;
    snprintf(words, sizeof words, "number-%u", job->number);
    say(run, "begin", words);
    rest_a_while();
    relay_begin_result result = relay_begin_result_make(job->number, words, 7);
    if (strcmp(job->how, "mute") == 0 && getenv("RELAY_SPEAKS") == NULL)
        return CULEX_DONE;
    return relay_begin_job_set_result(run, &result, &error) == CULEX_OK
               ? CULEX_DONE
               : culex_run_fail(run, "%s", error.text);
}

static culex_outcome middle(culex_run *run, const relay_middle_job *job, void *user)
{
    culex_error error = {0};
    (void)user;
    say(run, "middle", job->more_len == 0 ? "" : "more");
    rest_a_while();
    relay_middle_result result =
        relay_middle_result_make(job->number, job->number * job->factor, job->words);
    return relay_middle_job_set_result(run, &result, &error) == CULEX_OK
               ? CULEX_DONE
               : culex_run_fail(run, "%s", error.text);
}

static culex_outcome finish(culex_run *run, const relay_finish_job *job, void *user)
{
    char text[128];
    (void)user;
    snprintf(text, sizeof text, "%u %u %s", job->number, job->product,
             job->has_words ? job->words : "-");
    say(run, "finish", text);
    return CULEX_DONE;
}

static int setup(culex_worker *worker, void *user)
{
    (void)user;
    if (getenv("RELAY_STRANGER") == NULL && relay_race_chain_register(worker) != CULEX_OK)
        return 1;
    return relay_begin_job_register(worker, begin, NULL) != CULEX_OK ||
           relay_middle_job_register(worker, middle, NULL) != CULEX_OK ||
           relay_finish_job_register(worker, finish, NULL) != CULEX_OK;
}

static culex_status race(culex_client *client, uint32_t count, const char *how, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (uint32_t i = 1; i <= count && status == CULEX_OK; i++) {
        relay_begin_job job = relay_begin_job_make(i);
        job.how = how;
        status = relay_race_chain_enqueue(client, &job, NULL, NULL, error);
    }
    return status;
}

static culex_status count(culex_client *client, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < 2 && status == CULEX_OK; i++) {
        culex_queue_stats stats;
        status = culex_client_stats(client, queues[i], &stats, error);
        if (status == CULEX_OK)
            printf("%s %d done %d dead %d\n", queues[i], (int)stats.enqueued, (int)stats.done,
                   (int)stats.dead);
    }
    return status;
}

static bool text_print(const culex_run_info *run, void *client)
{
    culex_run_info *whole = NULL;
    if (culex_client_get(client, "relay.one", run->id, &whole, NULL) == CULEX_OK)
        printf("%s\n", whole->error_text);
    culex_run_info_free(whole);
    return true;
}

static bool run_retry(const culex_run_info *run, void *client)
{
    return culex_client_retry(client, "relay.one", run->id, NULL) == CULEX_OK;
}

static culex_status dead_visit(culex_client *client, culex_run_visitor visit, culex_error *error)
{
    culex_list_cursor cursor = {.place = 0};
    return culex_client_list(client, "relay.one", CULEX_RUN_DEAD, &cursor, 1000, visit, client,
                             error);
}

int main(int argc, char **argv)
{
    culex_client *client = NULL;
    culex_error error = {0};
    if (argc < 2 || argv[1][0] == '-')
        return culex_worker_main(argc, argv, setup, NULL);
    culex_status status = culex_client_open(NULL, NULL, &client, &error);
    if (status == CULEX_OK && strcmp(argv[1], "race") == 0)
        status = race(client, (uint32_t)atoi(argv[2]), argc > 3 ? argv[3] : "speak", &error);
    else if (status == CULEX_OK && strcmp(argv[1], "count") == 0)
        status = count(client, &error);
    else if (status == CULEX_OK)
        status = dead_visit(client, strcmp(argv[1], "retry") == 0 ? run_retry : text_print, &error);
    culex_client_close(client);
    if (status != CULEX_OK)
        fprintf(stderr, "relay: %s\n", error.text);
    return status != CULEX_OK;
}
